"""Run the tests of everything that leans on libraries, on the versions that an installation may get.

python scripts/installs.py                                      # all three environments
python scripts/installs.py --only newest --folder tests/agents

`lock` has the versions of requirements.lock, `newest` those that a plain installation gets today, `lowest`
the lowest that pyproject.toml allows of its direct dependencies and that have a wheel for this Python. The
tools of the dev group are the newest, except in `lock`. It needs a network, and uv in the Python that runs
it. The exit status is 1 where a test fails.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"
RESOLUTIONS = {"newest": "highest", "lowest": "lowest-direct"}
"""What uv calls the choice of versions of an environment that is not the lock's."""
ENVIRONMENTS = ("lock", *RESOLUTIONS)
FOLDERS = ("tests/agents", "tests/arena/calls", "tests/markets", "tests/arena/record", "tests/dashboard")
LONGEST_FOLDER = 3_600.0
"""Seconds after which the tests of a folder are given up as a whole."""


@dataclass(frozen=True)
class FolderResult:
    """How the tests of one folder went: the failed ones by name, and the seconds that all took together."""

    folder: str
    passed: int
    failures: tuple[str, ...]
    seconds: float


@dataclass(frozen=True)
class Trial:
    """One environment: the versions that differ from the lock, and its folders."""

    environment: str
    differences: tuple[str, ...]
    results: tuple[FolderResult, ...]

    @property
    def failures(self) -> list[str]:
        return [failure for result in self.results for failure in result.failures]


def main() -> int:
    """Try the chosen environments, print how it went, and return the exit status."""
    options = read_options()

    trials = []
    for environment in options.only or ENVIRONMENTS:
        with tempfile.TemporaryDirectory(prefix=f"installs-{environment}-") as folder:
            trials.append(try_environment(environment, Path(folder), options))

    print(report(trials))
    return 1 if any(trial.failures for trial in trials) else 0


def read_options() -> argparse.Namespace:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only", action="append", choices=ENVIRONMENTS, help="an environment; may be given several times"
    )
    parser.add_argument("--folder", action="append", help="a folder of tests; may be given several times")
    parser.add_argument(
        "--timeout-seconds", type=float, default=180.0, help="a test that takes longer fails (180)"
    )
    parser.add_argument("--workers", type=int, default=2, help="tests that run at once (2)")
    return parser.parse_args()


def try_environment(environment: str, folder: Path, options: argparse.Namespace) -> Trial:
    """Install an environment into a folder and run the tests with it."""
    print(f"{environment}: installing ...", flush=True)
    try:
        python = install(environment, folder)
    except subprocess.CalledProcessError as error:
        print(error.stderr, file=sys.stderr)
        failed = FolderResult("installation", 0, (f"the installation of {environment}",), 0.0)
        return Trial(environment, (), (failed,))

    differences = version_differences(locked_versions(LOCK.read_text("utf-8")), installed_versions(python))
    results = []
    for tests in options.folder or FOLDERS:
        result = run_tests(python, tests, folder, options)
        print(f"{environment}: {tests}: {result.passed} passed, {len(result.failures)} failed", flush=True)
        results.append(result)
    return Trial(environment, tuple(differences), tuple(results))


def install(environment: str, folder: Path) -> Path:
    """Make a virtual environment in a folder, and return its Python."""
    python = folder / "venv" / "bin" / "python"
    uv("venv", "--quiet", "--python", sys.executable, str(folder / "venv"))

    if environment == "lock":
        uv("pip", "sync", "--quiet", "--python", str(python), "--require-hashes", str(LOCK))
    else:
        install_resolved(RESOLUTIONS[environment], python, folder / "pins.txt")

    uv("pip", "install", "--quiet", "--python", str(python), "--no-deps", "--editable", str(ROOT))
    return python


def install_resolved(resolution: str, python: Path, pins: Path) -> None:
    """Install the product by a resolution of its own, then the dev tools beside it.

    Together they would be resolved to the first versions that the dev tools ever had, which can't be built.
    Nor can a version that came before this Python, so only versions with a wheel for it count.
    """
    product = ["--all-extras", "--resolution", resolution, "--only-binary", ":all:", "pyproject.toml"]
    output = ["--no-annotate", "--no-header", "--output-file", str(pins)]
    uv("pip", "compile", "--quiet", "--python", str(python), *product, *output)

    tools = ["--group", "dev", "--constraints", str(pins)]
    uv("pip", "install", "--quiet", "--python", str(python), "--requirements", str(pins), *tools)


def uv(*words: str) -> str:
    """Run uv, and return what it prints. It raises CalledProcessError where uv fails."""
    command = [sys.executable, "-m", "uv", *words]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout


