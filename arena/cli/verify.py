"""`arena verify`: does the record agree with itself?"""

import sys
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TextIO

import typer

from arena.cli.options import DEFAULT, Options, command, flag, option
from arena.cli.output import interruptible, progress
from arena.clock import now
from arena.errors import ArenaError, count_text
from arena.verify import Difference, Differences, find
from arena.verify.draws import check_draws
from arena.verify.reader import NOTHING_VERIFIED, VerifiedHead
from arena.verify.verified import keep_verified, read_verified

LISTED = 1_000
"""So many differences are listed unless all are wanted."""


@command()
def verify(
    chosen: Options,
    everything: bool = flag("Verify everything, and list all differences.", "--all"),
    heads: Path | None = option("Also compare published heads, a line of JSON each.", "FILE"),
    draws: bool = flag("Also draw every live round's markets again from its catalogue."),
    second_hand: bool = flag("Also work out money and scores from an export, by other code.", "--referee"),
) -> None:
    """Play the record again: decisions, fills, ledgers, settlements and marks must come out as stored.

    Later runs verify only what is new, by a note next to the record (FILE.verified; for a database server,
    next to the config), and say how many older rows they did not read. The first thousand differences are
    listed (exit status 1). A record rewritten with all its hashes still agrees with itself, so --heads FILE
    finds the first published head that differs. --draws shows that nobody picked the markets of a live round.
    --referee has an export checked by code that shares nothing with the arena.

    Example: arena verify --database .demo/demo.db

    Next: arena leaderboard
    """
    beside = chosen.config or DEFAULT
    out = None if sys.stdout.isatty() else sys.stdout  # on a terminal the bar makes way for a line

    def tell(difference: Difference) -> None:
        if not chosen.json:  # which is printed when all is known
            print(difference.message, file=out, flush=True)

    with (
        chosen.reading() as connection,
        nullcontext() if heads is None else _opened(heads) as published,
        interruptible("verifying was interrupted", "nothing was changed; start it again"),
        progress("Verifying") as told,
    ):
        before = NOTHING_VERIFIED if everything else read_verified(connection, beside)
        found = find(
            connection,
            None if everything else LISTED,
            tell,
            before,
            published=published,
            address=chosen.record(),
            progress=told,
        )
        if not found.count:
            keep_verified(connection, beside, now(), before)
        same = check_draws(connection, found, told) if draws else None
    refereed = _refereed(chosen.record()) if second_hand else None
    data = {
        "from_head": before.number,
        "older_rows": before.rows if before.number else 0,
        "older_read_at": before.whole_at,
        "ok": not found.count,
        "count": found.count,
        "differences": [difference.as_dict() for difference in found.listed],
        "left_out": dict(sorted(found.left_out.items())),
        "unproved": dict(sorted(found.unproved.items())),
        "draws": same,
        "referee": refereed,
    }
    chosen.answer(data, say, found, chosen.record(), before, same, refereed)
    if found.count or refereed:
        raise typer.Exit(1)


def _refereed(address: str) -> list[str]:
    """Return what the referee finds in an export of the record."""
    from arena.cohorts.freeze import code_version
    from arena.exports import ExportRequest, export, form_of
    from arena.exports.referee import referee
    from arena.record.schema.database import open_read_only

    wanted = ExportRequest(form_of("json"), prompts=False)
    with TemporaryDirectory() as folder, open_read_only(address) as engine, progress("Exporting") as told:
        place = Path(folder, "export")
        export(engine, place, wanted, now(), code_version(), progress=told)
        return referee(place)


def _opened(file: Path) -> TextIO:
    try:
        return file.open(encoding="utf-8", errors="replace")
    except OSError as error:
        raise ArenaError(
            "no_heads", f"{file} can't be read: {error.strerror}", "name a file of heads"
        ) from error


def say(
    found: Differences, address: str, before: VerifiedHead, draws: int | None, refereed: list[str] | None
) -> None:
    """Print how many differences there are, what was not read, how many draws and what else came out."""
    if before.number:
        print(f"Verified what is new since head {before.number:,}. {_older_rows_text(before)}")
    if unproved := [f"{what} ({count:,})" for what, count in sorted(found.unproved.items()) if count]:
        print(f"Not proved: {'; '.join(unproved)}.")
    if draws is not None:
        same = f"the same markets were drawn again in {count_text(draws, 'live round')}"
        print(f"Draws: {same if draws else 'no live round could be drawn again'}.")
    if refereed is not None:
        summary = f"{count_text(len(refereed), 'difference')} in an export, by code of its own."
        print("\n".join(f"Referee: {line}" for line in (*refereed, summary)))
    if not found.count and before.number:
        print(f"What is new in {address} agrees with itself and with what came before.")
        return
    if not found.count:
        print(f"{address} agrees with itself: every hash, balance, fill, settlement and mark is right.")
        return
    for table, more in sorted(found.left_out.items()):
        print(f"{table}: {more:,} more")
    rest = " --all lists them all." if found.left_out else ""
    print(f"{count_text(found.count, 'difference')}.{rest}")
    print("Next: find out what changed the record, and restore a backup.")


def _older_rows_text(before: VerifiedHead) -> str:
    """Say how many older rows were not read, and when they last were."""
    rows = "The older rows" if before.rows is None else f"The {count_text(before.rows, 'older row')}"
    last = "" if before.whole_at is None else f"; all were last read on {before.whole_at[:10]}"
    return f"{rows} were not read again{last}: `arena verify --all` reads them."
