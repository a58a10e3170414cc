"""`arena study forecastbench run`: the arena's agents answer a question set."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import typer

from arena.calls.estimate import Estimate, Usage, estimate_lineup, total_usage
from arena.cli.options import CLOCK_FILE, Options, clock_of, command, flag, option
from arena.cli.output import attributes, exact, interruptible, plain, prints_aside, progress, run_async, typed
from arena.cli.page import print_table
from arena.cli.table import TableChoice, TableColumn
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
from arena.rounds.forecasting import AskingMethod, answered_by, begin_set, play_set, sample_view
from arena.rounds.open_world import open_world
from arena.scores.files.forecastbench import QuestionSet, read_question_set, strictly
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
    def going_on(self) -> list[StoredCohort]:
        """The cohorts that some answer is missing in."""
        return [stored for stored in self.earlier if stored.ended_at is None]

    @property
    def rows(self) -> int:
        """The forecasts that an agent is asked for."""
        return len(self.snapshot.shown)


@command(table=True, plays=True)
def run(
    chosen: Options,
    due: str | None = option("The round due that day, not the newest.", "DATE"),
    prompt: str = option(
        "zero_shot, scratchpad, another, your own .md, or own: each agent's.", "NAME", default="scratchpad"
    ),
    prices: bool = flag("Show freeze values; of markets, the crowd's probability."),
    evidence: bool = flag("Show articles from the config's source."),
    batch: int = option("Questions in one call.", default=1, min=1),
    agents: list[str] | None = option("Only this agent; repeatable.", "NAME", "--agent"),
    baselines: bool = flag("Beside the agents: always 0, 0.5 and 1, random, the freeze value, naive."),
    dry: bool = flag("Only show what it would cost."),
    yes: bool = flag("Don't ask before money is spent.", "--yes", "-y"),
    clock: Path | None = CLOCK_FILE,
) -> None:
    """Let the config's agents answer a stored question set, after showing what that costs.

    Data questions are asked for all their dates at once. --prompt, --prices and --evidence are the methods of
    ForecastBench's paper. Line-up and method are frozen in a cohort that never trades. Running it again asks
    what is missing. The exit status is 2 if an agent did not finish, or a model left questions out.

    Example: arena study forecastbench run --prompt scratchpad --prices --baselines

    Next: arena study forecastbench file --as ORG --model AGENT -o DIR
    """
    settings, time = chosen.load_to_play(os.environ), clock_of(clock)()
    method = AskingMethod(prompt, prices, evidence, batch)
    hint = "arena study forecastbench run continues it; a call in progress may still be charged"
    with (
        prints_aside(),
        closing(Record.open(settings.database)) as record,
        interruptible("stopped; what was answered is kept", hint),
    ):
        planned = plan(settings, record, due, method, agents or (), baselines, time.now())
        estimates = run_async(estimated(planned, record))
        cost = cost_data(estimates)
        if not dry:
            confirm(cost, planned, yes, chosen.json)
        trouble = () if dry else run_async(play(planned, record, cost["calls"]["low"], time))
        data = run_data(planned, record, cost, trouble) | {"asked": not dry, "late": is_late(planned, time)}
    chosen.answer(data, _say_run, data, chosen.table)
    if not dry and (unfinished_agents(data) or silent_agents(data)):
        raise typer.Exit(2)


def kept_set(record: Record, due: str | None) -> BenchmarkFile:
    """The question set due on a day, or the newest that is kept."""
    sets = record.read(newest_files, "questions", None if due is None else [due])
    if not sets:
        words = f"the record has no question set{f' due {due}' if due else ''}"
        raise ArenaError("no_questions", words, "arena study forecastbench fetch")
    return sets[-1]


def plan(
    config: Config,
    record: Record,
    due: str | None,
    method: AskingMethod,
    only: Sequence[str],
    with_baselines: bool,
    at: datetime,
) -> PlannedAnswers:
    """Who is to be asked what: nobody whose answers are in."""
    from arena.rounds.forecasting import (
        answered_agents,
        answered_by,
        baselines,
        decided_at,
        line_up,
        set_snapshot,
    )

    kept = kept_set(record, due)
    asked: QuestionSet = strictly(read_question_set, kept.name, kept.text)
    more = baselines(record, asked, [agent.name for agent in config.agents]) if with_baselines else []
    whole = line_up(config, method, only, more)
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


async def estimated(planned: PlannedAnswers, record: Record) -> list[tuple[Estimate, float]]:
    """What each agent that is to be asked uses for the whole set, and which share of it is left."""
    config, (view, times) = planned.config, sample_view(planned.config, planned.snapshot)
    unfinished = {
        one.agent: one.answered
        for stored in planned.going_on
        for one in record.read(read_answer_usage, stored.id)
        if one.status in (None, "failed")
    }
    asked = tuple(x for x in config.agents if x in planned.fresh or x.name in unfinished)
    given = kind_inputs(config, config.prompts)
    with progress("Working out what it costs"):
        estimates = await estimate_lineup(replace(config, agents=asked), given, view)
    whole = [replace(one, **{end: getattr(one, end).times(times) for end in ENDS}) for one in estimates]
    return [(one, left_of(one, unfinished.get(one.agent, 0))) for one in whole]


def left_of(estimate: Estimate, answered: int) -> float:
    """The share of an agent's questions that is left after so many answers."""
    return max(0.0, 1 - answered / estimate.low.calls) if estimate.low.calls else 1.0


