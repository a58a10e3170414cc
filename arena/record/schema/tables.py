"""All tables of the record."""

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
from arena.record.schema.ledger import EntryRow, MarkRow
from arena.record.schema.scores import RollupRow
from arena.record.schema.turn import CallRow, FillLevelRow, FillRow, ForecastRow, RejectionRow, TurnRow
from arena.record.schema.work import ClaimRow, IncidentRow, JobRow, LeaseRow, ProviderRow, ReservationRow
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

METADATA = TurnRow.metadata
PROMPT = PromptRow.__table__
COHORT = CohortRow.__table__
ENTRANT = EntrantRow.__table__
MARKET = MarketRow.__table__
VERSION = MarketVersionRow.__table__
QUOTE = QuoteRow.__table__
SNAPSHOT = SnapshotRow.__table__
ITEM = SnapshotItemRow.__table__
RESOLUTION = ResolutionRow.__table__
ROUND = RoundRow.__table__
ARTICLE = ArticleRow.__table__
GATHERING = GatheringRow.__table__
EVIDENCE = EvidenceRow.__table__
CLAIM = ClaimRow.__table__
LEASE = LeaseRow.__table__
LANE = ProviderRow.__table__
RESERVATION = ReservationRow.__table__
JOB = JobRow.__table__
INCIDENT = IncidentRow.__table__
ROLLUP = RollupRow.__table__
CALL = CallRow.__table__
TURN = TurnRow.__table__
FORECAST = ForecastRow.__table__
REJECTION = RejectionRow.__table__
FILL = FillRow.__table__
LEVEL = FillLevelRow.__table__
ENTRY = EntryRow.__table__
MARK = MarkRow.__table__
SYNC = SyncRow.__table__
SIGHTING = SightingRow.__table__
SET_ASIDE = QuarantineRow.__table__
PRUNE = PruneRow.__table__
