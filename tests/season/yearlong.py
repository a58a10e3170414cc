"""Whole years of `arena run` on a pretended clock: a venue and a provider over HTTP, mishaps, and kills.

What the venue and the provider answer depends on the pretended time, and on what is asked, alone. So a year
that is broken off again and again has to end as one that is not.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random
from time import sleep
from typing import Protocol

from agents.demo.models import answer
from agents.model import Message
from arena.clock import PretendedClock
from markets.simulation.settings import Settings
from tests.program.rehearsal import SUNDAY, clock_at
from tests.provider.replies import Asked, fails, says
from tests.provider.server import FaultyProvider, faulty
from tests.season.paid import question, stored_questions
from tests.serving import Reply, serving
from tests.venue_server.moving import MovingVenue
from tests.venue_server.polymarket import CLOB, GAMMA

HOUR, DAY, WEEK = timedelta(hours=1), timedelta(days=1), timedelta(weeks=1)
CONFIG = """\
markets:
  venue: polymarket
  show: 6
  closes_within: {days}d
  min_volume: 0
  polymarket: {{url: "{venue}{gamma}", book_url: "{venue}{clob}", per_second: 10000}}
cohorts: {{first: 2026-01-04, rounds: {year.rounds}, count: {year.cohorts}}}
run:
  catalogue: {year.looks}
  quotes: {year.looks}
  resolutions: {year.looks}
  marks: {year.looks}
  boards: {year.looks}
  scores: {year.looks}
  retention: 1w
  keep_quotes: 4w
  backup: off
  grace: 0s
