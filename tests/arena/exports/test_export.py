"""A season as plain files: complete, described, the same every time, and of one instant."""

import json
import tracemalloc
import zipfile
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from arena.errors import ArenaError
from arena.exports import FORMS
from arena.exports.computed_tables import COMPUTED
from arena.exports.dictionary import EVERYWHERE, data_page
from arena.exports.fact_tables import FACTS
from arena.exports.manifest import NAME, read_manifest
from arena.exports.table import ExportTable
from markets.hashes import digest
from tests.arena.exports.bent_exports import contents, exported, lines, nothing_is_left
from tests.builders import NOW
from tests.opened_record import opened_record
from tests.records.full_record import AT_WORK, PROMPT, build
from tests.rows import TABLES, state_of


@pytest.fixture(scope="module")
def season(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the small record as CSV."""
    folder = tmp_path_factory.mktemp("exports") / "season"
    exported(built, folder)
    return folder


def test_every_column_of_every_fact_is_exported_and_nothing_of_who_is_at_work() -> None:
    known = {(f.source.table.name, f.source.name) for each in FACTS for f in each.fields}
    missing = [
        f"{table.name}.{column.name}"
        for table in TABLES.values()
        for column in table.c
        if table.name not in AT_WORK
        and (table.name, column.name) != ("entrant", "address")  # where a server was, for this arena alone
        and (table.name, column.name) not in known
        and not (column.name == "id" and column.autoincrement is not False)
        and not (column.foreign_keys and column.name.endswith("_id"))
    ]
    assert missing == []
    assert {each.table.name for each in FACTS}.isdisjoint(AT_WORK)


def sheets() -> list[ExportTable]:
    """Return every table of an export."""
    return [*(each.sheet for each in FACTS), *(each.sheet for each in COMPUTED)]


def test_every_column_says_what_it_means_and_in_which_unit() -> None:
    columns = [(sheet.name, column) for sheet in sheets() for column in sheet.columns]
    assert len(columns) > 200
    assert [(name, column.name) for name, column in columns if not column.meaning] == []
    counted = {"cohort", "round", "position", "page", "version", "entry", "fill", "level", "sync", "prune"}
    numbers = [(n, c) for n, c in columns if c.kind == "whole" and c.name not in counted | {"head"}]
    unmeasured = {c.name for _, c in numbers if not c.unit}
    assert unmeasured == {"sample", "attempt", "seed", "status", "reader"}
    for sheet in sheets():
        assert set(sheet.key) <= {column.name for column in sheet.columns}


def test_a_column_may_be_empty_where_the_record_may_be() -> None:
    fields = [(each, field) for each in FACTS for field in each.fields if field.source.table is each.table]
    wrong = [
        (each.sheet.name, field.column.name)
        for each, field in fields
        if bool(field.source.nullable) != bool(field.column.empty)
    ]
    assert wrong == []


def test_the_dictionary_has_every_table_and_every_column_and_goes_with_every_export(season: Path) -> None:
    text = data_page()
    for sheet in sheets():
        _, _, about = text.partition(f"\n## {sheet.name}\n")
        section = about.partition("\n## ")[0]
        for column in sheet.columns:
            once = column.name in EVERYWHERE and f"`{column.name}`" in section.partition("|column |")[0]
            assert once or f"|`{column.name}` |{column.kind} |" in section
    assert (season / "data.md").read_text("utf-8") == text
    written = Path(__file__).parents[3] / "docs" / "data.md"
    assert written.read_text("utf-8") == text, "'make docs' writes it anew"


def test_the_manifest_has_every_file_with_its_rows(season: Path, built: Path) -> None:
    manifest = read_manifest((season / NAME).read_bytes())
    assert set(manifest.files) == set(contents(season))
    assert manifest.files["turns.csv"].rows == len(lines(season / "turns.csv")) == 15
    assert manifest.made_at == "2026-03-01T12:00:00.000000Z"
    assert (manifest.form, manifest.whole, manifest.prompts, manifest.schema) == ("csv", True, True, "0013")
    assert manifest.state_hash == state_of(built)
    frozen = {row["cohort"]: row["hash"] for row in lines(season / "cohorts.csv")}
    assert manifest.cohorts == frozen


def test_a_newcomer_reads_it_with_what_is_at_hand(season: Path) -> None:
    deposits = [row for row in lines(season / "entries.csv") if row["kind"] == "deposit"]
    assert [(row["cohort"], row["agent"], int(row["cash"]) / 1_000_000) for row in deposits[:2]] == [
        ("1", "ann", 10_000.0),
        ("1", "bob", 10_000.0),
    ]
    marks = pd.read_csv(season / "marks.csv", parse_dates=["at"])
    assert marks["cash"].dtype == "int64"
    assert str(marks["at"].dt.tz) == "UTC"
    assert (marks["cash"] + marks["value"]).groupby(marks["agent"]).last()["zoe"] > 9_900_000_000


def test_parquet_and_json_hold_the_same_rows_with_their_types(built: Path, tmp_path: Path) -> None:
    exported(built, tmp_path / "p", "parquet")
    exported(built, tmp_path / "j", "json")
    fills = pd.read_parquet(tmp_path / "p" / "fills.parquet")
    with (tmp_path / "j" / "fills.jsonl").open(encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    assert fills["amount"].tolist() == [row["amount"] for row in rows]
    assert fills["quote_at"].dt.strftime("%Y-%m-%dT%H:%M:%S.%fZ").tolist() == [r["quote_at"] for r in rows]
    assert fills["reason"].tolist() == [row["reason"] for row in rows]
    assert pd.read_parquet(tmp_path / "p" / "resolutions.parquet")["payout"].isna().sum() == 1


def test_one_export_is_like_another_and_a_zip_holds_the_same_files(
    season: Path, built: Path, tmp_path: Path
) -> None:
    exported(built, tmp_path / "a.zip")
    exported(built, tmp_path / "b.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert {name: archive.read(name) for name in archive.namelist() if name != NAME} == contents(season)
        assert archive.read(NAME) == (season / NAME).read_bytes()


def test_one_cohort_has_what_it_saw_and_nothing_else(built: Path, tmp_path: Path) -> None:
    manifest = exported(built, tmp_path / "one", cohorts=(2,))
    assert (manifest.whole, manifest.state_hash, list(manifest.cohorts)) == (False, "", ["2"])
    for path in (tmp_path / "one").glob("*.csv"):
        assert {row["cohort"] for row in lines(path) if "cohort" in row} <= {"2", ""}, path.name
    assert {row["market_id"].partition(":")[0] for row in lines(tmp_path / "one" / "quotes.csv")} == {"sim"}
    assert [row["hash"] for row in lines(tmp_path / "one" / "prompts.csv")] == [digest(PROMPT)]
    assert not (tmp_path / "one" / "syncs.csv").exists()
    board = lines(tmp_path / "one" / "leaderboard.csv")
    assert {row["agent"] for row in board} == {"ann", "zoe", "market"}


def test_without_prompts_no_word_of_them_is_in_it(built: Path, tmp_path: Path) -> None:
    manifest = exported(built, tmp_path / "quiet", prompts=False)
    assert not manifest.prompts
    assert {"prompts.csv", "call_texts.csv"}.isdisjoint(manifest.files)
    everything = b"".join(contents(tmp_path / "quiet").values())
    for words in (PROMPT, "more prose", "slow down"):
        assert words.encode() not in everything
    assert sum(int(row["cost"] or 0) for row in lines(tmp_path / "quiet" / "calls.csv")) == 7 * 120


def test_what_is_there_is_not_replaced_unless_it_is_an_export_and_so_wished(
    built: Path, tmp_path: Path
) -> None:
    place = tmp_path / "season"
    place.mkdir()  # an empty folder is no loss
    exported(built, place)
    with nothing_is_left(tmp_path), pytest.raises(ArenaError, match="already exists"):
        exported(built, place)
    (place / "turns.csv").write_text("spoilt")
    exported(built, place, force=True)
    assert len(lines(place / "turns.csv")) == 15
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with zipfile.ZipFile(tmp_path / "photos.zip", "w") as archive:
        archive.writestr("beach.jpg", "sun")
    for mine in ("mine", "photos.zip"):
        with nothing_is_left(tmp_path), pytest.raises(ArenaError, match="is not an export, so it is not"):
            exported(built, tmp_path / mine, force=True)
    exported(built, tmp_path / "a.zip")
    exported(built, tmp_path / "a.zip", "json", force=True)
    assert "turns.jsonl" in zipfile.ZipFile(tmp_path / "a.zip").namelist()


@pytest.mark.parametrize(
    ("place", "more", "said"),
    [
        ("new", {"cohorts": (7,)}, "there is no cohort 7 here"),
        ("no/such/folder", {}, "can't be written"),
    ],
)
def test_what_fails_leaves_nothing_behind(
    built: Path, tmp_path: Path, place: str, more: dict[str, Any], said: str
) -> None:
    with nothing_is_left(tmp_path), pytest.raises(ArenaError, match=said):
        exported(built, tmp_path / place, **more)


@pytest.mark.parametrize("form", FORMS)
def test_a_season_that_plays_meanwhile_is_exported_as_it_was(tmp_path: Path, form: str) -> None:
    with closing(build(tmp_path / "record.db", weeks=3)) as record:
        before = exported(tmp_path / "record.db", tmp_path / "before", form)
        played: list[bool] = []

        def meanwhile(_done: int, _of: int) -> None:
            if not played:
                record.end(1, NOW)
                record.prune(NOW + timedelta(weeks=9), NOW)
                played.append(True)

        during = exported(tmp_path / "record.db", tmp_path / "during", form, progress=meanwhile)
        assert played
        assert during.text() == before.text()
        assert contents(tmp_path / "during") == contents(tmp_path / "before")
        after = exported(tmp_path / "record.db", tmp_path / "after", form)
        assert after.text() != before.text()


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a record with thirty megabytes of books."""
    path = tmp_path_factory.mktemp("crowded") / "record.db"
    levels = "[1,2]," * 900
    with opened_record(path) as record, record.engine.begin() as connection:
        connection.execute(TABLES["market"].insert(), {"id": "sim:a", "first_seen_at": NOW})
        for number in range(5_000):
            quote = {"market_id": "sim:a", "at": NOW + timedelta(seconds=number), "volume": 0}
            quote |= {"book": f"{levels}{number}", "hash": f"{number}"}
            connection.execute(TABLES["quote"].insert(), quote)
    return path


@pytest.mark.parametrize("form", FORMS)
def test_rows_are_not_gathered_in_memory(crowded: Path, tmp_path: Path, form: str) -> None:
    import pyarrow.parquet  # noqa: F401 - what a library loads is none of our rows

    tracemalloc.start()
    try:
        exported(crowded, tmp_path / "out", form)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    if FORMS[form].ending != ".parquet":  # which packs them
        assert (tmp_path / "out" / f"quotes{FORMS[form].ending}").stat().st_size > 27_000_000
    assert peak < 13_000_000
