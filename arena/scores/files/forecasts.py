"""Forecasts as a consistent table: every question has one outcome and one lifetime."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from operator import attrgetter, itemgetter
from typing import Any

import numpy as np

from arena.errors import ArenaError, FileFault, FileFaults, count_text, first_names
from arena.forms.csv_columns import (
    Cells,
    Faults,
    Flags,
    Floats,
    Ints,
    OurColumns,
    check_same_by_question,
    column_of_texts,
    has_plain_times,
    number_column,
    parse_outcome,
    parse_share,
    read_column,
    read_names,
    read_times,
    text_cells,
)
from arena.forms.model import ChosenForm, PublishedFigure
from arena.scores.files.forecast_checks import QUESTION_TIMES, check_duplicates, check_question_times
from arena.scores.files.question_forms import (
    FORM_COLUMNS,
    FormQuestion,
    form_rows,
    own_event,
    read_forms,
    silent_rows,
)
from arena.scores.rules._columns import is_scored

REQUIRED_COLUMNS = ("question", "forecaster", "outcome")
TIME_COLUMNS = ("time", "end", *QUESTION_TIMES, "spot")
TEXT_COLUMNS = ("title", "reason")
"""Columns for display only: the wording of a question, and the reason for a forecast."""
COLUMNS = (
    *REQUIRED_COLUMNS,
    "probability",
    *TIME_COLUMNS,
    "event",
    "market_probability",
    "category",
    "owner",
    *FORM_COLUMNS,
    *TEXT_COLUMNS,
)

PROBABILITY_HINT = "write a probability of YES from 0 to 1, such as 0.35 or 35%"
OUTCOME_HINT = "write 1 or yes, 0 or no, or a fraction; leave it empty while the question is open"
MOST_NAMED = 5
"""The number of forecasters named in a note."""


@dataclass(frozen=True, slots=True)
class UnansweredQuestion:
    """A yes/no question that has ended and that nobody answered: its place and its category."""

    place: int
    category: str


@dataclass(frozen=True, slots=True)
class ForecastTable:
    """Forecasts as columns; questions, forecasters, events and categories are indices into their names.

    Rows are sorted by question, forecaster and time. `outcome` is NaN while a question is open, `market`
    where no price is known. Times are None if the file has no such column, and `dated` tells whether they are
    dates or plain numbers. `event_column` tells whether events come from the file; otherwise each question is
    its own event. `forms` are the questions other than yes/no, `ignored` the unread columns, and `notes` what
    else was left out. `as_of` is the newest time of a running record: a later outcome counts as open.

    Nobody is compared with the forecasters `outside`, unless others are named; if a file names `references`,
    these have no rank instead, and `unranked` says why others have none though they have rows. `owners` maps
    forecasters to their owners, if the file has them, and `option_of` is the number of the question that a
    row's option belongs to, if there are options.

    `unanswered` are questions without any row here. `titles` has the wording of questions, and `reason` the
    reason of each row as an index into `reasons`. `form` is the form that the files were read in, and
    `published` are the board's own figures. `skipped` counts faulty rows, and `faults` describes each cause.
    """

    name: str
    questions: tuple[str, ...]
    question: Ints
    forecasters: tuple[str, ...]
    forecaster: Ints
    probability: Floats
    outcome: Floats
    events: tuple[str, ...]
    event: Ints
    event_column: bool
    categories: tuple[str, ...]
    category: Ints | None
    market: Floats | None
    dated: bool
    time: Floats | None = None
    end: Floats | None = None
    open: Floats | None = None
    close: Floats | None = None
    scheduled_close: Floats | None = None
    resolved: Floats | None = None
    spot: Floats | None = None
    forms: tuple[FormQuestion, ...] = ()
    ignored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    as_of: float = math.inf
    outside: tuple[str, ...] = ()
    references: tuple[str, ...] | None = None
    unranked: Mapping[str, str] = field(default_factory=dict)
    owners: Mapping[str, str] = field(default_factory=dict)
    option_of: Ints | None = None
    unanswered: tuple[UnansweredQuestion, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    reason: Ints | None = None
    form: ChosenForm | None = None
    published: tuple[PublishedFigure, ...] = ()
    skipped: int = 0
    faults: tuple[FileFault, ...] = ()

    def where(self, wanted: Flags) -> "ForecastTable":
        """Return the wanted rows; without a copy if all are."""
        return self if wanted.all() else self.take(np.flatnonzero(wanted))

    def open_rows(self) -> Flags:
        """Return the rows that may still get an outcome; a question resolved without one was called off."""
        is_open: Flags = np.isnan(self.outcome)
        if self.resolved is not None:
            is_open &= np.isnan(self.resolved)
        return is_open

    def ended_rows(self, forecaster: str) -> Ints:
        """Return the rows of a forecaster whose questions ended in YES or NO."""
        place = self.forecasters.index(forecaster)
        is_own = self.forecaster == place
        return np.flatnonzero(is_own & is_scored(self.outcome))

    def take(self, rows: Ints, category: str | None = None) -> "ForecastTable":
        """Return some of the rows, and the other questions of one category; the names stay."""
        changes: dict[str, Any] = {}
        for column in fields(self):
            values = getattr(self, column.name)
            if isinstance(values, np.ndarray):
                changes[column.name] = values[rows]

        if category is not None:
            changes["forms"] = tuple(form for form in self.forms if form.category == category)
            changes["unanswered"] = tuple(own for own in self.unanswered if own.category == category)
        return replace(self, **changes)


def read_forecasts(name: str, text: str, named: Mapping[str, str] | None = None) -> ForecastTable:
    """Return the table of a text; `name` is its file's, and `named` maps our columns to the file's.

    Raise `ArenaError` with line, column and a hint.
    """
    return check_forecasts(text_cells(name, text, OurColumns(REQUIRED_COLUMNS, COLUMNS, named or {})))


def check_forecasts(cells: Cells) -> ForecastTable:
    """Return the table of a file's cells; raise `FileFaults` with everything that is wrong with them."""
    who, forecasters = read_names(cells, "forecaster")
    read_names(cells, "question")
    owners = _read_owners(cells, who, forecasters)
    titles = _read_titles(cells)

    is_form = form_rows(cells)
    _check_probabilities(cells, is_form)
    is_silent = silent_rows(cells)
    _check_some_answer(cells, is_silent)
    silent_cells = cells.take(np.flatnonzero(is_silent))

    # A row of options or numbers that states nothing still says that its question was asked.
    is_empty = is_silent & ~is_form
    empty_rows = cells.take(np.flatnonzero(is_empty))
    if is_empty.any():
        stated_rows = np.flatnonzero(~is_empty)
        cells = cells.take(stated_rows)
        who = who[stated_rows]
        is_form = is_form[stated_rows]

    times = read_times(cells, TIME_COLUMNS, blank_columns=TIME_COLUMNS[1:])
    has_dates = not has_plain_times(cells, times)
    if "end" in times and "time" not in times:
        cells.faults.add(1, "end", "it is there without a column time", "add time")

    other_questions: tuple[FormQuestion, ...] = ()
    if is_form.any():
        other_questions = _read_other_forms(cells, is_form, times)
        yes_no_rows = np.flatnonzero(~is_form)
        cells = cells.take(yes_no_rows)
        who = who[yes_no_rows]
        times = {key: values[yes_no_rows] for key, values in times.items()}

    table = _yes_no_table(cells, who, forecasters, times, has_dates)
    cells.faults.check()
    table = replace(table, forms=other_questions, owners=owners, titles=titles)
    if not is_silent.any():
        return table

    note = _unanswered_note(silent_cells)
    return with_unanswered(replace(table, notes=(*table.notes, note)), empty_rows)


