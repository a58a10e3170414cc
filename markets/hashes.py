"""What a quote and a market say, as a hash: two that say the same have the same.

It is the SHA-256 of the canonical JSON of their fields. There are thousands of them in a catalogue, so their
JSON is put together here field by field; the tests hold it against `canonical`.
"""

import hashlib
from json.encoder import encode_basestring as text

from markets.canonical import canonical, stamp
from markets.model import Market, Quote


def quote_hash(quote: Quote) -> str:
    """The hash of a quote's content without its time: a price that stays is one price."""
    bids = canonical(quote.bids) if quote.bids else "[]"
    asks = canonical(quote.asks) if quote.asks else "[]"
    return _sha256(
        f'{{"ask":{"null" if quote.ask is None else quote.ask},"asks":{asks},'
        f'"bid":{"null" if quote.bid is None else quote.bid},"bids":{bids},'
        f'"last":{"null" if quote.last is None else quote.last},"market_id":{text(quote.market_id)},'
        f'"mid":{"null" if quote.mid is None else quote.mid},"volume":{quote.volume}}}'
    )


def market_hash(market: Market) -> str:
    """The hash of all that a market's page said."""
    return _sha256(
        f'{{"category":{text(market.category)},"closes_at":"{stamp(market.closes_at)}",'
        f'"event_id":{text(market.event_id)},"fee_rate":{market.fee_rate},"id":{text(market.id)},'
        f'"min_shares":{market.min_shares},"opens_at":"{stamp(market.opens_at)}",'
        f'"question":{text(market.question)},"rules":{text(market.rules)},"tick":{market.tick}}}'
    )


def _sha256(value: str) -> str:
    return hashlib.sha256(value.encode()).hexdigest()
