"""A record written out: every table to a file of its own, read in one look and never held in memory.

It is written in a hidden folder next to the place where it is to be, and moved there when it is whole.
"""

import hashlib
import os
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import Connection, Engine

from arena.errors import ArenaError
from arena.exports.computed_tables import COMPUTED
from arena.exports.dictionary import data_page
from arena.exports.fact_tables import FACTS
from arena.exports.forms import FileForm
from arena.exports.manifest import (
    NAME,
    ExportFile,
    ExportManifest,
    folder_next_to,
    is_export,
    is_zipped_export,
)
from arena.exports.table import ExportTable, FactTable, Row, count_of, one_snapshot, rows_of
from arena.record.hashes import state_hash
from arena.record.queries.cohorts import StoredCohort, read_cohorts, select_cohorts
from arena.record.schema.codec import published_text
from arena.record.schema.cohort import CohortRow
from arena.record.schema.database import schema_version
from arena.record.schema.typed import select
from markets.hashes import digest, timestamp_text

DICTIONARY, HEADS = "data.md", "heads"
LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The time of every file in a ZIP, so that equal exports are equal files."""
UNWRITABLE = "name a path in a folder that exists and is writable"
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
        return [
            each
            for each in FACTS
            if (self.prompts or not each.has_prompts) and (each.of_cohorts is not None or not self.cohorts)
        ]


def export(
    engine: Engine,
    place: Path,
    request: ExportRequest,
    at: datetime,
    code_version: str,
    *,
    force: bool = False,
    progress: Progress = lambda _done, _of: None,
) -> ExportManifest:
    """Write an export to a folder, or to one file where the name ends in .zip; what it came to."""
    place = place.absolute()
    _may_be_written(place, force)
    with folder_next_to(place, UNWRITABLE) as folder:
        (made := folder / place.name).mkdir(mode=0o700)
        with one_snapshot(engine) as connection:
            manifest = _write_all(connection, made, request, timestamp_text(at), code_version, progress)
        if place.suffix == ".zip":
            made = _pack(made, folder / "packed", manifest)
        if force and os.path.lexists(place):
            place.rename(folder / "old")
        made.rename(place)
    return manifest


def _may_be_written(place: Path, force: bool) -> None:
    """That nothing is in the way which an export must not replace."""
    if not os.path.lexists(place) or (_is_folder(place) and not any(place.iterdir())):
        return
    if not force:
        raise ArenaError("exists", f"{place} already exists", "name another path, or add --force")
    if not (is_export(place) if _is_folder(place) else is_zipped_export(place)):
        message = f"{place} is not an export, so it is not replaced"
        raise ArenaError("exists", message, "name another path, or move it")


def _is_folder(place: Path) -> bool:
    return place.is_dir() and not place.is_symlink()


def _write_all(
    connection: Connection,
    folder: Path,
    request: ExportRequest,
    made_at: str,
    version: str,
    progress: Progress,
) -> ExportManifest:
    """Every file of an export into a folder, the manifest last."""
    stored = read_cohorts(connection, trading=False)
    for number in request.cohorts:
        select_cohorts(stored, number)
    if request.cohorts:
        stored = [each for each in stored if each.cohort.number in request.cohorts]
    files = _write_tables(connection, folder, request, stored, progress)
    (folder / DICTIONARY).write_text(data_page(), encoding="utf-8")
    files[DICTIONARY] = _file(folder / DICTIONARY, 0)
    rows = connection.execute(select(CohortRow.number, CohortRow.frozen)).all()
    hashes = {row.number: digest(published_text(row.frozen)) for row in rows}
    manifest = ExportManifest(
        form=request.form.name,
        made_at=made_at,
        code_version=version,
        schema=schema_version(connection) or "",
        whole=not request.cohorts,
        prompts=request.prompts,
        state_hash="" if request.cohorts else state_hash(connection),
        cohorts={str(each.cohort.number): hashes[each.cohort.number] for each in stored},
        files=files,
    )
    (folder / NAME).write_text(manifest.text(), encoding="utf-8")
    return manifest


def _write_tables(
    connection: Connection,
    folder: Path,
    request: ExportRequest,
    stored: Sequence[StoredCohort],
    progress: Progress,
) -> dict[str, ExportFile]:
    """Every table into a file of its own; heads only where they cover what is written, not what is hidden."""
    numbers = [each.cohort.number for each in stored] if request.cohorts else None
    frozen = connection.scalars(select(CohortRow.frozen))
    hidden = {HEADS} if any(published_text(text) != text for text in frozen) else set[str]()
    facts = [each for each in request.facts() if each.sheet.name not in hidden]
    whole = sum(count_of(connection, each, numbers) for each in facts)
    done, files = 0, dict[str, ExportFile]()

    def write(sheet: ExportTable, rows: Iterable[Row]) -> int:
        path = folder / f"{sheet.name}{request.form.ending}"
        files[path.name] = _file(path, request.form.write(path, sheet.columns, rows))
        return files[path.name].rows

    for each in facts:
        done += write(each.sheet, _counted(progress, done, whole, rows_of(connection, each, numbers)))
    for computed in COMPUTED:
        write(computed.sheet, computed.rows(connection, stored))
    return files


def _counted(progress: Progress, before: int, whole: int, rows: Iterable[Row]) -> Iterator[Row]:
    """The rows as they come; how many there were is told now and then."""
    for number, row in enumerate(rows, before):
        if not number % STEP:
            progress(number, whole)
        yield row


def _file(path: Path, rows: int) -> ExportFile:
    with path.open("rb") as file:
        file_hash = hashlib.file_digest(file, "sha256").hexdigest()
        os.fsync(file.fileno())
    return ExportFile(rows=rows, bytes=path.stat().st_size, sha256=file_hash)


def _pack(folder: Path, path: Path, manifest: ExportManifest) -> Path:
    """The files of a folder as one, the manifest first."""
    with zipfile.ZipFile(path, "x", zipfile.ZIP_DEFLATED) as archive:
        for name in (NAME, *manifest.files):
            about = zipfile.ZipInfo(name, LONG_AGO)
            about.compress_type, about.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            with (folder / name).open("rb") as source, archive.open(about, "w", force_zip64=True) as target:
                shutil.copyfileobj(source, target, 1 << 20)
            (folder / name).unlink()
    path.chmod(0o600)
    with path.open("rb") as whole:
        os.fsync(whole.fileno())
    return path
