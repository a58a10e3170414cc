"""The tables of facts: the columns of each, its order, and how its rows are restored.

Rows are named without ids: by the numbers of cohort and round, agents' names, and markets' ids.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, FromClause, exists, or_

from arena.exports.table import (
    ExportField,
    ExportTable,
    FactTable,
    OfCohorts,
    ParentKey,
    column_names,
    field,
    fields_of,
    summary_of,
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
from arena.record.schema.typed import col, column_of, joined, select
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


def in_cohorts(numbers: Sequence[int]) -> ColumnElement[bool]:
    """Return the condition that a row's cohort has one of these numbers."""
    return col(CohortRow.number).in_(numbers)


def in_snapshots(column: T, listed_column: T | None) -> OfCohorts:
    """Return the condition that the snapshots of some cohorts list the value of a column."""
    listed = select(column_of(listed_column)).from_joined(SnapshotItemRow, SnapshotRow, CohortRow)
    return lambda numbers: col(column).in_(listed.where(in_cohorts(numbers)))


@dataclass(frozen=True, slots=True)
class TableScope:
    """What the rows of a table belong to: the columns that name it, its sort order, and its tables."""

    fields: tuple[ExportField, ...] = ()
    order: tuple[Any, ...] = ()
    rows: tuple[type[TableRow], ...] = ()


COHORT_NUMBER = field(CohortRow.number, name="cohort")
ROUND_NUMBER = field(RoundRow.number, name="round")
AGENT = field(EntrantRow.name, name="agent")
PLACE_ORDER = (CohortRow.number, RoundRow.number, EntrantRow.position)

WORLD = TableScope()
IN_COHORT = TableScope((COHORT_NUMBER,), (CohortRow.number,), (CohortRow,))
IN_ROUND = TableScope((COHORT_NUMBER, ROUND_NUMBER), PLACE_ORDER[:2], (RoundRow, CohortRow))
IN_ACCOUNT = TableScope(
    (COHORT_NUMBER, AGENT), (CohortRow.number, EntrantRow.position), (EntrantRow, CohortRow)
)
IN_PLACE = TableScope((COHORT_NUMBER, ROUND_NUMBER, AGENT), PLACE_ORDER, (EntrantRow, RoundRow, CohortRow))
IN_TURN = TableScope(IN_PLACE.fields, PLACE_ORDER, (TurnRow, *IN_PLACE.rows))


def _parent(column: str, *path: type[TableRow], **named_columns: Any) -> ParentKey:
    """Return how to find a parent row by the columns that name it, such as `cohort=CohortRow.number`."""
    columns = tuple(map(column_of, named_columns.values()))
    parent_id = path[0].__table__.c.id
    ids = select(parent_id, *columns).from_joined(*path)
    return ParentKey(column, tuple(named_columns), columns, ids)


COHORT: dict[str, Any] = {"cohort": CohortRow.number}
ROUND = COHORT | {"round": RoundRow.number}
TURN = ROUND | {"agent": EntrantRow.name}
PAGE = {"market_id": MarketVersionRow.market_id, "page": MarketVersionRow.version}
QUOTE = {"market_id": QuoteRow.market_id, "quote_at": QuoteRow.at, "quote_hash": QuoteRow.hash}
PARENTS = {
    parent.column: parent
    for parent in (
        _parent("cohort_id", CohortRow, **COHORT),
        _parent("entrant_id", EntrantRow, CohortRow, **COHORT, agent=EntrantRow.name),
        _parent("round_id", RoundRow, CohortRow, **ROUND),
        _parent("snapshot_id", SnapshotRow, CohortRow, **COHORT, at=SnapshotRow.at),
        _parent("version_id", MarketVersionRow, **PAGE),
        _parent("quote_id", QuoteRow, **QUOTE),
        _parent("turn_id", *IN_TURN.rows, **TURN),
        _parent("fill_id", FillRow, *IN_TURN.rows, **TURN, fill=FillRow.position),
        _parent("gathering_id", GatheringRow, *IN_ROUND.rows, **ROUND),
        _parent("sync_id", SyncRow, venue=SyncRow.venue, sync=SyncRow.number),
    )
}
"""The possible parents of rows, by the columns that refer to them."""


