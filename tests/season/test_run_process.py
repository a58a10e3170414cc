"""`arena run` as a process: killed, doubled, told to stop, and what it says."""

import json
import os
import signal
import sqlite3
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from functools import partial
from pathlib import Path
from random import Random
from time import sleep
from typing import Any

import pytest

from arena.cli.run import LineLog, play
from arena.clock import PretendedClock, now
from arena.config import load
from tests.program.forked import Forked, Forks
from tests.program.rehearsal import SUNDAY, clock_at, content, rows
from tests.program.running import arena, arena_json, provider
from tests.provider.replies import GOOD, late, says
from tests.provider.server import FaultyProvider
from tests.season.paid import asked_in, stored_questions

WEEK = timedelta(weeks=1)
OFF = "catalogue: off, quotes: off, resolutions: off, scores: 1w, backup: off"
SEASON = f"""\
markets: {{venue: simulator, show: 8, simulator: {{start: 2026-01-04, weeks: 3, markets: 20, events: 8}}}}
cohorts: {{rounds: 2, count: 1, corrected_within: 8d}}
run: {{marks: 1w, {OFF}}}
agents:
  - {{name: three, model: demo/sharp, samples: 3}}
  - {{name: parts, model: demo/hasty, batch: 5}}
  - {{kind: kelly, of: three}}
"""
SLOW = """\
markets: {{venue: simulator, show: 3, simulator: {{start: 2026-01-04, weeks: 6, markets: 30, events: 10}}}}
cohorts: {{rounds: 1, count: 1, corrected_within: 8d}}
run: {{marks: 1w, {off}, grace: {grace}}}
agents:
  - kind: market
  - {{name: eve, model: openai/eve, base_url: "{url}", price: {{input: 1, output: 1}}}}
"""


def a_folder(folder: Path, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "config.yaml").write_text(text, "utf-8")
    clock_at(folder)
    return folder


def said(run: Forked, kind: str) -> Any:
    """Return the first output of that kind, once there is one."""
    while True:
        over = not run.runs
        for told in map(json.loads, run.said().rpartition("\n")[0].splitlines()):
            if told["event"] == kind:
                return told
        assert not over, f"it ended without a word of {kind}"
        sleep(0.05)


LONG = """\
markets:
  venue: simulator
  show: 6
  simulator: {{start: 2026-01-04, weeks: {weeks}, markets: {markets}, events: {events}}}
cohorts: {{rounds: 2, count: {cohorts}, corrected_within: 8d}}
run: {{marks: {marks}, quotes: 4d, catalogue: 1w, scores: 1w, resolutions: off, backup: off}}
agents:
  - {{name: three, model: demo/sharp, samples: 3}}
  - {{name: parts, model: demo/hasty, batch: 3}}
  - {{kind: kelly, of: three}}
"""
FEW_WEEKS = {"marks": "4d", "cohorts": 1, "weeks": 3, "markets": 12, "events": 5}
MANY_WEEKS = {"marks": "2d", "cohorts": 40, "weeks": 44, "markets": 210, "events": 102}


