"""Worlds whose truth is known, on arrays: events, markets, prices and agents as the simulator makes them.

What is asked of a score needs thousands of seasons, so nothing here goes through a record. The columns are
those of `arena/record/model/columns.py`: one row per agent, round and market, with forecast, mid and outcome.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from arena.scores.rules.comparisons.season_rows import SeasonForecasts, check_season
from markets.simulation.settings import Settings

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Shape = Literal["equal", "skewed"]

FAR_OFF = Settings(price_noise=0.65, price_shrink=0.85)
"""The simulator's numbers, but with prices from which there is more to win."""
ROUNDS = 3
DAYS = 7
LADDERS = 0.5
"""The share of events that are ladders, whose markets err and end together; the others are loose."""
TOGETHER = 0.5
"""The share of an agent's squared error that it makes on a whole event."""


@dataclass(frozen=True, slots=True)
class KnownWorld:
    """Markets by round: their true log-odds, prices and how they ended. `first` is the first of its event."""

    event: Ints
    first: Ints
    ladder: NDArray[np.bool_]
    odds: Floats
    price: Floats
    outcome: Ints


def sizes(shape: Shape, events: int, markets: int, rng: np.random.Generator) -> Ints:
    """Return how many markets each event has: all the same, or a few large ones, log-normal with sigma 1."""
    if shape == "equal":
        return np.full(events, markets)
    drawn = rng.lognormal(-0.5, 1.0, events) * markets
    return np.maximum(np.rint(drawn).astype(np.int64), 1)


def odds_chance(odds: Floats) -> Floats:
    """Return the probability behind log-odds."""
    return np.asarray(1 / (1 + np.exp(-odds)))


def priced(odds: Floats, error: Floats, settings: Settings) -> Floats:
    """Turn log-odds into a price: less extreme, with an error, in whole cents."""
    return np.clip(odds_chance(settings.price_shrink * odds + error).round(2), 0.01, 0.99)


def world(
    count: Ints, rng: np.random.Generator, settings: Settings | None = None, middle: float = 0.0
) -> KnownWorld:
    """Return a world with this many markets in each event; its figures are the simulator's.

    `middle` are the log-odds around which the markets lie: long shots far below 0.
    """
    known = settings or FAR_OFF
    event = np.repeat(np.arange(count.size), count)
    first = (np.cumsum(count) - count)[event]
    ladder = (rng.random(count.size) < LADDERS)[event]
    week = DAYS**0.5
    shared = [known.event_start, *[known.event_step * week] * (ROUNDS - 1)]
    own = [known.own_start, *[known.own_step * week] * (ROUNDS - 1)]
    steps = [
        a * rng.standard_normal(event.max() + 1)[event] + b * rng.standard_normal(event.size)
        for a, b in zip(shared, own, strict=True)
    ]
    odds = middle + np.cumsum(steps, axis=0)
    height = known.own_start * 0.9 * (np.arange(event.size) - first - (count[event] - 1) / 2)
    odds = np.where(ladder, odds[:, first] - height, odds)
    error = known.price_noise * rng.standard_normal(odds.shape)
    price = priced(odds, np.where(ladder, error[:, first], error), known)
    draw = rng.random(event.size)
    outcome = np.where(ladder, draw[first], draw) < odds_chance(odds[-1])
    return KnownWorld(event, first, ladder, odds, price, outcome.astype(np.int64))


def seer(world: KnownWorld, noise: float, rng: np.random.Generator) -> Floats:
    """Return forecasts with a noise in log-odds, half of it shared by a whole event."""
    whole = rng.standard_normal(world.event.max() + 1)[world.event]
    own = rng.standard_normal(world.odds.shape)
    return odds_chance(world.odds + noise * (TOGETHER**0.5 * whole + (1 - TOGETHER) ** 0.5 * own))


def peer(world: KnownWorld, rng: np.random.Generator, settings: Settings | None = None) -> Floats:
    """Return forecasts made as the price is, with errors of their own, whose true gain is 0."""
    known = settings or FAR_OFF
    error = known.price_noise * rng.standard_normal(world.odds.shape)
    return priced(world.odds, np.where(world.ladder, error[:, world.first], error), known)


def played(world: KnownWorld, forecasts: Mapping[str, Floats], *, raw: bool = False) -> SeasonForecasts:
    """Return a season in which all agents forecast every market in every round; `raw` against even odds."""
    return together([(world, forecasts)], raw=raw)


def together(
    parts: Sequence[tuple[KnownWorld, Mapping[str, Floats]]], *, raw: bool = False
) -> SeasonForecasts:
    """Return a season of several worlds, each with agents of its own."""
    columns: list[tuple[Floats | Ints, ...]] = []
    names: list[str] = []
    markets = events = 0
    for place, (one, forecasts) in enumerate(parts):
        shape = one.odds.shape
        instant, market = (np.broadcast_to(x, shape).ravel() for x in _axes(shape))
        outcome = np.broadcast_to(one.outcome, shape).ravel()
        mid = np.full(outcome.size, 0.5) if raw else one.price.ravel()
        about = np.broadcast_to(one.event, shape).ravel() + events
        for name, forecast in forecasts.items():
            who = np.full(mid.size, len(names))
            rounds = instant + place * ROUNDS
            columns.append((who, rounds, market + markets, about, forecast.ravel(), mid, outcome))
            names.append(name)
        markets = markets + shape[1]
        events = events + int(one.event.max()) + 1
    agent, instant, market, event, forecast, reference, outcome = map(
        np.concatenate, zip(*columns, strict=True)
    )
    return check_season(
        names,
        [f"event {number}" for number in range(events)],
        agent=agent,
        instant=instant,
        market=market,
        event=event,
        forecast=forecast,
        reference=reference,
        outcome=outcome,
    )


def _axes(shape: tuple[int, ...]) -> tuple[Ints, Ints]:
    return np.arange(shape[0])[:, None], np.arange(shape[1])[None, :]
