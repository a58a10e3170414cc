"""What a config names beside itself: files of text, and Python of one's own."""

from pathlib import Path
from types import ModuleType

from agents.model import Unreadable
from markets.registry import load_file

MOST_BYTES = 10_000_000


def read(folder: Path, name: str) -> str:
    """The text of a file; its path starts from the config's folder."""
    path = folder / name
    if not path.is_file():
        raise Unreadable(f"there is no file {name} beside the config. Put it there, or name another one")
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise Unreadable(f"{name} can't be read: {error.strerror}. Make it readable") from error
    if len(data) > MOST_BYTES:
        raise Unreadable(f"{name} has more than {MOST_BYTES:,} bytes. Take out what is long past")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Unreadable(f"{name}:{line}: this is not text in UTF-8. Save the file as UTF-8") from error


def load(folder: Path, name: str) -> ModuleType:
    """The module of that name in the config's folder, or in `extensions/` there."""
    paths = [folder / f"{name}.py", folder / "extensions" / f"{name}.py"]
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        words = f"there is no {name}.py beside the config, nor in extensions/ there"
        raise Unreadable(f"{words}. Put the function there, or name another module")
    try:
        return load_file(path)
    except (Exception, SystemExit) as error:
        raise Unreadable(f"{name}.py can't be loaded: {type(error).__name__}: {error}. Mend it") from error
