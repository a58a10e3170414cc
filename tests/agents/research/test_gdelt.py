"""GDELT, played by a server on this machine: what it is asked, what is made of its answers and its faults."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from agents.evidence import FoundArticle, RefusedQueryError, ResearchError
from agents.research.gdelt import Gdelt, Settings, read_answer, research
from markets.model import Market
from markets.venue import QuarantinedRecord
from markets.venues.wire.http import HttpClient
from tests.builders import NOW, a_market
from tests.serving import Reply
from tests.venue_server.server import HTML, TRUNCATED, VenueServer, reply, status, venue_server
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
    server: VenueServer, market: Market | str = FED, timeout: float = 1.0, **settings: Any
) -> tuple[list[FoundArticle], list[QuarantinedRecord]]:
    """Return what GDELT has on a market or for some words, and what was withheld."""
    asides: list[QuarantinedRecord] = []

    async def asked() -> list[FoundArticle]:
        chosen = Settings.model_validate({"url": server.url} | settings)
        http = HttpClient(chosen.url, per_second=1e3, timeout=timeout, sleep=at_once, parse=read_answer)
        source = Gdelt(chosen, http, asides.append)
        try:
            if isinstance(market, str):
                return await source.search(market, NOW)
            return await source.articles(market, NOW)
        finally:
            await source.close()

    return asyncio.run(asked()), asides


def test_a_source_is_made_from_its_settings_and_where_it_is_is_not_frozen(server: VenueServer) -> None:
    settings = Settings.model_validate({"url": server.url})
    source = research(settings)

    async def asked() -> list[FoundArticle]:
        try:
            return await source.articles(FED, NOW)
        finally:
            await source.close()

    assert asyncio.run(asked()) == [FOUND]
    assert set(settings.model_dump()) == {"days", "words", "records", "language"}


def test_it_is_asked_for_the_questions_words_over_the_days_before(server: VenueServer) -> None:
    assert ask(server) == ([FOUND], [])
    assert dict(server.log[0].params) == {
        "query": '(fed OR "Federal Reserve") cut interest rates sourcelang:english',
        "mode": "artlist",
        "format": "json",
        "sort": "datedesc",
        "maxrecords": "50",
        "startdatetime": "20251205120000",
        "enddatetime": "20260104120000",
    }


QUESTIONS = {
    "Xi Jinping out in 2026?": '"Xi Jinping" 2026',
    "Will Xi Jinping Be Out In 2026?": '"Xi Jinping" 2026',
    "Will BTC reach $120k in March?": '(bitcoin OR BTC) ("120,000" OR 120k)',
    "Will Bitcoin dip to $45,000 by December 31, 2026?": '(bitcoin OR BTC) ("45,000" OR 45000)',
    "Bitcoin above ___ on March 5?": "(bitcoin OR BTC) price",
    "Bitcoin Up or Down - March 5, 2AM ET": "(bitcoin OR BTC) price",
    "Will the S&P 500 close above 7,000?": '"S&P 500" ("7,000" OR 7000)',
    "SPX above 7,000 on December 31?": '"S&P 500" ("7,000" OR 7000)',
    "Will TSLA close above $400?": "tesla 400",
    "Will Apple be worth $4T by the end of June?": 'Apple "4 trillion"',
    "Will WTI crude fall below $55?": '"crude oil"',
    "Fed decreases rates by 25 bps in March?": '(fed OR "Federal Reserve") "25 basis points" decreases rates',
    "Will UK inflation exceed 3.5% in 2026?": '("United Kingdom" OR Britain) "3.5 percent" 2026 inflation',
    "Will U.S. GDP shrink in Q1 2026?": '"United States" ("gross domestic product" OR GDP) 2026 shrink',
    "Will the Bank of England cut rates?": '"Bank of England" cut rates',
    "Will María Corina Machado enter Venezuela by April 30?": '"María Corina Machado" Venezuela enter',
    "Lakers vs. Celtics (YES: Lakers, NO: Celtics)": "Lakers Celtics",
    "Man City vs. Arsenal: O/U 2.5": '"Man City" Arsenal',
    "Will the New York Yankees win the 2026 World Series?": '"New York Yankees" "World Series" 2026',
    "Will Fiorentina win the 2025–26 Serie A?": "Fiorentina Serie (2025 OR 2026)",
    "Will Finland win Eurovision 2026?": "Finland Eurovision 2026",
    "Will Emma Stone win Best Actress at the 98th Oscars?": '"Emma Stone" "Best Actress" Oscars',
    'Will "One Battle After Another" win Best Picture?': '"One Battle After Another" "Best Picture"',
    "Will Taylor Swift's album sell 2 million?": '"Taylor Swift" "2 million" album sell',
    "Will GPT-6 be released before July 2026?": '"GPT-6" 2026',
    "Will OpenAI have the top AI model on December 31?": 'OpenAI "artificial intelligence" model',
    "Will Claude 7 come out by March 31, 2027?": '"Claude 7" come',
    "Russia x Ukraine ceasefire by March 31, 2026?": "Russia Ukraine ceasefire",
    "US forces in Yemen in 2026?": '"United States" Yemen 2026 forces',
    "Will the GOP hold the House after the 2026 midterms?": "republicans House 2026 midterms",
    "Will SCOTUS overturn the tariffs?": '"Supreme Court" overturn tariffs',
    "Will the highest temperature in NYC be 54°F or below on March 3?": '"New York City" highest temperature',
    "Will SpaceX launch Starship 12 in May?": 'SpaceX "Starship 12" launch',
    "Will a magnitude 8 earthquake strike Japan?": "Japan magnitude earthquake strike",
    "Will Elon Musk post 200-219 tweets this week?": '"Elon Musk" 200 219 post',
    "Will ETH be above $5,000 on Friday?": '(ethereum OR ether) ("5,000" OR 5000)',
    "Will AC/DC release a new album?": '"AC/DC" new album',
    "Will AT&T buy Lumen in 2026?": '"AT&T" Lumen 2026 buy',
    "Will the 9/11 trial begin?": '"9/11" trial begin',
    "Will Moody's downgrade France?": '"Moody\'s" France downgrade',
    "Will McDonald’s close stores in Russia?": '"McDonald\'s" Russia stores',
    "Will the US/EU deal be signed on 9/11?": '"United States" "European Union" deal signed',
    "Man City vs. Leeds: AM/PM and/or O/U 2.5": '"Man City" Leeds',
    "Will C# overtake C++ in 2026?": '"C#" "C++" 2026 overtake',
    "Will F# 11 or C#/.NET 11 ship?": '"F# 11" "C#" ".NET 11" ship',
    "Will ASP.NET or Node.js 30 drop the .com domain?": '"ASP.NET" "Node.js 30" ".com" domain',
    "Will Notepad++ and “F# in Action” sell?": '"Notepad++" "F# in Action" sell',
    "Will #MeToo be #1 (up .5%) .Then in F#m?": 'MeToo "5 percent"',
    "Netanyahu out before July?": 'Netanyahu "Prime Minister of Israel"',
}
"""Questions as venues ask them, and what headlines are searched for."""
NETANYAHU = "This market resolves to Yes if Netanyahu ceases to be Prime Minister of Israel before July 1."


@pytest.mark.parametrize("question", QUESTIONS)
def test_names_tickers_figures_years_and_phrases_are_searched_for(server: VenueServer, question: str) -> None:
    rules = NETANYAHU if "Netanyahu" in question else ""
    ask(server, a_market(question=question, rules=rules), language="")
    assert server.log[0].params["query"] == QUESTIONS[question]


@pytest.mark.parametrize("question", ["Will it rain tomorrow?", "Over 2.5 goals?", "Will it be?"])
def test_a_single_common_word_is_not_searched_for(server: VenueServer, question: str) -> None:
    assert ask(server, a_market(question=question)) == ([], [])
    assert server.log == []


def test_where_all_terms_find_nothing_fewer_are_searched_for(server: VenueServer) -> None:
    answers = iter([reply({}), reply({"articles": [ITEM]})])
    server.route("/doc", lambda _: next(answers))
    assert ask(server, a_market(question="Will Xi Jinping be out in 2026?"), language="") == ([FOUND], [])
    assert [request.params["query"] for request in server.log] == ['"Xi Jinping" 2026', '"Xi Jinping"']


@pytest.mark.parametrize(
    "said",
    [
        "The specified phrase is too short.",
        "Your query was too short or too long.\n",
        "Timespan is too short.",
    ],
)
def test_a_query_that_is_refused_is_asked_once_and_concerns_its_market(
    server: VenueServer, said: str
) -> None:
    server.route("/doc", lambda _: reply(said.encode()))
    with pytest.raises(RefusedQueryError) as caught:
        ask(server)
    assert (caught.value.code, len(server.log)) == ("refused_query", 1)
    assert said.strip() in caught.value.message


@pytest.mark.parametrize(
    ("sent", "title"),
    [
        (r"AT\&T\'s C:\path", r"AT\&T\'s C:\path"),
        (r"50\% off \\ \u00e9 \u12", r"50\% off \ é \u12"),
        (r"a \"word\" \/ b", 'a "word" / b'),
        ("one\ttwo", "one\ttwo"),
    ],
)
def test_stray_backslashes_and_control_characters_are_read(
    server: VenueServer, sent: str, title: str
) -> None:
    lines = f'{{"articles": [{{"url": "https://a.example", "title": "{sent}", "domain": "a.example",'
    server.route("/doc", lambda _: reply(f'{lines} "seendate": "20260103T101500Z"}}]}}'.encode()))
    ((article,), asides) = ask(server)
    assert (article.title, asides, len(server.log)) == (title, [], 1)


def test_nothing_from_after_the_cutoff_is_asked_for(server: VenueServer) -> None:
    ask(server, a_market(question=FED.question, closes_at=NOW + timedelta(hours=3)), days=1)
    assert server.log[0].params["startdatetime"] == "20260103120000"
    assert server.log[0].params["enddatetime"] == "20260103235959"
    assert ask(server, a_market(question=FED.question, closes_at=NOW - timedelta(days=9)), days=1) == ([], [])
    assert len(server.log) == 1


def test_settings_say_how_it_is_asked(server: VenueServer) -> None:
    ask(server, words=2, language="", records=9)
    assert server.log[0].params["query"] == '(fed OR "Federal Reserve") cut'
    assert server.log[0].params["maxrecords"] == "9"


def test_no_articles_is_an_answer(server: VenueServer) -> None:
    answers: list[dict[str, list[str]]] = [{}, {"articles": []}]
    for empty in answers:
        server.route("/doc", empty)
        assert ask(server) == ([], [])


@pytest.mark.parametrize(
    "bad",
    [5, {}, ITEM | {"url": None}, ITEM | {"seendate": ["x"]}, ITEM | {"title": {}}, ITEM | {"domain": ""},
     ITEM | {"title": "\ud800"}],
)  # fmt: skip
def test_an_article_that_makes_no_sense_is_set_aside_and_the_others_stand(
    server: VenueServer, bad: object
) -> None:
    server.route("/doc", {"articles": [bad, ITEM]})
    found, asides = ask(server)
    assert found == [FOUND]
    assert [(x.venue, x.kind, x.code) for x in asides] == [("gdelt", "article", "malformed")]


@pytest.mark.parametrize("answer", [[], "x", {"articles": {}}])
def test_an_answer_that_is_no_list_is_one_clear_error(server: VenueServer, answer: Any) -> None:
    server.route("/doc", lambda _: reply(answer))
    with pytest.raises(ResearchError) as caught:
        ask(server)
    assert caught.value.code == "malformed"


def test_it_is_searched_by_the_words_of_a_model(server: VenueServer) -> None:
    assert ask(server, "strike of Port workers in Lisbon", days=7) == ([FOUND], [])
    asked = server.log[0].params
    assert asked["query"] == "Port Lisbon strike workers sourcelang:english"
    assert (asked["startdatetime"], asked["enddatetime"]) == ("20251228120000", "20260104120000")
    assert ask(server, "of the") == ([], [])


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (status(500), "server_error"),
        (HTML, "not_json"),
        (reply(b"Please limit requests to one every 5 seconds."), "rate_limited"),
        (TRUNCATED, "not_json"),
        (status(404), "missing"),
    ],
)
def test_a_fault_is_one_clear_error_after_a_bounded_number_of_tries(
    server: VenueServer, fault: Reply, code: str
) -> None:
    server.fail("/doc", fault, forever=True)
    with pytest.raises(ResearchError) as caught:
        ask(server, timeout=0.5)
    assert caught.value.code == code
    assert caught.value.hint.startswith("check evidence.gdelt.url")
    assert len(server.log) <= 4


def test_a_fault_that_passes_is_not_told(server: VenueServer) -> None:
    server.fail("/doc", status(429, retry_after="0"), status(503))
    assert ask(server) == ([FOUND], [])
