"""ForecastBench's files: forecasts filed for a round, raw or processed, question sets and resolution sets.

A question is asked again in each round and for each date; all of these share an event. Its half is its
category, and for a market the crowd's freeze value is the price. A market that is still open has no outcome;
the crowd's latest value stands in for it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import isnan

from arena.errors import ArenaError, FileFault, count_text
from arena.forms.bench.joined_table import is_joined_table, read_joined
from arena.forms.bench.model import (
    HALVES,
    MARKET_SOURCES,
    BenchForecast,
    BenchQuestion,
    ForecastFile,
    QuestionSet,
    ResolutionSet,
    forecaster_names,
)
from arena.forms.bench.reading import read_forecast_file, read_question_set, read_resolution_set
from arena.forms.csv_columns import decode
from arena.forms.model import (
    SourceData,
    SourceFile,
    SourceForecast,
    SourceLine,
    SourceOutcome,
    SourceQuestion,
)
from arena.forms.objects import SPACE

TITLE = "ForecastBench"
PART = re.compile(rb'"(questions|resolutions|forecasts)"\s*:\s*\[')
OF_A_ROUND = re.compile(rb'"(forecast_due_date|question_set|question-set|model_organization)"\s*:')

Key = tuple[str, str, str, str | None]
"""The due date of a question's round, its source, its id, and the resolution date of a data question."""


def part_of(file: SourceFile) -> str | None:
    """Return the name of the list in a file of ForecastBench, or None for another file.

    It is questions, resolutions or forecasts.

    >>> part_of(SourceFile("a.json", b'{"question_set": "s", "questions": []}'))
    'questions'
    """
    start = file.data[:64].lstrip(SPACE)
    if not start.startswith(b"{") or start.startswith(b'{"question"'):
        return None

    part = PART.search(file.data)
    if part is None or OF_A_ROUND.search(file.data) is None:
        return None
    return part[1].decode()


def recognise(files: Sequence[SourceFile]) -> str | None:
    """Return which files hold forecasts filed for a round; None if none does."""
    file_count = 0
    reason = ""
    for file in files:
        if is_joined_table(file):
            file_count += 1
            reason = reason or f"{file.name} has the columns of its processed forecasts"
        elif part_of(file) == "forecasts":
            file_count += 1
            reason = reason or f'{file.name} has a list "forecasts" of a round'

    if file_count > 1:
        reason += f", as have {file_count - 1} more"
    return reason or None


def read(files: Sequence[SourceFile]) -> SourceData:
    """Return the forecasts of all rounds with the outcomes of their questions."""
    joined_tables = list(filter(is_joined_table, files))
    if joined_tables:
        data = read_joined(joined_tables)
        round_files = sum(part_of(file) is not None for file in files)
        if not round_files:
            return data
        note = f"left out: {count_text(round_files, 'file')} of rounds, beside tables that join them"
        return replace(data, notes=(note,))

    faults: list[FileFault] = []
    forecast_files: list[ForecastFile] = []
    sets: list[QuestionSet] = []
    resolutions: list[ResolutionSet] = []
    for file in files:
        part = part_of(file)
        text = "" if part is None else decode(file.name, file.data)
        file_faults: list[FileFault] = []
        if part == "questions":
            questions, file_faults = read_question_set(file.name, text)
            sets.append(questions)
        elif part == "resolutions":
            ends, file_faults = read_resolution_set(file.name, text)
            resolutions.append(ends)
        elif part == "forecasts":
            answers, file_faults = read_forecast_file(file.name, text)
            forecast_files.append(answers)
        faults += file_faults

    if not faults:
        return join_rounds(forecast_files, sets, resolutions)

    with suppress(ArenaError):  # faults of the files are reported first
        return replace(join_rounds(forecast_files, sets, resolutions), faults=tuple(faults))
    return SourceData(faults=tuple(faults))


def join_rounds(
    files: Sequence[ForecastFile], sets: Sequence[QuestionSet], resolutions: Sequence[ResolutionSet]
) -> SourceData:
    """Return the forecasts of files with the questions of their rounds and their outcomes."""
    _refuse_twice(files)
    _refuse_two_sets(resolutions)
    rounds = _Rounds(sets)
    rounds.add_outcomes(files, resolutions)
    names = forecaster_names(files)
    for filed in files:
        rounds.left_out["of combinations"] += filed.combinations
        rounds.left_out["without a probability"] += filed.unanswered
        for row in filed.rows:
            rounds.add(filed, row, row.user or names[filed.model, filed.organization])

    if not rounds.forecasts:
        hint = "name the resolution set of the round with --resolutions, or processed files, which carry it"
        raise ArenaError("no_resolutions", "no forecast is of a question that came to anything", hint)
    return SourceData(
        questions=tuple(rounds.questions.values()),
        outcomes=tuple(rounds.outcomes.values()),
        forecasts=tuple(rounds.forecasts),
        notes=tuple(rounds.notes()),
    )


