"""Turns: the claims on them, and whole turns that are written together where they ended together.

A claim says who plays a turn and under which token, and counts how often that was renewed. No clock has a
part in it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import BindParameter, Connection, bindparam, func

from agents.model import Decision
from arena.record.model.cohort import Turn
from arena.record.model.lease import Hold
from arena.record.schema.codec import orders_text, turn_text
from arena.record.schema.cohort import RoundRow
from arena.record.schema.statements import (
    TableLine,
    TableRows,
    insert_facts,
    insert_lines,
    insert_rows,
    new_rows,
)
from arena.record.schema.turn import (
    AttemptRow,
    FillLevelRow,
    FillRow,
    ForecastRow,
    RejectionRow,
    SecondQuoteRow,
    TurnRow,
)
from arena.record.schema.typed import IDS, col, select, update
from arena.record.schema.work import ClaimRow
from arena.record.write.cohorts import add_entries
from arena.record.write.listings import add_quote_rows
from markets.hashes import canonical, digest, sha256
from portfolio.ledger import fill_hash
from portfolio.model import Fill, FillLevel, Rejection

OF_THESE_TURNS = (ClaimRow.round_id == bindparam("round"), col(ClaimRow.entrant_id).in_(IDS))
HELD_CLAIMS = (
    select(ClaimRow.entrant_id, ClaimRow.token, ClaimRow.holder, ClaimRow.beat)
    .where(*OF_THESE_TURNS)
    .order_by(ClaimRow.entrant_id)  # all lock in the same order, so that none waits for one that waits for it
    .with_for_update()
)
OWN_CLAIMS = select(ClaimRow.entrant_id).where(*OF_THESE_TURNS, ClaimRow.holder == bindparam("by"))
PLAYED_TURNS = select(TurnRow.entrant_id).where(
    TurnRow.round_id == bindparam("round"),
    col(TurnRow.entrant_id).in_(IDS),
    TurnRow.status != "failed",
)
FIRST_CLAIM = {"round_id": bindparam("round"), "entrant_id": bindparam("entrant"), "token": 1}
NEW_CLAIMS = new_rows(ClaimRow).values(**FIRST_CLAIM, holder=bindparam("by"), beat=0).on_conflict_do_nothing()
TAKE_CLAIM = (
    update(ClaimRow)
    .where(ClaimRow.round_id == bindparam("round"), ClaimRow.entrant_id == bindparam("entrant"))
    .values(token=ClaimRow.token + 1, holder=bindparam("by"), beat=0)
)
RELEASE_CLAIMS = update(ClaimRow).where(*OF_THESE_TURNS).values(beat=None)
RENEW_CLAIMS = (
    update(ClaimRow)
    .where(*OF_THESE_TURNS, col(ClaimRow.beat).is_not(None))
    .values(beat=func.coalesce(ClaimRow.beat, 0) + 1)
)


def claim_turns(
    connection: Connection,
    round_id: int,
    entrant_ids: Sequence[int],
    holder: str,
    is_over: Callable[[Hold], bool],
) -> dict[int, int]:
    """Take the turns that nobody holds, or whose holder is dead; return the token of each one taken.

    A turn that has been played since it was looked for is left alone: there is nothing to do.
    """
    claimant = {"round": round_id, "by": holder}
    claims = connection.execute(HELD_CLAIMS, {"round": round_id, "ids": entrant_ids}).all()

    claimed_before = {row.entrant_id for row in claims}
    unclaimed = [entrant_id for entrant_id in entrant_ids if entrant_id not in claimed_before]
    tokens = _new_claims(connection, unclaimed, claimant)

    free = dict[int, int]()
    for row in claims:
        is_mine = row.holder == holder
        if row.beat is None or is_mine or is_over(_hold_of(round_id, row)):
            free[row.entrant_id] = row.token
    if free:
        tokens |= _take_over(connection, free, claimant)
    return tokens


def _hold_of(round_id: int, claim: Any) -> Hold:
    """Return a claim as whoever wants it sees it."""
    return Hold(f"turn {round_id}/{claim.entrant_id}", claim.holder, (claim.token, claim.beat))


def _new_claims(connection: Connection, ids: Sequence[int], claimant: Mapping[str, object]) -> dict[int, int]:
    """Claims on turns that nobody ever held. On a server another may come first between look and write."""
    if not ids:
        return {}
    connection.execute(NEW_CLAIMS, [{**claimant, "entrant": each} for each in ids])
    mine = (
        ids
        if connection.dialect.name == "sqlite"
        else connection.scalars(OWN_CLAIMS, {**claimant, "ids": ids}).all()
    )
    return dict.fromkeys(mine, 1)


def _take_over(
    connection: Connection, tokens: Mapping[int, int], claimant: Mapping[str, object]
) -> dict[int, int]:
    """Claims that others had, by entrant with their tokens; those whose turns are in are left alone."""
    played = set(connection.scalars(PLAYED_TURNS, {"round": claimant["round"], "ids": list(tokens)}))
    taken = {each: token + 1 for each, token in tokens.items() if each not in played}
    if taken:
        connection.execute(TAKE_CLAIM, [{**claimant, "entrant": each} for each in taken])
    return taken


def release_claims(connection: Connection, round_id: int, entrant_ids: Sequence[int]) -> None:
    """Let go of turns that were played, to be tried again by whoever comes first."""
    if entrant_ids:
        connection.execute(RELEASE_CLAIMS, {"round": round_id, "ids": entrant_ids})


def renew_claims(connection: Connection, round_id: int, tokens: Mapping[int, int]) -> set[int]:
    """Renew the claims with these tokens by entrant; return the entrants whose turns are still held."""
    held = connection.execute(HELD_CLAIMS, {"round": round_id, "ids": list(tokens)})
    mine = {row.entrant_id for row in held if row.token == tokens[row.entrant_id]}
    connection.execute(RENEW_CLAIMS, {"round": round_id, "ids": sorted(mine)})
    return mine


FILL_FIELDS = tuple(name for name in Fill.__dataclass_fields__ if name != "levels")
TURN_COLUMNS = ("status", "note", "cash", "orders", "repaired", "reader", "code_version", "hash")

OF_TURN = ("turn_id", "position")
ROUND_ID: BindParameter[int] = bindparam("round_id")


@dataclass(frozen=True, slots=True)
class TurnUnderClaim:
    """A turn, whose it is, the token of the claim that it was played under, and when it ended."""

    entrant_id: int
    token: int
    turn: Turn
    ended_at: datetime | None = None


def add_turns(
    connection: Connection,
    round_id: int,
    place: tuple[int, int],
    claimed: Sequence[TurnUnderClaim],
    version: str,
) -> dict[int, Turn]:
    """Turns of one round in the caller's transaction; those whose claim was lost to another are left out.

    `place` is the number of cohort and round, `version` that of the code. What is written, by entrant.
    Claims on turns that failed end with that, so that anyone may try them again; each failure is kept.
    """
    mine = {"round_id": round_id, "ids": [each.entrant_id for each in claimed]}
    tokens = dict(connection.execute(TOKENS, mine).all())
    turns = {
        each.entrant_id: _without_failed(each.turn)
        for each in claimed
        if tokens.get(each.entrant_id) == each.token
    }
    lines = {entrant_id: _turn_line(place, turn, version) for entrant_id, turn in turns.items()}
    known = _turn_ids(connection, round_id, turns)
    for entrant_id in known:
        row = dict(zip(TURN_COLUMNS, lines[entrant_id], strict=True))
        connection.execute(update(TurnRow).where(TurnRow.id == known[entrant_id]).values(**row))
    fresh = [(round_id, entrant_id, *line) for entrant_id, line in lines.items() if entrant_id not in known]
    insert_lines(connection, TurnRow.__table__, ("round_id", "entrant_id", *TURN_COLUMNS), fresh)
    ids = _turn_ids(connection, round_id, turns) if fresh else known
    placed = [(ids[entrant_id], turn) for entrant_id, turn in turns.items()]
    forecasts = [
        (turn_id, f.market_id, f.millionths, f.stage, f.reason)
        for turn_id, turn in placed
        for f in turn.decision.forecasts
    ]
    columns = ("turn_id", "market_id", "probability", "stage", "reason")
    insert_lines(connection, ForecastRow.__table__, columns, forecasts)
    rejections = [
        ((turn_id, n), rejection) for turn_id, turn in placed for n, rejection in enumerate(turn.rejections)
    ]
    insert_facts(connection, RejectionRow, OF_TURN, rejections, [*Rejection.__dataclass_fields__])
    _add_second_quotes(connection, placed)
    _add_fills(connection, placed)
    add_entries(connection, {entrant_id: turn.entries for entrant_id, turn in turns.items() if turn.entries})
    failed = [x for x in claimed if x.entrant_id in turns and x.turn.decision.status == "failed"]
    _add_attempts(connection, round_id, place, failed, version)
    release_claims(connection, round_id, [each.entrant_id for each in failed])
    return turns


LAST_ATTEMPTS = (
    select(AttemptRow.entrant_id, func.max(AttemptRow.number))
    .where(AttemptRow.round_id == ROUND_ID, col(AttemptRow.entrant_id).in_(IDS))
    .group_by(AttemptRow.entrant_id)
)


def _add_attempts(
    connection: Connection,
    round_id: int,
    place: tuple[int, int],
    failed: Sequence[TurnUnderClaim],
    version: str,
) -> None:
    if not failed:
        return
    ids = [each.entrant_id for each in failed]
    last = dict(connection.execute(LAST_ATTEMPTS, {"round_id": round_id, "ids": ids}).all())
    rows = TableRows()
    for each in failed:
        number = last.get(each.entrant_id, 0) + 1
        row = {"number": number, "note": each.turn.decision.note}
        row |= {"at": each.ended_at, "code_version": version}
        whose = {"cohort": place[0], "round": place[1], "entrant": each.turn.entrant}
        key = {"round_id": round_id, "entrant_id": each.entrant_id, "hash": digest(row | whose)}
        rows.append(row | key)
    insert_rows(connection, AttemptRow.__table__, rows)


TOKENS = (
    select(ClaimRow.entrant_id, ClaimRow.token)
    .join(RoundRow, RoundRow.id == ClaimRow.round_id)
    .where(ClaimRow.round_id == ROUND_ID, col(ClaimRow.entrant_id).in_(IDS), RoundRow.done == 0)
    .order_by(ClaimRow.entrant_id)
    .with_for_update(of=ClaimRow.__table__)
)


def _without_failed(turn: Turn) -> Turn:
    """A failed turn has only its note: it may be played again, and facts can't be taken back."""
    if turn.decision.status != "failed":
        return turn
    return Turn(
        turn.entrant, turn.cash, Decision(status="failed", note=turn.decision.note), settings=turn.settings
    )


