"""A venue's answers on disk, so that what was asked once is not asked again, whoever was killed meanwhile."""

import sqlite3
import zlib
from pathlib import Path


class AnswerStore:
    """Answers by their questions, each kept before anything is made of it. Empty is that of nothing there."""

    def __init__(self, path: Path):
        self._base = sqlite3.connect(path, isolation_level=None)
        self._base.execute("PRAGMA journal_mode = WAL")
        self._base.execute("PRAGMA synchronous = NORMAL")
        self._base.execute("CREATE TABLE IF NOT EXISTS answer (question TEXT PRIMARY KEY, body BLOB)")
        self.asked = self.kept = 0

    def get(self, question: str) -> bytes | None:
        """The answer to a question, if it is there."""
        row = self._base.execute("SELECT body FROM answer WHERE question = ?", (question,)).fetchone()
        self.kept += row is not None
        return None if row is None else zlib.decompress(row[0])

    def put(self, question: str, body: bytes) -> None:
        """Keep an answer."""
        self._base.execute("INSERT OR REPLACE INTO answer VALUES (?, ?)", (question, zlib.compress(body, 1)))
        self.asked += 1

    def close(self) -> None:
        """Nothing is read or kept afterwards."""
        self._base.close()
