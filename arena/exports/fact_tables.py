"""All tables of facts: what of the record each holds, in which order, and how its rows are put back.

Rows are named without ids: by the numbers of cohort and round, agents' names, markets' ids.
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, FromClause, exists, or_

from arena.exports.table import (
    ExportField,
    ExportTable,
    FactTable,
    OfCohorts,
    ParentKey,
    field,
    fields_of,
)
from arena.record.schema.chain import HeadRow
from arena.record.schema.cohort import (
    CohortRow,
    EntrantRow,
    EvidenceRow,
    GatheringRow,
    PromptRow,
    ReplacementRow,
    RoundRow,
    SnapshotItemRow,
    SnapshotRow,
    ToolResultRow,
)
from arena.record.schema.fields import TableRow
from arena.record.schema.ledger import EntryRow, MarkRow
from arena.record.schema.turn import (
    AttemptRow,
    CallRow,
    FillLevelRow,
    FillRow,
    ForecastRow,
    RejectionRow,
    SecondQuoteRow,
    TurnRow,
)
from arena.record.schema.typed import clause, col, column_of, select
from arena.record.schema.world import (
    ArticleRow,
    BenchmarkFileRow,
    MarketRow,
    MarketVersionRow,
    PruneRow,
    QuarantineRow,
    QuoteRow,
    ResolutionRow,
    SightingRow,
    SyncRow,
)

T = TypeVar("T")


def of_cohort(row: type[TableRow]) -> FromClause:
    """Rows of a cohort, with it."""
    table = row.__table__
    return table.join(CohortRow, table.c.cohort_id == CohortRow.id)


def of_round(row: type[TableRow]) -> FromClause:
    """Rows of a round, with it and its cohort."""
    table = row.__table__
    joined = table.join(RoundRow, table.c.round_id == RoundRow.id)
    return joined.join(CohortRow, clause(RoundRow.cohort_id == CohortRow.id))


def of_entrant(row: type[TableRow]) -> FromClause:
    """Rows of an entrant, with it and its cohort."""
    table = row.__table__
    joined = table.join(EntrantRow, table.c.entrant_id == EntrantRow.id)
    return joined.join(CohortRow, clause(EntrantRow.cohort_id == CohortRow.id))


def of_place(row: type[TableRow]) -> FromClause:
    """Rows of a round and an entrant, with both and the cohort."""
    return of_round(row).join(EntrantRow, row.__table__.c.entrant_id == EntrantRow.id)


def of_turn(row: type[TableRow]) -> FromClause:
    """Rows of a turn, with it and all that names it."""
    return of_place(TurnRow).join(row, row.__table__.c.turn_id == TurnRow.id)


def in_cohorts(numbers: Sequence[int]) -> ColumnElement[bool]:
    """Rows that are read together with their cohort."""
    return col(CohortRow.number).in_(numbers)


def in_snapshots(column: T, listed: T | None) -> OfCohorts:
    """Rows whose column is one of those that the snapshots of some cohorts list."""
    listed_ids = select(column_of(listed)).join(SnapshotRow, SnapshotItemRow.snapshot_id == SnapshotRow.id)
    listed_ids = listed_ids.join(CohortRow, SnapshotRow.cohort_id == CohortRow.id)
    return lambda numbers: col(column).in_(listed_ids.where(in_cohorts(numbers)))


def parent(column: str, id: int, path: type[TableRow] | FromClause, **names: Any) -> ParentKey:
    """The row behind a column, by the columns of the record that name it: `cohort=CohortRow.number`."""
    named = tuple(map(column_of, names.values()))
    return ParentKey(column, tuple(names), named, select(column_of(id), *named).select_from(path))


COHORT: dict[str, Any] = {"cohort": CohortRow.number}
TURN = COHORT | {"round": RoundRow.number, "agent": EntrantRow.name}
ITS_COHORT = parent("cohort_id", CohortRow.id, CohortRow, **COHORT)
ITS_ENTRANT = parent("entrant_id", EntrantRow.id, of_cohort(EntrantRow), **COHORT, agent=EntrantRow.name)
ITS_ROUND = parent("round_id", RoundRow.id, of_cohort(RoundRow), **COHORT, round=RoundRow.number)
ITS_SNAPSHOT = parent("snapshot_id", SnapshotRow.id, of_cohort(SnapshotRow), **COHORT, at=SnapshotRow.at)
ITS_PAGE = parent(
    "version_id",
    MarketVersionRow.id,
    MarketVersionRow,
    market_id=MarketVersionRow.market_id,
    page=MarketVersionRow.version,
)
ITS_QUOTE = parent(
    "quote_id",
    QuoteRow.id,
    QuoteRow,
    market_id=QuoteRow.market_id,
    quote_at=QuoteRow.at,
    quote_hash=QuoteRow.hash,
)
ITS_TURN = parent("turn_id", TurnRow.id, of_place(TurnRow), **TURN)
ITS_FILL = parent("fill_id", FillRow.id, of_turn(FillRow), **TURN, fill=FillRow.position)
ITS_GATHERING = parent(
    "gathering_id", GatheringRow.id, of_round(GatheringRow), **COHORT, round=RoundRow.number
)
ITS_SYNC = parent("sync_id", SyncRow.id, SyncRow, venue=SyncRow.venue, sync=SyncRow.number)


@dataclass(frozen=True, slots=True)
class TableScope:
    """What the rows of a table belong to: the columns that name it and sort by it, how it is joined."""

    fields: tuple[ExportField, ...] = ()
    order: tuple[Any, ...] = ()
    path: Callable[[type[TableRow]], FromClause] = lambda row: row.__table__
    parents: tuple[ParentKey, ...] = ()


COHORT_NUMBER = field(CohortRow.number, name="cohort")
ROUND_NUMBER = field(RoundRow.number, name="round")
AGENT = field(EntrantRow.name, name="agent")
PLACE_ORDER = (CohortRow.number, RoundRow.number, EntrantRow.position)

WORLD = TableScope()
IN_COHORT = TableScope((COHORT_NUMBER,), (CohortRow.number,), of_cohort, (ITS_COHORT,))
IN_ROUND = TableScope((COHORT_NUMBER, ROUND_NUMBER), PLACE_ORDER[:2], of_round, (ITS_ROUND,))
IN_ACCOUNT = TableScope(
    (COHORT_NUMBER, AGENT), (CohortRow.number, EntrantRow.position), of_entrant, (ITS_ENTRANT,)
)
IN_PLACE = TableScope((COHORT_NUMBER, ROUND_NUMBER, AGENT), PLACE_ORDER, of_place, (ITS_ROUND, ITS_ENTRANT))
IN_TURN = TableScope(IN_PLACE.fields, PLACE_ORDER, of_turn, (ITS_TURN,))


def fact_table(
    name: str,
    row: type[TableRow],
    scope: TableScope,
    key: Sequence[str],
    fields: Sequence[ExportField] = (),
    *,
    order: Sequence[Any] = (),
    meaning: str = "",
    **more: Any,
) -> FactTable:
    """A table of facts: within its scope rows are named by the key, and sorted by it unless `order` says how.

    Without fields it has all columns of its rows. What it means is said where they are declared.
    """
    fields = (*scope.fields, *(fields or fields_of(row)))
    sources = {each.column.name: each.source for each in fields}
    keys = (*(each.column.name for each in scope.fields), *key)
    purpose = " ".join(inspect.cleandoc(row.__doc__ or "").partition("\n\n")[0].split())
    sheet = ExportTable(name, meaning or purpose, tuple(each.column for each in fields), keys)
    sorting = tuple(map(column_of, (*scope.order, *(order or (sources[each] for each in key)))))
    path = more.pop("path") if "path" in more else scope.path(row)
    more = {"parents": scope.parents, "of_cohorts": in_cohorts if scope.fields else None} | more
    return FactTable(sheet, row.__table__, fields, path, sorting, **more)


ATTEMPT = ("stage", "sample", "attempt")
TEXTS = ("messages", "reply", "thinking", "citations", "error_message")
NO_QUOTE = "it had no quote"
WHICH_QUOTE = (
    field(QuoteRow.at, "its quote, as in `quotes`: since when it stood", "quote_at", NO_QUOTE),
    field(QuoteRow.hash, "its quote, as in `quotes`: its hash", "quote_hash", NO_QUOTE),
)
LISTED = (
    of_cohort(SnapshotRow)
    .join(SnapshotItemRow, clause(SnapshotItemRow.snapshot_id == SnapshotRow.id))
    .join(MarketVersionRow, clause(SnapshotItemRow.version_id == MarketVersionRow.id))
    .outerjoin(QuoteRow, clause(SnapshotItemRow.quote_id == QuoteRow.id))
)
GATHERED = of_round(GatheringRow).join(EvidenceRow, clause(EvidenceRow.gathering_id == GatheringRow.id))
SHOWN = select(EvidenceRow.article).select_from(GATHERED)

FACTS = (
    fact_table(
        "prompts",
        PromptRow,
        WORLD,
        ["hash"],
        of_cohorts=lambda numbers: or_(
            exists().where(in_cohorts(numbers), col(CohortRow.frozen).contains(PromptRow.hash)),
            exists(
                select(column_of(ReplacementRow.id))
                .select_from(of_entrant(ReplacementRow))
                .where(in_cohorts(numbers), col(ReplacementRow.prompts).contains(PromptRow.hash))
            ),
        ),
        has_prompts=True,
    ),
    fact_table(
        "cohorts",
        CohortRow,
        WORLD,
        ["cohort"],
        (
            COHORT_NUMBER,
            *fields_of(CohortRow, "starts_at", "ended_at", "paused_at", "stopped_at", "frozen", "hash"),
        ),
        of_cohorts=in_cohorts,
        batch_size=50,
    ),
    fact_table(
        "entrants",
        EntrantRow,
        IN_COHORT,
        ["agent"],
        fields_of(EntrantRow, "position", "name", "kind", "settings", name="agent"),
        order=[EntrantRow.position],
    ),
    fact_table("replacements", ReplacementRow, IN_ACCOUNT, ["round"], is_new=True),
    fact_table(
        "markets",
        MarketRow,
        WORLD,
        ["market_id"],
        fields_of(MarketRow, id="market_id"),
        of_cohorts=in_snapshots(MarketRow.id, SnapshotItemRow.market_id),
    ),
    fact_table(
        "market_pages",
        MarketVersionRow,
        WORLD,
        ["market_id", "page"],
        fields_of(MarketVersionRow, version="page"),
        of_cohorts=in_snapshots(MarketVersionRow.market_id, SnapshotItemRow.market_id),
    ),
    fact_table(
        "quotes",
        QuoteRow,
        WORLD,
        ["market_id", "at", "hash"],
        order=[QuoteRow.market_id, QuoteRow.at, QuoteRow.id],
        of_cohorts=lambda numbers: or_(
            in_snapshots(QuoteRow.id, SnapshotItemRow.quote_id)(numbers),
            col(QuoteRow.id).in_(
                select(column_of(SecondQuoteRow.quote_id))
                .select_from(of_turn(SecondQuoteRow))
                .where(in_cohorts(numbers))
            ),
        ),
        batch_size=500,
    ),
    fact_table(
        "resolutions",
        ResolutionRow,
        WORLD,
        ["market_id", "version"],
        of_cohorts=in_snapshots(ResolutionRow.market_id, SnapshotItemRow.market_id),
    ),
    fact_table("snapshots", SnapshotRow, IN_COHORT, ["at"]),
    fact_table(
        "snapshot_items",
        SnapshotItemRow,
        IN_COHORT,
        ["at", "position"],
        (
            field(SnapshotRow.at, "the time of the snapshot"),
            *fields_of(SnapshotItemRow, "position", "market_id"),
            field(MarketVersionRow.version, "which of its pages, as in `market_pages`", "page"),
            *WHICH_QUOTE,
            *fields_of(SnapshotItemRow, "quoted_at", "shown"),
        ),
        path=LISTED,
        parents=(ITS_SNAPSHOT, ITS_PAGE, ITS_QUOTE),
    ),
    fact_table(
        "rounds",
        RoundRow,
        IN_COHORT,
        ["round"],
        fields_of(RoundRow, number="round"),
        parents=(ITS_COHORT, ITS_SNAPSHOT),
    ),
    fact_table(
        "articles",
        ArticleRow,
        WORLD,
        ["article"],
        fields_of(ArticleRow, hash="article"),
        of_cohorts=lambda numbers: col(ArticleRow.hash).in_(SHOWN.where(in_cohorts(numbers))),
        batch_size=200,
    ),
    fact_table("gatherings", GatheringRow, IN_ROUND, []),
    fact_table("evidence", EvidenceRow, IN_ROUND, ["position"], path=GATHERED, parents=(ITS_GATHERING,)),
    fact_table(
        "tool_results",
        ToolResultRow,
        IN_ROUND,
        ["key"],
        order=[ToolResultRow.id],
        batch_size=200,
        is_new=True,
    ),
    fact_table(
        "calls",
        CallRow,
        IN_PLACE,
        ATTEMPT,
        [each for each in fields_of(CallRow) if each.column.name not in TEXTS],
        order=[CallRow.id],
        rest_in="call_texts",
    ),
    fact_table(
        "call_texts",
        CallRow,
        IN_PLACE,
        ATTEMPT,
        fields_of(CallRow, *ATTEMPT, *TEXTS),
        meaning="What was asked and answered, word for word: for each row of `calls` one, in the same order.",
        order=[CallRow.id],
        batch_size=50,
        has_prompts=True,
    ),
    fact_table("turns", TurnRow, IN_PLACE, []),
    fact_table(
        "attempts", AttemptRow, IN_PLACE, ["attempt"], fields_of(AttemptRow, number="attempt"), is_new=True
    ),
    fact_table("forecasts", ForecastRow, IN_TURN, ["market_id", "stage"]),
    fact_table("rejections", RejectionRow, IN_TURN, ["position"]),
    fact_table(
        "second_quotes",
        SecondQuoteRow,
        IN_TURN,
        ["market_id"],
        (field(SecondQuoteRow.market_id), *WHICH_QUOTE, *fields_of(SecondQuoteRow, "quoted_at", "taken_at")),
        path=of_turn(SecondQuoteRow).outerjoin(QuoteRow, clause(SecondQuoteRow.quote_id == QuoteRow.id)),
        parents=(ITS_TURN, ITS_QUOTE),
        is_new=True,
    ),
    fact_table("fills", FillRow, IN_TURN, ["fill"], fields_of(FillRow, position="fill")),
    fact_table(
        "fill_levels",
        FillLevelRow,
        IN_TURN,
        ["fill", "level"],
        (
            field(FillRow.position, "the fill's place in its turn", "fill"),
            *fields_of(FillLevelRow, position="level"),
        ),
        path=of_turn(FillRow).join(FillLevelRow, clause(FillLevelRow.fill_id == FillRow.id)),
        parents=(ITS_FILL,),
    ),
    fact_table("entries", EntryRow, IN_ACCOUNT, ["entry"], fields_of(EntryRow, number="entry")),
    fact_table("marks", MarkRow, IN_ACCOUNT, ["at"], parents=(ITS_ENTRANT, ITS_SNAPSHOT)),
    fact_table(
        "syncs",
        SyncRow,
        WORLD,
        ["venue", "sync"],
        fields_of(
            SyncRow,
            "venue",
            "number",
            "stamp",
            "at",
            "markets",
            "left_out",
            "rejected",
            "seen",
            "hash",
            number="sync",
        ),
    ),
    fact_table(
        "sightings",
        SightingRow,
        WORLD,
        ["venue", "sync", "market_id"],
        (
            field(SyncRow.venue),
            field(SyncRow.number, "the number of the sync", "sync"),
            *fields_of(SightingRow),
        ),
        path=SightingRow.__table__.join(SyncRow, clause(SightingRow.sync_id == SyncRow.id)),
        parents=(ITS_SYNC,),
    ),
    fact_table(
        "set_asides",
        QuarantineRow,
        WORLD,
        ["venue", "record", "kind", "code"],
        order=[QuarantineRow.id],
    ),
    fact_table("prunes", PruneRow, WORLD, ["prune"], fields_of(PruneRow, number="prune")),
    fact_table("benchmark_files", BenchmarkFileRow, WORLD, ["kind", "name", "version"], is_new=True),
    fact_table("heads", HeadRow, WORLD, ["head"], fields_of(HeadRow, number="head"), is_new=True),
)
"""In the order in which they can be put back: what a row refers to comes before it."""

FACT = {each.sheet.name: each for each in FACTS}
"""The same by their names."""
