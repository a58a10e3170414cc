"""Many yes/no questions at once: a table of forecasts in, a row for each question and forecaster out.

At one instant, where everything said stands side by side, peer is 100 · (ln p − mean of ln p of all others on
the question) and relative log2 p − log2 of their median. Who was never compared has NaN.
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

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
"""The forecaster's name for the community, if it is scored; −1 in a table."""


@dataclass(frozen=True, slots=True)
class TableTimes:
    """When each row's forecast was made, and when its question opened, closed and was to close.

    `ends` is until when a forecast stood, if that is not until the next, and `spot` when its question's spot
    scores are taken; NaN, or None for all, if unknown.
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

    Nobody is compared with forecasters outside the `base`. Without times everyone has one forecast on a
    question.
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
    """Return the scores of each forecaster on each question, with the community as one more of them."""
    if rows.times is None and mode == "exact" and not community:
        return CellScores(rows.question, rows.forecaster, _at_once(rows))
    return _one_by_one(rows, mode, community)


def _at_once(rows: ResolvedRows) -> Floats:
    """Return the scores of every row, if all forecasts of a question stand side by side."""
    is_yes = rows.outcome == 1
    chance = np.where(is_yes, rows.probability, 1 - rows.probability)
    chance = limits.clip(chance)
    scores = [
        baseline.points(chance),
        peers(rows.question, chance, rows.base),
        relatives(rows.question, chance, rows.base),
    ]
    coverage = np.ones(chance.size)
    no_spots = np.full(chance.size, np.nan)
    return np.stack([*scores, coverage, no_spots, no_spots])


def _one_by_one(rows: ResolvedRows, mode: Mode, community: bool) -> CellScores:
    """Return the scores question by question, each with its forecasters."""
    size = rows.question.size
    times = rows.times
    if times is None:
        # Every forecast stands for a whole lifetime of 1.
        zero = np.zeros(size)
        ones = np.ones(size)
        times = TableTimes(zero, zero, ones, ones)
    ends = times.ends
    if ends is None:
        ends = np.full(size, np.nan)

    questions = [rows.question[:0]]
    names = [rows.forecaster[:0]]
    values = [np.zeros((len(SCORES), 0))]
    starts = np.flatnonzero(np.diff(rows.question, prepend=-1))
    edges = np.append(starts, size)

    for first, last in pairwise(edges.tolist()):
        own = slice(first, last)
        made = times.time[own]
        own_names, place = np.unique(rows.forecaster[own], return_inverse=True)
        is_followed = np.diff(place) == 0
        following = np.where(is_followed, made[1:], np.inf)
        following = np.append(following, np.inf)

        forecasts = binary(
            np.char.mod("%09d", place),  # padded, so that texts sort like numbers
            made,
            rows.probability[own],
            rows.outcome[first] == 1,
            np.fmin(ends[own], following),
            rows.base[own],
        )
        scores = question_scores(_question(times, first), forecasts, mode, community=community)
        columns = scores.shape[1]
        names.append(np.append(own_names, -1)[:columns])
        questions.append(np.full(columns, rows.question[first]))
        values.append(scores)

    return CellScores(np.concatenate(questions), np.concatenate(names), np.concatenate(values, axis=1))


def _question(times: TableTimes, row: int) -> MetaculusQuestion:
    """Return a row's question."""
    spot = None
    if times.spot is not None and not np.isnan(times.spot[row]):
        spot = float(times.spot[row])

    return MetaculusQuestion(
        opens=float(times.opens[row]),
        closes=float(times.closes[row]),
        scheduled=float(times.scheduled[row]),
        spot=spot,
    )


