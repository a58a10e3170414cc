"""ForecastBench's boards: the rules of a mode applied to forecasts with their outcomes.

Modes: `tournament`, `baseline` (the benchmark's own models), `preliminary` (data questions only) and `paper`,
whose plain means also count markets that are still open, against the crowd's latest probability.
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
"""The resolved data questions that a round needs, and that a forecaster needs for the preliminary board."""
LEAST_MARKETS = 50
"""The resolved markets that a round needs for the tournament and the baseline board."""
LEAST_AGE = timedelta(days=50)
"""The least time since a round was due for these two boards."""

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
    """A board, best forecaster first. In the mode `paper`, `scores` are the paper's."""

    mode: str
    scores: Scores
    clustered: Mapping[str, ForecastBenchScores]
    teams: Mapping[str, tuple[str, str]]
    groups: tuple[GroupScore, ...]
    notes: tuple[str, ...]


def make_board(
    gathered: Forecasters,
    mode: str,
    today: date | None = None,
    *,
    difficulty: str | None = None,
    by: str | None = None,
    against: str | None = None,
) -> BenchBoard:
    """Score the forecasters of a mode, and each group of questions if wanted.

    With `today`, rounds that the site leaves out on that day are left out. By default the `difficulty` is the
    site's: in the tournament, a market's difficulty is the crowd's Brier score if the forecaster that repeats
    the crowd is present, and otherwise two-way fixed effects.
    """
    left_out: dict[str, str] = {}
    if today is not None:
        left_out = rounds_left_out(gathered.rows, mode, today)

    if left_out:
        gathered = _without_rounds(gathered, left_out)
    gathered = _for_mode(gathered, mode)
    forecasters = set(_attributes(gathered.rows, "forecaster"))
    names = sorted(forecasters)

    if not names:
        raise _nobody_error(gathered, is_round_left_out=bool(left_out))
    if against is not None and against not in names:
        some_names = ", ".join(names[:20])
        hint = f"it is one of {some_names}"
        raise ArenaError("no_forecaster", f"no forecaster is called {against!r}", hint)

    group_scores: tuple[GroupScore, ...] = ()
    if by is not None:
        group_scores = tuple(_group_scores(gathered.rows, by))

    clustered: dict[str, ForecastBenchScores] = {}
    score_notes: list[str] = []
    scores: Scores
    try:
        if mode == "paper":
            scores = _paper_scores(gathered.rows, names, against)
        else:
            scores, clustered, score_notes = _site_scores(gathered.rows, names, mode, difficulty, against)
    except ValueError as error:
        hint = "see docs/forecastbench.md for what each mode needs"
        raise ArenaError("no_board", f"there is no {mode} board: {error}", hint) from error

    all_notes = (*gathered.notes, *score_notes)
    return BenchBoard(mode, scores, clustered, gathered.teams, group_scores, all_notes)


def _nobody_error(gathered: Forecasters, *, is_round_left_out: bool) -> ArenaError:
    """Return the error of a board without forecasters."""
    why = "no forecast is on a resolved question"
    if gathered.notes:
        why = gathered.notes[0]

    hint = "name more files, or another --mode"
    if is_round_left_out:
        hint = "--every-round scores it too"
    return ArenaError("nobody", f"nobody can be ranked: {why}", hint)


def _without_rounds(gathered: Forecasters, reasons_by_round: Mapping[str, str]) -> Forecasters:
    """Leave rounds out, with a note on the reason for each."""
    notes = [f"left out: the round due {due}: {why}" for due, why in sorted(reasons_by_round.items())]
    rows = tuple(row for row in gathered.rows if row.due not in reasons_by_round)
    notes.extend(gathered.notes)
    return replace(gathered, rows=rows, notes=tuple(notes))


def _paper_scores(
    rows: Sequence[ScoredForecast], names: list[str], against: str | None
) -> Sequence[PaperScores]:
    """Return the scores of the benchmark's paper."""
    times_noted = {row.question: row.outcome.noted for row in rows}

    panels, _ = _panels_and_note(rows, names)
    return paper_leaderboard(*panels, noted=times_noted, against=against)


