"""Disk space for the answers of calls under way, reserved before they are paid for."""

import os
import tempfile
import weakref
from dataclasses import dataclass
from pathlib import Path

from arena.errors import ArenaError

ROOM_FOR_ANSWER = 256 * 1_024
"""Bytes: a long question and its answer, in the log and again in the record."""


@dataclass(eq=False)
class AnswerRoom:
    """A file without a name that takes up room beside a record, and is gone with the process."""

    answers: int = 0
    file: int = -1
    close: "weakref.finalize[..., object] | None" = None

    def hold(self, record: Path, answers: int) -> None:
        """Reserve space for this many answers in all; raise `ArenaError` if there is none."""
        if answers <= self.answers:
            return
        try:
            self._extend(record.absolute().parent, answers)
        except OSError as error:
            words = f"there is no space to store an answer next to {record}: {error.strerror}"
            hint = "free some space; no call was made that could not be kept"
            raise ArenaError("disk_full", words, hint) from error
        self.answers = answers

    def _extend(self, folder: Path, answers: int) -> None:
        if self.close is None:
            self.file, name = tempfile.mkstemp(prefix="room-", dir=folder)
            self.close = weakref.finalize(self, os.close, self.file)
            os.unlink(name)  # noqa: PTH108

        reserved_bytes = self.answers * ROOM_FOR_ANSWER
        wanted_bytes = answers * ROOM_FOR_ANSWER
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(self.file, reserved_bytes, wanted_bytes - reserved_bytes)
        else:
            os.write(self.file, bytes(wanted_bytes - reserved_bytes))

    def release(self) -> bool:
        """Release the space for what has to be written; return whether there was any."""
        if self.close is None:
            return False
        self.close()
        self.close = None
        self.answers = 0
        return True
