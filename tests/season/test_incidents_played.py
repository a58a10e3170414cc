"""Incidents as an operator meets them: each is played, and told with its cause, since when, and what helps.

`arena status`, its JSON, the health endpoint and the webhook say the same, and nothing once it is over.
"""

import asyncio
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from procrastinate.exceptions import ConnectorException

from arena.clock import SystemClock
from arena.operations.publisher import publish_due
from arena.operations.run import Run, run
from arena.operations.status import status_source
from arena.operations.webhook import Webhook, send_due
from arena.rounds.error_text import error_text
from tests.opened_record import opened_record
from tests.program.forked import Forks
from tests.program.rehearsal import SUNDAY, clock_at, rehearse, rows
from tests.program.running import arena
from tests.provider.replies import BEHAVIOURS, GOOD, fails, says
from tests.provider.server import FaultyProvider
from tests.serving import Reply, Request, Server, serving
from tests.trusted import load_trusted
from tests.venue_server.polymarket import CLOB, GAMMA, PolymarketWire, a_book, a_market
from tests.venue_server.server import RESET, VenueServer, status

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
WEEK = timedelta(weeks=1)
KEY = "cn4ry-0f-the-key"
HOOK_SECRET = "canary-of-the-webhook"
CONFIG = """\
markets:
  venue: polymarket
  closes_within: 3000d
  min_volume: 0
  polymarket: {{url: "{venue}{gamma}", book_url: "{venue}{clob}", per_second: 1000}}
cohorts: {{first: 2026-01-04, decide: 7d, rounds: 3, count: 1}}
run: {{{run}}}
watch: {{webhook: $ARENA_WEBHOOK}}
{more}agents:
  - kind: market
{agents}"""
AGENT = (
    '  - {{name: {name}, model: openai/{name}, base_url: "{url}", price: {{input: 1, output: 1}}, '
    "api_key_env: CANARY_AUTH_KEY}}\n"
)
ONLY_BACKUP = "backup: 1d, quotes: off, resolutions: off, marks: off, scores: off, catalogue: off"


class Receiver(Server):
    """A webhook's other side: it keeps the messages that it was told."""

    def __init__(self) -> None:
        super().__init__()
        self.told = list[dict[str, Any]]()

    def respond(self, request: Request) -> Reply:
        self.told.append(json.loads(request.body))
        return Reply(b"")

    def of(self, event: str) -> list[dict[str, Any]]:
        """Return the messages of an event."""
        return [message for message in self.told if message["event"] == event]


