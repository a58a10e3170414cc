"""`arena share export`, and `arena admin restore` from an export."""

from dataclasses import asdict
from pathlib import Path

from arena.cli.options import Options
from arena.cli.output import command_line, program, progress, without_password
from arena.cli.page import Page
from arena.clock import now
from arena.cohorts.freeze import code_version
from arena.errors import count_text
from arena.exports import ExportManifest, ExportRequest, export, form_of
from arena.exports.restore import count_restored_rows, restore
from arena.record.schema.database import open_read_only


def write_export(chosen: Options, target: Path, request: ExportRequest, force: bool) -> None:
    """Write the record to plain files, and print their number and size."""
    with open_read_only(chosen.record_address()) as engine, progress("Writing the export") as report_progress:
        manifest = export(
            engine, target, request, now(), code_version(), force=force, progress=report_progress
        )

    rows = 0
    size = 0
    for file in manifest.files.values():
        rows += file.rows
        size += file.bytes
    data = {"export": target, "rows": rows, "bytes": size} | asdict(manifest)
    chosen.print_answer(data, export_page, target, manifest, rows, size)


def export_page(target: Path, manifest: ExportManifest, rows: int, size: int) -> Page:
    """Yield the number and size of the files, and what can be done with them."""
    ending = form_of(manifest.form).ending
    tables = sum(name.endswith(ending) for name in manifest.files)
    yield f"{target}: {tables} tables, {count_text(rows, 'row')}, {size:,} bytes as {manifest.form}"
    next_command = command_line("board")
    if manifest.whole and manifest.prompts:
        yield f"State hash {manifest.state_hash}"
        next_command = f"{program()} admin restore {target} --database copy.db"
    else:
        yield "This is part of the record; only a complete export with prompts can be made a record again."
    yield "data.md in it explains every column."
    yield f"Next: {next_command}"


def restore_export(chosen: Options, source: Path) -> None:
    """Make a record from an export, and print what is in it."""
    address = chosen.record_address()
    with progress("Reading the export") as report_progress:
        manifest = restore(source, address, report_progress)

    database = without_password(address)
    rows = count_restored_rows(manifest)
    cohorts = len(manifest.cohorts)
    data = {
        "database": database,
        "export": source,
        "rows": rows,
        "state_hash": manifest.state_hash,
        "cohorts": cohorts,
    }
    size = f"{count_text(cohorts, 'cohort')}, {count_text(rows, 'row')}"
    lines = [
        f"{source} is now the record {database}: {size}",
        f"State hash {manifest.state_hash}, as exported; every balance was recomputed and agrees.",
        f"Next: {program()} board --database {database}",
    ]
    chosen.print_answer(data, list, lines)
