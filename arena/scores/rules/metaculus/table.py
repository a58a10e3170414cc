"""Many yes/no questions at once: a table of forecasts in, a row for each question and forecaster out.

- Formula: `baseline`, `peer`, `relative`, coverage and the two spot scores of everyone on every question.
- Direction: higher is better.
- Range: those of the rules.
- Edge cases: questions without an outcome of 0 or 1 are left out. Without times a forecast stands from the
  opening to the close of its question; with them a question opens with its first forecast unless it
  says when, and was to close when it closed. Who was never compared has NaN.
- Source: the rules' own.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arena.scores.rules._columns import Flags, Floats, check_probabilities, is_scored
from arena.scores.rules.metaculus import baseline, limits, peer, relative, single_instant
from arena.scores.rules.metaculus.community import median, recency_weighted
from arena.scores.rules.metaculus.forecasts import COLUMNS, Forecasts
from arena.scores.rules.metaculus.question import MetaculusQuestion, Mode
from arena.scores.rules.metaculus.question_types import binary
from arena.scores.rules.metaculus.totals import totals

Places = NDArray[np.intp]
Names = NDArray[np.generic]
"""Of forecasters: texts, or whole numbers."""


@dataclass(frozen=True, slots=True)
class TableTimes:
    """When each row's forecast was made, and when its question opened, closed and was to close.

    `ends` says until when a forecast stood, where that is not until the next, and `spot` when its question's
    spot scores are taken; NaN where neither is known.
    """

    time: ArrayLike
    closes: ArrayLike
    opens: ArrayLike | None = None
    scheduled: ArrayLike | None = None
    ends: ArrayLike | None = None
    spot: ArrayLike | None = None


@dataclass(frozen=True, slots=True)
class ResolvedRows:
    """The rows of resolved questions; `row` is where each was in the table, `question` is numbered."""

    row: Places
    question: Places
    forecaster: Names
    probability: Floats
    outcome: Floats
    time: Floats
    opens: Floats
    closes: Floats
    scheduled: Floats
    ends: Floats
    spot: Floats


def check_rows(
    question: ArrayLike,
    forecaster: ArrayLike,
    probability: ArrayLike,
    outcome: ArrayLike,
    times: TableTimes | None,
) -> ResolvedRows:
    """The rows that count, if all is well with the table."""
    chances, ended = check_probabilities(probability), np.atleast_1d(np.asarray(outcome, dtype=np.float64))
    names, asked = _labels(forecaster), _numbers(_labels(question))
    moments = _moments(times, asked)
    for name, column in (("forecaster", names), ("probability", chances), ("outcome", ended)):
        if column.size != asked.size:
            raise ValueError(f"column {name} has {column.size} rows, not {asked.size}")
    order = np.lexsort((moments[0], names, asked))
    row = order[is_scored(ended)[order]]
    rows = ResolvedRows(
        row, asked[row], names[row], chances[row], ended[row], *(column[row] for column in moments)
    )
    _one_life(rows)
    _no_doubles(rows)
    return rows


def _labels(column: ArrayLike) -> Names:
    """Whole numbers as they are, all else as texts."""
    values = np.atleast_1d(np.asarray(column))
    return values if values.dtype.kind in "iu" else values.astype(np.str_)


def _numbers(labels: Names) -> Places:
    """Whole numbers as they are; texts by their places among the different ones."""
    return labels.astype(np.intp) if labels.dtype.kind in "iu" else np.unique(labels, return_inverse=True)[1]


def _moments(times: TableTimes | None, asked: Places) -> tuple[Floats, ...]:
    """When each forecast was made, its question's opening, close, planned close, its own end, the spot."""
    unknown = np.full(asked.size, np.nan)
    if times is None:
        start, end = np.zeros(asked.size), np.ones(asked.size)
        return start, start, end, end, unknown, unknown
    rest = [unknown if x is None else np.asarray(x, dtype=np.float64) for x in (times.ends, times.spot)]
    time, closes = _column(times.time, "time", asked), _column(times.closes, "closes", asked)
    scheduled = closes if times.scheduled is None else _column(times.scheduled, "scheduled", asked)
    if times.opens is not None:
        return time, _column(times.opens, "opens", asked), closes, scheduled, *rest
    first = np.full(asked.size, np.inf)
    np.minimum.at(first, asked, time)
    return time, first[asked], closes, scheduled, *rest


def _column(column: ArrayLike, name: str, asked: Places) -> Floats:
    values = np.atleast_1d(np.asarray(column, dtype=np.float64))
    if values.size != asked.size:
        raise ValueError(f"column {name} has {values.size} rows, not {asked.size}")
    wrong = np.flatnonzero(~np.isfinite(values))
    if wrong.size:
        raise ValueError(f"row {wrong[0]}: {name} {values[wrong[0]]} is not a time")
    return values


