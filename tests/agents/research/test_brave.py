"""Brave, played by a server on this machine in the form that Brave documents; so far it is not run live."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from agents.evidence import FoundArticle, ResearchError
from agents.guard import dated
from agents.research.brave import Brave, Settings, research
from markets.venue import QuarantinedRecord
from tests.builders import NOW, a_market
from tests.serving import Reply
from tests.venue_server.server import TRUNCATED, VenueServer, reply, status, venue_server
from tests.venue_server.visit import at_once

KEY = "BSA-a-canary-of-sixteen"
ITEM = {
    "type": "news_result",
    "url": "https://www.news.example/strike",
    "title": "The strike <strong>ends</strong>",
    "description": "Both sides agree.",
    "age": "2 hours ago",
    "page_age": "2026-01-03T10:15:00",
    "page_fetched": "2026-01-03T12:00:00Z",
    "meta_url": {
        "scheme": "https",
        "netloc": "news.example",
        "hostname": "www.news.example",
        "path": "› strike",
    },
    "thumbnail": {"src": "https://imgs.example/x.jpg"},
}
FOUND = FoundArticle(
    "www.news.example",
    "https://www.news.example/strike",
    "The strike <strong>ends</strong>",
    "Both sides agree.",
    "2026-01-03T10:15:00",
)


def listed(*items: object) -> dict[str, Any]:
    return {"type": "news", "query": {"original": "strike", "spellcheck_off": False}, "results": [*items]}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[VenueServer]:
    monkeypatch.setenv("BRAVE_SEARCH_API_KEY", KEY)
    with venue_server() as running:
        running.route("/news/search", listed(ITEM))
        yield running


def search(server: VenueServer, **settings: Any) -> tuple[list[FoundArticle], list[QuarantinedRecord]]:
    """Return what a search by words finds, and what was withheld."""
    asides: list[QuarantinedRecord] = []
    quick = {"url": server.url, "per_second": 1_000, "timeout": 0.5} | settings

    async def asked() -> list[FoundArticle]:
        source = Brave(Settings.model_validate(quick), asides.append, at_once)
        try:
            assert await source.read("https://www.news.example/strike") is None
            return await source.search("the strike", NOW)
        finally:
            await source.close()

    return asyncio.run(asked()), asides


def test_it_is_asked_by_words_with_the_key_in_its_header(server: VenueServer) -> None:
    assert search(server, days=7, records=9) == ([FOUND], [])
    [asked] = server.log
    assert asked.params == {"q": "the strike", "count": "9", "freshness": "2025-12-28to2026-01-04"}
    assert asked.headers["X-Subscription-Token"] == KEY
    told = dated(FOUND.published)
    assert told is not None
    assert told[0] >= NOW - timedelta(days=1), "a time without a zone is taken at its latest"


def test_a_market_is_searched_for_by_its_terms_up_to_its_cutoff(server: VenueServer) -> None:
    market = a_market(question="Will Xi Jinping be out in 2026?", closes_at=NOW + timedelta(hours=3))

    async def asked() -> list[FoundArticle]:
        source = research(Settings.model_validate({"url": server.url, "days": 1}))
        try:
            return await source.articles(market, NOW)
        finally:
            await source.close()

    assert asyncio.run(asked()) == [FOUND]
    assert server.log[0].params["q"] == "Xi Jinping 2026"
    assert server.log[0].params["freshness"] == "2026-01-03to2026-01-03"


def test_without_a_key_nobody_is_asked(server: VenueServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BRAVE_SEARCH_API_KEY")
    with pytest.raises(
        ResearchError, match="the environment variable BRAVE_SEARCH_API_KEY is not set"
    ) as caught:
        search(server)
    assert (caught.value.code, server.log) == ("no_key", [])


@pytest.mark.parametrize("code", [401, 403, 422])
def test_a_key_that_is_refused_is_named_by_its_variable_and_never_told(
    server: VenueServer, code: int
) -> None:
    fault = {"type": "ErrorResponse", "error": {"code": "SUBSCRIPTION_TOKEN_INVALID", "status": code}}
    server.fail("/news/search", reply(fault, status=code), forever=True)
    with pytest.raises(ResearchError) as caught:
        search(server)
    assert caught.value.code == "refused"
    assert caught.value.message.startswith("Brave refuses the key in BRAVE_SEARCH_API_KEY, or the search: ")
    assert f"answered {code}" in caught.value.message
    assert KEY not in f"{caught.value!r} {caught.value}"
    assert len(server.log) == 1


@pytest.mark.parametrize(
    ("fault", "code", "tries"),
    [(status(500), "server_error", 4), (TRUNCATED, "not_json", 4), (status(404), "missing", 1)],
)
def test_a_fault_is_one_clear_error_after_a_bounded_number_of_tries(
    server: VenueServer, fault: Reply, code: str, tries: int
) -> None:
    server.fail("/news/search", fault, forever=True)
    with pytest.raises(ResearchError) as caught:
        search(server)
    assert (caught.value.code, len(server.log)) == (code, tries)
    assert "127.0.0.1" in caught.value.message


@pytest.mark.parametrize("answer", [[], {}, {"results": None}])
def test_an_answer_that_is_no_list_is_one_clear_error(server: VenueServer, answer: Any) -> None:
    server.route("/news/search", lambda _: reply(answer))
    with pytest.raises(ResearchError) as caught:
        search(server)
    assert caught.value.code == "malformed"


@pytest.mark.parametrize(
    "bad",
    [5, {}, ITEM | {"url": "nowhere"}, ITEM | {"title": ["x"]}, ITEM | {"description": {}},
     ITEM | {"page_age": 5}],
)  # fmt: skip
def test_an_article_that_makes_no_sense_is_set_aside_and_the_others_stand(
    server: VenueServer, bad: object
) -> None:
    server.route("/news/search", listed(bad, ITEM))
    found, asides = search(server)
    assert found == [FOUND]
    assert [(x.venue, x.kind, x.code) for x in asides] == [("brave", "article", "malformed")]


def test_an_article_without_a_date_or_words_is_for_the_guard(server: VenueServer) -> None:
    bare = {"url": ITEM["url"], "title": None}
    server.route("/news/search", listed(bare))
    assert search(server)[0] == [FoundArticle("www.news.example", FOUND.url, "", "", "")]
