"""Tables fit their terminal: texts give way, then columns, and what is hidden is told."""

import os
import pty
from pathlib import Path
from typing import Any

import pytest

from arena.cli.output import progress_lines
from arena.cli.page import Block, Fields, Notes, page_lines, print_page
from arena.cli.table import Table, TableChoice, TableColumn, cells_of
from tests.program.in_process import invoke
from tests.program.running import loaded

COLUMNS = (
    TableColumn("agent", narrow="cut middle"),
    TableColumn("question", narrow="cut"),
    TableColumn("pnl", "P/L", "+,.2f"),
    TableColumn("forecasts", show=",d", gives_way=1),
    TableColumn("note", gives_way=2, narrow="wrap"),
    TableColumn("empty"),
)
ROWS: list[dict[str, Any]] = [
    {
        "agent": "openrouter/qwen-4-max-thinking",
        "question": "Will the Neskdale river gauge have passed its flood mark by 2 February 2026?",
        "pnl": 120_891.55,
        "forecasts": 1_250,
        "note": "a note of several words that goes on and on",
        "empty": None,
    },
    {"agent": "two", "question": "[red]?[/red] 東京", "pnl": None, "forecasts": 2, "note": "", "empty": None},
]


def shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int, choice: TableChoice
) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(width))
    print_page([Table(COLUMNS, ROWS, choice=choice)])
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("width", [60, 80, 100, 150])
def test_a_table_fits_its_terminal_and_cuts_no_figure(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = shown(capsys, monkeypatch, width, TableChoice())
    assert max(map(len, lines)) <= width
    assert "+120,891.55" in "\n".join(lines)
    assert "empty" not in lines[0]
    hidden = [line for line in lines if "hidden" in line]
    assert bool(hidden) == ("note" not in lines[0])


def test_what_matters_least_gives_way_first(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = shown(capsys, monkeypatch, 70, TableChoice())[-2]
    assert told == "Column note is hidden; widen the terminal or use --wide."
    lines = shown(capsys, monkeypatch, 60, TableChoice())
    assert " ".join(lines[-3:-1]).startswith("Columns forecasts and note are hidden;")


def test_into_a_pipe_goes_everything(capsys: pytest.CaptureFixture[str]) -> None:
    print_page([Table(COLUMNS, ROWS)])
    head, first, second, _ = capsys.readouterr().out.splitlines()
    assert head.split() == ["agent", "question", "P/L", "forecasts", "note", "empty"]
    assert ROWS[0]["question"] in first
    assert ROWS[0]["note"] in first
    assert second.index("–") + 1 == head.index("P/L") + 3 - 2, "a dash under the end; two letters are wide"


def test_a_user_names_columns_or_wants_all(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = shown(capsys, monkeypatch, 40, TableChoice(columns="P/L,agent"))
    assert lines[0].split() == ["P/L", "agent"]
    assert "hidden" not in "".join(lines)
    assert (
        "a note of several words that goes on and on"
        in shown(capsys, monkeypatch, 40, TableChoice(wide=True))[1]
    )


def test_what_is_rounded_to_0_has_no_minus() -> None:
    column = TableColumn("peer", show="+.2f")
    texts = [column.cell({"peer": value}) for value in (-1e-15, -0.0, 0.004, -0.006)]
    assert texts == ["+0.00", "+0.00", "+0.00", "-0.01"]
    assert TableColumn("share", show=".1%").cell({"share": -1e-9}) == "0.0%"


def test_the_same_columns_are_the_keys_of_json() -> None:
    assert Table(COLUMNS, ROWS).data() == ROWS


LONG_PAGE: list[Block] = [
    "東京 " * 30,
    "a" * 200,
    "  " + "an indented line that goes on " * 5,
    Fields({"what": "some words " * 20, "a longer label": "東京" * 50}),
    Table(COLUMNS, ROWS),
    Notes({"pnl": "P/L: profit or loss. " * 10, "empty": "never told"}, ("In order.",)),
]


@pytest.mark.parametrize("width", [30, 80, 120])
def test_no_line_of_a_page_is_wider_than_the_terminal_and_no_word_is_lost(width: int) -> None:
    prose = [*LONG_PAGE[:4], LONG_PAGE[5]]
    lines = list(page_lines(prose, width))
    assert max(map(cells_of, lines)) <= width
    assert "".join("".join(lines).split()) == "".join("".join(page_lines(prose, None)).split())


def test_notes_are_of_the_columns_that_are_shown() -> None:
    told = list(page_lines(LONG_PAGE, 80))
    assert "In order. P/L: profit or loss." in " ".join(told)
    assert "never told" not in " ".join(told)


@pytest.mark.parametrize("columns", [80, 132])
def test_a_leaderboard_in_a_terminal(columns: int, built: Path, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    words = ("board", "--database", str(built))
    width = {"COLUMNS": str(columns), "TERM": "xterm"}
    status = loaded().in_terminal(tmp_path, Path(os.ttyname(theirs)), *words, **width).wait()
    os.close(theirs)
    text = os.read(ours, 10_000).decode()
    os.close(ours)
    lines = text.replace("\r", "").splitlines()
    assert (status, max(map(len, lines)) <= columns, "\x1b" in text) == (0, True, False)
    head = next(line for line in lines if line.startswith("agent "))
    for name in ("P/L", "open positions", "from price", "cost"):
        assert name in head
    assert next(line for line in lines if line.endswith("References, not ranked"))


def test_prose_fits_too_and_suggests_commands_for_the_same_record(
    built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(built.parent)
    monkeypatch.setattr("arena.cli.output.program", lambda: "arena")
    commands = (
        "status",
        "study whatif --fill mid",
        "show positions --by agent",
        "board ann bob",
        "show markets",
    )
    texts = [invoke(*words.split(), "--database", built.name).stdout for words in commands]
    assert [line for text in texts for line in text.splitlines() if len(line) > 80] == []
    assert "P/L $" in texts[2].splitlines()[1], "the sum stays where its parts are hidden"
    assert texts[-1].endswith("3 markets. Next: arena show market ID --database record.db\n"), texts


def test_long_work_tells_how_far_it_is_also_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    seconds = iter([0.0, 5.0, 11.0, 11.0, 12.0, 25.0, 25.0])
    say = progress_lines(lambda: next(seconds))
    for done in (1, 2_000, 3_000, 4_000):
        say("reading the export", done, 5_000 if done < 4_000 else None)
    assert capsys.readouterr().err == "Reading the export: 2,000 of 5,000\nReading the export: 4,000\n"
