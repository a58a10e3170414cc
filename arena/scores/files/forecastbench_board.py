"""ForecastBench's boards from its files: who answered what, what it came to, and the rules applied to both.

Questions are those of the resolution sets, or what processed files carry; a question set narrows them, and
says how much of it a forecaster left out. Data questions count once for each horizon. Modes: `tournament`,
`baseline` (the benchmark's own models), `preliminary` (data questions alone) and `paper`, whose plain means
also count markets that are open yet, against the crowd's latest probability.
"""

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from statistics import median
from typing import Any

import numpy as np

from arena.errors import ArenaError, FileFaults, count_text
from arena.forms.bench.answers import check_answers
from arena.forms.bench.model import (
    MARKET_SOURCES,
    Asked,
    BenchForecast,
    ForecastFile,
    QuestionSet,
    ResolutionSet,
    forecaster_names,
    is_day,
    share_in,
)
from arena.scores.rules.forecastbench.difficulty_sample import IMPUTED, NAIVE, sample
from arena.scores.rules.forecastbench.imputation import MOST_IMPUTED, NO_INFORMATION, too_much
from arena.scores.rules.forecastbench.intervals import mean_by_cluster
from arena.scores.rules.forecastbench.leaderboard import ForecastBenchScores, forecastbench_leaderboard
from arena.scores.rules.forecastbench.panel import Panel, panel
from arena.scores.rules.forecastbench.paper_leaderboard import PaperScores, paper_leaderboard

