"""`arena admin verify`: verifies the record, and prints the differences."""

import sys
from collections.abc import Sequence

import typer

from arena.cli.options import Options
from arena.cli.output import attributes, interruptible, progress
from arena.cli.page import Page, print_page
from arena.clock import now
from arena.errors import count_text
from arena.operations.verification import VerifyRequest, VerifyResult, ask_referee, verify_record
from arena.verify import Difference, Differences
from arena.verify.reader import VerifiedHead


def verify(chosen: Options, request: VerifyRequest, by_referee: bool) -> None:
    """Verify the record, and print the differences; exit with status 1 if there are any."""
    # On a terminal, the progress bar moves down for each line.
    stream = None if sys.stdout.isatty() else sys.stdout

    def print_difference(difference: Difference) -> None:
        """Print a difference as soon as it is found, unless the answer is JSON."""
        if not chosen.json:
            print_page([difference.message], stream)

    address = chosen.record_address()
    hint = "the same command starts again"
    with interruptible("stopped; nothing was changed", hint), progress("Verifying") as report_progress:
        result = verify_record(address, request, now(), print_difference, report_progress)
    refereed = None
    if by_referee:
        with progress("Exporting for the referee") as report_progress:
            refereed = ask_referee(address, now(), report_progress)

    before = result.before
    found = result.found
    data = {
        "from_head": before.number,
        "older_rows": before.rows if before.number else 0,
        "older_read_at": before.all_since or None,
        "ok": not found.count,
        "differences": [difference.as_dict() for difference in found.listed],
        "draws": result.drawn,
        "referee": refereed,
    } | attributes(found, "count", "left_out", "unproved")
    chosen.print_answer(data, verify_page, address, result, refereed)
    if found.count or refereed:
        raise typer.Exit(1)


def verify_page(address: str, result: VerifyResult, refereed: Sequence[str] | None) -> Page:
    """Yield what was not read or not proved, the results of draws and referee, and the differences."""
    found = result.found
    before = result.before
    if before.number:
        yield f"Verified what is new since head {before.number:,}. {_older_rows_text(before)}"
    unproved = [f"{what} ({count:,})" for what, count in sorted(found.unproved.items()) if count]
    if unproved:
        yield f"Not verified: {'; '.join(unproved)}."
    yield from _further_lines(result.drawn, refereed)

    if found.count:
        yield from _differences_page(found)
    elif before.number:
        yield f"What is new in {address} agrees with itself and with what came before."
    else:
        yield f"{address} agrees with itself: every hash, balance, fill, settlement and mark is right."


def _further_lines(rounds_drawn: int | None, refereed: Sequence[str] | None) -> Page:
    """Yield the results of the draws and the referee, if they were asked for."""
    if rounds_drawn:
        yield f"Draws: the same markets were drawn again in {count_text(rounds_drawn, 'live round')}."
    elif rounds_drawn is not None:
        yield "Draws: no live round could be drawn again."
    if refereed is not None:
        for difference in refereed:
            yield f"Referee: {difference}"
        yield f"Referee: {count_text(len(refereed), 'difference')} in an export, by code of its own."


def _differences_page(found: Differences) -> Page:
    """Yield the number of differences; those listed have been printed already."""
    for table, count in sorted(found.left_out.items()):
        yield f"{table}: {count:,} more"
    hint = " --all lists them all." if found.left_out else ""
    yield f"{count_text(found.count, 'difference')}.{hint}"
    yield "Next: find out what changed the record, and restore a backup."


def _older_rows_text(before: VerifiedHead) -> str:
    """Return a sentence on how many older rows were not read, and when they last were."""
    older_rows = f"The {count_text(before.rows, 'older row')}"
    last_read = f"were not read again; all were last read on {before.all_since[:10]} or later"
    return f"{older_rows} {last_read}: `arena admin verify --all` reads them."
