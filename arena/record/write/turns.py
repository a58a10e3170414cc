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
from arena.record.schema.dialects import is_postgresql
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

ROUND: BindParameter[int] = bindparam("round")
ENTRANT: BindParameter[int] = bindparam("entrant")
HOLDER: BindParameter[str] = bindparam("by")

OF_THESE_TURNS = (ClaimRow.round_id == ROUND, col(ClaimRow.entrant_id).in_(IDS))
HELD_CLAIMS = (
    select(ClaimRow.entrant_id, ClaimRow.token, ClaimRow.holder, ClaimRow.beat)
    .where(*OF_THESE_TURNS)
    .order_by(ClaimRow.entrant_id)  # all lock in the same order, so that none waits for one that waits for it
    .with_for_update()
)
OWN_CLAIMS = select(ClaimRow.entrant_id).where(*OF_THESE_TURNS, ClaimRow.holder == HOLDER)
PLAYED_TURNS = select(TurnRow.entrant_id).where(
    TurnRow.round_id == ROUND,
    col(TurnRow.entrant_id).in_(IDS),
    TurnRow.status != "failed",
)
FIRST_CLAIM = {"round_id": ROUND, "entrant_id": ENTRANT, "token": 1}
NEW_CLAIMS = new_rows(ClaimRow).values(**FIRST_CLAIM, holder=HOLDER, beat=0).on_conflict_do_nothing()
TAKE_CLAIM = (
    update(ClaimRow)
    .where(ClaimRow.round_id == ROUND, ClaimRow.entrant_id == ENTRANT)
    .values(token=ClaimRow.token + 1, holder=HOLDER, beat=0)
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
    """Claim the turns that nobody holds, or whose holder is dead; return the token of each claim.

    A turn that has been played since it was looked for is left alone: there is nothing to do.
    """
    claimant = {"round": round_id, "by": holder}
    claims = connection.execute(HELD_CLAIMS, {"round": round_id, "ids": entrant_ids}).all()

    claimed_before = {row.entrant_id for row in claims}
    unclaimed = [entrant_id for entrant_id in entrant_ids if entrant_id not in claimed_before]
    tokens = _new_claims(connection, unclaimed, claimant)

    free_tokens = dict[int, int]()
    for row in claims:
        is_mine = row.holder == holder
        if row.beat is None or is_mine or is_over(_hold_of(round_id, row)):
            free_tokens[row.entrant_id] = row.token
    if free_tokens:
        tokens |= _take_over(connection, free_tokens, claimant)
    return tokens


def _hold_of(round_id: int, claim: Any) -> Hold:
    """Return a claim as other processes see it."""
    return Hold(f"turn {round_id}/{claim.entrant_id}", claim.holder, (claim.token, claim.beat))


def _new_claims(
    connection: Connection, entrant_ids: Sequence[int], claimant: Mapping[str, object]
) -> dict[int, int]:
    """Claim turns that nobody ever held; on a server another process may still come first."""
    if not entrant_ids:
        return {}

    connection.execute(NEW_CLAIMS, [{**claimant, "entrant": entrant_id} for entrant_id in entrant_ids])
    claimed = entrant_ids
    if is_postgresql(connection):
        claimed = connection.scalars(OWN_CLAIMS, {**claimant, "ids": entrant_ids}).all()
    return dict.fromkeys(claimed, 1)


def _take_over(
    connection: Connection, tokens: Mapping[int, int], claimant: Mapping[str, object]
) -> dict[int, int]:
    """Take over claims of others whose turns are not in, and return the new tokens."""
    played = set(connection.scalars(PLAYED_TURNS, {"round": claimant["round"], "ids": list(tokens)}))
    new_tokens = {entrant_id: token + 1 for entrant_id, token in tokens.items() if entrant_id not in played}
    if new_tokens:
        connection.execute(TAKE_CLAIM, [{**claimant, "entrant": entrant_id} for entrant_id in new_tokens])
    return new_tokens


def release_claims(connection: Connection, round_id: int, entrant_ids: Sequence[int]) -> None:
    """Release the claims on turns, so that any process may try them again."""
    if entrant_ids:
        connection.execute(RELEASE_CLAIMS, {"round": round_id, "ids": entrant_ids})


def renew_claims(connection: Connection, round_id: int, tokens: Mapping[int, int]) -> set[int]:
    """Renew the claims with these tokens by entrant; return the entrants whose turns are still held."""
    held = connection.execute(HELD_CLAIMS, {"round": round_id, "ids": list(tokens)})
    mine = {row.entrant_id for row in held if row.token == tokens[row.entrant_id]}
    connection.execute(RENEW_CLAIMS, {"round": round_id, "ids": sorted(mine)})
    return mine


FILL_FIELDS = tuple(name for name in Fill.__dataclass_fields__ if name != "levels")
LEVEL_FIELDS = tuple(FillLevel.__dataclass_fields__)
REJECTION_FIELDS = tuple(Rejection.__dataclass_fields__)
TURN_COLUMNS = ("status", "note", "cash", "orders", "repaired", "reader", "code_version", "hash")

OF_TURN = ("turn_id", "position")
ROUND_ID: BindParameter[int] = bindparam("round_id")


@dataclass(frozen=True, slots=True)
class TurnUnderClaim:
    """A turn with its entrant, the token of its claim, and its end."""

    entrant_id: int
    token: int
    turn: Turn
    ended_at: datetime | None = None


def add_turns(
    connection: Connection,
    round_id: int,
    round_key: tuple[int, int],
    claimed: Sequence[TurnUnderClaim],
    code_version: str,
) -> dict[int, Turn]:
    """Add turns of one round whose claims still hold, in the caller's transaction; return them by entrant.

    `round_key` has the numbers of cohort and round. Claims on turns that failed end with that, so that anyone
    may try them again; each failure is kept.
    """
    held = _held_claims(connection, round_id, claimed)
    turns = {}
    for claim in held:
        turns[claim.entrant_id] = _without_failed(claim.turn)

    turn_ids = _put_turns(connection, round_id, round_key, turns, code_version)
    placed_turns = [(turn_ids[entrant_id], turn) for entrant_id, turn in turns.items()]
    _add_forecasts(connection, placed_turns)
    _add_rejections(connection, placed_turns)
    _add_second_quotes(connection, placed_turns)
    _add_fills(connection, placed_turns)
    add_entries(connection, {entrant_id: turn.entries for entrant_id, turn in turns.items() if turn.entries})

    failed = [claim for claim in held if claim.turn.decision.status == "failed"]
    _add_attempts(connection, round_id, round_key, failed, code_version)
    release_claims(connection, round_id, [claim.entrant_id for claim in failed])
    return turns


TOKENS = (
    select(ClaimRow.entrant_id, ClaimRow.token)
    .join(RoundRow, RoundRow.id == ClaimRow.round_id)
    .where(ClaimRow.round_id == ROUND_ID, col(ClaimRow.entrant_id).in_(IDS), RoundRow.done == 0)
    .order_by(ClaimRow.entrant_id)
    .with_for_update(of=ClaimRow.__table__)
)


def _held_claims(
    connection: Connection, round_id: int, claimed: Sequence[TurnUnderClaim]
) -> list[TurnUnderClaim]:
    """Return the turns whose claims still hold, locking those until the transaction ends."""
    wanted = {"round_id": round_id, "ids": [claim.entrant_id for claim in claimed]}
    tokens = dict(connection.execute(TOKENS, wanted).all())
    return [claim for claim in claimed if tokens.get(claim.entrant_id) == claim.token]


def _without_failed(turn: Turn) -> Turn:
    """Return a turn, reduced to its note if it failed: it may be played again, and facts are final."""
    if turn.decision.status != "failed":
        return turn
    decision = Decision(status="failed", note=turn.decision.note)
    return Turn(turn.entrant, turn.cash, decision, settings=turn.settings)


def _put_turns(
    connection: Connection,
    round_id: int,
    round_key: tuple[int, int],
    turns: Mapping[int, Turn],
    code_version: str,
) -> dict[int, int]:
    """Add the rows of turns, or change those of turns that had failed; return their ids by entrant."""
    known_ids = _turn_ids(connection, round_id, turns)
    new_lines = []
    for entrant_id, turn in turns.items():
        line = _turn_line(round_key, turn, code_version)
        if entrant_id in known_ids:
            row = dict(zip(TURN_COLUMNS, line, strict=True))
            connection.execute(update(TurnRow).where(TurnRow.id == known_ids[entrant_id]).values(**row))
        else:
            new_lines.append((round_id, entrant_id, *line))

    insert_lines(connection, TurnRow.__table__, ("round_id", "entrant_id", *TURN_COLUMNS), new_lines)
    return _turn_ids(connection, round_id, turns) if new_lines else known_ids


def _turn_line(round_key: tuple[int, int], turn: Turn, code_version: str) -> TableLine:
    """Return the values of a turn's row."""
    decision = turn.decision
    orders = orders_text(decision)
    repaired = canonical(decision.repaired)
    cohort, round_number = round_key
    turn_hash = sha256(turn_text(cohort, round_number, turn, orders))
    return decision.status, decision.note, turn.cash, orders, repaired, turn.reader, code_version, turn_hash


TURN_IDS = select(TurnRow.entrant_id, TurnRow.id).where(
    TurnRow.round_id == ROUND_ID, col(TurnRow.entrant_id).in_(IDS)
)


def _turn_ids(connection: Connection, round_id: int, turns: Mapping[int, Turn]) -> dict[int, int]:
    """Return the ids of those of these turns that have a row, by entrant."""
    return dict(connection.execute(TURN_IDS, {"round_id": round_id, "ids": list(turns)}).all())


PlacedTurns = Sequence[tuple[int, Turn]]
"""Turns with the ids of their rows."""
FORECAST_COLUMNS = ("turn_id", "market_id", "probability", "stage", "reason", "distribution")


def _add_forecasts(connection: Connection, placed: PlacedTurns) -> None:
    lines = []
    for turn_id, turn in placed:
        for stated in turn.decision.forecasts:
            values = (stated.millionths, stated.stage, stated.reason, stated.distribution)
            lines.append((turn_id, stated.market_id, *values))
    insert_lines(connection, ForecastRow.__table__, FORECAST_COLUMNS, lines)


def _add_rejections(connection: Connection, placed: PlacedTurns) -> None:
    rows = []
    for turn_id, turn in placed:
        for position, rejection in enumerate(turn.rejections):
            rows.append(((turn_id, position), rejection))
    insert_facts(connection, RejectionRow, OF_TURN, rows, REJECTION_FIELDS)


SECOND_QUOTE_COLUMNS = ("turn_id", "taken_at", "market_id", "quote_id", "quoted_at")


def _add_second_quotes(connection: Connection, placed: PlacedTurns) -> None:
    for turn_id, turn in placed:
        if turn.second is None:
            continue

        quotes = add_quote_rows(connection, [*turn.second])
        lines: list[TableLine] = []
        for listing in turn.second:
            market = listing.market.id
            quote_id = None
            quoted_at = None
            if listing.quote:
                quote_id = quotes[market][1]
                quoted_at = listing.quote.at
            lines.append((turn_id, turn.second.seen_at, market, quote_id, quoted_at))
        insert_lines(connection, SecondQuoteRow.__table__, SECOND_QUOTE_COLUMNS, lines)


FILL_IDS = select(FillRow.id, FillRow.turn_id, FillRow.position).where(col(FillRow.turn_id).in_(IDS))


def _add_fills(connection: Connection, placed: PlacedTurns) -> None:
    fill_at = {}
    rows = []
    for turn_id, turn in placed:
        for position, fill in enumerate(turn.fills):
            fill_at[turn_id, position] = fill
            rows.append(((turn_id, position, fill_hash(fill)), fill))
    if not fill_at:
        return

    insert_facts(connection, FillRow, (*OF_TURN, "hash"), rows, FILL_FIELDS)

    # The levels name their fill by the id that the database has just given it.
    turn_ids = {turn_id for turn_id, _ in fill_at}
    levels = []
    for fill_id, turn_id, position in connection.execute(FILL_IDS, {"ids": sorted(turn_ids)}).all():
        for level_position, level in enumerate(fill_at[turn_id, position].levels):
            levels.append(((fill_id, level_position), level))
    insert_facts(connection, FillLevelRow, ("fill_id", "position"), levels, LEVEL_FIELDS)


LAST_ATTEMPTS = (
    select(AttemptRow.entrant_id, func.max(AttemptRow.number))
    .where(AttemptRow.round_id == ROUND_ID, col(AttemptRow.entrant_id).in_(IDS))
    .group_by(AttemptRow.entrant_id)
)


def _add_attempts(
    connection: Connection,
    round_id: int,
    round_key: tuple[int, int],
    failed: Sequence[TurnUnderClaim],
    code_version: str,
) -> None:
    """Store the failures of turns, each with the next number."""
    if not failed:
        return

    cohort, round_number = round_key
    ids = [claim.entrant_id for claim in failed]
    last_numbers = dict(connection.execute(LAST_ATTEMPTS, {"round_id": round_id, "ids": ids}).all())
    rows = TableRows()
    for claim in failed:
        turn = claim.turn
        attempt = {
            "number": last_numbers.get(claim.entrant_id, 0) + 1,
            "note": turn.decision.note,
            "at": claim.ended_at,
            "code_version": code_version,
        }
        turn_key = {"cohort": cohort, "round": round_number, "entrant": turn.entrant}
        columns = {"round_id": round_id, "entrant_id": claim.entrant_id, "hash": digest(attempt | turn_key)}
        rows.append(attempt | columns)
    insert_rows(connection, AttemptRow.__table__, rows)
