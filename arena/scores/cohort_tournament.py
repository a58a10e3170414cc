"""A cohort as a tournament: its markets are the questions, and an agent's forecast stands until its next.

Questions of all kinds count by the probability given to the outcome; yes/no questions alone are kept as
stated.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from arena.errors import ArenaError
from arena.record.model.answer_columns import AnswerColumns, SeasonMarket
from arena.record.model.cohort import Cohort
from arena.record.model.columns import Floats, ForecastColumns, Ints, stated_belief, take_rows
from arena.record.queries.accounts import read_accounts
from arena.record.queries.answers import read_answer_columns, read_season_markets
from arena.record.queries.cohorts import (
    StoredCohort,
    read_cohorts,
    read_hidden_rounds,
    read_rounds,
    select_cohorts,
)
from arena.record.queries.forecasts import read_forecast_columns
from arena.record.schema.database import Connection
from arena.scores.files.tournament import PlayedTournament, TournamentForecasts, TournamentSettings
from arena.scores.metaculus_kinds import question_lives, stated_questions
from arena.scores.metaculus_scores import BASELINES, INSTANTS, at_instants, question_spans, read_known
from arena.scores.rules.metaculus import limits


def read_cohort_tournament(
    connection: Connection, settings: TournamentSettings, number: int
) -> PlayedTournament:
    """Return a tournament of a cohort's agents; in the form peer those without a model win nothing.

    Its hidden period is the cohort's own, if that has one. Raise `ArenaError` if there is no such cohort, if
    its hidden period is not over, or if the settings ask for another one.
    """
    [stored] = select_cohorts(read_cohorts(connection), number)
    hidden_end = None
    if stored.cohort.hidden:
        hidden_end = end_of_hidden_rounds(connection, stored, settings.hidden)

    rows = read_forecast_columns(connection, number)
    until = hidden_ends(rows, stored.cohort, hidden_end, settings.hidden)
    entries = tournament_entries(rows, read_known(connection, rows), until)

    answers = read_answer_columns(connection, number)
    if answers.markets:
        ends = hidden_ends(answers, stored.cohort, hidden_end, settings.hidden)
        others = answer_entries(answers, read_season_markets(connection), ends)
        entries = joined_entries(by_chance(entries), others)

    kinds = {account.agent: account.kind for account in read_accounts(connection, number)}
    agents = {entries.forecaster[place] for place in set(entries.who.tolist())}
    baselines = sorted(name for name in agents if kinds.get(name) in BASELINES)
    changes: dict[str, Any] = {}
    if settings.form == "peer" and len(agents) > len(baselines) + 1:
        changes["exclude"] = (*settings.exclude, *baselines)
        changes["outside"] = (*settings.outside, *baselines)
    if until is not None and settings.hidden_weight is None:
        changes["hidden_weight"] = 1.0
    return PlayedTournament(settings.model_copy(update=changes), entries)


def end_of_hidden_rounds(connection: Connection, stored: StoredCohort, wanted: int | None) -> float:
    """Return when a cohort's hidden rounds ended; infinity if no other round followed.

    Raise `ArenaError` if they are not over, or if another number of them is wanted.
    """
    cohort = stored.cohort
    name = f"cohort {cohort.number}"
    if wanted not in (None, cohort.hidden):
        message = f"hidden is {wanted}, and {name} hid its first {cohort.hidden} rounds"
        raise ArenaError("other_hidden", message, "remove hidden: the cohort's own counts")

    hidden = read_hidden_rounds(connection)
    rounds = read_rounds(connection, stored.id)
    if any(begun.id in hidden for begun in rounds):
        message = f"{name} is in its hidden rounds: nobody sees forecasts yet"
        raise ArenaError("hidden_round", message, f"wait until its first {cohort.hidden} rounds are over")

    later = [begun.at.timestamp() for begun in rounds if not cohort.hides(begun.number)]
    return min(later, default=np.inf)


def hidden_ends(
    rows: ForecastColumns | AnswerColumns, cohort: Cohort, ended: float | None, first: int | None
) -> Floats | None:
    """Return when each market's hidden period ended, NaN if it has none; None if no market has one.

    It is the cohort's, which ended at `ended`, for markets shown in it. If the cohort hides nothing, it is
    the `first` rounds in which a market was shown.
    """
    if ended is not None:
        until = np.full(len(rows.markets), np.nan)
        until[rows.market[rows.round <= cohort.hidden]] = ended
        return until
    if first:
        return ends_of_first_rounds(rows, len(rows.markets), first)
    return None


def ends_of_first_rounds(rows: ForecastColumns | AnswerColumns, markets: int, hidden: int) -> Floats:
    """Return when each market was first shown after this many rounds; infinity if it never was."""
    instants = np.unique(at_instants(rows.market, rows.at))
    edges = np.searchsorted(instants // INSTANTS, np.arange(markets + 1))
    after_hidden = edges[:-1] + hidden
    is_shown = after_hidden < edges[1:]

    until = np.full(markets, np.inf)
    until[is_shown] = instants[after_hidden[is_shown]] % INSTANTS
    return until


def tournament_entries(rows: ForecastColumns, known: Floats, until: Floats | None) -> TournamentForecasts:
    """Return the markets of a cohort as questions of a tournament, where a forecast stands until the next.

    `until` is when each market's hidden period ends, NaN if it has none.
    """
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


def by_chance(entries: TournamentForecasts) -> TournamentForecasts:
    """Return yes/no entries by the probability given to the outcome, clipped to the site's limits."""
    if entries.outcome is None:
        return entries

    stated = limits.clip(entries.stated)
    chance = np.where(entries.outcome == 1, stated, 1 - stated)
    return replace(entries, stated=chance, outcome=None, points=np.full(chance.size, 100.0))


