"""ForecastBench's published files: question sets, resolution sets, and what forecasters filed.

Read are today's forms and those since 2024: headers with `question-set`, individual forecasters with a
`user_id`, processed files that carry their resolutions, questions about two others at once ("combinations").
Reading collects every fault with its row, field and remedy; nothing is corrected in silence. Only text comes
in: files are read where commands are.
"""

import csv
import io
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from typing import Any

from arena.errors import ArenaError, FileFault, FileFaults, count_text
from markets.hashes import keys_once

MARKET_SOURCES = frozenset({"infer", "kalshi", "manifold", "metaculus", "polymarket", "rfi"})
"""Sources whose questions end once. All others are series of data, asked at several horizons."""
HALVES = ("dataset", "market")
"""What questions of the two sorts are called together."""
NOTHING = "N/A"
"""How the files say that there is nothing."""
QUESTION_FIELDS = (
    "id", "source", "question", "resolution_criteria", "background", "market_info_open_datetime",
    "market_info_close_datetime", "market_info_resolution_criteria", "url", "freeze_datetime",
    "freeze_datetime_value", "freeze_datetime_value_explanation", "source_intro",
)  # fmt: skip
FORECAST_FIELDS = frozenset({
    "id", "source", "forecast", "resolution_date", "reasoning", "direction", "user_id", "searches",
    "consulted_urls", "resolved_to", "resolved", "imputed", "market_value_on_due_date",
    "market_value_on_due_date_minus_one",
})  # fmt: skip

Asked = tuple[str, str, str | None]
"""What one forecast is about: source, id, and the resolution date of a data question."""


@dataclass(frozen=True, slots=True)
class BenchQuestion:
    """A question of a set. `dates` are the horizons of a data question, none for a market.

    `texts` holds what the file says, field by field.
    """

    source: str
    id: str
    dates: tuple[str, ...]
    combined: bool
    texts: Mapping[str, Any] = field(hash=False)

    @property
    def is_market(self) -> bool:
        """Whether it ends once, and not at given dates."""
        return not self.dates

    @property
    def asked(self) -> list[Asked]:
        """The forecasts that it wants."""
        return [(self.source, name, day) for name in self.ids for day in self.dates or (None,)]

    @property
    def ids(self) -> list[str]:
        """Its id; of a combination one for each way in which both questions may end."""
        if not self.combined:
            return [self.id]
        return [combination_id(self.texts["id"], [one, two]) for one in (1, -1) for two in (1, -1)]

    @property
    def freeze_probability(self) -> float | None:
        """What a market's crowd said when the set was frozen."""
        return None if self.dates else share_in(self.texts["freeze_datetime_value"])


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """The questions of a round, in the file's order."""

    name: str
    due: str
    questions: tuple[BenchQuestion, ...]


@dataclass(frozen=True, slots=True)
class BenchResolution:
    """What a question came to at a date: for a market that is open yet, the crowd's probability."""

    source: str
    id: str
    date: str
    value: float
    resolved: bool


@dataclass(frozen=True, slots=True)
class ResolutionSet:
    """The resolutions of a round, as of some day; `combinations` were left out, `empty` have no value."""

    name: str
    due: str
    rows: tuple[BenchResolution, ...]
    combinations: int = 0
    empty: int = 0


@dataclass(frozen=True, slots=True)
class BenchForecast:
    """One forecast; `row` is its place in the file. What only processed files say is None elsewhere.

    A `forecast` that is no probability is NaN: the file then has a fault, and is not scored. `noted` is the
    day at which a processed file looked at a market.
    """

    row: int
    source: str
    id: str
    date: str | None
    forecast: float
    user: str | None = None
    value: float | None = None
    resolved: bool | None = None
    imputed: bool = False
    crowd: float | None = None
    noted: str | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ForecastFile:
    """What one forecaster filed for a round, or many individuals; `combinations` were left out."""

    file: str
    organization: str
    model: str
    lab: str
    question_set: str
    due: str
    rows: tuple[BenchForecast, ...]
    combinations: int = 0
    unanswered: int = 0


