"""Verifying a record by hand: its new rows or all, against published heads, draws and the referee."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from arena.cohorts.freeze import code_version
from arena.exports import ExportRequest, export, form_of
from arena.exports.referee import referee
from arena.record.schema.database import open_read_only, reading
from arena.scores.refresh import Progress
from arena.verify import Difference, Differences, find
from arena.verify.draws import check_draws
from arena.verify.reader import NOTHING_VERIFIED, VerifiedHead
from arena.verify.verified import keep_verified, read_verified

LISTED = 1_000
"""So many differences are listed unless all are wanted."""


@dataclass(frozen=True, slots=True)
class VerifyRequest:
    """What is verified: all or what is new since the last time, by the `note` beside the record.

    `heads` are the lines of a file of published heads; with `draws` live rounds' markets are drawn again.
    """

    note: Path
    everything: bool = False
    heads: Sequence[str] | None = None
    draws: bool = False


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """What differs, what was verified `before`, and how many live rounds were drawn again, if any were."""

    found: Differences
    before: VerifiedHead
    drawn: int | None


def verify_record(
    address: str, wanted: VerifyRequest, at: datetime, tell: Callable[[Difference], None], progress: Progress
) -> VerifyResult:
    """Verify a record, and note how far it has no difference; `tell` is called with each difference."""
    with open_read_only(address) as engine, reading(engine) as connection:
        before = NOTHING_VERIFIED
        most = None
        if not wanted.everything:
            before = read_verified(connection, wanted.note)
            most = LISTED

        found = find(
            connection, most, tell, before, published=wanted.heads, address=address, progress=progress
        )
        if not found.count:
            keep_verified(connection, wanted.note, at, before)
        drawn = check_draws(connection, found, progress) if wanted.draws else None
    return VerifyResult(found, before, drawn)


def ask_referee(address: str, at: datetime, progress: Progress) -> list[str]:
    """Return the differences that the referee finds in an export of the record."""
    wanted = ExportRequest(form_of("json"), prompts=False)
    with TemporaryDirectory() as folder, open_read_only(address) as engine:
        place = Path(folder, "export")
        export(engine, place, wanted, at, code_version(), progress=progress)
        return referee(place)
