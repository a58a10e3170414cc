"""The first paper's board: its own figures, and the text of its notes done slowly."""

import gzip
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from arena.scores.rules.forecastbench.panel import Panel, panel
from arena.scores.rules.forecastbench.paper_leaderboard import PaperScores, paper_leaderboard
from tests.arena.scores.rules.forecastbench.tables import MARKETS, a_panel, some_panel


@pytest.fixture(scope="module")
def paper(shared_data: Path) -> dict[str, Any]:
    with gzip.open(shared_data / "forecastbench" / "paper_always_half.json.gz", "rt") as file:
        found: dict[str, Any] = json.load(file)
    return found


def always_half(resolutions: list[dict[str, Any]]) -> Panel:
    return panel(
        ["Always 0.5"] * len(resolutions),
        [json.dumps([r["source"], r["id"], r["direction"], r["resolution_date"]]) for r in resolutions],
        [0.5] * len(resolutions),
        [r["resolved_to"] for r in resolutions],
    )


def the_row(paper: dict[str, Any], table: str) -> PaperScores:
    """Return a question's row: datasets count at each horizon, a market once however often it was priced."""
    human = {(source, question) for source, question in paper["human_ids"]}
    seen = [
        r
        for r in paper["resolutions"]
        if table == "table3" or (isinstance(r["id"], str) and (r["source"], r["id"]) in human)
    ]
    dataset = [r for r in seen if r["source"] not in MARKETS and r["resolution_date"] in paper["horizons"]]
    markets = [r for r in seen if r["source"] in MARKETS and r["resolution_date"] == paper["horizons"][-1]]
    (row,) = paper_leaderboard(always_half(dataset), always_half(markets), draws=10)
    return row


@pytest.mark.parametrize("table", ["table2", "table3"])
def test_always_half_has_the_published_figures(paper: dict[str, Any], table: str) -> None:
    wanted = paper["expected"][table]
    row = the_row(paper, table)
    assert (row.n.dataset, row.n.market) == (wanted["n_dataset"], wanted["n_market"])
    assert round(row.brier.dataset or 0, 3) == wanted["dataset"]
    assert round(row.brier.market or 0, 3) == wanted["market"]
    assert round(row.brier.overall or 0, 3) == wanted["overall"]
    assert (row.p, row.better) == (None, None)


def test_always_half_has_the_published_interval_but_for_one_last_digit(paper: dict[str, Any]) -> None:
    """Table 2 prints 0.207 for a lower end that is 0.2077."""
    row = the_row(paper, "table3")
    assert [round(end or 0, 3) for end in (row.low, row.high)] == paper["expected"]["table3"]["ci"]
    row = the_row(paper, "table2")
    assert [round(end or 0, 3) for end in (row.low, row.high)] == [0.208, 0.227]


def slowly(dataset: Panel, market: Panel, name: str, best: str, draws: int) -> tuple[float, float]:
    """Compute p and `better` of one forecaster by the paper's notes, a draw at a time."""
    chance = np.random.default_rng(4)
    apart = [part.row(name) - part.row(best) for part in (dataset, market)]
    seen = float(np.mean([values.mean() for values in apart]))
    reached = 0
    for _ in range(draws):
        means = [(chance.choice(values, values.size) - values.mean()).mean() for values in apart]
        reached += np.mean(means) >= seen
    both = np.concatenate(apart)
    return reached / draws, sum(value < 0 for value in both) / both.size


def test_p_and_share_of_better_questions_are_those_of_the_notes() -> None:
    dataset = some_panel(1, 4, 60)
    market = some_panel(2, 4, 40)
    best, *others = paper_leaderboard(dataset, market, draws=20_000)
    assert (best.p, best.better) == (None, None)
    for row in others:
        p, better = slowly(dataset, market, row.forecaster, best.forecaster, draws=4000)
        assert row.p == pytest.approx(p, abs=0.03)
        assert row.better == pytest.approx(better)


def test_the_interval_is_that_of_t() -> None:
    dataset = some_panel(1, 3, 30)
    market = some_panel(2, 3, 12)
    for row in paper_leaderboard(dataset, market, draws=10):
        errors = [stats.sem(part.row(row.forecaster)) for part in (dataset, market)]
        ends = stats.t.interval(0.95, 11, loc=row.brier.overall, scale=math.hypot(*errors) / 2)
        assert (row.low, row.high) == pytest.approx(ends)


def test_who_is_better_by_the_same_on_every_question_is_surely_better() -> None:
    """Appendix G: constant differences leave no doubt, however wide the intervals."""
    outcomes = [1.0, 0.0] * 20
    chance = np.random.default_rng(1).random(40)
    near = a_panel({"a": list(chance * 0.5), "b": [0.5] * 40}, outcomes)
    shifted = np.vstack([near.brier[0], near.brier[0] + 0.01])
    table = replace(near, brier=shifted)
    _, worse = paper_leaderboard(table, table)
    assert worse.p == 0
    assert worse.better == 0


def test_twins_cannot_be_told_apart() -> None:
    said = [0.3, 0.8, 0.6, 0.1]
    table = a_panel({"a": said, "b": said}, [0, 1, 1, 0])
    _, second = paper_leaderboard(table, table, draws=100)
    assert (second.forecaster, second.p, second.better) == ("b", 1.0, 0.0)


def test_a_type_of_one_question_has_no_interval() -> None:
    table = a_panel({"a": [0.3]}, [0])
    (row,) = paper_leaderboard(table, a_panel({"a": [0.3, 0.4]}, [0, 1]), draws=10)
    assert (row.low, row.high) == (None, None)


def test_a_gap_is_an_error_that_names_it() -> None:
    whole = a_panel({"a": [0.3], "b": [0.2]}, [0])
    gap = a_panel({"a": [0.3, None], "b": [0.1, 0.2]}, [0, 1])
    with pytest.raises(ValueError, match="'a' has no forecast on 'q001'"):
        paper_leaderboard(whole, gap)
