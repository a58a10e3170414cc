"""A round of ForecastBench answered by the config's agents: planning, estimating and asking."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction

from arena.calls.estimate import Estimate, Usage, estimate_lineup
from arena.clock import Clock
from arena.config import Config
from arena.config.environment import missing_keys
from arena.config.model import AgentConfig
from arena.errors import ArenaError
from arena.record.model.benchmark import BenchmarkFile
from arena.record.queries.benchmark import AnswerUsage, count_answered_calls, read_answer_usage
from arena.record.queries.cohorts import StoredCohort
from arena.record.record import Record
from arena.rounds.adapters import kind_inputs
from arena.rounds.forecasting import (
    AskingMethod,
    answered_agents,
    answered_by,
    baselines,
    begin_set,
    decided_at,
    line_up,
    play_set,
    read_asked,
    sample_view,
    set_snapshot,
)
from arena.rounds.open_world import open_world
from markets.model import Snapshot

UNFINISHED = ("pending", "failed")
"""Turns that are played when the agents are asked again."""
LOOK_EVERY = 1.0
"""Seconds between two looks at how many calls were answered."""


@dataclass(frozen=True, slots=True)
class PlannedAnswers:
    """A plan to ask a set: the cohorts that answered it before, the line-up, and its new agents.

    `waiting` are the agents without a key, `left_out` those that can't be made, each with the reason.
    """

    file: BenchmarkFile
    method: AskingMethod
    snapshot: Snapshot
    earlier: tuple[StoredCohort, ...]
    config: Config
    fresh: tuple[AgentConfig, ...]
    waiting: Mapping[str, str]
    left_out: Mapping[str, str]

    @property
    def rows(self) -> int:
        """Return the number of forecasts that each agent is asked for."""
        return len(self.snapshot.shown)


def plan_answers(
    config: Config,
    record: Record,
    file: BenchmarkFile,
    method: AskingMethod,
    only: Sequence[str],
    with_baselines: bool,
    at: datetime,
    environ: Mapping[str, str],
) -> PlannedAnswers:
    """Return the plan to ask a set of the agents whose answers are not in yet."""
    question_set = read_asked(file, method)
    added = []
    if with_baselines:
        added = baselines(record, question_set, [agent.name for agent in config.agents])
    line_up_config = line_up(config, method, only, added)

    # An agent that has answered is not asked again, and one without a key can't be.
    earlier = answered_by(record, file, method)
    answered = answered_agents(record, earlier)
    waiting = missing_keys(line_up_config.agents, environ)
    askable = [agent for agent in line_up_config.agents if agent.name not in answered | waiting.keys()]
    left_out = _agents_of_answered_sources(askable, answered)
    fresh = [agent for agent in askable if agent.name not in left_out]
    _check_sources_have_keys(fresh, waiting)

    snapshot = set_snapshot(question_set, file.version, decided_at(question_set, at), method)
    return PlannedAnswers(
        file=file,
        method=method,
        snapshot=snapshot,
        earlier=tuple(earlier),
        config=line_up_config,
        fresh=tuple(fresh),
        waiting=waiting,
        left_out=left_out,
    )


def _agents_of_answered_sources(agents: Sequence[AgentConfig], answered: Collection[str]) -> dict[str, str]:
    """Return the agents made from one that answered in an earlier cohort, with the reason.

    An agent made from such an agent is left out too.
    """
    left_out = {}

    for agent in agents:
        for source in agent.of:
            if source in answered:
                left_out[agent.name] = f"{source}, which it is made from, answered in an earlier cohort"
            elif source in left_out:
                left_out[agent.name] = f"{source}, which it is made from, is left out"
    return left_out


def _check_sources_have_keys(fresh: Sequence[AgentConfig], waiting: Mapping[str, str]) -> None:
    """Raise `ArenaError` for an agent that is made from one without a key."""
    for agent in fresh:
        for source in agent.of:
            if source in waiting:
                message = f"{agent.name} is made from {source}, which waits for {waiting[source]}"
                raise ArenaError("apart", message, "set it, or omit the agent: name the others with --agent")


@dataclass(frozen=True, slots=True)
class CohortAnswers:
    """What an agent has answered in a cohort, and what its calls took."""

    stored: StoredCohort
    usage: AnswerUsage

    @property
    def status(self) -> str:
        """Return the status of its turn."""
        return self.usage.status or "pending"

    @property
    def is_unfinished(self) -> bool:
        """Tell whether its turn is open or failed, and so will be asked again."""
        return self.status in UNFINISHED

    @property
    def cost(self) -> int | None:
        """Return the cost of its calls in millionths; None if some cost is unknown."""
        return None if self.usage.unknown else self.usage.cost


def read_answers(record: Record, planned: PlannedAnswers) -> list[CohortAnswers]:
    """Return the answers of each agent to a set by a method."""
    answers = []
    for stored in answered_by(record, planned.file, planned.method):
        answers += [CohortAnswers(stored, usage) for usage in record.read(read_answer_usage, stored.id)]
    return answers


@dataclass(frozen=True, slots=True)
class LeftToAsk:
    """The estimated use of an agent for the rest of a set, and the share of the set left."""

    estimate: Estimate
    share: float


def total_left(left: Sequence[LeftToAsk]) -> Estimate:
    """Return the estimated use of all agents together for the rest of a set."""
    low = expected = high = Usage()
    for part in left:
        low += part.estimate.low
        expected += part.estimate.expected
        high += part.estimate.high
    return Estimate("", None, low, expected, high)


async def estimate_answers(planned: PlannedAnswers, record: Record) -> list[LeftToAsk]:
    """Estimate the use of each agent to be asked, from a sample of the questions."""
    config = planned.config
    answered_calls = {}
    for answers in read_answers(record, planned):
        if answers.stored.ended_at is None and answers.is_unfinished:
            answered_calls[answers.usage.agent] = answers.usage.answered

    to_ask = tuple(agent for agent in config.agents if agent in planned.fresh or agent.name in answered_calls)
    view, set_to_sample = sample_view(config, planned.snapshot)
    inputs = kind_inputs(config, config.prompts)
    sample_estimates = await estimate_lineup(replace(config, agents=to_ask), inputs, view)

    left = []
    for sample_estimate in sample_estimates:
        whole_set = sample_estimate.times(set_to_sample)
        share_left = 1.0
        if whole_set.low.calls:
            answered = answered_calls.get(sample_estimate.agent, 0)
            share_left = max(0.0, 1 - answered / whole_set.low.calls)

        estimate = whole_set.times(Fraction(share_left).limit_denominator(10_000))
        left.append(LeftToAsk(estimate, share_left))
    return left


async def ask_agents(
    planned: PlannedAnswers, record: Record, clock: Clock, on_answered: Callable[[int], None]
) -> tuple[str, ...]:
    """Start a cohort of the new agents and play all unfinished cohorts; return what was missing, in words.

    `on_answered` is called now and then with how many calls have been answered.
    """
    if planned.fresh:
        config = replace(planned.config, agents=planned.fresh)
        begin_set(config, planned.file, planned.method, planned.snapshot.at, record)

    ended_ids = {stored.id for stored in planned.earlier if stored.ended_at is not None}
    cohorts = answered_by(record, planned.file, planned.method)
    unfinished = [stored for stored in cohorts if stored.id not in ended_ids]

    trouble: list[str] = []
    reporting = _answered_calls_reported(record, unfinished, on_answered)
    async with open_world(planned.config, record, clock) as world, reporting:
        for stored in unfinished:
            trouble += await play_set(stored, planned.file, world, record)
    return tuple(trouble)


@asynccontextmanager
async def _answered_calls_reported(
    record: Record, cohorts: Sequence[StoredCohort], on_answered: Callable[[int], None]
) -> AsyncIterator[None]:
    """Report at intervals how many calls of these cohorts were answered since the block began."""
    cohort_ids = [stored.id for stored in cohorts]
    answered_before = record.read(count_answered_calls, cohort_ids)

    async def report_at_intervals() -> None:
        while True:
            await asyncio.sleep(LOOK_EVERY)
            answered = record.read(count_answered_calls, cohort_ids)
            on_answered(answered - answered_before)

    task = asyncio.create_task(report_at_intervals())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@dataclass(frozen=True, slots=True)
class AnsweredRound:
    """A round as agents have answered it by a method, and what is left to ask.

    `trouble` is what they had to do without, in words.
    """

    planned: PlannedAnswers
    left: Sequence[LeftToAsk]
    answers: Sequence[CohortAnswers]
    trouble: tuple[str, ...]

    @property
    def unfinished(self) -> list[str]:
        """Return the agents whose turn is open or failed, and so will be asked again."""
        return [answers.usage.agent for answers in self.answers if answers.is_unfinished]

    @property
    def silent(self) -> list[str]:
        """Return the agents with a model that answered, but left questions out.

        Kinds without a model state what they have: the market, for example, nothing on data questions.
        """
        silent = []
        for answers in self.answers:
            usage = answers.usage
            leaves_out_questions = usage.forecasts < self.planned.rows
            if usage.calls and leaves_out_questions and not answers.is_unfinished:
                silent.append(usage.agent)
        return silent

    @property
    def used(self) -> Usage:
        """Return the use of all calls, with the sum of the known costs."""
        total = Usage()
        for answers in self.answers:
            used = answers.usage
            total += Usage(used.calls, used.tokens_in, used.tokens_out, used.cost)
        return total

    @property
    def unknown_cost_at_most(self) -> int:
        """Return the most that calls of unknown cost can have cost, in millionths."""
        return sum(answers.usage.at_worst for answers in self.answers)
