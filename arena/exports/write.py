"""A record written out: every table to a file of its own, read in one look and never held in memory.

It is written under a name of its own beside the place where it is to be, and put there when it is whole.
"""

import errno
import hashlib
import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import Connection, Engine

from arena.errors import ArenaError
from arena.exports.catalogue import FACTS, data_page
from arena.exports.computed_tables import COMPUTED
from arena.exports.forms import FileForm
from arena.exports.manifest import NAME, ExportFile, ExportManifest, is_export, is_zipped_export
from arena.exports.table import ExportTable, FactTable, Row, count_of, one_snapshot, rows_of
from arena.record.hashes import state_hash
from arena.record.queries.cohorts import StoredCohort, read_cohorts, select_cohorts
from arena.record.schema.cohort import CohortRow
from arena.record.schema.database import schema_version
from arena.record.schema.typed import select
from markets.hashes import timestamp_text

DICTIONARY = "data.md"
LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The time of every file in a ZIP, so that equal exports are equal files."""
STEP = 1_000
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """What to export: in which form, which cohorts (without a number: all), and with prompts or not."""

    form: FileForm
    cohorts: tuple[int, ...] = ()
    prompts: bool = True

    def facts(self) -> list[FactTable]:
        """The tables of facts that such an export has."""
        kept = [each for each in FACTS if self.prompts or not each.wordy]
        return [each for each in kept if not self.cohorts or each.some is not None]


def export(
    engine: Engine,
    place: Path,
    wanted: ExportRequest,
    at: datetime,
    code_version: str,
    *,
    force: bool = False,
    moved: Progress = lambda _done, _of: None,
) -> ExportManifest:
    """Write an export to a folder, or to one file where the name ends in .zip; what it came to."""
    place = place.absolute()
    _may_be_written(place, force)
    with _beside(place) as folder:
        (made := folder / place.name).mkdir()
        with one_snapshot(engine) as connection:
            manifest = _written(connection, made, wanted, timestamp_text(at), code_version, moved)
        if place.suffix == ".zip":
            made = _packed(made, folder / "packed", manifest)
        _put(made, place, folder / "old", force)
    return manifest


def _may_be_written(place: Path, force: bool) -> None:
    """That nothing is in the way which an export must not replace."""
    if not os.path.lexists(place) or (_is_folder(place) and not any(place.iterdir())):
        return
    if not force:
        raise ArenaError("exists", f"{place} is there already", "name another place, or add --force")
    if not (is_export(place) if _is_folder(place) else is_zipped_export(place)):
        message = f"{place} is no export, so it is not replaced"
        raise ArenaError("exists", message, "name another place, or move it away")


def _is_folder(place: Path) -> bool:
    return place.is_dir() and not place.is_symlink()


@contextmanager
def _beside(place: Path) -> Iterator[Path]:
    """A folder of our own beside a place, which is gone afterwards; what the disk refuses is said."""
    try:
        with tempfile.TemporaryDirectory(dir=place.parent, prefix=f".{place.name}.") as folder:
            yield Path(folder)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            hint = "free some space, or name a place on another disk; nothing was left behind"
            raise ArenaError("disk_full", f"there is no room left to write {place}", hint) from error
        hint = "name a place in a folder that is there and in which you may write"
        raise ArenaError("not_writable", f"{place} can't be written: {error.strerror}", hint) from error


def _written(
    connection: Connection, folder: Path, wanted: ExportRequest, made_at: str, version: str, moved: Progress
) -> ExportManifest:
    """Every file of an export into a folder, the manifest last."""
    stored = _chosen(read_cohorts(connection), wanted.cohorts)
    files = _tables(connection, folder, wanted, stored, moved)
    (folder / DICTIONARY).write_text(data_page(), encoding="utf-8")
    files[DICTIONARY] = _file(folder / DICTIONARY, 0)
    manifest = ExportManifest(
        form=wanted.form.name,
        made_at=made_at,
        code_version=version,
        schema=schema_version(connection) or "",
        whole=not wanted.cohorts,
        prompts=wanted.prompts,
        state_hash="" if wanted.cohorts else state_hash(connection),
        cohorts=_hashes(connection, stored),
        files=files,
    )
    (folder / NAME).write_text(manifest.text(), encoding="utf-8")
    return manifest


def _tables(
    connection: Connection,
    folder: Path,
    wanted: ExportRequest,
    stored: Sequence[StoredCohort],
    moved: Progress,
) -> dict[str, ExportFile]:
    """Every table into a file of its own."""
    numbers = [each.cohort.number for each in stored] if wanted.cohorts else None
    whole = sum(count_of(connection, each, numbers) for each in wanted.facts())
    done, files = 0, dict[str, ExportFile]()
    for each in wanted.facts():
        rows = _counted(moved, done, whole, rows_of(connection, each, numbers))
        path, file = _write(folder, wanted.form, each.sheet, rows)
        files[path], done = file, done + file.rows
    for worked in COMPUTED:
        path, file = _write(folder, wanted.form, worked.sheet, worked.rows(connection, stored))
        files[path] = file
    return files


def _hashes(connection: Connection, stored: Sequence[StoredCohort]) -> dict[str, str]:
    """What each cohort froze, as a hash, by its number."""
    rows = connection.execute(select(CohortRow.number, CohortRow.hash)).all()
    known = {row.number: row.hash for row in rows}
    return {str(each.cohort.number): known[each.cohort.number] for each in stored}


def _chosen(stored: Sequence[StoredCohort], numbers: Sequence[int]) -> list[StoredCohort]:
    """The cohorts of these numbers, each once and in order; all without any."""
    for number in numbers:
        select_cohorts(stored, number)
    return [each for each in stored if not numbers or each.cohort.number in numbers]


def _counted(moved: Progress, before: int, whole: int, rows: Iterable[Row]) -> Iterator[Row]:
    """The rows as they come; how many there were is told now and then."""
    for number, row in enumerate(rows, before):
        if not number % STEP:
            moved(number, whole)
        yield row


def _write(folder: Path, form: FileForm, sheet: ExportTable, rows: Iterable[Row]) -> tuple[str, ExportFile]:
    path = folder / f"{sheet.name}{form.ending}"
    return path.name, _file(path, form.write(path, sheet.columns, rows))


def _file(path: Path, rows: int) -> ExportFile:
    with path.open("rb") as file:
        hash = hashlib.file_digest(file, "sha256").hexdigest()
        os.fsync(file.fileno())
    return ExportFile(rows, path.stat().st_size, hash)


def _packed(folder: Path, path: Path, manifest: ExportManifest) -> Path:
    """The files of a folder as one, the manifest first."""
    with zipfile.ZipFile(path, "x", zipfile.ZIP_DEFLATED) as archive:
        for name in (NAME, *manifest.files):
            about = zipfile.ZipInfo(name, LONG_AGO)
            about.compress_type, about.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            with (folder / name).open("rb") as source, archive.open(about, "w", force_zip64=True) as target:
                shutil.copyfileobj(source, target, 1 << 20)
            (folder / name).unlink()
    with path.open("rb") as whole:
        os.fsync(whole.fileno())
    return path


def _put(made: Path, place: Path, old: Path, force: bool) -> None:
    """What was made to its place; what was there before goes once that is done."""
    if force and os.path.lexists(place):
        place.rename(old)
    made.rename(place)
