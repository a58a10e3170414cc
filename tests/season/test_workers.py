"""Workers on one PostgreSQL: stopped, killed, cut off, and every turn is played once, within every limit."""

import asyncio
import json
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import make_url

from arena.clock import timer
from arena.cohorts.freeze import code_version
from arena.config import load
from arena.errors import ArenaError
from arena.record.queries.decisions import read_turns
from arena.record.write.turn_queue import TurnJob, enqueue_turns, open_queue, run_worker
from arena.rounds.open_world import open_world
from arena.rounds.worker import JobOutcome, play_job, serve_turns
from arena.verify import verify
from markets.millionths import ONE
from tests.bundles import simulated
from tests.opened_record import OpenedRecord, new_record, opened_record
from tests.postgres import a_server, database
from tests.program.forked import Forked, Forks
from tests.program.rehearsal import clock_at, content, rehearse
from tests.program.running import arena_json
from tests.provider.server import FaultyProvider, faulty

PER_PROVIDER, BUDGET = 4, 0.5
CONFIG = """\
markets: {{venue: simulator, show: 6, simulator: {{start: 2026-01-04, weeks: 4, markets: 20, events: 8}}}}
cohorts: {{rounds: 3, count: 1, corrected_within: 8d}}
calls: {{at_once: 50, per_provider: {per_provider}}}
budget: {{arena: {budget}}}
run: {{workers: true, marks: 1w, scores: off,
  catalogue: off, quotes: off, resolutions: off, backup: off}}
agents:
{agents}
  - {{kind: crowd, of: [a0, a1]}}
  - kind: random
"""
AGENT = "  - {{name: a{n}, model: openai/plays, base_url: '{url}', price: {{input: 1, output: 4}}}}"
WORLD_ALONE = """\
database: {database}
markets: {{venue: simulator, show: 6, simulator: {{start: 2026-01-04, weeks: 2, markets: 15, events: 6}}}}
cohorts: {{rounds: 2, count: 1, corrected_within: 8d}}
run: {{workers: {workers}, marks: 1w, scores: off,
  catalogue: off, quotes: off, resolutions: off, backup: off}}
agents: [{{kind: random}}, {{kind: oracle}}, {{kind: kelly, of: oracle}}]
"""
AGENTS, LATENCY, PATIENCE = 8, 0.5, 120.0


@contextmanager
def process(forked: Forks, folder: Path, *words: str) -> Iterator[Forked]:
    """Yield a process of the arena, which is gone at the end."""
    running = forked.start(folder, *words)
    try:
        yield running
    finally:
        running.kill()


def until(is_so: Callable[[], bool], what: str) -> None:
    """Wait for something, but not for ever."""
    end = time.perf_counter() + PATIENCE
    while not is_so():
        assert time.perf_counter() < end, f"not in time: {what}"
        time.sleep(0.05)


def suspend(process: Forked, address: str, is_full: Callable[[], bool]) -> None:
    """Stop a process where it changes nothing: one within a change keeps its locks for minutes.

    Where the provider is full, nobody is between a reservation and its call, which would go out when woken.
    """
    changing = "SELECT count(*) FROM pg_stat_activity WHERE now() - xact_start > interval '300 ms'"
    with psycopg.connect(address, autocommit=True) as connection:
        while True:
            until(is_full, "as many calls as there may be")
            process.signal(signal.SIGSTOP)
            time.sleep(0.5)
            if connection.execute(f"{changing} AND datname = current_database()").fetchone() == (0,):
                return
            process.signal(signal.SIGCONT)
            time.sleep(0.1)


def expire(address: str, pid: str, *tables: str) -> None:
    """Expire the leases of a process, without the minute and a half of waiting.

    Nothing was heard of any worker in that time, so that all jobs under way are given to others.
    """
    over = "beat = NULL"
    mine = f"holder LIKE '%/{pid}/%'"
    with psycopg.connect(address, autocommit=True) as connection:
        for table in tables:
            connection.execute(f"UPDATE {table} SET {over} WHERE {mine}".encode())
        connection.execute("UPDATE procrastinate_jobs SET worker_id = NULL WHERE status = 'doing'")


