"""Asks a language model, any that litellm can reach.

`model` is its litellm name (`anthropic/MODEL`, or `openai/MODEL` with a `base_url` for your own server).
`prompt` is the template: `bet`, another of docs/prompts.md, or the path of your own .md file; `system`
replaces the prompt's system message only. `prices` are `shown`, `hidden`, or shown `after` a first question
without them (the blind forecast is then kept along with the final one).

Unless set, `max_tokens` and `timeout` are computed from model, reasoning and number of markets (`arena show
config` shows them). If a server refuses the schema, the seed or the name of the token limit, it is asked
without; `form`, `seed` and `max_tokens_key` set this by hand.

`samples` is how often the whole prompt is asked, each time with another seed: the agent states the median and
makes the bets of the sample closest to it. `batch` limits the markets in one question. `released` is the
model's release date: in a replay, it may already know the outcomes of earlier decisions.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from operator import not_
from typing import Literal, TypeVar

from pydantic import Field

from agents.answers.decisions import combine_parts, combine_samples, combine_stages
from agents.answers.question import Question
from agents.asked_forms import forms_in
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
"""How many parts of a question without bets are asked at the same time."""
SEEDS = 2**31
STEPS = 12
RAISED = 4
"""After an answer that was cut off, the limit of tokens is multiplied by this, as far as the model allows."""
Write = Callable[[Stage, Sequence[Forecast], PromptPart], Prompt]
"""Writes the prompt of a stage for a part of the markets; the forecasts are those made without prices."""


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
    # an empty list is left out of the frozen settings, as in those frozen before the key existed
    tools: tuple[str, ...] = Field(default=(), exclude_if=not_)
    """Tools it may use first, such as `[search, read, price_history, book, notes]`."""
    steps: int = Field(default=STEPS, ge=1, le=100, exclude_if=STEPS.__eq__)
    """How many steps a question may take before it must answer."""
    tool_dollars: float | None = Field(default=None, exclude_if=is_none, gt=0, le=100_000)
    """The cost of steps at which it must answer."""

    @property
    def prompt_names(self) -> tuple[str, ...]:
        """Return the names of the templates that it uses."""
        names = [self.prompt]
        if self.system is not None:
            names.append(self.system)
        if self.prices == "after":
            names.append(BLIND)
        return tuple(names)


def agent(settings: Settings, given: Given) -> Agent:
    """Return an agent that asks its model."""
    texts = {name: given.prompts[name] for name in settings.prompt_names}
    system = None if settings.system is None else texts[settings.system]
    raised = raised_limit(settings)

    async def decide(view: View, ask: Ask) -> Decision:
        def write(stage: Stage, before: Sequence[Forecast], part: PromptPart) -> Prompt:
            name = template_of(settings, stage)
            prompt = render(
                texts[name],
                view,
                prices=stage == "final" and settings.prices != "hidden" and not view.hidden,
                stage=stage,
                before=before,
                system=system,
                part=part,
                tokens=settings.prompt_tokens,
                files=(name, settings.system or ""),
            )
            if part.refused:
                prompt = with_refused_orders(prompt, part.refused)
            return prompt

        if view.tools is not None:
            ask = ask_with_tools(
                ask, view.tools, settings.steps, settings.tool_dollars, settings.prompt_tokens
            )
        return await decide_by_answers(settings, view, ask, write, raised)

    return decide


def with_refused_orders(prompt: Prompt, refused: str) -> Prompt:
    """Return a question that ends with a sentence about orders that were refused."""
    *before, last = prompt.messages
    last = replace(last, content=f"{last.content.rstrip()}\n\n{refused}")
    return replace(prompt, messages=(*before, last))


def raised_limit(settings: Settings) -> int | None:
    """Return the limit of tokens to try after a cut-off answer; None if the model can't write much more."""
    model_limit = table_entry(settings.model).get("max_output_tokens")
    if not isinstance(model_limit, int) or model_limit < 2 * settings.max_tokens:
        return None

    return min(RAISED * settings.max_tokens, model_limit)


def template_of(settings: Settings, stage: Stage) -> str:
    """Return the name of the template for a stage."""
    if stage == "blind":
        return BLIND
    return settings.prompt


async def decide_by_answers(
    settings: Settings, view: View, ask: Ask, write: Write, raised: int | None
) -> Decision:
    """Return the decision that all samples make together.

    `write` writes the prompts; `raised` is the limit of tokens after an answer that was cut off.
    """
    samples = [
        _Sample(settings, view, ask, write, raised, number) for number in range(1, settings.samples + 1)
    ]
    decisions = await gather_or_cancel(sample.decision() for sample in samples)
    return combine_samples(decisions, forms_in(view.snapshot))


