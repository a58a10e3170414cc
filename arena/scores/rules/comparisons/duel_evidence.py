"""Duels with capital: which entry is closer than which, however often one looks.

- Formula: the capital of `evidence` with the rival's forecast as the price, on rows that both stated since
  both are `entries`. A pair is told from the first look on at which it is 1 over the pair's share of 5%, and
  the mean gain by story, with and without lean, three standard errors above 0.
- Direction: `better` is closer.
- Range: pairs of entries.
- Edge cases: a pair told both ways is not told. Corrections can withdraw a pair, later entries can't.
- Source: as `evidence`. `docs/evidence.md` has shares, proof and power.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from math import inf
from typing import TypeVar

import numpy as np

from arena.scores.rules._columns import Flags, Floats, run_ends, runs, sums_before
from arena.scores.rules.comparisons.copies import PRICE
from arena.scores.rules.comparisons.entries import StatedRows, entry_starts
from arena.scores.rules.comparisons.events import Ints
from arena.scores.rules.comparisons.evidence import EvidenceRows, Timeline, one_a_time, sum_of_stories
from arena.scores.rules.comparisons.power import Pace, weeks_until_told

ERROR = 0.05
"""The chance that any pair is ever decided wrongly."""
FIRST = 0.9
"""The part of an error that the first to begin share; the rest is kept for later ones."""
LEAST_T = 3.0
"""The number of standard errors that the mean gain must be above 0."""
ENOUGH_COVERAGE = 0.8
ENOUGH_STORIES = 20
ENOUGH_WEEKS = 4.0
"""The fewest weeks after which the time to a decision is estimated."""
MOST_ENTRIES = 100
"""The most entries compared with each other, the first to begin: 4,950 pairs."""
SECONDS_OF_A_WEEK = 604_800.0
TINY = 1e-12
"""The rounding error of a sum that is 0."""

Key = TypeVar("Key", bound=Hashable)
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class DuelRows:
    """All forecasts that entries stated, in the columns of `StatedRows` and `EvidenceRows`.

    `agent` is an index into `agents`, in the order of line-ups, and `week` the length of a week in the unit
    of `made` and `known`.
    """

    agents: Sequence[str]
    agent: Ints
    instant: Ints
    market: Ints
    story: Ints
    made: Floats
    known: Floats
    forecast: Floats
    price: Floats
    payout: Floats
    week: float = SECONDS_OF_A_WEEK
    question: Ints | None = None


@dataclass(frozen=True, slots=True)
class PairEvidence:
    """The evidence on two entries, or on an entry and the price, on the rows that both stated.

    `better` is the one that is decided to be closer, at every look since the time `since`, in the unit of the
    rows; while nothing is decided, `since` is None and `better` is the closer one so far. `by` is the mean
    Brier gain, with each of the `stories` that have ended for both counting once. `coverage` is the share of
    common rows among resolved ones that either stated, and `note` says so if it is low.

    `weeks_more` is how many more weeks a decision would take at the pace so far (`power`): infinity if more
    than two years, and None if the pair is decided or it is too early to say.
    """

    better: str
    worse: str
    by: float
    since: float | None
    coverage: float
    note: str | None
    stories: int
    weeks_more: float | None


@dataclass(frozen=True, slots=True)
class PriceBar:
    """When an entry's comparison with the price begins, and the capital that decides it."""

    start: float
    capital: float


def error_shares(starts: Mapping[str, float], owners: Mapping[str, str]) -> dict[Pair, float]:
    """Return the chance with which each pair (better, worse) may ever be decided wrongly.

    Each pair of owners, by default "", has an equal share of `ERROR`, and so has each owner with itself.
    Within an owner all pairs have equal shares; between two owners an entry has a weight as in
    `_weights_between_owners`. Entries that begin later change nobody's share: theirs is taken from the part
    kept for them.
    """
    entries = _entries_by_owner(starts, owners)
    owner_starts = {owner: min(own.values()) for owner, own in entries.items()}
    owner_shares = _pair_shares(owner_starts, [(owner, owner) for owner in entries])

    shares = {}
    for (owner, rival), owner_share in owner_shares.items():
        own_shares = _pair_shares(entries[owner])
        if owner != rival:
            own_shares = _shares_between(
                _weights_between_owners(entries[owner]), _weights_between_owners(entries[rival])
            )

        for (a, b), share in own_shares.items():
            # Half of a pair's share is for deciding that a is better, half for b.
            half = ERROR * owner_share * share / 2
            shares[a, b] = half
            shares[b, a] = half
    return shares


