"""How fast the record is: a turn's rows against sqlite3 itself; `arena status` and verify on a year old one.

python -m benchmarks.store --scale 1      # a whole year: 2 GB, made in a minute, kept with --record PATH
"""

import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

from agents.model import Decision, Forecast
from arena.record.record import Record
from arena.record.write.turns import TurnUnderClaim
from benchmarks import workload
from benchmarks.measure import Measurement, Timed, options, report, row, timed, within

SAME_ROWS = {
    "turn": 'SELECT * FROM "turn" WHERE id = ?',
    "forecast": "SELECT * FROM forecast WHERE turn_id = ?",
    "fill": "SELECT * FROM fill WHERE turn_id = ?",
    "fill_level": "SELECT l.* FROM fill_level l JOIN fill f ON l.fill_id = f.id WHERE f.turn_id = ?",
    "entry": 'SELECT e.* FROM entry e JOIN "turn" t USING (entrant_id) WHERE t.id = ? AND e.number > 1',
}
REASON = "Such things seldom come to pass within a week, and the news says nothing new."
RUNS = 5
LONGEST = 0.1
"""The seconds that a status may take."""
VERIFIED = (17.0, 115.0)
"""The seconds of CPU to verify: so many, and so many more for a whole year.

That is 1.15 times what it took before a record was verified by playing it again: 25 s for a tenth of a
year, 115 s for all of it.
"""

Written = Sequence[Mapping[str, Sequence[tuple[object, ...]]]]


def persisted(folder: Path) -> list[Measurement]:
    """Write the rows of 500 fills a transaction, without and with 500 forecasts, by the arena and sqlite3."""
    arena = workload.opened(folder / "new.db")
    turns = workload.decided(arena)
    arena.record.close()
    stating = [replace(each, turn=replace(each.turn, decision=_stating(each))) for each in turns]
    return [
        against_sqlite(folder, turns, "turns of 500 fills kept, with their ledgers", 0.3),
        against_sqlite(folder, stating, "turns of 500 fills and 500 forecasts kept", 0.3),
    ]


def _stating(each: TurnUnderClaim) -> Decision:
    """Return the decision with a forecast for every market."""
    forecasts = tuple(Forecast(market, 0.4, reason=REASON) for market in workload.IDS)
    return replace(each.turn.decision, forecasts=forecasts)


def against_sqlite(folder: Path, turns: workload.Decided, what: str, wanted: float) -> Measurement:
    """Time turns written by the record, and their rows by sqlite3, each on copies of one database.

    sqlite3 is given its rows ready, has no keys to check, and syncs as often as the record does. The first
    turn, for which a process makes its statements, is left out on both sides.
    """
    ours = list[Timed]()
    raw = list[Timed]()
    for _ in range(RUNS):
        record = Record.open(str(shutil.copy(folder / "new.db", folder / "ours.db")))
        keep(record, turns[:1])
        ours.append(timed(partial(keep, record, turns[1:]), len(turns) - 1, repeat=1))
        record.close()
        written = rows_by_turn(folder / "ours.db")
        shutil.copy(folder / "new.db", folder / "raw.db")
        with closing(sqlite3.connect(folder / "raw.db", isolation_level=None)) as base:
            base.execute("PRAGMA journal_mode = WAL")
            base.execute("PRAGMA synchronous = NORMAL")
            write_raw(base, written[:1])
            raw.append(timed(partial(write_raw, base, written[1:]), len(turns) - 1, repeat=1))
    best = min(ours, key=lambda x: x.wall)
    reference = min(raw, key=lambda x: x.wall)
    return row(what, best, "sqlite3, same rows", reference.per_second, wanted)


def keep(record: Record, turns: workload.Decided) -> None:
    """Write each turn in a transaction of its own."""
    for turn in turns:
        record.add_turns(1, (1, 1), [turn], "bench")


def rows_by_turn(path: Path) -> Written:
    """Return what each turn has put into each table."""
    with closing(sqlite3.connect(path)) as base:
        turns = [key for (key,) in base.execute('SELECT id FROM "turn" ORDER BY id')]
        return [
            {name: base.execute(SAME_ROWS[name], (key,)).fetchall() for name in SAME_ROWS} for key in turns
        ]


