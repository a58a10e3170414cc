"""The files of a bundle as numbered lines, within bounds: nothing outside the folder, nothing endless."""

import gzip
import hashlib
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

from markets.bundle.journal import JOURNAL, NAMES, unfinished
from markets.bundle.mistakes import BadBundleValue, Mistakes

MARKETS, PRICES, BOOKS, ENDS = NAMES
NEEDED = (MARKETS, PRICES)

MOST_BYTES = 1 << 28
"""The most that a file may hold, unpacked."""
MOST_LINE = 1 << 22

Numbered = Iterator[tuple[int, str]]
Hash = Any


class MistakeSink(Protocol):
    """Where mistakes of one file go."""

    def __call__(self, line: int, wrong: str, meant: str) -> None: ...


@dataclass(frozen=True, slots=True)
class BundleFile:
    """A file of a bundle, as far as it is whole: what an append has only begun to add isn't read."""

    path: Path
    size: int


def find_files(folder: Path, mistakes: Mistakes) -> dict[str, BundleFile]:
    """The files of a bundle by their plain names. Each may be packed with gzip; none may lie elsewhere."""
    files: dict[str, BundleFile] = {}
    if not folder.is_dir():
        mistakes.add(folder.name, 0, "no such folder", "a folder with a recording")
        return files
    try:
        sizes = unfinished(folder)
    except (BadBundleValue, OSError) as error:
        mistakes.add(JOURNAL, 0, "something that is not our journal", f"none ({error})")
        return files
    for name in NAMES:
        paths = [
            path
            for path in (folder / name, folder / f"{name}.gz")
            if (path.is_symlink() or path.exists()) and sizes.get(path.name, 0) is not None
        ]
        if len(paths) > 1:
            mistakes.add(name, 0, f"both {name} and {name}.gz", "one of them")
        elif not paths and name in NEEDED:
            mistakes.add(name, 0, "no such file", f"{name} or {name}.gz")
        elif paths and not (paths[0].is_file() and paths[0].resolve().parent == folder.resolve()):
            mistakes.add(paths[0].name, 0, "a file outside this folder", "a regular file")
        elif paths:
            whole = sizes.get(paths[0].name)
            files[name] = BundleFile(paths[0], paths[0].stat().st_size if whole is None else whole)
    return files


def lines(part: BundleFile, seen: Hash, tell: MistakeSink) -> Numbered:
    """The lines of a file that are texts, numbered from 1; what can't be read is told. `seen` hashes all."""
    number = 0
    try:
        with open_file(part) as file:
            total = 0
            while line := file.readline(MOST_LINE + 1):
                number += 1
                total += len(line)
                if len(line) > MOST_LINE or total > MOST_BYTES:
                    tell(
                        number, "more than fits", f"at most {MOST_LINE:,} bytes a line, {MOST_BYTES:,} a file"
                    )
                    return
                seen.update(line)
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
    """A file to be read, unpacked if it is packed."""
    with io.BufferedReader(_Front(part), 1 << 16) as whole:
        if part.path.suffix != ".gz":
            yield whole
            return
        with gzip.GzipFile(fileobj=whole) as unpacked:
            yield cast("BinaryIO", unpacked)


class _Front(io.RawIOBase):
    """The first bytes of a file, as if it had no more."""

    def __init__(self, part: BundleFile):
        self._file, self._left = part.path.open("rb", buffering=0), part.size

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
    """The hash of a bundle's files without looking into them; nothing where they can't be used."""
    mistakes, seen = Mistakes(), dict[str, Hash]()
    try:
        for name, part in find_files(folder, mistakes).items():
            seen[name] = hashlib.sha256()
            with open_file(part) as file:
                while some := file.read(1 << 20):
                    seen[name].update(some)
    except (OSError, EOFError, zlib.error):
        return ""
    return "" if mistakes.count else hash_of_all(seen)


def hash_of_all(seen: dict[str, Hash]) -> str:
    """One hash for all files of a bundle, as they are unpacked."""
    whole = hashlib.sha256()
    for name in sorted(seen):
        whole.update(f"{name} {seen[name].hexdigest()}\n".encode())
    return whole.hexdigest()
