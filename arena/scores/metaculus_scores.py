"""Metaculus's scores of a season's agents: every market in a cohort is a question that they forecast over
time.

A question opens when the market is first shown, was to close when the market was, and ends when it closed or
its end was known. What an agent stated stands until it states something else. Baselines, which no model is
behind, are compared with the others, and nobody with them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from arena.errors import ArenaError, NaturalKey, natural_key
from arena.record.model.cohort import Cohort
from arena.record.model.columns import Flags, Floats, ForecastColumns, Ints, stated_belief, take_rows
from arena.record.queries.accounts import read_accounts
from arena.record.queries.cohorts import (
    StoredCohort,
    read_cohorts,
    read_hidden_rounds,
    read_rounds,
    select_cohorts,
)
from arena.record.queries.forecasts import read_ends, read_forecast_columns
from arena.record.schema.database import Connection
from arena.scores.rules._columns import highest_first, none_for_nan
from arena.scores.rules.comparisons.mean_interval import mean_intervals
from arena.scores.rules.metaculus.grid import GRID_SCORES, ForecastGrid, grid_scores
from arena.scores.rules.metaculus.table import COMMUNITY

if TYPE_CHECKING:
    from arena.scores.files.tournament import PlayedTournament, TournamentForecasts, TournamentSettings

BASELINES = frozenset({"constant", "crowd", "favourite", "market", "random"})
"""Kinds of agents that have no view of their own."""
MEANS = tuple(name for name in GRID_SCORES if name != "coverage")
INSTANTS = 1 << 34
"""More than the seconds since 1970 of any instant."""


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
    """Return the lives of the questions of rows; `known` is since when each market's end was known."""
    size = int(question.max(initial=-1)) + 1
    opens = np.full(size, np.inf)
    newest = np.full(size, -np.inf)
    np.minimum.at(opens, question, rows.at)
    np.maximum.at(newest, question, rows.at)

    # a market was to close when it was last shown to
    is_newest = rows.at == newest[question]
    closes = np.full(size, np.inf)
    closes[question[is_newest]] = rows.closes[is_newest]
    scheduled = np.maximum(closes, opens + 1)

    over = np.full(size, np.inf)
    over[question] = known[rows.market]
    return QuestionSpans(opens, np.clip(over, opens, scheduled), scheduled)


def _at_instants(question: Ints, at: Ints) -> Ints:
    """Return a number for each question at each instant, in the order of question and time."""
    return question * INSTANTS + at


def metaculus_scores(
    rows: ForecastColumns, known: Floats, outside: frozenset[str] = frozenset()
) -> tuple[MetaculusScores, ...]:
    """Return the scores of every agent and of the community, the best peer score first.

    `known` has since when each market's end could be known, by its place in the names. Where fewer than two
    agents would be left to compare with, nobody is outside.
    """
    has_ended = rows.outcome >= 0
    if not has_ended.any():
        return ()
    ended = take_rows(rows, np.flatnonzero(has_ended))

    # a market in a cohort is a question, and what happened to it the same for all rows
    pair = ended.cohort * len(rows.markets) + ended.market
    pairs, question = np.unique(pair, return_inverse=True)
    story = np.zeros(pairs.size, dtype=np.int64)
    story[question] = ended.story

    base = np.array([name not in outside for name in rows.agents])
    if base.sum() <= 1:
        base = np.ones_like(base)
    grid = _forecast_grid(ended, question, known, base)
    scores = grid_scores(grid)
    names = (*rows.agents, COMMUNITY)
    is_outside = np.append(~base, True)
    means = _mean_scores(names, scores.values, story, is_outside)
    return tuple(sorted(means, key=_peer_order))


def _forecast_grid(rows: ForecastColumns, question: Ints, known: Floats, base: Flags) -> ForecastGrid:
    """Return what was stated as a table: a line for each instant of a question, a column for each agent."""
    spans = question_spans(rows, question, known)
    is_yes = np.zeros(spans.opens.size, dtype=np.bool_)
    is_yes[question] = rows.outcome == 1

    numbers = _at_instants(question, rows.at)
    instants, line = np.unique(numbers, return_inverse=True)
    asked = instants // INSTANTS
    stated = np.full((instants.size, len(rows.agents)), np.nan)
    counted = np.flatnonzero(rows.stated & ~rows.early)
    stated[line[counted], rows.agent[counted]] = stated_belief(rows.forecast[counted])

    return ForecastGrid(
        question=asked,
        time=(instants % INSTANTS).astype(np.float64),
        forecast=stated,
        opens=spans.opens[asked],
        ends=spans.ends[asked],
        scheduled=spans.scheduled[asked],
        yes=is_yes[asked],
        base=base,
    )


def _mean_scores(
    names: Sequence[str], scores: Mapping[str, Floats], story: Ints, is_outside: Flags
) -> Iterator[MetaculusScores]:
    """Yield the means of each forecaster who answered anything, from its scores on each question."""
    asked = story.size
    size = len(names)
    forecaster = np.tile(np.arange(size), asked)
    event = np.repeat(story, size)
    means = {name: mean_intervals(forecaster, event, scores[name].ravel(), size) for name in MEANS}
    baseline = means["baseline"]
    peer = means["peer"]

    lives = scores["coverage"]
    answered = np.count_nonzero(~np.isnan(lives), axis=0)
    coverage = np.nansum(lives, axis=0) / asked

    for place in np.flatnonzero(answered).tolist():
        own: dict[str, Any] = {}
        for name, mean in means.items():
            own[name] = none_for_nan(mean.mean[place])

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
            **own,
        )


