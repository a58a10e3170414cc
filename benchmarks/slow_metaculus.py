"""Metaculus's baseline and peer scores as one would write them down first: a forecast, a step at a time."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Pmf = NDArray[np.float64]
Scored = list[tuple[float, float]]


@dataclass(frozen=True)
class SlowForecast:
    """A forecast: all its probabilities, from its start until its end."""

    who: str
    start: float
    end: float
    pmf: Pmf

    def stands(self, at: float) -> bool:
        return self.start <= at < self.end


@dataclass(frozen=True)
class SlowQuestion:
    """A question: when it opened and closed, what happened, what a factor of e earns, and its baseline."""

    opens: float
    closes: float
    spot: float
    happened: int
    points: float
    own_points: float
    ignorance: float


def scores(asked: SlowQuestion, forecasts: Sequence[SlowForecast]) -> dict[str, Scored]:
    """All four scores of every forecast, with its coverage."""
    means = geometric_means(forecasts)
    life = asked.closes - asked.opens
    own = [asked.own_points * math.log(s.pmf[asked.happened] / asked.ignorance) for s in forecasts]
    shares = [max(min(s.end, asked.closes) - max(s.start, asked.opens), 0) / life for s in forecasts]
    stood = [float(s.stands(asked.spot)) for s in forecasts]
    return {
        "baseline": [(score * share, share) for score, share in zip(own, shares, strict=True)],
        "spot_baseline": [
            (score, 1.0) if stands else (0.0, 0.0) for score, stands in zip(own, stood, strict=True)
        ],
        "peer": [averaged(asked, s, means) for s in forecasts],
        "spot_peer": [spot(asked, s, means) for s in forecasts],
    }


def geometric_means(forecasts: Sequence[SlowForecast]) -> list[tuple[float, int, Pmf]]:
    """At every change: when, how many stand, and the geometric mean of all their probabilities."""
    changes = {s.start for s in forecasts} | {s.end for s in forecasts if s.end < math.inf}
    means = []
    for at in sorted(changes):
        standing = [s.pmf for s in forecasts if s.stands(at)]
        if standing:
            means.append((at, len(standing), np.exp(np.mean(np.log(standing), axis=0))))
    return means


def against(asked: SlowQuestion, one: SlowForecast, count: int, mean: Pmf) -> float:
    """The score at an instant against the mean of so many."""
    if count < 2:
        return 0.0
    gap = math.log(one.pmf[asked.happened] / mean[asked.happened])
    return asked.points * count / (count - 1) * gap


def averaged(
    asked: SlowQuestion, one: SlowForecast, means: Sequence[tuple[float, int, Pmf]]
) -> tuple[float, float]:
    """The peer score over the steps that begin while a forecast stands."""
    score = share = 0.0
    for number, (at, count, mean) in enumerate(means):
        if max(one.start, asked.opens) <= at < min(one.end, asked.closes):
            until = means[number + 1][0] if number + 1 < len(means) else asked.closes
            length = (min(until, asked.closes) - at) / (asked.closes - asked.opens)
            score += against(asked, one, count, mean) * length
            share += length
    return score, share


def spot(
    asked: SlowQuestion, one: SlowForecast, means: Sequence[tuple[float, int, Pmf]]
) -> tuple[float, float]:
    """The peer score at the spot, against the last change before it."""
    before = [(count, mean) for at, count, mean in means if at < asked.spot]
    if not before or not one.stands(asked.spot):
        return 0.0, 0.0
    return against(asked, one, *before[-1]), 1.0
