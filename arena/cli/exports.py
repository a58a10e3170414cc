"""What `arena share export` wrote, and a record that was made from an export, for JSON and as pages."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from arena.cli.output import program, progress, typed, without_password
from arena.cli.page import Page
from arena.errors import count_text
from arena.exports import ExportManifest
from arena.exports.restore import restore, restore_rows


def export_data(place: Path, manifest: ExportManifest) -> dict[str, Any]:
    """Return what was written, and how much of it there is."""
    files = manifest.files.values()
    rows = sum(file.rows for file in files)
    size = sum(file.bytes for file in files)
    return {"export": place, "rows": rows, "bytes": size} | asdict(manifest)


def export_page(data: dict[str, Any]) -> Page:
    """Yield how much was written, and what can be done with it."""
    place = data["export"]
    size = f"{len(data['files']) - 1} tables, {count_text(data['rows'], 'row')}, {data['bytes']:,} bytes"
    explained = "Next: data.md in it explains every column; "
    yield f"{place}: {size} as {data['form']}"
    if data["whole"] and data["prompts"]:
        yield f"State hash {data['state_hash']}"
        yield f"{explained}{program()} admin restore {place} --database copy.db"
    else:
        yield "This is part of the record; only a complete export with prompts can be made a record again."
        yield f"{explained}{typed('board')}"


def restore_export(place: Path, address: str) -> dict[str, Any]:
    """Make a record from an export, and return what is in it."""
    with progress("Reading the export") as moved:
        manifest = restore(place, address, moved)
    return {
        "database": without_password(address),
        "export": place,
        "rows": restore_rows(manifest),
        "state_hash": manifest.state_hash,
        "cohorts": len(manifest.cohorts),
    }


def restored_export_page(data: dict[str, Any]) -> Page:
    """Yield what the record holds that was made from an export."""
    size = f"{count_text(data['cohorts'], 'cohort')}, {count_text(data['rows'], 'row')}"
    yield f"{data['export']} is now the record {data['database']}: {size}"
    yield f"State hash {data['state_hash']}, as exported; every balance was recomputed and agrees."
    yield f"Next: {program()} board --database {data['database']}"
