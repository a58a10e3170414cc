"""`arena db backup`: a copy of the record that is known to be good."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.options import ConfigFile, Database, Json, Options, options
from arena.cli.output import print_json, program, stages
from arena.errors import ArenaError, count_text

if TYPE_CHECKING:
    from arena.record.files.backup import Backup
    from arena.record.files.integrity import RecordContent

FOLDER, KEEP = Path("backups"), 14
"""Where backups go of a record that is named without a config, and how many stay."""


def backup(
    context: typer.Context,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="A new file, instead of one in the config's folder."),
    ] = None,
    config: ConfigFile = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Copy the record as it is at this instant, while it is played, and verify the copy.

    Without FILE it goes to the config's backup.folder, named by the time in UTC, and of the record's backups
    there the newest backup.keep stay. With FILE nothing goes. A backup is one SQLite file, of a record on
    PostgreSQL too. It gets its name only once every page was checked and the whole was verified.

    Example: arena db backup

    Next: arena db restore FILE
    """
    from arena.clock import now
    from arena.record.files.backup import backup as make
    from arena.record.files.backup import backup_to
    from arena.record.schema.database import open_read_only
    from arena.verify.content import verified_content

    chosen = options(context, config, database)
    address, (folder, keep) = chosen.record(), place(chosen)
    try:
        with open_read_only(address, older=True) as engine, stages() as told:
            made = (
                backup_to(engine, file, verified_content, told)
                if file
                else make(engine, folder, keep, now(), verified_content, told)
            )
    except KeyboardInterrupt:
        words, hint = "stopped; no backup was made", "the same command makes one"
        raise ArenaError("interrupted", words, hint, status=130) from None
    if as_json:
        print_json(as_dict(made))
        return
    print(f"{made.path}: {made.size:,} bytes, verified. {summary(made.content)}")
    for gone in made.gone:
        print(f"{gone} is gone: it was older than the newest {keep}.")
    print(f"Next: keep a copy on another machine; {program()} db restore {made.path}")


def place(chosen: Options) -> tuple[Path, int]:
    """The folder that backups go to, and how many of them stay."""
    config = chosen.known()
    return (FOLDER, KEEP) if config is None else (config.backups, config.backup.keep)


def as_dict(made: "Backup") -> dict[str, Any]:
    """For JSON."""
    told = {"file": str(made.path), "bytes": made.size, "gone": [str(path) for path in made.gone]}
    return told | content_dict(made.content)


def content_dict(content: "RecordContent") -> dict[str, Any]:
    """What is in a record, for JSON."""
    return {"schema": content.schema, "state_hash": content.state_hash, "counts": content.counts}


def summary(content: "RecordContent") -> str:
    """What is in a record, for people."""
    names = ("cohort", "round", "turn", "call")
    parts = ", ".join(count_text(content.counts[f"{name}s"], name) for name in names)
    return f"{parts}.\nState hash {content.state_hash}"
