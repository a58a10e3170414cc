"""The parts in which a record is verified: a check of all of it, or a cohort. None needs another's result.

A large record is split over some processes, each with a connection of its own. What is found is the same, and
told in the same order, however many there are.
"""

import gc
import os
import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection as Pipe
from multiprocessing.connection import wait
from typing import Any

from sqlalchemy import Connection, bindparam, exists, func

from arena.errors import ArenaError
from arena.record.schema.cohort import CohortRow, EntrantRow, RoundRow, SnapshotRow
from arena.record.schema.database import connect, reading
from arena.record.schema.ledger import EntryRow
from arena.record.schema.typed import select
from arena.record.schema.world import ResolutionRow
from arena.verify.checks.answers import check_readers
from arena.verify.checks.benchmarks import check_asked, check_benchmarks
from arena.verify.checks.caches import check_caches
from arena.verify.checks.cohorts import check_numbered, check_whole_cohort
from arena.verify.checks.evidence import check_dates
from arena.verify.checks.heads import check_chain
from arena.verify.checks.markets import check_markets, check_prices, check_resolutions
from arena.verify.checks.marks import UNPAID
from arena.verify.checks.rows import check_own_hashes, check_parents, check_stray_rows
from arena.verify.checks.schema import check_indexes, check_schema
from arena.verify.checks.syncs import check_catalogues, check_prunes, check_rejected, check_syncs
from arena.verify.checks.tools import check_tools
from arena.verify.checks.turns import check_attempts, check_calls
from arena.verify.differences import Difference, Differences, Found
from arena.verify.reader import RecordReader, RowPart, RowsQuery, VerifiedHead, rows_of
from arena.verify.row_names import named
from arena.verify.verified import NUMBERED

WHOLE = (
    check_indexes,
    check_parents,
    check_stray_rows,
    check_markets,
    check_dates,
    check_syncs,
    check_catalogues,
)
"""Checks of how a whole record hangs together: left out where only what is new is verified."""
CHECKS: dict[str, Callable[[RecordReader], Found]] = {
    check.__name__: check
    for check in (
        check_schema,
        *WHOLE,
        check_own_hashes,
        check_prices,
        check_prunes,
        check_rejected,
        check_benchmarks,
        check_asked,
        check_resolutions,
        check_calls,
        check_attempts,
        check_readers,
        check_tools,
        check_numbered,
        check_caches,
        check_chain,
    )
}
Part = str | int
"""A check by its name, or a cohort by its id."""

COHORTS = RowsQuery(
    select()
    .where(
        exists(select(1).where(SnapshotRow.cohort_id == CohortRow.id, SnapshotRow.id > bindparam("snapshot")))
        | exists(select(1).where(RoundRow.cohort_id == CohortRow.id, RoundRow.id > bindparam("round")))
        | exists(
            select(1).where(
                EntrantRow.cohort_id == CohortRow.id,
                EntryRow.entrant_id == EntrantRow.id,
                EntryRow.id > bindparam("entry"),
            )
        )
        | exists(
            select(1).where(
                EntrantRow.cohort_id == CohortRow.id,
                EntryRow.entrant_id == EntrantRow.id,
                EntryRow.market_id == ResolutionRow.market_id,
                ResolutionRow.id > bindparam("resolution"),
            )
        )
        | (bindparam("whole") == 1)
    )
    .order_by(CohortRow.id),
    RowPart(CohortRow, "id"),
    again=True,
)
"""Cohorts of which something is new, or all."""
COHORT = rows_of(CohortRow, CohortRow.id == bindparam("id"))
LARGE, MOST = 200_000, 4
"""So many rows to verify are worth several processes, and at most so many of these."""


def parts_of(connection: Connection, verified: VerifiedHead) -> list[Part]:
    """What there is to verify, in the order in which it is told."""
    facts, growing = RecordReader(connection, lambda _: None, verified), (SnapshotRow, RoundRow, EntryRow)
    after = {row.__table__.name: facts.after(row.__table__) for row in (*growing, ResolutionRow)}
    whole = not verified.number
    names = (name for name, check in CHECKS.items() if whole or check not in WHOLE)
    return [*names, *(row["id"] for row in facts.rows(COHORTS, **after, whole=int(whole)))]


