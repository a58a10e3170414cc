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
from arena.scores.rules.forecastbench.imputation import MOST_IMPUTED, NO_INFORMATION, is_too_much_missing

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

    def add(
        self, name: str, filed: ForecastFile, probabilities: Mapping[Asked, float], is_crowd: bool
    ) -> None:
        """Add one forecaster's round, scored on all resolved questions, unless too much of it is missing."""
        name_and_round = (name, filed.due)
        if name_and_round in self.met:
            hint = "name each model once a round, or leave one of the files out"
            raise ArenaError("bad_file", f"{filed.file}: {name} has two files for {filed.due}", hint)
        self.met.add(name_and_round)

        outcomes = self.outcomes[filed.due]

        # Without a question set, all resolved questions should have been answered.
        is_market_by_question = self.wanted.get(filed.due)
        if not is_market_by_question:
            is_market_by_question = {key: outcome.market for key, outcome in outcomes.items()}

        stated = np.array([probabilities.get(key, nan) for key in is_market_by_question])
        is_market = list(is_market_by_question.values())
        # A submission that left too much of either half unanswered is not scored.
        if is_too_much_missing(stated, is_market):
            is_unanswered = np.isnan(stated)
            share = f"{is_unanswered.mean():.0%} unanswered, over {MOST_IMPUTED:.0%} of a half"
            self.notes.append(f"left out: {name}, {filed.due}: {share}")
            return

        self.teams.setdefault(name, (filed.organization, filed.lab))
        is_reference = is_crowd or filed.model in COMPARISONS
        is_own = filed.organization == OWN
        is_comparison = is_reference and filed.organization in (OWN, ARENA)
        for key, outcome in outcomes.items():
            probability = probabilities.get(key)
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
    files, replaced_notes = _without_replaced_baselines(files)
    rounds = dict.fromkeys(filed.due for filed in files)
    outcomes = {}
    for due in rounds:
        outcomes[due] = _round_outcomes(due, files, sets, resolutions, is_paper)

    to_answer = {}
    for question_set in sets:
        round_outcomes = outcomes.get(question_set.due, {})
        to_answer[question_set.due] = _questions_to_answer(question_set, files, round_outcomes)

    gathering = _Gathering(outcomes, to_answer, is_paper, notes=replaced_notes)
    names = forecaster_names(files)
    for filed in files:
        answers = _counted_answers(filed, sets, gathering.notes)
        name = names[filed.model, filed.organization]
        # Combinations that people were not asked follow from their answers on the parts.
        set_with_pairs = _set_with_pairs_to_derive(filed, answers, sets)
        if set_with_pairs is not None:
            count = count_text(sum(question.combined for question in set_with_pairs.questions), "combination")
            gathering.notes.append(
                f"{filed.file}: {count} made from forecasts on the parts, as if independent"
            )
        _add_file(gathering, name, filed, _answers_by_user(answers), set_with_pairs, median_name)

    if is_paper and HALF not in gathering.teams:
        gathering.add_half()

    return Forecasters(tuple(gathering.rows), gathering.teams, tuple(gathering.notes))


def _add_file(
    gathering: _Gathering,
    name: str,
    filed: ForecastFile,
    answers_of: Mapping[str | None, Answers],
    set_with_pairs: QuestionSet | None,
    median_name: str | None,
) -> None:
    """Add a file: its forecaster, its individuals, or their median as one."""
    # A file that names no individuals has all answers under None.
    if answers_of.keys() <= {None}:
        answers = _with_derived_pairs(answers_of.get(None, {}), set_with_pairs)
        gathering.add(name, filed, answers, is_crowd=False)
    elif median_name is not None:
        count = count_text(len(answers_of), "individual")
        gathering.notes.append(f"{median_name}: the median of {count}")
        medians = _with_derived_pairs(_median_answers(answers_of.values()), set_with_pairs)
        gathering.add(median_name, filed, medians, is_crowd=True)
    else:
        for user, own in answers_of.items():
            gathering.add(
                user or filed.model, filed, _with_derived_pairs(own, set_with_pairs), is_crowd=False
            )


def _set_with_pairs_to_derive(
    filed: ForecastFile, answers: Sequence[BenchForecast], sets: Sequence[QuestionSet]
) -> QuestionSet | None:
    """Return the set whose combinations are derived from parts: for people, who weren't asked them."""
    question_set = _question_set_due(filed.due, sets)
    if question_set is None or not any(question.combined for question in question_set.questions):
        return None

    is_of_people = filed.model in (SUPERS, PUBLIC) or any(row.user is not None for row in answers)
    if not is_of_people or has_combinations(answers):
        return None
    return question_set


