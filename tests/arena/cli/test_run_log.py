"""What `arena run` tells: lines, above how things stand in a terminal, and nothing that a terminal obeys."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from rich.live import Live

from arena.cli.output import RECORD_OPTIONS, with_record_options
from arena.cli.run import LineLog, LiveStatus, status_table
from arena.errors import ArenaError
from arena.operations.progress import RunEvent, RunProgress
from arena.record.queries.operations import RunFigures
from tests.builders import NOW
from tests.opened_record import OpenedRecord, wait_at_most

EVIL = "\x1b[2Jlook \x07at me [bold red]here[/]"


@pytest.fixture
def named_record() -> Iterator[None]:
    """Run the test as if `--database r.db` had been typed."""
    before = RECORD_OPTIONS.set(" --database r.db")
    yield
    RECORD_OPTIONS.reset(before)


def shown(progress: RunProgress, found: RunFigures) -> str:
    stream = StringIO()
    Console(file=stream, width=120).print(status_table(progress, found))
    return stream.getvalue()


def test_it_shows_what_comes_what_was_what_it_cost_and_what_went_wrong() -> None:
    progress = RunProgress(now=NOW, doing="cohort 2", last_round="cohort 1, round 3: 5 turns", next_round=NOW)
    progress.next_job = ("marks", NOW)
    for number in range(7):
        progress.trouble(f"trouble {number}")
    text = shown(progress, RunFigures(spent=1_234_567, positions=12, stale=3))
    for words in (
        "cohort 2",
        "round 3: 5 turns",
        "marks at 2026-",
        "$1.23",
        "12 positions, 3 of them at stale",
    ):
        assert words in text
    assert [f"trouble {number}" in text for number in range(7)] == [False] * 2 + [True] * 5
    assert "starting" in shown(RunProgress(), RunFigures())


def test_what_others_wrote_can_neither_clear_nor_colour_the_screen(record: OpenedRecord) -> None:
    stream = StringIO()
    status = LiveStatus(Live(console=Console(file=stream, width=120)))
    status.watch(RunProgress(now=NOW, last_round=EVIL, errors=[EVIL]), record)
    status.report(RunEvent(NOW, "play", EVIL))
    Console(file=stream, width=120).print(status)
    assert "\x1b[2J" not in stream.getvalue()
    assert "\x07" not in stream.getvalue()
    assert stream.getvalue().count("[bold red]here[/]") == 3


def test_lines_of_json_hold_what_happened_and_quiet_ones_only_trouble() -> None:
    loud = StringIO()
    quiet = StringIO()
    for event in (RunEvent(NOW, "job", EVIL, {"due": "then"}), RunEvent(NOW, "failed", "no luck")):
        LineLog(loud, as_json=True, quiet=False).report(event)
        LineLog(quiet, as_json=False, quiet=True).report(event)
    assert '"event": "job"' in loud.getvalue().splitlines()[0]
    assert '"due": "then"' in loud.getvalue().splitlines()[0]
    assert "\x1b" not in loud.getvalue()
    assert quiet.getvalue() == f"{NOW:%Y-%m-%d %H:%M:%S} no luck\n"


def test_a_command_in_a_line_names_the_rehearsal(named_record: None) -> None:
    stream = StringIO()
    waiting = "waiting for the next round; `arena run --round` plays it at once"
    LineLog(stream, as_json=False, quiet=False, clock=" --clock clock").report(
        RunEvent(NOW, "waiting", waiting)
    )
    assert "`arena run --once --clock clock --database r.db` plays it at once" in stream.getvalue()


@pytest.mark.parametrize(
    ("hint", "shown"),
    [
        ("arena show agent eve shows why", "arena show agent eve --database r.db shows why"),
        ("arena show cohort 1 next", "arena show cohort 1 next --database r.db"),
        ("arena show turn eve --play plays", "arena show turn eve --play --database r.db plays"),
        ("arena check --live --model eve tries", "arena check --live --model eve --database r.db tries"),
        (
            "arena run --round --at 2026-01-04T00:00Z",
            "arena run --round --at 2026-01-04T00:00Z --database r.db",
        ),
    ],
)
def test_options_are_added_at_the_end_of_a_command(hint: str, shown: str, named_record: None) -> None:
    assert with_record_options(hint) == shown


@pytest.mark.parametrize(
    "hint",
    [
        "arena admin cohort start --database r.db begins it now",
        "arena show cohort 1 --database r.db",
        "arena show agents --database r.db",
        "arena run --round --at 2026-01-04T00:00Z --database r.db",
    ],
)
def test_a_command_that_names_its_record_is_left_alone(hint: str, named_record: None) -> None:
    assert with_record_options(hint) == hint


def test_a_record_that_is_away_is_told_of_and_the_last_figures_stand(
    tmp_path: Path, record: OpenedRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait_at_most(20, monkeypatch)
    stream = StringIO()
    status = LiveStatus(Live(console=Console(file=stream, width=120)), figures=RunFigures(spent=1_234_567))
    status.watch(RunProgress(now=NOW), record)
    record.close()
    with closing(sqlite3.connect(tmp_path / "arena.db", isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(ArenaError, match="in use"):
            record.figures(NOW)
        status.report(RunEvent(NOW, "failed", "the record is away"))
    assert "the record is away" in stream.getvalue()
    assert status.figures.spent == 1_234_567
