"""Tells the order book of a market, by its short id such as m1: what is bid and asked for YES, best first."""

from agents.toolbox import ToolReach, ToolResult
from agents.tools.price_history import Arguments, listing_of
from markets.millionths import decimal

TELLS_PRICES = True

__all__ = ["Arguments", "use"]


async def use(arguments: Arguments, reach: ToolReach) -> ToolResult:
    """Return a line for each level."""
    quote = listing_of(arguments.market, reach).quote
    if quote is None:
        return ToolResult("it has no price now")

    lines: list[str] = []
    for side, levels in (("bid", quote.bids), ("ask", quote.asks)):
        lines += [f"{side} {decimal(level.price)}: {decimal(level.shares)} shares" for level in levels]
    best = [f"{side} {decimal(x)}" for side, x in (("bid", quote.bid), ("ask", quote.ask)) if x is not None]
    return ToolResult("\n".join(lines or best) or "it has no orders")
