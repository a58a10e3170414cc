"""`arena status`: whatever it says is to be done is gone once that has been done; no line is too long."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from arena.cli.main import app
from arena.operations.health import COMMANDS, BudgetUse, RoundCalendar, Spending, Status, Surroundings
from arena.operations.judge import judge_health
from arena.operations.today import LOOKS, PASSING, tasks_for
from arena.rounds.round import play_round
from markets.hashes import timestamp_text
from tests.arena.config_files import write
from tests.arena.status_parts import a_job_state, a_leader, a_round, an_incident, answers
from tests.builders import NOW, RAIN
from tests.opened_record import opened_record
from tests.program.running import arena, simulated_config
from tests.records.little_world import LittleVenue, a_cohort, a_world, as_stored, begun_live, live, says

DAY = timedelta(days=1)
CONFIG = """\
markets: {venue: simulator, simulator: {start: 2026-01-04, weeks: 12, markets: 60, events: 20}}
agents:
  - kind: market
"""
LONG = "a-model-with-a-very-long-name-" + "x" * 34


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder whose record has a live cohort that played a round long ago."""
    write(tmp_path, CONFIG)
    with opened_record(tmp_path / "arena.db") as record:
        stored = begun_live(record, "ann", LONG)
        minds = {"ann": says("0.7", ("500", RAIN)), LONG: says("0.6")}
        asyncio.run(play_round(stored, 1, a_world(LittleVenue(), minds), record))
    return tmp_path


def happens(folder: Path, kind: Any, subject: str, **data: Any) -> None:
    """Put an incident into the record that goes on."""
    with opened_record(folder / "arena.db") as record:
        record.add_incident(kind, f"{subject}@{timestamp_text(NOW)}", f"{kind}: {subject}", **data)


def to_do(folder: Path) -> dict[str, str]:
    """Return what `arena status` recommends: each command by its code."""
    return {task["code"]: task["command"] for task in status_of(folder)["today"]}


def status_of(folder: Path, *words: str) -> Any:
    """Return what `arena status` says, after checking that its exit status matches the health."""
    done = arena(folder, "status", *words, "--json")
    found = json.loads(done.stdout)
    assert done.returncode == (0 if found["health"] in ("ok", "waiting") else 2), done.stderr
    return found


BY_COMMAND: dict[str, tuple[str, ...]] = {
    "backup": (),
    "verify_failed": ("backup",),
    "site_unpublished": ("site",),
    "venue_down": ("simulator",),
    "records_rejected": ("simulator",),
    "market_unsettled": (RAIN,),
}
"""Codes whose command is run as it is shown, and the subject of the incident that brings them about."""
FILLED_IN = {"--payout … --because …": "--payout 1 --because known", "share site": "share site site"}


@pytest.mark.parametrize("code", BY_COMMAND)
def test_what_is_to_be_done_is_gone_once_its_command_was_run(folder: Path, code: str) -> None:
    if BY_COMMAND[code]:
        happens(folder, code, *BY_COMMAND[code], market=RAIN)
    if code == "backup":
        write(
            folder,
            CONFIG.replace("simulator", "polymarket", 1),
        )
    command = to_do(folder)[code]
    for placeholder, words in FILLED_IN.items():
        command = command.replace(placeholder, words)
    done = arena(folder, *command.split())
    assert done.returncode == 0, done.stderr
    assert code not in to_do(folder)


def test_a_key_that_was_missing_is_set(folder: Path) -> None:
    write(folder, CONFIG + "  - {model: anthropic/claude-sonnet-5}\n")
    assert "missing_key" in to_do(folder)
    write(folder, "ANTHROPIC_API_KEY=canary\n", ".env")
    assert "missing_key" not in to_do(folder)


def test_a_key_is_not_asked_for_once_every_round_is_over() -> None:
    around = Surroundings({"ann": "A_KEY"})
    over = replace(CALM, around=around, calendar=RoundCalendar(cohorts=1))
    assert "missing_key" not in {task.code for task in tasks_for(over, ())}
    playing = replace(over, calendar=RoundCalendar(cohorts=1, next_round=NOW))
    assert "missing_key" in {task.code for task in tasks_for(playing, ())}


def test_a_simulated_arena_begins_and_goes_on_with_a_round(tmp_path: Path) -> None:
    simulated_config(tmp_path, "{kind: market}", cohorts="rounds: 1, count: 1")
    with opened_record(tmp_path / "arena.db"):
        pass
    assert to_do(tmp_path) == {"nothing_begun": "run"}
    while arena(tmp_path, "run", "--once").returncode == 0 and to_do(tmp_path):
        pass
    assert to_do(tmp_path) == {}


