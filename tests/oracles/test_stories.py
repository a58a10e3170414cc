"""Stories held against a hundred markets, whose groups were checked by eye as the rule was made.

`stories.csv` names the story of each market that was judged, and of all that belong to it. A market is
wrong where the others of its computed story are not those of its label.
"""

import csv
import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from markets.bundle.read import read
from markets.model import NEVER
from markets.stories import subject
from markets.venues.wire.kalshi_records import story as kalshi_story
from markets.venues.wire.polymarket_records import event_of_market, story_of

LABELS = Path(__file__).parent / "stories.csv"
MOST_WRONG = 3


@pytest.fixture(scope="module")
def computed(shared_data: Path) -> dict[str, dict[str, str]]:
    """The story of each market, by the folder that it is from."""
    venues = shared_data / "venues"
    bundle = read(shared_data / "replay" / "polymarket-daily")
    return {
        "replay": {market: record.pages[0].story for market, record in bundle.markets.items()},
        "kalshi": {name: kalshi_story(name) or name for name in _tickers(venues / "kalshi")},
        "polymarket": {
            str(record["id"]): _story(record, end) for record, end in _asked(venues / "polymarket")
        },
    }


def test_at_most_three_of_a_hundred_markets_are_in_a_wrong_story(computed: dict[str, dict[str, str]]) -> None:
    with LABELS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    judged = [(row["source"], row["market"]) for row in rows if row["judged"] == "yes"]
    labelled = {(row["source"], row["market"]): row["story"] for row in rows}
    assert len(judged) == 100
    wrong = [who for who in judged if _mates(computed[who[0]], who[1]) != _labelled_mates(labelled, who)]
    assert len(wrong) <= MOST_WRONG, wrong


def _mates(stories: Mapping[str, str], market: str) -> set[str]:
    return {other for other, story in stories.items() if story == stories[market]}


def _labelled_mates(labelled: Mapping[tuple[str, str], str], who: tuple[str, str]) -> set[str]:
    mine = (who[0], labelled[who])
    return {market for (source, market), story in labelled.items() if (source, story) == mine}


def _story(record: dict[str, Any], end: datetime) -> str:
    """The story by the record's event, if it comes with one; else by the question."""
    events = event_of_market(record.get("events"))
    return story_of(events, "", end) or events.event if events else subject(record["question"], end)


def _tickers(folder: Path) -> set[str]:
    texts = (path.read_text(encoding="utf-8") for path in folder.rglob("*.json"))
    return {name for text in texts for name in re.findall(r'"event_ticker": *"([A-Z0-9-]+)"', text)}


def _asked(folder: Path) -> Iterator[tuple[dict[str, Any], datetime]]:
    for path in sorted(folder.rglob("*.json")):
        for record in _records(json.loads(path.read_text(encoding="utf-8"))):
            end = record.get("endDate")
            yield record, datetime.fromisoformat(end) if end else NEVER


def _records(found: Any) -> Iterator[dict[str, Any]]:
    if isinstance(found, dict) and {"id", "question", "outcomes"} <= found.keys():
        yield found
    for inner in found.values() if isinstance(found, dict) else found if isinstance(found, list) else ():
        yield from _records(inner)
