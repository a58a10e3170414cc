"""`arena export`: the record as plain files, for people and programs."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.options import ConfigFile, Database, Json, options
from arena.cli.output import print_json, program, progress
from arena.errors import count_text

if TYPE_CHECKING:
    from arena.exports import ExportManifest


class Format(StrEnum):
    """The form of the tables."""

    CSV = "csv"
    PARQUET = "parquet"
    JSON = "json"


def export(
    context: typer.Context,
    place: Annotated[Path, typer.Argument(metavar="DIR|FILE.zip", help="A new folder, or one file.")],
    cohort: Annotated[
        list[int] | None, typer.Option(help="Only this cohort, by its number; may be given again.", min=1)
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="The form of the tables.")] = Format.CSV,
    no_prompts: Annotated[
        bool, typer.Option("--no-prompts", help="Without what models were asked and answered.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an export that is there.")] = False,
    config: ConfigFile = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Write the record to plain files: forecasts, turns, bets, ledgers, prices, scores, all of it.

    One file a table, a manifest with their hashes, and data.md, which says what every column means. A season
    can be exported while it plays: the files are all of one instant. A whole export can be made a record
    again with arena import; one of some cohorts, or without prompts, can only be read.

    Example: arena export season.zip --format parquet

    Next: arena import season.zip --database copy.db
    """
    from arena.clock import now
    from arena.cohorts.freeze import code_version
    from arena.exports import ExportRequest, form_of
    from arena.exports import export as written
    from arena.record.schema.database import open_read_only

    wanted = ExportRequest(form_of(form), tuple(sorted(set(cohort or []))), not no_prompts)
    with (
        open_read_only(options(context, config, database).record()) as engine,
        progress("Writing the export", None) as moved,
    ):
        manifest = written(engine, place, wanted, now(), code_version(), force=force, progress=moved)
    if as_json:
        print_json({"export": str(place)} | as_dict(manifest))
    else:
        say(place, manifest)


def as_dict(manifest: "ExportManifest") -> dict[str, Any]:
    """For JSON: the manifest, and how much it is in all."""
    from dataclasses import asdict

    rows, size = sizes(manifest)
    return {"rows": rows, "bytes": size} | asdict(manifest)


def sizes(manifest: "ExportManifest") -> tuple[int, int]:
    """Rows and bytes of all files together."""
    files = manifest.files.values()
    return sum(file.rows for file in files), sum(file.bytes for file in files)


def say(place: Path, manifest: "ExportManifest") -> None:
    """In words."""
    rows, size = sizes(manifest)
    much = f"{len(manifest.files) - 1} tables, {count_text(rows, 'row')}, {size:,} bytes"
    print(f"{place}: {much} as {manifest.form}")
    if not (manifest.whole and manifest.prompts):
        print("It is a part of the record, to be read; only a whole one with prompts can be imported.")
        print(f"Next: data.md in it says what every column means; {program()} leaderboard")
        return
    print(f"State hash {manifest.state_hash}")
    print(f"Next: data.md in it says what every column means; {program()} import {place} --database copy.db")
