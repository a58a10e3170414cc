"""Keys of stories: questions about one subject at one time, whose resolutions are correlated.

A key is what a question is about, with its date. Rungs of a ladder share it, and so do the candidates of one
contest and an asset's prices of one day or one year. Where a question asks whether something happens by a
date, the date is left out: what happens by June has happened by December. A date at which something is
measured or decided stays: two meetings of a bank are two stories.
"""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import lru_cache

from markets.ladders import MONTHS, MUCH, key_words, mask_amounts, mask_dates, normalized
from markets.model import NEVER, MarketId

DATE, BY = "@date", "@by"
"""The placeholders for a date in a question, and for a deadline in a key."""
MOST_WORDS = 6
"""The most words in the name of an asset."""

_MONTH = re.compile(rf"(?i)\b({'|'.join(MONTHS)})[a-z]*\b")
_DAY = re.compile(r"(?i)(?<![\d:-])(\d{1,2})(?:st|nd|rd|th)?\b(?! ?[ap]\.?m|[:\d])")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_IN_FIGURES = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")
_DEADLINE = re.compile(r"(?i)^(?:by|before|until|till|through|within|since)\b")
_WHOLE_YEAR = re.compile(r"(?i)^(?:(?:in|during) )?(?:(?:19|20)\d\d|this year)$")
_NEAR = re.compile(
    r"(?i)\b(?:today|tonight|tomorrow|this (?:morning|afternoon|evening|weekend)|next (?:week|weekend))\b"
)
_SAYS_WHEN = (*"0123456789@", *MONTHS, "this", "next", "end", "today", "tonight", "tomorrow")
_LATE = timedelta(hours=36)
"""How long a market may stay open after the date in its question."""

_CONTEST = re.compile(
    r"(?i)^will (?!there\b|(?:19|20)\d\d\b)(?:the )?.+? (win \S+ .+|"
    r"(?:be(?: named| elected| nominated)?|become|have|lead|finish|gain|control|make|qualify|advance|perform"
    rf"|attend|reach) (?!{MUCH})(?=.*\b(?:the|next|first|best|most|second|head of state|runoff|nominee"
    r"|nominated|champion|winner|person of the year)\b|.*#\d).+)$"
)
_BEFORE = re.compile(r".+ (before [A-Z][\w-]*(?: [A-Z\d][\w-]*)*)\??$")
"""A deadline by an event, not a date: questions with the same one resolve together."""
_MOST = re.compile(r"(?i)^(?:win|gain|have|get|take)s? (the most \S+ .+)$")
_TITLE = re.compile(r"(?i)^be(?: named| the)+ (.+) (?:winner|champions?)\??$")
_RANK = re.compile(r"(?i)\b(?:second|third|fourth|fifth|\d+(?:st|nd|rd|th))[- ](?=\w+est\b)")
"""Ranks: who comes second depends on who comes first."""
_SEASON = re.compile(r"\b20(\d\d)-(?:20)?(\d\d)\b(?!-)")
_OFFICE = re.compile(
    r"(?i)^(?:(?:will|who will) the next (.+?) be\b.*"
    r"|.*\b(?:be|become|is)(?: named| elected)?(?: as)? the next (.+))$"
)
_CHOICE = re.compile(r"(?i)^(will .+? (?:nominate|appoint|pick|choose|name)) .+? ((?:as|for|to be) .+)$")
_RATES = re.compile(
    rf"(?i)\b(fed|federal reserve|ecb|boe|boj|bank of \w+)\b.*\brates?\b.* ({DATE}\w+) meeting\b"
)
_LEVEL = re.compile(
    r"(?i)^(?:will )?+(?:the )?+(?:(?:closing |share )?price of )?+(.+?)(?:'s)?(?: price)?"
    r"(?: (?:be|close[sd]?|settles?|finish(?:es)?|trades?))*(?: at)? "
    r"(?:up or down|all[- ]time high|reach(?:es)?|hits?|dips?|falls?|rises?|drops?|exceeds?|cross(?:es)?"
    rf"|surpass(?:es)?|{MUCH})(?!\w)"
)
_UP_OR_DOWN = re.compile(r"(?i)\bup or down\b|\ball[- ]time high\b")
_TICKER = re.compile(r"\((?!HIGH|LOW)([A-Z]{1,6})\)")
CURRENCIES = {
    "BTC": ("bitcoin", "BTC"),
    "ETH": ("ethereum", "ether"),
    "SOL": ("solana",),
    "DOGE": ("dogecoin",),
    "ADA": ("cardano",),
    "XRP": ("ripple", "XRP"),
}
"""Cryptocurrencies by ticker, with the names that texts use, the usual one first."""
_OTHER_NAMES = {ticker.casefold(): names[0] for ticker, names in CURRENCIES.items()}


