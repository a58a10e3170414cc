"""The files of a bundle: read as numbered lines, and appended to together, all of them or none.

Nothing outside the folder is read, and nothing endless. An append that was cut off never happened.
"""

import csv
import fcntl
import gzip
import hashlib
import io
import json
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

from markets.bundle.model import BadBundleValue, Mistakes, shown_value
from markets.venue import VenueError

NAMES = ("markets.jsonl", "prices.csv", "books.jsonl", "resolutions.csv")
"""Each may be compressed, with `.gz` appended to its name."""
MARKETS, PRICES, BOOKS, ENDS = NAMES
NEEDED = (MARKETS, PRICES)
JOURNAL = ".unfinished.json"
"""The journal of an append under way: the sizes of the files before it."""
MOST_BYTES = 1 << 28
"""The most that a file may hold, unpacked."""
MOST_LINE = 1 << 22
NEW = "record into a new folder"

Numbered = Iterator[tuple[int, str]]
Hash = Any
Rows = Sequence[Mapping[str, object]]
Sizes = Mapping[str, int | None]
"""Bytes by a file's name; None where there was no such file."""


class MistakeSink(Protocol):
    """A callback that collects the mistakes of one file."""

    def __call__(self, line: int, wrong: str, meant: str) -> None: ...


@dataclass(frozen=True, slots=True)
class BundleFile:
    """A file of a bundle up to its committed size: what an unfinished append has added isn't read."""

    path: Path
    size: int


def find_files(folder: Path, mistakes: Mistakes) -> dict[str, BundleFile]:
    """Return the files of a bundle by their plain names; each may be packed with gzip, none a link."""
    files: dict[str, BundleFile] = {}
    if not folder.is_dir():
        mistakes.add(folder.name, 0, "no such folder", "a folder with a recording")
        return files

    try:
        unfinished_sizes = read_journal(folder)
    except (BadBundleValue, OSError) as error:
        mistakes.add(JOURNAL, 0, "something that is not our journal", f"none ({error})")
        return files

    for name in NAMES:
        candidates = (folder / name, folder / f"{name}.gz")
        present = [path for path in candidates if path.is_symlink() or path.exists()]
        paths = [path for path in present if unfinished_sizes.get(path.name, 0) is not None]

        if len(paths) > 1:
            mistakes.add(name, 0, f"both {name} and {name}.gz", "one of them")
        elif not paths and name in NEEDED:
            mistakes.add(name, 0, "no such file", f"{name} or {name}.gz")
        elif paths and not (paths[0].is_file() and paths[0].resolve().parent == folder.resolve()):
            mistakes.add(paths[0].name, 0, "a file outside this folder", "a regular file")
        elif paths:
            size_before_append = unfinished_sizes.get(paths[0].name)
            files[name] = BundleFile(
                paths[0], paths[0].stat().st_size if size_before_append is None else size_before_append
            )

    return files


def numbered_lines(part: BundleFile, content_hash: Hash, tell: MistakeSink) -> Numbered:
    """Yield the numbered lines of text of a file, add their bytes to `content_hash`, and report mistakes."""
    number = 0
    try:
        with open_file(part) as file:
            bytes_read = 0
            while line := file.readline(MOST_LINE + 1):
                number += 1
                bytes_read += len(line)
                if len(line) > MOST_LINE or bytes_read > MOST_BYTES:
                    tell(
                        number, "more than fits", f"at most {MOST_LINE:,} bytes a line, {MOST_BYTES:,} a file"
                    )
                    return

                content_hash.update(line)
                try:
                    text = line.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError:
                    tell(number, "bytes that are not text", "text in UTF-8")
                else:
                    if text.strip():
                        yield number, text
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error) or "it ends too early"
        tell(number + 1, f"unreadable data ({reason})", "a whole file")


@contextmanager
def open_file(part: BundleFile) -> Iterator[BinaryIO]:
    """Open a file for reading, and unpack it if it is packed."""
    with io.BufferedReader(_Front(part), 1 << 16) as whole:
        if part.path.suffix != ".gz":
            yield whole
            return
        with gzip.GzipFile(fileobj=whole) as unpacked:
            yield cast("BinaryIO", unpacked)


class _Front(io.RawIOBase):
    """The first bytes of a file, as if the file ended after them."""

    def __init__(self, part: BundleFile):
        self._file = part.path.open("rb", buffering=0)
        self._left = part.size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._file.readinto(memoryview(buffer)[: self._left]) or 0
        self._left -= count
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


def hash_file(folder: Path) -> str:
    """Return the hash of a bundle's files without parsing them, or "" if they can't be used."""
    mistakes = Mistakes()
    hash_by_name = dict[str, Hash]()
    try:
        for name, part in find_files(folder, mistakes).items():
            hash_by_name[name] = hashlib.sha256()
            with open_file(part) as file:
                while chunk := file.read(1 << 20):
                    hash_by_name[name].update(chunk)
    except (OSError, EOFError, zlib.error):
        return ""

    if mistakes.count:
        return ""
    return hash_of_all(hash_by_name)