def forecaster_names(files: Iterable[ForecastFile]) -> dict[tuple[str, str], str]:
    """What each is called, by model and organization: the model, and who filed where two filed the same."""
    models = {(one.model, one.organization) for one in files}
    twice = Counter(model for model, _ in models)
    return {(model, who): model if twice[model] == 1 else f"{model} ({who})" for model, who in models}


def read_question_set(
    file: str, text: str, combinations: bool = False
) -> tuple[QuestionSet, list[FileFault]]:
    """A question set, and what is wrong with it. Combinations are left out unless they are wanted."""
    reader = _Reader(file, "questions")
    data = reader.document(text)
    questions: dict[tuple[str, str], BenchQuestion] = {}
    for row, item in reader.rows(data):
        found = _question(reader, row, item)
        if found is None or (found.combined and not combinations):
            continue
        if (found.source, found.id) in questions:
            reader.fault(row, "id", f"{found.id!r} of {found.source} appears twice", "keep one of them")
        questions[found.source, found.id] = found
    name, due = reader.header(data, "question_set"), reader.due(data)
    return QuestionSet(name, due, tuple(questions.values())), reader.faults


def _question(reader: "_Reader", row: int, item: Mapping[str, Any]) -> BenchQuestion | None:
    key = reader.key(row, item)
    absent = [name for name in QUESTION_FIELDS if name not in item]
    for name in absent:
        reader.fault(row, name, "it is missing", f'say "{NOTHING}" where there is none')
    days = item.get("resolution_dates", NOTHING)
    dates = () if days == NOTHING else tuple(days) if isinstance(days, list) else (str(days),)
    for day in dates:
        if not is_day(day):
            reader.fault(row, "resolution_dates", f"{day!r} is not a day", "write it like 2026-03-08")
    if key is None or absent:
        return None
    return BenchQuestion(*key, dates, isinstance(item["id"], list), item)


def read_resolution_set(
    file: str, text: str, combinations: bool = False
) -> tuple[ResolutionSet, list[FileFault]]:
    """A resolution set, and what is wrong with it."""
    reader = _Reader(file, "resolutions")
    data = reader.document(text)
    rows: dict[Asked, BenchResolution] = {}
    left = empty = 0
    for row, item in reader.rows(data):
        if isinstance(item.get("id"), list) and not combinations:
            left += 1
            continue
        key, day = reader.key(row, item), reader.day(row, item.get("resolution_date"))
        resolved = item.get("resolved")
        if not isinstance(resolved, bool):
            reader.fault(row, "resolved", f"{resolved!r} is neither true nor false", "say which")
        value = item.get("resolved_to")
        if is_nothing(value):
            empty += 1
            continue
        share = reader.share(row, "resolved_to", value)
        if key is None or day is None or share is None:
            continue
        if (*key, day) in rows:
            reader.fault(row, "id", f"{key[1]!r} of {key[0]} is resolved at {day} twice", "keep one")
        rows[(*key, day)] = BenchResolution(*key, day, share, bool(resolved))
    name, due = reader.header(data, "question_set", "question-set"), reader.due(data)
    return ResolutionSet(name, due, tuple(rows.values()), left, empty), reader.faults


def read_forecast_file(
    file: str, text: str, combinations: bool = False
) -> tuple[ForecastFile, list[FileFault]]:
    """A file of forecasts, and what is wrong with it as such: whether it answers a set is `check_answers`."""
    reader = _Reader(file, "forecasts")
    data = reader.document(text)
    taken: dict[tuple[str | None, Asked], BenchForecast] = {}
    left = unanswered = 0
    for row, item in reader.rows(data):
        if isinstance(item.get("id"), list) and not combinations:
            left += 1
            continue
        if is_nothing(item.get("forecast", "")) and "resolved" in item:
            unanswered += 1
            continue
        found = _forecast(reader, row, item)
        if found is None:
            continue
        key = found.user, (found.source, found.id, found.date)
        earlier = taken.setdefault(key, found)
        if found.noted != earlier.noted and found.forecast == earlier.forecast:
            taken[key] = max(earlier, found, key=lambda one: one.noted or "")
        elif earlier is not found:
            what = f"{found.id!r} of {found.source} is answered in row {earlier.row} already"
            reader.fault(row, "id", what, "keep one of them")
    header = reader.header
    return ForecastFile(
        file,
        organization=header(data, "organization"),
        model=header(data, "model"),
        lab=str(data.get("model_organization") or data.get("organization") or ""),
        question_set=header(data, "question_set", "question-set"),
        due=reader.due(data),
        rows=tuple(taken.values()),
        combinations=left,
        unanswered=unanswered,
    ), reader.faults


