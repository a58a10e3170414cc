"""Whole turns into the record: those that end together are written together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

from sqlalchemy import BindParameter, Connection, bindparam, select, update

from agents.model import Decision
from arena.record.model.model import Turn
from arena.record.schema.codec import turn_text, wishes_text
from arena.record.schema.rows import Line, insert_lines, line_of
from arena.record.schema.tables import CLAIM, FILL, FORECAST, LEVEL, REJECTION, ROUND, TURN
from arena.record.write.claims import give_back
from arena.record.write.write import add_entries
from markets.hashes import sha256
from portfolio.ledger import fill_hash
from portfolio.model import Fill, FillLevel

FILL_NAMES, LEVEL_NAMES = (
    tuple(field.name for field in fields(fact) if field.name != "levels") for fact in (Fill, FillLevel)
)
SAID, WHY = ("market_id", "stage", "probability", "reason"), ("code", "message", "market_id")
PLAYED = ("verdict", "note", "cash", "wishes", "code_version", "hash")
fill_line, level_line, said_line, why_line = (
    line_of(*names) for names in (FILL_NAMES, LEVEL_NAMES, SAID, WHY)
)

ROUND_ID: BindParameter[int] = bindparam("round_id")
IDS: BindParameter[Sequence[int]] = bindparam("ids", expanding=True)


@dataclass(frozen=True, slots=True)
class Claimed:
    """A turn, whose it is, and the token of the claim that it was played under."""

    entrant_id: int
    token: int
    turn: Turn


def add_turns(
    connection: Connection, round_id: int, place: tuple[int, int], claimed: Sequence[Claimed], version: str
) -> dict[int, Turn]:
    """Turns of one round in the caller's transaction; those whose claim was lost to another are left out.

    `place` is the number of cohort and round, `version` that of the code. What is written, by entrant.
    Claims on turns that failed end with that, so that anyone may try them again.
    """
    tokens = _tokens(connection, round_id, claimed)
    turns = {
        each.entrant_id: _kept(each.turn) for each in claimed if tokens.get(each.entrant_id) == each.token
    }
    ids = _add_rows(connection, round_id, place, turns, version)
    placed = [(ids[entrant_id], turn) for entrant_id, turn in turns.items()]
    said = ((id, *said_line(x)) for id, turn in placed for x in turn.decision.forecasts)
    insert_lines(connection, FORECAST, ("turn_id", *SAID), said)
    refused = ((id, n, *why_line(x)) for id, turn in placed for n, x in enumerate(turn.rejections))
    insert_lines(connection, REJECTION, ("turn_id", "position", *WHY), refused)
    _add_fills(connection, placed)
    add_entries(connection, {entrant_id: turn.entries for entrant_id, turn in turns.items() if turn.entries})
    failed = [entrant_id for entrant_id, turn in turns.items() if turn.decision.verdict == "failed"]
    give_back(connection, round_id, failed)
    return turns


TOKENS = (
    select(CLAIM.c.entrant_id, CLAIM.c.token)
    .join(ROUND, ROUND.c.id == CLAIM.c.round_id)
    .where(CLAIM.c.round_id == ROUND_ID, CLAIM.c.entrant_id.in_(IDS), ROUND.c.done == 0)
    .order_by(CLAIM.c.entrant_id)
    .with_for_update(of=CLAIM)
)


def _tokens(connection: Connection, round_id: int, claimed: Sequence[Claimed]) -> dict[int, int]:
    """The claims that hold now, kept from being taken until the transaction ends; none once all is over."""
    mine = {"round_id": round_id, "ids": [each.entrant_id for each in claimed]}
    return dict(connection.execute(TOKENS, mine).all())


def _kept(turn: Turn) -> Turn:
    """A failed turn has only its note: it may be played again, and facts can't be taken back."""
    if turn.decision.verdict != "failed":
        return turn
    return Turn(turn.entrant, turn.cash, Decision(verdict="failed", note=turn.decision.note))


def _add_rows(
    connection: Connection, round_id: int, place: tuple[int, int], turns: dict[int, Turn], version: str
) -> dict[int, int]:
    """The rows of the turns themselves, new or in place of failed ones; their ids by entrant."""
    lines = {entrant_id: _line(place, turn, version) for entrant_id, turn in turns.items()}
    known = _ids(connection, round_id, turns)
    for entrant_id in known:
        row = dict(zip(PLAYED, lines[entrant_id], strict=True))
        connection.execute(update(TURN).where(TURN.c.id == known[entrant_id]).values(**row))
    fresh = [(round_id, entrant_id, *line) for entrant_id, line in lines.items() if entrant_id not in known]
    insert_lines(connection, TURN, ("round_id", "entrant_id", *PLAYED), fresh)
    return _ids(connection, round_id, turns) if fresh else known


def _line(place: tuple[int, int], turn: Turn, version: str) -> Line:
    decision, wishes = turn.decision, wishes_text(turn.decision)
    hash = sha256(turn_text(*place, turn, wishes))
    return decision.verdict, decision.note, turn.cash, wishes, version, hash


TURN_IDS = select(TURN.c.entrant_id, TURN.c.id).where(TURN.c.round_id == ROUND_ID, TURN.c.entrant_id.in_(IDS))


def _ids(connection: Connection, round_id: int, turns: dict[int, Turn]) -> dict[int, int]:
    return dict(connection.execute(TURN_IDS, {"round_id": round_id, "ids": list(turns)}).all())


FILL_IDS = select(FILL.c.id, FILL.c.turn_id, FILL.c.position).where(FILL.c.turn_id.in_(IDS))


def _add_fills(connection: Connection, placed: Sequence[tuple[int, Turn]]) -> None:
    fills = {(id, n): fill for id, turn in placed for n, fill in enumerate(turn.fills)}
    if not fills:
        return
    lines = ((*key, fill_hash(fill), *fill_line(fill)) for key, fill in fills.items())
    insert_lines(connection, FILL, ("turn_id", "position", "hash", *FILL_NAMES), lines)
    keys = connection.execute(FILL_IDS, {"ids": [id for id, turn in placed if turn.fills]})
    levels = (line for id, turn_id, place in keys for line in _levels(id, fills[turn_id, place]))
    insert_lines(connection, LEVEL, ("fill_id", "position", *LEVEL_NAMES), levels)


def _levels(fill_id: int, fill: Fill) -> Iterator[Line]:
    for position, level in enumerate(fill.levels):
        yield fill_id, position, *level_line(level)
