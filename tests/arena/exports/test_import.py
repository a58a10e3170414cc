"""A record made of an export: the same to the last row, or not at all."""

import os
import random
import shutil
import sqlite3
import stat
import zipfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from arena.errors import ArenaError
from arena.exports import FORMS
from arena.exports.fact_tables import FACT, FACTS
from arena.exports.forms import form_of
from arena.exports.manifest import NAME
from arena.exports.restore import _ParentIds, restore
from arena.exports.table import ExportColumn
from arena.verify import verify
from tests.arena.exports.bent_exports import bend, bend_json, contents, exported, nothing_is_left, seal
from tests.builders import NOW
from tests.opened_record import opened_record
from tests.rows import read_only, rows_in, state_of


@pytest.fixture(scope="module")
def exports(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the small record in every form, to be copied."""
    folder = tmp_path_factory.mktemp("exports")
    for form in FORMS:
        exported(built, folder / form, form)
    exported(built, folder / "season.zip")
    return folder


@pytest.fixture
def season(exports: Path, tmp_path: Path) -> Path:
    """Return the small record as CSV, to be damaged."""
    return Path(shutil.copytree(exports / "csv", tmp_path / "in" / "season"))


@pytest.fixture
def new(tmp_path: Path) -> Path:
    """Return the path of the new record, in a folder of its own."""
    (tmp_path / "out").mkdir()
    return tmp_path / "out" / "new.db"


def check_refused(place: Path, new: Path, *said: str) -> ArenaError:
    """Check that an import is refused in these words, and leaves nothing behind."""
    with nothing_is_left(new.parent), pytest.raises(ArenaError) as caught:
        restore(place, str(new))
    for words in said:
        assert words in caught.value.message, caught.value.message
    assert caught.value.hint
    return caught.value


@pytest.mark.parametrize("source", [*FORMS, "season.zip"])
def test_a_season_comes_back_as_it_was(
    exports: Path, built: Path, new: Path, tmp_path: Path, source: str
) -> None:
    manifest = restore(exports / source, str(new))
    assert state_of(new) == manifest.state_hash
    with read_only(new) as connection:
        assert verify(connection) == []
        assert connection.exec_driver_sql("SELECT * FROM claim").all() == []
    assert [path.name for path in new.parent.iterdir()] == ["new.db"]
    exported(new, tmp_path / "again")
    assert contents(tmp_path / "again") == contents(exports / "csv")  # what no hash covers is there too
    with closing(sqlite3.connect(built)) as old, closing(sqlite3.connect(new)) as made:
        words = "SELECT messages, reply, hash FROM call ORDER BY id"
        assert made.execute(words).fetchall() == old.execute(words).fetchall()


@pytest.mark.parametrize("form", FORMS)
def test_an_export_from_before_columns_of_turns_were_renamed_comes_back_as_it_was(
    exports: Path, new: Path, tmp_path: Path, form: str
) -> None:
    folder = Path(shutil.copytree(exports / form, tmp_path / "in"))
    columns = FACT["turns"].sheet.columns
    former = [replace(column, name=column.former or column.name) for column in columns]
    assert [column.name for column in former if column.former] == ["verdict", "wishes"]
    path = folder / f"turns{FORMS[form].ending}"
    FORMS[form].write(path, former, list(FORMS[form].read(path, columns)))
    seal(folder)
    assert contents(folder) != contents(exports / form)

    restore(folder, str(new))
    exported(new, tmp_path / "again", form)
    assert contents(tmp_path / "again") == contents(exports / form)


def test_no_table_is_read_whole_to_find_what_its_rows_belong_to(built: Path) -> None:
    for each in FACTS:
        with read_only(built) as connection:
            for ids in [_ParentIds(connection, each, parent) for parent in each.parents]:
                plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {ids.query.compile(connection)}")
                read_whole = [step[3] for step in plan if step[3].startswith("SCAN")]
                assert read_whole == [f"SCAN {ids.wanted.name}"], each.sheet.name


def test_the_new_record_goes_on_and_is_guarded(exports: Path, new: Path) -> None:
    restore(exports / "json", str(new))
    with opened_record(new) as record:
        assert [stored.ended_at is None for stored in record.cohorts()] == [False, True]
        record.end(record.cohorts()[1].id, NOW)
        assert record.cohorts()[1].ended_at == NOW
    with closing(sqlite3.connect(new)) as made:
        for change in ("UPDATE entry SET cash = 0", "DELETE FROM forecast", "UPDATE cohort SET frozen = ''"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                made.execute(change)


def test_an_empty_record_is_filled_and_a_file_without_a_byte_is_one(
    exports: Path, new: Path, empty: Path, tmp_path: Path
) -> None:
    shutil.copy(empty, new)
    restore(exports / "csv", str(new))
    (tmp_path / "zero.db").touch()
    restore(exports / "csv", str(tmp_path / "zero.db"))
    for path in (new, tmp_path / "zero.db"):
        assert len(rows_in(path, "SELECT id FROM call")) == 10


def test_nothing_is_put_where_something_is(exports: Path, built: Path, new: Path) -> None:
    shutil.copy(built, new)
    before = new.read_bytes()
    check_refused(exports / "csv", new, "new.db holds a record: its table article is not empty")
    assert new.read_bytes() == before
    new.write_text("my thesis" * 1000)
    check_refused(exports / "csv", new, "is not a record")
    assert new.read_text() == "my thesis" * 1000
    new.unlink()
    with closing(sqlite3.connect(new)) as other:
        other.execute("CREATE TABLE recipes (name)")
    before = new.read_bytes()
    check_refused(exports / "csv", new, "holds other tables")
    assert new.read_bytes() == before


def test_nothing_is_put_where_somebody_is_at_work(exports: Path, empty: Path, new: Path) -> None:
    shutil.copy(empty, new)
    with closing(sqlite3.connect(new)) as made, made:
        made.execute("INSERT INTO lease VALUES ('scheduler', 1, 'me', 0, '2026-01-04T00:00:00.000000Z')")
    check_refused(exports / "csv", new, "its table lease is not empty")


@pytest.mark.parametrize(
    ("more", "said"),
    [({"cohorts": (1,)}, "has cohorts 1 only"), ({"prompts": False}, "lacks prompts and answers")],
)
def test_a_part_can_be_read_and_not_imported(
    built: Path, new: Path, tmp_path: Path, more: dict[str, Any], said: str
) -> None:
    exported(built, tmp_path / "part", **more)
    error = check_refused(tmp_path / "part", new, said, "it can be read but not imported")
    assert "make a full export: without" in error.hint


def test_what_is_no_export_is_told_so(new: Path, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    check_refused(tmp_path / "in", new, "has no manifest.json")
    check_refused(tmp_path / "nowhere", new, "is not there")
    (tmp_path / "text").write_text("x")
    check_refused(tmp_path / "text", new, "is neither a folder nor a ZIP")
    with zipfile.ZipFile(tmp_path / "photos.zip", "w") as archive:
        archive.writestr("beach.jpg", "sun")
    check_refused(tmp_path / "photos.zip", new, "there is no manifest.json at the top of it")


def test_one_changed_byte_of_any_file_is_found(season: Path, new: Path, thorough: bool) -> None:
    dice = random.Random("bytes")
    for path in sorted(season.iterdir()):
        data = path.read_bytes()
        for place in [dice.randrange(len(data)) for _ in range(20 if thorough else 2)]:
            changed = bytearray(data)
            changed[place] ^= 1 << dice.randrange(7)
            path.write_bytes(changed)
            error = check_refused(season, new, path.name)
            assert error.code in ("bad_export", "newer_export", "no_export"), (path.name, place)
        path.write_bytes(data)


def test_one_changed_byte_of_a_zip_changes_nothing_or_is_found(exports: Path, new: Path) -> None:
    data = (exports / "season.zip").read_bytes()
    dice = random.Random("zip")
    bent = new.parent.parent / "bent.zip"
    found = 0
    for _ in range(12):
        changed = bytearray(data)
        changed[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        bent.write_bytes(changed)
        try:
            restore(bent, str(new))
        except ArenaError:
            found += 1
            assert list(new.parent.iterdir()) == []
        else:
            with read_only(new) as connection:
                assert verify(connection) == []
            new.unlink()
    assert found > 6


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda folder: (folder / "fills.csv").unlink(), "fills.csv: missing, though"),
        (lambda folder: (folder / "more.csv").write_text("x"), "more.csv: unexpected file"),
        (lambda folder: (folder / "marks.csv").write_text("x"), "marks.csv: it is 1 bytes, and"),
        (lambda folder: (folder / NAME).unlink(), "has no manifest.json"),
        (lambda folder: (folder / NAME).write_text("{"), "manifest.json can't be read"),
        (lambda folder: (folder / NAME).write_text("[" * 100_000), "manifest.json can't be read"),
        (lambda folder: (folder / NAME).write_text("[]"), "is not the manifest"),
        (lambda folder: (folder / NAME).write_bytes(b" " * 1_000_001), "is larger than 1,000,000 bytes"),
    ],
)
def test_files_that_are_missing_too_many_or_none(
    season: Path, new: Path, change: Callable[[Path], object], said: str
) -> None:
    change(season)
    check_refused(season, new, said)


def manifest_says(folder: Path, old: str, new: str) -> None:
    text = (folder / NAME).read_text("utf-8")
    assert old in text
    (folder / NAME).write_text(text.replace(old, new), "utf-8")


def test_a_newer_export_and_an_unknown_form_are_told_so(season: Path, new: Path) -> None:
    manifest_says(season, '"version": 1', '"version": 2')
    error = check_refused(season, new, "of version 2", "knows version 1")
    assert (error.code, error.hint) == ("newer_export", "update paper-arena, then try again")
    manifest_says(season, '"version": 2', '"version": 1')
    seal(season, form="excel")
    check_refused(season, new, "'excel' is not an export format")


@pytest.mark.parametrize("path", ["../fills.csv", "/etc/fills.csv", "a/fills.csv", "..", "fills.csv\\u0000"])
def test_a_manifest_that_names_a_path_is_refused_before_it_is_opened(
    season: Path, new: Path, path: str
) -> None:
    manifest_says(season, '"fills.csv"', f'"{path}"')
    check_refused(season, new, "is not part of an export: such a path is not opened")


def test_links_are_not_followed(season: Path, new: Path) -> None:
    (season / "fills.csv").rename(season.parent / "fills.csv")
    (season / "fills.csv").symlink_to(season.parent / "fills.csv")
    check_refused(season, new, "fills.csv: not a regular file (links are not followed)")
    (season / "fills.csv").unlink()
    os.mkfifo(season / "fills.csv")
    check_refused(season, new, "fills.csv: not a regular file")
    (season / NAME).rename(season.parent / NAME)
    (season / NAME).symlink_to(season.parent / NAME)
    check_refused(season, new, "has no manifest.json")


def zipped(folder: Path, place: Path, **odd: Any) -> Path:
    """Zip a folder, with `name` written as `as_name`, of other contents, or with other attributes."""
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.iterdir()):
            about = zipfile.ZipInfo(odd.get("as_name", path.name) if path.name == "fills.csv" else path.name)
            about.compress_type = zipfile.ZIP_DEFLATED
            data = path.read_bytes()
            if path.name == "fills.csv":
                about.external_attr = odd.get("attributes", 0)
                data = odd.get("data", data)
            archive.writestr(about, data)
        for name in odd.get("more", ()):
            archive.writestr(name, "x")
    return place


def test_a_zip_stays_in_its_folder_and_unpacks_no_more_than_it_says(
    season: Path, new: Path, tmp_path: Path
) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"as_name": "../../fills.csv"}, "fills.csv: missing, though"),
        ({"more": ["../escaped.csv"]}, "../escaped.csv: unexpected file"),
        ({"more": ["/tmp/escaped.csv"]}, "/tmp/escaped.csv: unexpected file"),
        ({"more": ["sub/"]}, "sub/: unexpected file"),
        ({"attributes": (stat.S_IFLNK | 0o777) << 16}, "fills.csv: not a regular file"),
        ({"data": bytes(50_000_000)}, "fills.csv: it is not 4,"),
        ({"data": b"short"}, "fills.csv: it is not 4,"),
    ]
    for number, (odd, said) in enumerate(cases):
        check_refused(zipped(season, tmp_path / f"{number}.zip", **odd), new, said)
    with pytest.warns(UserWarning, match="Duplicate name"):
        twice = zipped(season, tmp_path / "twice.zip", more=["fills.csv"])
    check_refused(twice, new, "fills.csv: it appears twice")
    assert not (tmp_path / "escaped.csv").exists()
    assert restore(zipped(season, tmp_path / "good.zip"), str(new)).whole


def test_a_bomb_that_says_what_it_is_finds_no_room(season: Path, new: Path, tmp_path: Path) -> None:
    manifest_says(season, '"bytes": 4', '"bytes": 400000000000000')
    text = (season / NAME).read_text("utf-8")
    assert "400000000000000" in text
    error = check_refused(zipped(season, tmp_path / "bomb.zip"), new)
    assert error.code in ("bad_export", "disk_full")


Change = Callable[[Path], object]


def cell(name: str, column: str, value: str, row: int = 2) -> Change:
    """Put another value into a row of a CSV file."""

    def change(rows: list[list[str]]) -> None:
        rows[row][rows[0].index(column)] = value

    return lambda folder: bend(folder, name, change)


def table(change: Callable[[list[list[str]]], object]) -> Change:
    """Put other rows into a CSV file."""
    return lambda folder: bend(folder, "marks.csv", change)


def end(data: bytes) -> Change:
    """Append bytes to a CSV file."""
    return lambda folder: (folder / "marks.csv").write_bytes((folder / "marks.csv").read_bytes() + data)


def line(text: str) -> Change:
    """Replace the first line of a JSON file."""

    def change(folder: Path) -> None:
        _, _, rest = (folder / "marks.jsonl").read_text("utf-8").partition("\n")
        (folder / "marks.jsonl").write_text(f"{text}\n{rest}", "utf-8")

    return change


def value(**values: object) -> Change:
    """Put other values into the first line of a JSON file."""
    return lambda folder: bend_json(folder, "marks.jsonl", 0, **values)


def half(folder: Path) -> None:
    whole = (folder / "marks.parquet").read_bytes()
    (folder / "marks.parquet").write_bytes(whole[: len(whole) // 2])


BENT: list[tuple[str, Change, str]] = [
    ("csv", cell("entries.csv", "cash", "1e9"), "entries.csv, row 2, cash: '1e9' is not a 64-bit integer"),
    ("csv", cell("entries.csv", "cash", ""), "entries.csv, row 2, cash: '' is empty, and must not be"),
    (
        "csv",
        cell("marks.csv", "value", "9" * 19),
        "marks.csv, row 2, value: '9999999999999999999' is not a 64-bit integer",
    ),
    (
        "csv",
        cell("marks.csv", "at", "2026-02-30T00:00:00.000000Z"),
        "marks.csv, row 2, at: '2026-02-30T00:00:",
    ),
    ("csv", cell("quotes.csv", "mid", "0.5"), "quotes.csv, row 2, mid: '0.5' is not a 64-bit integer"),
    ("csv", cell("forecasts.csv", "agent", "nobody"), "row 2 refers to a missing turn: cohort 1, round 1, "),
    ("csv", cell("snapshot_items.csv", "page", "7"), "row 2 refers to a missing version: market_id sim:rain"),
    (
        "csv",
        cell("forecasts.csv", "probability", "1000001"),
        "row 2 (cohort 1, round 1, agent ann, market_id sim:sun",
    ),
    (
        "csv",
        cell("entries.csv", "entry", "1"),
        "row 2 (cohort 1, agent ann, entry 1) can't be in a record: UNIQUE",
    ),
    (
        "csv",
        cell("call_texts.csv", "sample", "9"),
        "call_texts.csv: row 2 is not that of cohort 1, round 1, agent ann",
    ),
    ("csv", table(lambda rows: rows[2].append("x")), "marks.csv, row 2, all: "),
    ("csv", table(lambda rows: rows[0].reverse()), "marks.csv: its heading must be cohort,agent,at,"),
    ("csv", table(lambda rows: rows.clear()), "marks.csv: its heading must be"),
    (
        "csv",
        cell("turns.csv", "cash", "verdict", row=0),
        "turns.csv: its heading must be cohort,round,agent,status,",
    ),
    ("csv", table(lambda rows: rows.pop()), "marks.csv: it has 22 rows"),
    ("csv", end(b'1,"ann"x,'), "is not CSV in UTF-8"),
    ("csv", end(b"\xff\xfe\n"), "is not CSV in UTF-8"),
    ("json", line("{"), "marks.jsonl: row 1 is not JSON"),
    ("json", line("[]"), "marks.jsonl, row 1, all: [] is not an object"),
    ("json", line('{"cohort": 1, "cohort": 2}'), "row 1 is not JSON: the key 'cohort' appears twice"),
    ("json", line('{"cohort": 1}'), "marks.jsonl, row 1, all: ['cohort'] must be cohort, agent,"),
    ("json", value(cash=True), "row 1, cash: True is not a 64-bit integer"),
    ("json", value(cash=1.0), "row 1, cash: 1.0 is not a 64-bit integer"),
    ("json", value(cash="1"), "row 1, cash: '1' is not a 64-bit integer"),
    ("json", value(cash=None), "row 1, cash: None is not a 64-bit integer"),
    ("json", value(cash=2**63), "is not a 64-bit integer"),
    ("json", value(agent="\ud800"), "is not valid UTF-8"),
    ("parquet", half, "marks.parquet: it is not Parquet"),
    (
        "parquet",
        lambda folder: shutil.copy(folder / "turns.parquet", folder / "marks.parquet"),
        "marks.parquet: its columns must be cohort, agent, at,",
    ),
]


@pytest.mark.parametrize(("form", "change", "said"), BENT)
def test_what_can_not_be_is_told_by_file_row_and_key(
    exports: Path, new: Path, tmp_path: Path, form: str, change: Change, said: str
) -> None:
    folder = Path(shutil.copytree(exports / form, tmp_path / "in"))
    change(folder)
    seal(folder)
    assert check_refused(folder, new, said).code == "bad_export"


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        (
            cell("forecasts.csv", "probability", "900000"),
            "other_hash",
            ["the state hash", "but the export says"],
        ),
        (cell("marks.csv", "value", "99", row=1), "differs", ["mark, cohort 1, ann", "value: 99, not"]),
    ],
)
def test_what_was_changed_together_with_the_manifest_is_found(
    season: Path, new: Path, change: Change, code: str, said: list[str]
) -> None:
    change(season)
    seal(season)
    assert check_refused(season, new, *said).code == code


def test_parquet_with_a_time_that_no_calendar_has(tmp_path: Path) -> None:
    columns = [ExportColumn("at", "time", "when")]
    path = tmp_path / "table.parquet"
    times = pa.array([0, 2**62], pa.int64()).cast(pa.timestamp("us", tz="UTC"))
    schema = pa.schema([pa.field("at", times.type, nullable=False)])
    parquet.write_table(pa.Table.from_arrays([times], schema=schema), path)
    with pytest.raises(ArenaError, match=r"table\.parquet, row 2, at: \d+ is not a time of the calendar"):
        list(form_of("parquet").read(path, columns))
