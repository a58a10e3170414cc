"""`arena run --round`: play one decision time."""

import os
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import typer

from arena.cli.check_next import RecordSoFar, joining_text
from arena.cli.options import BASELINES, LEAVE_FAILED, Options, command, instant, option
from arena.cli.output import (
    attributes,
    interruptible,
    minute,
    plain,
    prints_aside,
    progress,
    run_async,
    typed,
)
from arena.cli.page import print_table
from arena.cli.table import TableColumn
from arena.clock import now
from arena.cohorts.freeze import check_keys, plan_of, stamp_of
from arena.cohorts.replacements import unproven_hint
from arena.config import Config, environment
from arena.errors import ArenaError, count_text
from arena.operations.incidents import report_decision_time
from arena.record.model.cohort import RoundReport
from arena.record.model.model_version import ModelChange, change_sentence
from arena.record.queries.cohorts import read_newest_time
from arena.record.queries.operations import count_turns
from arena.record.record import Record
from arena.record.schema.database import reading
from arena.rounds.open_world import open_world
from arena.rounds.season import (
    check_decision_time,
    next_decision_time,
    open_cohorts,
    play_time_when_free,
)
from arena.rounds.settlement import next_look
from arena.scores.agent_summary import changed_since
from arena.scores.refresh import refresh_leaderboards

TURNS = (
    TableColumn("agent", narrow="wrap"),
    TableColumn("turn", value=lambda turn: turn["stopped_by"] or turn["status"]),
    TableColumn("forecasts"),
    TableColumn("fills"),
    TableColumn("rejected", value=lambda turn: len(turn["rejections"])),
    TableColumn("note", narrow="wrap"),
)


@command(plays=True)
def round_command(
    chosen: Options,
    at: str | None = option("The decision time, such as 2026-01-04T00:00Z.", "TIME"),
    baselines: bool = BASELINES,
    leave_failed: bool = LEAVE_FAILED,
) -> None:
    """Play one decision time: settle, take a snapshot, let every agent decide, value the accounts.

    By default it plays the next one or, on a live venue, the latest one due. Running it again plays only what
    is missing. The exit status is 2 if a turn failed, was late or malformed, or was stopped by a budget.

    In a simulated or recorded season a round whose model is away (no answer, a server error, a rate limit) is
    played again, and none after it; --leave-failed goes on without those turns.

    Example: arena run --round --at 2026-01-11T00:00Z

    Next: arena board
    """
    settings = chosen.load_to_play(os.environ)
    wanted = None if at is None else instant(at)
    with prints_aside():
        when, reports, changed, joining = play(settings, wanted, baselines, leave_failed)
    told = {"at": when, "rounds": [_as_dict(report) for report in reports], "changes": changed}
    chosen.answer(told, print_reports, when, reports, changed, joining)
    turns = [turn for report in reports for turn in report.turns]
    if any(report.failed or report.waiting for report in reports) or any(
        turn.decision.status in ("partly", "malformed", "declined", "late") for turn in turns
    ):
        raise typer.Exit(2)


