"""Peer and relative scores of many questions at one instant, where everything said stands side by side.

- Formula: peer: 100 · (ln p − mean of ln p of all others on the question); relative: log2 p − log2 of the
  median of all others on it. They are what `peer` and `relative` give, in mode `exact`, for questions on
  which everyone's one forecast stands from the opening to the close.
- Direction: higher is better.
- Range: those of the rules.
- Edge cases: who is alone on a question has NaN there. Chances must be above 0. Who is outside the base
  is compared with the base, and nobody with them.
- Source: the rules' own.
"""

import numpy as np
from numpy.typing import NDArray

from arena.scores.rules._columns import Flags, Floats

Places = NDArray[np.intp]


def peers(question: Places, chance: Floats, base: Flags | None = None) -> Floats:
    """The peer score of each row; questions are numbered from 0.

    >>> peers(np.array([0, 0, 1]), np.array([0.8, 0.4, 0.5])).round(1)
    array([ 69.3, -69.3,   nan])
    """
    order = np.lexsort((chance, question))
    logs = np.log(chance)
    counted = np.ones(chance.size) if base is None else base.astype(np.float64)
    total = np.bincount(question[order], (logs * counted)[order])[question]
    others = np.bincount(question, counted)[question] - counted
    return 100 * (logs - (total - logs * counted) / np.where(others > 0, others, np.nan))


def relatives(question: Places, chance: Floats, base: Flags | None = None) -> Floats:
    """The relative score of each row.

    >>> relatives(np.array([0, 0, 0, 1]), np.array([0.8, 0.4, 0.4, 0.5]))
    array([ 1.        , -0.5849625, -0.5849625,         nan])
    >>> relatives(np.array([0, 0, 0]), np.array([0.8, 0.4, 0.4]), np.array([True, True, False]))
    array([ 1.        , -1.        , -0.5849625])
    """
    order = np.lexsort((chance, question))
    if base is not None:
        order = order[base[order]]
    rising, asked = chance[order], question[order]
    count = np.bincount(asked)[asked] if order.size else asked
    first = np.searchsorted(asked, asked)
    own = np.arange(order.size) - first

    def at(rank: Places) -> Floats:
        """The value of that rank among the others: whoever is above oneself moves down by one."""
        values: Floats = rising[np.minimum(first + rank + (rank >= own), order.size - 1)]
        return values

    # of others 0 to count − 2, the middle two, which are one if they are odd in number
    median = (at(np.maximum(count - 2, 0) // 2) + at((count - 1) // 2)) / 2
    scores = np.full(chance.size, np.nan)
    scores[order] = np.where(count > 1, np.log2(rising / median), np.nan)
    if base is not None and order.size < chance.size:
        out = np.flatnonzero(~base)
        low, high = (np.searchsorted(asked, question[out], side) for side in ("left", "right"))
        middle = (low + high - 1) // 2, (low + high) // 2
        pair = [rising[np.minimum(place, max(order.size - 1, 0))] if order.size else low for place in middle]
        with np.errstate(divide="ignore", invalid="ignore"):
            scores[out] = np.where(high > low, np.log2(chance[out] / ((pair[0] + pair[1]) / 2)), np.nan)
    return scores
