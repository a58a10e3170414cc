"""Answers to questions that are not of yes or no as columns for the scores, and the markets of a season."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from sqlalchemy import Connection

from agents.model import USABLE_STATUSES
from arena.record.model.answer_columns import AnswerColumns, SeasonMarket
from arena.record.model.columns import factorize
from arena.record.queries.cohorts import item_of, read_hidden_rounds, read_of_cohorts
from arena.record.queries.forecasts import (
    PLACED_TURNS,
    SHOWN_ITEMS,
    TurnMarketPairs,
    int_column,
    read_frozen_rules,
    read_shown_turns,
    transpose,
    turn_market_pairs,
)
from arena.record.queries.holdout import read_hidden_ends
from arena.record.schema.cohort import CohortRow, EntrantRow, RoundRow, SnapshotItemRow
from arena.record.schema.turn import ForecastRow, TurnRow
from arena.record.schema.typed import clause, col, read_objects, select, select_as
from arena.record.schema.world import MarketVersionRow, ResolutionRow
from markets.distributions import YES_NO, form_of

ANY_OTHER_KIND = (
    select(MarketVersionRow.id)
    .select_from(SHOWN_ITEMS)
    .where(MarketVersionRow.form != "", SnapshotItemRow.shown == 1)
    .limit(1)
)


def has_other_kinds(connection: Connection, cohort: int | None) -> bool:
    """Tell whether any question other than yes or no was shown."""
    return read_of_cohorts(connection, ANY_OTHER_KIND, cohort).scalar() is not None


def plays_questions(connection: Connection, cohort: int | None) -> bool:
    """Tell whether questions rather than markets were played: some are not of yes or no, or nobody trades."""
    if has_other_kinds(connection, cohort):
        return True

    for number, rules in read_frozen_rules(connection).items():
        if cohort in (None, number) and not rules.get("money", True):
            return True
    return False


SHOWN_QUESTIONS = (
    select(SnapshotItemRow.snapshot_id, SnapshotItemRow.market_id, MarketVersionRow.form)
    .select_from(SHOWN_ITEMS)
    .where(SnapshotItemRow.shown == 1, MarketVersionRow.form != "")
    .order_by(CohortRow.number, RoundRow.number, SnapshotItemRow.position)
)
STATED_ANSWERS = (
    select(ForecastRow.turn_id, ForecastRow.market_id, ForecastRow.distribution, ForecastRow.reason)
    .select_from(PLACED_TURNS.join(ForecastRow))
    .where(ForecastRow.stage == "final", ForecastRow.distribution != "")
    .where(col(TurnRow.status).in_(USABLE_STATUSES))
)


def read_answer_columns(connection: Connection, cohort: int | None) -> AnswerColumns:
    """Return the answers of every played turn to each question other than yes or no."""
    turns = read_shown_turns(connection, cohort)
    shown = read_of_cohorts(connection, SHOWN_QUESTIONS, cohort)
    snapshots, market_ids, form_texts = transpose(shown.all(), 3)
    markets, market_of_item = factorize(market_ids)
    forms, form_of_item = factorize(form_texts)

    # One row for each turn and each question that it was shown.
    turn, item = turn_market_pairs(turns.snapshot, int_column(snapshots))
    pairs = TurnMarketPairs(turns.id, turn, markets, market_of_item[item])

    stated = read_of_cohorts(connection, STATED_ANSWERS, cohort)
    turn_ids, stated_markets, distributions, reason_texts = transpose(stated.all(), 4)
    rows, has_row = pairs.rows(turn_ids, stated_markets)
    answers, answer_codes = factorize(distributions)
    reasons, reason_codes = factorize(reason_texts)

    answer_of_row = np.full(turn.size, -1, dtype=np.int64)
    answer_of_row[rows] = answer_codes[has_row]
    reason_of_row = np.full(turn.size, -1, dtype=np.int64)
    reason_of_row[rows] = reason_codes[has_row]
    return AnswerColumns(
        agents=turns.agents,
        markets=markets,
        forms=forms,
        answers=answers,
        reasons=reasons,
        agent=turns.agent[turn],
        cohort=turns.cohort[turn],
        round=turns.round[turn],
        at=turns.at[turn],
        market=pairs.market,
        form=form_of_item[item],
        answer=answer_of_row,
        reason=reason_of_row,
        blind=turns.blind[turn],
        released=turns.released[turn],
    )


def read_season_markets(connection: Connection, at: datetime | None = None) -> dict[str, SeasonMarket]:
    """Return every market in a snapshot, with its newest page and its resolution.

    With an instant only ends that were known by then count. Those that are held out have not ended, for all
    that scores know.
    """
    listed_ids = select(SnapshotItemRow.market_id).distinct()
    pages = (
        select(MarketVersionRow.market_id, MarketVersionRow.event_id, MarketVersionRow.story)
        .add_columns(MarketVersionRow.category, MarketVersionRow.question)
        .add_columns(MarketVersionRow.closes_at, MarketVersionRow.form)
        .where(col(MarketVersionRow.market_id).in_(listed_ids))
        .order_by(MarketVersionRow.version)
    )
    markets = {}
    for market, event_id, story, category, question, closes_at, form in connection.execute(pages):
        markets[market] = SeasonMarket(story or event_id, category, question, closes_at, form)

    resolutions = (
        select(ResolutionRow.market_id, ResolutionRow.known_at, ResolutionRow.payout, ResolutionRow.answer)
        .where(col(ResolutionRow.market_id).in_(listed_ids))
        .order_by(ResolutionRow.version)
    )
    if at is not None:
        resolutions = resolutions.where(ResolutionRow.known_at <= at)
    held_out = read_hidden_ends(connection)
    for market, known_at, payout, answer in connection.execute(resolutions):
        if market in held_out:
            continue

        # Versions come in order: the newest one's payout stays.
        markets[market] = markets[market].ended(known_at, payout, answer)
    return markets


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """An answer to a question that isn't of yes or no, as the question then read, and by whom."""

    cohort: int
    round: int
    at: datetime
    agent: str
    market_id: str
    question: str
    form: str
    distribution: str
    reason: str


