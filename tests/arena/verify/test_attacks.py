"""What somebody with the file in hand may try: every attack is found, and what harms nothing is none.

An attack that only hashes give away is tried again with those written back that `arena admin verify`
expects, and
with the chain made anew over it: then the heads that had left the machine give it away.
"""

import random
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest

from arena.verify.differences import Difference
from arena.verify.reader import NOTHING_VERIFIED, VerifiedHead
from arena.verify.verified import keep_verified
from tests.builders import NOW, a_resolution
from tests.once import made_once
from tests.opened_record import OpenedRecord
from tests.program.command_line import ROOT
from tests.program.running import arena, arena_json
from tests.records.attacks import ATTACKS, LATER, assert_found, drop, of, one, tells
from tests.records.chain import found_in, published, published_by, rewrite_heads
from tests.records.full_record import AT_WORK
from tests.records.mixed_record import build_mixed
from tests.records.seasons import play, worked_out
from tests.records.tampered import TamperedRecord
from tests.records.tampering import tamper
from tests.rows import TABLES, read_only

AGENTS = (
    "{kind: market}",
    "{kind: random}",
    "{name: sharp, model: demo/sharp}",
    "{name: careful, model: demo/hasty, prices: after, samples: 2}",
    "{name: parts, model: demo/sharp, batch: 9}",
    "{kind: kelly, of: sharp}",
    "{kind: crowd, of: [sharp, careful]}",
)


