"""Both pages on every state of a record: what they show, and what they say where there is nothing."""

import hashlib
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from arena.scores.leaderboard import LeaderboardRow, read_scores
from tests.dashboard.opening import Show, healthy, in_address, markup, tables, tiles, words
from tests.rows import changing, read_only

VIEWS = ("leaderboard", "cohort")
STATES = [
    ("empty", "how", {}, "What is not claimed"),
    ("empty", "glossary", {}, "What the words mean"),
    ("empty", "cohort", {}, "`arena run --round` plays the first"),
    ("empty", "leaderboard", {}, "`arena run --round` plays the first"),
    ("empty", "operations", {}, "no cohort has started yet"),
    ("empty", "operations", {}, "No scheduler is running, so nothing happens by itself"),
    ("empty", "operations", {}, "“arena run --round” plays one"),
    ("empty", "operations", {}, "“arena admin backup” makes one"),
    ("no_bets", "duel", {}, "A duel takes two agents"),
    ("raw", "duel", {"a": "oracle", "b": "random"}, "is being computed"),
    ("season", "turn", {"status": "failed"}, "No turn matches"),
    ("season", "turn", {"cohort": "9", "round": "1", "agent": "oracle"}, "holds no turn of `oracle`"),
    ("season", "turn", {"cohort": "1", "round": "x", "agent": "oracle"}, "in round `x` of cohort `1`"),
    ("season", "turn", {"cohort": "1", "round": "1", "agent": "nobody*"}, "holds no turn of `nobody*`"),
    ("season", "markets", {"search": "zzzz nowhere"}, "Search for fewer words"),
    ("season", "markets", {"event": "no:such"}, "No market matches."),
    ("season", "market", {"market": "no:such`*thing*"}, "The record knows no market ``no:such`*thing*``."),
]
"""Where there is nothing to be shown: the record, the page, what its address says, and what is said."""
BARE = [
    ("first_round", "duel", {"a": "oracle", "b": "random"}, "No comparison of oracle and random"),
    ("raw", "agent", {"agent": "oracle"}, "is being computed"),
    ("no_bets", "agent", {"part": "forecasts"}, "What it states"),
    ("no_bets", "agent", {"part": "money"}, "It has made no bet yet"),
    ("no_bets", "agent", {"part": "setup"}, "It calls no model"),
    ("season", "turn", {"cohort": "1", "round": "2", "agent": "oracle"}, "It asked no model."),
    ("season", "markets", {"page": "99999"}, "This page of the list is empty."),
    *(("season", "markets", {"page": page}, "Market") for page in ("x", "0", "99999999")),
    ("season", "markets", {"show": "none"}, "Market"),
]
"""The same where only a part is missing, or the address says nonsense."""


def rows_of(record: Path, cohort: int | None = None) -> list[LeaderboardRow]:
    with read_only(record) as connection:
        return read_scores(connection, None if cohort is None else [cohort])


@pytest.mark.parametrize(("name", "view", "address", "said"), [*STATES, *BARE])
def test_what_is_not_there_is_said(
    name: str,
    view: str,
    address: dict[str, str],
    said: str,
    request: pytest.FixtureRequest,
    show: Show,
) -> None:
    page = show(view, request.getfixturevalue(name), **address)
    assert said in words(page).replace("\\", "")
    assert (name, view, address, said) in BARE or not tables(page)


@pytest.mark.parametrize(
    ("view", "address", "said"),
    [
        ("agent", {"agent": "no![x](http://a.b)one"}, "The record has no agent `no![x](http://a.b)one`."),
        ("duel", {"a": "nobody", "b": "random"}, "The record has no agent `nobody`."),
        ("cohort", {"cohort": "99"}, "The record has no cohort `99`."),
        ("leaderboard", {"cohort": "99"}, "The record has no cohort `99`."),
    ],
)
def test_what_is_not_there_is_named_at_its_own_address_and_nothing_else_is_shown(
    season: Path, show: Show, view: str, address: dict[str, str], said: str
) -> None:
    page = show(view, season, **address)
    assert page.info[0].value == said
    assert {key: in_address(page, key) for key in address} == address
    assert len(page.title) == 1
    assert not tables(page)
    assert len([html for html in markup(page) if 'class="pill"' in html]) == 1, "the way to those that are"


FOREIGN = {
    "empty.db": b"",
    "diary.db": b"dear diary, " * 1000,
    "half.db": b"SQLite format 3\0" + bytes(4096),
    "none.db": None,
}


@pytest.mark.parametrize("place", [*FOREIGN, "", "no://such:thing"])
def test_what_is_no_record_is_a_sentence(place: str, show: Show, tmp_path: Path) -> None:
    path = tmp_path / place
    content = FOREIGN.get(place)
    if content is not None:
        path.write_bytes(content)
    said = words(show("cohort", place if "://" in place else path))
    assert "The record can't be shown" in said
    assert content is None or path.read_bytes() == content
    if place == "none.db":
        assert "there is no record at" in said
        assert "`arena run`, `arena run --round` and `arena demo` make one" in said


