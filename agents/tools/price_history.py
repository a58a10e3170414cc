"""Tells earlier prices of a market, by its short id such as m1: the probability of YES some days before."""

from pydantic import Field

from agents.model import ConfigBlock
from agents.prompts.prompt import short_ids
from agents.toolbox import ToolReach, ToolRefusal, ToolResult
from markets.millionths import decimal
from markets.model import Listing

TELLS_PRICES = True


class Arguments(ConfigBlock):
    """Which market."""

    market: str = Field(min_length=1, max_length=40, description="its short id, such as m1")


async def use(arguments: Arguments, reach: ToolReach) -> ToolResult:
    """Return a line for each price, the oldest first."""
    quotes = reach.history(listing_of(arguments.market, reach).market.id)
    lines = [f"{quote.at:%Y-%m-%d %H:%M} {decimal(quote.mid)}" for quote in quotes if quote.mid is not None]
    return ToolResult("\n".join(lines) or "no earlier price is known")


def listing_of(name: str, reach: ToolReach) -> Listing:
    """Return the market of a short id in this round."""
    names = short_ids(reach.view.snapshot)
    found = next((x for x in reach.view.snapshot if names.get(x.market.id) == name), None)
    if found is None:
        raise ToolRefusal(f"there is no market {name} in this round")
    return found
