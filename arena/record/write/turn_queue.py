"""Turns as jobs in the record's own PostgreSQL. The only file that knows procrastinate.

It delivers, and no more: the claim on a turn decides who plays it, and the record says which turns are in.
A job that is delivered twice, or that outlives its worker, does no harm.
"""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException
from procrastinate.jobs import Job, Status
from procrastinate.schema import SchemaManager
from psycopg.errors import Error as PsycopgError
from psycopg.errors import InsufficientPrivilege
from sqlalchemy import Connection, Engine

from arena.errors import ArenaError
from arena.record.model.lease import Hold, Watch
from arena.record.schema.database import IDLE_WRITER_MS, connect, url_of, with_timeouts

QUEUE = "turns"
TASK_NAME = "arena.turn"
SILENCE = timedelta(seconds=30)
"""After so long without a heartbeat a worker counts as gone, and its jobs are given to others."""
HEARTBEAT_SECONDS = 10.0
NEVER = 1e9
"""Seconds after which the library itself, by the server's clock, takes a worker for gone: whoever watches the
heartbeats decides that, since a clock may be put forward."""
LONG_AGO = datetime.fromtimestamp(0, UTC)
"""When a job of a silent worker is to be played. The library would say now, by this machine's clock, and a
server whose clock is behind would keep the job until then."""
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
OF_ROUND = (
    "FROM procrastinate_jobs WHERE queue_name = %(queue)s AND status IN ('todo', 'doing') "
    "AND starts_with(queueing_lock, %(round)s)"
)
COUNT_JOBS = f"SELECT count(*) AS count {OF_ROUND}"
READ_LOCKS = f"SELECT queueing_lock {OF_ROUND}"
POLLING_SECONDS = 1.0
"""Seconds after which an idle worker looks for turns. It hears of new ones, not of those of the dead."""


@dataclass(frozen=True, slots=True)
class TurnJob:
    """Turns of one round to be played, in words that outlive ids, and the code version of who wants them.

    They are of one wave: none of the agents is made from another. They are wanted `again` where their round
    was begun before.

    >>> TurnJob(1, 3, ("sonnet", "opus"), "0.1.0").lock
    '1/3/sonnet opus'
    """

    cohort: int
    round: int
    agents: tuple[str, ...]
    version: str
    again: bool = False

    @property
    def lock(self) -> str:
        """Return the lock of the job: of jobs with the same one only one waits in the queue."""
        return f"{round_prefix(self.cohort, self.round)}{' '.join(self.agents)}"


def round_prefix(cohort: int, number: int) -> str:
    """Return what the locks of all jobs of a round begin with."""
    return f"{cohort}/{number}/"


TurnEnded = Callable[[], None]
PlayTurns = Callable[[TurnJob, TurnEnded], Awaitable[None]]
"""Plays the turns of a job, and calls a function as each of them has ended."""


@contextmanager
def translated_queue_errors() -> Iterator[None]:
    """Raise an `ArenaError` where the queue's server goes away."""
    try:
        yield
    except (ConnectorException, PsycopgError) as error:  # who listens raises the driver's own
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
    """Open the queue beside a record on PostgreSQL; its tables are made where they are missing.

    A session whose process is cut off while it takes a job keeps that job from others for a minute at most.
    """
    for name in ("procrastinate", "psycopg.pool"):  # who plays a job tells what goes wrong in it
        logging.getLogger(name).setLevel(logging.CRITICAL)
    address = queue_address(database)
    upgrade_queue(database, make=True)
    settings = {"options": f"-c idle_in_transaction_session_timeout={IDLE_WRITER_MS}"}
    pool = PsycopgConnector(conninfo=address, kwargs=settings, min_size=1, max_size=4, timeout=POOL_WAIT)
    app = App(connector=pool)
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
        while _upgrade_one_step(engine, make):
            changed = True
    finally:
        engine.dispose()
    return changed


