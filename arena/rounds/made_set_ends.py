"""Resolutions of a question set that was made from the record's markets."""

import json
from collections.abc import Collection
from datetime import datetime
from typing import Any

from arena.forms.bench.model import BenchQuestion, QuestionSet
from arena.record.queries.markets import KnownMarket, read_known_ids, read_markets
from arena.record.schema.database import Connection
from markets.millionths import ONE
from markets.model import MarketId


def with_recorded_ends(
    connection: Connection, question_set: QuestionSet, text: str | None, at: datetime
) -> str | None:
    """Return the text of a resolution set with the record's rows added; None if there are no rows at all.

    A market that is still open has its newest price.
    """
    data: dict[str, Any] = {
        "forecast_due_date": question_set.due,
        "question_set": question_set.name,
        "resolutions": [],
    }
    if text is not None:
        data = json.loads(text)

    resolved = {(row.get("source"), str(row.get("id"))) for row in data["resolutions"]}
    new_rows = _end_rows(connection, question_set, resolved, at)
    if text is None and not new_rows:
        return None
    data["resolutions"] = [*data["resolutions"], *new_rows]
    return f"{json.dumps(data, ensure_ascii=False)}\n"


def _end_rows(
    connection: Connection, question_set: QuestionSet, resolved: Collection[tuple[Any, str]], at: datetime
) -> list[dict[str, Any]]:
    """Return the rows of the record's markets that a set asks about, but for questions with a row already.

    `resolved` are the sources and ids of these questions.
    """
    questions = _questions_by_market(question_set)
    wanted_ids = []
    for market_id in read_known_ids(connection, at):
        question = questions.get(market_id)
        if question is not None and (question.source, question.id) not in resolved:
            wanted_ids.append(market_id)

    rows = []
    for known in read_markets(connection, at, wanted_ids):
        row = _end_row(known, questions[known.listing.market.id])
        if row is not None:
            rows.append(row)
    return rows


def has_questions_of_others(connection: Connection, question_set: QuestionSet, at: datetime) -> bool:
    """Tell whether a set has questions that are not about markets of the record."""
    return not set(read_known_ids(connection, at)).issuperset(_questions_by_market(question_set))


def _questions_by_market(question_set: QuestionSet) -> dict[MarketId, BenchQuestion]:
    """Return the single questions of a set by the ids of their markets; a data question has one a date."""
    questions = {}
    for question in question_set.questions:
        if question.combined:
            continue
        question_id = f"{question.source}:{question.id}"
        for _, _, day in question.asked:
            market_id = f"{question_id}@{day}" if day else question_id
            questions[MarketId(market_id)] = question
    return questions


def _end_row(known: KnownMarket, question: BenchQuestion) -> dict[str, Any] | None:
    """Return the row of a market that has ended or has a price; None for others and those called off."""
    quote = known.listing.quote
    if known.ends:
        newest_end = known.ends[-1]
        value = newest_end.payout
        at = newest_end.known_at
    elif quote is not None and question.is_market:
        value = quote.price
        at = quote.at
    else:
        return None

    if value is None:
        return None

    # The date of a data question is the one that it asks about, behind the @ of its market's id.
    day = known.listing.market.id.rpartition("@")[2]
    if question.is_market:
        day = f"{at:%Y-%m-%d}"

    return {
        "id": question.id,
        "source": question.source,
        "direction": None,
        "resolution_date": day,
        "resolved_to": value / ONE,
        "resolved": bool(known.ends),
    }
