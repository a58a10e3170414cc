"""A reader of its own that sees what each commit has changed in the record of a simulated season."""

import json
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NOW_THERE = """
SELECT
  (SELECT json_group_array(json_array(round_id, entrant_id, token, holder, beat)) FROM claim),
  (SELECT json_group_array(json_array(name, token, holder, beat)) FROM lease),
  (SELECT json_group_array(json_array(id, round_id, entrant_id, provider, holder, beat)) FROM reservation),
  (SELECT json_group_array(json_array(round_id, entrant_id, status, hash)) FROM turn),
  (SELECT json_array(count(*), max(id)) FROM call),
  (SELECT json_array(
    (SELECT json_group_array(json_array(name, due_at, started_at, ended_at, failures)) FROM job),
    (SELECT max(id) FROM snapshot), (SELECT max(id) FROM resolution), (SELECT count(*) FROM mark),
    (SELECT count(*) FROM round WHERE done)))
"""
CALLS = """
SELECT id, round_id, entrant_id, messages, seed, stage, sample, error_code, error_message, hash FROM call
"""

TurnKey = tuple[int, int]
"""The numbers of a round and of an entrant."""


@dataclass(frozen=True, slots=True)
class CallSeen:
    """The row of a call: its turn, its question, and its error if it has one."""

    turn: TurnKey
    question: str
    code: str | None
    message: str | None
    hash: str


@dataclass(frozen=True, slots=True)
class TurnSeen:
    """The row of a turn."""

    key: TurnKey
    status: str
    hash: str


@dataclass(frozen=True, slots=True)
class HoldSeen:
    """A claim, a lease or a reservation as its row has it."""

    token: int
    holder: str
    beat: int | None


@dataclass(frozen=True)
class RecordChange:
    """What is in the record now of that which is watched; `calls` only where there are others."""

    claims: dict[TurnKey, HoldSeen]
    leases: dict[str, HoldSeen]
    reservations: dict[int, tuple[TurnKey, HoldSeen]]
    turns: list[TurnSeen]
    calls: dict[int, CallSeen] | None
    season: str
    """What only the scheduler that leads may change, as a text to compare."""


@dataclass
class RecordWatch:
    """Reads the file of a record past all faults, where another has committed since."""

    file: Path
    reader: sqlite3.Connection | None = None
    version: int = -1
    calls_text: str = ""
    calls: dict[int, CallSeen] = field(default_factory=dict)

    def is_unchanged(self) -> bool:
        """Return whether nobody has committed anything since the last look."""
        reader = self._open()
        if reader is None:
            return True

        [version] = reader.execute("PRAGMA data_version").fetchone()
        if version == self.version:
            return True
        self.version = version
        return False

    def read(self) -> RecordChange | None:
        """Return what is there now; None where the record has no tables yet."""
        reader = self._open()
        if reader is None:
            return None
        try:
            claims, leases, reservations, turns, calls, season = reader.execute(NOW_THERE).fetchone()
        except sqlite3.OperationalError:
            return None

        changed = calls != self.calls_text
        if changed:
            self.calls_text = calls
            self.calls = {}
            for row in reader.execute(CALLS):
                number, call = call_of(row)
                self.calls[number] = call

        return RecordChange(
            {(row[0], row[1]): HoldSeen(*row[2:]) for row in json.loads(claims)},
            {name: HoldSeen(*row) for name, *row in json.loads(leases)},
            {row[0]: ((row[1], row[2]), HoldSeen(0, row[4], row[5])) for row in json.loads(reservations)},
            [TurnSeen((row[0], row[1]), row[2], row[3]) for row in json.loads(turns)],
            self.calls if changed else None,
            season,
        )

    def close(self) -> None:
        """Let go of the file."""
        if self.reader is not None:
            self.reader.close()
        self.reader = None
        self.version = -1
        self.calls_text = ""

    def _open(self) -> sqlite3.Connection | None:
        """Return the reader, once there is a record."""
        if self.reader is None and self.file.exists():
            uri = f"{self.file.as_uri()}?mode=ro"
            self.reader = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
        return self.reader


def call_of(row: Any) -> tuple[int, CallSeen]:
    """Return the number of a call and what its row says."""
    number, round_id, entrant_id, messages, seed, stage, sample, code, message, fact_hash = row
    contents = [message["content"] for message in json.loads(messages)]
    question = json.dumps([contents, seed, stage, sample])
    return number, CallSeen((round_id, entrant_id), question, code, message, fact_hash)
