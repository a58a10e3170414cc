"""The independent parts in which a record is verified: a check of the whole, or a cohort.

A large record is split over processes, each with its own connection. The findings and their order do not
depend on the number of processes.
"""

import gc
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing import active_children, get_context

from sqlalchemy import Connection

from arena.errors import ArenaError
from arena.record.schema.database import connect, reading
from arena.verify.checks.benchmarks import check_benchmarks
from arena.verify.checks.caches import check_caches
from arena.verify.checks.cohorts import check_cohort
from arena.verify.checks.ends import check_ends
from arena.verify.checks.evidence import check_dates
from arena.verify.checks.heads import check_chain
from arena.verify.checks.questions import check_questions
from arena.verify.checks.replay import UNPAID
from arena.verify.checks.rows import check_rows, check_texts
from arena.verify.checks.schema import check_indexes, check_schema
from arena.verify.checks.seals import check_calls, check_prices, check_seals
from arena.verify.checks.syncs import check_syncs
from arena.verify.checks.tools import check_tools
from arena.verify.checks.turns import check_readers
from arena.verify.differences import Difference, Differences, Found, fault_text
from arena.verify.reader import RecordReader, VerifiedHead
from arena.verify.verified import NUMBERED

CHECKS: dict[str, Callable[[RecordReader], Found]] = {
    check.__name__: check
    for check in (
        check_schema, check_indexes, check_texts, check_rows, check_questions, check_seals, check_prices,
        check_dates, check_syncs, check_benchmarks, check_ends, check_calls, check_readers, check_tools,
        check_caches, check_chain,
    )
}  # fmt: skip
Part = str | int
"""A check by its name, or a cohort by its id."""
COHORTS = """SELECT * FROM cohort WHERE :whole = 1
    OR EXISTS (SELECT 1 FROM snapshot WHERE cohort_id = cohort.id AND id > :snapshot)
    OR EXISTS (SELECT 1 FROM round WHERE cohort_id = cohort.id AND id > :round)
    OR EXISTS (SELECT 1 FROM entry JOIN entrant ON entrant.id = entry.entrant_id
        WHERE entrant.cohort_id = cohort.id AND entry.id > :entry)
    OR EXISTS (SELECT 1 FROM entry JOIN entrant ON entrant.id = entry.entrant_id
        JOIN resolution ON resolution.market_id = entry.market_id
        WHERE entrant.cohort_id = cohort.id AND resolution.id > :resolution)
    ORDER BY id"""
"""The cohorts with new rows, or all cohorts."""
LARGE = 200_000
"""From this number of rows on, several processes are used."""
MOST = 4
"""The largest number of processes."""


def parts_of(connection: Connection, verified: VerifiedHead, part: int | None) -> list[Part]:
    """Return the parts to verify, in the order in which they are reported."""
    facts = RecordReader(connection, lambda _: None, verified)
    last_verified_ids = {
        table: facts.last_verified_id(table) for table in ("snapshot", "round", "entry", "resolution")
    }
    check_all = int(not verified.number or part is not None)
    return [*CHECKS, *facts.column("id", "cohort", COHORTS, **last_verified_ids, whole=check_all)]


@dataclass(frozen=True, slots=True)
class PartCheck:
    """How a part is checked: the head to start from, how many differences to list, whether unpaid ends count.

    `again` is the part of the older rows that is read again.
    """

    verified: VerifiedHead
    most: int | None
    unpaid: bool
    again: int | None = None

    def find(
        self, connection: Connection, part: Part, tell: Callable[[Difference], None] | None = None
    ) -> Differences:
        """Return the contradictions in one part."""
        differences = Differences(self.most, tell)
        facts = RecordReader(connection, differences.add, self.verified, self.again)
        try:
            for difference in self._differences(facts, part):
                if self.unpaid or difference.why != UNPAID:
                    differences.add(difference)
        except ArenaError:
            raise
        except Exception as error:  # noqa: BLE001 - a damaged record may hold anything
            fault = fault_text(error)
            differences.add(
                Difference("record", f"part {part}", "rows", fault, "what can be checked", "all is checked")
            )
        differences.unproved = facts.unproved
        return differences

    def _differences(self, facts: RecordReader, part: Part) -> Found:
        if isinstance(part, str):
            yield from CHECKS[part](facts)
            return
        cohort = facts.find("cohort", part)
        if cohort is not None:
            yield from check_cohort(facts, cohort)


def process_count(connection: Connection, verified: VerifiedHead) -> int:
    """Return the number of processes to use: one for a small record, else one for each core."""
    new_rows = 0
    for table in NUMBERED:
        last_id = connection.exec_driver_sql(f"SELECT max(id) FROM {table}").scalar() or 0
        new_rows += last_id - verified.ids.get(table, 0)
    if new_rows < LARGE:
        return 1

    cores = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    return min(cores, MOST)


def find_by_processes(
    connection: Connection, address: str, parts: Sequence[Part], check: PartCheck, count: int
) -> Iterator[Differences]:
    """Yield the findings of each part, in order, from several processes; they end with this generator.

    None of them sees less of the record than this connection has seen; on a server all see the same snapshot.
    """
    snapshot = None
    if connection.dialect.name == "postgresql":
        snapshot = connection.exec_driver_sql("SELECT pg_export_snapshot()").scalar_one()

    other_children = set(active_children())
    pool = ProcessPoolExecutor(count, get_context("spawn"), _ignore_key_presses)
    try:
        futures = [pool.submit(_find_in_worker, address, snapshot, check, part) for part in parts]
        for future in futures:
            outcome = future.result()
            if isinstance(outcome, tuple):  # the fields of an error
                raise ArenaError(*outcome)
            yield outcome
    except BrokenProcessPool:
        message = "a process that verified a part of the record was ended from outside"
        raise ArenaError("not_verified", message, "see that there is memory enough, then try again") from None
    finally:
        workers = set(active_children()) - other_children
        pool.shutdown(wait=False, cancel_futures=True)
        for process in workers:
            process.terminate()
            process.join()


def _ignore_key_presses() -> None:
    """Ignore Ctrl-C in a worker process: its parent ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


_connections: dict[str, Connection] = {}
"""The connection of a worker process, opened for its first part."""
_left_open = ExitStack()


def _find_in_worker(
    address: str, snapshot: str | None, check: PartCheck, part: Part
) -> Differences | tuple[str, str, str, int]:
    """Return the findings of one part, or the fields of an `ArenaError`, which can be pickled."""
    try:
        if address not in _connections:
            engine = connect(address, read_only=True)
            gc.freeze()  # objects loaded so far stay, so the collector can skip them
            connection = _left_open.enter_context(reading(engine))
            if snapshot is not None:
                connection.exec_driver_sql(f"SET TRANSACTION SNAPSHOT '{snapshot}'")
            if connection.dialect.name == "sqlite":
                connection.exec_driver_sql(f"PRAGMA mmap_size={2**31}")  # pages need not be copied
            _connections[address] = connection
        return check.find(_connections[address], part)
    except ArenaError as error:
        return error.code, error.message, error.hint, error.status
