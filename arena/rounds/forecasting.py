"""A benchmark's question set answered by the arena's agents: a cohort of one round that trades nothing.

Each question is shown as a market; a data question is one market for each of its dates, and all of these are
asked about at once. Line-up, prompts and method are frozen, calls are reserved and kept, and an answer that
the record has is not asked for again. There are no offers at the prices shown, so no order could be filled.
"""

import csv
import io
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime, time
from fractions import Fraction
from itertools import chain
from typing import Any

from agents.kinds import constant, llm, naive, random
from agents.model import DECIDED_STATUSES, USABLE_STATUSES, Context, Forecast, View
from agents.model_table.capabilities import with_limits
from agents.prompts.template import BadTemplate, compile_template
from agents.registry import prompt_names, prompt_text
from arena.cohorts.freeze import freeze_cohort
from arena.config import Config
from arena.config.model import AgentConfig
from arena.errors import ArenaError
from arena.forms.bench.answers import ANSWER_COLUMNS
from arena.forms.bench.combinations import without_combinations
from arena.forms.bench.model import (
    WAYS,
    Asked,
    BenchForecast,
    BenchQuestion,
    ForecastFile,
    QuestionSet,
    ResolutionSet,
    joint_probability,
)
from arena.forms.bench.reading import read_question_set, read_resolution_set, strictly
from arena.record.model.benchmark import FORECASTBENCH, BenchmarkFile
from arena.record.model.cohort import BENCHMARK, NO_EVIDENCE, Cohort, Entrant
from arena.record.queries.benchmark import newest_files, read_answer_usage, read_file
from arena.record.queries.cohorts import (
    StoredCohort,
    next_cohort_number,
    read_cohorts,
    read_final_forecasts,
    read_rounds,
    read_turn_statuses,
)
from arena.record.record import Record
from arena.record.schema.database import Connection
from arena.record.write.cohorts import end_cohort, open_round
from arena.rounds.evidence import gather_evidence
from arena.rounds.evidence_judge import judge_of
from arena.rounds.round import finish_round
from arena.rounds.season import start_cohort
from arena.rounds.world import World
from arena.scores.files.forecastbench_rows import ARENA
from arena.scores.rules.forecastbench.difficulty_sample import IMPUTED, NAIVE
from markets.millionths import millionths
from markets.model import NEVER, Listing, Market, MarketId, Quote, Snapshot
from portfolio.marks import mark_all
from portfolio.model import Holdings

DEFAULT_PROMPT = "scratchpad"
"""The prompt by which every agent is asked, unless the method names another."""
OWN_PROMPTS = "own"
"""The method's prompt where each agent is asked by the prompt of its own settings."""
SHOWN_BY = {"evidence": "articles", "price": "prices"}
"""What a prompt shows, by the ending of its name."""
LIKELY = 0.05, 0.95
"""The bounds within which the share of earlier questions is stated as a probability."""


@dataclass(frozen=True, slots=True)
class AskingMethod:
    """How the agents with a model are asked, in the terms of ForecastBench's paper.

    `prices` shows the probability of a market, and the value of a series, when the set was frozen;
    `evidence` shows articles; `batch` is how many questions are put at once; `combinations` also asks those
    about two others.
    """

    prompt: str = DEFAULT_PROMPT
    prices: bool = False
    evidence: bool = False
    batch: int = 1
    combinations: bool = False

    @property
    def words(self) -> str:
        """Return the name of the method on boards.

        >>> AskingMethod("zero_shot").words, AskingMethod(prices=True, evidence=True).words
        ('zero shot', 'scratchpad with news with freeze values')
        """
        name = "own prompts" if self.prompt == OWN_PROMPTS else self.prompt.replace("_", " ")
        if self.evidence:
            name += " with news"
        if self.prices:
            name += " with freeze values"
        return name