def fact_table(
    name: str,
    row: type[TableRow],
    scope: TableScope,
    key: Sequence[str],
    fields: Sequence[ExportField] = (),
    *,
    path: FromClause | None = None,
    order: Sequence[Any] = (),
    meaning: str = "",
    of_cohorts: OfCohorts | None = None,
    **more: Any,
) -> FactTable:
    """Return a table of facts, whose rows are named and sorted by a key within their scope.

    Without `fields` it has all columns of its rows, and without `meaning` the summary of their docstring.
    `order` sorts by other columns than those of the key.
    """
    all_fields = (*scope.fields, *(fields or fields_of(row)))
    columns = tuple(field.column for field in all_fields)
    sources = {field.column.name: field.source for field in all_fields}
    scope_key = column_names(columns[: len(scope.fields)])
    if not order:
        order = [sources[column] for column in key]
    if not meaning:
        meaning = summary_of(row)
    if of_cohorts is None and scope.fields:
        of_cohorts = in_cohorts
    if path is None:
        path = joined(row, *scope.rows)
    parents = filter(None, map(PARENTS.get, row.__table__.c.keys()))  # of columns that refer to one

    return FactTable(
        ExportTable(name, meaning, columns, (*scope_key, *key)),
        row.__table__,
        all_fields,
        path=path,
        order=tuple(map(column_of, (*scope.order, *order))),
        parents=tuple(parents),
        of_cohorts=of_cohorts,
        **more,
    )


ATTEMPT = ("stage", "sample", "attempt")
TEXTS = ("messages", "reply", "thinking", "citations", "error_message")
NO_QUOTE = "it had no quote"
WHICH_QUOTE = (
    field(QuoteRow.at, "its quote, as in `quotes`: since when it stood", "quote_at", NO_QUOTE),
    field(QuoteRow.hash, "its quote, as in `quotes`: its hash", "quote_hash", NO_QUOTE),
)
LISTED = joined(SnapshotItemRow, SnapshotRow, CohortRow, MarketVersionRow).outerjoin(QuoteRow)
GATHERED = joined(EvidenceRow, GatheringRow, *IN_ROUND.rows)


def prompts_of_cohorts(numbers: Sequence[int]) -> ColumnElement[bool]:
    """Return the condition that a cohort froze the prompt, or that one of its agents took it later."""
    is_frozen = exists().where(in_cohorts(numbers), col(CohortRow.frozen).contains(PromptRow.hash))
    later = select(column_of(ReplacementRow.id)).from_joined(ReplacementRow, *IN_ACCOUNT.rows)
    later = later.where(in_cohorts(numbers), col(ReplacementRow.prompts).contains(PromptRow.hash))
    return or_(is_frozen, exists(later))


def quotes_of_cohorts(numbers: Sequence[int]) -> ColumnElement[bool]:
    """Return the condition that a cohort's snapshots list the quote, or that it was read a second time."""
    is_listed = in_snapshots(QuoteRow.id, SnapshotItemRow.quote_id)(numbers)
    read_again = select(column_of(SecondQuoteRow.quote_id)).from_joined(SecondQuoteRow, *IN_TURN.rows)
    return or_(is_listed, col(QuoteRow.id).in_(read_again.where(in_cohorts(numbers))))


def articles_of_cohorts(numbers: Sequence[int]) -> ColumnElement[bool]:
    """Return the condition that the article was shown in one of these cohorts."""
    shown = select(EvidenceRow.article).select_from(GATHERED)
    return col(ArticleRow.hash).in_(shown.where(in_cohorts(numbers)))


