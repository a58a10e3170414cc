"""Single values as a bundle writes them: instants, prices, amounts, texts."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

from markets.bundle.mistakes import Unmeant, shown
from markets.millionths import ONE, millionths
from markets.model import MarketId

DATE = re.compile(r"\d{4}-\d\d-\d\d")
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)")
NUMBER = re.compile(r"-?\d{1,12}(\.\d{1,40})?(e[+-]?\d{1,2})?", re.IGNORECASE)
NAME = re.compile(r"[\w.-]{1,40}", re.ASCII)
OWN_ID = re.compile(r"[!-~]{1,200}")

UNWRITABLE = re.compile("[\0\ud800-\udfff]")
"""What no database, or no file in UTF-8, can hold: the character NUL, and halves of characters."""
MOST_TEXT = 100_000

MOST_MONEY = 10**12 * ONE
YEARS = range(1970, 2200)
DAY = timedelta(days=1)

INSTANT = 'a date such as "2026-01-31", or an instant such as "2026-01-31T12:00:00Z"'

Record = Mapping[str, object]


def moment(record: Record, key: str) -> datetime:
    """An instant; a date is its first moment in UTC.

    >>> moment({"open": "2026-01-31"}, "open").isoformat()
    '2026-01-31T00:00:00+00:00'
    """
    return _instant(record, key, timedelta())


def bears_date(record: Record, key: str) -> bool:
    """Whether it says no more than a day."""
    return DATE.fullmatch(str(record.get(key))) is not None


def known_from(record: Record, key: str) -> datetime:
    """From when something counts: from its instant on, and what bears a date once that day is over.

    >>> known_from({"date": "2026-01-31"}, "date").isoformat()
    '2026-02-01T00:00:00+00:00'
    """
    return _instant(record, key, DAY)


def _instant(record: Record, key: str, after_date: timedelta) -> datetime:
    value = record.get(key)
    try:
        if isinstance(value, str) and DATE.fullmatch(value):
            found = datetime.combine(date.fromisoformat(value), time(), UTC) + after_date
        elif isinstance(value, str) and TIMESTAMP.fullmatch(value):
            found = datetime.fromisoformat(value).astimezone(UTC)
        else:
            raise ValueError
    except (ValueError, OverflowError) as error:
        raise _unmeant(key, value, INSTANT) from error
    if found.year not in YEARS:
        raise _unmeant(key, value, f"a year from {YEARS[0]} to {YEARS[-1]}")
    return found


def price(record: Record, key: str) -> int:
    """A price or a probability, from 0 to 1."""
    return _number(record, key, ONE, "a number from 0 to 1")


def amount(record: Record, key: str) -> int:
    """Dollars or shares, from 0 on."""
    return _number(record, key, MOST_MONEY, "a number from 0 to a trillion")


def given(record: Record, key: str, reader: Callable[[Record, str], int]) -> int | None:
    """A number that may be left out."""
    return None if record.get(key) in (None, "") else reader(record, key)


def _number(record: Record, key: str, most: int, meant: str) -> int:
    value = record.get(key)
    text = str(value) if isinstance(value, int | Decimal | str) and not isinstance(value, bool) else ""
    found = millionths(text) if NUMBER.fullmatch(text) else -1
    if not 0 <= found <= most:
        raise _unmeant(key, value, meant)
    return found


def text(record: Record, key: str) -> str:
    """A text that may be left out."""
    value = record.get(key)
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > MOST_TEXT or UNWRITABLE.search(value):
        raise _unmeant(key, value, f"a text of at most {MOST_TEXT:,} characters that can be written as UTF-8")
    return value


def said(record: Record, key: str) -> str:
    """A text that must be there."""
    value = text(record, key)
    if not value.strip():
        raise _unmeant(key, record.get(key), "a text")
    return value


def market_id(record: Record) -> MarketId:
    """The market that a line is about: its `venue` and its `id` there."""
    venue, own = record.get("venue"), record.get("id")
    if not isinstance(venue, str) or not NAME.fullmatch(venue):
        raise _unmeant("venue", venue, "a venue's name in letters, digits or . _ -")
    if not isinstance(own, str) or not OWN_ID.fullmatch(own):
        raise _unmeant("id", own, "a market's id at its venue, up to 200 characters without a blank")
    return MarketId(f"{venue}:{own}")


def _unmeant(key: str, value: object, meant: str) -> Unmeant:
    return Unmeant(f"{key} {shown(value)}", meant)