def method_of(cohort: Cohort) -> AskingMethod:
    """Return the method that a cohort has frozen."""
    names = AskingMethod.__dataclass_fields__
    return AskingMethod(**{name: value for name, value in cohort.venue_settings.items() if name in names})


def read_asked(file: BenchmarkFile, method: AskingMethod) -> QuestionSet:
    """Return the questions of a kept file that a method asks."""
    question_set: QuestionSet = strictly(read_question_set, file.name, file.text, method.combinations)
    return question_set


def benchmark_cohorts(record_cohorts: Iterable[StoredCohort]) -> list[StoredCohort]:
    """Return the record's cohorts that answer a benchmark's question sets."""
    return [stored for stored in record_cohorts if stored.cohort.stamp == BENCHMARK]


# ── the line-up ──────────────────────────────────────────────────────────────────────────────────────────


def line_up(
    config: Config, method: AskingMethod, only: Sequence[str], added: Sequence[AgentConfig] = ()
) -> Config:
    """Return the config with its agents, or `only` some and those they are made from, asked by a method.

    The agents in `added` are added to the config's and always chosen. Raise `ArenaError` for a name in
    `only` that no agent has.
    """
    agents = {agent.name: agent for agent in (*config.agents, *added)}
    for name in only:
        if name not in agents:
            hint = f"agents: {', '.join(agents)}"
            raise ArenaError("no_agent", f"there is no agent {name!r}", hint, status=64)

    # Agents are wanted with all that they are made from.
    wanted = set()
    pending = [agent.name for agent in added]
    pending.extend(only or agents)
    while pending:
        name = pending.pop()
        if name not in wanted:
            wanted.add(name)
            pending.extend(agents[name].of)

    chosen = [_asked_by(agent, config, method) for agent in agents.values() if agent.name in wanted]
    folders = config.extensions("prompts")
    texts = {}
    for agent in chosen:
        for name in prompt_names(agent.settings):
            texts[name] = prompt_text(name, config.folder, folders)
    return replace(config, agents=tuple(chosen), prompts=texts)


def _asked_by(agent: AgentConfig, config: Config, method: AskingMethod) -> AgentConfig:
    """Return an agent with the settings of a method; an agent without a model is returned as it is."""
    settings = agent.settings
    if not isinstance(settings, llm.Settings):
        return agent

    if method.prompt == OWN_PROMPTS:
        method = replace(method, prompt=settings.prompt)
    settings = settings.model_copy(
        update={
            "prompt": prompt_of(method, config),
            "system": None,
            "prices": "shown" if method.prices else "hidden",
            "batch": method.batch,
            "context": Context(history=False, siblings=False, past=False),
        }
    )
    return replace(agent, settings=with_limits(settings, method.batch))


def prompt_of(method: AskingMethod, config: Config) -> str:
    """Return the name of the prompt by which a method asks: a variant that shows what the method shows.

    Raise `ArenaError` if there is none, or if it is faulty or asks for bets.
    """
    is_shown = {"evidence": method.evidence, "price": method.prices}
    shown = {ending: words for ending, words in SHOWN_BY.items() if is_shown[ending]}
    folders = config.extensions("prompts")

    # The variant made for what is shown comes first; the prompt itself will do if it shows as much.
    names = [method.prompt]
    if shown:
        names.insert(0, f"{method.prompt}_with_{'_and_'.join(shown)}")

    for name in names:
        try:
            template = compile_template(prompt_text(name, config.folder, folders))
        except LookupError:
            continue
        except BadTemplate as error:
            raise ArenaError("bad_prompt", f"the prompt {name}, {error}", "correct the template") from error

        if template.answer != "forecasts":
            hint = "take one that asks for forecasts alone, such as zero_shot or scratchpad"
            raise ArenaError("bad_prompt", f"the prompt {name} asks for bets", hint, status=64)
        if template.names.issuperset(shown):
            return name

    message = f"there is no prompt {method.prompt}"
    if shown:
        message = f"no prompt {method.prompt} shows {' and '.join(shown.values())}"
    raise ArenaError("no_prompt", message, "arena show prompts lists them", status=64)


