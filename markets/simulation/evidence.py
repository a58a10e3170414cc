"""Dated evidence: one line a piece, from sources that are close to the truth or far off it.

The grammar of a line, which is all that an agent gets to see:

    - DATE: SOURCE puts the chance at N%.

DATE is year-month-day, SOURCE one of the names below, N a whole number from 1 to 99. It is a look
at the truth of that day, and can be read from the next midnight (UTC) on.
"""

import random
from dataclasses import dataclass
from datetime import date

from markets.odds import bell, probability

INTRODUCTION = (
    "What has been said so far. A careful panel is usually close, an analyst less so, a rumour often far off:"
)


@dataclass(frozen=True, slots=True)
class Source:
    """Who speaks: how far off as a standard deviation in log-odds, and in what share of all lines."""

    name: str
    noise: float
    share: float


PANEL = Source("a careful panel", noise=0.25, share=0.4)
ANALYST = Source("an analyst", noise=0.7, share=0.3)
RUMOUR = Source("a rumour", noise=1.6, share=0.3)


def hear(rng: random.Random, rate: float) -> Source | None:
    """Who speaks up on a day, if anyone does."""
    draw = rng.random()
    for source in (PANEL, ANALYST, RUMOUR):
        draw -= rate * source.share
        if draw < 0:
            return source
    return None


def line(source: Source, day: date, truth: float, rng: random.Random) -> str:
    """What the source says about a market whose true log-odds are `truth`."""
    p = probability(truth + source.noise * bell(rng))
    percent = min(max((p + 5_000) // 10_000, 1), 99)
    return f"- {day.isoformat()}: {source.name} puts the chance at {percent}%."
