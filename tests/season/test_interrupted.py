"""An interrupted simulated season ends as an unbroken one, with the jobs that `arena run` has by default."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from arena.cohorts.schedule import Expected, Schedule, next_time_of_any
from arena.config import load
from arena.operations import jobs
from arena.operations.progress import RunEvent
from arena.operations.run import Run, run
from arena.operations.status import read_status
from arena.rounds.round import play_round
from tests.opened_record import OpenedRecord
from tests.program.rehearsal import content, rows
from tests.provider.replies import BEHAVIOURS, fails
from tests.provider.server import FaultyProvider, faulty

CONFIG = """\
markets: {{venue: simulator, show: 6, simulator: {{start: 2026-01-04, weeks: 4, markets: 30, events: 10}}}}
cohorts: {{rounds: 3, count: 2, bankroll: 1000, corrected_within: 8d}}
agents:
  - {{name: eve, model: openai/eve, base_url: "{url}"}}
  - {{kind: kelly, of: eve}}
"""
NOVEMBER = datetime(2026, 11, 28, 2, 10, tzinfo=UTC)
"""Long after the season, as the clocks of most who play one."""
ROUNDS = 6


@dataclass
class JumpingClock:
    """A clock that is at the next time of a schedule as soon as somebody sleeps until then."""

    at: datetime = NOVEMBER
    waits: list[timedelta] = field(default_factory=list)

    def now(self) -> datetime:
        return self.at

    async def wait(self, schedules: Mapping[str, Schedule], now: datetime, stop: asyncio.Event) -> None:
        later = next_time_of_any(schedules, now)
        assert later is not None
        self.waits.append(later - now)
        self.at = later

    def close(self) -> None:
        """Leave nothing behind."""


class Killed(BaseException):
    """What no code of ours can catch."""


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyProvider]:
    """Yield a provider whose model answers, until it is told otherwise."""
    monkeypatch.setattr("arena.calls.recorded_ask.RETRY_WAITS", (0.0, 0.0))
    with faulty() as server:
        server.script("eve", BEHAVIOURS["plays"])
        yield server


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what is in the record of the season that nothing interrupted."""
    folder = tmp_path_factory.mktemp("whole")
    with faulty() as server:
        server.script("eve", BEHAVIOURS["plays"])
        play(folder, server, JumpingClock())
    return content(folder)


def play(
    folder: Path,
    provider: FaultyProvider,
    clock: JumpingClock,
    leaves_failed: bool = False,
    tell: Callable[[str], None] = lambda _words: None,
    config: str = CONFIG,
) -> Run:
    """Run the folder's season until it ends, by a clock that stands long after it.

    `tell` hears of models that give no answer.
    """
    folder.mkdir(exist_ok=True)
    (folder / "config.yaml").write_text(config.format(url=provider.url), "utf-8")
    record = OpenedRecord.at(folder / "arena.db")

    def told(event: RunEvent) -> None:
        if event.kind in ("unanswered", "gave_up"):
            tell(event.words)

    running = Run(
        load(folder / "config.yaml"),
        record,
        lambda: clock,
        told,
        leaves_failed=leaves_failed,
        open_wake=lambda: clock,
    )
    try:
        asyncio.run(run(running))
    finally:
        record.close()
    return running


PlayStep = Callable[..., Any]


def broken_rounds(faults: list[type[BaseException]], first: int) -> PlayStep:
    """Play rounds, but raise these faults as the round of that number in order is to be played."""
    calls: list[int] = []

    async def broken(*words: Any) -> Any:
        calls.append(len(calls) + 1)
        if len(calls) >= first and faults:
            raise faults.pop()("Database error.")
        return await play_round(*words)

    return broken


def test_a_round_that_ends_with_an_error_and_is_put_off_changes_nothing(
    provider: FaultyProvider, whole: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "play_round", broken_rounds([RuntimeError] * 3, 2))
    clock = JumpingClock()
    play(tmp_path / "broken", provider, clock)
    assert len(clock.waits) >= 3, "nothing was put off"
    assert content(tmp_path / "broken") == whole
    assert content(tmp_path / "broken")["differences"] == []


def test_killed_as_rounds_are_played_it_changes_nothing(
    provider: FaultyProvider, whole: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "play_round", broken_rounds([Killed] * 2, 3))
    for _ in range(2):
        with pytest.raises(Killed):
            play(tmp_path / "broken", provider, JumpingClock())
    play(tmp_path / "broken", provider, JumpingClock())
    assert content(tmp_path / "broken") == whole


SHORT = CONFIG.replace("weeks: 4", "weeks: 12").replace("rounds: 3, count: 2", "rounds: 1, count: 1")
"""A season whose markets mostly end weeks after its last round."""


