"""ForecastBench's boards: the rules of a mode applied to forecasts beside what their questions came to.

Modes: `tournament`, `baseline` (the benchmark's own models), `preliminary` (data questions alone) and
`paper`, whose plain means also count markets that are open yet, against the crowd's latest probability.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import compress
from operator import attrgetter
from typing import Any

import numpy as np

from arena.errors import ArenaError, count_text
from arena.forms.bench.model import Asked
from arena.scores.files.forecastbench_rows import OWN, PUBLIC, SUPERS, Forecasters, ScoredForecast
from arena.scores.rules.forecastbench.difficulty_sample import IMPUTED, NAIVE, sample
from arena.scores.rules.forecastbench.intervals import mean_by_cluster
from arena.scores.rules.forecastbench.leaderboard import ForecastBenchScores, forecastbench_leaderboard
from arena.scores.rules.forecastbench.panel import Panel, panel
from arena.scores.rules.forecastbench.paper_leaderboard import PaperScores, paper_leaderboard

LEAST_RESOLVED = 225
"""Resolved data questions that a round needs to be scored, and a forecaster for the preliminary board."""
LEAST_MARKETS = 50
"""Resolved markets that a round needs for the tournament and the baseline board."""
LEAST_AGE = timedelta(days=50)
"""How long ago a round must have been due for these two boards."""

Scores = Sequence[ForecastBenchScores] | Sequence[PaperScores]


@dataclass(frozen=True, slots=True)
class GroupScore:
    """A forecaster's mean Brier score on some of the questions, with an interval by cluster."""

    group: str
    forecaster: str
    n: int
    brier: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class BenchBoard:
    """A board, best forecaster first. `scores` are of the paper in its mode."""

    mode: str
    scores: Scores
    clustered: Mapping[str, ForecastBenchScores]
    teams: Mapping[str, tuple[str, str]]
    groups: tuple[GroupScore, ...]
    notes: tuple[str, ...]


def make_board(
    found: Forecasters,
    mode: str,
    today: date | None = None,
    *,
    difficulty: str | None = None,
    by: str | None = None,
    against: str | None = None,
    seed: int = 0,
) -> BenchBoard:
    """Score the forecasters of a mode, and each group of questions if that is wanted.

    With `today` the rounds are left out that the site leaves out on that day; else all count. Without a
    `difficulty` markets are as hard as the site has it: in the tournament as for the crowd, if the
    forecaster is there that says what the crowd said, else by two-way fixed effects.
    """
    left_out = {} if today is None else rounds_left_out(found.rows, mode, today)
    if left_out:
        rows = tuple(row for row in found.rows if row.due not in left_out)
        reasons = [f"left out: the round due {due}: {why}" for due, why in sorted(left_out.items())]
        found = replace(found, rows=rows, notes=(*reasons, *found.notes))

    found = _of_mode(found, mode)
    names = sorted(set(_column(found.rows, "forecaster")))
    if not names:
        why = found.notes[0] if found.notes else "no forecast is on a resolved question"
        hint = "--every-round scores it too" if left_out else "name more files, or another --mode"
        raise ArenaError("nobody", f"nobody can be ranked: {why}", hint)

    if against is not None and against not in names:
        known = f"it is one of {', '.join(names[:20])}"
        raise ArenaError("no_forecaster", f"no forecaster is called {against!r}", known)
    groups = () if by is None else tuple(_group_scores(found.rows, by))
    clustered: dict[str, ForecastBenchScores] = {}
    notes: list[str] = []
    scores: Scores
    try:
        if mode == "paper":
            noted = {row.question: row.outcome.noted for row in found.rows}
            tables, _ = _tables(found.rows, names)
            scores = paper_leaderboard(*tables, seed=seed, noted=noted, against=against)
        else:
            scores, clustered, notes = _site_scores(found.rows, names, mode, difficulty, against, seed)
    except ValueError as error:
        hint = "see docs/forecastbench.md for what each mode needs"
        raise ArenaError("no_board", f"there is no {mode} board: {error}", hint) from error
    return BenchBoard(mode, scores, clustered, found.teams, groups, (*found.notes, *notes))


def _site_scores(
    rows: Sequence[ScoredForecast],
    names: list[str],
    mode: str,
    difficulty: str | None,
    against: str | None,
    seed: int,
) -> tuple[list[ForecastBenchScores], dict[str, ForecastBenchScores], list[str]]:
    """Return the scores of the benchmark's site, the same with intervals by cluster, and notes on them."""
    tables, note = _tables(rows, names)
    notes = list(filter(None, [note]))
    if difficulty is None:
        difficulty = "two_way"
        if mode == "tournament" and _answered_all(tables, IMPUTED):
            difficulty = "market_brier"
        elif mode == "tournament":
            notes.append(
                f"markets are adjusted as data questions are: {IMPUTED!r} is not there, or not whole"
            )

    naive = NAIVE if _answered_all(tables, NAIVE) else None
    if naive is None:
        notes.append(f"no BSS: {NAIVE!r} is not among the forecasters, or left questions out")

    wanted = dict.fromkeys([SUPERS, PUBLIC, against])
    options: dict[str, Any] = {
        "difficulty": difficulty,
        "naive": naive,
        "references": [name for name in wanted if name in names],
        "seed": seed,
        "part": "dataset" if mode == "preliminary" else "overall",
    }
    by_cluster = forecastbench_leaderboard(*tables, **options, by="cluster")
    by_name = {row.forecaster: row for row in by_cluster}
    return forecastbench_leaderboard(*tables, **options), by_name, notes


