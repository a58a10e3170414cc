"""Metaculus's scores of a season's agents, in which a market in a cohort is a question with forecasts over
time.

A question opens when the market is first shown, has the market's scheduled close, and ends when the market
closed or its resolution was known. A forecast stands until the agent's next. Baselines, which have no model
behind them, are compared with the others, but nobody is compared with them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from arena.errors import NaturalKey, natural_key
from arena.record.model.columns import Flags, Floats, ForecastColumns, Ints, stated_belief, take_rows
from arena.record.queries.forecasts import read_ends
from arena.record.schema.database import Connection
from arena.scores.rules._columns import highest_first, none_for_nan
from arena.scores.rules.comparisons.mean_interval import mean_intervals
from arena.scores.rules.metaculus.grid import GRID_SCORES, ForecastGrid, grid_scores
from arena.scores.rules.metaculus.table import COMMUNITY

BASELINES = frozenset({"constant", "crowd", "favourite", "market", "random"})
"""Kinds of agents that have no view of their own."""
MEANS = tuple(name for name in GRID_SCORES if name != "coverage")
INSTANTS = 1 << 34
"""More than the seconds since 1970 of any instant."""


@dataclass(frozen=True, slots=True)
class MetaculusScores:
    """An agent's means over questions, or those of the community: the recency-weighted median of all.

    `coverage` is the share of all questions' lifetime in which its forecasts stood, `questions` how many of
    `asked` it forecast, and `outside` means that nobody is compared with it. Intervals are by event. `brier`
    is the mean Brier score of the forecasts that stood in each round, averaged within questions first.
    """

    agent: str
    questions: int
    asked: int
    coverage: float
    outside: bool
    baseline: float | None
    baseline_low: float | None
    baseline_high: float | None
    peer: float | None
    peer_low: float | None
    peer_high: float | None
    relative: float | None
    spot_baseline: float | None
    spot_peer: float | None
    brier: float | None


@dataclass(frozen=True, slots=True)
class QuestionSpans:
    """The lifetimes of questions: when each was first shown, ended and was to close."""

    opens: Floats
    ends: Floats
    scheduled: Floats


def question_spans(rows: ForecastColumns, question: Ints, known: Floats) -> QuestionSpans:
    """Return the lifetimes of rows' questions; `known` is when each resolution became known."""
    questions = int(question.max(initial=-1)) + 1
    opens = np.full(questions, np.inf)
    last_shown = np.full(questions, -np.inf)
    np.minimum.at(opens, question, rows.at)
    np.maximum.at(last_shown, question, rows.at)

    # The scheduled close of a market is the one it was last shown with.
    is_last_shown = rows.at == last_shown[question]
    scheduled_close = np.full(questions, np.inf)
    scheduled_close[question[is_last_shown]] = rows.closes[is_last_shown]
    scheduled = np.maximum(scheduled_close, opens + 1)

    known_time = np.full(questions, np.inf)
    known_time[question] = known[rows.market]
    return QuestionSpans(opens, np.clip(known_time, opens, scheduled), scheduled)


def number_instants(question: Ints, at: Ints) -> Ints:
    """Return the number of each question's instant, in order of question and time."""
    # Every time is below `INSTANTS`, so that the number gives both back by division.
    return question * INSTANTS + at


def metaculus_scores(
    rows: ForecastColumns, known: Floats, outside: frozenset[str] = frozenset()
) -> tuple[MetaculusScores, ...]:
    """Return the scores of every agent and of the community, the best peer score first.

    `known` is when each market's resolution could be known, by index. If fewer than two agents would be left
    to compare with, nobody is outside.
    """
    has_ended = rows.outcome >= 0
    if not has_ended.any():
        return ()
    ended = take_rows(rows, np.flatnonzero(has_ended))

    # A market in a cohort is a question, with the same outcome in all of its rows.
    cohort_and_market = ended.cohort * len(rows.markets) + ended.market
    questions, question = np.unique(cohort_and_market, return_inverse=True)
    story = np.zeros(questions.size, dtype=np.int64)
    story[question] = ended.story

    is_base = np.array([name not in outside for name in rows.agents])
    # With fewer than two others nobody would be left to compare with.
    if is_base.sum() <= 1:
        is_base = np.ones_like(is_base)
    grid = _forecast_grid(ended, question, known, is_base)
    scores = grid_scores(grid)
    names = (*rows.agents, COMMUNITY)
    is_outside = np.append(~is_base, True)
    means = _mean_scores(names, scores.values, story, is_outside)
    return tuple(sorted(means, key=peer_order))


def _forecast_grid(rows: ForecastColumns, question: Ints, known_times: Floats, base: Flags) -> ForecastGrid:
    """Return the forecasts as a table: a line for each instant of a question, a column for each agent."""
    spans = question_spans(rows, question, known_times)
    is_yes = np.zeros(spans.opens.size, dtype=np.bool_)
    is_yes[question] = rows.outcome == 1

    instant_numbers = number_instants(question, rows.at)
    instants, line_of_row = np.unique(instant_numbers, return_inverse=True)
    question_of_line = instants // INSTANTS
    stated = np.full((instants.size, len(rows.agents)), np.nan)
    counted_rows = np.flatnonzero(rows.stated & ~rows.early)
    stated[line_of_row[counted_rows], rows.agent[counted_rows]] = stated_belief(rows.forecast[counted_rows])

    return ForecastGrid(
        question=question_of_line,
        time=(instants % INSTANTS).astype(np.float64),
        forecast=stated,
        opens=spans.opens[question_of_line],
        ends=spans.ends[question_of_line],
        scheduled=spans.scheduled[question_of_line],
        yes=is_yes[question_of_line],
        base=base,
    )


def _mean_scores(
    names: Sequence[str], scores: Mapping[str, Floats], story: Ints, is_outside: Flags
) -> Iterator[MetaculusScores]:
    """Yield the means of each forecaster who answered anything, given its scores on each question."""
    asked = story.size
    forecasters = len(names)
    # Scores have a line for each question and a column for each forecaster.
    forecaster = np.tile(np.arange(forecasters), asked)
    event = np.repeat(story, forecasters)
    means = {name: mean_intervals(forecaster, event, scores[name].ravel(), forecasters) for name in MEANS}
    baseline = means["baseline"]
    peer = means["peer"]

    coverages = scores["coverage"]
    answered = np.count_nonzero(~np.isnan(coverages), axis=0)
    coverage = np.nansum(coverages, axis=0) / asked

    for place in np.flatnonzero(answered).tolist():
        own_means: dict[str, Any] = {}
        for name, mean in means.items():
            own_means[name] = none_for_nan(mean.mean[place])

        yield MetaculusScores(
            agent=names[place],
            questions=int(answered[place]),
            asked=asked,
            coverage=float(coverage[place]),
            outside=bool(is_outside[place]),
            baseline_low=none_for_nan(baseline.low[place]),
            baseline_high=none_for_nan(baseline.high[place]),
            peer_low=none_for_nan(peer.low[place]),
            peer_high=none_for_nan(peer.high[place]),
            **own_means,
        )


def peer_order(scores: MetaculusScores) -> tuple[float, NaturalKey]:
    """Return a sort key: the best peer score first, unknown ones last, then by name."""
    return highest_first(scores.peer), natural_key(scores.agent)


def read_known(connection: Connection, rows: ForecastColumns) -> Floats:
    """Return since when the resolution of each row's market could be known."""
    return read_ends(connection, rows.markets).known
