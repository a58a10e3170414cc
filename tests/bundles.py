"""Bundles for tests: a small one written line by line, and a recording of a simulated world."""

import asyncio
import json
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

from markets.bundle import Sighting, write
from markets.model import MarketId
from markets.simulation.settings import Settings
from markets.venues.simulator import venue
from tests.builders import listed

HEADER = "venue,id,date,prob_yes"
ENDS_HEADER = "market,version,known_at,payout,source"
LONGEST_WAIT = 20
"""Weeks after a world's last one in which all its markets must have ended."""


def on(day: int, hour: int = 0, month: int = 1) -> datetime:
    """Return an hour of a day in 2026."""
    return datetime(2026, month, day, hour, tzinfo=UTC)


def page(market_id: str = "a", **more: Any) -> dict[str, Any]:
    """Return a line of markets.jsonl: a market of its own event, open in January 2026."""
    line = {
        "venue": "v",
        "id": market_id,
        "question": f"Will {market_id} happen?",
        "event": f"event of {market_id}",
    }
    return line | {"open": "2026-01-01", "close": "2026-02-01", "resolved": False} | more


def ended(day: str, payout: object) -> dict[str, Any]:
    """Return the part of a line that says how a market ended."""
    return {"resolved": True, "resolution": payout, "resolution_date": day}


def a_bundle(
    folder: Path,
    pages: Iterable[Mapping[str, Any] | str] = (page(),),
    prices: Iterable[str] = ("v,a,2026-01-03,0.4",),
    books: Iterable[Mapping[str, Any] | str] = (),
    ends: Iterable[str] = (),
    header: str = HEADER,
) -> Path:
    """Write a bundle of these lines; a file without lines of its own is written only where it is needed."""
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "markets.jsonl", [_json(line) for line in pages])
    _write(folder / "prices.csv", [header, *prices])
    if lines := [_json(line) for line in books]:
        _write(folder / "books.jsonl", lines)
    if rows := list(ends):
        _write(folder / "resolutions.csv", [ENDS_HEADER, *rows])
    return folder


def _json(line: Mapping[str, Any] | str) -> str:
    return line if isinstance(line, str) else json.dumps(line, ensure_ascii=False)


def _write(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def sightings(settings: Settings, every: timedelta = timedelta(days=1)) -> list[Sighting]:
    """Return what a recorder sees of a simulated world at this interval, until all has ended."""
    world = venue(settings)
    begun = now = datetime.combine(settings.start, time(), UTC)
    seen: dict[MarketId, None] = {}
    found: list[Sighting] = []
    while now < begun + timedelta(weeks=settings.weeks) or len(_ended(found[-1])) < len(seen):
        assert now < begun + timedelta(weeks=settings.weeks + LONGEST_WAIT)
        seen |= dict.fromkeys(listing.market.id for listing in asyncio.run(listed(world, now)))
        listings = asyncio.run(world.listings(now, list(seen)))
        found.append(Sighting(now, tuple(listings), tuple(asyncio.run(world.resolutions(now, list(seen))))))
        now += every
    return found


def _ended(look: Sighting) -> set[MarketId]:
    return {end.market_id for end in look.resolutions}


def simulated(folder: Path, **settings: Any) -> Path:
    """Return a recording of a small simulated world, made day by day."""
    small = {"weeks": 8, "markets": 30, "events": 12, "start": date(2026, 1, 4)}
    write(folder, sightings(Settings.model_validate(small | settings)))
    return folder