def baselines(record: Record, question_set: QuestionSet, taken: Iterable[str]) -> list[AgentConfig]:
    """Return the benchmark's forecasters that ask no model, without those whose names are taken."""
    settings = {
        "always-0": ("constant", constant.Settings(p=0)),
        "always-0.5": ("constant", constant.Settings(p=0.5)),
        "always-1": ("constant", constant.Settings(p=1)),
        "random-uniform": ("random", random.Settings(bets=0)),
        "freeze-value": ("naive", naive.Settings()),
        "naive": ("naive", naive.Settings(rates=earlier_rates(record, question_set))),
    }
    taken = set(taken)
    return [AgentConfig(name, kind, own, 0) for name, (kind, own) in settings.items() if name not in taken]


def earlier_rates(record: Record, question_set: QuestionSet) -> dict[str, dict[int, float]]:
    """Return how often data questions of earlier rounds had resolved YES when a set was due.

    The shares are by source and by days from the due date, smoothed and kept within `LIKELY`.
    """
    data_sources = {question.source for question in question_set.questions if not question.is_market}
    outcomes_by_days: dict[tuple[str, int], list[float]] = defaultdict(list)

    for file in record.read(newest_files, "resolutions"):
        if file.due >= question_set.due:
            continue
        resolutions: ResolutionSet = strictly(read_resolution_set, file.name, file.text)
        for row in resolutions.rows:
            if row.resolved and row.source in data_sources and row.date <= question_set.due:
                after_due = date.fromisoformat(row.date) - date.fromisoformat(file.due)
                outcomes_by_days[row.source, after_due.days].append(row.value)

    # One YES and one NO are added to each count, so that few outcomes don't make an extreme share.
    least, most = LIKELY
    rates: dict[str, dict[int, float]] = defaultdict(dict)
    for (source, days), outcomes in sorted(outcomes_by_days.items()):
        share = (sum(outcomes) + 1) / (len(outcomes) + 2)
        rates[source][days] = round(min(max(share, least), most), 6)

    combined_sources = {question.source for question in question_set.questions if question.combined}
    for source in sorted(combined_sources & data_sources):
        for ways in WAYS:
            rates[category_of(source, ways)] = _combination_rates(rates[source], ways)

    return {category: by_days for category, by_days in rates.items() if by_days}


def _combination_rates(rates: Mapping[int, float], ways: Sequence[int]) -> dict[int, float]:
    """Return how often two independent questions of a source end so, by days; even odds without rates."""
    joint_rates = {}
    for days, rate in (rates or {0: 0.5}).items():
        joint_rate = joint_probability([rate, rate], ways) or 0.0
        joint_rates[days] = round(joint_rate, 6)
    return joint_rates


# ── the questions ────────────────────────────────────────────────────────────────────────────────────────


def decided_at(question_set: QuestionSet, now: datetime) -> datetime:
    """Return the time of answering a set: now, or the start of its due day if that is earlier."""
    due = datetime.combine(date.fromisoformat(question_set.due), time(), UTC)
    return min(now.replace(microsecond=0), due)


def set_snapshot(question_set: QuestionSet, version: int, at: datetime, method: AskingMethod) -> Snapshot:
    """Return a question set as the snapshot of markets that agents are shown."""
    listings = []

    for market_id, question, asked in question_ids(question_set, version, method):
        quote = None
        _, asked_id, _ = asked
        probability = question.freeze_probability(asked_id)
        if probability is not None:
            frozen_at = min(_instant(question.texts.get("freeze_datetime"), at), at)
            quote = Quote(market_id, frozen_at, None, None, millionths(probability))
        market = _market(market_id, question, asked, question_set.due, method)
        listings.append(Listing(market, quote))

    return Snapshot(at, tuple(listings))


