"""Evidence: the capital of a bet that an agent is closer than the price, however often one looks.

- Formula: the capital starts at 1. A forecast f on a price r gains d = (r − o)² − (f − o)² = (f − r)(2o − f
  − r), linear in o, so its worst is known when it is made. A story multiplies the capital by 1 + Σ λ_k·d_k
  over its forecasts in order; λ_k is the stake λ, or less, so that the worst of the story so far costs at
  most half. The capital is the mean over λ of ½, 1, 2 and 4. A forecast counts once resolved; from a
  story's first such one on, its open ones count at their worst.
- Direction: higher is better: without skill ×20 has a chance of at most 1 in 20.
- Range: above 0.
- Edge cases: prices are not clipped; a price of 0 or 1 has nothing left to say and doesn't count. Fractions
  count as they pay, refunds gain nothing. Several forecasts of one market at one time are averaged, and so
  are their prices. What was forecast after its outcome was known doesn't count.
- Source: Ville (1939); Shafer and Vovk (2019); Waudby-Smith and Ramdas (2024); Henzi and Ziegel (2022).
  `docs/evidence.md` has proof and power.
"""

from dataclasses import dataclass

import numpy as np

from arena.scores.rules._columns import Floats, runs
from arena.scores.rules.comparisons.events import Ints

STAKES = np.array([0.5, 1.0, 2.0, 4.0])
MOST = 0.5
"""What the worst end of a story may cost, as a share of the capital."""
BAR = 20.0
"""An agent that is no closer than the price ever gets so far with a chance of at most 1 in 20."""
LARGEST = 690.0
"""The logarithm up to which capital is counted: floats end soon after."""


@dataclass(frozen=True, slots=True)
class EvidenceRows:
    """An agent's forecasts.

    `made` and `known` are seconds since 1970: when it was asked, and from when on the outcome counts, which
    is infinite while a market is open. `payout` is from 0 to 1, NaN for a refund.
    """

    story: Ints
    market: Ints
    made: Floats
    known: Floats
    forecast: Floats
    price: Floats
    payout: Floats


@dataclass(frozen=True, slots=True)
class Evidence:
    """The capital at every time at which it changed, in order; none as long as nothing has counted."""

    at: Floats
    capital: Floats

    @property
    def now(self) -> float:
        """The newest capital."""
        return float(self.capital[-1]) if self.capital.size else 1.0

    def reached(self, bar: float) -> float | None:
        """When the capital first came up to a bar, if it ever has."""
        there = np.flatnonzero(self.capital >= bar)
        return float(self.at[there[0]]) if there.size else None


def evidence(rows: EvidenceRows) -> Evidence:
    """An agent's evidence."""
    rows = _one_a_time(rows)
    worst = np.where(
        rows.forecast > rows.price,
        rows.forecast**2 - rows.price**2,
        (1 - rows.forecast) ** 2 - (1 - rows.price) ** 2,
    )
    gain = (rows.forecast - rows.price) * (2 * rows.payout - rows.forecast - rows.price)
    ended = np.isfinite(rows.known)
    gain = np.where(ended & ~np.isnan(gain), gain, 0.0)
    weights = _weights(rows, worst)
    # what is sure of a story falls by a forecast's worst when it is made, and gets it back when it counts
    story = np.concatenate([rows.story, rows.story[ended]])
    at = np.concatenate([rows.made, rows.known[ended]])
    change = np.concatenate([-weights * worst, (weights * (gain + worst))[:, ended]], axis=1)
    counts = np.repeat([0, 1], [rows.story.size, int(ended.sum())])
    order = np.lexsort((counts, at, story))
    return _capital(story[order], at[order], counts[order], change[:, order])


def _one_a_time(rows: EvidenceRows) -> EvidenceRows:
    """The rows that count, in order of story and time, one for each market and time."""
    some = np.flatnonzero((rows.price > 0) & (rows.price < 1) & (rows.made <= rows.known))
    order = some[np.lexsort((rows.market[some], rows.made[some], rows.story[some]))]
    names = ("story", "market", "made", "known", "forecast", "price", "payout")
    story, market, made, known, forecast, price, payout = (getattr(rows, name)[order] for name in names)
    starts, lengths = runs(story, made, market)
    if starts.size < order.size:
        forecast, price = (np.add.reduceat(x, starts) / lengths for x in (forecast, price))
        story, market, made, known, payout = (x[starts] for x in (story, market, made, known, payout))
    return EvidenceRows(story, market, made, known, forecast, price, payout)


def _weights(rows: EvidenceRows, worst: Floats) -> Floats:
    """λ of every row, one line for each stake: what the story's earlier rows leave of the half."""
    starts, lengths = runs(rows.story, rows.made)
    if not starts.size:
        return np.zeros((STAKES.size, 0))
    batch = np.add.reduceat(worst, starts)
    total = np.cumsum(batch)
    first, batches = runs(rows.story[starts])
    before_story = np.repeat((total - batch)[first], batches)
    up_to = np.minimum(STAKES[:, None] * (total - before_story), MOST)
    before = np.minimum(STAKES[:, None] * (total - before_story - batch), MOST)
    each = np.divide(up_to - before, batch, out=np.zeros_like(up_to), where=batch > 0)
    return np.repeat(each, lengths, axis=1)


def _capital(story: Ints, at: Floats, counts: Ints, change: Floats) -> Evidence:
    """The capital over time, from changes in what is sure of each story, in order of story and time."""
    if not counts.any():
        return Evidence(np.zeros(0), np.zeros(0))
    first, lengths = runs(story)
    of_story = np.repeat(np.arange(first.size), lengths)
    sums, ends = np.cumsum(change, axis=1), np.cumsum(counts)
    sure = sums - (sums[:, first] - change[:, first])[:, of_story]
    begun = ends - (ends[first] - counts[first])[of_story] > 0
    factor = np.where(begun, np.log1p(np.maximum(sure, -MOST)), 0.0)
    step = np.diff(factor, axis=1, prepend=0.0)
    step[:, first] = factor[:, first]
    order = np.argsort(at, kind="stable")
    total = np.cumsum(step[:, order], axis=1)
    last = np.flatnonzero(np.diff(at[order], append=np.inf) != 0)
    moved = last[np.add.reduceat(begun[order].astype(np.int64), np.append(0, last[:-1] + 1)) > 0]
    return Evidence(at[order][moved], np.exp(np.minimum(total[:, moved], LARGEST)).mean(axis=0))
