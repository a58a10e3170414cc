"""A tournament from a file: its rules and prizes, its forecasts, each question's scores, the board."""

from collections.abc import Iterable, Sequence
from csv import DictWriter
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from io import StringIO
from math import isfinite
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from arena.config.document import Document, read
from arena.config.errors import ConfigErrors
from arena.config.validation import validate
from arena.errors import ArenaError, count_text
from arena.forms.csv_columns import (
    Cells,
    Floats,
    Ints,
    OurColumns,
    check_same_by_question,
    parse_outcome,
    parse_positive,
    parse_share,
    read_column,
    read_names,
    read_times,
    text_cells,
)
from arena.scores.files.forecast_checks import check_duplicates, check_question_times
from arena.scores.files.forecasts import OUTCOME_HINT, PROBABILITY_HINT
from arena.scores.rules._columns import is_scored
from arena.scores.rules.metaculus import peer, tournament, tournament_2022
from arena.scores.rules.metaculus.forecasts import (
    Forecasts,
    MetaculusQuestion,
    Mode,
    Totals,
    chance_forecasts,
    no_scores,
    total_by_forecaster,
)
from arena.scores.rules.metaculus.question_types import binary
from arena.scores.rules.metaculus.tournament import TournamentBoard, TournamentPlace
from arena.scores.rules.metaculus.tournament_2022 import HiddenPeriod

PEER_KEYS = ("minimum_prize", "exclude", "outside", "weights")
"""Keys that the form 2022 doesn't have."""


