"""One simulated season: the processes of an arena on one seeded loop, and everything they talk to.

What goes wrong is a list of mishaps, each a function that takes the simulation: `mishaps.py` has those of
machines, networks and disks, `drawn_commands.py` the commands that an operator gives meanwhile.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import closing, contextmanager, redirect_stderr, redirect_stdout
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, tzinfo
from functools import partial
from io import StringIO
from itertools import count
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any
from unittest.mock import patch

from pydantic import BaseModel
from sqlalchemy import Engine, event

from arena.cohorts.freeze import plan_of
from arena.config import load
from arena.errors import ArenaError
from arena.operations.progress import RunProgress
from arena.operations.run import Run, run
from arena.record.record import Record
from arena.record.schema.database import connect
from arena.rounds.adapters import connect as connect_venue
from arena.rounds.open_world import open_world
from arena.rounds.season import end_cohorts_over, next_decision_time, play_time_when_free
from arena.rounds.settlement import next_look, settle_ended
from arena.rounds.worker import TurnQueue, serve_turns
from markets.venue import Report, Venue
from tests.chaos.database_faults import FAULT_CODES, Change, DatabaseFaults, WatchedConnection
from tests.chaos.drawn_commands import operate
from tests.chaos.hold_history import HoldHistory
from tests.chaos.loop import PROCESS, SeededLoop
from tests.chaos.machine_clocks import MachineClocks
from tests.chaos.operator_script import Operator, script_of
from tests.chaos.power_cut import SyncedLog, copy_others
from tests.chaos.process_lives import ProcessLives
from tests.chaos.question_history import QuestionHistory
from tests.chaos.record_reads import Broken, count_ended_cohorts
from tests.chaos.record_watch import RecordWatch
from tests.chaos.season_config import draw_config, is_plain, write_config
from tests.chaos.simulated_provider import Provider
from tests.chaos.simulated_queue import Queue
from tests.chaos.simulated_venue import SimulatedVenue, VenueFaults
from tests.opened_record import OpenedRecord

EXPECTED_CODES = {"busy", "raced", "over", "superseded", "cannot_open", "unanswered", *FAULT_CODES}
"""The errors with which a process may end, to be started anew."""
MISHAP = 0.02
"""How likely something goes wrong before a step."""
MOST_MISHAPS = 10
MOST_COMMANDS = 2
LONG = 600.0
"""Seconds for which an operator who gives no more commands looks away."""
MOST_STEPS = 60_000
"""After so many steps a season counts as one that does not end."""

Mishap = Callable[["Simulation"], None]


SIMULATED: ContextVar["Simulation | None"] = ContextVar("simulated", default=None)
"""The season that is played. Modules that are imported meanwhile keep the functions below for good."""


def connected(*args: Any, **options: Any) -> Engine:
    """Return an engine that meets the faults of the season that is played."""
    engine = connect(*args, **options)
    season = SIMULATED.get()
    if season is not None:
        season.watch(engine)
    return engine


def connected_venue(module: ModuleType, settings: BaseModel, report: Report, timed: bool) -> Venue:
    """Return a venue that meets the faults of the season that is played."""
    venue = connect_venue(module, settings, report, timed)
    season = SIMULATED.get()
    if season is None:
        return venue
    return SimulatedVenue(module.__name__.rpartition(".")[2], venue, season.venue, report)


@dataclass(frozen=True)
class ProcessTime:
    """What `arena.clock` takes for the class `datetime`: it reads the clock of the process that asks."""

    clocks: MachineClocks

    def now(self, _zone: tzinfo) -> datetime:
        """Return the time by the wall clock of the process."""
        return self.clocks.now()

    def fromisoformat(self, text: str) -> datetime:
        """Return a time as it is written."""
        return datetime.fromisoformat(text)


@dataclass
class Simulation:
    """One season under one seed, in a folder of its own."""

    folder: Path
    seed: int
    config_number: int
    mishaps: Sequence[Mishap] = ()
    """What may go wrong; one that is to be more likely stands there more often."""
    log: list[str] = field(default_factory=list)
    fault: BaseException | None = None

    def __post_init__(self) -> None:
        self.chance = Random(self.seed)
        self.first_folder = self.folder
        self.config = write_config(self.folder, self.config_number)
        self.file = self.folder / "arena.db"

        self.loop = SeededLoop(self.chance, self.meanwhile)
        self.clocks = MachineClocks(self.loop)
        self.lives = ProcessLives(lambda: self.loop.moment)
        self.holds = HoldHistory(self.lives)
        room = self.config.calls.per_provider
        self.history = QuestionHistory(RecordWatch(self.file), self.lives, self.holds, PROCESS.get, room)
        self.database = DatabaseFaults(self.loop, self.note, self.lives.trouble, self.committed)
        self.log_on_disk = SyncedLog(self.file)
        self.provider = Provider(self.loop, self.chance, self.history, self.config_number, bool(self.mishaps))
        self.venue = VenueFaults(self.loop, self.chance, self.config_number, is_plain(self.config_number))
        self.queue = Queue(self.chance)

        self.left = MOST_MISHAPS if self.mishaps else 0
        self.numbers: Iterator[int] = count(1)
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self.printed = StringIO()
        self.commands = MOST_COMMANDS
        self.operator = Operator(self, script_of(self.config_number))
        self.history.rounds_are_closed = bool(self.operator.script)
        self.kinds = {
            "run": self.schedule,
            "once": self.cron,
            "worker": self.work,
            "round": self.play,
            "command": self.command,
        }

    # ---- processes

    def start(self, kind: str) -> None:
        """Start a process, and start it anew when it has ended before the season."""
        name = f"{kind} {next(self.numbers)}"
        self.clocks.begin(name, self.chance)
        work: Callable[[], Coroutine[Any, Any, None]] = self.kinds[kind]

        async def living() -> None:
            PROCESS.set(name)
            await asyncio.sleep(self.chance.uniform(0, 20))
            try:
                await work()
            except ArenaError as error:
                if error.code not in EXPECTED_CODES:
                    raise
                self.note(f"{name}: {error.code}")

        task = self.loop.create_task(living())
        self.tasks[name] = task
        task.add_done_callback(partial(self.ended, name))

    def ended(self, name: str, done: "asyncio.Task[None]") -> None:
        """Start a process anew that has ended before the season; an error that none may end with is kept."""
        self.tasks.pop(name, None)
        self.lives.ended(name)
        if not done.cancelled():
            fault = done.exception()
            if fault is not None:
                self.fault = self.fault or fault
                return

        if not self.over():
            self.start(name.partition(" ")[0])

    def kill(self, name: str) -> int:
        """Kill a process and start another of its kind; return how many calls it had under way."""
        under_way = self.history.under_way(name)
        self.lives.killed(name)
        self.loop.dead.add(name)
        self.database.let_go(name)
        task = self.tasks.pop(name)
        self.loop.buried.append(task)
        self.start(name.partition(" ")[0])
        return under_way

    def cut_power(self) -> None:
        """Kill all processes, and go on with what was on the disk, in a folder of its own.

        In the old one SQLite would still end what the dead processes have begun.
        """
        for name in sorted(self.tasks):
            self.kill(name)
        self.history.watch.close()

        folder = self.first_folder / f"after {self.loop.moment:.3f} s"
        folder.mkdir()
        if self.file.exists():
            self.log_on_disk.cut(folder, self.chance)
        copy_others(self.folder, folder, self.file)

        self.folder = folder
        self.file = folder / self.file.name
        self.config = load(folder / self.config.file.name)
        self.operator.begin_anew()
        self.history.power_cut(self.file)  # its reader brings the log in order
        self.log_on_disk = SyncedLog(self.file)
        self.log_on_disk.note_start()

    async def schedule(self, once: bool = False) -> None:
        """Run `arena run`."""
        workers = not once and any(name.startswith("worker") for name in self.tasks)
        config = replace(self.config, run=self.config.run.model_copy(update={"workers": workers}))
        with closing(self.open_record()) as record:
            running = Run(
                config,
                record,
                lambda: self.clocks,
                lambda _: None,
                once,
                open_wake=lambda: self.clocks,
                open_dispatch=self.queue.dispatched,
            )
            await run(running)
            if once and self.says_all_is_done(running.progress) and not self.over():
                raise Broken("arena run --once said that nothing is left to do")

    @staticmethod
    def says_all_is_done(progress: RunProgress) -> bool:
        """Return whether `arena run --once` would end with 0."""
        return not (progress.failed or progress.left)

    async def cron(self) -> None:
        """Run `arena run --once`."""
        await self.schedule(once=True)

    async def work(self) -> None:
        """Run `arena run --worker`."""
        queue = TurnQueue(self.queue.open, self.queue.work)
        with closing(self.open_record()) as record:
            await serve_turns(self.config, record, 3, 5.0, asyncio.Event(), lambda _: None, queue)

    async def play(self) -> None:
        """Run `arena run --round`."""
        with closing(self.open_record()) as record:
            plan = plan_of(self.config, self.clocks.now(), record.begun())
            end_cohorts_over(plan, record)
            at = next_decision_time(plan, record, live=False, now=self.clocks.now())
            if at in plan.decision_times() and not await self.operator.changes_before(at):
                async with open_world(self.config, record, self.clocks) as world:
                    await play_time_when_free(at, plan, world, record)

    async def command(self) -> None:
        """Give a command of `drawn_commands.py`, or none any more."""
        if not self.commands:
            await asyncio.sleep(LONG)
            return

        self.commands -= 1
        await operate(self)

    def other_config(self) -> Path:
        """Return the config of another arena, for commands that write one."""
        file = self.folder / "other.yaml"
        if not file.exists():
            file.write_text(draw_config(0), "utf-8")
        return file

    # ---- what goes wrong

    def meanwhile(self) -> None:
        """Let something go wrong before a step, with some chance."""
        if self.left and self.chance.random() < MISHAP:
            self.left -= 1
            happens = self.chance.choice(self.mishaps)
            happens(self)

    def victim(self) -> str:
        """Return the name of one of the processes that live."""
        return self.chance.choice(sorted(self.tasks))

    def note(self, what: str) -> None:
        """Log what happened, for who looks at a seed that failed."""
        self.log.append(f"{self.loop.moment:8.2f} {what}")

    def committed(self, connection: WatchedConnection, change: Change) -> None:
        """Look at what a process has written."""
        process = PROCESS.get()
        self.log_on_disk.note_commit(connection.synchronous())
        self.history.look(process)

        fence = change.fence
        if fence is not None and self.holds.leases[fence.name].token != fence.token:
            self.history.broke(None, f"{process} writes {change.name} without the lead")

    # ---- what the processes are given

    def watch(self, engine: Engine) -> None:
        """Give an engine the clock of its process, and the faults of the database."""

        @event.listens_for(engine, "connect")
        def clock(driver: Any, _: object) -> None:
            self.clocks.connect(driver)

        self.database.watch(engine)

    def open_record(self) -> OpenedRecord:
        """Open the record as a process does; it has a timer of its own."""
        record = OpenedRecord.at(self.file)
        return record.timed_by(self.loop.time)

    @contextmanager
    def doors(self) -> Iterator[None]:
        """Put every process on a machine of its own, with the provider and the clock of all."""
        machines = count(1)

        def holder() -> str:
            number = next(machines)
            name = f"machine-{number}/1/machine-{number}.1"
            self.holds.processes[name] = PROCESS.get()
            return name

        noting = self.database.noting

        token = SIMULATED.set(self)
        with (
            self.provider.behind_client(),
            redirect_stdout(self.printed),
            redirect_stderr(self.printed),
            self.operator.at_work(),
            patch("arena.clock.datetime", ProcessTime(self.clocks)),
            patch("arena.record.schema.database.connect", connected),
            patch("arena.rounds.adapters.connect", connected_venue),
            patch("arena.rounds.open_world.connect", connected_venue),
            patch("arena.rounds.open_world.holder_name", holder),
            patch("arena.operations.run.holder_name", holder),
            patch("arena.operations.publisher.holder_name", holder),
            patch("arena.record.record.connect", connected),
            patch.object(Record, "write", noting(Record.write)),
            patch.object(Record, "write_unfenced", noting(Record.write_unfenced)),
            patch.object(Record, "write_answer", noting(Record.write_answer)),
            self.database.in_rooms(),
        ):
            try:
                yield
            finally:
                SIMULATED.reset(token)

    # ---- the whole

    def over(self) -> bool:
        """Return whether every round is done and every account settled."""
        return count_ended_cohorts(self.file) == self.config.cohorts.count

    def play_season(self) -> None:
        """Play the season to its end; raise `Broken` if something happened that must never happen."""
        with self.doors(), closing(self.database):
            for kind in self.roster():
                self.start(kind)
            try:
                self.loop.run_until_complete(self.until_over())
                self.judge()
            finally:
                self.history.watch.close()
                self.loop.end_processes()

    def judge(self) -> None:
        """Raise what a process failed with, or what must never have happened."""
        if self.fault is not None:
            raise self.fault

        self.history.judge()
        if self.history.fault is not None:
            raise self.history.fault

    async def until_over(self) -> None:
        """Look now and then whether the season is over."""
        while not self.over() and self.fault is None and self.history.fault is None:
            await asyncio.sleep(5.0)
            if self.loop.steps > MOST_STEPS:
                raise Broken(f"not over after {MOST_STEPS} steps")
        await self.last_looks()

    async def last_looks(self) -> None:
        """Ask for all ends that are still to come, once the processes stand still and nothing goes wrong.

        Else it would be by chance which of them the last process has asked for.
        """
        self.left = 0
        self.loop.dead.update(self.tasks)
        for name in self.tasks:
            self.database.let_go(name)

        within = timedelta(seconds=self.config.cohorts.corrected_within)
        while self.fault is None and self.history.fault is None:
            try:
                with closing(self.open_record()) as record:
                    look = next_look(record, record.cohorts(), False, within)
                    if look is None:
                        return
                    async with open_world(self.config, record, self.clocks) as world:
                        await settle_ended(look, world, record)
            except ArenaError as error:
                if error.code not in EXPECTED_CODES:
                    raise
                await asyncio.sleep(30.0)

    def roster(self) -> list[str]:
        """Draw who is at work: up to two schedulers, with workers or without, and commands beside them."""
        if not self.mishaps:
            return ["run"]

        schedulers = self.chance.choice((0, 1, 2, 2))
        workers = 3 * self.chance.choice((0, 1)) if schedulers else 0
        others = ["once"] * (2 - schedulers) + ["round", "command"]
        return ["run"] * schedulers + ["worker"] * workers + others
