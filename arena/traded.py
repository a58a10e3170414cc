"""What an agent traded in a cohort, as the rules on money take it; all of it adds up to its P/L."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from arena.positions import Position, positions
from arena.scoring.money.at_stake import Held
from arena.scoring.money.trades import End, Tie, Trade
from arena.store.frame import Connection
from arena.store.positions import read_marked
from arena.store.read import StoredCohort
from arena.store.trades import Timed, read_pages, read_payouts, read_trades, read_values
from markets.model import MarketId
from markets.shapes import Family
from portfolio.model import Entry

ENDED = "resolution:"
"""How entries that a market's end has made refer to it."""

Payouts = Mapping[tuple[str, int], int | None]


@dataclass(frozen=True, slots=True)
class Traded:
    """An account at its newest mark: its trades and how their markets stand, the lots that it holds, and
    what it was worth from the bankroll on. `pnl` is that of the leaderboard.
    """

    agent: str
    trades: tuple[Timed, ...]
    ends: Mapping[str, End]
    lots: tuple[Held, ...]
    values: tuple[int, ...]

    @property
    def pnl(self) -> int:
        """Cash and open lots at mid, less the bankroll."""
        return self.values[-1] - self.values[0]


def read_traded(connection: Connection, stored: StoredCohort, agent: str | None = None) -> list[Traded]:
    """The accounts of a cohort, or one agent's; none before the first mark."""
    marked = read_marked(connection, stored.id, agent)
    if marked is None:
        return []
    found = positions(marked, stored.cohort.rules.quote_age)
    markets = sorted({position.market_id for position in found})
    events = {page.id: page.event_id for page in read_pages(connection, markets)}
    payouts = read_payouts(connection, markets)
    trades = read_trades(connection, stored.id, marked.at)
    values = read_values(connection, stored.id)
    mids = {listing.market.id: listing.quote.price for listing in marked.snapshot if listing.quote}
    accounts = []
    for name, entries in marked.ledgers.items():
        mine = [position for position in found if position.agent == name]
        world = _World(events, payouts, mids, trades.get(name, []), entries)
        worth = (entries[0].cash, *values[name])
        accounts.append(Traded(name, tuple(world.trades), world.ends(mine), world.lots(mine), worth))
    return accounts


@dataclass(frozen=True, slots=True)
class _World:
    """What an account's ends are worked out from. `mids` are those at the newest mark."""

    events: Mapping[MarketId, str]
    payouts: Payouts
    mids: Mapping[MarketId, int | None]
    trades: Sequence[Timed]
    entries: Sequence[Entry]

    def ends(self, found: Sequence[Position]) -> dict[str, End]:
        """How the market of each position ended: paid is all that trades alone don't explain."""
        made: dict[MarketId, int] = defaultdict(int)
        held = {position.market_id for position in found if position.lot.shares}
        for position in found:
            made[position.market_id] += position.money.total
        for _, trade in self.trades:
            made[MarketId(trade.market)] -= trade.flow
        return {market: self._end(market, market in held, paid) for market, paid in sorted(made.items())}

    def _end(self, market: MarketId, held: bool, paid: int) -> End:
        version = None if held else self._version(market)
        if version is None:
            return End(self.events[market], "open", self._mid(market), paid)
        payout = self.payouts[market, version]
        if payout is None:
            return End(self.events[market], "refunded", 0, paid)
        return End(self.events[market], "settled", payout, paid)

    def _version(self, market: MarketId) -> int | None:
        """The version that was paid by; of what was sold before, the newest one there is."""
        paid = [entry for entry in self.entries if entry.market_id == market and entry.ref.startswith(ENDED)]
        if paid and paid[-1].kind != "reverse":
            return int(paid[-1].ref.removeprefix(ENDED))
        return max((version for name, version in self.payouts if name == market), default=None)

    def _mid(self, market: MarketId) -> int:
        """The mid at the newest mark; where there is none, that of the last trade."""
        known = self.mids.get(market)
        return next(t.mid for _, t in reversed(self.trades) if t.market == market) if known is None else known

    def lots(self, found: Sequence[Position]) -> tuple[Held, ...]:
        """What is still held."""
        return tuple(
            Held(p.market_id, self.events[p.market_id], p.side == "YES", p.lot.shares, self._mid(p.market_id))
            for p in found
            if p.lot.shares
        )


def together(accounts: Iterable[Traded]) -> tuple[list[Trade], dict[str, End]]:
    """The accounts of an agent, oldest cohort first, as one: trades in order of time, and what came back."""
    trades: list[Timed] = []
    ends: dict[str, End] = {}
    for account in accounts:
        trades += account.trades
        for market, end in account.ends.items():
            before = ends[market].paid if market in ends else 0
            ends[market] = End(end.event, end.state, end.value, before + end.paid)
    return [trade for _, trade in sorted(trades, key=lambda timed: timed[0])], ends


def ties(found: Iterable[Family], ends: Mapping[str, End]) -> dict[str, Tie]:
    """How the events of these markets hang together, where one family has all of them; else nobody knows."""
    traded: dict[str, set[str]] = defaultdict(set)
    for market, end in ends.items():
        traded[end.event].add(market)
    whole = [family for family in found if traded[family.event_id] <= set(family.market_ids)]
    return {family.event_id: "nested" if family.shape == "nested" else "exclusive" for family in whole}