def question_ids(
    question_set: QuestionSet, version: int, method: AskingMethod
) -> Iterator[tuple[MarketId, BenchQuestion, Asked]]:
    """Yield every forecast that a set wants: its id in the record, the question, and what it is about.

    A data question is yielded once for each of its dates, a combination also for each way in which its
    questions may end. Each version of a set has ids of its own, as has a method that shows values: the
    markets' texts differ. What is behind the @ tells the forecasts of one question apart.
    """
    file_part = question_set.due
    if version != 1:
        file_part += f".{version}"
    if method.prices:
        file_part += "+values"

    for question in question_set.questions:
        name = question.id
        if question.combined:
            name = "~".join(question.texts["id"])
        market_id = f"{FORECASTBENCH}:{file_part}:{question.source}:{name}"

        for asked in question.asked:
            _, asked_id, day = asked
            marks = [day] if day else []
            if question.combined:
                marks.append(way_letters(question.ways[asked_id]))

            own_id = f"{market_id}@{'.'.join(marks)}" if marks else market_id
            yield MarketId(own_id), question, asked


def way_letters(ways: Sequence[int]) -> str:
    """Return the outcomes of two questions as two letters.

    >>> way_letters((1, -1))
    'yn'
    """
    return "".join("y" if way == 1 else "n" for way in ways)


def category_of(source: str, ways: Sequence[int]) -> str:
    """Return the category of a forecast: its source and, for a combination, the outcomes of its questions.

    >>> category_of("fred", (1,)), category_of("fred", (1, -1))
    ('fred', 'fred, yn')
    """
    if len(ways) == 1:
        return source
    return f"{source}, {way_letters(ways)}"


def _market(
    market_id: MarketId, question: BenchQuestion, asked: Asked, due: str, method: AskingMethod
) -> Market:
    """Return the market that stands for one forecast that a question wants."""
    _, asked_id, day = asked
    ways = question.ways[asked_id]
    if question.combined:
        text = combined_question(ways, day)
        rules = _combined_rules(question, due, method)
    else:
        text = _with_dates(question.texts["question"], due, day)
        rules = _rules(question, due, day, method)

    # A combination opens with the later of its two questions, and closes with the later.
    opens = []
    closes = []
    for part in question.parts:
        opens.append(_instant(part["market_info_open_datetime"], FIRST))
        closes.append(_instant(day or part["market_info_close_datetime"], NEVER))

    closes_at = max(closes)
    return Market(
        id=market_id,
        event_id=f"{FORECASTBENCH}:{question.source}:{question.id}",
        question=text,
        rules="\n\n".join(f"{head}: {text}" for head, text in rules.items() if text),
        category=category_of(question.source, ways),
        opens_at=min(max(opens), closes_at),
        closes_at=closes_at,
    )


def _rules(question: BenchQuestion, due: str, day: str | None, method: AskingMethod) -> dict[str, str]:
    """Return the rules of a question, by heading."""
    texts = {name: _with_dates(value, due, day) for name, value in question.texts.items()}
    criteria = [texts["resolution_criteria"], texts["market_info_resolution_criteria"]]
    rules = {
        "How it is decided": "\n".join(filter(None, criteria)),
        "Background": texts["background"],
    }
    if method.prices and day is not None:
        head = f"Value on {texts['freeze_datetime'][:10]}"
        rules[head] = f"{texts['freeze_datetime_value']}. {texts['freeze_datetime_value_explanation']}"
    return rules


def combined_question(ways: Sequence[int], day: str | None) -> str:
    """Return the text that asks about two questions, whose own texts are in the rules.

    >>> combined_question((1, -1), "2026-03-08")
    'Will question 1 resolve YES and question 2 NO, both as of 2026-03-08?'
    """
    first, second = ["YES" if way == 1 else "NO" for way in ways]
    when = f", both as of {day}" if day else ""
    return f"Will question 1 resolve {first} and question 2 {second}{when}?"


