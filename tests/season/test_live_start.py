"""The first round at a live venue: played when a person starts it, whatever the weekday and the hour."""

from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from arena.clock import now
from arena.cohorts.schedule import FirstStarts, first_starts
from arena.config.field_types import start
from arena.rounds.settlement import next_look
from tests.opened_record import opened_record
from tests.program.rehearsal import clock_at, rehearse, rows
from tests.program.running import AGREES, arena, arena_json
from tests.venue_server.polymarket import CLOB, GAMMA, PolymarketWire, a_market, an_end
from tests.venue_server.server import VenueServer

CONFIG = """\
markets:
  venue: polymarket
  closes_within: 3000d
  min_volume: 0
  polymarket: {{url: "{url}{gamma}", book_url: "{url}{clob}", per_second: 1000}}
cohorts: {{rounds: 1, count: 2, corrected_within: 1d}}
run: {{catalogue: off, quotes: off, resolutions: off, marks: off, scores: off, backup: off}}
agents:
  - kind: market
"""
WEDNESDAY = datetime(2026, 1, 7, 14, 37, 20, tzinfo=UTC)
SUNDAYS = start("sun 00:00")


@pytest.fixture
def folder(tmp_path: Path, venue: VenueServer) -> Path:
    """Return a working folder whose live venue has two open markets."""
    closes = f"{now() + timedelta(days=300):%Y-%m-%dT%H:%M:%SZ}"
    PolymarketWire([a_market(name, endDate=closes) for name in ("1001", "1002")]).serve(venue)
    text = CONFIG.format(url=venue.url, gamma=GAMMA, clob=CLOB)
    (tmp_path / "config.yaml").write_text(text, "utf-8")
    return tmp_path


def test_the_first_round_is_played_now_and_the_commands_say_so(folder: Path) -> None:
    checked = arena(folder, "check").stdout
    assert "Starts  now, with arena run or arena run --round: cohort 1 of 2" in checked
    assert checked.endswith("arena run --round\n")
    played = arena_json(folder, "run", "--round")
    assert [(one["cohort"], one["round"]) for one in played["rounds"]] == [(1, 1)]
    assert now() - datetime.fromisoformat(played["at"]) < timedelta(minutes=5)
    assert arena_json(folder, "admin", "verify").items() >= AGREES.items()


def test_what_comes_next_after_it_is_the_schedules(folder: Path) -> None:
    first = datetime.fromisoformat(arena_json(folder, "run", "--round")["at"])
    coming = arena_json(folder, "check")
    assert (coming["next_cohort"], coming["next_command"]) == (2, "run")
    second = datetime.fromisoformat(coming["next_start"])
    assert first < second <= first + timedelta(weeks=1)
    assert (second.weekday(), second.hour, second.minute) == (6, 0, 0)


def test_a_run_from_a_wednesday_on_starts_one_then_and_the_others_on_sundays(folder: Path) -> None:
    text = (folder / "config.yaml").read_text("utf-8")
    text = text.replace("rounds: 1,", "decide: daily at 12:00, rounds: 3 days, first: 2026-01-04,")
    (folder / "config.yaml").write_text(text, "utf-8")
    clock_at(folder, WEDNESDAY)
    rehearse(folder)
    found = rows(folder, "SELECT cohort_id, substr(at, 6, 11) FROM round WHERE done = 1 ORDER BY at")
    assert found == [
        *[(1, f"01-{at}") for at in ("07T14:37", "08T12:00", "09T12:00")],
        *[(2, f"01-{at}") for at in ("11T00:00", "11T12:00", "12T12:00")],
    ]
    assert arena_json(folder, "admin", "verify").items() >= AGREES.items()
    assert "; decide daily at 12:00\n" in arena(folder, "show", "cohort", "1").stdout


def test_a_day_that_is_still_to_come_is_waited_for(folder: Path) -> None:
    text = (folder / "config.yaml").read_text("utf-8").replace("rounds: 1,", "rounds: 1, first: 2999-01-06,")
    (folder / "config.yaml").write_text(text, "utf-8")
    assert arena(folder, "check").stdout.endswith("arena run\n")
    refused = arena(folder, "run", "--round")
    assert refused.returncode == 1
    assert "no decision is due; the next is on 2999-01-06" in refused.stderr


def test_forecasts_on_markets_nobody_holds_are_waited_for_after_the_last_cohort(
    folder: Path, venue: VenueServer
) -> None:
    text = (folder / "config.yaml").read_text("utf-8").replace("count: 2,", "count: 1,")
    (folder / "config.yaml").write_text(text, "utf-8")
    first = datetime.fromisoformat(arena_json(folder, "run", "--round")["at"])
    with opened_record(folder / "arena.db") as record:
        cohorts = record.cohorts()
        assert [stored.ended_at for stored in cohorts] == [first]
        look = partial(next_look, record, cohorts, True, timedelta(days=1))
        assert (look(), look(pretended=True)) == (first + timedelta(days=1), None)
    to_do = "1 thing to do\n  `arena run` is not running: 2 markets have yet to resolve\n"
    assert arena(folder, "status").stdout.startswith(f"Today: {to_do}")
    assert arena_json(folder, "status")["cohorts"]["awaited_markets"] == 2

    PolymarketWire([an_end("1001"), an_end("1002")]).serve(venue)
    arena_json(folder, "run", "--sync")
    assert arena(folder, "status").stdout.startswith("Today: nothing to do, the season is finished\n")
    [market] = arena_json(folder, "board")["leaderboard"]
    assert (market["agent"], market["resolved"]) == ("market", 2)


def test_one_rule_says_where_live_starts_begin() -> None:
    minute = WEDNESDAY.replace(second=0)
    sunday = datetime(2026, 1, 11, tzinfo=UTC)
    assert first_starts(SUNDAYS, None, (), WEDNESDAY) == FirstStarts(sunday, minute, outside=1)
    assert first_starts(SUNDAYS, None, (), sunday) == FirstStarts(sunday, sunday)
    assert first_starts(SUNDAYS, sunday, (), WEDNESDAY) == FirstStarts(sunday)