def test_killed_again_and_again_it_does_everything_once_and_ends_in_the_same_hash(
    tmp_path: Path, thorough: bool, forked: Forks
) -> None:
    """Each life ends soon after some sign of it: a line that it said, or a question that it asked."""
    kills = 200 if thorough else 2
    chance = Random("when to kill")
    log = tmp_path / "requests"
    long = LONG.format(**(MANY_WEEKS if thorough else FEW_WEEKS))
    whole, killed = (a_folder(tmp_path / name, long) for name in ("whole", "killed"))
    words = ("run", "--log", "json", "--clock", "clock", "--database", "arena.db")
    with provider(log) as url:
        start = partial(forked.start, ARENA_DEMO_PROVIDER=url)
        unbroken = start(whole, *words)
        assert unbroken.wait() == 0, unbroken.said()
        asked = asked_in(log)
        signs = len(unbroken.said().splitlines()) + len(asked)
        for _ in range(kills):
            stored = stored_questions(killed / "arena.db")
            before = len(asked_in(log))
            run = start(killed, *words)
            enough = chance.randint(0, 2 * signs // kills)
            while run.runs and len(run.said().splitlines()) + len(asked_in(log)) - before < enough:
                sleep(0.002)
            sleep(chance.uniform(0, 0.03))
            run.kill()
            assert not stored & set(asked_in(log)[before:]), "a stored answer was asked for again"
        stored = stored_questions(killed / "arena.db")
        before = len(asked_in(log))
        last = start(killed, *words)
        assert last.wait() == 0, last.said()
        assert not stored & set(asked_in(log)[before:])
    ran = content(whole)
    resumed = content(killed)
    assert (ran["differences"], {ended is None for _, ended in ran["ended"]}) == ([], {False})
    assert resumed == ran
    assert resumed["calls"] == len(asked)


def test_a_second_one_stands_by_and_takes_over_when_the_first_is_killed(
    tmp_path: Path, forked: Forks
) -> None:
    this_week = (now() - timedelta(days=now().isoweekday() % 7)).date()
    folder = a_folder(tmp_path, SEASON.replace("2026-01-04", this_week.isoformat()).replace("sharp", "blind"))
    with provider(tmp_path / "requests") as url:
        starts = partial(forked.start, folder, "run", "--log", "json", ARENA_DEMO_PROVIDER=url)
        first = starts()
        assert said(first, "play")["round"] == 1
        second = starts()
        assert "standing by" in said(second, "standby")["message"]
        busy = arena(folder, "run", "--once", "--json")
        assert (busy.returncode, json.loads(busy.stdout)["error"]["code"]) == (2, "busy")
        first.kill()
        with closing(sqlite3.connect(folder / "arena.db", timeout=30)) as record, record:
            record.execute("UPDATE lease SET beat = NULL")  # a wait cut short
        said(second, "started")
        second.signal(signal.SIGTERM)
        assert second.wait() == 0
    assert rows(folder, "SELECT count(*) FROM round") == [(1,)]
    assert rows(folder, "SELECT token FROM lease") == [(2,)]


def signalled(when: Callable[[], bool], *pauses: float) -> threading.Thread:
    """Send this process SIGTERM once a condition holds, and again after each of the pauses."""

    def wait() -> None:
        while not when():
            sleep(0.01)
        os.kill(os.getpid(), signal.SIGTERM)
        for pause in pauses:
            sleep(pause)
            os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def run_here(folder: Path, log: Path) -> Any:
    """Play `arena run` in this process, which takes its signals."""
    with log.open("w", encoding="utf-8") as stream:
        return play(
            load(folder / "config.yaml"),
            False,
            lambda: PretendedClock.read(folder / "clock"),
            LineLog(stream, True, False),
        )


def an_arena_with(provider: FaultyProvider, folder: Path, seconds: float, grace: str) -> Path:
    provider.script("eve", late(says(GOOD), seconds))
    return a_folder(folder, SLOW.format(url=provider.url, grace=grace, off=OFF))


CALLS = "SELECT error_code, worst IS NOT NULL, cost FROM call"


def test_told_to_stop_it_lets_calls_end_and_keeps_their_turns(
    tmp_path: Path, provider: FaultyProvider
) -> None:
    folder = an_arena_with(provider, tmp_path, 0.5, "60s")
    stops = signalled(lambda: bool(provider.log))
    ran = run_here(folder, tmp_path / "log")
    stops.join()
    assert (ran.stop.asked.is_set(), ran.stop.hurry.is_set()) == (True, False)
    assert [code for code, _, _ in rows(folder, CALLS)] == [None]
    assert sorted(rows(folder, "SELECT status FROM turn")) == [("played",), ("played",)]
    assert rows(folder, "SELECT count(*) FROM lease WHERE beat IS NOT NULL") == [(0,)]


def test_a_second_signal_breaks_calls_off_and_no_turn_is_half_there(
    tmp_path: Path, provider: FaultyProvider
) -> None:
    folder = an_arena_with(provider, tmp_path, 9.0, "600s")
    stops = signalled(lambda: bool(provider.log), 0.3)
    ran = run_here(folder, tmp_path / "log")
    stops.join()
    assert ran.stop.hurry.is_set()
    assert rows(folder, CALLS) == [("other", 1, None)], "it may have to be paid, at its worst"
    assert rows(folder, "SELECT count(*) FROM turn WHERE status IS NULL") == [(0,)]
    assert rows(folder, "SELECT done FROM round") == [(0,)]
    provider.script("eve", says(GOOD))
    run_here(folder, tmp_path / "log")
    assert sorted(rows(folder, "SELECT status FROM turn")) == [("played",), ("played",)]
    assert content(folder)["differences"] == []


def test_it_tells_in_lines_and_at_the_end_how_much_it_did(tmp_path: Path) -> None:
    folder = a_folder(tmp_path, SEASON)
    rehearsal = ("run", "--clock", "clock", "--database", "arena.db")
    with provider(tmp_path / "requests") as url:
        ran = arena(folder, *rehearsal, ARENA_DEMO_PROVIDER=url)
        quiet = arena(folder, *rehearsal, "--quiet", ARENA_DEMO_PROVIDER=url)
        clock_at(folder)
        detailed = arena(folder, *rehearsal[:-1], "detailed.db", "-v", ARENA_DEMO_PROVIDER=url)
    assert ran.returncode == quiet.returncode == detailed.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert lines[0] == "2026-01-04 00:00:00 leading; it is 2026-01-04 00:00 UTC"
    assert "2026-01-11 00:00:00 cohort 1, 2026-01-11 00:00: round 2: 3 turns" in lines
    assert "every round has been played" in lines[-3]
    assert lines[-2].startswith("Stopped: 2 rounds, 6 turns, ")
    assert (quiet.stdout, quiet.stderr) == ("", "")
    told, more = (
        [line[20:].split(",")[0] for line in each.splitlines()[:-2]] for each in (ran.stdout, detailed.stdout)
    )
    ended = ["start", "cohort 1", "cohort 1", "cohort 1 has ended"]
    assert told[1:-1] == [*ended, *["corrections"] * (len(told) - 6)]
    assert set(more) - set(told) == {"marks", "scores", "verify"}


STOPPED = "stopped; 1 turn done, and kept\n→ arena run --round --database arena.db continues it"
ENDS = [("run --round", 130, STOPPED),
        ("run --clock clock", 0, "Stopped: 0 rounds, 1 turn, 0 jobs done.\nNext: ")]  # fmt: skip


@pytest.mark.parametrize(("words", "status", "end"), ENDS)
def test_ctrl_c_keeps_what_was_played_sums_it_up_and_the_next_start_plays_the_rest(
    tmp_path: Path, provider: FaultyProvider, forked: Forks, words: str, status: int, end: str
) -> None:
    folder = an_arena_with(provider, tmp_path / "arena", 60.0, "0s")
    here = ("--database", "arena.db")
    run = forked.start(folder, *words.split(), *here)
    while not (provider.log and rows(folder, "SELECT 1 FROM turn")):
        assert run.runs, run.said()
        sleep(0.02)
    run.signal(signal.SIGINT)
    assert (run.wait(), end in run.said(), "have 0 seconds" in run.said()) == (status, True, status == 0)
    assert content(folder)["differences"] == []
    provider.script("eve", says(GOOD))
    assert arena(folder, *words.split(), *here).returncode == 0
    assert sorted(rows(folder, "SELECT status FROM turn")) == [("played",), ("played",)]
    assert content(folder)["differences"] == []


@pytest.mark.parametrize("pause", [0.0, 0.02])
def test_ctrl_c_twice_at_once_ends_without_a_traceback(
    tmp_path: Path, provider: FaultyProvider, forked: Forks, pause: float
) -> None:
    folder = an_arena_with(provider, tmp_path / "arena", 60.0, "0s")
    run = forked.start(folder, "run", "--round", "--database", "arena.db")
    while not (provider.log and rows(folder, "SELECT 1 FROM turn")):
        assert run.runs, run.said()
        sleep(0.02)
    for _ in range(2):
        run.signal(signal.SIGINT)
        sleep(pause)
    charged = "a call in progress may still be charged"
    assert (run.wait(), run.said()) == (130, f"{STOPPED}; {charged}\n")
    assert content(folder)["differences"] == []


def test_the_list_says_what_is_done_when_without_doing_it(tmp_path: Path) -> None:
    folder = a_folder(tmp_path, SEASON)
    fresh = arena_json(folder, "run", "--list", "--clock", "clock")
    assert not (folder / "arena.db").exists()
    jobs = {job["job"]: job for job in fresh["jobs"]}
    assert (jobs["marks"]["cadence"], jobs["marks"]["last"]) == ("weekly", None)
    assert (jobs["quotes"]["cadence"], jobs["quotes"]["next"]) == ("off", None)
    assert [each["what"] for each in fresh["decisions"]] == ["a cohort starts, due now"]
    listed = arena(folder, "run", "--list", "--clock", "clock").stdout
    for word in ("marks", "off", "due now", "run --clock clock"):
        assert word in listed


def test_a_rehearsal_does_not_touch_the_arenas_own_record(tmp_path: Path) -> None:
    folder = a_folder(tmp_path, SEASON)
    refused = arena(folder, "run", "--clock", "clock")
    assert refused.returncode == 1
    assert "would write to this arena's own record" in refused.stderr
    assert "--database rehearsal.db" in refused.stderr
    assert not (folder / "arena.db").exists()


def test_the_status_of_a_rehearsal_says_whose_clock_it_goes_by(tmp_path: Path) -> None:
    folder = a_folder(tmp_path, SEASON)
    here = ("--database", "rehearsal.db")
    with provider(tmp_path / "requests") as url:
        ran = arena(folder, "run", "--once", "--clock", "clock", *here, ARENA_DEMO_PROVIDER=url)
        again = arena(folder, "run", "--once", "--clock", "clock", *here, ARENA_DEMO_PROVIDER=url)
    assert ran.stdout.endswith("arena board --database rehearsal.db\n")
    assert "Stopped: 0 rounds" in again.stdout
    assert again.stdout.endswith("arena status --clock clock --database rehearsal.db\n")
    assert arena_json(folder, "status", *here)["clock"] == "mixed"
    assert "use --clock FILE" in arena(folder, "status", *here).stdout
    following = "Next: arena run --once --clock FILE --database rehearsal.db"
    assert following in arena(folder, "check", *here).stdout.replace(f"{sys.prefix}/bin/", "")
    found = arena_json(folder, "status", "--clock", "clock", *here)
    assert (found["clock"], found["at"]) == ("pretended", "2026-01-04T00:00:00+00:00")

    clock_at(folder, SUNDAY - timedelta(days=1))
    arena(folder, "run", "--once", "--clock", "clock", *here)
    told = arena_json(folder, "status", "--incidents", *here)["incidents"]
    assert "the time in clock is behind the record by 24.0 h" in [incident["text"] for incident in told]
    assert "this machine" not in arena(folder, "status", "--clock", "clock", *here).stdout

    arena_json(folder, "run", "--round", "--database", "real.db", ARENA_DEMO_PROVIDER=url, status=2)
    assert arena_json(folder, "status", "--database", "real.db")["clock"] == "real"
