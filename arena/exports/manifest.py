"""What an export says of itself, and an export opened: whether it is what its manifest says, nothing else.

No path is taken from a file: only the names that a manifest may hold are opened, and no more bytes are
unpacked than it says there are.
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
FILE_NAME = re.compile(r"[a-z_]{1,40}\.(?:csv|parquet|jsonl|md)")
Count = Annotated[int, Field(ge=0, strict=True)]


def _file_name(name: str) -> str:
    if not FILE_NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not part of an export: such a path is not opened")
    return name


@dataclass(frozen=True, slots=True)
class ExportFile:
    """A file of an export: how many rows and bytes it has, and the SHA-256 of these."""

    rows: Count
    bytes: Count
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


@dataclass(frozen=True, slots=True, config=ConfigDict(extra="forbid"))
class ExportManifest:
    """An export in figures. `whole` is with every cohort, `prompts` with what models were asked and answered.

    `cohorts` has the hash of each by its number, `state_hash` is that of the whole record; it is empty
    for a part of one.
    """

    form: str
    made_at: str
    code_version: str
    schema: str
    whole: bool
    prompts: bool
    state_hash: str
    cohorts: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[Annotated[str, AfterValidator(_file_name)], ExportFile] = field(default_factory=dict)

    def text(self) -> str:
        """The manifest as it is written: the last line seals all others."""
        content = {"kind": KIND, "version": VERSION} | asdict(self)
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        seal = hashlib.sha256(text.encode()).hexdigest()
        return json.dumps(content | {"seal": seal}, indent=2, ensure_ascii=False) + "\n"


def is_export(folder: Path) -> bool:
    """Whether a folder holds an export, or what is left of one."""
    path = folder / NAME
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return MARK in file.read(200)


def is_zipped_export(path: Path) -> bool:
    """Whether a file is an export in one."""
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        if NAME not in archive.namelist():
            return False
        with archive.open(NAME) as file:
            return MARK in file.read(200)


def read_manifest(data: bytes) -> ExportManifest:
    """The manifest behind its bytes; an error where it is none of ours, is newer, or was changed."""
    try:
        content = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _bad(f"can't be read: {error}") from error
    if not isinstance(content, dict) or content.get("kind") != KIND:
        raise _bad("is not the manifest of an arena share export")
    if content.get("version") != VERSION:
        message = f"{NAME} is of version {content.get('version')!r}; this program knows version {VERSION}"
        raise ArenaError("newer_export", message, "update paper-arena, then try again")
    sealed = {name: value for name, value in content.items() if name not in ("kind", "version", "seal")}
    try:
        manifest = TypeAdapter(ExportManifest).validate_python(sealed)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        why = first["msg"].removeprefix("Value error, ")
        raise _bad(f"is not right at {'.'.join(map(str, first['loc']))}: {why}") from error
    if manifest.text().encode() != data:
        raise _bad("was changed after it was written: its seal doesn't match")
    return manifest


def _bad(why: str) -> ArenaError:
    return ArenaError("bad_export", f"{NAME} {why}", HINT)


@contextmanager
def folder_next_to(place: Path, hint: str) -> Iterator[Path]:
    """A folder of our own next to a place, gone afterwards; what the disk refuses is told in words."""
    try:
        with tempfile.TemporaryDirectory(dir=place.absolute().parent, prefix=f".{place.name}.") as folder:
            yield Path(folder)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            room = "free some space, or write to another disk; no partial files were left"
            raise ArenaError("disk_full", f"the disk is full: cannot write {place}", room) from error
        raise ArenaError("not_writable", f"{place} can't be written: {error.strerror}", hint) from error


CHUNK = 1 << 20
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
BROKEN = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, RuntimeError, ValueError)
"""What Python's library says of a ZIP that is damaged or encrypted."""


@contextmanager
def open_export(place: Path, spare: Path, *, whole: bool) -> Iterator[tuple[Path, ExportManifest]]:
    """The folder of an export, and its manifest, both checked; a ZIP is unpacked into a spare folder.

    An export of a part of a record is refused where a `whole` one is needed.
    """
    if place.is_dir():
        folder, manifest = place, _check_folder(place)
        if whole:
            _refuse_part(manifest)
    elif zipfile.is_zipfile(place):
        with _open_zip(place) as archive:
            folder, manifest = spare, _check_zip(archive)
            if whole:
                _refuse_part(manifest)
            _unpack(archive, manifest, spare)
    else:
        why = "is neither a folder nor a ZIP" if place.exists() else "is not there"
        raise ArenaError("no_export", f"{place} {why}", NAME_EXPORT)
    _check_files(folder, manifest)
    yield folder, manifest


