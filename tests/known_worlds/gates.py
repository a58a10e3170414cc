"""Where an interval is given: how often it then holds the true gain, in seasons by the thousand.

All seasons of a world are made at once, as one long row of events that is then cut up.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from math import nan

import numpy as np

from arena.scores.rules.comparisons.events import EventSums, Information, information
from arena.scores.rules.comparisons.wild_bootstrap import LEVEL, p_at, signed_sums
from tests.known_worlds.truth import LONG_SHOTS, SHARP, Share, chances
from tests.known_worlds.worlds import Floats, Ints, Shape, odds_chance, seer, sizes, world

MANY = 40_000
"""Events in which the true gain is measured."""
AT_ONCE = 200
"""Seasons that share the signs of their draws."""


@dataclass(frozen=True, slots=True)
class GateRows:
    """Rows by event, market and round: the true probability, the forecast, the price and the outcome."""

    event: Ints
    market: Ints
    truth: Floats
    forecast: Floats
    price: Floats
    outcome: Ints


Maker = Callable[[int, np.random.Generator], GateRows]
"""Makes the rows of so many events."""
Agent = Callable[[Floats, np.random.Generator], Floats]
"""Forecasts at these prices."""
Prices = Callable[[int, np.random.Generator], Floats]
"""So many prices of a kind."""


@dataclass(frozen=True, slots=True)
class GateWorld:
    """A kind of season, by name: how many events it has, and what makes their rows."""

    name: str
    events: int
    make: Maker


@dataclass(frozen=True, slots=True)
class EventKind:
    """So many events of so many markets at prices of a kind; `together`: one number decides each event."""

    events: int
    markets: int
    prices: Prices
    together: bool = False


def uniform(count: int, rng: np.random.Generator) -> Floats:
    return rng.uniform(0.01, 0.99, count)


def logit(count: int, rng: np.random.Generator) -> Floats:
    return np.clip(odds_chance(rng.normal(0, 1.5, count)), 0.01, 0.99)


def at(price: float) -> Prices:
    """Return forecasts of one value."""
    return lambda count, rng: np.full(count, price)


COIN = at(0.5)
LONG_SHOT = at(0.03)


def noisy(price: Floats, rng: np.random.Generator) -> Floats:
    """Return the price up to a noise in log-odds."""
    return odds_chance(np.log(price / (1 - price)) + SHARP * rng.standard_normal(price.size))


def timid(price: Floats, rng: np.random.Generator) -> Floats:
    """Move the price a fifth of the way to 50%."""
    return 0.8 * price + 0.1


def halving(price: Floats, rng: np.random.Generator) -> Floats:
    """Return half of the price of a long shot, and a cent beside any other."""
    return np.where(price < 0.1, price / 2, price + 0.01 * rng.choice([-1, 1], price.size))


def certain(price: Floats, rng: np.random.Generator) -> Floats:
    """Return nearly 0 for a long shot, and just over half a cent beside any other price."""
    return np.where(price < 0.1, 0.001, price + 0.006 * rng.choice([-1, 1], price.size))


def at_true_prices(agent: Agent, kinds: Sequence[EventKind]) -> Maker:
    """Return worlds of these events at true prices, so that nobody gains, repeated as often as needed."""

    def make(events: int, rng: np.random.Generator) -> GateRows:
        period = sum(kind.events for kind in kinds)
        kind_of = np.tile(np.repeat(np.arange(len(kinds)), [kind.events for kind in kinds]), events // period)
        count = np.array([kind.markets for kind in kinds])[kind_of]
        event = np.repeat(np.arange(count.size), count)
        together = np.array([kind.together for kind in kinds])[kind_of][event]
        price = np.empty(event.size)
        for place, kind in enumerate(kinds):
            own = kind_of[event] == place
            price[own] = kind.prices(int(own.sum()), rng)
        draw = np.where(together, rng.random(count.size)[event], rng.random(event.size))
        market = np.arange(event.size)
        return GateRows(event, market, price, agent(price, rng), price, (draw < price).astype(np.int64))

    return make


def with_errors(shape: Shape, markets: int, middle: float, better: bool) -> Maker:
    """Return the seasons of `world`, three rounds a market: of a seer, or of one that halves the price."""

    def make(events: int, rng: np.random.Generator) -> GateRows:
        place = world(sizes(shape, events, markets, rng), rng, middle=middle)
        forecast = seer(place, SHARP, rng) if better else place.price / 2
        rounds, count = place.odds.shape
        return GateRows(
            event=np.repeat(place.event, rounds),
            market=np.repeat(np.arange(count), rounds),
            truth=np.repeat(odds_chance(place.odds[-1]), rounds),
            forecast=forecast.T.ravel(),
            price=place.price.T.ravel(),
            outcome=np.repeat(place.outcome, rounds),
        )

    return make


def gate_worlds() -> Iterator[GateWorld]:
    """Yield every world of the table."""
    for name, agent, *kinds in (
        ("40 events of 6, uniform prices, noisy", noisy, EventKind(40, 6, uniform)),
        ("25 events of 6, uniform prices, noisy", noisy, EventKind(25, 6, uniform)),
        ("40 events of 6, prices normal in log-odds, noisy", noisy, EventKind(40, 6, logit)),
        ("30 events of 4, prices normal in log-odds, noisy", noisy, EventKind(30, 4, logit)),
        ("25 events of 5 that end together, uniform, noisy", noisy, EventKind(25, 5, uniform, together=True)),
        ("15 events of 5 that end together, uniform, noisy", noisy, EventKind(15, 5, uniform, together=True)),
        ("40 events of 6, uniform prices, timid", timid, EventKind(40, 6, uniform)),
        ("25 events of 6, uniform prices, timid", timid, EventKind(25, 6, uniform)),
        ("25 events of 6 that end together, uniform, timid", timid, EventKind(25, 6, uniform, together=True)),
        ("40 markets, uniform prices, timid", timid, EventKind(40, 1, uniform)),
        ("25 coins, noisy", noisy, EventKind(25, 1, COIN)),
        ("60 long shots, halved", halving, EventKind(60, 1, LONG_SHOT)),
        ("200 long shots, halved", halving, EventKind(200, 1, LONG_SHOT)),
        ("270 long shots, halved", halving, EventKind(270, 1, LONG_SHOT)),
        ("500 long shots, halved", halving, EventKind(500, 1, LONG_SHOT)),
        ("700 long shots, halved", halving, EventKind(700, 1, LONG_SHOT)),
        ("8 coins, 150 long shots, halved", halving, EventKind(8, 1, COIN), EventKind(150, 1, LONG_SHOT)),
        ("30 coins, 60 long shots, halved", halving, EventKind(30, 1, COIN), EventKind(60, 1, LONG_SHOT)),
        ("30 coins, 20 at 5 cents, certain", certain, EventKind(30, 1, COIN), EventKind(20, 1, at(0.05))),
        ("100 coins, 60 long shots, certain", certain, EventKind(100, 1, COIN), EventKind(60, 1, LONG_SHOT)),
    ):
        yield GateWorld(name, sum(kind.events for kind in kinds), at_true_prices(agent, kinds))
    shapes: tuple[Shape, ...] = ("equal", "skewed")
    for shape, markets, events in product(shapes, (5, 10), (20, 40)):
        name = f"{events} events of {markets}, {shape}"
        yield GateWorld(f"{name}, seer", events, with_errors(shape, markets, 0.0, better=True))
        yield GateWorld(
            f"{name}, long shots, seer", events, with_errors(shape, markets, LONG_SHOTS, better=True)
        )
        yield GateWorld(
            f"{name}, long shots, halved", events, with_errors(shape, markets, LONG_SHOTS, better=False)
        )


def gate_shares(place: GateWorld, seasons: int) -> tuple[Share, Share]:
    """Return the share of stated intervals that hold the truth, and of those above 0 where it is not.

    Wanted are 93% to 97% and at most 2.5%, give or take the error of so many seasons.
    """
    rng = chances("gate", place.name)
    many = MANY // place.events * place.events
    rows = place.make(many, rng)
    truth = _sums(
        (rows.forecast - rows.price) * (2 * rows.truth - rows.forecast - rows.price), rows, many
    ).mean

    names = [f"event {number}" for number in range(place.events)]
    held = list[bool]()
    above = list[bool]()
    known = list[Information]()
    for start in range(0, seasons, AT_ONCE):
        batch = min(AT_ONCE, seasons - start)
        rows = place.make(batch * place.events, rng)
        gained = (rows.forecast - rows.price) * (2 * rows.outcome - rows.forecast - rows.price)
        whole = _sums(gained, rows, batch * place.events)
        sums = [
            EventSums(*one)
            for one in zip(np.split(whole.total, batch), np.split(whole.count, batch), strict=True)
        ]
        drawn = signed_sums(names, sums, start)
        # an interval is every value that is not refused, so these two say all that its ends would
        holds_truth = p_at(np.full(batch, truth), drawn) > LEVEL
        refuses_zero = p_at(np.zeros(batch), drawn) <= LEVEL
        held += holds_truth.tolist()
        above += [truth <= 0 < one.mean and bool(no) for one, no in zip(sums, refuses_zero, strict=True)]
        known += _informations(rows, place.events, batch)

    opened = np.array([one.is_enough for one in known])
    holds = np.array(held)
    errs = np.array(above)
    given = {"given": float(opened.mean())}
    number = max(int(opened.sum()), 1)
    wide = 1.96 * (0.95 * 0.05 / number) ** 0.5
    narrow = 1.96 * (0.975 * 0.025 / number) ** 0.5
    coverage = Share(
        what=f"an interval holds the gain: {place.name}",
        share=float(holds[opened].mean()) if opened.any() else nan,
        low=0.93 - wide,
        high=0.97 + wide,
        beside=given | {"if always given": float(holds.mean())},
    )
    wrong = Share(
        what=f"an interval is above 0 although the gain is not: {place.name}",
        share=float(errs[opened].mean()) if opened.any() else nan,
        low=0,
        high=0.025 + narrow,
        beside=given | {"if always given": float(errs.mean())},
    )
    return coverage, wrong


def _sums(value: Floats, rows: GateRows, events: int) -> EventSums:
    """Sum up a value averaged within markets, by event."""
    rounds = np.bincount(rows.market)
    means = np.bincount(rows.market, value) / rounds
    event = rows.event[np.cumsum(rounds) - 1]
    return EventSums(
        np.bincount(event, means, minlength=events).astype(np.float64),
        np.bincount(event, minlength=events).astype(np.float64),
    )


def _informations(rows: GateRows, events: int, seasons: int) -> Iterator[Information]:
    """Yield the information of each season."""
    cuts = np.searchsorted(rows.event, np.arange(seasons + 1) * events)
    for start, end in pairwise(cuts.tolist()):
        part = slice(start, end)
        market = rows.market[part] - rows.market[start]
        event_of = np.zeros(int(market[-1]) + 1, np.int64)
        event_of[market] = rows.event[part] - rows.event[start]
        yield information(rows.forecast[part] - rows.price[part], rows.price[part], market, event_of)
