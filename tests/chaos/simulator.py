"""The arena, simulated whole: schedulers, workers, commands, provider and database on one seeded loop.

The seed says who runs at every step, and who is killed, suspended or has no database to write to. Whatever
it says, the season ends in the state of an unbroken one, and nothing is bought twice but what was under way
in a process as it was killed.
"""

import asyncio
import json
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from errno import ENOSPC
from functools import cache
from itertools import count
from os import strerror
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

from sqlalchemy import Engine, event

from agents.demo.models import answer
from agents.llm import patience as waiting
from agents.model import Ask, Call, ModelSettings, Prompt
from arena.cohorts.freeze import code_version, plan_of
from arena.cohorts.schedule import next_of
from arena.config import Config, load
from arena.errors import ArenaError
from arena.operations.run import Run, run
from arena.operations.wake import LONGEST_SLEEP
from arena.record.files.backup import backup_to
from arena.record.files.room import AnswerRoom
from arena.record.hashes import state_hash
from arena.record.model.lease import Watch
from arena.record.record import Record
from arena.record.schema.database import (
    DURABLE_OPTION,
    READ_ONLY_OPTION,
    Connection,
    connect,
    open_read_only,
    reading,
)
from arena.record.write.cohorts import pause_cohort
from arena.record.write.turn_queue import PlayTurns, TurnJob
from arena.rounds import adapters
from arena.rounds.open_world import open_world
from arena.rounds.season import next_decision_time, play_time_when_free
from arena.rounds.worker import TurnQueue, serve_turns
from arena.rounds.world import Dispatch, MissingTurns
from arena.verify import verify
from arena.verify.content import verified_content
from tests.chaos.loop import PROCESS, SeededLoop

CONFIG = """\
database: arena.db
markets: {venue: simulator, show: 4, simulator: {start: 2026-01-04, weeks: 4, markets: 14, events: 5}}
cohorts: {rounds: 2, count: 2, bankroll: 1000}
run: {scores: off, backup: off}
agents:
  - {name: sharp, model: demo/sharp}
  - {name: blind, model: demo/blind}
  - {kind: kelly, of: sharp}
"""
BEGINNING = datetime(2026, 3, 4, tzinfo=UTC)
COHORTS = 2
TIMEOUT, LATENCY = 30.0, 12.0
LONGEST_PAUSE, LONGEST_FAULT, LONGEST_FULL = 40.0, 12.0, 45.0
"""Seconds for which a process stands still, and for which it has no database or nobody has room in it: less
than a lease."""
DATABASE_FAULTS = ("disk_full", "locked", "unreachable")
EXPECTED_CODES = {"busy", "raced", "over", "superseded", *DATABASE_FAULTS}
STEPS_OF_CLOCKS = (3_600, -3_600, 86_400, -86_400)
"""Seconds by which a clock is put forward or back."""
FAULT = 0.02
"""How likely something goes wrong before a step."""
STEPS = 60_000
RELEASE, EXTEND = AnswerRoom.release, AnswerRoom._extend


class Dead(BaseException):
    """A process that was killed writes nothing more."""


class Broken(AssertionError):
    """What must never be has come about."""


@dataclass
class Provider:
    """Answers after a while, and remembers who asked what. An answer waits until its process reads it."""

    chance: Random
    asked: list[tuple[str, str]] = field(default_factory=list)

    def ask_of(self, settings: ModelSettings) -> Ask:
        """The way to a model, as `make_ask` has it but for the wire."""

        async def ask(prompt: Prompt) -> Call:
            loop = asyncio.get_running_loop()
            self.asked.append((PROCESS.get(), name_of(prompt)))
            arrived: asyncio.Future[str] = loop.create_future()
            reply = answer(settings.model.partition("/")[2], prompt.messages, prompt.seed or 0)
            loop.call_later(self.chance.uniform(0.1, LATENCY), arrived.set_result, reply)
            async with waiting.patience(TIMEOUT):
                return Call(prompt, await arrived, finish="stop", cost=100)

        return ask


def name_of(prompt: Prompt) -> str:
    """What makes two questions the same."""
    return json.dumps([[x.content for x in prompt.messages], prompt.seed, prompt.stage, prompt.sample])