def test_stopped_killed_and_cut_off_they_play_each_turn_once(tmp_path: Path, forked: Forks) -> None:
    """Four workers: one is stopped past its lease and woken, one is killed, and the database starts again."""
    with a_server() as server, faulty(LATENCY) as there:
        agents = "\n".join(AGENT.format(n=n, url=there.url) for n in range(AGENTS))
        text = CONFIG.format(per_provider=PER_PROVIDER, budget=BUDGET, agents=agents)
        (tmp_path / "config.yaml").write_text(text, "utf-8")
        address = database(server.get_uri(), "arena")
        plain = make_url(address).set(drivername="postgresql").render_as_string(hide_password=False)
        new_record(address)
        start = partial(process, forked, tmp_path)
        here = ("--database", address)
        with (
            start("run", "--worker", *here) as stopped,
            start("run", "--worker", *here) as killed,
            start("run", "--worker", *here),
            start("run", "--worker", *here),
            start("run", *here, "--log", "json") as run,
        ):
            suspend(stopped, plain, lambda: there.at_once == PER_PROVIDER)
            killed.kill()
            dead = timer()
            time.sleep(2 * LATENCY)  # what they had asked is answered, whether they hear it or not
            expire(plain, str(stopped.pid), "claim", "reservation")
            expire(plain, str(killed.pid), "reservation")  # it may have held every place at the provider
            until(lambda: len(there.log) >= 2 * PER_PROVIDER, "calls of the others")
            server.stop()
            server.start()
            time.sleep(6 * LATENCY)  # what was under way is kept by now
            expire(plain, "%", "claim")  # turns that were broken off; calls keep their places
            until(lambda: len(there.log) >= 3 * PER_PROVIDER, "calls after the database was back")
            stopped.signal(signal.SIGCONT)
            until(lambda: not run.runs, "the end of the season")
        assert run.status == 0, run.said()[-2000:]
        # Until it notices, the provider goes on with what the dead one had asked.
        alive = [call.at_once for call in there.log if not dead <= call.at <= dead + LATENCY]
        assert max(alive) <= PER_PROVIDER
        check(address, there)


def check(address: str, there: FaultyProvider) -> None:
    """Check that each turn is there once and true, no stored answer was asked again, no limit passed."""
    with opened_record(address) as record, record.reading() as connection:
        assert verify(connection) == []
        [stored] = record.cohorts()
        assert stored.ended_at is not None
        rounds = record.rounds(stored.id)
        assert [(stored_round.number, stored_round.done) for stored_round in rounds] == [
            (1, True),
            (2, True),
            (3, True),
        ]
        for stored_round in rounds:
            turns = record.read(read_turns, stored_round.id, list(stored.entrant_ids.values()))
            assert [turn.entrant for turn in turns] == list(stored.entrant_ids)
            assert {turn.decision.status for turn in turns} == {"played"}
        kept = [
            call
            for stored_round in rounds
            for calls in record.calls(stored_round.id, list(stored.entrant_ids.values())).values()
            for call in calls
        ]
        sums = "SELECT count(*), coalesce(sum(worst), 0) FROM reservation"
        lost = connection.exec_driver_sql(sums).one()
    answered = Counter(
        json.dumps([x.content for x in call.prompt.messages]) for call in kept if not call.error
    )
    asked = Counter(json.dumps([x["content"] for x in call.body["messages"]]) for call in there.log)
    assert answered.keys() == asked.keys()
    again = asked - answered
    assert again.total() <= lost[0], "asked again, though nothing was lost"
    spent = sum(call.cost if call.cost is not None else call.worst or 0 for call in kept) + lost[1]
    assert spent <= BUDGET * ONE
    assert not answered - asked


def test_a_replay_by_workers_is_the_replay(
    tmp_path: Path, new_server_record: Callable[[], str], forked: Forks
) -> None:
    """The workers need not have the recording."""
    folder = simulated(tmp_path / "recorded", weeks=4, markets=20, events=8)
    there = new_server_record()
    (tmp_path / "config.yaml").write_text("markets: {venue: simulator}\nagents: [{kind: market}]\n", "utf-8")
    words = ("study", "replay", str(folder), "--agents", "market,random")
    here = arena_json(tmp_path, *words, "--database", "here.db")
    start = partial(process, forked, tmp_path)
    with (
        start("run", "--worker", "--database", there) as one,
        start("run", "--worker", "--database", there) as other,
    ):
        found = arena_json(tmp_path, *words, "--database", there, "--workers")
    assert found["state_hash"] == here["state_hash"]
    assert found["turns"] == here["turns"] > 0
    assert (one.said() + other.said()).count(": played") == found["turns"]