def _one_life(rows: ResolvedRows) -> None:
    """A question ends one way, and has one opening and one close."""
    same = rows.question[1:] == rows.question[:-1]
    for name in ("outcome", "opens", "closes", "scheduled"):
        column = getattr(rows, name)
        for place in np.flatnonzero(same & (column[1:] != column[:-1]))[:1]:
            one, other = sorted(zip(rows.row[place : place + 2], column[place : place + 2], strict=True))
            raise ValueError(
                f"row {other[0]}: {name} {other[1]:g}, but row {one[0]} of the same question has {one[1]:g}"
            )


def _no_doubles(rows: ResolvedRows) -> None:
    """Nobody says two things at once."""
    columns = (rows.question, rows.forecaster, rows.time)
    same = [column[1:] == column[:-1] for column in columns]
    twice = np.flatnonzero(np.logical_and.reduce(same)) + 1
    if twice.size:
        row, first = sorted(rows.row[twice[0] - 1 : twice[0] + 1], reverse=True)
        name = rows.forecaster[twice[0]]
        raise ValueError(f"row {row}: {name} has forecast the same question at the same time in row {first}")


SCORES = ("baseline", "peer", "relative", "coverage", "spot_baseline", "spot_peer")
COMMUNITY = "community"
"""Whom the community's forecast is scored as, where that is wanted; −1 where forecasters are numbers."""


@dataclass(frozen=True, slots=True)
class CellScores:
    """A row for each question and forecaster of it, and a line of values for each of `SCORES`."""

    question: Places
    forecaster: Names
    values: Floats


def cell_scores(
    rows: ResolvedRows,
    times: TableTimes | None,
    mode: Mode,
    outside: ArrayLike = (),
    *,
    community: bool = False,
) -> CellScores:
    """The scores of each forecaster on each question.

    Nobody is compared with those who are `outside`. The community is scored as one more of them.
    """
    base = ~np.isin(rows.forecaster, np.asarray(outside))
    if times is None and mode == "exact" and not community:
        return CellScores(rows.question, rows.forecaster, _at_once(rows, base))
    return _one_by_one(rows, base, mode, community)


def _at_once(rows: ResolvedRows, base: Flags) -> Floats:
    """The scores of every row."""
    chance = limits.clip(np.where(rows.outcome == 1, rows.probability, 1 - rows.probability))
    against = (
        single_instant.peers(rows.question, chance, base),
        single_instant.relatives(rows.question, chance, base),
    )
    none = np.full(chance.size, np.nan)
    return np.stack([baseline.points(chance), *against, np.ones(chance.size), none, none])


def _one_by_one(rows: ResolvedRows, base: Flags, mode: Mode, community: bool) -> CellScores:
    """Question by question, each with its forecasters."""
    questions, names = [np.zeros(0, dtype=np.intp)], [rows.forecaster[:0]]
    values = [np.zeros((len(SCORES), 0))]
    _, starts = np.unique(rows.question, return_index=True)
    for first, last in zip(starts, np.append(starts[1:], rows.row.size)[: starts.size], strict=True):
        own = slice(first, last)
        lived = _question(rows, first)
        who, place = np.unique(rows.forecaster[own], return_inverse=True)
        ends = None if np.isnan(rows.ends[own]).all() else _until(place, rows.time[own], rows.ends[own])
        # padded, so that the order of their texts is that of their numbers
        labels = np.char.mod("%09d", place)
        forecasts = binary(
            labels, rows.time[own], rows.probability[own], rows.outcome[first] == 1, ends, base[own]
        )
        scored = question_scores(lived, forecasts, mode, community=community)
        own_names = np.array([-1 if rows.forecaster.dtype.kind in "iu" else COMMUNITY])
        names.append(np.concatenate([who, own_names[: scored.shape[1] - who.size]]))
        questions.append(np.full(scored.shape[1], rows.question[first]))
        values.append(scored)
    return CellScores(np.concatenate(questions), np.concatenate(names), np.concatenate(values, axis=1))


def _until(who: Places, time: Floats, ends: Floats) -> Floats:
    """When forecasts end that are sorted by forecaster and time: when they say, or when the next begins."""
    following = np.append(np.where(np.diff(who) == 0, time[1:], np.inf), np.inf)
    until: Floats = np.fmin(ends, following)
    return until


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


def _question(rows: ResolvedRows, first: int) -> MetaculusQuestion:
    try:
        times = (rows.opens[first], rows.closes[first], rows.scheduled[first])
        spot = None if np.isnan(rows.spot[first]) else float(rows.spot[first])
        opens, closes, scheduled = (float(time) for time in times)
        return MetaculusQuestion(opens, closes, scheduled, spot)
    except ValueError as error:
        raise ValueError(f"row {rows.row[first]}: {error}") from None