def hash_of_all(seen: dict[str, Hash]) -> str:
    """Return one hash over the unpacked content of all files of a bundle."""
    whole = hashlib.sha256()
    for name in sorted(seen):
        whole.update(f"{name} {seen[name].hexdigest()}\n".encode())
    return whole.hexdigest()


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Lock the folder for this process, make it if need be, and roll back an append that was cut off."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder_descriptor = os.open(folder, os.O_RDONLY)
        try:
            _lock(folder_descriptor, folder)
            roll_back_append(folder)
            yield
        finally:
            os.close(folder_descriptor)
    except (OSError, sqlite3.Error) as error:
        message = f"{folder} can't be written to: {getattr(error, 'strerror', None) or error}"
        raise VenueError("not_writable", message, "free some space, or name another folder") from error


def _lock(held: int, folder: Path) -> None:
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        words = f"another process writes to {folder}"
        raise VenueError("busy", words, "wait until it is done, or write to another folder") from error


def begin(folder: Path, paths: Iterable[Path]) -> None:
    """Write the current sizes of these files to the journal."""
    sizes = {path.name: path.stat().st_size if path.exists() else None for path in paths}
    draft = folder / f"{JOURNAL}.new"
    with draft.open("w", encoding="utf-8") as file:
        json.dump(sizes, file)
        file.flush()
        os.fsync(file.fileno())

    draft.replace(folder / JOURNAL)
    sync_to_disk(folder)


def finish(folder: Path) -> None:
    """Commit the append: remove its journal."""
    (folder / JOURNAL).unlink()
    sync_to_disk(folder)


def roll_back_append(folder: Path) -> None:
    """Cut off what an unfinished append added to the files."""
    sizes = read_journal(folder)
    for name, size in sizes.items():
        path = folder / name
        if size is None:
            path.unlink(missing_ok=True)
        elif path.exists() and path.stat().st_size > size:
            os.truncate(path, size)

    if sizes:
        finish(folder)


def read_journal(folder: Path) -> Sizes:
    """Return the sizes of the files before an append under way or cut off; empty without one.

    The journal of a bundle that came from elsewhere is no licence to cut other files than a bundle's own.
    """
    try:
        sizes = json.loads((folder / JOURNAL).read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except ValueError as error:
        raise BadBundleValue("no JSON", "the sizes of files") from error

    if not isinstance(sizes, dict) or not all(_is_own(folder, *item) for item in sizes.items()):
        raise BadBundleValue(shown_value(sizes), "the sizes of files of this folder")
    return sizes


def _is_own(folder: Path, name: str, size: object) -> bool:
    if name.removesuffix(".gz") not in NAMES or (folder / name).is_symlink():
        return False
    return size is None or (isinstance(size, int) and size >= 0)


def sync_to_disk(path: Path) -> None:
    """Flush a file, or a folder's list of files, to disk, where it survives a power cut."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def file_in_bundle(folder: Path, name: str) -> Path:
    """Return the path of a file in a bundle: the packed one if it exists."""
    packed = folder / f"{name}.gz"
    if packed.exists():
        return packed
    return folder / name


def append(folder: Path, rows: Mapping[str, Rows], columns: Mapping[str, Sequence[str]]) -> None:
    """Append rows to files of a bundle, as CSV with columns or as JSON; the caller holds `alone`."""
    new_content = {}
    for name, new_rows in rows.items():
        path = file_in_bundle(folder, name)
        if new_rows or (name in NEEDED and not path.exists()):
            new_content[path] = _appended_text(path, new_rows, columns.get(name))

    add_all(folder, new_content)


def add_all(folder: Path, new_content: Mapping[Path, bytes]) -> None:
    """Append data to files of a bundle: to all of them or to none."""
    if not new_content:
        return

    try:
        begin(folder, new_content)
        for path, data in new_content.items():
            with path.open("ab") as file:
                file.write(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
                file.flush()
                os.fsync(file.fileno())
    except OSError:
        roll_back_append(folder)
        raise

    finish(folder)


def _appended_text(path: Path, rows: Rows, columns: Sequence[str] | None) -> bytes:
    """Return the new lines of a file; a new table begins with its header, an old one must have the same."""
    first_line, is_last_line_whole, size = _first_line_and_size(path)
    text = io.StringIO()
    if rows and not is_last_line_whole:
        text.write("\n")

    if columns is None:
        text.writelines(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    else:
        table = csv.DictWriter(text, columns, lineterminator="\n")
        if not first_line:
            table.writeheader()
        elif first_line.strip() != ",".join(columns):
            message = (
                f"{path} has the columns {first_line.strip()[:200]}; what is added has {','.join(columns)}"
            )
            raise VenueError("other_columns", message, NEW)
        table.writerows(rows)

    data = text.getvalue().encode()
    if size + len(data) > MOST_BYTES:
        raise VenueError("full", f"{path} would hold more than {MOST_BYTES:,} bytes", NEW)
    return data


def _first_line_and_size(path: Path) -> tuple[str, bool, int]:
    """Return the first line of a file, whether its last line is complete, and its unpacked size."""
    if not path.exists():
        return "", True, 0

    size = 0
    with open_file(BundleFile(path, path.stat().st_size)) as file:
        first_line = last_line = b""
        for line in file:
            first_line = first_line or line
            last_line = line
            size += len(line)

    return first_line.decode("utf-8-sig"), not last_line or last_line.endswith(b"\n"), size
