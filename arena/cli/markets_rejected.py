"""`arena markets rejected`: rejected venue data, and why."""

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.options import ConfigFile, Database, Json, options
from arena.cli.output import line_width, print_json, print_table, program

if TYPE_CHECKING:
    from arena.record.write.quarantine import StoredQuarantine

FEWEST = 24


class RejectedKind(StrEnum):
    """What a record was meant to be."""

    MARKET = "market"
    QUOTE = "quote"
    RESOLUTION = "resolution"
    PAGE = "page"
    ARTICLE = "article"


def rejected(
    context: typer.Context,
    venue: Annotated[str | None, typer.Option(help="Only of this venue.", metavar="NAME")] = None,
    kind: Annotated[RejectedKind | None, typer.Option(help="Only what was meant to be this.")] = None,
    limit: Annotated[int, typer.Option(help="So many at most.", min=1)] = 40,
    config: ConfigFile = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """List rejected venue data: which record, why nothing was made of it, how often; newest first.

    Nothing else suffers from it: the other records were kept. Some only have to wait, such as a market whose
    end is disputed. With --json the record stands as it was sent, cut short.

    Example: arena markets rejected --kind resolution

    Next: arena markets sync tries again.
    """
    from arena.record.schema.database import connect, reading
    from arena.record.write.quarantine import read_quarantine

    engine = connect(options(context, config, database).record(), read_only=True)
    try:
        with reading(engine) as connection:
            found = read_quarantine(connection, venue, kind and kind.value, limit)
    finally:
        engine.dispose()
    if as_json:
        print_json({"rejected": [as_dict(aside) for aside in found]})
    else:
        say(found, limit)


def as_dict(aside: "StoredQuarantine") -> dict[str, object]:
    """For JSON."""
    from dataclasses import asdict

    times = ("first_seen_at", "last_seen_at")
    return asdict(aside) | {name: getattr(aside, name).isoformat() for name in times}


def say(found: "Sequence[StoredQuarantine]", limit: int) -> None:
    """A line for each record and reason."""
    from arena.cli.positions import room, shortened

    if not found:
        print(f"Nothing was rejected. Next: {program()} markets list")
        return
    cells = {
        "last (UTC)": [f"{aside.last_seen_at:%Y-%m-%d %H:%M}" for aside in found],
        "times": [f"{aside.times:,}" for aside in found],
        "venue": [shortened(aside.venue, 16) for aside in found],
        "kind": [aside.kind for aside in found],
        "record": [shortened(aside.record, 32) for aside in found],
        "code": [shortened(aside.code, 24) for aside in found],
    }
    width = max(FEWEST, room(cells | {"question": []}, line_width()))
    cells["reason"] = [shortened(aside.reason, width) for aside in found]
    print_table(list(cells), list(zip(*cells.values(), strict=True)), right=("times",))
    if len(found) == limit:
        print(f"The newest {limit:,}; --limit shows more, --json what was sent.")
