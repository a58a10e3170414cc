"""Claims on turns: who plays which, for how long by the database's clock, under which token."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta

from sqlalchemy import BindParameter, Connection, bindparam, select, update
from sqlalchemy.dialects import postgresql, sqlite

from arena.record.schema.clock import NOW, FromNow, seconds
from arena.record.schema.tables import CLAIM, TURN

IDS: BindParameter[Sequence[int]] = bindparam("ids", expanding=True)
UNTIL = FromNow(bindparam("length"))
THESE = (CLAIM.c.round_id == bindparam("round"), CLAIM.c.entrant_id.in_(IDS))
HELD = (
    select(CLAIM.c.entrant_id, CLAIM.c.token, CLAIM.c.holder, (CLAIM.c.expires_at <= NOW).label("over"))
    .where(*THESE)
    .order_by(CLAIM.c.entrant_id)  # all lock in the same order, so that none waits for one that waits for it
    .with_for_update()
)
MINE = select(CLAIM.c.entrant_id).where(*THESE, CLAIM.c.holder == bindparam("by"))
OVER = select(TURN.c.entrant_id).where(
    TURN.c.round_id == bindparam("round"), TURN.c.entrant_id.in_(IDS), TURN.c.verdict != "failed"
)
FIRST = {"round_id": bindparam("round"), "token": 1, "holder": bindparam("by"), "expires_at": UNTIL}
CLAIMS = {
    "sqlite": sqlite.insert(CLAIM).values(entrant_id=bindparam("entrant"), **FIRST).on_conflict_do_nothing(),
    "postgresql": (
        postgresql.insert(CLAIM).values(entrant_id=bindparam("entrant"), **FIRST).on_conflict_do_nothing()
    ),
}
TAKE = (
    update(CLAIM)
    .where(CLAIM.c.round_id == bindparam("round"), CLAIM.c.entrant_id == bindparam("entrant"))
    .values(token=CLAIM.c.token + 1, holder=bindparam("by"), expires_at=UNTIL)
)
GIVE_BACK = update(CLAIM).where(*THESE).values(expires_at=NOW)
RENEW = update(CLAIM).where(*THESE).values(expires_at=UNTIL)


def claim_turns(
    connection: Connection,
    round_id: int,
    entrant_ids: Sequence[int],
    holder: str,
    length: timedelta,
    is_gone: Callable[[str], bool],
) -> dict[int, int]:
    """Take the turns that nobody holds, or whose holder is gone or late; the token of each one taken.

    A turn that has been played since it was looked for is left alone: there is nothing to do.
    """
    lease = {"round": round_id, "by": holder, "length": seconds(length)}
    held = connection.execute(HELD, {"round": round_id, "ids": entrant_ids}).all()
    known = {row.entrant_id for row in held}
    tokens = _new_claims(connection, [each for each in entrant_ids if each not in known], lease)
    free = [row for row in held if row.over or row.holder == holder or is_gone(row.holder)]
    if free:
        tokens |= _taken_over(connection, {row.entrant_id: row.token for row in free}, lease)
    return tokens


def _new_claims(connection: Connection, ids: Sequence[int], lease: Mapping[str, object]) -> dict[int, int]:
    """Claims on turns that nobody ever held. On a server another may come first between look and write."""
    if not ids:
        return {}
    server = connection.dialect.name
    connection.execute(CLAIMS[server], [{**lease, "entrant": each} for each in ids])
    mine = ids if server == "sqlite" else connection.scalars(MINE, {**lease, "ids": ids}).all()
    return dict.fromkeys(mine, 1)


def _taken_over(
    connection: Connection, tokens: Mapping[int, int], lease: Mapping[str, object]
) -> dict[int, int]:
    """Claims that others had, by entrant with their tokens; those whose turns are in are left alone."""
    played = set(connection.scalars(OVER, {"round": lease["round"], "ids": list(tokens)}))
    taken = {each: token + 1 for each, token in tokens.items() if each not in played}
    if taken:
        connection.execute(TAKE, [{**lease, "entrant": each} for each in taken])
    return taken


def give_back(connection: Connection, round_id: int, entrant_ids: Sequence[int]) -> None:
    """Let go of turns that were played, to be tried again by whoever comes first."""
    if entrant_ids:
        connection.execute(GIVE_BACK, {"round": round_id, "ids": entrant_ids})


def renew_claims(
    connection: Connection, round_id: int, tokens: Mapping[int, int], length: timedelta
) -> set[int]:
    """Hold turns for longer, by entrant and token; the entrants whose turns are still held."""
    held = connection.execute(HELD, {"round": round_id, "ids": list(tokens)})
    mine = {row.entrant_id for row in held if row.token == tokens[row.entrant_id]}
    connection.execute(RENEW, {"round": round_id, "ids": sorted(mine), "length": seconds(length)})
    return mine