class TournamentSettings(BaseModel):
    """The rules of a tournament."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    form: Literal["peer", "2022"] = Field(
        "peer", description="Peer scores with squared sums, or relative scores as of 2022."
    )
    forecasts: str | None = Field(None, description="The CSV of forecasts, beside this file.")
    cohort: int | None = Field(
        None, ge=1, description="In place of forecasts: the agents of this cohort play, on its markets."
    )
    hidden: int | None = Field(
        None, ge=1, description="(cohort) The number of rounds, from a market's first, in its hidden period."
    )
    pool: float = Field(0, ge=0, allow_inf_nan=False, description="The prize pool, in dollars.")
    minimum_prize: float = Field(
        0,
        ge=0,
        allow_inf_nan=False,
        description="Smaller prizes are not paid, but shared among the other winners.",
    )
    exclude: tuple[str, ...] = Field(
        (), strict=False, description="Forecasters who are scored but win no prize."
    )
    outside: tuple[str, ...] = Field(
        (), strict=False, description="Forecasters with whom nobody is compared, such as bots."
    )
    weights: dict[str, float] = Field({}, description="The weights of questions, if not 1.")
    hidden_weight: float | None = Field(
        None,
        ge=0,
        le=1,
        description="The weight of the time until hidden_until: in coverage, by peer also in scores.",
    )

    @property
    def source(self) -> str:
        """Return where the forecasts come from, in words: a file or a cohort."""
        return self.forecasts or f"cohort {self.cohort}"


def read_settings(path: Path) -> TournamentSettings:
    """Return the rules in a file; raise `ConfigErrors` with every mistake in them."""
    document = read(path)
    if isinstance(document.value.get("form"), int):
        document.value["form"] = str(document.value["form"])
    settings = validate(TournamentSettings, document.value, document, (), ())
    if settings is not None:
        _check_settings(document, settings)
    if settings is None or document.errors:
        raise ConfigErrors(document.errors)
    return settings


def _check_settings(document: Document, settings: TournamentSettings) -> None:
    """Note rules that contradict each other."""
    _check_source(document, settings)
    for key in PEER_KEYS:
        if key in document.value and settings.form == "2022":
            words = f"a tournament of the form 2022 has no {key}. Remove it"
            document.add_error((key,), key, "only with form: peer", words)
    if settings.minimum_prize > settings.pool:
        prize = f"{settings.minimum_prize:g}"
        words = f"the smallest prize is {prize} and the pool {settings.pool:g}. Make the pool larger"
        document.add_error(("minimum_prize",), prize, "at most the pool", words)
    for name, weight in settings.weights.items():
        if not 0 <= weight < float("inf"):
            document.add_error(("weights", name), f"{weight:g}", "a number from 0 on")


def _check_source(document: Document, settings: TournamentSettings) -> None:
    """Note settings from which it is unclear whether forecasts come from a file or from a cohort."""
    if settings.forecasts is None and settings.cohort is None:
        document.add_error(("forecasts",), "nothing", "a CSV beside this file, or cohort: the number of one")
    if settings.cohort is not None and settings.forecasts is not None:
        words = "forecasts come from a file or from a cohort. Remove forecasts or cohort"
        document.add_error(("cohort",), f"{settings.cohort}", "no forecasts beside it", words)
    if settings.hidden is not None and settings.cohort is None:
        words = "hidden counts the rounds of a cohort. Write the column hidden_until in the CSV instead"
        document.add_error(("hidden",), f"{settings.hidden}", "only with cohort", words)


REQUIRED_COLUMNS = ("question", "forecaster")
FORECAST_COLUMNS = ("probability", "outcome")
QUESTION_TIMES = ("open", "close", "scheduled_close")
TIME_COLUMNS = ("time", "end", *QUESTION_TIMES, "hidden_until")
COLUMNS = (*REQUIRED_COLUMNS, *FORECAST_COLUMNS, "chance", "points", *TIME_COLUMNS)
POINTS_HINT = "write what a step of e earns: 100, or 50 of a number"
CHANCE_HINT = "write the probability, or density, that was given to what happened: a number above 0"


@dataclass(frozen=True, slots=True)
class TournamentForecasts:
    """The forecasts on questions that have ended, with the times from and until which each stood.

    `stated` is a probability of YES; if `outcome` is None it is the probability, or density, of the outcome,
    and `points` are the peer points of a natural-log step in it: 100, or 50 for a number.
    """

    questions: tuple[str, ...]
    forecaster: tuple[str, ...]
    left_out: int
    question: Ints
    who: Ints
    stated: Floats
    outcome: Floats | None
    start: Floats
    end: Floats
    opens: Floats
    closes: Floats
    scheduled: Floats
    hidden_until: Floats | None
    points: Floats | None = None


@dataclass(frozen=True, slots=True)
class PlayedTournament:
    """A tournament: its rules, and its forecasts."""

    rules: TournamentSettings
    entries: TournamentForecasts


def read_entries(name: str, text: str) -> TournamentForecasts:
    """Return the entries of a CSV text; raise `ArenaError` with line, column and a hint."""
    cells = text_cells(name, text, OurColumns(REQUIRED_COLUMNS, COLUMNS, {}))
    question, questions = read_names(cells, "question")
    who, forecasters = read_names(cells, "forecaster")
    stated, outcome = _read_probabilities(cells)
    is_ended = np.ones(stated.size, dtype=np.bool_)
    is_counted = is_ended
    if outcome is not None:
        is_ended = ~np.isnan(outcome)
        is_counted = is_scored(outcome)

    times = read_times(cells, TIME_COLUMNS, blank_columns=TIME_COLUMNS[1:])
    for column in (*QUESTION_TIMES, "hidden_until"):
        if column in times:
            check_same_by_question(cells, question, column, times[column])
    if outcome is not None:
        check_same_by_question(cells, question, "outcome", outcome)
    if times and not {"time", "close"} <= times.keys():
        missing = "close" if "time" in times else "time"
        what = f"{name}:1: there is a column {next(iter(times))} and none named {missing}"
        raise ArenaError("bad_file", what, f"add {missing}, or leave all times out")
    points = None
    if "points" in cells.columns:
        points = read_column(cells, "points", parse_positive, POINTS_HINT)
        check_same_by_question(cells, question, "points", points)
    check_question_times(cells, times, question, is_ended)
    check_duplicates(cells, question, who, times.get("time"))
    cells.faults.check()

    start, end = _standing_times(times, question, who)
    opens, closes, scheduled = _question_times(times, question, start)
    hidden_until = times.get("hidden_until")
    return TournamentForecasts(
        questions=questions,
        forecaster=forecasters,
        left_out=np.unique(question).size - np.unique(question[is_counted]).size,
        question=question[is_counted],
        who=who[is_counted],
        stated=stated[is_counted],
        outcome=None if outcome is None else outcome[is_counted],
        start=start[is_counted],
        end=end[is_counted],
        opens=opens[is_counted],
        closes=closes[is_counted],
        scheduled=scheduled[is_counted],
        hidden_until=None if hidden_until is None else hidden_until[is_counted],
        points=None if points is None else points[is_counted],
    )


def entries_text(entries: TournamentForecasts) -> str:
    """Return entries as CSV text, from which they can be read again."""
    rows: list[dict[str, str]] = []
    for place, question in enumerate(entries.question.tolist()):
        row = {
            "question": entries.questions[question],
            "forecaster": entries.forecaster[entries.who[place]],
            "time": _time_text(entries.start[place]),
            "end": _time_text(entries.end[place]),
            "open": _time_text(entries.opens[place]),
            "close": _time_text(entries.closes[place]),
            "scheduled_close": _time_text(entries.scheduled[place]),
        }
        stated = repr(float(entries.stated[place]))
        if entries.outcome is None:
            row["chance"] = stated
        else:
            row["probability"] = stated
            row["outcome"] = f"{entries.outcome[place]:g}"
        if entries.points is not None:
            row["points"] = f"{entries.points[place]:g}"
        if entries.hidden_until is not None:
            row["hidden_until"] = _time_text(entries.hidden_until[place])
        rows.append(row)

    names = [name for name in COLUMNS if rows and name in rows[0]]
    text = StringIO()
    writer = DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _time_text(seconds: float) -> str:
    """Return a time as CSV text; an empty text if it is not finite."""
    if not isfinite(seconds):
        return ""
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def _read_probabilities(cells: Cells) -> tuple[Floats, Floats | None]:
    """Return the stated probabilities, and the outcomes unless the column `chance` makes them unnecessary."""
    columns = {*FORECAST_COLUMNS, "chance"}.intersection(cells.columns)
    if columns == {"chance"}:
        return read_column(cells, "chance", parse_positive, CHANCE_HINT), None
    if columns != {*FORECAST_COLUMNS}:
        hint = "give the columns probability and outcome, or the column chance alone"
        raise ArenaError("bad_file", f"{cells.name}:1: it lacks what was forecast, or has it twice", hint)

    probability = read_column(cells, "probability", parse_share, PROBABILITY_HINT)
    return probability, read_column(cells, "outcome", parse_outcome, OUTCOME_HINT, allows_blank=True)


def _standing_times(times: dict[str, Floats], question: Ints, who: Ints) -> tuple[Floats, Floats]:
    """Return the times from and until which each forecast stood, at most until the next one."""
    start = times.get("time", np.zeros(question.size))
    own_end = times.get("end", np.full(question.size, np.nan))
    in_order = np.lexsort((start, who, question))
    next_start = np.full(question.size, np.inf)
    is_followed = (np.diff(question[in_order]) == 0) & (np.diff(who[in_order]) == 0)
    next_start[in_order[:-1]] = np.where(is_followed, start[in_order][1:], np.inf)
    # `fmin` takes the other time where one is NaN.
    return start, np.fmin(own_end, next_start)


def _question_times(times: dict[str, Floats], question: Ints, start: Floats) -> tuple[Floats, Floats, Floats]:
    """Return when each question opened, closed and was to close; without times, from 0 to 1."""
    if not times:
        return start, start + 1, start + 1

    first_forecast = np.full(int(question.max()) + 1, np.inf)
    np.minimum.at(first_forecast, question, start)
    closes = times["close"]
    return times.get("open", first_forecast[question]), closes, times.get("scheduled_close", closes)


def score_tournament(
    rules: TournamentSettings, entries: TournamentForecasts, mode: Mode = "exact"
) -> TournamentBoard:
    """Return the board of a tournament; raise `ArenaError` if its rules and forecasts don't fit."""
    _check_forecasts(rules, entries, mode)
    order = np.argsort(entries.question, kind="stable")
    question_starts = np.flatnonzero(np.diff(entries.question[order])) + 1
    scores = []
    weights = []
    for rows in np.split(order, question_starts):
        if rows.size:
            name = entries.questions[entries.question[rows[0]]]
            scores.append(_question_totals(rules, entries, rows, mode))
            weights.append(rules.weights.get(name, 1.0))

    if rules.form == "2022":
        return tournament_2022.board(scores, rules.pool)
    minimum_share = 0.0
    if rules.pool:
        minimum_share = rules.minimum_prize / rules.pool
    return tournament.board(
        scores,
        pool=rules.pool,
        minimum=minimum_share,
        excluded=rules.exclude,
        weights=weights,
    )


