"""Who writes to a bundle, and how far its files are whole: an append that was cut off never happened."""

import fcntl
import json
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from markets.bundle.mistakes import BadBundleValue, shown_value
from markets.venue import VenueError

NAMES = ("markets.jsonl", "prices.csv", "books.jsonl", "resolutions.csv")
"""The files of a bundle. Each may be packed, and is then called so with `.gz` behind."""
JOURNAL = ".unfinished.json"
"""Lies in the folder while files get longer, and says how long they were before."""

Sizes = Mapping[str, int | None]
"""Bytes by a file's name; None where there was no such file."""


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Make the folder if need be, and write to it as the only process; mend what another one left behind."""
    folder.mkdir(parents=True, exist_ok=True)
    held = os.open(folder, os.O_RDONLY)
    try:
        _lock(held, folder)
        take_back(folder)
        yield
    finally:
        os.close(held)


def _lock(held: int, folder: Path) -> None:
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        words = f"another process writes to {folder}"
        raise VenueError("busy", words, "wait until it is done, or write to another folder") from error


def begin(folder: Path, paths: Collection[Path]) -> None:
    """Write down how long these files are now."""
    sizes = {path.name: path.stat().st_size if path.exists() else None for path in paths}
    draft = folder / f"{JOURNAL}.new"
    with draft.open("w", encoding="utf-8") as file:
        json.dump(sizes, file)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(folder / JOURNAL)
    _keep(folder)


def finish(folder: Path) -> None:
    """What was added counts from here on."""
    (folder / JOURNAL).unlink()
    _keep(folder)


def take_back(folder: Path) -> None:
    """Cut off what was added by an append that did not finish."""
    sizes = unfinished(folder)
    for name, size in sizes.items():
        path = folder / name
        if size is None:
            path.unlink(missing_ok=True)
        elif path.exists() and path.stat().st_size > size:
            os.truncate(path, size)
    if sizes:
        finish(folder)


def unfinished(folder: Path) -> Sizes:
    """How long the files were before the append that is under way or was cut off; nothing if there is none.

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
    own = name.removesuffix(".gz") in NAMES and not (folder / name).is_symlink()
    return own and (size is None or (isinstance(size, int) and size >= 0))


def _keep(folder: Path) -> None:
    """Have the folder's own list of files on disk."""
    held = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(held)
    finally:
        os.close(held)
