"""Helpers of all benchmarks: timing a piece of work, and printing rows as a table or as JSON."""

import argparse
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from arena.config import Config, load


@dataclass(frozen=True, slots=True)
class Measurement:
    """One line of a benchmark: how many a second, against what, and the ratio that is wanted."""

    what: str
    per_second: float
    cpu_share: float
    against: str
    reference: float
    wanted: float

    @property
    def ratio(self) -> float:
        """Return our rate over the reference's."""
        return self.per_second / self.reference

    @property
    def good(self) -> bool:
        """Tell whether it is as fast as wanted."""
        return self.ratio >= self.wanted


@dataclass(frozen=True, slots=True)
class Timed:
    """How long some work took, in seconds by the wall and of CPU, for one of its parts."""

    wall: float
    cpu: float

    @property
    def per_second(self) -> float:
        return 1 / self.wall

    @property
    def cpu_share(self) -> float:
        return self.cpu / self.wall


def timed(work: Callable[[], object], parts: int = 1, repeat: int = 3) -> Timed:
    """Return the best of some runs of a work that has this many parts."""
    return min(_runs(work, parts, repeat), key=lambda run: run.wall)


def least_cpu(work: Callable[[], object], parts: int = 1, repeat: int = 3) -> float:
    """Return the least CPU of some runs, which other work on the machine does not change."""
    return min(run.cpu for run in _runs(work, parts, repeat))


def _runs(work: Callable[[], object], parts: int, repeat: int) -> Iterator[Timed]:
    for _ in range(repeat):
        started = instant()
        work()
        yield since(started, parts)


def instant() -> tuple[float, float]:
    """Return now, by the wall clock and by this process's CPU."""
    return time.perf_counter(), time.process_time()


def since(started: tuple[float, float], parts: int = 1) -> Timed:
    """Return the time since an instant, for one of this many parts."""
    wall, cpu = instant()
    return Timed((wall - started[0]) / parts, (cpu - started[1]) / parts)


def row(what: str, ours: Timed, against: str, reference: float, wanted: float) -> Measurement:
    """Return a line of the table; `reference` is the rate that it is compared with."""
    return Measurement(what, ours.per_second, ours.cpu_share, against, reference, wanted)


def within(what: str, took: float, against: str, most: float) -> Measurement:
    """Return a line about seconds, or another figure with an upper limit."""
    return row(what, Timed(took, took), against, 1 / most, 1.0)


def options(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options that every benchmark has."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    return parser


def report(rows: Sequence[Measurement], as_json: bool, notes: Sequence[str] = ()) -> None:
    """Print the rows, and how many of them are slower than wanted."""
    if as_json:
        lines = [asdict(row) | {"ratio": row.ratio, "good": row.good} for row in rows]
        print(json.dumps({"rows": lines, "notes": list(notes)}, indent=1))
        return
    print(f"{'':3} {'what':52} {'a second':>12} {'CPU':>5} {'ratio':>8} {'wanted':>7}  against")
    for line in rows:
        mark = "ok " if line.good else "no "
        figures = f"{line.per_second:>12,.0f} {line.cpu_share:>5.0%} {line.ratio:>8.2f} {line.wanted:>7.2f}"
        print(f"{mark} {line.what:52} {figures}  {line.against} ({line.reference:,.0f}/s)")
    for note in notes:
        print(note)
    slow = sum(not row.good for row in rows)
    print(f"{len(rows) - slow} as fast as wanted, {slow} slower")


def report_plainly(rows: Iterable[dict[str, Any]], as_json: bool, line: str) -> None:
    """Print rows that are held against nothing, each by a template as it comes, or all at once as JSON."""
    if as_json:
        print(json.dumps(list(rows), indent=1))
        return
    for row in rows:
        print(line.format(**row), flush=True)


def an_arena(folder: Path, *lines: str) -> Config:
    """Write and return the config of an arena in a folder."""
    file = folder / "config.yaml"
    file.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return load(file)
