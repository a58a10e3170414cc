"""The proxy of faults: each happens as it says, to the process that it names; a seed draws the same ones."""

import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import psycopg
import pytest
from sqlalchemy import make_url

from tests.faults.mishaps import drawn_plan, drawn_roster
from tests.faults.postgresql_proxy import KINDS, SIDES, Fault, Kind, PostgreSqlProxy, Side, proxied
from tests.program.forked import quick_program

OPEN_TRANSACTIONS = """SELECT count(*) FROM pg_stat_activity
    WHERE application_name = 'ann.1' AND state = 'idle in transaction'"""


@dataclass
class Behind:
    """A database behind a proxy: how it is reached through it, and past it."""

    proxy: PostgreSqlProxy
    direct: str

    def connect(self, name: str, autocommit: bool = False) -> "psycopg.Connection[tuple[Any, ...]]":
        """Connect through the proxy, as the process of that name."""
        url = make_url(self.direct).set(host="127.0.0.1", port=self.proxy.port, query={})
        address = url.render_as_string(hide_password=False)
        return psycopg.connect(address, application_name=name, autocommit=autocommit)

    def ask(self, query: str) -> int:
        """Return a number that the server says past the proxy."""
        with psycopg.connect(self.direct) as connection:
            row = connection.execute(query.encode()).fetchone()
        assert row is not None
        return int(row[0])


@pytest.fixture
def behind(new_database: Callable[[], str]) -> Iterator[Behind]:
    """An empty table of notes behind a proxy."""
    url = make_url(new_database()).set(drivername="postgresql")
    direct = url.render_as_string(hide_password=False)
    with psycopg.connect(direct) as connection:
        connection.execute("CREATE TABLE note (number int)")
    with proxied(Path(str(url.query["host"])) / ".s.PGSQL.5432") as proxy:
        yield Behind(proxy, direct)


def test_a_seed_always_draws_the_same_plan_and_the_plans_have_every_fault() -> None:
    drawn = set[Kind]()
    for seed in range(40):
        plans = []
        for _ in range(2):
            chance = Random(seed)
            roster = drawn_roster(chance)
            plans.append(drawn_plan(chance, roster, 20))
        assert plans[0] == plans[1]
        drawn |= {mishap.fault.kind for mishap in plans[0] if mishap.fault is not None}
    assert drawn == set(KINDS)


@pytest.mark.parametrize(("kind", "kept"), [("before commit", 0), ("after commit", 1)])
def test_a_client_is_cut_at_the_commit_that_a_fault_waits_for(kind: Kind, kept: int, behind: Behind) -> None:
    with behind.connect("ann.1") as ann, behind.connect("bob.1") as bob:
        behind.proxy.do(Fault(kind, "ann", skipped=1))
        bob.execute("INSERT INTO note VALUES (1)")
        bob.commit()
        ann.execute("INSERT INTO note VALUES (2)")
        ann.commit()
        ann.execute("INSERT INTO note VALUES (3)")
        with pytest.raises(psycopg.OperationalError):
            ann.commit()
    assert behind.ask("SELECT count(*) FROM note WHERE number < 3") == 2
    assert behind.ask("SELECT count(*) FROM note WHERE number = 3") == kept


def test_a_late_commit_takes_effect_after_its_client_was_cut(behind: Behind) -> None:
    with behind.connect("ann.1") as ann:
        behind.proxy.do(Fault("late commit", "ann", seconds=0.5))
        ann.execute("INSERT INTO note VALUES (1)")
        with pytest.raises(psycopg.OperationalError):
            ann.commit()
    assert behind.ask("SELECT count(*) FROM note") == 0
    with psycopg.connect(behind.direct) as other:
        other.execute("LOCK TABLE note IN ACCESS EXCLUSIVE MODE")  # waits for the late one
        assert other.execute("SELECT count(*) FROM note").fetchone() == (1,)


def test_a_statement_that_is_a_transaction_of_its_own_is_done_and_never_answered(behind: Behind) -> None:
    with behind.connect("ann.1", autocommit=True) as ann:
        behind.proxy.do(Fault("unanswered", "ann"))
        with pytest.raises(psycopg.OperationalError):
            ann.execute("INSERT INTO note VALUES (%s)", (1,))
    assert behind.ask("SELECT count(*) FROM note") == 1


@pytest.mark.parametrize(
    "fault",
    [
        Fault("reset", "ann"),
        Fault("end", "ann"),
        Fault("half close", "ann", towards="client"),
        Fault("half close", "ann", towards="server"),
        Fault("vanish", "ann", seconds=0.1),
    ],
    ids=str,
)
def test_a_connection_that_is_cut_is_no_use_any_more_and_a_new_one_is(fault: Fault, behind: Behind) -> None:
    with behind.connect("ann.1") as ann, behind.connect("bob.1") as bob:
        behind.proxy.do(fault)
        with pytest.raises(psycopg.OperationalError):
            ann.execute("SELECT 1")
        bob.execute("SELECT 1")
    with behind.connect("ann.1") as again:
        again.execute("SELECT 1")


def test_the_server_keeps_the_transaction_of_a_client_that_it_has_not_heard_end(behind: Behind) -> None:
    with behind.connect("ann.1") as ann:
        ann.execute("INSERT INTO note VALUES (1)")
        behind.proxy.do(Fault("orphan", "ann", seconds=60.0))
        with pytest.raises(psycopg.OperationalError):
            ann.commit()
    assert behind.ask(OPEN_TRANSACTIONS) == 1


@pytest.mark.parametrize("towards", SIDES)
def test_a_stall_lets_nothing_pass_until_it_is_over(towards: Side, behind: Behind) -> None:
    answered = threading.Event()

    def ask() -> None:
        ann.execute("SELECT 1")
        answered.set()

    with behind.connect("ann.1") as ann:
        behind.proxy.do(Fault("stall", "ann", 60.0, towards))
        asking = threading.Thread(target=ask)
        asking.start()
        assert not answered.wait(0.2)
        behind.proxy.calm()
        assert answered.wait(10.0)
        asking.join()


def test_a_drip_brings_the_same_bytes(behind: Behind) -> None:
    with behind.connect("ann.1") as ann:
        behind.proxy.do(Fault("drip", "ann", 60.0))
        assert ann.execute("SELECT repeat('x', 300)").fetchone() == ("x" * 300,)


def test_no_connection_is_let_in_until_it_is(behind: Behind) -> None:
    behind.proxy.do(Fault("refuse", "ann", 60.0))
    with pytest.raises(psycopg.OperationalError):
        behind.connect("bob.1")
    behind.proxy.calm()
    with behind.connect("bob.1") as bob:
        bob.execute("SELECT 1")


@pytest.mark.thorough
def test_seasons_behind_the_proxy_end_as_if_unbroken() -> None:
    line = [*quick_program("benchmarks.postgresql"), "--minutes", "5"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=2_000)
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-2_000:]
    assert " 0 failed" in done.stdout
