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
    found: dict[str, JoinedOutcome] = {}
    for row in outcomes:
        first = found.setdefault(row.question, row)
        if first.outcome != row.outcome:
            what = f"{row.outcome!r}, but the same question has {first.outcome!r} in {first.place.words}"
            fault = row.place.fault("outcome", what, "give a question one outcome")
            raise FileFaults([fault])

    question = cells.columns["question"]
    asked = used_texts(question)
    notes = _join_notes(name, "outcome", asked, found)
    _check_outcomes(cells, found)

    texts = _texts_by_question(question, found, "outcome")
    columns = dict(cells.columns)
    columns["outcome"] = _filled(cells, "outcome", texts)
    if _are_dated(cells, found) and "resolved" not in columns:
        resolved = _texts_by_question(question, found, "resolved")
        columns["resolved"] = text_column(resolved.texts, resolved.code)
    return replace(cells, columns=columns), notes


def _texts_by_question(question: TextColumn, found: Mapping[str, JoinedOutcome], name: str) -> TextColumn:
    """Return a field of outcomes as a column; an empty text for questions without one."""
    texts = tuple(getattr(found[key], name) if key in found else "" for key in question.texts)
    return TextColumn(texts, question.code)


def _are_dated(cells: Cells, found: Mapping[str, JoinedOutcome]) -> bool:
    """Tell whether all outcomes and forecasts have a date."""
    if "time" not in cells.columns or has_plain_times(cells, ["time"]):
        return False

    asked = used_texts(cells.columns["question"])
    joined = found.keys() & set(asked)
    if not joined:
        return False
    return all(found[key].resolved for key in joined)


def used_texts(column: TextColumn) -> list[str]:
    """Return the texts of a column that occur in some row."""
    used = np.flatnonzero(np.bincount(column.code))
    return [column.texts[place] for place in used.tolist()]


def _filled(cells: Cells, name: str, joined: TextColumn) -> TextColumn:
    """Return a column of forecasts with joined texts where it is empty."""
    own = cells.columns.get(name)
    if own is None:
        return text_column(joined.texts, joined.code)

    has_text = np.array(list(map(bool, own.texts)), dtype=np.bool_)[own.code]
    code = np.where(has_text, own.code + len(joined.texts), joined.code)
    return text_column([*joined.texts, *own.texts], code)


def _check_outcomes(cells: Cells, found: Mapping[str, JoinedOutcome]) -> None:
    """Raise `FileFaults` for invalid outcomes, and for those that contradict the forecasts' file."""
    question = cells.columns["question"]
    yes_no = set(used_texts(question.take(np.flatnonzero(~form_rows(cells)))))
    faults = []
    for key, row in found.items():
        if key in yes_no and row.outcome and _share(row.outcome) is None:
            what = f"{row.outcome[:40]!r} is not an outcome of {key[:40]!r}, whose forecasts have no option"
            faults.append(row.place.fault("outcome", what, "write 1 or yes, 0 or no, or a fraction"))
    if faults:
        raise FileFaults(by_cause(faults))

    own = cells.columns.get("outcome")
    if own is None:
        return
    codes = np.stack([question.code, own.code])
    _, first_rows = np.unique(codes, axis=1, return_index=True)
    other = []
    for row_number in first_rows.tolist():
        joined = found.get(question[row_number])
        if joined is not None and _differ(own[row_number], joined.outcome):
            other.append(row_number)

    def what_differs(row_number: int) -> str:
        joined = found[question[row_number]]
        where = f"{joined.place.file}, {joined.place.words}"
        return f"{cells.shown('outcome', row_number)}, but {joined.outcome!r} in {where}"

    cells.note_fault("outcome", other, what_differs, "correct one of them")
    cells.faults.check()


def _share(text: str) -> float | None:
    """Return a text as the outcome of a yes/no question; None if it is invalid."""
    try:
        return parse_outcome(text)
    except ValueError:
        return None


def _differ(own: str, joined: str) -> bool:
    """Tell whether two outcomes are both given and different."""
    if not own or not joined or own == joined:
        return False
    share = _share(own)
    if share is None:
        return True
    return share != _share(joined)


def read_outcomes(file: SourceFile, named: Mapping[str, str], *, provisional: bool) -> list[JoinedOutcome]:
    """Return the outcomes in a file: of a form, of a JSON object by key, or of a table."""
    data = _data_of(file)
    if data is not None and data.outcomes:
        newest = newest_outcomes(data.outcomes, provisional)
        return [_joined_outcome(file, outcome) for outcome in newest.values()]

    keyed = _keyed(file, "outcome")
    if keyed is None:
        return _outcomes_of_table(file, named)
    return [JoinedOutcome(row.key, row.cell("outcome"), row.cell(*RESOLVED), row.place) for row in keyed]