def question_scores(
    question: MetaculusQuestion, forecasts: Forecasts, mode: Mode, *, community: bool = False
) -> Floats:
    """Return a line for each of `SCORES`, with a column for each forecaster by name, the community last."""
    label = "~" + COMMUNITY  # sorts after every numeric name
    if community:
        forecasts = with_community(forecasts, label)

    by_baseline = totals(forecasts, baseline.score(question, forecasts, mode))
    by_peer = totals(forecasts, peer.score(question, forecasts, mode))
    by_relative = totals(forecasts, relative.score(question, forecasts, mode))
    lines = [by_baseline.score, by_peer.score, by_relative.score, by_baseline.coverage]
    names = np.array(by_baseline.forecaster)

    for rule in (baseline.spot, peer.spot):
        line = np.full(names.size, np.nan)
        if question.spot is not None:
            at_spot = totals(forecasts, rule(question, forecasts, mode))
            line = np.where(at_spot.coverage > 0, at_spot.score, np.nan)
        lines.append(line)

    values = np.stack(lines)
    is_community = names == label
    ordered: Floats = np.concatenate([values[:, ~is_community], values[:, is_community]], axis=1)
    return ordered


def mean_log(forecasts: Forecasts, name: str) -> float:
    """Return the mean of ln P over one forecaster's forecasts, each counted once."""
    is_own = forecasts.forecaster == name
    own = forecasts.chance[is_own]
    return float(np.log(own).mean())


def with_community(forecasts: Forecasts, label: str) -> Forecasts:
    """Return forecasts with the community's added: outside the base, from each change until the next.

    If all were made at once none is newer than another, and the median is the plain one.
    """
    start = forecasts.start[forecasts.base]
    is_at_once = bool((start == start[:1]).all())
    steps = median(forecasts) if is_at_once else recency_weighted(forecasts)
    until = np.append(steps.time[1:], np.inf)
    stands = steps.weight > 0
    count = int(stands.sum())
    chance = np.exp(steps.level[stands])

    community = Forecasts(
        forecaster=np.full(count, label),
        start=steps.time[stands],
        end=until[stands],
        chance=chance,
        base=np.zeros(count, dtype=np.bool_),
        other=chance,
        listed=np.ones(count, dtype=np.bool_),
        ignorance=np.full(count, forecasts.ignorance[0]),
        own_points=np.full(count, forecasts.own_points[0]),
    )
    columns: dict[str, Any] = {}
    for name in COLUMNS:
        columns[name] = np.concatenate([getattr(forecasts, name), getattr(community, name)])

    options = forecasts.options
    if options is not None:  # the community itself is not pooled
        none = np.full((count, options.shape[1]), np.nan)
        options = np.vstack([options, none])
    return replace(forecasts, **columns, options=options)


def peers(question: Places, chance: Floats, base: Flags) -> Floats:
    """Return the peer score of each row; questions are numbered from 0."""
    logs = np.log(chance)
    counted = base.astype(np.float64)
    own = logs * counted

    # Rows are sorted by chance, so that their former order changes no digit.
    order = np.lexsort((chance, question))
    total = np.bincount(question[order], own[order])
    count = np.bincount(question, counted)
    others = count[question] - counted
    others = np.where(others > 0, others, np.nan)
    mean = (total[question] - own) / others
    return 100 * (logs - mean)


def relatives(question: Places, chance: Floats, base: Flags) -> Floats:
    """Return the relative score of each row."""
    order = np.lexsort((chance, question))
    order = order[base[order]]
    if not order.size:
        return np.full(chance.size, np.nan)

    rising = chance[order]
    asked = question[order]
    size = rising.size
    first = np.searchsorted(asked, question, "left")
    last = np.searchsorted(asked, question, "right")
    others = last - first - base
    own = np.full(chance.size, chance.size)
    own[order] = np.arange(size) - first[order]

    def at(rank: Places) -> Floats:
        # Among the others, those above one's own rank move down by one.
        place = first + rank + (rank >= own)
        values: Floats = rising[np.clip(place, 0, size - 1)]
        return values

    lower = at((others - 1) // 2)
    upper = at(others // 2)
    median = (lower + upper) / 2
    return np.where(others > 0, np.log2(chance / median), np.nan)
