"""Seasons of agents without any skill, with costs: their profit is luck, and what spread and fees take.

The world is a Bayesian's: each event has a state that nobody knows, evidence on it comes in every round,
and prices are what the evidence is worth. So prices are fair, and no rule of buying and selling has an
edge. The agents buy at random, add to what they hold, sell some of it, and pay spread and fee.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arena.record.model.trades import EventTie, EventTies, MarketEnd, Trade
from arena.scores.rules.money.luck import luck
from markets.millionths import ONE

SPREAD, FEE_RATE = 10_000, 20_000
ROUNDS, MARKETS = 6, 4
STYLES = ("hold", "trade")
TIES: tuple[EventTie, ...] = ("exclusive", "nested", "alone")


@dataclass(frozen=True, slots=True)
class LuckSeason:
    trades: list[Trade]
    ends: dict[str, MarketEnd]
    ties: EventTies


def prices(tie: EventTie, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return mids of an event by round, and its ends; each market of `alone` has its own states."""
    if tie == "alone":
        each = [prices("nested", rng) for _ in range(MARKETS)]
        return np.stack([mid[:, 1] for mid, _ in each], axis=1), np.array([end[1] for _, end in each])
    prior = rng.dirichlet(np.ones(MARKETS + 1))
    state = rng.choice(MARKETS + 1, p=prior)
    signal = rng.normal(0.6 * (np.arange(MARKETS + 1) == state), 1.0, (ROUNDS, MARKETS + 1))
    belief = prior * np.exp(0.6 * np.cumsum(signal, axis=0))
    belief /= belief.sum(axis=1, keepdims=True)
    if tie == "nested":
        belief = belief[:, ::-1].cumsum(axis=1)[:, ::-1]
        ended = np.arange(MARKETS + 1) <= state
    else:
        ended = np.arange(MARKETS + 1) == state
    mids = np.clip(np.round(belief[:, 1:] * ONE), 20_000, 980_000).astype(np.int64)
    return mids, ended[1:]


def season(events: int, style: str, rng: np.random.Generator) -> LuckSeason:
    trades: list[Trade] = []
    ends: dict[str, MarketEnd] = {}
    ties: dict[str, EventTie] = {}
    for number in range(events):
        ties[event := f"e{number}"] = tie = TIES[number % len(TIES)]
        mids, ended = prices(tie, rng)
        for place in range(MARKETS):
            market = f"{event}-{place}"
            done = list(_bets(market, mids[:, place].tolist(), style, rng))
            value = ONE * int(ended[place])
            yes = done[0].yes if done else True
            held = sum(t.shares if t.buy else -t.shares for t in done)
            paid = held * (value if yes else ONE - value) // ONE
            ends[market] = MarketEnd(event, "settled", value, paid)
            trades += done
    return LuckSeason(trades, ends, ties)


def _bets(market: str, mids: list[int], style: str, rng: np.random.Generator) -> Iterator[Trade]:
    """Yield bets on one side of a market: holders buy once, traders add and sell at random."""
    yes = bool(rng.integers(2))
    held = 0
    first = int(rng.integers(len(mids)))
    for number, mid in enumerate(mids):
        own = mid if yes else ONE - mid
        if number == first or (style == "trade" and number > first and rng.random() < 0.4):
            shares = int(rng.integers(50, 500)) * ONE
            yield _trade(market, yes, True, shares, own + SPREAD, mid)
            held += shares
        elif style == "trade" and held and rng.random() < 0.4:
            shares = held if rng.random() < 0.5 else held // 2
            yield _trade(market, yes, False, shares, own - SPREAD, mid)
            held -= shares


def _trade(market: str, yes: bool, buy: bool, shares: int, price: int, mid: int) -> Trade:
    fee = FEE_RATE * shares // ONE * price // ONE * (ONE - price) // ONE
    return Trade(market, yes, buy, shares, shares * price // ONE, fee, mid)


def coverage(seasons: int, events: int, style: str, draws: int, known: bool, seed: int) -> float:
    """Return the share of seasons without skill whose profit lies in its own luck band of 95%."""
    rng = np.random.default_rng(seed)
    inside = 0
    for _ in range(seasons):
        played = season(events, style, rng)
        found = luck(played.trades, played.ends, played.ties if known else {}, rng, seasons=draws)
        assert found.low is not None
        assert found.high is not None
        inside += found.low <= found.pnl <= found.high
    return inside / seasons
