"""Which questions are about one event, and how the markets of an event hang together.

Questions that differ only in a date or an amount are a ladder, which is one event. A date counts where it
is one for sure (a month with a day or a year, a year after "in" or "before"), an amount where something
says that it is one (a currency, a unit, "more than", "or higher", "reach"). A number that may belong to a
name stays: two events taken for one cost more than one event taken for two.

A family are outcomes that rule each other out, or the rungs of a ladder. It is read from questions and
rules, and only where they leave no doubt: whoever takes loose markets for a ladder calls honest
probabilities a contradiction. All others are of no known shape.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from markets.model import Market, MarketId

WHEN, MUCH = "@when", "@much"
"""The placeholders in a key for a date and for an amount."""

_MONTH = (
    r"(?:(?i:jan(?:uary)?|feb(?:ruary)?|apr(?:il)?|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)|May|MAY|Mar(?:ch)?|MAR(?:CH)?)\b\.?(?!'s)"
)
""""May" and "March" must be capitalized, since "may" and "march" are words."""
_DAY = r"\d{1,2}(?:st|nd|rd|th)?(?![\w%]|[.,:]\d)"
_YEAR = r"(?:19|20)\d\d(?![\w%]|[-/.,]\d)"
_DATE = (
    rf"(?:\d{{4}}-\d\d-\d\d|\d{{1,2}}/\d{{1,2}}/(?:\d\d){{1,2}}|{_MONTH} {_DAY}(?:-{_DAY})?(?:,? {_YEAR})?"
    rf"|{_DAY} (?:of )?{_MONTH}(?:,? {_YEAR})?|{_MONTH},? (?:of )?{_YEAR}|[QH][1-4],? (?:of )?{_YEAR})"
)
_LEAD = r"\b(?i:by|in|before|on|until|till|through|during|after|since|from|to|of|at|as of|between|within) "
_PART = (
    r"\b(?i:(?:the )?(?:end|start|beginning|middle|close|week|month|year) (?:of )?(?:the )?"
    r"|mid[- ]|early |late )"
)
_STOP = (
    r"(?= ?(?:$|[?.,;:!)\"]|(?i:be|by|in|on|at|or|and|with|than|as|to|is|have|has|if|when|before|after)\b))"
)
_CLOCK = r"\b\d{1,2}(?::\d\d ?(?i:[ap]\.?m\.?)?| ?(?i:[ap]\.?m\b\.?))(?: (?:ET|EST|EDT|PT|UTC|GMT)\b)?"

_STRETCH = r"(?:year|quarter|month|week)"

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DATES = (
    rf"(?:{_LEAD})?(?:{_PART})?(?<![\w.-]){_DATE}",
    rf"(?:{_LEAD}(?:{_PART})?|{_PART}|\b(?i:the|their|this|next|last) ){_MONTH}(?![\w'-])",
    rf"(?:{_LEAD}(?:{_PART})?|{_PART}){_YEAR}{_STOP}",
    rf"(?i:(?:\b(?:by|before|in|until) )?(?:the )?(?:end of )?(?:this|next) {_STRETCH}\b)",
    rf"(?i:\b(?:by|before|at) (?:the )?(?:year[- ]end|end of (?:the )?{_STRETCH})\b)",
    rf"(?:{_LEAD})?{_CLOCK}",
)

_N = r"(?<![\w$#.,/-])[+-]?\d+(?:,\d{3})*(?:\.\d+)?"
_END = r"(?![\w]|[.,-]\d|-\w)"
_TIMES = r"(?: ?(?i:k|m|mn|b|bn|t|tn|thousand|million|billion|trillion)\b)"
_UNIT = r"(?:\+? ?(?:%|(?i:percent|pp|bps?|basis points?|thousand|million|billion|trillion)\b|[°º] ?[CF]?\b))"
_PLUS = r"(?: ?\+| (?:or|and) (?:more|above|higher|over|greater|better|less|fewer|below|lower|under)\b)"
_MONEY = rf"(?:US)?[$€£¥₹] ?\d+(?:,\d{{3}})*(?:\.\d+)?{_TIMES}?"
_TO = r"(?: ?- ?| to | and )"
_DEGREES = r"(?:[CF]\b)"
"""Degrees without their sign, which count only where the context shows an amount."""
_BARE = rf"{_N}(?:{_TIMES}|{_UNIT}|{_DEGREES})?"
_NO_YEAR = r"(?!(?:19|20)\d\d(?!\d))"
_THEN = rf"(?:{_TO}\d+(?:,\d{{3}})*(?:\.\d+)?(?:{_TIMES}|{_UNIT}|{_DEGREES})?{_END})"
_SURE = rf"(?:{_MONEY}|{_N}{_UNIT})"
_SPAN = rf"{_N}{_TO}[+-]?\d+(?:\.\d+)?{_UNIT}"
_RELATION = (
    r"(?:\b(?i:at least|at most|(?:no )?(?:more|less|fewer|greater|higher|lower) than|up to|exactly)"
    r"|\b(?:above|below|over|under|between)|[<>]=?|[≥≤~])"
)
_VERB = (
    r"\b(?i:hits?|reach(?:es)?|exceeds?|cross(?:es)?|surpass(?:es)?|touch(?:es)?"
    r"|(?:dip|fall|rise)s? to)"
)
_COUNTS = r"(?:^|\b(?i:will|for|wins?|have|has|makes?|gets?|scores?|posts?|sells?|see|in|by))"

_AMOUNTS = (
    rf"()(?:{_RELATION} ?|\bat )?(?:{_SURE}(?:{_TO}{_MONEY}|{_THEN})?|{_SPAN}){_PLUS}?",
    rf"()(?:{_RELATION} ?){_BARE}(?:{_THEN}|{_END}){_PLUS}?",
    rf"(){_BARE}{_PLUS}(?!\w)",
    rf"({_VERB} (?:\(\w+\) )?){_BARE}{_END}",
    rf"({_COUNTS} ?){_NO_YEAR}{_N}(?:-\d+)?{_END}(?= (?!(?i:be|is|by|in|on|at|or|and|to)\b)[A-Za-z])",
    rf"(){_NO_YEAR}{_N}-\d+{_END}(?= [a-z])",
    rf"(\b(?i:top) )\d+{_END}",
)

_WHENS = tuple(re.compile(pattern) for pattern in _DATES)
"""The forms of a date in a question with its preposition, the most certain first."""
_MUCHES = tuple(re.compile(pattern) for pattern in _AMOUNTS)
_SEVERAL = re.compile(
    rf"(?:\b(?:from|between) )?{WHEN}(?:[ ,-]*(?:to|and|through|at)? ?{WHEN})*", re.IGNORECASE
)
_OTHER_SIGNS = re.compile(r"[^\w@#'.+-]+")
_LOOKS = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "−": "-", "\xa0": " "})


@lru_cache(maxsize=2**14)
def event_key(question: str) -> str:
    """Return what a question is about, whatever its date and its amount.

    >>> event_key("Will BTC reach $100k by March 31?") == event_key("Will BTC reach $120k by June 30, 2026?")
    True
    >>> event_key("Will the 49ers win game 3?") == event_key("Will the 49ers win game 4?")
    False
    >>> event_key("Will Meta close above $440 end of August?")
    'will meta close @much @when'
    """
    text = normalized(question)
    masked = mask_dates(text, f" {WHEN} ")
    masked = mask_amounts(_SEVERAL.sub(WHEN, " ".join(masked.split())))
    key = key_words(masked)
    if set(key.split()) - {WHEN, MUCH, ""}:
        return key
    return key_words(text)


def normalized(question: str) -> str:
    """Return a question with one character for each kind of dash, quote and space."""
    return " ".join(unicodedata.normalize("NFC", question).translate(_LOOKS).split())


def mask_dates(text: str, mark: str | Callable[[re.Match[str]], str]) -> str:
    """Return a normalized question with its dates masked."""
    for pattern in _WHENS:
        text = pattern.sub(mark, text)
    return text


def mask_amounts(text: str) -> str:
    """Return a normalized question with its amounts masked."""
    for pattern in _MUCHES:
        text = " ".join(pattern.sub(rf"\1 {MUCH} ", text).split())
    return text


def key_words(text: str) -> str:
    """Return the text in lower case without punctuation, except within names."""
    return " ".join(word.strip(".'-") for word in _OTHER_SIGNS.sub(" ", text.casefold()).split())


def event_of(market: MarketId, question: str) -> str:
    """Return the event of a market whose venue names none: its ladder if it is on one, else itself."""
    key = event_key(question)
    if {WHEN, MUCH}.isdisjoint(key.split()):
        return market
    return f"{market.partition(':')[0]}:ladder:{key}"


def ladders(questions: Mapping[MarketId, str]) -> dict[MarketId, str]:
    """Return the event of each market whose question shares its key with another."""
    keys = {market: event_key(question) for market, question in questions.items()}
    shared = Counter(keys.values())
    return {market: key for market, key in keys.items() if key and shared[key] > 1}


FamilyShape = Literal["exhaustive", "exclusive", "nested"]
"""Exactly one comes true; at most one does; each implies the one before it."""

_UP = re.compile(
    r"(?i)\b(?:above|over|(?:more|greater|higher) than|at least|exceeds?|reach(?:es)?|hits?|cross(?:es)?"
    r"|surpass(?:es)?|or (?:above|more|higher|greater|over))\b|[>≥]|\d\+"
)
_DOWN = re.compile(
    r"(?i)\b(?:below|under|(?:less|fewer|lower) than|at most|dips? to|falls? to|drops? to|in the top"
    r"|or (?:below|less|lower|fewer|under))\b|\(low\)|[<≤]"
)
UPWARD = (True, False)
DOWNWARD = (False, True)
"""Whether a question has words of rising, and of falling."""
_WITHIN = re.compile(r"(?i)\b(?:between|exactly|from)\b|\d ?[-–] ?\d")
_BY = re.compile(r"(?i)\b(?:by|before)\b")
_PLAIN_NUMBER = re.compile(
    r"(?i)(\d+(?:,\d{3})*(?:\.\d+)?) ?(k|m|mn|b|bn|t|tn|thousand|million|billion|trillion)?\b"
)
_CLOCK_TIMES = {"": 1, "k": 10**3, "th": 10**3, "m": 10**6, "b": 10**9, "t": 10**12}
_ONE_OF = re.compile(r"(?i)\bof the (\d+) that are listed, exactly one comes true\b")
_CONTEST = r"(?:20\d\d|election|nomination|finals?|cup|league|championship|tournament|marathon|eurovision)"
_WINNER = re.compile(rf"(?i)\b(?:win|be) the (?=.*\b{_CONTEST}\b).*")
_SHARED = re.compile(
    r"(?i)\b(?:prizes?|medals?|seats?|match(?:es)?|games?|groups?|divisions?|conferences?|states?)\b"
)
"""Things that several can win."""


@dataclass(frozen=True, slots=True)
class MarketFamily:
    """Markets of one event and their shape; a ladder's from the widest to the narrowest."""

    event_id: str
    shape: FamilyShape
    market_ids: tuple[MarketId, ...]


