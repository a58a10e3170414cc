"""Many yes/no questions on which the same few may forecast at the same instants, as in a season's rounds.

In mode `exact`, with spot scores at the end of each question and the community as one more forecaster; those
who forecast at one instant are of one age. Forecasts are a table, an instant a row and a forecaster a column,
which comes to the same as `table`, question by question.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arena.scores.rules._columns import Flags, Floats
from arena.scores.rules.metaculus import baseline
from arena.scores.rules.metaculus._timeline import medians_of_others
from arena.scores.rules.metaculus.community import median_of_rising, recency_weights
from arena.scores.rules.metaculus.limits import clip

Ints = NDArray[np.int64]
GRID_SCORES = ("baseline", "peer", "relative", "coverage", "spot_baseline", "spot_peer", "brier")


@dataclass(frozen=True, slots=True)
class ForecastGrid:
    """Instants in order of question and time.

    `forecast` has a forecaster's probability of YES where one was stated, else NaN.

    `opens`, `ends` and `scheduled` are of each row's question: when its life began, when scoring ends, and
    when it was to close. `yes` says whether it ended so, `base` who is compared with whom.
    """

    question: Ints
    time: Floats
    forecast: Floats
    opens: Floats
    ends: Floats
    scheduled: Floats
    yes: Flags
    base: Flags


@dataclass(frozen=True, slots=True)
class GridScores:
    """The numbers of the questions, and for each score a table by forecaster, the community last."""

    question: Ints
    values: dict[str, Floats]


def grid_scores(grid: ForecastGrid) -> GridScores:
    """Return all scores, with spot scores and the community."""
    first_rows = np.flatnonzero(np.diff(grid.question, prepend=-1))
    newest, is_standing = _newest_stated(~np.isnan(grid.forecast), first_rows)
    standing_forecast = _standing_values(grid.forecast, newest, is_standing)
    since = np.where(is_standing, grid.time[newest], np.inf)
    happened = np.where(grid.yes[:, None], standing_forecast, 1 - standing_forecast)
    chance = clip(happened)
    community = _community_medians(chance, since, grid.base)
    logs = np.log(np.column_stack([chance, community]))
    base = np.append(grid.base, False)

    until, share = _until_and_share(grid)
    # The instant that is in force when the question ends.
    is_last = (grid.time < grid.ends) & (until >= grid.ends)

    baselines = baseline.points(np.exp(logs))
    peers = _peer_scores(logs, base)
    relatives = _relative_scores(logs, base)
    score, coverage = _lifetime_averages(baselines, share, first_rows)
    peer_score, _ = _lifetime_averages(peers, share, first_rows)
    relative_score, _ = _lifetime_averages(relatives, share, first_rows)
    values = {
        "baseline": score,
        "peer": peer_score,
        "relative": relative_score,
        "coverage": coverage,
        "spot_baseline": _scores_at_last(baselines, is_last, first_rows),
        "spot_peer": _scores_at_last(peers, is_last, first_rows),
        "brier": _means_over_instants((1 - np.exp(logs)) ** 2, first_rows),
    }
    return GridScores(grid.question[first_rows], values)


@dataclass(frozen=True, slots=True)
class ChanceGrid:
    """Instants of questions of any kind, in order of question and time; a column for each forecaster.

    `chance` is the probability given to the outcome and `own` the baseline points, NaN where nothing was
    stated. `points` is the factor of a natural-log step against others.
    """

    question: Ints
    time: Floats
    chance: Floats
    own: Floats
    points: Floats
    opens: Floats
    ends: Floats
    scheduled: Floats
    base: Flags


def chance_scores(grid: ChanceGrid) -> GridScores:
    """Return all scores over time in mode `exact`, without spot scores and the community."""
    first_rows = np.flatnonzero(np.diff(grid.question, prepend=-1))
    newest, is_standing = _newest_stated(~np.isnan(grid.chance), first_rows)
    logs = np.log(_standing_values(grid.chance, newest, is_standing))
    baselines = _standing_values(grid.own, newest, is_standing)
    _, share = _until_and_share(grid)

    score, coverage = _lifetime_averages(baselines, share, first_rows)
    peers = _peer_scores(logs, grid.base) * (grid.points / 100)[:, None]
    peer_score, _ = _lifetime_averages(peers, share, first_rows)
    relative_score, _ = _lifetime_averages(_relative_scores(logs, grid.base), share, first_rows)
    values = {"baseline": score, "peer": peer_score, "relative": relative_score, "coverage": coverage}
    return GridScores(grid.question[first_rows], values)


def _until_and_share(grid: ForecastGrid | ChanceGrid) -> tuple[Floats, Floats]:
    """Return until when each instant counts, to the next of its question or for good, and its share."""
    is_followed = np.diff(grid.question, append=-1) == 0
    following = np.append(grid.time[1:], np.inf)
    until = np.where(is_followed, following, np.inf)
    low = np.clip(grid.time, grid.opens, grid.ends)
    high = np.clip(until, grid.opens, grid.ends)
    share = (high - low) / (grid.scheduled - grid.opens)
    return until, share


def _lifetime_averages(scores: Floats, share: Floats, first_rows: Ints) -> tuple[Floats, Floats]:
    """Return each question's scores over its lifetime, and the share of that with any; NaN without."""
    # Shares are of the scheduled lifetime: the weighted sum is its average, with 0 while nothing is scored.
    weight = share[:, None]
    is_known = ~np.isnan(scores)
    weighted = np.where(is_known, scores, 0.0) * weight
    total = np.add.reduceat(weighted, first_rows)
    compared = np.add.reduceat(is_known * weight, first_rows)

    is_scored = compared > 0
    return np.where(is_scored, total, np.nan), np.where(is_scored, compared, np.nan)


