"""What a line-up costs before anyone is asked: each agent plays a made-up round against a stand-in.

Whatever an agent asks there is counted, so that blind questions, samples, parts and kinds of one's own
need no rule of their own here. Low is every question once, answered whole and in few words. High is what
budgets hold back: a token for every byte sent and all tokens that may come back, with every first answer
unusable and asked for once more.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil
from typing import Literal

from agents.cost import cost, most_tokens, price_for
from agents.jsontext import MOST_TEXT
from agents.model import Agent, Call, Given, ModelSettings, Price, Prompt, View, asked
from agents.prompt import short_ids
from agents.registry import kind
from agents.text import printable
from arena.config import Config
from arena.config.model import AgentConfig
from arena.invented import first_round, late_round
from arena.model import NO_EVIDENCE

BYTES_A_TOKEN = 4
"""Of plain English, as most models cut it up: for the low figures, and for how long a cut answer is."""
HELD = 2
"""In the dearest round one market is held and no longer on offer for so many that are."""
MOST_CALLS = 2_000
WORDS = "in line with the base rate, no news"
"""Why, in as few words as a forecast needs."""
Bound = Literal["low", "high"]


@dataclass(frozen=True, slots=True)
class Use:
    """Calls, tokens sent, tokens received, and what they cost in millionths: None with a price unknown."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: int | None = 0

    def __add__(self, other: "Use") -> "Use":
        known = None if self.cost is None or other.cost is None else self.cost + other.cost
        return Use(
            self.calls + other.calls,
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            known,
        )

    def times(self, rounds: Fraction) -> "Use":
        """That of so many rounds, rounded up.

        >>> Use(2, 1_000, 100, 7).times(Fraction(1, 2))
        Use(calls=1, tokens_in=500, tokens_out=50, cost=4)
        """
        return Use(
            ceil(self.calls * rounds),
            ceil(self.tokens_in * rounds),
            ceil(self.tokens_out * rounds),
            None if self.cost is None else ceil(self.cost * rounds),
        )


@dataclass(frozen=True, slots=True)
class Estimate:
    """What an agent uses in a round. `first` and `again` are its dearest question and its dearest repeat.

    With `trouble` nothing can be said, and that is why.
    """

    agent: str
    price: Price | None
    low: Use = Use()
    high: Use = Use()
    first: Use = Use()
    again: Use = Use()
    trouble: str = ""


def total(uses: Iterable[Use]) -> Use:
    """All of them together."""
    return sum(uses, Use())


async def estimates(config: Config, given: Given) -> list[Estimate]:
    """What each agent that asks a model uses in a round of the cohort that the config starts."""
    players = ((agent, asked(agent.settings)) for agent in config.agents)
    return [await _estimate(agent, model, config, given) for agent, model in players if model is not None]


async def _estimate(agent: AgentConfig, model: ModelSettings, config: Config, given: Given) -> Estimate:
    price = price_for(model)
    try:
        mind = kind(agent.kind, config.extensions("kinds")).agent(agent.settings, given)
        low, high = [await _played(mind, model, view, bound) for bound, view in _rounds(config)]
    except (Exception, SystemExit) as error:  # noqa: BLE001 - anyone's code: the others' figures still stand
        return Estimate(agent.name, price, trouble=printable(f"{type(error).__name__}: {error}"))
    return Estimate(
        agent.name,
        price,
        total(low.uses),
        total(high.uses),
        _dearest(high.firsts),
        _dearest(high.repeats),
        low.failed or high.failed,
    )


def _rounds(config: Config) -> list[tuple[Bound, View]]:
    """The round that costs least, nothing being held yet, and a late one."""
    cohorts, shown = config.cohorts, config.markets.show
    rules, money, rounds = cohorts.rules, cohorts.bankroll, cohorts.rounds
    guard = None if config.evidence.source == NO_EVIDENCE else config.evidence.guard
    return [
        ("low", first_round(shown, rules, money, rounds)),
        ("high", late_round(shown, -(-shown // HELD), rules, money, rounds, guard)),
    ]


async def _played(mind: Agent, settings: ModelSettings, view: View, bound: Bound) -> "_StandIn":
    stand_in = _StandIn(settings, view, bound)
    decision = await mind(view, stand_in.ask)
    stand_in.failed = decision.note if decision.verdict == "failed" else ""
    return stand_in


def _dearest(uses: Iterable[Use]) -> Use:
    return max(uses, key=lambda use: (use.cost or 0, use.tokens_in), default=Use())


@dataclass
class _StandIn:
    """Answers in place of a model, and notes what each call would have used."""

    settings: ModelSettings
    view: View
    bound: Bound
    firsts: list[Use] = field(default_factory=list)
    repeats: list[Use] = field(default_factory=list)
    asked: set[Prompt] = field(default_factory=set)
    failed: str = ""

    @property
    def uses(self) -> list[Use]:
        return self.firsts + self.repeats

    async def ask(self, prompt: Prompt) -> Call:
        """At its dearest, a question that was not asked before gets an answer that was cut off."""
        if len(self.uses) >= MOST_CALLS:
            raise ValueError(f"it asks more than {MOST_CALLS:,} questions a round")
        again = prompt in self.asked or any(message.role == "assistant" for message in prompt.messages)
        self.asked.add(prompt)
        answer = _answer(prompt, self.view)
        use = self._least(prompt, answer) if self.bound == "low" else self._most(prompt)
        (self.repeats if again else self.firsts).append(use)
        if self.bound == "high" and not again:
            cut = "x" * min(self.settings.max_tokens * BYTES_A_TOKEN, MOST_TEXT)
            return Call(prompt, cut, finish="length", cost=use.cost)
        return Call(prompt, answer, finish="stop", cost=use.cost)

    def _least(self, prompt: Prompt, answer: str) -> Use:
        sent = sum(_tokens(message.content) for message in prompt.messages)
        got = min(_tokens(answer), self.settings.max_tokens)
        return Use(1, sent, got, cost(price_for(self.settings, sent), sent, got))

    def _most(self, prompt: Prompt) -> Use:
        sent, got = most_tokens(prompt), self.settings.max_tokens
        return Use(1, sent, got, cost(price_for(self.settings, sent), sent, got))


def _answer(prompt: Prompt, view: View) -> str:
    """A forecast in few words for every market that the question shows; for all, if it quotes none."""
    text = "\n".join(message.content for message in prompt.messages)
    ids, shown = short_ids(view.snapshot), view.snapshot.shown
    here = [listing for listing in shown if listing.market.question in text] or list(shown)
    forecasts = [{"market": ids[x.market.id], "reason": WORDS, "probability": 0.41} for x in here]
    empty: dict[str, list[object]] = {"bets": [], "sales": []} if prompt.bets else {}
    return json.dumps({"forecasts": forecasts, **empty})


def _tokens(text: str) -> int:
    return -(-len(text.encode("utf-8", "replace")) // BYTES_A_TOKEN)
