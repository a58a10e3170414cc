"""A command beside a running arena, in a world where no time passes: nobody walks past what another holds."""

import asyncio
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from unittest.mock import patch

import pytest

from agents.model import Ask, Decision, View
from arena.clock import PretendedClock
from arena.cohorts.freeze import plan_of
from arena.config import load
from arena.errors import ArenaError
from arena.operations.leader import LEADER_LEASE
from arena.operations.progress import RunEvent, RunProgress
from arena.operations.run import Run, run
from arena.rounds import season
from arena.rounds.open_world import open_world
from arena.rounds.round import play_round
from arena.rounds.season import begin_due_cohort, next_decision_time, play_time
from tests.faults.little import play, write_config
from tests.opened_record import OpenedRecord, opened_record
from tests.program.rehearsal import SUNDAY, clock_at, content, rows
from tests.program.running import arena_json
from tests.records.little_world import with_players

WEEK = timedelta(weeks=1)
JOBS = ("start", "resolutions", "marks", "scores", "verify")
ELSEWHERE = "another-machine/1/another"
"""Of who holds that name nobody here knows whether it still lives."""


class Killed(BaseException):
    """What no code of ours can catch."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a season that was played whole, `whole.db`."""
    folder = tmp_path_factory.mktemp("beside")
    write_config(folder)
    with (folder / "config.yaml").open("a", encoding="utf-8") as config:
        config.write("run: {resolutions: 1w, backup: off, catalogue: off, quotes: off, scores: 1w}\n")
    with opened_record(folder / "whole.db") as record:
        play(record, folder)
    return folder


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Iterator[Path]:
    """A copy, and a season of which another process holds the first round: it ends as the whole one."""
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    play_first_round(tmp_path, cohort=1, killed=True)
    yield tmp_path
    assert rows(tmp_path, "SELECT status FROM turn WHERE status = 'failed'") == []
    assert content(tmp_path)["hash"] == content(tmp_path, "whole.db")["hash"]


def play_first_round(folder: Path, cohort: int, killed: bool = False) -> None:
    """Start a cohort and play its first round, or die in it as a process on another machine."""
    config = load(folder / "config.yaml")

    async def dies(_view: View, _ask: Ask) -> Decision:
        raise Killed

    async def go(record: OpenedRecord) -> None:
        async with open_world(config, record) as world:
            plan = plan_of(config, world.now(), record.begun())
            begin_due_cohort(SUNDAY + (cohort - 1) * WEEK, plan, record)

            doomed = with_players(world, lambda player, _name: replace(player, agent=dies))
            played = replace(doomed, holder=ELSEWHERE) if killed else world
            await play_round(record.cohorts()[cohort - 1], 1, played, record)

    with opened_record(folder / "arena.db") as record:
        if killed:
            with pytest.raises(Killed):
                asyncio.run(go(record))
        else:
            asyncio.run(go(record))


def let_go(folder: Path) -> None:
    """The claims of the one that died are free."""
    with opened_record(folder / "arena.db") as record:
        for stored in record.cohorts():
            for stored_round in record.rounds(stored.id):
                record.release(stored_round.id, list(stored.entrant_ids.values()))


@contextmanager
def alive(folder: Path) -> Iterator[None]:
    """The other process lives: it renews its claims again and again."""
    stop = threading.Event()

    def renew() -> None:
        with closing(sqlite3.connect(folder / "arena.db", timeout=30, isolation_level=None)) as record:
            while not stop.wait(0.5):
                record.execute("UPDATE claim SET beat = beat + 1")

    thread = threading.Thread(target=renew)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def test_arena_run_waits_for_the_round_and_once_says_what_it_left(folder: Path) -> None:
    here = ("run", "--once", "--database", "arena.db")
    with alive(folder):
        said = arena_json(folder, *here, status=2)
    assert (said["left"], said["rounds"]) == (["cohort 1", *JOBS], 0)
    assert rows(folder, "SELECT (SELECT count(*) FROM snapshot), count(*) FROM cohort") == [(1, 1)]
    let_go(folder)
    assert arena_json(folder, *here)["left"] == []
    (folder / "whole.db").unlink()
    arena_json(folder, "run", "--once", "--database", "whole.db")


def test_a_round_that_others_went_past_is_played_and_not_closed(folder: Path) -> None:
    play_first_round(folder, cohort=2)
    with pytest.raises(ArenaError, match="another process plays"):
        next_round(folder, SUNDAY + WEEK)
    let_go(folder)
    next_round(folder, SUNDAY + WEEK)
    with opened_record(folder / "arena.db") as record:
        play(record, folder)