@dataclass
class Queue:
    """Brings turns to workers: in any order, sometimes twice, and not while its server is away."""

    chance: Random
    jobs: list[TurnJob] = field(default_factory=list)
    away: bool = False
    opened: int = 0

    @asynccontextmanager
    async def open(self, _database: str) -> AsyncIterator[list[str]]:
        """A connection, which can be worked on once, as the library has it."""
        if self.away:
            raise ArenaError("unreachable", "the queue is away")
        yield []

    async def work(self, used: list[str], play: PlayTurns, at_once: int, _grace: float) -> None:
        """Play turns until the server goes away."""
        if used:
            raise Broken("the task is registered already")
        used.append("once")
        async with asyncio.TaskGroup() as group:
            while not self.away:
                if self.jobs:
                    job = self.jobs.pop(self.chance.randrange(len(self.jobs)))
                    group.create_task(self._play(play, job))
                await asyncio.sleep(0.5)
        raise ArenaError("unreachable", "the queue is away")

    async def _play(self, play: PlayTurns, job: TurnJob) -> None:
        await play(job, lambda: None)

    @asynccontextmanager
    async def dispatched(
        self, _config: Config, _on_change: Callable[[bool], None]
    ) -> AsyncIterator[Dispatch]:
        """What a scheduler delivers to; a turn that nobody plays for long it plays itself."""

        async def dispatch(
            stored: Any, stored_round: Any, names: Sequence[str], missing: MissingTurns, again: bool
        ) -> Collection[str]:
            for tries in range(40):
                if not (left := missing()):
                    return ()
                if tries % 10 == 0:
                    number = stored.cohort.number
                    self.jobs += [
                        TurnJob(number, stored_round.number, (name,), code_version(), again) for name in left
                    ]
                await asyncio.sleep(1.0)
            return missing()

        yield dispatch


@dataclass
class SimulatedTime:
    """The clock of all, and what wakes a scheduler by it."""

    loop: SeededLoop

    def now(self) -> datetime:
        """The time, which is long after the season that is played."""
        return BEGINNING + timedelta(seconds=self.loop.time())

    async def wait(self, schedules: Any, now: datetime, stop: asyncio.Event) -> None:
        """Until the next time of a schedule, or a minute."""
        at = next_of(schedules, now)
        seconds = LONGEST_SLEEP if at is None else min(LONGEST_SLEEP, at - now)
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), seconds.total_seconds() + 0.01)

    def close(self) -> None:
        """Nothing is left behind."""


