"""What agents are told beyond the snapshot: earlier prices, what else an event has, and their own past.

All of it is as it was known before a round, so that an agent that is asked again is asked the same: prices
and pages are older than the round by an hour or more, while another process may still write those of now.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from sqlalchemy import Connection, bindparam, func
from sqlmodel import and_, or_

from agents.model import HISTORY_DAYS, MOST_ENDED, Forecast, PastForecast
from arena.record.queries.cohorts import read_resolutions
from arena.record.queries.markets import read_listings_as_of
from arena.record.schema.cohort import RoundRow, SnapshotItemRow
from arena.record.schema.newest import newest_rows
from arena.record.schema.turn import ForecastRow, TurnRow
from arena.record.schema.typed import IDS, clause, col, columns_of, read_nouns, select
from arena.record.schema.world import MarketVersionRow, QuoteRow, ResolutionRow
from markets.model import Listing, MarketId, Quote, Resolution, Snapshot

SETTLED = timedelta(hours=1)
"""Nobody writes any more what was known so long ago."""
MOST_SIBLINGS = 30
"""So many other markets of an event are looked at, by their ids."""


def read_price_history(
    connection: Connection, ids: Sequence[MarketId], at: datetime
) -> dict[MarketId, tuple[Quote, ...]]:
    """The prices that each market had some days before an instant, oldest first, each as of when it came."""
    history: dict[MarketId, dict[int, Quote]] = defaultdict(dict)
    for days in HISTORY_DAYS:
        until = at - timedelta(days=days)
        rows = newest_rows(connection, QuoteRow, ids, "at", "at", "mid", "last", until=until)
        for row in rows.values():
            market = MarketId(row.market_id)
            history[market][row.id] = Quote(market, row.at, None, None, row.mid, row.last)
    return {market: tuple(quotes.values()) for market, quotes in history.items()}


MARKETS_OF_EVENTS = (
    select(MarketVersionRow.event_id, MarketVersionRow.market_id)
    .where(col(MarketVersionRow.event_id).in_(IDS), MarketVersionRow.at <= bindparam("until"))
    .group_by(MarketVersionRow.event_id, MarketVersionRow.market_id)
    .order_by(MarketVersionRow.event_id, MarketVersionRow.market_id)
)


def read_siblings(connection: Connection, snapshot: Snapshot) -> dict[str, tuple[Listing, ...]]:
    """By event what else was known to be open of it, an hour before the snapshot's time."""
    inside, until = {listing.market.id for listing in snapshot}, snapshot.at - SETTLED
    events = sorted({listing.market.event_id for listing in snapshot})
    known: dict[str, list[MarketId]] = defaultdict(list)
    for event, market in connection.execute(MARKETS_OF_EVENTS, {"ids": events, "until": until}):
        if market not in inside and len(known[event]) < MOST_SIBLINGS:
            known[event].append(MarketId(market))
    ids = sorted({market for markets in known.values() for market in markets})
    ended = {end.market_id for end in read_resolutions(connection, ids, until)} if ids else set()
    siblings: dict[str, list[Listing]] = defaultdict(list)
    for listing in read_listings_as_of(connection, ids, until):
        page = listing.market
        if page.id in known[page.event_id] and page.closes_at > snapshot.at and page.id not in ended:
            siblings[page.event_id].append(listing)
    return {event: tuple(listings) for event, listings in siblings.items()}


LAST_FORECASTS = (
    select(
        TurnRow.entrant_id,
        RoundRow.number,
        RoundRow.at,
        SnapshotItemRow.version_id,
        SnapshotItemRow.quote_id,
        ForecastRow.market_id,
        ForecastRow.probability,
        ForecastRow.stage,
        ForecastRow.reason,
    )
    .add_columns(
        func.row_number()
        .over(
            partition_by=columns_of(TurnRow, ["entrant_id"])
            + columns_of(ForecastRow, ["market_id", "stage"]),
            order_by=col(RoundRow.at).desc(),
        )
        .label("place")
    )
    .select_from(SnapshotItemRow.__table__)
    .join(RoundRow, clause(RoundRow.snapshot_id == SnapshotItemRow.snapshot_id))
    .join(TurnRow, clause(TurnRow.round_id == RoundRow.id))
    .join(
        ForecastRow,
        and_(ForecastRow.turn_id == TurnRow.id, ForecastRow.market_id == SnapshotItemRow.market_id),
    )
    .where(
        RoundRow.cohort_id == bindparam("cohort_id"),
        RoundRow.at < bindparam("at"),
        col(SnapshotItemRow.market_id).in_(IDS),
        col(TurnRow.entrant_id).in_(bindparam("entrants", expanding=True)),
    )
    .subquery("last")
)
PAST_FORECASTS = (
    select(LAST_FORECASTS)
    .add_columns(MarketVersionRow.question, QuoteRow.mid)
    .join(MarketVersionRow, clause(MarketVersionRow.id == LAST_FORECASTS.c.version_id))
    .outerjoin(QuoteRow, clause(QuoteRow.id == LAST_FORECASTS.c.quote_id))
    .where(LAST_FORECASTS.c.place == 1)
    .order_by(LAST_FORECASTS.c.entrant_id, LAST_FORECASTS.c.market_id, LAST_FORECASTS.c.stage)
)


def read_past_forecasts(
    connection: Connection,
    cohort_id: int,
    entrants: Collection[int],
    markets: Collection[MarketId],
    at: datetime,
) -> dict[int, list[PastForecast]]:
    """What entrants of a cohort last said of these markets before a round, blind and final, by entrant."""
    past: dict[int, list[PastForecast]] = defaultdict(list)
    told = {"cohort_id": cohort_id, "entrants": sorted(entrants), "ids": sorted(markets), "at": at}
    for row in connection.execute(PAST_FORECASTS, told):
        said = Forecast(MarketId(row.market_id), None, row.stage, row.reason, millionths=row.probability)
        past[row.entrant_id].append(PastForecast(said, row.number, row.at, row.question, row.mid))
    return past


NEW_ENDS = (
    select(ResolutionRow.market_id, ResolutionRow.version, ResolutionRow.known_at, ResolutionRow.payout)
    .where(
        ResolutionRow.learnt_at <= bindparam("at"),
        ResolutionRow.known_at <= bindparam("until"),
        or_(ResolutionRow.learnt_at > bindparam("since"), ResolutionRow.known_at > bindparam("before")),
        col(ResolutionRow.market_id).in_(
            select(SnapshotItemRow.market_id)
            .join(RoundRow, clause(RoundRow.snapshot_id == SnapshotItemRow.snapshot_id))
            .where(RoundRow.cohort_id == bindparam("cohort_id"), RoundRow.at <= bindparam("since"))
        ),
    )
    .order_by(ResolutionRow.market_id, ResolutionRow.version)
)


def read_new_ends(
    connection: Connection, cohort_id: int, since: datetime, at: datetime
) -> dict[MarketId, int | None]:
    """How markets of a cohort's earlier rounds ended, as was learnt since the last of them, latest first."""
    times = {"at": at, "until": at - SETTLED, "since": since, "before": since - SETTLED}
    rows = read_nouns(Resolution, connection.execute(NEW_ENDS, {"cohort_id": cohort_id, **times}))
    ends = {end.market_id: end for end in rows}
    newest = sorted(ends.values(), key=lambda end: (end.known_at, end.market_id), reverse=True)
    return {end.market_id: end.outcome for end in newest[:MOST_ENDED]}
