"""Manifold's wire on the local server, and records made by hand in its shape."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tests.venue_server.server import Asked, VenueServer, reply, status

Raw = dict[str, Any]
ONLY_ON_ITS_OWN_PAGE = ("textDescription", "description", "groupSlugs")


def ms(year: int, month: int, day: int, hour: int = 0) -> int:
    """Return a time as the venue writes it."""
    return int(datetime(year, month, day, hour, tzinfo=UTC).timestamp()) * 1_000


def a_market(name: str = "rain", **changes: Any) -> Raw:
    """Return an open market at 41%; a change to None leaves the field out."""
    raw = {
        "id": name,
        "question": "Will it rain?",
        "textDescription": "YES if it rains.",
        "outcomeType": "BINARY",
        "mechanism": "cpmm-1",
        "token": "MANA",
        "createdTime": ms(2025, 12, 1),
        "closeTime": ms(2026, 3, 1),
        "isResolved": False,
        "probability": 0.41000000000000003,
        "p": 0.5,
        "pool": {"NO": 83.3, "YES": 120.1},
        "volume": 1234.56,
    }
    return {name: value for name, value in (raw | changes).items() if value is not None}


def an_end(name: str = "rain", resolution: str | None = "YES", **changes: Any) -> Raw:
    """Return a market that has ended, with a probability beside its resolution as on the wire."""
    ended = {
        "isResolved": True,
        "resolution": resolution,
        "resolutionProbability": 0.97,
        "resolutionTime": ms(2026, 1, 2),
        "closeTime": ms(2026, 1, 2),
    }
    return a_market(name, **(ended | changes))


def a_bet(name: str, at: int, after: float, market: str = "rain", **changes: Any) -> Raw:
    return {"id": name, "contractId": market, "createdTime": at, "probAfter": after, "amount": 10} | changes


@dataclass
class ManifoldWire:
    """What the venue has, the newest first: markets of every kind, and bets on them."""

    markets: list[Any] = field(default_factory=list)
    bets: list[Any] = field(default_factory=list)

    def serve(self, server: VenueServer) -> str:
        """Answer from now on; where from."""
        server.route("/v0/markets", lambda asked: _page(self.markets, asked, brief=True))
        server.route("/v0/market/", self._market)
        server.route("/v0/slug/", self._slug)
        server.route("/v0/search-markets", self._search)
        server.route("/v0/bets", self._bets)
        return server.url

    def _market(self, asked: Asked) -> Any:
        name = asked.path.rpartition("/")[2]
        found = [raw for raw in self.markets if isinstance(raw, dict) and raw.get("id") == name]
        return reply(found[0]) if found else status(404)

    def _slug(self, asked: Asked) -> Any:
        name = asked.path.rpartition("/")[2]
        found = [raw for raw in self.markets if isinstance(raw, dict) and raw.get("slug") == name]
        return reply(found[0]) if found else status(404)

    def _search(self, asked: Asked) -> Any:
        """Answer a search by topic, with offset and limit."""
        start = int(asked.params["offset"])
        size = int(asked.params["limit"])
        found = [raw for raw in self.markets if asked.params["topicSlug"] in raw.get("groupSlugs", [])]
        return [_brief(raw) for raw in found[start : start + size]]

    def _bets(self, asked: Asked) -> Any:
        market = asked.params.get("contractId")
        first, last = (
            int(asked.params.get(name, n)) for name, n in (("afterTime", 0), ("beforeTime", 10**14))
        )
        found = [raw for raw in self.bets if raw["contractId"] == market]
        return _page([raw for raw in found if first < raw["createdTime"] < last], asked)


def _page(records: list[Any], asked: Asked, brief: bool = False) -> Any:
    """Answer with at most a thousand markets, those after the one named in `before`."""
    size = int(asked.params.get("limit", 500))
    before = asked.params.get("before")
    if not 1 <= size <= 1000:
        return status(400)
    names = [raw.get("id") if isinstance(raw, dict) else None for raw in records]
    if before is not None and before not in names:
        return status(400)
    start = 0 if before is None else names.index(before) + 1
    found = records[start : start + size]
    return [_brief(raw) for raw in found] if brief else found


def _brief(raw: Any) -> Any:
    if not isinstance(raw, dict):
        return raw
    return {name: value for name, value in raw.items() if name not in ONLY_ON_ITS_OWN_PAGE}
