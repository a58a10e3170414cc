"""Agents on different markets, compared by way of the market."""

from math import fsum, sqrt

import pytest

from arena.scores.rules.comparisons import wild_bootstrap
from arena.scores.rules.comparisons.gain import gains, sums_by_event_of
from arena.scores.rules.comparisons.indirect_duel import indirect_duel, indirect_duels
from arena.scores.rules.comparisons.season_rows import SeasonForecasts
from tests.arena.scores.rules.comparisons.few_rows import Row, drawn, season_of


def two(seed: int, ann: float = 0.1, bob: float = 0.3) -> SeasonForecasts:
    """Return ann and bob, each with 60 events of its own."""
    theirs: list[Row] = [
        (agent, market.replace("e", "f"), instant, forecast, price, outcome)
        for agent, market, instant, forecast, price, outcome in drawn(seed + 1000, 60, {"bob": bob})
    ]
    return season_of(drawn(seed, 60, {"ann": ann}) + theirs)


def slow(season: SeasonForecasts, gap: float, seed: int) -> float:
    """Compute p as its formula reads."""
    a, b = (sums_by_event_of(season, season.of(name)) for name in ("ann", "bob"))
    na = fsum(a.count)
    nb = fsum(b.count)
    events = range(len(season.events))
    theta = (fsum(a.total) - gap * na + fsum(b.total)) / (na + nb)

    def terms(mine: list[float], yours: list[float], one: float, other: float) -> list[float]:
        return [(mine[g] - a.count[g] * one) / na - (yours[g] - b.count[g] * other) / nb for g in events]

    u = terms(a.total.tolist(), b.total.tolist(), theta + gap, theta)
    spread = fsum(x * x for x in terms(a.total.tolist(), b.total.tolist(), a.mean, b.mean))
    seen = abs(fsum(u)) / sqrt(spread)
    beyond = 0
    for draw in wild_bootstrap.signs(season.events, seed).T.tolist():
        mine = [w * (a.total[g] - a.count[g] * (theta + gap)) for g, w in enumerate(draw)]
        yours = [w * (b.total[g] - b.count[g] * theta) for g, w in enumerate(draw)]
        middle = fsum(mine) / na, fsum(yours) / nb
        width = fsum(x * x for x in terms(mine, yours, *middle))
        beyond += abs(middle[0] - middle[1]) / sqrt(width) >= seen * (1 - 1e-10)
    return (1 + beyond) / 2000


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.thorough)])
def test_p_is_what_the_formula_says(seed: int) -> None:
    season = two(seed)
    assert indirect_duel(season, "ann", "bob", seed).p == slow(season, 0.0, seed)


def test_the_interval_ends_where_the_formula_begins_to_refuse() -> None:
    season = two(3, bob=0.15)
    found = indirect_duel(season, "ann", "bob", 3)
    assert found.low is not None
    assert slow(season, found.low - 1e-6, 3) <= 0.05 < slow(season, found.low + 1e-6, 3)
    back = indirect_duel(season, "bob", "ann", 3)
    assert (back.p, back.low, back.high) == pytest.approx((found.p, -(found.high or 0), -found.low))


def test_the_gap_is_that_of_the_gains() -> None:
    season = two(4)
    ann, bob = (gain.skill or 0 for gain in gains(season))
    found = indirect_duel(season, "ann", "bob")
    assert found.gap == pytest.approx(ann - bob)
    assert (found.by, found.events, found.markets) == ("market", 120, 360)
    assert found.effective == min(gain.effective for gain in gains(season))


def test_several_pairs_are_as_if_alone() -> None:
    season = season_of(drawn(6, 60, {"ann": 0.1, "bob": 0.3, "cho": 0.2}))
    together = indirect_duels(season, [("ann", "bob"), ("cho", "ann")])
    assert [one.p for one in together] == [
        indirect_duel(season, *pair).p for pair in (("ann", "bob"), ("cho", "ann"))
    ]
    assert indirect_duels(season, []) == []


def test_with_too_few_events_of_one_of_them_there_is_a_gap_and_no_p() -> None:
    rows = drawn(7, 25, {"ann": 0.1}) + drawn(8, 10, {"bob": 0.1})
    found = indirect_duel(season_of(rows), "ann", "bob")
    assert found.gap is not None
    assert (found.p, found.low) == (None, None)
    assert found.reason is not None
    assert found.reason.startswith("10 events so far")
