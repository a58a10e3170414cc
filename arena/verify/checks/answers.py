"""Decisions made again: by a model's stored answers, or by a rule from what the agent was shown.

Nothing is asked or written. A stored answer is matched to a question by the order of the questions and the
markets they name, because the wording of the questions is not rendered again.
"""

import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import product
from typing import Any

from agents.answers.decisions import sound_decision
from agents.deciding import decision_of
from agents.kinds import llm
from agents.model import Call, Decision, Forecast, Given, Message, Prompt, Stage, View
from agents.prompts.prompt import MARKET_NAME, PromptPart, asks_for_bets, short_ids
from agents.prompts.template import compile_template
from agents.registry import kind
from agents.steps import without_steps
from markets.model import MarketId

RULES = frozenset({"market", "constant", "random", "favourite", "kelly", "crowd", "naive"})
"""Kinds that decide only by what they are shown."""
ANSWERED = frozenset({"llm", "command", "outside"})
"""Kinds that decide by stored answers."""
kind_of = cache(kind)
"""Looks up a kind of agent, cached because every turn needs one."""
Conversation = tuple[Message, ...]


class NoAnswer(LookupError):
    """The record lacks an answer that a decision needs."""


@dataclass(frozen=True, slots=True)
class PossibleDecision:
    """A decision that the stored answers may have led to, and the answered questions that it did not use.

    If there is no decision, `missing` names the question without an answer.
    """

    decision: Decision | None
    missing: str = ""
    unused: tuple[Prompt, ...] = ()


@dataclass
class StoredAnswers:
    """The stored answers of a turn, in place of its model.

    If several calls answered one question, the first counts, or the `last`: which one came too late is
    unknown.
    """

    calls: Sequence[Call]
    names: Mapping[MarketId, str]
    last: bool = False
    begun: dict[tuple[Stage, int, Message], Conversation] = field(default_factory=dict)
    """The opening of the stored conversation that a question of the agent was matched to."""
    used: set[Prompt] = field(default_factory=set)
    left: dict[Prompt, list[Call]] = field(default_factory=dict)
    openings: dict[tuple[Stage, int, int], dict[Conversation, list[Prompt]]] = field(init=False)
    """The stored questions by the opening of their conversation, for each stage, sample and seed."""
    answers: dict[Prompt, list[Call]] = field(init=False)

    def __post_init__(self) -> None:
        self.openings = defaultdict(dict)
        self.answers = {}
        for call in self.calls:
            question = call.prompt
            conversations = self.openings[question.stage, question.sample, question.seed]
            conversations.setdefault(_opening(question), []).append(question)
            self.answers.setdefault(question, []).append(call)

    async def ask(self, prompt: Prompt) -> Call:
        """Return the answer to a question; raise `NoAnswer` if there is none."""
        opening = self._opening_of(prompt)
        follows_up = len(prompt.messages) > 1
        stored = []
        same = []
        for question in self._conversations(prompt)[opening]:
            if (len(question.messages) > len(opening)) == follows_up:
                stored.append(question)
                if question.messages[-2:-1] == prompt.messages[-2:-1]:
                    same.append(question)

        for question in dict.fromkeys(same or stored):
            attempts = self.answers[question]
            good = [call for call in attempts if call.error is None or call.error.code == "declined"]
            self.used.add(question)
            if not good:
                return attempts[-1]

            left = self.left.setdefault(question, good[::-1] if self.last else good)
            if left:
                return left.pop(0)
        raise NoAnswer(f"{prompt.stage}, sample {prompt.sample}")

    def unused(self) -> tuple[Prompt, ...]:
        """Return the answered questions that no decision used."""
        unused: dict[Prompt, None] = {}
        for call in self.calls:
            if call.error is None and call.prompt not in self.used:
                unused[call.prompt] = None
        return tuple(unused)

    def _conversations(self, prompt: Prompt) -> dict[Conversation, list[Prompt]]:
        return self.openings[prompt.stage, prompt.sample, prompt.seed]

    def _opening_of(self, prompt: Prompt) -> Conversation:
        """Return the opening of a question's conversation: the next one, or the one about its markets."""
        key = prompt.stage, prompt.sample, prompt.messages[0]
        if key in self.begun:
            return self.begun[key]

        free = list(self._conversations(prompt))
        for known, opening in self.begun.items():
            if known[:2] == key[:2] and opening in free:
                free.remove(opening)
        if not free:
            raise NoAnswer(f"{prompt.stage}, sample {prompt.sample}")

        opening = free[0]
        if not prompt.bets:
            markets = json.loads(prompt.messages[0].content)[1:]
            wanted = {self.names[MarketId(market)] for market in markets}
            opening = max(free, key=lambda messages: _likeness(messages, wanted))
        self.begun[key] = opening
        return opening


