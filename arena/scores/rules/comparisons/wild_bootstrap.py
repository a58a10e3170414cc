"""The wild event bootstrap-t: what a mean over markets may be by chance, when whole events are drawn.

- Formula: event g has n_g markets and a sum s_g of their values; the mean is m = Σ s_g / N. Under the
  null that it is m₀, u_g = s_g − n_g·m₀, and t = Σ u_g / √V with V = Σ (s_g − n_g·m)². Each of 1,999
  draws turns the sign of every event by a fair coin, u*_g = ±u_g, and makes m* = Σ u*_g / N, V* = Σ (u*_g
  − n_g·m*)² and t* = Σ u*_g / √V*. Then p = (1 + number of draws with |t*| ≥ |t|) / 2,000. The standard
  error is √(G/(G − 1) · V) / N over the G events that have markets. Where fewer than 20 draws are beyond
  t, p is that of Student's t with G* − 1 degrees of freedom, by Wallace's approximation, t divided by the
  factor by which the 20th largest |t*| is off that distribution: corrections for many comparisons need
  smaller p-values.
- Direction: lower is stronger evidence.
- Range: 2^(1 − G), when all coins fall alike, to 1.
- Edge cases: a mean of exactly m₀ has p = 1; no market gives NaN. An event's coins come from its name and the
  seed alone, so neither the order of rows nor other events change them, and all agents share them.
- Source: Cameron, Gelbach and Miller (2008), null imposed, Rademacher signs; Wallace (1959); the tail after
  Knijnenburg and others (2009).
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import compress
from math import erfc, inf, log1p, nan, sqrt
from statistics import NormalDist
from typing import TypeVar

import numpy as np

from arena.scores.rules._columns import Flags, Floats
from arena.scores.rules.comparisons.events import EventSums

BEYOND = 20
"""With fewer draws than this beyond what was seen, the tail is taken from Student's t."""


def normal_deviate(t: float, freedom: float) -> float:
    """Return the normal deviate as rare as this t, by Wallace's approximation."""
    if freedom <= 0 or t == inf:
        return t
    root = sqrt(freedom * log1p(t * t / freedom))
    return (8 * freedom + 1) / (8 * freedom + 3) * root


def tail_p_value(t: float, ratios: Floats, freedom: float, events: int) -> float:
    """Return p of |t| by the t distribution, stretched to meet the draws.

    `ratios` are the shares of the square of t that the draws reached. The result is never below the chance
    that the coins of all events fall alike.
    """
    share_beyond = (BEYOND + 1) / (ratios.size + 1)
    drawn_t = 0.0
    if t < inf:
        nearest_ratio = np.partition(ratios, -BEYOND)[-BEYOND]
        drawn_t = sqrt(float(nearest_ratio)) * t

    stretch = normal_deviate(drawn_t, freedom) / NormalDist().inv_cdf(1 - share_beyond / 2)
    p = 0.0
    if stretch > 0:
        p = erfc(normal_deviate(t, freedom) / stretch / sqrt(2))

    least_p = 2.0 ** (1 - events)
    p = min(max(p, least_p), share_beyond)

    # Nine digits exclude the rounding errors of matrix products, which differ between machines.
    return float(f"{p:.9g}")


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
class UnsignedSums:
    """Sums over events, one a column: of s, n, s², s·n and n²; V, and the number of events."""

    s: Floats
    n: Floats
    ss: Floats
    sn: Floats
    nn: Floats
    v: Floats
    events: Floats


@dataclass(frozen=True, slots=True)
class SignedSums:
    """The sums that p needs of some columns of values: under each draw's signs (draws by columns), and plain.

    `counts` and `squares` are the signed sums of n_g and n_g², for nulls other than 0.
    """

    total: Floats
    cross: Floats
    counts: Floats
    squares: Floats
    plain: UnsignedSums


