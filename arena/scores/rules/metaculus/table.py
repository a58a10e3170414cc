"""Many yes/no questions at once: a table of forecasts in, a row for each question and forecaster out.

At one instant, where everything said stands side by side, peer is 100 · (ln p − mean of ln p of all others on
the question) and relative log2 p − log2 of their median. Who was never compared has NaN.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from arena.scores.rules._columns import Flags, Floats
from arena.scores.rules.metaculus import baseline, limits, peer, relative
from arena.scores.rules.metaculus.community import median, recency_weighted
from arena.scores.rules.metaculus.forecasts import COLUMNS, Forecasts, MetaculusQuestion, Mode, totals
from arena.scores.rules.metaculus.question_types import binary

Places = NDArray[np.intp]
SCORES = ("baseline", "peer", "relative", "coverage", "spot_baseline", "spot_peer")
COMMUNITY = "community"
"""Whom the community's forecast is scored as, where that is wanted; −1 in a table."""


@dataclass(frozen=True, slots=True)
class TableTimes:
    """When each row's forecast was made, and when its question opened, closed and was to close.

    `ends` says until when a forecast stood, where that is not until the next, and `spot` when its question's
    spot scores are taken; NaN, or None for all, where neither is known.
    """

    time: Floats
    opens: Floats
    closes: Floats
    scheduled: Floats
    ends: Floats | None = None
    spot: Floats | None = None


@dataclass(frozen=True, slots=True)
class ResolvedRows:
    """Forecasts on questions that ended YES or NO, sorted by question, forecaster and time.

    Nobody is compared with those outside the `base`. Without times everyone has one forecast on a question.
    """

    question: Places
    forecaster: Places
    probability: Floats
    outcome: Floats
    base: Flags
    times: TableTimes | None


@dataclass(frozen=True, slots=True)
class CellScores:
    """A row for each question and forecaster of it, and a line of values for each of `SCORES`."""

    question: Places
    forecaster: Places
    values: Floats


def cell_scores(rows: ResolvedRows, mode: Mode, *, community: bool = False) -> CellScores:
    """The scores of each forecaster on each question. The community is scored as one more of them."""
    if rows.times is None and mode == "exact" and not community:
        return CellScores(rows.question, rows.forecaster, _at_once(rows))
    return _one_by_one(rows, mode, community)


def _at_once(rows: ResolvedRows) -> Floats:
    """The scores of every row."""
    chance = limits.clip(np.where(rows.outcome == 1, rows.probability, 1 - rows.probability))
    against = (
        peers(rows.question, chance, rows.base),
        relatives(rows.question, chance, rows.base),
    )
    none = np.full(chance.size, np.nan)
    return np.stack([baseline.points(chance), *against, np.ones(chance.size), none, none])


def _one_by_one(rows: ResolvedRows, mode: Mode, community: bool) -> CellScores:
    """Question by question, each with its forecasters."""
    zero, one = np.zeros(rows.question.size), np.ones(rows.question.size)
    times = TableTimes(zero, zero, one, one) if rows.times is None else rows.times
    ends = np.full(zero.size, np.nan) if times.ends is None else times.ends
    questions, names, values = [rows.question[:0]], [rows.forecaster[:0]], [np.zeros((len(SCORES), 0))]
    edges = np.append(np.flatnonzero(np.diff(rows.question, prepend=-1)), zero.size)
    for first, last in pairwise(edges.tolist()):
        own = slice(first, last)
        who, place = np.unique(rows.forecaster[own], return_inverse=True)
        following = np.append(np.where(np.diff(place) == 0, times.time[own][1:], np.inf), np.inf)
        forecasts = binary(
            np.char.mod("%09d", place),  # padded, so that the order of texts is that of numbers
            times.time[own],
            rows.probability[own],
            rows.outcome[first] == 1,
            np.fmin(ends[own], following),
            rows.base[own],
        )
        scored = question_scores(_question(times, first), forecasts, mode, community=community)
        names.append(np.append(who, -1)[: scored.shape[1]])
        questions.append(np.full(scored.shape[1], rows.question[first]))
        values.append(scored)
    return CellScores(np.concatenate(questions), np.concatenate(names), np.concatenate(values, axis=1))