def play(
    config: Config, wanted: datetime | None, baselines: bool, leave_failed: bool = False
) -> tuple[datetime, list[RoundReport], list[ModelChange], str]:
    """Play the decision time that is wanted, or the next one.

    With it comes which models have reported themselves as others than before meanwhile, and with which cohort
    agents join that are new in the config.
    """

    async def one(at: datetime) -> list[RoundReport]:
        say = partial(print, file=sys.stderr, flush=True)
        async with open_world(config, record, report_wait=say) as opened:
            world = replace(opened, leaves_failed=leave_failed)
            try:
                reports = await play_time_when_free(at, plan, world, record)
            except Exception as error:
                await report_decision_time(config, record, at, error, say)
                raise
            await report_decision_time(config, record, at, None, say)
            return reports

    def done() -> str:
        turns = sum(record.read(count_turns).values()) - before
        return f"stopped; {count_text(turns, 'turn')} done, and kept"

    def joining() -> str:
        so_far = RecordSoFar(record.begun(), record.read(read_newest_time))
        return joining_text(config, so_far, [stored.cohort for stored in open_cohorts(record)])

    hint = "arena run --round continues it; a call in progress may still be charged"
    with closing(Record.open(config.database)) as record, interruptible(done, hint):
        before = sum(record.read(count_turns).values())
        if not baselines and not record.cohorts():
            check_keys(config, environment(config.folder, os.environ))
        live, began = stamp_of(config) == "live", now()
        plan = plan_of(config, began, record.begun(), None if baselines else os.environ)
        look = next_look(record, record.cohorts(), live, timedelta(seconds=config.cohorts.corrected_within))
        try:
            at = wanted or next_decision_time(plan, record, live, began, look, leave_failed)
        except ArenaError as error:
            hint = joining() or error.hint
            raise ArenaError(error.code, error.message, hint) from error
        check_decision_time(at, plan, record, live, began, look)
        reports = run_async(one(at))
        with progress("Computing the leaderboards") as moved:
            refresh_leaderboards(record, at, moved)
        with reading(record.engine) as connection:
            return at, reports, changed_since(connection, began), joining()


def _as_dict(report: RoundReport) -> dict[str, Any]:
    return attributes(report, "cohort", "at", "done", "waiting", "trouble", "unproven", "replaced") | {
        "round": report.number,
        "turns": [
            {
                "agent": turn.entrant,
                "status": turn.decision.status,
                "stopped_by": "budget" if turn.entrant in report.stopped else None,
                "note": turn.decision.note,
                "repaired": list(turn.decision.repaired),
                "forecasts": len(turn.decision.forecasts),
                "fills": len(turn.fills),
                "rejections": [
                    attributes(item, "code", "message") | {"market": item.market_id}
                    for item in turn.rejections
                ],
            }
            for turn in report.turns
        ],
    }


def print_reports(
    at: datetime, reports: list[RoundReport], changed: Sequence[ModelChange] = (), joining: str = ""
) -> None:
    """Print what was played by each agent, which models changed, and when new agents join."""
    if not reports:
        print(f"{minute(at)} UTC: no decisions left; ended and corrected markets were settled")
    for report in reports:
        print_report(at, report)
    for change in changed:
        print(f"Note: {plain(change_sentence(change))}")
    if joining:
        print(joining)
    print(f"Next: {typed('board')}")


def print_report(at: datetime, report: RoundReport) -> None:
    """What was played in a round of one cohort, and what gives a turn to those who have none yet."""
    print(f"Cohort {report.cohort}, round {report.number}, {minute(at)} UTC")
    for words in (*report.replaced, *report.trouble):
        print(f"  {words}")
    if not report.turns and not report.waiting:
        print("  every turn had already been played; nothing changed\n")
    if report.turns:
        print_table(TURNS, _as_dict(report)["turns"])
    again = f"arena run --round --at {at:%Y-%m-%dT%H:%MZ}"
    if others := [name for name in report.failed if name not in report.stopped]:
        print(f"  {', '.join(others)} failed; {again} tries again")
    away = [turn.agent for turn in report.unanswered if turn.passing]
    if away:
        print(f"  it waits for {', '.join(away)}: it plays this round again; --leave-failed goes on")
    print_settings_hints(report)
    if report.stopped:
        names = ", ".join(report.stopped)
        print(f"  {names} stopped by the budget; arena check shows which, {again} tries again")
    if report.waiting:
        print(f"  another process is playing {', '.join(report.waiting)}")


def print_settings_hints(report: RoundReport) -> None:
    """Who may still play by a corrected block of the config, and how the others may."""
    if report.unproven:
        print(f"  {unproven_hint(report.unproven)}")
    if report.kept:
        names, number = ", ".join(report.kept), report.cohort
        print(f"  {names} had good turns before, so cohort {number} keeps its settings; "
              f"to use new ones: arena admin cohort end {number}, then arena admin cohort start")  # fmt: skip
