"""Polymarket's two wires on the local server, with their quirks, and records made by hand in their shape."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from tests.serving import Reply
from tests.venue_server.server import Asked, VenueServer, status

Raw = dict[str, Any]
GAMMA, CLOB = "/gamma", "/clob"
A_PAGE, MOST_BOOKS, MOST_HISTORIES = 100, 500, 20
MOST_SECONDS = 15 * 86_400
"""How much of the past one answer holds."""


def token(name: str, outcome: str = "Yes") -> str:
    """Return the order book's name of an outcome: digits, and more than a number holds."""
    return f"{9 if outcome == 'Yes' else 8}{name.zfill(76)}"


def condition(name: str) -> str:
    """Return the order book's name of a market."""
    return f"0x{name.zfill(64)}"


def a_market(name: str = "1001", outcomes: Sequence[str] = ("Yes", "No"), **changes: Any) -> Raw:
    """Return an open market that costs 40 to 42 cents; a change to None leaves the field out."""
    raw = {
        "id": name,
        "question": "Will it rain?",
        "conditionId": condition(name),
        "description": "This market resolves to Yes if it rains.",
        "outcomes": json.dumps(outcomes),
        "outcomePrices": json.dumps(["0.41" if outcome == "Yes" else "0.59" for outcome in outcomes]),
        "clobTokenIds": json.dumps([token(name, outcome) for outcome in outcomes]),
        "volume": "1234.5600000000001",
        "startDate": "2025-12-01T10:00:00.5Z",
        "createdAt": "2025-12-01T09:00:00.123456Z",
        "endDate": "2026-03-01T10:00:00Z",
        "active": True,
        "closed": False,
        "archived": False,
        "acceptingOrders": True,
        "enableOrderBook": True,
        "orderPriceMinTickSize": 0.01,
        "orderMinSize": 5,
        "bestBid": 0.4,
        "bestAsk": 0.42,
        "lastTradePrice": 0.41,
        "takerBaseFee": 1000,
        "feesEnabled": True,
        "feeSchedule": {"exponent": 1, "rate": 0.04, "takerOnly": True, "rebateRate": 0.25},
        "negRiskOther": False,
        "umaResolutionStatuses": "[]",
        "events": [{"id": f"7{name}", "title": "Rain", "negRiskAugmented": False}],
        "tags": [{"id": "84", "label": "Weather", "slug": "weather"}],
    }
    return {name: value for name, value in (raw | changes).items() if value is not None}


def an_end(name: str = "1001", yes: str = "1", no: str = "0", **changes: Any) -> Raw:
    """Return a market that the oracle is done with; closed ones are `active` still."""
    ended: Raw = {
        "closed": True,
        "acceptingOrders": False,
        "outcomePrices": json.dumps([yes, no]),
        "umaResolutionStatus": "resolved",
        "closedTime": "2026-01-02 03:04:05+00",
        "bestBid": None,
        "bestAsk": 0.001,
    }
    return a_market(name, **(ended | changes))


def a_book_end(name: str = "1001", won: str | None = "Yes", half: bool = False, **changes: Any) -> Raw:
    """Return a market's page at the order book."""
    return {
        "condition_id": condition(name),
        "closed": True,
        "is_50_50_outcome": half,
        "tokens": [
            {"token_id": token(name, outcome), "outcome": outcome, "price": 0.5, "winner": outcome == won}
            for outcome in ("Yes", "No")
        ],
    } | changes


def a_book(
    name: str, bids: Sequence[tuple[str, str]], asks: Sequence[tuple[str, str]], **changes: Any
) -> Raw:
    """Return a book of Yes, in the order given; on the wire the worst level comes first."""
    sides = {"bids": bids, "asks": asks}
    return {
        "market": condition(name),
        "asset_id": token(name),
        **{
            side: [{"price": price, "size": size} for price, size in levels] for side, levels in sides.items()
        },
    } | changes


RAIN_BOOK = a_book(
    "1001",
    bids=[("0.01", "900"), ("0.39", "200"), ("0.4", "100.25")],
    asks=[("0.99", "800"), ("0.43", "300"), ("0.42", "50.5")],
)
SNOW_BOOK = a_book("1002", bids=[("0.40", "900")], asks=[("0.42", "900")])
NAMES = ("1001", "1002")
"""The markets of these two books."""


