"""ForecastBench's forecasts with the outcomes of their questions, from which its boards are made.

Questions are those of the resolution sets, or of processed files; a question set restricts them, and shows
how much a forecaster left out. Data questions count once for each horizon.
"""

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import date
from math import nan
from statistics import median
from typing import NoReturn

import numpy as np

from arena.errors import ArenaError, FileFaults, count_text
from arena.forms.bench.answers import check_answers
from arena.forms.bench.combinations import combined_answers, has_combinations, with_combinations
from arena.forms.bench.model import (
    MARKET_SOURCES,
    Asked,
    BenchForecast,
    ForecastFile,
    QuestionSet,
    ResolutionSet,
    forecaster_names,
    is_day,
    probability_or_none,
    without_directions,
)
from arena.scores.rules.forecastbench.difficulty_sample import IMPUTED, NAIVE
from arena.scores.rules.forecastbench.imputation import MOST_IMPUTED, NO_INFORMATION, too_much

OWN = "ForecastBench"
"""The organization whose models form the baseline board, and whose files are not submissions."""
ARENA = "this arena"
"""The organization of the agents of a record."""
SUPERS, PUBLIC = "Superforecaster median forecast", "Public median forecast"
HALF = "Always 0.5"
COMPARISONS = frozenset({
    "Always 0", HALF, "Always 1", "Random Uniform", IMPUTED, NAIVE, SUPERS, PUBLIC,
})  # fmt: skip
TABLE_COLUMNS = (
    "forecast_due_date", "source", "id", "horizon", "resolved", "resolved_to", "forecast", "organization",
    "model_organization", "model", "model_age_at_due_date", "external_submission",
    "forecastbench_comparison_model",
)  # fmt: skip
NO_ORDER = "name one resolution set with --resolutions"

Answers = dict[Asked, float]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a question; `noted` counts its entries in the resolution set, one for each horizon."""

    value: float
    market: bool
    horizon: int | None
    noted: int = 1
    crowd: float | None = None


@dataclass(frozen=True, slots=True)
class ScoredForecast:
    """A forecast with the outcome of its question."""

    forecaster: str
    due: str
    asked: Asked
    probability: float
    outcome: Outcome
    external: bool = True
    comparison: bool = False
    age: float = nan

    @property
    def question(self) -> str:
        """Return a name of the question and horizon in its round."""
        parts = filter(None, (self.due, *self.asked))
        return " ".join(parts)

    @property
    def source(self) -> str:
        """Return the source of its question."""
        return self.asked[0]

    @property
    def stratum(self) -> str:
        """Return its round and source, within which a bootstrap draws."""
        return f"{self.due} {self.source}"

    @property
    def cluster(self) -> str:
        """Return the subject of its question, whatever the round and date: errors within it are correlated.

        All directions of a combination are one cluster.
        """
        return f"{self.source} {without_directions(self.asked[1])}"


@dataclass(frozen=True, slots=True)
class Forecasters:
    """The scored forecasts; `teams` has each forecaster's organization and its model's."""

    rows: tuple[ScoredForecast, ...]
    teams: Mapping[str, tuple[str, str]]
    notes: tuple[str, ...] = ()


@dataclass
class _Gathering:
    """The forecasters gathered so far."""

    outcomes: Mapping[str, Mapping[Asked, Outcome]]
    wanted: Mapping[str, Mapping[Asked, bool]]
    paper: bool
    rows: list[ScoredForecast] = field(default_factory=list)
    teams: dict[str, tuple[str, str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    met: set[tuple[str, str]] = field(default_factory=set)

    def add(self, name: str, filed: ForecastFile, answers: Mapping[Asked, float], crowd: bool) -> None:
        """Add one forecaster's round, scored on all resolved questions, unless too much of it is missing."""
        entry = (name, filed.due)
        if entry in self.met:
            hint = "name each model once a round, or leave one of the files out"
            raise ArenaError("bad_file", f"{filed.file}: {name} has two files for {filed.due}", hint)
        self.met.add(entry)

        outcomes = self.outcomes[filed.due]
        asked = self.wanted.get(filed.due)
        if not asked:
            asked = {key: outcome.market for key, outcome in outcomes.items()}

        stated = np.array([answers.get(key, nan) for key in asked])
        is_market = list(asked.values())
        if too_much(stated, is_market):
            is_unanswered = np.isnan(stated)
            share = f"{is_unanswered.mean():.0%} unanswered, over {MOST_IMPUTED:.0%} of a half"
            self.notes.append(f"left out: {name}, {filed.due}: {share}")
            return

        self.teams.setdefault(name, (filed.organization, filed.lab))
        is_reference = crowd or filed.model in COMPARISONS
        is_own = filed.organization == OWN
        is_comparison = is_reference and filed.organization in (OWN, ARENA)
        for key, outcome in outcomes.items():
            probability = answers.get(key)
            if probability is None:
                probability = self.imputed(key, outcome)
            self.rows.append(
                ScoredForecast(name, filed.due, key, probability, outcome, not is_own, is_comparison)
            )

    def imputed(self, key: Asked, outcome: Outcome) -> float:
        """Return the probability that a missing answer counts as."""
        if not (self.paper and outcome.market):
            return NO_INFORMATION
        if outcome.crowd is None:
            what = f"{key[1]!r} of {key[0]} is unanswered, and the crowd's probability isn't known"
            raise ArenaError("no_crowd", what, "name the question set with --questions: it has freeze values")
        return outcome.crowd

    def add_half(self) -> None:
        """Add the paper's reference forecaster that knows nothing."""
        self.teams[HALF] = (OWN, OWN)
        for due, outcomes in sorted(self.outcomes.items()):
            for key, outcome in outcomes.items():
                self.rows.append(ScoredForecast(HALF, due, key, NO_INFORMATION, outcome, False, True))


