"""Times, as people write them on the command line."""

from datetime import UTC, datetime

from arena.errors import ArenaError


def instant(text: str) -> datetime:
    """A time as people write it; without a zone it is UTC.

    >>> instant("2026-01-04").isoformat()
    '2026-01-04T00:00:00+00:00'
    """
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise ArenaError("bad_time", f"{text!r} is not a time", "write it like 2026-01-04T00:00Z") from error
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
