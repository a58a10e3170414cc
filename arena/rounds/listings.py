"""Listings by their markets, in the order in which a venue or a snapshot lists them."""

from collections.abc import Iterable

from markets.model import Listing, MarketId


def ids_of(listings: Iterable[Listing]) -> list[MarketId]:
    """Return the ids of the listed markets."""
    return [listing.market.id for listing in listings]


def listings_by_id(listings: Iterable[Listing]) -> dict[MarketId, Listing]:
    """Return listings by the ids of their markets; of a market listed twice, the last one."""
    return {listing.market.id: listing for listing in listings}
