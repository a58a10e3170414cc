"""The record as the arena uses it: consistent reads, whole writes, a memory of what never changes."""

from collections.abc import Callable, Mapping, Sequence
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


@dataclass(frozen=True, slots=True)
class Record:
    """The door to one database: `read(query, …)` and `write(change, …)` call a function with a connection.

    With a `fence`, writes are refused once another process has taken the lease over. Its `watch` is what this
    process has seen of others that hold something.
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
        """Open a record for writing; a new one is made, an older one brought up to date."""
        engine = connect(database)
        upgrade(engine)
        return cls(engine)

    @classmethod
    def join(cls, database: str) -> Self:
        """Open a record for writing that already exists, as it is: one of another schema is refused."""
        engine = connect(database)
        check_schema(engine)
        return cls(engine)

    def close(self) -> None:
        """Let go of the database."""
        self.room.release()
        self.engine.dispose()

    def fenced(self, name: str, token: int) -> Self:
        """The same record, written only while this lease has this token: else `LeaseLost` is raised."""
        return replace(self, fence=Fence(name, token))

    def read(self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What a query answers. All that it reads is of one instant."""
        with reading(self.engine) as connection:
            return query(connection, *args, **kwargs)

    def write(self, change: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Change the record in one transaction, behind the fence where there is one."""
        with self.engine.begin() as connection:
            if self.fence is not None:
                check_fence(connection, self.fence)
            return change(connection, *args, **kwargs)

    def write_unfenced(
        self, change: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Change the record in one transaction whoever has the lease.

        For what must be kept all the same: calls that were paid for, signs of life, an operator's orders.
        """
        with self.engine.begin() as connection:
            return change(connection, *args, **kwargs)

    def hold_room(self, answers: int) -> None:
        """Take room for the answers of so many calls before they are made; a server has a disk of its own."""
        if self.engine.dialect.name == "sqlite" and self.engine.url.database:
            self.room.hold(Path(self.engine.url.database), answers)

    def write_answer(
        self, change: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Keep what was paid for, on the disk before it returns: a full one has the room that was held."""
        options: dict[str, Any] = {DURABLE_OPTION: True}
        while True:
            try:
                with self.engine.connect().execution_options(**options) as connection, connection.begin():
                    return change(connection, *args, **kwargs)
            except ArenaError as error:
                if error.code not in ("disk_full", "disk_error") or not self.room.release():
                    raise

    def is_empty(self) -> bool:
        """Whether no cohort has ever started."""
        return not inspect(self.engine).has_table("cohort") or not self.cohorts()

    def cohorts(self) -> list[StoredCohort]:
        """All cohorts, oldest first; what they froze is decoded once."""
        return self.read(read_cohorts, self.line_ups)

    def begun(self) -> tuple[Cohort, ...]:
        """What the cohorts froze that have started."""
        return tuple(stored.cohort for stored in self.cohorts())

    def snapshot(self, cohort_id: int, at: datetime) -> tuple[int, Snapshot] | None:
        """A cohort's snapshot at an instant, with its id. It never changes: the last one is remembered."""
        key = cohort_id, at
        if key not in self.last_snapshot:
            self.last_snapshot.clear()
            if stored := self.read(read_snapshot, cohort_id, at):
                self.last_snapshot[key] = stored
        return self.last_snapshot.get(key)

    def holdings(self, cohort_id: int, until: datetime | None = None) -> dict[str, Holdings]:
        """Every entrant's account, in line-up order: the fold of its ledger up to a time.

        What was folded before is kept, and only what others have written is read.
        """
        with reading(self.engine) as connection:
            heads = read_ledger_heads(connection, cohort_id)
            if behind := self.accounts.behind(dict(heads.values())):
                self.accounts.read(read_entries_after(connection, behind))
            accounts, newest = self.accounts.holdings([id for id, _ in heads.values()])
            if until is None or newest <= until:
                return dict(zip(heads, accounts.values(), strict=True))
            ledgers = read_ledgers(connection, cohort_id)
        return {name: fold(x for x in entries if x.at <= until) for name, entries in ledgers.items()}

    def add_entries(self, ledgers: Mapping[int, Sequence[Entry]]) -> None:
        """More ledger lines of several entrants beside their turns, all or none."""
        if added := {id: entries for id, entries in ledgers.items() if entries}:
            self.write(add_settlements, added)
            self.accounts.wrote(added)

    def quarantine(self, records: Sequence[QuarantinedRecord], at: datetime) -> None:
        """What a venue sent and could not be used; mostly there is nothing."""
        if records:
            self.write(quarantine_records, records, at)

    def add_turns(
        self, round_id: int, place: tuple[int, int], claimed: Sequence[TurnUnderClaim], code_version: str
    ) -> set[int]:
        """Whole turns of a round, where the claims on them still hold; the entrants whose turns are in."""
        added = self.write(add_turns, round_id, place, claimed, code_version)
        self.accounts.wrote({id: turn.entries for id, turn in added.items()})
        return set(added)

    def figures(self, since: datetime) -> RunFigures:
        """What was spent since an instant, and what is held now."""
        cohorts = [stored.id for stored in self.cohorts() if stored.ended_at is None]
        lots = sum(len(account.lots) for id in cohorts for account in self.holdings(id).values())
        with reading(self.engine) as connection:
            return RunFigures(
                read_spent_since(connection, since), lots, count_stale_positions(connection, cohorts)
            )
