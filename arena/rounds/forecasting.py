"""A benchmark's question set answered by the arena's agents: a cohort of one round that trades nothing.

Each question is what a market is elsewhere; a data question is one for each of its dates, and all of these
are asked about at once. Line-up, prompts and method are frozen, calls are reserved and kept, and whatever the
record has is not asked again. Nobody offers anything at the prices shown, so no order could be filled.
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
from arena.record.model.benchmark import FORECASTBENCH, BenchmarkFile
from arena.record.model.cohort import BENCHMARK, NO_EVIDENCE, Cohort, Entrant
from arena.record.queries.benchmark import newest_files, read_answer_usage, read_file
from arena.record.queries.cohorts import (
    StoredCohort,
    StoredRound,
    next_cohort_number,
    read_cohorts,
    read_final_forecasts,
    read_rounds,
    read_turn_statuses,
)
from arena.record.record import Record
from arena.record.schema.database import Connection
from arena.record.write.cohorts import add_cohort, end_cohort, open_round
from arena.rounds.evidence import gather_evidence
from arena.rounds.round import finish_round
from arena.rounds.world import World
from arena.scores.files.forecastbench import (
    ANSWER_COLUMNS,
    Asked,
    BenchForecast,
    BenchQuestion,
    ForecastFile,
    QuestionSet,
    ResolutionSet,
    read_question_set,
    read_resolution_set,
    strictly,
)
from arena.scores.files.forecastbench_board import ARENA
from arena.scores.rules.forecastbench.difficulty_sample import IMPUTED, NAIVE
from markets.millionths import millionths
from markets.model import NEVER, Listing, Market, MarketId, Quote, Snapshot
from portfolio.ledger import open_account
from portfolio.marks import mark_all
from portfolio.model import Holdings

DEFAULT_PROMPT, OWN_PROMPTS = "scratchpad", "own"
"""The prompt that all are asked by, unless each is asked by its own."""
LIKELY = 0.05, 0.95
"""A share of earlier questions is never taken for more certain than that."""


@dataclass(frozen=True, slots=True)
class AskingMethod:
    """How the agents with a model are asked, in the terms of ForecastBench's paper.

    `prices` shows what the crowd said, and the value of a series, when the set was frozen; `evidence` shows
    articles; `batch` is how many questions are put at once.
    """

    prompt: str = DEFAULT_PROMPT
    prices: bool = False
    evidence: bool = False
    batch: int = 1

    @property
    def words(self) -> str:
        """As boards name it.

        >>> AskingMethod("zero_shot").words, AskingMethod(prices=True, evidence=True).words
        ('zero shot', 'scratchpad with news with freeze values')
        """
        shown = (" with news" if self.evidence else "") + (" with freeze values" if self.prices else "")
        asked = "own prompts" if self.prompt == OWN_PROMPTS else self.prompt.replace("_", " ")
        return f"{asked}{shown}"


def method_of(cohort: Cohort) -> AskingMethod:
    """The method that a cohort has frozen."""
    names = AskingMethod.__dataclass_fields__
    return AskingMethod(**{name: value for name, value in cohort.venue_settings.items() if name in names})


def benchmark_cohorts(record_cohorts: Iterable[StoredCohort], due: str | None = None) -> list[StoredCohort]:
    """The cohorts that answer a benchmark, of sets due on a day if one is given."""
    return [
        stored
        for stored in record_cohorts
        if stored.cohort.stamp == BENCHMARK and due in (None, stored.cohort.venue_settings["due"])
    ]


# ── the line-up ──────────────────────────────────────────────────────────────────────────────────────────


def line_up(
    config: Config, method: AskingMethod, only: Sequence[str], more: Sequence[AgentConfig] = ()
) -> Config:
    """Return the config with its agents, or `only` some and those they are made from, asked by a method.

    All of `more` are asked too, whatever is named in `only`.
    """
    agents = [*config.agents, *more]
    unknown = [name for name in only if name not in {agent.name for agent in agents}]
    if unknown:
        known = ", ".join(agent.name for agent in agents)
        raise ArenaError("no_agent", f"there is no agent {unknown[0]!r}", f"agents: {known}", status=64)
    wanted = {*only, *(agent.name for agent in more)}
    while more_names := {name for x in agents if x.name in wanted for name in x.of} - wanted:
        wanted |= more_names
    chosen = [_asked_by(agent, config, method) for agent in agents if not only or agent.name in wanted]
    names = dict.fromkeys(name for agent in chosen for name in prompt_names(agent.settings))
    folders = config.extensions("prompts")
    texts = {name: prompt_text(name, config.folder, folders) for name in names}
    return replace(config, agents=tuple(chosen), prompts=texts)


def _asked_by(agent: AgentConfig, config: Config, method: AskingMethod) -> AgentConfig:
    settings = agent.settings
    if not isinstance(settings, llm.Settings):
        return agent
    own = replace(method, prompt=settings.prompt) if method.prompt == OWN_PROMPTS else method
    asked = settings.model_copy(
        update={
            "prompt": prompt_of(own, config),
            "system": None,
            "prices": "shown" if method.prices else "hidden",
            "batch": method.batch,
            "context": Context(history=False, siblings=False, past=False),
        }
    )
    return replace(agent, settings=with_limits(asked, method.batch))


def prompt_of(method: AskingMethod, config: Config) -> str:
    """The prompt that a method asks by: that of its name which shows prices and articles as is wanted."""
    ends = (["evidence"] if method.evidence else []) + (["price"] if method.prices else [])
    folders, name = config.extensions("prompts"), method.prompt
    for named in ([f"{name}_with_{'_and_'.join(ends)}"] if ends else []) + [name]:
        try:
            template = compile_template(prompt_text(named, config.folder, folders))
        except LookupError:
            continue
        except BadTemplate as error:
            raise ArenaError("bad_prompt", f"the prompt {named}, {error}", "correct the template") from error
        lacks = [what for what in ends if what not in template.names]
        if template.answer != "forecasts":
            hint = "take one that asks for forecasts alone, such as zero_shot or scratchpad"
            raise ArenaError("bad_prompt", f"the prompt {named} asks for bets", hint, status=64)
        if not lacks:
            return named
    what = " and ".join({"evidence": "articles", "price": "prices"}[end] for end in ends)
    words = f"there is no prompt {name}" if not ends else f"no prompt {name} shows {what}"
    raise ArenaError("no_prompt", words, "arena prompts lists them", status=64)


def baselines(record: Record, asked: QuestionSet, taken: Iterable[str]) -> list[AgentConfig]:
    """The benchmark's forecasters that ask no model, but for names that are taken."""
    settings = {
        "always-0": ("constant", constant.Settings(p=0)),
        "always-0.5": ("constant", constant.Settings(p=0.5)),
        "always-1": ("constant", constant.Settings(p=1)),
        "random-uniform": ("random", random.Settings(bets=0)),
        "freeze-value": ("naive", naive.Settings()),
        "naive": ("naive", naive.Settings(rates=earlier_rates(record, asked))),
    }
    known = set(taken)
    return [AgentConfig(name, kind, own, 0) for name, (kind, own) in settings.items() if name not in known]


