"""The way from a page to the ledger is as docs/tour.md says: its season is played, its questions asked."""

import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.dashboard.opening import opened, tables
from tests.program.running import arena
from tests.records.demo import SIX_ROUNDS, six_rounds

ROOT = Path(__file__).resolve().parent.parent
TOUR = (ROOT / "docs" / "tour.md").read_text("utf-8")
BLOCKS = re.findall(r"^```\n(.*?)^```$", TOUR, re.MULTILINE | re.DOTALL)
ASKED = [found for x in BLOCKS if (found := re.fullmatch(r'\$ sqlite3 tour\.db "(.*?)"\n(.*)', x, re.DOTALL))]
PLAYED = [found for x in BLOCKS if (found := re.fullmatch(r"\$ arena (.*?)\n(.*)", x, re.DOTALL))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder in which the season of the page has been played."""
    folder = tmp_path_factory.mktemp("tour")
    shutil.copy(six_rounds(tmp_path_factory) / "demo.db", folder / "tour.db")
    return folder


def test_every_block_of_the_page_is_a_command() -> None:
    assert len(ASKED) + len(PLAYED) == len(BLOCKS)
    assert [command[1].split()[0] for command in PLAYED] == ["demo", "admin"]
    assert PLAYED[0][1].split() == [*SIX_ROUNDS, "--database", "tour.db"]


def test_the_questions_to_the_record_are_answered_as_shown(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "tour.db")) as record:
        for question, shown in (found.groups() for found in ASKED):
            rows = record.execute(question).fetchall()
            assert "".join("|".join(map(str, row)) + "\n" for row in rows) == shown


def test_the_commands_say_what_is_shown(folder: Path) -> None:
    for command, shown in (found.groups() for found in PLAYED[1:]):
        assert arena(folder, *command.split()).stdout == shown


def test_the_pages_show_the_two_figures(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = folder / "tour.db"
    cohort = tables(opened("cohort", record, monkeypatch, cohort="1"))[0]
    assert f"P/L of ${row_of(cohort, agent='sharp')['pnl']:,.2f}" in TOUR
    board = tables(opened("leaderboard", record, monkeypatch, columns="all"))[0]
    assert f"Brier is {row_of(board, agent='sharp')['brier_stated']:.4f}" in TOUR


def row_of(table: Any, **named: str | int) -> Any:
    """Return the one row of a table with these values in these columns."""
    for column, value in named.items():
        table = table[table[column] == value]
    assert len(table) == 1
    return table.iloc[0]
