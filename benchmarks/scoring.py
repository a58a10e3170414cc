"""What scores cost: a million forecasts, a bootstrap, a board; against plain sums and loops of the same run.

python -m benchmarks.scoring
"""

import random
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import arena.scores.rules
from arena.scores.rules import brier, calibration, log, skill, skill_ratio
from arena.scores.rules.forecastbench.adjusted_brier import score, two_way
from arena.scores.rules.forecastbench.bootstrap import REPLICATES, replicate_scores
from arena.scores.rules.forecastbench.leaderboard import forecastbench_leaderboard
from arena.scores.rules.forecastbench.panel import Panel, panel
from benchmarks.measure import Measurement, Timed, options, report, timed
from benchmarks.scoring_metaculus import metaculus_rows
from benchmarks.scoring_standings import standings_rows, whole_board
from benchmarks.slow_scores import Cell, adjusted, redrawn
from markets.registry import load, names

Column = NDArray[np.float64]
HOME = Path(arena.scores.rules.__path__[0])
MILLION, ROWS, MARKETS = 1_000_000, 100_000, 20_000
DRAWS, MODELS, QUESTIONS = 10_000, 200, 500
PUBLISHED_ROWS = 3.4 / ROWS
"""Seconds that arena-evaluation takes for a row, as published."""
PUBLISHED_REPLICATE = 0.4
"""CPU seconds for one of ForecastBench's replicates, measured with its own code on another machine."""
MOST_BYTES = 2 * 2**30
GIB = 2**30


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Forecasts, what came of them, the market's own, and who asked."""

    forecast: Column
    reference: Column
    outcome: NDArray[np.int64]
    yes: NDArray[np.bool_]
    market: NDArray[np.int64]


def columns(size: int) -> Columns:
    """Forecasts in tenths of a percent, none of them sure."""
    rng = np.random.default_rng(1)
    forecast, reference = (rng.integers(1, 1000, size) / 1000 for _ in range(2))
    outcome = (rng.random(size) < forecast).astype(np.int64)
    return Columns(forecast, reference, outcome, rng.random(size) < 0.5, rng.integers(0, MARKETS, size))


def five(c: Columns) -> list[float]:
    """The five rules that take forecasts, the same whatever the order of rows, to the last digit."""
    return [
        brier.score(c.forecast, c.outcome),
        log.score(c.forecast, c.outcome),
        skill.score(c.forecast, c.outcome, c.reference),
        skill_ratio.score(c.forecast, c.outcome, c.reference),
        calibration.score(c.forecast, c.outcome),
    ]


def plain_five(c: Columns) -> list[float]:
    """The same five as numpy sums: nothing checked, nothing left out, the last digits as they come."""

    def squares(forecast: Column) -> float:
        return float(((forecast - c.outcome) ** 2).sum() / c.outcome.size)

    place = np.minimum((c.forecast * 10 + 1e-9).astype(np.int64), 9)
    counts, said, came = (np.bincount(place, weights, 10) for weights in (None, c.forecast, c.outcome))
    return [
        squares(c.forecast),
        float(np.log(np.where(c.outcome == 1, c.forecast, 1 - c.forecast)).sum() / c.outcome.size),
        squares(c.reference) - squares(c.forecast),
        1 - squares(c.forecast) / squares(c.reference),
        float((counts * ((said - came) / np.maximum(counts, 1)) ** 2).sum() / c.outcome.size),
    ]


def every_rule(c: Columns) -> list[float]:
    """All rules that the registry has for forecasts, averaged by market where they can be."""
    scores = []
    for name in names(HOME):
        rule = load("arena.scores.rules", name).score
        asked = rule.__code__.co_varnames[: rule.__code__.co_argcount]
        if "outcome" in asked and all(hasattr(c, part) for part in asked):
            scores.append(rule(**{part: getattr(c, part) for part in asked}))
    return scores