def _site_scores(
    rows: Sequence[ScoredForecast],
    names: list[str],
    mode: str,
    difficulty: str | None,
    against: str | None,
) -> tuple[list[ForecastBenchScores], dict[str, ForecastBenchScores], list[str]]:
    """Return the scores of the benchmark's site, the same with intervals by cluster, and notes."""
    panels, note = _panels_and_note(rows, names)
    notes: list[str] = []
    if note:
        notes.append(note)

    if difficulty is None:
        difficulty = "two_way"
        if mode == "tournament" and _answered_all(panels, IMPUTED):
            difficulty = "market_brier"
        elif mode == "tournament":
            notes.append(
                f"markets are adjusted as data questions are: {IMPUTED!r} is not there, or not whole"
            )

    naive: str | None = NAIVE
    if not _answered_all(panels, NAIVE):
        naive = None
        notes.append(f"no BSS: {NAIVE!r} is not among the forecasters, or left questions out")

    # `against` may be one of the two that are always references.
    reference_names = dict.fromkeys([SUPERS, PUBLIC, against])
    references = [name for name in reference_names if name in names]

    part = "overall"
    if mode == "preliminary":
        part = "dataset"

    options: dict[str, Any] = {
        "difficulty": difficulty,
        "naive": naive,
        "references": references,
        "part": part,
    }
    clustered_rows = forecastbench_leaderboard(*panels, **options, by="cluster")
    clustered = {row.forecaster: row for row in clustered_rows}
    scores = forecastbench_leaderboard(*panels, **options)
    return scores, clustered, notes


def _panels_and_note(rows: Sequence[ScoredForecast], names: list[str]) -> tuple[tuple[Panel, Panel], str]:
    """Return panels of data questions and markets, and a note if another sample sets their difficulty."""
    fits, note = _difficulty_sample(rows)
    dataset = _panel_of_half(rows, fits, names, market=False)
    markets = _panel_of_half(rows, fits, names, market=True)
    return (dataset, markets), note


def rounds_left_out(rows: Iterable[ScoredForecast], mode: str, today: date) -> dict[str, str]:
    """Return the rounds that the site does not score yet in a mode, each with the reason."""
    resolved_questions: dict[str, set[tuple[Asked, bool]]] = defaultdict(set)
    for row in rows:
        resolved_questions[row.due].add((row.asked, row.outcome.market))

    has_minimum_age = mode in ("tournament", "baseline")
    reasons = {}
    for due, questions in resolved_questions.items():
        markets = sum(is_market for _, is_market in questions)
        data_questions = len(questions) - markets
        age = today - date.fromisoformat(due)

        if has_minimum_age and age < LEAST_AGE:
            reasons[due] = f"due {age.days} days ago, and the site waits {LEAST_AGE.days}"
        elif has_minimum_age and markets < LEAST_MARKETS:
            count = count_text(markets, "market")
            reasons[due] = f"{count} resolved, and the site wants {LEAST_MARKETS}"
        elif mode != "paper" and data_questions < LEAST_RESOLVED:
            count = count_text(data_questions, "data row")
            reasons[due] = f"{count} resolved, and the site wants {LEAST_RESOLVED}"
    return reasons


def _for_mode(gathered: Forecasters, mode: str) -> Forecasters:
    """Return the forecasters and questions of a mode."""
    if mode == "baseline":
        not_own = {name for name, (team, _) in gathered.teams.items() if team != OWN}
        return _without_forecasters(gathered, not_own, f"not of {OWN}'s own")

    if mode != "preliminary":
        return gathered

    rows = tuple(row for row in gathered.rows if not row.outcome.market)
    data_questions = replace(gathered, rows=rows)
    forecasters = _attributes(rows, "forecaster")
    counts = Counter(forecasters)

    few_resolved = {name for name, count in counts.items() if count < LEAST_RESOLVED}
    return _without_forecasters(
        data_questions, few_resolved, f"fewer than {LEAST_RESOLVED} data questions resolved"
    )


