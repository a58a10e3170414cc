"""Evidence: the capital of a bet that an agent is closer than the price, however often one looks.

- Formula: the capital starts at 1. A forecast f on a price r gains d = (r − o)² − (f − o)² = (f − r)(2o − f
  − r). A story multiplies the capital by 1 + Σ λ_k·d_k
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
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from arena.scores.rules._columns import Flags, Floats, runs
from arena.scores.rules.comparisons.events import Ints

STAKES = np.array([0.5, 1.0, 2.0, 4.0])
MOST = 0.5
"""What the worst end of a story may cost, as a share of the capital."""
BAR = 20.0
"""An agent that is no closer than the price ever gets so far with a chance of at most 1 in 20."""
LARGEST = 690.0
"""The logarithm up to which capital is counted: floats end soon after."""

Number = TypeVar("Number", np.float64, np.int64)


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

    def until(self, times: Floats) -> Floats:
        """Return the capital at some times."""
        return np.append(1.0, self.capital)[np.searchsorted(self.at, times, side="right")]

    def reached(self, bar: float) -> float | None:
        """When the capital first came up to a bar, if it ever has."""
        there = np.flatnonzero(self.capital >= bar)
        return float(self.at[there[0]]) if there.size else None


def evidence(rows: EvidenceRows) -> Evidence:
    """Return an agent's evidence."""
    rows = one_a_time(rows)
    timeline = Timeline.of(rows.story, rows.made, rows.known)

    return timeline.capital(rows.forecast, rows.price, rows.payout, np.ones(rows.story.size, dtype=np.bool_))


def one_a_time(rows: EvidenceRows) -> EvidenceRows:
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


@dataclass(frozen=True, slots=True)
class Timeline:
    """When rows were made and ended: the order of all that changes a capital, which many bets can share.

    The rows come in order of story and time; `batch` is where those of one story and time begin, and `first`
    the batch with which each story begins. Changes come in order of story and time too: row k is made at
    `made`[k], and `end_rows` end at `ends`. A capital moves at `points`, the last changes at their times in
    stories of which something has ended; `story_start` is the first change of the story of each, `is_first`
    says which are the first points of their story, `by_time` is their order in time, and `at` their times in
    that order.
    """

    batch: Ints
    batch_sizes: Ints
    first: Ints
    batches: Ints
    made: Ints
    ends: Ints
    end_rows: Ints
    points: Ints
    story_start: Ints
    is_first: Flags
    by_time: Ints
    at: Floats

    @classmethod
    def of(cls, story: Ints, made: Floats, known: Floats) -> "Timeline":
        """Return the timeline of rows in order of story and time; `known` is infinite while they are open."""
        batch, batch_sizes = runs(story, made)
        first, batches = runs(story[batch])

        ended = np.flatnonzero(np.isfinite(known))
        stories = np.concatenate([story, story[ended]])
        at = np.concatenate([made, known[ended]])
        is_end = np.arange(stories.size) >= story.size
        order = np.lexsort((is_end, at, stories))

        changes = np.empty(order.size, dtype=np.int64)
        changes[order] = np.arange(order.size)
        starts, lengths = runs(stories[order])
        story_start = np.repeat(starts, lengths)
        ends_so_far = np.append(0, np.cumsum(is_end[order]))
        has_begun = ends_so_far[1:] > ends_so_far[story_start]

        instants, sizes = runs(stories[order], at[order])
        lasts = instants + sizes - 1
        points = lasts[has_begun[lasts]]
        by_time = np.argsort(at[order][points], kind="stable")

        return cls(
            batch=batch,
            batch_sizes=batch_sizes,
            first=first,
            batches=batches,
            made=changes[: story.size],
            ends=changes[story.size :],
            end_rows=ended,
            points=points,
            story_start=story_start[points],
            is_first=np.diff(story_start[points], prepend=-1) != 0,
            by_time=by_time,
            at=at[order][points][by_time],
        )

    def capital(self, forecast: Floats, price: Floats, payout: Floats, counted: Flags) -> Evidence:
        """Return the capital of a bet on forecasts against prices, on the rows that are counted."""
        if not counted[self.end_rows].any():
            return Evidence(np.zeros(0), np.zeros(0))

        worst = np.where(forecast > price, forecast**2 - price**2, (1 - forecast) ** 2 - (1 - price) ** 2)
        worst[~counted] = 0.0
        gain = (forecast - price) * (2 * payout - forecast - price)
        gain = np.where(counted & ~np.isnan(gain), gain, 0.0)
        weights = self._weights(worst)

        # what is sure of a story falls by a forecast's worst when it is made, and gets it back when it ends
        change = np.empty((STAKES.size, self.made.size + self.ends.size))
        change[:, self.made] = -weights * worst
        change[:, self.ends] = (weights * (gain + worst))[:, self.end_rows]
        sums = sums_before(change)
        sure = sums[:, self.points + 1] - sums[:, self.story_start]

        is_counted_end = np.zeros(change.shape[1], dtype=np.int64)
        is_counted_end[self.ends] = counted[self.end_rows]
        ends = sums_before(is_counted_end)
        begun = ends[self.points + 1] > ends[self.story_start]

        factor = np.where(begun, np.log1p(np.maximum(sure, -MOST)), 0.0)
        step = np.diff(factor, axis=1, prepend=0.0)
        step[:, self.is_first] = factor[:, self.is_first]
        total = np.cumsum(step[:, self.by_time], axis=1)

        # of all that changes at one time only the last tells how things stand after it
        starts, sizes = runs(self.at)
        moved = (starts + sizes - 1)[np.add.reduceat(begun[self.by_time].astype(np.int64), starts) > 0]
        return Evidence(self.at[moved], np.exp(np.minimum(total[:, moved], LARGEST)).mean(axis=0))

    def _weights(self, worst: Floats) -> Floats:
        """Return λ of every row, one line for each stake: what the story's earlier rows leave of the half."""
        batch = np.add.reduceat(worst, self.batch)
        total = np.cumsum(batch)
        before_story = np.repeat((total - batch)[self.first], self.batches)

        up_to = np.minimum(STAKES[:, None] * (total - before_story), MOST)
        before = np.minimum(STAKES[:, None] * (total - before_story - batch), MOST)
        stake = np.divide(up_to - before, batch, out=np.zeros_like(up_to), where=batch > 0)
        return np.repeat(stake, self.batch_sizes, axis=1)


def sums_before(values: NDArray[Number]) -> NDArray[Number]:
    """Return the sum of all values before each place, and of all of them at the end."""
    sums = np.zeros((*values.shape[:-1], values.shape[-1] + 1), dtype=values.dtype)
    np.cumsum(values, axis=-1, out=sums[..., 1:])
    return sums
