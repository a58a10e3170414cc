"""Small sources of each public form, made by hand."""

import json
from collections.abc import Mapping
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from arena.forms.model import SourceFile


def json_file(name: str, value: object) -> SourceFile:
    """Return a file of JSON over several lines."""
    return SourceFile(name, json.dumps(value, indent=1).encode())


def lines_file(name: str, *rows: object) -> SourceFile:
    """Return a file with a value of JSON on each line."""
    return SourceFile(name, "".join(json.dumps(row) + "\n" for row in rows).encode())


def zip_file(name: str, members: Mapping[str, Any]) -> SourceFile:
    """Return a ZIP whose members are texts, or are written as JSON."""
    written = BytesIO()

    with ZipFile(written, "w", ZIP_DEFLATED) as packed:
        for member, value in members.items():
            packed.writestr(member, value if isinstance(value, str) else json.dumps(value))

    return SourceFile(name, written.getvalue())


def arena_row(entrant: str, slug: str, **fields: object) -> dict[str, object]:
    """Return a line of a Forecast Arena; `fields` replace what it says otherwise."""
    row = {
        "ts": "2026-03-01T12:00:00Z",
        "slug": slug,
        "event_id": "7",
        "question": f"Will {slug} happen?",
        "end_date": "2026-03-09T00:00:00Z",
        "market_prob": 0.6,
        "entrant": entrant,
        "model": "maker/model",
        "prob": 0.5,
        "rationale": "",
        "status": "ok",
    }
    return row | fields


def arena_board() -> list[SourceFile]:
    """Return a board of two markets that ended, one that closed without an outcome, and one open."""
    skipped = {"prob": None, "status": "skip", "error": "no answer"}
    rows = [
        arena_row("owl", "rain", prob=0.8, rationale="clouds"),
        arena_row("owl", "snow", market_prob=0.3, prob=0.1, event_id=None),
        arena_row("owl", "hail", prob=0.4, event_id="8"),
        arena_row("hare", "rain", prob=0.9),
        arena_row("hare", "snow", market_prob=0.3, event_id="9", **skipped),
        arena_row("crowd", "rain", model=None, prob=0.6),
        arena_row("crowd", "snow", model=None, prob=0.3, market_prob=0.3),
        arena_row("coin", "rain", model=None),
    ]
    outcomes = {
        "rain": {"outcome": 1, "resolution_source": "uma", "resolved_at": "2026-03-09T01:00:00Z"},
        "snow": {"outcome": 0, "resolution_source": "uma", "resolved_at": "2026-03-09T02:00:00Z"},
        "hail": {"outcome": None, "resolution_source": "closed_unresolvable", "resolved_at": None},
    }
    return [
        lines_file("board/forecasts/2026-03-01.jsonl", *rows),
        json_file("board/resolutions.json", outcomes),
        SourceFile("board/README.md", b"# A board"),
    ]
