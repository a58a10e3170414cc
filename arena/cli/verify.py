"""`arena verify`: does the record agree with itself?"""

from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.options import Options, command
from arena.errors import count_text

if TYPE_CHECKING:
    from arena.verify import Difference, Differences

LISTED = 1_000
"""So many differences are listed unless all are wanted."""


@command()
def verify(
    chosen: Options,
    all: Annotated[bool, typer.Option("--all", help=f"List all differences, not only {LISTED:,}.")] = False,
) -> None:
    """Check the record against itself: hashes, ledgers, fills, settlements, marks, schedules.

    The checks share no code with what wrote the record, and change nothing. The first thousand differences
    are listed as they are found, the rest counted by table. With any difference the exit status is 1.

    Example: arena verify --database .demo/demo.db

    Next: arena leaderboard
    """
    from arena.verify import find

    def tell(difference: "Difference") -> None:
        if not chosen.json:  # which is printed when all is known
            print(difference.message, flush=True)

    with chosen.reading() as connection:
        found = find(connection, None if all else LISTED, tell)
    data = {
        "ok": not found.count,
        "count": found.count,
        "differences": [difference.as_dict() for difference in found.listed],
        "left_out": dict(sorted(found.left_out.items())),
    }
    chosen.answer(data, say, found, chosen.record())
    if found.count:
        raise typer.Exit(1)


def say(found: "Differences", address: str) -> None:
    """How many differences there are, once each was told."""
    if not found.count:
        print(f"{address} agrees with itself: every hash, balance, fill, settlement and mark is right.")
        return
    for table, more in sorted(found.left_out.items()):
        print(f"{table}: {more:,} more")
    rest = " --all lists them all." if found.left_out else ""
    print(f"{count_text(found.count, 'difference')}.{rest}")
    print("Next: find out what changed the record, and restore a backup.")