def _without_forecasters(gathered: Forecasters, names: Set[str], why: str) -> Forecasters:
    """Leave forecasters out, with a note on why."""
    if not names:
        return gathered

    rows = tuple(row for row in gathered.rows if row.forecaster not in names)
    note = f"left out: {', '.join(sorted(names))}: {why}"
    return replace(gathered, rows=rows, notes=(*gathered.notes, note))


def _difficulty_sample(rows: Sequence[ScoredForecast]) -> tuple[list[bool], str]:
    """Return which rows determine the difficulty of questions, with a note.

    That is the benchmark's sample if it covers all questions, else all models, else everyone.
    """
    forecaster = _attributes(rows, "forecaster")
    external = _attributes(rows, "external")
    comparison = _attributes(rows, "comparison")
    age = _attributes(rows, "age")
    in_sample = sample(forecaster, external, comparison, age).tolist()
    if _cover_all(rows, in_sample):
        return in_sample, ""

    is_model = [not row.comparison or row.forecaster == NAIVE for row in rows]

    if _cover_all(rows, is_model):
        note = "difficulty is computed from all models here: the benchmark's own sample is not among them"
        return is_model, note

    everyone = [True] * len(rows)
    return everyone, "difficulty is computed from all forecasters here: there are too few models"


def _attributes(rows: Sequence[ScoredForecast], name: str) -> list[Any]:
    """Return an attribute of each row."""
    return list(map(attrgetter(name), rows))


def _cover_all(rows: Sequence[ScoredForecast], fits: Sequence[bool]) -> bool:
    """Tell whether the selected rows cover every question."""
    questions = _attributes(rows, "question")
    return set(compress(questions, fits)) == set(questions)


def _answered_all(parts: Sequence[Panel], name: str) -> bool:
    """Tell whether a forecaster is present and left out no question."""
    if name not in parts[0].forecasters:
        return False

    return not any(np.isnan(part.row(name)).any() for part in parts)


def _panel_of_half(
    rows: Sequence[ScoredForecast], in_sample: Sequence[bool], names: list[str], *, market: bool
) -> Panel:
    """Return the rows of one half as a panel; those that fit determine the difficulty."""
    half_rows = []
    half_in_sample = []
    for row, is_in_sample in zip(rows, in_sample, strict=True):
        if row.outcome.market == market:
            half_rows.append(row)
            half_in_sample.append(is_in_sample)

    forecaster = _attributes(half_rows, "forecaster")
    question = _attributes(half_rows, "question")
    probability = _attributes(half_rows, "probability")
    outcome = _attributes(half_rows, "outcome.value")
    stratum = _attributes(half_rows, "stratum")
    cluster = _attributes(half_rows, "cluster")
    source = _attributes(half_rows, "source")
    return panel(
        forecaster,
        question,
        probability,
        outcome,
        fits=half_in_sample,
        stratum=stratum,
        cluster=cluster,
        family=source,
        forecasters=names,
    )


def _group_of(row: ScoredForecast, by: str) -> str:
    """Return the name of the group that a row belongs to."""
    if by == "source":
        return row.source
    if by == "round":
        return row.due
    days = row.outcome.horizon
    if days is None:
        return "market"
    return f"{days:,} d"


def _group_scores(rows: Sequence[ScoredForecast], by: str) -> Iterator[GroupScore]:
    """Yield mean scores on each group's questions, lowest first, with intervals by cluster."""
    errors: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    group_order: dict[str, tuple[bool, int, str]] = {}
    for row in rows:
        group = _group_of(row, by)
        days = row.outcome.horizon

        # Horizons in order of length, other groups by name; markets, which have no horizon, come last.
        horizon_days = 0
        if by == "horizon" and days is not None:
            horizon_days = days
        group_order[group] = (days is None, horizon_days, group)

        difference = row.probability - row.outcome.value
        errors[group, row.forecaster][row.cluster].append(difference**2)

    scores = []
    for (group, name), clusters in errors.items():
        mean, low, high = mean_by_cluster(clusters.values())
        count = sum(map(len, clusters.values()))
        scores.append(GroupScore(group, name, count, mean, low, high))

    def rank(score: GroupScore) -> tuple[tuple[bool, int, str], float, str]:
        return (group_order[score.group], score.brier, score.forecaster)

    scores.sort(key=rank)
    yield from scores
