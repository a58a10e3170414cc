"""What cohorts froze and were shown: line-ups, prompts, snapshots, rounds and the articles in them."""

from sqlalchemy import exists

from arena.exports.table import (
    COHORT_NUMBER,
    ITS_COHORT,
    ITS_GATHERING,
    ITS_PAGE,
    ITS_QUOTE,
    ITS_ROUND,
    ITS_SNAPSHOT,
    ROUND_NUMBER,
    fact_table,
    field,
    fields_of,
    in_cohorts,
    of_cohort,
    of_round,
)
from arena.record.schema.cohort import (
    CohortRow,
    EntrantRow,
    EvidenceRow,
    GatheringRow,
    PromptRow,
    RoundRow,
    SnapshotItemRow,
    SnapshotRow,
)
from arena.record.schema.typed import clause, col
from arena.record.schema.world import MarketVersionRow, QuoteRow

PROMPTS = fact_table(
    "prompts",
    PromptRow,
    fields_of(PromptRow),
    ["hash"],
    order=(PromptRow.hash,),
    some=lambda numbers: exists().where(in_cohorts(numbers), col(CohortRow.frozen).contains(PromptRow.hash)),
    wordy=True,
)
COHORTS = fact_table(
    "cohorts",
    CohortRow,
    (
        COHORT_NUMBER,
        *fields_of(CohortRow, "starts_at", "ended_at", "paused_at", "stopped_at", "frozen", "hash"),
    ),
    ["cohort"],
    order=(CohortRow.number,),
    some=in_cohorts,
    bulk=50,
)
ENTRANTS = fact_table(
    "entrants",
    EntrantRow,
    (COHORT_NUMBER, *fields_of(EntrantRow, name="agent")),
    ["cohort", "agent"],
    path=of_cohort(EntrantRow),
    order=(CohortRow.number, EntrantRow.position),
    parents=(ITS_COHORT,),
    some=in_cohorts,
)
SNAPSHOTS = fact_table(
    "snapshots",
    SnapshotRow,
    (COHORT_NUMBER, *fields_of(SnapshotRow)),
    ["cohort", "at"],
    path=of_cohort(SnapshotRow),
    order=(CohortRow.number, SnapshotRow.at),
    parents=(ITS_COHORT,),
    some=in_cohorts,
)
LISTED = (
    of_cohort(SnapshotRow)
    .join(SnapshotItemRow, clause(SnapshotItemRow.snapshot_id == SnapshotRow.id))
    .join(MarketVersionRow, clause(SnapshotItemRow.version_id == MarketVersionRow.id))
    .outerjoin(QuoteRow, clause(SnapshotItemRow.quote_id == QuoteRow.id))
)
NO_QUOTE = "it had no quote"
ITEMS = fact_table(
    "snapshot_items",
    SnapshotItemRow,
    (
        COHORT_NUMBER,
        field(SnapshotRow.at, "the time of the snapshot"),
        *fields_of(SnapshotItemRow, "position", "market_id"),
        field(MarketVersionRow.version, "which of its pages, as in `market_pages`", "page"),
        field(QuoteRow.at, "which of its quotes, as in `quotes`: since when it stood", "quote_at", NO_QUOTE),
        field(QuoteRow.hash, "which of its quotes, as in `quotes`: its hash", "quote_hash", NO_QUOTE),
        *fields_of(SnapshotItemRow, "quoted_at", "shown"),
    ),
    ["cohort", "at", "position"],
    path=LISTED,
    order=(CohortRow.number, SnapshotRow.at, SnapshotItemRow.position),
    parents=(ITS_SNAPSHOT, ITS_PAGE, ITS_QUOTE),
    some=in_cohorts,
)
ROUNDS = fact_table(
    "rounds",
    RoundRow,
    (COHORT_NUMBER, *fields_of(RoundRow, number="round")),
    ["cohort", "round"],
    path=of_cohort(RoundRow),
    order=(CohortRow.number, RoundRow.number),
    parents=(ITS_COHORT, ITS_SNAPSHOT),
    some=in_cohorts,
)
GATHERINGS = fact_table(
    "gatherings",
    GatheringRow,
    (COHORT_NUMBER, ROUND_NUMBER, *fields_of(GatheringRow)),
    ["cohort", "round"],
    path=of_round(GatheringRow),
    order=(CohortRow.number, RoundRow.number),
    parents=(ITS_ROUND,),
    some=in_cohorts,
)
EVIDENCES = fact_table(
    "evidence",
    EvidenceRow,
    (COHORT_NUMBER, ROUND_NUMBER, *fields_of(EvidenceRow)),
    ["cohort", "round", "position"],
    path=of_round(GatheringRow).join(EvidenceRow, clause(EvidenceRow.gathering_id == GatheringRow.id)),
    order=(CohortRow.number, RoundRow.number, EvidenceRow.position),
    parents=(ITS_GATHERING,),
    some=in_cohorts,
)