OWN = "ForecastBench"
"""The organization whose models make the baseline board, and whose files are no submissions."""
ARENA = "this arena"
"""The organization of the agents of a record."""
SUPERS, PUBLIC = "Superforecaster median forecast", "Public median forecast"
HALF = "Always 0.5"
COMPARISONS = frozenset({
    "Always 0", HALF, "Always 1", "Random Uniform", IMPUTED, NAIVE, SUPERS, PUBLIC,
})  # fmt: skip
LEAST_RESOLVED = 225
"""Resolved data questions that a round needs to be scored, and a forecaster for the preliminary board."""
LEAST_MARKETS = 50
"""Resolved markets that a round needs for the tournament and the baseline board."""
LEAST_AGE = timedelta(days=50)
"""How long ago a round must have been due for these two boards."""
TABLE_COLUMNS = (
    "forecast_due_date", "source", "id", "horizon", "resolved", "resolved_to", "forecast", "organization",
    "model_organization", "model", "model_age_at_due_date", "external_submission",
    "forecastbench_comparison_model",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a question came to; `noted` is how often the resolution set says so, once for each horizon."""

    value: float
    market: bool
    horizon: int | None
    noted: int = 1
    crowd: float | None = None


@dataclass(frozen=True, slots=True)
class ScoredForecast:
    """A forecast beside what its question came to."""

    forecaster: str
    due: str
    asked: Asked
    probability: float
    outcome: Outcome
    external: bool = True
    comparison: bool = False
    age: float = float("nan")

    @property
    def question(self) -> str:
        """A name of the question and horizon in its round."""
        return " ".join([self.due, *map(str, filter(None, self.asked))])


@dataclass(frozen=True, slots=True)
class Forecasters:
    """All that is scored: `teams` has each forecaster's organization and its model's; `notes` what isn't."""

    rows: tuple[ScoredForecast, ...]
    teams: Mapping[str, tuple[str, str]]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BenchBoard:
    """A board, best forecaster first. `scores` are of the paper in its mode."""

    mode: str
    scores: Sequence[ForecastBenchScores] | Sequence[PaperScores]
    clustered: Mapping[str, ForecastBenchScores]
    teams: Mapping[str, tuple[str, str]]
    groups: tuple["GroupScore", ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GroupScore:
    """A forecaster's mean Brier score on some of the questions, with an interval by cluster."""

    group: str
    forecaster: str
    n: int
    brier: float
    low: float | None
    high: float | None


@dataclass
class _Gathering:
    """Forecasters as their files come in."""

    outcomes: Mapping[str, Mapping[Asked, Outcome]]
    wanted: Mapping[str, Mapping[Asked, bool]]
    paper: bool
    rows: list[ScoredForecast] = field(default_factory=list)
    teams: dict[str, tuple[str, str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    met: set[tuple[str, str]] = field(default_factory=set)

    def add(
        self, name: str, filed: ForecastFile, answers: Mapping[Asked, float], crowd: bool = False
    ) -> None:
        """One forecaster's round: scored on all that resolved, unless too much of it is missing."""
        if (name, filed.due) in self.met:
            hint = "name each model once a round, or leave one of the files out"
            raise ArenaError("bad_file", f"{filed.file}: {name} has two files for {filed.due}", hint)
        self.met.add((name, filed.due))
        asked = self.wanted.get(filed.due) or {
            key: one.market for key, one in self.outcomes[filed.due].items()
        }
        said = np.array([answers.get(key, np.nan) for key in asked])
        if too_much(said, list(asked.values())):
            share = np.isnan(said).mean()
            self.notes.append(
                f"left out: {name}, {filed.due}: {share:.0%} unanswered, over {MOST_IMPUTED:.0%} of a half"
            )
            return
        self.teams.setdefault(name, (filed.organization, filed.lab))
        own = filed.organization == OWN
        reference = crowd or filed.model in COMPARISONS
        comparison = reference and filed.organization in (OWN, ARENA)
        for key, outcome in self.outcomes[filed.due].items():
            p = answers.get(key)
            p = self.imputed(key, outcome) if p is None else p
            self.rows.append(ScoredForecast(name, filed.due, key, p, outcome, not own, comparison))

    def imputed(self, key: Asked, outcome: Outcome) -> float:
        """What silence counts as."""
        if not (self.paper and outcome.market):
            return NO_INFORMATION
        if outcome.crowd is None:
            what = f"{key[1]!r} of {key[0]} is unanswered, and the crowd's probability isn't known"
            raise ArenaError("no_crowd", what, "name the question set with --questions: it has freeze values")
        return outcome.crowd


def gather(
    files: Sequence[ForecastFile],
    sets: Sequence[QuestionSet],
    resolutions: Sequence[ResolutionSet],
    mode: str,
    median_name: str | None = None,
) -> Forecasters:
    """The forecasts of all files beside what their questions came to."""
    files, replaced = _without_replaced(files)
    outcomes = {due: _outcomes(due, files, sets, resolutions, mode) for due in {one.due for one in files}}
    wanted = {one.due: _wanted(one, files, outcomes.get(one.due, {})) for one in sets}
    taken = _Gathering(outcomes, wanted, mode == "paper", notes=replaced)
    names = forecaster_names(files)
    for filed in files:
        answers = _answers(filed, sets, taken.notes)
        people: dict[str | None, dict[Asked, float]] = defaultdict(dict)
        for one in answers:
            people[one.user][one.source, one.id, one.date] = one.forecast
        if set(people) == {None}:
            taken.add(names[filed.model, filed.organization], filed, people[None])
        elif median_name is not None:
            taken.notes.append(f"{median_name}: the median of {count_text(len(people), 'individual')}")
            taken.add(median_name, filed, _median(people.values()), crowd=True)
        else:
            for user, said in people.items():
                taken.add(user or filed.model, filed, said)
    if mode == "paper" and HALF not in taken.teams:
        _add_half(taken)
    return Forecasters(tuple(taken.rows), taken.teams, tuple(taken.notes))


def _without_replaced(files: Sequence[ForecastFile]) -> tuple[list[ForecastFile], list[str]]:
    """Leave out an arena's baselines where ForecastBench's own of that name and round is there; notes say so.

    A note also says what the arena's own are made from.
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
        notes.append(
            f"{' and '.join(sorted(made_here))}: made here, with the crowd's probability when the set was "
            "frozen; ForecastBench has that of the due date: name its own files to use them"
        )
    return kept, notes


def _wanted(
    asked: QuestionSet, files: Sequence[ForecastFile], outcomes: Mapping[Asked, Outcome]
) -> dict[Asked, bool]:
    """What a forecaster should have answered, and whether it is of a market.

    A question that nobody answered and that came to nothing was withdrawn.
    """
    alive = {(row.source, row.id, row.date) for one in files if one.due == asked.due for row in one.rows}
    return {
        key: question.is_market
        for question in asked.questions
        for key in question.asked
        if key in alive or key in outcomes
    }


def _add_half(taken: _Gathering) -> None:
    """The paper's reference of no knowledge."""
    taken.teams[HALF] = (OWN, OWN)
    for due, outcomes in sorted(taken.outcomes.items()):
        for key, outcome in outcomes.items():
            taken.rows.append(ScoredForecast(HALF, due, key, NO_INFORMATION, outcome, False, True))


def _median(people: Iterable[Mapping[Asked, float]]) -> dict[Asked, float]:
    said: dict[Asked, list[float]] = defaultdict(list)
    for one in people:
        for key, p in one.items():
            said[key].append(p)
    return {key: median(values) for key, values in said.items()}


def _answers(filed: ForecastFile, sets: Sequence[QuestionSet], notes: list[str]) -> list[BenchForecast]:
    """The rows that count, after what is wrong with them has been said."""
    asked = next((one for one in sets if one.due == filed.due), None)
    if sets and asked is None:
        hint = f"name the question set of {filed.due} with --questions"
        raise ArenaError("no_questions", f"{filed.file} is due {filed.due}, of which there is no set", hint)
    faults = [] if asked is None else list(check_answers(filed, asked))
    wrong = [fault for fault in faults if fault.field == "resolution_date"]
    if wrong:
        raise FileFaults(wrong)
    outside = {fault.row for fault in faults if fault.field == "id"}
    for count, why in (
        (filed.combinations, "about two questions at once"),
        (filed.unanswered, "without a forecast"),
        (len(outside), "about what is not in the question set"),
    ):
        if count:
            notes.append(f"not scored: {filed.file}: {count_text(count, 'row')} {why}")
    is_made_so = filed.organization == OWN and filed.model in (IMPUTED, NAIVE)  # of what others impute
    return [one for one in filed.rows if one.row not in outside and (is_made_so or not one.imputed)]


def _outcomes(
    due: str,
    files: Sequence[ForecastFile],
    sets: Sequence[QuestionSet],
    resolutions: Sequence[ResolutionSet],
    mode: str,
) -> dict[Asked, Outcome]:
    """What the questions of a round came to."""
    asked = next((one for one in sets if one.due == due), None)
    sets_of_round = [one for one in resolutions if one.due == due]
    if len(sets_of_round) > 1:
        hint = "name the newest only, or move the others elsewhere"
        raise ArenaError("two_resolutions", f"there are two resolution sets of {due}", hint)
    markets = set(MARKET_SOURCES)
    if asked is not None:
        markets |= {question.source for question in asked.questions if question.is_market}
    found = (
        _from_set(sets_of_round[0], markets, mode == "paper")
        if sets_of_round
        else _from_files([one for one in files if one.due == due], mode == "paper")
    )
    if not found:
        hint = "name the resolution set with --resolutions, or processed files, which carry it"
        raise ArenaError("no_resolutions", f"nothing is resolved of the round due {due}", hint)
    if asked is None:
        return found
    crowds = {
        (key[0], key[1]): question.freeze_probability
        for question in asked.questions
        for key in question.asked
    }
    return {
        key: replace(outcome, crowd=crowds[key[0], key[1]] if outcome.crowd is None else outcome.crowd)
        for key, outcome in found.items()
        if (key[0], key[1]) in crowds
    }


def _from_set(resolved: ResolutionSet, markets: Set[str], provisional: bool) -> dict[Asked, Outcome]:
    """The outcomes of a resolution set: each data question by horizon, each market as last noted."""
    due = date.fromisoformat(resolved.due)
    found: dict[Asked, Outcome] = {}
    newest: dict[Asked, str] = {}
    noted = Counter((one.source, one.id) for one in resolved.rows)
    for one in resolved.rows:
        days = (date.fromisoformat(one.date) - due).days
        if one.source not in markets:
            if one.resolved:
                found[one.source, one.id, one.date] = Outcome(one.value, market=False, horizon=days)
            continue
        key = (one.source, one.id, None)
        if newest.get(key, "") < one.date:
            newest[key] = one.date
            found[key] = Outcome(one.value, True, None, noted[one.source, one.id])
            if not (one.resolved or provisional):
                del found[key]
    return found


def _from_files(files: Sequence[ForecastFile], provisional: bool) -> dict[Asked, Outcome]:
    """The outcomes that processed files carry, which have to agree."""
    found: dict[Asked, Outcome] = {}
    for filed in files:
        due = date.fromisoformat(filed.due)
        for one in filed.rows:
            is_market = one.source in MARKET_SOURCES
            if one.value is None or not (one.resolved or (provisional and is_market)):
                continue
            key = (one.source, one.id, one.date)
            days = None if one.date is None else (date.fromisoformat(one.date) - due).days
            outcome = Outcome(one.value, is_market, days, crowd=one.crowd)
            if found.setdefault(key, outcome).value != outcome.value:
                what = f"{filed.file}: row {one.row}: {one.id!r} came to {one.value:g}, elsewhere to another"
                raise ArenaError("two_outcomes", what, "name one resolution set with --resolutions")
    return found


def read_table(file: str, text: str) -> Forecasters:
    """Forecasts already beside their resolutions: a CSV in the columns in which the benchmark joins them."""
    lines = csv.DictReader(io.StringIO(text, newline=""))
    absent = [name for name in TABLE_COLUMNS if name not in (lines.fieldnames or ())]
    if absent:
        what = f"{file}:1: there is no column {absent[0]}"
        raise ArenaError("bad_file", what, f"its columns are {', '.join(TABLE_COLUMNS)}")
    rows, teams, open_rows = [], {}, 0
    for line, cells in enumerate(lines, 2):
        if cells["resolved"] != "True":
            open_rows += 1
            continue
        rows.append(_table_row(file, line, cells))
        teams[cells["model"]] = (cells["organization"], cells["model_organization"])
    notes = (f"not scored: {count_text(open_rows, 'row')} whose question is open",) if open_rows else ()
    return Forecasters(tuple(rows), teams, notes)


def _table_row(file: str, line: int, cells: Mapping[str, str]) -> ScoredForecast:
    def wrong(column: str, expected: str) -> ArenaError:
        what = f"{file}:{line}: column {column}: {cells[column]!r} is not {expected}"
        return ArenaError("bad_file", what, "correct the cell or remove the line")

    values = {name: share_in(cells[name]) for name in ("forecast", "resolved_to")}
    for name, value in values.items():
        if value is None:
            raise wrong(name, "a number from 0 to 1")
    if not is_day(cells["forecast_due_date"]):
        raise wrong("forecast_due_date", "a day")
    market = cells["source"] in MARKET_SOURCES
    if not cells["horizon"].isdecimal():
        raise wrong("horizon", "a number of days")
    key = (cells["source"], cells["id"], None if market else cells["horizon"])
    age = cells["model_age_at_due_date"]
    return ScoredForecast(
        cells["model"],
        cells["forecast_due_date"],
        key,
        values["forecast"] or 0.0,
        Outcome(values["resolved_to"] or 0.0, market, None if market else int(cells["horizon"])),
        external=cells["external_submission"] == "True",
        comparison=cells["forecastbench_comparison_model"] == "True",
        age=float(age) if age else float("nan"),
    )


def make_board(
    found: Forecasters,
    mode: str,
    today: date | None = None,
    *,
    difficulty: str | None = None,
    by: str | None = None,
    against: str | None = None,
    seed: int = 0,
) -> BenchBoard:
    """Score the forecasters of a mode, and each group of questions if that is wanted.

    With `today` the rounds are left out that the site leaves out on that day; else all count. Without a
    `difficulty` markets are as hard as the site has it: in the tournament as for the crowd, if the
    forecaster is there that says what the crowd said, else by two-way fixed effects.
    """
    left_out = {} if today is None else rounds_left_out(found.rows, mode, today)
    if left_out:
        rows = tuple(row for row in found.rows if row.due not in left_out)
        reasons = [f"left out: the round due {due}: {why}" for due, why in sorted(left_out.items())]
        found = replace(found, rows=rows, notes=(*reasons, *found.notes))

    found = _of_mode(found, mode)
    names = sorted({row.forecaster for row in found.rows})
    if not names:
        why = found.notes[0] if found.notes else "no forecast is on a resolved question"
        hint = "--every-round scores it too" if left_out else "name more files, or another --mode"
        raise ArenaError("nobody", f"nobody can be ranked: {why}", hint)

    if against is not None and against not in names:
        known = f"it is one of {', '.join(names[:20])}"
        raise ArenaError("no_forecaster", f"no forecaster is called {against!r}", known)
    groups = () if by is None else tuple(_group_scores(found.rows, by))
    clustered, notes = dict[str, ForecastBenchScores](), list[str]()
    scores: Sequence[ForecastBenchScores] | Sequence[PaperScores]
    try:
        if mode == "paper":
            noted = {row.question: row.outcome.noted for row in found.rows}
            tables, _ = _tables(found.rows, names)
            scores = paper_leaderboard(*tables, seed=seed, noted=noted, against=against)
        else:
            scores, clustered, notes = _site_scores(found.rows, names, mode, difficulty, against, seed)
    except ValueError as error:
        hint = "see docs/forecastbench.md for what each mode needs"
        raise ArenaError("no_board", f"there is no {mode} board: {error}", hint) from error
    return BenchBoard(mode, scores, clustered, found.teams, groups, (*found.notes, *notes))


def _site_scores(
    rows: Sequence[ScoredForecast],
    names: list[str],
    mode: str,
    difficulty: str | None,
    against: str | None,
    seed: int,
) -> tuple[list[ForecastBenchScores], dict[str, ForecastBenchScores], list[str]]:
    """The scores of the benchmark's site, the same with intervals by cluster, and notes on them."""
    tables, note = _tables(rows, names)
    notes = [note] if note else []
    if difficulty is None:
        difficulty = "two_way"
        if mode == "tournament" and _answered_all(tables, IMPUTED):
            difficulty = "market_brier"
        elif mode == "tournament":
            notes.append(
                f"markets are adjusted as data questions are: {IMPUTED!r} is not there, or not whole"
            )
    naive = NAIVE if _answered_all(tables, NAIVE) else None
    if naive is None:
        notes.append(f"no BSS: {NAIVE!r} is not among the forecasters, or left questions out")
    wanted = dict.fromkeys([SUPERS, PUBLIC, *([] if against is None else [against])])
    options: dict[str, Any] = {
        "difficulty": difficulty,
        "naive": naive,
        "references": [name for name in wanted if name in names],
        "seed": seed,
        "part": "dataset" if mode == "preliminary" else "overall",
    }
    by_cluster = forecastbench_leaderboard(*tables, **options, by="cluster")
    by_name = {row.forecaster: row for row in by_cluster}
    return forecastbench_leaderboard(*tables, **options), by_name, notes


def _tables(rows: Sequence[ScoredForecast], names: list[str]) -> tuple[tuple[Panel, Panel], str]:
    """Data questions and markets, and who tells how hard they were, if not the benchmark's own sample."""
    fits, note = _difficulty_sample(rows)
    return (_panel(rows, fits, names, False), _panel(rows, fits, names, True)), note


def rounds_left_out(rows: Iterable[ScoredForecast], mode: str, today: date) -> dict[str, str]:
    """Return the rounds that ForecastBench's site does not score yet in a mode, each with the reason."""
    resolved: dict[str, set[tuple[Asked, bool]]] = defaultdict(set)
    for row in rows:
        resolved[row.due].add((row.asked, row.outcome.market))

    reasons = {}
    for due, questions in resolved.items():
        markets = sum(is_market for _, is_market in questions)
        data = len(questions) - markets
        age = today - date.fromisoformat(due)

        if mode in ("tournament", "baseline") and age < LEAST_AGE:
            reasons[due] = f"due {age.days} days ago, and the site waits {LEAST_AGE.days}"
        elif mode in ("tournament", "baseline") and markets < LEAST_MARKETS:
            reasons[due] = f"{count_text(markets, 'market')} resolved, and the site wants {LEAST_MARKETS}"
        elif mode != "paper" and data < LEAST_RESOLVED:
            reasons[due] = f"{count_text(data, 'data row')} resolved, and the site wants {LEAST_RESOLVED}"
    return reasons


def _of_mode(found: Forecasters, mode: str) -> Forecasters:
    """What a mode looks at."""
    rows, notes = found.rows, list(found.notes)
    if mode == "baseline":
        others = sorted(name for name, (team, _) in found.teams.items() if team != OWN)
        rows = tuple(row for row in rows if row.forecaster not in set(others))
        notes += [f"left out: {', '.join(others)}: not of {OWN}'s own"] if others else []
    if mode == "preliminary":
        rows = tuple(row for row in rows if not row.outcome.market)
        counts = Counter(row.forecaster for row in rows)
        few = sorted(name for name, count in counts.items() if count < LEAST_RESOLVED)
        rows = tuple(row for row in rows if row.forecaster not in set(few))
        what = f"fewer than {LEAST_RESOLVED} data questions resolved"
        notes += [f"left out: {', '.join(few)}: {what}"] if few else []
    return replace(found, rows=rows, notes=tuple(notes))


def _difficulty_sample(rows: Sequence[ScoredForecast]) -> tuple[list[bool], str]:
    """Who tells how hard a question was: the benchmark's sample where it covers all, else more than that."""
    names = [row.forecaster for row in rows]
    own = sample(
        names, [row.external for row in rows], [row.comparison for row in rows], [row.age for row in rows]
    ).tolist()
    models = [not row.comparison or row.forecaster == NAIVE for row in rows]
    everybody = [True] * len(rows)
    questions = {row.question for row in rows}
    for fits, note in (
        (own, ""),
        (models, "difficulty is computed from all models here: the benchmark's own sample is not among them"),
        (everybody, "difficulty is computed from all forecasters here: there are too few models"),
    ):
        if {row.question for row, fit in zip(rows, fits, strict=True) if fit} == questions:
            return fits, note
    raise AssertionError("everybody covers every question")


def _answered_all(parts: Sequence[Panel], name: str) -> bool:
    return name in parts[0].forecasters and not any(np.isnan(part.row(name)).any() for part in parts)


def _panel(rows: Sequence[ScoredForecast], fits: list[bool], names: list[str], market: bool) -> Panel:
    chosen = [(row, fit) for row, fit in zip(rows, fits, strict=True) if row.outcome.market == market]
    return panel(
        [row.forecaster for row, _ in chosen],
        [row.question for row, _ in chosen],
        [row.probability for row, _ in chosen],
        [row.outcome.value for row, _ in chosen],
        fits=[fit for _, fit in chosen],
        stratum=[f"{row.due} {row.asked[0]}" for row, _ in chosen],
        cluster=[f"{row.asked[0]} {row.asked[1]}" for row, _ in chosen],
        family=[row.asked[0] for row, _ in chosen],
        forecasters=names,
    )


def _group_of(row: ScoredForecast, by: str) -> str:
    if by == "source":
        return row.asked[0]
    if by == "round":
        return row.due
    return "market" if row.outcome.horizon is None else f"{row.outcome.horizon:,} d"


def _group_scores(rows: Sequence[ScoredForecast], by: str) -> Iterator[GroupScore]:
    """Plain means on each group's questions, lowest first; what is in one cluster errs together."""
    found: dict[tuple[str, str], dict[tuple[str, str], list[float]]] = defaultdict(lambda: defaultdict(list))
    order: dict[str, tuple[bool, int, str]] = {}
    for row in rows:
        group, days = _group_of(row, by), row.outcome.horizon
        order[group] = (days is None, (days or 0) if by == "horizon" else 0, group)
        brier = (row.probability - row.outcome.value) ** 2
        found[group, row.forecaster][row.asked[0], row.asked[1]].append(brier)
    scores = []
    for (group, name), clusters in found.items():
        mean, low, high = mean_by_cluster(clusters.values())
        n = sum(map(len, clusters.values()))
        scores.append(GroupScore(group, name, n, mean, low, high))
    yield from sorted(scores, key=lambda one: (order[one.group], one.brier, one.forecaster))
