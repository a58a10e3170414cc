"""How an arena stands, read from records that were played: every figure worked by hand."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event
from typer.testing import CliRunner

from arena.cli.main import app
from arena.cohorts.schedule import Expected, Job, expected_rounds
from arena.config import cadence
from arena.operations.health import BudgetUse, Status
from arena.operations.status import read_status, status_data
from arena.rounds.round import play_round
from markets.venue import QuarantinedRecord
from tests.builders import NOW, RAIN, a_resolution
from tests.opened_record import OpenedRecord, opened_record
from tests.records.little_world import (
    WEEK,
    LittleVenue,
    a_cohort,
    a_world,
    as_stored,
    asks,
    begun,
    begun_live,
    breaks,
    live,
    says,
)
from tests.rows import TABLES

HOUR = timedelta(hours=1)
AGENTS = {"ann": says("0.7", ("500", RAIN), ("300", "sim:snow")), "bob": asks, "eve": breaks}
FAR = datetime.max.replace(tzinfo=NOW.tzinfo) - timedelta(days=999)


def played(record: OpenedRecord, at: datetime = NOW) -> None:
    """Play the first round of a live cohort: one buys twice, one asks a model, one fails."""
    stored = begun(record, live(a_cohort(list(AGENTS))))
    asyncio.run(play_round(stored, 1, a_world(LittleVenue(), AGENTS, now=at), record))


def seen(record: OpenedRecord, at: datetime = NOW, **expected: Any) -> Status:
    return record.read(read_status, at, Expected(**expected))


def put(record: OpenedRecord, table: str, **values: Any) -> None:
    with record.engine.begin() as connection:
        connection.execute(TABLES[table].insert(), values)


def test_a_new_record_has_nothing_and_waits(record: OpenedRecord) -> None:
    status = seen(record)
    assert (status.word, status.calendar.cohorts, status.last, status.leader) == ("waiting", 0, (), None)
    assert status_data(status)["reasons"][0]["code"] == "nothing_begun"


def test_a_round_is_counted_turn_by_turn(record: OpenedRecord) -> None:
    played(record)
    status = seen(record, NOW + HOUR)
    (last,) = status.last
    assert (last.cohort, last.number, last.turns, last.missing) == (1, 1, {"failed": 1, "played": 2}, 0)
    assert not last.done
    assert (status.calendar.due, status.calendar.done) == (1, 0)
    assert status.calendar.next_round == NOW + WEEK
    assert status.turns == {"failed": 1, "played": 2}
    held = status.held
    assert (held.positions, held.markets, held.stale, held.oldest) == (2, 2, 0, NOW)
    assert [reason.code for reason in status.reasons] == ["failed_turns", "not_running", "no_good_turn"]


def test_what_was_settled_is_held_no_more(record: OpenedRecord) -> None:
    stored = begun(record, a_cohort(["ann"]))
    venue = LittleVenue(endings=[a_resolution("1", at=NOW + WEEK)])
    world = a_world(venue, AGENTS)
    for number in (1, 2):
        asyncio.run(play_round(stored, number, world, record))
    assert seen(record, live=False).held.positions == 1


def test_a_market_that_went_silent_is_held_at_an_old_price(record: OpenedRecord) -> None:
    stored = begun_live(record, "ann")
    venue = LittleVenue()
    asyncio.run(play_round(stored, 1, a_world(venue, AGENTS), record))
    venue.silent.add(RAIN)
    asyncio.run(play_round(stored, 2, a_world(venue, AGENTS, now=NOW + WEEK), record))
    held = seen(record, NOW + WEEK).held
    assert (held.markets, held.stale, held.oldest) == (2, 1, NOW)


def test_calls_are_spent_today_this_month_and_against_each_budget(record: OpenedRecord) -> None:
    played(record)
    limits = {"call": 9, "day": 100, "round": 50, "agent": 40, "arena": 30}
    spend = seen(record, NOW + HOUR, limits=limits).spend
    assert (spend.today, spend.month) == (5, 5)
    assert spend.limits == (
        BudgetUse("day", "", 5, 100),
        BudgetUse("round", "round 1 of cohort 1", 5, 50),
        BudgetUse("agent", "bob in cohort 1", 5, 40),
        BudgetUse("arena", "", 5, 30),
    )
    tomorrow, next_month = (seen(record, NOW + timedelta(days=days)).spend for days in (1, 31))
    assert (tomorrow.today, tomorrow.month, next_month.month) == (0, 5, 0)


def test_calls_under_way_and_lost_ones_are_told_apart(record: OpenedRecord) -> None:
    played(record)
    call = {"round_id": 1, "entrant_id": 2, "provider": "demo", "holder": "me", "made_at": NOW}
    put(record, "reservation", **call, worst=900, beat=1)
    put(record, "reservation", **call, worst=None, beat=0)
    put(record, "reservation", **call, worst=70, beat=None)
    assert astuple(seen(record).under_way) == (2, 900, 1, 70)


def test_who_holds_the_lease_leads_while_alive(record: OpenedRecord) -> None:
    played(record)
    put(
        record,
        "lease",
        name="scheduler",
        token=1,
        holder="elsewhere/4711/x",
        beat=3,
        renewed_at=FAR,
    )
    leader = seen(record).leader
    assert leader is not None
    assert (leader.host, leader.process, leader.alive) == ("elsewhere", "4711", True)
    with record.engine.begin() as connection:
        connection.execute(TABLES["lease"].update().values(renewed_at=NOW - 9999 * HOUR))
    late = seen(record).leader
    assert late is not None
    assert not late.alive


def test_a_process_of_this_machine_that_has_ended_does_not_lead_and_oneself_does(
    record: OpenedRecord,
) -> None:
    me = a_world(LittleVenue(), {}).holder
    put(record, "lease", name="scheduler", token=1, holder=me, beat=3, renewed_at=FAR)
    assert [leader.alive for x in ("", me) if (leader := seen(record, me=x).leader)] == [False, True]


def test_jobs_tell_when_they_were_done_and_what_they_read(record: OpenedRecord) -> None:
    played(record)
    later = NOW + 2 * HOUR
    put(
        record,
        "job",
        name="quotes",
        due_at=later,
        started_at=later,
        ended_at=later,
        failures=0,
        note="9 prices",
    )
    put(record, "job", name="backup", due_at=NOW, started_at=NOW, ended_at=NOW, failures=0, note="")
    status = seen(record, later, jobs=[Job("quotes", cadence("1h"))])
    assert ([job.name for job in status.jobs], status.next_jobs) == (
        ["backup", "quotes"],
        {"quotes": later + HOUR},
    )
    assert status.looked_at == later
    assert status.backup is not None
    assert status.backup.ended_at == NOW


def test_what_was_set_aside_counts_for_a_day(record: OpenedRecord) -> None:
    asides = [QuarantinedRecord("sky", name, "quote", "crossed", "…") for name in ("a", "b")]
    record.quarantine(asides, NOW)
    record.quarantine([QuarantinedRecord("sky", "", "page", "timeout", "…")], NOW + 20 * HOUR)
    assert [(x.kind, x.records) for x in seen(record, NOW + 23 * HOUR).quarantined] == [
        ("page", 1),
        ("quote", 2),
    ]
    assert [(x.kind, x.records) for x in seen(record, NOW + 25 * HOUR).quarantined] == [("page", 1)]


def test_older_cohorts_have_no_rounds_once_enough_newer_ones_have_started() -> None:
    one = as_stored(live(a_cohort(["ann"])))
    starts = [(number + 1, NOW + number * WEEK) for number in range(3)]
    assert [number for number, _ in expected_rounds(one, starts, keep=2)] == [1, 2]
    assert len(expected_rounds(one, starts, keep=5)) == 5
    assert len(expected_rounds(replace(one, stopped_at=NOW + WEEK), starts, keep=5)) == 1
    assert len(expected_rounds(replace(one, paused_at=NOW + 3 * WEEK), starts, keep=5)) == 3


def test_a_cohort_that_has_ended_counts_with_the_rounds_it_played(record: OpenedRecord) -> None:
    stored = begun(record, replace(a_cohort(["bob"]), rounds=1))
    asyncio.run(play_round(stored, 1, a_world(LittleVenue(), AGENTS), record))
    record.pause(stored.id, NOW - WEEK)  # by the real clock, behind that of a made-up world
    paused = seen(record, live=False).calendar
    record.end(stored.id, NOW)
    status = seen(record, live=False)
    assert (paused.due, status.calendar.due, status.calendar.done, status.playing) == (1, 1, 1, ())
    assert status.word == "ok"


SMALL = {
    *("cohort", "replacement", "round", "lease", "job", "incident", "reservation", "CONSTANT"),
    "turn",  # by its index on statuses
    "anon_1",
    "publication",
}
"""What may be read whole: there are few of them, whatever a year brings."""


@contextmanager
def asked(engine: Engine) -> Iterator[list[tuple[str, Any]]]:
    """Yield every statement that is sent to the database."""
    found: list[tuple[str, Any]] = []

    def note(_: Any, cursor: Any, statement: str, parameters: Any, *more: Any) -> None:
        found.append((statement, parameters))

    event.listen(engine, "before_cursor_execute", note)
    yield found
    event.remove(engine, "before_cursor_execute", note)


def plans(engine: Engine, questions: list[tuple[str, Any]]) -> list[tuple[str, str]]:
    """Return the steps by which the database answers each statement, beside the statement."""
    with engine.connect() as connection:
        return [
            (row[3], statement)
            for statement, parameters in questions
            for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
        ]


def test_every_question_goes_by_an_index(copy: Path) -> None:
    """Of marks, quotes, calls, forecasts, entries, snapshots: nothing is read from end to end."""
    limits = {"day": 1, "round": 1, "agent": 1}
    with opened_record(copy) as record:
        with asked(record.engine) as questions:
            record.read(read_status, NOW, Expected(limits=limits))
        steps = plans(record.engine, questions)
    assert len(questions) > 15
    assert [plan for plan in steps if plan[0].split()[0] == "SCAN" and plan[0].split()[1] not in SMALL] == []
    assert all("COVERING INDEX" in plan for plan, _ in steps if plan.startswith("SCAN turn"))


def test_the_command_says_it_in_words_and_as_json(record: OpenedRecord, tmp_path: Path) -> None:
    played(record)
    database = ["--database", str(tmp_path / "arena.db")]
    told = CliRunner().invoke(app, ["status", *database])
    assert told.exit_code == 2, told.output
    assert "\n\nHealth: late\n" in told.output
    assert "1 of cohort 1: 1 failed, 2 played" in told.output
    found = json.loads(CliRunner().invoke(app, ["status", *database, "--json"]).output)
    assert found["health"] == "late"
    first, *tasks = told.output.splitlines()
    looks = ["no_good_turn"]
    todo = [task for task in found["today"] if task["code"] not in looks]
    assert first == f"Today: {len(todo)} things to do"
    printed = " ".join(" ".join(tasks).split())
    assert [task["text"] for task in todo if " ".join(task["text"].split()) not in printed] == []
    assert "Worth a look:\n" in told.output
    command = " ".join(["run", *database])
    assert {"code": "not_running", "command": command}.items() <= found["today"][1].items()
    assert found["positions"] == {"open": 2, "markets": 2, "stale_markets": 0}
    assert found["rounds"]["last"][0]["turns"] == {"failed": 1, "played": 2}


def test_without_a_record_the_command_says_what_makes_one(tmp_path: Path) -> None:
    told = CliRunner().invoke(app, ["status", "--database", str(tmp_path / "no.db"), "--json"])
    assert told.exit_code == 1
    assert json.loads(told.output)["error"]["code"] == "no_record"