def earlier_rates(record: Record, asked: QuestionSet) -> dict[str, dict[int, float]]:
    """How often data questions of earlier rounds came to YES before this one was due, by source and days."""
    counts: dict[tuple[str, int], list[float]] = defaultdict(list)
    data = {question.source for question in asked.questions if not question.is_market}
    for kept in record.read(newest_files, "resolutions"):
        if kept.due >= asked.due:
            continue
        found: ResolutionSet = strictly(read_resolution_set, kept.name, kept.text)
        for row in found.rows:
            if row.resolved and row.source in data and row.date <= asked.due:
                days = (date.fromisoformat(row.date) - date.fromisoformat(kept.due)).days
                counts[row.source, days].append(row.value)
    rates: dict[str, dict[int, float]] = defaultdict(dict)
    for (source, days), values in sorted(counts.items()):
        share = (sum(values) + 1) / (len(values) + 2)
        rates[source][days] = round(min(max(share, LIKELY[0]), LIKELY[1]), 6)
    return dict(rates)


# ── the questions ────────────────────────────────────────────────────────────────────────────────────────


def decided_at(asked: QuestionSet, now: datetime) -> datetime:
    """When a set is answered: now, but no later than its day begins, so that nothing later is shown."""
    due = datetime.combine(date.fromisoformat(asked.due), time(), UTC)
    return min(now.replace(microsecond=0), due)


def set_snapshot(asked: QuestionSet, version: int, at: datetime, method: AskingMethod) -> Snapshot:
    """A set as agents are shown it."""
    return Snapshot(at, tuple(_listings(asked, version, at, method)))


def question_ids(
    asked: QuestionSet, version: int, method: AskingMethod
) -> Iterator[tuple[MarketId, BenchQuestion, str | None]]:
    """What a set asks, date by date: its id in the record, the question, and the date of a data question.

    Another version of a set has ids of its own, and so have pages that tell the value of a series.
    """
    place = f"{asked.due}{'' if version == 1 else f'.{version}'}{'+values' if method.prices else ''}"
    for question in asked.questions:
        own = f"{FORECASTBENCH}:{place}:{question.source}:{question.id}"
        for day in () if question.combined else question.dates or (None,):
            yield MarketId(own if day is None else f"{own}@{day}"), question, day


