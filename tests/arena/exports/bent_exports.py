"""Exports for tests: made, read, bent, and sealed again so that only what was bent is wrong."""

import csv
import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from arena.exports import FORMS, ExportFile, ExportManifest, ExportRequest, export
from arena.exports.manifest import NAME, read_manifest
from tests.rows import opened_to_read

MADE_AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
Line = dict[str, Any]


def exported(database: Path | str, place: Path, form: str = "csv", **more: Any) -> ExportManifest:
    """Export a record."""
    how = {name: more.pop(name) for name in ("force", "progress") if name in more}
    with opened_to_read(database) as engine:
        return export(engine, place, ExportRequest(FORMS[form], **more), MADE_AT, "1.0", **how)


def lines(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file, as a newcomer reads them."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def contents(folder: Path) -> dict[str, bytes]:
    """Return all files of an export but the manifest."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.name != NAME}


def bend(folder: Path, name: str, change: Callable[[list[list[str]]], object]) -> None:
    """Change the rows of a CSV file, the heading among them."""
    with (folder / name).open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    change(rows)
    with (folder / name).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


def bend_json(folder: Path, name: str, place: int, **values: Any) -> None:
    """Change some values of one row of a JSON file."""
    path = folder / name
    rows = path.read_text("utf-8").split("\n")
    rows[place] = json.dumps(json.loads(rows[place]) | values)
    path.write_text("\n".join(rows), "utf-8")


def seal(folder: Path, **claims: Any) -> None:
    """Write the manifest anew so that it fits the files as they are, with other claims if so wished."""
    manifest = read_manifest((folder / NAME).read_bytes())
    files = {
        name: ExportFile(file.rows, len(data), hashlib.sha256(data).hexdigest())
        for name, file in manifest.files.items()
        for data in [(folder / name).read_bytes()]
    }
    (folder / NAME).write_text(replace(manifest, files=files, **claims).text(), "utf-8")


@contextmanager
def nothing_is_left(folder: Path) -> Iterator[None]:
    """Check afterwards that the folder is as it was."""
    before = sorted(path.name for path in folder.iterdir())
    yield
    assert sorted(path.name for path in folder.iterdir()) == before
