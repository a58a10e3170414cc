"""`arena export`, `import` and `report`: a season as plain files, a record made of them, one HTML page."""

import json
import os
import subprocess
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from arena.cli.dashboard import environment, page_command
from arena.cli.options import Options, command
from arena.cli.output import program, progress
from arena.errors import ArenaError, count_text

if TYPE_CHECKING:
    from arena.exports import ExportManifest


@command()
def export(
    chosen: Options,
    place: Annotated[Path, typer.Argument(metavar="DIR|FILE.zip", help="A new folder, or one file.")],
    cohort: Annotated[
        list[int] | None, typer.Option(help="Only this cohort, by number; repeatable.", min=1)
    ] = None,
    form: Annotated[
        Literal["csv", "parquet", "json"], typer.Option("--format", help="The form of the tables.")
    ] = "csv",
    no_prompts: Annotated[bool, typer.Option("--no-prompts", help="Leave out prompts and answers.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing export.")] = False,
) -> None:
    """Write the record to plain files: forecasts, turns, bets, ledgers, prices, scores.

    One file per table, a manifest with their hashes, and data.md, which explains every column. It can run
    while the arena plays: all files are of one instant. arena import turns a whole export back into a record;
    one of some cohorts, or without prompts, can only be read.

    Example: arena export season.zip --format parquet

    Next: arena import season.zip --database copy.db
    """
    from arena.clock import now
    from arena.cohorts.freeze import code_version
    from arena.exports import ExportRequest, form_of
    from arena.exports import export as written
    from arena.record.schema.database import open_read_only

    wanted = ExportRequest(form_of(form), tuple(sorted(set(cohort or []))), not no_prompts)
    with open_read_only(chosen.record()) as engine, progress("Writing the export") as moved:
        manifest = written(engine, place, wanted, now(), code_version(), force=force, progress=moved)
    files = manifest.files.values()
    rows, size = sum(file.rows for file in files), sum(file.bytes for file in files)
    data = {"export": place, "rows": rows, "bytes": size} | asdict(manifest)
    chosen.answer(data, say, place, manifest, rows, size)


def say(place: Path, manifest: "ExportManifest", rows: int, size: int) -> None:
    """In words."""
    much = f"{len(manifest.files) - 1} tables, {count_text(rows, 'row')}, {size:,} bytes"
    print(f"{place}: {much} as {manifest.form}")
    if not (manifest.whole and manifest.prompts):
        print("This is part of the record; only a whole export with prompts can be imported.")
        print(f"Next: data.md in it explains every column; {program()} leaderboard")
        return
    print(f"State hash {manifest.state_hash}")
    print(f"Next: data.md in it explains every column; {program()} import {place} --database copy.db")


@command()
def import_record(
    chosen: Options,
    place: Annotated[Path, typer.Argument(metavar="DIR|FILE.zip", help="An export.")],
) -> None:
    """Make a record from an export: a new file, or an empty database by URL.

    Every file must match the manifest. The record gets the state hash of the one exported and is checked as
    arena verify does; if anything is wrong, it says what, and nothing is kept. Use it to move a season to
    another machine, or from SQLite to PostgreSQL.

    Example: arena import season.zip --database copy.db

    Next: arena leaderboard --database copy.db
    """
    from arena.cli.check import without_password
    from arena.exports.restore import restore, restore_rows

    address = chosen.record()
    with progress("Reading the export", None) as moved:
        manifest = restore(place, address, moved)
    rows = restore_rows(manifest)
    number = len(manifest.cohorts)
    shown = without_password(address)
    data = {"database": shown, "export": place, "rows": rows}
    words = (
        f"{place} is now the record {shown}: {count_text(number, 'cohort')}, {count_text(rows, 'row')}\n"
        f"State hash {manifest.state_hash}, as exported; every balance was recomputed and agrees.\n"
        f"Next: {program()} leaderboard --database {shown}"
    )
    chosen.answer(data | {"state_hash": manifest.state_hash, "cohorts": number}, print, words)


@command()
def report(
    chosen: Options,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE.html", help="The file to write.")],
    cohort: Annotated[int | None, typer.Option(help="Only this cohort, by number.", min=1)] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Write how a season stands into one HTML file: the verdict, the leaderboard and the charts.

    It is for people without a dashboard: it opens from disk, prints well, and has no scripts or external
    resources. Figures are those of arena leaderboard; curves cover the newest six cohorts, calibration the
    first twelve agents.

    Example: arena report --cohort 2 -o cohort-2.html

    Next: arena dashboard shows all of it, down to each decision.
    """
    address = chosen.record()
    if os.path.lexists(output) and not (force and output.is_file()):
        hint = "name another, or add --force" if output.is_file() else "name a file"
        raise ArenaError("exists", f"{output} already exists", hint)
    if not output.parent.is_dir():
        raise ArenaError("no_folder", f"there is no folder {output.parent}", "make it, or name another file")
    found = write(address, output, cohort)
    size = output.stat().st_size
    much = f"{count_text(found['agents'], 'agent')}, {count_text(found['cohorts'], 'cohort')}, {size:,} bytes"
    words = f"{output}: {much}\nNext: open it in a browser, or send it to someone"
    chosen.answer({"report": output, "cohort": cohort, "bytes": size} | found, print, words)


def write(address: str, output: Path, cohort: int | None) -> dict[str, Any]:
    """Have the dashboard draw its charts, in a process of its own; the file is there whole or not at all."""
    try:
        with TemporaryDirectory(dir=output.parent, prefix=".report-") as folder:
            made = Path(folder) / "report.html"
            found = draw(address, made, cohort)
            made.replace(output)
    except OSError as error:
        message = f"{error.filename or output}: {error.strerror}"
        raise ArenaError("cannot_write", message, "check permissions and free space") from error
    return found


def draw(address: str, file: Path, cohort: int | None) -> dict[str, Any]:
    """What the process says in the end, while a bar follows what it says on the way."""
    command = [*page_command("report"), address, str(file)]
    command += [] if cohort is None else ["--cohort", str(cohort)]
    found: dict[str, Any] = {}
    with progress("Drawing the charts") as moved, TemporaryFile("w+") as complaints:
        drawing = subprocess.Popen(
            command, env=environment(address), stdout=subprocess.PIPE, stderr=complaints, text=True
        )
        with drawing:
            for line in drawing.stdout or ():
                found = json.loads(line)
                if "done" in found:
                    moved(found["done"], found["whole"])
        complaints.seek(0)
        said = complaints.read().strip().splitlines()
    if "error" in found:
        error = found["error"]
        raise ArenaError(error["code"], error["message"], error["mend"], status=found["status"])
    if drawing.returncode:
        why = said[-1] if said else f"it ended with status {drawing.returncode}"
        raise ArenaError("report", f"the report could not be made: {why}", "report this message as a bug")
    return found
