"""Evidence: the capital of a bet that an agent is closer than the price, however often one looks.

- Formula: the capital starts at 1. A forecast f on a price r gains d = (r − o)² − (f − o)² = 2(f − r)(o − m),
  m the middle of both. A story multiplies the capital by 1 + Σ λ_k·d_k over its forecasts in order; λ_k is
  c / 4m(1 − m), or less, so that the worst end of the story so far costs at most half. Forecasts of a
  story's n-th time have 1 / √n of that: they mostly repeat what was said. At c = 1 one forecast multiplies
  the capital by f / m or (1 − f) / (1 − m), the likelihood ratio. The capital is the mean over c of ½
  and 1. Of several options d is half the sum of theirs, Σ w(o − m) with w = f − r, and λ = c·½Σw² / (Σ mw² −
  (Σ mw)²), for two options that above. A forecast counts once resolved; from a story's first such one on, its
  open markets count at their worst.
- Direction: higher is better: without skill ×20 has a chance of at most 1 in 20.
- Range: above 0.
- Edge cases: prices are not clipped; a price of 0 or 1 has nothing left to say and doesn't count, nor do odds
  with an option at 1. Each option counts at its worst, though not all of these can come true. Fractions count
  as they pay, refunds gain nothing. Several forecasts of one market at one time are averaged, and so are
  their prices. What was forecast after its outcome was known doesn't count.
- Source: Ville (1939); Shafer and Vovk (2019); Waudby-Smith and Ramdas (2024); Henzi and Ziegel (2022).
  `docs/evidence.md` has proof and power.
"""

from dataclasses import dataclass

import numpy as np

from arena.scores.rules._columns import Flags, Floats, run_ends, runs, sums_before
from arena.scores.rules.comparisons.events import Ints
from arena.scores.rules.comparisons.season_rows import count_options

STAKES = np.array([0.5, 1.0])
MOST = 0.5
"""What the worst end of a story may cost, as a share of the capital."""
LARGEST = 690.0
"""The logarithm up to which capital is counted: floats end soon after."""


@dataclass(frozen=True, slots=True)
class EvidenceRows:
    """An agent's forecasts.

    `made` and `known` are seconds since 1970: when it was asked, and from when on the outcome counts, which
    is infinity while a market is open. `payout` is from 0 to 1, NaN for a refund. `question` numbers the
    question that a market is an option of; the numbers of its markets are consecutive.
    """

    story: Ints
    market: Ints
    made: Floats
    known: Floats
    forecast: Floats
    price: Floats
    payout: Floats
    question: Ints | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """The capital at every time at which it changed, in order; empty until something has counted."""

    at: Floats
    capital: Floats

    @property
    def now(self) -> float:
        """Return the newest capital."""
        if not self.capital.size:
            return 1.0
        return float(self.capital[-1])

    def capital_at(self, times: Floats) -> Floats:
        """Return the capital at some times."""
        since_start = np.append(1.0, self.capital)
        place = np.searchsorted(self.at, times, side="right")
        return since_start[place]


def evidence(rows: EvidenceRows) -> Evidence:
    """Return an agent's evidence."""
    rows = one_a_time(rows)
    timeline = Timeline.of(rows.story, rows.made, rows.market, rows.known, rows.question)
    all_rows = np.ones(rows.story.size, dtype=np.bool_)

    return timeline.capital(rows.forecast, rows.price, rows.payout, all_rows)


def one_a_time(rows: EvidenceRows) -> EvidenceRows:
    """Return the rows that count, in order of story and time, one for each market and time."""
    is_counted = _has_open_price(rows) & (rows.made <= rows.known)
    order = np.lexsort((rows.market, rows.made, rows.story))
    order = order[is_counted[order]]
    forecast = rows.forecast[order]
    price = rows.price[order]

    starts, lengths = runs(rows.story[order], rows.made[order], rows.market[order])
    if starts.size < order.size:
        forecast = np.add.reduceat(forecast, starts) / lengths
        price = np.add.reduceat(price, starts) / lengths

    first = order[starts]
    return EvidenceRows(
        story=rows.story[first],
        market=rows.market[first],
        made=rows.made[first],
        known=rows.known[first],
        forecast=forecast,
        price=price,
        payout=rows.payout[first],
        question=None if rows.question is None else rows.question[first],
    )


