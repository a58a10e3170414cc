"""A round of ForecastBench answered by the config's agents: its questions, the cost, the answers."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from typing import Any

import typer

from arena.calls.estimate import Estimate, Usage, estimate_lineup, total_usage
from arena.cli.output import Data, attributes, exact, plain, prints_aside, progress, typed
from arena.cli.page import Page, print_page
from arena.cli.table import Table, TableChoice, TableColumn
from arena.clock import Clock
from arena.config import Config
from arena.config.environment import environment, missing_keys
from arena.config.model import AgentConfig
from arena.errors import ArenaError, count_text
from arena.record.model.benchmark import BenchmarkFile
from arena.record.queries.benchmark import count_answered_calls, newest_files, read_answer_usage
from arena.record.queries.cohorts import StoredCohort
from arena.record.record import Record
from arena.rounds.adapters import kind_inputs
from arena.rounds.benchmark_rounds import PUBLISHED, FileSource, fetch_questions
from arena.rounds.forecasting import (
    AskingMethod,
    answered_agents,
    answered_by,
    baselines,
    begin_set,
    decided_at,
    line_up,
    play_set,
    sample_view,
    set_snapshot,
)
from arena.rounds.open_world import open_world
from arena.scores.files.forecastbench import QuestionSet, coverage, is_day, read_question_set, strictly
from markets.model import Snapshot

ANSWERS = (
    TableColumn("agent", narrow="wrap"),
    TableColumn("turn", value="status"),
    TableColumn("forecasts", show=",d"),
    TableColumn("calls", show=",d", gives_way=1),
    TableColumn("tokens_in", "tokens in", ",d", gives_way=3),
    TableColumn("tokens_out", "out", ",d", gives_way=3),
    TableColumn("usd", "$", ",.4f"),
    TableColumn("note", show=plain, narrow="wrap", gives_way=2),
)
ENDS = ("low", "expected", "high")
UNFINISHED = ("pending", "failed")
"""Turns that are played when the command runs again."""


# ── the question set ─────────────────────────────────────────────────────────────────────────────────────


def read_questions(
    record: Record, due: str | None, source: str | None, at: datetime
) -> tuple[BenchmarkFile, bool]:
    """Return the question set of a round, and whether it is new in the record.

    Without `due` it is the newest. It is read from a source that is named, or from where sets are published
    if the record has none of that day; or none that is still due, where no day is named.
    """
    if due is not None and not is_day(due):
        raise ArenaError("bad_day", f"{due!r} is not a day", "write it like 2026-03-01", status=64)
    stored = record.read(newest_files, "questions", None if due is None else [due])
    if stored and source is None and stored[-1].due >= (due or f"{at:%Y-%m-%d}"):
        return stored[-1], False
    try:
        with progress("Reading the question set"):
            return fetch_questions(record, FileSource(source or PUBLISHED), due, at)
    except ArenaError as error:
        if stored and source is None:
            error.hint += f", or go on with the stored round: --due {stored[-1].due}"
        raise


def set_data(file: BenchmarkFile, is_new: bool) -> dict[str, Any]:
    """Return what a question set holds, for JSON."""
    questions: QuestionSet = strictly(read_question_set, file.name, file.text)
    rows = {kind: wanted for kind, (_, wanted) in coverage(set(), questions).items()}
    data = attributes(file, "name", "due", "version", "sha256")
    return data | {"new": is_new, "questions": len(questions.questions), "rows": rows}


# ── who answers, and what it costs ───────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class PlannedAnswers:
    """What a set was and is to be asked: cohorts of before, the line-up, and who of it is new.

    `waiting` are the agents without a key, `left_out` those that can't be made, each with the reason.
    """

    kept: BenchmarkFile
    method: AskingMethod
    snapshot: Snapshot
    earlier: tuple[StoredCohort, ...]
    config: Config
    fresh: tuple[AgentConfig, ...]
    waiting: Mapping[str, str]
    left_out: Mapping[str, str]

    @property
    def rows(self) -> int:
        """Return the number of forecasts that an agent is asked for."""
        return len(self.snapshot.shown)


def plan(
    config: Config,
    record: Record,
    kept: BenchmarkFile,
    method: AskingMethod,
    only: Sequence[str],
    with_baselines: bool,
    at: datetime,
) -> PlannedAnswers:
    """Return who is to be asked what: nobody whose answers are in."""
    asked: QuestionSet = strictly(read_question_set, kept.name, kept.text)
    added = baselines(record, asked, [agent.name for agent in config.agents]) if with_baselines else []
    whole = line_up(config, method, only, added)
    earlier = answered_by(record, kept, method)
    done = answered_agents(record, earlier)
    waiting = missing_keys(whole.agents, environment(config.folder, os.environ))

    fresh = [agent for agent in whole.agents if agent.name not in done and agent.name not in waiting]
    left_out = _left_out(fresh, done)
    fresh = [agent for agent in fresh if agent.name not in left_out]
    for agent in fresh:
        absent = [name for name in agent.of if name in waiting]
        if absent:
            words = f"{agent.name} is made from {absent[0]}, which waits for {waiting[absent[0]]}"
            raise ArenaError("apart", words, "set it, or omit the agent: name the others with --agent")

    snapshot = set_snapshot(asked, kept.version, decided_at(asked, at), method)
    return PlannedAnswers(kept, method, snapshot, tuple(earlier), whole, tuple(fresh), waiting, left_out)


def _left_out(fresh: Sequence[AgentConfig], done: Collection[str]) -> dict[str, str]:
    """Return the new agents made from one that answered in an earlier cohort, with the reason."""
    left_out: dict[str, str] = {}

    for agent in fresh:
        for source in agent.of:
            if source in done:
                left_out[agent.name] = f"{source}, which it is made from, answered in an earlier cohort"
            elif source in left_out:
                left_out[agent.name] = f"{source}, which it is made from, is left out"
    return left_out


@dataclass(frozen=True, slots=True)
class LeftToAsk:
    """What an agent is expected to use for the whole set, and which share of the set is left."""

    estimate: Estimate
    share: float

    def usage(self, end: str) -> Usage:
        """Return what is used for what is left, at one end of the estimate."""
        whole: Usage = getattr(self.estimate, end)
        return whole.times(Fraction(self.share).limit_denominator(10_000))


async def estimate(planned: PlannedAnswers, record: Record) -> list[LeftToAsk]:
    """Return what each agent that is to be asked is expected to use, from a sample of the questions."""
    config = planned.config
    view, times = sample_view(config, planned.snapshot)
    answered: dict[str, int] = {}
    for stored in planned.earlier:
        if stored.ended_at is None:
            for usage in record.read(read_answer_usage, stored.id):
                if usage.status in (None, "failed"):
                    answered[usage.agent] = usage.answered

    asked = tuple(agent for agent in config.agents if agent in planned.fresh or agent.name in answered)
    given = kind_inputs(config, config.prompts)
    with progress("Working out what it costs"):
        sampled = await estimate_lineup(replace(config, agents=asked), given, view)

    left = []
    for part in sampled:
        whole = replace(part, **{end: getattr(part, end).times(times) for end in ENDS})
        share = 1.0
        if whole.low.calls:
            share = max(0.0, 1 - answered.get(whole.agent, 0) / whole.low.calls)
        left.append(LeftToAsk(whole, share))
    return left


def cost_data(left: Sequence[LeftToAsk]) -> dict[str, Any]:
    """Return calls, tokens and dollars of what is left, agent by agent and in all, for JSON."""
    totals = {end: total_usage(one.usage(end) for one in left) for end in ENDS}
    data: dict[str, Any] = {}
    for name in ("calls", "tokens_in", "tokens_out"):
        data[name] = {end: getattr(total, name) for end, total in totals.items()}
    data["usd"] = {end: exact(total.cost) for end, total in totals.items()}

    data["agents"] = []
    for one in left:
        agent = {"agent": one.estimate.agent, "left": round(one.share, 4)}
        agent["usd"] = {end: exact(one.usage(end).cost) for end in ENDS}
        agent["trouble"] = one.estimate.trouble or None
        agent["faults"] = [attributes(fault, "message", "hint") for fault in one.estimate.faults]
        data["agents"].append(agent)
    return data


def cost_sentence(cost: Data) -> str:
    """Return calls, tokens and dollars in words."""
    usd = cost["usd"]
    tokens = f"about {cost['tokens_in']['expected']:,} tokens in and {cost['tokens_out']['expected']:,} out"
    start = f"{cost['calls']['low']:,} calls, {tokens}"
    if usd["expected"] is None:
        return f"{start}: unknown, because a price is unknown"
    most = "no known limit" if usd["high"] is None else f"${usd['high']:,.2f} at the most"
    return f"{start}: ${usd['expected']:,.2f} expected, ${usd['low']:,.2f} at the least, {most}"


def confirm(cost: Data, planned: PlannedAnswers, yes: bool, as_json: bool) -> None:
    """Say what it costs before anyone is asked; raise `ArenaError` unless somebody says yes."""
    if not cost["calls"]["low"]:
        return
    who = count_text(len(cost["agents"]), "agent")
    words = f"{who}, {count_text(planned.rows, 'forecast')} each: {cost_sentence(cost)}"
    if not yes and (as_json or not sys.stdin.isatty()):
        hint = "--yes asks, --dry only shows the cost"
        raise ArenaError("not_confirmed", f"nothing was asked: {words}", hint)

    with prints_aside():
        print_page([words])
    if not yes and not typer.confirm("Ask them?", True, err=True):
        raise ArenaError("stopped", "nothing was asked", "--dry shows what it would cost")


# ── answering ────────────────────────────────────────────────────────────────────────────────────────────


async def play(planned: PlannedAnswers, record: Record, calls: int, clock: Clock) -> tuple[str, ...]:
    """Go on with what was begun, then let the new ones answer; return what was missing, in words."""
    if planned.fresh:
        config = replace(planned.config, agents=planned.fresh)
        begin_set(config, planned.kept, planned.method, planned.snapshot.at, record)
    ended = {stored.id for stored in planned.earlier if stored.ended_at is not None}
    cohorts = answered_by(record, planned.kept, planned.method)
    unfinished = [stored for stored in cohorts if stored.id not in ended]

    trouble: list[str] = []
    with progress("Asking", calls or None) as moved:
        async with (
            open_world(planned.config, record, clock) as world,
            watched(record, unfinished, moved, calls),
        ):
            for stored in unfinished:
                trouble += await play_set(stored, planned.kept, world, record)
    return tuple(trouble)


@asynccontextmanager
async def watched(
    record: Record, cohorts: Sequence[StoredCohort], moved: Callable[[int, int | None], None], calls: int
) -> AsyncIterator[None]:
    """Tell now and then how many calls were answered, while others work."""
    ids = [stored.id for stored in cohorts]
    before = record.read(count_answered_calls, ids)

    async def watch() -> None:
        while True:
            await asyncio.sleep(1)
            moved(record.read(count_answered_calls, ids) - before, calls or None)

    task = asyncio.create_task(watch())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


# ── what came of it ──────────────────────────────────────────────────────────────────────────────────────


def run_data(planned: PlannedAnswers, record: Record, cost: Data, trouble: Sequence[str]) -> dict[str, Any]:
    """Return what was answered by this method, and what it took, for JSON."""
    agents: list[dict[str, Any]] = []
    for stored in answered_by(record, planned.kept, planned.method):
        for usage in record.read(read_answer_usage, stored.id):
            agent = {"cohort": stored.cohort.number, "status": usage.status or "pending"}
            agent |= attributes(usage, "agent", "forecasts", "calls", "tokens_in", "tokens_out")
            agent |= {"note": usage.note or "", "usd": None if usage.unknown else exact(usage.cost)}
            agent |= {"usd_known": exact(usage.cost), "usd_more_at_most": exact(usage.at_worst)}
            agents.append(agent)

    counts = ("calls", "tokens_in", "tokens_out")
    total: dict[str, Any] = {name: sum(agent[name] for agent in agents) for name in counts}
    for name in ("usd_known", "usd_more_at_most"):
        total[name] = round(sum(agent[name] for agent in agents), 6)
    total["usd"] = None if any(agent["usd"] is None for agent in agents) else total["usd_known"]
    return {
        "question_set": planned.kept.name,
        "due": planned.kept.due,
        "method": planned.method.words,
        "rows": planned.rows,
        "estimate": cost,
        "agents": agents,
        "waiting": dict(planned.waiting),
        "left_out": dict(planned.left_out),
        "trouble": list(trouble),
        "total": total,
    }


def unfinished_agents(data: Data) -> list[str]:
    """Return the agents whose turn is open or failed: running the command again asks them."""
    return [agent["agent"] for agent in data["agents"] if agent["status"] in UNFINISHED]


def silent_agents(data: Data) -> list[str]:
    """Return the agents with a model that answered, but left questions out.

    Kinds without a model state what they have: the market, for example, nothing on data questions.
    """
    finished = [agent for agent in data["agents"] if agent["status"] not in UNFINISHED]
    return [agent["agent"] for agent in finished if agent["calls"] and agent["forecasts"] < data["rows"]]


def is_late(planned: PlannedAnswers, clock: Clock) -> bool:
    """Tell whether the day is over on which answers to the set were due."""
    return f"{clock.now():%Y-%m-%d}" > planned.kept.due


def run_page(data: Data, choice: TableChoice) -> Page:
    """Yield the answers of each agent, what they cost, and what is left."""
    if data["set"]["new"]:
        yield from _set_sentences(data["set"])
    yield f"{data['question_set']}, due {data['due']}, asked by {data['method']}:"
    if data["agents"]:
        yield Table(ANSWERS, data["agents"], choice=choice)
    if not data["asked"]:
        yield f"Left to ask: {cost_sentence(data['estimate'])}"

    total = data["total"]
    if total["calls"]:
        spent = f"${total['usd_known']:,.4f}"
        if total["usd_more_at_most"]:
            spent += f", and at most ${total['usd_more_at_most']:,.4f} more for calls without an answer"
        tokens = f"{total['tokens_in']:,} tokens in, {total['tokens_out']:,} out"
        yield f"Spent: {total['calls']:,} calls, {tokens}, {spent}"
    yield from map(plain, _warnings(data))

    is_left = not data["asked"] and data["estimate"]["calls"]["low"]
    following = "run" if is_left else "file --as ORG --model AGENT -o DIR"
    yield f"Next: {typed(f'study forecastbench {following}')}"


def _set_sentences(questions: Data) -> Iterator[str]:
    """Yield which question set is new in the record."""
    rows = questions["rows"]
    count = count_text(questions["questions"], "question")
    yield f"{questions['name']}: new, version {questions['version']}"
    yield f"  {count}: {rows['market']:,} market rows, {rows['dataset']:,} data rows"
    yield f"  SHA-256 {questions['sha256']}"


def _warnings(data: Data) -> Iterator[str]:
    """Yield what is amiss with the answers, or may be."""
    for agent in data["estimate"]["agents"]:
        for words in filter(None, [agent["trouble"], *(fault["message"] for fault in agent["faults"])]):
            yield f"Warning: {agent['agent']}: {words}"
    for name, variable in data["waiting"].items():
        yield f"{name} waits for {variable}: set it and run this again"
    for name, reason in data["left_out"].items():
        yield f"{name} is left out: {reason}"

    yield from data["trouble"]
    silent = silent_agents(data)
    if data["asked"] and unfinished_agents(data):
        yield "Not complete: running this again asks only what is missing"
    if data["asked"] and silent:
        yield f"Not every question was answered by {', '.join(silent)}: this is not asked again"
    if data["late"]:
        yield (
            f"The set was due {data['due']}: later answers are no submission; models may know the outcomes"
        )
