"""What holds for every venue that is read over the network, over real HTTP, each in its own shape."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest

from markets.model import MarketId
from markets.venue import VenueError
from tests.builders import NOW, listed, usd
from tests.venue_server import kalshi as kalshi_wire
from tests.venue_server import manifold as manifold_wire
from tests.venue_server import many
from tests.venue_server import polymarket as polymarket_wire
from tests.venue_server.kalshi import ROOT
from tests.venue_server.polymarket import CLOB, GAMMA, RAIN_BOOK, token
from tests.venue_server.server import HTML, RESET, TRUNCATED, VenueServer, reply, status
from tests.venue_server.visit import Answer, kalshi, manifold, polymarket

Raw = dict[str, Any]


@dataclass(frozen=True)
class Shape:
    """A venue: what two of its markets are called, where it is asked for what, and how pages follow."""

    name: str
    names: tuple[str, str]
    visit: Callable[..., Answer[Any]]
    open: Callable[[str], Raw]
    ended: Callable[..., Raw]
    serve: Callable[[VenueServer, Sequence[Raw]], str]
    paths: Mapping[str, str]
    page: Callable[[Sequence[str], Any], Any]
    """A page of its list with these markets, and what the next one is to be asked with."""
    made: Callable[[int], Sequence[Raw]]

    @property
    def ids(self) -> list[MarketId]:
        return [MarketId(f"{self.name}:{name}") for name in self.names]

    def ask(self, question: str, url: str, ids: Sequence[MarketId] = (), **settings: Any) -> Answer[Any]:
        if question == "catalogue":
            return self.visit(url, lambda venue: listed(venue, NOW), **settings)
        asked = ids or self.ids[:1]
        return self.visit(url, lambda venue: getattr(venue, question)(NOW, asked), **settings)


def serve_kalshi(server: VenueServer, markets: Sequence[Raw]) -> str:
    books = {raw["ticker"]: kalshi_wire.BOOK for raw in markets if raw["status"] == "active"}
    events: dict[str, list[Raw]] = {}
    for raw in markets:
        events.setdefault(raw["event_ticker"], []).append(raw)
    nested = [kalshi_wire.an_event(*rows, ticker=ticker) for ticker, rows in events.items()]
    series = [kalshi_wire.a_series(ticker.partition("-")[0]) for ticker in events]
    return kalshi_wire.KalshiWire(nested, series, books).serve(server)


def serve_polymarket(server: VenueServer, markets: Sequence[Raw]) -> str:
    books = [RAIN_BOOK | {"asset_id": token(raw["id"])} for raw in markets]
    return polymarket_wire.PolymarketWire([*markets], books).serve(server)


def an_event(name: str) -> Raw:
    return kalshi_wire.an_event(kalshi_wire.a_market(name), ticker=name.rpartition("-")[0])


def flat(events: Sequence[Raw]) -> list[Raw]:
    return [raw for event in events for raw in event["markets"]]


SHAPES = [
    Shape(
        "kalshi",
        ("RAIN-26-A", "RAIN-26-B"),
        kalshi,
        kalshi_wire.a_market,
        kalshi_wire.an_end,
        serve_kalshi,
        {"catalogue": f"{ROOT}/events", "listings": f"{ROOT}/markets", "resolutions": f"{ROOT}/markets"},
        lambda names, cursor: {"events": [an_event(f"{name}-26-A") for name in names], "cursor": cursor},
        lambda number: flat(many.kalshi(number)),
    ),
    Shape(
        "polymarket",
        ("1001", "1002"),
        polymarket,
        polymarket_wire.a_market,
        polymarket_wire.an_end,
        serve_polymarket,
        dict.fromkeys(("catalogue", "listings", "resolutions"), f"{GAMMA}/markets/keyset"),
        lambda names, cursor: {"markets": [*map(polymarket_wire.a_market, names)], "next_cursor": cursor},
        many.polymarket,
    ),
    Shape(
        "manifold",
        ("rain", "snow"),
        manifold,
        manifold_wire.a_market,
        manifold_wire.an_end,
        lambda server, markets: manifold_wire.ManifoldWire([*markets]).serve(server),
        {"catalogue": "/v0/markets", "listings": "/v0/market/rain", "resolutions": "/v0/market/rain"},
        lambda names, _cursor: [*map(manifold_wire.a_market, names)],
        many.manifold,
    ),
]
POLYMARKET = SHAPES[1]
FAULTS = {
    "rate_limited": [status(429, retry_after="0")],
    "server_error": [status(500)],
    "not_json": [HTML, TRUNCATED],
    "unreachable": [RESET],
}


@pytest.fixture(params=SHAPES, ids=lambda shape: shape.name)
def shape(request: pytest.FixtureRequest) -> Shape:
    found: Shape = request.param
    return found


def names(answer: Answer[Any]) -> list[str]:
    return [listing.market.id for listing in answer.said]


def refusal(shape: Shape, question: str, url: str, **settings: Any) -> VenueError:
    with pytest.raises(VenueError) as raised:
        shape.ask(question, url, **settings)
    return raised.value


def test_every_page_is_read_once_in_its_order(server: VenueServer, shape: Shape) -> None:
    answer = shape.ask("catalogue", shape.serve(server, made := shape.made(450)))
    key = "ticker" if shape.name == "kalshi" else "id"
    open_now = [f"{shape.name}:{raw[key]}" for raw in made]
    assert (names(answer), answer.aside) == (open_now, [])
    asked = [each for each in server.log if each.path == shape.paths["catalogue"]]
    following = {"cursor", "after_cursor", "before"}
    assert (
        len({each.params[key] for each in asked for key in each.params.keys() & following}) == len(asked) - 1
    )


def test_chosen_markets_come_in_the_order_asked_for_and_only_ours(server: VenueServer, shape: Shape) -> None:
    first, second = shape.ids
    others = [
        f"sim:{shape.names[0]}",
        *(f"{shape.name}:{odd}" for odd in ("../x", "", "a,b", "1&closed=true")),
    ]
    url = shape.serve(server, [shape.open(name) for name in shape.names])
    answer = shape.ask("listings", url, [second, *map(MarketId, others), first, second])
    assert (names(answer), answer.aside) == ([second, first], [])
    server.log.clear()
    assert shape.ask("listings", url, [MarketId(other) for other in others]).said == []
    assert server.log == []


def test_one_that_has_vanished_is_told_and_the_others_answered(server: VenueServer, shape: Shape) -> None:
    first, second = shape.ids
    url = shape.serve(server, [shape.open(shape.names[0])])
    answer = shape.ask("listings", url, [second, first])
    assert (names(answer), answer.codes) == ([first], [(shape.names[1], "missing")])


def test_one_that_has_ended_is_listed_without_a_price_and_pays(server: VenueServer, shape: Shape) -> None:
    url = shape.serve(server, [shape.ended(shape.names[0]), shape.open(shape.names[1])])
    listed_now = shape.ask("listings", url, shape.ids)
    first, second = listed_now.said
    assert listed_now.aside == []
    assert (first.quote is None, second.quote is None) == (True, False)
    [end] = shape.ask("resolutions", url, shape.ids).said
    assert (end.market_id, end.version, end.payout) == (shape.ids[0], 1, usd(1))
    assert end.known_at < NOW


def test_an_end_that_is_corrected_or_taken_back_is_read_as_it_now_stands(
    server: VenueServer, shape: Shape
) -> None:
    name = shape.names[0]
    no = {"kalshi": ["0.0000"], "polymarket": ["0", "1"], "manifold": ["NO"]}[shape.name]
    stands = [shape.ended(name), shape.ended(name, *no), shape.open(name)]
    said = [shape.ask("resolutions", shape.serve(server, [raw])).said for raw in stands]
    assert [[end.payout for end in ends] for ends in said] == [[usd(1)], [0], []]


@pytest.mark.parametrize("question", ["catalogue", "listings", "resolutions"])
def test_trouble_that_passes_changes_nothing_and_one_that_stays_is_no_answer(
    server: VenueServer, shape: Shape, question: str
) -> None:
    first, second = shape.names
    url = shape.serve(server, [shape.open(first), shape.ended(second)])
    calm = shape.ask(question, url, shape.ids)
    path = shape.paths[question]
    for code, faults in (FAULTS | {"refused": [status(403)]}).items():
        for fault in faults:
            if code != "refused":
                server.fail(path, fault)
                assert shape.ask(question, url, shape.ids) == calm
            server.fail(path, fault, forever=True)
            assert refusal(shape, question, url).code == code
            server.mend()


@pytest.mark.parametrize("page", [{}, {"events": None, "markets": {}}, 7, None, "[]"])
def test_a_page_without_its_list_is_no_answer(server: VenueServer, shape: Shape, page: Any) -> None:
    url = shape.serve(server, [])
    for question in ("catalogue",) if shape.name == "manifold" else shape.paths:
        server.fail(shape.paths[question], reply(page), forever=True)
        assert refusal(shape, question, url).code == "bad_page"


def test_a_list_that_is_no_whole_one_is_incomplete(server: VenueServer, shape: Shape) -> None:
    """Where its pages repeat themselves, have no end, or name a next one that can't be asked for."""
    url = shape.serve(server, [])
    path = shape.paths["catalogue"]
    settings = {"newest": 3_000} if shape.name == "manifold" else {"pages": 6}
    numbers = map(str, count(2_000))
    nameless = [{"question": "?"}, None] if shape.name == "manifold" else shape.page(["1001"], 7)
    words = "none of a page's records has an id" if shape.name == "manifold" else "its next page is 7"
    for answer, ends, asked in (
        (lambda _: shape.page(["1001"], "again"), "page 2 only repeats what was on the pages before it", 2),
        (lambda _: shape.page([number := next(numbers)], number), "there are more pages after page 6", 6),
        (lambda _: nameless, words, 1),
    ):
        server.log.clear()
        server.route(path, answer)
        error = refusal(shape, "catalogue", url, **settings)
        assert error.code == "incomplete"
        assert ends in error.message
        assert server.counts[path] == asked


def test_a_record_that_comes_again_counts_once_and_is_told(server: VenueServer, shape: Shape) -> None:
    url = shape.serve(server, [])
    pages = iter([shape.page(["1"], "b"), shape.page(["1", "2"], ""), shape.page([], "")])
    server.route(shape.paths["catalogue"], lambda _: next(pages))
    answer = shape.ask("catalogue", url)
    assert (len(answer.said), answer.codes) == (2, [("page 2", "repeated")])


@pytest.mark.parametrize("code", [*FAULTS, "refused"])
def test_trouble_with_the_order_book_is_an_error_unless_it_shows_none(server: VenueServer, code: str) -> None:
    url = serve_polymarket(server, [polymarket_wire.a_market()])
    for path in (f"{CLOB}/books", f"{CLOB}/book"):
        server.fail(path, (FAULTS | {"refused": [status(403)]})[code][0], forever=True)
    if code == "refused":
        assert POLYMARKET.ask("listings", url).codes == [("1001", "no_book")]
    else:
        assert refusal(POLYMARKET, "listings", url).code == code
