"""A year of `arena run`: how long does it take, how does its memory grow, what does a turn take on disk?

52 weekly cohorts at a venue and a provider over HTTP, on a pretended clock, with an upgrade of the schema, a
model that is retired, one that is added, corrections, and days on which the venue and the provider are down.
Then the same year again, killed at some random times: it has to end in the same hash.

Memory is that of the process, once a day: the first quarter of the year warms it up, and the last day is held
against the one after that.

python -m benchmarks.rehearsal
"""

import json
import resource
import signal
import subprocess
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.measure import options
from tests.program.command_line import command, environment
from tests.program.rehearsal import SUNDAY, content
from tests.season.yearlong import A_YEAR, WEEK, Stage, kills, staged

WARM, END = SUNDAY + 13 * WEEK, SUNDAY + 52 * WEEK
HOUR, MOST_GROWTH = 3600, 0.05


@dataclass
class Spawned:
    """A process of its own that runs `arena`, as a user starts it."""

    process: "subprocess.Popen[bytes]"
    log: Path

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def runs(self) -> bool:
        return self.process.poll() is None

    def said(self) -> str:
        return self.log.read_text("utf-8")

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def wait(self) -> int:
        return self.process.wait()

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        self.wait()


def spawn(folder: Path, *words: str) -> Spawned:
    log = folder / "log"
    with log.open("ab") as file:
        process = subprocess.Popen(
            command(*words), cwd=folder, env=environment(), stdout=file, stderr=file, stdin=subprocess.DEVNULL
        )
    return Spawned(process, log)


@dataclass(frozen=True)
class ProcessUsage:
    """What came of a year: seconds by the wall and of CPU, megabytes of memory, bytes on disk."""

    seconds: float
    cpu: float
    starts: int
    cohorts: int
    rounds: int
    turns: int
    calls: int
    warm_mb: float
    end_mb: float
    bytes_a_turn: int

    @property
    def growth(self) -> float:
        return self.end_mb / self.warm_mb - 1


def played(stage: Stage, folder: Path, deaths: int) -> tuple[ProcessUsage, dict[str, Any]]:
    """A year, and what is in its record."""
    began, cpu = time.perf_counter(), used()
    stage.play(folder, kills(stage.year, deaths, Random("when to kill")), Random("how much later"))
    seconds, contents = time.perf_counter() - began, content(folder)
    counts = {name: contents[name] for name in ("cohorts", "rounds", "turns", "calls")}
    days = [size for at, size in stage.memory if WARM <= at <= END]
    size = (folder / "arena.db").stat().st_size // contents["turns"]
    figures = ProcessUsage(
        seconds,
        used() - cpu,
        stage.lives,
        **counts,
        warm_mb=days[0] / 1e6,
        end_mb=days[-1] / 1e6,
        bytes_a_turn=size,
    )
    return figures, contents


def used() -> float:
    """CPU seconds of all processes that have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--kills", type=int, default=10, help="how often the second year is killed")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="year") as name, staged(A_YEAR, spawn) as stage:
        folder = Path(name)
        whole, first = played(stage, folder / "whole", 0)
        broken, again = played(stage, folder / "killed", chosen.kills)
    good = {
        "under an hour": max(whole.seconds, broken.seconds) < HOUR,
        "the same record": again == first,
        "nothing to be said by verify": not first["differences"],
        f"memory grows by {MOST_GROWTH:.0%} at most": whole.growth <= MOST_GROWTH,
    }
    if chosen.json:
        years = {"whole": asdict(whole) | {"growth": whole.growth}, "killed": asdict(broken)}
        print(json.dumps({"years": years, "good": good}, indent=1))
        return
    for name, year in (("as it came", whole), (f"killed {chosen.kills} times", broken)):
        print(f"{name}: {year.seconds:,.0f} s, of CPU {year.cpu:,.0f} s, {year.starts} starts")
        print(f"  {year.cohorts} cohorts, {year.rounds} rounds, {year.turns:,} turns, {year.calls:,} calls")
        print(f"  {year.bytes_a_turn:,} bytes on disk for a turn, with all that is kept beside it")
    print(
        f"memory after 13 weeks {whole.warm_mb:,.1f} MB, after 52 {whole.end_mb:,.1f} MB: {whole.growth:+.1%}"
    )
    for what, so in good.items():
        print(f"{'ok ' if so else 'no '} {what}")


if __name__ == "__main__":
    main()
