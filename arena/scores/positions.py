"""Positions: what agents hold and what profit it made, by lot, by market, by agent, and in total.

The trades of an account follow the rules on money, and add up to its P/L.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain
from typing import Any

from agents.model import USABLE_STATUSES
from arena.errors import ArenaError
from arena.record.model.trades import EventTie, MarketEnd, Trade
from arena.record.queries.accounts import MarkedCohort, read_marked_cohort, read_newest_pages, read_payouts
from arena.record.queries.cohorts import (
    AT,
    COHORT_ID,
    StoredCohort,
    cohorts_of_agent,
    item_of,
    read_cohorts,
    select_cohorts,
)
from arena.record.schema.cohort import EntrantRow, RoundRow, SnapshotItemRow
from arena.record.schema.database import Connection
from arena.record.schema.ledger import MarkRow
from arena.record.schema.turn import FillRow, ForecastRow, TurnRow
from arena.record.schema.typed import and_, clause, col, columns_of, joined, select
from arena.record.schema.world import QuoteRow
from arena.scores.rules.money.event_exposure import HeldShares
from markets.ladders import MarketFamily
from markets.millionths import ONE
from markets.model import MarketId
from portfolio.ledger import LedgerError, fold
from portfolio.model import Entry, Holdings, Side
from portfolio.value import LotProfit, Profit, StaleReason, lot_values, profit_by_lot

TimedTrade = tuple[datetime, Trade]
"""A trade and the time of its round."""


@dataclass(frozen=True, slots=True)
class Position:
    """A lot of an agent, held or closed. `price`, `age` (in seconds) and `stale` describe what is held.

    A lot held without any price is valued at its cost, and its `price` is None.
    """

    agent: str
    market_id: MarketId
    question: str
    side: Side
    lot: LotProfit
    price: int | None = None
    age: int | None = None
    stale: StaleReason = ""

    @property
    def money(self) -> Profit:
        """Return what was paid, what was received, and the remaining value."""
        return self.lot.money


@dataclass(frozen=True, slots=True)
class PositionGroup:
    """The positions of an agent or a market taken together: their number and their profit."""

    name: str
    question: str
    agents: int
    lots: int
    held: int
    stale: int
    money: Profit


def positions(marked: MarkedCohort, max_age: timedelta) -> list[Position]:
    """Return every lot of every agent: agents in line-up order, held lots first, the largest first."""
    lots = []
    for name in marked.ledgers:
        lots += sorted(_agent_positions(name, marked, max_age), key=_position_order)
    return lots


@dataclass(frozen=True, slots=True)
class CohortPositions:
    """The positions of a cohort's agents at its newest mark; `at` is None if it has none yet."""

    cohort: int
    agents: tuple[str, ...]
    at: datetime | None
    positions: tuple[Position, ...] = ()


def read_cohort_positions(
    connection: Connection, cohort: int | None, agent: str | None, only_open: bool = False
) -> CohortPositions:
    """Return the positions of a cohort, by default the newest, or of one of its agents.

    Raise `ArenaError` if there is no such cohort, or if the agent does not play in it.
    """
    cohorts = read_cohorts(connection)
    if not cohorts:
        hint = "arena run --round starts the first cohort"
        raise ArenaError("no_cohort", "no agent has played yet", hint)

    (stored,) = cohorts_of_agent(select_cohorts(cohorts, cohort)[-1:], agent)
    agents = tuple(stored.entrant_ids) if agent is None else (agent,)
    marked = read_marked_cohort(connection, stored.id, agent)
    if marked is None:
        return CohortPositions(stored.cohort.number, agents, None)

    lots = positions(marked, stored.cohort.rules.quote_age)
    wanted = tuple(position for position in lots if position.lot.shares or not only_open)
    return CohortPositions(stored.cohort.number, agents, marked.at, wanted)


