"""Whatever is changed in a record, `arena admin verify` names it."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy import Integer, Table

from arena.errors import ArenaError
from arena.verify import Difference, verify
from tests.records.full_record import AT_WORK, build
from tests.records.tampered import TamperedRecord
from tests.records.tampering import tamper
from tests.rows import TABLES, is_instant, read_only

OWN_IDS = {name for name, table in TABLES.items() if "id" in table.c and name != "market"}
PASSING = dict.fromkeys(AT_WORK, "who is at work is no fact") | {
    "incident": "a message to the operator of what other tables hold; no export has it",
    "reservation": "it goes when its call is kept; one of a lost call tells of no answer, only of a limit",
    "rollup": "it can be computed again, and is compared with that: see test_attacks.py",
}
LEFT_OUT = {
    **{(name, "id"): "an id means nothing; rows that refer to one are checked" for name in OWN_IDS},
    **{(name, column.name): why for name, why in PASSING.items() for column in TABLES[name].c},
    **{("set_aside", column.name): "nothing was made of it" for column in TABLES["set_aside"].c},
    ("cohort", "paused_at"): "an operator's wish, which takes nothing from anyone",
    ("entrant", "address"): "it follows a server that moves; where a model is asked is not what it was asked",
    ("turn", "code_version"): "it is for information; no money or belief stands on it",
    ("sync", "left_out"): "what is no question is drawn by nobody",
    ("sync", "rejected"): "how often a venue made no sense changes no price",
}
"""The few columns that verifying says nothing about, and why."""

GOES_ON = ("cohort", "ended_at")
"""Taken away it is no lie: a cohort whose end isn't written yet is one that the next start ends."""

BEFORE = ("quote", "at")
"""Between two snapshots prices may be read at any time: only one from before its market was seen is a lie."""

COLUMNS = [(name, column.name) for name, table in TABLES.items() for column in table.c]
CHECKED = [pair for pair in COLUMNS if pair not in LEFT_OUT]
SEALED_BY = {
    "forecast": "turn",
    "rejection": "turn",
    "second_quote": "turn",
    "snapshot_item": "snapshot",
    "fill_level": "fill",
    "sighting": "sync",
    "evidence": "gathering",
}
"""Rows whose hash is in the row that they belong to."""


def differences(path: Path) -> list[Difference]:
    """Return what verifying finds in the record of a file."""
    with read_only(path) as connection:
        return verify(connection)


