"""What Metaculus's scores cost: 100 forecasters with 1,000 forecasts on every question, four scores each.

python -m benchmarks.metaculus
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arena.scores.rules.metaculus import baseline, peer
from arena.scores.rules.metaculus.forecasts import Forecasts
from arena.scores.rules.metaculus.limits import with_floor
from arena.scores.rules.metaculus.question import ForecastScores, MetaculusQuestion
from arena.scores.rules.metaculus.question_types import binary, continuous, multiple_choice
from arena.scores.rules.metaculus.totals import totals
from benchmarks.measure import Measurement, options, report, row, timed
from benchmarks.slow_metaculus import SlowForecast, SlowQuestion, scores

FORECASTERS, EACH, QUESTIONS = 100, 10, 20
OPTIONS, BUCKETS, HAPPENED = 6, 200, 3
LIFE = 1_000_000.0
WANTED = 80
RULES = {
    "baseline": baseline.score,
    "spot_baseline": baseline.spot,
    "peer": peer.score,
    "spot_peer": peer.spot,
}
PUBLISHED = {"yes/no": 137 / 100, "options": 21 / 20, "numbers": 66 / 20}
"""Seconds a question of the site's own code, measured on another machine."""


@dataclass(frozen=True)
class MetaculusKind:
    """A kind of question: how forecasts of it are made, what our columns and the slow ones take of them."""

    name: str
    raw: Callable[[np.random.Generator, int], NDArray[np.float64]]
    ours: Callable[[NDArray[np.str_], NDArray[np.float64], NDArray[np.float64]], Forecasts]
    pmf: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    asked: SlowQuestion


def cdfs(rng: np.random.Generator, count: int) -> NDArray[np.float64]:
    """Cumulative probabilities between closed ends."""
    steps = rng.dirichlet(np.full(BUCKETS, 0.5), count).cumsum(axis=1)
    return with_floor(np.clip(np.column_stack([np.zeros(count), steps[:, :-1], np.ones(count)]), 0, 1))


def question(points: float, own_points: float, ignorance: float, happened: int = HAPPENED) -> SlowQuestion:
    return SlowQuestion(0, LIFE, LIFE / 2, happened, points, own_points, ignorance)


KINDS = (
    MetaculusKind(
        "yes/no",
        lambda rng, count: rng.uniform(0.01, 0.99, count),
        lambda who, start, raw: binary(who, start, raw, outcome=True),
        lambda raw: np.column_stack([1 - raw, raw]),
        question(100, 100 / np.log(2), 0.5, 1),
    ),
    MetaculusKind(
        "options",
        lambda rng, count: 0.01 + 0.94 * rng.dirichlet(np.ones(OPTIONS), count),
        lambda who, start, raw: multiple_choice(who, start, raw, HAPPENED),
        lambda raw: raw,
        question(100, 100 / np.log(OPTIONS), 1 / OPTIONS),
    ),
    MetaculusKind(
        "numbers",
        cdfs,
        lambda who, start, raw: continuous(who, start, raw, HAPPENED),
        lambda raw: np.diff(raw, axis=1),  # nothing lies beyond closed ends
        question(50, 50, 1 / BUCKETS, HAPPENED - 1),
    ),
)


def measured(kind: MetaculusKind, slow: int) -> Measurement:
    """Some questions of a kind by us, and a few of them the slow way."""
    rng = np.random.default_rng(1)
    count = FORECASTERS * EACH
    who = np.repeat([f"f{number:03}" for number in range(FORECASTERS)], EACH)
    starts = [rng.uniform(0, LIFE, count) for _ in range(QUESTIONS)]
    raws = [kind.raw(rng, count) for _ in range(QUESTIONS)]
    asked = MetaculusQuestion(0, LIFE, LIFE, LIFE / 2)

    def ours(start: NDArray[np.float64], raw: NDArray[np.float64]) -> dict[str, ForecastScores]:
        said = kind.ours(who, start, raw)
        found = {name: rule(asked, said, "metaculus") for name, rule in RULES.items()}
        for scored in found.values():
            totals(said, scored)
        return found

    def theirs(start: NDArray[np.float64], raw: NDArray[np.float64]) -> dict[str, list[tuple[float, float]]]:
        ends = kind.ours(who, start, raw).end
        rows = zip(who, start, ends, kind.pmf(raw), strict=True)
        return scores(kind.asked, [SlowForecast(*one) for one in rows])

    quick, plain = ours(starts[0], raws[0]), theirs(starts[0], raws[0])
    for name, scored in quick.items():
        assert np.allclose(np.column_stack([scored.score, scored.coverage]), plain[name], atol=1e-8), name
    fast = timed(lambda: [ours(start, raw) for start, raw in zip(starts, raws, strict=True)], QUESTIONS)
    reference = timed(
        lambda: [theirs(start, raw) for start, raw in zip(starts[:slow], raws[:slow], strict=True)], slow, 1
    )
    what = f"{kind.name}: {fast.wall * 1000:.1f} ms a question"
    return row(what, fast, "one step at a time", reference.per_second, WANTED)


def parser() -> argparse.ArgumentParser:
    result = options(__doc__)
    result.add_argument("--slow", type=int, default=3, help="questions of a kind played the slow way (3)")
    return result


def main() -> None:
    given = parser().parse_args()
    rows = [measured(kind, given.slow) for kind in KINDS]
    published = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in PUBLISHED.items())
    ratios = ", ".join(f"{x.per_second * PUBLISHED[x.what.partition(':')[0]]:,.0f}" for x in rows)
    note = f"Published for the site's own code, on another machine, a question: {published}; ours are"
    report(rows, given.json, [f"{note} {ratios} times as fast here."])


if __name__ == "__main__":
    main()
