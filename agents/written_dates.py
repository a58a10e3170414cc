"""Days and times as people write them in texts, each as the first and the last instant it can mean. Pure.

`3 November 2026`, `Nov. 3rd, 2026, 9:40 p.m. EST`, `2026-11-03T21:40Z`, `11/3/2026`, `03.11.2026`, `3 de
noviembre de 2026`, `2026年11月3日`, `November 2026`, `the third quarter of 2026`. A day without a year is the
nearest one.
"""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import chain

EAST, WEST = timedelta(hours=14), timedelta(hours=-12)
"""The offsets where a day begins first, and where it ends last."""
A_DAY = timedelta(days=1)
_MONTHS = """
january jan januar janvier enero gennaio janeiro/february feb februar février febrero febbraio fevereiro/
march mar märz mars marzo março/april apr avril abril aprile/may mai mayo maggio maio/
june jun juni juin junio giugno junho/july jul juli juillet julio luglio julho/august aug août agosto/
september sept sep septembre septiembre settembre setembro/
october oct oktober octobre octubre ottobre outubro/
november nov novembre noviembre novembro/december dec dezember décembre diciembre dicembre dezembro
"""
MONTHS = {name: number for number, names in enumerate(_MONTHS.split("/"), 1) for name in names.split()}
_NAMED_ZONES = {
    "z": (0, 0), "utc": (0, 0), "gmt": (0, 0), "est": (-5, -5), "edt": (-4, -4),
    "cst": (-6, 8), "cdt": (-5, -5), "mst": (-7, -7), "mdt": (-6, -6),
    "pst": (-8, -8), "pdt": (-7, -7), "bst": (1, 6), "wet": (0, 0), "cet": (1, 1),
    "cest": (2, 2), "eet": (2, 2), "eest": (3, 3), "msk": (3, 3), "ist": (1, 5.5), "hkt": (8, 8),
    "sgt": (8, 8), "jst": (9, 9), "kst": (9, 9), "aest": (10, 10), "aedt": (11, 11), "nzst": (12, 12),
    "nzdt": (13, 13),
}  # fmt: skip
ZONES = {name: (timedelta(hours=low), timedelta(hours=high)) for name, (low, high) in _NAMED_ZONES.items()}
"""The least and the most offset from UTC of a zone's name, which several zones may share."""
SUMMER = (4, 10)
"""The months in which unmarked American times are read as daylight saving time."""
_SHIFT = re.compile(r"([+-])(\d\d?):?(\d\d)?$")
_QUARTERS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": 4, "q1": 1, "q2": 2, "q3": 3, "q4": 4}
_ZONE = r"(?P<zone>(?:UTC|GMT)?[+-]\d\d?:?(?:\d\d)?|[A-Z]{1,4}\b)"
_CLOCK = (
    r"(?P<hour>\d{1,2})(?:[:.h](?P<minute>\d\d)(?::\d\d(?:\.\d{1,6})?)?)?(?![\d:%])"
    r"\s?(?P<half>[ap]\.?m\b\.?)?"
)
_AFTER = re.compile(
    rf"(?:T|[\s,;(|/–-]{{1,3}}(?:(?:at|um|à|ore|kl\.)\s)?){_CLOCK}\s?\(?{_ZONE}?", re.IGNORECASE
)
_BEFORE = re.compile(rf"{_CLOCK}\s?\(?{_ZONE}?\)?,?\s(?:on\s)?$", re.IGNORECASE)
_LETTERS = r"[^\W\d_]{3,10}"
_DAY_MONTH = re.compile(
    rf"(?<![\d.,:/-])(?P<day>\d{{1,2}})(?:st|nd|rd|th|er|º|\.)?[\s-]?(?:of\s|de\s)?(?P<month>{_LETTERS})\b\.?"
    r"(?:,?\s(?:de\s)?(?P<year>(?:19|20)\d\d)\b)?"
)
_MONTH_DAY = re.compile(
    rf"\b(?P<month>{_LETTERS})\.?\s(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?![:%]|[.,]\d)"
    r"(?:,?\s(?P<year>(?:19|20)\d\d)\b)?"
)
_YEAR_FIRST = re.compile(
    r"(?<![\d-])(?P<year>(?:19|20)\d\d)(?:(?P<by>[-/.])(?P<month>\d\d?)(?P=by)(?P<day>\d\d?)"
    r"|年(?P<m>\d\d?)月(?:(?P<d>\d\d?)日)?)(?!\d)"
)
_YEAR_LAST = re.compile(
    r"(?<![\d/.])(?P<a>\d{1,2})(?P<by>[/.])(?P<b>\d{1,2})(?P=by)(?P<year>(?:20)?\d\d)(?![\d/])"
)
_WORD_YEAR = re.compile(r"\b(?P<word>[^\W_]{2,10})\.?,?[ -](?:de |of )?(?P<year>(?:19|20)\d\d)\b(?![-/])")
_BEFORE_YEARS = frozenset(("in", "since", "during", "of", "early", "late", "mid"))
_FORMS = (_YEAR_FIRST, _DAY_MONTH, _MONTH_DAY, _YEAR_LAST, _WORD_YEAR)
"""The forms of a date, the most specific first; matched text is not read again."""
_WITHOUT_YEAR = (_DAY_MONTH, _MONTH_DAY, _YEAR_LAST)
"""The forms that don't need a four-digit year."""
_HAS_DIGIT = re.compile(r"\d")
_HAS_YEAR = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True, slots=True)
class WrittenDate:
    """A day or time in a text: where it stands, when it is by UTC, and what it can mean first and last.

    `timed` says that it has an hour, `dated` that it has a year, and `spans` that it is longer than a day.
    """

    start: int
    end: int
    first: datetime
    at: datetime
    last: datetime
    timed: bool
    dated: bool
    spans: bool