def _peer_order(scores: MetaculusScores) -> tuple[float, NaturalKey]:
    """Return a key to sort by: the best peer score first and unknown ones last, then by name."""
    return highest_first(scores.peer), natural_key(scores.agent)


def tournament_entries(rows: ForecastColumns, known: Floats, until: Floats | None) -> "TournamentForecasts":
    """Return the markets of a cohort as a tournament's questions: what was stated stands until the next.

    `until` has when the hidden period of each market ends, NaN for one that has none.
    """
    from arena.scores.files.tournament import TournamentForecasts  # pages have no use for it

    ended = take_rows(rows, np.flatnonzero(rows.outcome >= 0))
    spans = question_spans(ended, ended.market, known)
    left_out = np.unique(rows.market).size - np.unique(ended.market).size

    is_counted = ended.stated & ~ended.early
    own = np.lexsort((ended.at, ended.agent, ended.market))
    own = own[is_counted[own]]
    asked = ended.market[own]
    forecaster = ended.agent[own]
    start = ended.at[own].astype(np.float64)

    is_same_question = np.diff(asked, append=-1) == 0
    is_followed = is_same_question & (np.diff(forecaster, append=-1) == 0)
    following = np.append(start[1:], np.inf)

    scheduled = spans.scheduled[asked]
    hidden_until = None
    if until is not None:
        hidden_until = np.minimum(until[asked], scheduled)

    return TournamentForecasts(
        questions=rows.markets,
        question=asked,
        forecaster=rows.agents,
        who=forecaster,
        stated=stated_belief(ended.forecast[own]),
        outcome=ended.outcome[own].astype(np.float64),
        start=start,
        end=np.where(is_followed, following, np.inf),
        opens=spans.opens[asked],
        closes=spans.ends[asked],
        scheduled=scheduled,
        hidden_until=hidden_until,
        left_out=left_out,
    )


def ends_of_first_rounds(rows: ForecastColumns, hidden: int) -> Floats:
    """Return when each market was first shown after so many rounds, infinity if it never was."""
    instants = np.unique(_at_instants(rows.market, rows.at))
    markets = len(rows.markets)
    edges = np.searchsorted(instants // INSTANTS, np.arange(markets + 1))
    after_hidden = edges[:-1] + hidden
    is_shown = after_hidden < edges[1:]

    until = np.full(markets, np.inf)
    until[is_shown] = instants[after_hidden[is_shown]] % INSTANTS
    return until


def ends_of_hidden_rounds(rows: ForecastColumns, cohort: Cohort) -> Floats:
    """Return when the hidden rounds of a cohort ended, by market; NaN for one shown only after them."""
    is_hidden = rows.round <= cohort.hidden
    ended = np.inf
    if not is_hidden.all():
        ended = float(rows.at[~is_hidden].min())

    until = np.full(len(rows.markets), np.nan)
    until[rows.market[is_hidden]] = ended
    return until


def read_known(connection: Connection, rows: ForecastColumns) -> Floats:
    """Return since when the end of each market of the rows could be known."""
    return read_ends(connection, rows.markets).known


def read_cohort_tournament(
    connection: Connection, settings: "TournamentSettings", number: int
) -> "PlayedTournament":
    """Return a tournament of a cohort's agents; by the form peer those without a model win nothing.

    Its hidden period is the cohort's own, if that has one. Raises `ArenaError` where there is no such cohort,
    where its hidden period is not over, or where the settings want another one.
    """
    from arena.scores.files.tournament import PlayedTournament  # pages have no use for it

    [stored] = select_cohorts(read_cohorts(connection), number)
    rows = read_forecast_columns(connection, number)
    until = None
    if stored.cohort.hidden:
        check_hidden_period(connection, stored, settings.hidden)
        until = ends_of_hidden_rounds(rows, stored.cohort)
    elif settings.hidden:
        until = ends_of_first_rounds(rows, settings.hidden)

    kinds = {account.agent: account.kind for account in read_accounts(connection, number)}
    entries = tournament_entries(rows, read_known(connection, rows), until)

    agents = {entries.forecaster[place] for place in set(entries.who.tolist())}
    baselines = sorted(name for name in agents if kinds.get(name) in BASELINES)
    changes: dict[str, Any] = {}
    if settings.form == "peer" and len(agents) > len(baselines) + 1:
        changes["exclude"] = (*settings.exclude, *baselines)
        changes["outside"] = (*settings.outside, *baselines)
    if until is not None and settings.hidden_weight is None:
        changes["hidden_weight"] = 1.0
    return PlayedTournament(settings.model_copy(update=changes), entries)


def check_hidden_period(connection: Connection, stored: StoredCohort, wanted: int | None) -> None:
    """Raise `ArenaError` where a cohort's hidden period is not over, or another one is wanted."""
    cohort = stored.cohort
    name = f"cohort {cohort.number}"
    if wanted not in (None, cohort.hidden):
        message = f"hidden is {wanted}, and {name} hid its first {cohort.hidden} rounds"
        raise ArenaError("other_hidden", message, "remove hidden: the cohort's own counts")

    hidden = read_hidden_rounds(connection)
    if any(begun.id in hidden for begun in read_rounds(connection, stored.id)):
        message = f"{name} is in its hidden rounds: nobody sees forecasts yet"
        raise ArenaError("hidden_round", message, f"wait until its first {cohort.hidden} rounds are over")
