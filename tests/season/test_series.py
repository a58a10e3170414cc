"""Four weeks of series with a revision: from files that grow, from FRED's server, and from the past."""

import shutil
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from itertools import product
from pathlib import Path
from random import Random
from time import sleep
from typing import Any

import pytest

from tests.program.command_line import ROOT
from tests.program.rehearsal import SUNDAY, clock_at, content, rows
from tests.program.running import AGREES, arena, arena_json, loaded
from tests.series import DAY, a_table
from tests.venue_server.series import SeriesWire, Versions
from tests.venue_server.server import HTML, VenueServer, venue_server

WEEK = timedelta(weeks=1)
ROUNDS = 4
LOOKS = 8
"""Weeks that are lived through: the last questions are called off in the seventh."""
RECORD = "rehearsal.db"
REHEARSED = ("--clock", "clock", "--database", RECORD)
ENDS = "SELECT market_id, payout FROM resolution ORDER BY market_id, version"
CONFIG = """\
markets:
  venue: series
  show: 40
  per_event: 9
  series: {{asks: [rise, above-12], horizons: [7, 14], wait_days: 10, {source}}}
cohorts: {{first: 2026-01-04, decide: 7d, rounds: {rounds}, count: 1}}
run: {{scores: off, backup: off}}
agents:
  - {{kind: naive}}
  - {{kind: trend}}
  - {{kind: constant}}
"""


def a_history() -> dict[str, Versions]:
    """Return values of each weekday, published on the next day.

    Friday the 9th is revised on the 28th, from 13 to 7. The series has nothing after the third of February.
    """
    chance = Random("history")
    history: dict[str, Versions] = {}
    for number in range(64):
        day = SUNDAY.date() - 33 * DAY + number * DAY
        if day.weekday() < 5:
            history[str(day)] = [(str(chance.randint(8, 16)), str(day + DAY))]
    history["2026-01-02"] = [("11", "2026-01-03")]
    history["2026-01-09"] = [("13", "2026-01-10"), ("7", "2026-01-28")]
    return history


class GrowingFolder:
    """A file of a series as it stands on a day, without the days on which values were published."""

    def __init__(self, folder: Path, history: Mapping[str, Versions]):
        self.file = folder / "series" / "river.csv"
        self.file.parent.mkdir()
        self.wire = SeriesWire(SUNDAY.date(), {"river": history})

    def grow(self, at: datetime) -> None:
        """Write the file as it stands then: each date with its newest value."""
        self.wire.today = at.date()
        lines = [f"{day},{versions[-1][0]}" for day, versions in self.wire.told("river").items()]
        self.file.write_text(a_table(lines, "date,value"), "utf-8")


def live_weeks(folder: Path, grow: Callable[[datetime], None], between: Callable[[int], None]) -> None:
    """Live through the weeks by command: each Sunday, move the world on and do what is due."""
    for week in range(LOOKS):
        at = SUNDAY + week * WEEK + timedelta(minutes=1)
        grow(at)
        between(week)
        clock_at(folder, at)
        done = arena(folder, "run", "--once", *REHEARSED, "--quiet")
        assert done.returncode == 0, done.stdout + done.stderr


