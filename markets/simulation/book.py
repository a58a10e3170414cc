"""The price of a simulated market on a day: a small book on ticks of a cent."""

import random
from datetime import datetime

from markets.millionths import ONE
from markets.model import Level, Quote
from markets.simulation.life import Life
from markets.simulation.season import drawn_by
from markets.simulation.settings import Chance, Settings, below

TICK = ONE // 100
_DOLLARS = (400, 700, 1_000)
"""What a level holds in a market of middling depth, in dollars, best level first."""


def quote(life: Life, at: datetime, settings: Settings, chance: Chance) -> Quote:
    """Bid, ask and book at an instant; after the close, those that stood last."""
    market = life.market
    at = min(at, market.closes_at)
    day = life.day(at)
    rng = chance(f"{drawn_by(market.id)}/book", day.date)
    width = 1 + below(rng, settings.spread)
    bid = min(max(day.look(life.place) // TICK - (width - 1) // 2, 1), 99 - width)
    ask = bid + width
    depth = 0.5 + 1.5 * rng.random()
    return Quote(
        market.id,
        at,
        bid=bid * TICK,
        ask=ask * TICK,
        mid=(bid + ask) * TICK // 2,
        last=(bid, ask)[below(rng, 2)] * TICK,
        volume=day.traded[life.place],
        bids=tuple(Level(p * TICK, _shares(100 - p, n, depth, rng)) for n, p in _ladder(bid, -1)),
        asks=tuple(Level(p * TICK, _shares(p, n, depth, rng)) for n, p in _ladder(ask, +1)),
    )


def _ladder(best: int, step: int) -> list[tuple[int, int]]:
    """Places and prices of the levels from the best one on, as far as a price may go."""
    return [(n, best + n * step) for n in range(len(_DOLLARS)) if 0 < best + n * step < 100]


def _shares(cents: int, place: int, depth: float, rng: random.Random) -> int:
    """Whole shares, for about the level's dollars at what the one who takes them pays for each."""
    dollars = _DOLLARS[place] * depth * (0.6 + 0.8 * rng.random())
    return max(int(dollars * 100 / cents), 1) * ONE
