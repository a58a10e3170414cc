"""A tournament from a file: its form and prizes, its forecasts, every question scored, the board."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from arena.config.document import Document, read
from arena.config.errors import ConfigErrors
from arena.config.validation import validate
from arena.errors import ArenaError
from arena.scores.files.csv_columns import (
    Cells,
    Floats,
    Ints,
    parse_cells,
    read_names,
    read_numbers,
    read_shares,
    read_times,
)
from arena.scores.files.forecasts import CHANCE, OUTCOME, one_of_each, question_lives, refuse_doubles
from arena.scores.rules.metaculus import peer, tournament, tournament_2022
from arena.scores.rules.metaculus.forecasts import Forecasts, given
from arena.scores.rules.metaculus.question import MetaculusQuestion, Mode
from arena.scores.rules.metaculus.question_types import binary
from arena.scores.rules.metaculus.totals import Totals, totals
from arena.scores.rules.metaculus.tournament import TournamentBoard
from arena.scores.rules.metaculus.tournament_2022 import HiddenPeriod

KEYS_BY_FORM = {"peer": ("minimum_prize", "exclude", "outside", "weights"), "2022": ("hidden_weight",)}
"""Keys that only one form has."""


class TournamentSettings(BaseModel):
    """What a tournament is played by."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    form: Literal["peer", "2022"] = Field(
        "peer", description="Peer scores with squared sums, or relative scores as of 2022."
    )
    forecasts: str = Field(description="The CSV of forecasts, beside this file.")
    pool: float = Field(0, ge=0, allow_inf_nan=False, description="What there is to win, in dollars.")
    minimum_prize: float = Field(
        0, ge=0, allow_inf_nan=False, description="Prizes under this are not paid; the others share them."
    )
    exclude: tuple[str, ...] = Field((), strict=False, description="Who keeps a score and wins nothing.")
    outside: tuple[str, ...] = Field(
        (), strict=False, description="Whom nobody is compared with, such as bots."
    )
    weights: dict[str, float] = Field({}, description="What a question counts, where that isn't 1.")
    hidden_weight: float | None = Field(
        None, ge=0, le=1, description="The weight of the time until hidden_until in coverage."
    )


def read_settings(path: Path) -> TournamentSettings:
    """The rules in a file; raises `ConfigErrors` with every mistake in them."""
    document = read(path)
    if isinstance(document.value.get("form"), int):
        document.value["form"] = str(document.value["form"])
    found = validate(TournamentSettings, document.value, document, (), ())
    if found is not None:
        _check_settings(document, found)
    if found is None or document.errors:
        raise ConfigErrors(document.errors)
    return found


def _check_settings(document: Document, found: TournamentSettings) -> None:
    for form, keys in KEYS_BY_FORM.items():
        for key in keys:
            if form != found.form and key in document.value:
                words = f"a tournament of the form {found.form} has no {key}. Take it out"
                document.add((key,), key, f"only with form: {form}", words)
    if found.minimum_prize > found.pool:
        words = (
            f"the smallest prize is {found.minimum_prize:g} and the pool {found.pool:g}. Make the pool larger"
        )
        document.add(("minimum_prize",), f"{found.minimum_prize:g}", "at most the pool", words)
    for name, weight in found.weights.items():
        if not 0 <= weight < float("inf"):
            document.add(("weights", name), f"{weight:g}", "a number from 0 on")


NEEDED = ("question", "forecaster")
SAID = ("probability", "outcome")
LIFE = ("open", "close", "scheduled_close")
TIMES = ("time", "end", *LIFE, "hidden_until")
COLUMNS = (*NEEDED, *SAID, "chance", *TIMES)
ALL_CHANCE = "write the probability, or density, that was given to what happened: a number above 0"


