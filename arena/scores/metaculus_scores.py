"""Metaculus's scores of a season's agents: every market in a cohort is a question that they forecast over
time.

A question opens when the market is first shown, was to close when the market was, and ends when it closed or
its end was known. What an agent stated stands until it states something else. Baselines, which no model is
behind, are compared with the others, and nobody with them.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from arena.errors import natural_key
from arena.record.model.columns import Floats, ForecastColumns, Ints, take_rows
from arena.record.queries.accounts import read_accounts
from arena.record.queries.cohorts import read_cohorts, select_cohorts
from arena.record.queries.forecasts import read_ends, read_forecast_columns
from arena.record.schema.database import Connection
from arena.scores.rules._columns import none_for_nan
from arena.scores.rules.comparisons.mean_interval import mean_intervals
from arena.scores.rules.metaculus.grid import GRID_SCORES, ForecastGrid, grid_scores
from arena.scores.rules.metaculus.table import COMMUNITY
from markets.millionths import ONE

if TYPE_CHECKING:
    from arena.scores.files.tournament import PlayedTournament, TournamentForecasts, TournamentSettings

BASELINES = frozenset({"constant", "crowd", "favourite", "market", "random"})
"""Kinds of agents that have no view of their own."""
MEANS = tuple(name for name in GRID_SCORES if name != "coverage")


@dataclass(frozen=True, slots=True)
class MetaculusScores:
    """An agent's means over questions, or those of the community, the recency-weighted median of all.

    `coverage` is the share of the lives of all questions for which its forecasts stood, `questions` how many
    of `asked` it forecast, and `outside` says that nobody is compared with it. Intervals are by event.
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


@dataclass(frozen=True, slots=True)
class QuestionSpans:
    """The lives of questions: when each was first shown, ended and was to close."""

    opens: Floats
    ends: Floats
    scheduled: Floats


def question_spans(rows: ForecastColumns, question: Ints, known: Floats) -> QuestionSpans:
    """The lives of the questions that rows belong to; `known` is since when each market's end was known."""
    size = int(question.max(initial=-1)) + 1
    opens, newest = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(opens, question, rows.at)
    np.maximum.at(newest, question, rows.at)
    closes, over = np.full((2, size), np.inf)
    is_newest = rows.at == newest[question]
    closes[question[is_newest]] = rows.closes[is_newest]
    over[question] = known[rows.market]
    scheduled = np.maximum(closes, opens + 1)
    return QuestionSpans(opens, np.clip(over, opens, scheduled), scheduled)


def metaculus_scores(
    rows: ForecastColumns, known: Floats, outside: frozenset[str] = frozenset()
) -> tuple[MetaculusScores, ...]:
    """Every agent by its peer score, the best first, and the community.

    `known` has since when each market's end could be known, by its place in the names. Where fewer than two
    agents would be left to compare with, nobody is outside.
    """
    ended = take_rows(rows, np.flatnonzero(rows.outcome >= 0))
    if not ended.at.size:
        return ()
    pair, question = np.unique(ended.cohort * len(rows.markets) + ended.market, return_inverse=True)
    spans = question_spans(ended, question, known)
    instant, row = np.unique(question * (1 << 34) + ended.at, return_inverse=True)
    asked, time = instant >> 34, (instant & ((1 << 34) - 1)).astype(np.float64)
    said = np.full((instant.size, len(rows.agents)), np.nan)
    counted = np.flatnonzero(ended.stated & ~ended.early)
    said[row[counted], ended.agent[counted]] = ended.forecast[counted] / ONE
    yes, story = np.zeros(pair.size, dtype=np.bool_), np.zeros(pair.size, dtype=np.int64)
    yes[question], story[question] = ended.outcome == 1, ended.story
    base = np.array([name not in outside for name in rows.agents])
    base = base if base.sum() > 1 else np.ones_like(base)
    grid = ForecastGrid(
        asked, time, said, spans.opens[asked], spans.ends[asked], spans.scheduled[asked], yes[asked], base
    )
    values = grid_scores(grid).values
    names = (*rows.agents, COMMUNITY)
    who, event = np.tile(np.arange(len(names)), pair.size), np.repeat(story, len(names))
    means = {name: mean_intervals(who, event, values[name].ravel(), len(names)) for name in MEANS}
    answered = (~np.isnan(values["coverage"])).sum(axis=0)
    coverage = np.nansum(values["coverage"], axis=0) / pair.size

    def at(column: Floats, place: int) -> Any:
        return none_for_nan(float(column[place]))

    found = [
        MetaculusScores(
            agent=name,
            questions=int(answered[place]),
            asked=int(pair.size),
            coverage=float(coverage[place]),
            outside=place == len(rows.agents) or not base[place],
            baseline_low=at(means["baseline"].low, place),
            baseline_high=at(means["baseline"].high, place),
            peer_low=at(means["peer"].low, place),
            peer_high=at(means["peer"].high, place),
            **{name: at(mean.mean, place) for name, mean in means.items()},
        )
        for place, name in enumerate(names)
        if answered[place]
    ]
    return tuple(sorted(found, key=lambda one: (one.peer is None, -(one.peer or 0), natural_key(one.agent))))