def gather(
    files: Sequence[ForecastFile],
    sets: Sequence[QuestionSet],
    resolutions: Sequence[ResolutionSet],
    mode: str,
    median_name: str | None = None,
) -> Forecasters:
    """Return the forecasts of all files with the outcomes of their questions."""
    is_paper = mode == "paper"
    files, replaced = _without_replaced(files)
    rounds = dict.fromkeys(filed.due for filed in files)
    outcomes = {}
    for due in rounds:
        outcomes[due] = _outcomes(due, files, sets, resolutions, is_paper)

    wanted = {}
    for asked in sets:
        resolved = outcomes.get(asked.due, {})
        wanted[asked.due] = _wanted(asked, files, resolved)

    taken = _Gathering(outcomes, wanted, is_paper, notes=replaced)
    names = forecaster_names(files)
    for filed in files:
        counted = _answers(filed, sets, taken.notes)
        name = names[filed.model, filed.organization]
        pairs = _pairs_to_make(filed, counted, sets)
        if pairs is not None:
            count = count_text(sum(question.combined for question in pairs.questions), "combination")
            taken.notes.append(f"{filed.file}: {count} made from forecasts on the parts, as if independent")
        _add_file(taken, name, filed, _answers_by_user(counted), pairs, median_name)

    if is_paper and HALF not in taken.teams:
        taken.add_half()

    return Forecasters(tuple(taken.rows), taken.teams, tuple(taken.notes))


def _add_file(
    taken: _Gathering,
    name: str,
    filed: ForecastFile,
    people: Mapping[str | None, Answers],
    pairs: QuestionSet | None,
    median_name: str | None,
) -> None:
    """Add a file: its forecaster, its individuals, or their median as one."""
    if people.keys() <= {None}:
        answers = _with_pairs(people.get(None, {}), pairs)
        taken.add(name, filed, answers, crowd=False)
    elif median_name is not None:
        count = count_text(len(people), "individual")
        taken.notes.append(f"{median_name}: the median of {count}")
        medians = _with_pairs(_median(people.values()), pairs)
        taken.add(median_name, filed, medians, crowd=True)
    else:
        for user, own in people.items():
            taken.add(user or filed.model, filed, _with_pairs(own, pairs), crowd=False)


def _pairs_to_make(
    filed: ForecastFile, answers: Sequence[BenchForecast], sets: Sequence[QuestionSet]
) -> QuestionSet | None:
    """Return the set whose combinations are derived from parts: for people, who weren't asked them."""
    asked = _set_of(filed.due, sets)
    if asked is None or not any(question.combined for question in asked.questions):
        return None

    is_of_people = filed.model in (SUPERS, PUBLIC) or any(row.user is not None for row in answers)
    if not is_of_people or has_combinations(answers):
        return None
    return asked


def _with_pairs(answers: Answers, pairs: QuestionSet | None) -> Answers:
    """Return answers completed with the combinations of a set, if there is one."""
    if pairs is None:
        return answers
    return combined_answers(answers, pairs)


def _answers_by_user(answers: Iterable[BenchForecast]) -> dict[str | None, Answers]:
    """Return the answers of each individual, or of the whole file under None if it names nobody."""
    by_user: dict[str | None, Answers] = defaultdict(dict)
    for answer in answers:
        by_user[answer.user][answer.asked] = answer.forecast
    return by_user


def _median(people: Iterable[Answers]) -> Answers:
    """Return the median answer of each question."""
    stated: dict[Asked, list[float]] = defaultdict(list)
    for answers in people:
        for key, probability in answers.items():
            stated[key].append(probability)
    return {key: median(values) for key, values in stated.items()}


