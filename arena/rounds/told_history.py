"""What agents are shown beyond the snapshot: earlier prices, sibling markets, and their own past.

All of it is as it was known before a round, so that an agent that is asked again is asked the same: prices
and pages are older than the round by an hour or more, while another process may still write those of now.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from agents.model import HISTORY_DAYS, MOST_ENDED, Forecast, PastForecast
from arena.record.queries.cohorts import AT, COHORT_ID, read_resolutions
from arena.record.queries.markets import read_listings_as_of
from arena.record.schema.cohort import RoundRow, SnapshotItemRow
from arena.record.schema.database import Connection
from arena.record.schema.newest import newest_rows
from arena.record.schema.turn import ForecastRow, TurnRow
from arena.record.schema.typed import (
    IDS,
    bindparam,
    col,
    column_of,
    func,
    or_,
    read_objects,
    select,
    select_as,
)
from arena.record.schema.world import MarketVersionRow, QuoteRow, ResolutionRow
from markets.model import Listing, MarketId, Quote, Resolution, Snapshot

SETTLED = timedelta(hours=1)
"""Nobody writes any more what was known so long ago."""
MOST_SIBLINGS = 30
"""So many other markets of an event are looked at, by their ids."""


def read_price_history(
    connection: Connection, ids: Sequence[MarketId], at: datetime
) -> dict[MarketId, tuple[Quote, ...]]:
    """Return the prices of each market some days before an instant, oldest first, with their times."""
    history: dict[MarketId, dict[int, Quote]] = defaultdict(dict)
    for days in HISTORY_DAYS:
        until = at - timedelta(days=days)
        rows = newest_rows(connection, QuoteRow, ids, "at", "at", "mid", "last", until=until)
        for row in rows.values():
            market = MarketId(row.market_id)
            history[market][row.id] = Quote(market, row.at, None, None, row.mid, row.last)
    return {market: tuple(quotes.values()) for market, quotes in history.items()}


EVENT_AND_MARKET = (MarketVersionRow.event_id, MarketVersionRow.market_id)
MARKETS_OF_EVENTS = (
    select(*EVENT_AND_MARKET)
    .where(col(MarketVersionRow.event_id).in_(IDS), MarketVersionRow.at <= bindparam("until"))
    .group_by(*EVENT_AND_MARKET)
    .order_by(*EVENT_AND_MARKET)
)


def read_siblings(connection: Connection, snapshot: Snapshot) -> dict[str, tuple[Listing, ...]]:
    """Return the other open markets of each event, as known an hour before the snapshot's time."""
    snapshot_ids = set()
    events = set()
    for listing in snapshot:
        snapshot_ids.add(listing.market.id)
        events.add(listing.market.event_id)

    until = snapshot.at - SETTLED
    ids_by_event: dict[str, list[MarketId]] = defaultdict(list)
    for event, market_id in connection.execute(MARKETS_OF_EVENTS, {"ids": sorted(events), "until": until}):
        if market_id not in snapshot_ids and len(ids_by_event[event]) < MOST_SIBLINGS:
            ids_by_event[event].append(MarketId(market_id))

    ids = []
    for event_ids in ids_by_event.values():
        ids += event_ids
    ended = {end.market_id for end in read_resolutions(connection, ids, until)} if ids else set()

    siblings: dict[str, tuple[Listing, ...]] = {}
    for listing in read_listings_as_of(connection, sorted(set(ids)), until):
        market = listing.market
        is_of_event = market.id in ids_by_event[market.event_id]  # a market may have moved to another event
        if is_of_event and market.closes_at > snapshot.at and market.id not in ended:
            siblings[market.event_id] = (*siblings.get(market.event_id, ()), listing)
    return siblings