@dataclass
class Arena:
    """A folder with a live arena at a venue, a provider and a webhook on this machine."""

    folder: Path
    venue: VenueServer
    provider: FaultyProvider
    receiver: Receiver
    wire: PolymarketWire = field(default_factory=PolymarketWire)
    record: str = "arena.db"
    environ: dict[str, str] = field(default_factory=dict)

    def open(
        self, *agents: str, markets: int = 2, run: str = "backup: off", more: str = "", url: str = ""
    ) -> None:
        """Write the config, and let the venue offer some markets."""
        blocks = [AGENT.format(name=name, url=url or self.provider.url) for name in agents]
        address = {"venue": self.venue.url, "gamma": GAMMA, "clob": CLOB}
        text = CONFIG.format(run=run, more=more, agents="".join(blocks), **address)
        (self.folder / "config.yaml").write_text(text, "utf-8")
        if self.wire.markets:
            return

        names = [str(1001 + number) for number in range(markets)]
        self.wire.markets = [a_market(name, endDate="2026-12-31T00:00:00Z") for name in names]
        self.wire.books = [a_book(name, bids=[("0.40", "900")], asks=[("0.42", "900")]) for name in names]
        self.wire.serve(self.venue)

    def once(self, at: datetime) -> list[str]:
        """Do what is due at a time, as cron has it done; what failed, in words."""
        clock_at(self.folder, at)
        _, events = rehearse(self.folder, self.record, once=True)
        return [event.words for event in events if event.kind == "failed"]

    def command(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run `arena` in the folder, with the keys."""
        hook = self.environ["ARENA_WEBHOOK"]
        return arena(self.folder, *words, CANARY_AUTH_KEY=KEY, ARENA_WEBHOOK=hook)

    def status(self, *words: str) -> dict[str, Any]:
        """Return `arena status` as JSON, after checking that its text agrees and holds no secret."""
        more = (*words, "--clock", "clock", "--database", self.record)
        shown = self.command("status", *more)
        told = self.command("status", "--json", *more)
        found: dict[str, Any] = json.loads(told.stdout)
        poor = found["health"] in ("late", "trouble")
        assert shown.returncode == told.returncode == (2 if poor else 0), shown.stderr

        text = " ".join(shown.stdout.split())
        for reason in found["reasons"]:
            for part in ("text", "cause", "waits"):
                assert " ".join((reason[part] or "").split()) in text
            for part in ("since", "next_try"):
                if reason[part]:
                    assert f"{reason[part][:16].replace('T', ' ')} UTC" in text
            if reason["command"]:
                assert reason["command"].removeprefix("arena ") in text
                named = " --database URL" if "://" in self.record else f" --database {self.record}"
                assert reason["command"].endswith(named)
                reason["command"] = reason["command"].removesuffix(named)  # a message names no record
        said = shown.stdout + told.stdout + json.dumps(self.receiver.told)
        assert KEY not in said
        assert HOOK_SECRET not in said
        assert "ConnectorException: Database error." not in said
        return found

    def reasons(self, *codes: str) -> dict[str, dict[str, Any]]:
        """Return the status's reasons by code, after checking that there are none but these and the usual."""
        found = {reason["code"]: reason for reason in self.status()["reasons"]}
        usual = {"not_running", "no_good_turn", "disk", "backup"}
        assert set(found) - usual == set(codes), found
        return found


@pytest.fixture
def world(
    tmp_path: Path, venue: VenueServer, provider: FaultyProvider, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Arena]:
    monkeypatch.setattr("arena.calls.recorded_ask.RETRY_WAITS", (0.01, 0.01))
    for name in ("eve", "bob"):
        provider.script(name, says(GOOD))
    clock_at(tmp_path)
    with serving(Receiver()) as receiver:
        environ = {"CANARY_AUTH_KEY": KEY, "ARENA_WEBHOOK": f"{receiver.url}/{HOOK_SECRET}"}
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        yield Arena(tmp_path, venue, provider, receiver, environ=environ)


def instant(at: datetime) -> str:
    return at.isoformat()


def over(world: Arena, at: datetime) -> None:
    """Check that no incident is going on, and that each has its end."""
    found = world.status()
    assert [told["kind"] for told in found["incidents"] if told["ended_at"] is None] == []
    shown = world.command("status", "--incidents", "--database", world.record).stdout
    assert f"until {at:%Y-%m-%d %H:%M} UTC" in shown


def test_1_a_key_that_is_refused(world: Arena) -> None:
    world.open("eve")
    world.provider.script("eve", BEHAVIOURS["401"])
    world.once(SUNDAY)
    reason = world.reasons("key_refused")["key_refused"]
    host = world.provider.url.removeprefix("http://").removesuffix("/v1")
    assert reason["text"] == f"{host} refuses the key of eve: CANARY_AUTH_KEY"
    assert reason["cause"].startswith("auth: Incorrect API key provided: [hidden]")
    assert len(reason["cause"]) < 230
    assert (reason["health"], reason["waits"]) == ("trouble", "round 1 of cohort 1")
    assert (reason["since"][:16], reason["next_try"]) == (instant(SUNDAY)[:16], instant(SUNDAY + MINUTE))
    assert reason["command"] == "arena check --live --model eve"

    (told,) = world.receiver.of("all_agents_failed")
    same = ("cause", "since", "next_try", "waits", "command")
    assert {part: told[part] for part in same} == {part: reason[part] for part in same}

    world.provider.script("eve", says(GOOD))
    world.once(SUNDAY + MINUTE)
    world.reasons()
    over(world, SUNDAY + MINUTE)


def test_2_a_models_server_that_is_gone(world: Arena) -> None:
    world.open("eve", url="http://127.0.0.1:9/v1")
    world.once(SUNDAY)
    reason = world.reasons("server_gone")["server_gone"]
    assert reason["text"] == "127.0.0.1:9 can't be reached: eve"
    assert "Connection error (asked at http://127.0.0.1:9/v1)" in reason["cause"]
    assert (reason["since"][:16], reason["next_try"]) == (instant(SUNDAY)[:16], instant(SUNDAY + MINUTE))
    assert reason["command"] == "arena check --live --model eve"
    (told,) = world.receiver.of("all_agents_failed")
    assert (told["cause"], told["next_try"]) == (reason["cause"], reason["next_try"])

    world.open("eve")
    world.once(SUNDAY + MINUTE)
    world.reasons()
    over(world, SUNDAY + MINUTE)


def test_3_a_quota_and_a_rate_limit_for_hours(world: Arena) -> None:
    world.open("eve", "bob")
    world.provider.script("eve", fails(429, "You exceeded your current quota", "insufficient_quota"))
    world.provider.script("bob", fails(429, "slow down"))
    for hour in range(3):
        world.once(SUNDAY + hour * HOUR)
    found = world.reasons("quota_spent", "rate_limited")
    quota = found["quota_spent"]
    limit = found["rate_limited"]
    assert "says that a quota is used up: eve" in quota["text"]
    assert "limits requests: bob" in limit["text"]
    assert "You exceeded your current quota" in quota["cause"]
    assert "slow down" in limit["cause"]
    for reason, agent in ((quota, "eve"), (limit, "bob")):
        assert reason["since"][:16] == instant(SUNDAY)[:16]
        assert reason["next_try"] == instant(SUNDAY + 2 * HOUR + 4 * MINUTE)
        assert reason["command"] == f"arena check --live --model {agent}"

    (told,) = world.receiver.of("all_agents_failed")
    assert "You exceeded your current quota" in told["cause"]
    assert "slow down" in told["cause"]


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """Yield a disk of 64 MB, if this machine allows one."""
    disk = folder / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", disk], capture_output=True)
    if mounted.returncode:
        pytest.skip("this machine mounts no disk for us")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)


