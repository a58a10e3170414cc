"""A round with what it was shown, and its turns one at a time.

Fills with all that they stand on.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam

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
from arena.record.schema.typed import clause, joined
from arena.record.schema.world import QuoteRow
from arena.verify.cohort import BOOK, CheckedCohort, FrozenCohort, SnapshotItem, read_listing
from arena.verify.differences import Row
from arena.verify.reader import RecordReader, RowPart, RowsByParent, RowsQuery, rows_of, rows_query

OF_THE_ROUND: Any = bindparam("round")
TURNS = rows_of(TurnRow, TurnRow.round_id == OF_THE_ROUND, order=[TurnRow.entrant_id])
FAILURES = rows_query(
    AttemptRow, RowPart(AttemptRow, "entrant_id"), where=AttemptRow.round_id == OF_THE_ROUND, again=True
)


def _of_turns(source: Any, row: Any, *more: RowPart, first: Sequence[Any] = ()) -> RowsQuery:
    """The rows of a table that belong to a round's turns, by entrant."""
    order = (TurnRow.entrant_id, *first, *row.__table__.primary_key.columns)
    where = TurnRow.round_id == OF_THE_ROUND
    return rows_query(source, row, RowPart(TurnRow, "entrant_id"), *more, where=where, order=order)


FORECASTS = _of_turns(joined(TurnRow, ForecastRow), ForecastRow)
REJECTIONS = _of_turns(joined(TurnRow, RejectionRow), RejectionRow)
FILLS = _of_turns(joined(TurnRow, FillRow), FillRow, first=[FillRow.position])
SECOND = _of_turns(
    joined(TurnRow, SecondQuoteRow).outerjoin(
        QuoteRow.__table__, clause(QuoteRow.id == SecondQuoteRow.quote_id)
    ),
    SecondQuoteRow,
    BOOK,
)
LEVELS = _of_turns(joined(TurnRow, FillRow, FillLevelRow), FillLevelRow, first=[FillRow.position])


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
    return CheckedRound(cohort, round, facts.find(SnapshotRow, round["snapshot_id"]), places, by_market)


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
