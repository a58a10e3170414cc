"""Traces of another arena: ours comes to the same figures, and a figure that is wrong is found."""

import json
import subprocess
import sys
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from tests.oracles.golden import MONEY, TOLERANCE, check, differences
from tests.oracles.replay import Found, opened, play, scores
from tests.oracles.traces import Trace, read

BY_HAND = Path(__file__).with_name("worked_by_hand.json")
SHARED = Path("golden", "forecaster_arena_traces.json")
COUNTS = ("settled", "refunded", "won")

Place = tuple[str | int, ...]


def content() -> dict[str, Any]:
    """Return the file worked by hand."""
    loaded: dict[str, Any] = json.loads(BY_HAND.read_text(encoding="utf-8"))
    return loaded


def figures(value: Any, place: Place = ()) -> Iterator[Place]:
    """Yield the places of numbers and flags in a file."""
    if isinstance(value, dict | list):
        for name, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from figures(part, (*place, name))
    elif isinstance(value, int | float):
        yield place


def changed(loaded: dict[str, Any], place: Place, by: float) -> dict[str, Any]:
    """Return the same with one figure changed, or a flag turned over."""
    loaded = deepcopy(loaded)
    part: Any = loaded
    for name in place[:-1]:
        part = part[name]
    part[place[-1]] = not part[place[-1]] if isinstance(part[place[-1]], bool) else part[place[-1]] + by
    return loaded


def played() -> Iterator[tuple[dict[str, Any], Found]]:
    """Yield each step of the file worked by hand: what the file says, and the result."""
    for trace in read(BY_HAND):
        table = opened(trace)
        for number, step in enumerate(trace.steps):
            yield step.model_dump(), play(step, table, f"fill:{number}")
        yield trace.model_dump(), scores(table)


@pytest.mark.parametrize("trace", read(BY_HAND), ids=lambda trace: trace.trace)
def test_figures_worked_by_hand(trace: Trace) -> None:
    assert [str(step) for step in check(trace) if step.wrong] == []


def test_every_step_of_the_reference(shared_data: Path) -> None:
    checked = [step for trace in read(shared_data / SHARED) for step in check(trace)]
    assert [str(step) for step in checked if step.wrong] == []
    assert len(checked) == 1_122 + 20


def test_every_wrong_figure_is_found() -> None:
    tried = 0
    for told, found in played():
        for place in figures({name: told[name] for name in found}):
            by = 1 if place[-1] in COUNTS else 1.5 * TOLERANCE.get(str(place[-1]), MONEY)
            assert len(list(differences(changed(told, place, by), found))) == 1, place
            tried += 1
    assert tried > 400


def test_a_position_too_many_and_one_too_few_are_found(tmp_path: Path) -> None:
    steps = content()["traces"][0]["steps"]
    for number in (2, 19):
        loaded = content()
        loaded["traces"][0]["steps"][0]["after"]["positions"] = steps[number]["after"]["positions"]
        path = tmp_path / "traces.json"
        path.write_text(json.dumps(loaded), encoding="utf-8")
        traces = read(path)
        (wrong,) = [step for trace in traces for step in check(trace) if step.wrong]
        assert "after.positions: expected" in str(wrong)


def test_it_runs_as_a_command() -> None:
    command = [sys.executable, "-m", "tests.oracles.golden", str(BY_HAND)]
    root = Path(__file__).resolve().parents[2]
    played = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert (played.returncode, played.stdout) == (0, "32 passed, 0 failed\n"), played.stderr
