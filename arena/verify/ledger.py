"""An entrant's ledger, one at a time, and what of it the checks of turns and marks need to know."""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import Text, bindparam, cast, select

from arena.record.schema.tables import ENTRANT, ENTRY, FILL, RESOLUTION, ROUND, TURN
from arena.verify.cohort import CheckedCohort
from arena.verify.reader import RecordReader, Row, RowPart, RowsByParent, RowsQuery, all_columns

Line = tuple[Row, Row | None]
"""An entry, and the resolution that it names."""

ENTRIES = RowsQuery(
    select()
    .select_from(
        ENTRANT.join(ENTRY, ENTRY.c.entrant_id == ENTRANT.c.id).outerjoin(
            RESOLUTION,
            (RESOLUTION.c.market_id == ENTRY.c.market_id)
            & (ENTRY.c.ref == "resolution:" + cast(RESOLUTION.c.version, Text)),
        )
    )
    .where(ENTRANT.c.cohort_id == bindparam("cohort"))
    .order_by(ENTRY.c.entrant_id, ENTRY.c.number),
    all_columns(ENTRY),
    RowPart(RESOLUTION, "id", "market_id", "version", "known_at", "payout"),
)
FILLS = RowsQuery(
    select()
    .select_from(ROUND.join(TURN, TURN.c.round_id == ROUND.c.id).join(FILL, FILL.c.turn_id == TURN.c.id))
    .where(ROUND.c.cohort_id == bindparam("cohort"))
    .order_by(TURN.c.entrant_id, FILL.c.turn_id, FILL.c.position),
    RowPart(FILL, "id", "turn_id", "position", "market_id", "side", "action", "shares", "amount"),
    RowPart(TURN, "id", "round_id", "entrant_id"),
    again=True,
)


@dataclass(frozen=True, slots=True)
class LedgerSums:
    """What was given to an entrant, its cash before the fills of each round by its number, and by their
    refs the shares before each sale."""

    given: int
    cash: dict[int, int]
    held: dict[str, int]


def read_ledgers(
    facts: RecordReader, cohort: CheckedCohort
) -> Iterator[tuple[Row, list[Line], list[tuple[Row, Row]]]]:
    """Every entrant of a cohort with its entries, and with its fills and their rounds, each in order."""
    entries, fills = _entries(facts, cohort), _fills(facts, cohort)
    for id, entrant in cohort.entrants.items():
        yield entrant, entries.of(id), fills.of(id)


def ledger_sums(cohort: CheckedCohort, lines: list[Line]) -> LedgerSums:
    """What a ledger says to others."""
    rows = [row for row, _ in lines]
    given = sum(row["cash"] for row in rows if row["kind"] == "deposit")
    held = {row["ref"]: row["held"] - row["shares"] for row in rows if row["kind"] == "sell"}
    return LedgerSums(given, {round["number"]: _cash_before(round, rows) for round in cohort.rounds}, held)


def _cash_before(round: Row, ledger: list[Row]) -> int:
    """The sum of the cash that moved before an entrant's fills of a round."""
    mine = f"fill:{round['number']}:"
    before = (row for row in ledger if row["at"] <= round["at"])
    return sum(row["cash"] for row in before if not row["ref"].startswith(mine))


def _entries(facts: RecordReader, cohort: CheckedCohort) -> RowsByParent:
    read = facts.read(ENTRIES, cohort=cohort.id)
    return RowsByParent((row["entrant_id"], (row, resolution)) for row, resolution in read)


def _fills(facts: RecordReader, cohort: CheckedCohort) -> RowsByParent:
    rounds = {round["id"]: round for round in cohort.rounds}
    known = ((fill, turn) for fill, turn in facts.read(FILLS, cohort=cohort.id) if turn is not None)
    found = ((fill, turn, rounds.get(turn["round_id"])) for fill, turn in known)
    return RowsByParent(
        (turn["entrant_id"], (fill, round)) for fill, turn, round in found if round is not None
    )