def ends_of(folder: Path) -> dict[str, list[int | None]]:
    """Return the end of each question, version by version."""
    ends: dict[str, list[int | None]] = {}
    for market, payout in rows(folder, ENDS, RECORD):
        ends.setdefault(market, []).append(None if payout is None else payout // 10**6)
    return ends


def expected_ends() -> dict[str, list[int | None]]:
    """Return each question's end, computed from the history by hand: the value of the Friday before."""
    history = a_history()
    ends: dict[str, list[int | None]] = {}
    last_day = max(history)
    for week, days in product(range(ROUNDS), (7, 14)):
        asked = (SUNDAY + week * WEEK).date()
        due = asked + days * DAY
        base_day = str(asked - 2 * DAY)
        end_day = str(due - 2 * DAY)
        base = float(next(v for v, said in reversed(history[base_day]) if said < str(asked)))
        for ask, limit in (("rise", base), ("above-12", 12.0)):
            name = f"series:river:{ask}:{asked}:{base_day}:{base:g}@{due}"
            if str(due) > last_day:
                ends[name] = [None]
                continue
            values = [float(value) for value, _ in history[end_day]]
            outcomes: list[int | None] = [int(value > limit) for value in values]
            ends[name] = outcomes if len(set(outcomes)) > 1 else outcomes[:1]
    return ends


@pytest.fixture
def server() -> Iterator[VenueServer]:
    with venue_server() as started:
        yield started


def check_season(folder: Path) -> None:
    """Hold a record against the history: each question once, its end, and what the revision turned."""
    found = content(folder, RECORD)
    assert found["differences"] == []
    assert (found["turns"], found["fills"]) == (ROUNDS * 3, 0)
    expected = expected_ends()
    assert ends_of(folder) == expected
    assert sorted(map(len, expected.values()))[-2:] == [2, 2]  # what the revision turned
    assert [None] in expected.values()  # what was called off, for the series has ended
    forecasts = rows(folder, "SELECT count(*), count(DISTINCT market_id) FROM forecast", RECORD)
    assert forecasts == [(ROUNDS * 4 * 3, ROUNDS * 4)]
    statuses = rows(folder, "SELECT DISTINCT status FROM turn", RECORD)
    assert statuses == [("played",)]


def test_four_weeks_of_a_file_that_grows(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(CONFIG.format(source="folder: series", rounds=ROUNDS), "utf-8")
    folder = GrowingFolder(tmp_path, a_history())

    def between(week: int) -> None:
        # In the last week the file is gone: what was decided stays, and what was not is called off.
        if week == LOOKS - 1:
            folder.file.unlink()

    live_weeks(tmp_path, folder.grow, between)
    check_season(tmp_path)
    shown = arena(
        tmp_path,
        "show",
        "market",
        "series:river:rise:2026-01-04:2026-01-02:11@2026-01-11",
        "--database",
        RECORD,
    ).stdout
    assert "Will river have increased by 2026-01-11 compared with its value on 2026-01-02, 11?" in shown


def test_four_weeks_of_a_series_of_fred(tmp_path: Path, server: VenueServer) -> None:
    wire = SeriesWire(SUNDAY.date(), {"river": a_history()})
    source = f'fred: [river], url: "{wire.serve(server)}"'
    (tmp_path / "config.yaml").write_text(CONFIG.format(source=source, rounds=ROUNDS), "utf-8")

    def grow(at: datetime) -> None:
        wire.today = at.date()

    def between(week: int) -> None:
        # In the last week the server is down at first: what has ended keeps its end.
        if week == LOOKS - 1:
            server.fail("/graph/fredgraph.csv", HTML)

    live_weeks(tmp_path, grow, between)
    check_season(tmp_path)


def test_the_past_comes_to_the_same_as_those_who_lived_through_it(tmp_path: Path) -> None:
    series = tmp_path / "series"
    series.mkdir()
    lines = [f"{day},{value},{said}" for day, versions in a_history().items() for value, said in versions]
    (series / "river.csv").write_text(a_table(lines), "utf-8")
    source = "folder: series, start: 2026-01-04"
    (tmp_path / "config.yaml").write_text(CONFIG.format(source=source, rounds=ROUNDS), "utf-8")
    clock_at(tmp_path, SUNDAY + 52 * WEEK)
    done = arena(tmp_path, "run", *REHEARSED, "--quiet")
    assert done.returncode == 0, done.stdout + done.stderr
    check_season(tmp_path)


def test_a_season_is_not_played_from_a_faulty_file(tmp_path: Path) -> None:
    series = tmp_path / "series"
    series.mkdir()
    (series / "river.csv").write_text(a_table(["2026-01-01,1,2026-01-01", "2026-01-02,one,"]), "utf-8")
    source = "folder: series, start: 2026-01-04"
    (tmp_path / "config.yaml").write_text(CONFIG.format(source=source, rounds=ROUNDS), "utf-8")
    clock_at(tmp_path, SUNDAY + WEEK)
    done = arena(tmp_path, "run", "--once", *REHEARSED)
    assert done.returncode != 0
    assert "river.csv, line 3, value: 'one' is not a number like 3.91" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert content(tmp_path, RECORD)["turns"] == 0
    checked = arena(tmp_path, "check")
    assert "Nothing of series is played: river.csv, line 3, value: 'one'" in checked.stdout
    assert checked.returncode == 1


def test_the_example_plays_and_ends_the_same_however_often_it_is_killed(tmp_path: Path) -> None:
    chance = Random("when to kill")
    for name in ("whole", "killed"):
        shutil.copytree(ROOT / "examples" / "series", tmp_path / name / "series")
        shutil.copy(ROOT / "examples" / "series.yaml", tmp_path / name / "config.yaml")
        clock_at(tmp_path / name, datetime.fromisoformat("2026-06-01T00:00Z"))
    words = ("run", *REHEARSED, "--quiet")
    run = loaded().start(tmp_path / "whole", *words)
    assert run.wait() == 0, run.said()

    for _ in range(2):
        run = loaded().start(tmp_path / "killed", *words)
        sleep(chance.uniform(0.5, 3))
        run.kill()
    run = loaded().start(tmp_path / "killed", *words)
    assert run.wait() == 0, run.said()

    whole, killed = (content(tmp_path / name, RECORD) for name in ("whole", "killed"))
    assert whole["hash"] == killed["hash"]
    assert killed["differences"] == []
    assert (killed["rounds"], killed["turns"], killed["fills"]) == (4, 16, 0)
    corrected = rows(tmp_path / "killed", "SELECT market_id FROM resolution WHERE version = 2", RECORD)
    assert corrected == [("series:visitors:rise:2026-03-22:2026-03-14:5385@2026-03-29",)]
    verified: dict[str, Any] = arena_json(
        tmp_path / "killed", "admin", "verify", "--all", "--database", RECORD
    )
    assert verified.items() >= AGREES.items()
