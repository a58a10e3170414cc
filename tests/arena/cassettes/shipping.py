"""Makes the cassettes of the package from what others recorded, and published under the MIT License.

    python -m tests.arena.cassettes.shipping [SHARED_DATA]

The records are served on this machine and recorded from there by the program's own recorder. What nobody
recorded is answered as not there.
"""

import asyncio
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from arena.cassettes.cassette import Cassette
from arena.cassettes.proofs import SHIPPED
from arena.cassettes.recording import CassetteRecording
from arena.config import load
from tests.venue_server.kalshi import ROOT, KalshiWire
from tests.venue_server.manifold import ManifoldWire
from tests.venue_server.polymarket import CLOB, GAMMA, PolymarketWire
from tests.venue_server.recorded import with_its_event
from tests.venue_server.server import VenueServer, status, venue_server

Raw = dict[str, Any]
SKILL = "rokabytedev/prediction-market-skill@98d40df"
MANHATTAN = "guzus/dr-manhattan@7c15fad"
MANIFOLD = "bcongdon/PyManifold@438de9a"
SOURCE = (
    "Not recorded by this project. The records are from {}, under the MIT License, as that has recorded them "
    "on the day given; the pages around them were made here, and all else is answered as not there."
)


@dataclass(frozen=True)
class Shipped:
    """A cassette of the package: of which venue, as of when, whose, and from what records."""

    venue: str
    at: datetime
    source: str
    serve: Callable[[VenueServer, Path], None]

    @property
    def name(self) -> str:
        return f"{self.venue}-{self.at:%Y-%m-%d}.json"

    def made(self, folder: Path) -> Cassette:
        """Return the cassette as it is made of the records in a folder, its answers in order."""
        with TemporaryDirectory() as place, venue_server() as server:
            self.serve(server, folder / "venues" / self.venue)
            urls = {"url": server.url}
            if self.venue == "polymarket":
                urls = {"url": server.url + GAMMA, "book_url": server.url + CLOB}
            if self.venue == "kalshi":
                urls = {"url": server.url + ROOT}
            config = Path(place) / "config.yaml"
            settings = json.dumps(urls | {"per_second": 1000})
            text = f"markets: {{venue: {self.venue}, {self.venue}: {settings}}}\nagents: [{{kind: market}}]\n"
            config.write_text(text, "utf-8")
            recording = CassetteRecording(load(config), self.at)
            recording.cleaner.secrets = ()

            async def record() -> None:
                await recording.visit(self.venue)
                await recording.finish(SOURCE.format(self.source))

            asyncio.run(record())
            assert recording.cassette is not None
            [tape] = recording.cassette.venues
            exchanges = tuple(sorted(tape.exchanges, key=lambda exchange: exchange.question))
            tape = tape.model_copy(update={"exchanges": exchanges})
            return recording.cassette.model_copy(update={"venues": (tape,)})


def skill_polymarket(server: VenueServer, folder: Path) -> None:
    """Write markets of the events that were found, each with its event."""
    found: dict[str, Raw] = {}
    for path in sorted((folder / "pmskill-2026-08").glob("*.json")):
        page = read(path)
        for event in page.get("events", [page]):
            for raw in with_its_event(event):
                found.setdefault(raw["id"], raw)
    PolymarketWire(list(found.values())).serve(server)


def manhattan_polymarket(server: VenueServer, folder: Path) -> None:
    PolymarketWire(read(folder / "dr-manhattan" / "gamma_markets.json")).serve(server)


def skill_kalshi(server: VenueServer, folder: Path) -> None:
    """Write markets under the names of their event and series, of which no more was recorded."""
    events: dict[str, list[Raw]] = {}
    for raw in read(folder / "pmskill-2026-08" / "kalshi_markets_new_fields.json")["markets"]:
        events.setdefault(raw["event_ticker"], []).append(raw)
    made = []
    for name, markets in events.items():
        made.append({"event_ticker": name, "series_ticker": name.partition("-")[0], "markets": markets})
    KalshiWire(made, []).serve(server)
    for path in ("/series", "/markets/orderbooks", "/historical/cutoff", "/historical/markets"):
        server.route(ROOT + path, status(404))
    server.route(f"{ROOT}/series/", status(404))


def skill_manifold(server: VenueServer, folder: Path) -> None:
    manifold(server, read(folder / "pmskill-2026-08" / "manifold_search.json"))


def old_manifold(server: VenueServer, folder: Path) -> None:
    manifold(server, read(folder / "pymanifold-2022" / "markets_subset.json"))


def manifold(server: VenueServer, markets: list[Raw]) -> None:
    ManifoldWire(markets).serve(server)
    server.route("/v0/bets", status(404))


def read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


ALL = (
    Shipped("polymarket", datetime(2026, 8, 18, 23, 8, 28, tzinfo=UTC), SKILL, skill_polymarket),
    Shipped("polymarket", datetime(2026, 6, 21, 18, 26, 27, tzinfo=UTC), MANHATTAN, manhattan_polymarket),
    Shipped("kalshi", datetime(2026, 8, 17, tzinfo=UTC), SKILL, skill_kalshi),
    Shipped("manifold", datetime(2026, 8, 17, 23, tzinfo=UTC), SKILL, skill_manifold),
    Shipped("manifold", datetime(2022, 10, 10, 19, 30, 33, tzinfo=UTC), MANIFOLD, old_manifold),
)
"""The newest instant that records name, or else the day on which their collector says they were recorded."""


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("../shared/data")
    for each in ALL:
        (SHIPPED / each.name).write_text(each.made(folder).text(), "utf-8")


if __name__ == "__main__":
    main()
