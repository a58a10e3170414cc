"""Metaculus's scores as the benchmark has them: 100 forecasters with 10 forecasts each on every question."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from arena.scores.rules._columns import Floats
from arena.scores.rules.metaculus import baseline, peer
from arena.scores.rules.metaculus.forecasts import Forecasts, MetaculusQuestion, totals
from arena.scores.rules.metaculus.question_types import binary, continuous, multiple_choice
from benchmarks.measure import Measurement, row, timed

FORECASTERS, EACH, LIFE = 100, 10, 1000.0
OPTIONS, BUCKETS = 5, 200
QUESTION = MetaculusQuestion(0.0, LIFE, LIFE)
WANTED = 80


@dataclass(frozen=True, slots=True, eq=False)
class MetaculusSample:
    """A kind of question: how its forecasts are read, and how long Metaculus's own code takes for one."""

    title: str
    read: Callable[[list[str], Floats], Forecasts]
    published: float


def kinds() -> list[MetaculusSample]:
    """One question of each kind, with its forecasts made up."""
    rng = np.random.default_rng(1)
    size = FORECASTERS * EACH
    stated = rng.integers(1, 1000, size) / 1000
    options = rng.dirichlet(np.ones(OPTIONS), size)
    steps = rng.dirichlet(np.ones(BUCKETS), size) * 0.9 + 0.1 / BUCKETS
    cdf = np.minimum(np.concatenate([np.zeros((size, 1)), steps.cumsum(axis=1)], axis=1), 1)
    cdf[:, -1] = 1
    return [
        MetaculusSample("yes/no", lambda who, at: binary(who, at, stated, outcome=True), 137 / 100),
        MetaculusSample(
            "several options", lambda who, at: multiple_choice(who, at, options, outcome=2), 21 / 20
        ),
        MetaculusSample("a number", lambda who, at: continuous(who, at, cdf, bucket=77), 66 / 20),
    ]


def fast(forecasts: Forecasts) -> tuple[Floats, Floats]:
    """Baseline and peer score of every forecaster."""
    scores = [totals(forecasts, rule.score(QUESTION, forecasts)).score for rule in (baseline, peer)]
    return scores[0], scores[1]


def slow(forecasts: Forecasts) -> tuple[list[float], list[float]]:
    """The same by the text, at every instant when a forecast changed, against each of the others."""
    who, start, end, chance, nothing, scale = (
        column.tolist()
        for column in (
            forecasts.forecaster,
            forecasts.start,
            forecasts.end,
            forecasts.chance,
            forecasts.ignorance,
            forecasts.own_points,
        )
    )
    names = sorted(set(who))
    own, others = dict.fromkeys(names, 0.0), dict.fromkeys(names, 0.0)
    times = sorted(set(start))
    for now, until in zip(times, [*times[1:], LIFE], strict=True):
        share = (until - now) / LIFE
        stood = {name: i for i, name in enumerate(who) if start[i] <= now < end[i]}
        logs = {name: math.log(chance[i]) for name, i in stood.items()}
        for name, i in stood.items():
            own[name] += share * scale[i] * (logs[name] - math.log(nothing[i]))
            rest = [log for other, log in logs.items() if other != name]
            if rest:
                others[name] += share * forecasts.points * (logs[name] - sum(rest) / len(rest))
    return [own[name] for name in names], [others[name] for name in names]


def metaculus_rows() -> list[Measurement]:
    """Each kind of question, against the slow transcription and against published times."""
    rng = np.random.default_rng(2)
    who = [f"f{n % FORECASTERS:03}" for n in range(FORECASTERS * EACH)]
    at = np.sort(rng.uniform(0, LIFE, len(who)))
    return [line for kind in kinds() for line in _two(kind, who, at)]


def _two(kind: MetaculusSample, who: list[str], at: Floats) -> list[Measurement]:
    forecasts = kind.read(who, at)
    assert all(np.allclose(a, b) for a, b in zip(fast(forecasts), slow(forecasts), strict=True))
    ours = timed(lambda: fast(kind.read(who, at)), repeat=20)
    by_hand = timed(lambda: slow(forecasts), repeat=1)
    title = f"Metaculus baseline and peer, {kind.title}"
    return [
        row(title, ours, "a slow transcription", by_hand.per_second, WANTED),
        row(title, ours, "Metaculus's code, published", 1 / kind.published, WANTED),
    ]