def fill(disk: Path) -> Path:
    """Use up what is left of a disk."""
    filler = disk / "filler"
    for size in (2**20, 2**12):
        with suppress(OSError), filler.open("ab", buffering=0) as file:
            while file.write(bytes(size)):
                pass
    return filler


def test_4_a_full_disk(world: Arena) -> None:
    """The record holds nothing of it, but the webhook hears of it, and the status looks at the disk."""
    with small_disk(world.folder) as disk:
        world.record = str(disk / "arena.db")
        world.open("eve", more=f"database: {world.record}\n")
        world.once(SUNDAY)

        def fills(_: object) -> Reply:
            fill(disk)
            return says(GOOD)

        world.provider.script("eve", fills)
        failed = world.once(SUNDAY + WEEK)
        assert any("the disk is full" in words for words in failed), failed
        reason = world.reasons("disk_full")["disk_full"]
        assert (reason["health"], reason["waits"]) == ("trouble", "everything")
        assert reason["text"].startswith("the disk of the record is full: 0 MB is free; delete old backups ")
        assert reason["command"] == "arena admin prune --older-than 90d"
        (told,) = world.receiver.of("record_unusable")
        assert told["cause"] == f"the disk is full: cannot write {world.record}"
        assert (told["since"], told["next_try"]) == (
            instant(SUNDAY + WEEK),
            instant(SUNDAY + WEEK + timedelta(seconds=10)),
        )
        assert (told["waits"], told["command"]) == ("everything", "arena admin prune --older-than 90d")

        (disk / "filler").unlink()
        world.provider.script("eve", says(GOOD))
        assert world.once(SUNDAY + WEEK + HOUR) == []
        world.reasons()
        assert len(world.receiver.of("record_unusable")) == 1


def test_5_a_clock_that_was_ahead(world: Arena) -> None:
    """The record shows when prices were read; nothing due before then is done."""
    world.open("eve")
    ahead = SUNDAY + 5 * HOUR
    world.once(ahead)
    assert world.once(SUNDAY + HOUR) == []
    found = world.reasons("clock", "clock_stepped")
    reason = found["clock"]
    assert reason["text"] == (
        "the time in clock is behind the record: prices were read at 2026-01-04 05:00 UTC"
    )
    assert reason["cause"] == "write a later time in its first line, or name the clock of this record"
    assert (reason["health"], reason["next_try"], reason["command"]) == (
        "trouble",
        instant(ahead),
        "arena status --clock clock",
    )
    world.once(SUNDAY + HOUR + MINUTE)
    (told,) = world.receiver.of("clock_stepped")
    file = world.folder / "clock"
    assert told["text"] == f"the time in {file} is behind the record by 4.0 h"
    assert told["since"] == instant(SUNDAY + HOUR)
    assert told["command"] == f"arena status --clock {file}"
    world.once(ahead)
    world.reasons()


