"""Reads the files of a source: a single file, a folder, or a ZIP."""

import os
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

from arena.errors import ArenaError
from arena.forms.csv_columns import MOST_BYTES, unpacked
from arena.forms.model import SourceFile
from arena.forms.zip_members import read_member

MOST_FILES = 20_000
ENDINGS = frozenset({".csv", ".eval", ".json", ".jsonl", ".ndjson", ".parquet", ".tsv", ".txt"})
"""The endings of files of forecasts; other files in a folder are skipped."""
PACKED = frozenset({".gz", ".zip"})


@dataclass
class _FilesRead:
    """The files read so far, and their total size in bytes."""

    files: list[SourceFile] = field(default_factory=list)
    size: int = 0

    def add(self, name: str, data: bytes) -> None:
        """Add a file; raise `ArenaError` if there are too many, or they are too large."""
        self.files.append(SourceFile(name, data))
        self.size += len(data)
        if len(self.files) > MOST_FILES or self.size > MOST_BYTES:
            what = f"{name} is one too many: a source may have {MOST_FILES:,} files and {MOST_BYTES:,} bytes"
            raise ArenaError("too_large", what, "name fewer files, or a folder within")


def read_source(place: Path) -> tuple[SourceFile, ...]:
    """Return the files of a source; those of a folder or ZIP are named by their paths within it.

    Hidden files and folders, and links that lead out of a folder, are skipped. Raise `ArenaError` if there is
    no such file, if a folder has no files of forecasts, or if there are too many.
    """
    reading = _FilesRead()
    try:
        if place.is_dir():
            for path in _files_in(place):
                _read_file(path, path.stat().st_size, reading)
        else:
            _read_file(place, place.stat().st_size, reading)
    except OSError as error:
        what = f"{place} can't be read: {error.strerror or error}"
        raise ArenaError("no_file", what, "name a file that exists") from error

    if not reading.files:
        endings = ", ".join(sorted(ENDINGS))
        raise ArenaError("no_file", f"{place} has no files of forecasts", f"they end in {endings}")
    return tuple(reading.files)


def _read_file(path: Path, size: int, reading: _FilesRead) -> None:
    """Read a file, and its members if it is a ZIP."""
    if size > MOST_BYTES:
        raise ArenaError("too_large", f"{path} has {size:,} bytes", f"{MOST_BYTES:,} can be read")

    data = path.read_bytes()
    if path.suffix.lower() == ".zip":
        _read_zip(str(path), data, reading)
    else:
        reading.add(str(path), unpacked(str(path), data))


def _read_zip(name: str, data: bytes, reading: _FilesRead) -> None:
    """Read the members of a ZIP; raise `ArenaError` if it is damaged or too large."""
    try:
        with zipfile.ZipFile(BytesIO(data)) as packed:
            for member in packed.infolist():
                if member.is_dir() or not _is_wanted(Path(member.filename)):
                    continue
                if member.file_size + reading.size > MOST_BYTES:
                    what = f"{name} unpacks to more than {MOST_BYTES:,} bytes"
                    raise ArenaError("too_large", what, "name a file of it")
                reading.add(f"{name}/{member.filename}", read_member(data, packed, member))
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError, ValueError) as error:
        raise ArenaError("bad_file", f"{name} can't be unpacked: {error}", "fetch it again") from error


def _is_wanted(path: Path) -> bool:
    """Tell whether a file within a folder may hold forecasts, by its name."""
    is_hidden = any(part.startswith(".") for part in path.parts)
    return not is_hidden and path.suffix.lower() in ENDINGS | PACKED


def _files_in(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder that may hold forecasts, in the order of their names."""
    home = folder.resolve()
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(place) / name
            if _is_wanted(Path(name)) and path.is_file() and path.resolve().is_relative_to(home):
                yield path