def check_sound_forecasts(cells: Cells, skipped: Sequence[FileFault] = ()) -> ForecastTable:
    """Return the table of the rows without a fault; those with one count as unanswered.

    `skipped` are the faults of rows that were skipped before. Raise `ArenaError` if a fault concerns more
    than rows, or if no row is sound.
    """
    reported_faults = list(skipped)
    sound_cells = cells
    table: ForecastTable | None = None

    # The rows that are left may have faults that the earlier ones kept from being found.
    while table is None:
        try:
            table = check_forecasts(sound_cells)
        except FileFaults as error:
            is_faulty = _faulty_rows(sound_cells)
            if sound_cells.faults.whole or not is_faulty.any():
                raise
            if is_faulty.all():
                # If the rest is unanswered, the rows skipped before are those that can be corrected.
                faults = FileFaults(reported_faults or sound_cells.faults.told())
                hint = "correct the file: nothing is left to be scored"
                raise ArenaError("bad_file", f"no row is without a fault:\n{faults.message}", hint) from error

            reported_faults += sound_cells.faults.told()
            without_faults = replace(sound_cells, faults=Faults(sound_cells.name))
            sound_cells = without_faults.take(np.flatnonzero(~is_faulty))

    all_rows = np.arange(len(cells))
    faulty = np.setdiff1d(all_rows, sound_cells.whole_rows(np.arange(len(sound_cells))))
    table = replace(table, skipped=faulty.size, faults=tuple(reported_faults))
    return with_unanswered(table, cells.take(faulty))


