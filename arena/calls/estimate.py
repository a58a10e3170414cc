"""Estimates of what a line-up costs before a model is asked: each agent plays a sample round.

A stand-in answers in place of its model and counts every question, so that blind questions, samples, parts
and kinds of one's own need no rule of their own here. Low is every question once, answered whole and in few
words. Expected is that with the thinking that is usual, or what the agent's newest turns have used. High is
what budgets hold back: a token for every byte sent and all tokens that may come back, with every first answer
unusable or cut off, whichever is dearer, and asked for once more. The sample round has as many markets as the
config shows, with texts of a typical length.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from itertools import chain
from math import ceil
from typing import TYPE_CHECKING, Literal

from agents.answers.json_text import MOST_TEXT
from agents.answers.question import MOST_SHOWN
from agents.guard import Guard
from agents.model import (
    Agent,
    Article,
    Call,
    Context,
    Given,
    ModelSettings,
    Prompt,
    TokenPrice,
    View,
    model_settings,
)
from agents.model_table.capabilities import A_SECOND, ModelFault, expected_thinking
from agents.model_table.cost import most_tokens, price_for, searches_once, usage_cost, worst_case
from agents.model_table.price_table import table_entry
from agents.model_table.usage import TokenUsage
from agents.prompts.dry_run import with_context
from agents.prompts.prompt import MARKET_NAME, short_ids
from agents.registry import kind
from agents.text import break_role_tokens, one_line, printable
from arena.config import Config
from arena.config.model import AgentConfig
from arena.record.model.cohort import NO_EVIDENCE
from markets.distributions import form_of, question_kind
from markets.millionths import ONE
from markets.model import Listing, Market, MarketId, Quote, Snapshot
from portfolio.marks import mark_all
from portfolio.model import Holdings, Lot, LotKey
from portfolio.rules import Rules

if TYPE_CHECKING:
    from arena.record.queries.calls import RecentUsage

SAMPLE_TIME = datetime(2026, 1, 4, tzinfo=UTC)
SAMPLE_QUESTION = "Will the measure numbered {:04d} be passed before that date?"
"""As long as the median question of 207 markets recorded at Polymarket: 58 characters."""
SAMPLE_RULES_LENGTH = 719
"""The median length of the rules of the same markets. Kalshi's are half as long, Manifold's often empty."""
SAMPLE_RULES = (
    "This market ends YES if the official journal lists the measure as passed by 11:59 PM ET on the day "
    "named above, and NO in every other case. A vote that is put off does not count as passed. The journal "
    "itself is the primary source; a consensus of credible reporting is used where it is late or silent.\n\n"
)


def first_sample_round(
    shown_count: int, rules: Rules, bankroll: int, rounds: int, held_count: int = 0
) -> View:
    """Return a first round with markets on offer, other markets that are held, and no articles."""
    listings = tuple(_sample_listing(number) for number in range(1, shown_count + held_count + 1))
    snapshot = Snapshot(SAMPLE_TIME, listings[:shown_count], listings[shown_count:])
    lots: dict[LotKey, Lot] = {
        (listing.market.id, "YES"): Lot(100 * ONE, 41 * ONE) for listing in snapshot.held
    }
    holdings = Holdings(cash=bankroll, lots=lots)
    return View(
        snapshot=snapshot,
        holdings=holdings,
        mark=mark_all({"": holdings}, snapshot)[""],
        rules=rules,
        seed=1,
        rounds=rounds,
    )


def late_sample_round(
    shown_count: int, held_count: int, rules: Rules, bankroll: int, rounds: int, guard: Guard | None = None
) -> View:
    """Return the last round of a cohort, in which so many markets are held that are no longer on offer.

    With a guard, each market has as many articles as it lets through, and as long ones.
    """
    view = replace(first_sample_round(shown_count, rules, bankroll, rounds, held_count), round=rounds)
    if guard is None or not guard.per_market:
        return view

    text = _sample_text(guard.characters)
    article = Article(
        "example.org", "https://example.org/a-page", SAMPLE_QUESTION, text, SAMPLE_TIME, SAMPLE_TIME
    )
    articles = (article,) * guard.per_market
    return replace(view, evidence={listing.market.id: articles for listing in view.snapshot})


def _sample_listing(number: int) -> Listing:
    """Return a market of typical length with a price."""
    market = Market(
        id=MarketId(f"sample:{number}"),
        event_id=f"sample:{number}",
        question=SAMPLE_QUESTION.format(number),
        rules=_sample_text(SAMPLE_RULES_LENGTH),
        category="Politics",
        opens_at=SAMPLE_TIME - timedelta(days=30),
        closes_at=SAMPLE_TIME + timedelta(days=30),
        fee_rate=ONE // 25,
    )
    return Listing(market, Quote(market.id, SAMPLE_TIME, 400_000, 420_000, 410_000, volume=50_000 * ONE))


def _sample_text(length: int) -> str:
    """Return a typical text of a given length."""
    return (SAMPLE_RULES * (length // len(SAMPLE_RULES) + 1))[:length]


BYTES_A_TOKEN = 4
"""Of plain English, as most models split it: for the low figures, and for how long a cut answer is."""
HELD_MARKETS = 2
"""In the dearest round one market is held and no longer on offer for every so many that are on offer."""
MOST_CALLS = 2_000
SAMPLE_REASON = "in line with the base rate, no news"
"""The reason of a forecast, in as few words as it needs."""
Bound = Literal["low", "cut", "partly", "unusable"]
HIGH: tuple[Bound, ...] = ("cut", "partly", "unusable")
"""How every first answer may fall short: nothing before it was cut off, one forecast, or no answer at all."""
FEWER = "show fewer markets in a call (markets.show, or batch)"


@dataclass(frozen=True, slots=True)
class Usage:
    """Calls, tokens sent, tokens received, and what they cost in millionths: None with a price unknown."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: int | None = 0

    def __add__(self, other: "Usage") -> "Usage":
        """Return the sum of two usages."""
        return Usage(
            self.calls + other.calls,
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            None if self.cost is None or other.cost is None else self.cost + other.cost,
        )

    def times(self, rounds: Fraction | int) -> "Usage":
        """Return the usage of so many rounds, rounded up.

        >>> Usage(2, 1_000, 100, 7).times(Fraction(1, 2))
        Usage(calls=1, tokens_in=500, tokens_out=50, cost=4)
        """
        return Usage(
            ceil(self.calls * rounds),
            ceil(self.tokens_in * rounds),
            ceil(self.tokens_out * rounds),
            None if self.cost is None else ceil(self.cost * rounds),
        )


