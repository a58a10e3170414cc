"""A text that a command is given as a file."""

import sys
from pathlib import Path

from arena.errors import ArenaError


def text_of(file: Path) -> str:
    """The text of a file in UTF-8, with or without a mark at its beginning; `-` is the standard input."""
    try:
        data = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise ArenaError(
            "no_file", f"{file} can't be read: {error.strerror}", "name a file that exists"
        ) from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ArenaError("bad_file", f"{file}:{line}: this is not UTF-8", "save the file as UTF-8") from error