def _opening(question: Prompt) -> Conversation:
    """Return the messages of a question that come before the first answer."""
    roles = [message.role for message in question.messages]
    if "assistant" not in roles:
        return question.messages
    return question.messages[: roles.index("assistant")]


def _likeness(messages: Conversation, wanted: set[str]) -> int:
    """Return how well a question matches these markets and no others.

    Examples of answers name markets too, but a question names its own markets more often.
    """
    named = _named_markets(messages[-1].content)
    return 2 * sum(named[name] for name in wanted) - named.total()


@lru_cache(maxsize=8192)
def _named_markets(text: str) -> Counter[str]:
    return Counter(MARKET_NAME.findall(text))


def decisions_of(
    name: str,
    settings: Mapping[str, Any],
    given: Given,
    view: View,
    calls: Sequence[Call],
    runner: asyncio.Runner,
) -> Iterator[PossibleDecision]:
    """Yield the possible decisions of an agent, the likeliest first."""
    its_kind = kind_of(name)
    chosen = its_kind.settings.model_validate(settings)
    if isinstance(chosen, llm.Settings):
        yield from _decisions_of_model(chosen, given, view, calls, runner)
        return

    async def stored(prompt: Prompt) -> Call:
        """Return the answer of an agent that asks one question a turn."""
        answer = next((call for call in calls if call.error is None), None)
        if answer is None or its_kind.ask is None:
            raise NoAnswer(f"{prompt.stage}, sample {prompt.sample}")
        return answer

    yield PossibleDecision(runner.run(decision_of(its_kind.agent(chosen, given), view, stored)))


def _decisions_of_model(
    settings: llm.Settings, given: Given, view: View, calls: Sequence[Call], runner: asyncio.Runner
) -> Iterator[PossibleDecision]:
    """Yield the decisions by the first and the last answers, and by both possible token limits."""
    if settings.tools:
        calls = without_steps(calls)
    is_ambiguous = len({call.prompt for call in calls}) < len(calls)
    was_cut_off = any(call.finish == "length" for call in calls)

    def write(stage: Stage, _before: Sequence[Forecast], part: PromptPart) -> Prompt:
        """Return a question that holds only its part number and its markets."""
        form = compile_template(given.prompts[llm.template_of(settings, stage)]).answer
        asked = Message("user", json.dumps([part.number, *part.markets]))
        return Prompt((asked,), view.seed, stage, bets=asks_for_bets(form, stage, view))

    orders = (False, True) if is_ambiguous else (False,)
    limits = (None, 1) if was_cut_off else (None,)
    for last, raised in product(orders, limits):
        answers = StoredAnswers(calls, short_ids(view.snapshot), last)
        try:
            decision = runner.run(llm.decide_by_answers(settings, view, answers.ask, write, raised))
        except NoAnswer as missing:
            yield PossibleDecision(None, str(missing))
            continue
        unused = () if is_ambiguous else answers.unused()
        yield PossibleDecision(sound_decision(decision, view), unused=unused)
