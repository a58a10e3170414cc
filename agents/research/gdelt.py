"""GDELT: news of the whole world of the last three months, searched by words, without a key.

It knows titles and addresses, no texts. An article's time is when GDELT saw it, which is later than when it
was published. It wants no more than a question every five seconds, so a round of 40 markets takes minutes.
"""

from datetime import datetime, timedelta
from functools import partial

from pydantic import BaseModel, ConfigDict, Field

from agents.evidence import FoundArticle, ResearchError
from agents.guard import cutoff, keywords
from markets.model import Market
from markets.venue import Report, VenueError, ignore_report
from markets.venues.wire.fields import MaybeText, RecordSorter, RejectedRecord, Text, WireRecord, read
from markets.venues.wire.http import HttpClient

MINUTE = "%Y%m%d%H%M%S"
HINT = "check evidence.gdelt.url and your network, or try again later"


class Settings(BaseModel):
    """GDELT's address, request rate and search: how far back, and with how many keywords."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    url: str = Field("https://api.gdeltproject.org/api/v2/doc", exclude=True)
    """The address of GDELT's API."""
    per_second: float = Field(0.2, gt=0, exclude=True)
    """Requests per second; GDELT asks for one every five seconds."""
    timeout: float = Field(20.0, gt=0, exclude=True)
    """How many seconds to wait for an answer."""
    days: int = Field(30, ge=1, le=90)
    """How far back it looks, in days."""
    words: int = Field(4, ge=1, le=10)
    """How many of a question's keywords to search for."""
    records: int = Field(50, ge=1, le=250)
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
    """GDELT's list of articles behind the door of a source."""

    def __init__(self, settings: Settings, http: HttpClient, report: Report):
        self._settings, self._http = settings, http
        self._sorter = RecordSorter("gdelt", ("url",), report)

    async def articles(self, market: Market, at: datetime) -> list[FoundArticle]:
        """The newest articles that have all of a question's telling words."""
        until = min(at, cutoff(market.closes_at))
        since = at - timedelta(days=self._settings.days)
        asked = keywords(market.question, self._settings.words)
        if not asked or until <= since:
            return []
        language = [f"sourcelang:{self._settings.language}"] if self._settings.language else []
        answer = await self._get(" ".join((*asked, *language)), since, until)
        listed = answer.get("articles", []) if isinstance(answer, dict) else None
        if not isinstance(listed, list):
            raise ResearchError("malformed", "GDELT did not send a list of articles", HINT)
        made = (self._sorter.made(partial(_article_of, raw), raw) for raw in listed)
        return [article for article in made if article is not None]

    async def close(self) -> None:
        """Let go of connections."""
        await self._http.close()

    async def _get(self, query: str, since: datetime, until: datetime) -> object:
        try:
            answer: object = await self._http.get(
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
        return answer


def research(settings: Settings, report: Report = ignore_report) -> Gdelt:
    """GDELT behind the door of a source."""
    http = HttpClient(settings.url, per_second=settings.per_second, timeout=settings.timeout)
    return Gdelt(settings, http, report)


def _article_of(raw: object) -> FoundArticle:
    """What GDELT lists, as an article; its host is its source."""
    item = read(GdeltArticle, raw, "article")
    if not item.domain:
        raise RejectedRecord("article", "malformed", "domain: an article needs a source")
    return FoundArticle(item.domain, item.url, item.title, "", item.seendate)