def _listings(asked: QuestionSet, version: int, at: datetime, method: AskingMethod) -> Iterator[Listing]:
    for id, question, day in question_ids(asked, version, method):
        market = _market(id, question, asked.due, day, method)
        if (chance := question.freeze_probability) is None:
            yield Listing(market, None)
        else:
            frozen_at = min(_instant(question.texts["freeze_datetime"], at), at)
            yield Listing(market, Quote(id, frozen_at, None, None, millionths(chance)))


def _market(id: MarketId, question: BenchQuestion, due: str, day: str | None, method: AskingMethod) -> Market:
    texts = {name: "" if text == "N/A" else str(text) for name, text in question.texts.items()}

    def filled(name: str) -> str:
        text = texts.get(name, "").replace("{forecast_due_date}", due)
        return (text if day is None else text.replace("{resolution_date}", day)).strip()

    closes = day or texts["market_info_close_datetime"]
    parts = [
        ("How it is decided", "\n".join(filter(None, map(filled, CRITERIA)))),
        ("Background", filled("background")),
    ]
    if method.prices and day is not None:
        value = f"{texts['freeze_datetime_value']}. {filled('freeze_datetime_value_explanation')}"
        parts.append((f"Value on {texts['freeze_datetime'][:10]}", value))
    return Market(
        id=id,
        event_id=f"{FORECASTBENCH}:{question.source}:{question.id}",
        question=filled("question"),
        rules="\n\n".join(f"{head}: {text}" for head, text in parts if text),
        category=question.source,
        opens_at=min(_instant(texts["market_info_open_datetime"], FIRST), _instant(closes, NEVER)),
        closes_at=_instant(closes, NEVER),
    )


CRITERIA = ("resolution_criteria", "market_info_resolution_criteria")
FIRST = datetime(1970, 1, 1, tzinfo=UTC)


def _instant(text: Any, otherwise: datetime) -> datetime:
    """The instant that a file names, or another one where it names none."""
    try:
        at = datetime.fromisoformat(str(text))
    except ValueError:
        return otherwise
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


SAMPLED = 20
"""From so many questions of a set it is worked out what all of them cost."""


