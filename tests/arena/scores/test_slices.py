"""The same rows by what they are about, and what the latest prices would make of them."""

from dataclasses import replace

import numpy as np
import pytest

from arena.record.model.columns import NO_SCORE, OPEN, UNKNOWN, ForecastColumns
from arena.scores.leaderboard import provisional_scores
from arena.scores.rules import brier
from arena.scores.slices import BY, slice_gains
from markets.millionths import ONE
from tests.arena.stated_rows import BEGAN, DAY, a_season, only, still_open


def labels(rows: ForecastColumns, by: str) -> list[str]:
    """Return the slice of each row."""
    names, place = BY[by](rows)
    return [names[number] for number in place]


@pytest.mark.parametrize("by", sorted(BY))
def test_every_row_is_in_one_slice_and_the_slices_together_are_all(by: str) -> None:
    rows = a_season({"ann": 0.5, "bob": 0.0}, rounds=2, released={"ann": BEGAN - 100 * DAY})
    assert len(labels(rows, by)) == rows.agent.size
    found = slice_gains(rows, by)
    assert sum(one.gain.rows for one in found) == rows.agent.size
    assert {one.gain.agent for one in found} == {"ann", "bob"}


def test_categories_go_by_their_name() -> None:
    rows = only(a_season({"ann": 0.5}), np.arange(4))
    assert labels(rows, "category") == ["sport", "politics", "sport", "politics"]
    assert [one.slice for one in slice_gains(rows, "category")] == ["politics", "sport"]


def test_edges_of_slices_are_half_open() -> None:
    rows = only(a_season({"ann": 0.5}), np.arange(6))
    days = np.array([0.5, 1, 6.9, 7, 28, 91])
    shown = replace(rows, closes=rows.at + (days * DAY).astype(np.int64))
    weeks = ["under a day", "1 to 7 days", "1 to 7 days", "1 to 4 weeks", "4 to 13 weeks", "longer"]
    assert labels(shown, "horizon") == weeks
    four = only(rows, np.arange(4))
    tenths = ["0% to 10%", "10% to 20%", "90% to 100%", "90% to 100%"]
    assert labels(replace(four, mid=np.array([0, ONE // 10, 999_999, ONE])), "price") == tenths
    since = np.array([10, 90, 400, 0]) * DAY
    shown = replace(four, released=np.where(since > 0, four.at - since, UNKNOWN))
    ages = ["within 90 days of its release", "within a year of it", "later", "release unknown"]
    assert labels(shown, "release") == ages


def test_where_all_is_resolved_a_provisional_score_is_the_score() -> None:
    rows = a_season({"ann": 0.6, "bob": -0.3}, rounds=2)
    for one in provisional_scores(rows, np.full(len(rows.markets), np.nan)):
        mine = only(rows, rows.agent == rows.agents.index(one.agent))
        own = brier.score(mine.forecast / ONE, mine.outcome, mine.market)
        assert one.brier_stated == pytest.approx(own, abs=1e-12)
        assert one.open == 0


def test_an_open_market_counts_by_its_latest_price_by_hand() -> None:
    rows = only(a_season({"ann": 0.5}), np.arange(2))
    forecasts = np.array([800_000, 500_000])
    mids = np.array([600_000, 500_000])
    open_ones = replace(rows, forecast=forecasts, mid=mids, outcome=np.array([OPEN, NO_SCORE]))
    [one] = provisional_scores(open_ones, np.array([0.75, 0.5, *[np.nan] * 78]))
    assert one.brier_stated == pytest.approx(0.75 * 0.2**2 + 0.25 * 0.8**2)
    assert one.brier_market == pytest.approx(0.75 * 0.4**2 + 0.25 * 0.6**2)
    assert (one.forecasts, one.open) == (1, 1)


def test_without_a_price_or_an_end_nothing_is_said() -> None:
    rows = a_season({"ann": 0.5})
    [one] = provisional_scores(still_open(rows), np.full(80, np.nan))
    assert (one.forecasts, one.skill) == (0, None)
