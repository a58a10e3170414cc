"""The interface of sources of articles: what they are asked, and what they answer."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from agents.model import ConfigBlock
from markets.model import Market


class ResearchSettings(ConfigBlock):
    """The base of each source's `Settings`: the keys of its block under `evidence` in the config."""


@dataclass(frozen=True, slots=True)
class FoundArticle:
    """An article as its source has it. `published` is a day or a time, written the way of ISO 8601.

    What the source leaves out is empty; whether the article may be shown is for `agents.guard` to say.
    """

    source: str
    url: str
    title: str
    text: str
    published: str


class ResearchError(Exception):
    """A source failed to answer; `hint` says what may help."""

    def __init__(self, code: str, message: str, hint: str = ""):
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint


class RefusedQueryError(ResearchError):
    """A source refused a query on one market; it may well answer the next."""


class Research(Protocol):
    """A source of articles. It may answer with anything it has: the guard keeps back what comes too late.

    What makes no sense is set aside, one article at a time; `ResearchError` where there is no answer, and
    `RefusedQueryError` where that concerns this market alone.
    """

    async def articles(self, market: Market, at: datetime) -> list[FoundArticle]:
        """Return the articles about a market, as of an instant."""

    async def close(self) -> None:
        """Close all connections; no request may follow."""
