"""GDELT: news of the whole world of the last three months, searched by words, without a key.

It knows titles and addresses, no texts. An article's time is when GDELT saw it, which is later than when it
was published. It wants no more than a question every five seconds, so a round of 40 markets takes minutes.

What it refuses it says in plain words with status 200, and its JSON has backslashes that JSON doesn't allow.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pydantic import Field

from agents.evidence import FoundArticle, RefusedQueryError, ResearchError, ResearchSettings
from agents.guard import cutoff
from agents.search_terms import SearchTerm, broader_terms, search_terms
from agents.text import one_line
from markets.model import Market
from markets.registry import PYTHON_ONLY
from markets.venue import Report, VenueError, ignore_report
from markets.venues.wire.fields import MaybeText, RecordSorter, RejectedRecord, Text, WireRecord, read_record
from markets.venues.wire.http import HttpClient, RequestError, parse_json

MINUTE = "%Y%m%d%H%M%S"
HINT = "check evidence.gdelt.url and your network, or try again later"
PER_SECOND = 0.2
LONGEST_REFUSAL = 500
_BACKSLASH = re.compile(r"\\\\|\\(?![\"/bfnrt]|u[0-9a-fA-F]{4})")


class Settings(ResearchSettings):
    """How GDELT is searched."""

    url: str = Field("https://api.gdeltproject.org/api/v2/doc", exclude=True)
    """The address of GDELT's API."""
    days: int = Field(30, ge=1, le=90)
    """How far back it looks, in days."""
    words: int = Field(4, ge=1, le=10, json_schema_extra=PYTHON_ONLY)
    """How many terms of a question to search for: names and phrases, tickers, figures, years, other words."""
    records: int = Field(50, ge=1, le=250, json_schema_extra=PYTHON_ONLY)
    """How many articles to request per market."""
    language: str = Field("english", pattern="^[a-z]*$")
    """The language of the articles; empty for any."""


class GdeltArticle(WireRecord):
    """An article as GDELT lists it."""

    url: Text
    title: MaybeText = ""
    seendate: Text
    domain: MaybeText = ""


class Gdelt:
    """GDELT's list of articles as a source."""

    def __init__(self, settings: Settings, http: HttpClient, report: Report):
        self._settings = settings
        self._http = http
        self._sorter = RecordSorter("gdelt", ("url",), report)

    async def articles(self, market: Market, at: datetime) -> list[FoundArticle]:
        """Return the newest articles with all of a question's terms; without any, those with fewer."""
        return await self._newest_articles(
            market.question, market.rules, at, min(at, cutoff(market.closes_at))
        )

    async def search(self, query: str, at: datetime) -> list[FoundArticle]:
        """Return the newest articles that match a query in the same way."""
        return await self._newest_articles(query, "", at, at)

    async def read(self, _url: str) -> FoundArticle | None:
        """Return None: GDELT has no texts."""
        return None

    async def _newest_articles(
        self, question: str, rules: str, at: datetime, until: datetime
    ) -> list[FoundArticle]:
        since = at - timedelta(days=self._settings.days)
        terms = search_terms(question, self._settings.words, rules)
        if not terms or until <= since:
            return []

        articles = await self._articles_with_terms(terms, since, until)
        if articles:
            return articles

        fewer_terms = broader_terms(terms)
        if not fewer_terms:
            return articles
        return await self._articles_with_terms(fewer_terms, since, until)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.close()

    async def _articles_with_terms(
        self, terms: Sequence[SearchTerm], since: datetime, until: datetime
    ) -> list[FoundArticle]:
        """Return the articles that GDELT lists for some terms."""
        language = [f"sourcelang:{self._settings.language}"] if self._settings.language else []
        answer = await self._ask_gdelt(" ".join((*map(_term_query, terms), *language)), since, until)
        if isinstance(answer, Refusal):
            message = f"GDELT refuses the query: {one_line(answer.said)}"
            raise RefusedQueryError("refused_query", message, "other markets are not affected")

        articles = answer.get("articles", []) if isinstance(answer, dict) else None
        if not isinstance(articles, list):
            raise ResearchError("malformed", "GDELT did not send a list of articles", HINT)

        return self._sorter.make_all(articles, _article_of)

    async def _ask_gdelt(self, query: str, since: datetime, until: datetime) -> object:
        try:
            return await self._http.get(
                "/doc",
                query=query,
                mode="artlist",
                format="json",
                sort="datedesc",
                maxrecords=self._settings.records,
                startdatetime=since.strftime(MINUTE),
                enddatetime=until.strftime(MINUTE),
            )
        except VenueError as error:
            raise ResearchError(error.code, error.message, HINT) from error


def research(settings: Settings, report: Report = ignore_report) -> Gdelt:
    """Return GDELT as a source of articles."""
    http = HttpClient(settings.url, per_second=PER_SECOND, parse=read_answer)
    return Gdelt(settings, http, report)


@dataclass(frozen=True, slots=True)
class Refusal:
    """GDELT's words on a query that it refuses."""

    said: str


def read_answer(body: bytearray) -> Any:
    """Return GDELT's JSON, repaired where it has stray backslashes, or its refusal of a query."""
    text = body.decode("utf-8", "replace").strip()
    if text[:1] in ("{", "["):
        try:
            return parse_json(body)
        except RequestError:
            pass
        try:
            return json.loads(_BACKSLASH.sub(r"\\\\", text), strict=False)
        except ValueError:
            raise RequestError("not_json", "sent invalid JSON") from None

    if "limit requests" in text.casefold():
        raise RequestError("rate_limited", "is rate-limiting requests")
    if 0 < len(text) <= LONGEST_REFUSAL and text[0].isalpha():
        return Refusal(text)
    return parse_json(body)


def _term_query(term: SearchTerm) -> str:
    """Return a term in GDELT's query syntax."""
    ways = [way if way.isalnum() else f'"{way}"' for way in term.ways]
    if len(ways) == 1:
        return ways[0]
    return f"({' OR '.join(ways)})"


def _article_of(raw: object) -> FoundArticle:
    """Return an article that GDELT lists, with its domain as its source."""
    item = read_record(GdeltArticle, raw, "article")
    if not item.domain:
        raise RejectedRecord("article", "malformed", "domain: an article needs a source")
    return FoundArticle(item.domain, item.url, item.title, "", item.seendate)