def _without_replaced(files: Sequence[ForecastFile]) -> tuple[list[ForecastFile], list[str]]:
    """Leave out the arena's baselines that ForecastBench's own of that name and round replace, with notes.

    A note also says how the remaining baselines of the arena are made.
    """
    published = {(filed.model, filed.due) for filed in files if filed.organization == OWN}
    kept: list[ForecastFile] = []
    notes: list[str] = []
    made_here: set[str] = set()

    for filed in files:
        is_baseline = filed.organization == ARENA and filed.model in COMPARISONS
        if is_baseline and (filed.model, filed.due) in published:
            notes.append(f"left out: {filed.file}: ForecastBench's own {filed.model} of {filed.due} is there")
            continue
        if is_baseline and filed.model in (IMPUTED, NAIVE):
            made_here.add(filed.model)
        kept.append(filed)

    if made_here:
        named = " and ".join(sorted(made_here))
        notes.append(
            f"{named}: made here, with the crowd's probability when the set was "
            "frozen; ForecastBench has that of the due date: name its own files to use them"
        )
    return kept, notes


def _wanted(
    asked: QuestionSet, files: Sequence[ForecastFile], outcomes: Mapping[Asked, Outcome]
) -> dict[Asked, bool]:
    """Return the questions that a forecaster should have answered, and whether each is of a market.

    A question without answers and outcome was withdrawn.
    """
    alive = set(outcomes)
    for filed in files:
        if filed.due == asked.due:
            alive.update(row.asked for row in filed.rows)

    wanted = {}
    for question in asked.questions:
        for key in question.asked:
            if key in alive:
                wanted[key] = question.is_market
    return wanted


def _answers(filed: ForecastFile, sets: Sequence[QuestionSet], notes: list[str]) -> list[BenchForecast]:
    """Return the rows that count, after noting or raising what is wrong with the others."""
    asked = _set_of(filed.due, sets)
    if sets and asked is None:
        hint = f"name the question set of {filed.due} with --questions"
        raise ArenaError("no_questions", f"{filed.file} is due {filed.due}, of which there is no set", hint)

    faults = [] if asked is None else list(check_answers(filed, asked))
    wrong = [fault for fault in faults if fault.field == "resolution_date"]
    outside = {fault.row for fault in faults if fault.field == "id"}
    if wrong:
        raise FileFaults(wrong)

    left_out = {
        "about two questions at once": filed.combinations,
        "without a forecast": filed.unanswered,
        "about what is not in the question set": len(outside),
    }
    for why, count in left_out.items():
        if count:
            notes.append(f"not scored: {filed.file}: {count_text(count, 'row')} {why}")

    is_made_so = filed.organization == OWN and filed.model in (IMPUTED, NAIVE)  # made of imputed values
    kept = [row for row in filed.rows if row.row not in outside]
    if is_made_so:
        return kept
    return [row for row in kept if not row.imputed]


def _set_of(due: str, sets: Sequence[QuestionSet]) -> QuestionSet | None:
    """Return the question set of a round; None if there is none."""
    return next((questions for questions in sets if questions.due == due), None)


def _outcomes(
    due: str,
    files: Sequence[ForecastFile],
    sets: Sequence[QuestionSet],
    resolutions: Sequence[ResolutionSet],
    provisional: bool,
) -> dict[Asked, Outcome]:
    """Return the outcomes of a round's questions."""
    resolved = [rows for rows in resolutions if rows.due == due]
    if len(resolved) > 1:
        hint = "name the newest only, or move the others elsewhere"
        raise ArenaError("two_resolutions", f"there are two resolution sets of {due}", hint)

    asked = _set_of(due, sets)
    if resolved:
        markets = _market_sources(asked)
        [ends] = resolved
        if asked is not None:
            ends = with_combinations(ends, asked)
        found = _from_set(ends, markets, provisional)
    else:
        found = _from_files([filed for filed in files if filed.due == due], provisional)

    if not found:
        hint = "name the resolution set with --resolutions, or processed files, which carry it"
        raise ArenaError("no_resolutions", f"nothing is resolved of the round due {due}", hint)
    return found if asked is None else _narrowed(found, asked)


def _market_sources(asked: QuestionSet | None) -> Set[str]:
    """Return the sources whose questions resolve once."""
    sources = set(MARKET_SOURCES)
    if asked is not None:
        sources |= {question.source for question in asked.questions if question.is_market}
    return sources