CALM = Status(NOW)
ROOM = Surroundings(free=10**12)
COHORT = live(a_cohort(["ann"]))


def codes(status: Status) -> set[str]:
    return {task.code for task in tasks_for(status, ())}


def reasons_of(status: Status) -> set[str]:
    return codes(judge_health(replace(status, around=ROOM), {}))


def surrounded(around: Surroundings) -> set[str]:
    return codes(judge_health(replace(CALM, around=around), {}))


def budget(scope: str, spent: int, limit: int) -> Status:
    return replace(CALM, spend=Spending(limits=(BudgetUse(scope, "", spent, limit),)))


def playing(**of: Any) -> Status:
    """Return a live cohort that plays, with a process that leads or without one."""
    return Status(NOW, playing=(as_stored(COHORT),), **of)


def played(done: bool) -> object:
    return a_round(done, at=NOW - DAY)


def failing(failures: int) -> Status:
    return Status(NOW, jobs=(a_job_state(failures=failures, note="in vain"),))


def reported(kind: str, ended: bool) -> Status:
    told = an_incident(kind, "x@", kind)
    return Status(NOW, incidents=(replace(told, ended_at=NOW if ended else None),))


DUE = {1: (1, NOW - DAY)}
LEADER = a_leader(NOW + DAY)
BY_STATE: dict[str, tuple[Callable[[], set[str]], Callable[[], set[str]]]] = {
    "budget_spent": (
        lambda: reasons_of(budget("arena", 5, 5)),
        lambda: reasons_of(budget("arena", 5, 50)),
    ),
    "late": (
        lambda: codes(judge_health(playing(), DUE)),
        lambda: codes(judge_health(playing(rounds=(played(True),)), DUE)),
    ),
    "not_running": (lambda: reasons_of(playing()), lambda: reasons_of(playing(leader=LEADER))),
    "unfinished": (
        lambda: codes(judge_health(playing(rounds=(played(False),)), DUE)),
        lambda: codes(judge_health(playing(rounds=(played(True),)), DUE)),
    ),
    "job_failing": (lambda: reasons_of(failing(3)), lambda: reasons_of(failing(0))),
    # That the command ends these incidents, the tests of catalogues, the publisher and the webhook see.
    "catalogue_incomplete": (
        lambda: reasons_of(reported("catalogue_incomplete", False)),
        lambda: reasons_of(reported("catalogue_incomplete", True)),
    ),
    "heads_unpublished": (
        lambda: reasons_of(reported("heads_unpublished", False)),
        lambda: reasons_of(reported("heads_unpublished", True)),
    ),
    "ping_failed": (
        lambda: reasons_of(reported("ping_failed", False)),
        lambda: reasons_of(reported("ping_failed", True)),
    ),
    "disk": (
        lambda: surrounded(Surroundings(size=10**9, free=10**9)),
        lambda: surrounded(Surroundings(size=10**9, free=3 * 10**9)),
    ),
    "clock": (
        lambda: reasons_of(replace(CALM, looked_at=NOW + DAY)),
        lambda: reasons_of(replace(CALM, at=NOW + DAY, looked_at=NOW + DAY)),
    ),
}
"""Codes that playing or a change ends, as the text says: before that is done, and after."""


@pytest.mark.parametrize("code", BY_STATE)
def test_what_the_text_says_puts_it_right(code: str) -> None:
    before, after = BY_STATE[code]
    assert code in before()
    assert code not in after()


@pytest.mark.parametrize("code", [*COMMANDS, "malformed", "missing_key"])
def test_every_command_that_is_named_exists(code: str) -> None:
    malformed = answers("ann", 40, 12)
    around = Surroundings({"ann": "A_KEY"}, size=10**9, free=10**9, expects_backups=True)
    live_calendar = RoundCalendar(live=True, cohorts=1, next_round=NOW)
    status = replace(CALM, looked_at=NOW + DAY, calendar=live_calendar, around=around)
    tasks = tasks_for(judge_health(status, {}), [malformed])
    named = {task.code: task.command for task in tasks} | dict(COMMANDS)
    words = named[code].split()
    command: Any = get_command(app)
    while isinstance(command, TyperGroup):
        command = command.get_command(command.context_class(command), words.pop(0))
    options = [option for parameter in command.params for option in parameter.opts]
    assert [word for word in words if word.startswith("--") and word not in options] == []
    needed = [one for one in command.params if one.required and one.param_type_name == "option"]
    assert [one.opts for one in needed if not {*one.opts} & {*words}] == []


