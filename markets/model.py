"""What the world is made of: markets, quotes, snapshots and resolutions."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import NewType

from markets.millionths import ONE

NEVER = datetime(9999, 1, 1, tzinfo=UTC)
"""When a market closes for which the venue gives no time, or one beyond the calendar."""
MarketId = NewType("MarketId", str)
"""`venue:id-at-the-venue`, the same in every table, prompt and export."""


@dataclass(frozen=True, slots=True)
class Market:
    """A yes/no question at a venue, as its page read at some instant.

    Markets of one event move together, and so do events of one `story`; without one the event is its own.
    `slug` and `event_slug` are what the venue's pages for people call the market and its event, and `tags`
    what it files the market under, with commas between them; all are empty where it doesn't say.
    """

    id: MarketId
    event_id: str
    question: str
    rules: str
    category: str
    opens_at: datetime
    closes_at: datetime
    tick: int = 10_000
    fee_rate: int = 0
    min_shares: int = 0
    story: str = ""
    slug: str = ""
    event_slug: str = ""
    tags: str = ""

    @property
    def series(self) -> str:
        """What a question asked for several dates, each behind an @ in an id, has in common; else nothing."""
        return self.id.rpartition("@")[0]

    @property
    def whole_story(self) -> str:
        """The story that it belongs to: its own, or its event."""
        return self.story or self.event_id

    def is_among(self, slugs: Collection[str], events: Collection[str], tags: Collection[str]) -> bool:
        """Whether its id or slug, its event's, or one of its tags is among these; capitals do not matter."""
        return (
            _names(slugs, self.id.partition(":")[2], self.slug)
            or _names(events, self.event_id.partition(":")[2], self.event_slug)
            or _names(tags, *self.tags.split(","))
        )


def _names(wanted: Collection[str], *own: str) -> bool:
    return bool(wanted) and not {x.casefold() for x in wanted}.isdisjoint(x.casefold() for x in own if x)


@dataclass(frozen=True, slots=True)
class Level:
    """So many shares at a price, on one side of a book."""

    price: int
    shares: int


@dataclass(frozen=True, slots=True)
class Quote:
    """What a YES share cost at an instant. A side that nobody offers is None.

    `bids` and `asks` are the book where the venue shows one, best first. `volume` is what was traded until
    then; None where the venue doesn't say. The last three are known only where they were asked for, and
    where the venue says them: what was traded in 24 hours, what its book or its pool holds, and what is held.
    """

    market_id: MarketId
    at: datetime
    bid: int | None
    ask: int | None
    mid: int | None
    last: int | None = None
    volume: int | None = None
    bids: tuple[Level, ...] = ()
    asks: tuple[Level, ...] = ()
    volume_24h: int | None = None
    liquidity: int | None = None
    open_interest: int | None = None

    @property
    def price(self) -> int | None:
        """The mid; where there is none, the last trade."""
        return self.last if self.mid is None else self.mid

    @property
    def depth(self) -> int | None:
        """What the thinner side of its book takes, in millionths of dollars; None without a book."""
        if not (self.bids or self.asks):
            return None
        yes = sum(level.price * level.shares for level in self.asks)
        no = sum((ONE - level.price) * level.shares for level in self.bids)
        return min(yes, no) // ONE

    def shares_within(self, reach: int) -> int | None:
        """The shares on the thinner side of its book, to `reach` from its best price; None without a book."""
        if not (self.bids or self.asks):
            return None
        ask = min((level.price for level in self.asks), default=0) + reach
        bid = max((level.price for level in self.bids), default=0) - reach
        asked = sum(level.shares for level in self.asks if level.price <= ask)
        return min(asked, sum(level.shares for level in self.bids if level.price >= bid))


@dataclass(frozen=True, slots=True)
class Listing:
    """A market with its price; no quote when the venue gave none."""

    market: Market
    quote: Quote | None

    @property
    def mid(self) -> int | None:
        """The price of a YES share that a forecast is compared with."""
        return None if self.quote is None else self.quote.mid

    @property
    def has_price(self) -> bool:
        """Whether its quote says what a share is worth."""
        return self.quote is not None and self.quote.price is not None

    def priced(self, earlier: "Listing | None") -> "Listing":
        """Itself, with the quote that was last known where its own has no price."""
        before = earlier.quote if earlier is not None else None
        if self.has_price or before is None or before.price is None:
            return self
        return replace(self, quote=before)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that may be known at one instant: what is on offer, and what else is held.

    `at` is the decision time. A live market is looked at a little after it: `taken_at` says when, and is
    None where that is the same. `catalogue` is the hash of what was on offer, where that is kept.
    """

    at: datetime
    shown: tuple[Listing, ...]
    held: tuple[Listing, ...] = ()
    taken_at: datetime | None = None
    catalogue: str = ""

    @property
    def seen_at(self) -> datetime:
        """When it was looked at: the ages of quotes are counted from then."""
        return self.taken_at or self.at

    def __hash__(self) -> int:
        """By its time and its size: to look through a hundred books takes longer than to be mistaken."""
        return hash((self.at, len(self.shown), len(self.held)))

    def __iter__(self) -> Iterator[Listing]:
        yield from self.shown
        yield from self.held


BY_HAND = "by hand"
"""How the source of an end begins that a person decided, or that stands since the decision was withdrawn."""
DECIDED, WITHDRAWN = f"{BY_HAND}: ", f"{BY_HAND}, withdrawn: "
"""What stands before the reason in the source of each."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """How a market ended: what a YES share paid, None for a refund. A correction is the next version.

    A person may decide it where a venue never says; that decision is withdrawn by a version that refunds.
    """

    market_id: MarketId
    version: int
    known_at: datetime
    payout: int | None
    source: str = ""

    @property
    def possible(self) -> bool:
        """Whether a share can pay so much, and whether it is a version at all: they count from 1."""
        pays = self.payout is None or (type(self.payout) is int and 0 <= self.payout <= ONE)
        return pays and type(self.version) is int and self.version >= 1

    @property
    def by_hand(self) -> bool:
        """Whether a person decided it, or withdrew such a decision."""
        return self.source.startswith((DECIDED, WITHDRAWN))

    @property
    def withdrawn(self) -> bool:
        """Whether it stands since a person withdrew a decision."""
        return self.source.startswith(WITHDRAWN)

    @property
    def reason(self) -> str:
        """Return why a person decided or withdrew it; nothing where the venue says how it ended."""
        return self.source.removeprefix(DECIDED).removeprefix(WITHDRAWN) if self.by_hand else ""

    @property
    def outcome(self) -> int | None:
        """1 for YES, 0 for NO; None for a fraction or a refund, which pay but are not scored."""
        return {ONE: 1, 0: 0}.get(self.payout) if self.payout is not None else None
