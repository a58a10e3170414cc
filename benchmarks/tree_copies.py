"""Copies of the source tree with one change each, and commands that run in them."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from queue import Queue

from tests.guards.removal import TextChange

ROOT = Path(__file__).resolve().parent.parent
FAILED_TEST = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
FAILED_SEED = re.compile(r"^seed (\d+)")
LONGEST_SEED = 120.0
"""Seconds of the simulator's that a seed may take; a change may have it go on for ever."""
HANGS = "it hangs"


@dataclass
class Copies:
    """Copies of the tree as it is, with what is not committed; `free` has those that nobody uses."""

    folder: Path
    free: "Queue[Path]" = field(default_factory=Queue)

    def add(self) -> None:
        """Make one more copy."""
        tree = self.folder / str(self.free.qsize()) / "tree"
        (tree.parent / "tmp").mkdir(parents=True)
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        for name in listed.stdout.split("\0"):
            if name and (ROOT / name).is_file():
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, tree / name)

        # Tests look for both beside the code.
        (tree / ".venv").symlink_to(ROOT / ".venv")
        shared = ROOT.parent / "shared"
        if shared.exists():
            (tree.parent / "shared").symlink_to(shared.resolve())
        self.free.put(tree)

    @contextlib.contextmanager
    def lent(self) -> Iterator[Path]:
        """Lend a copy that nobody uses."""
        tree = self.free.get()
        try:
            yield tree
        finally:
            self.free.put(tree)


@contextlib.contextmanager
def changed(tree: Path, change: TextChange) -> Iterator[None]:
    """Have a copy changed for as long as the block lasts."""
    file = tree / change.path
    source = file.read_text("utf-8")
    write_newer(file, change.apply(source))
    try:
        yield
    finally:
        write_newer(file, source)


def write_newer(file: Path, source: str) -> None:
    """Write a file with a time that it never had: Python must not take what it compiled before."""
    newer = int(file.stat().st_mtime) + 1
    file.write_text(source, "utf-8")
    os.utime(file, (newer, newer))


@dataclass
class Commands:
    """Commands in copies of the tree; all end when the run does."""

    running: set[int] = field(default_factory=set)
    ended: bool = False

    def failing_test(self, tree: Path, tests: Sequence[str], longest: float) -> str:
        """Return the first of the tests that fails in a copy; nothing if all are green."""
        process = self._start(tree, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-rfE", *tests)
        try:
            output, _ = process.communicate(timeout=longest)
        except subprocess.TimeoutExpired:
            return HANGS
        finally:
            self._end(process)

        if process.returncode == 0:
            return ""
        failed = FAILED_TEST.search(output)
        return failed[1] if failed else f"pytest ended with {process.returncode}: {output[-300:]}"

    def failing_seed(self, tree: Path, first: int, seeds: int) -> int | None:
        """Return the first of so many seeds that fails in a copy, 0 if none can be played there."""
        words = ("--first", str(first), "--seeds", str(seeds), "--processes", "1")
        process = self._start(tree, "-m", "benchmarks.chaos", *words)
        timer = threading.Timer(LONGEST_SEED * seeds, self._end, [process])
        timer.start()
        assert process.stdout is not None
        try:
            for line in process.stdout:
                failed = FAILED_SEED.match(line)
                if failed:
                    return int(failed[1])
            process.wait()
        finally:
            timer.cancel()
            self._end(process)
        return None if process.returncode == 0 else 0

    def end_all(self) -> None:
        """End whatever runs, and let nothing begin."""
        self.ended = True
        for pid in [*self.running]:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)

    def _start(self, tree: Path, *words: str) -> "subprocess.Popen[str]":
        """Start Python in a copy, whose packages it imports whatever is installed."""
        if self.ended:
            raise KeyboardInterrupt
        environment = {
            **os.environ,
            "PYTHONPATH": str(tree),
            "PYTHONPYCACHEPREFIX": str(tree.parent / "compiled"),
            "PYTHONUNBUFFERED": "1",
            "TMPDIR": str(tree.parent / "tmp"),
        }
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # to compile all of it takes longer than a test
        process = subprocess.Popen(
            [sys.executable, *words],
            cwd=tree,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.running.add(process.pid)
        return process

    def _end(self, process: "subprocess.Popen[str]") -> None:
        """End a command and all that it has started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self.running.discard(process.pid)
        if self.ended:
            raise KeyboardInterrupt