@pytest.fixture(scope="session")
def season(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a season of models and rules, in which wide quotes are refused and nothing is cached."""
    rules = "{from: realistic, max_spread: 0.03}"

    def make(folder: Path) -> Path:
        return with_an_idle_end(play(folder, AGENTS, 3, rules, show=10))

    return made_once("attacked", tmp_path_factory, make) / "season.db"


def with_an_idle_end(path: Path) -> Path:
    """Return the record after a market that nobody holds has ended."""
    with closing(sqlite3.connect(path)) as database:
        market, at = database.execute(
            "SELECT id, (SELECT max(at) FROM snapshot) FROM market "
            "WHERE id NOT IN (SELECT market_id FROM entry UNION SELECT market_id FROM resolution)"
        ).fetchone()
    when = datetime.fromisoformat(at)
    record = OpenedRecord.at(path)
    record.resolve([a_resolution("1", market, at=when)], when)
    record.close()
    return path


@pytest.fixture(scope="session")
def heads(season: Path) -> list[str]:
    """Return the heads of the season, as they were published."""
    return published(season)


@pytest.fixture(scope="session")
def attacked(season: Path) -> Iterator[TamperedRecord]:
    """Yield the season in memory, for all attacks."""
    held = TamperedRecord(season)
    yield held
    held.close()


OF_KIND = "market_id = 'sim:{}'"
CUP, SALES, LAUNCH, SUN = map(OF_KIND.format, ("cup", "sales", "launch", "sun"))
CHANCES = '{"chances":[100000,200000,700000]}'
OPTIONS = '{"kind":"multiple_choice","options":["a","b","c"]}'
ATTACKS_ON_KINDS: dict[str, tuple[str, ...]] = {
    "the odds of options": one("market_version", "form = replace(form, '500000,3', '300000,5')", CUP),
    "options in another order": one(
        "market_version", """form = replace(form, '"Ärger","Blau"', '"Blau","Ärger"')""", CUP
    ),
    "a wider range": one("market_version", """form = replace(form, '"40.5"', '"400.5"')""", SALES),
    "a bound that is closed": one(
        "market_version", """form = replace(form, '"open_high":true,', '')""", SALES
    ),
    "a form gone": one("market_version", "form = ''", CUP),
    "a form added": one("market_version", f"form = '{OPTIONS}'", SUN),
    "a form of another kind": one("market_version", f"form = '{OPTIONS}'", SALES),
    "a date that is called a number": one(
        "market_version", "form = replace(form, '\"date\"', '\"numeric\"')", LAUNCH
    ),
    "a form that can't be read": one("market_version", "form = 'options'", CUP),
    "a form with a space": one("market_version", "form = replace(form, ',', ', ')", CUP),
    "an answer turned": one("resolution", "answer = 'Ärger'", f"{CUP} AND version = 1"),
    "a corrected answer turned back": one("resolution", "answer = 'Blau'", f"{CUP} AND version = 2"),
    "a number nudged": one("resolution", "answer = '41.76'", SALES),
    "an answer gone": one("resolution", "answer = ''", SALES),
    "an answer to what was called off": one("resolution", "answer = '2026-05-01'", LAUNCH),
    "an answer that is no option": one("resolution", "answer = 'Gelb'", f"{CUP} AND version = 1"),
    "a number for a date": one("resolution", "answer = '2'", LAUNCH),
    "an answer where YES was paid": one("resolution", "answer = 'YES'", SUN),
    "a payout for an answer": one("resolution", "payout = 1000000", SALES),
    "a payout in place of an answer": one("resolution", "payout = 1000000, answer = ''", SALES),
    "a correction of an answer gone": drop("resolution", f"{CUP} AND version = 2"),
    "chances moved to what happened": one(
        "forecast", f"distribution = '{CHANCES}'", f"{CUP} AND stage = 'final'"
    ),
    "blind chances": one("forecast", f"distribution = '{CHANCES}'", "stage = 'blind'"),
    "chances of too few options": one("forecast", """distribution = '{"chances":[400000,600000]}'""", CUP),
    "chances that don't add up": one("forecast", """distribution = '{"chances":[400000,600000,1]}'""", CUP),
    "a quantile nudged": one("forecast", "distribution = replace(distribution, '12.25', '41.75')", SALES),
    "quantiles that cross": one("forecast", "distribution = replace(distribution, '12.25', '50')", SALES),
    "a distribution gone": one("forecast", "distribution = ''", SALES),
    "a distribution added": one("forecast", f"distribution = '{CHANCES}'", SUN),
    "a distribution in place of a probability": one(
        "forecast", f"distribution = '{CHANCES}', probability = 0", SUN
    ),
    "a distribution of another question": (
        (
            "UPDATE forecast SET distribution = (SELECT other.distribution FROM forecast AS other "
            f"WHERE other.market_id = 'sim:launch') WHERE {SALES}"
        ),
    ),
    "a probability beside a distribution": one("forecast", "probability = 500000", CUP),
    "distributions of two agents swapped": (
        (
            "UPDATE forecast SET distribution = (SELECT other.distribution FROM forecast AS other "
            "WHERE other.market_id = forecast.market_id AND other.stage = forecast.stage "
            f"AND other.turn_id = 3 - forecast.turn_id) WHERE {CUP} AND stage = 'final'"
        ),
    ),
    "an answer to a question deleted": drop("forecast", SALES),
}
"""On questions that are not of yes or no: their forms, what they came to, and what was answered."""
OF_CACHES: dict[str, tuple[str, ...]] = {
    "a cached leaderboard": (
        "UPDATE rollup SET body = replace(body, 'sharp', 'crowd') WHERE name = 'board'",
    ),
    "cached figures of a cohort": (
        "UPDATE rollup SET body = replace(body, '0.', '0.1') WHERE name = 'board/cohort 1'",
    ),
    "cached comparisons": (
        "UPDATE rollup SET body = replace(body, ':0.', ':0.1') WHERE name = 'comparisons'",
    ),
}


EVERY_SECOND = [
    pytest.param(name, marks=pytest.mark.thorough if place % 2 else ()) for place, name in enumerate(ATTACKS)
]


@pytest.mark.parametrize("attack", EVERY_SECOND)
def test_an_attack_is_found_whatever_is_written_back(
    attack: str, attacked: TamperedRecord, heads: list[str]
) -> None:
    with attacked.undone():
        before = attacked.driver.total_changes
        for statement in ATTACKS[attack]:
            attacked.driver.execute(statement)
        assert attacked.driver.total_changes > before, "the attack changed nothing"
        assert_found(attacked, heads, rewritten=attack != "what a head covers")  # that would mend it


@pytest.fixture(scope="session")
def season_of_kinds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a record with questions of every kind."""
    path = tmp_path_factory.mktemp("kinds") / "record.db"
    build_mixed(path).close()
    return path


@pytest.fixture(scope="session")
def of_kinds(season_of_kinds: Path) -> Iterator[TamperedRecord]:
    """Yield that record in memory."""
    held = TamperedRecord(season_of_kinds)
    assert held.differences() == []
    yield held
    held.close()


@pytest.mark.parametrize("attack", ATTACKS_ON_KINDS)
def test_an_attack_on_questions_of_other_kinds_is_found(attack: str, of_kinds: TamperedRecord) -> None:
    heads = published_by(of_kinds.connection)
    with of_kinds.undone():
        before = of_kinds.driver.total_changes
        for statement in ATTACKS_ON_KINDS[attack]:
            of_kinds.driver.execute(statement)
        assert of_kinds.driver.total_changes > before, "the attack changed nothing"
        assert_found(of_kinds, heads)


QUESTIONS = """
markets: {venue: questions, questions: {folder: questions}}
cohorts: {first: 2026-01-04, decide: weekly, rounds: 2, count: 1}
agents:
  - {kind: constant}
  - {kind: random}
  - {kind: market}
  - {kind: naive}
  - {name: sharp, model: demo/sharp}
  - {name: careful, model: demo/sharp, prices: after, samples: 2}
  - {name: parts, model: demo/sharp, batch: 2}
  - {kind: crowd, of: [sharp, careful]}
"""
WHO_ANSWERS = ("constant", "random", "naive", "sharp", "careful", "parts", "crowd")


@pytest.fixture(scope="session")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TamperedRecord]:
    """Yield a season on a folder of questions, answered by models and rules, in memory."""
    folder = tmp_path_factory.mktemp("answered")
    shutil.copytree(ROOT / "examples" / "questions", folder / "questions")
    (folder / "config.yaml").write_text(QUESTIONS, encoding="utf-8")
    played = arena(folder, "run", "--once")
    assert played.returncode == 0, played.stderr
    held = TamperedRecord(folder / "arena.db")
    assert held.differences() == []
    yield held
    held.close()