OF_QUESTION = (column_of(TurnRow.entrant_id), column_of(ForecastRow.market_id), column_of(ForecastRow.stage))
PLACE = func.row_number().over(partition_by=OF_QUESTION, order_by=col(RoundRow.at).desc())
IS_OF_MARKET = ForecastRow.market_id == SnapshotItemRow.market_id
EARLIER_FORECASTS = (
    select(TurnRow.entrant_id, ForecastRow.market_id, ForecastRow.stage, PLACE.label("place"))
    .add_columns(RoundRow.number, RoundRow.at, ForecastRow.probability, ForecastRow.reason)
    .add_columns(ForecastRow.distribution)
    .add_columns(SnapshotItemRow.version_id, SnapshotItemRow.quote_id)
    .select_from(SnapshotItemRow.__table__)
    .join(RoundRow, RoundRow.snapshot_id == SnapshotItemRow.snapshot_id)
    .join(TurnRow, TurnRow.round_id == RoundRow.id)
    .join(ForecastRow, (ForecastRow.turn_id == TurnRow.id) & IS_OF_MARKET)
    .where(RoundRow.cohort_id == COHORT_ID, RoundRow.at < AT)
    .where(col(SnapshotItemRow.market_id).in_(bindparam("markets", expanding=True)))
    .where(col(TurnRow.entrant_id).in_(bindparam("entrants", expanding=True)))
    .subquery("last")
)
LAST_FORECASTS = (
    select(EARLIER_FORECASTS)
    .add_columns(MarketVersionRow.question, MarketVersionRow.form, QuoteRow.mid)
    .join(MarketVersionRow, MarketVersionRow.id == EARLIER_FORECASTS.c.version_id)
    .outerjoin(QuoteRow, QuoteRow.id == EARLIER_FORECASTS.c.quote_id)
    .where(EARLIER_FORECASTS.c.place == 1)
    .order_by(EARLIER_FORECASTS.c.entrant_id, EARLIER_FORECASTS.c.market_id, EARLIER_FORECASTS.c.stage)
)


def read_past_forecasts(
    connection: Connection,
    cohort_id: int,
    entrants: Collection[int],
    markets: Collection[MarketId],
    at: datetime,
) -> dict[int, list[PastForecast]]:
    """Return the last forecasts of a cohort's entrants on these markets before a round, by entrant."""
    parameters = {"cohort_id": cohort_id, "at": at, "markets": sorted(markets), "entrants": sorted(entrants)}
    past: dict[int, list[PastForecast]] = defaultdict(list)
    for row in connection.execute(LAST_FORECASTS, parameters):
        forecast = Forecast(
            MarketId(row.market_id),
            stage=row.stage,
            reason=row.reason,
            millionths=row.probability,
            distribution=row.distribution,
        )
        past_forecast = PastForecast(forecast, row.number, row.at, row.question, row.mid, form=row.form)
        past[row.entrant_id].append(past_forecast)
    return past


SEEN_MARKETS = (
    select(SnapshotItemRow.market_id)
    .join(RoundRow, RoundRow.snapshot_id == SnapshotItemRow.snapshot_id)
    .where(RoundRow.cohort_id == COHORT_ID, RoundRow.at <= bindparam("since"))
)
IS_NEW = or_(
    ResolutionRow.learnt_at > bindparam("since"), ResolutionRow.known_at > bindparam("settled_since")
)
NEW_ENDS = (
    select_as(
        market_id=ResolutionRow.market_id,
        version=ResolutionRow.version,
        known_at=ResolutionRow.known_at,
        payout=ResolutionRow.payout,
        answer=ResolutionRow.answer,
    )
    .where(ResolutionRow.learnt_at <= AT, ResolutionRow.known_at <= bindparam("settled"), IS_NEW)
    .where(col(ResolutionRow.market_id).in_(SEEN_MARKETS))
    .order_by(ResolutionRow.market_id, ResolutionRow.version)
)


def read_new_ends(
    connection: Connection, cohort_id: int, since: datetime, at: datetime
) -> dict[MarketId, Resolution]:
    """Return the resolutions of a cohort's earlier markets learnt since the last round, latest first."""
    times = {"since": since, "settled_since": since - SETTLED, "at": at, "settled": at - SETTLED}
    rows = connection.execute(NEW_ENDS, {"cohort_id": cohort_id, **times})

    # Of several versions of an end, the last one stays.
    newest_versions = {end.market_id: end for end in read_objects(Resolution, rows)}
    latest_first = sorted(
        newest_versions.values(), key=lambda end: (end.known_at, end.market_id), reverse=True
    )
    return {end.market_id: end for end in latest_first[:MOST_ENDED]}
