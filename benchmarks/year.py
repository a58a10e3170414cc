"""A record a year old, made up: 1,000,000 marks and 5,000,000 quotes at --scale 1, under the real schema.

52 weekly cohorts are started by the arena itself; all that they would have done since is put in by the
database in a few statements, for what matters here is how much there is and how it lies. Its triggers and
keys hold. Its hashes are counted instead of computed, so `arena verify` has much to say about it.

The same scale and seed make the same rows. python -m benchmarks.year year.db --scale 1
"""

import argparse
import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import ceil
from pathlib import Path

from arena.model import Cohort, Entrant
from arena.store.record import Record
from benchmarks.year_sql import STEPS
from markets.canonical import digest
from markets.millionths import ONE
from markets.universe import Universe
from portfolio.ledger import open_account
from portfolio.rules import REALISTIC

START = datetime(2026, 1, 4, tzinfo=UTC)
WEEK = timedelta(weeks=1)
COHORTS, ROUNDS, LIFE = 52, 5, 12
"""Cohorts, rounds of each, and the weeks until the last position of one has settled."""
NOW = START + COHORTS * WEEK - timedelta(hours=1)
"""When the record is looked at: an hour before the next round."""
MARKS, QUOTES, AGENTS, KINDS = 1_000_000, 5_000_000, 20, 31
"""How much there is at scale 1; markets come in so many of each week in which they can end."""
ENDS = 64
PROMPT = "Which of these will happen?"


@dataclass(frozen=True, slots=True)
class Size:
    """How many agents play, how often a week they are marked, how many markets there are, quotes of each."""

    agents: int
    marks: int
    kinds: int
    quotes: int

    @property
    def markets(self) -> int:
        """All markets."""
        return ENDS * self.kinds


def size(scale: float) -> Size:
    """The parts of a record that is so much of a whole one."""
    agents, kinds = max(2, round(AGENTS * scale)), max(1, round(KINDS * scale))
    weeks = sum(min(LIFE, COHORTS - number) for number in range(COHORTS))
    marks = max(1, ceil(MARKS * scale / (agents * weeks)))
    return Size(agents, marks, kinds, max(10, ceil(QUOTES * scale / (ENDS * kinds))))


def make(path: Path, scale: float = 1.0, seed: int = 1) -> Size:
    """A new record there of so much of a year; one that is there already is replaced."""
    found = size(scale)
    for end in ("", "-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)
    record = Record.open(str(path))
    for number in range(1, COHORTS + 1):
        starts_at = START + (number - 1) * WEEK
        cohort = a_cohort(number, starts_at, found.agents, seed)
        deposits = {x.name: open_account(cohort.bankroll, starts_at) for x in cohort.entrants}
        record.add_cohort(cohort, {digest(PROMPT): PROMPT}, deposits)
    record.close()
    with closing(sqlite3.connect(path, isolation_level=None)) as base:
        fill(base, found, seed)
    return found


def a_cohort(number: int, starts_at: datetime, agents: int, seed: int) -> Cohort:
    """A cohort with as long a line-up as wanted, half of it models."""
    settings = {"model": "openai/made-up", "prompt": "bet", "prices": "shown"}
    return Cohort(
        number=number,
        starts_at=starts_at,
        rounds=ROUNDS,
        every=WEEK,
        bankroll=10_000 * ONE,
        rules=REALISTIC,
        universe=Universe(show=40, per_event=2, closes_within=10**7, min_volume=0, max_spread=50_000),
        seed=seed,
        venue="polymarket",
        venue_settings={},
        stamp="live",
        prompts={"bet": digest(PROMPT)},
        entrants=tuple(
            Entrant(place, f"agent-{place:02d}", *(("llm", settings) if place % 2 == 0 else ("random", {})))
            for place in range(agents)
        ),
    )


def fill(base: sqlite3.Connection, found: Size, seed: int) -> None:
    """All that a year brings, in one transaction, and with a journal again afterwards."""
    for pragma in ("journal_mode = OFF", "synchronous = OFF", "foreign_keys = ON", "cache_size = -400000"):
        base.execute(f"PRAGMA {pragma}")
    values = {
        "seed": seed,
        "start": int(START.timestamp()),
        "now": int(NOW.timestamp()),
        "week": int(WEEK.total_seconds()),
        "cohorts": COHORTS,
        "rounds": ROUNDS,
        "life": LIFE,
        "ends": ENDS,
        "agents": found.agents,
        "kinds": found.kinds,
        "markets": found.markets,
        "marks": found.marks,
        "quotes": found.quotes,
    }
    base.execute("BEGIN IMMEDIATE")
    for statement in STEPS:
        used = {name: value for name, value in values.items() if f":{name}" in statement}
        base.execute(statement, used)
    base.execute("COMMIT")
    base.execute("PRAGMA journal_mode = WAL")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("path", type=Path, help="the file to write")
    parser.add_argument("--scale", type=float, default=0.1, help="1 for a whole year; default %(default)s")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    began = time.perf_counter()
    made = make(chosen.path, chosen.scale, chosen.seed)
    size_in_mb = chosen.path.stat().st_size / 1e6
    print(f"{chosen.path}: {made.agents} agents, {made.markets:,} markets, {made.quotes:,} quotes of each;")
    print(f"{size_in_mb:,.0f} MB in {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
