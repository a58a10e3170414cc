"""What is wrong with a file of an export, in words that name file, row and column."""

from arena.errors import ArenaError

MEND = "get the export again from where it came from; nothing was changed here"


def bad_row(file: str, row: int, column: str, value: object, why: str) -> ArenaError:
    """A value that can't be what it says it is. Rows are counted from 1, without the heading."""
    shown = repr(value)
    shown = shown if len(shown) <= 60 else f"{shown[:60]}…"
    return ArenaError("bad_export", f"{file}, row {row}, {column}: {shown} {why}", MEND)


def bad_file(file: str, why: str) -> ArenaError:
    """A file that can't be read as what it is."""
    return ArenaError("bad_export", f"{file}: {why}", MEND)


def bad_text(file: str, row: int) -> ArenaError:
    """A text that no file can hold."""
    message = f"{file}, row {row}: a text in it can't be written as UTF-8"
    return ArenaError("bad_text", message, "arena verify tells what of the record can't be read")
