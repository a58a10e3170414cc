"""Questions that are held out: played like all others, and scored only once they are opened.

Which they are follows from what cohorts have frozen.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from arena.record.queries.cohorts import COHORT_ID
from arena.record.schema.codec import cohort_of
from arena.record.schema.cohort import CohortRow, SnapshotItemRow, SnapshotRow
from arena.record.schema.typed import col, joined, select
from arena.record.schema.world import MarketVersionRow, ResolutionRow
from arena.record.write.holdout import read_opened_at
from markets.universe import Universe, is_held_out


@dataclass(frozen=True, slots=True)
class HeldOut:
    """The markets that are held out, those of them that have not ended, and when they were opened."""

    markets: frozenset[str]
    unended: frozenset[str]
    opened_at: datetime | None


def read_hidden_ends(connection: Connection) -> frozenset[str]:
    """Return the markets whose resolutions are still hidden from scores."""
    holds_nothing_out = next(_holding_out(connection), None) is None
    if holds_nothing_out or read_opened_at(connection) is not None:
        return frozenset()
    return _read_held_out_markets(connection)


ENDED_MARKETS = select(ResolutionRow.market_id).distinct()


def read_held_out(connection: Connection) -> HeldOut:
    """Return the held-out markets, and when they were opened."""
    markets = _read_held_out_markets(connection)
    ended = set(connection.scalars(ENDED_MARKETS))
    return HeldOut(markets, markets - ended, read_opened_at(connection))


HOLDING_OUT = select(CohortRow.id, CohortRow.frozen).where(col(CohortRow.frozen).contains('"holdout":'))


def _holding_out(connection: Connection) -> Iterator[tuple[int, Universe]]:
    """Yield the ids of the cohorts that hold questions out, each with its rule."""
    for cohort_id, frozen in connection.execute(HOLDING_OUT):
        rule = cohort_of(frozen).universe
        if rule.holdout:
            yield cohort_id, rule


SHOWN_MARKETS = (
    select(SnapshotItemRow.market_id, MarketVersionRow.story, MarketVersionRow.event_id)
    .select_from(joined(SnapshotItemRow, SnapshotRow, MarketVersionRow))
    .where(SnapshotRow.cohort_id == COHORT_ID, SnapshotItemRow.shown == 1)
    .distinct()
)


def _read_held_out_markets(connection: Connection) -> frozenset[str]:
    """Return the markets that some cohort was shown and holds out."""
    held_out = set[str]()
    for cohort_id, rule in _holding_out(connection):
        for market, story, event in connection.execute(SHOWN_MARKETS, {"cohort_id": cohort_id}):
            if is_held_out(rule, story or event):
                held_out.add(market)
    return frozenset(held_out)