def _forecast(reader: "_Reader", row: int, item: Mapping[str, Any]) -> BenchForecast | None:
    unknown = () if "resolved" in item else item.keys() - FORECAST_FIELDS
    for name in unknown:
        reader.fault(row, str(name), "there is no such field", "remove it or correct its name")
    key = reader.key(row, item)
    if "forecast" not in item:
        reader.fault(row, "forecast", "it is missing", "write a probability from 0 to 1, such as 0.35")
    share = reader.share(row, "forecast", item["forecast"]) if "forecast" in item else None
    reasoning = item.get("reasoning")
    if not (reasoning is None or isinstance(reasoning, str)):
        reader.fault(row, "reasoning", "it is not a text", "write a text or null")
    day = item.get("resolution_date")
    if is_nothing(day) or day == NOTHING:
        day = None
    elif (day := reader.day(row, day)) is None:
        return None
    if key is None:
        return None
    resolved, value, user = item.get("resolved"), item.get("resolved_to"), item.get("user_id")
    at_due = item.get("market_value_on_due_date")
    processed = isinstance(resolved, bool)
    noted = None
    if processed and key[0] in MARKET_SOURCES:
        day, noted = None, day
    return BenchForecast(
        row, *key, day, math.nan if share is None else share,
        user=None if user is None else str(user),
        value=reader.share(row, "resolved_to", value) if processed and not is_nothing(value) else None,
        resolved=resolved if processed else None,
        imputed=item.get("imputed") is True,
        crowd=share_in(at_due),
        noted=noted,
        reason=reasoning if isinstance(reasoning, str) else "",
    )  # fmt: skip


ANSWER_COLUMNS = ("source", "id", "resolution_date", "forecast", "reasoning")


@dataclass(frozen=True, slots=True)
class Submitter:
    """Who files forecasts: the team, its model and whose that is, and which of the team's files it is."""

    organization: str
    model: str
    lab: str
    number: int = 1


def submission(
    file: str, text: str, by: Submitter, asked: QuestionSet
) -> tuple[dict[str, Any], ForecastFile, list[FileFault]]:
    """A file in the published form from a CSV of answers, and all that is wrong with it."""
    lines = csv.DictReader(io.StringIO(text, newline=""))
    columns = tuple(lines.fieldnames or ())
    absent = [name for name in ANSWER_COLUMNS[:-1] if name not in columns]
    unknown = [name for name in columns if name not in ANSWER_COLUMNS]
    if absent or unknown:
        what = f"there is no column {absent[0]}" if absent else f"column {unknown[0]!r} is unknown"
        raise ArenaError("bad_file", f"{file}:1: {what}", f"its columns are {', '.join(ANSWER_COLUMNS)}")
    answers = list(lines)
    hint = "put texts with commas in quotes"
    torn = [
        FileFault(file, "row", "it has more cells than the first line", hint, part="forecasts", row=row)
        for row, cells in enumerate(answers, 1)
        if None in cells
    ]
    data = {
        "organization": by.organization,
        "model": by.model,
        "model_organization": by.lab,
        "question_set": asked.name,
        "forecast_due_date": asked.due,
        "forecasts": [_answer(cells) for cells in answers],
    }
    filed, faults = read_forecast_file(file, json.dumps(data))
    return data, filed, in_row_order([*torn, *faults, *check_answers(filed, asked)])


def _answer(cells: Mapping[str, str]) -> dict[str, Any]:
    """A row of the published form; what is no number stays as it is, and is a fault."""
    said = (cells["forecast"] or "").strip()
    try:
        forecast: float | str = float(said)
    except ValueError:
        forecast = said
    return {
        "id": cells["id"],
        "source": cells["source"],
        "forecast": forecast,
        "resolution_date": cells["resolution_date"] or None,
        "reasoning": cells.get("reasoning") or None,
    }


