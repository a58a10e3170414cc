"""`arena db restore`: the record as a backup has it."""

from pathlib import Path
from typing import Annotated

import typer

from arena.cli.db_backup import content_dict, summary
from arena.cli.options import ConfigFile, Database, Json, options
from arena.cli.output import print_json, program, stages


def restore(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A backup; it stays as it is.")],
    force: Annotated[
        bool, typer.Option("--force", help="Move a record that is there aside, and restore.")
    ] = False,
    config: ConfigFile = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Put a backup in the place of the record: of the config's, or of the one that --database names.

    The backup is checked, copied, brought to the newest schema and verified before anything else is touched.
    Nothing is ever overwritten: with --force the record that is there keeps its data under another name, and
    none is touched that another process has open. On PostgreSQL the database has to be empty.

    Example: arena db restore backups/arena-20260104T000000Z.db --database restored.db

    Next: arena verify
    """
    from arena.clock import now
    from arena.record.files.restore import restore as put_back
    from arena.record.schema.database import url_of
    from arena.record.schema.database_errors import record_name
    from arena.verify.content import verified_content

    chosen = options(context, config, database)
    address = chosen.record()
    with stages() as told:
        done = put_back(file, address, force, now(), verified_content, told)
    place = record_name(url_of(address))
    if as_json:
        aside = None if done.aside is None else str(done.aside)
        told_of = {"restored": place, "from": str(file), "from_schema": done.schema, "aside": aside}
        print_json(told_of | content_dict(done.content))
        return
    if done.aside is not None:
        print(f"The record that was there is {done.aside} now.")
    if done.schema != done.content.schema:
        print(f"Its schema was {done.schema} and is {done.content.schema} now.")
    print(f"{place} is as {file} has it, and verified. {summary(done.content)}")
    print(f"Next: {program()} verify{chosen.again()}")
