"""Storing calls in the record, each as soon as it has ended."""

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, func

from agents.model import Call
from arena.record.model.incident import Incident
from arena.record.model.reservation import Reservation
from arena.record.schema.codec import call_fact
from arena.record.schema.cohort import CohortRow, EntrantRow, RoundRow
from arena.record.schema.dialects import is_postgresql
from arena.record.schema.statements import attributes_of, insert_rows, run_statement
from arena.record.schema.turn import CallRow
from arena.record.schema.typed import col, columns_of, select
from arena.record.write.heads import add_head
from arena.record.write.operations import add_incident
from arena.record.write.reservations import CLAIM, ENTRANT_ID, ROUND_ID, free_reservation
from markets.hashes import canonical, canonical_bytes, sha256

ANSWER_FIELDS = (
    "reply",
    "finish",
    "model",
    "fingerprint",
    "rung",
    "tokens_in",
    "tokens_out",
    "cost",
    "worst",
    "latency_ms",
    "thinking",
    "host",
    "tokens_reasoning",
    "tokens_cached",
    "tokens_cache_write",
    "status",
)
QUESTION_FIELDS = ("stage", "sample", "seed")
OF_QUESTION = (
    CallRow.round_id == ROUND_ID,
    CallRow.entrant_id == ENTRANT_ID,
    CallRow.stage == bindparam("stage"),
    CallRow.sample == bindparam("sample"),
)
LAST = select(func.max(CallRow.attempt)).where(*OF_QUESTION).scalar_subquery()
PLACE = (
    select(
        col(CohortRow.number).label("cohort"),
        col(RoundRow.number).label("round"),
        col(EntrantRow.name).label("entrant"),
        LAST.label("last"),
        EntrantRow.position,
        RoundRow.done,
    )
    .from_joined(RoundRow, CohortRow, EntrantRow)
    .where(RoundRow.id == ROUND_ID, EntrantRow.id == ENTRANT_ID)
    .with_for_update(read=True, of=RoundRow.__table__)
)
"""Whose part of which round a call is, in words that outlive ids, and the number of the last attempt.

Meanwhile the round is not closed: its head covers the call, or the call knows that it is late.
"""
ATTEMPT_FIELDS = ("prompt_hash", "reply", "error_code", "cost", "latency_ms")
SAME_ATTEMPT = select(*columns_of(CallRow, ATTEMPT_FIELDS)).where(
    *OF_QUESTION, CallRow.attempt == bindparam("attempt")
)
ALONE = CLAIM.with_for_update()
"""Keeps a second worker, late but paid, from taking the same number; SQLite has one writer at a time."""


def add_call(
    connection: Connection,
    round_id: int,
    entrant_id: int,
    attempt: int,
    call: Call,
    made_at: datetime,
    place: Reservation | None = None,
    incident: Incident | None = None,
) -> None:
    """Store a call in full before its answer is used, and free its reservation.

    It gets the next number in the record. `attempt` is the process's own count, by which an attempt without
    a reservation is recognized when it is kept again, because nobody could learn whether it was. An incident
    goes with it.
    """
    if place is not None and not free_reservation(connection, place, call.error):
        return

    prompt = call.prompt
    ids = {"round_id": round_id, "entrant_id": entrant_id}
    question_key = {"stage": prompt.stage, "sample": prompt.sample}
    if is_postgresql(connection):
        run_statement(connection, ALONE, ids)

    turn_rows = run_statement(connection, PLACE, ids | question_key)
    if not turn_rows:
        raise LookupError(f"no entrant {entrant_id} plays in round {round_id}")
    [(cohort, round_number, entrant, last, position, over)] = turn_rows

    messages = canonical(prompt.messages)
    row = attributes_of(call, *ANSWER_FIELDS) | attributes_of(prompt, *QUESTION_FIELDS) | _error_columns(call)
    row |= {
        "attempt": (last or 0) + 1,
        "messages": messages,
        "citations": canonical(call.citations),
        "prompt_hash": prompt_hash(messages, prompt.seed),
        "made_at": made_at,
    }
    if place is None:  # without a reservation nothing tells whether it was stored before
        stored_attempt = run_statement(connection, SAME_ATTEMPT, {"attempt": attempt, **ids, **question_key})
        if stored_attempt == [tuple(row[name] for name in ATTEMPT_FIELDS)]:
            return

    turn_key = {"cohort": cohort, "round": round_number, "entrant": entrant}
    call_hash = sha256(canonical_bytes(call_fact(row, turn_key)))
    insert_rows(connection, CallRow.__table__, [row | ids | {"hash": call_hash}])
    if incident is not None:
        add_incident(connection, incident)

    # The head of a round that is over does not cover this call, so it gets one of its own.
    if over:
        late = [cohort, round_number, position, prompt.stage, prompt.sample, row["attempt"], call_hash]
        add_head(connection, made_at, {"call": [late]}, cohort)


def _error_columns(call: Call) -> dict[str, Any]:
    """Return the columns of a call's error."""
    error = call.error
    if error is None:
        return {"error_code": None, "error_message": None, "error_retry": 0}
    return {"error_code": error.code, "error_message": error.message, "error_retry": int(error.retry)}


def prompt_hash(messages: str, seed: int) -> str:
    """Return a hash of what identifies a question: the messages, as canonical JSON, and the seed."""
    return sha256(f'{{"messages":{messages},"seed":{seed}}}')