def _agent_positions(agent: str, marked: MarkedCohort, max_age: timedelta) -> Iterator[Position]:
    """Yield the lots of one agent."""
    holdings = _agent_holdings(agent, marked)
    held_lots = {(lot.market_id, lot.side): lot for lot in lot_values(holdings, marked.snapshot, max_age)}
    held_values = {key: lot.value for key, lot in held_lots.items()}

    for key, lot in profit_by_lot(marked.ledgers[agent], held_values).items():
        market, side = key
        question = marked.questions.get(market, market)
        position = Position(agent, market, question, side, lot)
        if key in held_lots:
            held_lot = held_lots[key]
            position = replace(position, price=held_lot.price, age=held_lot.age, stale=held_lot.stale)
        yield position


def _agent_holdings(agent: str, marked: MarkedCohort) -> Holdings:
    """Return what an agent holds; raise an error if its ledger is inconsistent."""
    try:
        return fold(marked.ledgers[agent])
    except LedgerError as error:
        message = f"{agent}'s ledger is inconsistent: {error}"
        raise ArenaError("broken_ledger", message, "arena admin verify lists every error") from error


def _position_order(position: Position) -> tuple[bool, int, str, str]:
    """Return the sort key of an agent's lots: held ones first, the largest first."""
    lot = position.lot
    # Held lots are as large as their value, closed ones as the profit that they made.
    size = lot.money.value if lot.shares else lot.money.realised
    return not lot.shares, -size, position.market_id, position.side


def by_market(lots: Iterable[Position]) -> list[PositionGroup]:
    """Return the positions of each market as one group, the most profitable market first."""
    markets = defaultdict(list)
    for position in lots:
        markets[position.market_id].append(position)

    groups = [merge_positions(name, own, own[0].question) for name, own in markets.items()]
    return sorted(groups, key=_profit_order)


def by_agent(lots: Iterable[Position], names: Sequence[str]) -> list[PositionGroup]:
    """Return the positions of each agent as one group, including empty ones, the most profitable first."""
    agents: dict[str, list[Position]] = {name: [] for name in names}
    for position in lots:
        agents[position.agent].append(position)

    groups = [merge_positions(name, own) for name, own in agents.items()]
    return sorted(groups, key=_profit_order)


def _profit_order(group: PositionGroup) -> tuple[int, str]:
    """Return the sort key of groups: the highest profit first."""
    return -group.money.total, group.name


def merge_positions(name: str, lots: Sequence[Position], question: str = "") -> PositionGroup:
    """Return positions as one group."""
    held = 0
    stale = 0
    money = Profit()
    for position in lots:
        held += position.lot.shares > 0
        stale += position.stale != ""
        money += position.money

    agents = {position.agent for position in lots}
    return PositionGroup(name, question, len(agents), len(lots), held, stale, money)


RESOLUTION_PREFIX = "resolution:"
"""The prefix of an entry's reference to the resolution that it was posted for."""

Payouts = Mapping[tuple[str, int], int | None]


@dataclass(frozen=True, slots=True)
class AccountTrades:
    """An account at its newest mark: its trades, the state of their markets, and its lots.

    `values` are the account's values from the bankroll on, and `pnl` is that of the leaderboard.
    """

    agent: str
    trades: tuple[TimedTrade, ...]
    ends: Mapping[str, MarketEnd]
    lots: tuple[HeldShares, ...]
    values: tuple[int, ...]

    @property
    def pnl(self) -> int:
        """Return cash and open lots at mid, minus the bankroll."""
        return self.values[-1] - self.values[0]


