"""Opens an export and checks that it holds exactly what its manifest lists.

No path is taken from a file: only names that a manifest may hold are opened, and no more bytes are unpacked
than it lists.
"""

import errno
import hashlib
import json
import re
import shutil
import stat
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import asdict, field
from pathlib import Path
from typing import IO, Annotated

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from arena.errors import ArenaError
from arena.exports.fact_tables import FACTS
from arena.exports.forms import form_of
from arena.exports.forms.cells import HINT, bad_file

NAME = "manifest.json"
KIND = "paper-arena export"
MARK = f'"{KIND}"'.encode()
VERSION = 1
MOST_BYTES = 1_000_000
NAME_EXPORT = "name what arena share export has written: a folder or a .zip"
FILE_NAME = re.compile(
    r"[a-z_]{1,40}\.(?:csv|parquet|jsonl|md)|README\.md|croissant\.json|datapackage\.json"
    r"|\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d_cohort-\d+_[A-Za-z0-9.-]+\.json"
)
Count = Annotated[int, Field(ge=0, strict=True)]


def _checked_file_name(name: str) -> str:
    """Return the name of a file. Raise `ValueError` for one that no export has."""
    if not FILE_NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not part of an export: such a path is not opened")
    return name


@dataclass(frozen=True, slots=True)
class ExportFile:
    """A file of an export: its number of rows, its size in bytes, and its SHA-256."""

    rows: Count
    bytes: Count
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


@dataclass(frozen=True, slots=True, config=ConfigDict(extra="forbid"))
class ExportManifest:
    """What an export holds. `whole` means every cohort; `prompts`, that questions to models and their answers
    are in it.

    `cohorts` maps the number of each to its hash. `state_hash` is that of the whole record, and empty for a
    partial export.
    """

    form: str
    made_at: str
    code_version: str
    schema: str
    whole: bool
    prompts: bool
    state_hash: str
    cohorts: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[Annotated[str, AfterValidator(_checked_file_name)], ExportFile] = field(
        default_factory=dict
    )

    def text(self) -> str:
        """Return the text of the manifest, with a seal over all of it in the last line."""
        content = {"kind": KIND, "version": VERSION} | asdict(self)
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        seal = hashlib.sha256(text.encode()).hexdigest()
        return json.dumps(content | {"seal": seal}, indent=2, ensure_ascii=False) + "\n"


def is_export(folder: Path) -> bool:
    """Tell whether a folder holds an export, or the remains of one."""
    path = folder / NAME
    if not path.is_file():
        return False

    with path.open("rb") as file:
        return MARK in file.read(200)


def is_zipped_export(path: Path) -> bool:
    """Tell whether a file is a zipped export."""
    if not zipfile.is_zipfile(path):
        return False

    with zipfile.ZipFile(path) as archive:
        if NAME not in archive.namelist():
            return False
        with archive.open(NAME) as file:
            return MARK in file.read(200)


def read_manifest(data: bytes) -> ExportManifest:
    """Return a manifest. Raise `ArenaError` if it is not one, is newer, or was changed."""
    try:
        content = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _bad_manifest(f"can't be read: {error}") from error

    if not isinstance(content, dict) or content.get("kind") != KIND:
        raise _bad_manifest("is not the manifest of an arena share export")
    version = content.get("version")
    if version != VERSION:
        message = f"{NAME} is of version {version!r}; this program knows version {VERSION}"
        raise ArenaError("newer_export", message, "update paper-arena, then try again")

    for name in ("kind", "version", "seal"):
        content.pop(name, None)
    try:
        manifest = TypeAdapter(ExportManifest).validate_python(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        reason = first["msg"].removeprefix("Value error, ")
        raise _bad_manifest(f"is not right at {'.'.join(map(str, first['loc']))}: {reason}") from error

    if manifest.text().encode() != data:
        raise _bad_manifest("was changed after it was written: its seal doesn't match")
    return manifest


def _bad_manifest(what: str) -> ArenaError:
    """Return the error for a manifest that can't be used."""
    return ArenaError("bad_export", f"{NAME} {what}", HINT)


@contextmanager
def folder_next_to(place: Path, hint: str) -> Iterator[Path]:
    """Make a hidden folder next to a path, and delete it afterwards. Raise `ArenaError` if that fails."""
    try:
        with tempfile.TemporaryDirectory(dir=place.absolute().parent, prefix=f".{place.name}.") as folder:
            yield Path(folder)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            hint = "free some space, or write to another disk; no partial files were left"
            raise ArenaError("disk_full", f"the disk is full: cannot write {place}", hint) from error
        raise ArenaError("not_writable", f"{place} can't be written: {error.strerror}", hint) from error


CHUNK = 1 << 20
NOT_REGULAR = "not a regular file (links are not followed)"
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
BROKEN = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, RuntimeError, ValueError)
"""What Python's library raises for a ZIP that is damaged or encrypted."""


@contextmanager
def open_export(place: Path, spare: Path, *, whole: bool) -> Iterator[tuple[Path, ExportManifest]]:
    """Yield the folder of an export and its manifest, both checked. A ZIP is unpacked into a spare folder.

    Raise `ArenaError` for a partial export if a `whole` one is needed.
    """
    if place.is_dir():
        folder = place
        manifest = _manifest_of_folder(place)
        if whole:
            _refuse_partial_export(manifest)
    elif zipfile.is_zipfile(place):
        folder = spare
        with _open_zip(place) as archive:
            manifest = _manifest_of_zip(archive)
            if whole:
                _refuse_partial_export(manifest)
            _unpack(archive, manifest, spare)
    else:
        fault = "is neither a folder nor a ZIP" if place.exists() else "is not there"
        raise ArenaError("no_export", f"{place} {fault}", NAME_EXPORT)

    _check_sizes_and_hashes(folder, manifest)
    yield folder, manifest