def answer_entries(
    answers: AnswerColumns, markets: Mapping[str, SeasonMarket], until: Floats | None
) -> TournamentForecasts:
    """Return answers to ended questions of other kinds, by the probability given to the outcome."""
    lives = question_lives(answers, markets)
    questions = stated_questions(answers, markets, lives)
    places = {name: place for place, name in enumerate(answers.markets)}
    agents = {name: place for place, name in enumerate(answers.agents)}
    asked: list[int] = []
    who: list[int] = []
    columns: dict[str, list[Floats]] = {name: [np.zeros(0)] for name in ("stated", "start", "end", "points")}
    for question in questions:
        forecasts = question.forecasts
        if forecasts is None:
            continue
        count = forecasts.chance.size
        asked += [places[question.name]] * count
        who += [agents[name] for name in forecasts.forecaster.tolist()]
        columns["stated"].append(forecasts.chance)
        columns["start"].append(forecasts.start)
        columns["end"].append(forecasts.end)
        columns["points"].append(np.full(count, forecasts.points))

    market = np.array(asked, dtype=np.int64)
    scheduled = lives["scheduled_close"][market]
    is_open = [not markets[name].answer for name in answers.markets]
    return TournamentForecasts(
        questions=answers.markets,
        forecaster=answers.agents,
        left_out=int(np.count_nonzero(np.array(is_open)[np.unique(answers.market)])),
        question=market,
        who=np.array(who, dtype=np.int64),
        outcome=None,
        opens=lives["open"][market],
        closes=lives["close"][market],
        scheduled=scheduled,
        hidden_until=None if until is None else np.minimum(until[market], scheduled),
        **{name: np.concatenate(parts) for name, parts in columns.items()},
    )


def joined_entries(first: TournamentForecasts, second: TournamentForecasts) -> TournamentForecasts:
    """Return two sets of entries as one, by the probability given to the outcome."""
    names = tuple(dict.fromkeys((*first.forecaster, *second.forecaster)))
    columns: dict[str, Any] = {}
    for column in ("stated", "start", "end", "opens", "closes", "scheduled", "hidden_until", "points"):
        parts = [getattr(first, column), getattr(second, column)]
        columns[column] = None if parts[0] is None else np.concatenate(parts)

    return TournamentForecasts(
        questions=(*first.questions, *second.questions),
        forecaster=names,
        left_out=first.left_out + second.left_out,
        question=np.concatenate([first.question, second.question + len(first.questions)]),
        who=np.concatenate([_places_among(names, first), _places_among(names, second)]),
        outcome=None,
        **columns,
    )


def _places_among(names: tuple[str, ...], entries: TournamentForecasts) -> Ints:
    """Return the forecaster of each entry, as an index into all names."""
    places = np.array([names.index(name) for name in entries.forecaster], dtype=np.int64)
    whose: Ints = places[entries.who]
    return whose