def written_dates(text: str, around: datetime, since: int = 0) -> list[WrittenDate]:
    """Return every date or time in a text, in order; `around` is when it is read.

    Those of a year before `since` are left out.

    >>> read = datetime(2026, 3, 1, tzinfo=UTC)
    >>> [f"{x.first:%d %H:%M}" for x in written_dates("Nov. 3, 2026, 9:40 p.m. EST", read)]
    ['04 02:40']
    """
    dates: list[WrittenDate] = []
    if not _HAS_DIGIT.search(text):
        return dates

    is_taken = bytearray(len(text))  # by a date of a more specific form
    for form in _FORMS if _HAS_YEAR.search(text) else _WITHOUT_YEAR:
        for match in form.finditer(text):
            year = match["year"] or ""
            if len(year) == 4 and int(year) < since:
                continue
            if any(is_taken[match.start() : match.end()]):
                continue

            written = _date_of_match(form, match, around)
            if written is None:
                continue
            is_taken[written.start : written.end] = b"\x01" * (written.end - written.start)
            dates.append(written)

    return sorted(dates, key=lambda written: written.start)


def _date_of_match(form: re.Pattern[str], match: re.Match[str], around: datetime) -> WrittenDate | None:
    """Return the date that was matched, with the time and zone beside it; None if it is no date."""
    periods = _possible_periods(form, match, around)
    if not periods:
        return None

    first_begins, _ = min(periods)
    last_begins, last_ends = max(periods)
    start = match.start()
    end = match.end()
    hour = None
    offsets = (WEST, EAST)
    is_longer_than_day = max(ends - begins for begins, ends in periods) > A_DAY

    if not is_longer_than_day:
        clock = _AFTER.match(match.string, end) or _BEFORE.search(match.string, max(0, start - 30), start)
        hour = clock and _time_of_clock(clock)
        if clock and hour is not None:
            start = min(start, clock.start())
            end = max(end, clock.end())
            offsets = _utc_offsets(clock["zone"] or "", first_begins.month)
            last_ends = last_begins + hour
            first_begins += hour

    least_offset, most_offset = offsets
    at = first_begins
    if offsets != (WEST, EAST):  # the zone is known
        at -= least_offset
    has_year = match.groupdict().get("year") is not None
    return WrittenDate(
        start,
        end,
        first_begins - most_offset,
        at,
        last_ends - least_offset,
        hour is not None,
        has_year,
        is_longer_than_day,
    )