BY_INCIDENT = {
    *("key_refused", "no_credit", "quota_spent", "request_refused", "server_gone"),
    *("disk_full", "damaged", "record_unusable", "workers_gone"),
}
"""Codes of incidents, which the tests of whole seasons bring about and end."""


def test_every_thing_to_do_goes_away_or_is_only_a_look() -> None:
    assert {*COMMANDS} - {*LOOKS} - {*PASSING} <= {*BY_COMMAND, *BY_STATE, *BY_INCIDENT, "nothing_begun"}


def test_a_budget_of_the_day_is_only_waited_for() -> None:
    status = judge_health(budget("day", 5, 5), {})
    assert codes(status) == {"nothing_begun"}
    assert next(reason.next_try for reason in status.reasons if reason.code == "budget_spent_today") == (
        NOW.replace(hour=0) + DAY
    )


def test_a_trouble_has_its_cause_its_beginning_and_its_next_try(folder: Path) -> None:
    happens(folder, "venue_down", "simulator", message="connection refused")
    (reason,) = (one for one in status_of(folder)["reasons"] if one["code"] == "venue_down")
    assert (reason["cause"], reason["since"]) == ("connection refused", NOW.isoformat())
    shown = arena(folder, "status", COLUMNS="80").stdout
    assert "    connection refused, since 2026-01-04 12:00 UTC" in shown
    assert "arena run --sync" in shown.split("Health:")[1]


def test_a_record_of_another_arena_has_its_own_settings(folder: Path, tmp_path: Path) -> None:
    (folder / "arena.db").rename(folder / "other.db")
    write(folder, CONFIG + "  - {model: anthropic/claude-sonnet-5}\nbudget: {day: 20}\n")
    found = status_of(folder, "--database", "other.db")
    assert not {"missing_key", "backup"} & {task["code"] for task in found["today"]}
    assert found["spend"]["budgets"] == []


def test_what_is_suggested_names_the_same_record_config_and_clock(tmp_path: Path) -> None:
    """Also in a folder whose own config and record are others."""
    simulated_config(tmp_path, "{kind: market}", cohorts="rounds: 2, count: 1")
    (tmp_path / "config.yaml").rename(tmp_path / "mine.yaml")
    named = ("--config", "mine.yaml", "--database", "my drill.db")
    assert arena(tmp_path, "run", "--round", *named).returncode == 0

    options = " --config mine.yaml --database 'my drill.db'"
    shown = arena(tmp_path, "status", *named).stdout
    assert f"arena run --round{options} plays it now\n" in shown
    assert f"arena run{options}\n" in shown

    write(tmp_path, "2026-01-04T00:00Z\n", "my clock")
    rehearsed = arena(tmp_path, "status", "--clock", "my clock", *named).stdout
    once = f"arena run --once --clock 'my clock'{options}"
    assert "UTC, simulated: with that time in the clock's file, " in rehearsed
    assert f"{once} plays it\n" in rehearsed
    assert f"arena run --clock 'my clock'{options}\n" in rehearsed
    assert "--round" not in rehearsed


def test_the_commands_in_json_name_the_same_record_config_and_clock(tmp_path: Path) -> None:
    away = "{name: eve, model: openai/eve, base_url: 'http://127.0.0.1:9/v1', price: {input: 0, output: 0}}"
    simulated_config(tmp_path, away, cohorts="rounds: 2, count: 1")
    named = ("--config", "config.yaml", "--database", "r.db")
    assert arena(tmp_path, "run", "--round", *named).returncode == 2

    options = "--config config.yaml --database r.db"
    found = status_of(tmp_path, *named)
    assert all(task["command"].endswith(f" {options}") for task in found["today"])
    reasons = {reason["code"]: reason for reason in found["reasons"]}
    again = f"arena run --round --at 2026-01-04T00:00Z {options}"
    assert reasons["failed_turns"]["command"] == again

    shown = arena(tmp_path, "status", *named).stdout
    cleared = [line for line in shown.splitlines() if "the next round clears this:" in line]
    assert len(cleared) == 2, "to do today, and of the health"
    assert all(line.endswith(f"arena run --round {options}") for line in cleared)

    write(tmp_path, "2026-01-04T00:00Z\n", "clock")
    by_clock = {
        reason["code"]: reason for reason in status_of(tmp_path, *named, "--clock", "clock")["reasons"]
    }
    again = f"arena run --once --clock clock {options}"
    assert by_clock["failed_turns"]["command"] == again


