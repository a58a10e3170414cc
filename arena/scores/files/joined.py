"""Outcomes and prices from other files, joined to forecasts by question, or by question and option."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from arena.errors import ArenaError, FileFaults, by_cause, count_text
from arena.forms.csv_columns import (
    Cells,
    Floats,
    Ints,
    OurColumns,
    TextColumn,
    decode,
    file_cells,
    has_plain_times,
    json_value,
    parse_outcome,
    parse_share,
    parse_time,
    read_column,
    read_names,
    read_times,
    text_column,
)
from arena.forms.model import SourceData, SourceFile, SourceLine, SourceOutcome, SourcePrice
from arena.forms.sources.choose import choose_form, load_form
from arena.scores.files.question_forms import form_rows
from arena.scores.files.source_cells import newest_outcomes, text_of, time_text

OUTCOME_COLUMNS = ("question", "outcome", "resolved")
PRICE_COLUMNS = ("question", "market_probability")
RESOLVED = ("resolved", "resolved_at")
"""The field names for the time at which an outcome became known."""
MOST_SHOWN = 3
"""The number of unjoined keys that are shown."""


@dataclass(frozen=True, slots=True)
class JoinedOutcome:
    """The outcome of a question as a cell, when it became known, and its place."""

    question: str
    outcome: str
    resolved: str
    place: SourceLine


@dataclass(frozen=True, slots=True)
class JoinedPrice:
    """A market's probability of a question or option as a cell, when it was seen, and its place."""

    question: str
    option: str
    price: str
    seen: float | None
    place: SourceLine


def with_outcomes(cells: Cells, name: str, outcomes: Sequence[JoinedOutcome]) -> tuple[Cells, list[str]]:
    """Return forecasts with the outcomes of a file, and notes on how many questions were joined."""
    outcome_of: dict[str, JoinedOutcome] = {}
    for outcome in outcomes:
        first = outcome_of.setdefault(outcome.question, outcome)
        if first.outcome != outcome.outcome:
            what = f"{outcome.outcome!r}, but the same question has {first.outcome!r} in {first.place.words}"
            fault = outcome.place.fault("outcome", what, "give a question one outcome")
            raise FileFaults([fault])

    question = cells.columns["question"]
    questions_used = used_texts(question)
    notes = _join_notes(name, "outcome", questions_used, outcome_of)
    _check_outcomes(cells, outcome_of)

    texts = _texts_by_question(question, outcome_of, "outcome")
    columns = dict(cells.columns)
    columns["outcome"] = _filled_column(cells, "outcome", texts)
    if _are_dated(cells, outcome_of) and "resolved" not in columns:
        resolved = _texts_by_question(question, outcome_of, "resolved")
        columns["resolved"] = text_column(resolved.texts, resolved.code)
    return replace(cells, columns=columns), notes


def _texts_by_question(
    question: TextColumn, outcome_of: Mapping[str, JoinedOutcome], field: str
) -> TextColumn:
    """Return a field of outcomes as a column; an empty text for questions without one."""
    texts = tuple(getattr(outcome_of[key], field) if key in outcome_of else "" for key in question.texts)
    return TextColumn(texts, question.code)


def _are_dated(cells: Cells, outcome_of: Mapping[str, JoinedOutcome]) -> bool:
    """Tell whether all outcomes and forecasts have a date."""
    if "time" not in cells.columns or has_plain_times(cells, ["time"]):
        return False

    questions_used = used_texts(cells.columns["question"])
    joined_questions = outcome_of.keys() & set(questions_used)
    if not joined_questions:
        return False
    return all(outcome_of[key].resolved for key in joined_questions)


def used_texts(column: TextColumn) -> list[str]:
    """Return the texts of a column that occur in some row."""
    used_codes = np.flatnonzero(np.bincount(column.code))
    return [column.texts[code] for code in used_codes.tolist()]


def _filled_column(cells: Cells, name: str, joined: TextColumn) -> TextColumn:
    """Return a column of forecasts with joined texts where it is empty."""
    own_column = cells.columns.get(name)
    if own_column is None:
        return text_column(joined.texts, joined.code)

    has_text = np.array(list(map(bool, own_column.texts)), dtype=np.bool_)[own_column.code]

    # The own texts come after the joined ones, so their codes move up.
    code = np.where(has_text, own_column.code + len(joined.texts), joined.code)
    return text_column([*joined.texts, *own_column.texts], code)


