"""`arena verify`: does the record agree with itself?"""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.options import ConfigFile, Database, Json, options
from arena.cli.output import print_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from arena.verify import Difference, Differences

LISTED = 1_000
"""So many differences are listed unless all are wanted."""


def verify(
    context: typer.Context,
    config: ConfigFile = None,
    database: Database = None,
    all: Annotated[
        bool, typer.Option("--all", help=f"List every difference, not only the first {LISTED:,}.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Check the record against itself: hashes, ledgers, fills, settlements, marks, schedules.

    By code of its own, which shares nothing with the code that wrote the record, and without changing it.
    Differences are listed as they are found; those past the first thousand are counted by table, unless you
    ask for --all. With any difference the exit status is 1.

    Example: arena verify --database .demo/demo.db

    Next: arena leaderboard
    """
    address = options(context, config, database).record()
    found = verify_record(address, None if all else LISTED, _silent if as_json else _say)
    if as_json:
        print_json(as_dict(found))
    elif found.count:
        for table, more in sorted(found.left_out.items()):
            print(f"{table}: {more:,} more")
        count = "1 difference" if found.count == 1 else f"{found.count:,} differences"
        rest = " --all lists every one." if found.left_out else ""
        print(f"{count}.{rest} Next: find out what changed the record, and restore a backup.")
    else:
        print(f"{address} agrees with itself: every hash, balance, fill, settlement and mark is right.")
    if found.count:
        raise typer.Exit(1)


def as_dict(found: "Differences") -> dict[str, Any]:
    """For JSON: how many there are, those that are listed, and by table how many more."""
    return {
        "ok": not found.count,
        "count": found.count,
        "differences": [difference.as_dict() for difference in found.listed],
        "left_out": dict(sorted(found.left_out.items())),
    }


def verify_record(database: str, most: int | None, tell: "Callable[[Difference], None]") -> "Differences":
    """The differences in a record, which is opened to be read alone; so many are told as they are found."""
    from arena.record.schema.database import connect, reading
    from arena.verify import find

    engine = connect(database, read_only=True)
    try:
        with reading(engine) as connection:
            return find(connection, most, tell)
    finally:
        engine.dispose()


def _say(difference: "Difference") -> None:
    print(difference.message, flush=True)


def _silent(_: "Difference") -> None:
    """JSON is printed when all is known."""
