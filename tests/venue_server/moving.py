"""A Polymarket whose world goes on by a clock: what it answers depends on the time alone.

Its markets are those of a simulated season, with their prices, their ends, and the ends that it takes back.
"""

import json
from collections.abc import Callable
from datetime import datetime

from markets.millionths import ONE, decimal
from markets.model import Level, Listing
from markets.simulation.settings import Settings, seeded_chance
from markets.simulation.world import SimulatedMarket, build_world, listing_at
from tests.serving import Reply
from tests.venue_server.polymarket import PolymarketWire, Raw, a_book, a_book_end, a_market, an_end
from tests.venue_server.server import Asked, VenueServer, status

FIRST_NAME = 1001
Down = Callable[[datetime], bool]


class MovingVenue(VenueServer):
    """The venue, which is `down` at some times; `look` is called with the time before every answer."""

    def __init__(
        self, settings: Settings, clock: Callable[[], datetime], down: Down = lambda _: False
    ) -> None:
        super().__init__()
        self._settings, self._chance = settings, seeded_chance(settings.seed)
        self._lives = list(enumerate(build_world(settings, self._chance).values(), FIRST_NAME))
        self._clock, self._down = clock, down
        self._shown: datetime | None = None
        self._wire = PolymarketWire()
        self._wire.serve(self)
        self.look: Callable[[datetime], None] = lambda _: None

    def answer(self, asked: Asked) -> Reply:
        at = self._clock()
        self.look(at)
        if self._down(at):
            return status(403)
        with self.lock:
            self._show(at)
        return super().answer(asked)

    def _show(self, at: datetime) -> None:
        """Let the wire have the world of an instant."""
        if at == self._shown:
            return
        known = [(str(name), life) for name, life in self._lives if life.market.opens_at <= at]
        pages = [(name, life, listing_at(life, at, self._settings, self._chance)) for name, life in known]
        self._wire.markets = [_page(name, life, seen, at) for name, life, seen in pages]
        self._wire.books = [_book(name, seen) for name, life, seen in pages if at < life.market.closes_at]
        self._wire.ends = [_end(name, life, at) for name, life in known]
        self._shown = at


def _page(name: str, life: SimulatedMarket, seen: Listing, at: datetime) -> Raw:
    """A market as its page reads; after its close, until it is known how it ended, it takes no orders."""
    market, quote, ends = seen.market, seen.quote, life.resolutions(at)
    assert quote is not None
    assert quote.mid is not None
    words: Raw = {
        "question": market.question,
        "description": market.rules,
        "startDate": market.opens_at.isoformat(),
        "endDate": market.closes_at.isoformat(),
        "volume": _text(quote.volume or 0),
        "feeSchedule": {"exponent": 1, "rate": market.fee_rate / ONE},
        "events": [{"id": market.event_id.rpartition(":")[2], "title": market.category}],
    }
    if ends:
        yes = ends[-1].payout or 0
        closed = ends[0].known_at.isoformat()
        return an_end(name, _text(yes), _text(ONE - yes), closedTime=closed, **words)
    prices = json.dumps([_text(quote.mid), _text(ONE - quote.mid)])
    sides: Raw = {key: _number(price) for key, price in (("bestBid", quote.bid), ("bestAsk", quote.ask))}
    trades = at < market.closes_at
    return a_market(
        name,
        outcomePrices=prices,
        lastTradePrice=_number(quote.last),
        acceptingOrders=trades,
        **sides,
        **words,
    )


def _number(price: int | None) -> float | None:
    return None if price is None else price / ONE


def _text(amount: int) -> str:
    return f"{decimal(amount):f}"


def _book(name: str, seen: Listing) -> Raw:
    """The book, the worst level first, as the venue sends it."""
    assert seen.quote is not None
    return a_book(name, *(_steps(side) for side in (seen.quote.bids, seen.quote.asks)))


def _steps(levels: tuple[Level, ...]) -> list[tuple[str, str]]:
    return [(_text(level.price), _text(level.shares)) for level in reversed(levels)]


def _end(name: str, life: SimulatedMarket, at: datetime) -> Raw:
    """A market's page at the order book: it may know who won."""
    ends = life.resolutions(at)
    payout = ends[-1].payout if ends else None
    won = None if payout not in (0, ONE) else "Yes" if payout else "No"
    return a_book_end(name, won, half=payout == ONE // 2, closed=bool(ends))