@dataclass(frozen=True, slots=True)
class Estimate:
    """What an agent uses in a round. `first` and `again` are its dearest question and its dearest repeat.

    `forecasts` are those of the turn that its stand-in answered. If it has played, `expected` is the mean of
    its newest `turns`. With `trouble` there is no estimate, for that reason. `faults` are settings that don't
    go with questions of that size.
    """

    agent: str
    price: TokenPrice | None
    low: Usage = Usage()
    expected: Usage = Usage()
    high: Usage = Usage()
    first: Usage = Usage()
    again: Usage = Usage()
    trouble: str = ""
    turns: int = 0
    faults: tuple[ModelFault, ...] = ()
    forecasts: int = 0

    @property
    def bounds(self) -> tuple[Usage, Usage]:
        """Return the least that a budget has to allow for, and what is expected; of played turns the mean."""
        return self.expected if self.turns else self.low, self.expected

    def times(self, rounds: Fraction | int) -> "Estimate":
        """Return the estimate of so many rounds, rounded up."""
        return replace(
            self,
            low=self.low.times(rounds),
            expected=self.expected.times(rounds),
            high=self.high.times(rounds),
        )

    def as_played(self, recent: "RecentUsage | None") -> "Estimate":
        """Return the estimate by the newest turns, which may have used less than a full round."""
        if recent is None or not recent.turns or self.trouble:
            return self

        cost = None if self.price is None else recent.cost
        total = Usage(recent.calls, recent.tokens_in, recent.tokens_out, cost)
        mean = total.times(Fraction(1, recent.turns))
        return replace(self, low=min(self.low, mean, key=_expense), expected=mean, turns=recent.turns)


def total_usage(uses: Iterable[Usage]) -> Usage:
    """Return the sum of all these usages."""
    return sum(uses, Usage())


async def estimate_lineup(config: Config, given: Given, view: View | None = None) -> list[Estimate]:
    """Estimate each agent that asks a model, in a round of the cohort that the config starts, or in a `view`.

    Agents with the same settings use the same, so one of them plays for all.
    """
    cheapest_round, late_round = _sample_views(config) if view is None else (view, view)
    estimate_of_settings: dict[tuple[str, str], Estimate] = {}
    estimates = []
    for agent in config.agents:
        model = model_settings(agent.settings)
        if model is None:
            continue

        settings_key = agent.kind, agent.settings.model_dump_json()
        if settings_key not in estimate_of_settings:
            context = getattr(model, "context", None)
            dearest_round = late_round
            if view is None and isinstance(context, Context):
                dearest_round = with_context(late_round, context)
            estimate_of_settings[settings_key] = await _estimate(
                agent, model, config, given, cheapest_round, dearest_round
            )
        estimates.append(replace(estimate_of_settings[settings_key], agent=agent.name))

    return estimates


