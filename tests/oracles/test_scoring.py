"""Cases of scores: ours come to the same figures, and a figure that is wrong is found."""

import json
import subprocess
import sys
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arena.scores.rules.metaculus import community
from tests.oracles.scoring import RULES, Found, check, main, read
from tests.oracles.scoring_figures import figure
from tests.oracles.scoring_questions import forecasts_of

SHARED = Path("scoring", "cases.json")
ROOT = Path(__file__).resolve().parent.parent.parent
DIFFERENCES = ROOT / "docs" / "scoring-differences.md"

BY_HAND: list[Found] = [
    {"id": "coin", "rule": "brier_binary", "inputs": {"p_yes": 0.5, "outcome": 1},
     "expected": {"brier": 0.25}, "tolerance": 1e-12},
    {"id": "take", "rule": "prize_percent",
     "inputs": {"takes_ranked": [3, 1], "minimum_percent": 0, "excluded_indices": []},
     "expected": {"percent": [0.75, 0.25]}, "tolerance": 1e-12},
    {"id": "figure", "rule": "published_figure", "inputs": {"what": "die naive p=0.05 outcome=6"},
     "expected": {"published": 0.1, "exact": 0.05, "reproduces": False},
     "tolerance": {"published": None, "exact": 1e-12}},
]  # fmt: skip


@pytest.fixture(scope="session")
def cases(shared_data: Path) -> list[Found]:
    return read(shared_data / SHARED)


def written(folder: Path, content: Any) -> Path:
    path = folder / "cases.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def figures(value: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the places of the figures."""
    if isinstance(value, dict | list):
        for name, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from figures(part, (*place, name))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield place


def changed(case: Found, place: tuple[str | int, ...]) -> Found:
    """Return the same with one figure of what is expected a little higher."""
    case = deepcopy(case)
    part: Any = case["expected"]
    for name in place[:-1]:
        part = part[name]
    part[place[-1]] += 0.6
    return case


@pytest.mark.parametrize("rule", RULES)
def test_every_case_of_a_rule_comes_out(rule: str, cases: list[Found]) -> None:
    checked = [check(case) for case in cases if case["rule"] == rule]
    assert checked
    assert [str(case) for case in checked if case.wrong] == []


def test_every_rule_of_the_file_is_played(cases: list[Found]) -> None:
    assert {case["rule"] for case in cases} <= set(RULES)


@pytest.mark.parametrize("rule", RULES)
def test_a_figure_that_is_wrong_is_found(rule: str, cases: list[Found]) -> None:
    case = next(case for case in cases if case["rule"] == rule)
    for place in list(figures(case["expected"]))[:12]:
        assert check(changed(case, place)).wrong, place


def test_the_community_of_our_own_is_the_one_in_the_file(cases: list[Found]) -> None:
    for case in cases:
        if case["rule"] == "metaculus_legacy_relative":
            history = case["inputs"]["aggregate_history"]
            outcome = case["inputs"]["resolution_bucket"]
            own = community.recency_weighted(forecasts_of(case["inputs"]))
            stood = own.weight > 0
            assert own.time[stood].tolist() == [entry["start"] for entry in history]
            then = [entry["pmf"][outcome] for entry in history]
            assert np.exp(own.level[stood]) == pytest.approx(then, abs=1e-10)


def test_every_misprint_is_listed_with_what_is_right(cases: list[Found]) -> None:
    text = DIFFERENCES.read_text(encoding="utf-8")
    misprints = [case for case in cases if case["expected"].get("reproduces") is False]
    assert misprints
    for case in misprints:
        printed = case["expected"]["published"]
        right = figure(case["inputs"]["what"])
        line = f"|{printed} |{right:.4f} |".replace("-", "−")
        assert line in text, case["inputs"]["what"]


def test_cases_made_by_hand_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(written(tmp_path, {"cases": BY_HAND}))]) == 0
    assert capsys.readouterr().out == "3 passed, 0 failed\n"


def test_it_runs_as_a_program(tmp_path: Path) -> None:
    path = written(tmp_path, {"cases": BY_HAND})
    ran = subprocess.run(
        [sys.executable, "-m", "tests.oracles.scoring", str(path)], capture_output=True, text=True
    )
    assert (ran.returncode, ran.stdout) == (0, "3 passed, 0 failed\n"), ran.stderr
