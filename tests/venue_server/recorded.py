"""What Polymarket once answered, as recorded: its markets as a list would hold them, its books and pages."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Raw = dict[str, Any]
AS_EVENTS = (
    "pmvl/polymarket_events.json",
    "pmskill-2026-08/poly_event_mixed_live_and_resolved.json",
    "pmskill-2026-08/poly_event_touch_ladder.json",
    "pmskill-2026-08/poly_event_ladder_nonmonotonic.json",
    "pmskill-2026-08/poly_event_up_down_binary.json",
    "pmskill-2026-08/poly_search_meta.json",
    "pmskill-2026-08/poly_search_nested_windows.json",
    "pmskill-2026-08/poly_search_polluted.json",
    "nautilus/gamma_event.json",
    "nautilus/search_response.json",
)
AS_MARKETS = (
    "pmvl/polymarket_markets.json",
    "pmvl/polymarket-market.json",
    "dr-manhattan/gamma_markets.json",
    "stone16-2026-06/gamma_markets_closed_batch.json",
    "nautilus/gamma_market.json",
    "nautilus/gamma_market_closed_binary_accepting_false.json",
    "nautilus/gamma_market_closed_binary_accepting_true.json",
    "nautilus/gamma_market_closed_nonbinary_legacy.json",
    "nautilus/gamma_market_closed_zero_zero_legacy.json",
    "nautilus/gamma_market_sports_market_map_handicap.json",
    "nautilus/gamma_market_sports_market_money_line.json",
)
BOOKS = ("pmvl/polymarket_book.json", "pmvl/polymarket-book.json", "nautilus-py/book.json")
ENDS = (
    "sppburke-2026-10/clob_market_5050.json",
    "sppburke-2026-10/clob_market_winner.json",
    "nautilus/clob_market_closed_binary_accepting_false.json",
    "nautilus/clob_market_closed_binary_accepting_true.json",
)
LIST_OF_ENDS = "nautilus-py/markets.json"


def markets(folder: Path) -> list[Raw]:
    """Return every market recorded from Gamma once, with its event and tags as in a list of markets."""
    found: dict[str, Raw] = {}
    for name in AS_MARKETS:
        for raw in _many(_read(folder, name)):
            found.setdefault(raw["id"], raw)
    for name in AS_EVENTS:
        for event in _many(_read(folder, name)):
            for raw in with_its_event(event):
                found.setdefault(raw["id"], raw)
    return list(found.values())


def with_its_event(event: Raw) -> Iterator[Raw]:
    """Yield the markets of an event, each with that and its tags as in a list of markets."""
    about = {key: value for key, value in event.items() if key not in ("markets", "tags")}
    for raw in event["markets"]:
        yield raw | {"events": [about], "tags": event.get("tags", [])}


def books(folder: Path) -> list[Raw]:
    """Return the recorded books."""
    return [_read(folder, name) for name in BOOKS]


def ends(folder: Path) -> list[Raw]:
    """Return the recorded pages of markets at the order book, the newest shape first."""
    return [*(_read(folder, name) for name in ENDS), *_read(folder, LIST_OF_ENDS)["data"]]


def past(folder: Path) -> list[Raw]:
    """Return the recorded prices of some market's past."""
    points: list[Raw] = _read(folder, "sppburke-2026-10/prices_history_first20.json")["history"]
    return points


def _read(folder: Path, name: str) -> Any:
    return json.loads((folder / "venues" / "polymarket" / name).read_text(encoding="utf-8"))


def _many(page: Any) -> Iterator[Raw]:
    """Yield the records of a page, of a search, or the one that it is."""
    search = isinstance(page, dict) and "events" in page and "id" not in page
    yield from page["events"] if search else page if isinstance(page, list) else [page]
