"""What a line-up costs before anyone is asked: each agent plays a made-up round against a stand-in.

Whatever an agent asks there is counted, so that blind questions, samples, parts and kinds of one's own
need no rule of their own here. Low is every question once, answered whole and in few words. Expected is that
with the thinking that is usual, or what the agent's newest turns have used. High is what budgets hold back: a
token for every byte sent and all tokens that may come back, with every first answer unusable or cut off,
whichever is dearer, and asked for once more. The sample round has as many markets as the config shows, with
texts of a typical length.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
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
from agents.text import one_line, printable
from arena.config import Config
from arena.config.model import AgentConfig
from arena.record.model.cohort import NO_EVIDENCE
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


def first_sample_round(shown: int, rules: Rules, bankroll: int, rounds: int) -> View:
    """A round with so many markets on offer. Nothing is held yet, and no source has an article."""
    return _sample_round(shown, 0, rules, bankroll, rounds)


def late_sample_round(
    shown: int, more: int, rules: Rules, bankroll: int, rounds: int, guard: Guard | None = None
) -> View:
    """The last round of a cohort: `more` markets are held that are no longer on offer.

    With a guard, each market has as many articles as it lets through, and as long ones.
    """
    view = _sample_round(shown, more, rules, bankroll, rounds)
    every = () if guard is None else (_sample_article(guard.characters),) * guard.per_market
    evidence = {listing.market.id: every for listing in view.snapshot} if every else {}
    return replace(view, round=rounds, evidence=evidence)


def _sample_round(shown: int, more: int, rules: Rules, bankroll: int, rounds: int) -> View:
    listings = [_sample_listing(number) for number in range(1, shown + more + 1)]
    snapshot = Snapshot(SAMPLE_TIME, tuple(listings[:shown]), tuple(listings[shown:]))
    lots: dict[LotKey, Lot] = {(held.market.id, "YES"): Lot(100 * ONE, 41 * ONE) for held in snapshot.held}
    account = Holdings(cash=bankroll, lots=lots)
    return View(
        snapshot=snapshot,
        holdings=account,
        mark=mark_all({"": account}, snapshot)[""],
        rules=rules,
        seed=1,
        rounds=rounds,
    )


def _sample_article(characters: int) -> Article:
    text = (SAMPLE_RULES * (characters // len(SAMPLE_RULES) + 1))[:characters]
    return Article(
        "example.org", "https://example.org/a-page", SAMPLE_QUESTION, text, SAMPLE_TIME, SAMPLE_TIME
    )


def _sample_listing(number: int) -> Listing:
    market = Market(
        id=MarketId(f"sample:{number}"),
        event_id=f"sample:{number}",
        question=SAMPLE_QUESTION.format(number),
        rules=(SAMPLE_RULES * (SAMPLE_RULES_LENGTH // len(SAMPLE_RULES) + 1))[:SAMPLE_RULES_LENGTH],
        category="Politics",
        opens_at=SAMPLE_TIME - timedelta(days=30),
        closes_at=SAMPLE_TIME + timedelta(days=30),
        fee_rate=ONE // 25,
    )
    return Listing(market, Quote(market.id, SAMPLE_TIME, 400_000, 420_000, 410_000, volume=50_000 * ONE))


BYTES_A_TOKEN = 4
"""Of plain English, as most models cut it up: for the low figures, and for how long a cut answer is."""
HELD_MARKETS = 2
"""In the dearest round one market is held and no longer on offer for so many that are."""
MOST_CALLS = 2_000
SAMPLE_REASON = "in line with the base rate, no news"
"""Why, in as few words as a forecast needs."""
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
        cost = None if self.cost is None or other.cost is None else self.cost + other.cost
        tokens_in, tokens_out = self.tokens_in + other.tokens_in, self.tokens_out + other.tokens_out
        return Usage(self.calls + other.calls, tokens_in, tokens_out, cost)

    def times(self, rounds: Fraction) -> "Usage":
        """That of so many rounds, rounded up.

        >>> Usage(2, 1_000, 100, 7).times(Fraction(1, 2))
        Usage(calls=1, tokens_in=500, tokens_out=50, cost=4)
        """
        calls, tokens_in, tokens_out, cost = (
            ceil(each * rounds) for each in (self.calls, self.tokens_in, self.tokens_out, self.cost or 0)
        )
        return Usage(calls, tokens_in, tokens_out, None if self.cost is None else cost)


@dataclass(frozen=True, slots=True)
class Estimate:
    """What an agent uses in a round. `first` and `again` are its dearest question and its dearest repeat.

    Where it has played, `expected` is the mean of its newest `turns`. With `trouble` nothing can be said, and
    that is why. `faults` are settings that don't go with questions of that size.
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

    @property
    def bounds(self) -> tuple[Usage, Usage]:
        """The least that a budget has to allow for, and what is expected; where it has played, the mean."""
        return self.expected if self.turns else self.low, self.expected

    def as_played(self, recent: "RecentUsage | None") -> "Estimate":
        """The same, if it goes on as in its newest turns, which may use less than a full round."""
        if recent is None or not recent.turns or self.trouble:
            return self
        paid = None if self.price is None else recent.cost
        used = Usage(recent.calls, recent.tokens_in, recent.tokens_out, paid)
        mean = used.times(Fraction(1, recent.turns))
        return replace(self, low=min(self.low, mean, key=_expense), expected=mean, turns=recent.turns)


