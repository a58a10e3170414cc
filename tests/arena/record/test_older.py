"""A record of a former arena: carried over as files it is what it was, and its season goes on."""

import json
import sqlite3
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from arena.errors import ArenaError
from arena.record.schema.database import FORMER_VERSIONS, connect
from arena.verify import verify
from tests.arena.record.older import EXPORT, STATE_HASH, old_record
from tests.opened_record import OpenedRecord
from tests.records.full_record import Season, build, play_on
from tests.rows import frozen_text, hash_seen


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return old_record(tmp_path / "record.db")


@pytest.fixture
def record(path: Path) -> Iterator[OpenedRecord]:
    opened = OpenedRecord.at(path)
    yield opened
    opened.close()


def test_the_export_is_of_a_former_schema_from_before_cohorts_froze_the_hash_of_their_config(
    path: Path,
) -> None:
    with zipfile.ZipFile(EXPORT) as archive:
        assert json.loads(archive.read("manifest.json"))["schema"] == FORMER_VERSIONS[-1]
    with closing(sqlite3.connect(path)) as database:
        [first, second] = database.execute("SELECT frozen FROM cohort").fetchall()
    assert not {"config_hash", "by_hand"} & {*json.loads(first[0]), *json.loads(second[0])}


@pytest.mark.parametrize("version", FORMER_VERSIONS)
def test_a_record_of_a_former_arena_is_refused_and_left_as_it_is(version: str, copy: Path) -> None:
    with closing(sqlite3.connect(copy)) as database:
        database.execute("UPDATE alembic_version SET version_num = ?", (version,))
        database.commit()
    before = copy.read_bytes()
    for opened in (
        lambda: connect(copy, read_only=True),
        lambda: connect(copy, read_only=True, older=True),
        lambda: OpenedRecord.at(copy),
        lambda: OpenedRecord.join(str(copy)),
    ):
        with pytest.raises(ArenaError, match=f"schema {version}") as caught:
            opened()
        assert caught.value.code == "former_record"
        assert "arena share export" in caught.value.hint
        assert "arena admin restore" in caught.value.hint
    assert copy.read_bytes() == before


def test_it_verifies_and_has_the_hash_that_it_had(record: OpenedRecord) -> None:
    with record.reading() as connection:
        assert verify(connection) == []
        assert hash_seen(connection) == STATE_HASH


def test_its_cohorts_read_as_they_were_frozen(record: OpenedRecord) -> None:
    with record.reading() as connection:
        frozen = connection.exec_driver_sql("SELECT frozen FROM cohort ORDER BY number").scalars().all()
    cohorts = [stored.cohort for stored in record.cohorts()]
    assert [frozen_text(cohort) for cohort in cohorts] == frozen
    assert {(cohort.config_hash, cohort.by_hand) for cohort in cohorts} == {("", False)}


def test_a_season_goes_on_in_mid_cohort_with_newer_code_as_if_nothing_had_been(
    record: OpenedRecord, tmp_path: Path
) -> None:
    play_on(Season(record, version="2", looks_again=False), weeks=range(2, 5))
    whole = build(tmp_path / "whole.db", looks_again=False)
    for each in (record, whole):
        assert each.read(verify) == []
    with record.reading() as ours, whole.reading() as theirs:
        assert hash_seen(ours) == hash_seen(theirs)
    whole.close()


ADDED_BY_0006 = {
    "market_version": ("slug", "event_slug", "tags"),
    "quote": ("volume_24h", "liquidity", "open_interest"),
    "sync": ("left_out", "rejected"),
}


def test_a_record_from_before_markets_were_chosen_by_name_gets_the_columns_and_stays_as_it_is(
    copy: Path,
) -> None:
    with OpenedRecord.at(copy).engine.connect() as connection:
        before = hash_seen(connection)
    with closing(sqlite3.connect(copy)) as database:
        for table, names in ADDED_BY_0006.items():
            for name in names:
                database.execute(f"ALTER TABLE {table} DROP COLUMN {name}")
        database.execute("UPDATE alembic_version SET version_num = '0005'")
        database.commit()
    with pytest.raises(ArenaError, match="older arena"):
        connect(copy, read_only=True)
    record = OpenedRecord.at(copy)
    with record.reading() as connection:
        assert hash_seen(connection) == before
        assert verify(connection) == []
    record.close()