@dataclass(frozen=True, slots=True)
class TournamentForecasts:
    """The forecasts on questions that have ended, with the time that each stood from and until.

    `said` is a probability of YES; where `outcome` is None it is the chance, or density, that was given to
    what happened.
    """

    questions: tuple[str, ...]
    question: Ints
    forecaster: tuple[str, ...]
    who: Ints
    said: Floats
    outcome: Floats | None
    start: Floats
    end: Floats
    opens: Floats
    closes: Floats
    scheduled: Floats
    hidden_until: Floats | None
    left_out: int


def read_entries(name: str, text: str) -> TournamentForecasts:
    """The entries of a CSV text. Raises `ArenaError` with line, column and a hint."""
    given = parse_cells(name, text, NEEDED, COLUMNS)
    question, questions = read_names(given, "question")
    who, forecasters = read_names(given, "forecaster")
    said, outcome = _said(given)
    ended = np.ones(said.size, dtype=np.bool_) if outcome is None else ~np.isnan(outcome)
    found = read_times(given, [column for column in TIMES if column in given.columns], blank=TIMES[1:])
    own = {key: found.get(key) for key in (*LIFE, "hidden_until")} | {"outcome": outcome}
    for column, values in own.items():
        if values is not None:
            one_of_each(given, question, column, values)
    _enough(given, found)
    question_lives(given, found, question, ended)
    refuse_doubles(given, question, who, found.get("time"))
    start, end = _stood(given, found, question, who)
    opens, closes, scheduled = _life(found, question, start)
    counted = np.flatnonzero(ended if outcome is None else (outcome == 0) | (outcome == 1))
    hidden = found.get("hidden_until")
    return TournamentForecasts(
        questions=questions,
        question=question[counted],
        forecaster=forecasters,
        who=who[counted],
        said=said[counted],
        outcome=None if outcome is None else outcome[counted],
        start=start[counted],
        end=end[counted],
        opens=opens[counted],
        closes=closes[counted],
        scheduled=scheduled[counted],
        hidden_until=None if hidden is None else hidden[counted],
        left_out=np.unique(question).size - np.unique(question[counted]).size,
    )


def _said(given: Cells) -> tuple[Floats, Floats | None]:
    """What was said, and the outcomes unless it is read at them already."""
    has = [column for column in (*SAID, "chance") if column in given.columns]
    if has == ["chance"]:
        values = read_numbers(given, "chance", ALL_CHANCE)
        wrong = np.flatnonzero(values <= 0)
        if wrong.size:
            raise given.wrong(
                "chance", wrong, f"{given.shown('chance', wrong[0])} is not above 0", ALL_CHANCE
            )
        return values, None
    if has != [*SAID]:
        hint = "give the columns probability and outcome, or the column chance alone"
        raise ArenaError(
            "bad_file", f"{given.name}:1: it doesn't say what was forecast, or says it twice", hint
        )
    return read_shares(given, "probability", CHANCE), read_shares(given, "outcome", OUTCOME, blank=True)


def _enough(given: Cells, found: dict[str, Floats]) -> None:
    """Times of questions and of forecasts need each other."""
    if found and not {"time", "close"} <= found.keys():
        missing = "time" if "time" not in found else "close"
        what = f"{given.name}:1: there is a column {next(iter(found))} and none named {missing}"
        raise ArenaError("bad_file", what, f"add {missing}, or leave all times out")


def _stood(given: Cells, found: dict[str, Floats], question: Ints, who: Ints) -> tuple[Floats, Floats]:
    """From when until when each forecast stood: until its end, and no longer than the forecaster's next."""
    start = found.get("time", np.zeros(question.size))
    end = found.get("end", np.full(question.size, np.nan))
    wrong = np.flatnonzero(end < start)
    if wrong.size:
        what = f"{given.shown('end', wrong[0])} is before its time, {given.shown('time', wrong[0])}"
        raise given.wrong("end", wrong, what, "correct one of the two")
    order = np.lexsort((start, who, question))
    following = np.full(question.size, np.inf)
    same = (np.diff(question[order]) == 0) & (np.diff(who[order]) == 0)
    following[order[:-1]] = np.where(same, start[order][1:], np.inf)
    return start, np.fmin(end, following)