def check_answers(filed: ForecastFile, asked: QuestionSet) -> Iterator[FileFault]:
    """What is wrong with a file as an answer to a set: ids, dates, and how much is missing."""
    if filed.due != asked.due:
        hint = f'write "{asked.due}", or check it against its own question set'
        yield FileFault(filed.file, "forecast_due_date", f"it is not {asked.due}, as of the set", hint)
    if filed.question_set != asked.name:
        yield FileFault(filed.file, "question_set", f"it is not {asked.name}", f'write "{asked.name}"')
    questions = {(question.source, question.id): question for question in asked.questions}
    for one in filed.rows:
        found = _answer_fault(one, questions.get((one.source, one.id)), asked.name)
        if found is not None:
            yield FileFault(filed.file, *found, part="forecasts", row=one.row)
    if all(one.user is None for one in filed.rows):
        answered = {(x.source, x.id, x.date) for x in filed.rows if not math.isnan(x.forecast)}
        for kind, (have, wanted) in coverage(answered, asked).items():
            if wanted and have < LEAST_ANSWERED * wanted:
                what = f"{have} of {count_text(wanted, f'{kind} row')} are answered, {have / wanted:.1%}"
                yield FileFault(filed.file, "forecasts", what, "at least 95% of each half are needed")


def in_row_order(faults: Iterable[FileFault]) -> list[FileFault]:
    """What is wrong with a whole file, then row by row."""
    return sorted(faults, key=lambda one: one.row or 0)


LEAST_ANSWERED = 0.95
"""Of the market rows and of the data rows: a submission below is dropped."""


def coverage(answered: "set[Asked]", asked: QuestionSet) -> dict[str, tuple[int, int]]:
    """How many rows of each half are answered, and how many there are."""
    halves: dict[str, tuple[int, int]] = {}
    for kind, market in (("market", True), ("dataset", False)):
        wanted = [row for q in asked.questions if q.is_market == market for row in q.asked]
        halves[kind] = sum(row in answered for row in wanted), len(wanted)
    return halves


def _answer_fault(
    one: BenchForecast, question: BenchQuestion | None, name: str
) -> tuple[str, str, str] | None:
    if question is None:
        return "id", f"{one.id!r} of {one.source} is not in {name}", "remove the row or correct id or source"
    if question.is_market and one.date is not None:
        what = f"{one.date} is given, but {one.source} is a market, which is asked once"
        return "resolution_date", what, "write null"
    if question.dates and one.date is None:
        return (
            "resolution_date",
            "there is none, and the question has several",
            f"one of {question.dates[0]} …",
        )
    if question.dates and one.date not in question.dates:
        return (
            "resolution_date",
            f"{one.date} is not asked",
            f"one of {', '.join(question.dates)}",
        )
    return None


