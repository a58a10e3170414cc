"""One simulated season: the processes of an arena on one seeded loop, and everything they talk to.

What goes wrong is a list of mishaps, each a function that takes the simulation: `mishaps.py` has those of
machines, networks and disks, `drawn_commands.py` the commands that an operator gives meanwhile.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

from sqlalchemy import Engine, event

from arena.cohorts.freeze import plan_of
from arena.errors import ArenaError
from arena.operations.run import Run, run
from arena.record.files.room import AnswerRoom
from arena.record.model.lease import Watch
from arena.record.record import Record
from arena.record.schema.database import connect
from arena.rounds import adapters
from arena.rounds.open_world import open_world
from arena.rounds.season import next_decision_time, play_time_when_free
from arena.rounds.worker import TurnQueue, serve_turns
from tests.chaos.database_faults import FAULT_CODES, DatabaseFaults
from tests.chaos.loop import PROCESS, SeededLoop
from tests.chaos.machine_clocks import MachineClocks
from tests.chaos.record_reads import Broken, count_ended_cohorts, stored_questions
from tests.chaos.season_config import write_config
from tests.chaos.simulated_provider import Provider
from tests.chaos.simulated_queue import Queue

EXPECTED_CODES = {"busy", "raced", "over", "superseded", *FAULT_CODES}
"""The errors with which a process may end, to be started anew."""
MISHAP = 0.02
"""How likely something goes wrong before a step."""
MOST_MISHAPS = 10
MOST_STEPS = 60_000
"""After so many steps a season counts as one that does not end."""

Mishap = Callable[["Simulation"], None]


@dataclass
class Simulation:
    """One season under one seed, in a folder of its own."""

    folder: Path
    seed: int
    config_number: int
    mishaps: Sequence[Mishap] = ()
    """What may go wrong; one that is to be more likely stands there more often."""
    log: list[str] = field(default_factory=list)
    under_way: int = 0
    """How many calls were under way in processes as they were killed."""
    paused: bool = False
    fault: BaseException | None = None

    def __post_init__(self) -> None:
        self.chance = Random(self.seed)
        self.config = write_config(self.folder, self.config_number)
        self.file = self.folder / "arena.db"

        self.loop = SeededLoop(self.chance, self.meanwhile)
        self.clocks = MachineClocks(self.loop)
        self.database = DatabaseFaults(self.loop)
        self.provider = Provider(self.chance)
        self.queue = Queue(self.chance)

        self.left = MOST_MISHAPS if self.mishaps else 0
        self.numbers = count(1)
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self.buried: list[asyncio.Task[None]] = []
        self.kinds = {"run": self.schedule, "once": self.cron, "worker": self.work, "round": self.play}

    # ---- processes

    def start(self, kind: str) -> None:
        """Start a process, and start it anew when it has ended before the season."""
        name = f"{kind} {next(self.numbers)}"
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

        def ended(done: "asyncio.Task[None]") -> None:
            self.tasks.pop(name, None)
            if not done.cancelled():
                fault = done.exception()
                if fault is not None:
                    self.fault = self.fault or fault
                    return

            if not self.over():
                self.start(kind)

        task = self.loop.create_task(living())
        self.tasks[name] = task
        task.add_done_callback(ended)

    def kill(self, name: str) -> int:
        """Kill a process and start another of its kind; return how many calls it had under way.

        What it had asked and not kept may be bought again.
        """
        kept = stored_questions(self.file)
        lost = [asked for by, asked in self.provider.asked if by == name and asked not in kept]
        self.under_way += len(lost)

        self.loop.dead.add(name)
        task = self.tasks.pop(name)
        self.buried.append(task)  # or its `finally` blocks would run as it is collected
        self.start(name.partition(" ")[0])
        return len(lost)

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
            left = running.progress.failed or running.progress.left
            if once and not left and not self.over():
                raise Broken("arena run --once said that nothing is left to do")

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
            at = next_decision_time(plan, record, live=False, now=self.clocks.now())
            if at in plan.decision_times():
                async with open_world(self.config, record, self.clocks) as world:
                    await play_time_when_free(at, plan, world, record)

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
        self.log.append(f"{self.loop.time():8.2f} {what}")

    # ---- what the processes are given

    def watch(self, engine: Engine) -> None:
        """Give an engine the clock of its process, and the faults of the database."""

        @event.listens_for(engine, "connect")
        def clock(driver: Any, _: object) -> None:
            self.clocks.connect(driver)

        self.database.watch(engine)

    def open_record(self) -> Record:
        """Open the record as a process does that has the loop's time for its timer."""
        record = Record.open(str(self.file))
        return replace(record, watch=Watch(self.loop.time))

    @contextmanager
    def doors(self) -> Iterator[None]:
        """Put every process on a machine of its own, with the provider and the clock of all."""
        machines = count(1)

        def connected(*args: Any, **options: Any) -> Engine:
            engine = connect(*args, **options)
            self.watch(engine)
            return engine

        def holder() -> str:
            number = next(machines)
            return f"machine-{number}/1/machine-{number}.1"

        def release(room: AnswerRoom) -> bool:
            return self.database.release(room)

        def extend(room: AnswerRoom, folder: Path, answers: int) -> None:
            self.database.extend(room, folder, answers)

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
        """Return whether every round is done and every account settled."""
        return count_ended_cohorts(self.file) == self.config.cohorts.count

    def play_season(self) -> None:
        """Play the season to its end; raise `Broken` if a call was made again that need not have been."""
        with self.doors():
            for kind in self.roster():
                self.start(kind)
            self.loop.run_until_complete(self.until_over())

        if self.fault is not None:
            raise self.fault

        again = len(self.provider.asked) - len(stored_questions(self.file))
        if again > self.under_way:
            raise Broken(
                f"{again} calls were made again, and {self.under_way} were under way as one was killed"
            )

    async def until_over(self) -> None:
        """Look now and then whether the season is over."""
        while not self.over() and self.fault is None:
            await asyncio.sleep(5.0)
            if self.loop.steps > MOST_STEPS:
                raise Broken(f"not over after {MOST_STEPS} steps")

    def roster(self) -> list[str]:
        """Draw who is at work: up to two schedulers, with workers or without, and commands beside them."""
        if not self.mishaps:
            return ["run"]

        schedulers = self.chance.choice((0, 1, 2, 2))
        workers = 3 * self.chance.choice((0, 1)) if schedulers else 0
        return ["run"] * schedulers + ["worker"] * workers + ["once"] * (2 - schedulers) + ["round"]
