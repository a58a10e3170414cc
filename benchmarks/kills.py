"""Kills the arena at any moment, and holds what is left against an unbroken run.

`python -m benchmarks.kills` kills `arena run` 200 times. With `--postgresql` workers play: for some minutes
they are killed and suspended, and the database's server is stopped.
"""

import argparse
import json
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import psycopg

from arena.clock import timer
from arena.record.record import Record
from tests.postgres import a_server, database
from tests.program.forked import Forked, Forks, forks
from tests.program.rehearsal import content_at
from tests.provider.server import FaultyProvider, faulty

CONFIG = """\
markets: {{venue: simulator, show: 6, simulator: {{start: 2026-01-04, weeks: 14, markets: 60, events: 20}}}}
cohorts: {{rounds: 6, count: 4, bankroll: 1000}}
calls: {{per_provider: 4}}
run: {{workers: {workers}}}
agents:
{agents}
  - {{kind: crowd, of: [a0, a1]}}
  - {{kind: random}}
"""
AGENT = "  - {{name: a{n}, model: openai/plays, base_url: '{url}', price: {{input: 1, output: 4}}}}"
AGENTS, WORKERS = 4, 2
LATENCY = 0.4
LONGEST = 300.0
"""Seconds that anything is waited for; a process that takes longer hangs."""
MOST_MISHAPS = 30
"""In one season with workers; then it may end."""
LOST = "SELECT count(*) FROM reservation"
"""Calls that were under way as their process was killed: nobody has ended them."""


class Broken(Exception):
    """What must never be has come about."""


@dataclass
class Arena:
    """A season in a folder, its model's server, and what starts processes."""

    folder: Path
    server: FaultyProvider
    forks: Forks
    chance: Random
    whole: str = ""
    begun: int = 0
    seasons: int = 0
    mishaps: Counter[str] = field(default_factory=Counter)
    at_server: int = 0
    again: int = 0
    lost: int = 0

    def write_config(self, workers: bool) -> None:
        """The season, whose models are slow."""
        agents = "\n".join(AGENT.format(n=n, url=self.server.url) for n in range(AGENTS))
        text = CONFIG.format(agents=agents, workers=json.dumps(workers))
        (self.folder / "config.yaml").write_text(text, "utf-8")

    def start(self, command: str, place: str) -> Forked:
        """A process of the arena."""
        return self.forks.start(self.folder, command, "--database", place)

    def ends(self, process: Forked, seconds: float = LONGEST) -> bool:
        """Whether a process ends well in that time; one that ends badly is an error."""
        if not process.ended.wait(seconds):
            return False
        if process.status:
            raise Broken(f"it ended with {process.status}:\n{process.said()[-3_000:]}")
        return True

    def kill(self, process: Forked) -> None:
        """End it as a power cut would; then what it had asked is answered to nobody."""
        process.signal(signal.SIGCONT)
        process.signal(signal.SIGKILL)
        if not process.ended.wait(LONGEST):
            raise Broken("it can't be killed")

    def requests(self) -> Counter[str]:
        """What this season's processes asked, each question with how often."""
        bodies = [call.body for call in self.server.log[self.begun :]]
        return Counter(json.dumps([x["model"], x["messages"], x.get("seed")]) for x in bodies)

    def judge(self, place: str, lost: int) -> None:
        """The end of a season: the state of an unbroken one, and nothing bought twice that was not lost."""
        found, asked = content_at(place), self.requests()
        again = asked.total() - len(asked)
        self.again, self.lost = self.again + again, self.lost + lost
        said = f"season {self.seasons}: {asked.total():,} requests, {len(asked):,} questions, {lost} lost"
        say(f"{said}; {sum(self.mishaps.values())} mishaps so far")
        if found["differences"]:
            raise Broken(f"arena admin verify: {found['differences'][:5]}")
        if self.whole and found["hash"] != self.whole:
            raise Broken(f"the state is {found['hash']}, and {self.whole} in an unbroken run")
        if again > lost:
            raise Broken(f"{again} calls were made again, and {lost} were under way at a kill")
        self.whole = found["hash"]
        self.begun, self.seasons = len(self.server.log), self.seasons + 1


def say(words: str) -> None:
    """A line of progress, at once."""
    print(f"{timer():9.1f} {words}", flush=True)


def play_killed(arena: Arena, kills: int) -> None:
    """Seasons in which `arena run` is killed and started again, until it was so often enough."""
    while arena.mishaps["kills"] < kills:
        place = str(arena.folder / f"season{arena.seasons}.db")
        while True:
            running, left = arena.start("run", place), kills - arena.mishaps["kills"]
            if arena.ends(running, arena.chance.uniform(0.2, 5.0) if left else LONGEST):
                break
            if not left:
                raise Broken(f"the season does not end:\n{running.said()[-3_000:]}")
            arena.kill(running)
            arena.mishaps["kills"] += 1
            arena.at_server += arena.server.at_once
            say(f"kill {arena.mishaps['kills']} of {kills}: {arena.server.at_once} calls at the server")
        with closing(sqlite3.connect(place)) as record:
            arena.judge(place, record.execute(LOST).fetchone()[0])