def _upgrade_one_step(engine: Engine, make: bool) -> bool:
    """Make the tables, or take them through one migration; whoever comes first, while others wait."""
    migrations = {}
    for path in Path(SchemaManager.get_migrations_path()).glob("*.sql"):
        match = VERSION.match(path.name)
        if match:
            migrations[match[0]] = path

    newest = max(migrations)
    with engine.begin() as connection:
        connection.exec_driver_sql(LOCK_SCHEMA)
        version = _tables_version(connection)
        if version is None and make:
            version_after = newest
            statements = str(SchemaManager.get_schema())
        elif version is None or version == newest:
            return False
        elif version > newest:
            message = f"the queue's tables were made by a newer procrastinate ({version[:8]})"
            raise ArenaError(
                "newer_queue", message, "update it here too: pip install --upgrade procrastinate"
            )
        else:
            version_after = min(name for name in migrations if name > version)
            statements = migrations[version_after].read_text("utf-8")
        try:
            connection.connection.cursor().execute(statements)
        except InsufficientPrivilege as error:
            message = "the queue's tables are not there yet, or of an older procrastinate, and another user's"
            raise ArenaError(
                "no_queue", message, "`arena run` makes and upgrades them as it starts"
            ) from error
        connection.exec_driver_sql(WRITE_COMMENT.format(version_after))
    return True


def _tables_version(connection: Connection) -> str | None:
    """Return the version of the queue's tables; None where there are none."""
    functions = {name for (name,) in connection.exec_driver_sql(READ_FUNCTIONS)}
    if not functions:
        return None

    comment = connection.exec_driver_sql(READ_COMMENT).scalar()
    written = VERSION.fullmatch(comment or "")
    if written:
        return written[0]

    version = next((version for name, version in VERSION_BY_FUNCTION.items() if name in functions), None)
    if version is None:
        message = "the queue's tables are of a procrastinate before 3.1, which no arena made"
        raise ArenaError(
            "older_queue", message, "apply its migrations up to 3.1 by hand, or name another database"
        )
    return version


async def enqueue_turns(app: App, turns: Sequence[TurnJob]) -> None:
    """Put jobs in the queue, in this order; one that waits there already is left as it is."""
    jobs = [_job(app, turn) for turn in turns]
    try:
        await app.job_manager.batch_defer_jobs_async(jobs)
    except AlreadyEnqueued:  # somebody else delivers too
        for job in jobs:
            with suppress(AlreadyEnqueued):
                await app.job_manager.defer_job_async(job)


def _job(app: App, turn: TurnJob) -> Job:
    """Return a job as the queue keeps it.

    The names are one text, as the one name was in jobs of a single turn: a worker that knows only these reads
    the job, and says that it is of another version.
    """
    args: dict[str, Any] = {
        "cohort": turn.cohort,
        "round": turn.round,
        "agent": " ".join(turn.agents),
        "version": turn.version,
        "again": turn.again,
    }
    return app.configure_task(TASK_NAME, queue=QUEUE, queueing_lock=turn.lock).make_new_job(**args)


def _turn_job(job: Job) -> TurnJob:
    """Return the turns that a job in the queue is about."""
    args: dict[str, Any] = dict(job.task_kwargs)
    agents = tuple(args["agent"].split())
    return TurnJob(args["cohort"], args["round"], agents, args["version"], args["again"])


async def count_open_jobs(app: App, cohort: int, number: int) -> int:
    """Return how many jobs of a round wait in the queue or are being played."""
    prefix = round_prefix(cohort, number)
    row = await app.connector.execute_query_one_async(COUNT_JOBS, queue=QUEUE, round=prefix)
    return int(row["count"])


async def agents_of_open_jobs(app: App, cohort: int, number: int) -> set[str]:
    """Return the agents of a round that are in a job which waits in the queue or is being played."""
    prefix = round_prefix(cohort, number)
    agents = set[str]()
    for row in await app.connector.execute_query_all_async(READ_LOCKS, queue=QUEUE, round=prefix):
        agents.update(row["queueing_lock"].removeprefix(prefix).split())
    return agents


