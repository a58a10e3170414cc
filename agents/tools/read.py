"""Reads a whole article, by the address under which `search` has listed it in this round."""

from dataclasses import replace

from pydantic import Field

from agents.evidence import ResearchError
from agents.model import ConfigBlock
from agents.toolbox import MOST_TEXT, WITHHELD, ToolReach, ToolRefusal, ToolResult, guarded_articles_result

FETCHES = True


class Arguments(ConfigBlock):
    """What to read."""

    url: str = Field(min_length=1, max_length=2_000, description="an address that search has listed")


async def use(arguments: Arguments, reach: ToolReach) -> ToolResult:
    """Return the article, if it may be shown whole."""
    if arguments.url not in reach.listed():
        raise ToolRefusal(f"no search of this round has listed {arguments.url}")

    try:
        article = await reach.source().read(arguments.url)
    except ResearchError as error:
        raise ToolRefusal(f"it can't be read: {error}") from error

    if article is None:
        raise ToolRefusal("there is no text of it beyond what search has told")

    rule = reach.guard.model_copy(update={"characters": MOST_TEXT - 1_000})
    whole = replace(article, url=arguments.url)
    return guarded_articles_result([whole], article.title, reach, WITHHELD, rule)