@pytest.mark.parametrize("agent", WHO_ANSWERS)
@pytest.mark.parametrize("key", ["chances", "quantiles"])
def test_an_answer_that_its_agent_does_not_give_again_is_found_by_that(
    agent: str, key: str, answered: TamperedRecord
) -> None:
    """It takes another that fits its question: only deciding once more tells them apart."""
    mine = f"{of(agent, 'forecast')} AND distribution LIKE '{{\"{key}%'"
    other = (
        "(SELECT other.distribution FROM forecast AS other WHERE other.market_id = forecast.market_id "
        "AND other.distribution <> forecast.distribution LIMIT 1)"
    )
    with answered.undone():
        changed = answered.driver.execute(
            f"UPDATE forecast SET distribution = {other} WHERE rowid = "
            f"(SELECT min(rowid) FROM forecast WHERE {mine} AND {other} IS NOT NULL)"
        )
        assert changed.rowcount == 1
        found = answered.differences()
    assert ("forecast", "distribution") in {(each.table, each.field) for each in found}


def test_an_answer_of_a_model_that_was_rewritten_is_found_by_more_than_its_hash(
    answered: TamperedRecord,
) -> None:
    with answered.undone():
        change = f"UPDATE call SET reply = replace(reply, '0.', '0.0') WHERE {of('sharp')}"
        assert answered.driver.execute(change).rowcount
        assert any(tells(each) for each in answered.differences())


def test_a_forecast_that_is_gone_is_named_by_its_market_and_stage(attacked: TamperedRecord) -> None:
    newest = f"(SELECT max(rowid) FROM forecast WHERE {of('sharp', 'forecast')})"
    statement = f"DELETE FROM forecast WHERE rowid = {newest} RETURNING market_id, stage"
    with attacked.undone():
        [(market, stage)] = attacked.driver.execute(statement).fetchall()
        gone = attacked.differences(lambda found: found.table == "forecast")[-1]
        assert gone.key.endswith(f", sharp, {market}, {stage}")


@pytest.fixture(scope="session")
def cached(season: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TamperedRecord]:
    """Yield the season in memory with its cache computed."""
    path = worked_out(Path(shutil.copy(season, tmp_path_factory.mktemp("cached") / "record.db")))
    held = TamperedRecord(path)
    assert held.differences() == []
    yield held
    held.close()


def test_a_cache_that_was_changed_is_found(cached: TamperedRecord) -> None:
    for attack in OF_CACHES.values():
        with cached.undone():
            for statement in attack:
                assert cached.driver.execute(statement).rowcount
            assert {each.table for each in cached.differences()} == {"rollup"}


@pytest.fixture(scope="session")
def noted(season: Path) -> VerifiedHead:
    """Return the note that the whole season was verified."""
    return verified_whole(season)


def verified_whole(path: Path) -> VerifiedHead:
    """Return the note of a whole verification, as a nightly run leaves it."""
    with read_only(path) as connection:
        note = keep_verified(connection, path, NOW)
    Path(f"{path}.verified").unlink()
    return note


SNAPSHOT_OF_TURN = "SELECT snapshot_id FROM turn JOIN round ON round.id = turn.round_id WHERE turn.id ="
OLD_ROWS = {
    "quote": ("volume = volume + 1", "id"),
    "market_version": ("rules = 'If so.'", "id"),
    "resolution": ("source = 'me'", "id"),
    "call": ("thinking = 'It has ended.'", "id"),
    "turn": ("note = 'I knew'", "(SELECT snapshot_id FROM round WHERE round.id = round_id)"),
    "forecast": ("reason = 'I knew'", f"({SNAPSHOT_OF_TURN} turn_id)"),
    "fill": ("reason = 'I knew'", f"({SNAPSHOT_OF_TURN} turn_id)"),
    "snapshot_item": ("shown = 1 - shown", "snapshot_id"),
    "mark": ("value = value + 1", "snapshot_id"),
}
"""A change to old rows of each table, and the number that says in which part a row is read again."""