def _check_outcomes(cells: Cells, outcome_of: Mapping[str, JoinedOutcome]) -> None:
    """Raise `FileFaults` for invalid outcomes, and for those that contradict the forecasts' file."""
    question = cells.columns["question"]
    yes_no_questions = set(used_texts(question.take(np.flatnonzero(~form_rows(cells)))))
    faults = []
    for question_name, outcome in outcome_of.items():
        if question_name in yes_no_questions and outcome.outcome and _yes_no_outcome(outcome.outcome) is None:
            shown = f"{outcome.outcome[:40]!r} is not an outcome of {question_name[:40]!r}"
            what = f"{shown}, whose forecasts have no option"
            faults.append(outcome.place.fault("outcome", what, "write 1 or yes, 0 or no, or a fraction"))
    if faults:
        raise FileFaults(by_cause(faults))

    own_column = cells.columns.get("outcome")
    if own_column is None:
        return

    # One row for each question with each of its own outcomes is enough to compare.
    codes = np.stack([question.code, own_column.code])
    _, first_rows = np.unique(codes, axis=1, return_index=True)
    contradicting_rows = []
    for row_number in first_rows.tolist():
        joined = outcome_of.get(question[row_number])
        if joined is not None and _outcomes_differ(own_column[row_number], joined.outcome):
            contradicting_rows.append(row_number)

    def what_differs(row_number: int) -> str:
        joined = outcome_of[question[row_number]]
        where = f"{joined.place.file}, {joined.place.words}"
        return f"{cells.shown('outcome', row_number)}, but {joined.outcome!r} in {where}"

    cells.note_fault("outcome", contradicting_rows, what_differs, "correct one of them")
    cells.faults.check()


def _yes_no_outcome(text: str) -> float | None:
    """Return a text as the outcome of a yes/no question; None if it is invalid."""
    try:
        return parse_outcome(text)
    except ValueError:
        return None


def _outcomes_differ(own: str, joined: str) -> bool:
    """Tell whether two outcomes are both given and different."""
    if not own or not joined or own == joined:
        return False
    own_outcome = _yes_no_outcome(own)
    if own_outcome is None:
        return True
    return own_outcome != _yes_no_outcome(joined)


def read_outcomes(file: SourceFile, named: Mapping[str, str], *, provisional: bool) -> list[JoinedOutcome]:
    """Return the outcomes in a file: of a form, of a JSON object by key, or of a table."""
    form_data = _read_in_form(file)
    if form_data is not None and form_data.outcomes:
        newest = newest_outcomes(form_data.outcomes, provisional)
        return [_joined_outcome(file, outcome) for outcome in newest.values()]

    keyed_fields = _read_json_object(file, "outcome")
    if keyed_fields is None:
        return _outcomes_of_table(file, named)
    return [
        JoinedOutcome(row.key, row.cell("outcome"), row.cell(*RESOLVED), row.place) for row in keyed_fields
    ]


def _joined_outcome(file: SourceFile, outcome: SourceOutcome) -> JoinedOutcome:
    """Return a form's outcome as a cell."""
    place = outcome.place or SourceLine(file.name, 1)
    return JoinedOutcome(outcome.question, text_of(outcome.value), time_text(outcome.resolved), place)


def _table_cells(
    file: SourceFile, required: Sequence[str], optional: Sequence[str], named: Mapping[str, str]
) -> Cells:
    """Return the cells of a table, whose columns may be named like those of the forecasts."""
    allowed = [*required, *optional]
    own_names = {column: theirs for column, theirs in named.items() if column in allowed}
    columns = OurColumns(required, allowed, own_names, optional, allowed)
    return file_cells(file, columns)


def _outcomes_of_table(file: SourceFile, named: Mapping[str, str]) -> list[JoinedOutcome]:
    """Return the outcomes in a table; for options, the one that happened."""
    cells = _table_cells(file, OUTCOME_COLUMNS[:2], ("resolved", "option"), named)
    read_names(cells, "question")
    cells.faults.check()
    questions = cells.columns["question"]
    outcomes = cells.columns["outcome"]
    options = cells.column("option")
    resolved = cells.column("resolved")

    joined = []
    for row in range(len(cells)):
        outcome = outcomes[row]
        option = options[row]
        if option:
            # A row of an option says whether that option happened.
            if _yes_no_outcome(outcome) != 1:
                continue
            outcome = option

        joined.append(JoinedOutcome(questions[row], outcome, resolved[row], cells.place(row)))
    return joined


def _read_in_form(file: SourceFile) -> SourceData | None:
    """Return the content of a file in a form; None for a plain table."""
    form = choose_form([file])
    if form is None:
        return None

    data = load_form(form.name).read([file])
    if data.faults:
        raise FileFaults(data.faults)
    return data


@dataclass(frozen=True, slots=True)
class _KeyedFields:
    """The fields of a key in a JSON object, and its place."""

    key: str
    fields: Mapping[str, Any]
    place: SourceLine

    def cell(self, *names: str) -> str:
        """Return the first of these fields that has a value as a cell; an empty text if none has."""
        for name in names:
            value = self.fields.get(name)
            if isinstance(value, bool):
                return str(int(value))
            if value is not None:
                return str(value)
        return ""


