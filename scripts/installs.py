"""Installs the project from the lock, with the newest versions and with the lowest, and runs tests on each.

python -m scripts.installs [--folder FOLDER] [--only NAME] [--limit SECONDS]

It needs uv and a package index. The tests are those of what libraries do for the project: calls of models,
venues, the record and the pages. The exit status is 0 where all of them pass on every install.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INSTALLS = ("lock", "newest", "lowest")
PROJECT = ".[mcp,metrics,postgres]"
TESTS = (
    "tests/agents/test_llm.py",
    "tests/agents/test_wires.py",
    "tests/agents/test_providers.py",
    "tests/agents/test_model_table.py",
    "tests/arena/calls",
    "tests/markets/venues",
    "tests/arena/record",
    "tests/dashboard",
)
LIMIT = 1_200.0
"""Seconds after which the tests of one path are stopped."""
SUMMARY = re.compile(r"(?m)^=* ?(?:\d+ \w+, )*\d+ \w+(?:, \d+ \w+)* in ([\d.]+)s")


@dataclass(frozen=True)
class TestRun:
    """What the tests of one path did on one install; `problems` name what failed or did not end."""

    install: str
    path: str
    passed: int
    seconds: float
    problems: tuple[str, ...]


def main() -> int:
    """Make each environment, run the tests, print both tables and return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--folder", type=Path, help="where environments are made and kept; else a temporary one"
    )
    parser.add_argument("--only", choices=INSTALLS, action="append", help="an install to try; all by default")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for the tests of one path")
    arguments = parser.parse_args()
    installs: Sequence[str] = arguments.only or INSTALLS

    with tempfile.TemporaryDirectory(prefix="installs-") as temporary:
        folder = (arguments.folder or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        for install in installs:
            print(f"Installing {install} ...", flush=True)
            make_environment(folder, install)

        versions = {install: installed_versions(folder / install) for install in installs}
        print_versions(versions)
        runs = [run_tests(folder, install, path, arguments.limit) for install in installs for path in TESTS]

    for run in runs:
        for problem in run.problems:
            print(f"{run.install}: {problem}")
    return 1 if any(run.problems for run in runs) else 0


def make_environment(folder: Path, install: str) -> None:
    """Make an environment with the project, in which its versions are those that the install stands for."""
    environment = folder / install
    uv("venv", "--clear", "--python", sys.executable, str(environment))

    if install == "lock":
        pip(environment, "sync", "requirements.lock")
        pip(environment, "install", "--no-deps", "--editable", ".")
    elif install == "newest":
        pip(environment, "install", "--editable", PROJECT, "--group", "dev")
    else:
        pip(environment, "install", "--resolution", "lowest-direct", "--editable", PROJECT)
        # The tools of the tests are wanted as they are today, and must not raise what is tried.
        constraints = folder / "lowest.txt"
        direct = direct_names()
        versions = installed_versions(environment)
        lines = [f"{name}=={version}\n" for name, version in versions.items() if name in direct]
        constraints.write_text("".join(lines), "utf-8")
        pip(environment, "install", "--group", "dev", "--constraints", str(constraints))


def direct_names() -> set[str]:
    """Return the names of the packages that the project itself asks for, with those of its extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lines = [*project["dependencies"]]
    for extra in project["optional-dependencies"].values():
        lines.extend(extra)

    names = set[str]()
    for line in lines:
        name = re.split(r"[\[<>=!~; ]", line, maxsplit=1)[0]
        names.add(re.sub(r"[-_.]+", "-", name).lower())
    return names


def installed_versions(environment: Path) -> dict[str, str]:
    """Return the version of each package of an environment, by its name."""
    lines = pip(environment, "freeze", "--exclude-editable").splitlines()
    pairs = [line.split("==", 1) for line in lines if "==" in line]
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in pairs}


def pip(environment: Path, command: str, *arguments: str) -> str:
    """Run one of uv's pip commands in an environment."""
    return uv("pip", command, "--python", str(environment / "bin" / "python"), *arguments)


def uv(*arguments: str) -> str:
    """Run uv and return what it prints; end with its own words where it fails."""
    beside = Path(sys.executable).with_name("uv")
    program = str(beside) if beside.exists() else shutil.which("uv")
    if program is None:
        sys.exit("uv is missing: run make setup, then .venv/bin/python -m scripts.installs")

    process = subprocess.run([program, *arguments], cwd=ROOT, check=False, capture_output=True, text=True)
    if process.returncode:
        sys.exit(f"uv {' '.join(arguments)}\n{process.stderr}")
    return process.stdout


def print_versions(versions: Mapping[str, Mapping[str, str]]) -> None:
    """Print the packages whose versions differ between the installs."""
    names = sorted({name for packages in versions.values() for name in packages})
    rows = [["package", *versions]]
    for name in names:
        row = [packages.get(name, "-") for packages in versions.values()]
        if len(set(row)) > 1:
            rows.append([name, *row])
    for row in rows:
        print("  ".join(cell.ljust(20) for cell in row).rstrip(), flush=True)


def run_tests(folder: Path, install: str, path: str, limit: float) -> TestRun:
    """Run the tests of one path on one install, print how it went in a line, and return it."""
    report = folder / f"{install}-{path.replace('/', '-')}.txt"
    python = folder / install / "bin" / "python"
    words = [str(python), "-m", "pytest", "-vv", "-p", "no:cacheprovider", "--tb=short", path]
    with report.open("w", encoding="utf-8") as output:
        # A session of its own, so that programs which the tests started are stopped with them.
        process = subprocess.Popen(words, cwd=ROOT, stdout=output, stderr=output, start_new_session=True)
        try:
            status: int | None = process.wait(limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            status = None

    text = report.read_text("utf-8", errors="replace")
    passed = len(re.findall(r"(?m)^tests\S*::.* PASSED", text))
    summary = SUMMARY.search(text)
    seconds = float(summary[1]) if summary and status is not None else limit
    run = TestRun(install, path, passed, seconds, tuple(problems(text, path, status, limit)))
    print(
        f"{install:8}{path:38}{passed:5} passed {len(run.problems):4} problems {seconds:7.1f} s", flush=True
    )
    return run


def problems(text: str, path: str, status: int | None, limit: float) -> Iterator[str]:
    """Yield each test that failed, the one that was running when time was up, and any other end."""
    failed = re.findall(r"(?m)^(tests\S*::.*?) (?:FAILED|ERROR)\b", text)
    yield from failed
    if status is None:
        tests = re.findall(r"(?m)^tests\S*::.*$", text)
        running = tests[-1] if tests else path
        yield f"stopped after {limit:g} s in {running}"
    elif status != 0 and not failed:
        yield f"{path}: pytest ended with status {status}: {text[-300:].strip()}"


if __name__ == "__main__":
    sys.exit(main())
