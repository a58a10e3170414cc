"""How a market's price went, as a few points of it and as a line of bars."""

from collections.abc import Sequence
from datetime import datetime

from markets.millionths import ONE
from markets.model import Quote

BARS = "▁▂▃▄▅▆▇█"


def price_points(quotes: Sequence[Quote], until: datetime, count: int) -> list[int | None]:
    """The mid at so many instants, evenly from the first price on: each the newest that was known then."""
    if not quotes:
        return []
    start, found, place = quotes[0].at, list[int | None](), 0
    for step in range(count):
        at = start + (until - start) * step / max(1, count - 1)
        while place + 1 < len(quotes) and quotes[place + 1].at <= at:
            place += 1
        found.append(quotes[place].mid)
    return found


def sparkline(mids: Sequence[int | None]) -> str:
    """Prices as a line of bars, from the lowest to the highest of them; a gap where there is none.

    >>> sparkline([100_000, 200_000, None, 450_000]), sparkline([500_000] * 3)
    ('▁▃ █', '▄▄▄')
    """
    known = [mid for mid in mids if mid is not None]
    low, high = min(known, default=0), max(known, default=ONE)
    if low == high:
        return "".join(" " if mid is None else BARS[3] for mid in mids)
    steps = len(BARS) - 1
    return "".join(" " if mid is None else BARS[(mid - low) * steps // (high - low)] for mid in mids)
