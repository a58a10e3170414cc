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

    def __init__(self, prompt: Prompt):
        super().__init__(f"{prompt.stage}, sample {prompt.sample}")


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
    matched_openings: dict[tuple[Stage, int, Message], Conversation] = field(default_factory=dict)
    """The opening of the stored conversation that a question of the agent was matched to."""
    used: set[Prompt] = field(default_factory=set)
    answers_left: dict[Prompt, list[Call]] = field(default_factory=dict)
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
        candidates = []
        follow_same_answer = []
        for question in self._conversations(prompt)[opening]:
            if (len(question.messages) > len(opening)) == follows_up:
                candidates.append(question)
                # The message before the last is the model's answer that a follow-up question is about.
                if question.messages[-2:-1] == prompt.messages[-2:-1]:
                    follow_same_answer.append(question)

        for question in dict.fromkeys(follow_same_answer or candidates):
            attempts = self.answers[question]
            answered = [call for call in attempts if call.error is None or call.error.code == "declined"]
            self.used.add(question)
            if not answered:
                return attempts[-1]

            in_order = answered[::-1] if self.last else answered
            answers_left = self.answers_left.setdefault(question, in_order)
            if answers_left:
                return answers_left.pop(0)
        raise NoAnswer(prompt)

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
        if key in self.matched_openings:
            return self.matched_openings[key]

        unmatched = list(self._conversations(prompt))
        for other_key, opening in self.matched_openings.items():
            is_same_sample = other_key[:2] == key[:2]
            if is_same_sample and opening in unmatched:
                unmatched.remove(opening)
        if not unmatched:
            raise NoAnswer(prompt)

        opening = unmatched[0]
        if not prompt.bets:
            markets = json.loads(prompt.messages[0].content)[1:]
            names = {self.names[MarketId(market)] for market in markets}
            opening = max(unmatched, key=lambda messages: _match_score(messages, names))
        self.matched_openings[key] = opening
        return opening


def _opening(question: Prompt) -> Conversation:
    """Return the messages of a question that come before the first answer."""
    roles = [message.role for message in question.messages]
    if "assistant" not in roles:
        return question.messages
    return question.messages[: roles.index("assistant")]


def _match_score(messages: Conversation, names: set[str]) -> int:
    """Return how much more often a question mentions these markets than others.

    Examples of answers name markets too, but a question names its own markets more often.
    """
    mentions = _market_mentions(messages[-1].content)
    of_these = sum(mentions[name] for name in names)
    of_others = mentions.total() - of_these
    return of_these - of_others


@lru_cache(maxsize=8192)
def _market_mentions(text: str) -> Counter[str]:
    return Counter(MARKET_NAME.findall(text))


def decisions_of(
    kind_name: str,
    settings: Mapping[str, Any],
    given: Given,
    view: View,
    calls: Sequence[Call],
    runner: asyncio.Runner,
) -> Iterator[PossibleDecision]:
    """Yield the possible decisions of an agent, the likeliest first."""
    agent_kind = kind_of(kind_name)
    own_settings = agent_kind.settings.model_validate(settings)
    if isinstance(own_settings, llm.Settings):
        yield from _decisions_of_model(own_settings, given, view, calls, runner)
        return

    async def first_answer(prompt: Prompt) -> Call:
        """Return the answer of an agent that asks one question a turn."""
        answer = next((call for call in calls if call.error is None), None)
        if answer is None or agent_kind.ask is None:
            raise NoAnswer(prompt)
        return answer

    agent = agent_kind.agent(own_settings, given)
    decision = runner.run(decision_of(agent, view, first_answer))
    yield PossibleDecision(decision)


def _decisions_of_model(
    settings: llm.Settings, given: Given, view: View, calls: Sequence[Call], runner: asyncio.Runner
) -> Iterator[PossibleDecision]:
    """Yield the decisions by the first and the last answers, and by both possible token limits."""
    if settings.tools:
        calls = without_steps(calls)
    is_asked_twice = len({call.prompt for call in calls}) < len(calls)
    was_cut_off = any(call.finish == "length" for call in calls)

    def write_question(stage: Stage, _before: Sequence[Forecast], part: PromptPart) -> Prompt:
        """Return a question that holds only its part number and its markets."""
        form = compile_template(given.prompts[llm.template_of(settings, stage)]).answer
        message = Message("user", json.dumps([part.number, *part.markets]))
        return Prompt((message,), view.seed, stage, bets=asks_for_bets(form, stage, view))

    # Which of two answers to a question was used is unknown, and so is the limit after a cut-off answer: any
    # limit but None stands for a raised one.
    answer_orders = (False, True) if is_asked_twice else (False,)
    raised_limits = (None, 1) if was_cut_off else (None,)
    for last_first, raised_limit in product(answer_orders, raised_limits):
        answers = StoredAnswers(calls, short_ids(view.snapshot), last_first)
        try:
            decision = runner.run(
                llm.decide_by_answers(settings, view, answers.ask, write_question, raised_limit)
            )
        except NoAnswer as missing:
            yield PossibleDecision(None, str(missing))
            continue

        # With two answers to one question, one of them is unused in any case.
        unused = () if is_asked_twice else answers.unused()
        yield PossibleDecision(sound_decision(decision, view), unused=unused)