@dataclass(frozen=True, slots=True)
class PartCheck:
    """How a part is checked: after which head, how many differences are listed, and if unpaid ends are."""

    verified: VerifiedHead
    most: int | None
    unpaid: bool

    def find(
        self, connection: Connection, part: Part, tell: Callable[[Difference], None] | None = None
    ) -> Differences:
        """What contradicts something else in the record."""
        found = Differences(self.most, tell)
        facts = RecordReader(connection, found.add, self.verified)
        if isinstance(part, str):
            streams = [CHECKS[part](facts)]
        else:
            streams = [check_whole_cohort(facts, row) for row in facts.rows(COHORT, id=part)]
        for stream in streams:
            for difference in stream:
                if self.unpaid or difference.why != UNPAID:
                    found.add(named(facts, difference))
        found.unproved = facts.unproved
        return found


def process_count(connection: Connection, verified: VerifiedHead) -> int:
    """In how many processes to verify: one where there is little to do, else one for each core."""
    ids = {row: connection.scalar(select(func.max(row.id))) or 0 for row in NUMBERED}
    rows = sum(last - verified.ids.get(row.__tablename__, 0) for row, last in ids.items())
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return 1 if rows < LARGE else min(cores, MOST)


def find_by_processes(
    connection: Connection, address: str, parts: Sequence[Part], check: PartCheck, count: int
) -> Iterator[Differences]:
    """What is found in parts, in their order, by some processes. Whatever ends this, ends them.

    None of them sees less of the record than this connection has seen; on a server all see the same.
    """
    snapshot = None
    if connection.dialect.name == "postgresql":
        snapshot = connection.exec_driver_sql("SELECT pg_export_snapshot()").scalar_one()
    context, left, done = get_context("spawn"), iter(enumerate(parts)), dict[int, Differences]()
    processes, busy, told = [], dict[Any, int](), 0
    try:
        for _ in range(count):
            here, there = context.Pipe()
            process = context.Process(target=_work, args=(there, address, snapshot, check), daemon=True)
            process.start()
            there.close()
            processes.append(process)
            _hand_out(left, here, busy)
        while busy:
            for pipe in wait(list(busy)):
                done[busy.pop(pipe)] = _received(pipe)
                _hand_out(left, pipe, busy)
            while told in done:
                yield done.pop(told)
                told += 1
    finally:
        for process in processes:
            process.terminate()
            process.join()


def _hand_out(left: Iterator[tuple[int, Part]], pipe: Any, busy: dict[Any, int]) -> None:
    place, part = next(left, (None, None))
    if place is not None:
        pipe.send(part)
        busy[pipe] = place


def _received(pipe: Any) -> Differences:
    """What a process has found; what went wrong there is raised here."""
    try:
        found = pipe.recv()
    except EOFError:
        message = "a process that verified a part of the record was ended from outside"
        raise ArenaError("not_verified", message, "see that there is memory enough, then try again") from None
    if isinstance(found, Differences):
        return found
    raise ArenaError(*found) if isinstance(found, tuple) else RuntimeError(found)


def _work(pipe: "Pipe[Any, Any]", address: str, snapshot: str | None, check: PartCheck) -> None:
    """Find what there is in one part after the other, as they come."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a key press ends who has begun this, and that ends this
    try:
        engine = connect(address, read_only=True)
        gc.freeze()  # what is loaded by now stays, and need not be looked through for the rest of the work
        with reading(engine) as connection:
            if snapshot is not None:
                connection.exec_driver_sql(f"SET TRANSACTION SNAPSHOT '{snapshot}'")
            if connection.dialect.name == "sqlite":
                connection.exec_driver_sql(f"PRAGMA mmap_size={2**31}")  # pages need not be copied
            while True:
                pipe.send(check.find(connection, pipe.recv()))
    except EOFError:
        return
    except ArenaError as error:
        pipe.send((error.code, error.message, error.hint, error.status))
    except Exception:  # noqa: BLE001 - it is raised where it was asked for
        pipe.send(traceback.format_exc())
