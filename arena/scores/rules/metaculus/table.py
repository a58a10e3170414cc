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
from arena.scores.rules.metaculus.forecasts import (
    COLUMNS,
    Forecasts,
    MetaculusQuestion,
    Mode,
    total_by_forecaster,
)
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
        return CellScores(rows.question, rows.forecaster, _side_by_side_scores(rows))
    return _scores_by_question(rows, mode, community)


def _side_by_side_scores(rows: ResolvedRows) -> Floats:
    """Return the scores of every row, if all forecasts of a question stand side by side."""
    is_yes = rows.outcome == 1
    chance = np.where(is_yes, rows.probability, 1 - rows.probability)
    chance = limits.clip(chance)
    scores = [
        baseline.points(chance),
        peer_scores(rows.question, chance, rows.base),
        relative_scores(rows.question, chance, rows.base),
    ]
    coverage = np.ones(chance.size)
    no_spots = np.full(chance.size, np.nan)
    return np.stack([*scores, coverage, no_spots, no_spots])


def _scores_by_question(rows: ResolvedRows, mode: Mode, community: bool) -> CellScores:
    """Return the scores question by question, each with its forecasters."""
    size = rows.question.size
    table_times = rows.times
    if table_times is None:
        # Every forecast stands for a whole lifetime of 1.
        zero = np.zeros(size)
        ones = np.ones(size)
        table_times = TableTimes(zero, zero, ones, ones)
    ends = table_times.ends
    if ends is None:
        ends = np.full(size, np.nan)

    questions = [rows.question[:0]]
    names = [rows.forecaster[:0]]
    values = [np.zeros((len(SCORES), 0))]
    starts = np.flatnonzero(np.diff(rows.question, prepend=-1))
    edges = np.append(starts, size)

    for first_row, end_row in pairwise(edges.tolist()):
        own_rows = slice(first_row, end_row)
        made = table_times.time[own_rows]
        own_names, name_number = np.unique(rows.forecaster[own_rows], return_inverse=True)
        is_followed = np.diff(name_number) == 0
        next_made = np.where(is_followed, made[1:], np.inf)
        next_made = np.append(next_made, np.inf)

        forecasts = binary(
            np.char.mod("%09d", name_number),  # padded, so that texts sort like numbers
            made,
            rows.probability[own_rows],
            rows.outcome[first_row] == 1,
            np.fmin(ends[own_rows], next_made),
            rows.base[own_rows],
        )
        scores = question_scores(_question(table_times, first_row), forecasts, mode, community=community)
        column_count = scores.shape[1]
        names.append(np.append(own_names, -1)[:column_count])
        questions.append(np.full(column_count, rows.question[first_row]))
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

    by_baseline = total_by_forecaster(forecasts, baseline.score(question, forecasts, mode))
    by_peer = total_by_forecaster(forecasts, peer.score(question, forecasts, mode))
    by_relative = total_by_forecaster(forecasts, relative.score(question, forecasts, mode))
    score_lines = [by_baseline.score, by_peer.score, by_relative.score, by_baseline.coverage]
    names = np.array(by_baseline.forecaster)

    for rule in (baseline.spot, peer.spot):
        line = np.full(names.size, np.nan)
        if question.spot is not None:
            at_spot = total_by_forecaster(forecasts, rule(question, forecasts, mode))
            line = np.where(at_spot.coverage > 0, at_spot.score, np.nan)
        score_lines.append(line)

    values = np.stack(score_lines)
    is_community = names == label
    community_last: Floats = np.concatenate([values[:, ~is_community], values[:, is_community]], axis=1)
    return community_last


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
        no_options = np.full((count, options.shape[1]), np.nan)
        options = np.vstack([options, no_options])
    return replace(forecasts, **columns, options=options)


def peer_scores(question: Places, chance: Floats, base: Flags) -> Floats:
    """Return the peer score of each row; questions are numbered from 0."""
    logs = np.log(chance)
    base_weight = base.astype(np.float64)
    base_logs = logs * base_weight

    # Rows are sorted by chance, so that their former order changes no digit.
    order = np.lexsort((chance, question))
    total = np.bincount(question[order], base_logs[order])
    count = np.bincount(question, base_weight)
    others = count[question] - base_weight
    others = np.where(others > 0, others, np.nan)
    mean = (total[question] - base_logs) / others
    return 100 * (logs - mean)


def relative_scores(question: Places, chance: Floats, base: Flags) -> Floats:
    """Return the relative score of each row."""
    base_rows = np.lexsort((chance, question))
    base_rows = base_rows[base[base_rows]]
    if not base_rows.size:
        return np.full(chance.size, np.nan)

    sorted_chance = chance[base_rows]
    sorted_question = question[base_rows]
    size = sorted_chance.size
    first_of_question = np.searchsorted(sorted_question, question, "left")
    end_of_question = np.searchsorted(sorted_question, question, "right")
    others = end_of_question - first_of_question - base
    # Outside the base no rank is one's own: it is larger than any other.
    own_rank = np.full(chance.size, chance.size)
    own_rank[base_rows] = np.arange(size) - first_of_question[base_rows]

    def chance_at(rank: Places) -> Floats:
        # Among the others, those above one's own rank move down by one.
        place = first_of_question + rank + (rank >= own_rank)
        values: Floats = sorted_chance[np.clip(place, 0, size - 1)]
        return values

    lower = chance_at((others - 1) // 2)
    upper = chance_at(others // 2)
    median = (lower + upper) / 2
    return np.where(others > 0, np.log2(chance / median), np.nan)
