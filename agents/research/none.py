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
        """None, on any market."""
        return []

    async def close(self) -> None:
        """There is nothing to let go of."""


def research(_settings: Settings, _report: Report = ignore_report) -> NoResearch:
    """The source of no evidence."""
    return NoResearch()