def families(markets: Iterable[Market]) -> list[MarketFamily]:
    """Return the families among markets: two or more of an event, of which one constrains another."""
    events: dict[str, list[Market]] = defaultdict(list)
    for market in markets:
        events[market.event_id].append(market)

    all_families = list[MarketFamily]()
    for event, rows in events.items():
        all_families += _families_of_event(event, rows)
    return all_families


def _families_of_event(event: str, markets: Sequence[Market]) -> list[MarketFamily]:
    shape = _exclusive_family(markets)
    if shape is not None:
        return [_family(event, shape, markets)]

    markets_by_subject: dict[str, list[Market]] = defaultdict(list)
    for market in markets:
        markets_by_subject[event_key(market.question)].append(market)

    ladders = [_ladder_rungs(key, rows) for key, rows in markets_by_subject.items() if len(rows) > 1]
    return [_family(event, "nested", rungs) for rungs in ladders if rungs]


def _family(event: str, shape: FamilyShape, markets: Sequence[Market]) -> MarketFamily:
    return MarketFamily(event, shape, tuple(market.id for market in markets))


def _exclusive_family(markets: Sequence[Market]) -> FamilyShape | None:
    """Return the shape of markets of which at most one comes true, by their rules or questions."""
    if len(markets) < 2:
        return None

    rule_claims = [_ONE_OF.search(market.rules) for market in markets]
    claimed_counts = {claim[1] for claim in rule_claims if claim}
    if all(rule_claims) and len(claimed_counts) == 1:
        if int(claimed_counts.pop()) == len(markets):
            return "exhaustive"
        return "exclusive"

    if _is_one_contest([market.question for market in markets]):
        return "exclusive"
    return None


