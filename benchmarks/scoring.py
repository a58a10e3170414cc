"""What scores cost: a million forecasts, a bootstrap, a board; against plain sums and loops of the same run.

python -m benchmarks.scoring
"""

import math
import random
import resource
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import arena.scores.rules
from arena.scores.rules import brier, calibration, log, skill, skill_ratio
from arena.scores.rules.comparisons.duel_evidence import SECONDS_OF_A_WEEK
from arena.scores.rules.comparisons.evidence import EvidenceRows, evidence
from arena.scores.rules.comparisons.gain import gains
from arena.scores.rules.comparisons.season_rows import SeasonForecasts, check_season
from arena.scores.rules.forecastbench.adjusted_brier import score, two_way
from arena.scores.rules.forecastbench.bootstrap import REPLICATES, replicate_scores
from arena.scores.rules.forecastbench.leaderboard import forecastbench_leaderboard
from arena.scores.rules.forecastbench.panel import Panel, panel
from arena.scores.rules.metaculus import baseline, peer
from arena.scores.rules.metaculus.forecasts import Forecasts, MetaculusQuestion, total_by_forecaster
from arena.scores.rules.metaculus.question_types import binary, continuous, multiple_choice
from benchmarks.measure import Measurement, Timed, options, report, row, timed
from markets.registry import load, names

Column = NDArray[np.float64]
Cell = tuple[str, str, str, float, bool]
"""A forecaster, a question, its stratum, the Brier score, and whether that says how hard the question was."""
CLOSE = 1e-8
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
    """Return forecasts in tenths of a percent, none of them certain."""
    rng = np.random.default_rng(1)
    forecast, reference = (rng.integers(1, 1000, size) / 1000 for _ in range(2))
    outcome = (rng.random(size) < forecast).astype(np.int64)
    return Columns(forecast, reference, outcome, rng.random(size) < 0.5, rng.integers(0, MARKETS, size))


def five(data: Columns) -> list[float]:
    """Apply the five rules that take forecasts; the order of rows changes no digit."""
    return [
        brier.score(data.forecast, data.outcome),
        log.score(data.forecast, data.outcome),
        skill.score(data.forecast, data.outcome, data.reference),
        skill_ratio.score(data.forecast, data.outcome, data.reference),
        calibration.score(data.forecast, data.outcome),
    ]


def plain_five(data: Columns) -> list[float]:
    """Compute the same five as numpy sums: nothing checked or left out, the last digits as they come."""

    def squares(forecast: Column) -> float:
        return float(((forecast - data.outcome) ** 2).sum() / data.outcome.size)

    place = np.minimum((data.forecast * 10 + 1e-9).astype(np.int64), 9)
    counts, said, came = (np.bincount(place, weights, 10) for weights in (None, data.forecast, data.outcome))
    return [
        squares(data.forecast),
        float(
            np.log(np.where(data.outcome == 1, data.forecast, 1 - data.forecast)).sum() / data.outcome.size
        ),
        squares(data.reference) - squares(data.forecast),
        1 - squares(data.forecast) / squares(data.reference),
        float((counts * ((said - came) / np.maximum(counts, 1)) ** 2).sum() / data.outcome.size),
    ]


def every_rule(data: Columns) -> list[float]:
    """Apply all rules that the registry has for forecasts, averaged by market where they can be."""
    scores = []
    for name in names(HOME):
        rule = load("arena.scores.rules", name).score
        asked = rule.__code__.co_varnames[: rule.__code__.co_argcount]
        if "outcome" in asked and all(hasattr(data, part) for part in asked):
            scores.append(rule(**{part: getattr(data, part) for part in asked}))
    return scores


