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
from arena.scores.metaculus_scores import BASELINES, INSTANTS, number_instants, question_spans, read_known
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
    hidden_until = hidden_ends(rows, stored.cohort, hidden_end, settings.hidden)
    entries = tournament_entries(rows, read_known(connection, rows), hidden_until)

    # With questions of other kinds, all count by the probability given to the outcome.
    answers = read_answer_columns(connection, number)
    if answers.markets:
        answers_hidden_until = hidden_ends(answers, stored.cohort, hidden_end, settings.hidden)
        answered = answer_entries(answers, read_season_markets(connection), answers_hidden_until)
        entries = concatenate_entries(by_outcome_chance(entries), answered)

    kind_of = {account.agent: account.kind for account in read_accounts(connection, number)}
    agents = {entries.forecaster[place] for place in set(entries.who.tolist())}
    baselines = sorted(name for name in agents if kind_of.get(name) in BASELINES)

    # Baselines win nothing by peer scores, if at least two others are left to compare with.
    changes: dict[str, Any] = {}
    if settings.form == "peer" and len(agents) > len(baselines) + 1:
        changes["exclude"] = (*settings.exclude, *baselines)
        changes["outside"] = (*settings.outside, *baselines)
    if hidden_until is not None and settings.hidden_weight is None:
        changes["hidden_weight"] = 1.0
    return PlayedTournament(settings.model_copy(update=changes), entries)


def end_of_hidden_rounds(connection: Connection, stored: StoredCohort, wanted_rounds: int | None) -> float:
    """Return when a cohort's hidden rounds ended; infinity if no other round followed.

    Raise `ArenaError` if they are not over, or if another number of them is wanted.
    """
    cohort = stored.cohort
    name = f"cohort {cohort.number}"
    if wanted_rounds not in (None, cohort.hidden):
        message = f"hidden is {wanted_rounds}, and {name} hid its first {cohort.hidden} rounds"
        raise ArenaError("other_hidden", message, "remove hidden: the cohort's own counts")

    hidden_ids = read_hidden_rounds(connection)
    rounds = read_rounds(connection, stored.id)
    if any(played.id in hidden_ids for played in rounds):
        message = f"{name} is in its hidden rounds: nobody sees forecasts yet"
        raise ArenaError("hidden_round", message, f"wait until its first {cohort.hidden} rounds are over")

    later_times = [played.at.timestamp() for played in rounds if not cohort.hides(played.number)]
    return min(later_times, default=np.inf)


def hidden_ends(
    rows: ForecastColumns | AnswerColumns,
    cohort: Cohort,
    cohort_hidden_end: float | None,
    first_rounds: int | None,
) -> Floats | None:
    """Return when each market's hidden period ended, NaN if it has none; None if no market has one.

    It is the cohort's, which ended at `cohort_hidden_end`, for markets shown in it. If the cohort hides
    nothing, it is the `first_rounds` rounds in which a market was shown.
    """
    if cohort_hidden_end is not None:
        ends = np.full(len(rows.markets), np.nan)
        # The cohort hides its first rounds: only markets shown in one of these have a hidden period.
        ends[rows.market[rows.round <= cohort.hidden]] = cohort_hidden_end
        return ends
    if first_rounds:
        return ends_of_first_rounds(rows, len(rows.markets), first_rounds)
    return None


