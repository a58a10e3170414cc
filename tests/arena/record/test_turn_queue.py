"""The queue's tables go along with the library: what an older one made is brought to what this one makes."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from procrastinate.schema import SchemaManager

from arena.errors import ArenaError
from arena.record.write.turn_queue import (
    TurnJob,
    agents_of_open_jobs,
    count_open_jobs,
    enqueue_turns,
    open_queue,
    queue_address,
    run_worker,
    upgrade_queue,
)
from tests.opened_record import new_record
from tests.program.running import arena_json

JOBS = [TurnJob(1, 1, ("ann", "bob"), "0.1.0"), TurnJob(1, 1, ("eve",), "0.1.0")]
OTHER_ROUND = TurnJob(1, 11, ("fay",), "0.1.0")
CATALOGUE = (
    "table_name, column_name, data_type FROM information_schema.columns WHERE table_name ~ '^procrastinate'",
    "proname, prosrc FROM pg_proc WHERE proname ~ '^procrastinate'",
    "indexname, indexdef FROM pg_indexes WHERE tablename ~ '^procrastinate'",
    "tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE tgname ~ '^procrastinate'",
    "typname, enumlabel FROM pg_enum JOIN pg_type ON pg_type.oid = enumtypid",
    "obj_description('procrastinate_jobs'::regclass, 'pg_class')",
)


def made_until(address: str, last: str) -> None:
    """Create the tables as the library's migrations up to that one did; none says how far they are."""
    with psycopg.connect(queue_address(address)) as connection:
        for path in sorted(Path(SchemaManager.get_migrations_path()).glob("*.sql")):
            if path.name[: len(last)] <= last:
                connection.execute(path.read_bytes())
                connection.commit()


def catalogue(address: str) -> list[list[Any]]:
    """Return all that the server knows of the queue's tables."""
    with psycopg.connect(queue_address(address)) as connection:
        return [sorted(connection.execute(f"SELECT {query}".encode()).fetchall()) for query in CATALOGUE]


async def queued(address: str, jobs: list[TurnJob]) -> tuple[int, set[str]]:
    """Put jobs into the queue, and return its jobs of the first round."""
    async with open_queue(address) as app:
        await enqueue_turns(app, jobs)
        return await count_open_jobs(app, 1, 1), await agents_of_open_jobs(app, 1, 1)


@pytest.mark.parametrize("last", ["03.01.00_50", "03.02.00_01", "03.02.00_50", "03.04.00_01", "03.04.00_50"])
def test_tables_of_an_older_library_become_those_of_this_one_with_the_jobs_in_them(
    new_database: Callable[[], str], last: str
) -> None:
    old = new_database()
    new = new_database()
    made_until(old, last)
    with psycopg.connect(queue_address(old)) as connection:
        connection.execute(
            "INSERT INTO procrastinate_jobs (queue_name, task_name, queueing_lock) VALUES ('turns', 'a', %s)",
            [JOBS[0].lock],
        )
    assert asyncio.run(queued(old, [*JOBS, OTHER_ROUND])) == (2, {"ann", "bob", "eve"})
    assert asyncio.run(queued(new, [])) == (0, set())
    assert catalogue(old) == catalogue(new)
    assert not upgrade_queue(old)


def test_an_upgrade_that_fails_midway_goes_on_from_where_it_came_to(
    new_database: Callable[[], str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    address = new_database()
    assert not upgrade_queue(address)  # nobody asked for any
    assert upgrade_queue(address, make=True)
    known = sorted(Path(SchemaManager.get_migrations_path()).glob("*.sql"))
    (tmp_path / known[-1].name).write_bytes(known[-1].read_bytes())
    (tmp_path / "03.98.00_01_pre_one.sql").write_text("CREATE TABLE procrastinate_one (id int)", "utf-8")
    two = tmp_path / "03.98.00_50_post_two.sql"
    two.write_text("CREATE TABLE procrastinate_two (id int); SELECT 1/0", "utf-8")
    monkeypatch.setattr(SchemaManager, "get_migrations_path", lambda: str(tmp_path))
    with pytest.raises(psycopg.errors.DivisionByZero):
        upgrade_queue(address)
    two.write_text("CREATE TABLE procrastinate_two (id int)", "utf-8")
    assert upgrade_queue(address)
    assert not upgrade_queue(address)
    monkeypatch.undo()
    with pytest.raises(ArenaError, match="newer procrastinate"):
        upgrade_queue(address)


def test_the_command_upgrades_the_queue_beside_the_record(
    new_database: Callable[[], str], tmp_path: Path
) -> None:
    address = new_database()
    new_record(address)
    made_until(address, "03.02.00_50")
    done = arena_json(tmp_path, "admin", "backup", "--upgrade", "--database", address)
    assert (done["from"] == done["to"], done["queue"]) == (True, True)
    assert not arena_json(tmp_path, "admin", "backup", "--upgrade", "--database", address)["queue"]


def test_a_worker_takes_jobs_while_fewer_turns_than_it_plays_at_once_have_not_ended(
    new_database: Callable[[], str],
) -> None:
    """A job whose last turn takes long keeps one place, and no job is taken for which there is none."""
    jobs = [TurnJob(1, 1, (f"a{n}", f"b{n}"), "0.1.0") for n in range(3)]
    taken = asyncio.Queue[tuple[TurnJob, Callable[[], None]]]()
    all_done = asyncio.Event()

    async def play(job: TurnJob, ended: Callable[[], None]) -> None:
        taken.put_nowait((job, ended))
        await all_done.wait()

    async def go(address: str) -> int:
        async with open_queue(address) as app:
            await enqueue_turns(app, jobs)
            working = asyncio.create_task(run_worker(app, play, 3, 5.0))
            (first, end_a_turn), (second, _) = await taken.get(), await taken.get()
            await asyncio.sleep(0.2)
            assert taken.empty(), "four turns, where three are played at once"

            end_a_turn()
            await asyncio.sleep(0.2)
            assert taken.empty(), "three are left"

            end_a_turn()
            third, _ = await taken.get()
            assert [first, second, third] == jobs
            assert await count_open_jobs(app, 1, 1) == 3

            all_done.set()
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
            return await count_open_jobs(app, 1, 1)

    assert asyncio.run(go(new_database())) == 0


def test_a_session_that_is_cut_off_as_it_takes_a_job_does_not_keep_it_for_long(
    new_database: Callable[[], str],
) -> None:
    async def timeout(address: str) -> str:
        async with open_queue(address) as app:
            row = await app.connector.execute_query_one_async("SHOW idle_in_transaction_session_timeout")
            return str(row["idle_in_transaction_session_timeout"])

    assert asyncio.run(timeout(new_database())) == "1min"
