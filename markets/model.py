"""Markets, quotes, snapshots and resolutions: what the arena knows of the world."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import NewType

from markets.millionths import ONE

NEVER = datetime(9999, 1, 1, tzinfo=UTC)
"""The closing time of a market for which the venue gives none, or one beyond the calendar."""
MarketId = NewType("MarketId", str)
"""`venue:id-at-the-venue`, the same in every table, prompt and export."""


@dataclass(frozen=True, slots=True)
class Market:
    """A question at a venue, of yes or no unless its form says otherwise, as described at some instant.

    Markets of one event move together, and so do events of one `story`; an event without one is a story of
    its own. `slug` and `event_slug` name the market and its event in the addresses of the venue's pages, and
    `tags` are its labels there, separated by commas; all are empty where the venue doesn't give them. `form`
    is the text of a `QuestionForm`, empty for a question of yes or no: only that one has a price.
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
    form: str = ""

    @property
    def series(self) -> str:
        """Return the id without the date behind its @, for a question asked for several dates; else ""."""
        return self.id.rpartition("@")[0]

    @property
    def whole_story(self) -> str:
        """Return the story that the market belongs to: its own, or its event."""
        return self.story or self.event_id

    def is_among(self, slugs: Collection[str], events: Collection[str], tags: Collection[str]) -> bool:
        """Tell whether its id or slug, its event's, or one of its tags is among these, whatever the case."""
        own_id = self.id.partition(":")[2]
        event_id = self.event_id.partition(":")[2]

        return (
            _is_any_among(slugs, own_id, self.slug)
            or _is_any_among(events, event_id, self.event_slug)
            or _is_any_among(tags, *self.tags.split(","))
        )


def _is_any_among(wanted: Collection[str], *own: str) -> bool:
    if not wanted:
        return False

    own_names = {name.casefold() for name in own if name}
    return not own_names.isdisjoint(map(str.casefold, wanted))


@dataclass(frozen=True, slots=True)
class Level:
    """The shares on offer at one price, on one side of a book."""

    price: int
    shares: int


@dataclass(frozen=True, slots=True)
class Quote:
    """The price of a YES share at an instant. A side without offers is None.

    `bids` and `asks` are the book where the venue shows one, best first. `volume` is what was traded until
    then; None where the venue doesn't say. `volume_24h`, `liquidity` (what the book or the pool holds) and
    `open_interest` (what is held) are known only where they were asked for and the venue gives them.
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
        """Return the mid; where there is none, the price of the last trade."""
        if self.mid is None:
            return self.last
        return self.mid

    @property
    def depth(self) -> int | None:
        """Return the money that the thinner side of the book takes, in millionths; None without a book."""
        if not (self.bids or self.asks):
            return None

        # Selling YES to a bid is buying NO, at a dollar less the bid.
        yes = sum(level.price * level.shares for level in self.asks)
        no = sum((ONE - level.price) * level.shares for level in self.bids)
        return min(yes, no) // ONE

    def shares_within(self, reach: int) -> int | None:
        """Return the shares on the thinner side of the book, to `reach` from its best price.

        None without a book.
        """
        if not (self.bids or self.asks):
            return None

        best_ask = min((level.price for level in self.asks), default=0)
        best_bid = max((level.price for level in self.bids), default=0)
        asked = sum(level.shares for level in self.asks if level.price <= best_ask + reach)
        bid = sum(level.shares for level in self.bids if level.price >= best_bid - reach)

        return min(asked, bid)


@dataclass(frozen=True, slots=True)
class Listing:
    """A market with its price; no quote when the venue gave none."""

    market: Market
    quote: Quote | None

    @property
    def mid(self) -> int | None:
        """Return the price of a YES share that a forecast is compared with."""
        if self.quote is None:
            return None
        return self.quote.mid

    @property
    def has_price(self) -> bool:
        """Tell whether there is a quote that says what a share is worth."""
        return self.quote is not None and self.quote.price is not None

    def priced(self, earlier: "Listing | None") -> "Listing":
        """Return the listing, with the quote of the earlier one where its own has no price."""
        if self.has_price or earlier is None or not earlier.has_price:
            return self
        return replace(self, quote=earlier.quote)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that may be known of markets at one instant: those on offer, and others that agents hold.

    `at` is the decision time. A live market is read a little after it: `taken_at` says when, and is None
    where that is the same. `catalogue` is the hash of what was on offer, where that is kept.
    """

    at: datetime
    shown: tuple[Listing, ...]
    held: tuple[Listing, ...] = ()
    taken_at: datetime | None = None
    catalogue: str = ""

    @property
    def seen_at(self) -> datetime:
        """Return when the snapshot was taken: the ages of quotes are counted from then."""
        return self.taken_at or self.at

    def __hash__(self) -> int:
        """Hash only the time and the sizes: hashing every book costs more than a rare collision."""
        return hash((self.at, len(self.shown), len(self.held)))

    def __iter__(self) -> Iterator[Listing]:
        """Yield the listings on offer, then those held."""
        yield from self.shown
        yield from self.held


BY_HAND = "by hand"
"""The beginning of the source of a resolution that a person decided, or whose decision was withdrawn."""
DECIDED = f"{BY_HAND}: "
"""The source of a resolution that a person decided, up to the reason."""
WITHDRAWN = f"{BY_HAND}, withdrawn: "
"""The source of a resolution by which such a decision was withdrawn, up to the reason."""
SILENCE = "called off: "
"""The source of a refund by which a venue ends its wait, up to the reason: it corrects no known outcome."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """How a market ended: what a YES share paid, None for a refund. A correction is the next version.

    Of a question that isn't of yes or no, `answer` is the option, number or date that it came to, empty where
    it was called off; its `payout` is None.

    A person may decide it where a venue never says; a version that refunds withdraws such a decision.
    """

    market_id: MarketId
    version: int
    known_at: datetime
    payout: int | None
    source: str = ""
    answer: str = ""

    @property
    def possible(self) -> bool:
        """Tell whether a share can pay that much, and whether the version is one: they count from 1."""
        can_pay = self.payout is None or (type(self.payout) is int and 0 <= self.payout <= ONE)
        is_version = type(self.version) is int and self.version >= 1
        return can_pay and is_version

    @property
    def by_hand(self) -> bool:
        """Tell whether a person decided it, or withdrew such a decision."""
        return self.source.startswith((DECIDED, WITHDRAWN))

    @property
    def withdrawn(self) -> bool:
        """Tell whether a person withdrew a decision by it."""
        return self.source.startswith(WITHDRAWN)

    @property
    def reason(self) -> str:
        """Return why a person decided or withdrew it, or "" if the venue says how it ended."""
        if not self.by_hand:
            return ""
        return self.source.removeprefix(DECIDED).removeprefix(WITHDRAWN)

    @property
    def outcome(self) -> int | None:
        """Return 1 for YES, 0 for NO; None for a fraction or a refund, which pay but are not scored."""
        if self.payout == ONE:
            return 1
        if self.payout == 0:
            return 0
        return None
