"""Searches the news by words: the articles that fit best, each with its address, its date and its beginning.

Only what was published before this round is found.
"""

from pydantic import Field

from agents.evidence import ResearchError
from agents.model import ConfigBlock
from agents.toolbox import ToolReach, ToolRefusal, ToolResult, guarded_articles_result

FETCHES = True


class Arguments(ConfigBlock):
    """What to search for."""

    query: str = Field(min_length=2, max_length=300, description="a few telling words")


async def use(arguments: Arguments, reach: ToolReach) -> ToolResult:
    """Return the articles that may be shown."""
    try:
        found = await reach.source().search(arguments.query, reach.view.snapshot.at)
    except ResearchError as error:
        raise ToolRefusal(f"the search has no answer: {error}") from error
    return guarded_articles_result(found, arguments.query, reach, "nothing was found")