def locked_versions(lock: str) -> dict[str, set[str]]:
    """Return the versions of each package of a lock: several where they depend on Python or the system.

    >>> locked_versions("rich==15.0.0 --hash=sha256:ab")
    {'rich': {'15.0.0'}}
    """
    versions: dict[str, set[str]] = {}
    for line in lock.splitlines():
        name, equal_signs, rest = line.partition("==")
        if equal_signs and not line.startswith((" ", "#")):
            version = rest.split()[0]
            versions.setdefault(name, set()).add(version)
    return versions


def installed_versions(python: Path) -> dict[str, str]:
    """Return the version of each package that an environment has."""
    listed = json.loads(uv("pip", "list", "--python", str(python), "--format", "json"))
    return {package["name"]: package["version"] for package in listed}


def version_differences(locked: Mapping[str, set[str]], installed: Mapping[str, str]) -> list[str]:
    """Return each package with a version that the lock doesn't have, beside the lock's.

    >>> version_differences({"rich": {"15.0.0"}, "numpy": {"2.4.6"}}, {"rich": "14.0.0", "numpy": "2.4.6"})
    ['rich 14.0.0 (lock: 15.0.0)']
    """
    differences = []
    for name, version in sorted(installed.items()):
        if name == "paper-arena":
            continue
        expected = locked.get(name, set())
        if version not in expected:
            differences.append(f"{name} {version} (lock: {' or '.join(sorted(expected)) or 'none'})")
    return differences


def run_tests(python: Path, tests: str, folder: Path, options: argparse.Namespace) -> FolderResult:
    """Run the tests of one folder; one that hangs ends with its worker, and is named as failed."""
    written = folder / "results.xml"
    written.unlink(missing_ok=True)
    patience = ["faulthandler_exit_on_timeout=true", f"faulthandler_timeout={options.timeout_seconds}"]
    words = ["-n", str(options.workers), "--dist", "worksteal", "-p", "no:cacheprovider"]
    words += [f"--override-ini={line}" for line in patience]
    words += [f"--junit-xml={written}", tests]

    try:
        done = subprocess.run(
            [str(python), "-m", "pytest", *words],
            cwd=ROOT,
            check=False,
            capture_output=True,
            text=True,
            timeout=LONGEST_FOLDER,
        )
    except subprocess.TimeoutExpired:
        return FolderResult(tests, 0, (f"{tests} took over {LONGEST_FOLDER:.0f} seconds",), LONGEST_FOLDER)

    if done.returncode and done.stdout:
        print(done.stdout, flush=True)
    if not written.exists():
        return FolderResult(tests, 0, (f"{tests} did not start: {done.stderr.strip()[-2_000:]}",), 0.0)
    result = read_results(tests, written.read_text("utf-8"))
    if done.returncode and not result.failures:  # such as an error while tests are collected
        return FolderResult(tests, result.passed, (f"{tests}: pytest returned {done.returncode}",), 0.0)
    return result


def read_results(tests: str, xml: str) -> FolderResult:
    """Return what pytest's JUnit file says: a test that was skipped neither passed nor failed."""
    passed = 0
    failures = []
    seconds = 0.0
    for case in ET.fromstring(xml).iter("testcase"):
        seconds += float(case.get("time", "0"))
        outcomes = {child.tag for child in case}
        if outcomes & {"failure", "error"}:
            failures.append(f"{case.get('classname', '')}::{case.get('name', '')}")
        elif "skipped" not in outcomes:
            passed += 1
    return FolderResult(tests, passed, tuple(failures), seconds)


def report(trials: Iterable[Trial]) -> str:
    """Return a table with a line for each folder, then what differs and what failed in each environment."""
    rows = [("environment", "folder", "versions that differ", "passed", "failed", "seconds")]
    details = []
    for trial in trials:
        for result in trial.results:
            counts = (str(result.passed), str(len(result.failures)), f"{result.seconds:.0f}")
            rows.append((trial.environment, result.folder, str(len(trial.differences)), *counts))
        details += section(f"{trial.environment}: versions that differ from the lock", trial.differences)
        details += section(f"{trial.environment}: failed", trial.failures)
    return "\n".join([*aligned(rows), *details])


def section(title: str, lines: Sequence[str]) -> list[str]:
    """Return a title and its lines, or nothing where there are none."""
    if not lines:
        return []
    return ["", title, *(f"  {line}" for line in lines)]


def aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return the rows of a table as lines whose columns stand below one another.

    >>> aligned([("lock", "12"), ("newest", "3")])
    ['lock    12', 'newest  3']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        lines.append("  ".join(cells).rstrip())
    return lines


if __name__ == "__main__":
    sys.exit(main())
