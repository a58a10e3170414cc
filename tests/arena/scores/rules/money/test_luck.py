"""The luck band: fair worlds by their own arithmetic, and seasons whose agents are known to have no skill."""

import math

import numpy as np
import pytest

from arena.record.model.trades import EventTie, MarketEnd, State, Trade
from arena.scores.rules.money.fair_draws import winnings
from arena.scores.rules.money.luck import Luck, luck
from markets.millionths import ONE
from tests.known_worlds.luck import coverage

TIES: list[EventTie] = ["exclusive", "nested", "alone", "unknown"]


def bet(market: str, mid: float, shares: int = 100, yes: bool = True, cost: int = 0) -> Trade:
    own = mid if yes else 1 - mid
    return Trade(market, yes, True, shares * ONE, round(shares * own * ONE) + cost, 0, round(mid * ONE))


def won(event: str, paid: int, value: int = ONE, state: State = "settled") -> MarketEnd:
    return MarketEnd(event, state, value, paid * ONE)


@pytest.mark.parametrize("tie", TIES)
def test_fair_bets_win_nothing_on_average(tie: EventTie) -> None:
    held = np.array([100.0, -50.0, 20.0])
    price = np.array([0.2, 0.5, 0.1])
    drawn = winnings(held, price, tie, 40_000, np.random.default_rng(1))
    assert abs(drawn.mean()) < 4 * drawn.std() / 200


def test_of_exclusive_markets_at_most_one_pays() -> None:
    drawn = winnings(np.ones(3), np.array([0.2, 0.3, 0.1]), "exclusive", 5000, np.random.default_rng(1))
    assert set((drawn + 0.6).round(9).tolist()) == {0.0, 1.0}


def test_exclusive_prices_over_1_are_taken_as_shares_of_their_sum() -> None:
    drawn = winnings(np.ones(2), np.array([0.6, 0.6]), "exclusive", 100, np.random.default_rng(1))
    assert drawn.tolist() == pytest.approx([0.0] * 100)


def test_a_nested_market_pays_only_with_those_that_contain_it() -> None:
    drawn = winnings(np.array([1.0, 10.0]), np.array([0.5, 0.2]), "nested", 5000, np.random.default_rng(1))
    assert set((drawn + 2.5).round(9).tolist()) == {0.0, 1.0, 11.0}


def test_bets_of_an_event_that_nobody_knows_how_to_tie_win_and_lose_together() -> None:
    """The widest: a YES and a NO bet at the same odds both win or both lose."""
    drawn = winnings(np.array([1.0, -1.0]), np.array([0.8, 0.2]), "unknown", 1000, np.random.default_rng(1))
    assert set(drawn.round(9).tolist()) == {-1.6, 0.4}


def test_one_bet_has_a_band_that_is_read_off_its_price_and_no_percentile() -> None:
    found = luck([bet("m", 0.7)], {"m": won("e", 100)}, {}, np.random.default_rng(1))
    assert (found.pnl, found.low, found.high, found.events) == (30 * ONE, -70 * ONE, 30 * ONE, 1)
    assert (found.percentile, found.reason) == (None, "1 event so far, and a percentile takes 20")


def lucky(events: int) -> Luck:
    """Return even bets, all of which were won."""
    bets = [bet(f"m{number}", 0.5) for number in range(events)]
    ends = {f"m{number}": won(f"e{number}", 100) for number in range(events)}
    return luck(bets, ends, {}, np.random.default_rng(1))


def test_a_percentile_takes_twenty_events() -> None:
    assert lucky(19).percentile is None
    assert lucky(19).reason == "19 events so far, and a percentile takes 20"
    assert lucky(20).percentile == pytest.approx(1, abs=0.001)
    assert lucky(20).reason == ""


def test_costs_move_the_band_and_are_in_its_mean() -> None:
    found = luck([bet("m", 0.5, cost=3 * ONE)], {"m": won("e", 100)}, {}, np.random.default_rng(1))
    assert (found.mean, found.low, found.high) == (-3 * ONE, -53 * ONE, 47 * ONE)


def test_what_was_sold_again_is_luck_by_as_much_as_the_price_moved() -> None:
    out = Trade("m", True, False, 100 * ONE, 60 * ONE, 0, 600_000)
    found = luck([bet("m", 0.5), out], {"m": won("e", 0, value=0)}, {}, np.random.default_rng(1))
    assert (found.pnl, found.low, found.high) == (10 * ONE, -10 * ONE, 10 * ONE)


def test_an_open_market_is_luck_by_as_much_as_its_price_moved() -> None:
    end = won("e", 40, value=400_000, state="open")
    found = luck([bet("m", 0.5)], {"m": end}, {}, np.random.default_rng(1))
    assert (found.pnl, found.low, found.high) == (-10 * ONE, -10 * ONE, 10 * ONE)


def test_what_was_refunded_was_never_at_risk() -> None:
    end = won("e", 50, value=0, state="refunded")
    found = luck([bet("m", 0.5)], {"m": end}, {}, np.random.default_rng(1))
    assert (found.percentile, found.low, found.high, found.pnl) == (None, None, None, 0)
    assert "nothing was at risk" in found.reason


def test_no_trade_is_none_with_a_reason() -> None:
    assert luck([], {}, {}, np.random.default_rng(1)).percentile is None


def test_the_order_of_markets_and_of_ends_changes_nothing() -> None:
    rows = [bet("a", 0.3), bet("b", 0.6, yes=False), bet("c", 0.5)]
    ends = {"a": won("x", 100), "b": won("y", 0), "c": won("y", 0, value=0)}
    one = luck(rows, ends, {"y": "exclusive"}, np.random.default_rng(1), seasons=500)
    other = luck(
        rows[::-1], dict(reversed(ends.items())), {"y": "exclusive"}, np.random.default_rng(1), seasons=500
    )
    assert one == other


@pytest.mark.parametrize("style", ["hold", "trade"])
def test_the_band_holds_skill_less_seasons_as_often_as_it_says(style: str, thorough: bool) -> None:
    seasons = 1000 if thorough else 100
    share = coverage(seasons, events=20, style=style, draws=400, known=True, seed=3)
    assert abs(share - 0.95) <= 3 * math.sqrt(0.95 * 0.05 / seasons) + 0.005


def test_where_nobody_knows_how_markets_hang_together_the_band_is_too_wide_rather_than_too_narrow() -> None:
    assert coverage(60, events=20, style="hold", draws=400, known=False, seed=3) >= 0.95


def test_a_bet_whose_price_has_not_moved_yet_is_not_called_refunded() -> None:
    end = won("e", 0, value=round(0.5 * ONE), state="open")
    assert luck([bet("a", 0.5)], {"a": end}, {}, np.random.default_rng(1)).reason == "no bet has resolved yet"