def _life(found: dict[str, Floats], question: Ints, start: Floats) -> tuple[Floats, Floats, Floats]:
    """When each question opened, closed and was to close; without times, from 0 to 1."""
    if not found:
        return start, start + 1, start + 1
    first = np.full(int(question.max()) + 1, np.inf)
    np.minimum.at(first, question, start)
    closes = found["close"]
    return found.get("open", first[question]), closes, found.get("scheduled_close", closes)


def score_tournament(
    rules: TournamentSettings, entries: TournamentForecasts, mode: Mode = "exact"
) -> TournamentBoard:
    """The board of a tournament."""
    _check_forecasts(rules, entries, mode)
    parts = list(_questions(entries))
    if rules.form == "2022":
        return tournament_2022.board([_of_2022(entries, rows, rules) for rows in parts], rules.pool)
    return tournament.board(
        [_of_peers(entries, rows, rules, mode) for rows in parts],
        pool=rules.pool,
        minimum=rules.minimum_prize / rules.pool if rules.pool else 0.0,
        excluded=rules.exclude,
        weights=[rules.weights.get(entries.questions[entries.question[rows[0]]], 1.0) for rows in parts],
    )


def _check_forecasts(rules: TournamentSettings, entries: TournamentForecasts, mode: Mode) -> None:
    if rules.form == "2022" and mode != "exact":
        raise ArenaError("no_mode", "a tournament of the form 2022 has one mode", "leave out --mode")
    if rules.hidden_weight is not None and entries.hidden_until is None:
        hint = f"add the column hidden_until to {rules.forecasts}"
        raise ArenaError("no_hidden", "hidden_weight is given, and no question has a hidden period", hint)
    for key, said, there in (
        ("exclude", rules.exclude, entries.forecaster),
        ("outside", rules.outside, entries.forecaster),
        ("weights", rules.weights, entries.questions),
    ):
        for name in said:
            if name not in there:
                what = f"{key} names {name!r}, who or which is not in {rules.forecasts}"
                raise ArenaError("unknown_name", what, "correct the name, or take it out")


def _questions(entries: TournamentForecasts) -> Iterator[Ints]:
    """The rows of each question."""
    order = np.argsort(entries.question, kind="stable")
    edges = np.flatnonzero(np.diff(entries.question[order])) + 1
    return (rows for rows in np.split(order, edges) if rows.size)


def _question(entries: TournamentForecasts, rows: Ints) -> MetaculusQuestion:
    one = rows[0]
    return MetaculusQuestion(*(float(x[one]) for x in (entries.opens, entries.closes, entries.scheduled)))


def _forecasts(entries: TournamentForecasts, rows: Ints, outside: tuple[str, ...] = ()) -> Forecasts:
    """The forecasts of one question, read at what happened."""
    who = [entries.forecaster[place] for place in entries.who[rows].tolist()]
    base = [name not in outside for name in who]
    start, end, said = entries.start[rows], entries.end[rows], entries.said[rows]
    if entries.outcome is None:
        return given(who, start, said, end, base)
    return binary(who, start, said, bool(entries.outcome[rows[0]] == 1), end, base)


def _of_peers(entries: TournamentForecasts, rows: Ints, rules: TournamentSettings, mode: Mode) -> Totals:
    forecasts = _forecasts(entries, rows, rules.outside)
    return totals(forecasts, peer.score(_question(entries, rows), forecasts, mode))


def _of_2022(entries: TournamentForecasts, rows: Ints, rules: TournamentSettings) -> Totals:
    forecasts, hidden = _forecasts(entries, rows), None
    if entries.hidden_until is not None and not np.isnan(entries.hidden_until[rows[0]]):
        hidden = HiddenPeriod(float(entries.hidden_until[rows[0]]), rules.hidden_weight)
    return totals(forecasts, tournament_2022.score(_question(entries, rows), forecasts, hidden))