def read_account_trades(
    connection: Connection, stored: StoredCohort, agent: str | None = None
) -> list[AccountTrades]:
    """Return the accounts of a cohort, or one agent's; none before the first mark."""
    marked = read_marked_cohort(connection, stored.id, agent)
    if marked is None:
        return []

    positions_of = defaultdict(list)
    for position in positions(marked, stored.cohort.rules.quote_age):
        positions_of[position.agent].append(position)
    markets = sorted({position.market_id for position in chain.from_iterable(positions_of.values())})
    pages = read_newest_pages(connection, markets)
    event_of = {page.id: page.event_id for page in pages}
    payouts = read_payouts(connection, markets)
    mid_of = {listing.market.id: listing.quote.price for listing in marked.snapshot if listing.quote}
    trades_of = _read_trades(connection, stored.id, marked.at)
    equity_of = _read_equity_by_mark(connection, stored.id)

    accounts = []
    for name, entries in marked.ledgers.items():
        own_positions = positions_of[name]
        market_ends = _MarketEnds(event_of, payouts, mid_of, trades_of.get(name, []), entries)
        accounts.append(
            AccountTrades(
                agent=name,
                trades=tuple(market_ends.trades),
                ends=market_ends.ends(own_positions),
                lots=market_ends.lots(own_positions),
                values=(entries[0].cash, *equity_of[name]),
            )
        )
    return accounts


@dataclass(frozen=True, slots=True)
class _MarketEnds:
    """The inputs for the state of an account's markets; `mids` are those at the newest mark."""

    events: Mapping[MarketId, str]
    payouts: Payouts
    mids: Mapping[MarketId, int | None]
    trades: Sequence[TimedTrade]
    entries: Sequence[Entry]

    def ends(self, lots: Sequence[Position]) -> dict[str, MarketEnd]:
        """Return the state of each position's market; its `paid` is what trades alone don't explain."""
        unexplained: dict[MarketId, int] = defaultdict(int)
        held_markets = {position.market_id for position in lots if position.lot.shares}
        for position in lots:
            unexplained[position.market_id] += position.money.total
        for _, trade in self.trades:
            # The flow of trades is taken off: what remains is what markets themselves paid.
            unexplained[MarketId(trade.market)] -= trade.flow

        return {
            market: self._market_end(market, market in held_markets, amount)
            for market, amount in sorted(unexplained.items())
        }

    def _market_end(self, market: MarketId, is_held: bool, paid: int) -> MarketEnd:
        """Return the state of one market."""
        event = self.events[market]
        version = None if is_held else self._paid_version(market)
        if version is None:
            return MarketEnd(event, "open", self._mid(market), paid)

        payout = self.payouts[market, version]
        if payout is None:
            return MarketEnd(event, "refunded", 0, paid)
        return MarketEnd(event, "settled", payout, paid)

    def _paid_version(self, market: MarketId) -> int | None:
        """Return the version that was paid; for lots sold before, the newest version."""
        for entry in reversed(self.entries):
            if entry.market_id == market and entry.ref.startswith(RESOLUTION_PREFIX):
                # If the payment was taken back, the newest version counts.
                if entry.kind != "reverse":
                    return int(entry.ref.removeprefix(RESOLUTION_PREFIX))
                break
        return max((version for name, version in self.payouts if name == market), default=None)

    def _mid(self, market: MarketId) -> int:
        """Return the mid at the newest mark, or else that of the last trade."""
        mid = self.mids.get(market)
        if mid is None:
            mid = next(trade.mid for _, trade in reversed(self.trades) if trade.market == market)
        return mid

    def lots(self, lots: Sequence[Position]) -> tuple[HeldShares, ...]:
        """Return the lots that are still held."""
        held = []
        for position in lots:
            if position.lot.shares:
                market = position.market_id
                is_yes = position.side == "YES"
                mid = self._mid(market)
                held.append(HeldShares(market, self.events[market], is_yes, position.lot.shares, mid))
        return tuple(held)


def merge_trades(accounts: Iterable[AccountTrades]) -> tuple[list[Trade], dict[str, MarketEnd]]:
    """Return the accounts of an agent, oldest cohort first, as one.

    Trades are in order of time, and come with what each market paid back.
    """
    trades: list[TimedTrade] = []
    ends: dict[str, MarketEnd] = {}
    for account in accounts:
        trades += account.trades
        for market, end in account.ends.items():
            paid_before = ends[market].paid if market in ends else 0
            ends[market] = replace(end, paid=paid_before + end.paid)

    trades.sort(key=lambda timed: timed[0])
    return [trade for _, trade in trades], ends


