"""The markets of a record as people look at them: what they say and cost, and how it stands with them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from sqlalchemy import Connection, func, select

from arena.record.queries.lookup import batches
from arena.record.queries.read import resolutions
from arena.record.schema.tables import COHORT, SNAPSHOT, SYNC
from arena.record.write.asof import known_markets, listings_as_of
from arena.record.write.sync import gone_since
from markets.model import Listing, MarketId, Resolution

Status = Literal["open", "waiting", "ended"]
BEGINNING = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Seen:
    """A market as it was last seen: open; waiting, since it closed or is no longer shown; or ended."""

    listing: Listing
    status: Status
    ends: tuple[Resolution, ...]


def seen_markets(connection: Connection, at: datetime, ids: Sequence[MarketId] | None = None) -> list[Seen]:
    """Markets as they were known at an instant, in the order given; all of them unless some are named."""
    ids = known_markets(connection, at) if ids is None else ids
    gone, ends = set(gone_since(connection, BEGINNING)), dict[MarketId, list[Resolution]]()
    for some in batches(ids):
        for end in resolutions(connection, some, at):
            ends.setdefault(end.market_id, []).append(end)
    return [
        Seen(
            listing,
            _status(listing, at, listing.market.id in gone, ends),
            tuple(ends.get(listing.market.id, ())),
        )
        for listing in listings_as_of(connection, ids, at)
    ]


def _status(listing: Listing, at: datetime, gone: bool, ends: dict[MarketId, list[Resolution]]) -> Status:
    if listing.market.id in ends:
        return "ended"
    return "waiting" if gone or listing.market.closes_at <= at else "open"


# By cohort: the index has the times of each in their order, and a year has tens of thousands.
OF_COHORT = select(func.max(SNAPSHOT.c.at)).where(SNAPSHOT.c.cohort_id == COHORT.c.id).scalar_subquery()
NEWEST = (select(func.max(OF_COHORT)).select_from(COHORT), select(func.max(SYNC.c.at)))


def latest(connection: Connection, now: datetime) -> datetime:
    """The newest instant of a record: now, unless a made-up world has been played further than that."""
    found = [connection.scalar(query) for query in NEWEST]
    times: list[datetime] = [now, *(at for at in found if at is not None)]
    return max(times)


def chosen(markets: Sequence[Seen], search: str = "", category: str = "", status: str = "all") -> list[Seen]:
    """Those that have these words in their question, rules or id, most traded first."""
    words = search.casefold().split()
    found = [
        seen
        for seen in markets
        if status in ("all", seen.status)
        and category.casefold() in ("", seen.listing.market.category.casefold())
        and all(word in _text(seen) for word in words)
    ]
    return sorted(found, key=lambda seen: (-_traded(seen), seen.listing.market.id))


def _text(seen: Seen) -> str:
    market = seen.listing.market
    return f"{market.question}\n{market.rules}\n{market.id}".casefold()


def _traded(seen: Seen) -> int:
    return seen.listing.quote.volume if seen.listing.quote else 0
