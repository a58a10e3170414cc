"""A round with what it was shown, and its turns one at a time.

Fills with all that they stand on.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import FromClause, bindparam

from arena.record.schema.cohort import SnapshotRow
from arena.record.schema.turn import (
    AttemptRow,
    FillLevelRow,
    FillRow,
    ForecastRow,
    RejectionRow,
    SecondQuoteRow,
    TurnRow,
)
from arena.record.schema.typed import clause, select
from arena.record.schema.world import QuoteRow
from arena.verify.cohort import BOOK, CheckedCohort, FrozenCohort, SnapshotItem, read_listing
from arena.verify.reader import RecordReader, Row, RowPart, RowsByParent, RowsQuery, all_columns, rows_of

OF_FILL = FillRow.turn_id == TurnRow.id
TURNS = rows_of(TurnRow.__table__, TurnRow.round_id == bindparam("round"), order=[TurnRow.entrant_id])


FAILURES = RowsQuery(
    select().where(AttemptRow.round_id == bindparam("round")),
    RowPart(AttemptRow.__table__, "entrant_id"),
    again=True,
)


def _behind(table: Any, source: FromClause, *first: Any) -> RowsQuery:
    """The rows of a table that belong to a round's turns, by entrant."""
    order = (TurnRow.entrant_id, *first, *table.primary_key.columns)
    statement = select().select_from(source).where(TurnRow.round_id == bindparam("round")).order_by(*order)
    return RowsQuery(statement, all_columns(table), RowPart(TurnRow.__table__, "entrant_id"))


FORECASTS = _behind(
    ForecastRow.__table__, TurnRow.__table__.join(ForecastRow, clause(ForecastRow.turn_id == TurnRow.id))
)
REJECTIONS = _behind(
    RejectionRow.__table__, TurnRow.__table__.join(RejectionRow, clause(RejectionRow.turn_id == TurnRow.id))
)
FILLS = _behind(FillRow.__table__, TurnRow.__table__.join(FillRow, clause(OF_FILL)), FillRow.position)
SECOND = RowsQuery(
    select()
    .select_from(TurnRow.__table__.join(SecondQuoteRow, clause(SecondQuoteRow.turn_id == TurnRow.id)))
    .outerjoin(QuoteRow, clause(QuoteRow.id == SecondQuoteRow.quote_id))
    .where(TurnRow.round_id == bindparam("round"))
    .order_by(TurnRow.entrant_id, SecondQuoteRow.market_id),
    all_columns(SecondQuoteRow.__table__),
    RowPart(TurnRow.__table__, "entrant_id"),
    BOOK,
)
LEVELS = _behind(
    FillLevelRow.__table__,
    TurnRow.__table__.join(FillRow, clause(OF_FILL)).join(
        FillLevelRow, clause(FillLevelRow.fill_id == FillRow.id)
    ),
    FillRow.position,
)


@dataclass(frozen=True, slots=True)
class CheckedRound:
    """A round of a cohort: its snapshot, None where that is missing, and the places in it."""

    cohort: CheckedCohort
    round: Row
    snapshot: Row | None
    places: tuple[SnapshotItem, ...]
    by_market: dict[str, SnapshotItem]

    @property
    def seen_at(self) -> str:
        """When the snapshot was looked at."""
        return str((self.snapshot and self.snapshot["taken_at"]) or self.round["at"])


@dataclass(frozen=True, slots=True)
class CheckedTurn:
    """A turn and what belongs to it; each fill with its levels, each second quote with its prices."""

    row: Row
    forecasts: list[Row]
    rejections: list[Row]
    second: list[tuple[Row, Row | None]]
    fills: list[tuple[Row, tuple[Row, ...]]]
    failed_before: bool


def read_round(facts: RecordReader, cohort: CheckedCohort, round: Row) -> CheckedRound:
    """A round as it was shown."""
    places = read_listing(facts, round["snapshot_id"])
    by_market = {place[0]["market_id"]: place for place in places}
    return CheckedRound(
        cohort, round, facts.find(SnapshotRow.__table__, round["snapshot_id"]), places, by_market
    )


def read_turns(facts: RecordReader, round: Row) -> Iterator[CheckedTurn]:
    """The turns of a round, entrant by entrant."""
    id = round["id"]
    forecasts, rejections, second, fills, levels = (
        RowsByParent(
            (turn["entrant_id"], (row, *prices) if prices else row)
            for row, turn, *prices in facts.read(query, round=id)
            if turn is not None
        )
        for query in (FORECASTS, REJECTIONS, SECOND, FILLS, LEVELS)
    )
    failed = {row["entrant_id"] for row in facts.rows(FAILURES, round=id)}
    for row in facts.rows(TURNS, round=id):
        who, parts = row["entrant_id"], dict[int, list[Row]]()
        for level in levels.of(who):
            parts.setdefault(level["fill_id"], []).append(level)
        deals = [(fill, tuple(parts.get(fill["id"], ()))) for fill in fills.of(who)]
        yield CheckedTurn(row, forecasts.of(who), rejections.of(who), second.of(who), deals, who in failed)


@dataclass(frozen=True, slots=True)
class CheckedFill:
    """A fill, its levels, and what it stands on. `listed` and `frozen` are None where they are missing.

    `seen_at` is when the prices were looked at: those of the snapshot, or the turn's second ones. `first` is
    the quote of the snapshot, in either case. A turn that had failed is filled at the worse of both: `other`
    is what it was not filled at.
    """

    fill: Row
    levels: tuple[Row, ...]
    turn: Row
    round: Row
    seen_at: str
    listed: SnapshotItem | None
    first: Row | None
    frozen: FrozenCohort | None
    other: SnapshotItem | None = None

    @property
    def buys(self) -> bool:
        """Whether it is a purchase."""
        return bool(self.fill["action"] == "buy")


def checked_fills(shown: CheckedRound, turn: CheckedTurn) -> list[CheckedFill]:
    """The fills of a turn, in order."""
    first, listed, seen_at = shown.by_market, shown.by_market, shown.seen_at
    if turn.second:
        seen_at, again = (
            turn.second[0][0]["taken_at"],
            {row["market_id"]: (row, quote) for row, quote in turn.second},
        )
        listed = {
            market: (item | {"quoted_at": again[market][0]["quoted_at"]}, page, again[market][1])
            for market, (item, page, _) in listed.items()
            if market in again
        }
    found = []
    for fill, levels in turn.fills:
        here, before, at = listed.get(fill["market_id"]), first.get(fill["market_id"]), seen_at
        other = before if turn.second and turn.failed_before else None
        quotes = [each and each[2] and each[2]["hash"] for each in (here, other)]
        if quotes[0] and fill["quote_hash"] == quotes[1] != quotes[0]:
            here, other, at = other, here, shown.seen_at
        quote = before[2] if before else None
        found.append(
            CheckedFill(fill, levels, turn.row, shown.round, at, here, quote, shown.cohort.frozen, other)
        )
    return found
