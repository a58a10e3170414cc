"""What venues have said since accounts were settled: lots that are owed another payment, and how much.

A correction counts everywhere as soon as it is learnt. Scores read the newest version of every end, and what
an account is worth is its newest mark with what that version changes of it: so both go by the same version
at every moment, whichever cohorts were paid by then.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, Text, bindparam, cast, exists, func
from sqlalchemy.orm import aliased
from sqlmodel import and_

from arena.record.model.calendar import WEEK
from arena.record.queries.cohorts import read_newest_time, read_quotes
from arena.record.schema.cohort import CohortRow, EntrantRow, SnapshotItemRow
from arena.record.schema.ledger import EntryRow, MarkRow
from arena.record.schema.typed import IDS, clause, col, columns_of, joined, read_grouped_nouns, select
from arena.record.schema.work import JobRow
from arena.record.schema.world import ResolutionRow
from markets.millionths import ONE
from markets.model import MarketId
from portfolio.ledger import ENDING_KINDS, lot_key
from portfolio.model import Entry, LotKey
from portfolio.money import worth
from portfolio.value import price_of

CORRECTIONS = "corrections"
"""In place of a job's name: until when corrections were read, while no cohort goes on."""
WAS_SHOWN = exists().where(clause(SnapshotItemRow.market_id == ResolutionRow.market_id))
NEWEST_LEARNT = func.max(ResolutionRow.learnt_at)
LAST_LEARNT = select(NEWEST_LEARNT, func.max(ResolutionRow.known_at)).where(WAS_SHOWN)
CORRECTABLE_MARKETS = (
    select(ResolutionRow.market_id)
    .where(WAS_SHOWN)
    .group_by(ResolutionRow.market_id)
    .having(bindparam("since") <= NEWEST_LEARNT)
    .order_by(ResolutionRow.market_id)
)


def read_correctable_markets(connection: Connection, since: datetime) -> list[MarketId]:
    """Markets that any snapshot held and whose end, or its last correction, was learnt since an instant."""
    return [MarketId(row) for row in connection.scalars(CORRECTABLE_MARKETS, {"since": since})]


def next_correction_look(connection: Connection, live: bool, within: timedelta) -> datetime | None:
    """When to ask about corrections again in a record without an open cohort; None once none may come.

    They may come until so long after the last end or correction: after it was learnt in a `live` world, in
    another after it could be known, however late one looks. What is still owed is paid at once.
    """
    newest, (learnt, known) = read_newest_time(connection), connection.execute(LAST_LEARNT).one()
    if newest is None or learnt is None:
        return None
    last, every = (learnt, timedelta(days=1)) if live else (known, WEEK)
    done = select(JobRow.due_at).where(JobRow.name == CORRECTIONS, JobRow.failures == 0)
    asked = max(newest, connection.scalar(done.where(col(JobRow.ended_at).is_not(None))) or newest)
    if asked < last + within:
        return min(asked + every, last + within)
    return asked + every if read_unpaid_markets(connection) else None


NEWEST_VERSION = func.max(ResolutionRow.version).label("version")
NEWEST_ENDS = select(ResolutionRow.market_id, NEWEST_VERSION).group_by(ResolutionRow.market_id)
CORRECTED = NEWEST_ENDS.where(ResolutionRow.version > 1).subquery("ends")
PAID = aliased(EntryRow, name="paid")
PAYS_LOT = and_(
    PAID.market_id == EntryRow.market_id,
    PAID.entrant_id == EntryRow.entrant_id,
    PAID.side == EntryRow.side,
    col(PAID.kind).in_(ENDING_KINDS),
)
PAYS_NEWEST = PAYS_LOT & (PAID.ref == "resolution:" + cast(CORRECTED.c.version, Text))
UNPAID_MARKETS = (
    select(EntrantRow.cohort_id, EntryRow.market_id)
    .distinct()
    .select_from(
        CORRECTED.join(EntryRow.__table__, clause(EntryRow.market_id == CORRECTED.c.market_id))
        .join(EntrantRow.__table__)
        .join(CohortRow.__table__)
    )
    .where(col(EntryRow.kind).in_(ENDING_KINDS), ~exists().where(clause(PAYS_NEWEST)))
    .order_by(EntrantRow.cohort_id, EntryRow.market_id)
)
OF_ENDED = UNPAID_MARKETS.where(col(CohortRow.ended_at).is_not(None))


def read_unpaid_markets(connection: Connection, cohort_id: int | None = None) -> dict[int, list[MarketId]]:
    """By cohort, the markets whose correction is unpaid: of the cohorts that have ended, or of this one."""
    wanted = OF_ENDED if cohort_id is None else UNPAID_MARKETS.where(EntrantRow.cohort_id == cohort_id)
    markets: dict[int, list[MarketId]] = defaultdict(list)
    for cohort, market in connection.execute(wanted):
        markets[cohort].append(MarketId(market))
    return markets


