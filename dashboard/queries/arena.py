"""What the first page asks beside the leaderboard: what was decided last, and what is disputed."""

from dataclasses import dataclass

from arena.record.queries.markets import ListedMarket, read_listed_markets
from arena.record.queries.turns import ExplainedTrade, FarForecast, read_explained_trades, read_far_forecasts
from arena.record.schema.database import Connection
from arena.record.schema.newest import newest_rows
from arena.record.schema.world import QuoteRow
from dashboard.model import MODELS, NULLS
from dashboard.source import RecordSource, ask, cached

ROUNDS = 4
"""So many rounds, the newest, are looked through."""
LOOKED = 120
"""Among so many trades or forecasts those are chosen that are shown."""
SHOWN, DISPUTED = 3, 2
"""So many of each are shown."""


@dataclass(frozen=True, slots=True)
class Dispute:
    """A forecast far from its market, how the market stands, and what YES costs now, in millionths."""

    forecast: FarForecast
    market: ListedMarket
    price: int


@dataclass(frozen=True, slots=True)
class NewestDecisions:
    """Trades with their reasons, an agent each, and what lay furthest from the market, a market each."""

    trades: tuple[ExplainedTrade, ...]
    disputes: tuple[Dispute, ...]


@cached
def newest_decisions(record: RecordSource) -> NewestDecisions:
    """What was decided in the newest rounds."""
    return ask(record, _read)


def _read(connection: Connection) -> NewestDecisions:
    trades: dict[str, ExplainedTrade] = {}
    found = read_explained_trades(connection, ROUNDS, LOOKED)
    for trade in sorted(found, key=lambda one: one.kind not in MODELS):
        trades.setdefault(trade.agent, trade)
    far = read_far_forecasts(connection, ROUNDS, LOOKED)
    by_models = [one for one in far if one.kind in MODELS] or [one for one in far if one.kind not in NULLS]
    disputes: dict[str, FarForecast] = {}
    for forecast in by_models:
        disputes.setdefault(forecast.market_id, forecast)
    return NewestDecisions(tuple(trades.values())[:SHOWN], _disputes(connection, list(disputes.values())))


def _disputes(connection: Connection, far: list[FarForecast]) -> tuple[Dispute, ...]:
    """Of markets that go on, those first whose price is now the furthest off."""
    ids = [one.market_id for one in far]
    listed = {market.id: market for market in read_listed_markets(connection, ids)}
    quotes = newest_rows(connection, QuoteRow, ids, "at", "mid")
    found = [
        Dispute(one, listed[one.market_id], price)
        for one in far
        if one.market_id in quotes and (price := quotes[one.market_id].mid) is not None
    ]
    found.sort(key=lambda one: (one.market.ended, -abs(one.forecast.probability - one.price)))
    by_agent: dict[str, Dispute] = {}
    for one in found:
        by_agent.setdefault(one.forecast.agent, one)
    firsts = list(by_agent.values())
    return tuple([*firsts, *(one for one in found if one not in firsts)][:DISPUTED])