def _combined_rules(question: BenchQuestion, due: str, method: AskingMethod) -> dict[str, str]:
    """Return the rules of two questions at once, by heading, in the order of the paper's prompt.

    It is the same for each date and way, so that a prompt has it once.
    """

    def filled(part: Mapping[str, Any]) -> dict[str, str]:
        return {name: _with_dates(value, due, "the date") for name, value in part.items()}

    both = list(map(filled, question.parts))
    rules = {"Task": _with_dates(question.texts["question"], due, "the date")}
    for number, texts in enumerate(both, 1):
        rules[f"Question {number}"] = texts["question"]
    for number, texts in enumerate(both, 1):
        rules[f"Question {number} background"] = texts["background"]
    for number, texts in enumerate(both, 1):
        criteria = [texts["resolution_criteria"], texts["market_info_resolution_criteria"]]
        rules[f"Question {number} is decided"] = "\n".join(filter(None, criteria))

    if method.prices:
        for number, texts in enumerate(both, 1):
            head = f"Question {number} value on {texts['freeze_datetime'][:10]}"
            rules[head] = f"{texts['freeze_datetime_value']}. {texts['freeze_datetime_value_explanation']}"
        if question.is_market:
            rules["Price"] = "it is what both values make if neither question tells about the other"
    return rules


FIRST = datetime(1970, 1, 1, tzinfo=UTC)


def _with_dates(value: Any, due: str, day: str | None) -> str:
    """Return a question's text with its dates filled in; empty if there is no text.

    Without a day its place is left as it is.
    """
    if value == "N/A":
        return ""

    text = str(value).replace("{forecast_due_date}", due)
    if day is not None:
        text = text.replace("{resolution_date}", day)
    return text.strip()


def _instant(text: Any, fallback: datetime) -> datetime:
    """Return the instant in a text, in UTC, or the fallback if it names none."""
    try:
        at = datetime.fromisoformat(str(text))
    except ValueError:
        return fallback
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


SAMPLED = 20
"""About how many questions of a set the cost of asking all of them is worked out from."""