def test_what_plays_the_next_round_of_a_rehearsal_plays_no_other(tmp_path: Path) -> None:
    simulated_config(tmp_path, "{kind: market}", cohorts="rounds: 4, count: 1")
    options = ("--clock", "clock", "--database", "rehearsal.db")
    write(tmp_path, "2026-01-04T00:00Z\n", "clock")
    assert arena(tmp_path, "run", "--once", *options).returncode == 0

    command = f"arena run --once {' '.join(options)}"
    shown = arena(tmp_path, "status", *options).stdout
    assert "2026-01-11 00:00 UTC, simulated: with that time in the clock's file, " in shown
    assert f"{command} plays it\n" in shown

    write(tmp_path, "2026-01-11T00:00Z\n", "clock")
    assert f"{command} plays it now\n" in arena(tmp_path, "status", *options).stdout
    assert arena(tmp_path, *command.split()[1:]).returncode == 0
    assert status_of(tmp_path, *options)["rounds"]["done"] == 2


def test_spans_compare_instants_of_one_clock_only(tmp_path: Path) -> None:
    """Incidents and jobs are noted by another clock than a rehearsal's; rounds have a time of their own."""
    simulated_config(tmp_path, "{name: ann, kind: market}", cohorts="rounds: 4, count: 1")
    assert arena(tmp_path, "run", "--round").returncode == 0
    assert arena(tmp_path, "run", "--sync").returncode == 0
    assert arena(tmp_path, "admin", "backup").returncode == 0
    happens(tmp_path, "agent_failing", "ann", agent="ann")
    shown = arena(tmp_path, "status").stdout
    assert "since 2026-01-04 12:00 UTC (" in shown
    assert " d ago), next try now\n" in shown

    write(tmp_path, "2026-01-04T00:00Z\n", "clock")
    by_clock = arena(tmp_path, "status", "--clock", "clock").stdout
    assert "since 2026-01-04 12:00 UTC, next try now\n" in by_clock
    assert "(in " not in by_clock


def test_a_trouble_that_is_no_incident_is_told_with_the_incidents(folder: Path) -> None:
    write(folder, "2026-06-01T00:00Z\n", "clock")
    with opened_record(folder / "arena.db") as record:
        record.put_job("marks", NOW, NOW, NOW, 3, "in vain")
    assert status_of(folder, "--clock", "clock")["health"] == "trouble"

    options = ("--clock", "clock", "--database", "arena.db")
    shown = arena(folder, "status", "--incidents", *options).stdout
    assert shown.startswith("No incidents are recorded.\nThere is trouble now that is no incident yet: ")
    assert shown.endswith(f"arena status {' '.join(options)} shows it.\n")

    happens(folder, "site_unpublished", "site")
    listed = arena(folder, "status", "--incidents", *options).stdout.splitlines()
    assert "site_unpublished: site" in listed[0]
    assert listed[-1].startswith("There is trouble now that is no incident yet: ")


def test_without_trouble_the_incidents_tell_of_none(tmp_path: Path) -> None:
    simulated_config(tmp_path, "{kind: market}", cohorts="rounds: 2, count: 1")
    assert arena(tmp_path, "run", "--round").returncode == 0
    shown = arena(tmp_path, "status", "--incidents").stdout
    assert shown.startswith("No incidents are recorded. Next: ")
    assert "trouble" not in shown


def test_a_finished_season_needs_nothing_and_its_money_is_marked(tmp_path: Path) -> None:
    simulated_config(
        tmp_path, "{kind: market}", cohorts="rounds: 1, count: 1", world="weeks: 3, markets: 60, events: 20"
    )
    arena(tmp_path, "run", "--once")
    shown = arena(tmp_path, "status").stdout
    assert shown.startswith("Today: nothing to do")
    assert "$0.00 today, $0.00 this month (simulated)" in shown


@pytest.mark.parametrize("columns", [80, 120])
def test_no_line_is_wider_than_the_terminal(folder: Path, columns: int) -> None:
    write(
        folder,
        CONFIG
        + f"  - {{name: {LONG}, model: openrouter/a/b, max_cost: 0.2, base_url: 'http://{'h' * 70}/v1'}}\n"
        + "budget: {day: 20}\n",
    )
    happens(folder, "venue_down", "simulator", message="connection refused " * 12)
    for words in (("status",), ("show", "cohort", "1"), ("check",)):
        shown = arena(folder, *words, COLUMNS=str(columns))
        assert shown.returncode == (2 if words == ("status",) else 0), shown.stderr
        too_long = [line for line in shown.stdout.splitlines() if len(line) > columns]
        assert not too_long, words
