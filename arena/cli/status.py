"""`arena status`: how the arena stands."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.options import ConfigFile, Database, Json, Options, options
from arena.cli.output import print_json

if TYPE_CHECKING:
    from arena.operations.status import Status


def status(
    context: typer.Context,
    clock: Annotated[
        Path | None,
        typer.Option("--clock", metavar="FILE", help="Of a rehearsal: take the time from its clock."),
    ] = None,
    config: ConfigFile = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """How the arena stands: is it running, what was played and is due, what it cost, what is old or broken.

    The first word is its health: ok; waiting for what comes by itself or was put off; late with a round; or
    trouble that does not pass by itself. The lines after it say why. The exit status is always 0. Without a
    config it is what the record alone tells: no budgets, and no cohorts to come.

    Example: arena status --json

    Next: arena watch list shows what has happened and who was told.
    """
    from arena.cli.status_text import print_status
    from arena.operations.status import status_data

    found = read_status(options(context, config, database), clock)
    if as_json:
        print_json(status_data(found))
    else:
        print_status(found)


def read_status(chosen: Options, clock: Path | None = None) -> "Status":
    """How the arena of the command line stands now, or by a rehearsal's clock."""
    from arena.clock import PretendedClock, SystemClock
    from arena.operations.status import read_status_by_config
    from arena.record.schema.database import open_read_only, reading

    config, at = chosen.known(), (PretendedClock.read(clock) if clock else SystemClock()).now()
    address = chosen.record() if config is None else config.database
    with open_read_only(address) as engine, reading(engine) as connection:
        return read_status_by_config(connection, at, config, pretended=clock is not None)
