"""Which markets are played: a pure rule over a catalogue, drawn by a stored seed."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

from pydantic import BaseModel, ConfigDict

from markets.model import Listing


class Universe(BaseModel):
    """The rule. Prices and dollars in millionths, `closes_within` in seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    show: int
    per_event: int
    closes_within: int
    min_volume: int
    max_spread: int


def draw(listings: Sequence[Listing], rule: Universe, seed: int, at: datetime) -> list[Listing]:
    """The markets on offer in a round: those that pass the rule, drawn by the seed.

    Every market has a lot of its own, so the draw depends neither on the order of the listings nor,
    for any two markets, on what else is there. The drawn ones are sorted by event and id, so that a
    reader finds the markets of an event side by side.
    """
    playable = [listing for listing in listings if _passes(listing, rule, at)]
    playable.sort(key=lambda listing: _lot(listing, seed))
    chosen: list[Listing] = []
    of_event: Counter[str] = Counter()
    for listing in playable:
        event = listing.market.event_id
        if len(chosen) < rule.show and of_event[event] < rule.per_event:
            chosen.append(listing)
            of_event[event] += 1
    return sorted(chosen, key=lambda listing: (listing.market.event_id, listing.market.id))


def _passes(listing: Listing, rule: Universe, at: datetime) -> bool:
    """Open, closing soon enough, traded enough, and quoted on both sides closely enough."""
    market, quote = listing.market, listing.quote
    if quote is None or quote.bid is None or quote.ask is None:
        return False
    return (
        market.opens_at <= at < market.closes_at <= at + timedelta(seconds=rule.closes_within)
        and quote.volume >= rule.min_volume
        and 0 <= quote.ask - quote.bid <= rule.max_spread
    )


def _lot(listing: Listing, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}/{listing.market.id}".encode()).digest()