def write_raw(base: sqlite3.Connection, turns: Written) -> None:
    """Write the rows of each turn in one transaction."""
    for rows in turns:
        base.execute("BEGIN IMMEDIATE")
        for table, lines in ((table, lines) for table, lines in rows.items() if lines):
            base.executemany(f'INSERT INTO "{table}" VALUES ({", ".join("?" * len(lines[0]))})', lines)
        base.execute("COMMIT")


STATUS = """
import sys, time
from arena.cli.output import print_json
from arena.operations.status import read_status, status_data
from arena.cohorts.schedule import Expected
from arena.record.schema.database import open_read_only, reading
from tests.year.record import NOW
limits = {"day": 20_000_000, "round": 5_000_000, "agent": 10_000_000, "arena": 500_000_000}
for _ in range(int(sys.argv[2])):
    began, cpu = time.perf_counter(), time.process_time()
    with open_read_only(sys.argv[1]) as engine, reading(engine) as connection:
        print_json(status_data(read_status(connection, NOW, Expected(limits=limits))))
    print(time.perf_counter() - began, time.process_time() - cpu, file=sys.stderr)
"""


def status(record: Path) -> list[Measurement]:
    """Time `arena status --json` after imports, first in a process and again."""
    first = list[Timed]()
    again = list[Timed]()
    for _ in range(RUNS):
        process = subprocess.run(
            [sys.executable, "-c", STATUS, record, "3"], capture_output=True, text=True, check=True
        )
        times = [Timed(*map(float, line.split())) for line in process.stderr.splitlines()]
        first.append(times[0])
        again += times[1:]
    wanted = ("0.1 s", 1 / LONGEST, 1)
    return [
        row("arena status on that record, first in a process", min(first, key=lambda x: x.wall), *wanted),
        row("arena status on that record, again", min(again, key=lambda x: x.wall), *wanted),
    ]


WORK = """
import resource, sys
from arena.record.schema.database import connect, reading
from arena.record.hashes import state_hash
from arena.verify import find
work = {"verify": lambda base: find(base, most=1).count == 0, "state hash": state_hash}
before = resource.getrusage(resource.RUSAGE_SELF)
with reading(connect(sys.argv[1], read_only=True)) as connection:
    assert work[sys.argv[2]](connection), "the record contradicts itself"
after = resource.getrusage(resource.RUSAGE_SELF)
cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
print(cpu, (after.ru_maxrss - before.ru_maxrss) / 1024)
"""


def checked(record: Path, scale: float) -> list[Measurement]:
    """Measure verifying and hashing a record: CPU, and memory above that of a bare process."""
    rows = list[Measurement]()
    least, for_a_year = VERIFIED
    most = least + for_a_year * scale
    for what in ("verify", "state hash"):
        command = [sys.executable, "-c", WORK, str(record), what]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        cpu, memory = map(float, said.split())
        rows.append(within(f"{what}: {cpu:.1f} s of CPU, {memory:.0f} MB", cpu, f"{most:g} s", most))
    return rows


def counted(record: Path) -> str:
    """Count the rows of a record."""
    tables = ("mark", "quote", "snapshot", "turn", "forecast", "call", "entry")
    with closing(sqlite3.connect(record)) as base:
        counts = {name: base.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in tables}
    size = record.stat().st_size / 1e6
    return "that record: " + ", ".join(f"{n:,} of {name}" for name, n in counts.items()) + f"; {size:,.0f} MB"


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--scale", type=float, default=0.1, help="how much of a year; default %(default)s")
    parser.add_argument("--record", type=Path, help="a record of `benchmarks.year`, made there if missing")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        record = chosen.record or Path(folder, "year.db")
        notes = []
        if not record.exists():
            began = time.perf_counter()  # not made here: what starts has its maker's memory to its name
            words = [sys.executable, "-m", "benchmarks.year", str(record), "--scale", str(chosen.scale)]
            subprocess.run(words, capture_output=True, check=True)
            notes.append(f"made in {time.perf_counter() - began:.0f} s")
        rows = [*checked(record, chosen.scale), *persisted(Path(folder)), *status(record)]
        report(rows, chosen.json, [counted(record), *notes])


if __name__ == "__main__":
    main()
