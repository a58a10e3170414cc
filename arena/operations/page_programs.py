"""Programs of the pages, each in a process of its own: the dashboard, a report, a site to publish.

They are looked up by name among the entry points of what is installed: nothing of them is imported here.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from arena.errors import ArenaError

LIST = "arena-site.json"
"""The file in a site's folder that lists all that we wrote there."""
PAGES = "arena.pages"
"""The group of entry points by which the pages' programs are known: pyproject.toml has them."""
NOWHERE = "http://127.0.0.1:9"
"""Nobody listens there: a proxy for all that a server of pages would ask of the web. When a page from
elsewhere knocks, Streamlit asks a stranger for the address of this machine."""


def page_environment(address: str, config: Path | None = None) -> dict[str, str]:
    """Ours, with record and config named, our own packages found first, and the web out of reach."""
    home = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH"))))
    ours = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
    shut = dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), NOWHERE)
    named = {"ARENA_DATABASE": address, "ARENA_CONFIG": str(config or "")}
    return ours | shut | named | {"PYTHONPATH": path}


def page_command(name: str) -> list[str]:
    """What starts a program of the pages, by its name."""
    found = next(iter(entry_points(group=PAGES, name=name)), None)
    if found is None or find_spec(found.module.partition(".")[0]) is None:
        hint = "reinstall paper-arena; in a checkout, run `make setup`"
        raise ArenaError("no_dashboard", "the dashboard is not installed", hint)
    start = f"import sys; from {found.module} import {found.attr}; sys.exit({found.attr}())"
    return [sys.executable, "-P", "-c", start]  # -P: nothing is imported from the working folder


def published_version(site: Path) -> str | None:
    """The version of the season that a site shows, by the list of its files; None where there is none."""
    try:
        found = json.loads((site / LIST).read_text("utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    return str(found.get("season")) if isinstance(found, dict) else None


def draw_pages(
    name: str, address: str, place: Path, more: list[str], moved: Callable[[int, int | None], None]
) -> dict[str, Any]:
    """What a program that draws a record to a place says in the end; on the way it says how far it is.

    Whatever ends this ends the program too.
    """
    command = [*page_command(name), address, str(place), *more]
    found: dict[str, Any] = {}
    with TemporaryFile("w+") as complaints:
        drawing = subprocess.Popen(
            command, env=page_environment(address), stdout=subprocess.PIPE, stderr=complaints, text=True
        )
        with drawing:
            try:
                for line in drawing.stdout or ():
                    found = json.loads(line)
                    if "done" in found:
                        moved(found["done"], found["whole"])
            except BaseException:
                drawing.terminate()
                raise
        complaints.seek(0)
        said = complaints.read().strip().splitlines()
    if "error" in found:
        error = found["error"]
        raise ArenaError(error["code"], error["message"], error["mend"], status=found["status"])
    if drawing.returncode:
        why = said[-1] if said else f"it ended with status {drawing.returncode}"
        raise ArenaError(name, f"the pages could not be drawn: {why}", "report this message as a bug")
    return found
