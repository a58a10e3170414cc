"""Fewer points for a chart, its ends kept."""

from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


def thin(items: Sequence[Item], limit: int) -> list[Item]:
    """At most `limit` of the items, evenly spaced, with the first and the last one.

    >>> thin([1, 2, 3, 4, 5, 6, 7], 3), thin([1, 2], 3)
    ([1, 4, 7], [1, 2])
    """
    limit = max(limit, 2)
    if len(items) <= limit:
        return list(items)
    last = len(items) - 1
    return [items[place * last // (limit - 1)] for place in range(limit)]