def read_recorded_answers(
    connection: Connection, agent: str | None = None, market: str | None = None
) -> list[RecordedAnswer]:
    """Return the answers of an agent or to a question, newest first, without hidden rounds."""
    columns = {
        "cohort": CohortRow.number,
        "round": RoundRow.number,
        "at": RoundRow.at,
        "agent": EntrantRow.name,
        "question": MarketVersionRow.question,
        "form": MarketVersionRow.form,
        "market_id": ForecastRow.market_id,
        "distribution": ForecastRow.distribution,
        "reason": ForecastRow.reason,
    }
    query = (
        select_as(**columns)
        .select_from(
            PLACED_TURNS.join(ForecastRow)
            .join(SnapshotItemRow, item_of(ForecastRow.market_id))
            .join(MarketVersionRow, clause(MarketVersionRow.id == SnapshotItemRow.version_id))
        )
        .where(ForecastRow.stage == "final", ForecastRow.distribution != "")
        .where(col(TurnRow.status).in_(USABLE_STATUSES))
        .where(col(RoundRow.id).not_in(read_hidden_rounds(connection)))
        .order_by(col(RoundRow.at).desc(), col(CohortRow.number).desc(), EntrantRow.position)
        .order_by(ForecastRow.market_id)
    )
    if agent is not None:
        query = query.where(EntrantRow.name == agent)
    if market is not None:
        query = query.where(ForecastRow.market_id == market)
    return read_objects(RecordedAnswer, connection.execute(query))


def count_kinds(connection: Connection, cohort: int) -> dict[str, int]:
    """Return the counts of a cohort's questions by kind; empty if all are of yes or no."""
    query = (
        select(SnapshotItemRow.market_id, MarketVersionRow.form)
        .select_from(SHOWN_ITEMS)
        .where(SnapshotItemRow.shown == 1, CohortRow.number == cohort)
        .distinct()
    )
    kind_of_market = {market: form_of(form).kind for market, form in connection.execute(query)}
    counts = Counter(kind_of_market.values())
    return dict(counts) if counts.keys() - {YES_NO} else {}
