"""`arena verify`: does the record agree with itself?"""

from typing import TYPE_CHECKING

import typer

from arena.cli.options import ConfigFile, Database, Json, options
from arena.cli.output import print_json, print_table

if TYPE_CHECKING:
    from arena.store.verify import Difference

COLUMNS = ("table", "row", "field", "found", "expected", "because")


def verify(
    context: typer.Context,
    config: ConfigFile = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Check the record against itself: hashes, ledgers, fills, settlements, marks, schedules.

    By code of its own, which shares nothing with the code that wrote the record, and without changing it.
    With any difference the exit status is 1.

    Example: arena verify --database .demo/demo.db

    Next: arena leaderboard
    """
    address = options(context, config, database).record()
    found = verify_record(address)
    if as_json:
        print_json({"ok": not found, "differences": [difference.as_dict() for difference in found]})
    elif found:
        rows = [(d.table, d.key, d.field, d.found, d.expected, d.why) for d in found]
        print_table(COLUMNS, rows)
        count = "1 difference" if len(found) == 1 else f"{len(found):,} differences"
        print(f"{count}. Next: find out what changed the record, and restore a backup.")
    else:
        print(f"{address} agrees with itself: every hash, balance, fill, settlement and mark is right.")
    if found:
        raise typer.Exit(1)


def verify_record(database: str) -> "list[Difference]":
    """Every difference in a record; it is opened read-only."""
    from arena.store.database import connect, reading
    from arena.store.verify import verify as differences

    engine = connect(database, read_only=True)
    try:
        with reading(engine) as connection:
            return differences(connection)
    finally:
        engine.dispose()
