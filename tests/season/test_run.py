"""`arena run` over whole seasons on a pretended clock: nothing is forgotten, nothing is done twice."""

import asyncio
import threading
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from arena.calls.rate_limit import RunningCalls
from arena.cohorts.freeze import plan_of
from arena.config import load
from arena.operations import leader
from arena.operations.progress import RunEvent
from arena.operations.run import Run
from arena.record.files.backup import set_application_id
from arena.record.record import Record
from arena.rounds.open_world import open_world
from arena.rounds.season import play_season
from markets.millionths import ONE
from tests.opened_record import OpenedRecord
from tests.program.rehearsal import SUNDAY, clock_at, content, rehearse, rows
from tests.program.running import agents_of, arena, arena_json
from tests.provider.replies import fails
from tests.provider.server import faulty
from tests.records.tampering import tamper

WORLD = "{start: 2026-01-04, weeks: 3, markets: 20, events: 8}"
WEEKLY = "{marks: 1w, catalogue: off, quotes: off, resolutions: off, scores: off, backup: off}"
BUSY = "{marks: 3d, catalogue: 5d, quotes: 4d, resolutions: 2d, scores: 6d, backup: off, keep_quotes: 3d}"
CONFIG = """\
markets: {{venue: simulator, show: 8, closes_within: 20d, simulator: {world}}}
cohorts: {{rounds: {rounds}, count: {count}, bankroll: 1000, corrected_within: 8d}}
run: {run}
agents:
{agents}
"""
AGENTS = """\
  - kind: market
  - {kind: oracle, noise: 0.2}
  - {kind: kelly, of: oracle}
"""
HOLDS = "  - kind: market\n"
"""An agent that never bets."""
WEEK = timedelta(weeks=1)


class Killed(BaseException):
    """What no code of ours can catch."""


def an_arena(folder: Path, run: str = WEEKLY, agents: str = AGENTS, rounds: int = 3, count: int = 2) -> None:
    folder.mkdir(exist_ok=True)
    text = CONFIG.format(world=WORLD, run=run, agents=agents, rounds=rounds, count=count)
    (folder / "config.yaml").write_text(text, "utf-8")
    clock_at(folder)


def play_as_the_demo_does(folder: Path) -> None:
    config = load(folder / "config.yaml")
    record = OpenedRecord.at(folder / "demo.db")

    async def season() -> None:
        async with open_world(config, record) as world:
            plan = plan_of(config, world.now(), record.begun())
            await play_season(plan, world, record, None, lambda done, whole: None)

    asyncio.run(season())
    record.close()


def test_a_season_on_the_clock_is_the_one_that_the_demo_plays(tmp_path: Path) -> None:
    an_arena(tmp_path)
    play_as_the_demo_does(tmp_path)
    board, events = rehearse(tmp_path)
    ran = content(tmp_path)
    assert ran == content(tmp_path, "demo.db")
    assert (board.rounds, board.turns, board.failed) == (6, 18, 0)
    assert ran["differences"] == []
    assert all(ended for _, ended in ran["ended"])
    assert events[-1].kind == "over"