def total_usage(uses: Iterable[Usage]) -> Usage:
    """All of them together."""
    return sum(uses, Usage())


async def estimate_lineup(config: Config, given: Given, view: View | None = None) -> list[Estimate]:
    """What each agent that asks a model uses in a round of the cohort that the config starts, or in a `view`.

    Agents with the same settings use the same, so one of them plays for all.
    """
    rounds, estimates, found = (
        _SampleRounds(config, view),
        dict[tuple[str, str], Estimate](),
        list[Estimate](),
    )
    for agent in config.agents:
        if (model := model_settings(agent.settings)) is None:
            continue
        setup = agent.kind, agent.settings.model_dump_json()
        if setup not in estimates:
            estimates[setup] = await _estimate(agent, model, config, given, rounds)
        found.append(replace(estimates[setup], agent=agent.name))
    return found


async def _estimate(
    agent: AgentConfig, model: ModelSettings, config: Config, given: Given, rounds: "_SampleRounds"
) -> Estimate:
    price = price_for(model)
    try:
        plays = kind(agent.kind, config.extensions("kinds"))
        player, longest = plays.agent(agent.settings, given), MOST_TEXT if plays.looks_outside else MOST_SHOWN
        low = await _played(player, model, rounds.first, "low", longest)
        late = rounds.late(getattr(model, "context", None))
        highs = [await _played(player, model, late, bound, longest) for bound in HIGH]
    except (Exception, SystemExit) as error:  # noqa: BLE001 - anyone's code: the others' figures still stand
        return Estimate(agent.name, price, trouble=printable(f"{type(error).__name__}: {error}"))
    high = max(highs, key=lambda each: _expense(total_usage(each.uses)))
    return Estimate(
        agent.name,
        price,
        total_usage(low.uses),
        total_usage(low.expected),
        total_usage(high.uses),
        _dearest(high.firsts),
        _dearest(use for each in highs for use in each.repeats),
        low.failed or high.failed,
        faults=tuple(_faults(model, low)),
    )


def _faults(model: ModelSettings, low: "_StandInModel") -> Iterator[ModelFault]:
    """What is too small for the questions: the model's window, the longest answer, the wait for it."""
    sent, needed = max((use.tokens_in for use in low.uses), default=0), max(low.needed, default=0)
    likely, window = needed + expected_thinking(model), table_entry(model.model).get("max_input_tokens")
    if isinstance(window, int) and sent > window:
        words = f"a question takes about {sent:,} tokens, and {model.model} reads at most {window:,}"
        yield ModelFault("prompt_tokens", words, FEWER)
    if needed > model.max_tokens:
        words = f"an answer takes at least {needed:,} tokens, and max_tokens is {model.max_tokens:,}"
        yield ModelFault("max_tokens", words, f"raise max_tokens, or {FEWER}")
    elif likely > model.max_tokens:
        words = f"an answer is expected to take about {likely:,} tokens with its thinking, and max_tokens is "
        words += f"{model.max_tokens:,}"
        yield ModelFault("max_tokens", words, "raise max_tokens, or lower `reasoning`", certain=False)
    speed = A_SECOND if model.measured is None else model.measured.speed
    if likely > model.timeout * speed:
        words = (
            f"an answer of about {likely:,} tokens takes {likely / speed:.0f} seconds at {speed:.0f} tokens "
        )
        words += f"a second, and timeout is {model.timeout:g} seconds"
        yield ModelFault("timeout", words, "set a longer timeout, or lower `reasoning`", certain=False)