@pytest.mark.parametrize("table", OLD_ROWS)
def test_an_old_row_is_read_again_by_one_run_in_a_fortnight(
    table: str, attacked: TamperedRecord, noted: VerifiedHead
) -> None:
    """Whatever its age: the first of its table, the last, and one between."""
    change, number = OLD_ROWS[table]
    first, last = attacked.driver.execute(f"SELECT min(rowid), max(rowid) FROM {table}").fetchone()
    with attacked.undone():
        parts = set()
        for age in (first, (first + last) // 2, last):
            row = attacked.value(f"SELECT min(rowid) FROM {table} WHERE rowid >= ?", (age,))
            parts.add(attacked.value(f"SELECT {number} % 14 FROM {table} WHERE rowid = ?", (row,)))
            attacked.driver.execute(f"UPDATE {table} SET {change} WHERE rowid = ?", (row,))
        assert attacked.differences(verified=noted) == []
        found = {part for part in range(14) if attacked.differences(tells_all, (), noted, part)}
        assert found == parts


def tells_all(_found: Difference) -> bool:
    """Stop at the first difference."""
    return True


EVERY_TENTH = [
    pytest.param(name, marks=pytest.mark.thorough if place % 10 else ()) for place, name in enumerate(ATTACKS)
]


@pytest.mark.parametrize("attack", EVERY_TENTH)
def test_an_attack_on_old_rows_is_found_within_a_fortnight(
    attack: str, attacked: TamperedRecord, noted: VerifiedHead
) -> None:
    with attacked.undone():
        for statement in ATTACKS[attack]:
            attacked.driver.execute(statement)
        assert any(attacked.differences(tells_all, (), noted, part) for part in range(14))


def test_attacks_on_old_rows_of_other_kinds_are_found_within_a_fortnight(
    season_of_kinds: Path, of_kinds: TamperedRecord, thorough: bool
) -> None:
    note = verified_whole(season_of_kinds)
    for attack in list(ATTACKS_ON_KINDS)[:: 1 if thorough else 6]:
        with of_kinds.undone():
            for statement in ATTACKS_ON_KINDS[attack]:
                of_kinds.driver.execute(statement)
            found = [part for part in range(14) if of_kinds.differences(tells_all, (), note, part)]
            assert found, attack


def test_a_run_costs_a_fourteenth_of_the_whole_beside_the_chain(
    attacked: TamperedRecord, noted: VerifiedHead
) -> None:
    """Counted in steps of the database: all parts together take about as many as the whole."""
    with attacked.undone():
        whole = steps(attacked, NOTHING_VERIFIED, None)
        new = steps(attacked, noted, None)
        parts = [steps(attacked, noted, part) - new for part in range(14)]
        assert 8 * new < whole
        assert sum(parts) < 2 * whole
        assert max(parts) < whole / 3


def steps(record: TamperedRecord, verified: VerifiedHead, part: int | None) -> int:
    """Return how many steps the database takes, in hundreds, where nothing is wrong."""
    taken = [0]

    def step() -> int:
        taken[0] += 1
        return 0

    record.driver.set_progress_handler(step, 100)
    assert record.differences(verified=verified, part=part) == []
    record.driver.set_progress_handler(None, 0)
    return taken[0]


def test_a_chain_that_is_rewritten_over_what_was_there_is_the_same(
    attacked: TamperedRecord, heads: list[str]
) -> None:
    with attacked.undone():
        rewrite_heads(attacked.driver)
        assert published_by(attacked.connection) == heads
        assert attacked.differences(heads=heads) == []


KEYS_OF = {
    table: sorted(column.name for column in shape.c if column.foreign_keys)
    for table, shape in TABLES.items()
    if table not in (*AT_WORK, "set_aside") and any(column.foreign_keys for column in shape.c)
}
ANEW = {name: f"1000 + {name}" for name in ("position", "number", "attempt", "version")}
ANEW |= {"id": "NULL", "at": LATER, "stage": "'blind'", "hash": "hash || 'x'"}
"""What tells a second row of the same from the first, where a unique key wants that."""
SWAPS = [
    pytest.param(table, column, marks=pytest.mark.thorough if number else ())
    for table, columns in KEYS_OF.items()
    for number, column in enumerate(reversed(columns))
]


@pytest.mark.parametrize(("table", "column"), SWAPS)
def test_rows_that_changed_places_are_found(
    table: str, column: str, attacked: TamperedRecord, heads: list[str]
) -> None:
    """Two rows take each other's cohort, round, agent, market or whatever else one of their columns names."""
    chance = random.Random(f"{table}/{column}")
    with attacked.undone():
        rows = attacked.driver.execute(
            f'SELECT rowid, "{column}" FROM "{table}" WHERE "{column}" NOT NULL'
        ).fetchall()
        if len({value for _, value in rows}) < 2:
            pytest.skip("there are no two")
        (one, mine), (other, its) = chance.sample(rows, 2)
        while mine == its:
            (one, mine), (other, its) = chance.sample(rows, 2)
        change = f'UPDATE OR FAIL "{table}" SET "{column}" = ? WHERE rowid = ?'
        away = f"{mine}~" if isinstance(mine, str) else -1
        try:
            for value, row in ((away, one), (mine, other), (its, one)):
                attacked.driver.execute(change, (value, row))
        except sqlite3.IntegrityError:
            pytest.skip("a unique key stands in the way")
        assert_found(attacked, heads)


@pytest.mark.parametrize("table", sorted(KEYS_OF.keys() - {"quote"}))
def test_rows_that_are_there_twice_are_found(table: str, attacked: TamperedRecord, heads: list[str]) -> None:
    """All but prices, which may have been read at any time: those that count are in a snapshot or a sync."""
    names = [f'"{column.name}"' for column in TABLES[table].c]
    copied = ", ".join(ANEW.get(column.name, f'"{column.name}"') for column in TABLES[table].c)
    with attacked.undone():
        statement = f'INSERT OR IGNORE INTO "{table}" ({", ".join(names)}) SELECT {copied} FROM "{table}"'
        if not attacked.driver.execute(statement).rowcount:
            pytest.skip("there can be none")
        assert_found(attacked, heads)


HARMLESS: dict[str, tuple[str, ...]] = {
    "how the file lies on disk": (
        *("VACUUM", "REINDEX", "PRAGMA journal_mode = DELETE", "PRAGMA page_size = 8192", "VACUUM"),
        *("PRAGMA journal_mode = WAL", "PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA auto_vacuum = FULL"),
        *("VACUUM", "PRAGMA user_version = 7", "PRAGMA application_id = 7"),
    ),
    "what questions are answered by": (
        *("ANALYZE", "PRAGMA optimize", "UPDATE sqlite_stat1 SET stat = '9 9'", "DROP INDEX ix_mark_at"),
        "CREATE INDEX mine ON forecast (probability)",
        "CREATE UNIQUE INDEX one ON turn (hash)",
        "CREATE INDEX computed ON turn (length(note), hash DESC)",
    ),
    "what is somebody's": ("CREATE TRIGGER looks AFTER INSERT ON mark BEGIN SELECT 1; END",),
    "what is no fact": (
        "UPDATE entrant SET address = 'http://127.0.0.1:9'",
        *("DELETE FROM claim", "DELETE FROM incident", "DELETE FROM rollup"),
        "UPDATE cohort SET paused_at = '2026-02-04T00:00:00.000000Z'",
    ),
    "rows that lie elsewhere": (
        "CREATE TABLE other AS SELECT * FROM forecast ORDER BY probability",
        "DELETE FROM forecast",
        "INSERT INTO forecast SELECT * FROM other",
        "DROP TABLE other",
    ),
}


@pytest.mark.parametrize("change", HARMLESS)
def test_what_harms_nothing_is_no_difference(change: str, season: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(season, tmp_path / "record.db"))
    tamper(path, *HARMLESS[change])
    assert found_in(path).listed == []


def test_a_copy_a_dump_a_backup_and_an_import_are_the_same(season: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(season)) as old, closing(sqlite3.connect(tmp_path / "dump.db")) as new:
        new.executescript("\n".join(old.iterdump()))
    with closing(sqlite3.connect(season)) as old, closing(sqlite3.connect(tmp_path / "online.db")) as new:
        old.backup(new)
    files = str(tmp_path / "season.zip")
    arena_json(tmp_path, "share", "export", files, "--database", str(season))
    arena_json(tmp_path, "admin", "restore", files, "--database", "import.db")
    arena_json(tmp_path, "admin", "backup", "sqlite:///copy.db", "--database", str(season))
    for name in ("dump", "online", "import", "copy"):
        assert found_in(tmp_path / f"{name}.db").listed == [], name