def test_arena_round_plays_first_what_others_went_past(folder: Path) -> None:
    play_first_round(folder, cohort=2)
    let_go(folder)
    for _ in range(2):
        next_round(folder, None)
    played = rows(folder, "SELECT cohort_id, number FROM round WHERE done = 1 ORDER BY 1, 2")
    assert played == [(1, 1), (1, 2), (2, 1)]
    with opened_record(folder / "arena.db") as record:
        play(record, folder)


def next_round(folder: Path, at: datetime | None) -> None:
    """`arena run --round`, at a time or at the next."""
    config = load(folder / "config.yaml")

    async def go(record: OpenedRecord) -> None:
        async with open_world(config, record) as world:
            plan = plan_of(config, world.now(), record.begun())
            when = at or next_decision_time(plan, record, live=False, now=world.now())
            await play_time(when, plan, world, record)

    with opened_record(folder / "arena.db") as record:
        asyncio.run(go(record))


@pytest.mark.parametrize(("at", "cohorts"), [(SUNDAY, 1), (SUNDAY + WEEK, 2)], ids=["same", "next"])
def test_a_command_that_starts_after_a_death_elsewhere_waits_a_lease_and_says_so(
    at: datetime,
    cohorts: int,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(season, "LOOK", 0.0)
    moments = count(0, 10)
    config = load(folder / "config.yaml")

    async def go(record: OpenedRecord) -> list[tuple[int, bool]]:
        async with open_world(config, record) as world:
            plan = plan_of(config, world.now(), record.begun())
            reports = await season.play_time_when_free(at, plan, world, record)
            return [(len(report.turns), report.done) for report in reports]

    with opened_record(folder / "arena.db") as opened:
        record = opened.timed_by(lambda: float(next(moments)))
        assert asyncio.run(go(record)) == [(3, True)] * cohorts
        [message] = caplog.messages
        assert message.startswith("another process plays market, oracle, kelly in round 1 of cohort 1")
        assert message.endswith("or has died; waiting up to 90 s for a sign of it")
        play(opened, folder)


LITTLE = """\
markets: {venue: simulator, show: 3, simulator: {start: 2026-01-04, weeks: 3, markets: 10, events: 3}}
cohorts: {rounds: 1, count: 1}
run: {scores: off, backup: off}
agents: [{kind: market}, {kind: random}]
"""


@dataclass
class PatientRun:
    """`arena run --once` by a timer on which its pauses have passed at once; what it told, and its pauses."""

    folder: Path
    told: list[RunEvent] = field(default_factory=list)
    pauses: list[float] = field(default_factory=list)

    def play(self) -> RunProgress:
        """Run it, long after the season; return how it stands then."""
        clock_at(self.folder, SUNDAY + 20 * WEEK)
        config = replace(load(self.folder / "config.yaml"), database=str(self.folder / "arena.db"))
        with opened_record(config.database) as opened:
            record = opened.timed_by(lambda: sum(self.pauses))
            clock = PretendedClock.read(self.folder / "clock")
            running = Run(config, record, lambda: clock, self.told.append, once=True)

            async def pause(length: timedelta, _stop: asyncio.Event) -> None:
                self.pauses.append(length.total_seconds())
                running.busy_until.clear()

            with patch("arena.operations.run.sleep_unless_stopped", pause):
                asyncio.run(run(running))
            return running.progress

    def words(self, kind: str) -> list[str]:
        """Return what was told of a kind."""
        return [event.words for event in self.told if event.kind == kind]


@pytest.fixture
def patient(tmp_path: Path) -> PatientRun:
    """A run of a season of one round, in a folder of its own."""
    (tmp_path / "config.yaml").write_text(LITTLE, "utf-8")
    return PatientRun(tmp_path)


def test_arena_run_once_waits_for_a_leader_that_may_have_died_elsewhere_and_says_so(
    patient: PatientRun,
) -> None:
    with opened_record(patient.folder / "arena.db") as record:
        record.take_lease(LEADER_LEASE, ELSEWHERE)
    assert patient.play().turns == 2
    [words] = patient.words("standby")
    assert words.endswith("or has died on another machine; waiting up to a minute for a sign of it")
    assert sum(patient.pauses) == 60


def test_arena_run_once_waits_for_turns_whose_player_may_have_died_elsewhere_and_says_so(
    patient: PatientRun,
) -> None:
    play_first_round(patient.folder, cohort=1, killed=True)
    progress = patient.play()
    assert (progress.turns, progress.left) == (2, ())
    [words] = {*patient.words("busy")}
    assert words.endswith("market, random, or has died; waiting up to 90 s for a sign of it")
    assert sum(patient.pauses) == 90
