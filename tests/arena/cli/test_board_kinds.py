"""`arena board` of a season with questions of all kinds: one story, that of its export, and no money."""

from pathlib import Path
from typing import Any

import pytest

from arena.scores.all_kinds import ALL_KINDS
from arena.scores.refresh import refresh_cache
from portfolio.rules import REALISTIC
from tests.builders import NOW
from tests.program.in_process import answered, invoke
from tests.records.full_record import week
from tests.records.question_season import play

MONEY = ("P/L", "return", "win rate", "open positions", "implied")


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a season of all kinds in which enough has ended."""
    place = tmp_path_factory.mktemp("season") / "season.db"
    play(place, size=24).close()
    return place


def page(record: Path, *options: str) -> str:
    return str(invoke("board", "--database", record, *options).stdout)


def rows_of(data: Any) -> dict[str, Any]:
    return {row["forecaster"]: row for row in data}


def test_the_board_is_that_of_the_export(season: Path, tmp_path: Path) -> None:
    board = answered("board", "--database", season)
    invoke("share", "export", tmp_path / "export", "--database", season)
    export = answered("score", tmp_path / "export")
    assert board["all_kinds"]["rows"] == export["rows"]
    assert board["sentence"] == export["sentence"]
    for name in ("calibration", "copies", "worst"):
        assert board["all_kinds"][name] == export[name], name

    combined = rows_of(answered("score", tmp_path / "export", "--rule", "autocast")["rows"])
    for agent, scores in board["all_kinds"]["autocast"].items():
        assert scores["combined"] == combined[agent]["combined"]


def test_notes_speak_of_a_season_and_not_of_a_file(tmp_path: Path) -> None:
    season = tmp_path / "season.db"
    play(season, size=24).close()
    notes = answered("board", "--database", season)["all_kinds"]["notes"]
    assert notes == [
        "not scored: 20 questions (open, held out, refunded, or settled in part)",
        "left out of the others' peer scores: flat",
        "not in skill: 60 forecasts on 9 questions without a price or odds at that time",
    ]

    invoke("share", "export", tmp_path / "export", "--database", season)
    of_file = answered("score", tmp_path / "export")["notes"]
    assert "not ranked, as on the leaderboard: flat" in of_file
    assert "not in skill: 60 forecasts on 9 questions without a market_probability for each option" in of_file


def test_the_page_tells_one_story(season: Path) -> None:
    text = page(season)
    assert text.startswith("ann forecasts better than cid")
    assert "Numbers and dates, which have no Brier score" in text
    assert "References, not ranked" in text
    first = next(line for line in text.splitlines() if line.split()[1:2] == ["ann"])
    ann = rows_of(answered("board", "--database", season)["all_kinds"]["rows"])["ann"]
    assert first.split()[:3] == ["1–2", "ann", f"{ann['skill']:+.4f}"]
    assert f"{ann['brier']:.4f}" in first


def test_a_cohort_by_itself_has_no_ranks(season: Path) -> None:
    data = answered("board", "--cohort", "1", "--database", season)
    assert data["all_kinds"]["sentence"] is None
    assert {row["rank_low"] for row in data["all_kinds"]["rows"]} == {None}
    text = page(season, "--cohort", "1")
    assert "ranks  agent" not in text
    assert text.startswith("Over all cohorts: ann forecasts better than cid")


def test_each_kind_has_scores_of_its_own(season: Path) -> None:
    kinds = answered("board", "--database", season)["all_kinds"]["kinds"]
    found = {(row["agent"], row["kind"]): row for row in kinds}
    numbers = found["ann", "numeric"]
    assert numbers["brier"] is None
    assert numbers["distance"] < found["cid", "numeric"]["distance"]
    assert found["ann", "multiple_choice"]["brier"] < found["cid", "multiple_choice"]["brier"]
    assert found["ann", "yes_no"]["distance"] is None


def test_without_a_market_no_money_is_shown(tmp_path: Path) -> None:
    rules = REALISTIC.model_copy(update={"money": False})
    for name, kinds in (("mixed", ("numeric", "multiple_choice")), ("plain", ())):
        place = tmp_path / f"{name}.db"
        play(place, rules=rules, kinds=kinds).close()
        text = page(place, "--wide")
        for word in MONEY:
            assert word not in text, name
        data = answered("board", "--database", place)
        assert data["money"] is False
        for row in data["leaderboard"]:
            assert (row["pnl"], row["return_pct"], row["win_rate"], row["invested"]) == (None,) * 4


def test_the_first_weeks_are_provisional(tmp_path: Path) -> None:
    place = tmp_path / "early.db"
    play(place, size=3, ended=0.3).close()
    text = " ".join(page(place).split())
    assert "Provisional, in the order of the Brier score: nothing is ranked before" in text
    assert "ranks agent" not in text


def test_the_cache_holds_what_is_computed(tmp_path: Path) -> None:
    place = tmp_path / "season.db"
    record = play(place, size=9)
    fresh = answered("board", "--database", place)
    assert refresh_cache(record, week(7))
    with record.reading() as connection:
        assert ALL_KINDS.is_current(connection)
        assert ALL_KINDS.is_current(connection, 1)
    assert answered("board", "--database", place) == fresh
    assert refresh_cache(record, NOW) == 0
    record.close()