class Stepping(SystemClock):
    """A clock that is put forward by five hours as soon as somebody says so."""

    def __init__(self, is_put: Callable[[], bool]) -> None:
        self.is_put = is_put

    def now(self) -> datetime:
        return SUNDAY + (5 * HOUR if self.is_put() else timedelta())


def test_5_a_clock_that_steps_under_a_run(world: Arena) -> None:
    world.open("eve")
    clock = Stepping(lambda: bool(world.provider.log))
    with opened_record(world.folder / world.record) as record:
        config = load_trusted(world.folder / "config.yaml")
        asyncio.run(run(Run(config, record, lambda: clock, lambda _: None, once=True)))
    clock_at(world.folder, SUNDAY + 5 * HOUR)
    reason = world.reasons("clock_stepped")["clock_stepped"]
    assert reason["text"] == "this machine's clock went forward by 5.0 h"
    assert reason["cause"] == "it was set, or the machine was suspended"
    assert (reason["health"], reason["since"]) == ("waiting", instant(SUNDAY + 5 * HOUR))
    (told,) = world.receiver.of("clock_stepped")
    assert (told["text"], told["command"]) == (reason["text"], reason["command"])
    clock_at(world.folder, SUNDAY + 7 * HOUR)
    assert "clock_stepped" not in {reason["code"] for reason in world.status()["reasons"]}


@pytest.mark.parametrize(
    ("fault", "does", "said"),
    [
        (status(503), "answers with errors", "127.0.0.1 answered 503"),
        (RESET, "can't be reached", "127.0.0.1 broke off"),
    ],
    ids=["503", "reset"],
)
def test_6_a_venue_that_is_cut_off(world: Arena, fault: Reply, does: str, said: str) -> None:
    """Its jobs and the round that waits for it are part of the outage."""
    world.open("eve")
    world.once(SUNDAY)
    down = [fault]
    world.venue.before.append(lambda _: down[0] if down else None)
    for hour in range(3):
        world.once(SUNDAY + WEEK + hour * HOUR)
    reason = world.reasons("venue_down")["venue_down"]
    assert reason["text"] == f"polymarket {does}"
    assert said in reason["cause"]
    assert (reason["health"], reason["waits"]) == ("trouble", "round 2 of cohort 1")
    assert reason["since"] == instant(SUNDAY + WEEK)
    assert reason["next_try"] == instant(SUNDAY + WEEK + 2 * HOUR + 4 * MINUTE)
    assert reason["command"] == "arena run --sync"
    (told,) = world.receiver.of("venue_down")
    assert (told["cause"], told["since"], told["command"]) == (
        reason["cause"],
        reason["since"],
        reason["command"],
    )
    assert told["next_try"] == instant(SUNDAY + WEEK + MINUTE)

    down.clear()
    world.once(SUNDAY + WEEK + 3 * HOUR)
    world.reasons()
    over(world, SUNDAY + WEEK + 3 * HOUR)


def test_7_a_catalogue_of_which_pages_are_missing(world: Arena) -> None:
    world.open("eve", markets=30)
    world.once(SUNDAY)
    whole = world.wire.markets
    world.wire.markets = whole[:8]
    world.once(SUNDAY + WEEK)
    reason = world.reasons("catalogue_incomplete")["catalogue_incomplete"]
    assert reason["text"] == "polymarket sends an incomplete catalogue: 8 of 30 known open markets"
    assert "it holds 8 of 30 markets known to be open" in reason["cause"]
    assert (reason["since"], reason["next_try"]) == (
        instant(SUNDAY + WEEK),
        instant(SUNDAY + WEEK + MINUTE),
    )
    assert (reason["waits"], reason["command"]) == ("round 2 of cohort 1", "arena run --sync")
    (told,) = world.receiver.of("catalogue_incomplete")
    assert (told["cause"], told["next_try"], told["waits"]) == (
        reason["cause"],
        reason["next_try"],
        reason["waits"],
    )

    world.wire.markets = whole
    world.once(SUNDAY + WEEK + MINUTE)
    world.reasons()
    over(world, SUNDAY + WEEK + MINUTE)