def _sample_views(config: Config) -> tuple[View, View]:
    """Return the round that costs least, in which nothing is held yet, and the one that costs most."""
    cohorts = config.cohorts
    shown_count = config.markets.show
    guard = None if config.evidence.source == NO_EVIDENCE else config.evidence.guard
    cheapest_round = first_sample_round(shown_count, config.rules, cohorts.bankroll, cohorts.rounds)
    held_count = ceil(shown_count / HELD_MARKETS)
    dearest_round = late_sample_round(
        shown_count, held_count, config.rules, cohorts.bankroll, cohorts.rounds, guard
    )
    return cheapest_round, dearest_round


async def _estimate(
    agent: AgentConfig,
    model: ModelSettings,
    config: Config,
    given: Given,
    cheapest_round: View,
    dearest_round: View,
) -> Estimate:
    """Return an agent's estimate, from its cheapest first round and its most expensive late one."""
    price = price_for(model)
    try:
        agent_kind = kind(agent.kind, config.extensions("kinds"))
        player = agent_kind.agent(agent.settings, given)
        longest_answer = MOST_TEXT if agent_kind.looks_outside else MOST_SHOWN
        low_play = await _play_round(player, model, cheapest_round, "low", longest_answer)
        high_plays = [
            await _play_round(player, model, dearest_round, bound, longest_answer) for bound in HIGH
        ]
    except (Exception, SystemExit) as error:  # noqa: BLE001 - anyone's code: the others' figures still count
        return Estimate(agent.name, price, trouble=printable(f"{type(error).__name__}: {error}"))

    dearest_play = max(high_plays, key=lambda played: _expense(total_usage(played.uses)))
    all_repeats = chain.from_iterable(played.repeats for played in high_plays)
    return Estimate(
        agent.name,
        price,
        low=total_usage(low_play.uses),
        expected=total_usage(low_play.expected),
        high=total_usage(dearest_play.uses),
        first=_dearest(dearest_play.firsts),
        again=_dearest(all_repeats),
        trouble=low_play.failed or dearest_play.failed,
        faults=tuple(_faults(model, low_play)),
        forecasts=low_play.forecasts,
    )


def _faults(model: ModelSettings, stand_in: "_StandInModel") -> Iterator[ModelFault]:
    """Yield what is too small for the questions: the model's window, the longest answer, the timeout."""
    # Of the longest question, of the longest answer, and of that with its thinking.
    question_tokens = max((use.tokens_in for use in stand_in.uses), default=0)
    window = table_entry(model.model).get("max_input_tokens")
    if isinstance(window, int) and question_tokens > window:
        text = (
            f"a question takes about {question_tokens:,} tokens, and {model.model} reads at most {window:,}"
        )
        yield ModelFault("prompt_tokens", text, FEWER)

    answer_tokens = max(stand_in.needed, default=0)
    all_tokens = answer_tokens + expected_thinking(model)
    if answer_tokens > model.max_tokens:
        text = f"an answer takes at least {answer_tokens:,} tokens, and max_tokens is {model.max_tokens:,}"
        yield ModelFault("max_tokens", text, f"raise max_tokens, or {FEWER}")
    elif all_tokens > model.max_tokens:
        text = (
            f"an answer is expected to take about {all_tokens:,} tokens with its thinking, and max_tokens is "
            f"{model.max_tokens:,}"
        )
        yield ModelFault("max_tokens", text, "raise max_tokens, or lower `reasoning`", certain=False)

    # In tokens a second.
    speed = A_SECOND if model.measured is None else model.measured.speed
    if all_tokens > model.timeout * speed:
        text = (
            f"an answer of about {all_tokens:,} tokens takes {all_tokens / speed:.0f} seconds at {speed:.0f} "
            f"tokens a second, and timeout is {model.timeout:g} seconds"
        )
        yield ModelFault("timeout", text, "set a longer timeout, or lower `reasoning`", certain=False)


async def _play_round(
    player: Agent, settings: ModelSettings, view: View, bound: Bound, longest: int
) -> "_StandInModel":
    """Let an agent play a round, and return the model that stood in."""
    stand_in = _StandInModel(settings, view, bound, longest)
    decision = await player(view, stand_in.ask)
    stand_in.forecasts = len(decision.forecasts)
    if decision.status == "failed":
        stand_in.failed = decision.note
    return stand_in