def _faulty_rows(cells: Cells) -> Flags:
    """Return the rows that have a fault; a fault of one option spoils the whole forecast."""
    is_faulty = np.ones(len(cells), dtype=np.bool_)
    is_faulty[cells.sound()] = False
    if "option" not in cells.columns:
        return is_faulty

    forecast_of_row = _forecast_numbers(cells)
    fault_counts = np.bincount(forecast_of_row, is_faulty)
    is_of_faulty_forecast: Flags = fault_counts[forecast_of_row] > 0
    return is_of_faulty_forecast


def _forecast_numbers(cells: Cells) -> Ints:
    """Return the number of the forecast that each row belongs to; one of options has several rows."""
    keys = np.stack([cells.column(name).code for name in ("question", "forecaster", "time")])
    number: Ints = np.unique(keys, axis=1, return_inverse=True)[1]
    return number


def with_unanswered(table: ForecastTable, empty_cells: Cells) -> ForecastTable:
    """Return a table with the questions of rows that state nothing, if nobody else answered them.

    Rows with an option, a number, or an outcome other than 0 or 1 are not counted.
    """
    questions = list(table.questions)
    known_questions = {*questions, *map(attrgetter("name"), table.forms)}
    unanswered = list(table.unanswered)
    is_form = form_rows(empty_cells)
    categories = empty_cells.column("category")

    for row, question in enumerate(empty_cells.columns["question"]):
        is_new = question and question not in known_questions and empty_cells.columns["forecaster"][row]
        if is_new and not is_form[row] and _has_ended(empty_cells, row):
            unanswered.append(UnansweredQuestion(len(questions), categories[row]))
            questions.append(question)
            known_questions.add(question)
    notes = table.notes
    added = len(unanswered) - len(table.unanswered)
    if added and table.market is not None:
        notes = (*notes, f"not in skill: {count_text(added, 'question')} that nobody answered")
    return replace(table, questions=tuple(questions), unanswered=tuple(unanswered), notes=notes)


def _has_ended(cells: Cells, row: int) -> bool:
    """Tell whether the outcome of a row is 0 or 1."""
    try:
        return parse_outcome(cells.number_text(cells.columns["outcome"][row])) in (0, 1)
    except ValueError:
        return False


def _read_owners(cells: Cells, who: Ints, forecasters: tuple[str, ...]) -> dict[str, str]:
    """Return the owner of each forecaster, if the file has such a column."""
    if "owner" not in cells.columns:
        return {}
    owner, names = number_column(cells.columns["owner"])
    check_same_by_question(cells, who, "owner", owner, unit="forecaster")
    pairs = zip(who.tolist(), owner.tolist(), strict=True)
    return {forecasters[forecaster]: names[own] for forecaster, own in pairs}


def _read_titles(cells: Cells) -> dict[str, str]:
    """Return the wording of each question, if the file has it."""
    if "title" not in cells.columns:
        return {}
    pairs = zip(cells.columns["question"], cells.columns["title"], strict=True)
    return {question: title for question, title in pairs if title}


def _check_probabilities(cells: Cells, is_form: Flags) -> None:
    """Raise `FileFaults` if the file has no column for probabilities."""
    if "probability" not in cells.columns and not is_form.any():
        hint = (
            "add it, or say which it is: --columns probability=NAME; "
            "of numbers give cdf, density or quantiles q5, q50, …"
        )
        cells.faults.add(1, "", "there is no column probability", hint)
        cells.faults.check()