def _read_json_object(file: SourceFile, name: str) -> list[_KeyedFields] | None:
    """Return the fields of each key in a JSON object, which may be single values; None for other files."""
    start = file.data[:64].lstrip(b"\xef\xbb\xbf \t\r\n")
    if not start.startswith(b"{"):
        return None

    text = decode(file.name, file.data)
    content = json_value(text.strip())
    if not isinstance(content, Mapping) or "question" in content:
        return None

    keyed_fields = []
    for number, (key, value) in enumerate(content.items(), 1):
        if isinstance(value, list):
            return None

        fields = value if isinstance(value, Mapping) else {name: value}
        keyed_fields.append(_KeyedFields(key.strip(), fields, SourceLine(file.name, number, "object")))

    # An object without the wanted field in any of its values is something else.
    if not any(name in keyed.fields for keyed in keyed_fields):
        return None
    return keyed_fields


def _join_notes(
    name: str, what: str, questions_used: Sequence[str], joined_keys: Mapping[str, object]
) -> list[str]:
    """Return notes on how many questions were joined; raise `ArenaError` if none was."""
    not_joined = [key for key in questions_used if key not in joined_keys]
    unused = list(joined_keys.keys() - set(questions_used))
    spelled_otherwise = _spelled_otherwise(not_joined, unused)
    joined_count = len(questions_used) - len(not_joined)

    if not joined_count:
        here = ", ".join(map(repr, not_joined[:MOST_SHOWN]))
        there = ", ".join(map(repr, sorted(unused)[:MOST_SHOWN]))
        hint = f"questions are called {here} in the forecasts, and {there or 'nothing'} in {name}"
        raise ArenaError("nothing_joined", f"{name} has no {what} of any question", hint)

    questions = count_text(len(questions_used), "question")
    note = f"{name}: {what}s of {joined_count:,} of {questions}"
    if not_joined:
        example = not_joined[0][:40]
        note += f"; none of {len(not_joined):,}, such as {example!r}"
    notes = [note]

    if spelled_otherwise:
        pairs = [
            f"{here[:40]!r} here, {there[:40]!r} there" for here, there in spelled_otherwise[:MOST_SHOWN]
        ]
        notes.append(f"{name}: not joined, because spelled otherwise: {', '.join(pairs)}")
    return notes


def _spelled_otherwise(not_joined: Sequence[str], unused: Sequence[str]) -> list[tuple[str, str]]:
    """Return pairs of keys that differ only in capitals, blanks or dashes."""
    unused_by_plain = {_plain_spelling(key): key for key in unused}
    return [
        (key, unused_by_plain[_plain_spelling(key)])
        for key in not_joined
        if _plain_spelling(key) in unused_by_plain
    ]


def _plain_spelling(key: str) -> str:
    """Return a key without differences in spelling.

    >>> _plain_spelling("  Rain on  Monday")
    'rain on monday'
    """
    return " ".join(key.casefold().replace("_", " ").replace("-", " ").split())


def with_prices(cells: Cells, name: str, prices: Sequence[JoinedPrice]) -> tuple[Cells, list[str]]:
    """Return forecasts with a file's prices where they have none, and notes on what was joined.

    If both are dated, the newest price seen by the time of the forecast counts.
    """
    prices_of = prices_by_key(prices)
    priced_questions = {question: None for question, _ in prices_of}
    notes = _join_notes(name, "price", used_texts(cells.columns["question"]), priced_questions)
    return join_prices(cells, prices_of), notes


def prices_by_key(prices: Iterable[JoinedPrice]) -> dict[tuple[str, str], list[JoinedPrice]]:
    """Return the prices of each question and option, sorted by the time they were seen."""
    prices_of = defaultdict[tuple[str, str], list[JoinedPrice]](list)
    for price in sorted(prices, key=lambda price: price.seen or 0.0):
        prices_of[price.question, price.option].append(price)
    return prices_of


def join_prices(cells: Cells, prices_of: Mapping[tuple[str, str], Sequence[JoinedPrice]]) -> Cells:
    """Return forecasts with the prices of `prices_by_key` where they have none."""
    times = read_times(cells, ["time"], blank_columns=["time"]).get("time")
    texts = [""]
    text_code: Ints = np.zeros(len(cells), dtype=np.int64)
    for key, rows in _rows_by_key(cells):
        prices = prices_of.get(key, ())
        if not prices:
            continue

        price_index = _price_index_at(prices, None if times is None else times[rows])
        # Code 0 is the empty text, for rows without a price.
        text_code[rows] = np.where(price_index < 0, 0, price_index + len(texts))
        texts += [price.price for price in prices]

    joined = TextColumn(tuple(texts), text_code)
    columns = dict(cells.columns)
    columns["market_probability"] = _filled_column(cells, "market_probability", joined)
    return replace(cells, columns=columns)


