"""All promised speeds in one table: target, ratio, spread over alternating runs, machine.

Runs the other benchmarks, each several times and in turns, and writes docs/performance.md. A ratio is ours
over what is wanted: 1 or more is as promised. What was not run keeps its line and says so.

python -m benchmarks.performance                      # all of it: an hour on two quiet cores
python -m benchmarks.performance --quick              # one run of what takes minutes
python -m benchmarks.performance --only sync scoring  # these
"""

import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from arena.clock import now

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "performance.md"
ARENA = (sys.executable, "-m", "arena.cli.main")
IMPORT_SIZES = (0.01, 0.03)
"""Two records to carry over, by their share of a year."""


@dataclass(frozen=True, slots=True)
class Promise:
    """A line of the table: what is promised, who measures it, and in which of its rows."""

    what: str
    target: str
    by: str
    rows: str
    by_cpu: bool = False
    """Whether ours counts by CPU, where it is held against a fixed figure and the machine is shared."""


PROMISES = (
    Promise("fills, marks, ledger persisted", "0.30 of sqlite3, same rows", "store", r"^turns"),
    Promise("`arena status`, a tenth of a year", "0.1 s", "store", r"^arena status", by_cpu=True),
    Promise("marks of all accounts at once", "3 × a loop", "portfolio", r"^a lot marked"),
    Promise("bets on disk", "10 × the reference", "portfolio", r"^bets on disk", by_cpu=True),
    Promise("marks on disk", "50 × the reference", "portfolio", r"^marks on disk", by_cpu=True),
    Promise("settlements on disk", "20 × the reference", "portfolio", r"^settlements on disk", by_cpu=True),
    Promise("a book of 59 levels walked", "66,000 a second", "portfolio", r"^a book walked", by_cpu=True),
    Promise("a buy, in memory", "4,100 a second", "portfolio", r"^a bet executed", by_cpu=True),
    Promise("a replayed year, by CPU", "0.35 of the bare loop", "replay", r"^the same in CPU"),
    Promise("Metaculus's scores", "80 × its code", "scoring", r"^Metaculus"),
    Promise("bootstrap, 10,000 × 200 × 500", "half of two products", "scoring", r"^10,000 draws"),
    Promise("ForecastBench's board", "300 × its method", "scoring", r"^a ForecastBench board"),
    Promise("a million forecasts, five scores", "a third of numpy", "scoring", r"^1,000,000 forecasts"),
    Promise("100,000 rows, every rule", "34 × arena-evaluation", "scoring", r"^100,000 rows"),
    Promise("a year's leaderboard", "5 s", "scoring", r"^a year's leaderboard", by_cpu=True),
    Promise("200 calls of 1 s, 50 at once", "1.15 of the ideal", "fanout", r"^200 calls"),
    Promise("our own share of a call", "1 ms of CPU", "fanout", r"^our own CPU"),
    Promise("catalogue of 10,000 markets", "3 × parse and upsert", "sync", r"parsed and stored"),
    Promise("the same, nothing changed", "1.5 × read and parse", "sync", r"seen again"),
    Promise(
        "questions of pages, a million marks",
        "50 ms",
        "dashboard",
        r"^(?! |page|first|mem|a whole)",
    ),
    Promise("first page in a browser", "3 s", "dashboard", r"^first page in a browser"),
    Promise("a turn at the desk, of 200 agents", "30 ms of CPU", "desk", r"^a turn", by_cpu=True),
    Promise("a search among 100,000 texts", "50 ms of CPU", "shelf", r"", by_cpu=True),
    Promise("`arena --help`", "0.3 s over `python -c pass`", "help", ""),
    Promise("`arena board`, the demo", "1.2 s of CPU", "leaderboard", ""),
    Promise("verify, a tenth of a year", "28.5 s of CPU", "store", r"^verify", by_cpu=True),
    Promise("import, 3 times the data", "3.3 × the CPU", "import", ""),
)
SLOW = ("replay", "dashboard", "scoring", "store")
"""What takes many minutes."""
REASONS = {
    "marks on disk": "30 times plain sqlite3 in the same run",
    "bootstrap, 10,000 × 200 × 500": "depends on how fast numpy multiplies matrices on the processor",
    "200 calls of 1 s, 50 at once": "by the clock, so whatever else the machine does counts",
    "a replayed year, by CPU": "writing the record takes a third, reading it a sixth, exact money a quarter",
    "our own share of a call": "each call is reserved and kept in a transaction of its own",
    "catalogue of 10,000 markets": "each market is checked, and its page and prices are hashed",
    "questions of pages, a million marks": "two of twenty; they take as long at 10,000 marks",
    "first page in a browser": "1.5 times a page of Streamlit's own in the same run",
    "a search among 100,000 texts": "only for five of the commonest words together",
    "`arena --help`": "loading Typer and the signatures of all commands",
    "`arena board`, the demo": "loading SQLModel, pydantic and numpy is two thirds of it",
}
"""Why a promise is missed, where it is known."""


def of_module(name: str) -> Iterator[tuple[str, float]]:
    """Yield the ratios of another benchmark, each over what is wanted of it."""
    for line in json.loads(output(sys.executable, "-m", f"benchmarks.{name}", "--json"))["rows"]:
        for promise in PROMISES:
            if promise.by == name and re.search(promise.rows, line["what"]) and line["what"]:
                cpu = max(line["cpu_share"], 0.01) if promise.by_cpu else 1.0
                yield promise.what, line["ratio"] / min(cpu, 1.0) / line["wanted"]


