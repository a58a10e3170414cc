"""Results of tools in a round: stored once, and reused for identical requests."""

import json
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from agents.toolbox import ToolResult, ToolSource
from arena.record.schema.cohort import CohortRow, RoundRow, ToolResultRow
from arena.record.schema.statements import insert_one
from arena.record.schema.typed import col, select
from arena.record.write.cohorts import lock_round
from markets.hashes import canonical, digest, plain_value

NOTES = "notes"
"""The tool whose requests are an agent's memory."""
LATE = "the round is over"


def request_key(agent: str, tool: str, request: str) -> str:
    """Return a hash of what identifies a request within a round."""
    return digest([agent, tool, request])


def read_tool_text(connection: Connection, round_id: int, key: str) -> str | None:
    """Return the stored result of a round's request, if there is one."""
    query = select(ToolResultRow.text).where(ToolResultRow.round_id == round_id, ToolResultRow.key == key)
    return connection.scalar(query)


def add_tool_result(
    connection: Connection,
    round_id: int,
    round_key: tuple[int, int],
    request: tuple[str, str, str],
    result: ToolResult,
    at: datetime,
) -> str:
    """Keep what is told to a request by agent, tool and words, unless another process was first; return it.

    `round_key` is cohort and round. Once that is over nothing is told any more: nobody would verify it.
    """
    over = lock_round(connection, round_id)
    key = request_key(*request)
    stored_text = read_tool_text(connection, round_id, key)
    if stored_text is not None:
        return stored_text
    if over:
        raise LookupError(LATE)

    agent, tool, arguments = request
    cohort, round_number = round_key
    row: dict[str, Any] = {
        "agent": agent,
        "tool": tool,
        "request": arguments,
        "text": result.text,
        "sources": canonical(result.sources),
        "withheld": canonical(result.withheld),
    }
    hashed_values = row | {"cohort": cohort, "round": round_number, "fetched_at": plain_value(at), "key": key}
    other_columns = {"round_id": round_id, "fetched_at": at, "key": key, "hash": digest(hashed_values)}
    insert_one(connection, ToolResultRow.__table__, **row, **other_columns)
    return result.text


def read_listed(connection: Connection, round_id: int) -> set[str]:
    """Return the addresses of all articles that tools have listed in a round."""
    addresses = set[str]()
    query = select(ToolResultRow.sources).where(ToolResultRow.round_id == round_id)
    for sources in connection.scalars(query):
        addresses.update(source["url"] for source in json.loads(sources))
    return addresses


def read_notes(connection: Connection, cohort_id: int, agent: str, before: int) -> str:
    """Return the last notes that an agent of a cohort wrote before a round; empty if there are none."""
    query = (
        select(ToolResultRow.request)
        .from_joined(ToolResultRow, RoundRow)
        .where(RoundRow.cohort_id == cohort_id, RoundRow.number < before)
        .where(ToolResultRow.agent == agent, ToolResultRow.tool == NOTES)
        .order_by(col(RoundRow.number).desc(), col(ToolResultRow.id).desc())
    )
    for request in connection.scalars(query):
        notes = _notes_in(request)
        if notes:
            return notes
    return ""


def _notes_in(request: str) -> str:
    """Return the notes in a request, in whatever form a model wrote them."""
    try:
        value = json.loads(request)
    except ValueError:
        return ""
    text = value.get("text") if isinstance(value, dict) else None
    return text if isinstance(text, str) else ""


def read_recorded(connection: Connection, at: datetime, key: str) -> ToolResult | None:
    """Return the stored result of a request in a round at an instant, in any cohort."""
    query = (
        select(ToolResultRow.text, ToolResultRow.sources, ToolResultRow.withheld)
        .from_joined(ToolResultRow, RoundRow, CohortRow)
        .where(RoundRow.at == at, ToolResultRow.key == key)
        .order_by(CohortRow.number)
    )
    row = connection.execute(query.limit(1)).one_or_none()
    if row is None:
        return None
    sources = tuple(ToolSource(**source) for source in json.loads(row.sources))
    return ToolResult(row.text, sources, json.loads(row.withheld))
