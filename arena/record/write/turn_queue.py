"""Turns as jobs in the record's own PostgreSQL. The only file that knows procrastinate.

It delivers, and no more: the claim on a turn decides who plays it, and the record says which turns are in.
A job that is delivered twice, or that outlives its worker, does no harm.
"""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException
from procrastinate.jobs import DeleteJobCondition, Job, Status
from procrastinate.schema import SchemaManager
from psycopg.errors import InsufficientPrivilege
from sqlalchemy import Connection, Engine

from arena.errors import ArenaError
from arena.record.model.lease import Hold, Watch
from arena.record.schema.database import connect, url_of, with_timeouts

QUEUE = "turns"
TASK_NAME = "arena.turn"
SILENCE = timedelta(seconds=30)
"""After so long without a heartbeat a worker counts as gone, and its jobs are given to others."""
HEARTBEAT_SECONDS = 10.0
NEVER = 1e9
"""Seconds after which the library itself, by the server's clock, takes a worker for gone: whoever watches the
heartbeats decides that, since a clock may be put forward."""
POOL_WAIT = 30.0
"""Seconds that the queue waits for its server before it says that it is away."""
SCHEMA_LOCK = 7_238_465
"""Of several that start at once, only one makes the queue's tables, or upgrades them."""
LOCK_SCHEMA = f"SELECT pg_advisory_xact_lock({SCHEMA_LOCK})"
VERSION = re.compile(r"\d\d\.\d\d\.\d\d_\d\d")
"""What the name of a migration begins with; the tables' comment has that of the last one."""
READ_COMMENT = "SELECT obj_description(to_regclass('procrastinate_jobs')::oid, 'pg_class')"
WRITE_COMMENT = "COMMENT ON TABLE procrastinate_jobs IS '{}'"
READ_FUNCTIONS = (
    "SELECT proname FROM pg_proc WHERE starts_with(proname, 'procrastinate') AND pg_function_is_visible(oid)"
)
VERSION_BY_FUNCTION = {
    "procrastinate_retry_job_v2": "03.04.00_01",
    "procrastinate_defer_jobs_v1": "03.02.00_01",
    "procrastinate_fetch_job_v2": "03.01.00_01",
}
"""How far tables without a comment are: no earlier arena wrote one. What follows these may be done twice."""
READ_WORKERS = (
    "SELECT id, (extract(epoch FROM last_heartbeat) * 1000000)::bigint AS beat FROM procrastinate_workers"
)
FORGET_WORKERS = "DELETE FROM procrastinate_workers WHERE id = ANY(%(ids)s)"
OPEN_JOBS = (
    "SELECT queueing_lock FROM procrastinate_jobs "
    "WHERE queue_name = %(queue)s AND status IN ('todo', 'doing') AND queueing_lock = ANY(%(locks)s)"
)


@dataclass(frozen=True, slots=True)
class TurnJob:
    """A turn to be played, in words that outlive ids, and the code version of who wants it.

    It is wanted `again` where its round was begun before.

    >>> TurnJob(1, 3, "sonnet", "0.1.0").lock
    '1/3/sonnet'
    """

    cohort: int
    round: int
    agent: str
    version: str
    again: bool = False

    @property
    def lock(self) -> str:
        """Return the lock of the job: of jobs with the same one only one waits in the queue."""
        return f"{self.cohort}/{self.round}/{self.agent}"


PlayTurn = Callable[[TurnJob], Awaitable[None]]


@contextmanager
def translated_queue_errors() -> Iterator[None]:
    """Raise an `ArenaError` where the queue's server goes away."""
    try:
        yield
    except ConnectorException as error:
        raise ArenaError(
            "unreachable", "the queue's database can't be reached", "it goes on once the server is back"
        ) from error


def queue_address(database: str) -> str:
    """Return the address of the PostgreSQL that a record is on."""
    url = url_of(database)
    if url.get_backend_name() != "postgresql":
        words = "workers take their turns from PostgreSQL, and this record is a file"
        hint = (
            "`arena admin backup URL` moves a record there; with `run.workers: false` "
            "`arena run` plays every turn itself"
        )
        raise ArenaError("no_queue", words, hint)
    return with_timeouts(url).set(drivername="postgresql").render_as_string(hide_password=False)


@asynccontextmanager
async def open_queue(database: str) -> AsyncIterator[App]:
    """Open the queue beside a record on PostgreSQL; its tables are made where they are missing."""
    for name in ("procrastinate", "psycopg.pool"):  # who plays a job tells what goes wrong in it
        logging.getLogger(name).setLevel(logging.CRITICAL)
    address = queue_address(database)
    upgrade_queue(database, make=True)
    app = App(connector=PsycopgConnector(conninfo=address, min_size=1, max_size=4, timeout=POOL_WAIT))
    with translated_queue_errors():
        await app.open_async()
    try:
        yield app
    finally:
        await app.close_async()


def upgrade_queue(database: str, make: bool = False) -> bool:
    """Bring the queue's tables to the newest version that the library has; whether there was anything to do.

    Where there are none they are made, if so wished. Each step is whole or not done.
    """
    changed = False
    engine = connect(database)
    try:
        while _take_step(engine, make):
            changed = True
    finally:
        engine.dispose()
    return changed


