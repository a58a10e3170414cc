"""Turns as jobs in the record's own PostgreSQL. The only file that knows procrastinate.

It delivers, and no more: the claim on a turn decides who plays it, and the record says which turns are in.
A job that is delivered twice, or that outlives its worker, does no harm.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from typing import Any

from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException
from procrastinate.jobs import DeleteJobCondition, Job, Status
from procrastinate.schema import SchemaManager

from arena.errors import ArenaError
from arena.record.schema.database import connect, url_of, with_timeouts
from arena.record.schema.database_errors import record_name

QUEUE = "turns"
TASK_NAME = "arena.turn"
SILENT_SECONDS = 30.0
"""Seconds without a heartbeat after which a worker counts as gone and its jobs are given to others."""
HEARTBEAT_SECONDS = 10.0
POOL_WAIT = 30.0
"""Seconds that the queue waits for its server before it says that it is away."""
SCHEMA_LOCK = 7_238_465
"""Of several that start at once, only one makes the queue's tables."""
LOCK_SCHEMA = f"SELECT pg_advisory_xact_lock({SCHEMA_LOCK})"
HAS_TABLES = "SELECT 1 WHERE to_regclass('procrastinate_jobs') IS NOT NULL"
LIVE_WORKERS = (
    "SELECT 1 FROM procrastinate_workers "
    "WHERE last_heartbeat > now() - make_interval(secs => %(silent)s) LIMIT 1"
)
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
        """Of jobs with the same lock only one waits in the queue."""
        return f"{self.cohort}/{self.round}/{self.agent}"


PlayTurn = Callable[[TurnJob], Awaitable[None]]


def queue_address(database: str) -> str:
    """The address of the PostgreSQL that a record is on."""
    url = url_of(database)
    if url.get_backend_name() != "postgresql":
        words = "workers take their turns from PostgreSQL, and this record is a file"
        hint = (
            "`arena db copy` moves a record there; with `run.workers: false` "
            "`arena run` plays every turn itself"
        )
        raise ArenaError("no_queue", words, hint)
    return with_timeouts(url).set(drivername="postgresql").render_as_string(hide_password=False)


@asynccontextmanager
async def open_queue(database: str) -> AsyncIterator[App]:
    """The queue beside a record on PostgreSQL; its tables are made where they are missing."""
    _silence_loggers()
    address = queue_address(database)
    _make_tables(database)
    app = App(connector=PsycopgConnector(conninfo=address, min_size=1, max_size=4, timeout=POOL_WAIT))
    try:
        await app.open_async()
    except ConnectorException as error:
        hint = "check the server, then start again; nothing is lost"
        raise ArenaError("unreachable", f"{record_name(url_of(database))} is gone", hint) from error
    try:
        yield app
    finally:
        await app.close_async()


def _make_tables(database: str) -> None:
    """The queue's tables, once, whoever comes first."""
    engine = connect(database)
    try:
        with engine.begin() as connection:
            connection.exec_driver_sql(LOCK_SCHEMA)
            if connection.exec_driver_sql(HAS_TABLES).first() is None:
                connection.connection.cursor().execute(SchemaManager.get_schema())
    finally:
        engine.dispose()


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
    """The locks of those turns that wait in the queue or are being played."""
    rows = await app.connector.execute_query_all_async(
        OPEN_JOBS, queue=QUEUE, locks=[turn.lock for turn in turns]
    )
    return {row["queueing_lock"] for row in rows}


async def has_workers(app: App) -> bool:
    """Whether any worker has been heard of lately."""
    return bool(await app.connector.execute_query_all_async(LIVE_WORKERS, silent=SILENT_SECONDS))


async def requeue_stalled(app: App) -> int:
    """Give the jobs of workers that went silent to others; how many there were."""
    silent = await app.job_manager.get_stalled_jobs(queue=QUEUE, seconds_since_heartbeat=SILENT_SECONDS)
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
    async def turn(cohort: int, round: int, agent: str, version: str, again: bool) -> None:
        await play(TurnJob(cohort, round, agent, version, again))

    asyncio.get_running_loop().set_exception_handler(_handle_stray_error)
    try:
        await app.run_worker_async(
            queues=[QUEUE],
            concurrency=at_once,
            fetch_job_polling_interval=1.0,
            shutdown_graceful_timeout=grace,
            delete_jobs=DeleteJobCondition.ALWAYS,
            install_signal_handlers=False,
            update_heartbeat_interval=HEARTBEAT_SECONDS,
            stalled_worker_timeout=SILENT_SECONDS,
        )
    except ConnectorException as error:
        hint = "the worker resumes by itself once the server is back"
        raise ArenaError("unreachable", "the queue's database can't be reached", hint) from error


def _silence_loggers() -> None:
    """What goes wrong in a job is told by who plays it, and that the database is away by who needs it."""
    for name in ("procrastinate", "psycopg.pool"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


def _handle_stray_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """What no task waits for any more is told, but not that the database was away."""
    if not isinstance(context.get("exception"), ConnectorException):
        loop.default_exception_handler(context)