def _check_folder(folder: Path) -> ExportManifest:
    path = folder / NAME
    if not path.is_file() or path.is_symlink():
        raise ArenaError("no_export", f"{folder} has no {NAME}, so it is not an export", NAME_EXPORT)
    with path.open("rb") as file:
        manifest = _check_manifest(file, {item.name for item in folder.iterdir()})
    for name in manifest.files:
        if not stat.S_ISREG((folder / name).lstat().st_mode):
            raise bad_file(name, "not a regular file (links are not followed)")
    return manifest


def _check_zip(archive: zipfile.ZipFile) -> ExportManifest:
    names = [item.filename for item in archive.infolist()]
    if NAME not in names:
        raise ArenaError("no_export", f"there is no {NAME} at the top of it, so it is not an export", HINT)
    with archive.open(NAME) as file:
        manifest = _check_manifest(file, set(names))
    for item in archive.infolist():
        if names.count(item.filename) > 1:
            raise bad_file(item.filename, "it appears twice")
        kind = stat.S_IFMT(item.external_attr >> 16)
        if item.is_dir() or kind not in (0, stat.S_IFREG):
            raise bad_file(item.filename, "not a regular file (links are not followed)")
        if item.compress_type not in METHODS:
            raise bad_file(item.filename, "it uses a compression that arena share export doesn't use")
    return manifest


def _check_manifest(file: IO[bytes], names: Set[str]) -> ExportManifest:
    """The manifest, if these are the files that it names."""
    data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise bad_file(NAME, f"it is larger than {MOST_BYTES:,} bytes, so it is not an export")
    manifest, there = read_manifest(data), names - {NAME}
    for name in sorted(manifest.files.keys() - there):
        raise bad_file(name, f"missing, though {NAME} lists it")
    for name in sorted(there - manifest.files.keys()):
        raise bad_file(name, f"unexpected file: {NAME} doesn't list it")
    return manifest


def _refuse_part(manifest: ExportManifest) -> None:
    """A part of a record is no record: its hashes could not be checked."""
    hint = "make a full export: without --cohort and --no-prompts"
    if not manifest.whole:
        some = ", ".join(manifest.cohorts) or "no"
        message = f"this export has cohorts {some} only: it can be read but not imported"
        raise ArenaError("part_of_export", message, hint)
    if not manifest.prompts:
        message = "this export lacks prompts and answers: it can be read but not imported"
        raise ArenaError("part_of_export", message, hint)
    ending = form_of(manifest.form).ending
    for each in FACTS:
        if f"{each.sheet.name}{ending}" not in manifest.files and not each.is_new:
            raise bad_file(f"{each.sheet.name}{ending}", f"{NAME} doesn't list it, but every export has it")


@contextmanager
def _open_zip(place: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(place) as archive:
            yield archive
    except BROKEN as error:
        raise bad_file(place.name, f"it can't be unpacked: {error}") from error
    except OSError as error:
        if error.errno != errno.EINVAL:  # a place in the file that can't be
            raise
        raise bad_file(place.name, "it can't be unpacked: a part is not where the archive says") from error


def _unpack(archive: zipfile.ZipFile, manifest: ExportManifest, folder: Path) -> None:
    """Every file into a folder, as far as there is room for what the manifest says."""
    needed, free = sum(x.bytes for x in manifest.files.values()), shutil.disk_usage(folder).free
    if needed > free:
        message = f"unpacked, it takes {needed:,} bytes, and there are {free:,} left on the disk"
        raise ArenaError("disk_full", message, "free some space, or import elsewhere")
    for name, about in manifest.files.items():
        with archive.open(name) as source, (folder / name).open("xb") as target:
            left = about.bytes
            while left and (data := source.read(min(left, CHUNK))):
                target.write(data)
                left -= len(data)
            if left or source.read(1):
                raise bad_file(name, f"it is not {about.bytes:,} bytes, as {NAME} says")


def _check_files(folder: Path, manifest: ExportManifest) -> None:
    """That every file has the size and the hash that the manifest says."""
    for name, about in manifest.files.items():
        path = folder / name
        size = path.stat().st_size
        if size != about.bytes:
            raise bad_file(name, f"it is {size:,} bytes, and {NAME} says {about.bytes:,}")
        with path.open("rb") as file:
            file_hash = hashlib.file_digest(file, "sha256").hexdigest()
        if file_hash != about.sha256:
            raise bad_file(
                name, f"it was changed: its SHA-256 is {file_hash}, and {NAME} says {about.sha256}"
            )
