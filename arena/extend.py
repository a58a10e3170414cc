"""What the author of an extension imports: one flat, stable list of names, wherever they are at home.

`from arena.extend import Agent, Decision, …` works as long as this page lists the name.
"""

from agents.evidence import FoundArticle, Research, ResearchError, ResearchSettings
from agents.model import (
    Agent,
    Article,
    Ask,
    Call,
    CallError,
    Context,
    Decision,
    Forecast,
    Given,
    KindSettings,
    Message,
    ModelSettings,
    Prompt,
    Unreadable,
    View,
    model_settings,
)
from agents.toolbox import ToolReach, ToolRefusal, ToolResult
from markets.model import Level, Listing, Market, MarketId, Quote, Resolution, Snapshot
from markets.venue import (
    Catalogue,
    CatalogueFilter,
    QuarantinedRecord,
    Report,
    Truth,
    Venue,
    VenueError,
    VenueSettings,
)
from portfolio.model import Bet, Fill, FillLevel, Holdings, Rejection, Sale
from portfolio.rules import Rules

__all__ = [
    "Agent",
    "Article",
    "Ask",
    "Bet",
    "Call",
    "CallError",
    "Catalogue",
    "CatalogueFilter",
    "Context",
    "Decision",
    "Fill",
    "FillLevel",
    "Forecast",
    "FoundArticle",
    "Given",
    "Holdings",
    "KindSettings",
    "Level",
    "Listing",
    "Market",
    "MarketId",
    "Message",
    "ModelSettings",
    "Prompt",
    "QuarantinedRecord",
    "Quote",
    "Rejection",
    "Report",
    "Research",
    "ResearchError",
    "ResearchSettings",
    "Resolution",
    "Rules",
    "Sale",
    "Snapshot",
    "ToolReach",
    "ToolRefusal",
    "ToolResult",
    "Truth",
    "Unreadable",
    "Venue",
    "VenueError",
    "VenueSettings",
    "View",
    "model_settings",
]