@dataclass
class PolymarketWire:
    """What the venue has: markets, books and pages at the order book, prices of the past by token.

    `stuck` repeats page one for ever.
    """

    markets: list[Any] = field(default_factory=list)
    books: list[Any] = field(default_factory=list)
    ends: list[Any] = field(default_factory=list)
    past: dict[str, list[Any]] = field(default_factory=dict)
    stuck: bool = False
    many_books: bool = True

    def end_all(self, **changes: Any) -> None:
        """End the two markets of `NAMES` with YES."""
        self.markets = [an_end(name, **changes) for name in NAMES]
        self.ends = [a_book_end(name) for name in NAMES]

    def serve(self, server: VenueServer) -> str:
        """Answer requests from now on, and return the server's address."""
        server.route(f"{GAMMA}/markets/keyset", self._by_cursor)
        server.route(f"{GAMMA}/tags/slug/", self._tag)
        server.route(f"{GAMMA}/events/slug/", self._event)
        server.route(f"{CLOB}/books", self._books)
        server.route(f"{CLOB}/book", self._book)
        server.route(f"{CLOB}/markets/", self._end)
        server.route(f"{CLOB}/prices-history", self._history)
        server.route(f"{CLOB}/batch-prices-history", partial(self._histories, server))
        return server.url

    def _by_cursor(self, asked: Asked) -> Any:
        """Answer by `after_cursor` alone, with many ids to a question; the last page has no next one."""
        size = int(asked.params.get("limit", 20))
        after = asked.params.get("after_cursor")
        if size > A_PAGE or "offset" in asked.query:
            return status(422)
        found = self._chosen(asked)
        start = int(after.removeprefix("after:")) if after and not self.stuck else 0
        page = {"markets": found[start : start + size]}
        return page | {"next_cursor": f"after:{start + size}"} if start + size < len(found) else page

    def _chosen(self, asked: Asked) -> list[Any]:
        """Open markets, or closed ones: never both. Tags are there for those who ask for them."""
        closed = asked.params.get("closed") == "true"
        names = asked.query.get("id")
        found = [raw for raw in self.markets if (_get(raw, "closed") is True) is closed]
        if (slugs := asked.query.get("slug")) is not None:
            found = [raw for raw in found if _get(raw, "slug") in slugs]
        if tag := asked.params.get("tag_id"):
            found = [raw for raw in found if tag in {f"tag-{each['slug']}" for each in _get(raw, "tags")}]
        if (soonest := asked.params.get("end_date_min")) is not None:
            found = [x for x in found if soonest <= str(_get(x, "endDate") or "~")]
        if (opened := asked.params.get("start_date_max")) is not None:
            found = [x for x in found if str(_get(x, "startDate") or "") <= opened]
        if asked.params.get("order") == "volumeNum":
            found = sorted(found, key=_volume, reverse=asked.params.get("ascending") == "false")
        found = found if names is None else [raw for raw in found if _get(raw, "id") in names]
        least = float(asked.params.get("volume_num_min", 0))
        latest = asked.params.get("end_date_max", "~")
        found = [x for x in found if least <= _volume(x) and str(_get(x, "endDate") or "") <= latest]
        if (liquid := asked.params.get("liquidity_num_min")) is not None:
            found = [x for x in found if float(_get(x, "liquidityNum") or 0) >= float(liquid)]
        return found if asked.params.get("include_tag") == "true" else [_untagged(raw) for raw in found]

    def _tag(self, asked: Asked) -> Any:
        name = asked.path.rpartition("/")[2]
        known = {tag["slug"] for raw in self.markets for tag in _get(raw, "tags") or []}
        return {"id": f"tag-{name}"} if name in known else status(404)

    def _event(self, asked: Asked) -> Any:
        name = asked.path.rpartition("/")[2]
        found = [raw for raw in self.markets if _get(raw, "events")[0].get("slug") == name]
        return {"slug": name, "markets": [{"id": raw["id"]} for raw in found]} if found else status(404)

    def _books(self, asked: Asked) -> Any:
        """Answer with books of many tokens, silently leaving out unknown ones."""
        if not self.many_books or len(asked.body) > MOST_BOOKS:
            return status(400)
        wanted = [item["token_id"] for item in asked.body]
        return [book for book in self.books if _get(book, "asset_id") in wanted]

    def _book(self, asked: Asked) -> Any:
        found = [book for book in self.books if _get(book, "asset_id") == asked.params["token_id"]]
        return found[0] if found else status(404)

    def _end(self, asked: Asked) -> Any:
        name = asked.path.rpartition("/")[2]
        found = [end for end in self.ends if _get(end, "condition_id") == name]
        return found[0] if found else status(404)

    def _history(self, asked: Asked) -> Any:
        start = int(asked.params["startTs"])
        end = int(asked.params["endTs"])
        if end - start > MOST_SECONDS:
            return status(400)
        points = self.past.get(asked.params["market"], [])
        return {"history": [point for point in points if start <= point["t"] <= end]}

    def _histories(self, server: VenueServer, asked: Asked) -> Any:
        """Answer with the history of each as the route for one does; a refused one spoils all."""
        tokens = asked.body["markets"]
        one = server._routes[f"{CLOB}/prices-history"]
        names = {"startTs": "start_ts", "endTs": "end_ts", "fidelity": "fidelity"}
        query = {name: [str(asked.body[key])] for name, key in names.items()}
        found = {each: one(Asked(asked.path, {**query, "market": [each]})) for each in tokens}
        if len(tokens) > MOST_HISTORIES or any(isinstance(each, Reply) for each in found.values()):
            return status(400)
        return {"history": {each: answer["history"] for each, answer in found.items()}}


def _get(raw: Any, key: str) -> Any:
    return raw.get(key) if isinstance(raw, dict) else None


def _volume(raw: Any) -> float:
    try:
        return max(float(_get(raw, "volume")), 0.0)
    except (TypeError, ValueError):
        return 0.0


def _untagged(raw: Any) -> Any:
    return {name: value for name, value in raw.items() if name != "tags"} if isinstance(raw, dict) else raw


def rain_and_snow(**changes: Any) -> PolymarketWire:
    """Return a wire with two open markets and their books."""
    return PolymarketWire([a_market(name, **changes) for name in NAMES], [RAIN_BOOK, SNOW_BOOK])