def _is_one_contest(questions: Sequence[str]) -> bool:
    """Tell whether the questions name different winners of one contest that only one can win."""
    contests = set()
    names = set()
    for question in questions:
        contest = _WINNER.search(question)
        if contest is None:
            return False
        contests.add(contest[0].casefold())
        names.add(question[: contest.start()])
    return len(contests) == 1 and len(names) == len(questions) and not _SHARED.search(contests.pop())


def _ladder_rungs(key: str, markets: Sequence[Market]) -> list[Market]:
    """Return the rungs from the widest to the narrowest; an empty list if the questions are ambiguous."""
    if any(_WITHIN.search(market.question) for market in markets):
        return []
    if MUCH in key.split():
        return _ordered_by_amount(markets)

    is_each_dated = WHEN in key.split() and all(_BY.search(market.question) for market in markets)
    closes = {market.closes_at for market in markets}
    if not is_each_dated or len(closes) < len(markets):
        return []
    return sorted(markets, key=lambda market: market.closes_at, reverse=True)


def _ordered_by_amount(markets: Sequence[Market]) -> list[Market]:
    """Return the markets ordered by amount, if all are thresholds in one direction with one close."""
    questions = [market.question for market in markets]
    directions = {(bool(_UP.search(text)), bool(_DOWN.search(text))) for text in questions}
    amounts = _only_differing_column(list(map(_numbers, questions)))
    closes = {market.closes_at for market in markets}
    if directions not in ({UPWARD}, {DOWNWARD}) or not amounts or len(closes) > 1:
        return []

    amounts_and_indices = sorted(
        zip(amounts, range(len(markets)), strict=True), reverse=directions == {DOWNWARD}
    )
    return [markets[index] for _, index in amounts_and_indices]


def _numbers(question: str) -> list[float]:
    """Return the numbers in a question, with multipliers such as "k" applied."""
    numbers = _PLAIN_NUMBER.findall(question)
    return [float(n.replace(",", "")) * _times(word.casefold()) for n, word in numbers]


def _times(word: str) -> int:
    return _CLOCK_TIMES["th" if word == "thousand" else word[:1]]


def _only_differing_column(rows: Sequence[Sequence[float]]) -> list[float]:
    """Return the only column in which rows differ, if there is exactly one and its values are distinct."""
    if len(set(map(len, rows))) > 1:
        return []
    columns = [list(column) for column in zip(*rows, strict=True) if len(set(column)) > 1]
    if len(columns) != 1 or len(set(columns[0])) < len(rows):
        return []
    return columns[0]
