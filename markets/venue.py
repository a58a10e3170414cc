"""The interface of venues: what each of them can be asked."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict

from markets.model import Listing, Market, MarketId, Quote, Resolution

UNWRITABLE = re.compile("[\0\ud800-\udfff]")
"""Characters that a database or a UTF-8 file can't hold: NUL and lone surrogates."""


class VenueSettings(BaseModel):
    """The base of each venue's `Settings`: the keys of its block under `markets` in the config."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


@dataclass(frozen=True, slots=True)
class QuarantinedRecord:
    """A record that was set aside, and why: it makes no sense, or it has to wait.

    `venue` is who sent it: a venue, or a source of articles. `record` is its own id there, or the page where
    there is none; `raw` is what was sent, cut short.
    """

    venue: str
    record: str
    kind: Literal["market", "quote", "resolution", "page", "article"]
    code: str
    reason: str
    raw: str = ""


Report = Callable[[QuarantinedRecord], None]
"""A callback for the records that a venue sets aside."""


class VenueError(Exception):
    """A request to a venue that failed; nothing was used of any answer. `hint` says what may help.

    It `stops` the round where a person has to mend it: then it must not go on without these markets.
    """

    def __init__(self, code: str, message: str, hint: str = "", stops: bool = False):
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.stops = stops


VENUE_PAGES = {
    "polymarket": ("Polymarket", "https://gamma-api.polymarket.com/markets/{}", "[0-9]{1,20}"),
    "kalshi": ("Kalshi", "https://kalshi.com/markets/{}", "[A-Za-z0-9._-]{1,80}"),
    "manifold": ("Manifold", "https://api.manifold.markets/v0/market/{}", "[A-Za-z0-9]{1,40}"),
}
"""Each venue's title, the address of its page of a market, and the pattern of its ids."""
_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")


def venue_page(
    market: MarketId, event: str = "", slug: str = "", event_slug: str = ""
) -> tuple[str, str] | None:
    """Return the venue's name and its page of a market; None for an unknown venue or id.

    Pages for people go by words: where these are not known, it is the page for programs.

    >>> venue_page(MarketId("polymarket:512"), slug="rain-in-may", event_slug="rain")
    ('Polymarket', 'https://polymarket.com/event/rain/rain-in-may')
    >>> venue_page(MarketId("kalshi:KXFED-26SEP-T4"), "kalshi:KXFED-26SEP")
    ('Kalshi', 'https://kalshi.com/markets/kxfed/kxfed-26sep')
    >>> venue_page(MarketId("manifold:abc1"), slug="rain"), venue_page(MarketId("manifold:abc1"))
    (('Manifold', 'https://manifold.markets/market/rain'), ('Manifold (data)', \
'https://api.manifold.markets/v0/market/abc1'))
    >>> venue_page(MarketId("manifold:../x")), venue_page(MarketId("javascript:alert(1)"))
    (None, None)
    """
    venue, _, name = market.partition(":")
    title, address, id_pattern = VENUE_PAGES.get(venue, ("", "", "(?!)"))
    if not re.fullmatch(id_pattern, name):
        return None

    if not _SLUG.fullmatch(slug):
        slug = ""
    if not _SLUG.fullmatch(event_slug):
        event_slug = ""
    if venue == "kalshi":
        event_ticker = event.partition(":")[2].lower()
        series_path = name.partition("-")[0].lower()
        if _SLUG.fullmatch(event_ticker):
            series_path = f"{series_path}/{event_ticker}"
        return title, address.format(series_path)

    if venue == "manifold" and slug:
        return title, f"https://manifold.markets/market/{slug}"
    if venue == "polymarket" and slug:
        path = f"event/{event_slug}" if event_slug else "market"
        return title, f"https://polymarket.com/{path}/{slug}"
    return f"{title} (data)", address.format(name)


def ignore_report(_what: QuarantinedRecord) -> None:
    """Ignore a quarantined record."""


@dataclass(frozen=True, slots=True)
class CatalogueFilter:
    """Which open markets are wanted. A venue that can leave out others by itself does; none has to.

    `min_volume` and `min_liquidity` in millionths of dollars; a market closes at `closes_until` or before.
    `slugs`, `events` and `tags` are those that some rule names, and with `only_named` no other is wanted.
    With `figures` the prices are to have all that the venue says of how much is traded and held. Only to see
    whether a venue answers so many `pages` may do.
    """

    min_volume: int = 0
    closes_until: datetime | None = None
    pages: int | None = None
    min_liquidity: int = 0
    slugs: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    only_named: bool = False
    figures: bool = False

    def admits(self, market: Market, quote: Quote | None) -> bool:
        """Tell whether a market with this page and price is wanted."""
        if self.closes_until is not None and market.closes_at > self.closes_until:
            return False
        if self.only_named and not market.is_among(self.slugs, self.events, self.tags):
            return False

        volume = (quote and quote.volume) or 0
        liquidity = (quote and quote.liquidity) or 0
        return volume >= self.min_volume and liquidity >= self.min_liquidity


EVERY_MARKET = CatalogueFilter()


@dataclass(frozen=True, slots=True)
class Catalogue:
    """A venue's open markets, complete: no part of a list says what is missing.

    `left_out` counts by reason the open markets of which no question is made. `limit` is how many records
    were read, where no more were to be read and the venue had more.
    """

    listings: Sequence[Listing]
    left_out: Mapping[str, int] = field(default_factory=dict)
    limit: int | None = None


class Venue(Protocol):
    """A source of markets, as of an instant: nothing later than `at` may show in an answer.

    A live venue knows only the present. What makes no sense is set aside, one record at a time, and the rest
    is answered; `VenueError` where there is no answer.
    """

    async def catalogue(self, at: datetime, wanted: CatalogueFilter = EVERY_MARKET) -> Catalogue:
        """Return every open market that is wanted, maybe others, with prices; raise if any is missing."""

    async def listings(self, at: datetime, markets: Collection[MarketId]) -> list[Listing]:
        """Return these markets with prices and books, open or not, in the order of the request."""

    async def resolutions(self, at: datetime, markets: Collection[MarketId]) -> list[Resolution]:
        """Return all versions of these markets' resolutions known at an instant; none while open."""

    async def close(self) -> None:
        """Close all connections; no request may follow."""


class Truth(Protocol):
    """The true probability of YES in millionths. Only a simulated world has one."""

    def __call__(self, market: MarketId, at: datetime) -> int: ...