def a_board(models: int, questions: int, missing: bool, seed: int = 1) -> Panel:
    """Forecasts in three rounds of nine sources; with some missing, every third model left out a round."""
    rng = np.random.default_rng(seed)
    who, what = (places.ravel() for places in np.indices((models, questions)))
    there = ~((who % 3 == 2) & (what % 3 == who // 3 % 3)) if missing else np.ones(who.size, dtype=np.bool_)
    who, what = who[there], what[there]
    outcome = rng.integers(0, 2, questions)
    return panel(
        [f"m{i:03}" for i in who],
        [f"q{j:05}" for j in what],
        rng.integers(0, 101, who.size) / 100,
        outcome[what],
        fits=who % 4 != 1,
        stratum=[f"{j % 3} {j % 9}" for j in what],
        forecasters=[f"m{i:03}" for i in range(models)],
    )


def cells_of(table: Panel) -> list[Cell]:
    """A table as the rows it was made from."""
    names, questions = table.forecasters, table.questions
    return [
        (names[i], questions[j], str(table.stratum[j]), float(table.brier[i, j]), bool(table.fits[i, j]))
        for i, j in np.argwhere(~np.isnan(table.brier)).tolist()
    ]


def two_products(table: Panel) -> None:
    """What a bootstrap can't do without: whole-number draws, and a product each of scores and of counts."""
    rng = np.random.default_rng(1)
    width = len(table.questions)
    answered = np.ones(table.brier.shape)
    for _ in range(5):
        rows = DRAWS // 5
        picked = rng.integers(0, width, size=(rows, width)) + np.arange(rows)[:, None] * width
        times = np.bincount(picked.ravel(), minlength=rows * width).reshape(rows, width).astype(np.float64)
        _ = (times @ table.brier.T) / (times @ answered.T)


def by_cpu(what: str, ours: Timed, against: str, reference: Timed, wanted: float) -> Measurement:
    """A row of CPU time: that of all cores together, so that threads are no advantage."""
    return Measurement(what, 1 / ours.cpu, ours.cpu_share, against, 1 / reference.cpu, wanted)


def sums() -> list[Measurement]:
    million, rows = columns(MILLION), columns(ROWS)
    assert np.allclose(five(million), plain_five(million))
    ours, plain = timed(lambda: five(million), MILLION, 7), timed(lambda: plain_five(million), MILLION, 7)
    all_rules = timed(lambda: every_rule(rows), ROWS)
    published = Timed(PUBLISHED_ROWS, PUBLISHED_ROWS)
    title = f"100,000 rows, every rule: {all_rules.cpu * ROWS * 1000:.0f} ms of CPU"
    return [
        by_cpu("1,000,000 forecasts, five scores", ours, "plain numpy sums", plain, 1 / 3),
        by_cpu(title, all_rules, "arena-evaluation, published", published, 34),
    ]


def bootstraps() -> list[Measurement]:
    table = a_board(MODELS, QUESTIONS, missing=False)

    def ours() -> object:
        return replicate_scores(table, two_way(table), np.random.default_rng(1), DRAWS)

    fast, products = timed(ours, DRAWS), timed(lambda: two_products(table), DRAWS)
    title = "10,000 draws of 200 models, 500 questions"
    return [by_cpu(title, fast, "two matrix products, with draws", products, 0.5)]


def boards() -> list[Measurement]:
    """A board like ForecastBench's: 11 forecasters, 1,458 questions on data, 301 on markets."""
    tables = a_board(11, 1458, missing=True), a_board(11, 301, missing=True, seed=2)
    cells = [cells_of(table) for table in tables]
    rng = random.Random("bench/board")
    for table, rows in zip(tables, cells, strict=True):
        by_hand = adjusted(rows)
        scores: list[float] = score(two_way(table)).tolist()
        assert np.allclose([by_hand[name] for name in table.forecasters], scores, atol=1e-6)
    slow = timed(lambda: [adjusted(redrawn(rows, rng)) for rows in cells], repeat=2)
    fast = timed(lambda: forecastbench_leaderboard(*tables, naive="m000"), REPLICATES)
    published = Timed(PUBLISHED_REPLICATE, PUBLISHED_REPLICATE)
    return [
        by_cpu("a ForecastBench board, a replicate", fast, "a slow transcription", slow, 300),
        by_cpu("a ForecastBench board, a replicate", fast, "its own code, published", published, 300),
    ]


MEMORY: dict[str, Callable[[], object]] = {
    "a million forecasts, every rule": lambda: every_rule(columns(MILLION)),
    "450,000 forecasts, a year's leaderboard": whole_board,
    "a million forecasts, a ForecastBench board": lambda: forecastbench_leaderboard(
        a_board(200, 4000, missing=True), a_board(200, 2000, missing=True, seed=2), naive="m000"
    ),
}


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--memory", choices=MEMORY, help="do this alone, and print the most bytes it took")
    chosen = parser.parse_args()
    if chosen.memory:
        MEMORY[chosen.memory]()
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
        return
    rows = [*sums(), *bootstraps(), *boards(), *metaculus_rows(), *standings_rows()]
    notes = []
    for what in MEMORY:
        command = [sys.executable, "-m", "benchmarks.scoring", "--memory", what]
        used = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        mark = "ok " if used <= MOST_BYTES else "no "
        notes.append(f"{mark} {what}: {used / GIB:.2f} GiB at most, of {MOST_BYTES / GIB:.0f} wanted")
    report(rows, chosen.json, notes)


if __name__ == "__main__":
    main()