def output(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def cpu_of(*command: str) -> float:
    """Return the seconds of CPU of a command, with those of all that it starts."""
    before = os.times()
    output(*command)
    return sum(os.times()[2:4]) - sum(before[2:4])


def of_help() -> Iterator[tuple[str, float]]:
    bare = min(cpu_of(sys.executable, "-c", "pass") for _ in range(3))
    yield "`arena --help`", 0.3 / (min(cpu_of(*ARENA, "--help") for _ in range(3)) - bare)


def of_leaderboard(folder: Path) -> Iterator[tuple[str, float]]:
    record = folder / "demo.db"
    if not record.exists():
        output(*ARENA, "demo", "--headless", "--database", str(record))
    yield "`arena board`, the demo", 1.2 / cpu_of(*ARENA, "board", "--database", str(record))


def of_import(folder: Path) -> Iterator[tuple[str, float]]:
    took = []
    for scale in IMPORT_SIZES:
        record = folder / f"{scale}.db"
        export = folder / f"{scale}.zip"
        if not export.exists():
            output(sys.executable, "-m", "benchmarks.year", str(record), "--scale", str(scale))
            output(*ARENA, "share", "export", str(export), "--database", str(record))
        copy = folder / "copy.db"
        copy.unlink(missing_ok=True)
        took.append(cpu_of(*ARENA, "admin", "restore", str(export), "--database", str(copy)))
    yield "import, 3 times the data", 3.3 / (took[1] / took[0])


INTRO = """\
`make bench` measures and writes this page. The ratio is our result over the target, so 1 or more meets it:
the worst of several rows, the median of several runs, with its spread. Against a fixed figure CPU
time counts. Not measured here: `make test` in 480 s on two quiet cores; a catalogue by the
default rule in a fifth of its bytes, which `python -m benchmarks.live_weeks` counts."""
MODULES = ("portfolio", "fanout", "sync", "scoring", "store", "replay", "dashboard", "desk", "shelf")
MEASURES: dict[str, Callable[[Path], Iterator[tuple[str, float]]]] = {
    "help": lambda _: of_help(),
    "leaderboard": of_leaderboard,
    "import": of_import,
}
NAMES = (*MODULES, *MEASURES)


def measure(names: Sequence[str], runs: int) -> tuple[dict[str, list[float]], dict[str, str]]:
    """Return the worst ratio of each promise over all runs, and what could not be measured, and why."""
    found = defaultdict[str, list[float]](list)
    failed = dict[str, str]()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(runs):
            for name in names:
                began = time.perf_counter()
                worst = dict[str, float]()
                try:
                    for what, ratio in MEASURES[name](Path(folder)) if name in MEASURES else of_module(name):
                        worst[what] = min(ratio, worst.get(what, ratio))
                except subprocess.CalledProcessError as error:
                    failed[name] = (error.stderr.strip().splitlines() or [str(error)])[-1]
                for what, ratio in worst.items():
                    found[what].append(ratio)
                took = time.perf_counter() - began
                print(f"run {number + 1} of {runs}: {name}, {took:.0f} s", file=sys.stderr)
    return found, failed


def machine() -> str:
    """Describe the machine."""
    model = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text("utf-8"), re.MULTILINE)
    cpu = model[1] if model else platform.processor()
    return f"{os.cpu_count()} cores ({cpu}), {platform.system()}, Python {platform.python_version()}"


def page(found: Mapping[str, Sequence[float]], failed: Mapping[str, str], runs: int, day: str) -> str:
    """Return the table as Markdown."""
    lines = []
    for promise in PROMISES:
        ratios = found.get(promise.what, ())
        if not ratios:
            why = failed.get(promise.by, "not run")
            lines.append(f"|{promise.what} |{promise.target} |||{why}|")
            continue
        spread = f"{min(ratios):.2f}–{max(ratios):.2f}" if len(ratios) > 1 else ""
        middle = median(ratios)
        reason = REASONS.get(promise.what)
        says = ""
        if middle < 1:
            says = f"missed: {reason}" if reason else "missed"
        lines.append(
            f"|{promise.what} |{promise.target} |{middle:.2f} |{spread} |{says}|".replace("| |", "||")
        )
    many = f"{runs} alternating runs" if runs > 1 else "one run"
    return "\n".join([
        "# Performance",
        "",
        INTRO,
        "",
        f"{day}, {many}, load {os.getloadavg()[0]:.0f} at the end: {machine()}.",
        "",
        "|what |target |ratio |spread |note|",
        "|---|---|---:|---|---|",
        *lines,
        "",
    ])  # fmt: skip


def main() -> None:
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=NAMES, metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--quick", action="store_true", help="one run, and nothing that takes many minutes")
    parser.add_argument("--runs", type=int, default=3, help="default %(default)s")
    parser.add_argument("--json", action="store_true", help="print JSON, and write no page")
    chosen = parser.parse_args()
    names = chosen.only or [name for name in NAMES if not (chosen.quick and name in SLOW)]
    runs = 1 if chosen.quick else chosen.runs
    found, failed = measure(names, runs)
    if chosen.json:
        print(json.dumps({"ratios": found, "failed": failed, "machine": machine()}, indent=1))
        return
    # What `benchmarks.mutants --page` has put there stays.
    _, heading, guards = PAGE.read_text("utf-8").partition("\n## Guards taken out\n")
    PAGE.write_text(page(found, failed, runs, f"{now():%Y-%m-%d}") + heading + guards, encoding="utf-8")
    print(PAGE.read_text("utf-8"), end="")


if __name__ == "__main__":
    main()
