"""What an export says of itself: its form, every file with its size and hash, and the hash of the season."""

import hashlib
import json
import re
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from arena.errors import ArenaError
from arena.store.export.forms.faults import MEND

NAME = "manifest.json"
KIND = "paper-arena export"
VERSION = 1
MOST_BYTES = 1_000_000
FILE_NAME = re.compile(r"[a-z_]{1,40}\.(?:csv|parquet|jsonl|md)")
HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class File:
    """A file of an export: how many rows and bytes it has, and the SHA-256 of these."""

    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
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
    files: Mapping[str, File] = field(default_factory=dict)

    def text(self) -> str:
        """The manifest as it is written: the last line seals all others."""
        said = {"kind": KIND, "version": VERSION} | asdict(self)
        return json.dumps(said | {"seal": _seal(said)}, indent=2, ensure_ascii=False) + "\n"


def _seal(said: Mapping[str, Any]) -> str:
    text = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def is_export(folder: Path) -> bool:
    """Whether a folder holds an export, or what is left of one."""
    path = folder / NAME
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return _begins(file)


def is_zipped_export(path: Path) -> bool:
    """Whether a file is an export in one."""
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        if NAME not in archive.namelist():
            return False
        with archive.open(NAME) as file:
            return _begins(file)


def _begins(file: IO[bytes]) -> bool:
    return f'"{KIND}"'.encode() in file.read(200)


def read_manifest(data: bytes) -> Manifest:
    """The manifest behind its bytes; an error where it is none of ours, is newer, or was changed."""
    said = _parsed(data)
    if not isinstance(said, dict) or said.get("kind") != KIND:
        raise _bad("is not that of an export of this program")
    if said.get("version") != VERSION:
        message = f"{NAME} is of version {said.get('version')!r}; this program knows version {VERSION}"
        raise ArenaError("newer_export", message, "update paper-arena, then try again")
    seal = {name: value for name, value in said.items() if name not in ("kind", "version", "seal")}
    try:
        found = _manifest(seal)
    except (TypeError, KeyError, AttributeError) as error:
        raise _bad(f"is not complete: {error}") from error
    if found.text().encode() != data:
        raise _bad("was changed after it was written: its seal doesn't fit")
    return found


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _bad(f"can't be read: {error}") from error


def _manifest(said: Mapping[str, Any]) -> Manifest:
    files = {name: File(**file) for name, file in said["files"].items()}
    found = Manifest(**{**said, "files": files})
    texts = (found.form, found.made_at, found.code_version, found.schema, found.state_hash)
    if not all(isinstance(text, str) for text in (*texts, *found.cohorts.values())):
        raise TypeError("a text is none")
    for name, file in files.items():
        if not FILE_NAME.fullmatch(name):
            raise _bad(f"names {name!r}, which is no file of an export: such a path is never opened")
        if not _counts(file.rows, file.bytes) or not HASH.fullmatch(file.sha256):
            raise _bad(f"has no rows, bytes and hash of {name}")
    return found


def _counts(*values: object) -> bool:
    return all(type(value) is int and value >= 0 for value in values)


def _bad(why: str) -> ArenaError:
    return ArenaError("bad_export", f"{NAME} {why}", MEND)


def total_bytes(manifest: Manifest) -> int:
    """How large all files are together."""
    return sum(file.bytes for file in manifest.files.values())
