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
    text = _SEASON.sub(_last_year, normalized(question))
    text = _RANK.sub("", text)
    text, dates = _mask_and_read_dates(text, closes_at)
    masked = mask_amounts(text)

    subject_text = _meeting_subject(masked, dates) or _asset_subject(masked, dates)
    if not subject_text:
        subject_text = _restore_dates(_without_candidate(masked), dates)

    # A key of dates and amounts alone says nothing of the subject.
    key = key_words(subject_text)
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

    subject_with_date = subject(title, ends_at)
    if "@" not in subject_with_date:
        return ""
    return subject_with_date


def story_by_subject(market: MarketId, question: str, closes_at: datetime) -> str:
    """Return the story of a market whose venue names no event; empty if the question has no word."""
    about = subject(question, closes_at)
    if not about:
        return ""
    return f"{market.partition(':')[0]}:{about}"


def _meeting_subject(masked: str, dates: Mapping[str, str]) -> str:
    """Return the key of a central bank's decision on rates, whatever its direction."""
    found = _RATES.search(masked)
    if found is None or dates[found[2]].startswith("by "):
        return ""
    return f"{found[1].casefold().replace('federal reserve', 'fed')} rates @{dates[found[2]]} meeting"


def _without_candidate(masked: str) -> str:
    """Return the contest that several compete in, without its candidate; other questions unchanged.

    >>> _without_candidate("Will Acme win the most seats in May?")
    'the most seats in May?'
    >>> _without_candidate("A new album before Half-Life 3?")
    'before Half-Life 3'
    """
    before_event = _BEFORE.match(masked)
    if before_event is not None:
        return before_event[1]

    office_match = _OFFICE.match(masked)
    if office_match is not None:
        return f"the next {office_match[1] or office_match[2]}"

    choice_match = _CHOICE.match(masked)
    if choice_match is not None:
        return f"{choice_match[1]} {choice_match[2]}"

    contest_match = _CONTEST.match(masked)
    if contest_match is None:
        return masked

    most_match = _MOST.match(contest_match[1])
    if most_match is not None:
        return most_match[1]

    title_match = _TITLE.match(contest_match[1])
    if title_match is not None:
        return f"win the {title_match[1]}"
    return contest_match[1]


def _last_year(season: re.Match[str]) -> str:
    """Return a season by the year in which it ends; leave what only looks like one."""
    if int(season[2]) == int(season[1]) + 1:
        return f"20{season[2]}"
    return season[0]


def _asset_subject(masked: str, dates: Mapping[str, str]) -> str:
    """Return the key of an asset's price on a day or in a year, whatever its level."""
    is_about_level = MUCH in masked or _UP_OR_DOWN.search(masked)
    asset_match = _LEVEL.match(masked) if is_about_level else None
    if asset_match is None:
        return ""

    ticker = _TICKER.search(masked)
    asset = key_words(ticker[1] if ticker else re.sub(r"\(.*?\)", "", asset_match[1]))
    is_asset = asset and "@" not in asset and len(asset.split()) <= MOST_WORDS
    stated_dates = [date for mark, date in dates.items() if mark in masked.split() and date]
    if not stated_dates or not is_asset:
        return ""

    day = next((date for date in stated_dates if len(date) == len("2026-01-01")), "")
    year = stated_dates[0].removeprefix("by ")[:4]
    return f"{_OTHER_NAMES.get(asset, asset)} @{day or year}"


def _mask_and_read_dates(text: str, closes_at: datetime) -> tuple[str, dict[str, str]]:
    """Return a question with a mark in place of each date, and the date behind each mark."""
    dates: dict[str, str] = {}

    def mark(match: re.Match[str]) -> str:
        mark_name = f"{DATE}{chr(ord('a') + len(dates) % 26)}"
        dates[mark_name] = _canonical_date(match[0].strip(), closes_at)
        return f" {mark_name} "

    masked = _NEAR.sub(mark, mask_dates(text, mark))
    return " ".join(masked.split()), dates


def _canonical_date(text: str, closes_at: datetime) -> str:
    """Return a date in canonical form, `by YEAR` for a deadline; without a year, it takes the close's.

    >>> from datetime import UTC
    >>> close = datetime(2027, 1, 1, 5, tzinfo=UTC)
    >>> [_canonical_date(text, close) for text in ("by December 31", "before 2027", "on May 1")]
    ['by 2026', 'by 2026', '2026-05-01']
    """
    close_date = closes_at
    if close_date != NEVER:
        close_date -= _LATE
    if _NEAR.match(text):
        return f"{close_date:%Y-%m-%d}"

    date_in_figures = _IN_FIGURES.search(text)
    if date_in_figures is not None:
        year, month, day = date_in_figures.groups()
    else:
        year, month, day = _date_in_words(text, close_date.year)

    if _DEADLINE.match(text) or _WHOLE_YEAR.match(text):
        return f"by {year}"
    if not month and not _YEAR.search(text):
        return ""
    return "-".join(filter(None, (year, month, day)))


def _date_in_words(text: str, year_of_close: int) -> tuple[str, str, str]:
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


def _restore_dates(masked: str, dates: Mapping[str, str]) -> str:
    """Return a question with its dates put back; a deadline of an amount or a meeting as its year."""
    shows_deadline_year = MUCH in masked or "meeting" in masked.casefold()
    for mark, date in dates.items():
        date_text = ""
        if date.startswith("by "):
            date_text = f"@{date[3:]}" if shows_deadline_year else BY
        elif date:
            date_text = f"@{date}"
        masked = masked.replace(mark, date_text)
    return masked