def _manifest_of_folder(folder: Path) -> ExportManifest:
    """Return the manifest of a folder. Raise `ArenaError` if it has other files than the manifest lists."""
    path = folder / NAME
    if not path.is_file() or path.is_symlink():
        raise ArenaError("no_export", f"{folder} has no {NAME}, so it is not an export", NAME_EXPORT)

    with path.open("rb") as file:
        manifest = _read_matching_manifest(file, {item.name for item in folder.iterdir()})
    for name in manifest.files:
        if not stat.S_ISREG((folder / name).lstat().st_mode):
            raise bad_file(name, NOT_REGULAR)
    return manifest


def _manifest_of_zip(archive: zipfile.ZipFile) -> ExportManifest:
    """Return the manifest of a ZIP. Raise `ArenaError` if it holds other files than the manifest lists."""
    names = archive.namelist()
    if NAME not in names:
        raise ArenaError("no_export", f"there is no {NAME} at the top of it, so it is not an export", HINT)

    with archive.open(NAME) as file:
        manifest = _read_matching_manifest(file, set(names))

    for item in archive.infolist():
        # The file type as Unix has it; 0 where the archive names none.
        file_type = stat.S_IFMT(item.external_attr >> 16)
        if names.count(item.filename) > 1:
            raise bad_file(item.filename, "it appears twice")
        if item.is_dir() or file_type not in (0, stat.S_IFREG):
            raise bad_file(item.filename, NOT_REGULAR)
        if item.compress_type not in METHODS:
            raise bad_file(item.filename, "it uses a compression that arena share export doesn't use")
    return manifest


def _read_matching_manifest(file: IO[bytes], present_names: Set[str]) -> ExportManifest:
    """Return the manifest in a file. Raise `ArenaError` if it lists other files than these."""
    data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise bad_file(NAME, f"it is larger than {MOST_BYTES:,} bytes, so it is not an export")

    manifest = read_manifest(data)
    listed_names = {NAME, *manifest.files}
    for name in sorted(listed_names - present_names):
        raise bad_file(name, f"missing, though {NAME} lists it")
    for name in sorted(present_names - listed_names):
        raise bad_file(name, f"unexpected file: {NAME} doesn't list it")
    return manifest


def _refuse_partial_export(manifest: ExportManifest) -> None:
    """Raise `ArenaError` for a partial export, whose hashes could not be checked."""
    message = ""
    if not manifest.whole:
        cohorts = ", ".join(manifest.cohorts) or "no"
        message = f"this export has cohorts {cohorts} only: it can be read but not imported"
    elif not manifest.prompts:
        message = "this export lacks prompts and answers: it can be read but not imported"
    if message:
        hint = "make a full export: without --cohort and --no-prompts"
        raise ArenaError("part_of_export", message, hint)

    ending = form_of(manifest.form).ending
    for table in FACTS:
        name = f"{table.sheet.name}{ending}"
        if name not in manifest.files and not table.is_new:
            raise bad_file(name, f"{NAME} doesn't list it, but every export has it")


@contextmanager
def _open_zip(place: Path) -> Iterator[zipfile.ZipFile]:
    """Open a ZIP. Raise `ArenaError` if it is damaged, even if that shows only as it is read."""
    try:
        with zipfile.ZipFile(place) as archive:
            yield archive
    except BROKEN as error:
        raise bad_file(place.name, f"it can't be unpacked: {error}") from error
    except OSError as error:
        if error.errno != errno.EINVAL:  # an offset that is outside of the file
            raise
        raise bad_file(place.name, "it can't be unpacked: a part is not where the archive says") from error


def _unpack(archive: zipfile.ZipFile, manifest: ExportManifest, folder: Path) -> None:
    """Unpack every file into a folder. Raise `ArenaError` if the disk has no room for it."""
    needed = sum(file.bytes for file in manifest.files.values())
    free = shutil.disk_usage(folder).free
    if needed > free:
        message = f"unpacked, it takes {needed:,} bytes, and there are {free:,} left on the disk"
        raise ArenaError("disk_full", message, "free some space, or import elsewhere")

    for name, listed in manifest.files.items():
        with archive.open(name) as source, (folder / name).open("xb") as target:
            # No more is written than the manifest lists, whatever the archive holds.
            bytes_left = listed.bytes
            while bytes_left:
                data = source.read(min(bytes_left, CHUNK))
                if not data:
                    break
                target.write(data)
                bytes_left -= len(data)

            if bytes_left or source.read(1):
                raise bad_file(name, f"it is not {listed.bytes:,} bytes, as {NAME} says")


def _check_sizes_and_hashes(folder: Path, manifest: ExportManifest) -> None:
    """Raise `ArenaError` if a file has another size or hash than the manifest says."""
    for name, listed in manifest.files.items():
        path = folder / name
        size = path.stat().st_size
        if size != listed.bytes:
            raise bad_file(name, f"it is {size:,} bytes, and {NAME} says {listed.bytes:,}")

        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        if sha256 != listed.sha256:
            raise bad_file(name, f"it was changed: its SHA-256 is {sha256}, and {NAME} says {listed.sha256}")