def tournament_entries(rows: ForecastColumns, known: Floats, hidden: int) -> "TournamentForecasts":
    """The markets of a cohort as a tournament's questions: what was stated stands until the next.

    The first `hidden` rounds in which a market was shown are its hidden period.
    """
    from arena.scores.files.tournament import TournamentForecasts  # pages have no use for it

    ended = take_rows(rows, np.flatnonzero(rows.outcome >= 0))
    spans = question_spans(ended, ended.market, known)
    instants = np.unique(ended.market * (1 << 34) + ended.at)
    market, time = instants >> 34, (instants & ((1 << 34) - 1)).astype(np.float64)
    first = np.searchsorted(market, np.arange(len(rows.markets)))
    last = np.searchsorted(market, np.arange(len(rows.markets)), side="right")
    place = np.minimum(first + hidden, np.maximum(instants.size - 1, 0))
    until = np.where(first + hidden < last, time[place] if instants.size else 0.0, np.inf)
    own = np.flatnonzero(ended.stated & ~ended.early)
    own = own[np.lexsort((ended.at[own], ended.agent[own], ended.market[own]))]
    asked, who, start = ended.market[own], ended.agent[own], ended.at[own].astype(np.float64)
    same = (np.diff(asked, append=-1) == 0) & (np.diff(who, append=-1) == 0)
    end = np.where(same, np.append(start[1:], np.inf), np.inf)
    scheduled = spans.scheduled[asked]
    return TournamentForecasts(
        questions=rows.markets,
        question=asked,
        forecaster=rows.agents,
        who=who,
        stated=ended.forecast[own] / ONE,
        outcome=ended.outcome[own].astype(np.float64),
        start=start,
        end=end,
        opens=spans.opens[asked],
        closes=spans.ends[asked],
        scheduled=scheduled,
        hidden_until=np.minimum(until[asked], scheduled) if hidden else None,
        left_out=np.unique(rows.market).size - np.unique(ended.market).size,
    )


def read_known(connection: Connection, rows: ForecastColumns) -> Floats:
    """Since when the end of each market of the rows could be known."""
    return read_ends(connection, rows.markets).known


def read_cohort_tournament(
    connection: Connection, settings: "TournamentSettings", number: int
) -> "PlayedTournament":
    """Return a tournament of a cohort's agents; by the form peer those without a model win nothing.

    Raises `ArenaError` where there is no such cohort.
    """
    from arena.scores.files.tournament import PlayedTournament  # pages have no use for it

    select_cohorts(read_cohorts(connection), number)
    rows = read_forecast_columns(connection, number)
    kinds = {account.agent: account.kind for account in read_accounts(connection, number)}
    entries = tournament_entries(rows, read_known(connection, rows), settings.hidden or 0)

    agents = {entries.forecaster[place] for place in set(entries.who.tolist())}
    baselines = sorted(name for name in agents if kinds.get(name) in BASELINES)
    changes: dict[str, Any] = {}
    if settings.form == "peer" and len(agents) > len(baselines) + 1:
        changes["exclude"] = (*settings.exclude, *baselines)
        changes["outside"] = (*settings.outside, *baselines)
    if settings.hidden is not None and settings.hidden_weight is None:
        changes["hidden_weight"] = 1.0
    return PlayedTournament(settings.model_copy(update=changes), entries)