@pytest.mark.parametrize("later", [timedelta(), timedelta(days=2, hours=7)])
def test_what_is_open_after_the_last_round_is_settled_at_the_seasons_own_time(
    later: timedelta, provider: FaultyProvider, tmp_path: Path
) -> None:
    play(tmp_path, provider, JumpingClock(NOVEMBER + later), config=SHORT)
    looks = rows(tmp_path, "SELECT substr(at, 1, 16) FROM snapshot ORDER BY at")
    first = datetime(2026, 1, 4, tzinfo=UTC)
    assert looks == [(f"{first + timedelta(weeks=week):%Y-%m-%dT%H:%M}",) for week in range(len(looks))]
    assert rows(tmp_path, "SELECT count(*) FROM resolution WHERE learnt_at > '2026-06'") == [(0,)]
    assert content(tmp_path)["differences"] == []


AWAY = {"reset": 4, "500": 4, "html": 7, "503": 17}
"""What a server does that is away, and how often: three times are one try."""


@pytest.mark.parametrize(("fault", "times"), AWAY.items())
def test_a_model_that_is_away_for_a_while_is_waited_for(
    fault: str, times: int, provider: FaultyProvider, whole: dict[str, Any], tmp_path: Path
) -> None:
    provider.script("eve", *[BEHAVIOURS[fault]] * times, BEHAVIOURS["plays"])
    done = play(tmp_path / "broken", provider, JumpingClock())
    assert not done.progress.gave_up
    assert rows(tmp_path / "broken", "SELECT count(*) FROM turn WHERE status <> 'played'") == [(0,)]
    assert content(tmp_path / "broken")["hash"] == whole["hash"]
    assert content(tmp_path / "broken")["differences"] == []


def test_a_model_that_stays_away_stops_the_season_which_goes_on_at_the_next_start(
    provider: FaultyProvider, whole: dict[str, Any], tmp_path: Path
) -> None:
    provider.script("eve", fails(503))
    clock = JumpingClock()
    stopped = play(tmp_path / "broken", provider, clock)
    assert (stopped.progress.gave_up, stopped.progress.left) == (True, ("cohort 1",))
    assert timedelta(hours=6) <= clock.at - NOVEMBER <= timedelta(hours=7)
    assert rows(tmp_path / "broken", "SELECT count(*) FROM round") == [(1,)]

    provider.script("eve", BEHAVIOURS["plays"])
    assert not play(tmp_path / "broken", provider, JumpingClock()).progress.gave_up
    assert content(tmp_path / "broken")["hash"] == whole["hash"]


@pytest.mark.parametrize("fault", ["401", "402", "404"])
def test_what_a_person_has_to_put_right_stops_the_season_at_once_and_on_request_does_not(
    fault: str, provider: FaultyProvider, tmp_path: Path
) -> None:
    provider.script("eve", BEHAVIOURS[fault])
    clock = JumpingClock()
    assert play(tmp_path, provider, clock).progress.gave_up
    assert clock.waits == []
    assert rows(tmp_path, "SELECT count(*) FROM round") == [(1,)]
    assert not play(tmp_path, provider, JumpingClock(), leaves_failed=True).progress.gave_up
    assert rows(tmp_path, "SELECT count(*), min(done) FROM round") == [(ROUNDS, 1)]


def test_while_a_model_is_away_every_try_says_who_is_waited_for_and_since_when(
    provider: FaultyProvider, tmp_path: Path
) -> None:
    provider.script("eve", fails(503, "overloaded"))
    lines: list[str] = []
    assert play(tmp_path, provider, JumpingClock(), tell=lines.append).progress.gave_up
    assert "no answer for eve since 2026-11-28 02:10 UTC (overloaded:" in lines[0]
    assert "next try at 2026-11-28 02:11 UTC" in lines[0]
    assert "--leave-failed goes on without these turns" in lines[-1]


def test_status_names_the_model_that_a_season_waits_for_and_since_when(
    provider: FaultyProvider, tmp_path: Path
) -> None:
    provider.script("eve", fails(503, "overloaded"))
    assert play(tmp_path, provider, JumpingClock()).progress.gave_up
    record = OpenedRecord.at(tmp_path / "arena.db")
    status = record.read(read_status, NOVEMBER, Expected(live=False))
    record.close()
    reasons = {reason.code: reason for reason in status.reasons}
    away = reasons["server_failing"]
    assert away.text.endswith(" answers with errors: eve")
    assert away.cause.startswith("overloaded: ")
    assert (f"{away.since:%Y-%m-%d %H:%M}", away.waits) == ("2026-11-28 02:10", "round 1 of cohort 1")
    command = "run --round --at 2026-01-04T00:00Z"
    assert reasons["failed_turns"].command == command
    assert reasons["failed_turns"].text.startswith("turns failed, and can be tried again")
