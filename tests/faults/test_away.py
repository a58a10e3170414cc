"""The record is away at any one transaction of `arena run`, which goes on and ends as if it were not."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection, event, make_url

from arena.clock import PretendedClock
from arena.config import load
from arena.errors import ArenaError
from arena.operations.progress import RunEvent, RunProgress
from arena.operations.run import Run, run
from arena.rounds.dispatch import dispatch_to_workers
from arena.rounds.world import Dispatch
from tests.faults.postgresql_proxy import Fault, PostgreSqlProxy, proxied
from tests.opened_record import make_queue, opened_record
from tests.program.rehearsal import SUNDAY, clock_at
from tests.records.little_world import LittleVenue, a_cohort, a_world, begun, open_round

CONFIG = """\
markets: {{venue: simulator, show: 3, simulator: {{start: 2026-01-04, weeks: 3, markets: 10, events: 3}}}}
cohorts: {{rounds: 1, count: 1}}
run: {{scores: off, backup: off, workers: {workers}}}
agents: [{{kind: market}}, {{kind: random}}]
"""
AFTER = SUNDAY + timedelta(weeks=20)
"""The whole season is due at once, and each job once."""
AWAY = ArenaError("unreachable", "the record can't be reached")


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for real seconds here."""
    for name in ("run.TROUBLED", "leader.LOOK"):
        monkeypatch.setattr(f"arena.operations.{name}", timedelta())


def played(folder: Path, away_at: int = 0, **more: Callable[..., object]) -> tuple[str, int, RunProgress]:
    """Play the season of a folder; return its state, how many transactions it took, and how it went."""
    clock_at(folder, AFTER)
    begun = 0

    def begin(_: Connection) -> None:
        nonlocal begun
        begun += 1
        if begun == away_at:
            raise AWAY

    config = replace(load(folder / "config.yaml"), database=str(folder / f"{away_at}.db"))
    with opened_record(config.database) as record:
        event.listen(record.engine, "begin", begin)
        running = Run(config, record, lambda: PretendedClock.read(folder / "clock"), lambda _: None)
        for name, value in more.items():
            setattr(running, name, value)
        asyncio.run(run(running))
        event.remove(record.engine, "begin", begin)
        return record.state_hash(), begun, running.progress


def test_away_at_any_transaction_it_goes_on_and_ends_as_if_it_were_not(
    tmp_path: Path, thorough: bool
) -> None:
    (tmp_path / "config.yaml").write_text(CONFIG.format(workers="false"), "utf-8")
    whole, count, progress = played(tmp_path)
    assert progress.turns == 2
    assert count > 50
    first_and_last = (1, 2, count - 1, count)
    for away_at in range(1, count + 1) if thorough else first_and_last:
        assert played(tmp_path, away_at)[0] == whole, f"away at transaction {away_at}"


def test_a_queue_that_is_away_as_it_takes_the_lead_is_tried_again(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(CONFIG.format(workers="true"), "utf-8")
    told = list[RunEvent]()
    opened = 0

    @asynccontextmanager
    async def open_dispatch(*_: object) -> AsyncIterator[Dispatch | None]:
        nonlocal opened
        opened += 1
        if opened == 1:
            raise AWAY
        yield None

    _, _, progress = played(tmp_path, tell=told.append, open_dispatch=open_dispatch)
    assert (opened, progress.turns) == (2, 2)
    assert [event.words for event in told if event.kind == "failed"] == [
        "the record: the record can't be reached"
    ]


def test_a_queue_that_goes_away_while_turns_are_waited_for_is_said_in_words(
    new_server_record: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.record.write.turn_queue.POOL_WAIT", 0.5)
    server = new_server_record()
    url = make_url(server)
    with opened_record(server) as record:
        stored = begun(record, a_cohort(("ann",)))
        open_round(stored, a_world(LittleVenue(), {}), record)
        [stored_round] = record.rounds()

    async def wait_in_vain(proxy: PostgreSqlProxy) -> None:
        address = url.set(host="127.0.0.1", port=proxy.port, query={})
        database = address.render_as_string(hide_password=False)
        async with dispatch_to_workers(database, "1", lambda _: None) as dispatch:
            proxy.do(Fault("refuse", "", 60.0))
            proxy.do(Fault("reset", ""))
            await dispatch(stored, stored_round, ["ann"], lambda: ["ann"], False)

    with proxied(Path(str(url.query["host"])) / ".s.PGSQL.5432") as proxy:
        with pytest.raises(ArenaError, match="the queue's database can't be reached") as caught:
            asyncio.run(wait_in_vain(proxy))
        assert caught.value.code == "unreachable"


def test_cut_off_at_any_statement_as_the_queue_is_made_it_says_so(
    new_server_record: Callable[[], str],
) -> None:
    url = make_url(new_server_record())
    with proxied(Path(str(url.query["host"])) / ".s.PGSQL.5432") as proxy:
        address = url.set(host="127.0.0.1", port=proxy.port, query={})
        database = address.render_as_string(hide_password=False)
        for skipped in range(14):  # the last one makes all tables
            proxy.do(Fault("unanswered", "", skipped=skipped))
            with pytest.raises(ArenaError, match="can't be reached"):
                make_queue(database)
        assert make_queue(database)
