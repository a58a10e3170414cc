"""Scores of a season with questions of several kinds: all kinds together, by the rules for files."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from arena.record.model.columns import Floats, ForecastColumns, Ints
from arena.record.queries.accounts import read_accounts
from arena.record.queries.answers import plays_questions, read_answer_columns, read_season_markets
from arena.record.queries.cohorts import read_min_coverage, read_newest_time, read_of_cohorts
from arena.record.queries.forecasts import read_forecast_columns
from arena.record.schema.cohort import CohortRow, RoundRow
from arena.record.schema.database import Connection
from arena.record.schema.typed import joined, select
from arena.scores.cache import CacheKind
from arena.scores.comparisons import scores_and_turns
from arena.scores.files.by_question import AutocastScores, QuestionScores, autocast_scores, score_questions
from arena.scores.files.forecasts import ForecastTable
from arena.scores.files.report import FileReport, report_data, report_file
from arena.scores.files.score_choices import ScoreChoices
from arena.scores.files.scores import rank_key
from arena.scores.leaderboard import Leaderboard, read_leaderboard
from arena.scores.rules._columns import none_for_nan
from arena.scores.season_notes import season_notes
from arena.scores.season_table import SeasonRows, YesNoRows, season_table, turn_times
from arena.scores.verdict import Verdict
from markets.distributions import YES_NO
from markets.millionths import ONE

NAME = "the record"
MEANS = ("brier", "distance", "baseline", "peer", "relative", "coverage")
"""The scores whose means are reported for each kind of question."""


ROUND_TIMES = select(CohortRow.number, RoundRow.number, RoundRow.at).select_from(joined(RoundRow, CohortRow))


def read_all_kinds(connection: Connection, cohort: int | None = None) -> ForecastTable:
    """Return the forecasts of all kinds of questions, of a record or of one cohort, as a table."""
    stated = read_forecast_columns(connection, cohort)
    answers = read_answer_columns(connection, cohort)
    round_times = {}
    for cohort_number, round_number, decided_at in read_of_cohorts(connection, ROUND_TIMES, cohort):
        round_times[cohort_number, round_number] = decided_at

    return season_table(
        NAME,
        SeasonRows(
            yes_no=_yes_no_rows(stated, turn_times(stated.cohort, stated.round, round_times)),
            answers=answers,
            time=turn_times(answers.cohort, answers.round, round_times),
            markets=read_season_markets(connection),
            kinds={account.agent: account.kind for account in read_accounts(connection, cohort)},
            as_of=read_newest_time(connection),
            min_coverage=read_min_coverage(connection, cohort),
        ),
    )


def _yes_no_rows(stated: ForecastColumns, time: Floats) -> YesNoRows:
    """Return the forecasts of yes/no markets."""
    return YesNoRows(
        agents=stated.agents,
        markets=stated.markets,
        agent=stated.agent,
        market=stated.market,
        time=time,
        chance=stated.forecast / ONE,
        price=np.where(stated.priced, stated.mid / ONE, np.nan),
        stated=stated.stated,
        early=stated.early,
    )


@dataclass(frozen=True, slots=True)
class KindScores:
    """An agent's mean scores on the questions of one kind that have ended; None where undefined.

    `kind` is the name of its module in `markets/questions`. `distance` is the mean distance of medians from
    outcomes, as a share of the range; `baseline` and the following fields are Metaculus's.
    """

    agent: str
    kind: str
    questions: int
    asked: int
    brier: float | None
    distance: float | None
    baseline: float | None
    peer: float | None
    relative: float | None
    coverage: float | None


@dataclass(frozen=True, slots=True)
class AllKinds:
    """The scores of a season: questions of all kinds together, and each kind by itself.

    In `report`, multiple choice and yes/no questions share one Brier score, skill and verdict; numbers and
    dates only count in Metaculus's scores. `autocast` has each agent's errors by Autocast's metric.
    """

    report: FileReport
    kinds: tuple[KindScores, ...]
    autocast: Mapping[str, AutocastScores]


ALL_KINDS = CacheKind("all kinds", "all kinds 3", TypeAdapter(AllKinds), scores_and_turns)
"""The scores of all kinds of questions, over all cohorts or of one by its number."""


def all_kinds_of(connection: Connection, cohort: int | None = None) -> AllKinds | None:
    """Return the scores of all kinds, from the cache if current; None if all questions are yes/no."""
    if not plays_questions(connection, cohort):
        return None
    cached = ALL_KINDS.read_current(connection, cohort)
    return cached or compute_all_kinds(connection, cohort)


def read_season_verdict(connection: Connection, board: Leaderboard | None = None) -> Verdict | None:
    """Return the verdict of the whole record, over all its kinds of questions.

    `board` is the leaderboard of all cohorts, if it was read before.
    """
    all_kinds = all_kinds_of(connection)
    if all_kinds is not None:
        return all_kinds.report.verdict
    if board is None:
        board = read_leaderboard(connection)
    return board.verdict


def read_season_board(connection: Connection) -> Leaderboard:
    """Return the leaderboard of all cohorts with the verdict of the whole record."""
    board = read_leaderboard(connection)
    return replace(board, verdict=read_season_verdict(connection, board))


def compute_all_kinds(connection: Connection, cohort: int | None = None) -> AllKinds:
    """Return the scores of all kinds as of now."""
    table = read_all_kinds(connection, cohort)
    choices = ScoreChoices(outside=table.outside, rule="skill", references=table.references)
    scored = score_questions(table, "exact", table.outside)
    autocast = {}
    for number, name in enumerate(scored.forecasters):
        autocast[name] = autocast_scores(scored, number)

    report = report_file(table, choices=choices)
    report = replace(report, notes=tuple(season_notes(table, scored)))
    if cohort is not None:
        report = _without_ranks(report, choices)
    return AllKinds(report, _kind_scores(table, scored), autocast)


def _without_ranks(report: FileReport, choices: ScoreChoices) -> FileReport:
    """Return a cohort's report without ranks, which would add chances to be wrong."""
    without_verdict: dict[str, Any] = {
        "rank_low": None,
        "rank_high": None,
        "better_than": (),
        "worse_than": (),
        "price": "none",
        "verdict": "",
        "price_verdict": "",
    }
    rows = [replace(row, **without_verdict) for row in report.rows]
    rows.sort(key=lambda row: rank_key(row, choices))
    return replace(report, verdict=None, rows=tuple(rows))