class _SampleRounds:
    """The round that costs least, nothing being held yet, and a late one: made once for all agents."""

    def __init__(self, config: Config, view: View | None = None):
        self._told: dict[Context, View] = {}
        self._given = view is not None
        if view is not None:
            self.first = self._late = view
            return
        cohorts, shown = config.cohorts, config.markets.show
        rules, money, rounds = cohorts.rules, cohorts.bankroll, cohorts.rounds
        guard = None if config.evidence.source == NO_EVIDENCE else config.evidence.guard
        self.first = first_sample_round(shown, rules, money, rounds)
        self._late = late_sample_round(shown, -(-shown // HELD_MARKETS), rules, money, rounds, guard)

    def late(self, context: object) -> View:
        """The late one, with all that an agent of such a context is told."""
        if self._given or not isinstance(context, Context):
            return self._late
        if context not in self._told:
            self._told[context] = with_context(self._late, context)
        return self._told[context]


async def _played(
    player: Agent, settings: ModelSettings, view: View, bound: Bound, longest: int
) -> "_StandInModel":
    stand_in = _StandInModel(settings, view, bound, longest)
    decision = await player(view, stand_in.ask)
    stand_in.failed = decision.note if decision.status == "failed" else ""
    return stand_in


def _dearest(uses: Iterable[Usage]) -> Usage:
    return max(uses, key=_expense, default=Usage())


def _expense(use: Usage) -> tuple[int, int]:
    return use.cost or 0, use.tokens_in + use.tokens_out


@dataclass
class _StandInModel:
    """Answers in place of a model, and notes what each call would have used.

    `expected` is that with the thinking that is usual, `needed` the tokens of each whole answer. One
    that falls short has no more than the `longest` characters: so many of it are repeated at most.
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

    @property
    def uses(self) -> list[Usage]:
        return self.firsts + self.repeats

    async def ask(self, prompt: Prompt) -> Call:
        """At its dearest, a question that was not asked before gets an answer that falls short."""
        if len(self.uses) >= MOST_CALLS:
            raise ValueError(f"it asks more than {MOST_CALLS:,} calls a round")
        again = prompt in self.asked or any(message.role == "assistant" for message in prompt.messages)
        self.asked.add(prompt)
        answer, most = short_answer(prompt, self.view.snapshot), prompt.max_tokens or self.settings.max_tokens
        use = self._likely(prompt, answer) if self.bound == "low" else self._most(prompt)
        (self.repeats if again else self.firsts).append(use)
        if self.bound != "low" and not again:
            one = f"{answer.partition('}')[0]}}}, " if self.bound == "partly" else ""
            short = one + "x" * min(most * BYTES_A_TOKEN, self.longest - len(one))
            finish = "stop" if self.bound == "unusable" else "length"
            return Call(prompt, short, finish=finish, cost=use.cost)
        return Call(prompt, answer, finish="stop", cost=use.cost)

    def _likely(self, prompt: Prompt, answer: str) -> Usage:
        """The answer as it is; with the thinking that is to be expected before it, it is expected."""
        self.needed.append(_tokens(answer))
        self.expected.append(self._use(prompt, self.needed[-1], expected_thinking(self.settings)))
        return self._use(prompt, self.needed[-1], 0)

    def _use(self, prompt: Prompt, answered: int, thought: int) -> Usage:
        sent = sum(_tokens(message.content) for message in prompt.messages)
        received = min(answered + thought, prompt.max_tokens or self.settings.max_tokens)
        searches = searches_once(self.settings.model)
        used = TokenUsage(sent, received, min(thought, received), searches=searches)
        return Usage(1, sent, received, usage_cost(self.settings, used))

    def _most(self, prompt: Prompt) -> Usage:
        received = prompt.max_tokens or self.settings.max_tokens
        return Usage(1, most_tokens(prompt), received, worst_case(prompt, self.settings))


def short_answer(prompt: Prompt, snapshot: Snapshot) -> str:
    """A forecast in few words for every market that the question shows; for all, if it quotes none."""
    text = "\n".join(message.content for message in prompt.messages)
    ids, shown = short_ids(snapshot), snapshot.shown
    named = set(MARKET_NAME.findall(text))
    quoted = (x for x in shown if ids[x.market.id] in named)
    here = [x for x in quoted if one_line(x.market.question) in text] or list(shown)
    forecasts = [{"market": ids[x.market.id], "reason": SAMPLE_REASON, "probability": 0.41} for x in here]
    empty: dict[str, list[object]] = {"bets": [], "sales": []} if prompt.bets else {}
    return json.dumps({"forecasts": forecasts, **empty})


def _tokens(text: str) -> int:
    return -(-len(text.encode("utf-8", "replace")) // BYTES_A_TOKEN)
