"""`arena db upgrade`: bring the record to the newest schema."""

from typing import Annotated

import typer

from arena.cli.db_backup import place
from arena.cli.options import ConfigFile, Database, Json, options
from arena.cli.output import print_json, program, stages


def upgrade(
    context: typer.Context,
    no_backup: Annotated[bool, typer.Option("--no-backup", help="Make no backup first.")] = False,
    config: ConfigFile = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Bring the record of an older arena to the schema of this one. Its facts stay as they are.

    A backup comes first; on a copy of it the upgrade is tried and verified before the record is touched.
    Commands that play bring their record up to date by themselves; those that only read ask for this one.
    Stop arena run before it.

    Example: arena db upgrade

    Next: arena verify
    """
    from arena.clock import now
    from arena.record.files.backup import backup
    from arena.record.schema.database import (
        connect,
        newest_schema_version,
        open_read_only,
        reading,
        schema_version,
    )
    from arena.record.schema.database import upgrade as bring_up
    from arena.verify.content import verified_content

    chosen = options(context, config, database)
    address, (folder, keep), saved = chosen.record(), place(chosen), None
    with open_read_only(address, older=True) as engine, stages() as told:
        with reading(engine) as connection:
            version = schema_version(connection)
        if version != newest_schema_version() and not no_backup:
            saved = str(backup(engine, folder, keep, now(), verified_content, told).path)
    if version != newest_schema_version():
        engine = connect(address)
        try:
            bring_up(engine)
        finally:
            engine.dispose()
    if as_json:
        print_json({"from": version, "to": newest_schema_version(), "backup": saved})
    elif version == newest_schema_version():
        print(f"Nothing to do: the schema is {version}, the newest.")
    else:
        print(f"The schema was {version} and is {newest_schema_version()} now.")
        print(f"As it was before, it is in {saved}." if saved else "No backup was made.")
    if not as_json:
        print(f"Next: {program()} verify{chosen.again()}")
