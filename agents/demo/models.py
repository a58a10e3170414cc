"""The demo's models: a pure function of a model's name, the messages and a seed.

A model reads the markets, prices, evidence and account that its prompt tells of, forms a belief on each
market (one model weighs the evidence, the others do so less well) and bets on it.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from itertools import takewhile
from math import fsum  # unlike sum(), the same in every version of Python
from random import Random
from typing import Any, Literal

from agents.model import Message
from markets.distributions import ASKED_PERCENTS
from markets.millionths import ONE, millionths
from markets.odds import bell, log_odds, probability
from portfolio.quotes import mirror_price

Source = Literal["a careful panel", "an analyst", "a rumour"]

_TODAY = re.compile(r"^Round .* It is (\d{4}-\d{2}-\d{2})", re.MULTILINE)
_CASH = re.compile(r"^Cash: \$([\d,.]+)$", re.MULTILINE)
_LIMITS = re.compile(r"at least \$([\d,.]+) and at most .*?, now \$([\d,.]+?)\.?(?: |$)", re.MULTILINE)
_POSITION = re.compile(r"^- (m\d+) (YES|NO): ", re.MULTILINE)
_PRICE = re.compile(r"^Price: YES ([\d.]+) \(bid ([\d.]+|none), ask ([\d.]+|none)\)$", re.MULTILINE)
_QUESTION = re.compile(r"^\| (.*)$", re.MULTILINE)
_ANSWER_KEY = re.compile(r'^Answer under "(\w+)": (.*)$', re.MULTILINE)
_OPTION = re.compile(r"^\| - (.*?)(?:: ([01](?:\.\d+)?))?$", re.MULTILINE)
_RANGE = re.compile(r"between (\S+) \([a-z ]+\) and (\S+) \(")
_LINE = re.compile(
    r"^\| - (\d{4}-\d{2}-\d{2}): (a careful panel|an analyst|a rumour) puts the chance at (\d{1,2})%\.$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class EvidenceLine:
    """A piece of evidence: how many days old, from whom, and the chance of YES in percent."""

    age: int
    source: Source
    percent: int


@dataclass(frozen=True, slots=True)
class AskedAnswer:
    """How a question is to be answered that isn't of yes or no: by which key, and over what.

    Each option comes with the market's chance of it, in millionths, or 0. `low` and `high` bound a number or
    a date, as text.
    """

    key: str
    options: tuple[tuple[str, int], ...]
    low: str = ""
    high: str = ""


@dataclass(frozen=True, slots=True)
class PromptMarket:
    """A market as the prompt shows it; prices in millionths, None where none is shown."""

    id: str
    question: str
    mid: int | None
    bid: int | None
    ask: int | None
    evidence: tuple[EvidenceLine, ...]
    asked: AskedAnswer | None = None


@dataclass(frozen=True, slots=True)
class PromptReading:
    """A whole prompt. Without prices there is no account to bet from, and cash is 0."""

    topics: tuple[PromptMarket, ...]
    cash: int = 0
    min_bet: int = 0
    max_bet: int = 0
    held: tuple[tuple[str, str], ...] = field(default=())


def read_prompt(messages: Sequence[Message]) -> PromptReading:
    """Return the contents of the first message from the user."""
    text = next((message.content for message in messages if message.role == "user"), "")
    date_line = _TODAY.search(text)
    today = date.min
    if date_line:
        today = date.fromisoformat(date_line[1])

    offered = f"\n{text}".partition("\n## Held")[0].partition("\n## Your answer")[0]
    topics = tuple(_market_in_block(block, today) for block in offered.split("\n### ")[1:])

    cash = _CASH.search(text)
    limits = _LIMITS.search(text)
    if cash is None or limits is None:
        return PromptReading(topics)

    min_bet, max_bet = map(_dollars, limits.groups())
    return PromptReading(topics, _dollars(cash[1]), min_bet, max_bet, tuple(_POSITION.findall(text)))


def _market_in_block(block: str, today: date) -> PromptMarket:
    """Return what a prompt says of a market in its block of lines."""
    name = block.partition("\n")[0]
    question_line = _QUESTION.search(block)
    question = "" if question_line is None else question_line[1]

    prices: list[int | None] = [None, None, None]
    price_line = _PRICE.search(block)
    if price_line is not None:
        prices = [None if text == "none" else millionths(text) for text in price_line.groups()]
    mid, bid, ask = prices

    evidence = []
    for day, source, percent in _LINE.findall(block):
        age = today - date.fromisoformat(day)
        evidence.append(EvidenceLine(age.days, source, int(percent)))

    return PromptMarket(name, question, mid, bid, ask, tuple(evidence), _asked_answer_in(block))


def _asked_answer_in(block: str) -> AskedAnswer | None:
    """Return how a question is to be answered; None for one of yes or no."""
    instruction = _ANSWER_KEY.search(block)
    if instruction is None:
        return None

    key, how = instruction.groups()
    after_heading = block[instruction.end() :].partition("\nOptions")[2].partition("\n")[2]
    lines = takewhile(lambda line: line.startswith("| - "), after_heading.split("\n"))
    matches = filter(None, map(_OPTION.fullmatch, lines))
    options = tuple((match[1], millionths(match[2] or "0")) for match in matches)
    bounds = _RANGE.search(how)
    low, high = bounds.groups() if bounds else ("", "")
    return AskedAnswer(key, options, low, high)


def _dollars(text: str) -> int:
    return millionths(text.replace(",", ""))


Belief = Callable[[PromptMarket, Random], float]
"""The log-odds of YES that a model believes."""

SPREAD: dict[Source, float] = {"a careful panel": 0.25, "an analyst": 0.7, "a rumour": 1.6}
"""The standard deviation of each source in log-odds."""
DRIFT = 0.01
"""By how much the variance of a piece of evidence grows with each day of its age."""
PRIOR = 0.6
"""The weight of even odds."""
PRICE_SPREAD = 0.5
PRICE_SHRINK = 0.86


def sharp(topic: PromptMarket, _rng: Random) -> float:
    """Weigh every piece of evidence by reliability and age, with the price as one more, and a prior."""
    weighted_odds = [
        (_reliability(evidence), _cached_log_odds(evidence.percent * 10_000)) for evidence in topic.evidence
    ]
    if topic.mid is not None:
        price_weight = 1 / (PRICE_SPREAD * PRICE_SPREAD)
        weighted_odds.append((price_weight, _cached_log_odds(topic.mid) / PRICE_SHRINK))

    # the prior has even odds, which are 0
    total_weight = fsum([PRIOR, *(weight for weight, _ in weighted_odds)])
    return fsum(weight * odds for weight, odds in weighted_odds) / total_weight


def hasty(topic: PromptMarket, _rng: Random) -> float:
    """Take the most extreme of the last three pieces, from any source, with some of the price."""
    last_odds = (_cached_log_odds(evidence.percent * 10_000) for evidence in topic.evidence[-3:])
    most_extreme = max(last_odds, key=abs, default=0.0)
    return 0.6 * most_extreme + 0.4 * _price_odds(topic)


def blind(topic: PromptMarket, rng: Random) -> float:
    """Ignore the evidence: mix a random feeling about the question, optimism and the price."""
    return 0.7 * _price_odds(topic) + 0.35 + 0.8 * bell(rng)


def clumsy(topic: PromptMarket, rng: Random) -> float:
    """Average all pieces equally, whatever their age and source, with some of the price."""
    odds = [_cached_log_odds(evidence.percent * 10_000) for evidence in topic.evidence]
    mean = 0.0
    if odds:
        mean = fsum(odds) / len(odds)
    return 0.6 * mean + 0.4 * _price_odds(topic) + 0.2 * bell(rng)


def _reliability(evidence: EvidenceLine) -> float:
    spread = SPREAD[evidence.source]
    return 1 / (spread * spread + DRIFT * evidence.age)


def _price_odds(topic: PromptMarket) -> float:
    if topic.mid is None:
        return 0.0
    return _cached_log_odds(topic.mid)


_cached_log_odds = lru_cache(maxsize=2048)(log_odds)
MOST_BETS = 6


@dataclass(frozen=True, slots=True)
class Model:
    """A character: how it forms beliefs, how boldly it bets, how often its JSON breaks."""

    belief: Belief
    kelly: float
    edge: int
    breaks: float = 0.0


MODELS: Mapping[str, Model] = {
    "sharp": Model(sharp, kelly=0.06, edge=50_000),
    "hasty": Model(hasty, kelly=0.05, edge=100_000),
    "blind": Model(blind, kelly=0.15, edge=60_000),
    "clumsy": Model(clumsy, kelly=0.1, edge=60_000, breaks=0.25),
}


def answer(model: str, messages: Sequence[Message], seed: int) -> str:
    """Return the model's answer to these messages."""
    character = MODELS[model]
    reading = read_prompt(messages)
    beliefs: dict[str, int] = {}
    forecasts = []
    for topic in reading.topics:
        dice = Random(f"{seed}/{model}/{topic.question}")
        if topic.asked:
            forecasts.append(_hunch(topic, topic.asked, dice))
        else:
            belief = _rounded(probability(character.belief(topic, dice)))
            beliefs[topic.id] = belief
            forecasts.append(_probability_forecast(topic, belief))

    bets = _bets_on_edges(character, reading, beliefs)
    sales = _sales_above_worth(reading, beliefs)
    text = json.dumps({"forecasts": forecasts, "bets": bets, "sales": sales})

    asked_before = any(message.role == "assistant" for message in messages)
    slips = Random(f"{seed}/{model}/slip").random() < character.breaks
    if slips and not asked_before:  # a careless answer: chatty, and broken off too soon
        return f"Here is my answer:\n```json\n{text.partition('probability')[0]}\n```"
    return text