def signs(events: Sequence[str], seed: int) -> Floats:
    """Return the coins of each event by its name: a row of +1 and −1."""
    bytes_per_event = -(-DRAWS // 8)
    random_bytes = bytearray()
    for event in events:
        random_bytes += hashlib.shake_128(f"{seed}/{event}".encode()).digest(bytes_per_event)

    packed = np.frombuffer(random_bytes, dtype=np.uint8).reshape(len(events), bytes_per_event)
    bits = np.unpackbits(packed, axis=1)[:, :DRAWS]
    return bits.astype(np.float64) * 2 - 1


def signed_columns(events: Sequence[str], columns: Floats, seed: int) -> Floats:
    """Return Σ over events of ±column, for every draw: draws by columns."""
    totals = np.zeros((DRAWS, columns.shape[1]))
    for start in range(0, len(events), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        totals += signs(events[part], seed).T @ columns[part]
    return totals


def spread(sums: EventSums) -> float:
    """Return V: the sum of squared differences of events from the mean."""
    rest = sums.total - sums.count * sums.mean
    return float(rest @ rest)


def error(sums: EventSums) -> float:
    """Return the standard error of the mean, clustered by event; NaN with less than two events."""
    events = int(np.count_nonzero(sums.count))
    if events < 2:
        return nan
    root = sqrt(events / (events - 1) * spread(sums))
    return root / float(sums.count.sum())


def signed_sums(events: Sequence[str], sums: Sequence[EventSums], seed: int) -> SignedSums:
    """Return all sums for some columns."""
    s = np.stack([column.total for column in sums], axis=1)
    n = np.stack([column.count for column in sums], axis=1)
    v = np.array([spread(column) for column in sums])

    has_markets = n.sum(axis=1) > 0
    s = s[has_markets]
    n = n[has_markets]
    names = list(compress(events, has_markets.tolist()))
    products = s * n
    squares = n * n

    drawn = signed_columns(names, np.hstack([s, products, n, squares]), seed)
    total, cross, counts, signed_squares = np.split(drawn, 4, axis=1)
    plain = UnsignedSums(
        s=s.sum(axis=0),
        n=n.sum(axis=0),
        ss=(s * s).sum(axis=0),
        sn=products.sum(axis=0),
        nn=squares.sum(axis=0),
        v=v,
        events=np.count_nonzero(n, axis=0).astype(np.float64),
    )
    return SignedSums(total, cross, counts, signed_squares, plain)


def select_columns(signed: SignedSums, which: Flags) -> SignedSums:
    """Return some of the columns."""
    plain = UnsignedSums(*(getattr(signed.plain, field.name)[which] for field in fields(UnsignedSums)))
    return SignedSums(
        total=signed.total[:, which],
        cross=signed.cross[:, which],
        counts=signed.counts[:, which],
        squares=signed.squares[:, which],
        plain=plain,
    )


def p_at(null: Floats, signed: SignedSums) -> Floats:
    """Return p of each column for the null that its mean is `null`, by draws alone; NaN without a market."""
    reached, observed = _drawn_and_observed_squares(null, signed)
    return _share_beyond(reached, observed, signed)


def _share_beyond(drawn_squares: Floats, observed_squares: Floats, signed: SignedSums) -> Floats:
    """Return the share of draws that reach the observed value, which is counted among them."""
    draws_beyond = np.count_nonzero(drawn_squares >= DUST * observed_squares, axis=0)
    p: Floats = (1.0 + draws_beyond) / (1.0 + DRAWS)
    return np.where(signed.plain.n > 0, p, nan)


def p_values(signed: SignedSums) -> Floats:
    """Return p of each mean for the null of 0; NaN without a market."""
    plain = signed.plain
    null_of_zero = np.zeros(plain.n.size)
    reached, observed = _drawn_and_observed_squares(null_of_zero, signed)
    p = _share_beyond(reached, observed, signed)

    is_rare = p * (1 + DRAWS) <= BEYOND
    for column in np.flatnonzero(is_rare):
        events = plain.events[column]
        variance = 0.0
        if events > 1:
            variance = float(plain.v[column] * events / (events - 1))

        t = inf
        if variance > 0:
            t = abs(float(plain.s[column])) / sqrt(variance)

        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = reached[:, column] / observed[:, column]
        effective = float(plain.n[column] ** 2 / plain.nn[column])
        p[column] = tail_p_value(t, ratios, effective - 1, int(events))

    return p


def _drawn_and_observed_squares(null: Floats, signed: SignedSums) -> tuple[Floats, Floats]:
    """Return t*² and t² of each draw, both multiplied by V·V*, which avoids dividing by a V of 0."""
    plain = signed.plain
    total = signed.total - null * signed.counts
    cross = signed.cross - null * signed.squares
    observed = plain.s - null * plain.n

    # V* = Σ (u*_g − n_g·m*)², expanded; it is 0 / 0 without a market.
    with np.errstate(invalid="ignore"):
        mean = total / plain.n
        v = plain.ss - 2 * null * plain.sn
        v = v + null * null * plain.nn
        v = v - 2 * mean * cross
        v = v + mean * mean * plain.nn

    return total * total * plain.v, observed**2 * np.maximum(v, 0)


def blocks(items: Sequence[Item], events: int) -> Iterator[Sequence[Item]]:
    """Yield items, each of which becomes a column, in parts small enough for memory.

    >>> [len(part) for part in blocks(range(1000), 10)], [len(part) for part in blocks(range(3), 10**9)]
    ([512, 488], [1, 1, 1])
    """
    most_columns = _CELLS // max(events, 1)
    size = min(AT_ONCE, max(most_columns, 1))

    for start in range(0, len(items), size):
        yield items[start : start + size]