def _has_open_price(rows: EvidenceRows) -> Flags:
    """Return which rows have a price that leaves the outcome open; no option may have a price of 1."""
    is_certain = rows.price >= 1
    if rows.question is None:
        return (rows.price > 0) & ~is_certain

    order = np.lexsort((rows.made, rows.question))
    starts, lengths = runs(rows.question[order], rows.made[order])
    # Odds with an option at a price of 1 leave nothing open in any option.
    is_question_certain = np.logical_or.reduceat(is_certain[order], starts)
    is_certain[order] = np.repeat(is_question_certain, lengths)
    is_option = count_options(rows.market, rows.question) > 1
    return ~is_certain & ((rows.price > 0) | is_option)


@dataclass(frozen=True, slots=True)
class _Batch:
    """The first moves of each story, or the second ones, and so on.

    `legs` are the legs of the moves, and `starts` and `sizes` the moves of each of the `stories`.
    """

    moves: Ints
    legs: Ints
    stories: Ints
    starts: Ints
    sizes: Ints


@dataclass(frozen=True, slots=True)
class Timeline:
    """When rows were made and ended: the order of all that changes a capital, which many bets can share.

    The rows come in order of story, time and market. A leg is a market with its end, and a move the rows of
    a leg at one time; `move` and `leg` have the first row of each, and `story_legs` the first leg of each
    story. `batches` have the moves as they follow each other in their stories.

    Changes come in order of story and time: a move is made at `made`, and the legs `ended` end at `ends`. A
    capital moves at `points`, the last changes at their times in stories of which something has ended;
    `story_start` is the first change of the story of each, `is_first` says which are the first points of
    their story, `by_time` is their order in time, and `at` their times in that order. `forecasts` has the
    first row of each forecast, where some have a row for each option.
    """

    move: Ints
    move_leg: Ints
    leg: Ints
    story_legs: Ints
    batches: tuple[_Batch, ...]
    made: Ints
    ends: Ints
    ended: Ints
    points: Ints
    story_start: Ints
    is_first: Flags
    by_time: Ints
    at: Floats
    forecasts: Ints | None = None

    @classmethod
    def of(
        cls, story: Ints, made: Floats, market: Ints, known: Floats, question: Ints | None = None
    ) -> "Timeline":
        """Return the timeline of rows in order of these columns; `known` is infinity while they are open."""
        move, _ = runs(story, made, market, known)
        move_story = story[move]
        move_made = made[move]
        first_move, move_leg = _legs_of_moves(move_story, market[move], known[move])
        leg = move[first_move]
        leg_story = story[leg]
        leg_known = known[leg]
        ended = np.flatnonzero(np.isfinite(leg_known))

        # All changes: first the moves, then the ends.
        story_of_change = np.concatenate([move_story, leg_story[ended]])
        change_time = np.concatenate([move_made, leg_known[ended]])
        is_end = np.arange(story_of_change.size) >= move.size
        order = np.lexsort((is_end, change_time, story_of_change))
        # The index of each of them in that order.
        place_of_change = np.empty(order.size, dtype=np.int64)
        place_of_change[order] = np.arange(order.size)
        story_of_change = story_of_change[order]
        change_time = change_time[order]

        starts, lengths = runs(story_of_change)
        story_start = np.repeat(starts, lengths)
        ends_before = sums_before(is_end[order].astype(np.int64))
        # A story's capital doesn't change before something of it has ended.
        has_begun = ends_before[1:] > ends_before[story_start]

        last_changes = run_ends(story_of_change, change_time)
        points = last_changes[has_begun[last_changes]]
        point_start = story_start[points]
        point_at = change_time[points]
        by_time = np.argsort(point_at, kind="stable")
        story_legs, _ = runs(leg_story)

        return cls(
            move=move,
            move_leg=move_leg,
            leg=leg,
            story_legs=story_legs,
            batches=_batches_of_moves(move_story, move_made, move_leg),
            made=place_of_change[: move.size],
            ends=place_of_change[move.size :],
            ended=ended,
            points=points,
            story_start=point_start,
            is_first=np.diff(point_start, prepend=-1) != 0,
            by_time=by_time,
            at=point_at[by_time],
            forecasts=None if question is None else runs(story, made, question)[0],
        )

    def capital(self, forecast: Floats, price: Floats, payout: Floats, counted: Flags) -> Evidence:
        """Return the capital of a bet on forecasts against prices, on the rows that are counted."""
        is_counted = self._counted_ends(counted)
        if not is_counted.any():
            return Evidence(np.zeros(0), np.zeros(0))

        stakes = self._stakes(forecast, price, counted)
        worst = _worst_gains(stakes.if_yes, stakes.if_no)
        gain = self._gains(stakes, payout)

        # A story's secured capital falls by a leg's worst case when it moves, and recovers that when it ends.
        changes = self.made.size + self.ends.size
        secured_change = np.empty((STAKES.size, changes))
        secured_change[:, self.made] = stakes.change
        secured_change[:, self.ends] = gain - worst[:, self.ended]
        secured_so_far = sums_before(secured_change)
        after = self.points + 1
        secured = secured_so_far[:, after] - secured_so_far[:, self.story_start]

        is_counted_end = np.zeros(changes, dtype=np.int64)
        is_counted_end[self.ends] = is_counted
        counted_ends = sums_before(is_counted_end)
        has_begun = counted_ends[after] > counted_ends[self.story_start]

        growth = np.log1p(np.maximum(secured, -MOST))
        log_growth = np.where(has_begun, growth, 0.0)
        log_capital = sum_of_stories(log_growth, self.is_first, self.by_time)

        # Of all changes at one time, only the last shows the resulting capital.
        starts, sizes = runs(self.at)
        last_of_time = starts + sizes - 1
        moves = np.add.reduceat(has_begun[self.by_time].astype(np.int64), starts)
        last_moved = last_of_time[moves > 0]
        capital = np.exp(np.minimum(log_capital[:, last_moved], LARGEST))
        return Evidence(self.at[last_moved], capital.mean(axis=0))

    def capital_now(self, forecast: Floats, price: Floats, payout: Floats, counted: Flags) -> float:
        """Return the newest capital.

        Computing only that saves a sixth of the CPU of all duels of a year (`benchmarks/duels.py`).
        """
        is_counted = self._counted_ends(counted)
        if not is_counted.any():
            return 1.0

        stakes = self._stakes(forecast, price, counted)
        secured = _worst_gains(stakes.if_yes, stakes.if_no)
        # What has ended counts by its outcome, what is open at its worst.
        secured[:, self.ended] = self._gains(stakes, payout)
        is_ended_leg = np.zeros(self.leg.size, dtype=np.int64)
        is_ended_leg[self.ended] = is_counted

        has_story_begun = np.add.reduceat(is_ended_leg, self.story_legs) > 0
        secured_of_story = np.add.reduceat(secured, self.story_legs, axis=1)
        growth = np.log1p(np.maximum(secured_of_story[:, has_story_begun], -MOST))
        total = np.minimum(growth.sum(axis=1), LARGEST)
        return float(np.exp(total).mean())

    def _counted_ends(self, counted: Flags) -> Flags:
        """Return which legs that have ended have a row that is counted."""
        is_counted = np.zeros(self.leg.size, dtype=np.bool_)
        if counted.any():
            moved = np.logical_or.reduceat(counted, self.move)
            is_counted[self.move_leg[moved]] = True
        return is_counted[self.ended]

    def _gains(self, stakes: "_Stakes", payout: Floats) -> Floats:
        """Return the gains of the legs that have ended."""
        leg_payout = payout[self.leg[self.ended]]
        if_yes = stakes.if_yes[:, self.ended]
        if_no = stakes.if_no[:, self.ended]
        gain = if_yes * leg_payout + if_no * (1 - leg_payout)
        # A refund gains nothing.
        return np.where(np.isnan(leg_payout), 0.0, gain)

    def _stakes(self, forecast: Floats, price: Floats, counted: Flags) -> "_Stakes":
        """Return the stake on each leg: as much as the story's earlier moves leave of the half."""
        middle = np.where(counted, (forecast + price) / 2, 0.5)
        if self.forecasts is None:
            odds = middle * (1 - middle)
            half_gap = (forecast - price) / 2
            size = np.divide(half_gap, odds, out=np.zeros_like(odds), where=counted & (odds > 0))
        else:
            size = _option_stakes(np.where(counted, forecast - price, 0.0), middle, self.forecasts)

        # What each move gains if its leg ends YES, and if it ends NO.
        yes = np.add.reduceat(size * (1 - middle), self.move) * STAKES[:, None]
        no = np.add.reduceat(-size * middle, self.move) * STAKES[:, None]
        moved = np.logical_or.reduceat(counted, self.move)

        if_yes = np.zeros((STAKES.size, self.leg.size))
        if_no = np.zeros_like(if_yes)
        change = np.zeros_like(yes)
        count = self.batches[0].stories.size
        capital_left = np.full((STAKES.size, count), MOST)
        times_forecast = np.zeros(count)

        for batch in self.batches:
            moves = batch.moves
            legs = batch.legs
            stories = batch.stories
            starts = batch.starts
            # The n-th time that a story is forecast has the weight 1 / √n.
            times_forecast[stories] += np.logical_or.reduceat(moved[moves], starts)
            repeats = np.sqrt(np.maximum(times_forecast[stories], 1))
            repeats = np.repeat(repeats, batch.sizes)

            own_yes = if_yes[:, legs]
            own_no = if_no[:, legs]
            worst_before = _worst_gains(own_yes, own_no)
            added_yes = yes[:, moves] / repeats
            added_no = no[:, moves] / repeats

            # The worst case is concave in the stake: part of a stake costs at most that part of the whole.
            whole_change = _worst_gains(own_yes + added_yes, own_no + added_no) - worst_before
            cost = -np.add.reduceat(whole_change, starts, axis=1)
            own_left = capital_left[:, stories]
            affordable_part = np.divide(own_left, cost, out=np.ones_like(cost), where=cost > own_left)
            affordable_part = np.repeat(affordable_part, batch.sizes, axis=1)

            own_yes = own_yes + affordable_part * added_yes
            own_no = own_no + affordable_part * added_no
            own_change = _worst_gains(own_yes, own_no) - worst_before
            if_yes[:, legs] = own_yes
            if_no[:, legs] = own_no
            change[:, moves] = own_change

            spent = np.add.reduceat(own_change, starts, axis=1)
            capital_left[:, stories] = np.maximum(own_left + spent, 0.0)

        return _Stakes(if_yes, if_no, change)