async def count_workers(app: App, watch: Watch) -> int:
    """Return how many workers live, and forget those that were silent for too long.

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
    return len(rows) - len(silent_ids)


async def requeue_stalled(app: App) -> int:
    """Give the jobs of workers that were forgotten to others; return how many there were."""
    jobs = [*await app.job_manager.get_stalled_jobs(queue=QUEUE, seconds_since_heartbeat=NEVER)]
    for job in jobs:
        try:
            await app.job_manager.retry_job(job, LONG_AGO)
        except AlreadyEnqueued:  # it was delivered anew meanwhile
            await app.job_manager.finish_job(job, Status.FAILED, delete_job=True)
    return len(jobs)


async def run_worker(app: App, play: PlayTurns, at_once: int, grace: float) -> None:
    """Take jobs from the queue and play their turns until cancelled; raise `ArenaError` if the queue is lost.

    Jobs are taken while fewer than `at_once` turns are to be played. Once cancelled, those in progress have
    some seconds of `grace` to end by themselves; if the queue is lost, they have all the time they need.
    """
    with translated_queue_errors():
        worker_id = await app.job_manager.register_worker()
        await QueueWorker(app, play, at_once, grace, worker_id).work()


@dataclass
class QueueWorker:
    """A worker as the queue knows it: the jobs that it has, and how many of their turns have not ended.

    The library's own worker counts jobs. Of these some have one turn and others twenty, and a job whose last
    turn takes long must not keep the places of those that have ended.
    """

    app: App
    play: PlayTurns
    at_once: int
    grace: float
    worker_id: int
    turns: int = 0
    jobs: set["asyncio.Task[None]"] = field(default_factory=set)
    news: asyncio.Event = field(default_factory=asyncio.Event)
    room: asyncio.Event = field(default_factory=asyncio.Event)
    lost: "asyncio.Future[None]" = field(init=False)

    async def work(self) -> None:
        """Take jobs until cancelled, or until the queue is lost, whose error is raised then."""
        self.lost = asyncio.get_running_loop().create_future()
        take_jobs = asyncio.create_task(self._take_jobs())
        beat = asyncio.create_task(self._beat())
        listen = asyncio.create_task(self._listen())
        tasks = (self.lost, beat, listen, take_jobs)
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)

            # No job is taken any more; what the turns in progress ask is paid for, so they end by themselves.
            take_jobs.cancel()
            await asyncio.shield(asyncio.gather(*self.jobs, return_exceptions=True))
        finally:
            for task in tasks:
                task.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
            await self._leave()

        for outcome in ended:
            if isinstance(outcome, Exception):
                raise outcome

    async def _beat(self) -> None:
        """Give signs of life."""
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            await self.app.job_manager.update_heartbeat(self.worker_id)

    async def _listen(self) -> None:
        """Have new jobs taken at once."""

        async def tell(**_notification: Any) -> None:
            self.news.set()

        await self.app.job_manager.listen_for_jobs(on_notification=tell, queues=[QUEUE])

    async def _take_jobs(self) -> None:
        """Take one job after another, as there is room for turns."""
        while True:
            while self.turns >= self.at_once:
                self.room.clear()
                await self.room.wait()

            self.news.clear()
            job = await self.app.job_manager.fetch_job([QUEUE], self.worker_id)
            if job is not None:
                turns = _turn_job(job)
                self.turns += len(turns.agents)
                task = asyncio.create_task(self._play(job, turns))
                self.jobs.add(task)
                task.add_done_callback(self.jobs.discard)
                continue

            with suppress(TimeoutError):
                async with asyncio.timeout(POLLING_SECONDS):
                    await self.news.wait()

    async def _play(self, job: Job, turns: TurnJob) -> None:
        """Play the turns of a job, and take it out of the queue however they end.

        Where that can't be done the queue is lost, and the job is given to others, who find what is played.
        """
        unended_turns = len(turns.agents)

        def note_ended() -> None:
            nonlocal unended_turns
            unended_turns -= 1
            self._free(1)

        try:
            await self.play(turns, note_ended)
        finally:
            self._free(unended_turns)  # those that were broken off
            try:
                await self.app.job_manager.finish_job(job, Status.SUCCEEDED, delete_job=True)
            except ConnectorException as error:
                if not self.lost.done():
                    self.lost.set_exception(error)

    def _free(self, turns: int) -> None:
        """Make room for as many other turns."""
        self.turns -= turns
        self.room.set()

    async def _leave(self) -> None:
        """Wait for the turns in progress, but not for ever, and sign off."""
        if self.jobs:
            await asyncio.wait(self.jobs, timeout=self.grace)
        for task in self.jobs:
            task.cancel()
        await asyncio.gather(*self.jobs, return_exceptions=True)

        with suppress(ConnectorException):  # whoever watches the heartbeats finds out
            await self.app.job_manager.unregister_worker(self.worker_id)
