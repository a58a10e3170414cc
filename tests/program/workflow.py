"""A public season's repository on this machine, and runners that take its workflows' own steps."""

import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ruamel.yaml import YAML

from tests.program.command_line import environment
from tests.program.forked import quick_command

OWNER = {
    "GIT_AUTHOR_NAME": "owner", "GIT_AUTHOR_EMAIL": "owner@localhost",
    "GIT_COMMITTER_NAME": "owner", "GIT_COMMITTER_EMAIL": "owner@localhost",
    "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1",
}  # fmt: skip
INSTALL = "python -m pip install -r requirements.txt"


def git(folder: Path, *words: str) -> str:
    """Return what git prints in a folder."""
    command = ["git", "-c", "protocol.file.allow=always", "-C", str(folder), *words]
    done = subprocess.run(command, env=environment(**OWNER), capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{words}: {done.stderr}"
    return done.stdout.strip()


@dataclass(frozen=True)
class Hosted:
    """A folder with the bare repository `origin.git` and the owner's clone `owner`."""

    folder: Path

    @property
    def origin(self) -> Path:
        """Return the repository that everyone pushes to."""
        return self.folder / "origin.git"

    @property
    def owner(self) -> Path:
        """Return the owner's clone."""
        return self.folder / "owner"

    def publish(self) -> None:
        """Push the owner's folder as the README says."""
        git(self.folder, "init", "-q", "--bare", "-b", "main", str(self.origin))
        git(self.owner, "init", "-q", "-b", "main")
        git(self.owner, "add", "-A")
        git(self.owner, "commit", "-qm", "A public season")
        git(self.owner, "remote", "add", "origin", f"file://{self.origin}")
        git(self.owner, "push", "-qu", "origin", "main")

    def runner(self, name: str, branch: str = "main") -> Path:
        """Return a fresh checkout, as shallow as that of a workflow."""
        place = self.folder / name
        git(self.folder, "clone", "-q", "--depth=1", "-b", branch, f"file://{self.origin}", str(place))
        return place

    def clone(self, name: str) -> Path:
        """Return a whole clone, as anyone makes one."""
        place = self.folder / name
        git(self.folder, "clone", "-q", f"file://{self.origin}", str(place))
        return place

    def command(self, runner: Path, workflow: str = "season") -> list[str]:
        """Return the steps of a workflow as a runner's shell takes them, with installed programs replaced."""
        tools = self.folder / "tools"
        tools.mkdir(exist_ok=True)
        for name, line in (
            ("arena", f'exec {shlex.join(quick_command())} "$@"'),
            ("python", f'test "python $*" = "{INSTALL}"'),
        ):
            (tools / name).write_text(f"#!/bin/sh\n{line}\n", "utf-8")
            (tools / name).chmod(0o755)

        text = (runner / ".github" / "workflows" / f"{workflow}.yml").read_text("utf-8")
        [job] = YAML(typ="safe").load(text)["jobs"].values()
        lines = [step["run"] for step in job["steps"] if "run" in step]
        return ["bash", "-e", "-c", "\n".join([f"PATH={shlex.quote(str(tools))}:$PATH", *lines])]

    def steps(
        self, runner: Path, workflow: str = "season", **more: str
    ) -> "subprocess.CompletedProcess[str]":
        """Run a workflow's steps on a runner."""
        return subprocess.run(
            self.command(runner, workflow),
            cwd=runner,
            env=environment(**OWNER, **more),
            capture_output=True,
            text=True,
            check=False,
        )

    def at_once(self, runners: Sequence[Path], **more: str) -> list[tuple[int, str]]:
        """Return the status and the errors of a season's steps on several runners at the same time."""
        running = [
            subprocess.Popen(
                self.command(runner),
                cwd=runner,
                env=environment(**OWNER, **more),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
            for runner in runners
        ]
        said = [process.communicate()[1] for process in running]
        return [(process.returncode, errors) for process, errors in zip(running, said, strict=True)]
