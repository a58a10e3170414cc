"""What venues have said since accounts were settled: lots that are owed another payment, and how much.

A correction counts everywhere as soon as it is learnt. Scores read the newest version of every end, and what
an account is worth is its newest mark with what that version changes of it: so both go by the same version
at every moment, whichever cohorts were paid by then.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Text, bindparam, cast, exists, func
from sqlalchemy.orm import aliased
from sqlmodel import and_

from arena.record.queries.cohorts import read_quotes
from arena.record.schema.cohort import CohortRow, EntrantRow
from arena.record.schema.ledger import EntryRow, MarkRow
from arena.record.schema.typed import IDS, clause, col, columns_of, read_objects_by_key, select
from arena.record.schema.world import ResolutionRow
from markets.model import MarketId
from portfolio.ledger import ENDING_KINDS, lot_key
from portfolio.model import Entry, LotKey, Side
from portfolio.money import worth
from portfolio.quotes import mirror_price
from portfolio.value import price_of

CORRECTIONS = "corrections"
"""In place of a job's name: until when corrections were read, while no cohort goes on."""

PAID = aliased(EntryRow, name="paid")
PAYS_LOT = and_(
    PAID.market_id == EntryRow.market_id,
    PAID.entrant_id == EntryRow.entrant_id,
    PAID.side == EntryRow.side,
    col(PAID.kind).in_(ENDING_KINDS),
)


def _is_payment(ends: Any) -> Any:
    """Return the condition that an entry pays a lot by the newest version of its market's resolution."""
    return PAYS_LOT & (PAID.ref == "resolution:" + cast(ends.c.version, Text))


NEWEST_VERSION = func.max(ResolutionRow.version).label("version")
NEWEST_ENDS = select(ResolutionRow.market_id, NEWEST_VERSION).group_by(ResolutionRow.market_id)
CORRECTED = NEWEST_ENDS.where(ResolutionRow.version > 1).subquery("ends")
ENTRIES_OF_CORRECTED = (
    CORRECTED.join(EntryRow, clause(EntryRow.market_id == CORRECTED.c.market_id))
    .join(EntrantRow)
    .join(CohortRow)
)
UNPAID_MARKETS = (
    select(EntrantRow.cohort_id, EntryRow.market_id)
    .distinct()
    .select_from(ENTRIES_OF_CORRECTED)
    .where(col(EntryRow.kind).in_(ENDING_KINDS), ~exists().where(_is_payment(CORRECTED)))
    .order_by(EntrantRow.cohort_id, EntryRow.market_id)
)
UNPAID_TO_ENDED = UNPAID_MARKETS.where(col(CohortRow.ended_at).is_not(None))
UNPAID_TO_COHORT = UNPAID_MARKETS.where(EntrantRow.cohort_id == bindparam("cohort_id"))


def read_unpaid_corrections(
    connection: Connection, cohort_id: int | None = None
) -> dict[int, list[MarketId]]:
    """Return the markets with an unpaid correction, by cohort, for one or for all ended cohorts."""
    if cohort_id is None:
        rows = connection.execute(UNPAID_TO_ENDED)
    else:
        rows = connection.execute(UNPAID_TO_COHORT, {"cohort_id": cohort_id})

    markets: dict[int, list[MarketId]] = defaultdict(list)
    for cohort, market in rows:
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
IS_RECENT = func.max(ResolutionRow.learnt_at) >= bindparam("since")
RECENT = NEWEST_ENDS.having((NEWEST_VERSION > 1) | IS_RECENT).subquery("ends")
IS_MARKED_PAYMENT = _is_payment(RECENT) & (PAID.at <= LAST_MARK)
ENTRIES_OF_RECENT = RECENT.join(EntryRow, clause(EntryRow.market_id == RECENT.c.market_id)).join(EntrantRow)
OWED_LOTS = (
    select(EntrantRow.id, EntrantRow.cohort_id, EntryRow.market_id, LAST_MARK.label("at"))
    .distinct()
    .select_from(ENTRIES_OF_RECENT)
    .where(EntryRow.kind == "buy", LAST_MARK.is_not(None), ~exists().where(IS_MARKED_PAYMENT))
)
MARKED_SINCE = (
    select(func.min(LAST_MARK)).from_joined(EntrantRow, CohortRow).where(col(CohortRow.ended_at).is_(None))
)
LATEST = datetime.max.replace(tzinfo=UTC)
TIMES_OVERLAP = timedelta(days=1)
"""A round that is caught up is kept under a time at which other cohorts may have been marked already."""