@dataclass(frozen=True, slots=True)
class _Stakes:
    """The gain of each leg if it ends YES and if it ends NO, and how much each move changes the worst."""

    if_yes: Floats
    if_no: Floats
    change: Floats


def _option_stakes(apart: Floats, middle: Floats, first_rows: Ints) -> Floats:
    """Return the stake on each option at c = 1, for forecasts that begin at these rows.

    A single row is a yes/no question: its other option, on which nothing is staked, has no row.
    """
    squares = np.add.reduceat(apart**2, first_rows)
    mean_gap = np.add.reduceat(middle * apart, first_rows)
    variance = np.add.reduceat(middle * apart**2, first_rows) - mean_gap**2
    stake_per_gap = np.divide(squares / 2, variance, out=np.zeros_like(variance), where=variance > 0)
    sizes: Floats = apart * np.repeat(stake_per_gap, np.diff(first_rows, append=apart.size))
    return sizes


def _worst_gains(if_yes: Floats, if_no: Floats) -> Floats:
    """Return the worst gain of each leg, at most the 0 of a refund."""
    return np.minimum(np.minimum(if_yes, if_no), 0.0)


def _legs_of_moves(story: Ints, market: Ints, known: Floats) -> tuple[Ints, Ints]:
    """Return the first move of each leg, and the leg of each move."""
    by_leg = np.lexsort((known, market, story))
    starts, sizes = runs(story[by_leg], market[by_leg], known[by_leg])
    numbers = np.arange(starts.size)
    leg = np.empty(by_leg.size, dtype=np.int64)
    leg[by_leg] = np.repeat(numbers, sizes)
    return by_leg[starts], leg


