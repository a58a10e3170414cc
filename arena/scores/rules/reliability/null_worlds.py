"""Worlds in which a forecaster is calibrated: what chance alone makes of its forecasts.

- Formula: in each world a forecast f comes true with probability f. One uniform number u is drawn for
  all rows that share a label, and a row comes true where u < f: so each row alone is a fair draw of its
  own probability, and rows of one market, which in truth end alike, do so here as far as their forecasts
  agree. Rows without a shared label are drawn alone.
- Direction: none; a score is held against what these worlds give.
- Range: each world has as many rows as were scored.
- Edge cases: no row gives no world. Labels of whole events in place of markets draw the rows of an
  event together: that is the widest band for one who leans the same way on all of them, and the wrong
  one for outcomes that exclude each other.
- Source: Bröcker and Smith (2007) for consistency bars by resampling; one draw a market is ours.
"""

from collections.abc import Iterator

import numpy as np

from arena.scores.rules._columns import DistinctForecasts, Floats, sum_by_value

AT_ONCE = 4_000_000
"""How many drawn rows are held at a time: what bounds the memory."""


def worlds(rows: DistinctForecasts, draws: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Batches of worlds: for each world a line with the weight of what came true on each distinct value."""
    if not rows.value.size:
        return
    groups = int(rows.together.max()) + 1
    counts = np.diff(np.append(rows.start, rows.share.size))
    each_alone = groups == rows.share.size and bool((rows.share == rows.share[0]).all())
    for count in batches(draws, counts.size if each_alone else rows.share.size):
        if each_alone:
            yield rng.binomial(counts, rows.value, (count, counts.size)) * rows.share[0]
        else:
            luck = rng.random((count, groups))[:, rows.together]
            yield sum_by_value(rows, (luck < rows.forecast) * rows.share)


def batches(draws: int, width: int) -> Iterator[int]:
    """How many worlds to draw at a time, so that no batch is too large.

    >>> list(batches(10, width=1_000_000))
    [4, 4, 2]
    """
    most = max(AT_ONCE // max(width, 1), 1)
    for done in range(0, draws, most):
        yield min(most, draws - done)


def p_value(observed: float, drawn: Floats) -> float:
    """The share of worlds at least as bad as what was found, counting what was found as one of them.

    >>> p_value(0.3, np.array([0.1, 0.2, 0.3]))
    0.5
    """
    return float((1 + np.count_nonzero(drawn >= observed * (1 - 1e-12))) / (1 + drawn.size))