def _check_forecasts(rules: TournamentSettings, entries: TournamentForecasts, mode: Mode) -> None:
    """Raise `ArenaError` if rules need what the forecasts lack, or name somebody unknown."""
    if rules.form == "2022" and mode != "exact":
        raise ArenaError("no_mode", "a tournament of the form 2022 has one mode", "leave out --mode")
    if rules.hidden_weight is not None and entries.hidden_until is None:
        hint = f"add the column hidden_until to {rules.source}"
        if rules.cohort:
            hint = "add hidden: 2"
        raise ArenaError("no_hidden", "hidden_weight is given, and no question has a hidden period", hint)
    for key, rule_names, known_names in (
        ("exclude", rules.exclude, entries.forecaster),
        ("outside", rules.outside, entries.forecaster),
        ("weights", rules.weights, entries.questions),
    ):
        for name in rule_names:
            if name not in known_names:
                what = f"{key} names {name!r}, which is not in {rules.source}"
                raise ArenaError("unknown_name", what, "correct or remove the name")


def _question_totals(
    rules: TournamentSettings, entries: TournamentForecasts, rows: Ints, mode: Mode
) -> Totals:
    """Return everyone's score on one question."""
    first_row = rows[0]
    question = MetaculusQuestion(
        opens=float(entries.opens[first_row]),
        closes=float(entries.closes[first_row]),
        scheduled=float(entries.scheduled[first_row]),
    )
    who = np.array(entries.forecaster)[entries.who[rows]]
    base = ~np.isin(who, rules.outside)
    start = entries.start[rows]
    end = entries.end[rows]
    stated = entries.stated[rows]
    if entries.outcome is None:
        forecasts = chance_forecasts(who, start, stated, end, base)
        if entries.points is not None:
            forecasts = replace(forecasts, points=float(entries.points[first_row]))
    else:
        forecasts = binary(who, start, stated, bool(entries.outcome[first_row] == 1), end, base)

    hidden = None
    if entries.hidden_until is not None and not np.isnan(entries.hidden_until[first_row]):
        hidden = HiddenPeriod(float(entries.hidden_until[first_row]), rules.hidden_weight)
    if rules.form == "2022":
        return total_by_forecaster(forecasts, tournament_2022.score(question, forecasts, hidden))
    if hidden is None or hidden.weight is None:
        return total_by_forecaster(forecasts, peer.score(question, forecasts, mode))
    return _peer_totals_by_period(question, hidden.until, hidden.weight, forecasts, mode)


