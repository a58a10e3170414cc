"""Asks a language model, any that litellm can reach.

`model` is its litellm name (`anthropic/MODEL`, or `openai/MODEL` with a `base_url` for your own server).
`prompt` is the template: `bet`, another of docs/prompts.md, or the path of your own .md file; `system`
replaces the prompt's system message only. `prices` are `shown`, `hidden`, or shown `after` a first question
without them (the blind forecast is then kept along with the final one).

Unless set, `max_tokens` and `timeout` are computed from model, reasoning and number of markets (`arena
config` shows them). If a server refuses the schema, the seed or the name of the token limit, it is asked
without; `form`, `seed` and `max_tokens_key` set this by hand.

`samples` is how often the whole prompt is asked, each time with another seed: the agent states the median and
makes the bets of the sample closest to it. `batch` limits the markets in one question. `released` is the
model's release date: in a replay, it may already know the outcomes of earlier decisions.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from typing import Any, Literal, TypeVar

from pydantic import Field

from agents.answers.decisions import combine_parts, combine_samples, combine_stages
from agents.answers.question import Question
from agents.model import (
    CONTEXT_KEYS,
    Agent,
    Ask,
    Context,
    Decision,
    Forecast,
    Given,
    ModelSettings,
    Prompt,
    Stage,
    View,
    is_none,
)
from agents.model_table.price_table import table_entry
from agents.prompts.prompt import PromptPart, render
from agents.steps import ask_with_tools
from agents.text import TooLong
from markets.model import MarketId

Result = TypeVar("Result")
BLIND = "blind"
SIDE_BY_SIDE = 10
"""Parts of a question without bets that are asked at once."""
SEEDS = 2**31
STEPS = 12
RAISED = 4
"""So many times the limit of tokens is tried after an answer that was cut off, as far as the model goes."""
Write = Callable[[Stage, Sequence[Forecast], PromptPart], Prompt]
"""The question of a stage about some markets, after such forecasts without prices."""


def is_empty(names: tuple[str, ...]) -> bool:
    """Whether there are none, and the setting is left out: what was frozen before lacks it."""
    return not names


class Settings(ModelSettings):
    """How the model is reached, and what it is asked."""

    prompt: str = "bet"
    """The prompt: a name, or the path of your own .md file."""
    system: str | None = None
    """A prompt for the system message only."""
    prices: Literal["shown", "hidden", "after"] = "shown"
    """Whether it sees prices: yes, no, or after first answering without them."""
    samples: int = Field(default=1, ge=1, le=100)
    """How often each question is asked; the median counts."""
    min_answered: float = Field(default=0.9, gt=0, le=1)
    """With usable forecasts for fewer of the markets, it is asked once for the rest."""
    batch: int | None = Field(default=None, ge=1)
    """The most markets in one question; by default all."""
    context: Context = Field(default=Context(), json_schema_extra=CONTEXT_KEYS)
    """What else its prompt shows."""
    tools: tuple[str, ...] = Field(default=(), exclude_if=is_empty)
    """Tools it may use first, such as `[search, read, price_history, book, notes]`."""
    steps: int = Field(default=STEPS, ge=1, le=100, exclude_if=STEPS.__eq__)
    """How many steps a question may take before it must answer."""
    tool_dollars: float | None = Field(default=None, exclude_if=is_none, gt=0, le=100_000)
    """The cost of steps at which it must answer."""

    @property
    def prompt_names(self) -> tuple[str, ...]:
        """The templates it uses."""
        names = (self.prompt, self.system, BLIND if self.prices == "after" else None)
        return tuple(name for name in names if name is not None)


def agent(settings: Settings, given: Given) -> Agent:
    """The agent that asks its model."""
    texts = {name: given.prompts[name] for name in settings.prompt_names}

    most = table_entry(settings.model).get("max_output_tokens")
    now = settings.max_tokens
    raised = min(RAISED * now, most) if isinstance(most, int) and most >= 2 * now else None

    async def decide(view: View, ask: Ask) -> Decision:
        def write(stage: Stage, before: Sequence[Forecast], part: PromptPart) -> Prompt:
            name = template_of(settings, stage)
            prompt = render(
                texts[name],
                view,
                prices=stage == "final" and settings.prices != "hidden",
                stage=stage,
                before=before,
                system=None if settings.system is None else texts[settings.system],
                part=part,
                tokens=settings.prompt_tokens,
                files=(name, settings.system or ""),
            )
            return with_refused_orders(prompt, part.refused) if part.refused else prompt

        if view.tools is not None:
            limits = settings.steps, settings.tool_dollars, settings.prompt_tokens
            ask = ask_with_tools(ask, view.tools, *limits)
        return await decide_by_answers(settings, view, ask, write, raised)

    return decide


def with_refused_orders(prompt: Prompt, refused: str) -> Prompt:
    """Return a question that ends with a sentence about orders that were refused."""
    *before, last = prompt.messages
    last = replace(last, content=f"{last.content.rstrip()}\n\n{refused}")
    return replace(prompt, messages=(*before, last))


def template_of(settings: Settings, stage: Stage) -> str:
    """The name of the prompt that a stage asks by."""
    return BLIND if stage == "blind" else settings.prompt


async def decide_by_answers(
    settings: Settings, view: View, ask: Ask, write: Write, raised: int | None
) -> Decision:
    """The decision of all samples, however questions are written; `raised` is the limit after a cut."""
    samples = (_Sample(settings, view, ask, write, raised, n) for n in range(1, settings.samples + 1))
    return combine_samples(await gather_or_cancel(sample.decision() for sample in samples))


@dataclass(frozen=True, slots=True)
class _Sample:
    """One time that the whole is asked."""

    settings: Settings
    view: View
    ask: Ask
    write: Write
    raised: int | None
    number: int

    async def decision(self) -> Decision:
        """What the model decides: blind first where it is to, then with all that it may see."""
        blind = Decision()
        if self.settings.prices == "after":
            blind = await self._stage("blind")
            if blind.status == "failed":
                return blind
        final = await self._stage("final", blind.forecasts)
        return combine_stages(blind, final)

    async def _stage(self, stage: Stage, before: Sequence[Forecast] = ()) -> Decision:
        """The decision of all parts: one after another where they bet, so that each is told what is left."""
        first, *others = self._parts()
        try:
            question = self._question(stage, before, first)
            if not question.prompt.bets:
                rest = [self._question(stage, before, part) for part in others]
                return await _side_by_side([question, *rest])
            answers = [await question.decision()]
            for part in others:
                if answers[-1].status == "failed":
                    return answers[-1]
                committed = sum(bet.amount for answer in answers for bet in answer.bets)
                question = self._question(stage, before, replace(part, committed=committed))
                answers.append(await question.decision())
            return answers[-1] if answers[-1].status == "failed" else combine_parts(answers)
        except TooLong as error:
            return Decision(status="failed", note=f"too_long: {error}")

    def _question(self, stage: Stage, before: Sequence[Forecast], part: PromptPart) -> Question:
        def put(markets: tuple[MarketId, ...], half: int, spent: int, refused: str) -> Prompt:
            number = part.parts + 1 if half else part.number
            smaller = PromptPart(number, part.parts + 1, markets, part.committed + spent, refused)
            return self._prompt(stage, before, smaller)

        prompt, enough = self._prompt(stage, before, part), Fraction(str(self.settings.min_answered))
        return Question(prompt, part.markets, put, self.raised, enough, self.view, self.ask)

    def _parts(self) -> Iterator[PromptPart]:
        """A question that is asked for several dates is one, and is never parted."""
        questions: dict[str, list[MarketId]] = {}
        for listing in self.view.snapshot.shown:
            market = listing.market
            questions.setdefault(market.series or market.id, []).append(market.id)
        shown = list(questions.values())
        size = self.settings.batch or max(len(shown), 1)
        starts = range(0, max(len(shown), 1), size)
        for number, start in enumerate(starts, 1):
            markets = chain.from_iterable(shown[start : start + size])
            yield PromptPart(number, len(starts), tuple(markets))

    def _prompt(self, stage: Stage, before: Sequence[Forecast], part: PromptPart) -> Prompt:
        prompt = self.write(stage, before, part)
        shared = self.settings.samples > 1
        return replace(
            prompt, seed=(prompt.seed + self.number - 1) % SEEDS, sample=self.number, shared=shared
        )


async def _side_by_side(questions: Sequence[Question]) -> Decision:
    """The decision of all parts, several of which are asked at once. After one that fails none is begun."""
    gate, failed = asyncio.Semaphore(SIDE_BY_SIDE), list[Decision]()

    async def answered(question: Question) -> Decision | None:
        async with gate:
            if failed:
                return None
            decision = await question.decision()
            if decision.status == "failed":
                failed.append(decision)
            return decision

    answers = await gather_or_cancel(answered(question) for question in questions)
    return failed[0] if failed else combine_parts([answer for answer in answers if answer is not None])


async def gather_or_cancel(coroutines: Iterable[Coroutine[Any, Any, Result]]) -> list[Result]:
    """What all of them return, in their order. Where one raises, the others are stopped, and it is raised."""
    tasks = [asyncio.ensure_future(each) for each in coroutines]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
