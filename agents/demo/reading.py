"""What a demo model takes in: the markets, prices, evidence and account that its prompt tells of."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from agents.model import Message
from markets.millionths import millionths

Source = Literal["a careful panel", "an analyst", "a rumour"]

_TODAY = re.compile(r"^Round .* It is (\d{4}-\d{2}-\d{2})", re.MULTILINE)
_CASH = re.compile(r"^Cash: \$([\d,.]+)$", re.MULTILINE)
_LIMITS = re.compile(r"at least \$([\d,.]+) and at most .*?, now \$([\d,.]+?)\.?(?: |$)", re.MULTILINE)
_POSITION = re.compile(r"^- (m\d+) (YES|NO): ", re.MULTILINE)
_PRICE = re.compile(r"^Price: YES ([\d.]+) \(bid ([\d.]+|none), ask ([\d.]+|none)\)$", re.MULTILINE)
_QUESTION = re.compile(r"^\| (.*)$", re.MULTILINE)
_LINE = re.compile(
    r"^\| - (\d{4}-\d{2}-\d{2}): (a careful panel|an analyst|a rumour) puts the chance at (\d{1,2})%\.$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Said:
    """A piece of evidence: how many days old, from whom, and the chance of YES in percent."""

    age: int
    source: Source
    percent: int


@dataclass(frozen=True, slots=True)
class Topic:
    """A market as the prompt shows it; prices in millionths, None where none is shown."""

    id: str
    question: str
    mid: int | None
    bid: int | None
    ask: int | None
    said: tuple[Said, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """A whole prompt. Without prices there is no account to bet from, and cash is 0."""

    topics: tuple[Topic, ...]
    cash: int = 0
    min_bet: int = 0
    max_bet: int = 0
    held: tuple[tuple[str, str], ...] = field(default=())


def read(messages: Sequence[Message]) -> Reading:
    """What the first message from the user tells."""
    text = next((message.content for message in messages if message.role == "user"), "")
    today = _TODAY.search(text)
    day = date.fromisoformat(today[1]) if today else date.min
    topics = tuple(_topic(block, day) for block in _offered(text))
    cash, limits = _CASH.search(text), _LIMITS.search(text)
    if cash is None or limits is None:
        return Reading(topics)
    return Reading(
        topics, _dollars(cash[1]), _dollars(limits[1]), _dollars(limits[2]), tuple(_POSITION.findall(text))
    )


def _offered(text: str) -> list[str]:
    """The part of the text that belongs to each market on offer, its short name in the first line."""
    return f"\n{text}".partition("\n## Held")[0].partition("\n## Your answer")[0].split("\n### ")[1:]


def _topic(block: str, today: date) -> Topic:
    name = block.partition("\n")[0]
    question, price = _QUESTION.search(block), _PRICE.search(block)
    mid, bid, ask = (None if p == "none" else millionths(p) for p in price.groups()) if price else [None] * 3
    said = tuple(
        Said((today - date.fromisoformat(day)).days, source, int(percent))
        for day, source, percent in _LINE.findall(block)
    )
    return Topic(name, question[1] if question else "", mid, bid, ask, said)


def _dollars(text: str) -> int:
    return millionths(text.replace(",", ""))
