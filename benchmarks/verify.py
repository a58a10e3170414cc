"""What it takes to verify a record: time, and how much memory more than a process that has only begun.

python -m benchmarks.verify 0.02 0.1      # at so much of a record a year old; 1 is a whole one, of 2 GB
"""

import json
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.store import counted

WORK = """
import resource, sys, time
from arena.record.schema.database import connect, reading
from arena.record.hashes import state_hash
from arena.verify import find
work = {"verify": lambda base: find(base, most=1).count, "state hash": state_hash}
before = resource.getrusage(resource.RUSAGE_SELF)
began = time.perf_counter()
with reading(connect(sys.argv[1], read_only=True)) as connection:
    found = work[sys.argv[2]](connection)
wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF)
cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
print(wall, cpu, before.ru_maxrss, after.ru_maxrss, found)
"""


@dataclass(frozen=True, slots=True)
class Taken:
    """Seconds by the wall and of CPU, the most memory in MB before the work and with it, what was found.

    That is how many differences, or the hash.
    """

    scale: float
    what: str
    wall: float
    cpu: float
    begun_mb: float
    peak_mb: float
    found: str


def taken(scale: float, record: Path, what: str) -> Taken:
    """Some work on a record in a process of its own."""
    command = [sys.executable, "-c", WORK, str(record), what]
    words = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    wall, cpu, begun, peak = map(float, words[:4])
    return Taken(scale, what, wall, cpu, begun / 1024, peak / 1024, words[4])


def measured(scale: float, folder: Path) -> tuple[list[Taken], str]:
    """Both works on a record of that scale, and what is in it."""
    record, began = folder / "year.db", time.perf_counter()
    # Not here: a process starts with its maker's memory to its name, and this takes much.
    command = [sys.executable, "-m", "benchmarks.year", str(record), "--scale", str(scale)]
    subprocess.run(command, capture_output=True, check=True)
    note = f"{counted(record)}; made in {time.perf_counter() - began:.0f} s"
    return [taken(scale, record, what) for what in ("verify", "state hash")], note


def main() -> None:
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("scales", type=float, nargs="*", default=[0.02, 0.1], metavar="SCALE")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    chosen = parser.parse_args()
    rows, notes = list[Taken](), list[str]()
    with tempfile.TemporaryDirectory() as folder:
        for scale in chosen.scales:
            found, note = measured(scale, Path(folder))
            rows += found
            notes.append(f"{scale:g}: {note}")
    if chosen.json:
        print(json.dumps({"rows": [asdict(row) for row in rows], "notes": notes}, indent=1))
        return
    print(f"{'scale':>6}  {'what':12}{'s':>8}{'CPU s':>8}{'MB begun':>10}{'MB at most':>12}  found")
    for x in rows:
        memory = f"{x.begun_mb:>10.0f}{x.peak_mb:>12.0f}"
        print(f"{x.scale:>6g}  {x.what:12}{x.wall:>8.1f}{x.cpu:>8.1f}{memory}  {x.found[:16]}")
    print("\n".join(notes))


if __name__ == "__main__":
    main()
