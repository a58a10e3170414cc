"""Forms of questions, what they came to and distributions: in older records, in copies and in exports."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from arena.exports import FORMS
from arena.exports.api import open_record
from arena.exports.fact_tables import FACT
from arena.exports.referee import referee
from arena.exports.restore import restore
from arena.verify import verify
from arena.verify.checks.schema import TRIGGERS
from markets.bundle import write
from markets.venues import recorded
from portfolio.rules import REALISTIC
from tests.arena.exports.bent_exports import bend_json, contents, exported, seal
from tests.builders import result_of
from tests.opened_record import OpenedRecord, moved
from tests.records import mixed_record, question_season
from tests.records.full_record import week
from tests.records.mixed_record import CUP, LAUNCH, SALES, build_mixed, play_mixed
from tests.rows import hash_seen, read_only, sightings_seen, state_of

ADDED_BY_0013 = (("market_version", "form"), ("resolution", "answer"), ("forecast", "distribution"))


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a record with questions of every kind, only to be read."""
    path = tmp_path_factory.mktemp("mixed") / "record.db"
    build_mixed(path).close()
    return path


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of a new database."""
    if request.param == "sqlite":
        return str(tmp_path / "arena.db")
    new_database: Callable[[], str] = request.getfixturevalue("new_database")
    return new_database()


def take_back(record: OpenedRecord) -> None:
    """Make a record what it was under schema 0012."""
    with record.engine.begin() as connection:
        for table, column in ADDED_BY_0013:
            connection.exec_driver_sql(f"ALTER TABLE {table} DROP COLUMN {column}")
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0012'")
    record.close()


def test_a_record_of_schema_0012_gets_the_columns_and_keeps_its_hash(address: str, built: Path) -> None:
    moved(built, address)
    record = OpenedRecord.at(address)
    query = TRIGGERS[record.engine.dialect.name]
    with record.reading() as connection:
        before = hash_seen(connection)
        guards = sorted(map(tuple, connection.exec_driver_sql(query)))
    take_back(record)

    engine = OpenedRecord.at(address).engine
    with OpenedRecord(engine).reading() as connection:
        assert verify(connection) == []
        assert hash_seen(connection) == before
        assert sorted(map(tuple, connection.exec_driver_sql(query))) == guards
    for table, column in ADDED_BY_0013:
        with engine.connect() as connection, pytest.raises(DBAPIError, match="append-only"):
            connection.execute(text(f"UPDATE {table} SET {column} = 'x'"))
    engine.dispose()


def test_questions_of_every_kind_are_added_to_a_record_that_was_of_schema_0012(
    address: str, empty: Path, mixed: Path
) -> None:
    moved(empty, address)
    take_back(OpenedRecord.at(address))
    record = OpenedRecord.at(address)
    play_mixed(record)
    with record.reading() as connection:
        assert verify(connection) == []
        assert hash_seen(connection) == state_of(mixed)
    record.close()


def test_a_copy_is_the_same(address: str, mixed: Path) -> None:
    moved(mixed, address)
    with read_only(address) as connection:
        assert verify(connection) == []
        assert hash_seen(connection) == state_of(mixed)


@pytest.mark.parametrize("form", FORMS)
def test_an_export_comes_back_as_it_was(form: str, mixed: Path, tmp_path: Path) -> None:
    exported(mixed, tmp_path / "out", form)
    restore(tmp_path / "out", str(tmp_path / "new.db"))
    assert state_of(tmp_path / "new.db") == state_of(mixed)
    exported(tmp_path / "new.db", tmp_path / "again", form)
    assert contents(tmp_path / "again") == contents(tmp_path / "out")


@pytest.mark.parametrize("form", FORMS)
def test_an_export_of_schema_0012_is_imported(form: str, built: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    exported(built, folder, form)
    whole = contents(folder)
    for name, column in (("market_pages", "form"), ("resolutions", "answer"), ("forecasts", "distribution")):
        without_column(folder, name, column, form)
    seal(folder, schema="0012")
    assert contents(folder) != whole

    restore(folder, str(tmp_path / "new.db"))
    assert state_of(tmp_path / "new.db") == state_of(built)
    exported(tmp_path / "new.db", tmp_path / "again", form)
    assert contents(tmp_path / "again") == whole


def without_column(folder: Path, name: str, column: str, form: str) -> None:
    """Write a table of an export anew without one of its columns, all of which are empty."""
    path = folder / f"{name}{FORMS[form].ending}"
    columns = FACT[name].sheet.columns
    place = [each.name for each in columns].index(column)
    rows = list(FORMS[form].read(path, columns))
    assert {row[place] for row in rows} == {""}
    kept = [row[:place] + row[place + 1 :] for row in rows]
    FORMS[form].write(path, columns[:place] + columns[place + 1 :], kept)


def test_python_reads_distributions(mixed: Path) -> None:
    with open_record(mixed) as season:
        said = [each for each in season.forecasts() if each.market_id == CUP and each.agent == "bob"]
        frame = season.frame("forecasts")
    assert [(each.probability, each.distribution) for each in said] == [(0, '{"chances":[0,142857,857143]}')]
    assert said[0].distribution in frame.column("distribution").to_pylist()
    with closing(sqlite3.connect(mixed)) as database:
        (count,) = database.execute("SELECT count(*) FROM forecast WHERE distribution <> ''").fetchone()
    assert sum(text != "" for text in frame.column("distribution").to_pylist()) == count == 9


def test_a_recording_of_it_is_played_back(mixed: Path, tmp_path: Path) -> None:
    with read_only(mixed) as connection:
        write(tmp_path / "recording", sightings_seen(connection, week(0), week(3)))
    venue = recorded.venue(recorded.Settings(path=tmp_path / "recording"))

    offered = result_of(venue.catalogue(week(0))).listings
    assert {each.market.id: each.market.form for each in offered if each.market.form} == {
        market: form.text for market, form in mixed_record.FORMS.items()
    }
    assert [each.market.id for each in result_of(venue.catalogue(week(1))).listings] == [SALES]
    ends = result_of(venue.resolutions(week(2), list(mixed_record.FORMS)))
    assert [(end.market_id, end.version, end.answer) for end in ends] == [
        (CUP, 1, "Blau"),
        (CUP, 2, 'Rot; "x"'),
        (SALES, 1, "41.75"),
        (LAUNCH, 1, ""),
    ]


def test_the_referee_finds_nothing_wrong_with_its_export(mixed: Path, tmp_path: Path) -> None:
    exported(mixed, tmp_path / "out", "json")
    assert referee(tmp_path / "out") == []


BENT = {
    "chances that don't add up": ("forecasts", {"distribution": '{"chances":[1,2,3]}'}),
    "quantiles that cross": ("forecasts", {"distribution": '{"quantiles":[[1,"9"],[2,"3"]]}'}),
    "a distribution that is none": ("forecasts", {"distribution": "[]"}),
    "an answer that is no option": ("resolutions", {"answer": "Gelb"}),
    "a payout": ("resolutions", {"payout": 1_000_000}),
}


@pytest.mark.parametrize(("name", "values"), BENT.values(), ids=BENT)
def test_the_referee_knows_what_a_question_can_have(
    name: str, values: dict[str, object], mixed: Path, tmp_path: Path
) -> None:
    exported(mixed, tmp_path / "out", "json")
    rows = [json.loads(line) for line in (tmp_path / "out" / f"{name}.jsonl").read_text("utf-8").splitlines()]
    place = next(place for place, row in enumerate(rows) if row["market_id"] == CUP)
    bend_json(tmp_path / "out", f"{name}.jsonl", place, **values)
    noun = name.removesuffix("s")
    assert [words.split()[0] for words in referee(tmp_path / "out")] == [noun]


def test_the_referee_knows_cohorts_without_money(tmp_path: Path) -> None:
    """A season of every kind of question, scored by the program and by the referee."""
    rules = REALISTIC.model_copy(update={"money": False})
    question_season.play(tmp_path / "record.db", rules=rules).close()
    exported(tmp_path / "record.db", tmp_path / "out", "json")
    assert referee(tmp_path / "out") == []
    lines = (tmp_path / "out" / "leaderboard.jsonl").read_text("utf-8").splitlines()
    assert {json.loads(line)["pnl"] for line in lines} == {None}
