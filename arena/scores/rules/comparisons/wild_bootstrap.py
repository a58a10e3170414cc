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


def normal(t: float, freedom: float) -> float:
    """The normal deviate that is as rare as this t: Wallace's approximation."""
    if freedom <= 0 or t == inf:
        return t
    return (8 * freedom + 1) / (8 * freedom + 3) * sqrt(freedom * log1p(t * t / freedom))


def tail(t: float, ratios: Floats, freedom: float, events: int) -> float:
    """p of |t|, of whose square the draws reached these shares: the t distribution, stretched to meet them.

    It never gets below the chance that all coins of so many events fall alike.
    """
    share = (BEYOND + 1) / (ratios.size + 1)
    met = sqrt(float(np.partition(ratios, -BEYOND)[-BEYOND])) * t if t < inf else 0.0
    stretch = normal(met, freedom) / NormalDist().inv_cdf(1 - share / 2)
    rare = erfc(normal(t, freedom) / stretch / sqrt(2)) if stretch > 0 else 0.0
    # nine digits, so that the dust of matrix products, which differs between machines, isn't among them
    return float(f"{min(max(rare, 2.0 ** (1 - events)), share):.9g}")


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
    """What p needs of some columns of values: sums under each draw's signs (draws by columns), and plain.

    `counts` and `squares` are the turned sums of n_g and n_g², for nulls other than 0.
    """

    total: Floats
    cross: Floats
    counts: Floats
    squares: Floats
    plain: UnsignedSums


def signs(events: Sequence[str], seed: int) -> Floats:
    """The coins: one row of +1 and −1 an event, by its name."""
    size = -(-DRAWS // 8)
    drawn = b"".join(hashlib.shake_128(f"{seed}/{event}".encode()).digest(size) for event in events)
    bits = np.unpackbits(np.frombuffer(drawn, dtype=np.uint8).reshape(len(events), size), axis=1)
    return bits[:, :DRAWS].astype(np.float64) * 2 - 1


def signed_columns(events: Sequence[str], columns: Floats, seed: int) -> Floats:
    """Σ over events of ±column, for every draw: draws by columns."""
    totals = np.zeros((DRAWS, columns.shape[1]))
    for start in range(0, len(events), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        totals += signs(events[part], seed).T @ columns[part]
    return totals


def spread(sums: EventSums) -> float:
    """V: the squares of what events differ by from what the mean says."""
    rest = sums.total - sums.count * sums.mean
    return float(rest @ rest)


def error(sums: EventSums) -> float:
    """The standard error of the mean, clustered by event; NaN with less than two events."""
    events = int(np.count_nonzero(sums.count))
    if events < 2:
        return nan
    return sqrt(events / (events - 1) * spread(sums)) / float(sums.count.sum())


def signed_sums(events: Sequence[str], sums: Sequence[EventSums], seed: int) -> SignedSums:
    """Return all sums for some columns."""
    s, n = (np.stack([getattr(x, name) for x in sums], axis=1) for name in ("total", "count"))
    has_markets = n.sum(axis=1) > 0
    s, n, names = s[has_markets], n[has_markets], list(compress(events, has_markets.tolist()))
    columns = [s, s * n, n, n * n]
    parts = np.split(signed_columns(names, np.hstack(columns), seed), len(columns), axis=1)
    return SignedSums(
        total=parts[0],
        cross=parts[1],
        counts=parts[2],
        squares=parts[3],
        plain=UnsignedSums(
            s=s.sum(axis=0),
            n=n.sum(axis=0),
            ss=(s * s).sum(axis=0),
            sn=(s * n).sum(axis=0),
            nn=(n * n).sum(axis=0),
            v=np.array([spread(x) for x in sums]),
            events=np.count_nonzero(n, axis=0).astype(np.float64),
        ),
    )


def select_columns(signed: SignedSums, which: Flags) -> SignedSums:
    """Some of the columns."""
    plain = UnsignedSums(*(getattr(signed.plain, field.name)[which] for field in fields(UnsignedSums)))
    return SignedSums(
        total=signed.total[:, which],
        cross=signed.cross[:, which],
        counts=signed.counts[:, which],
        squares=signed.squares[:, which],
        plain=plain,
    )


def p_at(null: Floats, signed: SignedSums) -> Floats:
    """p of each column under the null that its mean is this, by the draws alone; NaN without a market."""
    reached, observed = _squares(null, signed)
    p: Floats = (1.0 + np.count_nonzero(reached >= DUST * observed, axis=0)) / (1.0 + DRAWS)
    return np.where(signed.plain.n > 0, p, nan)


def p_values(signed: SignedSums) -> Floats:
    """p of each mean under the null that it is 0; NaN without a market."""
    zero, x = np.zeros(signed.plain.n.size), signed.plain
    p, (reached, observed) = p_at(zero, signed), _squares(zero, signed)
    for k in np.flatnonzero(p * (1 + DRAWS) <= BEYOND):
        wide = float(x.v[k] * x.events[k] / (x.events[k] - 1)) if x.events[k] > 1 else 0.0
        t = abs(float(x.s[k])) / sqrt(wide) if wide > 0 else inf
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = reached[:, k] / observed[:, k]
        p[k] = tail(t, shares, float(x.n[k] ** 2 / x.nn[k]) - 1, int(x.events[k]))
    return p


def _squares(null: Floats, signed: SignedSums) -> tuple[Floats, Floats]:
    """t*² and t² of each draw, both times V·V*: nothing is divided by a V of 0."""
    x = signed.plain
    total, cross = signed.total - null * signed.counts, signed.cross - null * signed.squares
    with np.errstate(invalid="ignore"):
        mean = total / x.n
        v = x.ss - 2 * null * x.sn + null * null * x.nn - 2 * mean * cross + mean * mean * x.nn
    return total * total * x.v, (x.s - null * x.n) ** 2 * np.maximum(v, 0)


def blocks(items: Sequence[Item], events: int) -> Iterator[Sequence[Item]]:
    """Items, each of which becomes a column, in parts that leave memory small however many events there are.

    >>> [len(part) for part in blocks(range(1000), 10)], [len(part) for part in blocks(range(3), 10**9)]
    ([512, 488], [1, 1, 1])
    """
    size = min(AT_ONCE, max(_CELLS // max(events, 1), 1))
    return (items[start : start + size] for start in range(0, len(items), size))
