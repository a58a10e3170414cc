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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from arena.scores.rules._columns import Flags, Floats, runs
from arena.scores.rules.comparisons.entries import StatedRows, entry_starts
from arena.scores.rules.comparisons.events import Ints
from arena.scores.rules.comparisons.evidence import Timeline, sums_before

ERROR = 0.05
"""The chance that any pair is ever told wrongly."""
FIRST = 0.9
"""The part of an error that goes to those who begin together first; the rest is kept for later ones."""
LEAST_T = 3.0
"""How many standard errors the mean gain must lie above 0."""
ENOUGH_COVERAGE = 0.8
TINY = 1e-12
"""What floats leave of a sum that is 0."""

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class DuelRows:
    """All forecasts that entries stated, in the columns of `StatedRows` and `EvidenceRows`.

    `agent` is a place in `agents`, in the order of line-ups.
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


@dataclass(frozen=True, slots=True)
class ToldPair:
    """An entry that is closer than another, told at every look since a time.

    `by` is the mean Brier gain on common rows, each story counting once, and `since` the time of the look, in
    seconds since 1970 or as a text. `coverage` is the share of common rows among resolved ones that either
    stated, and `note` says so where it is low.
    """

    better: str
    worse: str
    by: float
    since: float | str
    coverage: float
    note: str | None = None


def error_shares(starts: Mapping[str, float], owners: Mapping[str, str]) -> dict[Pair, float]:
    """Return the chance with which each pair (better, worse) may ever be told wrongly.

    Each pair of owners, which default to "", has an equal share of `ERROR`, and so has each owner with
    itself. Within an owner all pairs share alike; between two owners an entry weighs as in `_weights`. Those
    who begin later change nobody's share: they have theirs of what is kept for them.
    """
    entries: dict[str, dict[str, float]] = defaultdict(dict)
    for agent in sorted(starts, key=lambda agent: starts[agent]):
        entries[owners.get(agent, "")][agent] = starts[agent]

    owner_starts = {owner: min(own.values()) for owner, own in entries.items()}
    owner_shares = _pair_shares(owner_starts, [(owner, owner) for owner in entries])

    shares: dict[Pair, float] = {}
    for (owner, rival), owner_share in owner_shares.items():
        if owner == rival:
            own_shares = _pair_shares(entries[owner])
        else:
            weights = _weights(entries[owner])
            rival_weights = _weights(entries[rival])
            own_shares = {(a, b): weights[a] * rival_weights[b] for a in weights for b in rival_weights}

        for (a, b), share in own_shares.items():
            shares[a, b] = ERROR * owner_share * share / 2
            shares[b, a] = shares[a, b]
    return shares


def _pair_shares(starts: Mapping[str, float], more: Sequence[Pair] = ()) -> dict[Pair, float]:
    """Return equal shares of 1 for all pairs that begin at one time, when the later of the two does."""
    begun: dict[float, list[Pair]] = defaultdict(list)
    for a, b in [*more, *combinations(starts, 2)]:
        begun[max(starts[a], starts[b])].append((a, b))

    shares: dict[Pair, float] = {}
    for number, start in enumerate(sorted(begun)):
        pairs = begun[start]
        shares |= dict.fromkeys(pairs, _part(number) / len(pairs))
    return shares


def _weights(starts: Mapping[str, float]) -> dict[str, float]:
    """Return the weights of an owner's entries against another owner's: the first has at least one half."""
    begun: dict[float, list[str]] = defaultdict(list)
    for entry, start in starts.items():
        begun[start].append(entry)

    weights: dict[str, float] = {}
    for number, start in enumerate(sorted(begun)):
        part = _part(number)
        entries = begun[start]
        if number == 0 and len(entries) > 1:
            weights[entries.pop(0)] = 0.5
            part -= 0.5
        weights |= dict.fromkeys(entries, part / len(entries))
    return weights


def _part(number: int) -> float:
    """Return the part of 1 for those who begin as the first, or as so many after them.

    >>> [round(_part(number), 4) for number in range(4)]
    [0.9, 0.05, 0.0167, 0.0083]
    """
    return FIRST if number == 0 else (1 - FIRST) / (number * (number + 1))


def told_pairs(rows: DuelRows, owners: Mapping[str, str] | None = None) -> list[ToldPair]:
    """Return all pairs of which it is told who is closer, in the order in which they were."""
    duels = _Duels.of(rows)
    shares = error_shares(duels.starts, owners or {})

    told: dict[Pair, ToldPair] = {}
    for pair, share in shares.items():
        told_pair = duels.told(*pair, bar=1 / share)
        if told_pair is not None:
            told[pair] = told_pair

    # one of two opposite ways is an error, and nothing says which
    clear = [pair for (better, worse), pair in told.items() if (worse, better) not in told]
    return sorted(clear, key=lambda pair: (float(pair.since), pair.better, pair.worse))


@dataclass(frozen=True, slots=True)
class _Duels:
    """What all duels share.

    `forecast` has a line for each agent and a column for each market at an instant, in order of story and
    time; NaN where nothing was stated. `ends` are the columns that have ended, in order of story and end.
    `last` are the places among them at which the last row of a story at one time ends: for each of these
    `story_start` is the place at which its story begins, `is_first` names the first of each story, and
    `by_time` is their order in time. A look is a time at which something ended: `look` is its last place in
    that order, and `at` the time.
    """

    places: Mapping[str, int]
    starts: Mapping[str, float]
    forecast: Floats
    made: Floats
    payout: Floats
    timeline: Timeline
    ends: Ints
    last: Ints
    story_start: Ints
    is_first: Ints
    by_time: Ints
    look: Ints
    at: Floats

    @classmethod
    def of(cls, rows: DuelRows) -> "_Duels":
        """Return the duels of these rows."""
        begun = entry_starts(StatedRows(rows.agent, rows.instant, rows.market, rows.forecast, rows.price))
        seconds = dict(zip(rows.instant.tolist(), rows.made.tolist(), strict=True))

        # what was stated after its outcome was known says nothing
        some = np.flatnonzero(rows.made <= rows.known)
        cell = rows.instant[some] * (rows.market.max(initial=0) + 1) + rows.market[some]
        _, first, column = np.unique(cell, return_index=True, return_inverse=True)
        first = some[first]
        order = np.lexsort((rows.market[first], rows.made[first], rows.story[first]))
        first = first[order]
        forecast = np.full((len(rows.agents), first.size), np.nan)
        forecast[rows.agent[some], np.argsort(order)[column]] = rows.forecast[some]

        story = rows.story[first]
        known = rows.known[first]
        ended = np.flatnonzero(np.isfinite(known))
        ends = ended[np.lexsort((known[ended], story[ended]))]
        instants, sizes = runs(story[ends], known[ends])
        last = instants + sizes - 1
        story_starts, lengths = runs(story[ends])
        story_start = np.repeat(story_starts, lengths)[last]
        by_time = np.argsort(known[ends][last], kind="stable")
        times, counts = runs(known[ends][last][by_time])

        return cls(
            places={agent: place for place, agent in enumerate(rows.agents)},
            starts={
                agent: seconds[begun[place]] for place, agent in enumerate(rows.agents) if place in begun
            },
            forecast=forecast,
            made=rows.made[first],
            payout=rows.payout[first],
            timeline=Timeline.of(story, rows.made[first], known),
            ends=ends,
            last=last,
            story_start=story_start,
            is_first=np.flatnonzero(np.diff(story_start, prepend=-1)),
            by_time=by_time,
            look=times + counts - 1,
            at=known[ends][last][by_time][times],
        )

    def told(self, better: str, worse: str, bar: float) -> ToldPair | None:
        """Return the pair if its capital has reached the bar while its mean gain was clear."""
        own = self.forecast[self.places[better]]
        other = self.forecast[self.places[worse]]
        counts = self.made >= max(self.starts[better], self.starts[worse])
        common = counts & ~np.isnan(own) & ~np.isnan(other)

        mean, t = self._mean_gain(own, other, common)
        clear = np.flatnonzero(t >= LEAST_T)
        if not clear.size:
            return None

        capital = self.timeline.capital(own, other, self.payout, common)
        reached = clear[capital.until(self.at[clear]) >= bar]
        if not reached.size:
            return None

        either = counts & ~(np.isnan(own) & np.isnan(other))
        coverage = float(np.count_nonzero(common[self.ends]) / np.count_nonzero(either[self.ends]))
        note = None if coverage >= ENOUGH_COVERAGE else f"on {coverage:.0%} of what either forecast"
        return ToldPair(better, worse, float(mean[-1]), float(self.at[reached[0]]), coverage, note)

    def _mean_gain(self, own: Floats, other: Floats, common: Flags) -> tuple[Floats, Floats]:
        """Return the mean gain at each look, each story counting once, and its t-statistic.

        If the gain without the entries' lean is less clear, it is the t-statistic of that.
        """
        counted = common[self.ends] & ~np.isnan(self.payout[self.ends])
        apart = np.where(counted, (own - other)[self.ends], 0.0)
        middle = np.where(counted, (own + other)[self.ends] / 2, 0.0)
        missed = np.where(counted, 2 * (self.payout[self.ends] - middle), 0.0)

        # m(1 − m) is how far a lean in log-odds moves a forecast m, and a factor in common its chance
        lean = middle * (1 - middle)
        leaned = self._sum_of_stories(self._story_totals(apart * lean))
        slope = leaned / np.maximum(self._sum_of_stories(self._story_totals(lean**2)), TINY)

        count = self._story_totals(counted.astype(np.float64))
        gain = self._story_totals(apart * missed) / np.maximum(count, 1)
        by_lean = self._story_totals(lean * missed) / np.maximum(count, 1)

        stories = self._sum_of_stories(np.minimum(count, 1.0))
        total = self._sum_of_stories(gain)
        squares = self._sum_of_stories(gain**2)
        rest = total - slope * self._sum_of_stories(by_lean)
        rest_squares = (
            squares
            - 2 * slope * self._sum_of_stories(gain * by_lean)
            + slope**2 * self._sum_of_stories(by_lean**2)
        )
        t = np.minimum(_t_statistic(stories, total, squares), _t_statistic(stories, rest, rest_squares))
        return total / np.maximum(stories, 1), t

    def _story_totals(self, value: Floats) -> Floats:
        """Return the sum of a story's rows that have ended, at each of its ends."""
        sums = sums_before(value)
        return sums[self.last + 1] - sums[self.story_start]

    def _sum_of_stories(self, value: Floats) -> Floats:
        """Return the sum over all stories at each look, from values of one story at each of its ends."""
        step = np.diff(value, prepend=0.0)
        step[self.is_first] = value[self.is_first]
        return np.cumsum(step[self.by_time])[self.look]


def _t_statistic(count: Floats, total: Floats, squares: Floats) -> Floats:
    """Return the t-statistic of the mean of so many values, 0 below two of them."""
    mean = total / np.maximum(count, 1)
    variance = np.maximum(squares - total * mean, 0) / np.maximum(count - 1, 1)
    error = np.sqrt(variance / np.maximum(count, 1))
    return np.where(count > 1, mean / np.maximum(error, TINY), 0.0)