def _dearest(uses: Iterable[Usage]) -> Usage:
    """Return the usage of the highest cost."""
    return max(uses, key=_expense, default=Usage())


def _expense(usage: Usage) -> tuple[int, int]:
    """Return the sort key of a usage: its cost, then its tokens."""
    return usage.cost or 0, usage.tokens_in + usage.tokens_out


@dataclass
class _StandInModel:
    """Answers in place of a model, and notes what each call would have used.

    `firsts` are questions that were not asked before, `repeats` are the others. `needed` has the tokens of
    each whole answer, `expected` its usage with the thinking that is usual. An answer that falls short has at
    most the `longest` characters: so many of them are repeated to the model.
    """

    settings: ModelSettings
    view: View
    bound: Bound
    longest: int
    firsts: list[Usage] = field(default_factory=list)
    repeats: list[Usage] = field(default_factory=list)
    asked: set[Prompt] = field(default_factory=set)
    expected: list[Usage] = field(default_factory=list)
    needed: list[int] = field(default_factory=list)
    failed: str = ""
    forecasts: int = 0

    @property
    def uses(self) -> list[Usage]:
        """Return the usage of every call."""
        return self.firsts + self.repeats

    async def ask(self, prompt: Prompt) -> Call:
        """Answer whole at the low bound; at others a question that was not asked before falls short."""
        if len(self.uses) >= MOST_CALLS:
            raise ValueError(f"it asks more than {MOST_CALLS:,} calls a round")

        is_repeat = prompt in self.asked or any(message.role == "assistant" for message in prompt.messages)
        self.asked.add(prompt)
        answer = short_answer(prompt, self.view.snapshot)
        token_limit = prompt.max_tokens or self.settings.max_tokens
        if self.bound == "low":
            answer_tokens = _tokens(answer)
            usage = self._usage_of(prompt, answer_tokens, 0)
            self.needed.append(answer_tokens)
            thinking_tokens = expected_thinking(self.settings)
            self.expected.append(self._usage_of(prompt, answer_tokens, thinking_tokens))
        else:
            usage = Usage(1, most_tokens(prompt), token_limit, worst_case(prompt, self.settings))

        if is_repeat:
            self.repeats.append(usage)
        else:
            self.firsts.append(usage)
        if self.bound == "low" or is_repeat:
            return Call(prompt, answer, finish="stop", cost=usage.cost)

        # The answer falls short: it has one forecast or none, and is cut off or unusable.
        forecast = f"{answer.partition('}')[0]}}}, " if self.bound == "partly" else ""
        filler = "x" * min(token_limit * BYTES_A_TOKEN, self.longest - len(forecast))
        finish = "stop" if self.bound == "unusable" else "length"
        return Call(prompt, forecast + filler, finish=finish, cost=usage.cost)

    def _usage_of(self, prompt: Prompt, answer_tokens: int, thinking_tokens: int) -> Usage:
        """Return the usage of a call whose answer and thinking take so many tokens."""
        sent = sum(_tokens(message.content) for message in prompt.messages)
        received = min(answer_tokens + thinking_tokens, prompt.max_tokens or self.settings.max_tokens)
        searches = searches_once(self.settings.model)
        token_usage = TokenUsage(sent, received, min(thinking_tokens, received), searches=searches)
        return Usage(1, sent, received, usage_cost(self.settings, token_usage))


def short_answer(prompt: Prompt, snapshot: Snapshot) -> str:
    """Return short forecasts for the markets in the question, or for all if it shows none."""
    text = "\n".join(message.content for message in prompt.messages)
    ids = short_ids(snapshot)
    mentioned_names = set(MARKET_NAME.findall(text))
    markets = [listing.market for listing in snapshot.shown]
    mentioned_markets = [
        market
        for market in markets
        if ids[market.id] in mentioned_names and break_role_tokens(one_line(market.question)) in text
    ]

    forecasts = list[dict[str, object]]()
    for market in mentioned_markets or markets:
        item: dict[str, object] = {"market": ids[market.id], "reason": SAMPLE_REASON}
        if market.form:
            form = form_of(market.form)
            kind = question_kind(form.kind)
            forecasts.append({**item, kind.KEY: kind.stated(form, kind.uniform(form))})
        else:
            forecasts.append({**item, "probability": 0.41})
    orders: dict[str, list[object]] = {"bets": [], "sales": []} if prompt.bets else {}
    return json.dumps({"forecasts": forecasts, **orders})


def _tokens(text: str) -> int:
    """Return the tokens of a text of typical words."""
    return ceil(len(text.encode("utf-8", "replace")) / BYTES_A_TOKEN)
