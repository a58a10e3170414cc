"""A season's forecasts of all kinds as a table, like one read from a file.

`arena board` reads them from a record, and `arena score` from an export, into the same table. An answer that
an agent skipped counts as agreement with the price or the odds, or else as knowing nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from arena.errors import count_text
from arena.record.model.answer_columns import AnswerColumns, SeasonMarket
from arena.record.model.columns import Flags, Floats, Ints
from arena.scores.comparisons import MARKET, REFERENCES
from arena.scores.files.forecasts import ForecastTable
from arena.scores.files.season_forms import season_forms, shown_answers
from arena.scores.metaculus_scores import BASELINES
from arena.scores.rules._columns import is_scored

MICROSECOND = 1e-6


@dataclass(frozen=True, slots=True)
class YesNoRows:
    """One row per turn and yes/no market shown in it: the probability of YES and its price, from 0 to 1.

    `agent` and `market` are indices into the tuples of names. If an agent skipped a market, `stated` is False
    and its forecast is the price; `early` means that its model was released later.
    """

    agents: tuple[str, ...]
    markets: tuple[str, ...]
    agent: Ints
    market: Ints
    time: Floats
    chance: Floats
    price: Floats
    stated: Flags
    early: Flags


@dataclass(frozen=True, slots=True)
class SeasonRows:
    """A season's forecasts with everything that scores them.

    `time` is when each row of the answers was made, `kinds` the kind of each agent in its newest cohort, and
    `as_of` the time of the last snapshot. An agent that answered less than `min_coverage` of what ended has
    no rank.
    """

    yes_no: YesNoRows
    answers: AnswerColumns
    time: Floats
    markets: Mapping[str, SeasonMarket]
    kinds: Mapping[str, str]
    as_of: datetime | None
    min_coverage: float


def turn_times(cohort: Ints, round_number: Ints, round_times: Mapping[tuple[int, int], datetime]) -> Floats:
    """Return the times of turns in seconds since 1970, given the times of rounds.

    Cohorts that decide at the same instant are kept apart by a microsecond.
    """
    rounds_used, round_of_row = np.unique(np.stack([cohort, round_number]), axis=1, return_inverse=True)
    times = []
    for own_cohort, own_round in rounds_used.T.tolist():
        times.append(round_times[own_cohort, own_round].timestamp() + own_cohort * MICROSECOND)
    return np.array(times, dtype=np.float64)[round_of_row.ravel()]


def season_table(name: str, season: SeasonRows) -> ForecastTable:
    """Return a season's forecasts as a table; as on the leaderboard, references have no rank.

    Peer scores leave out baselines, and decisions from before a model's release are not counted.
    """
    yes_no = season.yes_no
    answers = season.answers
    is_counted = ~yes_no.early
    is_answer_counted = ~answers.early
    names_used = {yes_no.agents[place] for place in np.unique(yes_no.agent[is_counted])}
    names_used |= {answers.agents[place] for place in np.unique(answers.agent[is_answer_counted])}
    forecasters = tuple(sorted(names_used))

    lives = _market_lives(season)
    rows = np.flatnonzero(is_answer_counted)
    shown = shown_answers(answers, rows, season.time, season.markets, lives.of(answers.markets))
    forms = season_forms(shown)

    early = int(yes_no.early.sum() + answers.early.sum())
    notes = []
    if early:
        notes.append(f"left out: {count_text(early, 'forecast')} from before the release of the model")
    references = tuple(who for who in forecasters if season.kinds[who] in REFERENCES)
    outside = tuple(who for who in forecasters if season.kinds[who] in BASELINES)
    if len(forecasters) <= len(outside) + 1:
        outside = ()

    as_of = np.inf
    if season.as_of is not None:
        as_of = season.as_of.timestamp()
    return ForecastTable(
        name=name,
        forecasters=forecasters,
        **_yes_no_columns(season, forecasters, lives),
        event_column=True,
        dated=True,
        forms=forms,
        notes=tuple(notes),
        as_of=as_of,
        outside=outside,
        references=references,
        unranked=_reasons_without_rank(season, forecasters),
        titles={market: page.title for market, page in season.markets.items() if page.title},
    )


@dataclass(frozen=True, slots=True)
class MarketLives:
    """When markets were first shown, closed, were to close, and when their outcome counts; NaN while open."""

    places: Mapping[str, int]
    opened: Floats
    closed: Floats
    planned: Floats
    resolved: Floats

    def of(self, markets: tuple[str, ...]) -> dict[str, Floats]:
        """Return the times of some markets as columns of a table."""
        rows = np.array([self.places[market] for market in markets], dtype=np.int64)
        return {
            "open": self.opened[rows],
            "close": self.closed[rows],
            "scheduled_close": self.planned[rows],
            "resolved": self.resolved[rows],
        }


def _market_lives(season: SeasonRows) -> MarketLives:
    """Return the lifetimes of all markets that were shown.

    A market opens when it was first shown, and ends when it closed or its resolution was known.
    """
    names = (*season.yes_no.markets, *season.answers.markets)
    places = {name: place for place, name in enumerate(names)}
    first_shown = np.full(len(names), np.inf)
    last_shown = np.full(len(names), -np.inf)
    offset = len(season.yes_no.markets)
    for market, time in (
        (season.yes_no.market, season.yes_no.time),
        (season.answers.market + offset, season.time),
    ):
        np.minimum.at(first_shown, market, time)
        np.maximum.at(last_shown, market, time)

    closing_times = []
    known_times = []
    for name in names:
        page = season.markets[name]
        closing_times.append(page.closes_at.timestamp())
        known_times.append(np.nan if page.known_at is None else page.known_at.timestamp())

    # A venue may date a close before a market was last shown. What is planned takes a second or more.
    planned = np.maximum(np.maximum(np.array(closing_times), last_shown), first_shown + 1)
    resolved_at = np.array(known_times, dtype=np.float64)
    closed = np.maximum(np.fmin(planned, resolved_at), last_shown)
    return MarketLives(
        places=places,
        opened=first_shown,
        closed=closed,
        planned=planned,
        resolved=np.maximum(resolved_at, planned),
    )


def _yes_no_columns(season: SeasonRows, forecasters: tuple[str, ...], lives: MarketLives) -> dict[str, Any]:
    """Return the columns of yes/no markets, sorted by question, forecaster and time."""
    rows = season.yes_no
    counted_rows = np.flatnonzero(~rows.early)
    markets_used = np.unique(rows.market[counted_rows]).tolist()
    questions = sorted(rows.markets[place] for place in markets_used)
    question_of = {name: place for place, name in enumerate(questions)}
    pages = [season.markets[name] for name in questions]
    events, event = _names_and_numbers([page.event for page in pages])
    categories, category = _names_and_numbers([page.category for page in pages])
    outcome = np.array([page.outcome for page in pages], dtype=np.float64)
    question_times = lives.of(tuple(questions))

    forecaster_number = {name: place for place, name in enumerate(forecasters)}
    forecaster_of_agent = np.array([forecaster_number.get(name, -1) for name in rows.agents], dtype=np.int64)
    who = forecaster_of_agent[rows.agent[counted_rows]]
    question_of_market = np.array([question_of.get(name, -1) for name in rows.markets], dtype=np.int64)
    question = question_of_market[rows.market[counted_rows]]
    order = np.lexsort((rows.time[counted_rows], who, question))
    question = question[order]
    counted_rows = counted_rows[order]
    return {
        "questions": tuple(questions),
        "question": question,
        "forecaster": who[order],
        "probability": rows.chance[counted_rows],
        "outcome": outcome[question],
        "events": events,
        "event": event[question],
        "categories": categories,
        "category": category[question],
        "market": rows.price[counted_rows],
        "time": rows.time[counted_rows],
        **{column: values[question] for column, values in question_times.items()},
    }


def _names_and_numbers(texts: list[str]) -> tuple[tuple[str, ...], Ints]:
    """Return the distinct texts, sorted, and each text's index among them."""
    names = sorted(set(texts))
    places = {name: place for place, name in enumerate(names)}
    return tuple(names), np.array([places[text] for text in texts], dtype=np.int64)


def _reasons_without_rank(season: SeasonRows, forecasters: tuple[str, ...]) -> dict[str, str]:
    """Return the agents that answered too little to be ranked, with the reason."""
    yes_no = season.yes_no
    answers = season.answers
    outcome = np.array([season.markets[name].outcome for name in yes_no.markets], dtype=np.float64)
    has_answer = np.array([bool(season.markets[name].answer) for name in answers.markets], dtype=np.bool_)
    is_ended = is_scored(outcome[yes_no.market]) & ~yes_no.early
    is_answer_ended = has_answer[answers.market] & ~answers.early

    reasons = {}
    for name in forecasters:
        asked = 0
        answered = 0
        for agents, agent, ended, stated in (
            (yes_no.agents, yes_no.agent, is_ended, yes_no.stated),
            (answers.agents, answers.agent, is_answer_ended, answers.stated),
        ):
            if name not in agents:
                continue
            is_asked = ended & (agent == agents.index(name))
            asked += int(is_asked.sum())
            answered += int((is_asked & stated).sum())

        if season.kinds[name] == MARKET or not asked:
            continue
        coverage = answered / asked
        if coverage < season.min_coverage:
            reasons[name] = f"covers {coverage:.0%} of what has resolved"
    return reasons
