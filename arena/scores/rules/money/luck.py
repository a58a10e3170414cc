"""How much of a profit luck alone could have made: the same bets at fair prices, ten thousand seasons long.

- Formula: a share is worth its mid on average; trades, spread, fees and refunds stay as they were. In each of
  `seasons` seasons, what was still held after a market's last trade pays y − mid a share, with y drawn at the
  mid of that trade, jointly by event (`drawing`); price moves between a market's trades, or to the mid where
  it is open or paid a fraction, keep or turn their sign by one coin an event, since a fair price moves up as
  readily as down. `percentile` = share of seasons with a smaller P/L, and half of those with the same; `low`
  to `high` holds the middle `level` of them, around `mean` = −costs.
- Direction: a higher percentile is better; from 0.025 to 0.975 the profit is no news.
- Range: percentile 0 to 1.
- Edge cases: under 20 events there is no percentile; where nothing was ever at risk (no trade, all refunded)
  there is no band either; the reason says why.
- Limits: it says nothing of forecasts without a bet.
- Source: ours; for sign flips the wild bootstrap of Liu (1988) with Rademacher weights.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from arena.errors import count_text
from arena.record.model.trades import EventTies, MarketEnd, Trade, exposure, market_profit, trades_by_market
from arena.scores.rules._columns import Floats
from arena.scores.rules.comparisons.events import ENOUGH_EVENTS
from arena.scores.rules.money.fair_draws import winnings
from markets.millionths import ONE

SEASONS = 10_000
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Luck:
    """A profit among those of seasons without skill, in millionths; None and a reason if there are none."""

    pnl: int
    mean: int
    percentile: float | None
    low: int | None
    high: int | None
    events: int
    seasons: int
    reason: str = ""


@dataclass(slots=True)
class _Event:
    """The risk in an event: YES shares held to the end with their price, and the moves of prices."""

    held: list[float] = field(default_factory=list)
    price: list[float] = field(default_factory=list)
    moved: float = 0.0


def luck(
    trades: Iterable[Trade],
    ends: Mapping[str, MarketEnd],
    ties: EventTies,
    rng: np.random.Generator,
    seasons: int = SEASONS,
) -> Luck:
    """Return the luck band of trades. Events without a tie are `unknown`."""
    markets = trades_by_market(trades, ends)
    pnl = sum(market_profit(own_trades, ends[market]) for market, own_trades in markets.items())
    risks, variable_profit = _risk_by_event(markets, ends)
    # What no luck changes: the costs.
    fixed_profit = pnl - round(variable_profit)

    if not risks:
        reason = "no bet has resolved yet"
        if markets and all(ends[market].state != "open" for market in markets):
            reason = "nothing was at risk: every bet was refunded"
        return Luck(pnl, fixed_profit, None, None, None, 0, 0, reason)

    season_profits = fixed_profit + _draw_seasons(risks, ties, seasons, rng)
    season_profits = np.rint(season_profits)
    low, high = np.quantile(season_profits, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    band = Luck(pnl, fixed_profit, None, round(low), round(high), len(risks), seasons)
    if len(risks) < ENOUGH_EVENTS:
        so_far = count_text(len(risks), "event")
        reason = f"{so_far} so far, and a percentile takes {ENOUGH_EVENTS:.0f}"
        return replace(band, reason=reason)

    # Half of the equal seasons count as below.
    equal = np.count_nonzero(season_profits == pnl)
    below = np.count_nonzero(season_profits < pnl) + equal / 2
    return replace(band, percentile=float(below / seasons))


def _risk_by_event(
    markets: Mapping[str, Sequence[Trade]], ends: Mapping[str, MarketEnd]
) -> tuple[dict[str, _Event], float]:
    """Return the risk of each event, in order of name, and the total result at the mids.

    The latter is the profit before costs.
    """
    events: dict[str, _Event] = defaultdict(_Event)
    result_at_mids = 0
    for market, trades in markets.items():
        end = ends[market]
        if end.state == "refunded":
            continue

        risk = events[end.event]
        last_mid = trades[-1].mid
        moves = 0
        held = 0
        for trade in trades:
            shares = exposure(trade)
            held += shares
            moves += shares * (last_mid - trade.mid)

        final_move = held * (end.value - last_mid)
        result_at_mids += moves + final_move
        # A final 0 or 1 is drawn at the last mid; any other end is one more move of the price.
        if end.state == "settled" and end.value in (0, ONE):
            risk.held.append(held)
            risk.price.append(last_mid / ONE)
        else:
            moves += final_move
        risk.moved += moves / ONE

    at_risk = {name: risk for name, risk in sorted(events.items()) if risk.moved or any(risk.held)}
    return at_risk, result_at_mids / ONE


def _draw_seasons(
    events: Mapping[str, _Event], ties: EventTies, seasons: int, rng: np.random.Generator
) -> Floats:
    """Return the variable profit of each season without skill."""
    profits = np.zeros(seasons)
    for name, risk in events.items():
        if any(risk.held):
            tie = ties.get(name, "unknown")
            profits += winnings(np.array(risk.held), np.array(risk.price), tie, seasons, rng)
        if risk.moved:
            # One coin turns the sign of all price moves of an event.
            profits += risk.moved * (2 * rng.integers(0, 2, seasons) - 1)
    return profits