@lru_cache(maxsize=65_536)
def subject(question: str, closes_at: datetime) -> str:
    """Return the subject of a question with its date: one key for all questions of a story.

    >>> from datetime import UTC
    >>> june, year = datetime(2026, 6, 30, tzinfo=UTC), datetime(2026, 12, 31, tzinfo=UTC)
    >>> subject("Will Peru win the 2026 World Cup?", june), subject("Kraken IPO by June 30?", june)
    ('win the 2026 world cup', 'kraken ipo @by')
    >>> subject("Will Bitcoin dip to $45,000 in June?", june), subject("BTC above $90k by December 31?", year)
    ('bitcoin @2026', 'bitcoin @2026')
    >>> subject("Will there be no change in Fed rates after the April 2026 meeting?", june)
    'fed rates @2026-04 meeting'
    """
    text, dates = _masked_dates(_RANK.sub("", _SEASON.sub(_last_year, normalized(question))), closes_at)
    masked = mask_amounts(text)
    key = key_words(_meeting(masked, dates) or _level(masked, dates) or _with_dates(_contest(masked), dates))
    if set(key.split()) - {BY, MUCH}:
        return key
    return key_words(normalized(question))


@lru_cache(maxsize=65_536)
def dated_subject(title: str, ends_at: datetime) -> str:
    """Return the subject of a title that names a date; empty without a date, or if it has a handle.

    >>> dated_subject("Fed decision in June 2026?", NEVER), dated_subject("Next pope?", NEVER)
    ('fed decision @2026-06', '')
    """
    if not any(map(title.casefold().__contains__, _SAYS_WHEN)):
        return ""

    about = subject(title, ends_at)
    if "@" not in about:
        return ""
    return about


def story_by_subject(market: MarketId, question: str, closes_at: datetime) -> str:
    """Return the story of a market whose venue names no event; empty if the question has no word."""
    about = subject(question, closes_at)
    if not about:
        return ""
    return f"{market.partition(':')[0]}:{about}"


def _meeting(masked: str, dates: Mapping[str, str]) -> str:
    """Return the key of a central bank's decision on rates, whatever its direction."""
    found = _RATES.search(masked)
    if found is None or dates[found[2]].startswith("by "):
        return ""
    return f"{found[1].casefold().replace('federal reserve', 'fed')} rates @{dates[found[2]]} meeting"


def _contest(masked: str) -> str:
    """Return the contest that several compete in, without its candidate; other questions unchanged.

    >>> _contest("Will Acme win the most seats in May?"), _contest("A new album before Half-Life 3?")
    ('the most seats in May?', 'before Half-Life 3')
    """
    event = _BEFORE.match(masked)
    if event is not None:
        return event[1]

    office = _OFFICE.match(masked)
    if office is not None:
        return f"the next {office[1] or office[2]}"

    choice = _CHOICE.match(masked)
    if choice is not None:
        return f"{choice[1]} {choice[2]}"

    contest = _CONTEST.match(masked)
    if contest is None:
        return masked

    most = _MOST.match(contest[1])
    if most is not None:
        return most[1]

    title = _TITLE.match(contest[1])
    if title is not None:
        return f"win the {title[1]}"
    return contest[1]


