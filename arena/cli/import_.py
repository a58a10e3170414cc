"""`arena import`: a record made of an export."""

from pathlib import Path
from typing import Annotated

import typer

from arena.cli.options import ConfigFile, Database, Json, options
from arena.cli.output import print_json, program, progress
from arena.errors import count_text


def import_record(
    context: typer.Context,
    place: Annotated[Path, typer.Argument(metavar="DIR|FILE.zip", help="What arena export has written.")],
    config: ConfigFile = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Make a record of an export, where there is none yet: a new file, or an empty database by URL.

    Every file must be what the manifest says. The record has the same state hash as the one that was
    exported and is checked as arena verify does it; where anything is wrong it says what, and nothing is
    changed. So a season moves to another machine, or from SQLite to PostgreSQL.

    Example: arena import season.zip --database copy.db

    Next: arena leaderboard --database copy.db
    """
    from arena.exports.restore import restore, restore_rows

    address = options(context, config, database).record()
    with progress("Reading the export", None) as moved:
        manifest = restore(place, address, moved)
    rows = restore_rows(manifest)
    if as_json:
        found = {"database": address, "export": str(place), "rows": rows}
        print_json(found | {"state_hash": manifest.state_hash, "cohorts": len(manifest.cohorts)})
        return
    much = f"{count_text(len(manifest.cohorts), 'cohort')}, {count_text(rows, 'row')}"
    print(f"{place} is now the record {address}: {much}")
    print(f"State hash {manifest.state_hash}, as exported; every balance was computed again and is right.")
    print(f"Next: {program()} leaderboard --database {address}")
