"""Hashes of a record: the same for the same facts, others for any other; heads cover what came until then."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, Integer

from arena.record.hashes import round_heads, state_hash
from tests.arena.record.older import old_record
from tests.arena.verify.test_verify import rows_of
from tests.oracles.heads import heads_by_the_page
from tests.records.full_record import AT_WORK, build, build_anew
from tests.records.tampered import TamperedRecord
from tests.rows import TABLES, is_instant, read_only, state_of

SAME = {
    **{(name, "id"): "a row id" for name, table in TABLES.items() if "id" in table.c and name != "market"},
    **{(name, "hash"): "it follows from the rest" for name in TABLES if "hash" in TABLES[name].c},
    **{(name, column.name): "who is at work" for name in AT_WORK for column in TABLES[name].c},
    **{("head", column.name): "it follows from the rest" for column in TABLES["head"].c},
    **{("mark", column.name): "it follows from ledger and quotes" for column in TABLES["mark"].c},
    **{("sync", column.name): "no play stands on it" for column in TABLES["sync"].c},
    **{("sighting", column.name): "no play stands on it" for column in TABLES["sighting"].c},
    **{("set_aside", column.name): "nothing was made of it" for column in TABLES["set_aside"].c},
    **{("benchmark_file", column.name): "no play stands on it" for column in TABLES["benchmark_file"].c},
    **{("prune", column.name): "no play stood on what is gone" for column in TABLES["prune"].c},
    ("entry", "previous"): "it follows from the rest",
    ("fill", "quote_hash"): "it follows from the rest",
    ("call", "prompt_hash"): "it follows from the rest",
    ("cohort", "starts_at"): "it is in the frozen text",
    ("cohort", "ended_at"): "it follows from the rest",
    ("cohort", "paused_at"): "what was not played says it",
    ("cohort", "stopped_at"): "what was not played says it",
    ("entrant", "kind"): "it is in the frozen text",
    ("entrant", "settings"): "it is in the frozen text",
    ("entrant", "address"): "where a server stands is not who is asked",
    ("replacement", "at"): "the clock is the machine's",
    ("round", "done"): "it follows from the rest",
    ("round", "snapshot_id"): "it is the one of the round's time",
    ("market", "first_seen_at"): "it follows from the snapshots",
    ("market", "id"): "it is named wherever something is said of it",
    ("market_version", "market_id"): "it is named in each snapshot",
    ("market_version", "version"): "it follows from the snapshots",
    ("market_version", "at"): "it follows from the snapshots",
    ("snapshot", "taken_at"): "how fast the machine was is not what was seen",
    ("snapshot", "catalogue"): "it names a sync, on whose time no play stands",
    ("quote", "market_id"): "it is named in each snapshot",
    ("quote", "at"): "each snapshot says when the price was true",
    **{
        ("quote", name): "what is drawn by it counts"
        for name in ("volume_24h", "liquidity", "open_interest")
    },
    ("gathering", "found"): "what was not shown is no part of the play",
    ("gathering", "dropped"): "what was not shown is no part of the play",
    ("evidence", "fetched_at"): "the clock is the machine's",
    ("tool_result", "fetched_at"): "the clock is the machine's",
    ("tool_result", "key"): "it follows from the rest",
    ("turn", "code_version"): "who played is not what was played",
    ("turn", "reader"): "by which version an answer was read is not what it says",
    ("turn", "repaired"): "how an answer was read is not what it says",
    **{("attempt", column.name): "how often it failed is not how it ended" for column in TABLES["attempt"].c},
    **{
        ("call", name): "how an answer came is not what it was"
        for name in (
            "attempt", "seed", "finish", "model", "fingerprint", "rung", "tokens_in", "tokens_out", "cost",
            "worst", "latency_ms", "error_message", "error_retry", "made_at", "thinking", "citations", "host",
            "tokens_reasoning", "tokens_cached", "tokens_cache_write", "status",
        )
    },
}  # fmt: skip
"""Columns that the hash is not taken over, and why."""
del SAME["article", "hash"]  # by it the evidence says which article it is

COLUMNS = {(name, column.name) for name, table in TABLES.items() for column in table.c}
COUNTED = COLUMNS - SAME.keys()

LINKS = {("market", "id"), ("evidence", "article"), ("article", "hash"), ("prompt", "hash")}
"""Beside ids, how rows find each other: changed by itself a row would be another's, or nobody's."""
LATER = {("prompt", "text"), ("snapshot", "at"), *(x for x in COUNTED if x[0] == "resolution")}
"""What counts, and is in no head."""
OF_CALLS = {("call", name) for name in ("finish", "fingerprint", "model", "seed")}
"""What is in heads, and does not count."""
NAMED = {x for x in COLUMNS if not (f"_{x[1]}".endswith("_id") and x[1] not in ("market_id", "event_id"))}
SEALED = (COUNTED & NAMED) - LINKS - LATER | OF_CALLS
FREE = NAMED - LINKS - SEALED
DECIDED = "snapshot_id IN (SELECT snapshot_id FROM round)"
PRICED = f"id IN (SELECT {{}} FROM snapshot_item WHERE {DECIDED})"
WHICH = {
    "snapshot_item": DECIDED,
    "market_version": PRICED.format("version_id"),
    "quote": PRICED.format("quote_id"),
    "call": "error_code IS NULL",
    "second_quote": "quote_id IS NOT NULL",
    "entry": "ref LIKE 'fill:%'",
}
"""Which rows heads are taken over, where these are not all of a table."""
Heads = Mapping[int, Mapping[int, str]]


def hash_of(record: Path | TamperedRecord) -> str:
    """Return the state hash of the record in a file, or in memory."""
    return state_hash(record.connection) if isinstance(record, TamperedRecord) else state_of(record)


def heads_of(record: Path | TamperedRecord) -> Heads:
    """Return the heads of every cohort in a file, or in memory, from the first to start."""
    if isinstance(record, TamperedRecord):
        return _heads(record.connection)
    with read_only(record) as connection:
        return _heads(connection)


def cohort_ids(connection: Connection) -> list[int]:
    return list(connection.exec_driver_sql("SELECT id FROM cohort ORDER BY starts_at").scalars())


def _heads(connection: Connection) -> Heads:
    return {
        place: round_heads(connection, cohort_id) for place, cohort_id in enumerate(cohort_ids(connection), 1)
    }


@pytest.fixture(scope="module")
def whole(built: Path) -> tuple[str, Heads]:
    return state_of(built), heads_of(built)


@pytest.fixture(scope="module")
def heads(whole: tuple[str, Heads]) -> Heads:
    return whole[1]


def both(record: TamperedRecord) -> tuple[str, Heads]:
    return hash_of(record), heads_of(record)


def changed(record: TamperedRecord, table: str, column: str, where: str = "1") -> None:
    """Put another value of the same type into the last row."""
    kind = TABLES[table].c[column].type
    if is_instant(TABLES[table].c[column]):
        value = "'2026-01-04T12:00:00.000001Z'"
    else:
        value = (
            f'coalesce("{column}", 0) + 1000'
            if isinstance(kind, Integer)
            else f"coalesce(\"{column}\", '') || 'x'"
        )
    last = f'(SELECT max(rowid) FROM "{table}" WHERE {where})'
    record.driver.execute(f'UPDATE "{table}" SET "{column}" = {value} WHERE rowid = {last}')


def test_a_season_has_one_hash_and_a_head_for_every_round_and_for_what_was_frozen(
    whole: tuple[str, Heads], tmp_path: Path
) -> None:
    build_anew(tmp_path / "again.db").close()
    assert (hash_of(tmp_path / "again.db"), heads_of(tmp_path / "again.db")) == whole
    assert {number: list(found) for number, found in whole[1].items()} == {1: [0, 1, 2, 3], 2: [0, 1, 2, 3]}
    assert len({head for found in whole[1].values() for head in found.values()}) == 8


@pytest.mark.parametrize(("table", "column"), sorted(COUNTED | SEALED))
def test_every_fact_counts_and_changes_its_head_and_all_later_ones(
    table: str, column: str, whole: tuple[str, Heads], changing: TamperedRecord, thorough: bool
) -> None:
    """In the newest cohort that has it; with THOROUGH=1 the others are looked at as well."""
    changed(changing, table, column, WHICH.get(table, "1"))
    assert (hash_of(changing) != whole[0]) == ((table, column) in COUNTED)
    moves = list[bool]()
    for place, cohort_id in reversed([*enumerate(cohort_ids(changing.connection), 1)]):
        if (table, column) not in SEALED or (any(moves) and not thorough):
            break
        after = round_heads(changing.connection, cohort_id).values()
        differs = [x != y for x, y in zip(whole[1][place].values(), after, strict=True)]
        assert differs == sorted(differs), "a head before the change is another one"
        moves.append(any(differs))
    assert any(moves) == ((table, column) in SEALED)


@pytest.mark.parametrize("table", sorted({name for name, _ in FREE}))
def test_what_is_no_fact_does_not_count_and_what_is_not_sealed_changes_no_head(
    table: str, whole: tuple[str, Heads], changing: TamperedRecord
) -> None:
    free = sorted(column for name, column in FREE if name == table)
    for column in free:
        if (table, column) in SAME:
            changed(changing, table, column, "done = 0" if (table, column) == ("round", "done") else "1")
    assert both(changing) == whole
    for column in free:
        if (table, column) not in SAME:
            changed(changing, table, column)
    assert heads_of(changing) == whole[1]


def test_ids_and_the_order_of_rows_do_not_count(whole: tuple[str, Heads], changing: TamperedRecord) -> None:
    """Every table is written anew, last row first, with ids of its own."""
    before = rows_of(changing.driver, TABLES["turn"])
    for statement in renumbered():
        changing.driver.execute(statement)
    assert rows_of(changing.driver, TABLES["turn"]) != before
    assert both(changing) == whole


def renumbered() -> list[str]:
    statements = []
    for name, table in TABLES.items():
        columns = [column.name for column in table.c]
        numbered = [
            c.name for c in table.c if c.name.endswith("_id") and c.name not in ("market_id", "event_id")
        ]
        numbered += ["id"] if "id" in columns and name != "market" else []
        values = ", ".join(f'5000 - "{c}"' if c in numbered else f'"{c}"' for c in columns)
        statements += [
            f'CREATE TEMP TABLE moved AS SELECT {values} FROM "{name}" ORDER BY rowid DESC',
            f'DELETE FROM "{name}"',
            f'INSERT INTO "{name}" SELECT * FROM moved',
            "DROP TABLE moved",
        ]
    return statements


def test_only_the_last_good_answer_counts(whole: tuple[str, Heads], changing: TamperedRecord) -> None:
    changing.driver.execute("DELETE FROM call WHERE error_code IS NOT NULL")
    assert both(changing) == whole
    changing.driver.execute("UPDATE call SET reply = 'other prose' WHERE reply = 'prose'")
    assert hash_of(changing) == whole[0]
    changing.driver.execute("UPDATE call SET reply = 'other prose' WHERE reply = 'more prose'")
    assert hash_of(changing) != whole[0]


def test_parts_of_a_question_count_in_whichever_order_they_were_answered(changing: TamperedRecord) -> None:
    """Parts are asked at once, so how many attempts came before an answer is chance."""
    changing.driver.execute("DELETE FROM call WHERE error_code IS NOT NULL")
    other = """'[{"content":"the other part","role":"user"}]'"""
    changing.driver.execute(f"UPDATE call SET messages = {other} WHERE reply = 'prose'")
    before = hash_of(changing)

    one, two = "reply = 'prose'", "reply = 'more prose'"
    for values, where in (("attempt + 100", two), ("attempt + 1", one), ("attempt - 101", two)):
        changing.driver.execute(f"UPDATE call SET attempt = {values} WHERE {where}")
    assert hash_of(changing) == before

    for where in (one, two):
        changing.driver.execute(f"UPDATE call SET reply = reply || '!' WHERE {where}")
        assert hash_of(changing) != before
        before = hash_of(changing)


def test_a_question_that_was_put_again_counts_with_its_last_answer_alone(changing: TamperedRecord) -> None:
    changing.driver.execute("DELETE FROM call WHERE error_code IS NOT NULL")
    longer = """substr(messages, 1, length(messages) - 1) || ',{"content":"again","role":"user"}]'"""
    changing.driver.execute(f"UPDATE call SET messages = {longer} WHERE reply = 'more prose'")
    before = hash_of(changing)
    changing.driver.execute("UPDATE call SET reply = 'other prose' WHERE reply = 'prose'")
    assert hash_of(changing) == before
    changing.driver.execute("UPDATE call SET reply = 'other prose' WHERE reply = 'more prose'")
    assert hash_of(changing) != before


LOST = ("fill_level", "fill", "rejection", "forecast", "turn", "entry", "call", "evidence", "snapshot_item")


def test_a_row_that_is_missing_changes_the_hash_and_a_head(changing: TamperedRecord) -> None:
    for table in (*LOST, "resolution"):
        before = both(changing)
        last = f"(SELECT max(rowid) FROM {table} WHERE {WHICH.get(table, '1')})"
        changing.driver.execute(f"DELETE FROM {table} WHERE rowid = {last}")
        after = both(changing)
        assert after[0] != before[0], table
        assert (after[1] != before[1]) == (table in LOST), table


def test_an_empty_record_has_a_hash_of_its_own(tmp_path: Path, whole: tuple[str, Heads]) -> None:
    build(tmp_path / "empty.db", 0).close()
    assert len(hash_of(tmp_path / "empty.db")) == 64
    assert hash_of(tmp_path / "empty.db") != whole[0]


@pytest.mark.parametrize("number", [1, 2])
def test_heads_are_those_that_anyone_can_work_out_by_the_page(number: int, built: Path, heads: Heads) -> None:
    assert heads_by_the_page(built, number) == heads[number]


@pytest.mark.parametrize("weeks", range(1, 5))
def test_later_rounds_settlements_and_corrections_change_no_head(
    weeks: int, heads: Heads, tmp_path: Path
) -> None:
    build(tmp_path / "shorter.db", weeks).close()
    for number, found in heads_of(tmp_path / "shorter.db").items():
        assert found.items() <= heads[number].items()
        assert max(found) == min(3, weeks + 1 - number)


def test_a_record_of_a_former_arena_has_the_same_heads(tmp_path: Path) -> None:
    """It knew no second quotes and no replaced settings."""
    build(tmp_path / "new.db", looks_again=False).close()
    new = heads_of(tmp_path / "new.db")
    for number, found in heads_of(old_record(tmp_path / "old.db")).items():
        assert found.items() <= new[number].items()


def test_a_round_that_is_not_over_has_no_head_yet(changing: TamperedRecord, whole: tuple[str, Heads]) -> None:
    changing.driver.execute("UPDATE round SET done = 0 WHERE number = 2 AND cohort_id = 1")
    state, heads = whole
    assert both(changing) == (state, {1: {number: heads[1][number] for number in (0, 1)}, 2: heads[2]})


PLACED = ("id", "round_id", "entrant_id", "attempt", "reply")
ASKED = ", ".join(column.name for column in TABLES["call"].c if column.name not in PLACED)


@settings(max_examples=10)
@given(reply=st.text(max_size=20).filter(lambda text: "\0" not in text), later=st.integers(1, 9))
def test_an_answer_that_comes_late_changes_no_head(
    reply: str, later: int, heads: Heads, tampered: TamperedRecord
) -> None:
    """Nobody decided by it. A question that was never asked, though, would be another history."""
    late = (
        f"INSERT INTO call (round_id, entrant_id, attempt, reply, {ASKED}) SELECT round_id, entrant_id, "
        f"attempt + {later}, ?, {ASKED} FROM call WHERE reply = '2'"
    )
    with tampered.undone():
        tampered.driver.execute(late, (reply,))
        assert heads_of(tampered) == heads
        tampered.driver.execute(f"UPDATE call SET seed = seed + 1 WHERE attempt > {later}")
        assert heads_of(tampered) != heads


def test_who_is_at_work_is_sealed_nowhere() -> None:
    assert not set(AT_WORK) & {table for table, _ in SEALED}