def _take_step(engine: Engine, make: bool) -> bool:
    """Make the tables, or take them through one migration; whoever comes first, while others wait."""
    found = ((VERSION.match(x.name), x) for x in Path(SchemaManager.get_migrations_path()).glob("*.sql"))
    migrations = {match[0]: path for match, path in found if match}
    newest = max(migrations)
    with engine.begin() as connection:
        connection.exec_driver_sql(LOCK_SCHEMA)
        version = _version(connection)
        if version is None and make:
            reached = newest
            statements = str(SchemaManager.get_schema())
        elif version is None or version == newest:
            return False
        elif version > newest:
            message = f"the queue's tables were made by a newer procrastinate ({version[:8]})"
            raise ArenaError(
                "newer_queue", message, "update it here too: pip install --upgrade procrastinate"
            )
        else:
            reached = min(each for each in migrations if each > version)
            statements = migrations[reached].read_text("utf-8")
        try:
            connection.connection.cursor().execute(statements)
        except InsufficientPrivilege as error:
            message = "the queue's tables are not there yet, or of an older procrastinate, and another user's"
            raise ArenaError(
                "no_queue", message, "`arena run` makes and upgrades them as it starts"
            ) from error
        connection.exec_driver_sql(WRITE_COMMENT.format(reached))
    return True


def _version(connection: Connection) -> str | None:
    """Return the version of the queue's tables; None where there are none."""
    there = {name for (name,) in connection.exec_driver_sql(READ_FUNCTIONS)}
    if not there:
        return None
    comment = connection.exec_driver_sql(READ_COMMENT).scalar()
    written = VERSION.fullmatch(comment or "")
    if written:
        return written[0]

    known = next((version for name, version in VERSION_BY_FUNCTION.items() if name in there), None)
    if known is None:
        message = "the queue's tables are of a procrastinate before 3.1, which no arena made"
        raise ArenaError(
            "older_queue", message, "apply its migrations up to 3.1 by hand, or name another database"
        )
    return known


async def enqueue_turns(app: App, turns: Sequence[TurnJob]) -> None:
    """Put turns in the queue, in this order; one that already exists is left as it is."""
    there = await open_locks(app, turns)
    jobs = [_job(app, turn) for turn in turns if turn.lock not in there]
    try:
        await app.job_manager.batch_defer_jobs_async(jobs)
    except AlreadyEnqueued:  # somebody else delivers too
        for job in jobs:
            with suppress(AlreadyEnqueued):
                await app.job_manager.defer_job_async(job)


def _job(app: App, turn: TurnJob) -> Job:
    return app.configure_task(TASK_NAME, queue=QUEUE, queueing_lock=turn.lock).make_new_job(**asdict(turn))


async def open_locks(app: App, turns: Sequence[TurnJob]) -> set[str]:
    """Return the locks of those turns that wait in the queue or are being played."""
    rows = await app.connector.execute_query_all_async(
        OPEN_JOBS, queue=QUEUE, locks=[turn.lock for turn in turns]
    )
    return {row["queueing_lock"] for row in rows}


async def has_workers(app: App, watch: Watch) -> bool:
    """Return whether any worker lives, and forget those that were silent for too long.

    A heartbeat is an instant of the server's clock. What counts is that it changes, not which it is.
    """
    rows = await app.connector.execute_query_all_async(READ_WORKERS)
    silent_ids = list[int]()
    for row in rows:
        name = f"worker {row['id']}"
        if watch.is_over(Hold(name, name, (0, row["beat"])), SILENCE):
            silent_ids.append(row["id"])
    if silent_ids:
        await app.connector.execute_query_async(FORGET_WORKERS, ids=silent_ids)
    return len(silent_ids) < len(rows)


async def requeue_stalled(app: App) -> int:
    """Give the jobs of workers that were forgotten to others; return how many there were."""
    silent = await app.job_manager.get_stalled_jobs(queue=QUEUE, seconds_since_heartbeat=NEVER)
    rescued = 0
    for job in silent:
        try:
            await app.job_manager.retry_job(job)
        except AlreadyEnqueued:  # it was delivered anew meanwhile
            await app.job_manager.finish_job(job, Status.FAILED, delete_job=True)
        rescued += 1
    return rescued


async def run_worker(app: App, play: PlayTurn, at_once: int, grace: float) -> None:
    """Take turns from the queue and play them, so many at once, until cancelled.

    Then turns under way have some seconds of `grace` to end by themselves. Where the database goes away it
    returns, or says so by an error.
    """

    @app.task(name=TASK_NAME, queue=QUEUE)
    async def turn(**job: Any) -> None:
        await play(TurnJob(**job))

    asyncio.get_running_loop().set_exception_handler(_handle_stray_error)
    with translated_queue_errors():
        await app.run_worker_async(
            queues=[QUEUE],
            concurrency=at_once,
            fetch_job_polling_interval=1.0,
            shutdown_graceful_timeout=grace,
            delete_jobs=DeleteJobCondition.ALWAYS,
            install_signal_handlers=False,
            update_heartbeat_interval=HEARTBEAT_SECONDS,
            stalled_worker_timeout=NEVER,
        )


def _handle_stray_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Tell of what no task waits for any more, but not that the database was away."""
    if not isinstance(context.get("exception"), ConnectorException):
        loop.default_exception_handler(context)