def sample_view(config: Config, snapshot: Snapshot) -> tuple[View, Fraction]:
    """Return a view of a sample of a set's questions, and the ratio of the set to the sample."""
    questions: dict[str, list[Listing]] = defaultdict(list)
    for listing in snapshot.shown:
        questions[listing.market.series or listing.market.id].append(listing)

    # Every n-th question, with n rounded up, so that at most about SAMPLED are taken.
    step = -(-len(questions) // SAMPLED) or 1
    sampled_questions = list(questions.values())[::step]
    sample = replace(snapshot, shown=tuple(chain.from_iterable(sampled_questions)))

    account = Holdings(cash=config.cohorts.bankroll)
    mark = mark_all({"": account}, sample)[""]
    view = View(snapshot=sample, holdings=account, mark=mark, rules=config.rules, seed=1)
    set_to_sample = Fraction(len(questions), max(len(sampled_questions), 1))
    return view, set_to_sample


# ── playing ──────────────────────────────────────────────────────────────────────────────────────────────


def answered_by(record: Record, question_file: BenchmarkFile, method: AskingMethod) -> list[StoredCohort]:
    """Return the cohorts that answer a file by a method, whose agents do not answer it again."""
    settings = _venue_settings(question_file, method)
    cohorts = record.read(read_cohorts, trading=False)
    return [stored for stored in cohorts if stored.cohort.venue_settings == settings]


def _venue_settings(question_file: BenchmarkFile, method: AskingMethod) -> dict[str, Any]:
    """Return the settings that a cohort freezes about its file and method."""
    settings = {
        "set": question_file.name,
        "due": question_file.due,
        "version": question_file.version,
        "sha256": question_file.sha256,
        **asdict(method),
    }
    if not method.combinations:  # cohorts of before combinations were asked have no such setting
        del settings["combinations"]
    return settings


def begin_set(
    config: Config, question_file: BenchmarkFile, method: AskingMethod, at: datetime, record: Record
) -> None:
    """Start the cohort that answers a set, with a config's line-up.

    Raise `ArenaError` if the method shows articles and the config has no source of them.
    """
    evidence = config.evidence.source if method.evidence else NO_EVIDENCE
    if method.evidence and evidence == NO_EVIDENCE:
        hint = "name one in the config: evidence: {from: gdelt}"
        raise ArenaError("no_evidence", "the config has no source of articles", hint)

    planned, texts = freeze_cohort(config, record.read(next_cohort_number), at)
    cohort = replace(
        planned,
        rounds=1,
        venue=FORECASTBENCH,
        venue_settings=_venue_settings(question_file, method),
        stamp=BENCHMARK,
        evidence=evidence,
        evidence_settings=planned.evidence_settings if method.evidence else {},
        by_hand=True,
        offset=None,
        hidden=0,
    )
    start_cohort(cohort, texts, record)


OVER = (*DECIDED_STATUSES, "out")
"""How a turn ends that is not tried again."""


def answered_agents(record: Record, cohorts: Sequence[StoredCohort]) -> set[str]:
    """Return the agents of these cohorts that have answered, or will since their cohort is open."""
    agents = set()
    for stored in cohorts:
        is_open = stored.ended_at is None
        for usage in record.read(read_answer_usage, stored.id):
            if is_open or usage.status in OVER:
                agents.add(usage.agent)
    return agents


async def play_set(
    stored: StoredCohort, question_file: BenchmarkFile, world: World, record: Record
) -> tuple[str, ...]:
    """Let the agents of a cohort answer what is left; return what was missing, in words.

    The cohort ends once no turn is worth another try.
    """
    question_set = read_asked(question_file, method_of(stored.cohort))
    at = stored.cohort.starts_at
    if not record.read(read_rounds, stored.id):
        snapshot = set_snapshot(question_set, question_file.version, at, method_of(stored.cohort))
        cohort_key = stored.id, stored.cohort.number
        record.write(open_round, cohort_key, stored.entrant_ids, snapshot, 1, (), world.now())

    trouble: tuple[str, ...] = ()
    (only_round,) = record.read(read_rounds, stored.id)
    if not only_round.done:
        judge = judge_of(stored, only_round, world, record)
        trouble = await gather_evidence(stored, only_round, world, record, judge)
        await finish_round(stored, only_round, world, record, late=False)
        (only_round,) = record.read(read_rounds, stored.id)

    if only_round.done:
        record.write(end_cohort, stored.id, at)
    return trouble


# ── what they answered ───────────────────────────────────────────────────────────────────────────────────


BENCHMARK_NAMES = {
    ("constant", "always-0"): "Always 0",
    ("constant", "always-0.5"): "Always 0.5",
    ("constant", "always-1"): "Always 1",
    ("random", "random-uniform"): "Random Uniform",
    ("naive", "freeze-value"): IMPUTED,
    ("naive", "naive"): NAIVE,
}
"""What the benchmark calls the forecasters that ask no model, by kind and name."""
METHOD_FREE_KINDS = ("constant", "random", "market", "naive")
"""Kinds whose answers don't depend on the method."""


@dataclass(frozen=True, slots=True)
class RecordedAnswers:
    """The answers of an agent of a cohort, in the form of a filed set, with its reasons by question."""

    cohort: int
    agent: str
    method: AskingMethod
    filed: ForecastFile
    reasons: Mapping[Asked, str]


def read_recorded_answers(
    connection: Connection, dues: Collection[str] | None = None
) -> list[RecordedAnswers]:
    """Return the usable answers of all agents, or only those for sets that are due on some days.

    Of answers under one name for the same day, only the newest are returned.
    """
    answers = {}
    for stored in benchmark_cohorts(read_cohorts(connection, trading=False)):
        if dues is None or stored.cohort.venue_settings["due"] in dues:
            for recorded in _cohort_answers(connection, stored):
                answers[recorded.filed.model, recorded.filed.due] = recorded
    return list(answers.values())


def newest_answers(
    connection: Connection, question_set: QuestionSet, agent: str, cohort: int | None
) -> RecordedAnswers:
    """Return the newest answers to a set of an agent, by its name or its board's, or those in a cohort."""
    agents_with_answers: dict[str, None] = {}
    own_answers = []
    for answers in read_recorded_answers(connection, [question_set.due]):
        if cohort in (None, answers.cohort):
            agents_with_answers[answers.agent] = None
            if agent in (answers.agent, answers.filed.model):
                own_answers.append(answers)

    if not own_answers:
        message = f"there are no answers of {agent!r} to {question_set.name}"
        names = ", ".join(agents_with_answers) or "none yet: arena study forecastbench run"
        raise ArenaError("no_answers", message, f"agents with answers: {names}")
    return max(own_answers, key=lambda answers: answers.cohort)


def _cohort_answers(connection: Connection, stored: StoredCohort) -> Iterator[RecordedAnswers]:
    """Yield the usable answers of a cohort's agents, in line-up order."""
    settings = stored.cohort.venue_settings
    question_file = read_file(connection, "questions", settings["set"], settings["version"])
    method = method_of(stored.cohort)
    question_set = read_asked(question_file, method)

    questions = dict[MarketId, Asked]()
    for market_id, _, asked in question_ids(question_set, question_file.version, method):
        questions[market_id] = asked

    for only_round in read_rounds(connection, stored.id):
        statuses = read_turn_statuses(connection, only_round.id)
        forecasts = read_final_forecasts(connection, only_round.id, list(stored.entrant_ids))
        for entrant in stored.cohort.entrants:
            own_forecasts = forecasts.get(entrant.name)
            if own_forecasts and statuses.get(stored.entrant_ids[entrant.name]) in USABLE_STATUSES:
                yield _recorded(stored.cohort, entrant, question_set, questions, own_forecasts)


def _recorded(
    cohort: Cohort,
    entrant: Entrant,
    question_set: QuestionSet,
    questions: Mapping[MarketId, Asked],
    forecasts: Sequence[Forecast],
) -> RecordedAnswers:
    """Return the forecasts of an entrant under the name by which the benchmark's board shows it."""
    method = method_of(cohort)
    board_name = BENCHMARK_NAMES.get((entrant.kind, entrant.name), entrant.name)
    if entrant.kind not in METHOD_FREE_KINDS:
        board_name = f"{entrant.name} ({method.words})"
    lab = str(entrant.settings.get("model") or ARENA).partition("/")[0]

    rows = list[BenchForecast]()
    reasons = {}
    for forecast in forecasts:
        asked = questions.get(forecast.market_id)
        if asked is not None:
            row_number = len(rows) + 1
            rows.append(BenchForecast(row_number, *asked, forecast.probability))
            reasons[asked] = forecast.reason

    origin = f"cohort {cohort.number}, {entrant.name}"
    filed = ForecastFile(origin, ARENA, board_name, lab, question_set.name, question_set.due, tuple(rows))
    return RecordedAnswers(cohort.number, entrant.name, method, filed, reasons)


def answers_csv(answers: RecordedAnswers, combinations: bool) -> str:
    """Return the answers as a CSV of the columns that a filed set has, so that they are checked like one.

    Those on two questions at once are left out unless they are wanted.
    """
    text = io.StringIO(newline="")
    lines = csv.writer(text)
    lines.writerow(ANSWER_COLUMNS)

    filed = answers.filed
    if not combinations:
        filed = without_combinations(filed)
    for row in filed.rows:
        reason = answers.reasons[row.source, row.id, row.date]
        lines.writerow((row.source, row.id, row.date or "", repr(row.forecast), reason))

    return text.getvalue()
