"""What `arena admin verify` found: whether the record agrees with itself."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TextIO

from arena.cli.output import progress
from arena.cli.page import Page
from arena.clock import now
from arena.cohorts.freeze import code_version
from arena.errors import ArenaError, count_text
from arena.exports import ExportRequest, export, form_of
from arena.exports.referee import referee
from arena.record.schema.database import open_read_only
from arena.verify import Differences
from arena.verify.reader import VerifiedHead

LISTED = 1_000
"""So many differences are listed unless all are wanted."""


def open_heads(file: Path) -> TextIO:
    """Return a file of published heads, opened."""
    try:
        return file.open(encoding="utf-8", errors="replace")
    except OSError as error:
        message = f"{file} can't be read: {error.strerror}"
        raise ArenaError("no_heads", message, "name a file of heads") from error


def ask_referee(address: str) -> list[str]:
    """Return what the referee finds in an export of the record."""
    wanted = ExportRequest(form_of("json"), prompts=False)
    with (
        TemporaryDirectory() as folder,
        open_read_only(address) as engine,
        progress("Exporting for the referee") as told,
    ):
        place = Path(folder, "export")
        export(engine, place, wanted, now(), code_version(), progress=told)
        return referee(place)


def verify_data(
    found: Differences, before: VerifiedHead, drawn: int | None, refereed: list[str] | None
) -> dict[str, Any]:
    """Return what was verified and what differs, for JSON."""
    return {
        "from_head": before.number,
        "older_rows": before.rows if before.number else 0,
        "older_read_at": before.all_since or None,
        "ok": not found.count,
        "count": found.count,
        "differences": [difference.as_dict() for difference in found.listed],
        "left_out": dict(sorted(found.left_out.items())),
        "unproved": dict(sorted(found.unproved.items())),
        "draws": drawn,
        "referee": refereed,
    }


def verify_page(
    found: Differences, address: str, before: VerifiedHead, drawn: int | None, refereed: list[str] | None
) -> Page:
    """Yield how many differences there are, what was not read, and what draws and the referee came to."""
    if before.number:
        yield f"Verified what is new since head {before.number:,}. {_older_rows_text(before)}"
    unproved = [f"{what} ({count:,})" for what, count in sorted(found.unproved.items()) if count]
    if unproved:
        yield f"Not proved: {'; '.join(unproved)}."
    if drawn:
        yield f"Draws: the same markets were drawn again in {count_text(drawn, 'live round')}."
    elif drawn is not None:
        yield "Draws: no live round could be drawn again."
    if refereed is not None:
        yield from (f"Referee: {difference}" for difference in refereed)
        yield f"Referee: {count_text(len(refereed), 'difference')} in an export, by code of its own."

    if not found.count and before.number:
        yield f"What is new in {address} agrees with itself and with what came before."
    elif not found.count:
        yield f"{address} agrees with itself: every hash, balance, fill, settlement and mark is right."
    else:
        yield from _differences_page(found)


def _differences_page(found: Differences) -> Page:
    """Yield how many differences there are; those that are listed have been printed."""
    for table, count in sorted(found.left_out.items()):
        yield f"{table}: {count:,} more"
    rest = " --all lists them all." if found.left_out else ""
    yield f"{count_text(found.count, 'difference')}.{rest}"
    yield "Next: find out what changed the record, and restore a backup."


def _older_rows_text(before: VerifiedHead) -> str:
    """Say how many older rows were not read, and when they last were."""
    rows = f"The {count_text(before.rows, 'older row')}"
    read = f"were not read again; all were last read on {before.all_since[:10]} or later"
    return f"{rows} {read}: `arena admin verify --all` reads them."