def _means_over_instants(scores: Floats, first_rows: Ints) -> Floats:
    """Return the mean of the scores of each question over its instants, NaN without any."""
    is_known = ~np.isnan(scores)
    counted = np.where(is_known, scores, 0.0)
    total = np.add.reduceat(counted, first_rows)
    count = np.add.reduceat(is_known.astype(np.float64), first_rows)
    is_scored = count > 0
    return np.where(is_scored, total / np.where(is_scored, count, 1), np.nan)


def _scores_at_last(scores: Floats, is_last: Flags, first_rows: Ints) -> Floats:
    """Return the scores of each question at its last instant; NaN without one."""
    is_known = ~np.isnan(scores) & is_last[:, None]
    counted = np.where(is_known, scores, 0.0)
    total = np.add.reduceat(counted, first_rows)
    count = np.add.reduceat(is_known.astype(np.float64), first_rows)
    return np.where(count > 0, total, np.nan)


def _newest_stated(is_stated: Flags, first_rows: Ints) -> tuple[Ints, Flags]:
    """Return for each instant and forecaster the instant of the standing forecast, and where there is one."""
    row = np.arange(is_stated.shape[0])[:, None]
    newest = np.where(is_stated, row, -1)
    # The largest row so far is the newest one at which something was stated.
    newest = np.maximum.accumulate(newest, axis=0)

    lengths = np.diff(first_rows, append=is_stated.shape[0])
    start = np.repeat(first_rows, lengths)[:, None]
    # What was stated on an earlier question doesn't stand on this one.
    stands = newest >= start
    return np.where(stands, newest, 0), stands


def _standing_values(values: Floats, newest: Ints, stands: Flags) -> Floats:
    """Return the standing values; NaN where nothing stands."""
    chosen = np.take_along_axis(values, newest, axis=0)
    return np.where(stands, chosen, np.nan)


def _community_medians(chance: Floats, since: Floats, base: Flags) -> Floats:
    """Return the recency-weighted median of the base at each instant."""
    values = np.where(base, chance, np.nan)
    known = ~np.isnan(values)
    count = known.sum(axis=1, keepdims=True)
    since = np.where(known, since, np.inf)
    weights = recency_weights(count, _age_ranks(since))
    weights = np.where(known, weights, 0.0)

    rising = np.argsort(values, axis=1, kind="stable")
    values = np.take_along_axis(values, rising, axis=1)
    weights = np.take_along_axis(weights, rising, axis=1)
    return median_of_rising(values, weights)


def _age_ranks(since: Floats) -> Floats:
    """Return each forecast's rank in its row, the oldest first, from 1; equal ages share their mean."""
    rows, columns = since.shape
    order = np.argsort(since, axis=1, kind="stable")
    sorted_since = np.take_along_axis(since, order, axis=1)
    column_number = np.broadcast_to(np.arange(columns), since.shape)

    # Whether each is as old as the one before it, and as the one after.
    is_same = sorted_since[:, 1:] == sorted_since[:, :-1]
    none = np.zeros((rows, 1), dtype=np.bool_)
    is_as_before = np.hstack([none, is_same])
    is_as_after = np.hstack([is_same, none])

    first_of_age = np.where(is_as_before, 0, column_number)
    first_of_age = np.maximum.accumulate(first_of_age, axis=1)
    last_of_age = np.where(is_as_after, columns, column_number)
    last_of_age = np.minimum.accumulate(last_of_age[:, ::-1], axis=1)[:, ::-1]

    ranks = np.empty(since.shape)
    mean_rank = (first_of_age + last_of_age) / 2 + 1
    np.put_along_axis(ranks, order, mean_rank, axis=1)
    return ranks


def _peer_scores(logs: Floats, base: Flags) -> Floats:
    """Return the scores against the mean of all others; NaN without any."""
    is_in_base = base & ~np.isnan(logs)
    counted = np.where(is_in_base, logs, 0.0)
    total = counted.sum(axis=1, keepdims=True)
    others = is_in_base.sum(axis=1, keepdims=True) - is_in_base
    others = np.where(others > 0, others, np.nan)

    mean = (total - counted) / others
    scores: Floats = 100 * (logs - mean)
    return scores


def _relative_scores(logs: Floats, base: Flags) -> Floats:
    """Return the scores against the median of all others; NaN without any."""
    is_in_base = base & ~np.isnan(logs)
    base_logs = np.where(is_in_base, logs, np.nan)
    chance = np.exp(base_logs)
    order = np.argsort(chance, axis=1, kind="stable")
    sorted_chance = np.take_along_axis(chance, order, axis=1)

    rank = np.empty(order.shape, dtype=np.intp)
    columns = np.arange(order.shape[1])
    numbers = np.broadcast_to(columns, order.shape)
    np.put_along_axis(rank, order, numbers, axis=1)

    median = medians_of_others(sorted_chance, rank, is_in_base)
    scores: Floats = (logs - np.log(median)) / np.log(2)
    return scores
