"""The folder of a site: only changes are written, whole or not at all, and only our files are removed.

A list of the files that we wrote stands among them. New files are made beside the old ones and take their
places at the end, so a site that is being made, or whose making broke off, shows what it showed before.
"""

import fcntl
import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from arena.errors import ArenaError
from arena.operations.page_programs import LIST
from dashboard.site.contents import SiteFile

LOCK = ".arena-site.lock"
NEW = ".arena-site.new"
"""Our own entries beside the site and the list of its files: a lock, and unfinished files."""
FORMAT = 1
Told = Callable[[int, int], None]
"""A function that is called with how many files of how many are made."""


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file that we wrote: a hash over it, its size, and what it was made of."""

    sha256: str
    bytes: int
    state: str


@dataclass(frozen=True, slots=True)
class SiteList:
    """The files of a site by their paths, the version of the season that they show, and its address."""

    arena_site: int
    season: str
    files: dict[str, WrittenFile]
    address: str = ""


@dataclass(frozen=True, slots=True)
class SiteChanges:
    """The result of publishing: files and bytes of the site, and how many were made, written and removed."""

    files: int
    bytes: int
    made: int
    written: int
    removed: int


READER = TypeAdapter(SiteList)


def published_address(folder: Path) -> str:
    """Return the address that a site was last published for, or nothing if none is known."""
    check_site_folder(folder)
    return _read_file_list(folder).address


def write_site(folder: Path, new: SiteList, files: Sequence[SiteFile], tell: Told) -> SiteChanges:
    """Bring a folder up to these files; `new` says what they show, and has no files yet."""
    with _folder_lock(folder):
        try:
            return _update_folder(folder, _read_file_list(folder), new, files, tell)
        finally:
            shutil.rmtree(folder / NEW, ignore_errors=True)


@contextmanager
def _folder_lock(folder: Path) -> Iterator[None]:
    """Keep others from publishing to the folder meanwhile; the system releases the lock on any end."""
    check_site_folder(folder)
    _make_folder(folder)
    with (folder / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            hint = "wait for it to end; arena run publishes by itself"
            raise ArenaError("busy", f"another process is publishing to {folder}", hint) from None
        yield


def check_site_folder(folder: Path) -> None:
    """Refuse a folder with files of others."""
    if not folder.exists():
        if not folder.parent.is_dir():
            raise ArenaError("no_folder", f"there is no folder {folder.parent}", "make it, or name another")
        return
    if not folder.is_dir():
        raise ArenaError("not_a_site", f"{folder} is no folder", "name a folder")
    is_ours = (folder / LIST).is_file()
    if not is_ours and any(not file.name.startswith(".") for file in folder.iterdir()):
        hint = "name a new or empty folder: arena share site replaces and removes only what it wrote"
        raise ArenaError("not_a_site", f"{folder} holds files that arena share site did not write", hint)


def _read_file_list(folder: Path) -> SiteList:
    """Read the list of files that we wrote there."""
    list_path = folder / LIST
    if not list_path.exists():
        return SiteList(FORMAT, "", {})
    hint = "remove the folder, or name another one"
    try:
        site_list = READER.validate_json(list_path.read_bytes())
    except ValidationError as error:
        raise ArenaError("not_a_site", f"{list_path} can't be read as the list of a site", hint) from error
    if site_list.arena_site != FORMAT or not all(map(_is_inside, site_list.files)):
        raise ArenaError("not_a_site", f"{list_path} is not the list of a site by this version", hint)
    return site_list


def _is_inside(path: str) -> bool:
    """Tell whether a path is below the folder that it is relative to."""
    parts = Path(path).parts
    return bool(parts) and ".." not in parts and not Path(path).is_absolute()


def _update_folder(
    folder: Path, old_list: SiteList, new: SiteList, files: Sequence[SiteFile], tell: Told
) -> SiteChanges:
    """Write changed files to a folder of their own, then replace the old ones and remove those that are gone.

    Return how many files there are, and how many were made, changed and removed.
    """
    old_files = old_list.files
    new_files: dict[str, WrittenFile] = {}
    changed = []
    made_count = 0
    shutil.rmtree(folder / NEW, ignore_errors=True)
    for number, file in enumerate(files, start=1):
        old_file = old_files.get(file.path)
        if old_file is not None and _size(folder / file.path) != old_file.bytes:
            old_file = None
        if old_file is not None and old_file.state == file.state:
            new_files[file.path] = old_file
            tell(number, len(files))
            continue

        made_count += 1
        data = _as_bytes(file.make())
        written = WrittenFile(sha256(data).hexdigest(), len(data), file.state)
        new_files[file.path] = written
        if old_file is None or old_file.sha256 != written.sha256:
            _refuse_foreign(folder, file.path, old_files)
            _write_file(folder / NEW / file.path, data)
            changed.append(file.path)
        tell(number, len(files))

    removed = [path for path in old_files if path not in new_files]
    if replace(new, files=new_files) != old_list:
        # The list goes before the files: if this is cut off, the next run makes the unconfirmed ones again.
        unconfirmed = {path: replace(new_files[path], state="") for path in changed}
        with _deferred_stop_signals():
            _write_file_list(folder, replace(new, season="", files=old_files | new_files | unconfirmed))
            for path in changed:
                _make_folder((folder / path).parent)
                (folder / NEW / path).replace(folder / path)
            for path in removed:
                _remove(folder, path, old_files[path])
            _write_file_list(folder, replace(new, files=dict(sorted(new_files.items()))))

    size = sum(file.bytes for file in new_files.values())
    return SiteChanges(len(new_files), size, made_count, len(changed), len(removed))


def _as_bytes(made: str | bytes) -> bytes:
    """Return the content of a file."""
    if isinstance(made, bytes):
        return made
    return made.encode()


@contextmanager
def _deferred_stop_signals() -> Iterator[None]:
    """Hold back a request to stop until this is done."""
    signals = {signal.SIGINT, signal.SIGTERM}
    previous_mask = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous_mask)


def _size(path: Path) -> int | None:
    """Return the size of a file, or None if there is none."""
    try:
        return path.stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        return None


def _refuse_foreign(folder: Path, path: str, before: dict[str, WrittenFile]) -> None:
    """Raise if something that we did not write is in the way of a file."""
    if path not in before and os.path.lexists(folder / path):
        hint = "move it away, or publish to another folder"
        raise ArenaError(
            "not_a_site", f"{folder / path} is in the way: arena share site did not write it", hint
        )


def _write_file(path: Path, data: bytes) -> None:
    """Write a file that anybody may read, as it is published, whatever the permissions of the record."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(0o644)


def _make_folder(path: Path) -> None:
    """Make a folder that anybody may read, unless it exists."""
    if not path.is_dir():
        path.mkdir()
        path.chmod(0o755)


def _write_file_list(folder: Path, site_list: SiteList) -> None:
    """Write the list of our files, atomically."""
    _write_file(folder / NEW / LIST, (json.dumps(asdict(site_list), indent=1) + "\n").encode())
    (folder / NEW / LIST).replace(folder / LIST)


def _remove(folder: Path, path: str, written: WrittenFile) -> None:
    """Remove a file that we wrote and nobody has changed since, then its folder if it is empty."""
    file_path = folder / path
    if file_path.is_file() and sha256(file_path.read_bytes()).hexdigest() == written.sha256:
        file_path.unlink()
        if file_path.parent != folder and not any(file_path.parent.iterdir()):
            file_path.parent.rmdir()
