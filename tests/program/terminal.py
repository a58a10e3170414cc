"""The program in a terminal, as somebody types there."""

import os
import pty
import select
from pathlib import Path

from arena.clock import timer
from tests.program.running import loaded


class Terminal:
    """The program in a terminal: what it has printed, and what is typed."""

    def __init__(self, folder: Path, *words: str, **more: str):
        self.master, self.slave = pty.openpty()
        shape = {"TERM": "xterm", "COLUMNS": "120"}
        self.process = loaded().in_terminal(folder, Path(os.ttyname(self.slave)), *words, **shape, **more)
        self.text = ""

    def until(self, words: str, seconds: float = 60) -> str:
        """Return everything printed up to these words."""
        end = timer() + seconds
        while words not in self.text and timer() < end:
            if select.select([self.master], [], [], 0.1)[0]:
                try:
                    self.text += os.read(self.master, 65_536).decode()
                except OSError:
                    break
        assert words in self.text, self.text
        return self.text

    def type(self, words: str) -> None:
        os.write(self.master, words.encode())