@dataclass(frozen=True, slots=True)
class _Sample:
    """One of several times that the whole question is asked, each with its own seed."""

    settings: Settings
    view: View
    ask: Ask
    write: Write
    raised: int | None
    number: int

    async def decision(self) -> Decision:
        """Return what the model decides, after a first stage without prices if the settings want one."""
        blind = Decision()
        if self.settings.prices == "after" and not self.view.hidden:
            blind = await self._stage("blind")
            if blind.status == "failed":
                return blind

        final = await self._stage("final", blind.forecasts)
        return combine_stages(blind, final)

    async def _stage(self, stage: Stage, before: Sequence[Forecast] = ()) -> Decision:
        """Return the decision of a stage, made of the answers to all parts of its question."""
        first_part, *other_parts = self._parts()
        try:
            question = self._question(stage, before, first_part)
            if not question.prompt.bets:
                questions = [question, *(self._question(stage, before, part) for part in other_parts)]
                return await _ask_side_by_side(questions)

            # Parts with bets are asked one after another: each is told how much cash earlier bets leave.
            answers = [await question.decision()]
            committed = 0
            for part in other_parts:
                if answers[-1].status == "failed":
                    break
                committed += sum(bet.amount for bet in answers[-1].bets)
                next_question = self._question(stage, before, replace(part, committed=committed))
                answers.append(await next_question.decision())

        except TooLong as error:
            return Decision(status="failed", note=f"too_long: {error}")

        if answers[-1].status == "failed":
            return answers[-1]
        return combine_parts(answers)

    def _question(self, stage: Stage, before: Sequence[Forecast], part: PromptPart) -> Question:
        """Return the question about one part of the markets."""

        def put(markets: tuple[MarketId, ...], half: int, spent: int, refused: str) -> Prompt:
            # the second half becomes a part of its own, after all others
            number = part.parts + 1 if half else part.number
            smaller = PromptPart(number, part.parts + 1, markets, part.committed + spent, refused)
            return self._prompt(stage, before, smaller)

        prompt = self._prompt(stage, before, part)
        min_answered = Fraction(str(self.settings.min_answered))
        return Question(prompt, part.markets, put, self.raised, min_answered, self.view, self.ask)

    def _parts(self) -> Iterator[PromptPart]:
        """Yield the parts in which the markets shown are asked about, `batch` questions in each.

        The markets of a series are one question with several dates, and are never separated.
        """
        questions: dict[str, list[MarketId]] = {}
        for listing in self.view.snapshot.shown:
            market = listing.market
            questions.setdefault(market.series or market.id, []).append(market.id)

        groups = list(questions.values())
        size = self.settings.batch or max(len(groups), 1)
        starts = range(0, max(len(groups), 1), size)
        for number, start in enumerate(starts, 1):
            markets = chain.from_iterable(groups[start : start + size])
            yield PromptPart(number, len(starts), tuple(markets))

    def _prompt(self, stage: Stage, before: Sequence[Forecast], part: PromptPart) -> Prompt:
        """Return the prompt for one part, with the seed of this sample."""
        prompt = self.write(stage, before, part)
        seed = (prompt.seed + self.number - 1) % SEEDS
        shared = self.settings.samples > 1
        return replace(prompt, seed=seed, sample=self.number, shared=shared)


async def _ask_side_by_side(questions: Sequence[Question]) -> Decision:
    """Return the decision of all parts, several of which are asked at once.

    After a part has failed no other one is begun, and its failure is returned.
    """
    gate = asyncio.Semaphore(SIDE_BY_SIDE)
    failures = list[Decision]()

    async def answer(question: Question) -> Decision | None:
        async with gate:
            if failures:
                return None

            decision = await question.decision()
            if decision.status == "failed":
                failures.append(decision)
            return decision

    answers = await gather_or_cancel(answer(question) for question in questions)
    if failures:
        return failures[0]
    return combine_parts([decision for decision in answers if decision is not None])


async def gather_or_cancel(answers: Iterable[Awaitable[Result]]) -> list[Result]:
    """Return the results of all, in their order. If it is cancelled, cancel them all.

    If one raises, so does this, but only once the others have ended: their answers are paid for.
    """
    tasks = list(map(asyncio.ensure_future, answers))
    try:
        await asyncio.gather(*tasks, return_exceptions=True)
        return [task.result() for task in tasks]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
