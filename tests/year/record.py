"""A record a year old, made up: 1,000,000 marks and 5,000,000 quotes at --scale 1, under the real schema.

52 weekly cohorts are started by the arena itself; all that they would have done since is worked out here and
put in as rows, with true hashes and under the database's triggers and keys: `arena admin verify` finds
nothing.

The same scale and seed make the same rows; `python -m benchmarks.year` writes one.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import timedelta
from math import ceil
from pathlib import Path

from arena.record.model.cohort import Cohort, Entrant
from arena.record.write.heads import BEFORE, add_head, add_round_head
from markets.hashes import digest, plain_value
from markets.millionths import ONE
from markets.universe import Universe
from portfolio.rules import REALISTIC
from tests.opened_record import OpenedRecord
from tests.rows import TABLES
from tests.year.play import LAST, LIFE, ROUNDS, Pages, Team, YearAccount, mark, play_round, snapshot_at
from tests.year.world import COHORTS, ENDS, START, WEEK, Line, Size, YearWorld, text

NOW = START + timedelta(seconds=LAST)
"""When the record is looked at: an hour before the next round."""
MARKS, QUOTES, AGENTS, KINDS = 1_000_000, 5_000_000, 20, 31
"""How much there is at scale 1; markets come in so many of each week in which they can end."""
PROMPT = "Which of these will happen?"
AT_ONCE = 200
"""So many looks are written at once."""
ORDER = (
    "snapshot", "snapshot_item", "round", "turn", "claim", "call", "forecast",
    "fill", "fill_level", "entry", "mark",
)  # fmt: skip
"""Tables in the order in which keys need them."""
NUMBERED = ("resolution", "call", "entry")
"""Tables whose rows are given their ids by the database."""


TEXT = "strftime('%Y-%m-%dT%H:%M:%S.000000Z', {}, 'unixepoch')"


def at(seconds: str) -> str:
    """Return the text of an instant, from its seconds."""
    return TEXT.format(seconds)


def count(name: str, until: str) -> str:
    """Return a table of whole numbers from 0 up to, not including, a bound."""
    return (
        f"{name}(k) AS (SELECT 0 WHERE 0 < {until} UNION ALL SELECT k + 1 FROM {name} WHERE k + 1 < {until})"
    )


WORK = (
    f"""INSERT INTO set_aside (venue, record, kind, code, reason, raw, first_seen_at, last_seen_at, times)
    WITH RECURSIVE {count("d", ":markets * 10")}
    SELECT 'polymarket', 'record-' || k, CASE WHEN k % 50 THEN 'quote' ELSE 'page' END,
        CASE WHEN k % 50 THEN 'bad_price' ELSE 'server_error' END, 'it makes no sense',
        printf('%.800c', 'x'), {at(":start")},
        {at(":start + (k * :cohorts * :week) / (:markets * 10)")}, 1 + k % 9 FROM d""",
    f"""INSERT INTO job (name, due_at, started_at, ended_at, failures, note)
    SELECT value, {at(":now - 900")}, {at(":now - 890")}, {at(":now - 880")}, 0, ''
    FROM json_each('["backup", "catalogue", "marks", "quotes", "resolutions", "retention", "rounds"]')""",
    f"""INSERT INTO lease (name, token, holder, beat, renewed_at)
    VALUES ('scheduler', 7, 'elsewhere/4711/a', 40, {at(":now + 600")})""",
    f"""INSERT INTO incident (kind, subject, at, body, tries, told_at)
    WITH RECURSIVE {count("d", ":cohorts * 7")}
    SELECT 'venue_down', 'polymarket@' || k, {at(":start + k * 86400")}, '{{}}', 1, {at(":start + k * 86400")}
    FROM d""",
    f"UPDATE incident SET ended_at = {at(':now - 100')}",
)
"""Rows that no hash is taken over, put in by the database; what looks like chance is made of primes."""


def size(scale: float, agents: int | None = None) -> Size:
    """Return the size of a record that is this part of a whole one, or has this many agents all the same."""
    agents = agents or max(2, round(AGENTS * scale))
    kinds = max(1, round(KINDS * scale))
    weeks = sum(min(LIFE, COHORTS - number) for number in range(COHORTS))
    marks = max(1, ceil(MARKS * scale / (agents * weeks)))
    return Size(agents, marks, kinds, max(10, ceil(QUOTES * scale / (ENDS * kinds))))


def make(path: Path, scale: float = 1.0, seed: int = 1) -> Size:
    """Make a new record there of this part of a year, in place of one that exists."""
    return make_of(path, size(scale), seed)


def make_of(path: Path, found: Size, seed: int = 1) -> Size:
    """Make the same, of a size that is given in full."""
    for end in ("", "-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)
    cohorts = start_cohorts(path, found.agents, seed)
    with closing(sqlite3.connect(path, isolation_level=None)) as base:
        fill(base, YearWorld(found, seed), cohorts)
    cover(path)
    return found


def start_cohorts(path: Path, agents: int, seed: int = 1) -> list[Cohort]:
    """Start the cohorts of a year in a new record, and return them."""
    record = OpenedRecord.at(path)
    cohorts = [a_cohort(number, agents, seed) for number in range(1, COHORTS + 1)]
    for cohort in cohorts:
        record.start(cohort, {digest(PROMPT): PROMPT})
    record.close()
    return cohorts


def a_cohort(number: int, agents: int, seed: int) -> Cohort:
    """Return a cohort with a line-up of this length, half of it models."""
    settings = {"model": "openai/made-up", "prompt": "bet", "prices": "shown"}
    return Cohort(
        number=number,
        starts_at=START + (number - 1) * timedelta(seconds=WEEK),
        rounds=ROUNDS,
        every=timedelta(seconds=WEEK),
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


def fill(base: sqlite3.Connection, world: YearWorld, cohorts: list[Cohort]) -> None:
    """Write all that a year brings in one transaction without a journal, which is restored afterwards."""
    for pragma in ("journal_mode = OFF", "synchronous = OFF", "foreign_keys = ON", "cache_size = -400000"):
        base.execute(f"PRAGMA {pragma}")
    base.execute("BEGIN IMMEDIATE")
    write(base, "market", ((name, text(0)) for name in world.names))
    write(base, "market_version", world.pages)
    write(base, "quote", world.quotes())
    write(base, "resolution", world.resolutions())
    for pages in played(world, teams(base, cohorts)):
        for table in ORDER:
            write(base, table, pages.rows.pop(table, ()))
    write(base, "sync", world.syncs())
    write(base, "sighting", ((1, name, 1) for name in world.names))
    finish(base, world)
    base.execute("COMMIT")
    base.execute("PRAGMA journal_mode = WAL")


def teams(base: sqlite3.Connection, cohorts: list[Cohort]) -> list[Team]:
    """Return the cohorts as they start, with a bankroll each."""
    heads = dict(base.execute("SELECT entrant_id, hash FROM entry"))
    found = []
    for cohort in cohorts:
        first = (cohort.number - 1) * len(cohort.entrants) + 1
        ids = enumerate(cohort.entrants, first)
        accounts = [
            YearAccount(entrant_id, x.name, x.kind == "llm", cohort.bankroll, heads[entrant_id])
            for entrant_id, x in ids
        ]
        found.append(Team(cohort.number, accounts))
    return found


def played(world: YearWorld, teams: list[Team]) -> Iterator[Pages]:
    """Yield what all have played in order of time, a few looks at a time; the caller takes the rows."""
    looks = sorted((at, team.number, look) for team in teams for at, look in team.looks(world.size.marks))
    pages = Pages()
    for place, (second, cohort, number) in enumerate(looks, 1):
        team = teams[cohort - 1]
        look = snapshot_at(world, pages, team, second, number)
        if look.shown:
            play_round(world, pages, team, look, number // world.size.marks + 1)
        mark(pages, team, look)
        if place % AT_ONCE == 0 or place == len(looks):
            yield pages


def write(base: sqlite3.Connection, table: str, lines: Iterable[Line]) -> None:
    """Write rows of a table as its first version had them; those without a number get one."""
    columns = [column.name for column in TABLES[table].columns if not column.info["added"]]
    if table in NUMBERED:
        columns.remove("id")
    names = ", ".join(f'"{name}"' for name in columns)
    marks = ", ".join("?" * len(columns))
    base.executemany(f'INSERT INTO "{table}" ({names}) VALUES ({marks})', lines)


def cover(path: Path) -> None:
    """Write the heads: facts that belong to no round, some at a time, then each round."""
    record = OpenedRecord.join(str(path))
    with record.engine.begin() as connection:
        for kind, query in BEFORE.items():
            facts = [plain_value(tuple(row)) for row in connection.execute(query)] if kind != "cohort" else []
            for start in range(0, len(facts), AT_ONCE):
                add_head(connection, NOW, {kind: facts[start : start + AT_ONCE]})
        done = connection.exec_driver_sql("SELECT id FROM round WHERE done = 1 ORDER BY at").scalars().all()
        for round_id in done:
            add_round_head(connection, round_id)
    record.close()


def finish(base: sqlite3.Connection, world: YearWorld) -> None:
    """End cohorts that are over, and write rows that no hash covers."""
    last = "SELECT max(at) FROM snapshot WHERE cohort_id = cohort.id"
    base.execute(f"UPDATE cohort SET ended_at = ({last}) WHERE number <= ?", (COHORTS - LIFE,))
    values = {
        "start": int(START.timestamp()),
        "now": int(NOW.timestamp()),
        "week": WEEK,
        "cohorts": COHORTS,
        "markets": world.size.markets,
    }
    for statement in WORK:
        base.execute(statement, {name: value for name, value in values.items() if f":{name}" in statement})