def _joined_outcome(file: SourceFile, outcome: SourceOutcome) -> JoinedOutcome:
    """Return a form's outcome as a cell."""
    place = outcome.place or SourceLine(file.name, 1)
    return JoinedOutcome(outcome.question, text_of(outcome.value), time_text(outcome.resolved), place)


def _table_of(
    file: SourceFile, needed: Sequence[str], more: Sequence[str], named: Mapping[str, str]
) -> Cells:
    """Return the cells of a table, whose columns may be named like those of the forecasts."""
    allowed = [*needed, *more]
    own = {column: theirs for column, theirs in named.items() if column in allowed}
    columns = OurColumns(needed, allowed, own, more, allowed)
    return file_cells(file, columns)


def _outcomes_of_table(file: SourceFile, named: Mapping[str, str]) -> list[JoinedOutcome]:
    """Return the outcomes in a table; for options, the one that happened."""
    cells = _table_of(file, OUTCOME_COLUMNS[:2], ("resolved", "option"), named)
    read_names(cells, "question")
    cells.faults.check()
    questions = cells.columns["question"]
    outcomes = cells.columns["outcome"]
    options = cells.column("option")
    resolved = cells.column("resolved")

    found = []
    for row in range(len(cells)):
        text = outcomes[row]
        option = options[row]
        if option:
            if _share(text) != 1:
                continue
            text = option

        found.append(JoinedOutcome(questions[row], text, resolved[row], cells.place(row)))
    return found


def _data_of(file: SourceFile) -> SourceData | None:
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


def _keyed(file: SourceFile, name: str) -> list[_KeyedFields] | None:
    """Return the fields of each key in a JSON object, which may be single values; None for other files."""
    start = file.data[:64].lstrip(b"\xef\xbb\xbf \t\r\n")
    if not start.startswith(b"{"):
        return None

    text = decode(file.name, file.data)
    whole = json_value(text.strip())
    if not isinstance(whole, Mapping) or "question" in whole:
        return None

    found = []
    for number, (key, value) in enumerate(whole.items(), 1):
        if isinstance(value, list):
            return None

        fields = value if isinstance(value, Mapping) else {name: value}
        found.append(_KeyedFields(key.strip(), fields, SourceLine(file.name, number, "object")))

    if not any(name in row.fields for row in found):
        return None
    return found


def _join_notes(name: str, what: str, asked: Sequence[str], found: Mapping[str, object]) -> list[str]:
    """Return notes on how many questions were joined; raise `ArenaError` if none was."""
    absent = [key for key in asked if key not in found]
    unused = list(found.keys() - set(asked))
    alike = _spelled_otherwise(absent, unused)
    joined = len(asked) - len(absent)

    if not joined:
        here = ", ".join(map(repr, absent[:MOST_SHOWN]))
        there = ", ".join(map(repr, sorted(unused)[:MOST_SHOWN]))
        hint = f"questions are called {here} in the forecasts, and {there or 'nothing'} in {name}"
        raise ArenaError("nothing_joined", f"{name} has no {what} of any question", hint)

    questions = count_text(len(asked), "question")
    note = f"{name}: {what}s of {joined:,} of {questions}"
    if absent:
        example = absent[0][:40]
        note += f"; none of {len(absent):,}, such as {example!r}"
    notes = [note]

    if alike:
        pairs = [f"{here[:40]!r} here, {there[:40]!r} there" for here, there in alike[:MOST_SHOWN]]
        notes.append(f"{name}: not joined, because spelled otherwise: {', '.join(pairs)}")
    return notes


def _spelled_otherwise(absent: Sequence[str], unused: Sequence[str]) -> list[tuple[str, str]]:
    """Return pairs of keys that differ only in capitals, blanks or dashes."""
    unused_by_plain = {_plain(key): key for key in unused}
    return [(key, unused_by_plain[_plain(key)]) for key in absent if _plain(key) in unused_by_plain]


def _plain(key: str) -> str:
    """Return a key without differences in spelling.

    >>> _plain("  Rain on  Monday")
    'rain on monday'
    """
    return " ".join(key.casefold().replace("_", " ").replace("-", " ").split())


def with_prices(cells: Cells, name: str, prices: Sequence[JoinedPrice]) -> tuple[Cells, list[str]]:
    """Return forecasts with a file's prices where they have none, and notes on what was joined.

    If both are dated, the newest price seen by the time of the forecast counts.
    """
    found = by_key(prices)
    priced = {question: None for question, _ in found}
    notes = _join_notes(name, "price", used_texts(cells.columns["question"]), priced)
    return join_prices(cells, found), notes