def ends_of_first_rounds(rows: ForecastColumns | AnswerColumns, markets: int, first_rounds: int) -> Floats:
    """Return when each market was first shown after this many rounds; infinity if it never was."""
    # All instants at which a market was shown, by market, then by time.
    instants = np.unique(number_instants(rows.market, rows.at))

    # The instants of market m are those from `first_instant[m]` up to `first_instant[m + 1]`.
    first_instant = np.searchsorted(instants // INSTANTS, np.arange(markets + 1))

    end_instant = first_instant[:-1] + first_rounds
    has_ended = end_instant < first_instant[1:]

    ends = np.full(markets, np.inf)
    ends[has_ended] = instants[end_instant[has_ended]] % INSTANTS
    return ends


def tournament_entries(
    rows: ForecastColumns, known: Floats, hidden_ends_of_markets: Floats | None
) -> TournamentForecasts:
    """Return the markets of a cohort as questions of a tournament, where a forecast stands until the next.

    `hidden_ends_of_markets` is when each market's hidden period ends, NaN if it has none.
    """
    ended = take_rows(rows, np.flatnonzero(rows.outcome >= 0))
    spans = question_spans(ended, ended.market, known)
    left_out = np.unique(rows.market).size - np.unique(ended.market).size

    is_counted = ended.stated & ~ended.early
    # In order of question, forecaster and time, so that the next row of the same two ends a forecast.
    rows_in_order = np.lexsort((ended.at, ended.agent, ended.market))
    rows_in_order = rows_in_order[is_counted[rows_in_order]]
    question = ended.market[rows_in_order]
    forecaster = ended.agent[rows_in_order]
    start = ended.at[rows_in_order].astype(np.float64)

    is_same_question = np.diff(question, append=-1) == 0
    is_followed = is_same_question & (np.diff(forecaster, append=-1) == 0)
    following = np.append(start[1:], np.inf)

    scheduled = spans.scheduled[question]
    hidden_until = None
    if hidden_ends_of_markets is not None:
        hidden_until = np.minimum(hidden_ends_of_markets[question], scheduled)

    return TournamentForecasts(
        questions=rows.markets,
        question=question,
        forecaster=rows.agents,
        who=forecaster,
        stated=stated_belief(ended.forecast[rows_in_order]),
        outcome=ended.outcome[rows_in_order].astype(np.float64),
        start=start,
        end=np.where(is_followed, following, np.inf),
        opens=spans.opens[question],
        closes=spans.ends[question],
        scheduled=scheduled,
        hidden_until=hidden_until,
        left_out=left_out,
    )


def by_outcome_chance(entries: TournamentForecasts) -> TournamentForecasts:
    """Return yes/no entries by the probability given to the outcome, clipped to the site's limits."""
    if entries.outcome is None:
        return entries

    stated = limits.clip(entries.stated)
    chance = np.where(entries.outcome == 1, stated, 1 - stated)
    return replace(entries, stated=chance, outcome=None, points=np.full(chance.size, 100.0))


def answer_entries(
    answers: AnswerColumns, markets: Mapping[str, SeasonMarket], hidden_ends_of_markets: Floats | None
) -> TournamentForecasts:
    """Return answers to ended questions of other kinds, by the probability given to the outcome."""
    lives = question_lives(answers, markets)
    questions = stated_questions(answers, markets, lives)
    market_numbers = {name: place for place, name in enumerate(answers.markets)}
    agent_numbers = {name: place for place, name in enumerate(answers.agents)}
    asked_markets: list[int] = []
    forecasters: list[int] = []
    columns: dict[str, list[Floats]] = {name: [np.zeros(0)] for name in ("stated", "start", "end", "points")}
    for question in questions:
        forecasts = question.forecasts
        if forecasts is None:
            continue
        count = forecasts.chance.size
        asked_markets += [market_numbers[question.name]] * count
        forecasters += [agent_numbers[name] for name in forecasts.forecaster.tolist()]
        columns["stated"].append(forecasts.chance)
        columns["start"].append(forecasts.start)
        columns["end"].append(forecasts.end)
        columns["points"].append(np.full(count, forecasts.points))

    market = np.array(asked_markets, dtype=np.int64)
    scheduled = lives["scheduled_close"][market]
    is_unresolved = np.array([not markets[name].answer for name in answers.markets])
    shown_markets = np.unique(answers.market)
    hidden_until = None
    if hidden_ends_of_markets is not None:
        hidden_until = np.minimum(hidden_ends_of_markets[market], scheduled)
    return TournamentForecasts(
        questions=answers.markets,
        forecaster=answers.agents,
        left_out=int(np.count_nonzero(is_unresolved[shown_markets])),
        question=market,
        who=np.array(forecasters, dtype=np.int64),
        outcome=None,
        opens=lives["open"][market],
        closes=lives["close"][market],
        scheduled=scheduled,
        hidden_until=hidden_until,
        **{name: np.concatenate(parts) for name, parts in columns.items()},
    )


def concatenate_entries(yes_no: TournamentForecasts, others: TournamentForecasts) -> TournamentForecasts:
    """Return two sets of entries as one, by the probability given to the outcome."""
    names = tuple(dict.fromkeys((*yes_no.forecaster, *others.forecaster)))
    columns: dict[str, Any] = {}
    for column in ("stated", "start", "end", "opens", "closes", "scheduled", "hidden_until", "points"):
        parts = [getattr(yes_no, column), getattr(others, column)]
        columns[column] = None if parts[0] is None else np.concatenate(parts)

    # The questions of the others are numbered after the yes/no questions.
    question = others.question + len(yes_no.questions)
    return TournamentForecasts(
        questions=(*yes_no.questions, *others.questions),
        forecaster=names,
        left_out=yes_no.left_out + others.left_out,
        question=np.concatenate([yes_no.question, question]),
        who=np.concatenate([_forecasters_among(names, yes_no), _forecasters_among(names, others)]),
        outcome=None,
        **columns,
    )


def _forecasters_among(names: tuple[str, ...], entries: TournamentForecasts) -> Ints:
    """Return the forecaster of each entry, as an index into all names."""
    place_in_names = np.array([names.index(name) for name in entries.forecaster], dtype=np.int64)
    forecasters: Ints = place_in_names[entries.who]
    return forecasters
