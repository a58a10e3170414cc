"""What was seen of venues: markets and their pages, prices, ends, syncs, and what made no sense."""

from arena.exports.table import (
    ITS_SYNC,
    fact_table,
    field,
    fields_of,
    in_cohorts,
    in_snapshots,
    of_round,
)
from arena.record.schema.cohort import EvidenceRow, GatheringRow, SnapshotItemRow
from arena.record.schema.typed import clause, col, select
from arena.record.schema.world import (
    ArticleRow,
    MarketRow,
    MarketVersionRow,
    PruneRow,
    QuarantineRow,
    QuoteRow,
    ResolutionRow,
    SightingRow,
    SyncRow,
)

MARKETS = fact_table(
    "markets",
    MarketRow,
    fields_of(MarketRow, id="market_id"),
    ["market_id"],
    order=(MarketRow.id,),
    some=in_snapshots(MarketRow.id, SnapshotItemRow.market_id),
)
PAGES = fact_table(
    "market_pages",
    MarketVersionRow,
    fields_of(MarketVersionRow, version="page"),
    ["market_id", "page"],
    order=(MarketVersionRow.market_id, MarketVersionRow.version),
    some=in_snapshots(MarketVersionRow.market_id, SnapshotItemRow.market_id),
)
QUOTES = fact_table(
    "quotes",
    QuoteRow,
    fields_of(QuoteRow),
    ["market_id", "at", "hash"],
    order=(QuoteRow.market_id, QuoteRow.at, QuoteRow.id),
    some=in_snapshots(QuoteRow.id, SnapshotItemRow.quote_id),
    bulk=500,
)
RESOLUTIONS = fact_table(
    "resolutions",
    ResolutionRow,
    fields_of(ResolutionRow),
    ["market_id", "version"],
    order=(ResolutionRow.market_id, ResolutionRow.version),
    some=in_snapshots(ResolutionRow.market_id, SnapshotItemRow.market_id),
)
SHOWN = select(EvidenceRow.article).select_from(
    of_round(GatheringRow).join(EvidenceRow, clause(EvidenceRow.gathering_id == GatheringRow.id))
)
ARTICLES = fact_table(
    "articles",
    ArticleRow,
    fields_of(ArticleRow, hash="article"),
    ["article"],
    order=(ArticleRow.hash,),
    some=lambda numbers: col(ArticleRow.hash).in_(SHOWN.where(in_cohorts(numbers))),
    bulk=200,
)
SYNCS = fact_table(
    "syncs",
    SyncRow,
    fields_of(SyncRow, "venue", "number", "stamp", "at", "markets", "seen", "hash", number="sync"),
    ["venue", "sync"],
    order=(SyncRow.venue, SyncRow.number),
)
SIGHTINGS = fact_table(
    "sightings",
    SightingRow,
    (
        field(SyncRow.venue),
        field(SyncRow.number, "the number of the sync", "sync"),
        *fields_of(SightingRow),
    ),
    ["venue", "sync", "market_id"],
    path=SightingRow.__table__.join(SyncRow, clause(SightingRow.sync_id == SyncRow.id)),
    order=(SyncRow.venue, SyncRow.number, SightingRow.market_id),
    parents=(ITS_SYNC,),
)
REJECTED = fact_table(
    "set_asides",
    QuarantineRow,
    fields_of(QuarantineRow),
    ["venue", "record", "kind", "code"],
    order=(QuarantineRow.id,),
)
PRUNES = fact_table(
    "prunes", PruneRow, fields_of(PruneRow, number="prune"), ["prune"], order=(PruneRow.number,)
)