def some(keys: list[tuple[Any, ...]], thorough: bool) -> list[tuple[Any, ...]]:
    """Return all of the rows, or one in the middle and the last."""
    return keys if thorough else sorted({keys[len(keys) // 3], keys[-1]})


def rows_of(driver: sqlite3.Connection, table: Table) -> list[tuple[Any, ...]]:
    """Return the primary keys of a table's rows."""
    keys = ", ".join(f'"{column.name}"' for column in table.primary_key.columns)
    return driver.execute(f'SELECT {keys} FROM "{table.name}" ORDER BY {keys}').fetchall()


def of_key(table: Table) -> str:
    """Return the condition for the row of a key."""
    return " AND ".join(f'"{column.name}" = ?' for column in table.primary_key.columns)


def others(table: Table, column: str, value: Any) -> Iterator[Any]:
    """Yield other values for a field: a near one, a far one, nothing, and one that can't be read."""
    kind = table.c[column].type
    nullable = table.c[column].nullable
    if is_instant(table.c[column]):
        yield f"2026-01-0{3 if (table.name, column) == BEFORE else 9}T12:00:00.000001Z"
        yield "soon"
    elif isinstance(kind, Integer):
        yield (value or 0) + 1
        yield -(value or 0) - 1_000_003
    else:
        yield f"{value or ''}x"
        yield "{"
    if nullable and value is not None and (table.name, column) != GOES_ON:
        yield None


def change(record: TamperedRecord, table: Table, column: str, key: tuple[Any, ...], value: Any) -> bool:
    """Put a value into one field; False where a unique key stands in the way."""
    statement = f'UPDATE "{table.name}" SET "{column}" = ? WHERE {of_key(table)}'
    try:
        record.driver.execute(statement, (value, *key))
    except sqlite3.IntegrityError as error:
        if "UNIQUE" not in str(error):
            raise
        return False
    return True


def names(found: list[Difference], table: str) -> bool:
    """Tell whether a difference names a row of the table, or the seal that names it."""
    seal = SEALED_BY.get(table)
    return any(d.table == table or (d.table == seal and table in d.message) for d in found)


def until_named(record: TamperedRecord, table: str, whole: bool) -> list[Difference]:
    """Return what verifying finds until it names a change in the table, or to its end."""
    return record.differences(lambda one: not whole and names([one], table))


@pytest.mark.parametrize("weeks", range(1, 6))
def test_a_record_agrees_with_itself_at_every_stage(weeks: int, tmp_path: Path) -> None:
    record = build(tmp_path / "record.db", weeks)
    assert record.read(verify) == []
    record.close()


def test_every_table_has_rows_to_be_changed(tampered: TamperedRecord) -> None:
    assert [name for name, table in TABLES.items() if not rows_of(tampered.driver, table)] == []


def test_what_is_left_out_is_there() -> None:
    assert set(LEFT_OUT) <= set(COLUMNS)


@pytest.mark.parametrize(("table", "column"), CHECKED)
def test_a_changed_field_is_named(table: str, column: str, tampered: TamperedRecord, thorough: bool) -> None:
    """Every value in every row with THOROUGH=1, otherwise by turns one in the middle or the last of them.

    Verifying goes on to its end for texts of the last row, and with THOROUGH=1; else until it says so.
    """
    shape = TABLES[table]
    tried = 0
    turn = CHECKED.index((table, column))
    keys = some(rows_of(tampered.driver, shape), thorough)
    last = keys[-1]
    for place, key in enumerate(keys[:: -1 if turn % 2 else 1], turn // 2):
        if tried and not thorough:
            break
        old = tampered.value(f'SELECT "{column}" FROM "{table}" WHERE {of_key(shape)}', key)
        values = list(others(shape, column, old))
        whole = thorough or (key == last and not isinstance(shape.c[column].type, Integer))
        for value in values if thorough else values[place % 2 :: 2]:
            with tampered.undone():
                if not change(tampered, shape, column, key, value):
                    continue
                found = until_named(tampered, table, whole)
            tried += 1
            assert names(found, table), f"{key}: {value!r} found {[d.message for d in found]}"
    assert tried


@pytest.mark.parametrize("table", [name for name in TABLES if name not in (*AT_WORK, "set_aside", "prune")])
def test_a_row_that_is_gone_is_missed(table: str, tampered: TamperedRecord, thorough: bool) -> None:
    for key in some(rows_of(tampered.driver, TABLES[table]), thorough):
        with tampered.undone():
            tampered.driver.execute(f'DELETE FROM "{table}" WHERE {of_key(TABLES[table])}', key)
            assert tampered.differences(lambda _: not thorough), f"{table} {key}"


def test_two_calls_that_changed_places_are_named(copy: Path) -> None:
    tamper(
        copy,
        "UPDATE call SET entrant_id = 100 WHERE entrant_id = 1 AND round_id = 2",
        "UPDATE call SET entrant_id = 1 WHERE entrant_id = 3 AND round_id = 2 AND attempt = 1",
    )
    assert {d.table for d in differences(copy)} == {"call", "head"}


def test_a_settlement_that_never_came_is_named(copy: Path) -> None:
    tamper(copy, "DELETE FROM entry WHERE kind = 'settle' AND entrant_id = 5 AND market_id = 'sim:snow'")
    found = [d.message for d in differences(copy)]
    assert any("and should be settle: it follows from the entries before" in message for message in found)


def test_a_difference_is_a_readable_sentence(copy: Path) -> None:
    tamper(copy, "UPDATE entry SET balance = balance + 1 WHERE entrant_id = 2 AND number = 3")
    said = [d.message for d in differences(copy) if d.field == "balance"]
    where = "entry (cohort 1, bob, entry 3)"
    rule = "it follows from the entries before, and from the fact that it names"
    assert said == [f"{where}: balance is 9800000001 and should be 9800000000: {rule}"]


def test_a_table_that_is_gone_is_named(copy: Path) -> None:
    tamper(copy, "DROP TABLE mark")
    with pytest.raises(ArenaError, match=r"without mark\."):
        differences(copy)


def test_text_that_is_no_text_is_named(copy: Path) -> None:
    tamper(copy, "UPDATE turn SET note = CAST(x'ff' AS TEXT) WHERE id = 1")
    assert any(d.table == "turn" and "can't be read" in d.message for d in differences(copy))


TEXTS = (
    "null",
    "NaN",
    "9" * 5_000,
    "[" * 50_000,
    "[[1,2],[3]]",
    '"\\ud800"',
    '{"rules": []}',
    '{"bets": [{"amount": 1}], "sales": 3}',
    '{"bids": [[1, "x"]], "asks": {}}',
)
JUNK = st.one_of(
    st.sampled_from(TEXTS),
    st.integers(-(2**63), 2**63 - 1),
    st.text(alphabet="{}[]:,\"'x1 ", max_size=12),
)


@given(pair=st.sampled_from(COLUMNS), place=st.integers(0, 100), value=JUNK)
@example(pair=("tool_result", "sources"), place=0, value="NaN")
@example(pair=("tool_result", "sources"), place=0, value="[[1,2],[3]]")
def test_junk_in_a_field_is_a_difference_and_not_a_crash(
    pair: tuple[str, str], place: int, value: Any, tampered: TamperedRecord
) -> None:
    shape = TABLES[pair[0]]
    if isinstance(shape.c[pair[1]].type, Integer) and not isinstance(value, int):
        value = len(value)
    keys = rows_of(tampered.driver, shape)
    with tampered.undone():
        if change(tampered, shape, pair[1], keys[place % len(keys)], value):
            for difference in tampered.differences():
                assert difference.message


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a record of one week in which nothing is wrong."""
    path = tmp_path_factory.mktemp("sound") / "record.db"
    build(path, 1).close()
    return str(path)


NO_FAULT_OF_THE_RECORD = [ArenaError("unreachable", "the server is gone"), MemoryError("no more")]
REPLAYED_BY = [
    "replay.read_calls",
    "replay.read_final_forecasts",
    "turns.execute_at",
    "cohorts._check_schedule",
]


@pytest.mark.parametrize("error", NO_FAULT_OF_THE_RECORD, ids=repr)
@pytest.mark.parametrize("place", REPLAYED_BY)
def test_where_database_or_memory_fail_the_record_is_not_accused(
    place: str, error: Exception, sound: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(f"arena.verify.checks.{place}", fail)
    cut = pytest.raises(type(error), match=str(error))
    with read_only(sound) as connection, cut:
        verify(connection)
