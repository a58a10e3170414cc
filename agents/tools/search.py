"""Searches the news by words: the articles that fit best, each with its address, its date and its beginning.

Only what was published before this round is found.
"""

from pydantic import BaseModel, ConfigDict, Field

from agents.evidence import ResearchError
from agents.guard import guard_found
from agents.toolbox import ToolReach, ToolRefusal, ToolResult, told_articles

FETCHES = True


class Arguments(BaseModel):
    """What to search for."""

    model_config = ConfigDict(extra="forbid")

    query: str = Field(min_length=2, max_length=300, description="a few telling words")


async def use(arguments: Arguments, reach: ToolReach) -> ToolResult:
    """The articles that may be shown."""
    at, shown = reach.view.snapshot.at, reach.view.snapshot.shown
    try:
        found = await reach.source().search(arguments.query, at)
    except ResearchError as error:
        raise ToolRefusal(f"the search has no answer: {error}") from error
    asked = {listing.market.id: listing.market.question for listing in shown}
    closes_at = min((listing.market.closes_at for listing in shown), default=at)
    guarded = guard_found(found, arguments.query, asked, closes_at, at, reach.now(), reach.guard)
    return told_articles(guarded, "nothing was found")