def test_without_workers_the_turns_are_played_by_who_runs_the_schedule_which_says_so(
    tmp_path: Path, new_server_record: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are waited for once, not in every round; what is played is the same season."""
    monkeypatch.setattr("arena.rounds.dispatch.LONGEST_SILENCE", 0.2)
    monkeypatch.setattr("arena.rounds.dispatch.REQUEUE_EVERY", 0.1)
    address = new_server_record()
    itself = tmp_path / "itself"
    for folder, record, workers in ((itself, "arena.db", "false"), (tmp_path, address, "true")):
        folder.mkdir(exist_ok=True)
        text = WORLD_ALONE.format(database=record, workers=workers)
        (folder / "config.yaml").write_text(text, "utf-8")
        clock_at(folder)
    rehearse(itself)
    board, events = rehearse(tmp_path, address)
    assert content(tmp_path, address) == content(itself)
    assert [event.words for event in events if event.kind == "alone"] == [
        "no worker is running: turns are played here until one starts (`arena run --worker`)"
    ]
    assert (board.alone, board.rounds, board.failed) == (True, 2, 0)


def test_a_worker_of_another_version_plays_nothing_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("markets: {venue: simulator}\nagents: [{kind: market}]\n", "utf-8")
    config = load(tmp_path / "config.yaml")

    async def plays() -> None:
        with opened_record(config.database) as record:
            async with open_world(config, record) as world:
                job = TurnJob(1, 1, ("market",), "0.0.0")
                await play_job(job, lambda *_: None, world, record)

    with pytest.raises(ArenaError, match=r"arena run is paper-arena 0\.0\.0, this worker is") as error:
        asyncio.run(plays())
    assert error.value.hint == "install the same version on both, then restart the worker"


def test_a_worker_outlives_an_outage_that_is_longer_than_its_pool_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.record.write.turn_queue.POOL_WAIT", 0.2)
    monkeypatch.setattr("arena.rounds.worker.DATABASE_WAITS", (0.1,))
    (tmp_path / "config.yaml").write_text("markets: {venue: simulator}\nagents: [{kind: market}]\n", "utf-8")
    told = list[JobOutcome | str]()
    stop = asyncio.Event()

    async def heard(is_so: Callable[[], bool]) -> None:
        await asyncio.to_thread(until, is_so, f"more than {told}")

    async def outage(server: Any, address: str) -> None:
        async with open_queue(address) as app:
            await enqueue_turns(app, [TurnJob(1, 1, ("before",), code_version())])
        await heard(lambda: len(told) == 2)
        await asyncio.to_thread(server.stop)
        await heard(lambda: len(told) > 4)
        await asyncio.to_thread(server.start)
        async with open_queue(address) as app:
            for _ in range(50):  # a job that a lost connection interrupts is told, and delivered again
                await enqueue_turns(app, [TurnJob(1, 1, ("after",), code_version())])
                await asyncio.sleep(0.2)
                if isinstance(told[-1], JobOutcome):
                    break
        stop.set()

    async def go(server: Any, address: str, record: OpenedRecord) -> None:
        config = load(tmp_path / "config.yaml", database=address)
        async with asyncio.TaskGroup() as group:
            group.create_task(serve_turns(config, record, 1, 1.0, stop, told.append))
            group.create_task(outage(server, address))

    with a_server() as server:
        address = database(server.get_uri(), "arena")
        with opened_record(address) as record:
            asyncio.run(go(server, address, record))
    played = [x.agent for x in told if isinstance(x, JobOutcome)]
    assert (played[0], {*played[1:]}) == ("before", {"after"})
    assert len({x for x in told if isinstance(x, str)}) > 1


def test_turns_in_progress_end_though_their_queue_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """What they have asked is paid for, and the server may be back before they have to store it."""
    monkeypatch.setattr("arena.record.write.turn_queue.POOL_WAIT", 0.2)
    monkeypatch.setattr("arena.record.write.turn_queue.HEARTBEAT_SECONDS", 0.1)
    told = list[str]()

    async def go(server: Any, address: str) -> None:
        begun = asyncio.Event()

        async def play(_job: TurnJob, ended: Callable[[], None]) -> None:
            begun.set()
            await asyncio.to_thread(server.stop)
            await asyncio.sleep(1.0)  # longer than the worker needs to notice, and than its grace
            told.append("the turn has ended")
            ended()

        async with open_queue(address) as app:
            await enqueue_turns(app, [TurnJob(1, 1, ("slow",), code_version())])
            with pytest.raises(ArenaError, match="the queue's database can't be reached"):
                await run_worker(app, play, 1, 0.05)
        assert begun.is_set()
        await asyncio.to_thread(server.start)  # whoever opened it stops it

    with a_server() as server:
        address = database(server.get_uri(), "arena")
        asyncio.run(go(server, address))
    assert told == ["the turn has ended"]
