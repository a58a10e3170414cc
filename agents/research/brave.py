"""Brave: news of the whole web, searched by words, with a key of your own.

Its articles have a title, an address and a description, and the time at which Brave dates the page. The key
is in the environment variable BRAVE_SEARCH_API_KEY. Not yet run live.
"""

import asyncio
import os
from datetime import datetime, timedelta

from pydantic import Field

from agents.evidence import FoundArticle, ResearchError, ResearchSettings
from agents.guard import cutoff
from agents.search_terms import search_terms
from markets.model import Market
from markets.registry import PYTHON_ONLY
from markets.venue import Report, VenueError, ignore_report
from markets.venues.wire.fields import (
    MaybeText,
    RecordSorter,
    RejectedRecord,
    Text,
    WireRecord,
    member,
    read_record,
)
from markets.venues.wire.http import HttpClient, Sleep

KEY = "BRAVE_SEARCH_API_KEY"
HINT = "check evidence.brave.url, your key and your network, or try again later"


class Settings(ResearchSettings):
    """How Brave is searched."""

    url: str = Field("https://api.search.brave.com/res/v1", exclude=True)
    """The address of Brave's API."""
    per_second: float = Field(1.0, gt=0, exclude=True)
    """Requests per second."""
    timeout: float = Field(20.0, gt=0, exclude=True, json_schema_extra=PYTHON_ONLY)
    """How many seconds to wait for an answer."""
    days: int = Field(30, ge=1, le=365)
    """How far back it looks, in days."""
    words: int = Field(4, ge=1, le=10, json_schema_extra=PYTHON_ONLY)
    """How many terms of a market's question to search for."""
    records: int = Field(20, ge=1, le=50, json_schema_extra=PYTHON_ONLY)
    """How many articles to request at once."""


class BraveArticle(WireRecord):
    """An article as Brave lists it."""

    url: Text
    title: MaybeText = ""
    description: MaybeText = ""
    page_age: MaybeText = ""


class Brave:
    """Brave's news search as a source of articles."""

    def __init__(self, settings: Settings, report: Report, sleep: Sleep = asyncio.sleep):
        self._settings = settings
        self._sleep = sleep
        self._http: HttpClient | None = None
        self._sorter = RecordSorter("brave", ("url",), report)

    async def articles(self, market: Market, at: datetime) -> list[FoundArticle]:
        """Return the articles that match a market's question."""
        terms = search_terms(market.question, self._settings.words, market.rules)
        query = " ".join(term.ways[0] for term in terms)
        if not query:
            return []
        return await self._articles_between(query, at, min(at, cutoff(market.closes_at)))

    async def search(self, query: str, at: datetime) -> list[FoundArticle]:
        """Return the articles that match a query."""
        return await self._articles_between(query, at, at)

    async def read(self, _url: str) -> FoundArticle | None:
        """Return None: Brave has no texts."""
        return None

    async def close(self) -> None:
        """Close the connections."""
        if self._http is not None:
            await self._http.close()

    async def _articles_between(self, query: str, at: datetime, until: datetime) -> list[FoundArticle]:
        since = at - timedelta(days=self._settings.days)
        date_range = f"{since:%Y-%m-%d}to{until:%Y-%m-%d}"
        try:
            answer = await self._client().get(
                "/news/search", q=query, count=self._settings.records, freshness=date_range
            )
        except VenueError as error:
            message = error.message
            if error.code == "refused":
                message = f"Brave refuses the key in {KEY}, or the search: {message}"
            raise ResearchError(error.code, message, HINT) from error

        results = member(answer, "results")
        if not isinstance(results, list):
            raise ResearchError("malformed", "Brave did not send a list of results", HINT)

        return self._sorter.make_all(results, _article_of)

    def _client(self) -> HttpClient:
        """Return the client, created once a key is set."""
        settings = self._settings
        if self._http is None:
            key = os.environ.get(KEY)
            if not key:
                words = f"the environment variable {KEY} is not set"
                raise ResearchError("no_key", words, "set it there, or in .env next to the config")

            self._http = HttpClient(
                settings.url,
                per_second=settings.per_second,
                timeout=settings.timeout,
                sleep=self._sleep,
                headers={"X-Subscription-Token": key},
            )

        return self._http


def research(settings: Settings, report: Report = ignore_report) -> Brave:
    """Return Brave as a source of articles."""
    return Brave(settings, report)


def _article_of(raw: object) -> FoundArticle:
    """Return an article that Brave lists, with its host as its source."""
    item = read_record(BraveArticle, raw, "article")
    host = item.url.partition("//")[2].partition("/")[0]
    if not host:
        raise RejectedRecord("article", "malformed", "url: an article needs an address")
    return FoundArticle(host, item.url, item.title, item.description, item.page_age)