def _batches_of_moves(story: Ints, made: Floats, leg: Ints) -> tuple[_Batch, ...]:
    """Return the first moves of all stories, then the second ones, and so on."""
    starts, sizes = runs(story, made)
    firsts, counts = runs(story[starts])
    first_time_of_story = np.repeat(firsts, counts)
    earlier_times = np.arange(starts.size) - first_time_of_story
    story_numbers = np.arange(firsts.size)
    story_of_time = np.repeat(story_numbers, counts)

    batches = []
    for repeats in range(int(counts.max(initial=0))):
        chosen_times = np.flatnonzero(earlier_times == repeats)
        own_sizes = sizes[chosen_times]
        own_starts = np.cumsum(own_sizes) - own_sizes

        # The moves of a time of a story are consecutive.
        offset = starts[chosen_times] - own_starts
        moves = np.arange(own_sizes.sum()) + np.repeat(offset, own_sizes)
        batches.append(_Batch(moves, leg[moves], story_of_time[chosen_times], own_starts, own_sizes))
    return tuple(batches)


def sum_of_stories(value: Floats, is_first: Flags, by_time: Ints) -> Floats:
    """Return the sum over all stories, in order of time, from each story's values at its changes.

    `is_first` tells which values are the first of their story, and `by_time` is their order in time.
    """
    # What each value adds to its story's value before; the first adds all of it.
    change = np.diff(value, prepend=0.0)
    change[..., is_first] = value[..., is_first]
    return np.cumsum(change[..., by_time], axis=-1)
