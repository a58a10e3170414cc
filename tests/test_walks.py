"""docs/architecture.md names the rooms that are there, and the walks that the program takes."""

import re
from pathlib import Path

import pytest

from agents.llm.library import litellm
from tests.program.first_calls import first_calls
from tests.program.running import simulated_config

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
STOP = re.compile(r"^\|\d+ \|`([^`]+)` \|`([^`]+)` \|", re.MULTILINE)
ROW = re.compile(r"^\|(`\w+/`)? ?\|(`[^|]+) \|([^|]+)\|$", re.MULTILINE)
Call = tuple[str, str]


def section(heading: str) -> str:
    """Return the part of the page under a heading."""
    return PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> list[Call]:
    """Return each function that a round and the leaderboard after it called, in order of first calls."""
    folder = tmp_path_factory.mktemp("walks")
    simulated_config(folder, "{name: sharp, model: demo/sharp}", "{name: hasty, model: demo/hasty}")
    litellm()  # it makes most of the calls as it is loaded, and none of them counts
    return first_calls(folder, ["run --round", "board"])


@pytest.mark.parametrize("heading", ["From a quote to the leaderboard", "From a block of config to a fill"])
def test_a_walk_is_the_one_that_the_program_takes(heading: str, calls: list[Call]) -> None:
    stops = STOP.findall(section(heading))
    assert len(stops) >= 10
    assert [stop for stop in stops if stop not in calls] == []
    assert stops == sorted(stops, key=calls.index)


def rooms() -> dict[str, str]:
    """Return what the page says of each room that it names: of its folder, or of its file."""
    named: dict[str, str] = {}
    package = ""
    for start, names, meaning in ROW.findall(section("One direction")):
        package = start.strip("`") or package
        named |= {f"{package}{name}": meaning for name in re.findall(r"`([^`]+)`", names)}
    return named


def test_the_folders_on_the_page_are_those_that_are_there() -> None:
    packages = ("markets", "portfolio", "agents", "arena", "dashboard")
    folders = [path for name in packages for path in (ROOT / name).iterdir() if path.is_dir()]
    there = {f"{path.relative_to(ROOT)}/" for path in folders if path.name != "__pycache__"}
    assert {name for name in rooms() if name.endswith("/")} == there


def test_every_file_on_the_page_is_there_and_so_is_what_is_said_to_be_in_a_room() -> None:
    named = rooms()
    files = [name if name.endswith(".py") else f"{name}.py" for name in named if not name.endswith("/")]
    assert len(files) > 10
    assert [name for name in files if not (ROOT / name).is_file()] == []
    inner = [(name, part) for name, meaning in named.items() for part in re.findall(r"`([\w/]+/)`", meaning)]
    assert len(inner) > 5
    places = {part: [ROOT / name / part, (ROOT / name).parent / part] for name, part in inner}
    assert [part for part, paths in places.items() if not any(path.is_dir() for path in paths)] == []
