"""The smaller rules and the board: against numpy, counting by hand, and the errors that they name."""

import math
from statistics import mean
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.scores.rules.forecastbench import intervals
from arena.scores.rules.forecastbench.difficulty_sample import sample
from arena.scores.rules.forecastbench.imputation import is_too_much_missing
from arena.scores.rules.forecastbench.leaderboard import forecastbench_leaderboard
from arena.scores.rules.forecastbench.panel import Panel, panel
from arena.scores.rules.forecastbench.peer import peer
from arena.scores.rules.forecastbench.skill import skill
from tests.arena.scores.rules.forecastbench.tables import a_panel, some_panel

millionths = st.integers(0, 1_000_000)


@pytest.mark.parametrize(
    ("column", "value", "says"),
    [
        ("forecast", [0.5, 1.2], "row 1: 1.2 is not a probability"),
        ("forecast", [math.nan, 0.5], "row 0: nan is not a probability"),
        ("outcome", [1, -1], "row 1: -1.0 is not a probability"),
        ("forecaster", ["a", "a"], "rows 0 and 1: 'a' forecast 'x' twice"),
        ("outcome", [1, 0], "question 'x' has two outcomes"),
        ("stratum", ["s", "t"], "question 'x' has two strata"),
        ("cluster", ["s", "t"], "question 'x' has two clusters"),
        ("family", ["s", "t"], "question 'x' has two families"),
    ],
)
def test_a_bad_table_says_where(column: str, value: Any, says: str) -> None:
    columns: dict[str, Any] = {
        "forecaster": ["a", "b"],
        "question": ["x", "x"],
        "forecast": [0, 1],
        "outcome": [1, 1],
    }
    with pytest.raises(ValueError, match=says):
        panel(**columns | {column: value})


def test_a_table_too_big_for_memory_is_refused() -> None:
    names = [f"{n}" for n in range(8000)]
    with pytest.raises(ValueError, match="8000 forecasters × 8000 questions are too many"):
        panel(names, names, [0.5] * 8000, [1] * 8000)


def by_hand(table: Panel) -> list[tuple[list[float], list[float]]]:
    """Return each forecaster's Brier scores, and everybody's on the same questions."""
    found = []
    for row in table.brier:
        answered = np.flatnonzero(~np.isnan(row))
        found.append((row[answered].tolist(), [float(np.nanmean(table.brier[:, j])) for j in answered]))
    return found


@given(seed=st.integers(0, 10**6))
def test_peer_is_the_mean_distance_to_everybody(seed: int) -> None:
    table = some_panel(seed, forecasters=4, questions=9, missing=0.3)
    wanted = [mean(all_) - mean(own) if own else math.nan for own, all_ in by_hand(table)]
    assert peer(table) == pytest.approx(wanted, nan_ok=True)


@given(seed=st.integers(0, 10**6))
def test_skill_is_the_mean_distance_to_the_naive_one(seed: int) -> None:
    table = some_panel(seed, forecasters=4, questions=9, missing=0.3)
    naive = table.row("f0000")
    wanted = [float(np.nanmean(naive - row)) if not np.isnan(row).all() else math.nan for row in table.brier]
    assert skill(table, "f0000") == pytest.approx(wanted, nan_ok=True)
    assert skill(table, "f0000")[0] == 0


def test_skill_needs_the_naive_one_on_every_question() -> None:
    with pytest.raises(ValueError, match="question 'q001': 'a' didn't answer it"):
        skill(a_panel({"a": [0.5, None], "b": [0.1, 0.2]}, [0, 1]), "a")


@pytest.mark.parametrize(
    ("missing", "asked", "dropped"), [(0, 20, False), (1, 20, False), (2, 39, True), (1, 19, True)]
)
def test_more_than_five_percent_imputed_is_too_much(missing: int, asked: int, dropped: bool) -> None:
    said = [math.nan] * missing + [0.5] * (asked - missing)
    assert is_too_much_missing(said, [True] * asked) is dropped
    assert is_too_much_missing(said + [0.5] * 1000, [True] * asked + [False] * 1000) is dropped
    assert is_too_much_missing([], []) is False


def test_the_difficulty_sample_is_young_models_and_the_naive_one() -> None:
    rows = [
        ("model", False, False, 0, True),
        ("model", False, False, 364, True),
        ("model", False, False, 365, False),
        ("model", False, False, math.nan, False),
        ("theirs", True, False, 0, False),
        ("Naive Forecaster", False, True, 5000, True),
        *(
            (name, False, True, 0, False)
            for name in ("Always 0", "Always 0.5", "Imputed Forecaster", "LLM Crowd")
        ),
    ]
    names, external, comparison, age, chosen = map(list, zip(*rows, strict=True))
    assert sample(names, external, comparison, age).tolist() == chosen


an_index = st.one_of(st.integers(0, 9).map(float), st.just(math.nan))
drawn_indices = st.lists(
    st.lists(an_index, min_size=3, max_size=3),
    min_size=1,
    max_size=12,
).map(np.array)


@given(drawn=drawn_indices)
def test_intervals_and_shares_as_numpy_and_counting_have_them(drawn: Any) -> None:
    low, high = intervals.interval(drawn)
    for i in range(3):
        known = drawn[~np.isnan(drawn[:, i]), i]
        wanted = np.quantile(known, [0.025, 0.975]).tolist() if known.size else [math.nan] * 2
        assert [low[i], high[i]] == pytest.approx(wanted, nan_ok=True)
        pairs = [(row[i], row[0]) for row in drawn if not (math.isnan(row[i]) or math.isnan(row[0]))]
        share = mean(float(one >= other) for one, other in pairs) if pairs and i else math.nan
        assert intervals.share_at_least(drawn, 0)[i] == pytest.approx(share, nan_ok=True)
    some = [row for row in drawn if not np.isnan(row).all()]
    firsts = [int(np.nanargmax(row)) for row in some]
    assert intervals.share_first(drawn).tolist() == [firsts.count(i) / max(len(some), 1) for i in range(3)]
    tops = [row >= np.nanquantile(row, 0.95) - 1e-12 for row in some]
    assert intervals.share_on_top(drawn) == pytest.approx(np.mean(tops, axis=0) if some else [0.0] * 3)


def two_types(**more: list[float | None]) -> tuple[Panel, Panel]:
    """Return six questions of each type, answered by the naive one, the price, and those given."""
    said: dict[str, list[float | None]] = {
        "Naive Forecaster": [0.4, 0.5, 0.6, 0.5, 0.3, 0.5],
        "Imputed Forecaster": [0.5, 0.4, 0.7, 0.6, 0.2, 0.5],
    }
    names = [*said, *more]
    tables = []
    for outcomes in ([0, 0, 1, 1, 0, 1], [1, 0, 1, 0, 0, 1]):
        rows = [
            (name, f"q{j}", p, outcomes[j])
            for name, row in (said | more).items()
            for j, p in enumerate(row)
            if p is not None
        ]
        who, what, p, o = map(list, zip(*rows, strict=True))
        tables.append(panel(who, what, p, o, forecasters=names))
    return tables[0], tables[1]


def test_a_forecaster_without_answers_has_nothing_and_comes_last() -> None:
    last = forecastbench_leaderboard(*two_types(silent=[None] * 6), count=20, references=["silent"])[-1]
    assert last.forecaster == "silent"
    assert (last.n.overall, last.score.overall, last.index.dataset, last.low.market) == (0, None, None, None)
    assert (last.peer.overall, last.skill.overall, last.first, last.p) == (None, None, 0.0, {"silent": None})