def _rounded(p: int) -> int:
    """Round to a tenth of a percent, and never to certainty."""
    thousandths = (p + 500) // 1_000
    return min(max(thousandths, 1), 999) * 1_000


def _probability_forecast(topic: PromptMarket, belief: int) -> dict[str, Any]:
    """Return a forecast of a belief in millionths, as an item of an answer, with what it starts from."""
    count = len(topic.evidence)
    evidence = f"{count} piece{'' if count == 1 else 's'} of evidence"
    start = "even odds"
    if topic.mid is not None:
        start = f"a price of {topic.mid / ONE:g}"
    return {"market": topic.id, "probability": belief / ONE, "reason": f"{start} and {evidence}"}


def _hunch(topic: PromptMarket, asked: AskedAnswer, dice: Random) -> dict[str, Any]:
    """Return a hunch about a question that isn't of yes or no: near the market's chances, or in its range."""
    if not asked.options:
        quantiles = _quantiles(asked, 0.3 + 0.4 * dice.random())
        return {"market": topic.id, "reason": "a hunch", asked.key: quantiles}

    even = ONE // len(asked.options)
    weights = [(chance or even) * (0.5 + dice.random()) for _, chance in asked.options]
    total = fsum(weights)
    chances = []
    for (option, _), weight in zip(asked.options, weights, strict=True):
        chances.append({"option": option, "probability": round(weight / total, 6)})
    return {"market": topic.id, "reason": "a hunch", asked.key: chances}