def test_7_a_catalogue_full_of_records_that_make_no_sense(world: Arena) -> None:
    world.open("eve", markets=60)
    world.once(SUNDAY)
    for raw in world.wire.markets[:25]:
        raw["outcomes"] = "nonsense"
    world.once(SUNDAY + WEEK)
    reason = world.reasons("records_rejected")["records_rejected"]
    assert reason["text"].startswith("polymarket sent 25 records that could not be used, 41.7%")
    assert "malformed" in reason["cause"]
    assert (reason["since"], reason["next_try"]) == (
        instant(SUNDAY + WEEK),
        instant(SUNDAY + WEEK + 6 * HOUR),
    )
    (told,) = world.receiver.of("records_rejected")
    assert (told["text"], told["cause"], told["command"]) == (
        reason["text"],
        reason["cause"],
        "arena run --sync",
    )


WORKED = """\
database: {database}
markets: {{venue: simulator, show: 4, simulator: {{start: 2026-01-04, weeks: 2, markets: 15, events: 6}}}}
cohorts: {{rounds: 1, count: 1, corrected_within: 8d}}
run: {{workers: true, marks: 1w, scores: off, catalogue: off, quotes: off, resolutions: off, backup: off}}
watch: {{webhook: $ARENA_WEBHOOK}}
agents: [{{kind: random}}{agents}]
"""
SLOW = ", {{name: eve, model: openai/eve, base_url: '{url}', price: {{input: 1, output: 1}}}}"