def cost_data(estimates: Sequence[tuple[Estimate, float]]) -> dict[str, Any]:
    """Calls, tokens and dollars of what is left, agent by agent and in all."""

    def use(end: str, one: Estimate, left: float) -> Usage:
        used: Usage = getattr(one, end)
        return used.times(Fraction(left).limit_denominator(10_000))

    totals = {end: total_usage(use(end, one, left) for one, left in estimates) for end in ENDS}
    figures = {
        name: {end: getattr(total, name) for end, total in totals.items()}
        for name in ("calls", "tokens_in", "tokens_out")
    }
    return figures | {
        "usd": {end: exact(total.cost) for end, total in totals.items()},
        "agents": [
            {
                "agent": one.agent,
                "left": round(left, 4),
                "usd": {end: exact(use(end, one, left).cost) for end in ENDS},
                "trouble": one.trouble or None,
                "faults": [attributes(fault, "message", "hint") for fault in one.faults],
            }
            for one, left in estimates
        ],
    }


def _cost_words(cost: Mapping[str, Any]) -> str:
    calls, usd = cost["calls"], cost["usd"]
    words = f"{calls['low']:,} calls, about {cost['tokens_in']['expected']:,} tokens in and "
    words += f"{cost['tokens_out']['expected']:,} out: "
    if usd["expected"] is None:
        return f"{words}unknown, because a price is unknown"
    most = "no known limit" if usd["high"] is None else f"${usd['high']:,.2f} at the most"
    return f"{words}${usd['expected']:,.2f} expected, ${usd['low']:,.2f} at the least, {most}"


def confirm(cost: Mapping[str, Any], planned: PlannedAnswers, yes: bool, as_json: bool) -> None:
    """Say what it costs before anyone is asked; without a yes nobody is."""
    if not cost["calls"]["low"]:
        return
    who = count_text(len(cost["agents"]), "agent")
    words = f"{who}, {count_text(planned.rows, 'forecast')} each: {_cost_words(cost)}"
    if not yes and (as_json or not sys.stdin.isatty()):
        raise ArenaError(
            "not_confirmed", f"nothing was asked: {words}", "--yes asks, --dry only shows the cost"
        )
    print(words, file=sys.stderr)
    if yes:
        return
    if not typer.confirm("Ask them?", True, err=True):
        raise ArenaError("stopped", "nothing was asked", "--dry shows what it would cost")


async def play(planned: PlannedAnswers, record: Record, calls: int, clock: Clock) -> tuple[str, ...]:
    """Go on with what was begun, then let the new ones answer; what was missing, in words."""
    if planned.fresh:
        line_up = replace(planned.config, agents=planned.fresh)
        begin_set(line_up, planned.kept, planned.method, planned.snapshot.at, record)
    ended = {stored.id for stored in planned.earlier if stored.ended_at is not None}
    every = answered_by(record, planned.kept, planned.method)
    todo = [stored for stored in every if stored.id not in ended]
    trouble: list[str] = []
    with progress("Asking", calls or None) as moved:
        async with open_world(planned.config, record, clock) as world, watched(record, todo, moved, calls):
            for stored in todo:
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