PROMPTS = fact_table("prompts", PromptRow, WORLD, ["hash"], of_cohorts=prompts_of_cohorts, has_prompts=True)
COHORTS = fact_table(
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
)
ENTRANTS = fact_table(
    "entrants",
    EntrantRow,
    IN_COHORT,
    ["agent"],
    fields_of(EntrantRow, "position", "name", "kind", "settings", name="agent"),
    order=[EntrantRow.position],
)
REPLACEMENTS = fact_table("replacements", ReplacementRow, IN_ACCOUNT, ["round"], is_new=True)
MARKETS = fact_table(
    "markets",
    MarketRow,
    WORLD,
    ["market_id"],
    fields_of(MarketRow, id="market_id"),
    of_cohorts=in_snapshots(MarketRow.id, SnapshotItemRow.market_id),
)
MARKET_PAGES = fact_table(
    "market_pages",
    MarketVersionRow,
    WORLD,
    ["market_id", "page"],
    fields_of(MarketVersionRow, version="page"),
    of_cohorts=in_snapshots(MarketVersionRow.market_id, SnapshotItemRow.market_id),
)
QUOTES = fact_table(
    "quotes",
    QuoteRow,
    WORLD,
    ["market_id", "at", "hash"],
    order=[QuoteRow.market_id, QuoteRow.at, QuoteRow.id],
    of_cohorts=quotes_of_cohorts,
    batch_size=500,
)
RESOLUTIONS = fact_table(
    "resolutions",
    ResolutionRow,
    WORLD,
    ["market_id", "version"],
    of_cohorts=in_snapshots(ResolutionRow.market_id, SnapshotItemRow.market_id),
)
SNAPSHOTS = fact_table("snapshots", SnapshotRow, IN_COHORT, ["at"])
SNAPSHOT_ITEMS = fact_table(
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
)
ROUNDS = fact_table(
    "rounds",
    RoundRow,
    IN_COHORT,
    ["round"],
    fields_of(RoundRow, number="round"),
)
ARTICLES = fact_table(
    "articles",
    ArticleRow,
    WORLD,
    ["article"],
    fields_of(ArticleRow, hash="article"),
    of_cohorts=articles_of_cohorts,
    batch_size=200,
)
GATHERINGS = fact_table("gatherings", GatheringRow, IN_ROUND, [])
EVIDENCE = fact_table("evidence", EvidenceRow, IN_ROUND, ["position"], path=GATHERED)
TOOL_RESULTS = fact_table(
    "tool_results",
    ToolResultRow,
    IN_ROUND,
    ["key"],
    order=[ToolResultRow.id],
    batch_size=200,
    is_new=True,
)
CALLS = fact_table(
    "calls",
    CallRow,
    IN_PLACE,
    ATTEMPT,
    [field for field in fields_of(CallRow) if field.column.name not in TEXTS],
    order=[CallRow.id],
    rest_in="call_texts",
)
CALL_TEXTS = fact_table(
    "call_texts",
    CallRow,
    IN_PLACE,
    ATTEMPT,
    fields_of(CallRow, *ATTEMPT, *TEXTS),
    meaning="What was asked and answered, word for word: for each row of `calls` one, in the same order.",
    order=[CallRow.id],
    batch_size=50,
    has_prompts=True,
)
TURNS = fact_table("turns", TurnRow, IN_PLACE, [])
ATTEMPTS = fact_table(
    "attempts", AttemptRow, IN_PLACE, ["attempt"], fields_of(AttemptRow, number="attempt"), is_new=True
)
FORECASTS = fact_table("forecasts", ForecastRow, IN_TURN, ["market_id", "stage"])
REJECTIONS = fact_table("rejections", RejectionRow, IN_TURN, ["position"])
SECOND_QUOTES = fact_table(
    "second_quotes",
    SecondQuoteRow,
    IN_TURN,
    ["market_id"],
    (field(SecondQuoteRow.market_id), *WHICH_QUOTE, *fields_of(SecondQuoteRow, "quoted_at", "taken_at")),
    path=joined(SecondQuoteRow, *IN_TURN.rows).outerjoin(QuoteRow),
    is_new=True,
)
FILLS = fact_table("fills", FillRow, IN_TURN, ["fill"], fields_of(FillRow, position="fill"))
FILL_LEVELS = fact_table(
    "fill_levels",
    FillLevelRow,
    IN_TURN,
    ["fill", "level"],
    (
        field(FillRow.position, "the fill's place in its turn", "fill"),
        *fields_of(FillLevelRow, position="level"),
    ),
    path=joined(FillLevelRow, FillRow, *IN_TURN.rows),
)
ENTRIES = fact_table("entries", EntryRow, IN_ACCOUNT, ["entry"], fields_of(EntryRow, number="entry"))
MARKS = fact_table("marks", MarkRow, IN_ACCOUNT, ["at"])
SYNCS = fact_table(
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
)
SIGHTINGS = fact_table(
    "sightings",
    SightingRow,
    WORLD,
    ["venue", "sync", "market_id"],
    (
        field(SyncRow.venue),
        field(SyncRow.number, "the number of the sync", "sync"),
        *fields_of(SightingRow),
    ),
    path=joined(SightingRow, SyncRow),
)
SET_ASIDES = fact_table(
    "set_asides",
    QuarantineRow,
    WORLD,
    ["venue", "record", "kind", "code"],
    order=[QuarantineRow.id],
)
PRUNES = fact_table("prunes", PruneRow, WORLD, ["prune"], fields_of(PruneRow, number="prune"))
BENCHMARK_FILES = fact_table(
    "benchmark_files", BenchmarkFileRow, WORLD, ["kind", "name", "version"], is_new=True
)
HEADS = fact_table("heads", HeadRow, WORLD, ["head"], fields_of(HeadRow, number="head"), is_new=True)

FACTS = (
    PROMPTS,
    COHORTS,
    ENTRANTS,
    REPLACEMENTS,
    MARKETS,
    MARKET_PAGES,
    QUOTES,
    RESOLUTIONS,
    SNAPSHOTS,
    SNAPSHOT_ITEMS,
    ROUNDS,
    ARTICLES,
    GATHERINGS,
    EVIDENCE,
    TOOL_RESULTS,
    CALLS,
    CALL_TEXTS,
    TURNS,
    ATTEMPTS,
    FORECASTS,
    REJECTIONS,
    SECOND_QUOTES,
    FILLS,
    FILL_LEVELS,
    ENTRIES,
    MARKS,
    SYNCS,
    SIGHTINGS,
    SET_ASIDES,
    PRUNES,
    BENCHMARK_FILES,
    HEADS,
)
"""The tables in the order in which they are restored: rows come after those they refer to."""

FACT = {table.sheet.name: table for table in FACTS}
"""The tables of facts by their names."""
