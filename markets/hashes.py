"""What a quote and a market say, as a hash: two that say the same have the same."""

from markets.canonical import digest, plain
from markets.model import Market, Quote


def quote_hash(quote: Quote) -> str:
    """The hash of a quote's content without its time: a price that stays is one price."""
    return digest({key: value for key, value in plain(quote).items() if key != "at"})


def market_hash(market: Market) -> str:
    """The hash of all that a market's page said."""
    return digest(market)