def _turn_line(place: tuple[int, int], turn: Turn, version: str) -> TableLine:
    decision, orders = turn.decision, orders_text(turn.decision)
    turn_hash = sha256(turn_text(*place, turn, orders))
    repaired = canonical(decision.repaired)
    return decision.status, decision.note, turn.cash, orders, repaired, turn.reader, version, turn_hash


TURN_IDS = select(TurnRow.entrant_id, TurnRow.id).where(
    TurnRow.round_id == ROUND_ID, col(TurnRow.entrant_id).in_(IDS)
)


def _turn_ids(connection: Connection, round_id: int, turns: dict[int, Turn]) -> dict[int, int]:
    return dict(connection.execute(TURN_IDS, {"round_id": round_id, "ids": list(turns)}).all())


def _add_second_quotes(connection: Connection, placed: Sequence[tuple[int, Turn]]) -> None:
    for turn_id, turn in placed:
        if turn.second is None:
            continue
        quotes = add_quote_rows(connection, [*turn.second])
        lines = [
            (turn_id, turn.second.seen_at, x.market.id, quotes[x.market.id][1], x.quote.at)
            if x.quote
            else (turn_id, turn.second.seen_at, x.market.id, None, None)
            for x in turn.second
        ]
        names = ("turn_id", "taken_at", "market_id", "quote_id", "quoted_at")
        insert_lines(connection, SecondQuoteRow.__table__, names, lines)


FILL_IDS = select(FillRow.id, FillRow.turn_id, FillRow.position).where(col(FillRow.turn_id).in_(IDS))


def _add_fills(connection: Connection, placed: Sequence[tuple[int, Turn]]) -> None:
    fills = {(turn_id, n): fill for turn_id, turn in placed for n, fill in enumerate(turn.fills)}
    if not fills:
        return
    hashed = [((*key, fill_hash(fill)), fill) for key, fill in fills.items()]
    insert_facts(connection, FillRow, (*OF_TURN, "hash"), hashed, FILL_FIELDS)
    ids = connection.execute(FILL_IDS, {"ids": [turn_id for turn_id, turn in placed if turn.fills]}).all()
    levels = [
        ((turn_id, n), level) for turn_id, *key in ids for n, level in enumerate(fills[key[0], key[1]].levels)
    ]
    insert_facts(connection, FillLevelRow, ("fill_id", "position"), levels, [*FillLevel.__dataclass_fields__])