def _last_year(season: re.Match[str]) -> str:
    """Return a season by the year in which it ends; leave what only looks like one."""
    if int(season[2]) == int(season[1]) + 1:
        return f"20{season[2]}"
    return season[0]


def _level(masked: str, dates: Mapping[str, str]) -> str:
    """Return the key of an asset's price on a day or in a year, whatever its level."""
    of_a_level = MUCH in masked or _UP_OR_DOWN.search(masked)
    found = _LEVEL.match(masked) if of_a_level else None
    if found is None:
        return ""

    ticker = _TICKER.search(masked)
    asset = key_words(ticker[1] if ticker else re.sub(r"\(.*?\)", "", found[1]))
    is_asset = asset and "@" not in asset and len(asset.split()) <= MOST_WORDS
    stated = [date for mark, date in dates.items() if mark in masked.split() and date]
    if not stated or not is_asset:
        return ""

    day = next((date for date in stated if len(date) == len("2026-01-01")), "")
    year = stated[0].removeprefix("by ")[:4]
    return f"{_OTHER_NAMES.get(asset, asset)} @{day or year}"


def _masked_dates(text: str, closes_at: datetime) -> tuple[str, dict[str, str]]:
    """Return a question with a mark in place of each date, and the date behind each mark."""
    dates: dict[str, str] = {}

    def mark(found: re.Match[str]) -> str:
        name = f"{DATE}{chr(ord('a') + len(dates) % 26)}"
        dates[name] = _date(found[0].strip(), closes_at)
        return f" {name} "

    masked = _NEAR.sub(mark, mask_dates(text, mark))
    return " ".join(masked.split()), dates


def _date(text: str, closes_at: datetime) -> str:
    """Return a date in canonical form, `by YEAR` for a deadline; without a year, it takes the close's.

    >>> from datetime import UTC
    >>> close = datetime(2027, 1, 1, 5, tzinfo=UTC)
    >>> _date("by December 31", close), _date("before 2027", close), _date("on May 1", close)
    ('by 2026', 'by 2026', '2026-05-01')
    """
    close = closes_at
    if close != NEVER:
        close -= _LATE
    if _NEAR.match(text):
        return f"{close:%Y-%m-%d}"

    figures = _IN_FIGURES.search(text)
    if figures is not None:
        year, month, day = figures.groups()
    else:
        year, month, day = _in_words(text, close.year)

    if _DEADLINE.match(text) or _WHOLE_YEAR.match(text):
        return f"by {year}"
    if not month and not _YEAR.search(text):
        return ""
    return "-".join(filter(None, (year, month, day)))


def _in_words(text: str, year_of_close: int) -> tuple[str, str, str]:
    year = year_of_close
    stated_year = _YEAR.search(text)
    if stated_year is not None:
        year = int(stated_year[0])

    month = _MONTH.search(text)
    if month is None:
        if stated_year is not None and text.casefold().startswith("before"):
            year -= 1
        return str(year), "", ""

    day = _DAY.search(_YEAR.sub(" ", text))
    number = MONTHS.index(month[1].casefold()) + 1
    return str(year), f"{number:02}", f"{int(day[1]):02}" if day else ""


def _with_dates(masked: str, dates: Mapping[str, str]) -> str:
    """Return a question with its dates put back; a deadline of an amount or a meeting as its year."""
    of_a_year = MUCH in masked or "meeting" in masked.casefold()
    for mark, date in dates.items():
        shown = ""
        if date.startswith("by "):
            shown = f"@{date[3:]}" if of_a_year else BY
        elif date:
            shown = f"@{date}"
        masked = masked.replace(mark, shown)
    return masked
