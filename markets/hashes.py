"""What a quote and a market say, as a hash: two that say the same have the same."""

from markets.canonical import digest
from markets.model import Market, Quote


def quote_hash(quote: Quote) -> str:
    """The hash of a quote's content without its time: a price that stays is one price."""
    return digest({name: getattr(quote, name) for name in Quote.__slots__ if name != "at"})


def market_hash(market: Market) -> str:
    """The hash of all that a market's page said."""
    return digest(market)
