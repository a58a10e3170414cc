"""Ladders: questions that differ only in a date or an amount are about one event.

A date counts where it is one for sure (a month with a day or a year, a year after "in" or "before"), an
amount where something says that it is one (a currency, a unit, "more than", "or higher", "reach"). A number
that may belong to a name stays: two events taken for one cost more than one event taken for two.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping

from markets.model import MarketId

WHEN, MUCH = "@when", "@much"
"""What stands in a key for a date and for an amount."""

_MONTH = (
    r"(?:(?i:jan(?:uary)?|feb(?:ruary)?|apr(?:il)?|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)|May|MAY|Mar(?:ch)?|MAR(?:CH)?)\b\.?(?!'s)"
)
"""May and march are words too, so they want their capital letter."""
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

_DATES = (
    rf"(?:{_LEAD})?(?:{_PART})?(?<![\w.-]){_DATE}",
    rf"(?:{_LEAD}(?:{_PART})?|{_PART}|\b(?i:the|their|this|next|last) ){_MONTH}(?![\w'-])",
    rf"(?:{_LEAD}(?:{_PART})?|{_PART}){_YEAR}{_STOP}",
    r"(?i:(?:\b(?:by|before|in|until) )?(?:the )?(?:end of )?(?:this|next) (?:year|quarter|month|week)\b)",
    r"(?i:\b(?:by|before|at) (?:the )?(?:year[- ]end|end of (?:the )?(?:year|quarter|month|week))\b)",
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
"""Without their sign, so only where something else says that an amount is meant."""
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
_MUCHES = tuple(re.compile(pattern) for pattern in _AMOUNTS)
_SEVERAL = re.compile(
    rf"(?:\b(?:from|between) )?{WHEN}(?:[ ,-]*(?:to|and|through|at)? ?{WHEN})*", re.IGNORECASE
)
_LOOKS = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "−": "-", "\xa0": " "})


def event_key(question: str) -> str:
    """What a question is about, whatever its date and its amount.

    >>> event_key("Will BTC reach $100k by March 31?") == event_key("Will BTC reach $120k by June 30, 2026?")
    True
    >>> event_key("Will the 49ers win game 3?") == event_key("Will the 49ers win game 4?")
    False
    >>> event_key("Will Meta close above $440 end of August?")
    'will meta close @much @when'
    """
    text = " ".join(unicodedata.normalize("NFC", question).translate(_LOOKS).split())
    masked = text
    for pattern in _WHENS:
        masked = pattern.sub(f" {WHEN} ", masked)
    masked = _SEVERAL.sub(WHEN, " ".join(masked.split()))
    for pattern in _MUCHES:
        masked = " ".join(pattern.sub(rf"\1 {MUCH} ", masked).split())
    key = _words(masked)
    return key if set(key.split()) - {WHEN, MUCH, ""} else _words(text)


def event_of(market: MarketId, question: str) -> str:
    """The event of a market whose venue knows none: its ladder, else itself, whatever else is listed.

    >>> event_of(MarketId("venue:7"), "Kraken IPO by June 30?"), event_of(MarketId("venue:8"), "Kraken IPO?")
    ('venue:ladder:kraken ipo @when', 'venue:8')
    """
    key = event_key(question)
    on_a_ladder = {WHEN, MUCH}.intersection(key.split())
    return f"{market.partition(':')[0]}:ladder:{key}" if on_a_ladder else market


def ladders(questions: Mapping[MarketId, str]) -> dict[MarketId, str]:
    """The event of each market whose question shares its key with another one's."""
    keys = {market: event_key(question) for market, question in questions.items()}
    shared = Counter(keys.values())
    return {market: key for market, key in keys.items() if key and shared[key] > 1}


def _words(text: str) -> str:
    """Small letters, and no punctuation but what holds a name together."""
    return " ".join(word.strip(".'-") for word in re.sub(r"[^\w@#'.+-]+", " ", text.casefold()).split())