def event_ties(families: Iterable[MarketFamily], ends: Mapping[str, MarketEnd]) -> dict[str, EventTie]:
    """Return how the markets of events depend on each other, if one family has all of an event's markets.

    For other events that is unknown.
    """
    traded_markets = defaultdict(set)
    for market, end in ends.items():
        traded_markets[end.event].add(market)

    ties: dict[str, EventTie] = {}
    for family in families:
        # Markets outside the family could end in any way.
        if traded_markets[family.event_id] <= set(family.market_ids):
            ties[family.event_id] = "nested" if family.shape == "nested" else "exclusive"
    return ties


FORECAST_OF_FILL = and_(
    ForecastRow.turn_id == TurnRow.id,
    ForecastRow.market_id == FillRow.market_id,
    ForecastRow.stage == "final",
    ForecastRow.distribution == "",
    col(TurnRow.status).in_(USABLE_STATUSES),
)
TRADED_FILLS = (
    joined(FillRow, TurnRow, RoundRow, EntrantRow)
    .outerjoin(SnapshotItemRow, item_of(FillRow.market_id))
    .outerjoin(QuoteRow)
    .outerjoin(ForecastRow, clause(FORECAST_OF_FILL))
)
FILLS = columns_of(FillRow, ("market_id", "side", "action", "shares", "amount", "fee", "base"))
PRICES = columns_of(QuoteRow, ("bid", "ask", "mid", "last"))
TRADES = (
    select(EntrantRow.name, RoundRow.at, *FILLS, *PRICES, ForecastRow.probability)
    .select_from(TRADED_FILLS)
    .where(RoundRow.cohort_id == COHORT_ID, RoundRow.at <= AT)
    .order_by(RoundRow.at, FillRow.position)
)


def _read_trades(connection: Connection, cohort_id: int, until: datetime) -> dict[str, list[TimedTrade]]:
    """Return the trades of every entrant of a cohort up to a time, in the order they were made."""
    trades = defaultdict(list)
    for row in connection.execute(TRADES, {"cohort_id": cohort_id, "at": until}):
        trades[row.name].append((row.at, _trade_of_fill(row)))
    return trades


def _trade_of_fill(row: Any) -> Trade:
    """Return a fill as a trade, with the mid of YES at that time.

    Without a mid it is halfway between bid and ask, else the last trade, else the price paid.
    """
    is_buy = row.action == "buy"
    is_yes = row.side == "YES"
    # The amount without the fee, which a buyer pays on top and a seller has taken off.
    gross = row.amount - row.fee if is_buy else row.amount + row.fee

    mid = row.mid
    if mid is None and row.bid is not None and row.ask is not None:
        mid = (row.bid + row.ask) // 2
    elif mid is None:
        mid = row.last
    if mid is None:
        price_paid = gross * ONE // row.shares
        mid = price_paid if is_yes else ONE - price_paid
    return Trade(row.market_id, is_yes, is_buy, row.shares, gross, row.fee, mid, row.probability, row.base)


EQUITY_BY_MARK = (
    select(EntrantRow.name, MarkRow.cash + MarkRow.value)
    .select_from(joined(MarkRow, EntrantRow))
    .where(EntrantRow.cohort_id == COHORT_ID)
    .order_by(MarkRow.at)
)


def _read_equity_by_mark(connection: Connection, cohort_id: int) -> dict[str, list[int]]:
    """Return the value of every entrant's account at each mark."""
    equity = defaultdict(list)
    for name, total in connection.execute(EQUITY_BY_MARK, {"cohort_id": cohort_id}):
        equity[name].append(total)
    return equity
