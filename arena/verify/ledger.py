"""An entrant's ledger, one at a time, and what of it the checks of turns and marks need to know."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sqlalchemy import Text, bindparam, cast

from arena.record.schema.cohort import EntrantRow, RoundRow
from arena.record.schema.ledger import EntryRow
from arena.record.schema.turn import FillRow, TurnRow
from arena.record.schema.typed import clause, joined
from arena.record.schema.world import ResolutionRow
from arena.verify.cohort import CheckedCohort
from arena.verify.differences import Row
from arena.verify.reader import RecordReader, RowPart, RowsByParent, rows_query

Line = tuple[Row, Row | None]
"""An entry, and the resolution that it names."""

ENTRIES = rows_query(
    joined(EntrantRow, EntryRow).outerjoin(
        ResolutionRow.__table__,
        clause(
            (ResolutionRow.market_id == EntryRow.market_id)
            & (EntryRow.ref == "resolution:" + cast(ResolutionRow.version, Text))
        ),
    ),
    EntryRow,
    RowPart(ResolutionRow, "id", "market_id", "version", "known_at", "payout"),
    where=EntrantRow.cohort_id == bindparam("cohort"),
    order=(EntryRow.entrant_id, EntryRow.number),
)
FILLS = rows_query(
    joined(RoundRow, TurnRow, FillRow),
    RowPart(FillRow, "id", "turn_id", "position", "market_id", "side", "action", "shares", "amount"),
    RowPart(TurnRow, "id", "round_id", "entrant_id"),
    where=RoundRow.cohort_id == bindparam("cohort"),
    order=(TurnRow.entrant_id, FillRow.turn_id, FillRow.position),
    again=True,
)


@dataclass(frozen=True, slots=True)
class LedgerSums:
    """What was given to an entrant, and its cash before the fills of each round by its number.

    By their refs the shares before each sale, and what had been `traded` in the market before each fill.
    """

    given: int
    cash: dict[int, int]
    held: dict[str, int]
    traded: dict[str, int]


def read_ledgers(
    facts: RecordReader, cohort: CheckedCohort
) -> Iterator[tuple[Row, list[Line], list[tuple[Row, Row]]]]:
    """Every entrant of a cohort with its entries, and with its fills and their rounds, each in order."""
    entries, fills = _entries(facts, cohort), _fills(facts, cohort)
    for id, entrant in cohort.entrants.items():
        yield entrant, entries.of(id), fills.of(id)


def ledger_sums(rounds: Iterable[Row], lines: list[Line]) -> LedgerSums:
    """What a ledger says to others, of some rounds."""
    rows = [row for row, _ in lines]
    given = sum(row["cash"] for row in rows if row["kind"] == "deposit")
    held = {row["ref"]: row["held"] - row["shares"] for row in rows if row["kind"] == "sell"}
    traded, sums = dict[str, int](), defaultdict[str, int](int)
    for row in rows:
        if row["kind"] in ("buy", "sell"):
            traded[row["ref"]] = sums[row["market_id"]]
            sums[row["market_id"]] += abs(row["cash"])
    cash = {round["number"]: _cash_before(round, rows) for round in rounds}
    return LedgerSums(given, cash, held, traded)


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