def test_without_a_record_it_says_how_to_get_one(show: Show) -> None:
    assert "`arena demo` makes one" in words(show("leaderboard", None))


@pytest.mark.parametrize("reading_", ["stated", "anchored", "implied"])
def test_a_link_brings_back_what_was_chosen(season: Path, show: Show, reading_: str) -> None:
    page = show("cohort", season, cohort="1", unit="percent", reading=reading_)
    assert [switch.value for switch in page.button_group] == ["percent", "all", reading_]
    assert "Cohort 1" in page.title[0].value
    assert in_address(page, "reading") == reading_


def test_a_link_to_what_is_not_there_shows_the_default(season: Path, show: Show) -> None:
    page = show("cohort", season, reading="tea-leaves")
    assert "Cohort 2" in page.title[0].value
    assert [switch.value for switch in page.button_group] == ["dollars", "all", "stated"]


def test_choosing_wins_over_the_link_it_came_by(season: Path, show: Show) -> None:
    page = show("leaderboard", season, cohort="1")
    page.selectbox[0].select("all")
    healthy(page.run())
    assert page.selectbox[0].value == "all"
    assert in_address(page, "cohort") == "all"


def test_going_back_to_an_address_brings_back_what_it_says(season: Path, show: Show) -> None:
    page = show("leaderboard", season)
    page.selectbox[0].select("1")
    assert in_address(healthy(page.run()), "cohort") == "1"
    healthy(page.run())
    del page.query_params["cohort"]
    assert healthy(page.run()).selectbox[0].value == "all"


def test_a_click_before_the_address_has_followed_the_last_one_undoes_nothing(
    season: Path, show: Show
) -> None:
    page = show("cohort", season)
    page.button_group(key="reading").set_value("anchored")
    healthy(page.run())
    del page.query_params["reading"]  # the browser has not heard of it yet
    page.button_group(key="unit").set_value("percent")
    healthy(page.run())
    assert [switch.value for switch in page.button_group] == ["percent", "all", "anchored"]


def test_nothing_resolved_is_said_and_not_ranked(first_round: Path, show: Show) -> None:
    board, cohort = (show(view, first_round) for view in VIEWS)
    assert "Only references have played yet." in words(board)
    assert "skill" not in tables(board)[0], "no column is empty in every row"
    assert "No market that they forecast has resolved yet." in words(cohort)
    assert cohort.title[0].value.startswith("Cohort 1")
    assert "Shaded" not in words(cohort)
    home, agent = (show(view, first_round) for view in ("arena", "agent"))
    assert "“arena run --round” plays the next" in words(home)
    assert tiles(home) == []
    better = show("agent", first_round, agent="constant")
    assert "no bet has resolved yet" in words(better)
    assert not [page for page in (agent, better) if "every bet was refunded" in words(page)]
    assert "shaded" not in words(agent)
    assert "1 of 4 rounds decided" in words(cohort)
    assert any('class="live"' in html for html in markup(cohort))


def test_a_season_without_bets_still_shows_what_was_stated(no_bets: Path, show: Show) -> None:
    board = show("leaderboard", no_bets)
    assert list(tables(board)[0]["closer"]) == [0.0]
    assert show("cohort", no_bets, reading="implied")


@pytest.mark.parametrize("view", VIEWS)
def test_a_page_is_shown_while_an_arena_writes_and_leaves_the_record_as_it_was(
    view: str, season: Path, show: Show, tmp_path: Path
) -> None:
    record = tmp_path / "busy.db"
    record.write_bytes(season.read_bytes())
    before = hashlib.sha256(record.read_bytes()).hexdigest()
    with changing(record) as connection:
        connection.exec_driver_sql("INSERT INTO prompt VALUES ('half', 'written')")
        page = show(view, record)
        assert len(tables(page)[0]) == len(rows_of(season))
        connection.rollback()
    assert hashlib.sha256(record.read_bytes()).hexdigest() == before


def test_what_an_arena_adds_is_seen_on_the_next_run(first_round: Path, show: Show, tmp_path: Path) -> None:
    record = tmp_path / "growing.db"
    record.write_bytes(first_round.read_bytes())
    page = show("cohort", record)
    assert "1 of 4 rounds decided" in words(page)
    with changing(record) as connection:
        connection.exec_driver_sql("UPDATE cohort SET ended_at = '2026-02-01T00:00:00Z'")
    assert "ended 1 Feb 2026" in words(healthy(page.run()))


def test_a_record_that_is_upgraded_or_replaced_under_an_open_page_is_noticed(
    season: Path, tmp_path: Path, show: Show
) -> None:
    record = Path(shutil.copy(season, tmp_path / "record.db"))
    page = show("leaderboard", record)
    assert tables(page)
    with closing(sqlite3.connect(record)) as by_a_newer_arena:
        by_a_newer_arena.execute("UPDATE alembic_version SET version_num = '9999'")
        by_a_newer_arena.commit()
    assert "written by a newer arena" in words(healthy(page.run()))
    record.unlink()
    assert "The record can't be shown" in words(healthy(page.run()))
    shutil.copy(season, record)
    assert tables(healthy(page.run()))
