"""Changes for agents from outside: their keys, their open turns, their answers."""

from collections.abc import Collection, Mapping
from datetime import datetime

from sqlalchemy import BindParameter, Connection, bindparam

from arena.record.schema.cohort import RoundRow
from arena.record.schema.dialects import NOW, FromNow, SecondsUntil
from arena.record.schema.statements import new_rows
from arena.record.schema.typed import IDS, col, select, update
from arena.record.schema.work import DeskKeyRow, DeskTurnRow

NEW_KEY = new_rows(DeskKeyRow)
PUT_KEY = NEW_KEY.on_conflict_do_update(
    index_elements=["agent"], set_={name: NEW_KEY.excluded[name] for name in ("hash", "made_at")}
)
ENTRANT: BindParameter[int] = bindparam("entrant")
ROUND: BindParameter[int] = bindparam("round")
OF_ENTRANT = DeskTurnRow.entrant_id == ENTRANT
OF_TURN = (OF_ENTRANT, DeskTurnRow.round_id == ROUND)
IS_UNANSWERED = col(DeskTurnRow.answer).is_(None)

NEW_TURN = new_rows(DeskTurnRow).values(
    entrant_id=ENTRANT,
    round_id=ROUND,
    view=bindparam("view"),
    expires_at=FromNow(bindparam("wait")),
    answer=None,
    answered_at=None,
)
NEW_FIELDS = ("round_id", "view", "expires_at", "answer", "answered_at")
OPEN_TURN = NEW_TURN.on_conflict_do_update(
    index_elements=["entrant_id"],
    set_={name: NEW_TURN.excluded[name] for name in NEW_FIELDS},
    where=DeskTurnRow.__table__.c.round_id != NEW_TURN.excluded.round_id,
)
SHOWN = select(DeskTurnRow.view, SecondsUntil(DeskTurnRow.expires_at)).where(*OF_TURN)
ENDED_TURNS = select(DeskTurnRow.entrant_id, DeskTurnRow.answer).where(
    col(DeskTurnRow.entrant_id).in_(IDS),
    ~IS_UNANSWERED | (DeskTurnRow.expires_at <= NOW),
)
MOVE_DEADLINE = (
    update(DeskTurnRow).where(OF_ENTRANT, IS_UNANSWERED).values(expires_at=FromNow(bindparam("left")))
)
UNDONE_ROUNDS = select(RoundRow.id).where(RoundRow.done == 0)
ANSWER_TURN = (
    update(DeskTurnRow)
    .where(*OF_TURN, IS_UNANSWERED, DeskTurnRow.expires_at > NOW)
    .where(col(DeskTurnRow.round_id).in_(UNDONE_ROUNDS))
    .values(answer=bindparam("text"), answered_at=NOW)
)


def put_desk_key(connection: Connection, agent: str, key_hash: str, made_at: datetime) -> None:
    """Store an agent's key by its hash, replacing an earlier one."""
    connection.execute(PUT_KEY, {"agent": agent, "hash": key_hash, "made_at": made_at})


def open_desk_turn(
    connection: Connection, entrant_id: int, round_id: int, view: str, seconds: float
) -> tuple[str, float]:
    """Open a turn for `seconds`; return what it shows, and the seconds left.

    One of the same round that is open or over stays as it is: a round that was broken off continues with it.
    """
    turn_key = {"entrant": entrant_id, "round": round_id}
    connection.execute(OPEN_TURN, {**turn_key, "view": view, "wait": seconds})
    shown_view, seconds_left = connection.execute(SHOWN, turn_key).one()
    return shown_view, min(seconds_left, seconds)


def move_deadlines(connection: Connection, seconds_left: Mapping[int, float]) -> None:
    """Set the deadlines of turns anew, by entrant to so many seconds from now."""
    for entrant_id, seconds in seconds_left.items():
        connection.execute(MOVE_DEADLINE, {"entrant": entrant_id, "left": seconds})


def read_ended_turns(
    connection: Connection, entrant_ids: Collection[int], locked: bool = False
) -> dict[int, str | None]:
    """Return by entrant the answers that are in, and None if it is too late for one.

    When `locked`, an answer that is just being written is waited for.
    """
    query = ENDED_TURNS.with_for_update() if locked else ENDED_TURNS
    rows = connection.execute(query, {"ids": sorted(entrant_ids)})
    return {row.entrant_id: row.answer for row in rows}


def answer_desk_turn(connection: Connection, entrant_id: int, round_id: int, text: str) -> bool:
    """Store an answer if none is in and it is not too late; return whether it was stored."""
    result = connection.execute(ANSWER_TURN, {"entrant": entrant_id, "round": round_id, "text": text})
    return result.rowcount == 1