def _with_derived_pairs(answers: Answers, set_with_pairs: QuestionSet | None) -> Answers:
    """Return answers completed with the combinations of a set, if there is one."""
    if set_with_pairs is None:
        return answers
    return combined_answers(answers, set_with_pairs)


def _answers_by_user(answers: Iterable[BenchForecast]) -> dict[str | None, Answers]:
    """Return the answers of each individual, or of the whole file under None if it names nobody."""
    by_user: dict[str | None, Answers] = defaultdict(dict)
    for answer in answers:
        by_user[answer.user][answer.asked] = answer.forecast
    return by_user


def _median_answers(answers_of_people: Iterable[Answers]) -> Answers:
    """Return the median answer of each question."""
    probabilities_of: dict[Asked, list[float]] = defaultdict(list)
    for answers in answers_of_people:
        for question, probability in answers.items():
            probabilities_of[question].append(probability)
    return {question: median(values) for question, values in probabilities_of.items()}


def _without_replaced_baselines(files: Sequence[ForecastFile]) -> tuple[list[ForecastFile], list[str]]:
    """Leave out the arena's baselines that ForecastBench's own of that name and round replace, with notes.

    A note also says how the remaining baselines of the arena are made.
    """
    own_baselines = {(filed.model, filed.due) for filed in files if filed.organization == OWN}
    kept: list[ForecastFile] = []
    notes: list[str] = []
    made_here: set[str] = set()

    for filed in files:
        is_baseline = filed.organization == ARENA and filed.model in COMPARISONS
        if is_baseline and (filed.model, filed.due) in own_baselines:
            notes.append(f"left out: {filed.file}: ForecastBench's own {filed.model} of {filed.due} is there")
            continue
        if is_baseline and filed.model in (IMPUTED, NAIVE):
            made_here.add(filed.model)
        kept.append(filed)

    if made_here:
        made_names = " and ".join(sorted(made_here))
        notes.append(
            f"{made_names}: made here, with the crowd's probability when the set was "
            "frozen; ForecastBench has that of the due date: name its own files to use them"
        )
    return kept, notes


def _questions_to_answer(
    question_set: QuestionSet, files: Sequence[ForecastFile], outcomes: Mapping[Asked, Outcome]
) -> dict[Asked, bool]:
    """Return the questions that a forecaster should have answered, and whether each is of a market.

    A question without answers and outcome was withdrawn.
    """
    not_withdrawn = set(outcomes)
    for filed in files:
        if filed.due == question_set.due:
            not_withdrawn.update(row.asked for row in filed.rows)

    is_market_by_question = {}
    for question in question_set.questions:
        for key in question.asked:
            if key in not_withdrawn:
                is_market_by_question[key] = question.is_market
    return is_market_by_question


def _counted_answers(
    filed: ForecastFile, sets: Sequence[QuestionSet], notes: list[str]
) -> list[BenchForecast]:
    """Return the rows that count, after noting or raising what is wrong with the others."""
    question_set = _question_set_due(filed.due, sets)
    if sets and question_set is None:
        hint = f"name the question set of {filed.due} with --questions"
        raise ArenaError("no_questions", f"{filed.file} is due {filed.due}, of which there is no set", hint)

    faults = [] if question_set is None else list(check_answers(filed, question_set))
    date_faults = [fault for fault in faults if fault.field == "resolution_date"]
    rows_outside_set = {fault.row for fault in faults if fault.field == "id"}
    if date_faults:
        raise FileFaults(date_faults)

    left_out_counts = {
        "about two questions at once": filed.combinations,
        "without a forecast": filed.unanswered,
        "about what is not in the question set": len(rows_outside_set),
    }
    for why, count in left_out_counts.items():
        if count:
            notes.append(f"not scored: {filed.file}: {count_text(count, 'row')} {why}")

    # These two forecasters consist of imputed values; of others, imputed answers count as missing.
    counts_imputed = filed.organization == OWN and filed.model in (IMPUTED, NAIVE)
    kept = [row for row in filed.rows if row.row not in rows_outside_set]
    if counts_imputed:
        return kept
    return [row for row in kept if not row.imputed]


def _question_set_due(due: str, sets: Sequence[QuestionSet]) -> QuestionSet | None:
    """Return the question set of a round; None if there is none."""
    return next((questions for questions in sets if questions.due == due), None)