def a_board(models: int, questions: int, missing: bool, seed: int = 1) -> Panel:
    """Return three rounds of nine sources with some forecasts missing; every third model skips a round."""
    rng = np.random.default_rng(seed)
    who, what = (places.ravel() for places in np.indices((models, questions)))
    there = ~((who % 3 == 2) & (what % 3 == who // 3 % 3)) if missing else np.ones(who.size, dtype=np.bool_)
    who = who[there]
    what = what[there]
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
    """Return a table as the rows it was made from."""
    names = table.forecasters
    questions = table.questions
    return [
        (names[i], questions[j], str(table.stratum[j]), float(table.brier[i, j]), bool(table.fits[i, j]))
        for i, j in np.argwhere(~np.isnan(table.brier)).tolist()
    ]


def two_products(table: Panel) -> None:
    """Do the least a bootstrap needs: integer draws, and one product each for scores and for counts."""
    rng = np.random.default_rng(1)
    width = len(table.questions)
    answered = np.ones(table.brier.shape)
    for _ in range(5):
        rows = DRAWS // 5
        picked = rng.integers(0, width, size=(rows, width)) + np.arange(rows)[:, None] * width
        times = np.bincount(picked.ravel(), minlength=rows * width).reshape(rows, width).astype(np.float64)
        _ = (times @ table.brier.T) / (times @ answered.T)


def by_cpu(what: str, ours: Timed, against: str, reference: Timed, wanted: float) -> Measurement:
    """Return a row of CPU time summed over all cores, so that threads are no advantage."""
    return Measurement(what, 1 / ours.cpu, ours.cpu_share, against, 1 / reference.cpu, wanted)


def sums() -> list[Measurement]:
    million = columns(MILLION)
    rows = columns(ROWS)
    assert np.allclose(five(million), plain_five(million))
    ours = timed(lambda: five(million), MILLION, 7)
    plain = timed(lambda: plain_five(million), MILLION, 7)
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

    fast = timed(ours, DRAWS)
    products = timed(lambda: two_products(table), DRAWS)
    title = "10,000 draws of 200 models, 500 questions"
    return [by_cpu(title, fast, "two matrix products, with draws", products, 0.5)]


def boards() -> list[Measurement]:
    """Make a board like ForecastBench's: 11 forecasters, 1,458 questions on data, 301 on markets."""
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


def redrawn(cells: Sequence[Cell], rng: random.Random) -> list[Cell]:
    """Draw the questions of each stratum anew, with replacement, copies under names of their own."""
    of_question: dict[str, list[Cell]] = defaultdict(list)
    strata: dict[str, dict[str, None]] = defaultdict(dict)
    for cell in cells:
        of_question[cell[1]].append(cell)
        strata[cell[2]][cell[1]] = None
    drawn = []
    for stratum in map(list, strata.values()):
        for copy, question in enumerate(rng.choices(stratum, k=len(stratum))):
            drawn += [(cell[0], f"{question} {copy}", *cell[2:]) for cell in of_question[question]]
    return drawn


def two_way_effects(cells: Sequence[Cell]) -> dict[str, float]:
    """Fit y = a + b by alternating means, and return b, how hard each question was."""
    fitting = [(who, what, y) for who, what, _, y, fits in cells if fits]
    a: dict[str, float] = defaultdict(float)
    while True:
        b = _means((what, y - a[who]) for who, what, y in fitting)
        better = _means((who, y - b[what]) for who, what, y in fitting)
        moved = max(abs(better[who] - a[who]) for who in better)
        a.update(better)
        if moved < CLOSE:
            return b


def adjusted(cells: Sequence[Cell]) -> dict[str, float]:
    """Return each forecaster's difficulty-adjusted Brier score, with always 0.5 at 0.25."""
    hard = two_way_effects(cells)
    means = _means((who, y - hard[what]) for who, what, _, y, _ in cells)
    half = sum(0.25 - b for b in hard.values()) / len(hard)
    return {who: mean + 0.25 - half for who, mean in means.items()}


def _means(pairs: Iterable[tuple[str, float]]) -> dict[str, float]:
    sums: dict[str, list[float]] = defaultdict(list)
    for key, value in pairs:
        sums[key].append(value)
    return {key: sum(values) / len(values) for key, values in sums.items()}


FORECASTERS, EACH, LIFE = 100, 10, 1000.0
OPTIONS, BUCKETS = 5, 200
QUESTION = MetaculusQuestion(0.0, LIFE, LIFE)
TIMES_SLOW = 80


@dataclass(frozen=True, slots=True, eq=False)
class MetaculusSample:
    """A kind of question: how its forecasts are read, and how long Metaculus's own code takes for one."""

    title: str
    read: Callable[[list[str], Column], Forecasts]
    published: float


def kinds() -> list[MetaculusSample]:
    """Return one question of each kind with made-up forecasts."""
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


def metaculus_fast(forecasts: Forecasts) -> tuple[Column, Column]:
    """Return baseline and peer score of every forecaster."""
    scores = [
        total_by_forecaster(forecasts, rule.score(QUESTION, forecasts)).score for rule in (baseline, peer)
    ]
    return scores[0], scores[1]


def metaculus_slow(forecasts: Forecasts) -> tuple[list[float], list[float]]:
    """Compute the same as published: whenever a forecast changed, against each other forecaster."""
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
    own = dict.fromkeys(names, 0.0)
    others = dict.fromkeys(names, 0.0)
    times = sorted(set(start))
    for begun, over in zip(times, [*times[1:], LIFE], strict=True):
        share = (over - begun) / LIFE
        stood = {name: i for i, name in enumerate(who) if start[i] <= begun < end[i]}
        logs = {name: math.log(chance[i]) for name, i in stood.items()}
        for name, i in stood.items():
            own[name] += share * scale[i] * (logs[name] - math.log(nothing[i]))
            rest = [log for other, log in logs.items() if other != name]
            if rest:
                others[name] += share * forecasts.points * (logs[name] - sum(rest) / len(rest))
    return [own[name] for name in names], [others[name] for name in names]


def metaculus_rows() -> list[Measurement]:
    """Compare each kind of question with the slow transcription and with published times."""
    rng = np.random.default_rng(2)
    who = [f"f{n % FORECASTERS:03}" for n in range(FORECASTERS * EACH)]
    at = np.sort(rng.uniform(0, LIFE, len(who)))
    return [line for kind in kinds() for line in _two(kind, who, at)]


def _two(kind: MetaculusSample, who: list[str], at: Column) -> list[Measurement]:
    forecasts = kind.read(who, at)
    assert all(
        np.allclose(a, b) for a, b in zip(metaculus_fast(forecasts), metaculus_slow(forecasts), strict=True)
    )
    ours = timed(lambda: metaculus_fast(kind.read(who, at)), repeat=20)
    by_hand = timed(lambda: metaculus_slow(forecasts), repeat=1)
    title = f"Metaculus baseline and peer, {kind.title}"
    return [
        row(title, ours, "a slow transcription", by_hand.per_second, TIMES_SLOW),
        row(title, ours, "Metaculus's code, published", 1 / kind.published, TIMES_SLOW),
    ]


AGENTS, EVENTS, SHOWN, ROUNDS, TURNS = 50, 200, 1000, 52, 10
SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class YearOfForecasts:
    """A season, and the same rows of every agent as its evidence goes by."""

    season: SeasonForecasts
    rows: dict[str, EvidenceRows]


def a_year() -> YearOfForecasts:
    """Return weekly rounds: markets open for ten, five to an event, agents that see nearly all."""
    rng = np.random.default_rng(1)
    market = np.repeat(np.arange(SHOWN), TURNS)
    instant = rng.integers(0, ROUNDS - TURNS, SHOWN)[market] + np.tile(np.arange(TURNS), SHOWN)
    price = np.clip(rng.beta(2, 2, SHOWN)[market] + rng.normal(0, 0.05, market.size), 0.01, 0.99)
    outcome = (rng.random(SHOWN) < price[np.arange(SHOWN) * TURNS + TURNS - 1]).astype(np.int64)
    seen = rng.random((AGENTS, market.size)) < 0.9
    agent, cell = np.nonzero(seen)
    stated = np.clip(price[cell] + rng.normal(0, 0.1, cell.size), 0, 1)
    known = (instant[market.size // SHOWN * np.arange(SHOWN) + TURNS - 1] + 1.0)[market] * SECONDS_OF_A_WEEK
    names = [f"a{n:02}" for n in range(AGENTS)]
    season = check_season(
        names,
        [f"e{n:03}" for n in range(EVENTS)],
        agent=agent,
        instant=instant[cell],
        market=market[cell],
        event=market[cell] % EVENTS,
        forecast=stated,
        reference=price[cell],
        outcome=outcome[market[cell]],
    )
    rows = {}
    for place, name in enumerate(names):
        own = cell[agent == place]
        rows[name] = EvidenceRows(
            story=market[own] % EVENTS,
            market=market[own],
            made=instant[own] * SECONDS_OF_A_WEEK,
            known=known[own],
            forecast=stated[agent == place],
            price=price[own],
            payout=outcome[market[own]].astype(np.float64),
        )
    return YearOfForecasts(season, rows)


def whole_board(year: YearOfForecasts | None = None) -> None:
    """Compute the leaderboard from columns, with everyone's evidence."""
    found = year or a_year()
    gains(found.season)
    for rows in found.rows.values():
        evidence(rows)


def standings_rows() -> list[Measurement]:
    """Measure the board from columns, the form in which the record returns them."""
    year = a_year()
    ours = timed(lambda: whole_board(year), repeat=2)
    title = f"a year's leaderboard, 1,999 draws: {ours.wall:.1f} s"
    return [row(title, ours, f"one in {SECONDS:.0f} s", 1 / SECONDS, 1.0)]


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