def sample_view(config: Config, snapshot: Snapshot) -> tuple[View, Fraction]:
    """What an agent would see of some questions of a set, and how many times as many there are."""
    questions: dict[str, list[Listing]] = {}
    for listing in snapshot.shown:
        questions.setdefault(listing.market.series or listing.market.id, []).append(listing)
    every = list(questions.values())
    some = every[:: -(-len(every) // SAMPLED) or 1]
    part = replace(snapshot, shown=tuple(chain.from_iterable(some)))
    account = Holdings(cash=config.cohorts.bankroll)
    mark = mark_all({"": account}, part)[""]
    view = View(snapshot=part, holdings=account, mark=mark, rules=config.cohorts.rules, seed=1)
    return view, Fraction(len(every), max(len(some), 1))


# ── playing ──────────────────────────────────────────────────────────────────────────────────────────────


def answered_by(record: Record, kept: BenchmarkFile, method: AskingMethod) -> list[StoredCohort]:
    """The cohorts that answer a file by a method: no agent of theirs answers it again."""
    wanted = _place(kept, method)
    every = benchmark_cohorts(record.read(read_cohorts, trading=False), kept.due)
    return [stored for stored in every if stored.cohort.venue_settings == wanted]


def _place(kept: BenchmarkFile, method: AskingMethod) -> dict[str, Any]:
    return {
        "set": kept.name,
        "due": kept.due,
        "version": kept.version,
        "sha256": kept.sha256,
        **asdict(method),
    }


def begin_set(
    config: Config, kept: BenchmarkFile, method: AskingMethod, at: datetime, record: Record
) -> None:
    """Start the cohort that answers a set, with a config's line-up."""
    evidence = config.evidence.source if method.evidence else NO_EVIDENCE
    if method.evidence and evidence == NO_EVIDENCE:
        hint = "name one in the config: evidence: {from: gdelt}"
        raise ArenaError("no_evidence", "the config has no source of articles", hint)
    planned, texts = freeze_cohort(config, record.read(next_cohort_number), at)
    cohort = replace(
        planned,
        rounds=1,
        venue=FORECASTBENCH,
        venue_settings=_place(kept, method),
        stamp=BENCHMARK,
        evidence=evidence,
        evidence_settings=planned.evidence_settings if method.evidence else {},
        by_hand=True,
        offset=None,
    )
    deposits = {entrant.name: open_account(cohort.bankroll, at) for entrant in cohort.entrants}
    record.write(add_cohort, cohort, texts, deposits)


OVER = (*DECIDED_STATUSES, "out")


def answered_agents(record: Record, cohorts: Sequence[StoredCohort]) -> set[str]:
    """The agents of cohorts whose answers are in, and those of open ones, where they go on."""
    found = set[str]()
    for stored in cohorts:
        usage = record.read(read_answer_usage, stored.id)
        found |= {one.agent for one in usage if stored.ended_at is None or one.status in OVER}
    return found


async def play_set(
    stored: StoredCohort, kept: BenchmarkFile, world: World, record: Record
) -> tuple[str, ...]:
    """Let the agents of a cohort answer what they have not; what it went without, in words.

    Once no turn is worth another try, the cohort has ended.
    """
    asked: QuestionSet = strictly(read_question_set, kept.name, kept.text)
    at = stored.cohort.starts_at
    if not record.read(read_rounds, stored.id):
        snapshot = set_snapshot(asked, kept.version, at, method_of(stored.cohort))
        place = stored.id, stored.cohort.number
        record.write(open_round, place, stored.entrant_ids, snapshot, 1, (), world.now())
    round = _round(stored, record)
    trouble = () if round.done else await gather_evidence(stored, round, world, record)
    if not round.done:
        await finish_round(stored, round, world, record, late=False)
    if _round(stored, record).done:
        record.write(end_cohort, stored.id, at)
    return trouble


def _round(stored: StoredCohort, record: Record) -> StoredRound:
    (round,) = record.read(read_rounds, stored.id)
    return round


# ── what they answered ───────────────────────────────────────────────────────────────────────────────────


AS_NAMED_THERE = {
    ("constant", "always-0"): "Always 0",
    ("constant", "always-0.5"): "Always 0.5",
    ("constant", "always-1"): "Always 1",
    ("random", "random-uniform"): "Random Uniform",
    ("naive", "freeze-value"): IMPUTED,
    ("naive", "naive"): NAIVE,
}
"""What the benchmark calls the forecasters that ask no model, by kind and name."""
UNNAMED = ("constant", "random", "market", "naive")
"""Kinds whose answers don't depend on the method."""


@dataclass(frozen=True, slots=True)
class RecordedAnswers:
    """What an agent of a cohort answered, as if it had been filed, with its reasons by question."""

    cohort: int
    agent: str
    method: AskingMethod
    filed: ForecastFile
    reasons: Mapping[Asked, str]


def read_recorded_answers(
    connection: Connection, dues: Collection[str] | None = None
) -> list[RecordedAnswers]:
    """The usable answers of all agents, of sets due on some days; of one name only the newest for a day."""
    found: dict[tuple[str, str], RecordedAnswers] = {}
    for stored in benchmark_cohorts(read_cohorts(connection, trading=False)):
        cohort, place = stored.cohort, stored.cohort.venue_settings
        if dues is not None and place["due"] not in dues:
            continue
        kept = read_file(connection, "questions", place["set"], place["version"])
        asked: QuestionSet = strictly(read_question_set, kept.name, kept.text)
        method = method_of(cohort)
        keys = {
            id: (question.source, question.id, day)
            for id, question, day in question_ids(asked, kept.version, method)
        }
        for round in read_rounds(connection, stored.id):
            statuses = read_turn_statuses(connection, round.id)
            said = read_final_forecasts(connection, round.id, list(stored.entrant_ids))
            for entrant in cohort.entrants:
                status = statuses.get(stored.entrant_ids[entrant.name])
                if (forecasts := said.get(entrant.name)) and status in USABLE_STATUSES:
                    one = _recorded(cohort, entrant, method, asked, keys, forecasts)
                    found[one.filed.model, asked.due] = one
    return list(found.values())


def _recorded(
    cohort: Cohort,
    entrant: Entrant,
    method: AskingMethod,
    asked: QuestionSet,
    keys: Mapping[MarketId, Asked],
    forecasts: Sequence[Forecast],
) -> RecordedAnswers:
    name = AS_NAMED_THERE.get((entrant.kind, entrant.name), entrant.name)
    if entrant.kind not in UNNAMED:
        name = f"{entrant.name} ({method.words})"
    lab = str(entrant.settings.get("model") or ARENA).partition("/")[0]
    answered = [(keys[one.market_id], one) for one in forecasts if one.market_id in keys]
    rows = tuple(BenchForecast(row, *key, one.probability) for row, (key, one) in enumerate(answered, 1))
    file = f"cohort {cohort.number}, {entrant.name}"
    filed = ForecastFile(file, ARENA, name, lab, asked.name, asked.due, rows)
    reasons = {key: one.reason for key, one in answered}
    return RecordedAnswers(cohort.number, entrant.name, method, filed, reasons)


def answers_csv(answers: RecordedAnswers) -> str:
    """The same in the columns of a CSV of answers, to be checked as anyone's."""
    out = io.StringIO(newline="")
    lines = csv.writer(out)
    lines.writerow(ANSWER_COLUMNS)
    for row in answers.filed.rows:
        key = row.source, row.id, row.date
        lines.writerow((row.source, row.id, row.date or "", repr(row.forecast), answers.reasons[key]))
    return out.getvalue()
