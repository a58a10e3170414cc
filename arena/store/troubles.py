"""What a database complains of, in plain words."""

from sqlalchemy import Engine, event
from sqlalchemy.engine import ExceptionContext

from arena.errors import ArenaError

TROUBLES = (
    (
        "unable to open database file",
        "cannot_open",
        "{} can't be opened",
        "is it a file, and may you write there?",
    ),
    ("is not a database", "not_a_record", "{} is not a record", "name another file with --database"),
    ("disk image is malformed", "damaged", "{} is damaged", "restore a backup"),
    ("readonly database", "read_only", "{} can only be read", "may you write to the file and its folder?"),
    ("database is locked", "locked", "{} is in use by another process", "try again when that has ended"),
    ("disk I/O error", "disk_error", "the disk failed at {}", "look after the disk, then try again"),
    ("disk is full", "disk_full", "there is no room left to write {}", "free some space; nothing is lost"),
)
"""Part of what the driver says, our code for it, what has happened, and how to mend it."""


def speak_plainly(engine: Engine, name: str) -> None:
    """Turn the driver's errors that a user can mend into our own, which name the record."""

    @event.listens_for(engine, "handle_error")
    def translate(context: ExceptionContext) -> None:
        said = str(context.original_exception)
        for words, code, message, mend in TROUBLES:
            if words in said:
                raise ArenaError(code, message.format(name), mend) from context.original_exception
