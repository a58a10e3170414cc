"""`arena share export`, and `arena admin restore` from an export."""

from dataclasses import asdict
from pathlib import Path

from arena.cli.options import Options
from arena.cli.output import program, progress, typed, without_password
from arena.cli.page import Page
from arena.clock import now
from arena.cohorts.freeze import code_version
from arena.errors import count_text
from arena.exports import ExportManifest, ExportRequest, export, form_of
from arena.exports.restore import restore, restore_rows
from arena.record.schema.database import open_read_only


def write_export(chosen: Options, place: Path, wanted: ExportRequest, force: bool) -> None:
    """Write the record to plain files, and print their number and size."""
    with open_read_only(chosen.record()) as engine, progress("Writing the export") as moved:
        manifest = export(engine, place, wanted, now(), code_version(), force=force, progress=moved)

    rows = 0
    size = 0
    for file in manifest.files.values():
        rows += file.rows
        size += file.bytes
    data = {"export": place, "rows": rows, "bytes": size} | asdict(manifest)
    chosen.answer(data, export_page, place, manifest, rows, size)


def export_page(place: Path, manifest: ExportManifest, rows: int, size: int) -> Page:
    """Yield the number and size of the files, and what can be done with them."""
    ending = form_of(manifest.form).ending
    tables = sum(name.endswith(ending) for name in manifest.files)
    yield f"{place}: {tables} tables, {count_text(rows, 'row')}, {size:,} bytes as {manifest.form}"
    following = typed("board")
    if manifest.whole and manifest.prompts:
        yield f"State hash {manifest.state_hash}"
        following = f"{program()} admin restore {place} --database copy.db"
    else:
        yield "This is part of the record; only a complete export with prompts can be made a record again."
    yield "data.md in it explains every column."
    yield f"Next: {following}"


def restore_export(chosen: Options, place: Path) -> None:
    """Make a record from an export, and print what is in it."""
    address = chosen.record()
    with progress("Reading the export") as moved:
        manifest = restore(place, address, moved)

    database = without_password(address)
    rows = restore_rows(manifest)
    cohorts = len(manifest.cohorts)
    data = {"database": database, "export": place, "rows": rows, "state_hash": manifest.state_hash}
    size = f"{count_text(cohorts, 'cohort')}, {count_text(rows, 'row')}"
    lines = [
        f"{place} is now the record {database}: {size}",
        f"State hash {manifest.state_hash}, as exported; every balance was recomputed and agrees.",
        f"Next: {program()} board --database {database}",
    ]
    chosen.answer(data | {"cohorts": cohorts}, list, lines)