def _tables(rows: Sequence[ScoredForecast], names: list[str]) -> tuple[tuple[Panel, Panel], str]:
    """Return data questions and markets, and who tells how hard they were, if not the benchmark's sample."""
    fits, note = _difficulty_sample(rows)
    dataset = _panel(rows, fits, names, market=False)
    markets = _panel(rows, fits, names, market=True)
    return (dataset, markets), note


def rounds_left_out(rows: Iterable[ScoredForecast], mode: str, today: date) -> dict[str, str]:
    """Return the rounds that ForecastBench's site does not score yet in a mode, each with the reason."""
    resolved: dict[str, set[tuple[Asked, bool]]] = defaultdict(set)
    for row in rows:
        resolved[row.due].add((row.asked, row.outcome.market))

    reasons = {}
    for due, questions in resolved.items():
        markets = sum(is_market for _, is_market in questions)
        data = len(questions) - markets
        age = today - date.fromisoformat(due)

        if mode in ("tournament", "baseline") and age < LEAST_AGE:
            reasons[due] = f"due {age.days} days ago, and the site waits {LEAST_AGE.days}"
        elif mode in ("tournament", "baseline") and markets < LEAST_MARKETS:
            reasons[due] = f"{count_text(markets, 'market')} resolved, and the site wants {LEAST_MARKETS}"
        elif mode != "paper" and data < LEAST_RESOLVED:
            reasons[due] = f"{count_text(data, 'data row')} resolved, and the site wants {LEAST_RESOLVED}"
    return reasons


def _of_mode(found: Forecasters, mode: str) -> Forecasters:
    """Return what a mode looks at."""
    if mode == "baseline":
        others = {name for name, (team, _) in found.teams.items() if team != OWN}
        return _without(found, others, f"not of {OWN}'s own")
    if mode != "preliminary":
        return found

    rows = tuple(row for row in found.rows if not row.outcome.market)
    counts = Counter(_column(rows, "forecaster"))
    few = {name for name, count in counts.items() if count < LEAST_RESOLVED}
    why = f"fewer than {LEAST_RESOLVED} data questions resolved"
    return _without(replace(found, rows=rows), few, why)


def _without(found: Forecasters, names: Set[str], why: str) -> Forecasters:
    """Leave forecasters out, with a note on why."""
    if not names:
        return found
    rows = tuple(row for row in found.rows if row.forecaster not in names)
    note = f"left out: {', '.join(sorted(names))}: {why}"
    return replace(found, rows=rows, notes=(*found.notes, note))


def _difficulty_sample(rows: Sequence[ScoredForecast]) -> tuple[list[bool], str]:
    """Return who tells how hard a question was: the benchmark's sample where it covers all, else more.

    A note says so.
    """
    columns = [_column(rows, name) for name in ("forecaster", "external", "comparison", "age")]
    own = sample(*columns).tolist()
    models = [not row.comparison or row.forecaster == NAIVE for row in rows]
    note = "difficulty is computed from all models here: the benchmark's own sample is not among them"
    if _cover_all(rows, own):
        return own, ""
    if _cover_all(rows, models):
        return models, note
    return [True] * len(rows), "difficulty is computed from all forecasters here: there are too few models"


def _column(rows: Sequence[ScoredForecast], name: str) -> list[Any]:
    """Return what each row has under a name."""
    return list(map(attrgetter(name), rows))


def _cover_all(rows: Sequence[ScoredForecast], fits: Sequence[bool]) -> bool:
    """Tell whether every question has a row among some of them."""
    questions = _column(rows, "question")
    return set(compress(questions, fits)) == set(questions)


def _answered_all(parts: Sequence[Panel], name: str) -> bool:
    """Tell whether a forecaster is there and has left out no question."""
    if name not in parts[0].forecasters:
        return False
    return not any(np.isnan(part.row(name)).any() for part in parts)


def _panel(rows: Sequence[ScoredForecast], fits: Sequence[bool], names: list[str], *, market: bool) -> Panel:
    """Return the rows of one half as a panel; those that fit tell how hard its questions were."""
    is_chosen = [is_market == market for is_market in _column(rows, "outcome.market")]
    chosen = list(compress(rows, is_chosen))
    return panel(
        _column(chosen, "forecaster"),
        _column(chosen, "question"),
        _column(chosen, "probability"),
        _column(chosen, "outcome.value"),
        fits=list(compress(fits, is_chosen)),
        stratum=_column(chosen, "stratum"),
        cluster=_column(chosen, "cluster"),
        family=_column(chosen, "source"),
        forecasters=names,
    )


def _group_of(row: ScoredForecast, by: str) -> str:
    """Return the name of the group that a row belongs to."""
    if by == "source":
        return row.asked[0]
    if by == "round":
        return row.due
    return "market" if row.outcome.horizon is None else f"{row.outcome.horizon:,} d"


def _group_scores(rows: Sequence[ScoredForecast], by: str) -> Iterator[GroupScore]:
    """Yield plain means on each group's questions, lowest first; what is in one cluster errs together."""
    found: dict[tuple[str, str], dict[tuple[str, str], list[float]]] = defaultdict(lambda: defaultdict(list))
    order: dict[str, tuple[bool, int, str]] = {}
    for row in rows:
        group = _group_of(row, by)
        days = row.outcome.horizon
        order[group] = (days is None, (days or 0) if by == "horizon" else 0, group)
        brier = (row.probability - row.outcome.value) ** 2
        found[group, row.forecaster][row.asked[0], row.asked[1]].append(brier)

    scores = []
    for (group, name), clusters in found.items():
        mean, low, high = mean_by_cluster(clusters.values())
        count = sum(map(len, clusters.values()))
        scores.append(GroupScore(group, name, count, mean, low, high))
    yield from sorted(scores, key=lambda score: (order[score.group], score.brier, score.forecaster))
