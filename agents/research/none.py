"""No evidence: agents see the markets and nothing else."""

from datetime import datetime

from agents.evidence import FoundArticle, ResearchSettings
from markets.model import Market
from markets.venue import Report, ignore_report


class Settings(ResearchSettings):
    """Nothing to set."""


class NoResearch:
    """A source that has no articles."""

    async def articles(self, _market: Market, _at: datetime) -> list[FoundArticle]:
        """Return no articles."""
        return []

    async def close(self) -> None:
        """Do nothing: no connection is open."""


def research(_settings: Settings, _report: Report = ignore_report) -> NoResearch:
    """Return the source without articles."""
    return NoResearch()
