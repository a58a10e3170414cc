"""GDELT, played by a server on this machine: what it is asked, what is made of its answers and its faults."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from agents.evidence import FoundArticle, ResearchError
from agents.research.gdelt import Gdelt, Settings, research
from markets.model import Market
from markets.venue import QuarantinedRecord
from markets.venues.wire.http import HttpClient
from tests.builders import NOW, a_market
from tests.serving import Reply
from tests.venue_server.server import CUT, HTML, TRUNCATED, VenueServer, reply, status, venue_server
from tests.venue_server.visit import at_once

FED = a_market(
    "sim:fed", question="Will the Fed cut interest rates by March 2026?", closes_at=NOW + timedelta(days=60)
)
ITEM = {
    "url": "https://www.news.example/fed",
    "url_mobile": "",
    "title": "Fed may cut ",
    "seendate": "20260103T101500Z",
    "socialimage": "https://x.example/x.jpg",
    "domain": "news.example",
    "language": "English",
    "sourcecountry": "United States",
}
FOUND = FoundArticle("news.example", "https://www.news.example/fed", "Fed may cut ", "", "20260103T101500Z")


@pytest.fixture
def server() -> Iterator[VenueServer]:
    with venue_server() as running:
        running.route("/doc", {"articles": [ITEM]})
        yield running


def ask(
    server: VenueServer, market: Market = FED, **settings: Any
) -> tuple[list[FoundArticle], list[QuarantinedRecord]]:
    """What GDELT has on a market, and what was set aside."""
    asides: list[QuarantinedRecord] = []

    async def asked() -> list[FoundArticle]:
        quick = {"url": server.url, "per_second": 1_000, "timeout": 1.0}
        chosen = Settings.model_validate(quick | settings)
        http = HttpClient(chosen.url, per_second=chosen.per_second, timeout=chosen.timeout, sleep=at_once)
        source = Gdelt(chosen, http, asides.append)
        try:
            return await source.articles(market, NOW)
        finally:
            await source.close()

    return asyncio.run(asked()), asides


def test_a_source_is_made_from_its_settings(server: VenueServer) -> None:
    source = research(Settings.model_validate({"url": server.url}))

    async def asked() -> list[FoundArticle]:
        try:
            return await source.articles(FED, NOW)
        finally:
            await source.close()

    assert asyncio.run(asked()) == [FOUND]


def test_it_is_asked_for_the_questions_words_over_the_days_before(server: VenueServer) -> None:
    assert ask(server) == ([FOUND], [])
    assert dict(server.log[0].params) == {
        "query": "fed cut interest rates sourcelang:english",
        "mode": "artlist",
        "format": "json",
        "sort": "datedesc",
        "maxrecords": "50",
        "startdatetime": "20251205120000",
        "enddatetime": "20260104120000",
    }


def test_nothing_from_after_the_cutoff_is_asked_for(server: VenueServer) -> None:
    ask(server, a_market(question=FED.question, closes_at=NOW + timedelta(hours=3)), days=1)
    assert server.log[0].params["startdatetime"] == "20260103120000"
    assert server.log[0].params["enddatetime"] == "20260103235959"
    assert ask(server, a_market(question=FED.question, closes_at=NOW - timedelta(days=9)), days=1) == ([], [])
    assert len(server.log) == 1


def test_settings_say_how_it_is_asked(server: VenueServer) -> None:
    ask(server, words=2, language="", records=9)
    assert server.log[0].params["query"] == "fed cut"
    assert server.log[0].params["maxrecords"] == "9"


def test_a_question_without_a_telling_word_is_not_asked(server: VenueServer) -> None:
    assert ask(server, a_market(question="Will it be?")) == ([], [])
    assert server.log == []


def test_no_articles_is_an_answer(server: VenueServer) -> None:
    answers: list[dict[str, list[str]]] = [{}, {"articles": []}]
    for empty in answers:
        server.route("/doc", empty)
        assert ask(server) == ([], [])


@pytest.mark.parametrize(
    "bad",
    [
        5, None, "x", [], {}, ITEM | {"url": 5}, ITEM | {"url": None}, ITEM | {"seendate": None},
        ITEM | {"seendate": ["x"]}, ITEM | {"title": {"a": 1}}, ITEM | {"domain": ""},
        ITEM | {"title": "x\0"}, ITEM | {"title": "\ud800"}, ITEM | {"title": "x" * 200_000},
    ],
)  # fmt: skip
def test_an_article_that_makes_no_sense_is_set_aside_and_the_others_stand(
    server: VenueServer, bad: object
) -> None:
    server.route("/doc", {"articles": [bad, ITEM]})
    found, asides = ask(server)
    assert found == [FOUND]
    assert [(x.venue, x.kind, x.code) for x in asides] == [("gdelt", "article", "malformed")]


@pytest.mark.parametrize("answer", [[], 5, "x", {"articles": {}}, {"articles": "x"}])
def test_an_answer_that_is_no_list_is_one_clear_error(server: VenueServer, answer: Any) -> None:
    server.route("/doc", lambda _: reply(answer))
    with pytest.raises(ResearchError) as caught:
        ask(server)
    assert caught.value.code == "malformed"


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (status(500), "server_error"),
        (status(429, retry_after="0"), "rate_limited"),
        (HTML, "not_json"),
        (reply(b"The specified phrase is too short."), "not_json"),
        (TRUNCATED, "not_json"),
        (CUT, "unreachable"),
        (status(404), "missing"),
        (status(403), "refused"),
    ],
)
def test_every_fault_is_one_clear_error_after_a_bounded_number_of_tries(
    server: VenueServer, fault: Reply, code: str
) -> None:
    server.fail("/doc", fault, forever=True)
    with pytest.raises(ResearchError) as caught:
        ask(server)
    assert caught.value.code == code
    assert caught.value.hint.startswith("check evidence.gdelt.url")
    assert len(server.log) <= 4


def test_a_fault_that_passes_is_not_told(server: VenueServer) -> None:
    server.fail("/doc", status(429, retry_after="0"), status(503))
    assert ask(server) == ([FOUND], [])


def test_where_it_is_and_how_often_it_is_asked_is_not_frozen() -> None:
    settings = Settings.model_validate({})
    assert set(settings.model_dump()) == {"days", "words", "records", "language"}
    assert settings.per_second == 0.2