def _quantiles(asked: AskedAnswer, middle: float) -> dict[str, Any]:
    """Return values around a place of the range, from 0 to 1; dates where its bounds are dates."""
    positions = {f"p{percent}": middle + (percent - 50) / 200 for percent in ASKED_PERCENTS}
    try:
        low = float(asked.low)
        high = float(asked.high)
    except ValueError:
        first = date.fromisoformat(asked.low[:10]).toordinal()
        last = date.fromisoformat(asked.high[:10]).toordinal()
        quantiles = {}
        for name, position in positions.items():
            day = first + 1 + int(position * (last - first - 1))
            quantiles[name] = date.fromordinal(day).isoformat()
        return quantiles

    return {name: round(low + position * (high - low), 6) for name, position in positions.items()}


def _bets_on_edges(
    character: Model, reading: PromptReading, beliefs: Mapping[str, int]
) -> list[dict[str, Any]]:
    """Return bets on the largest edges first, each a part of Kelly, while the cash lasts."""
    held = {market for market, _ in reading.held}
    candidates = []
    for index, topic in enumerate(reading.topics):
        if topic.asked is not None or topic.id in held:
            continue
        for side, worth, price in _sides_with_worth_and_price(topic, beliefs[topic.id]):
            if price is not None and worth - price >= character.edge:
                candidates.append((price - worth, index, side, worth, price))  # the largest edge first

    bets = []
    cash_left = reading.cash
    for _, index, side, worth, price in sorted(candidates)[:MOST_BETS]:
        kelly = int(character.kelly * reading.cash * (worth - price) / (ONE - price))
        stake = min(kelly, reading.max_bet, cash_left) // ONE * ONE  # whole dollars
        if stake < max(reading.min_bet, 1):
            continue

        cash_left -= stake
        reason = f"worth {worth / ONE:.3f}, costs {price / ONE:g}"
        bet = {"market": reading.topics[index].id, "side": side, "amount": stake // ONE, "reason": reason}
        bets.append(bet)

    return bets


def _sales_above_worth(reading: PromptReading, beliefs: Mapping[str, int]) -> list[dict[str, Any]]:
    """Return sales of whole positions whose side sells for more than its believed worth."""
    topics = {topic.id: topic for topic in reading.topics}
    sales = []
    for market, side in reading.held:
        if market not in beliefs:
            continue

        topic = topics[market]
        belief = beliefs[market]
        worth = belief
        sells_for = topic.bid
        if side != "YES":
            worth = ONE - belief
            sells_for = mirror_price(topic.ask)

        if sells_for is not None and sells_for > worth:
            sales.append(
                {"market": market, "side": side, "fraction": "all", "reason": "sells above its worth"}
            )

    return sales


def _sides_with_worth_and_price(topic: PromptMarket, belief: int) -> list[tuple[str, int, int | None]]:
    """Return each side with its worth and its price."""
    return [("YES", belief, topic.ask), ("NO", ONE - belief, mirror_price(topic.bid))]