def test_an_old_row_that_rots_is_found_by_a_daily_run_and_told_until_it_is_mended(tmp_path: Path) -> None:
    """The first run reads all, each later one the next of fourteen parts, a row by its number."""
    an_arena(tmp_path, rounds=3, count=1)

    def run_on_day(day: int) -> dict[str, str]:
        """Return what was told of the check on a day."""
        clock_at(tmp_path, SUNDAY + timedelta(days=day))
        _, events = rehearse(tmp_path, once=True)
        return {event.kind: event.data["note"] for event in events if event.data.get("name") == "verify"}

    part = "new rows and part {} of 14 of the older ones are right"
    assert run_on_day(0) == {"job": "all rows are right"}
    assert [run_on_day(day) for day in (1, 2)] == [{"job": part.format(day)} for day in (1, 2)]
    rot = "UPDATE market_version SET rules = rules || '!' WHERE id = 3"
    tamper(tmp_path / "arena.db", rot)
    assert run_on_day(3) == {"job": part.format(3)}
    told = run_on_day(9)  # some days were missed
    assert "is inconsistent in one place, first market_version" in told["failed"]
    status = arena_json(tmp_path, "status", "--clock", "clock")
    assert [reason["code"] for reason in status["reasons"] if reason["health"] == "trouble"] == [
        "verify_failed"
    ]
    read_at = [datetime.fromisoformat(at) for at in status["verified"]["parts_at"]]
    assert [(at - SUNDAY).days for at in read_at] == [1, 2, 3, *[0] * 11]

    tamper(tmp_path / "arena.db", rot.replace("rules || '!'", "rtrim(rules, '!')"))
    assert run_on_day(10) == {"job": part.format(4)}
    said = " ".join(arena(tmp_path, "status", "--clock", "clock").stdout.split())
    read = (
        "new rows last verified 2026-01-14 00:00 UTC (0 s ago); "
        "every older row at least once since 2026-01-04 00:00 UTC"
    )
    assert read in said
    assert rows(tmp_path, "SELECT kind FROM incident WHERE ended_at IS NULL") == []


def test_a_failing_model_takes_no_time_on_a_pretended_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither does its provider, which asks to be left alone for half an hour each time."""
    started = asyncio.run
    monkeypatch.setattr(asyncio, "run", lambda main: started(asyncio.wait_for(main, 100)))
    monkeypatch.setattr("arena.calls.recorded_ask.RETRY_WAITS", (3_600.0, 3_600.0))
    with faulty() as provider:
        provider.script("eve", fails(429, retry_after="1800"))
        eve = f'  - {{name: eve, model: openai/eve, base_url: "{provider.url}"}}\n'
        an_arena(tmp_path, agents=eve, rounds=1, count=1)
        rehearse(tmp_path)
    assert rows(tmp_path, "SELECT count(*) > 2 FROM call WHERE error_code = 'rate_limit'") == [(1,)]


def test_calls_under_way_are_paid_once_when_the_lease_cannot_be_renewed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For longer than it is held; the answers come seconds after that."""
    keep = leader.keep_lease
    lost = list[int]()
    with faulty(latency=3.0) as provider:

        async def keep_until_asked(record: OpenedRecord, token: int) -> None:
            while not (lost or provider.log):  # noqa: ASYNC110 - the server is in a thread
                await asyncio.sleep(0.02)
            lost.append(token)
            if len(lost) > 1:
                await keep(record, token)

        monkeypatch.setattr(leader, "keep_lease", keep_until_asked)
        a, b = (f'  - {{name: {x}, model: openai/plays, base_url: "{provider.url}"}}\n' for x in "ab")
        an_arena(tmp_path, agents=a + b, rounds=1, count=1)
        board, events = rehearse(tmp_path)
        asked = len(provider.log)
    assert (board.failed, "superseded" in {event.kind for event in events}) == (0, True)
    assert rows(tmp_path, "SELECT count(*) FROM call WHERE error_code IS NULL") == [(asked,)] == [(2,)]


def test_prices_read_between_rounds_are_no_reason_to_refuse_a_backup(tmp_path: Path, thorough: bool) -> None:
    """Every second day with THOROUGH=1, twice a week otherwise."""
    often = "quotes: 12h, backup: 2d" if thorough else "quotes: 2d, backup: 4d"
    jobs = f"{{{often}, marks: 1w, scores: off, catalogue: off, resolutions: off}}"
    an_arena(tmp_path, jobs, rounds=2, count=1)
    board, events = rehearse(tmp_path)
    kept = [event for event in events if event.kind == "job" and "verified" in event.words]
    assert len(kept) > (5 if thorough else 2)
    assert board.failed == 0
    assert content(tmp_path)["differences"] == []