def _round_outcomes(
    due: str,
    files: Sequence[ForecastFile],
    sets: Sequence[QuestionSet],
    resolutions: Sequence[ResolutionSet],
    provisional: bool,
) -> dict[Asked, Outcome]:
    """Return the outcomes of a round's questions."""
    resolution_sets = [rows for rows in resolutions if rows.due == due]
    if len(resolution_sets) > 1:
        hint = "name the newest only, or move the others elsewhere"
        raise ArenaError("two_resolutions", f"there are two resolution sets of {due}", hint)

    question_set = _question_set_due(due, sets)
    if resolution_sets:
        markets = _market_sources(question_set)
        [resolution_set] = resolution_sets
        if question_set is not None:
            resolution_set = with_combinations(resolution_set, question_set)
        outcomes = _outcomes_of_resolutions(resolution_set, markets, provisional)
    else:
        outcomes = _outcomes_of_files([filed for filed in files if filed.due == due], provisional)

    if not outcomes:
        hint = "name the resolution set with --resolutions, or processed files, which carry it"
        raise ArenaError("no_resolutions", f"nothing is resolved of the round due {due}", hint)
    return outcomes if question_set is None else _outcomes_in_set(outcomes, question_set)


def _market_sources(question_set: QuestionSet | None) -> Set[str]:
    """Return the sources whose questions resolve once."""
    sources = set(MARKET_SOURCES)
    if question_set is not None:
        sources |= {question.source for question in question_set.questions if question.is_market}
    return sources


def _outcomes_in_set(outcomes: Mapping[Asked, Outcome], question_set: QuestionSet) -> dict[Asked, Outcome]:
    """Return the outcomes of a set's questions, with the crowd's freeze value where none is known."""
    freeze_values: dict[tuple[str, str], float | None] = {}
    for question in question_set.questions:
        for name in question.ids:
            freeze_values[question.source, name] = question.freeze_probability(name)

    in_set = {}
    for key, outcome in outcomes.items():
        source, name, _ = key
        if (source, name) not in freeze_values:
            continue
        crowd = freeze_values[source, name] if outcome.crowd is None else outcome.crowd
        in_set[key] = replace(outcome, crowd=crowd)
    return in_set


def _outcomes_of_resolutions(
    resolution_set: ResolutionSet, market_sources: Set[str], provisional: bool
) -> dict[Asked, Outcome]:
    """Return the outcomes of a resolution set: data questions by horizon, markets as last recorded."""
    due = date.fromisoformat(resolution_set.due)
    outcomes: dict[Asked, Outcome] = {}
    newest_date: dict[Asked, str] = {}
    entries_of = Counter((row.source, row.id) for row in resolution_set.rows)

    for row in resolution_set.rows:
        if row.source not in market_sources:
            if row.resolved:
                horizon = date.fromisoformat(row.date) - due
                outcomes[row.source, row.id, row.date] = Outcome(
                    row.value, market=False, horizon=horizon.days
                )
            continue

        # A market has an entry for each date; the newest counts, even if it says that it is still open.
        key = (row.source, row.id, None)
        if newest_date.get(key, "") < row.date:
            newest_date[key] = row.date
            outcomes.pop(key, None)
            if row.resolved or provisional:
                outcomes[key] = Outcome(row.value, True, None, entries_of[row.source, row.id])
    return outcomes


def _outcomes_of_files(files: Sequence[ForecastFile], provisional: bool) -> dict[Asked, Outcome]:
    """Return the outcomes in processed files, which have to agree."""
    outcomes: dict[Asked, Outcome] = {}
    for filed in files:
        due = date.fromisoformat(filed.due)
        for row in filed.rows:
            is_market = row.source in MARKET_SOURCES
            is_counted = row.resolved or (provisional and is_market)
            if row.value is None or not is_counted:
                continue

            horizon_days = None
            if row.date is not None:
                horizon = date.fromisoformat(row.date) - due
                horizon_days = horizon.days
            outcome = Outcome(row.value, is_market, horizon_days, crowd=row.crowd)
            first_outcome = outcomes.setdefault(row.asked, outcome)
            if first_outcome.value != outcome.value:
                difference = f"{row.id!r} came to {row.value:g}, elsewhere to another"
                raise ArenaError("two_outcomes", f"{filed.file}: row {row.row}: {difference}", NO_ORDER)
    return outcomes


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