def _check_some_answer(cells: Cells, is_silent: Flags) -> None:
    """Raise `FileFaults` if no row of the file states anything."""
    if is_silent.all():
        cells.note_fault("probability", np.flatnonzero(is_silent), lambda _: "it is empty", PROBABILITY_HINT)
        cells.faults.check()


def _unanswered_note(unanswered_rows: Cells) -> str:
    """Return a note on the number of forecasts that state nothing, with their forecasters."""
    unanswered = set(
        zip(unanswered_rows.columns["forecaster"], unanswered_rows.columns["question"], strict=True)
    )
    counts = Counter(map(itemgetter(0), unanswered))
    forecasters = first_names([f"{name} {count:,}" for name, count in counts.most_common()], MOST_NAMED)
    return f"unanswered: {count_text(len(unanswered), 'forecast')} without a probability ({forecasters})"


def _read_other_forms(cells: Cells, is_form: Flags, times: Mapping[str, Floats]) -> tuple[FormQuestion, ...]:
    """Return the questions other than yes/no."""
    rows = np.flatnonzero(is_form)
    _check_one_form(cells, is_form)

    form_cells = cells.take(rows)
    form_times = {key: values[rows] for key, values in times.items()}
    is_ended = np.array(list(map(bool, form_cells.columns["outcome"])))
    question, _ = number_column(form_cells.columns["question"])
    check_question_times(form_cells, form_times, question, is_ended)
    return read_forms(form_cells, form_times)


def _check_one_form(cells: Cells, is_form: Flags) -> None:
    """Note questions that have options or a number in only some of their rows."""
    question = cells.columns["question"].code
    other_rows = np.flatnonzero(~is_form & np.isin(question, question[is_form]))

    def what(row: int) -> str:
        return f"{cells.shown('question', row)} has options or a number in other lines"

    cells.note_fault("question", other_rows, what, "give a question one form in all its lines")


def _yes_no_table(
    cells: Cells, who: Ints, forecasters: tuple[str, ...], times: dict[str, Any], dated: bool
) -> ForecastTable:
    """Return the table of the rows of yes/no questions."""
    columns = cells.columns
    question, questions = number_column(columns["question"])
    outcome = read_column(cells, "outcome", parse_outcome, OUTCOME_HINT, allows_blank=True)
    probability = outcome
    if len(cells):
        probability = read_column(cells, "probability", parse_share, PROBABILITY_HINT)

    market: Floats | None = None
    if "market_probability" in columns:
        market = read_column(cells, "market_probability", parse_share, PROBABILITY_HINT, allows_blank=True)
    event, events = _read_events(cells, question, questions)
    category, categories = _optional_names(cells, "category")
    reason, reasons = _optional_names(cells, "reason")

    # Duplicates come first: a key of several questions would otherwise be a fault of each row.
    order = check_duplicates(cells, question, who, times.get("time"))
    # What must be the same in all rows of a question.
    question_columns = {"outcome": outcome, "event": event, "category": category}
    question_columns |= {key: times.get(key) for key in (*QUESTION_TIMES, "spot")}
    for column, values in question_columns.items():
        if values is not None:
            check_same_by_question(cells, question, column, values)
    check_question_times(cells, times, question, ~np.isnan(outcome))

    return ForecastTable(
        name=cells.name,
        questions=questions,
        question=question,
        forecasters=forecasters,
        forecaster=who,
        probability=probability,
        outcome=outcome,
        events=events,
        event=event,
        event_column="event" in columns,
        categories=categories,
        category=category,
        market=market,
        dated=dated,
        ignored=cells.ignored,
        reasons=reasons,
        reason=reason,
        **times,
    ).take(order)


def _read_events(cells: Cells, question: Ints, questions: tuple[str, ...]) -> tuple[Ints, tuple[str, ...]]:
    """Return the event of each row; a question that names none is its own event."""
    if "event" not in cells.columns:
        return question, questions

    texts = []
    for text, place in zip(cells.columns["event"], question.tolist(), strict=True):
        texts.append(text or own_event(questions[place]))
    return number_column(column_of_texts(texts))


def _optional_names(cells: Cells, column: str) -> tuple[Ints | None, tuple[str, ...]]:
    """Return a column as indices into its names; None if the file lacks it."""
    if column not in cells.columns:
        return None, ()
    return number_column(cells.columns[column])