def by_key(prices: Iterable[JoinedPrice]) -> dict[tuple[str, str], list[JoinedPrice]]:
    """Return the prices of each question and option, sorted by the time they were seen."""
    found = defaultdict[tuple[str, str], list[JoinedPrice]](list)
    for price in sorted(prices, key=lambda price: price.seen or 0.0):
        found[price.question, price.option].append(price)
    return found


def join_prices(cells: Cells, found: Mapping[tuple[str, str], Sequence[JoinedPrice]]) -> Cells:
    """Return forecasts with the prices of `by_key` where they have none."""
    times = read_times(cells, ["time"], blank_columns=["time"]).get("time")
    texts = [""]
    code: Ints = np.zeros(len(cells), dtype=np.int64)
    for key, rows in _rows_by_key(cells):
        prices = found.get(key, ())
        if not prices:
            continue

        chosen = _prices_at(prices, None if times is None else times[rows])
        code[rows] = np.where(chosen < 0, 0, chosen + len(texts))
        texts += [price.price for price in prices]

    joined = TextColumn(tuple(texts), code)
    columns = dict(cells.columns)
    columns["market_probability"] = _filled(cells, "market_probability", joined)
    return replace(cells, columns=columns)


def _rows_by_key(cells: Cells) -> Iterable[tuple[tuple[str, str], Ints]]:
    """Yield the rows of each question, or of each of its options."""
    question = cells.columns["question"]
    option = cells.column("option")
    number = question.code * len(option.texts) + option.code
    order = np.argsort(number, kind="stable")
    starts = np.flatnonzero(np.diff(number[order])) + 1
    for rows in np.split(order, starts):
        first = int(rows[0])
        yield (question[first], option[first]), rows


def _prices_at(prices: Sequence[JoinedPrice], times: Floats | None) -> Ints:
    """Return the index of the price that counts at each time; −1 if none was seen yet.

    Raise `FileFaults` if several could count.
    """
    seen = np.array([price.seen for price in prices], dtype=np.float64)  # None is NaN
    if times is not None and not np.isnan(seen).any():
        at: Ints = np.searchsorted(seen, times, side="right") - 1
        return at

    different = {price.price for price in prices}
    if len(different) > 1:
        newest = prices[-1]
        what = f"there are {len(prices)} prices of {newest.question[:40]!r}, and no time says which counts"
        hint = "add a column time to the prices and to the forecasts, or leave one price of each question"
        raise FileFaults([newest.place.fault("market_probability", what, hint)])

    size = 1 if times is None else times.size
    return np.zeros(size, dtype=np.int64)


def read_prices(file: SourceFile, named: Mapping[str, str]) -> list[JoinedPrice]:
    """Return the prices in a file: of a form, of a JSON object by key, or of a table."""
    data = _data_of(file)
    if data is not None and (data.prices or data.forecasts):
        return prices_of(data)

    keyed = _keyed(file, "market_probability")
    if keyed is None:
        return _prices_of_table(file, named)

    found = []
    for row in keyed:
        seen = _seen(row.place, row.cell("time"))
        found.append(JoinedPrice(row.key, "", row.cell("market_probability"), seen, row.place))
    return _checked(found)


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
    cells = _table_of(file, PRICE_COLUMNS, ("option", "time"), named)
    read_names(cells, "question")
    hint = "write a probability from 0 to 1, such as 0.35 or 35%"
    read_column(cells, "market_probability", parse_share, hint, allows_blank=True)
    times = read_times(cells, ["time"]).get("time")
    cells.faults.check()

    questions = cells.columns["question"]
    prices = cells.columns["market_probability"]
    options = cells.column("option")
    found = []
    for row in range(len(cells)):
        cell = prices[row]
        if not cell:
            continue

        seen = None if times is None else float(times[row])
        text = cells.number_text(cell)
        found.append(JoinedPrice(questions[row], options[row], text, seen, cells.place(row)))
    return found


def _seen(place: SourceLine, text: str) -> float | None:
    """Return when a price was seen; raise `FileFaults` if that is no time."""
    if not text:
        return None
    try:
        return parse_time(text)
    except ValueError as error:
        fault = place.fault("time", f"{text[:40]!r} {error}", "write it like 2026-01-04T12:00")
        raise FileFaults([fault]) from None


def _checked(prices: Sequence[JoinedPrice]) -> list[JoinedPrice]:
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