def read_owed(connection: Connection) -> dict[int, int]:
    """Return how the newest resolutions change each entrant's newest mark, by the entrant's id.

    That is nothing once they are paid and marked, so only few lots are looked at: those of corrected
    markets, and of markets that ended since some open cohort was marked.
    """
    since = connection.scalar(MARKED_SINCE)
    learnt_since = LATEST if since is None else since - TIMES_OVERLAP
    rows = connection.execute(OWED_LOTS, {"since": learnt_since}).all()
    if not rows:
        return {}

    entrant_ids = {row.id for row in rows}
    markets = {row.market_id for row in rows}
    lots = _read_lots(connection, sorted(entrant_ids), sorted(markets))
    # Versions come in order, so the newest of a market replaces those before it.
    payouts = dict(connection.execute(PAYOUTS, {"ids": sorted(markets)}).all())

    owed: dict[int, int] = defaultdict(int)
    for entrant_id, cohort_id, market, at in rows:
        for lot, entries in lots[entrant_id].items():
            lot_market, side = lot
            if lot_market == market:
                value_at_mark = _value_at_mark(connection, cohort_id, at, lot, entries)
                owed[entrant_id] += _final_value(side, entries, payouts[market]) - value_at_mark
    return owed


ENTRIES_OF_LOTS = (
    select(EntryRow.entrant_id, *columns_of(EntryRow, Entry.__dataclass_fields__))
    .where(
        col(EntryRow.entrant_id).in_(bindparam("entrants", expanding=True)),
        col(EntryRow.market_id).in_(bindparam("markets", expanding=True)),
    )
    .order_by(EntryRow.entrant_id, EntryRow.number)
)


def _read_lots(
    connection: Connection, entrant_ids: Sequence[int], markets: Sequence[str]
) -> dict[int, dict[LotKey, list[Entry]]]:
    """Return the ledger entries of these entrants about these markets, by entrant and lot."""
    rows = connection.execute(ENTRIES_OF_LOTS, {"entrants": entrant_ids, "markets": markets})
    lots: dict[int, dict[LotKey, list[Entry]]] = defaultdict(dict)
    for entrant_id, entries in read_objects_by_key(Entry, rows).items():
        for entry in entries:
            lots[entrant_id].setdefault(lot_key(entry), []).append(entry)
    return lots


PAYOUTS = (
    select(ResolutionRow.market_id, ResolutionRow.payout)
    .where(col(ResolutionRow.market_id).in_(IDS))
    .order_by(ResolutionRow.version)
)


def _value_at_mark(
    connection: Connection, cohort_id: int, at: datetime, lot: LotKey, entries: Sequence[Entry]
) -> int:
    """Return the value of a lot at a mark, from its entries until then."""
    shares, cost, cash = _sum_shares_cost_cash(entry for entry in entries if entry.at <= at)
    if not shares:
        return cash + cost

    market, side = lot
    quote = None
    stored_prices = read_quotes(connection, cohort_id, at)
    if stored_prices is not None:
        _, _, quotes = stored_prices
        quote = quotes.get(market)

    # Without a price a lot counts at what it cost.
    price = price_of(quote, side, at, None).value
    return cash + (cost if price is None else worth(shares, price))


def _final_value(side: Side, entries: Sequence[Entry], payout: int | None) -> int:
    """Return the final value of a lot at a payout or a refund, whatever it was paid before."""
    shares, cost, cash = _sum_shares_cost_cash(entry for entry in entries if entry.kind in ("buy", "sell"))
    price = payout if side == "YES" else mirror_price(payout)

    # A refund pays what the shares cost.
    return cash + (cost if price is None else worth(shares, price))


def _sum_shares_cost_cash(entries: Iterable[Entry]) -> tuple[int, int, int]:
    """Return the sums of shares, cost and cash over these entries of a lot."""
    shares = 0
    cost = 0
    cash = 0
    for entry in entries:
        shares += entry.shares
        cost += entry.cost
        cash += entry.cash
    return shares, cost, cash
