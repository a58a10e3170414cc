"""`arena round`: play one decision time."""

import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.agents import change_data
from arena.cli.options import Baselines, Options, command, instant
from arena.cli.output import plain, progress
from arena.cli.table import print_table
from arena.errors import ArenaError

if TYPE_CHECKING:
    from arena.config import Config
    from arena.record.model.cohort import RoundReport, Turn
    from arena.record.model.model_version import ModelChange


@command()
def round(
    chosen: Options,
    at: Annotated[
        str | None, typer.Option("--at", metavar="TIME", help="The decision time, such as 2026-01-04T00:00Z.")
    ] = None,
    baselines: Baselines = False,
) -> None:
    """Play one decision time: settle, take the snapshot, let every agent decide, mark.

    Without --at it is the next one: in a simulated world the one after the last played, else the latest that
    is due by the clock. Played twice it changes nothing; what is missing is played. The exit status is 2
    when an agent failed, a budget among the reasons, or another process still plays.

    Example: arena round --at 2026-01-11T00:00Z

    Next: arena leaderboard
    """
    settings = chosen.load(os.environ)
    wanted = None if at is None else instant(at)
    with redirect_stdout(sys.stderr):  # an extension may print, and the answer may be JSON
        when, reports, changed = play(settings, wanted, baselines)
    told = {"at": when.isoformat(), "rounds": [as_dict(report) for report in reports]}
    told |= {"changes": [change_data(change) for change in changed]}
    chosen.answer(told, print_reports, when, reports, changed)
    if any(report.failed or report.waiting for report in reports):
        raise typer.Exit(2)


def play(
    config: "Config", wanted: datetime | None, baselines: bool
) -> "tuple[datetime, list[RoundReport], list[ModelChange]]":
    """Play the decision time that is wanted, or the next one.

    With it comes which models have reported themselves as others than before meanwhile.
    """
    import asyncio

    from arena.clock import now
    from arena.cohorts.freeze import check_keys, plan_of, stamp_of
    from arena.config import environment
    from arena.operations.incidents import report_decision_time
    from arena.record.record import Record
    from arena.record.schema.database import reading
    from arena.rounds.open_world import open_world
    from arena.rounds.season import check_decision_time, next_decision_time, play_time
    from arena.scores.agent_summary import changed_since
    from arena.scores.refresh import refresh_leaderboards

    async def one(at: datetime) -> "list[RoundReport]":
        say = partial(print, file=sys.stderr)
        async with open_world(config, record) as world:
            try:
                reports = await play_time(at, plan, world, record)
            except Exception as error:
                await report_decision_time(config, record, at, error, say)
                raise
            await report_decision_time(config, record, at, None, say)
            return reports

    record = Record.open(config.database)
    try:
        if not baselines and not record.cohorts():
            check_keys(config, environment(config.folder, os.environ))
        plan, live, began = (
            plan_of(config, now(), record.begun(), None if baselines else os.environ),
            stamp_of(config) == "live",
            now(),
        )
        at = wanted or next_decision_time(plan, record, live, began)
        check_decision_time(at, plan, record, live, began)
        reports = asyncio.run(one(at))
        with progress("Computing the leaderboards") as moved:
            refresh_leaderboards(record, at, moved)
        with reading(record.engine) as connection:
            return at, reports, changed_since(connection, began)
    except KeyboardInterrupt:
        hint = "arena round goes on where it stopped; a call that was under way may be charged"
        raise ArenaError("interrupted", "stopped; what was played is kept", hint, status=130) from None
    finally:
        record.close()


def as_dict(report: "RoundReport") -> dict[str, Any]:
    """A round's report for JSON."""
    return {
        "cohort": report.cohort,
        "round": report.number,
        "at": report.at.isoformat(),
        "done": report.done,
        "waiting": list(report.waiting),
        "trouble": list(report.trouble),
        "turns": [
            {
                "agent": turn.entrant,
                "verdict": turn.decision.status,
                "stopped_by": "budget" if turn.entrant in report.stopped else None,
                "note": turn.decision.note,
                "forecasts": len(turn.decision.forecasts),
                "fills": len(turn.fills),
                "rejections": [
                    {"code": item.code, "message": item.message, "market": item.market_id}
                    for item in turn.rejections
                ],
            }
            for turn in report.turns
        ],
    }


def print_reports(at: datetime, reports: "list[RoundReport]", changed: "Sequence[ModelChange]" = ()) -> None:
    """What was played, agent by agent, and which models are not what they were."""
    from arena.record.model.model_version import change_sentence

    if not reports:
        print(f"{at:%Y-%m-%d %H:%M} UTC: nobody decides any more; what has ended was settled")
    for report in reports:
        print_report(at, report)
    for change in changed:
        print(f"Note: {plain(change_sentence(change))}")
    print("Next: arena leaderboard")


def print_report(at: datetime, report: "RoundReport") -> None:
    """What was played in a round of one cohort."""
    print(f"Cohort {report.cohort}, round {report.number}, {at:%Y-%m-%d %H:%M} UTC")
    for words in report.trouble:
        print(f"  {words}")
    if not report.turns and not report.waiting:
        print("  every turn was in already; nothing changed\n")
    if report.turns:
        print_turns(report)
    print_failed(at, report)
    if report.waiting:
        print(f"  another process plays {', '.join(report.waiting)}")


def print_failed(at: datetime, report: "RoundReport") -> None:
    """Who has no turn yet, and what gives them one."""
    again = f"arena round --at {at:%Y-%m-%dT%H:%MZ}"
    if others := [name for name in report.failed if name not in report.stopped]:
        print(f"  {', '.join(others)} failed; {again} tries again")
        print(f"  cohort {report.cohort} keeps the settings it began with; to play with a corrected config: "
              f"arena cohorts end {report.cohort}, then arena cohorts start")  # fmt: skip
    if report.stopped:
        names = ", ".join(report.stopped)
        print(f"  {names} stopped by the budget; arena check says where it is short, {again} tries again")


def print_turns(report: "RoundReport") -> None:
    """The turns that were played now."""
    rows = [
        (
            turn.entrant,
            _way(turn, report),
            len(found.forecasts),
            len(turn.fills),
            len(turn.rejections),
            found.note,
        )
        for turn in report.turns
        for found in (turn.decision,)
    ]
    print_table(("agent", "turn", "forecasts", "fills", "rejected", "note"), rows)


def _way(turn: "Turn", report: "RoundReport") -> str:
    """How a turn ended; where a budget stopped it, that."""
    return "budget" if turn.entrant in report.stopped else turn.decision.status
