"""The heads of a cohort: others for any other frozen, seen or decided fact, the same whatever comes later."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.record.hashes import round_heads
from arena.record.schema.cohort import CohortRow
from arena.record.schema.database import Connection, open_read_only, reading
from arena.record.schema.tables import METADATA
from arena.record.schema.typed import select
from tests.arena.record.older import old_record
from tests.arena.record.test_state_hash import changed, renumbered
from tests.oracles.heads import heads_by_the_page
from tests.records.full_record import AT_WORK, build
from tests.records.tampered import TamperedRecord

TABLES = METADATA.tables
DECIDED = "snapshot_id IN (SELECT snapshot_id FROM round)"
PRICED = f"id IN (SELECT {{}} FROM snapshot_item WHERE {DECIDED})"
SEALED = {
    "cohort": ("1", {"frozen", "number"}),
    "entrant": ("1", {"position", "name"}),
    "round": ("1", {"number", "at"}),
    "snapshot_item": (DECIDED, {"position", "market_id", "quoted_at", "shown"}),
    "market_version": (
        PRICED.format("version_id"),
        {
            "event_id", "question", "rules", "category", "opens_at", "closes_at", "tick", "fee_rate",
            "min_shares", "story", "slug", "event_slug", "tags",
        },
    ),
    "quote": (PRICED.format("quote_id"), {"bid", "ask", "mid", "last", "volume", "book"}),
    "evidence": ("1", {"position", "market_id"}),
    "tool_result": ("1", {"agent", "tool", "request", "text", "sources", "withheld"}),
    "article": ("1", {"source", "url", "title", "text", "published_at", "dated"}),
    "turn": ("1", {"verdict", "note", "cash", "wishes"}),
    "call": (
        "error_code IS NULL",
        {"stage", "sample", "messages", "seed", "reply", "finish", "model", "fingerprint", "error_code"},
    ),
    "forecast": ("1", {"market_id", "stage", "probability", "reason"}),
    "rejection": ("1", {"position", "code", "message", "market_id"}),
    "replacement": ("1", {"round", "before", "settings", "prompts"}),
    "second_quote": ("quote_id IS NOT NULL", {"market_id", "quoted_at", "taken_at"}),
    "fill": (
        "1",
        {
            "position", "market_id", "side", "action", "shares", "amount", "fee", "wanted", "base",
            "quote_at", "fee_rate", "left", "reason",
        },
    ),
    "fill_level": ("1", {"position", "price", "shares", "amount", "fee"}),
    "entry": (
        "ref LIKE 'fill:%'",
        {
            "number", "at", "kind", "market_id", "side", "cash", "shares", "cost", "realised", "balance",
            "held", "ref",
        },
    ),
}  # fmt: skip
"""What a head is taken over: which rows, and of these which columns."""
LINKS = {("market", "id"), ("evidence", "article"), ("article", "hash"), ("prompt", "hash")}
"""Beside ids, how rows find each other: changed by itself a row would be another's, or nobody's."""
KEPT = [(name, column) for name, (_, columns) in SEALED.items() for column in sorted(columns)]
COLUMNS = {(name, column.name) for name, table in TABLES.items() for column in table.c}
FREE = sorted(
    (name, column)
    for name, column in COLUMNS - LINKS - set(KEPT)
    if not column.endswith("id") or column in ("market_id", "event_id")
)
Heads = Mapping[int, Mapping[int, str]]


def heads_of(record: Path | TamperedRecord) -> Heads:
    """The heads of every cohort in a file, or in memory, from the first that started on."""
    if isinstance(record, TamperedRecord):
        return _heads(record.connection)
    with open_read_only(str(record)) as engine, reading(engine) as connection:
        return _heads(connection)


def _heads(connection: Connection) -> Heads:
    ids = connection.execute(select(CohortRow.id).order_by(CohortRow.starts_at)).scalars().all()
    return {place: round_heads(connection, id) for place, id in enumerate(ids, 1)}


@pytest.fixture(scope="module")
def whole(built: Path) -> Heads:
    return heads_of(built)


def moved(before: Heads, after: Heads) -> list[bool]:
    """Of each cohort and round in turn, whether its head is another one."""
    pairs = zip(before.values(), after.values(), strict=True)
    return [x != y for mine, other in pairs for x, y in zip(mine.values(), other.values(), strict=True)]


def test_every_round_that_is_over_has_a_head_and_so_has_what_was_frozen(whole: Heads) -> None:
    assert {number: list(found) for number, found in whole.items()} == {1: [0, 1, 2, 3], 2: [0, 1, 2, 3]}
    assert len({head for found in whole.values() for head in found.values()}) == 8


@pytest.mark.parametrize(("table", "column"), KEPT)
def test_a_sealed_fact_that_is_changed_changes_its_head_and_all_later_ones(
    table: str, column: str, whole: Heads, changing: TamperedRecord, thorough: bool
) -> None:
    """In the newest cohort that has it; with THOROUGH=1 the others are looked at as well."""
    changed(changing, table, column, SEALED[table][0])
    ids = changing.connection.execute(select(CohortRow.id).order_by(CohortRow.starts_at)).scalars().all()
    moves = []
    for place, id in reversed(list(enumerate(ids, 1))):
        after = round_heads(changing.connection, id).values()
        differs = [x != y for x, y in zip(whole[place].values(), after, strict=True)]
        assert differs == sorted(differs), "a head before the change is another one"
        moves.append(any(differs))
        if moves[-1] and not thorough:
            break
    assert any(moves)


@pytest.mark.parametrize("table", sorted({name for name, _ in FREE}))
def test_what_is_not_sealed_changes_no_head(table: str, whole: Heads, changing: TamperedRecord) -> None:
    for column in (column for name, column in FREE if name == table):
        changed(changing, table, column, "done = 0" if (table, column) == ("round", "done") else "1")
    assert heads_of(changing) == whole


@pytest.mark.parametrize("number", [1, 2])
def test_heads_are_those_that_anyone_can_work_out_by_the_page(number: int, built: Path, whole: Heads) -> None:
    assert heads_by_the_page(built, number) == whole[number]


def test_ids_and_the_order_of_rows_do_not_count(whole: Heads, changing: TamperedRecord) -> None:
    for statement in renumbered():
        changing.driver.execute(statement)
    assert heads_of(changing) == whole


@pytest.mark.parametrize("weeks", range(1, 5))
def test_later_rounds_settlements_and_corrections_change_no_head(
    weeks: int, whole: Heads, tmp_path: Path
) -> None:
    build(tmp_path / "shorter.db", weeks).close()
    for number, found in heads_of(tmp_path / "shorter.db").items():
        assert found.items() <= whole[number].items()
        assert max(found) == min(3, weeks + 1 - number)


def test_a_record_of_a_former_arena_has_the_same_heads(tmp_path: Path) -> None:
    """It knew no second quotes and no replaced settings."""
    build(tmp_path / "new.db", looks_again=False).close()
    new = heads_of(tmp_path / "new.db")
    for number, found in heads_of(old_record(tmp_path / "old.db")).items():
        assert found.items() <= new[number].items()


def test_a_round_that_is_not_over_has_no_head_yet(changing: TamperedRecord, whole: Heads) -> None:
    changing.driver.execute("UPDATE round SET done = 0 WHERE number = 2 AND cohort_id = 1")
    assert heads_of(changing) == {1: {number: whole[1][number] for number in (0, 1)}, 2: whole[2]}


PLACED = ("id", "round_id", "entrant_id", "attempt", "reply")
SAME = [column.name for column in TABLES["call"].c if column.name not in PLACED]


@settings(max_examples=10)
@given(reply=st.text(max_size=20).filter(lambda text: "\0" not in text), later=st.integers(1, 9))
def test_an_answer_that_comes_late_changes_no_head(
    reply: str, later: int, whole: Heads, tampered: TamperedRecord
) -> None:
    """Nobody decided by it. A question that was never asked, though, would be another history."""
    columns = ", ".join(SAME)
    late = (
        f"INSERT INTO call (round_id, entrant_id, attempt, reply, {columns}) SELECT round_id, entrant_id, "
        f"attempt + {later}, ?, {columns} FROM call WHERE reply = '2'"
    )
    with tampered.undone():
        tampered.driver.execute(late, (reply,))
        assert heads_of(tampered) == whole
        tampered.driver.execute(f"UPDATE call SET seed = seed + 1 WHERE attempt > {later}")
        assert heads_of(tampered) != whole


LOST = ("fill_level", "fill", "rejection", "forecast", "turn", "entry", "call", "evidence", "snapshot_item")


def test_a_row_that_is_missing_changes_a_head(changing: TamperedRecord) -> None:
    for table in LOST:
        before, where = heads_of(changing), SEALED[table][0]
        last = f"(SELECT max(rowid) FROM {table} WHERE {where})"
        changing.driver.execute(f"DELETE FROM {table} WHERE rowid = {last}")
        assert any(moved(before, heads_of(changing))), table


def test_who_is_at_work_is_sealed_nowhere() -> None:
    assert not set(AT_WORK) & set(SEALED)
