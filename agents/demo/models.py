"""The demo's models: a pure function of a model's name, the messages and a seed."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from agents.demo.beliefs import Belief, blind, clumsy, hasty, sharp
from agents.demo.reading import Reading, Topic, read
from agents.model import Message
from markets.millionths import ONE
from markets.odds import probability

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
    """What the model says to these messages.

    >>> answer("sharp", [Message("user", "### m1\\n| Will it rain?")], seed=1)
    '{"forecasts": [{"market": "m1", "probability": 0.5, "reason": "even odds and 0 pieces of ev...'
    """
    character, reading = MODELS[model], read(messages)
    beliefs = {
        topic.id: _rounded(probability(character.belief(topic, Random(f"{seed}/{model}/{topic.question}"))))
        for topic in reading.topics
    }
    text = json.dumps(
        {
            "forecasts": [_forecast(topic, beliefs[topic.id]) for topic in reading.topics],
            "bets": _bets(character, reading, beliefs),
            "sales": _sales(reading, beliefs),
        }
    )
    asked_before = any(message.role == "assistant" for message in messages)
    slips = Random(f"{seed}/{model}/slip").random() < character.breaks
    return _broken(text) if slips and not asked_before else text


def _rounded(p: int) -> int:
    """To a tenth of a percent, and never certain."""
    return min(max((p + 500) // 1_000, 1), 999) * 1_000


def _forecast(topic: Topic, p: int) -> dict[str, Any]:
    count = len(topic.said)
    pieces = f"{count} piece{'' if count == 1 else 's'} of evidence"
    start = "even odds" if topic.mid is None else f"a price of {topic.mid / ONE:g}"
    return {"market": topic.id, "probability": p / ONE, "reason": f"{start} and {pieces}"}


def _bets(character: Model, reading: Reading, beliefs: Mapping[str, int]) -> list[dict[str, Any]]:
    """The largest edges first, each staked by its character's part of Kelly, while the cash lasts."""
    held = {market for market, _ in reading.held}
    edges = []
    for place, topic in enumerate(reading.topics):
        for side, belief, price in _sides(topic, beliefs[topic.id]):
            if price is not None and belief - price >= character.edge and topic.id not in held:
                edges.append((price - belief, place, side, belief, price))
    bets, left = [], reading.cash
    for _, place, side, belief, price in sorted(edges)[:MOST_BETS]:
        kelly = int(character.kelly * reading.cash * (belief - price) / (ONE - price))
        stake = min(kelly, reading.max_bet, left) // ONE * ONE
        if stake >= max(reading.min_bet, 1):
            left -= stake
            reason = f"worth {belief / ONE:.3f}, costs {price / ONE:g}"
            bet = {"market": reading.topics[place].id, "side": side, "amount": stake // ONE, "reason": reason}
            bets.append(bet)
    return bets


def _sales(reading: Reading, beliefs: Mapping[str, int]) -> list[dict[str, Any]]:
    """All of a position whose side sells for more than it is now believed to be worth."""
    topics = {topic.id: topic for topic in reading.topics}
    sales = []
    for market, side in reading.held:
        if market not in topics:
            continue
        topic, p = topics[market], beliefs[market]
        worth = p if side == "YES" else ONE - p
        sells_for = topic.bid if side == "YES" else None if topic.ask is None else ONE - topic.ask
        if sells_for is not None and sells_for > worth:
            sales.append(
                {"market": market, "side": side, "fraction": "all", "reason": "sells above its worth"}
            )
    return sales


def _sides(topic: Topic, p: int) -> list[tuple[str, int, int | None]]:
    """Each side with what it is worth and what it costs."""
    return [("YES", p, topic.ask), ("NO", ONE - p, None if topic.bid is None else ONE - topic.bid)]


def _broken(text: str) -> str:
    """The answer as a careless writer leaves it: chatty, and without its last brackets."""
    return f"Here is my answer:\n```json\n{text[:-3]}\n```"