def _shares_between(weights: Mapping[str, float], rival_weights: Mapping[str, float]) -> dict[Pair, float]:
    """Return the shares of 1 of the pairs of two owners' entries by their weights."""
    shares = {}
    for a, weight in weights.items():
        for b, rival_weight in rival_weights.items():
            shares[a, b] = weight * rival_weight
    return shares


def _entries_by_owner(starts: Mapping[str, float], owners: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """Return when the entries of each owner begin, in order of time."""
    entries: dict[str, dict[str, float]] = defaultdict(dict)
    for agent in sorted(starts, key=lambda agent: starts[agent]):
        entries[owners.get(agent, "")][agent] = starts[agent]
    return entries


def _equal_parts(starts: Mapping[Key, float]) -> dict[Key, float]:
    """Return equal parts of 1 for all entries that begin at the same time."""
    parts: dict[Key, float] = {}
    for starting_together, part in _parts_by_start(starts):
        parts |= dict.fromkeys(starting_together, part / len(starting_together))
    return parts


def _parts_by_start(starts: Mapping[Key, float]) -> Iterator[tuple[list[Key], float]]:
    """Yield the entries that begin at the same time, in order of time, with their joint part of 1."""
    starting_at = defaultdict(list)
    for key, start in starts.items():
        starting_at[start].append(key)

    for earlier_starts, start in enumerate(sorted(starting_at)):
        yield starting_at[start], _part_of_start(earlier_starts)


def _pair_shares(starts: Mapping[str, float], further_pairs: Sequence[Pair] = ()) -> dict[Pair, float]:
    """Return equal shares of 1 for all pairs whose later entry begins at the same time."""
    pair_starts = {}
    for pair in chain(further_pairs, combinations(starts, 2)):
        pair_starts[pair] = max(starts[name] for name in pair)
    return _equal_parts(pair_starts)


def _weights_between_owners(starts: Mapping[str, float]) -> dict[str, float]:
    """Return the weights of an owner's entries against another owner's: the first has at least one half."""
    weights: dict[str, float] = {}
    for entries, part in _parts_by_start(starts):
        shared_part = part
        # Of several that begin first, one still has a half of its own.
        if not weights and len(entries) > 1:
            weights[entries.pop(0)] = 0.5
            shared_part -= 0.5
        weights |= dict.fromkeys(entries, shared_part / len(entries))
    return weights


def _part_of_start(number: int) -> float:
    """Return the part of 1 of the first to begin, or of those that begin after `number` others.

    >>> [round(_part_of_start(number), 4) for number in range(4)]
    [0.9, 0.05, 0.0167, 0.0083]
    """
    if number == 0:
        return FIRST
    # These parts add up to what the first leave, however many follow.
    return (1 - FIRST) / (number * (number + 1))


def price_bars(rows: DuelRows, owners: Mapping[str, str] | None = None) -> dict[str, PriceBar]:
    """Return the bar that each entry's comparison with the price has to pass.

    All rows count, also those without a quote. The chance of an error, `ERROR`, is shared equally by owners,
    and an owner's share by its entries; entries that begin later change nobody's share. Half of a share is
    for deciding that the entry is closer, half for the price.
    """
    starts = _entry_start_times(rows)
    entries = _entries_by_owner(starts, owners or {})
    owner_starts = {owner: min(own_starts.values()) for owner, own_starts in entries.items()}
    owner_shares = _equal_parts(owner_starts)

    bars = {}
    for owner, own_starts in entries.items():
        owner_share = ERROR * owner_shares[owner]
        for entry, part in _equal_parts(own_starts).items():
            # Half of a share is for deciding that the entry is closer, half for the price.
            share = owner_share * part / 2
            # A bet without skill reaches 1 / share with a chance of at most that share (Ville).
            bars[entry] = PriceBar(starts[entry], 1 / share)
    return bars


def compare_pairs(
    rows: DuelRows, owners: Mapping[str, str] | None = None, *, foresee: bool = True
) -> list[PairEvidence]:
    """Return all pairs of entries with resolved rows in common, decided ones first, in order of time.

    Only the first `MOST_ENTRIES` are compared, because pairs grow with the square of entries. With `foresee`,
    the others have an estimate of how many more weeks a decision takes.
    """
    starts = _entry_start_times(rows)
    duels = _Duels.of(rows)
    in_order = sorted(starts, key=starts.__getitem__)
    start_of_compared = {entry: starts[entry] for entry in in_order[:MOST_ENTRIES]}
    shares = error_shares(start_of_compared, owners or {})

    pairs: list[PairEvidence] = []
    for entry, rival in combinations(start_of_compared, 2):
        both_started = max(starts[entry], starts[rival])
        bar = 1 / shares[entry, rival]
        pairs += duels.compare(entry, rival, both_started, bar, foresee=foresee)
    return sorted(pairs, key=_decision_order)


def compare_with_price(rows: DuelRows, bars: Mapping[str, PriceBar]) -> list[PairEvidence]:
    """Return each entry that has a bar against the price, from its forecasts with a quote."""
    pairs: list[PairEvidence] = []
    for place, agent in enumerate(rows.agents):
        if agent in bars:
            duels = _Duels.of(_rows_of_agent_and_price(rows, place))
            pairs += duels.compare(agent, PRICE, bars[agent].start, bars[agent].capital)
    return sorted(pairs, key=_decision_order)


def _entry_start_times(rows: DuelRows) -> dict[str, float]:
    """Return the time from which each agent that ever was an entry counts as one."""
    stated = StatedRows(rows.agent, rows.instant, rows.market, rows.forecast, rows.price, rows.question)
    start_instant_of = entry_starts(stated)
    time_of_instant = dict(zip(rows.instant.tolist(), rows.made.tolist(), strict=True))

    starts = {}
    for place, agent in enumerate(rows.agents):
        if place in start_instant_of:
            starts[agent] = time_of_instant[start_instant_of[place]]
    return starts


def _decision_order(pair: PairEvidence) -> tuple[float, str, str]:
    """Return the sort key of pairs: by the time of their decision, undecided ones last."""
    since = inf if pair.since is None else pair.since
    return since, pair.better, pair.worse


def _rows_of_agent_and_price(rows: DuelRows, place: int) -> DuelRows:
    """Return the rows of one agent with a price, followed by those of the price itself."""
    own_rows = np.flatnonzero(rows.agent == place)
    priced_rows = one_a_time(
        EvidenceRows(
            story=rows.story[own_rows],
            market=rows.market[own_rows],
            made=rows.made[own_rows],
            known=rows.known[own_rows],
            forecast=rows.forecast[own_rows],
            price=rows.price[own_rows],
            payout=rows.payout[own_rows],
            question=None if rows.question is None else rows.question[own_rows],
        )
    )
    count = priced_rows.story.size
    rows_twice = np.tile(np.arange(count), 2)
    _, instant = np.unique(priced_rows.made, return_inverse=True)

    return DuelRows(
        agents=[rows.agents[place], PRICE],
        agent=np.repeat([0, 1], count),
        instant=instant[rows_twice],
        market=priced_rows.market[rows_twice],
        story=priced_rows.story[rows_twice],
        made=priced_rows.made[rows_twice],
        known=priced_rows.known[rows_twice],
        forecast=np.concatenate([priced_rows.forecast, priced_rows.price]),
        price=priced_rows.price[rows_twice],
        payout=priced_rows.payout[rows_twice],
        week=rows.week,
        question=None if priced_rows.question is None else priced_rows.question[rows_twice],
    )


@dataclass(frozen=True, slots=True)
class _Duels:
    """The data that all duels share.

    `forecast` has a line for each agent and a column for each market at an instant, in order of story and
    time; NaN where nothing was stated. `ends` are the columns that have ended, in order of story and end.
    `last` are the indices among them at which the last row of a story at one time ends: for each of these,
    `story_start` is the index at which its story begins, `is_first` tells if it is the story's first, and
    `by_time` is their order in time. A look is a time at which something ended: `look` is its last index in
    that order, and `at` the time. `options` tells which of the `ends` belong to one question, if there are
    options.
    """

    places: Mapping[str, int]
    week: float
    forecast: Floats
    made: Floats
    payout: Floats
    timeline: Timeline
    ends: Ints
    last: Ints
    story_start: Ints
    is_first: Flags
    by_time: Ints
    look: Ints
    at: Floats
    options: "_Options | None"

    @classmethod
    def of(cls, rows: DuelRows) -> "_Duels":
        """Return the duels of these rows."""
        # A forecast stated after its outcome was known is no evidence.
        counted_rows = np.flatnonzero(rows.made <= rows.known)
        markets = rows.market.max(initial=0) + 1
        # A cell is a market at an instant: a column of the forecasts.
        cell = rows.instant[counted_rows] * markets + rows.market[counted_rows]
        _, first_row, column = np.unique(cell, return_index=True, return_inverse=True)
        first_row = counted_rows[first_row]
        market = rows.market[first_row]
        story = rows.story[first_row]
        made = rows.made[first_row]
        known = rows.known[first_row]

        order = np.lexsort((known, market, made, story))
        # The column of each cell, in order of story and time.
        rank = np.argsort(order)
        forecast = np.full((len(rows.agents), first_row.size), np.nan)
        forecast[rows.agent[counted_rows], rank[column]] = rows.forecast[counted_rows]

        market = market[order]
        story = story[order]
        made = made[order]
        known = known[order]
        question = None if rows.question is None else rows.question[first_row[order]]
        ends = np.flatnonzero(np.isfinite(known))
        ends = ends[np.lexsort((known[ends], story[ends]))]
        end_story = story[ends]
        end_at = known[ends]

        last = run_ends(end_story, end_at)
        story_starts, lengths = runs(end_story)
        story_start = np.repeat(story_starts, lengths)[last]
        is_first = np.diff(story_start, prepend=-1) != 0

        end_time = end_at[last]
        by_time = np.argsort(end_time, kind="stable")
        end_time = end_time[by_time]
        look = run_ends(end_time)

        return cls(
            places={agent: place for place, agent in enumerate(rows.agents)},
            week=rows.week,
            forecast=forecast,
            made=made,
            payout=rows.payout[first_row[order]],
            timeline=Timeline.of(story, made, market, known, question),
            ends=ends,
            last=last,
            story_start=story_start,
            is_first=is_first,
            by_time=by_time,
            look=look,
            at=end_time[look],
            options=None if question is None else _Options.of(made[ends], question[ends]),
        )

    def compare(
        self, entry: str, other: str, since: float, bar: float, *, foresee: bool = True
    ) -> Iterator[PairEvidence]:
        """Yield the comparison of an entry with another, if something has ended for both.

        Only rows made from `since` on count, and `bar` is the capital that decides.
        """
        own = self.forecast[self.places[entry]]
        rival = self.forecast[self.places[other]]
        is_counted = self.made >= since
        is_common = is_counted & ~np.isnan(own) & ~np.isnan(rival)

        gain = self._mean_gain(own, rival, is_common)
        if gain.stories:
            columns = _PairColumns(own, rival, is_counted, is_common)
            yield self._pair_evidence(entry, other, columns, gain, bar, foresee=foresee)

    def _pair_evidence(
        self, entry: str, other: str, columns: "_PairColumns", gain: "_MeanGain", bar: float, *, foresee: bool
    ) -> PairEvidence:
        """Return the evidence on a pair."""
        reverse = columns.reversed()

        # One's gain is the other's loss.
        since = self._decided_since(columns, gain.least_t, bar)
        other_since = self._decided_since(reverse, -gain.most_t, bar)
        if since is not None and other_since is not None:
            # Of two opposite decisions one is an error, and it is unknown which.
            since = None
            other_since = None

        is_stated = ~(np.isnan(columns.own) & np.isnan(columns.rival))
        is_stated_by_either = columns.counts & is_stated
        coverage = self._count_of_ends(columns.common) / self._count_of_ends(is_stated_by_either)
        note = None
        if coverage < ENOUGH_COVERAGE:
            note = f"on {coverage:.0%} of what either forecast"

        better = entry
        worse = other
        if since is None and (other_since is not None or gain.mean < 0):
            better = other
            worse = entry
            columns = reverse
            gain = gain.reversed()
            since = other_since

        weeks_more = None
        if foresee and since is None:
            weeks_more = self._weeks_more(columns, gain, bar)

        return PairEvidence(
            better=better,
            worse=worse,
            by=gain.mean,
            since=since,
            coverage=coverage,
            note=note,
            stories=gain.stories,
            weeks_more=weeks_more,
        )

    def _count_of_ends(self, wanted: Flags) -> int:
        """Return how many of the wanted columns have ended, with the options of a question counted once."""
        ended = wanted[self.ends]
        if self.options is not None:
            ended = ended & self.options.is_first
        return int(np.count_nonzero(ended))

    def _decided_since(self, columns: "_PairColumns", t: Floats, bar: float) -> float | None:
        """Return the first look at which the capital has reached the bar while the mean gain was clear."""
        clear_looks = np.flatnonzero(t >= LEAST_T)
        if not clear_looks.size:
            return None

        evidence = self.timeline.capital(columns.own, columns.rival, self.payout, columns.common)
        decisive_looks = clear_looks[evidence.capital_at(self.at[clear_looks]) >= bar]
        if not decisive_looks.size:
            return None
        return float(self.at[decisive_looks[0]])

    def _weeks_more(self, columns: "_PairColumns", gain: "_MeanGain", bar: float) -> float | None:
        """Return how many more weeks a decision would take; None if that can't be said."""
        first_made = self.made[columns.common].min()
        weeks = float(self.at[-1] - first_made) / self.week
        if gain.stories < ENOUGH_STORIES or weeks < ENOUGH_WEEKS:
            return None

        capital = self.timeline.capital_now(columns.own, columns.rival, self.payout, columns.common)
        pace = Pace(gain.stories, weeks, gain.t, float(gain.least_t[-1]), capital)
        return weeks_until_told(pace, bar, LEAST_T)

    def _mean_gain(self, own: Floats, rival: Floats, is_common: Flags) -> "_MeanGain":
        """Return the mean gain on a rival, each story counting once, and its t-statistic."""
        if not self.ends.size:
            return _MeanGain(0, 0.0, 0.0, np.zeros(0), np.zeros(0))

        own = own[self.ends]
        rival = rival[self.ends]
        payout = self.payout[self.ends]
        is_refund = np.isnan(payout)
        is_counted = is_common[self.ends] & ~is_refund
        # The gain (r − o)² − (f − o)² is (f − r) · 2(o − m), m the middle of both.
        apart = np.where(is_counted, own - rival, 0.0)
        middle = np.where(is_counted, (own + rival) / 2, 0.0)
        error_factor = np.where(is_counted, 2 * (payout - middle), 0.0)

        # A lean in log-odds moves a forecast m by m(1 − m) times a common factor.
        lean = middle * (1 - middle)
        if self.options is not None:
            lean = self.options.lean(middle) * self.options.weight
            apart *= self.options.weight
            error_factor *= self.options.weight
            is_counted &= self.options.is_first

        # The part of the gap that a common lean explains, by least squares over all rows so far.
        gap_times_lean = self._sum_of_rows(apart * lean)
        lean_squared = self._sum_of_rows(lean**2)
        slope = gap_times_lean / np.maximum(lean_squared, TINY)

        # Each story counts once.
        count = self._story_totals(is_counted.astype(np.float64))
        rows = np.maximum(count, 1)
        gain = self._story_totals(apart * error_factor) / rows
        by_lean = self._story_totals(lean * error_factor) / rows

        stories = self._sum_of_stories(np.minimum(count, 1.0))
        total = self._sum_of_stories(gain)
        squares = self._sum_of_stories(gain**2)
        products = self._sum_of_stories(gain * by_lean)
        lean_squares = self._sum_of_stories(by_lean**2)
        gain_without_lean = total - slope * self._sum_of_stories(by_lean)
        squares_without_lean = squares - 2 * slope * products + slope**2 * lean_squares

        t = _t_statistic(stories, total, squares)
        t_without_lean = _t_statistic(stories, gain_without_lean, squares_without_lean)
        mean = total / np.maximum(stories, 1)
        return _MeanGain(
            stories=int(stories[-1]),
            mean=float(mean[-1]),
            t=float(t[-1]),
            least_t=np.minimum(t, t_without_lean),
            most_t=np.maximum(t, t_without_lean),
        )

    def _sum_of_rows(self, value: Floats) -> Floats:
        """Return the sum of all rows that have ended at each look."""
        return self._sum_of_stories(self._story_totals(value))

    def _story_totals(self, value: Floats) -> Floats:
        """Return the sum of a story's rows that have ended, at each of its ends."""
        sums = sums_before(value)
        return sums[self.last + 1] - sums[self.story_start]

    def _sum_of_stories(self, value: Floats) -> Floats:
        """Return the sum over all stories at each look, from values of one story at each of its ends."""
        sums = sum_of_stories(value, self.is_first, self.by_time)
        return sums[self.look]


@dataclass(frozen=True, slots=True)
class _Options:
    """Columns that are options of one question at one time, which are consecutive.

    `first` is the index of the first of them; a yes/no question is its own first. Products of two values that
    have their `weight` are halved for options, so that two options together count like one yes/no question.
    """

    first: Ints
    is_first: Flags
    weight: Floats

    @classmethod
    def of(cls, made: Floats, question: Ints) -> "_Options":
        """Return the options among columns in order of time and question."""
        starts, sizes = runs(made, question)
        first = np.repeat(starts, sizes)
        is_option = np.repeat(sizes > 1, sizes)
        return cls(first, first == np.arange(made.size), np.where(is_option, np.sqrt(0.5), 1.0))

    def lean(self, middle: Floats) -> Floats:
        """Return how far a lean towards the first option, in log-odds, moves each of the forecasts."""
        return middle[self.first] * (self.is_first - middle)


@dataclass(frozen=True, slots=True)
class _PairColumns:
    """The forecasts of two, the rows that count for either, and those that both have."""

    own: Floats
    rival: Floats
    counts: Flags
    common: Flags

    def reversed(self) -> "_PairColumns":
        """Return the same columns from the other side."""
        return _PairColumns(self.rival, self.own, self.counts, self.common)


@dataclass(frozen=True, slots=True)
class _MeanGain:
    """The mean gain of a pair by story, now, and its t-statistic.

    `least_t` and `most_t` are, at each look, the lower and the higher of the t-statistics with and without
    the lean.
    """

    stories: int
    mean: float
    t: float
    least_t: Floats
    most_t: Floats

    def reversed(self) -> "_MeanGain":
        """Return the same for the other one."""
        return _MeanGain(self.stories, -self.mean, -self.t, -self.most_t, -self.least_t)


def _t_statistic(count: Floats, total: Floats, squares: Floats) -> Floats:
    """Return the t-statistic of the mean of this many values; 0 below two of them."""
    at_least_one = np.maximum(count, 1)
    mean = total / at_least_one
    squared_deviations = np.maximum(squares - total * mean, 0)
    variance = squared_deviations / np.maximum(count - 1, 1)
    error = np.sqrt(variance / at_least_one)
    return np.where(count > 1, mean / np.maximum(error, TINY), 0.0)
