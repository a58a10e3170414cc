"""`arena db copy`: move a record to another database."""

from typing import Annotated

import typer

from arena.cli.db_backup import content_dict, summary
from arena.cli.options import ConfigFile, Database, Json, options
from arena.cli.output import print_json, program, stages


def copy(
    context: typer.Context,
    to: Annotated[str, typer.Argument(metavar="TO", help="A new file, or the URL of an empty database.")],
    config: ConfigFile = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Copy the whole record to another database: from SQLite to PostgreSQL, or back.

    What arrives is verified, and its state hash held against the record's; unless all is well, nothing is
    kept of it. The record stays as it is. What is played in it later is not in the copy: stop arena run
    first, and name the copy as `database` in the config then.

    Example: arena db copy postgresql+psycopg://user@host/name

    Next: arena verify --database TO
    """
    from arena.record.files.move import move_record
    from arena.record.schema.database import open_read_only, url_of
    from arena.record.schema.database_errors import record_name
    from arena.verify.content import verified_content

    address = options(context, config, database).record()
    with open_read_only(address) as engine, stages() as told:
        content = move_record(engine, to, verified_content, told)
    here, there = (record_name(url_of(place)) for place in (address, to))
    if as_json:
        print_json({"from": here, "to": there} | content_dict(content))
        return
    print(f"{there} holds all of {here}: verified, and of the same state hash. {summary(content)}")
    print(f"Next: name it as `database` in the config, then {program()} verify")