def _rows_by_key(cells: Cells) -> Iterable[tuple[tuple[str, str], Ints]]:
    """Yield the rows of each question, or of each of its options."""
    question = cells.columns["question"]
    option = cells.column("option")
    key_number = question.code * len(option.texts) + option.code
    by_key = np.argsort(key_number, kind="stable")
    starts = np.flatnonzero(np.diff(key_number[by_key])) + 1
    for rows in np.split(by_key, starts):
        first = int(rows[0])
        yield (question[first], option[first]), rows


def _price_index_at(prices: Sequence[JoinedPrice], times: Floats | None) -> Ints:
    """Return the index of the price that counts at each time; −1 if none was seen yet.

    Raise `FileFaults` if several could count.
    """
    seen = np.array([price.seen for price in prices], dtype=np.float64)  # None is NaN
    if times is not None and not np.isnan(seen).any():
        newest_seen: Ints = np.searchsorted(seen, times, side="right") - 1
        return newest_seen

    different_prices = {price.price for price in prices}
    if len(different_prices) > 1:
        newest = prices[-1]
        what = f"there are {len(prices)} prices of {newest.question[:40]!r}, and no time says which counts"
        hint = "add a column time to the prices and to the forecasts, or leave one price of each question"
        raise FileFaults([newest.place.fault("market_probability", what, hint)])

    size = 1 if times is None else times.size
    return np.zeros(size, dtype=np.int64)


def read_prices(file: SourceFile, named: Mapping[str, str]) -> list[JoinedPrice]:
    """Return the prices in a file: of a form, of a JSON object by key, or of a table."""
    form_data = _read_in_form(file)
    if form_data is not None and (form_data.prices or form_data.forecasts):
        return prices_of(form_data)

    keyed_fields = _read_json_object(file, "market_probability")
    if keyed_fields is None:
        return _prices_of_table(file, named)

    prices = []
    for row in keyed_fields:
        seen = _seen_time(row.place, row.cell("time"))
        prices.append(JoinedPrice(row.key, "", row.cell("market_probability"), seen, row.place))
    return _checked_prices(prices)


def prices_of(data: SourceData) -> list[JoinedPrice]:
    """Return the prices in a form's files, including those next to forecasts."""
    prices = list(data.prices)
    for row in data.forecasts:
        if row.price is not None:
            prices.append(SourcePrice(row.question, row.price, seen=row.made, place=row.place))
        for option, chance in row.odds.items():
            prices.append(SourcePrice(row.question, chance, option, seen=row.made, place=row.place))
    return list(map(joined_price, prices))


def joined_price(price: SourcePrice) -> JoinedPrice:
    """Return a price as a cell."""
    seen = None if price.seen is None else price.seen.timestamp()
    place = price.place or SourceLine("prices", 1)
    return JoinedPrice(price.question, price.option, str(price.price), seen, place)


def _prices_of_table(file: SourceFile, named: Mapping[str, str]) -> list[JoinedPrice]:
    """Return the prices in a table."""
    cells = _table_cells(file, PRICE_COLUMNS, ("option", "time"), named)
    read_names(cells, "question")
    hint = "write a probability from 0 to 1, such as 0.35 or 35%"
    read_column(cells, "market_probability", parse_share, hint, allows_blank=True)
    times = read_times(cells, ["time"]).get("time")
    cells.faults.check()

    questions = cells.columns["question"]
    prices = cells.columns["market_probability"]
    options = cells.column("option")
    joined = []
    for row in range(len(cells)):
        cell = prices[row]
        if not cell:
            continue

        seen = None if times is None else float(times[row])
        text = cells.number_text(cell)
        joined.append(JoinedPrice(questions[row], options[row], text, seen, cells.place(row)))
    return joined


def _seen_time(place: SourceLine, text: str) -> float | None:
    """Return when a price was seen; raise `FileFaults` if that is no time."""
    if not text:
        return None
    try:
        return parse_time(text)
    except ValueError as error:
        fault = place.fault("time", f"{text[:40]!r} {error}", "write it like 2026-01-04T12:00")
        raise FileFaults([fault]) from None


def _checked_prices(prices: Sequence[JoinedPrice]) -> list[JoinedPrice]:
    """Return the prices that aren't empty; raise `FileFaults` for those that are no probabilities."""
    faults = []
    for price in prices:
        try:
            if price.price:
                parse_share(price.price)
        except ValueError as error:
            what = f"{price.price[:40]!r} {error}"
            faults.append(price.place.fault("market_probability", what, "write one from 0 to 1"))
    if faults:
        raise FileFaults(faults)
    return [price for price in prices if price.price]
