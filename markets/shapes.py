"""How the markets of an event hang together: outcomes that rule each other out, or rungs of a ladder.

It is read from questions and rules, and only where they leave no doubt: whoever takes loose markets for a
ladder calls honest probabilities a contradiction. All others are of no known shape.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from markets.ladders import MUCH, WHEN, event_key
from markets.model import Market, MarketId

Shape = Literal["exhaustive", "exclusive", "nested"]
"""Exactly one of them comes true; at most one does; each contains the next one."""

_UP = re.compile(
    r"(?i)\b(?:above|over|(?:more|greater|higher) than|at least|exceeds?|reach(?:es)?|hits?|cross(?:es)?"
    r"|surpass(?:es)?|or (?:above|more|higher|greater|over))\b|[>≥]|\d\+"
)
_DOWN = re.compile(
    r"(?i)\b(?:below|under|(?:less|fewer|lower) than|at most|dips? to|falls? to|drops? to|in the top"
    r"|or (?:below|less|lower|fewer|under))\b|\(low\)|[<≤]"
)
_WITHIN = re.compile(r"(?i)\b(?:between|exactly|from)\b|\d ?[-–] ?\d")
_BY = re.compile(r"(?i)\b(?:by|before)\b")
_NUMBER = re.compile(
    r"(?i)(\d+(?:,\d{3})*(?:\.\d+)?) ?(k|m|mn|b|bn|t|tn|thousand|million|billion|trillion)?\b"
)
_TIMES = {"": 1, "k": 10**3, "th": 10**3, "m": 10**6, "b": 10**9, "t": 10**12}
_ONE_OF = re.compile(r"(?i)\bof the (\d+) that are listed, exactly one comes true\b")
_CONTEST = r"(?:20\d\d|election|nomination|finals?|cup|league|championship|tournament|marathon|eurovision)"
_WINNER = re.compile(rf"(?i)\b(?:win|be) the (?=.*\b{_CONTEST}\b).*")
_SHARED = re.compile(
    r"(?i)\b(?:prizes?|medals?|seats?|match(?:es)?|games?|groups?|divisions?|conferences?|states?)\b"
)
"""What several can win."""


@dataclass(frozen=True, slots=True)
class Family:
    """Markets of one event and their shape; a ladder's from the widest to the narrowest."""

    event_id: str
    shape: Shape
    market_ids: tuple[MarketId, ...]


def families(markets: Iterable[Market]) -> list[Family]:
    """The families among these markets: two or more of an event, of which one says something of the other."""
    events: dict[str, list[Market]] = defaultdict(list)
    for market in markets:
        events[market.event_id].append(market)
    return [family for event, rows in events.items() for family in _families(event, rows)]


def _families(event: str, markets: Sequence[Market]) -> list[Family]:
    if (shape := _exclusive(markets)) is not None:
        return [Family(event, shape, tuple(market.id for market in markets))]
    alike: dict[str, list[Market]] = defaultdict(list)
    for market in markets:
        alike[event_key(market.question)].append(market)
    ordered = [_ladder(key, rows) for key, rows in alike.items() if len(rows) > 1]
    return [Family(event, "nested", tuple(m.id for m in rungs)) for rungs in ordered if rungs]


def _exclusive(markets: Sequence[Market]) -> Shape | None:
    """Whether their rules say that one alone comes true, or the questions name the winner of one contest."""
    if len(markets) < 2:
        return None
    said = {found[1] if (found := _ONE_OF.search(market.rules)) else "" for market in markets}
    if len(said) == 1 and (count := said.pop()):
        return "exhaustive" if int(count) == len(markets) else "exclusive"
    return "exclusive" if _one_contest([market.question for market in markets]) else None


def _one_contest(questions: Sequence[str]) -> bool:
    """Different names, and then the same words of winning something that only one can win."""
    contests = [_WINNER.search(question) for question in questions]
    if any(found is None for found in contests):
        return False
    words = {found[0].casefold() for found in contests if found}
    names = {question[: found.start()] for question, found in zip(questions, contests, strict=True) if found}
    return len(words) == 1 and len(names) == len(questions) and not _SHARED.search(words.pop())


def _ladder(key: str, markets: Sequence[Market]) -> list[Market]:
    """The rungs from the widest to the narrowest; none where the questions leave it open."""
    if any(_WITHIN.search(market.question) for market in markets):
        return []
    if MUCH in key.split():
        return _by_amount(markets)
    dated = WHEN in key.split() and all(_BY.search(market.question) for market in markets)
    closes = {market.closes_at for market in markets}
    if not dated or len(closes) < len(markets):
        return []
    return sorted(markets, key=lambda market: market.closes_at, reverse=True)


def _by_amount(markets: Sequence[Market]) -> list[Market]:
    """Amounts to pass, upward or downward, all by the same time."""
    ups = {bool(_UP.search(market.question)) for market in markets}
    downs = {bool(_DOWN.search(market.question)) for market in markets}
    amounts = _different([_numbers(market.question) for market in markets])
    one_time = len({market.closes_at for market in markets}) == 1
    if len(ups) > 1 or len(downs) > 1 or ups == downs or not amounts or not one_time:
        return []
    rising = ups == {True}
    order = sorted(zip(amounts, range(len(markets)), strict=True), reverse=not rising)
    return [markets[place] for _, place in order]


def _numbers(question: str) -> list[float]:
    """The numbers in a question, written out.

    >>> _numbers("Will BTC reach $1.5m by March 31?"), _numbers("FDV above $150M")
    ([1500000.0, 31.0], [150000000.0])
    """
    found = _NUMBER.findall(question)
    return [float(n.replace(",", "")) * _times(word.casefold()) for n, word in found]


def _times(word: str) -> int:
    return _TIMES["th" if word == "thousand" else word[:1]]


def _different(rows: Sequence[Sequence[float]]) -> list[float]:
    """The one column in which rows differ, if there is one alone and it has no value twice."""
    if len({len(row) for row in rows}) > 1:
        return []
    columns = [list(column) for column in zip(*rows, strict=True) if len(set(column)) > 1]
    return columns[0] if len(columns) == 1 and len(set(columns[0])) == len(rows) else []
