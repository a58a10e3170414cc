"""Programs that draw pages, each in a process of its own: the dashboard, a report, a site to publish.

They are found by name among the entry points of installed packages, so that nothing of them is imported here.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

from arena.errors import ArenaError

Progress = Callable[[int, int | None], None]
LIST = "arena-site.json"
"""The file in a site's folder that lists all files that the arena wrote there."""
PAGES = "arena.pages"
"""The group of entry points that names these programs, in pyproject.toml."""
NOWHERE = "http://127.0.0.1:9"
"""A proxy address where nobody listens, so that a server of pages reaches nothing in the web: Streamlit would
ask a foreign service for the address of this machine."""


def page_environment(address: str, config: Path | None = None) -> dict[str, str]:
    """Return the environment of a program that draws pages.

    It is that of this process, with the record and the config named, the arena's own packages found first,
    and no way to the web.
    """
    environment = dict[str, str]()
    for name, value in os.environ.items():
        if not name.lower().endswith("_proxy"):
            environment[name] = value

    environment |= dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), NOWHERE)
    environment["ARENA_DATABASE"] = address
    environment["ARENA_CONFIG"] = str(config or "")

    own_packages = str(Path(__file__).resolve().parents[2])
    search_path = os.environ.get("PYTHONPATH")
    environment["PYTHONPATH"] = f"{own_packages}{os.pathsep}{search_path}" if search_path else own_packages
    return environment


def page_command(name: str) -> list[str]:
    """Return the command that starts a program of pages; raise `ArenaError` if it is not installed."""
    program = next(iter(entry_points(group=PAGES, name=name)), None)
    if program is None or find_spec(program.module.partition(".")[0]) is None:
        hint = "reinstall paper-arena; in a checkout, run `make setup`"
        raise ArenaError("no_dashboard", "the dashboard is not installed", hint)

    code = f"import sys; from {program.module} import {program.attr}; sys.exit({program.attr}())"
    return [sys.executable, "-P", "-c", code]  # -P: nothing is imported from the working folder


def published_version(site: Path) -> str | None:
    """Return the version of the season that a site shows, from the list of its files, or None."""
    try:
        listed = json.loads((site / LIST).read_text("utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    return str(listed.get("season")) if isinstance(listed, dict) else None


def draw_pages(
    name: str, address: str, target: Path, options: list[str], on_progress: Progress
) -> dict[str, Any]:
    """Run a program that draws a record to a target; return the last thing that it prints.

    `on_progress` gets how many pages are done, and of how many. An exception here ends the program too.
    Raise `ArenaError` if it fails.
    """
    command = [*page_command(name), address, str(target), *options]
    report: dict[str, Any] = {}

    with TemporaryFile("w+") as errors:
        program = subprocess.Popen(
            command, env=page_environment(address), stdout=subprocess.PIPE, stderr=errors, text=True
        )
        with program:
            try:
                for line in program.stdout or ():
                    report = json.loads(line)
                    if "done" in report:
                        on_progress(report["done"], report["whole"])
            except BaseException:
                program.terminate()
                raise
        errors.seek(0)
        error_lines = errors.read().strip().splitlines()

    if "error" in report:
        error = report["error"]
        raise ArenaError(error["code"], error["message"], error["mend"], status=report["status"])
    if program.returncode:
        reason = error_lines[-1] if error_lines else f"it ended with status {program.returncode}"
        raise ArenaError(name, f"the pages could not be drawn: {reason}", "report this message as a bug")
    return report


def draw_report(address: str, output: Path, cohort: int | None, on_progress: Progress) -> dict[str, Any]:
    """Draw a season to one file, atomically, and return what is on it."""
    options = [] if cohort is None else ["--cohort", str(cohort)]
    with new_file(output) as drawn:
        return draw_pages("report", address, drawn, options, on_progress)


def draw_scored(report: str, output: Path, on_progress: Progress) -> dict[str, Any]:
    """Draw the report on a file of forecasts, given as JSON, to one file; return what was drawn."""
    with new_file(output) as drawn:
        given = drawn.with_name("report.json")
        given.write_text(report, "utf-8")
        return draw_pages("scored", str(given), drawn, [], on_progress)


@contextmanager
def new_file(output: Path) -> Iterator[Path]:
    """Yield the path of a new file that replaces the output once it is complete."""
    with writing(output), TemporaryDirectory(dir=output.parent, prefix=".report-") as folder:
        drawn = Path(folder) / "report.html"
        yield drawn
        drawn.replace(output)


def check_output(output: Path, force: bool) -> None:
    """Raise `ArenaError` unless a file can be written at this place."""
    if os.path.lexists(output) and not (force and output.is_file()):
        hint = "name another, or add --force" if output.is_file() else "name a file"
        raise ArenaError("exists", f"{output} already exists", hint)
    if not output.parent.is_dir():
        raise ArenaError("no_folder", f"there is no folder {output.parent}", "create it, or use another")


@contextmanager
def writing(output: Path) -> Iterator[None]:
    """Turn an error in writing a file into an `ArenaError` that names it."""
    try:
        yield
    except OSError as error:
        message = f"{error.filename or output}: {error.strerror}"
        raise ArenaError("cannot_write", message, "check permissions and free space") from error
