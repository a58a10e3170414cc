"""What every rule in arena/scores/rules/ promises; a new file is tested by being there."""

import ast
import inspect
import math
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import arena.scores.rules
from markets.registry import load, names

FOLDER = Path(arena.scores.rules.__path__[0])
RULES = names(FOLDER)
HELPERS = {"season_rows", "standings", "panel", "forecasts", "grid", "table"}
"""What only helps the rules of its folder, and is not in docs/scoring.md."""
FILES = [
    file
    for file in sorted(FOLDER.rglob("*.py"))
    if not file.stem.startswith("_") and file.stem not in HELPERS
]
COLUMNS = ("forecast", "reference", "outcome", "yes", "pnl", "bankroll", "market")


def columns_of(name: str) -> set[str]:
    return set(inspect.signature(load("arena.scores.rules", name).score).parameters)


WAITING = [name for name in RULES if "outcome" in columns_of(name)]
FORECASTING = [name for name in RULES if "forecast" in columns_of(name)]

probability = st.integers(0, 1000).map(lambda n: n / 1000)
row = st.tuples(
    probability,
    probability,
    st.sampled_from([1, 0, -1, -2]),
    st.booleans(),
    st.integers(-(10**10), 10**12),
    st.just(10**10),
    st.integers(0, 3),
)


@pytest.fixture(params=RULES)
def rule(request: pytest.FixtureRequest) -> ModuleType:
    return load("arena.scores.rules", request.param)


def score(rule: ModuleType, rows: list[tuple[Any, ...]]) -> float:
    columns = dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True)) if rows else {}
    asked = inspect.signature(rule.score).parameters
    return float(rule.score(**{name: columns.get(name, []) for name in asked}))


def test_the_folder_holds_the_rules_of_seed_002() -> None:
    assert {"brier", "skill", "skill_ratio", "win_rate", "returns", "calibration"} <= set(RULES)


def test_a_rule_says_what_it_is(rule: ModuleType) -> None:
    assert rule.TITLE
    assert rule.DIRECTION in ("lower", "higher")
    low, high = rule.RANGE
    assert low < high
    assert f"{rule.DIRECTION} is better" in (rule.__doc__ or "")


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(FOLDER)))
def test_a_file_says_formula_direction_range_edge_cases_and_source(file: Path) -> None:
    assert f"`{file.stem}`" in (file.parent / "__init__.py").read_text("utf-8")
    text = ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""
    parts = re.findall(r"^- ([A-Z][a-z ]+):", text, re.MULTILINE)
    assert [part for part in parts if part != "Limits"] == [
        "Formula", "Direction", "Range", "Edge cases", "Source"
    ]  # fmt: skip


def test_the_files_in_folders_of_their_own_are_among_them() -> None:
    assert {"metaculus", "forecastbench", "comparisons"} < {file.parent.name for file in FILES}


@pytest.mark.parametrize("name", RULES)
def test_a_rule_asks_for_known_columns_only(name: str) -> None:
    assert columns_of(name) <= set(COLUMNS)


def test_nothing_to_score_is_nan_and_not_0(rule: ModuleType) -> None:
    assert math.isnan(score(rule, []))


@pytest.mark.parametrize("name", WAITING)
def test_unresolved_rows_alone_are_nan_and_not_0(name: str) -> None:
    rule = load("arena.scores.rules", name)
    assert math.isnan(score(rule, [(0.5, 0.5, -1, True, 0, 1, 0), (0.5, 0.5, -2, True, 0, 1, 0)]))


@pytest.mark.parametrize("name", RULES)
@given(rows=st.lists(row, min_size=1, max_size=30), chance=st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_digit(name: str, rows: list[tuple[Any, ...]], chance: Any) -> None:
    rule = load("arena.scores.rules", name)
    shuffled = chance.sample(rows, len(rows))
    assert np.array_equal(score(rule, rows), score(rule, shuffled), equal_nan=True)


@pytest.mark.parametrize("name", RULES)
@given(rows=st.lists(row, min_size=1, max_size=30))
def test_a_score_is_a_plain_number_in_its_range(name: str, rows: list[tuple[Any, ...]]) -> None:
    rule = load("arena.scores.rules", name)
    low, high = rule.RANGE
    found = score(rule, rows)
    assert type(found) is float
    assert math.isnan(found) or low <= found <= high


@pytest.mark.parametrize("wrong", [-0.01, 1.01, math.nan, math.inf])
@pytest.mark.parametrize("name", FORECASTING)
def test_what_is_no_probability_is_refused_by_row(name: str, wrong: float) -> None:
    rule = load("arena.scores.rules", name)
    good = (0.5, 0.5, 1, True, 0, 1, 0)
    with pytest.raises(ValueError, match=r"row 1: .* is not a probability"):
        score(rule, [good, (wrong, *good[1:])])
