"""Your own notes over the rounds: without `text` it tells the earlier ones, with it you replace them."""

from pydantic import Field

from agents.model import ConfigBlock
from agents.toolbox import ToolReach, ToolResult

OWN = True
MOST_NOTES = 8_000


class Arguments(ConfigBlock):
    """What to note."""

    text: str = Field(default="", max_length=MOST_NOTES, description="what you want to know in later rounds")


async def use(arguments: Arguments, reach: ToolReach) -> ToolResult:
    """Return the notes of earlier rounds, or confirm new ones."""
    if arguments.text:
        return ToolResult("kept for the rounds after this one")
    return ToolResult(reach.notes() or "there are no notes")