@dataclass
class Simulation:
    """One season under one seed, in a folder of its own."""

    folder: Path
    seed: int
    faults: int = 10
    log: list[str] = field(default_factory=list)
    quiet: bool = False
    under_way: int = 0
    paused: bool = False
    full_until: float = 0.0
    freed: set[str] = field(default_factory=set)
    ahead: dict[str, int] = field(default_factory=dict)
    fault: BaseException | None = None

    def __post_init__(self) -> None:
        self.chance = Random(self.seed)
        (self.folder / "config.yaml").write_text(CONFIG, "utf-8")
        self.config = load(self.folder / "config.yaml")
        self.file = self.folder / "arena.db"
        self.provider, self.queue = Provider(self.chance), Queue(self.chance)
        self.loop = SeededLoop(self.chance, self.meanwhile)
        self.time = SimulatedTime(self.loop)
        self.without: dict[str, tuple[float, str]] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self.numbers, self.backups = count(1), 0
        self.left = self.faults
        self.buried: list[asyncio.Task[None]] = []
        self.kinds = {"run": self.schedule, "once": self.cron, "worker": self.work, "round": self.play}

    # ---- processes

    def start(self, kind: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """A process, which is started anew when it is killed or has ended before the season."""
        name = f"{kind} {next(self.numbers)}"

        async def living() -> None:
            PROCESS.set(name)
            await asyncio.sleep(self.chance.uniform(0, 20))
            try:
                await work()
            except ArenaError as error:
                if error.code not in EXPECTED_CODES:
                    raise
                self.log.append(f"{self.loop.time():8.2f} {name}: {error.code}")

        task = self.loop.create_task(living())
        self.tasks[name] = task

        def ended(done: "asyncio.Task[None]") -> None:
            self.tasks.pop(name, None)
            if not done.cancelled() and (fault := done.exception()) is not None:
                self.fault = self.fault or fault
            elif not self.over():
                self.start(kind, work)

        task.add_done_callback(ended)

    async def schedule(self, once: bool = False) -> None:
        """`arena run`."""
        workers = not once and any(name.startswith("worker") for name in self.tasks)
        config = replace(self.config, run=self.config.run.model_copy(update={"workers": workers}))
        with closing(self.open_record()) as record:
            running = Run(
                config, record, lambda: self.time, lambda _: None, once,
                open_wake=lambda: self.time, open_dispatch=self.queue.dispatched,
            )  # fmt: skip
            await run(running)
            if once and (not (running.progress.failed or running.progress.left)) and not self.over():
                raise Broken("arena run --once said that nothing is left to do")

    async def cron(self) -> None:
        """`arena run --once`."""
        await self.schedule(once=True)

    async def work(self) -> None:
        """`arena run --worker`."""
        door = TurnQueue(self.queue.open, self.queue.work)
        with closing(self.open_record()) as record:
            await serve_turns(self.config, record, 3, 5.0, asyncio.Event(), lambda _: None, door)

    async def play(self) -> None:
        """`arena run --round`."""
        with closing(self.open_record()) as record:
            plan = plan_of(self.config, self.time.now(), record.begun())
            at = next_decision_time(plan, record, live=False, now=self.time.now())
            if at in plan.decision_times():
                async with open_world(self.config, record, self.time) as world:
                    await play_time_when_free(at, plan, world, record)

    # ---- what goes wrong

    def meanwhile(self) -> None:
        """Before a step: with some chance, something that no process can prevent."""
        if self.left and self.chance.random() < FAULT:
            self.left -= 1
            often = (self.kill, self.suspend)
            seldom = (
                self.cut_off,
                self.fill_disk,
                self.lose_queue,
                self.back_up,
                self.pause,
                self.step_clock,
            )
            happens = self.chance.choice((*often, *often, *seldom))
            happens()

    def victim(self) -> str:
        """One of those that live."""
        return self.chance.choice(sorted(self.tasks))

    def kill(self) -> None:
        """It does nothing more. What it had asked and not kept may be bought again."""
        name = self.victim()
        kept = stored_questions(self.file)
        under_way = [asked for by, asked in self.provider.asked if by == name and asked not in kept]
        self.under_way += len(under_way)
        self.note(f"{name} is killed, {len(under_way)} calls under way")
        self.loop.dead.add(name)
        task = self.tasks.pop(name)
        self.buried.append(task)  # its blocks must not be left
        kind = name.partition(" ")[0]
        self.start(kind, self.kinds[kind])

    def suspend(self) -> None:
        """It stands still for a while."""
        name, seconds = self.victim(), self.chance.uniform(1, LONGEST_PAUSE)
        self.loop.suspended[name] = self.loop.time() + seconds
        self.note(f"{name} is suspended for {seconds:.1f} s")

    def cut_off(self) -> None:
        """It has no database, or no room in it."""
        name, code = self.victim(), self.chance.choice(DATABASE_FAULTS)
        self.without[name] = self.loop.time() + self.chance.uniform(0.5, LONGEST_FAULT), code
        self.note(f"{name} meets {code}")

    def fill_disk(self) -> None:
        """Nobody has room to write for a while; all can read."""
        self.freed.clear()
        self.full_until = self.loop.time() + self.chance.uniform(0.5, LONGEST_FULL)
        self.note(f"the disk is full until {self.full_until:.1f}")

    def lose_queue(self) -> None:
        """The queue's server is away for a while."""
        self.queue.away = True
        self.loop.call_later(self.chance.uniform(1, 60), setattr, self.queue, "away", False)
        self.note("the queue is away")

    def step_clock(self) -> None:
        """The wall clock of its machine is put forward or back, by up to a day."""
        name, seconds = self.victim(), self.chance.choice(STEPS_OF_CLOCKS)
        self.ahead[name] = self.ahead.get(name, 0) + seconds
        self.note(f"the clock of {name} is put {seconds:+} s")

    def back_up(self) -> None:
        """`arena admin backup`."""
        if self.file.exists() and stored_questions(self.file):
            self.backups += 1
            path = self.folder / f"backup {self.backups}.db"
            with open_read_only(str(self.file)) as engine, ThreadPoolExecutor(1) as command:
                command.submit(backup_to, engine, path, verified_content).result()  # it has a loop of its own
            self.note("a backup is made")

    def pause(self) -> None:
        """`arena admin cohort pause`, and `resume` some seconds later."""
        with closing(Record.open(str(self.file))) as record:
            if stored := [each for each in record.cohorts() if each.ended_at is None]:
                one = self.chance.choice(stored).id
                record.write_unfenced(pause_cohort, one, self.time.now())
                self.paused = True
                self.loop.call_later(self.chance.uniform(1, 20), self.resume, one)
                self.note("a cohort is paused")

    def resume(self, cohort: int) -> None:
        """It decides again."""
        with closing(Record.open(str(self.file))) as record:
            if cohort in {each.id for each in record.cohorts() if each.ended_at is None}:
                record.write_unfenced(pause_cohort, cohort, None)

    def note(self, what: str) -> None:
        """What happened, for who looks at a seed that failed."""
        self.log.append(f"{self.loop.time():8.2f} {what}")

    # ---- doors

    def watch(self, engine: Engine) -> None:
        """The database's clock is that of the process's machine, and a process may be cut off from it."""

        @event.listens_for(engine, "connect")
        def clock(driver: Any, _: object) -> None:
            driver.create_function("strftime", -1, self.strftime)
            driver.create_function("julianday", 1, self.julianday)

        @event.listens_for(engine, "begin")
        def fault(connection: Connection) -> None:
            name = PROCESS.get()
            if name in self.loop.dead:
                raise Dead
            until, code = self.without.get(name, (0.0, ""))
            if self.loop.time() < until:
                raise ArenaError(code, f"{name}: {code}")
            if self.is_full() and name and not self.may_write(connection, name):
                raise ArenaError("disk_full", f"{name}: the disk is full")

    def is_full(self) -> bool:
        """Whether there is no room on the disk."""
        return self.loop.time() < self.full_until

    def may_write(self, connection: Connection, name: str) -> bool:
        """Whether a transaction needs no more room than there is: it reads, or keeps an answer where a
        process has given up the room that it held for those.
        """
        options = connection.get_execution_options()
        return bool(options.get(READ_ONLY_OPTION) or (options.get(DURABLE_OPTION) and name in self.freed))

    def release(self, room: AnswerRoom) -> bool:
        """What a process held for answers is free again."""
        had = RELEASE(room)
        self.freed |= {PROCESS.get()} if had else set()
        return had

    def extend(self, room: AnswerRoom, folder: Path, answers: int) -> None:
        """Room for more answers, where there is some."""
        if self.is_full():
            raise OSError(ENOSPC, strerror(ENOSPC))
        EXTEND(room, folder, answers)

    def strftime(self, _form: str, at: str = "now", shift: str = "0 seconds") -> str:
        """As SQLite has it, for the one form that is asked for."""
        moment = self.wall_time() if at == "now" else datetime.fromisoformat(at)
        moment += timedelta(seconds=float(shift.partition(" ")[0]))
        return f"{moment:%Y-%m-%dT%H:%M:%S.%f}Z"

    def julianday(self, at: str) -> float:
        """In days."""
        moment = self.wall_time() if at == "now" else datetime.fromisoformat(at)
        return moment.timestamp() / 86_400

    def wall_time(self) -> datetime:
        """The time as the machine of the process has it that asks."""
        return self.time.now() + timedelta(seconds=self.ahead.get(PROCESS.get(), 0))

    def open_record(self) -> Record:
        """The record, as a process opens it that has the loop's time for its timer."""
        return replace(Record.open(str(self.file)), watch=Watch(self.loop.time))

    @contextmanager
    def doors(self) -> Iterator[None]:
        """Every process is on a machine of its own, with the provider and the clock of all."""
        machines = count(1)

        def connected(*words: Any, **more: Any) -> Engine:
            engine = connect(*words, **more)
            self.watch(engine)
            return engine

        def holder() -> str:
            number = next(machines)
            return f"machine-{number}/1/machine-{number}.1"

        def release(room: AnswerRoom) -> bool:
            return self.release(room)

        def extend(room: AnswerRoom, folder: Path, answers: int) -> None:
            self.extend(room, folder, answers)

        ask = self.provider.ask_of
        with (
            patch("arena.rounds.open_world.holder_name", holder),
            patch("arena.operations.run.holder_name", holder),
            patch.object(adapters.OpenModels, "ask", lambda _models, settings: ask(settings)),
            patch("arena.record.record.connect", connected),
            patch.object(AnswerRoom, "release", release),
            patch.object(AnswerRoom, "_extend", extend),
        ):
            yield

    # ---- the whole

    def over(self) -> bool:
        """Whether every round is done and every account settled."""
        found = ask_file(self.file, "SELECT count(*) FROM cohort WHERE ended_at IS NOT NULL")
        return found == [(COHORTS,)]

    def play_season(self) -> None:
        """To its end, and hold what came of it against what must be."""
        with self.doors():
            for kind in self.roster():
                self.start(kind, self.kinds[kind])
            self.loop.run_until_complete(self.until_over())
        if self.fault is not None:
            raise self.fault
        questions = stored_questions(self.file)
        again = len(self.provider.asked) - len(questions)
        if again > self.under_way:
            raise Broken(
                f"{again} calls were made again, and {self.under_way} were under way as one was killed"
            )

    async def until_over(self) -> None:
        """Look now and then whether it is over."""
        while not self.over() and self.fault is None:
            await asyncio.sleep(5.0)
            if self.loop.steps > STEPS:
                raise Broken(f"not over after {STEPS} steps")

    def roster(self) -> list[str]:
        """Who is at work: up to two schedulers, with workers or without, and commands beside them."""
        if self.quiet:
            return ["run"]
        schedulers = self.chance.choice((0, 1, 2, 2))
        workers = 3 * self.chance.choice((0, 1)) * bool(schedulers)
        return ["run"] * schedulers + ["worker"] * workers + ["once"] * (2 - schedulers) + ["round"]


def stored_questions(file: Path) -> set[str]:
    """The questions that have an answer in the record."""
    query = "SELECT messages, seed, stage, sample FROM call WHERE error_code IS NULL"
    rows = ask_file(file, query)
    return {json.dumps([[x["content"] for x in json.loads(m)], *rest]) for m, *rest in rows}


def ask_file(file: Path, query: str) -> list[tuple[Any, ...]]:
    """What a record says, past all doors; nothing where it isn't there yet."""
    if not file.exists():
        return []
    with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as connection:
        try:
            return connection.execute(query).fetchall()
        except sqlite3.OperationalError:
            return []


def state_of(file: Path) -> str:
    """The state hash of a record that agrees with itself."""
    with open_read_only(str(file)) as engine, reading(engine) as connection:
        if differences := verify(connection):
            raise Broken(f"verify: {differences[0]}")
        return state_hash(connection)


@cache
def unbroken() -> str:
    """The state in which the season ends where nothing goes wrong."""
    with tempfile.TemporaryDirectory() as folder:
        quiet = Simulation(Path(folder), 0, faults=0, quiet=True)
        quiet.play_season()
        return state_of(quiet.file)


def simulate(seed: int) -> list[str]:
    """The season under a seed; what happened in it. What must never be is an error."""
    wanted = unbroken()
    with tempfile.TemporaryDirectory() as folder:
        played = Simulation(Path(folder), seed)
        try:
            played.play_season()
            if state_of(played.file) != wanted and not played.paused:
                raise Broken("the state is not that of an unbroken season")
        except BaseException as error:
            error.add_note("\n".join([f"seed {seed}", *played.log]))
            raise
        return played.log
