"""A provisional look: what scores to expect if the latest prices are right. Nothing is ranked on it."""

import math
from dataclasses import dataclass

import numpy as np

from arena.belief import stated as probability
from arena.frame import OPEN, Floats, Stated, take
from arena.scoring._columns import mean

NOTICE = "provisional: open markets count as their latest price says, which is not what happened"


@dataclass(frozen=True, slots=True)
class Provisional:
    """An agent's expected Brier score, and the market's on the same rows; with how many rows are open."""

    agent: str
    forecasts: int
    open: int
    brier_stated: float | None
    brier_market: float | None

    @property
    def skill(self) -> float | None:
        """How much lower than the market's; None where nothing can be said."""
        if self.brier_stated is None or self.brier_market is None:
            return None
        return self.brier_market - self.brier_stated


def provisional(rows: Stated, latest: Floats) -> list[Provisional]:
    """Every agent; `latest` is the newest price of each of the markets, NaN where there is none.

    At a price p the forecast f is expected to score p(1 − f)² + (1 − p)f².
    """
    chance = np.where(rows.outcome == OPEN, latest[rows.market], rows.outcome)
    usable = (rows.outcome >= OPEN) & ~np.isnan(chance) & ~rows.early
    found = list[Provisional]()
    for place, name in enumerate(rows.agents):
        own = usable & (rows.agent == place)
        found.append(_line(name, take(rows, own), chance[own]))
    return found


def _line(name: str, kept: Stated, p: Floats) -> Provisional:
    scores = [_known(_expected(probability(f), p, kept)) for f in (kept.forecast, kept.mid)]
    still = int(np.count_nonzero(kept.outcome == OPEN))
    return Provisional(name, kept.outcome.size, still, *scores)


def _expected(forecast: Floats, p: Floats, rows: Stated) -> float:
    return mean(p * (1 - forecast) ** 2 + (1 - p) * forecast**2, rows.market)


def _known(score: float) -> float | None:
    return None if math.isnan(score) else score
