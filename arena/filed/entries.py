"""The forecasts of a tournament: a table in which what is said may be a probability or a density."""

from dataclasses import dataclass

import numpy as np

from arena.errors import ArenaError
from arena.filed.cells import Cells, cells
from arena.filed.reading import Floats, Ints, names, numbers, shares, times
from arena.filed.table import CHANCE, OUTCOME, lived, no_doubles, one_of_each

NEEDED = ("question", "forecaster")
SAID = ("probability", "outcome")
LIFE = ("open", "close", "scheduled_close")
TIMES = ("time", "end", *LIFE, "hidden_until")
COLUMNS = (*NEEDED, *SAID, "chance", *TIMES)
ALL_CHANCE = "write the probability, or density, that was given to what happened: a number above 0"


@dataclass(frozen=True, slots=True)
class Entries:
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


def read(name: str, text: str) -> Entries:
    """The entries of a CSV text. Raises `ArenaError` with line, column and mend."""
    given = cells(name, text, NEEDED, COLUMNS)
    question, questions = names(given, "question")
    who, forecasters = names(given, "forecaster")
    said, outcome = _said(given)
    ended = np.ones(said.size, dtype=np.bool_) if outcome is None else ~np.isnan(outcome)
    found = times(given, [column for column in TIMES if column in given.columns], blank=TIMES[1:])
    own = {key: found.get(key) for key in (*LIFE, "hidden_until")} | {"outcome": outcome}
    for column, values in own.items():
        if values is not None:
            one_of_each(given, question, column, values)
    _enough(given, found)
    lived(given, found, question, ended)
    no_doubles(given, question, who, found.get("time"))
    start, end = _stood(given, found, question, who)
    opens, closes, scheduled = _life(found, question, start)
    counted = np.flatnonzero(ended if outcome is None else (outcome == 0) | (outcome == 1))
    hidden = found.get("hidden_until")
    return Entries(
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
        values = numbers(given, "chance", ALL_CHANCE)
        wrong = np.flatnonzero(values <= 0)
        if wrong.size:
            raise given.wrong(
                "chance", wrong, f"{given.shown('chance', wrong[0])} is not above 0", ALL_CHANCE
            )
        return values, None
    if has != [*SAID]:
        mend = "give the columns probability and outcome, or the column chance alone"
        raise ArenaError(
            "bad_file", f"{given.name}:1: it doesn't say what was forecast, or says it twice", mend
        )
    return shares(given, "probability", CHANCE), shares(given, "outcome", OUTCOME, blank=True)


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