def test_told_to_stop_while_a_backup_is_made_it_breaks_it_off_and_nothing_went_wrong(tmp_path: Path) -> None:
    an_arena(tmp_path, WEEKLY.replace("backup: off", "backup: 1w"), rounds=1, count=1)
    loop = asyncio.new_event_loop()
    closed = threading.Event()
    running = list[Run]()

    def told(run: Run, event: RunEvent) -> None:
        running[:] = [run]

    def stopping() -> None:
        """Press Ctrl-C when the copy is written and about to be verified."""
        loop.call_soon_threadsafe(running[0].stop.signal)
        assert closed.wait(60)

    def close(calls: RunningCalls) -> None:
        closing(calls)
        closed.set()

    closing = RunningCalls.close
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RunningCalls, "close", close)
        patch.setattr("arena.record.files.integrity.STEPS_BETWEEN_CALLS", 100)
        patch.setattr("arena.record.files.backup.set_application_id", announced(set_application_id, stopping))
        patch.setattr(asyncio, "run", loop.run_until_complete)
        board, events = rehearse(tmp_path, tell=told)
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
    assert (board.failed, events[-1].kind) == (0, "stopped")
    assert list((tmp_path / "backups").iterdir()) == []
    [(due,)] = rows(tmp_path, "SELECT due_at FROM job WHERE name = 'backup' AND ended_at IS NULL")
    rehearse(tmp_path, once=True)
    name = f"arena-{datetime.fromisoformat(due):%Y%m%dT%H%M%SZ}.db"
    assert name in [path.name for path in (tmp_path / "backups").iterdir()], "it was due again"


def test_run_again_when_all_is_over_it_changes_nothing_and_says_so(tmp_path: Path) -> None:
    an_arena(tmp_path, rounds=1, count=1)
    rehearse(tmp_path)
    before = content(tmp_path)
    board, events = rehearse(tmp_path)
    assert content(tmp_path) == before
    assert (board.rounds, [event.kind for event in events]) == (0, ["started", "over"])


def killing(place: int) -> Callable[[], None]:
    """Return a function that raises Killed on its nth call."""
    left = [place]

    def kill() -> None:
        left[0] -= 1
        if left[0] == 0:
            raise Killed

    return kill


def announced(write: Any, before: Callable[[], None]) -> Any:
    def first(*words: Any, **more: Any) -> Any:
        before()
        return write(*words, **more)

    return first


