"""The wild event bootstrap-t: what a mean over markets may be by chance, when whole events are drawn.

- Formula: event g has n_g markets and a sum s_g of their values; the mean is m = Σ s_g / N. Under the null
  that it is m₀, u_g = s_g − n_g·m₀, and t = Σ u_g / √V with V = Σ (s_g − n_g·m)². Each of 1,999 draws turns
  the sign of every event by a fair coin, u*_g = ±u_g, and makes m* = Σ u*_g / N, V* = Σ (u*_g − n_g·m*)² and
  t* = Σ u*_g / √V*. Then p = (1 + number of draws with |t*| ≥ |t|) / 2,000. The standard error is
  √(G/(G − 1) · V) / N over the G events that have markets.
- Direction: lower is better evidence against the null.
- Range: 1/2,000 to 1.
- Edge cases: a mean of exactly m₀ has p = 1; no market gives NaN. An event's coins come from its name and the
  seed alone, so neither the order of rows nor other events change them, and all agents share them.
- Source: Cameron, Gelbach and Miller (2008), with the null imposed and Rademacher's signs.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import nan, sqrt
from typing import TypeVar

import numpy as np

from arena.scoring._columns import Floats
from arena.scoring.comparing.events import Sums

Item = TypeVar("Item")

DRAWS = 1999
LEVEL = 0.05
"""The share of false alarms that p-values and intervals are made for."""

AT_ONCE = 512
"""Events, and columns, that are worked on at a time."""
_CELLS = 2**22
"""Events times columns, at most."""
DUST = 1 - 1e-9
"""Draws that equal what was seen up to the dust of floats are beyond it."""


@dataclass(frozen=True, slots=True)
class Turned:
    """What p needs of columns of values: sums under each draw's signs (draws by columns), and plain ones.

    `counts` and `squares` are the turned sums of n_g and n_g², for nulls other than 0.
    """

    total: Floats
    cross: Floats
    counts: Floats
    squares: Floats
    sums: tuple[Floats, Floats, Floats, Floats, Floats]
    spread: Floats


def signs(events: Sequence[str], seed: int, draws: int = DRAWS) -> Floats:
    """The coins: one row of +1 and −1 an event, by its name.

    >>> signs(["rain", "snow"], 1)[:, :6].tolist() == signs(["snow", "rain"], 1)[::-1, :6].tolist()
    True
    """
    size = -(-draws // 8)
    drawn = b"".join(hashlib.shake_128(f"{seed}/{event}".encode()).digest(size) for event in events)
    bits = np.unpackbits(np.frombuffer(drawn, dtype=np.uint8).reshape(len(events), size), axis=1)
    return bits[:, :draws].astype(np.float64) * 2 - 1


def turn(events: Sequence[str], columns: Floats, seed: int) -> Floats:
    """Σ over events of ±column, for every draw: draws by columns."""
    found = np.zeros((DRAWS, columns.shape[1]))
    for start in range(0, len(events), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        found += signs(events[part], seed).T @ columns[part]
    return found


def spread(sums: Sums) -> float:
    """V: the squares of what events differ by from what the mean says."""
    rest = sums.total - sums.count * sums.mean
    return float(rest @ rest)


def error(sums: Sums) -> float:
    """The standard error of the mean, clustered by event; NaN with less than two events.

    >>> round(error(Sums(np.array([0.1, 0.3]), np.array([1.0, 1.0]))), 6)
    0.1
    """
    events = int(np.count_nonzero(sums.count))
    if events < 2:
        return nan
    return sqrt(events / (events - 1) * spread(sums)) / float(sums.count.sum())


def turned(events: Sequence[str], sums: Sequence[Sums], seed: int, *, shifts: bool = True) -> Turned:
    """All sums for some columns; those of the counts may be left out where the null is 0."""
    s, n = (np.stack([getattr(x, name) for x in sums], axis=1) for name in ("total", "count"))
    columns = [s, s * n, n, n * n] if shifts else [s, s * n]
    found = np.split(turn(events, np.hstack(columns), seed), len(columns), axis=1)
    none = np.zeros((1, len(sums)))
    return Turned(
        total=found[0],
        cross=found[1],
        counts=found[2] if shifts else none,
        squares=found[3] if shifts else none,
        sums=(s.sum(0), n.sum(0), (s * s).sum(0), (s * n).sum(0), (n * n).sum(0)),
        spread=np.array([spread(x) for x in sums]),
    )


def p_at(null: Floats, given: Turned) -> Floats:
    """p of each column under the null that its mean is this. t² are compared crosswise, so nothing is divided
    by a V of 0."""
    s, n, ss, sn, nn = given.sums
    total, cross = given.total - null * given.counts, given.cross - null * given.squares
    mean = total / n
    v = ss - 2 * null * sn + null * null * nn - 2 * mean * cross + mean * mean * nn
    seen = (s - null * n) ** 2
    beyond = total * total * given.spread >= DUST * seen * np.maximum(v, 0)
    found: Floats = (1.0 + np.count_nonzero(beyond, axis=0)) / (1.0 + total.shape[0])
    return np.where(n > 0, found, nan)


def p_values(events: Sequence[str], sums: Sequence[Sums], seed: int) -> Floats:
    """p of each mean under the null that it is 0; NaN without a market."""
    with np.errstate(invalid="ignore"):
        return p_at(np.zeros(len(sums)), turned(events, sums, seed, shifts=False))


def blocks(items: Sequence[Item], events: int) -> Iterator[Sequence[Item]]:
    """Items, each of which becomes a column, in parts that leave memory small however many events there are.

    >>> [len(part) for part in blocks(range(1000), 10)], [len(part) for part in blocks(range(3), 10**9)]
    ([512, 488], [1, 1, 1])
    """
    size = min(AT_ONCE, max(_CELLS // max(events, 1), 1))
    return (items[start : start + size] for start in range(0, len(items), size))
