"""Kill the arena at random moments, and compare the result with an unbroken run.

`python -m benchmarks.kills` kills `arena run` 200 times, on SQLite; `benchmarks.postgresql` does it with
schedulers and workers on a server.
"""

import argparse
import json
import signal
import sqlite3
from collections import Counter
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from arena.clock import timer
from tests.program.forked import Forked, Forks, forks
from tests.program.rehearsal import content_at
from tests.provider.server import FaultyProvider, faulty

CONFIG = """\
markets: {{venue: simulator, show: 6, simulator: {{start: 2026-01-04, weeks: 14, markets: 60, events: 20}}}}
cohorts: {{rounds: 6, count: 4, bankroll: 1000}}
calls: {{per_provider: 4}}
agents:
{agents}
  - {{kind: crowd, of: [a0, a1]}}
  - {{kind: random}}
"""
AGENT = "  - {{name: a{n}, model: openai/plays, base_url: '{url}', price: {{input: 1, output: 4}}}}"
AGENTS = 4
LATENCY = 0.4
LONGEST = 300.0
"""Seconds that anything is waited for; a process that takes longer hangs."""
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

    def write_config(self) -> None:
        """Write the config of the season, whose models are slow."""
        agents = "\n".join(AGENT.format(n=n, url=self.server.url) for n in range(AGENTS))
        (self.folder / "config.yaml").write_text(CONFIG.format(agents=agents), "utf-8")

    def start(self, command: str, place: str) -> Forked:
        """Start a process of the arena."""
        return self.forks.start(self.folder, command, "--database", place)

    def ends(self, process: Forked, seconds: float = LONGEST) -> bool:
        """Tell whether a process ends well in that time; raise an error if it ends badly."""
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
        """Count each request of this season's processes."""
        bodies = [call.body for call in self.server.log[self.begun :]]
        return Counter(json.dumps([x["model"], x["messages"], x.get("seed")]) for x in bodies)

    def judge(self, place: str, lost: int) -> None:
        """Check that a season ended like an unbroken one, and paid twice only for answers that were lost."""
        found = content_at(place)
        asked = self.requests()
        again = asked.total() - len(asked)
        self.again = self.again + again
        self.lost = self.lost + lost
        said = f"season {self.seasons}: {asked.total():,} requests, {len(asked):,} questions, {lost} lost"
        say(f"{said}; {sum(self.mishaps.values())} mishaps so far")
        if found["differences"]:
            raise Broken(f"arena admin verify: {found['differences'][:5]}")
        if self.whole and found["hash"] != self.whole:
            raise Broken(f"the state is {found['hash']}, and {self.whole} in an unbroken run")
        if again > lost:
            raise Broken(f"{again} calls were made again, and {lost} were under way at a kill")
        self.whole = found["hash"]
        self.begun = len(self.server.log)
        self.seasons = self.seasons + 1


def say(words: str) -> None:
    """Print a line of progress at once."""
    print(f"{timer():9.1f} {words}", flush=True)


def play_killed(arena: Arena, kills: int) -> None:
    """Play seasons in which `arena run` is killed and restarted until there were enough kills."""
    while arena.mishaps["kills"] < kills:
        place = str(arena.folder / f"season{arena.seasons}.db")
        while True:
            running = arena.start("run", place)
            left = kills - arena.mishaps["kills"]
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


def main() -> None:
    """Run everything; exit with status 1 if something went wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=200, help="how many of arena run")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        arena = Arena(
            folder, stack.enter_context(faulty(LATENCY)), stack.enter_context(forks()), Random(options.seed)
        )
        place = str(arena.folder / "whole.db")
        arena.write_config()
        if not arena.ends(arena.start("run", place)):
            raise Broken("the unbroken season does not end")
        arena.judge(place, 0)
        play_killed(arena, options.kills)
    counts = ", ".join(f"{count} {name}" for name, count in arena.mishaps.items())
    print(f"{arena.seasons - 1} seasons, {counts}: each ended as if unbroken")
    print(
        f"{arena.again} calls made again; {arena.lost} under way at a kill, {arena.at_server} at the server"
    )


if __name__ == "__main__":
    main()