@dataclass
class _Rounds:
    """The outcomes of several rounds' questions, and the forecasts of them."""

    sets: Sequence[QuestionSet]
    ends: dict[Key, tuple[float, bool]] = field(default_factory=dict)
    questions: dict[str, SourceQuestion] = field(default_factory=dict)
    outcomes: dict[str, SourceOutcome] = field(default_factory=dict)
    forecasts: list[SourceForecast] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.due = {questions.due for questions in self.sets}
        self.asked: dict[tuple[str, str, str], BenchQuestion] = {}
        self.markets = set(MARKET_SOURCES)
        for questions in self.sets:
            for question in questions.questions:
                self.asked[questions.due, question.source, question.id] = question
                if question.is_market:
                    self.markets.add(question.source)

    def key(self, due: str, source: str, name: str, day: str | None) -> Key:
        """Return the key of a question; a market resolves once, so its key has no date."""
        return due, source, name, None if source in self.markets else day

    def add_outcomes(self, files: Iterable[ForecastFile], resolutions: Sequence[ResolutionSet]) -> None:
        """Add outcomes: those in processed files, then the newest of each question in resolution sets."""
        for filed in files:
            for row in filed.rows:
                if row.resolved is not None and row.value is not None:
                    key = self.key(filed.due, row.source, row.id, row.date)
                    self.ends[key] = row.value, row.resolved

        for resolved in resolutions:
            for end in sorted(resolved.rows, key=lambda end: end.date):
                if end.source in self.markets or end.resolved:
                    key = self.key(resolved.due, end.source, end.id, end.date)
                    self.ends[key] = end.value, end.resolved

    def add(self, filed: ForecastFile, row: BenchForecast, forecaster: str) -> None:
        """Add a forecast if its question is in the set and has an outcome."""
        key = self.key(filed.due, row.source, row.id, row.date)
        bench_question = self.asked.get((filed.due, row.source, row.id))
        if filed.due in self.due and bench_question is None:
            self.left_out["on questions that are not in the set"] += 1
            return
        if key not in self.ends:
            self.left_out["on questions that came to nothing yet"] += 1
            return

        question_key = " ".join(filter(None, key))
        is_market = row.source in self.markets
        value, is_resolved = self.ends[key]
        if question_key not in self.questions:
            title = "" if bench_question is None else str(bench_question.texts["question"])
            event = f"{row.source} {row.id}"
            self.questions[question_key] = SourceQuestion(
                question_key, title, event=event, category=HALVES[is_market]
            )
            self.outcomes[question_key] = SourceOutcome(question_key, value, final=is_resolved)

        price = (
            bench_question.freeze_probability(row.id) if bench_question is not None and is_market else None
        )
        if price is None and is_market:
            price = row.crowd
        self.forecasts.append(
            SourceForecast(
                question=question_key,
                forecaster=forecaster,
                place=SourceLine(filed.file, row.row, "forecasts"),
                probability=None if isnan(row.forecast) else row.forecast,
                price=price,
                reason=row.reason,
            )
        )

    def notes(self) -> Iterator[str]:
        """Yield notes on what was left out."""
        for why, count in self.left_out.items():
            if count:
                yield f"left out: {count_text(count, 'forecast')} {why}"


def _refuse_two_sets(resolutions: Sequence[ResolutionSet]) -> None:
    """Raise `ArenaError` if a round is resolved twice."""
    rounds = set()
    for resolved in resolutions:
        if resolved.due in rounds:
            what = f"there are two resolution sets of {resolved.due}"
            raise ArenaError("two_resolutions", what, "name the newest only")
        rounds.add(resolved.due)


def _refuse_twice(files: Sequence[ForecastFile]) -> None:
    """Raise `ArenaError` if a forecaster filed twice for a round."""
    file_of_submission: dict[tuple[str, str, str], str] = {}
    for filed in files:
        key = filed.model, filed.organization, filed.due
        if key in file_of_submission:
            what = f"{filed.file}: {filed.model} has filed for {filed.due} in {file_of_submission[key]} too"
            raise ArenaError("bad_file", what, "leave one of the files out")
        file_of_submission[key] = filed.file
