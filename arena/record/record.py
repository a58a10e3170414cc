"""The record as the arena uses it: reads of one instant, writes in one transaction, and caches of facts."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from sqlalchemy import Connection, Engine, inspect

from arena.errors import ArenaError
from arena.record.files.room import AnswerRoom
from arena.record.model.cohort import Cohort
from arena.record.model.lease import Watch
from arena.record.queries.accounts import AccountCache, read_entries_after, read_ledger_heads, read_ledgers
from arena.record.queries.calls import read_spent_since
from arena.record.queries.cohorts import LineUps, StoredCohort, read_cohorts, read_snapshot
from arena.record.queries.operations import RunFigures, count_stale_positions
from arena.record.schema.database import DURABLE_OPTION, check_schema, connect, reading, upgrade
from arena.record.write.cohorts import add_settlements
from arena.record.write.operations import Fence, check_fence
from arena.record.write.quarantine import quarantine_records
from arena.record.write.turns import TurnUnderClaim, add_turns
from markets.model import Snapshot
from markets.venue import QuarantinedRecord
from portfolio.ledger import fold
from portfolio.model import Entry, Holdings

P = ParamSpec("P")
T = TypeVar("T")
Work = Callable[Concatenate[Connection, P], T]
"""A query or a change: a function that takes a connection, and whatever else it is given."""


@dataclass(frozen=True, slots=True)
class Record:
    """One database: `read(query, …)` and `write(change, …)` call a function with a connection.

    With a `fence`, writes are refused once another process has taken over the lease. `watch` has what this
    process has seen of the processes that hold leases. `accounts`, `line_ups` and `last_snapshot` are caches
    of facts, which never change; `room` is disk space reserved for answers.
    """

    engine: Engine
    accounts: AccountCache = field(default_factory=AccountCache)
    line_ups: LineUps = field(default_factory=dict)
    last_snapshot: dict[tuple[int, datetime], tuple[int, Snapshot]] = field(default_factory=dict)
    fence: Fence | None = None
    room: AnswerRoom = field(default_factory=AnswerRoom)
    watch: Watch = field(default_factory=Watch)

    @classmethod
    def open(cls, database: str) -> Self:
        """Open a record for writing: make a new one, or bring an older one up to date."""
        engine = connect(database)
        upgrade(engine)
        return cls(engine)

    @classmethod
    def join(cls, database: str) -> Self:
        """Open an existing record for writing. Raise `ArenaError` if it has another schema."""
        engine = connect(database)
        check_schema(engine)
        return cls(engine)

    def close(self) -> None:
        """Close the connections to the database."""
        self.room.release()
        self.engine.dispose()

    def fenced(self, name: str, token: int) -> Self:
        """Return this record with a fence: writes raise `LeaseLost` once the lease has another token."""
        return replace(self, fence=Fence(name, token))

    def reading(self) -> AbstractContextManager[Connection]:
        """Open a consistent read, as of one instant."""
        return reading(self.engine)

    def read(self, query: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return the result of a query. All that it reads is of one instant."""
        with self.reading() as connection:
            return query(connection, *args, **kwargs)

    def write(self, change: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Change the record in one transaction, if the fence allows it, and return the result."""
        with self.engine.begin() as connection:
            if self.fence is not None:
                check_fence(connection, self.fence)
            return change(connection, *args, **kwargs)

    def write_unfenced(self, change: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Change the record in one transaction, even if another process has taken over the lease.

        It is for what must be kept in any case: paid calls, heartbeats, an operator's orders.
        """
        with self.engine.begin() as connection:
            return change(connection, *args, **kwargs)

    def hold_room(self, answers: int) -> None:
        """Reserve disk space for the answers of calls. A database server has a disk of its own."""
        if self.engine.dialect.name == "sqlite" and self.engine.url.database:
            self.room.hold(Path(self.engine.url.database), answers)

    def write_answer(self, change: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Store a paid answer, and return once it is on the disk. On a full disk, use the reserved space."""
        options: dict[str, Any] = {DURABLE_OPTION: True}
        while True:
            try:
                with self.engine.connect().execution_options(**options) as connection, connection.begin():
                    return change(connection, *args, **kwargs)
            except ArenaError as error:
                if error.code not in ("disk_full", "disk_error") or not self.room.release():
                    raise

    def is_empty(self) -> bool:
        """Tell whether no cohort has ever started."""
        return not inspect(self.engine).has_table("cohort") or not self.cohorts()

    def cohorts(self) -> list[StoredCohort]:
        """Return all cohorts, oldest first. What they froze is decoded once and cached."""
        return self.read(read_cohorts, self.line_ups)

    def begun(self) -> tuple[Cohort, ...]:
        """Return what the cohorts that have started froze, oldest first."""
        return tuple(stored.cohort for stored in self.cohorts())

    def snapshot(self, cohort_id: int, at: datetime) -> tuple[int, Snapshot] | None:
        """Return the id and the snapshot of a cohort at an instant, or None. The last one is cached."""
        key = cohort_id, at
        if key not in self.last_snapshot:
            self.last_snapshot.clear()
            stored = self.read(read_snapshot, cohort_id, at)
            if stored is not None:
                self.last_snapshot[key] = stored

        return self.last_snapshot.get(key)

    def holdings(
        self, cohort_id: int, until: datetime | None = None, names: Collection[str] | None = None
    ) -> dict[str, Holdings]:
        """Return the holdings of each entrant of a cohort, in line-up order: its ledger summed up to a time.

        With `names` only theirs are read. Holdings are cached, so only ledger entries that other processes
        have written are read.
        """
        with self.reading() as connection:
            heads = read_ledger_heads(connection, cohort_id, names)
            last_numbers = dict(heads.values())
            outdated = self.accounts.outdated(last_numbers)
            if outdated:
                self.accounts.replace_unfolded(read_entries_after(connection, outdated))

            accounts, newest_entry_at = self.accounts.holdings(last_numbers)
            if until is None or newest_entry_at <= until:
                return dict(zip(heads, accounts.values(), strict=True))

            # An earlier time than that of the cache: the ledgers are summed up again from the start.
            ledgers = read_ledgers(connection, cohort_id)

        holdings = {}
        for name, entries in ledgers.items():
            if name in heads:
                holdings[name] = fold(entry for entry in entries if entry.at <= until)
        return holdings

    def add_entries(self, ledgers: Mapping[int, Sequence[Entry]]) -> None:
        """Add ledger entries that belong to no turn, of several entrants in one transaction."""
        added = {entrant_id: entries for entrant_id, entries in ledgers.items() if entries}
        if added:
            self.write(add_settlements, added)
            self.accounts.add_written(added)

    def quarantine(self, records: Sequence[QuarantinedRecord], at: datetime) -> None:
        """Store the records of a venue that could not be used. Without any, nothing is written."""
        if records:
            self.write(quarantine_records, records, at)

    def add_turns(
        self, round_id: int, round_key: tuple[int, int], claimed: Sequence[TurnUnderClaim], code_version: str
    ) -> set[int]:
        """Add the turns of a round whose claims still hold. Return the ids of their entrants."""
        added = self.write(add_turns, round_id, round_key, claimed, code_version)
        self.accounts.add_written({entrant_id: turn.entries for entrant_id, turn in added.items()})
        return set(added)

    def figures(self, since: datetime) -> RunFigures:
        """Return what was spent since an instant, and how many positions are held now."""
        cohort_ids = [stored.id for stored in self.cohorts() if stored.ended_at is None]
        positions = 0
        for cohort_id in cohort_ids:
            positions += sum(len(account.lots) for account in self.holdings(cohort_id).values())

        with self.reading() as connection:
            spent = read_spent_since(connection, since)
            return RunFigures(spent, positions, count_stale_positions(connection, cohort_ids))