def _possible_periods(
    form: re.Pattern[str], match: re.Match[str], around: datetime
) -> list[tuple[datetime, datetime]]:
    """Return the periods that a match can mean, or an empty list if it isn't a date."""
    groups = match.groupdict()
    year = _full_year(groups.get("year"))
    if form is _WORD_YEAR:
        before = match.string[max(0, match.start() - 8) : match.start()]
        return _period_by_word(groups["word"].casefold(), before, year)

    if form is _YEAR_LAST:
        first = int(groups["a"])
        second = int(groups["b"])
        periods = _period_of_day(year, second, first)
        if groups["by"] == "/":  # in America the month comes first
            periods += _period_of_day(year, first, second)
        return periods

    if form is _YEAR_FIRST:
        month_number = int(groups["month"] or groups["m"])
        day = groups["day"] or groups["d"]
        if not day:
            return _period_of_months(year, month_number, 1)
        return _period_of_day(year, month_number, int(day))

    month = MONTHS.get(groups["month"].casefold())
    is_verb = groups["month"] == "may"
    if month is None or is_verb:
        return []

    day_number = int(groups["day"])
    if year is not None:
        return _period_of_day(year, month, day_number)

    # without a year, the nearest one
    years = (around.year - 1, around.year, around.year + 1)
    candidates = chain.from_iterable(_period_of_day(near, month, day_number) for near in years)
    return sorted(candidates, key=lambda period: abs(period[0] - around))[:1]


def _full_year(written: str | None) -> int | None:
    """Return a year written in full or by its last two digits, or None if no year is written."""
    if written is None:
        return None

    year = int(written)
    if year < 100:
        year += 2000
    return year


def _period_by_word(word: str, before: str, year: int | None) -> list[tuple[datetime, datetime]]:
    """Return a month, a quarter or a year, by the word before the year and what precedes it."""
    if word in MONTHS:
        return _period_of_months(year, MONTHS[word], 1)
    if word in _BEFORE_YEARS:
        return _period_of_months(year, 1, 12)

    ordinal = word
    if word == "quarter":
        ordinal = (before.split() or [""])[-1].casefold()
    quarter = _QUARTERS.get(ordinal)
    if quarter is None:
        return []
    return _period_of_months(year, 3 * quarter - 2, 3)


def _period_of_day(year: int | None, month: int, day: int) -> list[tuple[datetime, datetime]]:
    """Return when a day begins and ends, or an empty list if there is no such day."""
    try:
        begins = datetime.combine(date(year or 0, month, day), datetime.min.time(), UTC)
        return [(begins, begins + A_DAY)]
    except (ValueError, OverflowError):
        return []


def _period_of_months(year: int | None, month: int, months: int) -> list[tuple[datetime, datetime]]:
    """Return when a number of months from a month on begin and end, or an empty list if there are none."""
    years_after, next_month = divmod(month + months - 1, 12)
    first_day = _period_of_day(year, month, 1)
    day_after = _period_of_day((year or 0) + years_after, next_month + 1, 1)
    if not first_day or not day_after:
        return []

    return [(first_day[0][0], day_after[0][0])]


def _time_of_clock(clock: re.Match[str]) -> timedelta | None:
    """Return the time after midnight that a clock shows, or None if the match is only a number."""
    hour = int(clock["hour"])
    minute = int(clock["minute"] or 0)
    am_or_pm = (clock["half"] or "").lower()
    is_possible = hour <= (12 if am_or_pm else 24) and minute <= 59
    is_clock = clock["minute"] or am_or_pm
    if not is_clock or not is_possible:
        return None
    if am_or_pm:
        hour = hour % 12 + 12 * am_or_pm.startswith("p")
    return timedelta(hours=hour, minutes=minute)


def _utc_offsets(zone: str, month: int) -> tuple[timedelta, timedelta]:
    """Return the least and the most that a zone is ahead of UTC; the whole range without a known zone."""
    name = zone.casefold()
    if name in ("et", "ct", "mt", "pt"):
        letter = "d" if SUMMER[0] <= month <= SUMMER[1] else "s"
        name = f"{name[0]}{letter}t"

    if name in ZONES:
        return ZONES[name]

    shift = _SHIFT.search(name)
    if shift is None:
        return WEST, EAST

    offset = timedelta(hours=int(shift[2]), minutes=int(shift[3] or 0))
    if shift[1] == "-":
        offset = -offset
    return offset, offset
