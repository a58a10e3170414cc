"""Duels on common rows, and twins."""

import pytest

from arena.scores.rules.comparisons.duel import duel, duels
from arena.scores.rules.comparisons.twins import twin_noise, typical_noise
from tests.arena.scores.rules.comparisons.few_rows import Row, drawn, season_of


def test_the_gap_is_of_common_rows_alone() -> None:
    """Rain at instant 1: ann .09, bob .25. bob's other rows, where ann said nothing, don't count."""
    rows: list[Row] = [
        ("ann", "rain", 1, 0.7, 0.5, 1),
        ("bob", "rain", 1, 0.5, 0.5, 1),
        ("bob", "rain", 2, 1.0, 0.5, 1),
        ("bob", "snow", 1, 0.0, 0.5, 0),
    ]
    found = duel(season_of(rows), "ann", "bob")
    assert found.gap == pytest.approx(0.16)
    assert (found.rows, found.markets, found.events) == (1, 1, 1)
    assert found.reason == "1 event so far; an interval takes about 19 more"
    assert (found.p, found.low, found.winner()) == (None, None, None)


def test_only_events_on_which_the_two_differ_are_effective_and_each_counts_once() -> None:
    markets = ["rain/some", "rain/much", "snow/some", "snow/much"]
    rows: list[Row] = [
        (who, market, 1, said, 0.5, 1)
        for who, own in (("ann", 0.7), ("bob", 0.5))
        for market, said in [*((market, own) for market in markets), ("wind", 0.9)]
    ]
    found = duel(season_of(rows), "ann", "bob")
    assert (found.markets, found.events) == (5, 3)
    assert found.effective == pytest.approx(2)


def test_without_common_rows_nothing_is_said() -> None:
    rows: list[Row] = [("ann", "rain", 1, 0.7, 0.5, 1), ("bob", "rain", 2, 0.7, 0.5, 1)]
    found = duel(season_of(rows), "ann", "bob")
    assert (found.gap, found.p, found.reason) == (None, None, "no resolved forecast in common")


def test_who_forecasts_better_wins_from_either_side() -> None:
    season = season_of(drawn(1, 60, {"ann": 0.02, "bob": 0.4}))
    one = duel(season, "ann", "bob")
    other = duel(season, "bob", "ann")
    assert one.winner() == other.winner() == "ann"
    assert one.gap == pytest.approx(-(other.gap or 0))
    assert one.p == other.p
    assert (one.low, one.high) == pytest.approx((-(other.high or 0), -(other.low or 0)), abs=1e-9)


def test_agents_that_say_the_same_are_not_told_apart() -> None:
    rows = drawn(3, 60, {"ann": 0.1})
    found = duel(season_of(rows + [("bob", *row[1:]) for row in rows]), "ann", "bob")
    assert (found.gap, found.p, found.low, found.high) == (0.0, 1.0, 0.0, 0.0)
    assert found.same


def test_a_missing_row_here_and_there_does_not_keep_two_from_a_duel() -> None:
    rows = drawn(4, 30, {"ann": 0.1, "bob": 0.2})
    kept = rows[1:-1]
    found = duel(season_of(kept), "ann", "bob")
    both = [row for row in kept if row[1:3] not in (rows[0][1:3], rows[-1][1:3])]
    assert found == duel(season_of(both), "ann", "bob")


def test_every_pair_is_compared_in_the_order_of_the_agents() -> None:
    found = duels(season_of(drawn(5, 40, {"ann": 0.02, "bob": 0.1, "cho": 0.12, "dan": 0.5})))
    assert [(one.a, one.b) for one in found][:3] == [("ann", "bob"), ("ann", "cho"), ("ann", "dan")]
    assert len(found) == 6


def test_the_noise_floor_is_what_lies_between_twins() -> None:
    season = season_of(drawn(7, 40, {"ann": 0.1, "ann-2": 0.1, "ann-3": 0.1, "bob": 0.5}))
    found = twin_noise(season, [("ann", "ann-2", "ann-3")])
    gaps = [duel(season, a, b).gap for a, b in (("ann", "ann-2"), ("ann", "ann-3"), ("ann-2", "ann-3"))]
    assert found == typical_noise(gaps)
    assert found is not None
    assert found.pairs == 3
    assert found.typical <= found.widest
    assert found.widest < abs(duel(season, "ann", "bob").gap or 0)