def _peer_totals_by_period(
    question: MetaculusQuestion, hidden_until: float, hidden_weight: float, forecasts: Forecasts, mode: Mode
) -> Totals:
    """Return peer scores and coverage over the hidden period and over the rest, weighted."""
    # The hidden period lies within the question's planned lifetime.
    hidden_until = min(max(hidden_until, question.opens), question.scheduled)
    ends = question.ends(mode)
    hidden_period = MetaculusQuestion(question.opens, min(ends, hidden_until), hidden_until)
    open_period = MetaculusQuestion(hidden_until, max(ends, hidden_until), question.scheduled)

    empty_totals = total_by_forecaster(forecasts, no_scores(len(forecasts.forecaster), mode))
    score = np.zeros(len(empty_totals.forecaster))
    coverage = np.zeros(score.size)
    is_compared = np.zeros(score.size, dtype=np.bool_)
    for period, period_weight in ((hidden_period, hidden_weight), (open_period, 1 - hidden_weight)):
        if period.life > 0:
            period_totals = total_by_forecaster(forecasts, peer.score(period, forecasts, mode))
            # NaN is the score of somebody who could not be compared in this period.
            score += np.nan_to_num(period_totals.score) * period_weight
            coverage += period_totals.coverage * period_weight
            is_compared |= ~np.isnan(period_totals.score)
    return replace(empty_totals, score=np.where(is_compared, score, np.nan), coverage=coverage)


@dataclass(frozen=True, slots=True)
class TournamentResult:
    """Everyone's place and prize, the rules they are based on, and notes on what was not scored."""

    form: str
    mode: Mode
    pool: float
    hidden_weight: float | None
    asked: int
    rows: tuple[TournamentPlace, ...]
    notes: Sequence[str]


def tournament_result(played: PlayedTournament, mode: Mode) -> TournamentResult:
    """Return the result of a tournament."""
    rules = played.rules
    entries = played.entries
    board = score_tournament(rules, entries, mode)

    notes = []
    without_hidden = _count_without_hidden_period(entries)
    if without_hidden:
        count = count_text(without_hidden, "question")
        notes.append(f"{count} opened after the hidden period: there time counts by its length")
    if entries.left_out:
        count = count_text(entries.left_out, "question")
        notes.append(f"not scored: {count} without an outcome of 0 or 1")
    if not board.places:
        notes.append("nothing resolved: no question has an outcome of 0 or 1, so nobody wins anything")
    elif not any(place.share for place in board.places):
        notes.append("no forecaster has a take above 0, so nobody wins anything")

    asked = len(set(entries.question.tolist()))
    return TournamentResult(
        rules.form, board.mode, rules.pool, rules.hidden_weight, asked, board.places, notes
    )


def _count_without_hidden_period(entries: TournamentForecasts) -> int:
    """Return the number of questions without a hidden period, if others have one."""
    if entries.hidden_until is None:
        return 0
    has_no_hidden_period = np.isnan(entries.hidden_until)
    return int(np.unique(entries.question[has_no_hidden_period]).size)


def prizes_by_weight(
    played: PlayedTournament, weights: Iterable[str], mode: Mode
) -> dict[str, dict[str, float]]:
    """Return everyone's prize by the hidden period's weight; raise `ArenaError` if there is none."""
    if played.entries.hidden_until is None:
        hint = "add a column hidden_until to its CSV or, with cohort, the key hidden"
        raise ArenaError("no_hidden", "--sweep needs a hidden period", hint, status=64)

    prizes: dict[str, dict[str, float]] = {}
    for weight in weights:
        rules = played.rules.model_copy(update={"hidden_weight": float(weight)})
        for place in score_tournament(rules, played.entries, mode).places:
            prizes.setdefault(place.forecaster, {})[weight] = place.prize
    return prizes
