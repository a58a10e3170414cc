"""`arena round`: play one decision time."""

import asyncio
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.options import ConfigFile, Database, Json, options
from arena.cli.output import print_json, print_table
from arena.errors import ArenaError

if TYPE_CHECKING:
    from arena.config import Config
    from arena.model import RoundReport
    from arena.season import Plan
    from arena.store.read import StoredCohort, StoredRound
    from arena.store.record import Record


def round(
    context: typer.Context,
    at: Annotated[
        str | None, typer.Option("--at", metavar="TIME", help="The decision time, such as 2026-01-04T00:00Z.")
    ] = None,
    config: ConfigFile = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Play one decision time: settle, take the snapshot, let every agent decide, mark.

    Without --at it is the next one: in a simulated world the one after the last played, else the latest that
    is due by the clock. Played twice it changes nothing; what is missing is played.

    Example: arena round --at 2026-01-11T00:00Z

    Next: arena leaderboard
    """
    chosen = options(context, config, database)
    settings = chosen.load(os.environ)
    wanted = None if at is None else instant(at)
    when, reports = play(settings, wanted)
    if as_json:
        print_json({"at": when.isoformat(), "rounds": [as_dict(report) for report in reports]})
        return
    print_reports(when, reports)


def instant(text: str) -> datetime:
    """A time as people write it; without a zone it is UTC.

    >>> instant("2026-01-04").isoformat()
    '2026-01-04T00:00:00+00:00'
    """
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise ArenaError("bad_time", f"{text!r} is not a time", "write it like 2026-01-04T00:00Z") from error
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def play(config: "Config", wanted: datetime | None) -> "tuple[datetime, list[RoundReport]]":
    """Play the decision time that is wanted, or the next one."""
    from arena.clock import now
    from arena.plan import plan_of
    from arena.season import play_time
    from arena.store.record import Record
    from arena.wiring import open_world

    async def one(at: datetime) -> "list[RoundReport]":
        async with open_world(config, record) as world:
            return await play_time(at, plan, world, record)

    record = Record.open(config.database)
    try:
        plan = plan_of(config, now())
        at = wanted or next_time(plan, record, config, now())
        check_time(at, plan, record)
        return at, asyncio.run(one(at))
    finally:
        record.close()


def next_time(plan: "Plan", record: "Record", config: "Config", now: datetime) -> datetime:
    """The decision time to play when none is named."""
    from arena.plan import stamp_of

    begun = [(stored, round) for stored in record.cohorts() for round in record.rounds(stored.id)]
    broken_off = [round.at for stored, round in begun if was_broken_off(stored, round, record)]
    if broken_off:
        return min(broken_off)
    if stamp_of(config) == "simulated":
        last = max((round.at for _, round in begun), default=None)
        following = plan.first if last is None else plan.next_after(last)
        if following is None:
            raise ArenaError("over", "every round has been played", "arena leaderboard shows how it went")
        return following
    due = plan.decision_times(now)
    if not due:
        words = f"the first round is due on {plan.first:%Y-%m-%d %H:%M} UTC"
        raise ArenaError("not_due", words, "come back then")
    return due[-1]


def was_broken_off(stored: "StoredCohort", round: "StoredRound", record: "Record") -> bool:
    """Whether a round stopped in mid-play; one that only has failed turns left did not."""
    from arena.turns import unfinished

    failed_too = unfinished(stored, round, record, {"failed"})
    return not round.done and (not failed_too or bool(unfinished(stored, round, record)))


def check_time(at: datetime, plan: "Plan", record: "Record") -> None:
    """A time at which no cohort starts or decides is a mistake, and so is one before the last played."""
    from arena.cohort import number_at

    cohorts = record.cohorts()
    if plan.starting(at) is None and not any(number_at(stored.cohort, at) for stored in cohorts):
        near = plan.next_after(at)
        mend = f"the next decision is on {near:%Y-%m-%dT%H:%MZ}" if near else "every round is over by then"
        raise ArenaError("no_round", f"nobody decides on {at:%Y-%m-%dT%H:%MZ}", mend)
    times = {round.at for stored in cohorts for round in record.rounds(stored.id)}
    if times and at < max(times) and at not in times:
        words = f"{at:%Y-%m-%dT%H:%MZ} was missed, and {max(times):%Y-%m-%dT%H:%MZ} is in the record already"
        raise ArenaError("too_late", words, "a decision can't be made after a later one: play the next round")


def as_dict(report: "RoundReport") -> dict[str, Any]:
    """A round's report for JSON."""
    return {
        "cohort": report.cohort,
        "round": report.number,
        "at": report.at.isoformat(),
        "done": report.done,
        "waiting": list(report.waiting),
        "turns": [
            {
                "agent": turn.entrant,
                "verdict": turn.decision.verdict,
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


def print_reports(at: datetime, reports: "list[RoundReport]") -> None:
    """What was played, agent by agent."""
    for report in reports:
        print(f"Cohort {report.cohort}, round {report.number}, {at:%Y-%m-%d %H:%M} UTC")
        if not report.turns:
            print("  every turn was in already; nothing changed\n")
            continue
        rows = [
            (
                t.entrant,
                t.decision.verdict,
                len(t.decision.forecasts),
                len(t.fills),
                len(t.rejections),
                t.decision.note,
            )
            for t in report.turns
        ]
        print_table(("agent", "turn", "forecasts", "fills", "refused", "note"), rows)
        if report.failed:
            print(f"  {', '.join(report.failed)} failed; arena round --at {at:%Y-%m-%dT%H:%MZ} tries again")
        if report.waiting:
            print(f"  another process plays {', '.join(report.waiting)}")
    print("Next: arena leaderboard")
