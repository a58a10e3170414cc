"""What a quote and a market say, as a hash: two that say the same have the same.

It is the SHA-256 of the canonical JSON of their fields. There are thousands of them in a catalogue, so their
JSON is written here with their fields already in order; the tests hold it against `canonical`.
"""

import hashlib
from collections.abc import Mapping

import orjson

from markets.canonical import plain, stamp
from markets.model import Market, Quote


def quote_hash(quote: Quote) -> str:
    """The hash of a quote's content without its time: a price that stays is one price."""
    return _sha256(
        {
            "ask": quote.ask,
            "asks": plain(quote.asks) if quote.asks else (),
            "bid": quote.bid,
            "bids": plain(quote.bids) if quote.bids else (),
            "last": quote.last,
            "market_id": quote.market_id,
            "mid": quote.mid,
            "volume": quote.volume,
        }
    )


def market_hash(market: Market) -> str:
    """The hash of all that a market's page said."""
    return _sha256(
        {
            "category": market.category,
            "closes_at": stamp(market.closes_at),
            "event_id": market.event_id,
            "fee_rate": market.fee_rate,
            "id": market.id,
            "min_shares": market.min_shares,
            "opens_at": stamp(market.opens_at),
            "question": market.question,
            "rules": market.rules,
            "tick": market.tick,
        }
    )


def _sha256(said: Mapping[str, object]) -> str:
    return hashlib.sha256(orjson.dumps(said)).hexdigest()


def sha256(value: str) -> str:
    """SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(value.encode()).hexdigest()
