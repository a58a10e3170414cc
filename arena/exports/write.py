"""Exports a record: every table to its own file, as of one instant and without holding it in memory.

An export is written in a hidden folder next to its destination, and moved there when it is complete.
"""

import hashlib
import os
import re
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count
from pathlib import Path

from sqlalchemy import Connection, Engine

from arena.errors import ArenaError
from arena.exports.computed_tables import COMPUTED
from arena.exports.data_set_cards import UNKNOWN_LICENSE, DataSet, TableFile, cards
from arena.exports.dictionary import data_page
from arena.exports.fact_tables import FACTS
from arena.exports.forms import FileForm
from arena.exports.inspect_logs import inspect_logs
from arena.exports.manifest import (
    NAME,
    ExportFile,
    ExportManifest,
    folder_next_to,
    is_export,
    is_zipped_export,
)
from arena.exports.table import ExportTable, FactTable, Row, count_rows, one_snapshot, rows_of
from arena.record.hashes import state_hash
from arena.record.queries.cohorts import StoredCohort, read_cohorts, select_cohorts
from arena.record.schema.codec import published_text
from arena.record.schema.cohort import CohortRow
from arena.record.schema.database import schema_version
from arena.record.schema.typed import col, select
from markets.hashes import digest, timestamp_text

DICTIONARY = "data.md"
HEADS = "heads"
LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The time of every file in a ZIP, so that equal exports are equal files."""
UNWRITABLE = "name a path in a folder that exists and is writable"
LICENSE = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]{0,39}")
STEP = 1_000
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """What to export: the format, the cohorts (none means all), whether with prompts, and the license.

    The license is what the cards of a data set name.
    """

    form: FileForm
    cohorts: tuple[int, ...] = ()
    prompts: bool = True
    license: str = UNKNOWN_LICENSE

    def facts(self) -> list[FactTable]:
        """Return the tables of facts in the export."""
        tables = [table for table in FACTS if self.prompts or not table.has_prompts]
        if not self.cohorts:
            return tables
        return [table for table in tables if table.of_cohorts is not None]


def with_license(request: ExportRequest, name: str) -> ExportRequest:
    """Return a request whose cards name this license. Raise `ArenaError` if it has no cards."""
    if not request.form.has_cards:
        message = f"an export as {request.form.name} names no license"
        raise ArenaError("no_license", message, "leave out --license, or add --format dataset", status=64)
    if not LICENSE.fullmatch(name):
        hint = "give the short name of a license, such as cc-by-4.0 or mit"
        raise ArenaError("bad_license", f"{name!r} is not the name of a license", hint, status=64)
    return replace(request, license=name)


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
    """Write an export to a folder, or to one file if the name ends in .zip, and return its manifest."""
    place = place.absolute()
    _check_may_replace(place, force)

    with folder_next_to(place, UNWRITABLE) as hidden_folder:
        written = hidden_folder / place.name
        written.mkdir(mode=0o700)
        with one_snapshot(engine) as connection:
            manifest = _write_all(connection, written, request, timestamp_text(at), code_version, progress)
        if place.suffix == ".zip":
            written = _pack(written, hidden_folder / "packed", manifest)

        if force and os.path.lexists(place):
            place.rename(hidden_folder / "old")  # which is deleted with the hidden folder
        written.rename(place)
    return manifest


def _check_may_replace(place: Path, force: bool) -> None:
    """Raise `ArenaError` if an export must not replace what is there."""
    if not os.path.lexists(place):
        return

    is_folder = place.is_dir() and not place.is_symlink()
    if is_folder and not any(place.iterdir()):
        return
    if not force:
        raise ArenaError("exists", f"{place} already exists", "name another path, or add --force")

    is_old_export = is_export(place) if is_folder else is_zipped_export(place)
    if not is_old_export:
        message = f"{place} is not an export, so it is not replaced"
        raise ArenaError("exists", message, "name another path, or move it")


def _write_all(
    connection: Connection,
    folder: Path,
    request: ExportRequest,
    made_at: str,
    version: str,
    progress: Progress,
) -> ExportManifest:
    """Write every file of an export into a folder, the manifest last, and return the manifest."""
    cohorts = read_cohorts(connection, trading=False)
    for number in request.cohorts:
        select_cohorts(cohorts, number)
    if request.cohorts:
        cohorts = [cohort for cohort in cohorts if cohort.cohort.number in request.cohorts]

    files = _write_tables(connection, folder, request, cohorts, progress)
    (folder / DICTIONARY).write_text(data_page(), encoding="utf-8")
    files[DICTIONARY] = _file(folder / DICTIONARY, 0)

    numbers = [cohort.cohort.number for cohort in cohorts]
    frozen = select(CohortRow.number, CohortRow.frozen).where(col(CohortRow.number).in_(numbers))
    hashes = {}
    for number, text in connection.execute(frozen.order_by(CohortRow.number)):
        hashes[str(number)] = digest(published_text(text))

    record_hash = ""
    if not request.cohorts:
        record_hash = state_hash(connection)

    other_files: Iterable[tuple[str, str]] = ()
    if request.form.has_cards:
        tables = _table_files(request, files)
        other_files = cards(DataSet(tables, made_at, version, record_hash, request.license)).items()
    if request.form.has_logs:
        other_files = inspect_logs(connection, cohorts, request.prompts, version)
    for name, text in other_files:
        (folder / name).write_text(text, encoding="utf-8")
        files[name] = _file(folder / name, 0)

    manifest = ExportManifest(
        form=request.form.name,
        made_at=made_at,
        code_version=version,
        schema=schema_version(connection) or "",
        whole=not request.cohorts,
        prompts=request.prompts,
        state_hash=record_hash,
        cohorts=hashes,
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
    """Write every table into its own file, and return the files by name.

    Heads cover frozen settings unredacted: they are left out if a credential in these is hidden.
    """
    numbers = None
    if request.cohorts:
        numbers = [cohort.cohort.number for cohort in stored]

    facts = request.facts()
    frozen_texts = connection.scalars(select(CohortRow.frozen))
    if any(published_text(text) != text for text in frozen_texts):  # one has a credential
        facts = [table for table in facts if table.sheet.name != HEADS]

    tables: dict[ExportTable, Iterator[Row]] = {}
    row_numbers = count()
    row_count = sum(count_rows(connection, table, numbers) for table in facts)
    for table in facts:
        tables[table.sheet] = _with_progress(
            rows_of(connection, table, numbers), row_numbers, row_count, progress
        )
    for computed in COMPUTED:
        tables[computed.sheet] = computed.rows(connection, stored)

    files = {}
    for sheet, rows in tables.items():
        path = folder / f"{sheet.name}{request.form.ending}"
        files[path.name] = _file(path, request.form.write(path, sheet.columns, rows))
    return files


def _table_files(request: ExportRequest, files: Mapping[str, ExportFile]) -> list[TableFile]:
    """Return the tables of an export with the facts about their files."""
    sheets = [table.sheet for table in FACTS]
    sheets += [table.sheet for table in COMPUTED]

    tables = []
    for sheet in sheets:
        name = f"{sheet.name}{request.form.ending}"
        if name in files:
            file = files[name]
            tables.append(TableFile(sheet, name, file.rows, file.bytes, file.sha256))
    return tables


def _with_progress(
    rows: Iterable[Row], row_numbers: Iterator[int], row_count: int, progress: Progress
) -> Iterator[Row]:
    """Yield rows, and report every so often how many were yielded before."""
    for row in rows:
        number = next(row_numbers)
        if number % STEP == 0:
            progress(number, row_count)
        yield row


def _file(path: Path, rows: int) -> ExportFile:
    """Return a file's entry in the manifest, after flushing the file to disk."""
    with path.open("rb") as file:
        file_hash = hashlib.file_digest(file, "sha256").hexdigest()
        os.fsync(file.fileno())
    return ExportFile(rows=rows, bytes=path.stat().st_size, sha256=file_hash)


def _pack(folder: Path, path: Path, manifest: ExportManifest) -> Path:
    """Pack the files of a folder into a ZIP, the manifest first, and return its path."""
    with zipfile.ZipFile(path, "x", zipfile.ZIP_DEFLATED) as archive:
        for name in (NAME, *manifest.files):
            entry = zipfile.ZipInfo(name, LONG_AGO)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            with (folder / name).open("rb") as source, archive.open(entry, "w", force_zip64=True) as target:
                shutil.copyfileobj(source, target, 1 << 20)
            (folder / name).unlink()

    path.chmod(0o600)
    with path.open("rb") as packed:
        os.fsync(packed.fileno())
    return path
