"""Instants and how far away they are, as people read them."""

from datetime import UTC, datetime, timedelta

from dashboard.words import day

UNITS = ((timedelta(days=1), "d"), (timedelta(hours=1), "h"), (timedelta(minutes=1), "min"))


def moment(at: datetime | None) -> str:
    """An instant to the minute, in UTC.

    >>> moment(datetime(2026, 1, 4, 9, 30, tzinfo=UTC)), moment(None)
    ('4 Jan 2026, 09:30 UTC', '–')
    """
    return "–" if at is None else f"{day(at)}, {at.astimezone(UTC):%H:%M} UTC"


def far(at: datetime | None, now: datetime) -> str:
    """How far away an instant is.

    >>> noon = datetime(2026, 1, 4, 12, tzinfo=UTC)
    >>> far(noon, noon - timedelta(hours=3)), far(noon, noon + timedelta(seconds=5)), far(None, noon)
    ('in 3.0 h', '5 s ago', '–')
    """
    if at is None:
        return "–"
    return f"in {length(at - now)}" if at > now else f"{length(now - at)} ago"


def length(time: timedelta) -> str:
    """A length of time in the unit that fits.

    >>> length(timedelta(days=9)), length(timedelta(minutes=90)), length(timedelta(seconds=59))
    ('9.0 d', '90.0 min', '59 s')
    """
    for unit, name in UNITS:
        if time >= 2 * unit:
            return f"{time / unit:.1f} {name}"
    return f"{time.total_seconds():.0f} s"