@dataclass
class Crew:
    """A season on a server: who runs the schedule, and the workers. It goes on without any of them."""

    arena: Arena
    server: Any
    place: str
    processes: dict[str, Forked] = field(default_factory=dict)
    asleep: dict[str, float] = field(default_factory=dict)

    def fill(self) -> None:
        """Start whoever is missing, and wake who has slept enough."""
        for name in ("run", *(f"worker {n + 1}" for n in range(WORKERS))):
            if name not in self.processes:
                self.processes[name] = self.arena.start(name.partition(" ")[0], self.place)
        for name in [name for name, until in self.asleep.items() if timer() > until]:
            del self.asleep[name]
            self.processes[name].signal(signal.SIGCONT)

    def over(self) -> bool:
        """Whether the season is; workers go on until they are told to stop."""
        for name, process in self.processes.items():
            if name != "run" and not process.runs:
                raise Broken(f"{name} has ended:\n{process.said()[-3_000:]}")
        return self.arena.ends(self.processes["run"], 0.0)

    def kill(self) -> str:
        """One of them is killed, and started again."""
        name = self.arena.chance.choice(sorted(self.processes))
        self.asleep.pop(name, None)
        self.arena.kill(self.processes.pop(name))
        return f"{name} is killed"

    def suspend(self) -> str:
        """One of them stands still for a while."""
        name, seconds = self.arena.chance.choice(sorted(self.processes)), self.arena.chance.uniform(1, 20)
        self.processes[name].signal(signal.SIGSTOP)
        self.asleep[name] = timer() + seconds
        return f"{name} is suspended for {seconds:.1f} s"

    def restart(self) -> str:
        """The database's server is away for a while, sometimes for longer than anyone's patience."""
        seconds = self.arena.chance.choice((0.0, 3.0, 10.0, 45.0))
        self.server.stop()
        time.sleep(seconds)
        self.server.start()
        return f"the server was away for {seconds:.0f} s"

    def dismiss(self) -> None:
        """Nobody is left."""
        for process in self.processes.values():
            self.arena.kill(process)


def play_with_workers(arena: Arena, minutes: float) -> None:
    """Seasons of workers on PostgreSQL, under mishaps until the time is over."""
    arena.write_config(workers=True)
    with a_server() as server:
        end = timer() + 60 * minutes
        while timer() < end:
            place = database(server.get_uri(), f"season{arena.seasons}")
            Record.open(place).close()
            crew, mishaps, last = Crew(arena, server, place), 0, timer()
            with dismissed(crew):
                crew.fill()
                while not crew.over():
                    time.sleep(arena.chance.uniform(0.5, 6.0))
                    if timer() > end or mishaps == MOST_MISHAPS:
                        if timer() > last + LONGEST + 60:
                            raise Broken(f"the season does not end:\n{crew.processes['run'].said()[-3_000:]}")
                    elif not crew.over():
                        happens = arena.chance.choice((crew.kill, crew.kill, crew.suspend, crew.restart))
                        mishaps, last = mishaps + 1, timer()
                        arena.mishaps[happens.__name__] += 1
                        say(f"mishap {sum(arena.mishaps.values())}: {happens()}")
                    crew.fill()
            with psycopg.connect(place.replace("+psycopg", "")) as connection:
                lost = connection.execute(LOST).fetchone()
            arena.judge(place, lost[0] if lost else 0)


@contextmanager
def dismissed(crew: Crew) -> Iterator[None]:
    """Whatever happens, nobody is left."""
    try:
        yield
    finally:
        crew.dismiss()


def main() -> None:
    """All of it; the exit status is 1 when something was not as it must be."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=200, help="how many of arena run")
    parser.add_argument("--postgresql", action="store_true", help="workers on PostgreSQL instead")
    parser.add_argument("--minutes", type=float, default=20.0, help="for how long, with --postgresql")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        arena = Arena(
            folder, stack.enter_context(faulty(LATENCY)), stack.enter_context(forks()), Random(options.seed)
        )
        place = str(arena.folder / "whole.db")
        arena.write_config(workers=False)
        if not arena.ends(arena.start("run", place)):
            raise Broken("the unbroken season does not end")
        arena.judge(place, 0)
        if options.postgresql:
            play_with_workers(arena, options.minutes)
        else:
            play_killed(arena, options.kills)
    counts = ", ".join(f"{count} {name}" for name, count in arena.mishaps.items())
    print(f"{arena.seasons - 1} seasons, {counts}: each ended as if unbroken")
    print(
        f"{arena.again} calls made again; {arena.lost} under way at a kill, {arena.at_server} at the server"
    )


if __name__ == "__main__":
    main()