def test_8_workers_that_are_not_there(
    world: Arena, new_server_record: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is lost without them, but somebody meant them to be there."""
    monkeypatch.setattr("arena.rounds.dispatch.LONGEST_SILENCE", 0.2)
    monkeypatch.setattr("arena.rounds.dispatch.REQUEUE_EVERY", 0.1)
    world.record = new_server_record()
    (world.folder / "config.yaml").write_text(WORKED.format(database=world.record, agents=""), "utf-8")
    world.once(SUNDAY)
    reason = world.reasons("workers_gone")["workers_gone"]
    assert reason["text"] == "no worker gives a sign: `arena run` plays their turns itself"
    assert (reason["health"], reason["since"]) == ("waiting", instant(SUNDAY))
    assert reason["command"] == "arena run --worker"
    (told,) = world.receiver.of("workers_gone")
    assert (told["text"], told["command"]) == (reason["text"], reason["command"])


@pytest.mark.thorough
def test_8_a_worker_that_died_with_a_turn(
    world: Arena, new_server_record: Callable[[], str], forked: Forks
) -> None:
    world.record = new_server_record()
    world.provider.latency = 20.0
    agents = SLOW.format(url=world.provider.url)
    (world.folder / "config.yaml").write_text(WORKED.format(database=world.record, agents=agents), "utf-8")
    here = ("--database", world.record)
    worker = forked.start(world.folder, "run", "--worker", *here, **world.environ)
    scheduler = forked.start(world.folder, "run", *here, **world.environ)
    while not world.provider.log:
        assert worker.runs, worker.said()
        assert scheduler.runs, scheduler.said()
        time.sleep(0.05)
    worker.kill()
    scheduler.signal(signal.SIGSTOP)  # or it would forget the dead worker in half a minute
    plain = world.record.replace("postgresql+psycopg://", "postgresql://", 1)
    with psycopg.connect(plain, autocommit=True) as connection:
        connection.execute(
            "UPDATE procrastinate_workers SET last_heartbeat = last_heartbeat - interval '40 s'"
        )
        row = connection.execute("SELECT last_heartbeat FROM procrastinate_workers").fetchone()
    assert row is not None
    reason = next(each for each in world.status()["reasons"] if each["code"] == "workers_gone")
    scheduler.kill()
    assert reason["text"] == "1 of 1 worker gives no sign"
    assert reason["cause"] == "it died, was stopped, or can't reach the database"
    assert datetime.fromisoformat(reason["since"]) == row[0]
    assert datetime.fromisoformat(reason["next_try"]) == row[0] + MINUTE
    assert (reason["waits"], reason["command"]) == ("1 turn", "arena run --worker")


def test_9_a_lead_that_another_process_takes_over(world: Arena, forked: Forks) -> None:
    world.open("eve")
    world.provider.latency = 20.0
    clock_at(world.folder)
    world.record = "rehearsal.db"
    here = ("--clock", "clock", "--database", world.record)
    first = forked.start(world.folder, "run", *here, **world.environ)
    while not world.provider.log:
        assert first.runs, first.said()
        time.sleep(0.02)
    second = world.command("run", "--once", *here)
    assert second.returncode == 2
    assert "another arena run is using this record" in second.stderr

    first.kill()
    world.provider.latency = 0.0
    third = world.command("run", "--once", *here)
    assert third.returncode == 0, third.stderr
    reason = world.reasons("lead_taken")["lead_taken"]
    pattern = rf"process {os.getpid()} on \S+ took over as `arena run` from process {first.pid} on \S+"
    assert re.fullmatch(pattern, reason["text"])
    assert reason["cause"] == "it has ended without letting go"
    assert (reason["health"], reason["since"], reason["next_try"]) == ("waiting", instant(SUNDAY), None)
    assert reason["command"] == "arena status --incidents"
    (told,) = world.receiver.of("lead_taken")
    assert (told["text"], told["cause"], told["command"]) == (
        reason["text"],
        reason["cause"],
        reason["command"],
    )
    clock_at(world.folder, SUNDAY + 2 * HOUR)
    assert "lead_taken" not in {reason["code"] for reason in world.status()["reasons"]}


def test_10_a_backup_that_fails(world: Arena) -> None:
    world.open("eve", run=ONLY_BACKUP, more="backup: {folder: nowhere}\n")
    nowhere = world.folder / "nowhere"
    nowhere.write_text("a file", "utf-8")
    for hour in range(3):
        world.once(SUNDAY + hour * HOUR)
    found = world.status()
    assert found["backup"] is None, "no backup was made"
    reason = world.reasons("job_failing")["job_failing"]
    assert reason["text"] == "the job backup has failed 3 times in a row"
    assert reason["cause"] == f"{nowhere} is a file, not a folder"
    assert (reason["health"], reason["waits"]) == ("trouble", "the first backup")
    assert (reason["since"], reason["next_try"]) == (
        instant(SUNDAY),
        instant(SUNDAY + 2 * HOUR + 4 * MINUTE),
    )
    assert reason["command"] == "arena admin backup"
    (told,) = world.receiver.of("job_failing")
    assert (told["text"], told["cause"], told["since"], told["command"]) == (
        "the job backup has failed",
        reason["cause"],
        reason["since"],
        reason["command"],
    )

    nowhere.unlink()
    world.once(SUNDAY + 3 * HOUR)
    world.reasons()
    over(world, SUNDAY + 3 * HOUR)
    assert world.status()["backup"] == instant(SUNDAY + 3 * HOUR)


def test_11_heads_that_do_not_leave_the_machine(world: Arena) -> None:
    world.open("eve", more="heads: mounted/heads.jsonl\n")
    world.once(SUNDAY)
    config = load_trusted(world.folder / "config.yaml")
    missing = world.folder / "mounted" / "heads.jsonl"
    database = str(world.folder / world.record)
    hook = Webhook(world.environ["ARENA_WEBHOOK"])
    with closing(sqlite3.connect(database)) as plain, plain:
        plain.execute("DELETE FROM publication")  # the run's own tries, at an instant of the real clock

    def publish(at: datetime) -> None:
        clock_at(world.folder, at)
        with opened_record(database) as record:
            asyncio.run(publish_due(config, record, at, "me"))
            read_status = status_source(record, config, lambda: at)
            asyncio.run(send_due(record, hook, at, read_status=read_status))

    publish(SUNDAY)
    reason = world.reasons("heads_unpublished")["heads_unpublished"]
    assert (reason["health"], reason["cause"]) == ("waiting", f"{missing}: No such file or directory")
    assert (reason["since"], reason["next_try"]) == (
        instant(SUNDAY),
        instant(SUNDAY + timedelta(seconds=15)),
    )
    assert world.receiver.of("heads_unpublished") == []

    publish(SUNDAY + HOUR)
    reason = world.reasons("heads_unpublished")["heads_unpublished"]
    assert (reason["health"], reason["since"]) == ("trouble", instant(SUNDAY))
    assert reason["next_try"] == instant(SUNDAY + HOUR + timedelta(seconds=30))
    assert reason["waits"].endswith(" heads")
    assert reason["command"] == "arena run --once --clock clock"
    (told,) = world.receiver.of("heads_unpublished")
    assert (told["cause"], told["since"], told["next_try"]) == (
        reason["cause"],
        reason["since"],
        reason["next_try"],
    )

    missing.parent.mkdir()
    publish(SUNDAY + 2 * HOUR)
    world.reasons()
    over(world, SUNDAY + 2 * HOUR)


def spoil(database: Path, table: str) -> None:
    """Write nonsense over the first page of a table."""
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        query = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        (page,) = connection.execute(query, (table,)).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    with database.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xa5" * size)


def test_12_a_damaged_page(world: Arena) -> None:
    """It is told at once, before anything has read the page; and the command is the one that mends it."""
    world.open("eve", run=ONLY_BACKUP, more="backup: {folder: backups}\n")
    world.once(SUNDAY)
    (backup,) = (world.folder / "backups").iterdir()
    spoil(world.folder / "arena.db", "quote")
    reason = world.reasons("damaged")["damaged"]
    assert reason["text"] == "the file of the record is damaged"
    assert re.match(r"SQLite: .*[Pp]age \d+", reason["cause"])
    assert reason["command"] == f"arena admin restore backups/{backup.name} --force"

    world.once(SUNDAY + WEEK)
    reason = world.reasons("verify_failed")["verify_failed"]
    assert reason["text"] == "the file of the record is damaged"
    assert reason["cause"].endswith("arena.db is damaged")
    assert (reason["health"], reason["since"]) == ("trouble", instant(SUNDAY + WEEK))
    assert reason["command"] == f"arena admin restore backups/{backup.name} --force"
    (told,) = world.receiver.of("verify_failed")
    assert (told["text"], told["cause"]) == (reason["text"], reason["cause"])
    assert told["command"] == f"arena admin restore {backup} --force"

    restored = world.command(*reason["command"].split()[1:])
    assert restored.returncode == 0, restored.stderr
    assert world.once(SUNDAY + WEEK) == []
    world.reasons("lead_taken")  # the backup was made while a process had the lead


def test_a_record_that_cannot_be_read_at_all_has_an_exit_status_of_its_own(world: Arena) -> None:
    world.open("eve")
    world.once(SUNDAY)
    spoil(world.folder / "arena.db", "cohort")
    shown = world.command("status", "--clock", "clock")
    assert shown.returncode == 1
    assert "arena.db is damaged" in shown.stderr
    assert "restore a backup" in shown.stderr


@pytest.mark.parametrize("count", [12, pytest.param(50, marks=pytest.mark.thorough)])
def test_many_agents_whose_key_one_provider_refuses_are_one_incident(count: int, world: Arena) -> None:
    names = [f"a{number}" for number in range(count)]
    world.open(*names, "eve")
    for name in names:
        world.provider.script(name, fails(401, "no such key"))
    world.once(SUNDAY)
    world.once(SUNDAY + WEEK)
    reason = world.reasons("key_refused")["key_refused"]
    agents = f"{count} agents (a0, a1, a2 and {count - 3} more)"
    assert reason["text"].endswith(f"refuses the key of {agents}: CANARY_AUTH_KEY")
    assert reason["cause"] == f"auth: no such key ({count} turns)"
    (told,) = world.receiver.of("agent_failing")
    assert (told["text"], told["cause"]) == (reason["text"], reason["cause"])
    assert told["data"]["count"] == count
    assert rows(world.folder, "SELECT count(*) FROM incident WHERE tries <> 1") == [(0,)]


class Asker(Receiver):
    """A webhook's other side that asks the health endpoint whenever it is told something."""

    def __init__(self, port: int) -> None:
        super().__init__()
        self.port = port
        self.health = list[dict[str, Any]]()

    def respond(self, request: Request) -> Reply:
        answer = httpx.get(f"http://127.0.0.1:{self.port}/health", trust_env=False)
        self.health.append(answer.json())
        return super().respond(request)


def test_the_health_endpoint_says_what_the_status_says(world: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as knock:
        port = knock.getsockname()[1]
    with serving(Asker(port)) as asker:
        monkeypatch.setenv("ARENA_WEBHOOK", asker.url)
        world.open("eve")
        config = world.folder / "config.yaml"
        health = f"health: 127.0.0.1:{port}, webhook"
        config.write_text(config.read_text("utf-8").replace("{webhook", f"{{{health}"), "utf-8")
        world.provider.script("eve", fails(401, "no such key"))
        world.once(SUNDAY)
    (said,) = asker.health
    told = {reason["code"]: reason for reason in said["reasons"]}
    assert told["key_refused"] == world.reasons("key_refused")["key_refused"]


def test_what_a_library_says_of_a_database_is_said_in_words() -> None:
    error = ConnectorException("Database error.")
    error.__cause__ = psycopg.OperationalError("server closed the connection unexpectedly")
    assert error_text(error) == (
        "the database of the queue can't be reached "
        "(OperationalError: server closed the connection unexpectedly)"
    )