NEWEST_MARKS = aliased(MarkRow, name="newest")
LAST_MARK = (
    select(NEWEST_MARKS.at)
    .where(NEWEST_MARKS.entrant_id == EntrantRow.id)
    .order_by(col(NEWEST_MARKS.at).desc())
    .limit(1)
    .correlate(EntrantRow.__table__)
    .scalar_subquery()
)
MARKED_SINCE = (
    select(func.min(LAST_MARK))
    .select_from(joined(EntrantRow, CohortRow))
    .where(col(CohortRow.ended_at).is_(None))
)
RECENT = NEWEST_ENDS.having((NEWEST_VERSION > 1) | (bindparam("since") <= NEWEST_LEARNT)).subquery("ends")
PAYS_RECENT = PAYS_LOT & (PAID.ref == "resolution:" + cast(RECENT.c.version, Text)) & (PAID.at <= LAST_MARK)
OWED_LOTS = (
    select(EntrantRow.id, EntrantRow.cohort_id, EntryRow.market_id, LAST_MARK.label("at"))
    .distinct()
    .select_from(
        RECENT.join(EntryRow.__table__, clause(EntryRow.market_id == RECENT.c.market_id)).join(
            EntrantRow.__table__
        )
    )
    .where(EntryRow.kind == "buy", LAST_MARK.is_not(None), ~exists().where(clause(PAYS_RECENT)))
)
OWED_ENTRIES = (
    select(EntryRow.entrant_id, *columns_of(EntryRow, Entry.__dataclass_fields__))
    .where(
        col(EntryRow.entrant_id).in_(IDS), col(EntryRow.market_id).in_(bindparam("markets", expanding=True))
    )
    .order_by(EntryRow.entrant_id, EntryRow.number)
)
PAYOUTS = (
    select(ResolutionRow.market_id, ResolutionRow.payout)
    .where(col(ResolutionRow.market_id).in_(IDS))
    .order_by(ResolutionRow.version)
)
LATEST = datetime.max.replace(tzinfo=UTC)
TIMES_OVERLAP = timedelta(days=1)
"""A round that is caught up is kept under a time at which other cohorts may have been marked already."""


def read_owed(connection: Connection) -> dict[int, int]:
    """What the newest ends of markets change of each entrant's newest mark, by the entrant's id.

    That is nothing once they are paid and marked, so only few lots are looked at: those of corrected
    markets, and of markets that ended since some open cohort was marked.
    """
    since = connection.scalar(MARKED_SINCE)
    edge = LATEST if since is None else since - TIMES_OVERLAP
    lots = connection.execute(OWED_LOTS, {"since": edge}).all()
    markets = sorted({row.market_id for row in lots})
    wanted = {"ids": sorted({row.id for row in lots}), "markets": markets}
    entries = read_grouped_nouns(Entry, connection.execute(OWED_ENTRIES, wanted)) if lots else {}
    payouts = dict(connection.execute(PAYOUTS, {"ids": markets}).all()) if lots else {}
    owed: dict[int, int] = defaultdict(int)
    for entrant_id, cohort_id, market, at in lots:
        own = [entry for entry in entries[entrant_id] if entry.market_id == market]
        for key in {lot_key(entry) for entry in own}:
            lot = [entry for entry in own if lot_key(entry) == key]
            before = _marked(connection, cohort_id, at, key, [entry for entry in lot if entry.at <= at])
            owed[entrant_id] += _final(lot, payouts[market]) - before
    return owed


def _marked(connection: Connection, cohort_id: int, at: datetime, key: LotKey, lot: Sequence[Entry]) -> int:
    """What a lot came to at a mark, by its entries until then."""
    shares, cost, cash = (sum(getattr(x, name) for x in lot) for name in ("shares", "cost", "cash"))
    quoted = read_quotes(connection, cohort_id, at) if shares else None
    price = price_of(quoted[2].get(key[0]) if quoted else None, key[1], at, None).value
    return int(cash + (cost if price is None else worth(shares, price)))


def _final(lot: Sequence[Entry], payout: int | None) -> int:
    """What a lot comes to if it is paid by a payout, or refunded, whatever it was paid before."""
    traded = [entry for entry in lot if entry.kind in ("buy", "sell")]
    shares, cost, cash = (sum(getattr(x, name) for x in traded) for name in ("shares", "cost", "cash"))
    share = ONE - payout if payout is not None and traded[0].side == "NO" else payout
    return int(cash + (cost if share is None else worth(shares, share)))
