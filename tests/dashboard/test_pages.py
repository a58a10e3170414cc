"""Both pages on every state of a record: what they show, and what they say where there is nothing."""

import hashlib
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from arena.record.schema.database import connect, open_read_only, reading
from arena.scores.leaderboard import LeaderboardRow, read_scores
from tests.dashboard.opening import healthy, in_address, markup, opened, tables, tiles, words

VIEWS = ("leaderboard", "cohort")


def rows_of(record: Path, cohort: int | None = None) -> list[LeaderboardRow]:
    with open_read_only(str(record)) as engine, reading(engine) as connection:
        return read_scores(connection, None if cohort is None else [cohort])


def test_the_newest_cohort_is_shown_until_another_is_chosen(
    season: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Cohort 2:" in opened("cohort", season, monkeypatch).title[0].value
    assert "Cohort 1:" in opened("cohort", season, monkeypatch, cohort="1").title[0].value


@pytest.mark.parametrize("reading_", ["stated", "anchored", "implied"])
def test_a_link_brings_back_what_was_chosen(
    season: Path, monkeypatch: pytest.MonkeyPatch, reading_: str
) -> None:
    page = opened("cohort", season, monkeypatch, cohort="1", unit="percent", reading=reading_)
    assert [switch.value for switch in page.button_group] == ["percent", "all", reading_]
    assert in_address(page, "reading") == reading_


def test_a_link_to_what_is_not_there_shows_the_default(season: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = opened("cohort", season, monkeypatch, cohort="77", reading="tea-leaves")
    assert "Cohort 2:" in page.title[0].value
    assert [switch.value for switch in page.button_group] == ["dollars", "all", "stated"]
    assert in_address(page, "reading") == "stated"


def test_choosing_wins_over_the_link_it_came_by(season: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = opened("leaderboard", season, monkeypatch, cohort="1")
    page.selectbox[0].select("all")
    healthy(page.run())
    assert page.selectbox[0].value == "all"
    assert in_address(page, "cohort") == "all"


def test_what_was_not_chosen_stays_out_of_the_address(season: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not opened("cohort", season, monkeypatch).query_params


def test_going_back_to_an_address_brings_back_what_it_says(
    season: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = opened("leaderboard", season, monkeypatch)
    page.selectbox[0].select("1")
    assert in_address(healthy(page.run()), "cohort") == "1"
    healthy(page.run())
    del page.query_params["cohort"]
    assert healthy(page.run()).selectbox[0].value == "all"


def test_a_click_before_the_address_has_followed_the_last_one_undoes_nothing(
    season: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = opened("cohort", season, monkeypatch)
    page.button_group(key="reading").set_value("anchored")
    healthy(page.run())
    del page.query_params["reading"]  # the browser has not heard of it yet
    page.button_group(key="unit").set_value("percent")
    healthy(page.run())
    assert [switch.value for switch in page.button_group] == ["percent", "all", "anchored"]


@pytest.mark.parametrize("view", VIEWS)
def test_without_a_record_it_says_how_to_get_one(view: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "`arena demo` makes one" in words(opened(view, None, monkeypatch))


@pytest.mark.parametrize("view", VIEWS)
def test_a_record_that_is_not_there_is_a_sentence(
    view: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    said = words(opened(view, tmp_path / "none.db", monkeypatch))
    assert "there is no record at" in said
    assert "`arena run`, `arena round` and `arena demo` make one" in said


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("content", [b"", b"dear diary, " * 1000, b"SQLite format 3\0" + bytes(4096)])
def test_a_foreign_file_is_a_sentence(
    view: str, content: bytes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    foreign = tmp_path / "diary.db"
    foreign.write_bytes(content)
    assert "The record can't be shown" in words(opened(view, foreign, monkeypatch))
    assert foreign.read_bytes() == content


@pytest.mark.parametrize("view", VIEWS)
def test_a_folder_or_a_made_up_address_is_a_sentence(
    view: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert "The record can't be shown" in words(opened(view, tmp_path, monkeypatch))
    assert "The record can't be shown" in words(opened(view, "no://such:thing", monkeypatch))


@pytest.mark.parametrize("view", VIEWS)
def test_a_record_without_cohorts_says_what_starts_one(
    view: str, empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "`arena round` plays the first" in words(opened(view, empty, monkeypatch))


def test_nothing_resolved_is_said_and_not_ranked(first_round: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    board, cohort = (opened(view, first_round, monkeypatch) for view in VIEWS)
    assert "Nothing is resolved yet, so nobody leads." in words(board)
    assert "skill" not in tables(board)[0], "no column is empty in every row"
    assert "No market has resolved yet." in words(cohort)
    assert "nobody has made money yet." in cohort.title[0].value
    assert "Shaded" not in words(cohort)
    home, agent = (opened(view, first_round, monkeypatch) for view in ("arena", "agent"))
    assert "`arena round` plays the next" in words(home)
    assert (tiles(home), "Sorted by" in words(home)) == ([], False)
    better = opened("agent", first_round, monkeypatch, agent="constant")
    assert "no bet has resolved yet" in words(better)
    assert not [page for page in (agent, better) if "every bet was refunded" in words(page)]
    assert "shaded" not in words(agent)
    assert "1 of 4 rounds decided" in words(cohort)
    assert any(" •</a>" in html for html in markup(cohort))


def test_a_season_without_bets_still_shows_what_was_stated(
    no_bets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = opened("leaderboard", no_bets, monkeypatch)
    assert list(tables(board)[0]["skill"]) == [0.0]
    assert opened("cohort", no_bets, monkeypatch, reading="implied")


@pytest.mark.parametrize("view", VIEWS)
def test_a_page_is_shown_while_an_arena_writes_and_leaves_the_record_as_it_was(
    view: str, season: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    record = tmp_path / "busy.db"
    record.write_bytes(season.read_bytes())
    before = hashlib.sha256(record.read_bytes()).hexdigest()
    writer = connect(record)
    with writer.begin() as connection:
        connection.exec_driver_sql("INSERT INTO prompt VALUES ('half', 'written')")
        page = opened(view, record, monkeypatch)
        assert len(tables(page)[0]) == len(rows_of(season))
        connection.rollback()
    writer.dispose()
    assert hashlib.sha256(record.read_bytes()).hexdigest() == before


def test_what_an_arena_adds_is_seen_on_the_next_run(
    first_round: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    record = tmp_path / "growing.db"
    record.write_bytes(first_round.read_bytes())
    page = opened("cohort", record, monkeypatch)
    assert "1 of 4 rounds decided" in words(page)
    writer = connect(record)
    with writer.begin() as connection:
        connection.exec_driver_sql("UPDATE cohort SET ended_at = '2026-02-01T00:00:00Z'")
    assert "ended 1 Feb 2026" in words(healthy(page.run()))
    writer.dispose()


def test_a_record_that_is_upgraded_or_replaced_under_an_open_page_is_noticed(
    season: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = Path(shutil.copy(season, tmp_path / "record.db"))
    page = opened("leaderboard", record, monkeypatch)
    assert tables(page)
    with closing(sqlite3.connect(record)) as by_a_newer_arena:
        by_a_newer_arena.execute("UPDATE alembic_version SET version_num = '9999'")
        by_a_newer_arena.commit()
    assert "written by a newer arena" in words(healthy(page.run()))
    record.unlink()
    assert "The record can't be shown" in words(healthy(page.run()))
    shutil.copy(season, record)
    assert tables(healthy(page.run()))