def _kind_scores(table: ForecastTable, scored: QuestionScores) -> tuple[KindScores, ...]:
    """Return everyone's scores on each kind of question."""
    # Yes/no questions are numbered first, then those of other kinds.
    kind_of = np.array([YES_NO] * len(table.questions) + [form.form_kind for form in table.forms])

    kind_scores = []
    for kind in dict.fromkeys(kind_of.tolist()):
        is_scored = scored.asked & (kind_of == kind)
        questions_asked = int(is_scored.sum())

        rows = np.flatnonzero(is_scored[scored.question])
        forecaster = scored.who[rows]
        questions_answered = np.bincount(forecaster, minlength=len(scored.forecasters))
        means = {
            name: _means_by_forecaster(forecaster, scored.values[name][rows], len(scored.forecasters))
            for name in MEANS
        }

        for place in np.flatnonzero(questions_answered).tolist():
            own_means = {name: none_for_nan(float(mean[place])) for name, mean in means.items()}
            row = KindScores(
                agent=scored.forecasters[place],
                kind=kind,
                questions=int(questions_answered[place]),
                asked=questions_asked,
                **own_means,
            )
            kind_scores.append(row)
    return tuple(kind_scores)


def _means_by_forecaster(forecaster: Ints, values: Floats, forecasters: int) -> Floats:
    """Return everyone's mean of the known values; NaN where there are none."""
    known_rows = np.flatnonzero(~np.isnan(values))
    total = np.bincount(forecaster[known_rows], values[known_rows], minlength=forecasters)
    count = np.bincount(forecaster[known_rows], minlength=forecasters)
    means: Floats = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return means


def all_kinds_data(all_kinds: AllKinds) -> dict[str, Any]:
    """Return the scores as JSON: the verdict, a row for each agent, and rows of each kind."""
    data = report_data(all_kinds.report)
    data["kinds"] = [asdict(row) for row in all_kinds.kinds]
    data["autocast"] = {agent: asdict(scores) for agent, scores in all_kinds.autocast.items()}
    return data
