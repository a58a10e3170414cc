"""Peer and relative scores of many questions at one instant, where everything said stands side by side.

- Formula: peer: 100 · (ln p − mean of ln p of all others on the question); relative: log2 p − log2 of the
  median of all others on it. They are what `peer` and `relative` give, in mode `exact`, for questions on
  which everyone's one forecast stands from the opening to the close.
- Direction: higher is better.
- Range: those of the rules.
- Edge cases: who is alone on a question has NaN there. Chances must be above 0.
- Source: the rules' own.
"""

import numpy as np
from numpy.typing import NDArray

from arena.scores.rules._columns import Floats

Places = NDArray[np.intp]


def peers(question: Places, chance: Floats) -> Floats:
    """The peer score of each row; questions are numbered from 0.

    >>> peers(np.array([0, 0, 1]), np.array([0.8, 0.4, 0.5])).round(1)
    array([ 69.3, -69.3,   nan])
    """
    order = np.lexsort((chance, question))
    logs = np.log(chance)
    total = np.bincount(question[order], logs[order])[question]
    others = (np.bincount(question)[question] - 1).astype(np.float64)
    return 100 * (logs - (total - logs) / np.where(others > 0, others, np.nan))


def relatives(question: Places, chance: Floats) -> Floats:
    """The relative score of each row.

    >>> relatives(np.array([0, 0, 0, 1]), np.array([0.8, 0.4, 0.4, 0.5]))
    array([ 1.        , -0.5849625, -0.5849625,         nan])
    """
    order = np.lexsort((chance, question))
    rising = chance[order]
    count = np.bincount(question)[question[order]]
    first = np.searchsorted(question[order], question[order])
    own = np.arange(order.size) - first

    def at(rank: Places) -> Floats:
        """The value of that rank among the others: whoever is above oneself moves down by one."""
        values: Floats = rising[np.minimum(first + rank + (rank >= own), order.size - 1)]
        return values

    # of others 0 to count − 2, the middle two, which are one if they are odd in number
    median = (at(np.maximum(count - 2, 0) // 2) + at((count - 1) // 2)) / 2
    scores = np.empty(order.size)
    scores[order] = np.where(count > 1, np.log2(rising / median), np.nan)
    return scores