def _narrowed(found: Mapping[Asked, Outcome], asked: QuestionSet) -> dict[Asked, Outcome]:
    """Return the outcomes of a set's questions, with the crowd's freeze value where none is known."""
    crowds: dict[tuple[str, str], float | None] = {}
    for question in asked.questions:
        for name in question.ids:
            crowds[question.source, name] = question.freeze_probability(name)

    narrowed = {}
    for key, outcome in found.items():
        source, name, _ = key
        if (source, name) not in crowds:
            continue
        crowd = crowds[source, name] if outcome.crowd is None else outcome.crowd
        narrowed[key] = replace(outcome, crowd=crowd)
    return narrowed


def _from_set(resolved: ResolutionSet, markets: Set[str], provisional: bool) -> dict[Asked, Outcome]:
    """Return the outcomes of a resolution set: data questions by horizon, markets as last recorded."""
    due = date.fromisoformat(resolved.due)
    found: dict[Asked, Outcome] = {}
    newest: dict[Asked, str] = {}
    noted = Counter((row.source, row.id) for row in resolved.rows)

    for row in resolved.rows:
        if row.source not in markets:
            if row.resolved:
                horizon = date.fromisoformat(row.date) - due
                found[row.source, row.id, row.date] = Outcome(row.value, market=False, horizon=horizon.days)
            continue

        key = (row.source, row.id, None)
        if newest.get(key, "") < row.date:
            newest[key] = row.date
            found.pop(key, None)
            if row.resolved or provisional:
                found[key] = Outcome(row.value, True, None, noted[row.source, row.id])
    return found


def _from_files(files: Sequence[ForecastFile], provisional: bool) -> dict[Asked, Outcome]:
    """Return the outcomes in processed files, which have to agree."""
    found: dict[Asked, Outcome] = {}
    for filed in files:
        due = date.fromisoformat(filed.due)
        for row in filed.rows:
            is_market = row.source in MARKET_SOURCES
            is_counted = row.resolved or (provisional and is_market)
            if row.value is None or not is_counted:
                continue

            days = None
            if row.date is not None:
                horizon = date.fromisoformat(row.date) - due
                days = horizon.days
            outcome = Outcome(row.value, is_market, days, crowd=row.crowd)
            first = found.setdefault(row.asked, outcome)
            if first.value != outcome.value:
                there = f"{row.id!r} came to {row.value:g}, elsewhere to another"
                raise ArenaError("two_outcomes", f"{filed.file}: row {row.row}: {there}", NO_ORDER)
    return found


def read_table(file: str, text: str) -> Forecasters:
    """Return forecasts from a CSV that joins them with their resolutions."""
    lines = csv.DictReader(io.StringIO(text, newline=""))
    header = lines.fieldnames or ()
    for name in TABLE_COLUMNS:
        if name not in header:
            what = f"{file}:1: there is no column {name}"
            raise ArenaError("bad_file", what, f"its columns are {', '.join(TABLE_COLUMNS)}")

    rows = []
    teams = {}
    open_rows = 0
    for line, cells in enumerate(lines, 2):
        if cells["resolved"] != "True":
            open_rows += 1
            continue
        rows.append(_table_row(file, line, cells))
        teams[cells["model"]] = (cells["organization"], cells["model_organization"])

    notes: tuple[str, ...] = ()
    if open_rows:
        notes = (f"not scored: {count_text(open_rows, 'row')} whose question is open",)
    return Forecasters(tuple(rows), teams, notes)


def _table_row(file: str, line: int, cells: Mapping[str, str]) -> ScoredForecast:
    """Return a row of the joined table; raise `ArenaError` for an invalid cell."""

    def refuse(column: str, expected: str) -> NoReturn:
        what = f"{file}:{line}: column {column}: {cells[column]!r} is not {expected}"
        raise ArenaError("bad_file", what, "correct the cell or remove the line")

    probability = probability_or_none(cells["forecast"])
    value = probability_or_none(cells["resolved_to"])
    if probability is None:
        refuse("forecast", "a number from 0 to 1")
    if value is None:
        refuse("resolved_to", "a number from 0 to 1")
    if not is_day(cells["forecast_due_date"]):
        refuse("forecast_due_date", "a day")
    if not cells["horizon"].isdecimal():
        refuse("horizon", "a number of days")

    source = cells["source"]
    is_market = source in MARKET_SOURCES
    day = None if is_market else cells["horizon"]
    horizon = None if is_market else int(cells["horizon"])
    asked = (source, cells["id"], day)
    outcome = Outcome(value, is_market, horizon)
    age = cells["model_age_at_due_date"]
    return ScoredForecast(
        cells["model"],
        cells["forecast_due_date"],
        asked,
        probability,
        outcome,
        external=cells["external_submission"] == "True",
        comparison=cells["forecastbench_comparison_model"] == "True",
        age=float(age) if age else nan,
    )