def run_data(
    planned: PlannedAnswers, record: Record, cost: Mapping[str, Any], trouble: Sequence[str]
) -> dict[str, Any]:
    """What was answered by this method, and what it took, for JSON."""
    cohorts = answered_by(record, planned.kept, planned.method)
    agents = [
        {
            "cohort": stored.cohort.number,
            **attributes(one, "agent", "forecasts", "calls", "tokens_in", "tokens_out"),
            "status": one.status or "pending",
            "note": one.note or "",
            "usd": None if one.unknown else exact(one.cost),
            "usd_known": exact(one.cost),
            "usd_more_at_most": exact(one.at_worst),
        }
        for stored in cohorts
        for one in record.read(read_answer_usage, stored.id)
    ]
    unknown = any(one["usd"] is None for one in agents)
    known, more = (round(sum(one[name] for one in agents), 6) for name in ("usd_known", "usd_more_at_most"))
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
        "total": {name: sum(one[name] for one in agents) for name in ("calls", "tokens_in", "tokens_out")}
        | {"usd": None if unknown else known, "usd_known": known, "usd_more_at_most": more},
    }


def unfinished_agents(data: Mapping[str, Any]) -> list[str]:
    """Return the agents whose turn is open or failed: running the command again asks them."""
    return [agent["agent"] for agent in data["agents"] if agent["status"] in UNFINISHED]


def silent_agents(data: Mapping[str, Any]) -> list[str]:
    """Return the agents with a model that answered, but left questions out.

    Kinds without a model state what they have: the market, for example, nothing on data questions.
    """
    finished = [agent for agent in data["agents"] if agent["status"] not in UNFINISHED]
    return [agent["agent"] for agent in finished if agent["calls"] and agent["forecasts"] < data["rows"]]


def is_late(planned: PlannedAnswers, clock: Clock) -> bool:
    """Whether the day is over on which answers to the set were due."""
    return f"{clock.now():%Y-%m-%d}" > planned.kept.due


def _say_run(data: Mapping[str, Any], choice: TableChoice) -> None:
    print(f"{data['question_set']}, due {data['due']}, asked by {data['method']}:")
    if data["agents"]:
        print_table(ANSWERS, data["agents"], choice=choice)
    if not data["asked"]:
        print(f"Left to ask: {_cost_words(data['estimate'])}")
    if data["total"]["calls"]:
        total = data["total"]
        spent = f"${total['usd_known']:,.4f}"
        if total["usd_more_at_most"]:
            spent += f", and at most ${total['usd_more_at_most']:,.4f} more for calls without an answer"
        words = f"{total['tokens_in']:,} tokens in, {total['tokens_out']:,} out, {spent}"
        print(f"Spent: {total['calls']:,} calls, {words}")
    for words in _warnings_of(data):
        print(plain(words))
    is_left = not data["asked"] and data["estimate"]["calls"]["low"]
    following = "run" if is_left else "file --as ORG --model AGENT -o DIR"
    print(f"Next: {typed(f'forecastbench {following}')}")


def _warnings_of(data: Mapping[str, Any]) -> Iterator[str]:
    for one in data["estimate"]["agents"]:
        for words in filter(None, [one["trouble"], *(fault["message"] for fault in one["faults"])]):
            yield f"Warning: {one['agent']}: {words}"
    for name, variable in data["waiting"].items():
        yield f"{name} waits for {variable}: set it and run this again"
    for name, reason in data["left_out"].items():
        yield f"{name} is left out: {reason}"
    yield from data["trouble"]
    if data["asked"] and unfinished_agents(data):
        yield "Not complete: running this again asks only what is missing"
    if data["asked"] and silent_agents(data):
        yield f"Not every question was answered by {', '.join(silent_agents(data))}: this is not asked again"
    if data["late"]:
        yield (
            f"The set was due {data['due']}: later answers are no submission; models may know the outcomes"
        )