def _question(times: TableTimes, row: int) -> MetaculusQuestion:
    opens, closes, scheduled = (float(x[row]) for x in (times.opens, times.closes, times.scheduled))
    spot = None if times.spot is None or np.isnan(times.spot[row]) else float(times.spot[row])
    return MetaculusQuestion(opens, closes, scheduled, spot)


def question_scores(
    question: MetaculusQuestion, forecasts: Forecasts, mode: Mode, *, community: bool = False
) -> Floats:
    """A line for each of `SCORES`, a column a forecaster in the order of names, the community's last."""
    label = "~" + COMMUNITY  # after every name that is made of figures
    if community:
        forecasts = with_community(forecasts, label)
    rules = [baseline.score, peer.score, relative.score]
    if question.spot is not None:
        rules += [baseline.spot, peer.spot]
    found = [totals(forecasts, rule(question, forecasts, mode)) for rule in rules]
    none = [np.full(len(found[0].forecaster), np.nan)] * (5 - len(found))
    spots = [np.where(x.coverage > 0, x.score, np.nan) for x in found[3:]]
    values = np.stack([*(x.score for x in found[:3]), found[0].coverage, *spots, *none])
    names = np.array(found[0].forecaster)
    last = names == label
    ordered: Floats = np.concatenate([values[:, ~last], values[:, last]], axis=1)
    return ordered


def mean_log(forecasts: Forecasts, name: str) -> float:
    """The mean of ln P over one forecaster's forecasts, each counted once."""
    return float(np.log(forecasts.chance[forecasts.forecaster == name]).mean())


def with_community(forecasts: Forecasts, label: str) -> Forecasts:
    """The forecasts, and those of the community: outside the base, from each change until the next.

    Where all were made at once none is newer than another, and the median is the plain one.
    """
    start = forecasts.start[forecasts.base]
    is_at_once = not start.size or bool((start == start[0]).all())
    steps = (median if is_at_once else recency_weighted)(forecasts)
    until = np.append(steps.time[1:], np.inf)
    stands = steps.weight > 0
    count = int(stands.sum())
    chance = np.exp(steps.level[stands])
    first = {name: np.full(count, getattr(forecasts, name)[0]) for name in ("ignorance", "own_points")}
    own = {
        "forecaster": np.full(count, label),
        "start": steps.time[stands],
        "end": until[stands],
        "chance": chance,
        "base": np.zeros(count, dtype=np.bool_),
        "other": chance,
        "listed": np.ones(count, dtype=np.bool_),
        **first,
    }
    joined = {name: np.concatenate([getattr(forecasts, name), own[name]]) for name in COLUMNS}
    options = forecasts.options
    if options is not None:  # nobody pools the community itself
        options = np.vstack([options, np.full((count, options.shape[1]), np.nan)])
    return Forecasts(
        **joined,
        points=forecasts.points,
        options=options,
        happened=forecasts.happened,
        mean=forecasts.mean,
    )


def peers(question: Places, chance: Floats, base: Flags) -> Floats:
    """The peer score of each row; questions are numbered from 0."""
    order = np.lexsort((chance, question))
    logs, counted = np.log(chance), base.astype(np.float64)
    total = np.bincount(question[order], (logs * counted)[order])[question]
    others = np.bincount(question, counted)[question] - counted
    return 100 * (logs - (total - logs * counted) / np.where(others > 0, others, np.nan))


def relatives(question: Places, chance: Floats, base: Flags) -> Floats:
    """The relative score of each row."""
    order = np.lexsort((chance, question))
    order = order[base[order]]
    if not order.size:
        return np.full(chance.size, np.nan)
    rising, asked = chance[order], question[order]
    first, last = (np.searchsorted(asked, question, side) for side in ("left", "right"))
    others = last - first - base
    own = np.full(chance.size, chance.size)
    own[order] = np.arange(order.size) - first[order]

    def at(rank: Places) -> Floats:
        """The value of that rank among the others: whoever is above oneself moves down by one."""
        values: Floats = rising[np.clip(first + rank + (rank >= own), 0, order.size - 1)]
        return values

    median = (at((others - 1) // 2) + at(others // 2)) / 2
    return np.where(others > 0, np.log2(chance / median), np.nan)