agents:
{agents}
"""
MODEL = '  - {{name: {name}, model: openai/{name}, base_url: "{provider}", price: {{input: 1, output: 4}}}}\n'
RULES = "  - kind: market\n  - {kind: kelly, of: sharp}\n"
OLD, NEW = "blind", "hasty"
"""The model that is retired, and the one that is added."""


@dataclass(frozen=True)
class Year:
    """How much is played, and when what happens. Times are counted from its first Sunday.

    The record is `carried_over` from a former arena, a model `retired`, and then `removed` from the config;
    another one is `added`; the venue and the provider are down for a while.
    """

    cohorts: int
    rounds: int
    within: timedelta
    looks: str
    world: Settings
    carried_over: timedelta
    retired: timedelta
    removed: timedelta
    added: timedelta
    venue_down: tuple[timedelta, timedelta]
    provider_down: tuple[timedelta, timedelta]


@dataclass(frozen=True)
class Act:
    """Something that happens at a pretended time, while nothing runs. Without `what`, a process is killed."""

    at: datetime
    what: Callable[[], object] | None = None


class Running(Protocol):
    """A process that runs `arena`."""

    @property
    def pid(self) -> int: ...

    @property
    def runs(self) -> bool: ...

    def said(self) -> str: ...

    def signal(self, number: int) -> None: ...

    def wait(self) -> int: ...

    def kill(self) -> None: ...


Start = Callable[..., Running]
"""Starts `arena` in a folder, with some words."""


@dataclass
class Stage:
    """Where a year is played, once or more often: the servers, the folder, and what is yet to happen there.

    The first question that the venue is asked once an act is due brings it about. Before anything but a kill
    it gets no answer, so that all is then as it would be in any other run.
    """

    year: Year
    start: Start
    venue: MovingVenue = field(init=False)
    provider: FaultyProvider = field(init=False)
    folder: Path = field(init=False)
    running: Running = field(init=False)
    acts: list[Act] = field(default_factory=list)
    due: threading.Event = field(default_factory=threading.Event)
    go_on: threading.Event = field(default_factory=threading.Event)
    memory: list[tuple[datetime, int]] = field(default_factory=list)
    lives: int = 0

    def now(self) -> datetime:
        """The pretended time."""
        return PretendedClock.read(self.folder / "clock").now()

    def look(self, at: datetime) -> None:
        """Before each answer of the venue: has something come due?"""
        if not self.memory or at - self.memory[-1][0] >= DAY:
            self.memory.append((at, self._resident()))
        if self.acts and at >= self.acts[0].at:
            act = self.acts[0]
            self.due.set()
            if act.what is not None:
                self.go_on.wait(60)

    def _resident(self) -> int:
        """The memory of the process, in bytes."""
        pages = Path(f"/proc/{self.running.pid}/statm").read_text("ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def command(self, *words: str) -> None:
        """Run `arena` with these words to its end, which must be a good one."""
        done = self.start(self.folder, *words)
        assert done.wait() == 0, done.said()

    def configure(self, *names: str) -> None:
        """Write the config, with these models in its line-up."""
        blocks = "".join(MODEL.format(name=name, provider=self.provider.url) for name in names)
        place = {"venue": self.venue.url, "gamma": GAMMA, "clob": CLOB}
        text = CONFIG.format(agents=blocks + RULES, days=self.year.within // DAY, year=self.year, **place)
        (self.folder / "config.yaml").write_text(text, "utf-8")

    def carry_over(self) -> None:
        """Up to now it was a former arena that kept the record; its export is what this one goes on from."""
        self.command("db", "backup")
        self.command("export", "season.zip")
        for left in self.folder.glob("arena.db*"):
            left.unlink()
        self.command("import", "season.zip")

    def play(self, folder: Path, kills: Sequence[datetime] = (), chance: Random | None = None) -> None:
        """The whole year, in a new folder; what is killed, or stopped for a change, is started again."""
        folder.mkdir()
        clock_at(folder)
        self.folder, self.memory, self.lives = folder, [], 0
        year, names = self.year, ("sharp", OLD)
        mishaps = [
            Act(SUNDAY + year.carried_over, self.carry_over),
            Act(SUNDAY + year.removed, partial(self.configure, names[0])),
            Act(SUNDAY + year.added, partial(self.configure, names[0], NEW)),
        ]
        self.acts = sorted([*mishaps, *map(Act, kills)], key=lambda act: act.at)
        self.configure(*names)
        while not self._live(chance or Random(0)):
            pass
        assert not self.acts, "it was over before all had happened"

    def _live(self, chance: Random) -> bool:
        """From a start until it is over, or until something happens; whether it is over."""
        self.due.clear()
        self.go_on.clear()
        self.lives += 1
        stored, before = stored_questions(self.folder / "arena.db"), len(self.provider.log)
        self.running = run = self.start(self.folder, "run", "--clock", "clock", "--database", "arena.db")
        while run.runs and not self.due.wait(0.01):
            pass
        act = self.acts.pop(0) if self.due.is_set() else None
        if act is not None and act.what is None:
            sleep(chance.uniform(0, 0.2))
            run.kill()
        else:
            run.signal(signal.SIGTERM)
            assert run.wait() == 0, run.said()
        asked = {named(call) for call in self.provider.log[before:]}
        assert not stored & asked, "a stored answer was asked for again"
        if act is not None and act.what is not None:
            act.what()
        self.go_on.set()
        return act is None


def named(call: Asked) -> str:
    """The question of a call, by name."""
    return question(call.model, call.body["messages"], int(call.body.get("seed") or 0))


def speaking(stage: Stage, model: str) -> Callable[[Asked], Reply]:
    """A demo's model behind the provider's door; it is out at times, and the old one is retired."""
    begin, end = (SUNDAY + at for at in stage.year.provider_down)

    def said(call: Asked) -> Reply:
        now = stage.now()
        if begin <= now < end:
            return fails(402, "the account is closed for now")
        if model == OLD and now >= SUNDAY + stage.year.retired:
            return fails(404, f"the model {model} was retired")
        messages = [Message(each["role"], each["content"]) for each in call.body["messages"]]
        return says(answer(model, messages, int(call.body.get("seed") or 0)), model=model)

    return said


@contextmanager
def staged(year: Year, start: Start) -> Iterator[Stage]:
    """A stage for as long as the block lasts."""
    stage = Stage(year, start)
    begin, end = (SUNDAY + at for at in year.venue_down)
    venue = MovingVenue(year.world, stage.now, lambda at: begin <= at < end)
    venue.look = stage.look
    with serving(venue), faulty() as provider:
        stage.venue, stage.provider = venue, provider
        for model in ("sharp", OLD, NEW):
            provider.script(model, speaking(stage, model))
        yield stage


def kills(year: Year, count: int, chance: Random) -> list[datetime]:
    """So many pretended times at which it is killed."""
    length = (year.cohorts + year.rounds) * WEEK
    return [SUNDAY + chance.random() * length for _ in range(count)]


SOME_WEEKS = Year(
    cohorts=3,
    rounds=2,
    within=14 * DAY,
    looks="6d",
    world=Settings(weeks=7, markets=24, events=12, refund_share=0, corrected_share=0.6, corrected_days=5),
    carried_over=4 * DAY,
    retired=8 * DAY,
    removed=9 * DAY,
    added=11 * DAY,
    venue_down=(14 * DAY - 3 * HOUR, 14 * DAY + HOUR / 3),
    provider_down=(19 * DAY, 21 * DAY + HOUR / 3),
)
A_YEAR = Year(
    cohorts=52,
    rounds=5,
    within=60 * DAY,
    looks="1d",
    world=Settings(weeks=64, markets=240, events=100, refund_share=0, corrected_share=0.1),
    carried_over=3 * WEEK + DAY,
    retired=5 * WEEK + DAY,
    removed=6 * WEEK + DAY,
    added=8 * WEEK + DAY,
    venue_down=(20 * WEEK - 2 * DAY, 20 * WEEK + 2.4 * HOUR),
    provider_down=(30 * WEEK - 3 * DAY, 30 * WEEK + 3 * HOUR),
)