def rehearse_until(folder: Path, record: str, before: Callable[[], None]) -> None:
    """Run with something called ahead of each write."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Record, "write", announced(Record.write, before))
        rehearse(folder, record)


def test_with_all_jobs_killed_before_any_write_it_ends_as_if_unbroken(tmp_path: Path, thorough: bool) -> None:
    """Before one in the midst of it, and before one of the last as it goes on; each with THOROUGH=1."""
    an_arena(tmp_path, BUSY, rounds=1, count=2 if thorough else 1)
    writes = [0]

    def count() -> None:
        writes[0] += 1

    rehearse_until(tmp_path, "whole.db", count)
    whole = content(tmp_path, "whole.db")
    assert whole["differences"] == []
    third = writes[0] // 3
    each = [(place,) for place in range(1, writes[0] + 1)]
    for places in each if thorough else [(third, writes[0] - third)]:
        clock_at(tmp_path)
        name = f"{places[0]}.db"
        for place in places:
            with pytest.raises(Killed):
                rehearse_until(tmp_path, name, killing(place))
        rehearse(tmp_path, name)
        assert content(tmp_path, name) == whole, f"killed before writes {places} of {writes[0]}"


def leaderboard(folder: Path) -> dict[str, Mapping[str, Any]]:
    """Return the rows of `arena board --json`, by agent."""
    return agents_of(arena_json(folder, "board")["leaderboard"])


@pytest.mark.parametrize("all_fail", [False, True])
def test_a_first_week_of_holds_or_of_failures_alone_leaves_the_cohort_open(
    tmp_path: Path, all_fail: bool
) -> None:
    (tmp_path / "broken.py").write_text("def decide(view, ask):\n    raise ValueError('no idea')\n", "utf-8")
    eve = '  - {kind: python, name: eve, function: "broken:decide"}\n'
    an_arena(tmp_path, agents=eve if all_fail else HOLDS, rounds=2, count=1)
    for weeks, rounds in ((0, 1), (1, 2)):
        for hours in (0, 7):  # at the round's time, and when nothing of it can be tried again
            if all_fail or (weeks, hours) != (1, 7):
                assert rows(tmp_path, "SELECT ended_at FROM cohort") == [(None,)] * (weeks + hours > 0)
            clock_at(tmp_path, SUNDAY + weeks * WEEK + timedelta(hours=hours))
            rehearse(tmp_path, once=True)
        assert rows(tmp_path, "SELECT done FROM round") == [(1,)] * rounds
        row = leaderboard(tmp_path)["eve" if all_fail else "market"]
        assert (row["turns"], row["failed"], row["bets"]) == (rounds, rounds * all_fail, 0)
        assert (row["pnl"], row["return_pct"]) == (0, 0), (
            "nothing was risked, and its bankroll is still there"
        )
    status = "failed" if all_fail else "played"
    assert rows(tmp_path, "SELECT status FROM turn") == [(status,)] * 2
    assert [ended is not None for _, ended in content(tmp_path)["ended"]] == [True]


def test_a_claimed_but_unfinished_last_round_leaves_the_cohort_open(tmp_path: Path) -> None:
    an_arena(tmp_path, agents=HOLDS, rounds=1, count=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Record, "add_turns", announced(Record.add_turns, killing(1)))
        with pytest.raises(Killed):
            rehearse(tmp_path)
    assert rows(tmp_path, "SELECT count(*) FROM claim") == [(1,)]
    assert rows(tmp_path, "SELECT ended_at FROM cohort") == [(None,)]
    row = leaderboard(tmp_path)["market"]
    assert (row["cohorts"], row["turns"], row["pnl"]) == (1, 0, None), "of what isn't there nothing is said"
    rehearse(tmp_path)
    assert rows(tmp_path, "SELECT status FROM turn") == [("played",)]
    assert content(tmp_path)["ended"] == [(1, SUNDAY)]
    assert leaderboard(tmp_path)["market"]["turns"] == 1


LEDGERS = """\
SELECT name, sum(balance) FROM entry JOIN entrant ON entrant.id = entrant_id WHERE (entrant_id, entry.number)
IN (SELECT entrant_id, max(number) FROM entry GROUP BY entrant_id) GROUP BY name
"""
OPEN = "SELECT count(*) FROM cohort WHERE ended_at IS NULL"


def test_the_last_settlement_shows_on_the_leaderboard(tmp_path: Path) -> None:
    an_arena(tmp_path, WEEKLY, rounds=1, count=2)
    rehearse(tmp_path, "whole.db")
    [(last,)] = rows(tmp_path, "SELECT max(at) FROM entry WHERE kind IN ('settle', 'refund')", "whole.db")
    clock_at(tmp_path, datetime.fromisoformat(last) - WEEK)
    rehearse(tmp_path, once=True)
    assert rows(tmp_path, OPEN) > [(0,)]
    before = leaderboard(tmp_path)
    rehearse(tmp_path)
    assert rows(tmp_path, OPEN) == [(0,)]
    after = leaderboard(tmp_path)
    paid = dict(rows(tmp_path, LEDGERS))
    for name in ("oracle", "kelly"):
        assert after[name]["pnl"] == (paid[name] - 2_000 * ONE) / ONE, "nothing is held: all is in cash"
        assert after[name]["pnl"] != before[name]["pnl"]
        assert after[name]["resolved"] > before[name]["resolved"]