def is_nothing(value: object) -> bool:
    """Whether a cell is empty: null, or what is no number."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def share_in(value: object) -> float | None:
    """A value, or the text of one, if it is a probability.

    >>> share_in("0.051"), share_in("910776.0"), share_in("No"), share_in(None), share_in(0.5)
    (0.051, None, None, None, 0.5)
    """
    if not isinstance(value, int | float | str) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if 0 <= number <= 1 else None


@lru_cache(maxsize=4096)
def is_day(text: object) -> bool:
    """Whether a text is a day.

    >>> is_day("2026-03-08"), is_day("2026-3-8"), is_day("2026-02-30")
    (True, False, False)
    """
    if not isinstance(text, str) or len(text) != 10:
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


HALF_LETTER = re.compile(r"\\u[dD][89a-fA-F]")


class _Reader:
    """Reads one file, and collects what is wrong with it."""

    def __init__(self, file: str, part: str):
        self.file, self.part = file, part
        self.faults: list[FileFault] = []

    def fault(self, row: int | None, name: str, message: str, hint: str) -> None:
        self.faults.append(FileFault(self.file, name, message, hint, part=self.part if row else "", row=row))

    def document(self, text: str) -> dict[str, Any]:
        """The object in the file. What is no JSON can't be read at all."""
        try:
            data = json.loads(text.removeprefix("\ufeff"), object_pairs_hook=keys_once)
        except json.JSONDecodeError as error:
            where = f"{self.file}:{error.lineno}:{error.colno}"
            raise ArenaError(
                "bad_file", f"{where}: this is not JSON: {error.msg}", "save it as JSON"
            ) from error
        except ValueError as error:  # a key that appears twice, or a number of thousands of digits
            hint = "write every key once, and probabilities from 0 to 1"
            raise ArenaError("bad_file", f"{self.file} can't be read: {error}", hint) from error
        except RecursionError as error:
            raise ArenaError("bad_file", f"{self.file} is nested too deeply", "save it anew") from error
        if HALF_LETTER.search(text) and any(
            "\ud800" <= one <= "\udfff" for one in json.dumps(data, ensure_ascii=False)
        ):
            what = f"{self.file}: a text in it is not Unicode: half of a letter, \\ud8…"
            raise ArenaError("bad_file", what, "write it again with whole letters")
        if not isinstance(data, dict) or not isinstance(data.get(self.part), list):
            what = f"{self.file}: it has no list {self.part!r}"
            raise ArenaError("bad_file", what, f'the file is an object with a list "{self.part}"')
        return data

    def rows(self, data: Mapping[str, Any]) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """The rows that are objects, with their places from 1."""
        for row, item in enumerate(data[self.part], 1):
            if isinstance(item, dict):
                yield row, item
            else:
                self.fault(row, "row", f"{_short(item)} is not an object", "write it in braces")
        if not data[self.part]:
            self.fault(None, self.part, "there is none", "add the rows")

    def header(self, data: Mapping[str, Any], *names: str) -> str:
        """The text of the first of these fields that there is."""
        for name in names:
            if isinstance(value := data.get(name), str) and value.strip():
                return value
            if name in data:
                self.fault(None, name, f"{_short(value)} is not a name", "write a text")
                return ""
        self.fault(None, names[0], "it is missing", "add it")
        return ""

    def due(self, data: Mapping[str, Any]) -> str:
        """The day that forecasts were due."""
        value = data.get("forecast_due_date")
        if is_day(value if isinstance(value, str) else None):
            return str(value)
        what = f"{_short(value)} is not a day" if "forecast_due_date" in data else "it is missing"
        self.fault(None, "forecast_due_date", what, "write it like 2026-03-01")
        return ""

    def key(self, row: int, item: Mapping[str, Any]) -> tuple[str, str] | None:
        """Source and id; of a combination, both ids and their directions."""
        source, name = item.get("source"), item.get("id")
        if isinstance(name, list) and len(name) == 2 and all(isinstance(one, str) for one in name):
            name = combination_id(name, item.get("direction"))
        for field_name, value in (("source", source), ("id", name)):
            if not isinstance(value, str) or not value.strip():
                what = f"{_short(value)} is not a name" if field_name in item else "it is missing"
                self.fault(row, field_name, what, "copy it from the question set")
        return (
            (source, name) if isinstance(source, str) and isinstance(name, str) and source and name else None
        )

    def day(self, row: int, value: object) -> str | None:
        """A day of a row."""
        text = value[:10] if isinstance(value, str) and value[10:11] in ("T", " ") else value
        if isinstance(text, str) and is_day(text):
            return text
        self.fault(row, "resolution_date", f"{_short(value)} is not a day", "write it like 2026-03-08")
        return None

    def share(self, row: int, name: str, value: object) -> float | None:
        """A probability."""
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
            return float(value)
        what = f"{_short(value)} is not a number from 0 to 1"
        self.fault(row, name, what, "write a probability from 0 to 1, such as 0.35")
        return None


def combination_id(ids: Sequence[str], direction: object) -> str:
    """One name for two questions and how both are to end.

    >>> combination_id(["a", "b"], [1, -1]), combination_id(["a", "b"], None)
    ('a & not b', 'a & b')
    """
    ways = direction if isinstance(direction, list) and len(direction) == 2 else [1, 1]
    return " & ".join(f"{'not ' if way == -1 else ''}{one}" for one, way in zip(ids, ways, strict=True))


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 40 else f"{text[:39]}…"


Reading = Callable[[str, str, bool], tuple[Any, list[FileFault]]]


def strictly(read: Reading, file: str, text: str, combinations: bool = False) -> Any:
    """What a file says, if nothing in it is wrong."""
    found, faults = read(file, text, combinations)
    if faults:
        raise FileFaults(in_row_order(faults))
    return found
