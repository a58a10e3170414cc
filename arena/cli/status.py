"""`arena status`: how the arena stands, and what an operator should hear of."""

import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from arena.cli.options import Options, command, flag, option
from arena.cli.output import left_out_words, minute, plain, typed
from arena.cli.page import line_width, print_table, print_text
from arena.clock import PretendedClock, SystemClock
from arena.config import Config, environment
from arena.errors import ArenaError, count_text, far_text, length_text
from arena.operations.status import (
    HealthReason,
    RoundCalendar,
    Status,
    incident_data,
    read_status_by_config,
    status_data,
)
from arena.operations.today import Task, last_backup, read_tasks
from arena.record.model.incident import RecordedIncident
from arena.record.model.status import RoundState
from arena.record.queries.cohorts import read_cohorts
from arena.record.schema.database import Connection, open_read_only, reading
from arena.record.write.operations import read_recent_incidents
from markets.millionths import ONE

CLOCKS = {
    "pretended": "the rehearsal's: it is {:%Y-%m-%d %H:%M} UTC there",
    "mixed": "this machine's, but the record is from a rehearsal: use --clock FILE",
}
"""Whose time it is, where that is not plain."""


def print_status(status: Status, tasks: Sequence[Task], backup_at: datetime | None) -> None:
    """Print all of it: first what is to be done."""
    to_do = [task for task in tasks if not task.is_look]
    if to_do:
        print(f"Today: {count_text(len(to_do), 'thing')} to do")
    elif not status.playing and status.calendar.cohorts and status.calendar.next_cohort is None:
        print("Today: nothing to do, the season is finished")
    else:
        print("Today: nothing to do")
    print_tasks(to_do)

    looks = [task for task in tasks if task.is_look]
    if looks:
        print("Worth a look:")
        print_tasks(looks)

    print(f"\nHealth: {status.word}")
    for reason in status.reasons:
        print_text(f"  {reason.text}", 4)
        details = ", ".join(_details(reason, status.at))
        if details:
            print_text(f"    {details}", 4)
    print()

    for name, words in _lines(status, backup_at):
        print_text(f"{name:<12}{words}", 12)
    print_jobs(status)
    for told in status.incidents:
        print_text(incident_line(told), 2)


def print_tasks(tasks: Sequence[Task]) -> None:
    """Print each task with its command behind it, or below where a line has no room for both."""
    width = line_width() or sys.maxsize
    longest = max((len(task.text) for task in tasks), default=0)
    for task in tasks:
        line = f"  {task.text:<{longest}}  {typed(task.command)}"
        if len(line) <= width:
            print(line)
        else:
            print_text(f"  {task.text}", 4)
            print(f"    {typed(task.command)}")


def _details(reason: HealthReason, at: datetime) -> Iterator[str]:
    """Yield why something is so, since when, and when it is tried again."""
    if reason.cause:
        yield plain(reason.cause)
    if reason.since is not None:
        yield f"since {when(reason.since, at)}"
    if reason.next_try is not None:
        yield f"next try {when(reason.next_try, at)}"


def _lines(status: Status, backup_at: datetime | None) -> Iterator[tuple[str, str]]:
    """Yield the name of each line, and what it says."""
    at, calendar, held = status.at, status.calendar, status.held
    look = at if calendar.live else None
    if status.clock != "real":
        yield "clock", CLOCKS[status.clock].format(at)
    yield "running", _leader(status)
    for name, coming in (("next round", calendar.next_round), ("next cohort", calendar.next_cohort)):
        yield name, _coming(coming, calendar, at)
    yield "last round", _last(status.last)
    late = f", {length_text(status.lag)} late" if status.lag else ""
    yield "rounds", f"{calendar.done:,} of {calendar.due:,} due are finished{late}"
    yield "turns", _counted(status.turns) or "none"
    simulated = "" if calendar.live or not calendar.cohorts else " (simulated)"
    spend = status.spend
    yield "spent", f"{_dollars(spend.today)} today, {_dollars(spend.month)} this month{simulated}"
    for limit in status.spend.limits:
        whose = f" ({limit.whose})" if limit.whose else ""
        yield f"per {limit.scope}", f"{_dollars(limit.spent)} of {_dollars(limit.limit)}{whose}"
    calls = status.under_way
    lost = f"; {calls.lost:,} were lost with their worker and may cost {_dollars(calls.lost_worst)}"
    yield "calls", f"{calls.calls:,} in progress{lost if calls.lost else ''}"
    stale = count_text(held.stale, "stale price")
    yield "positions", f"{held.positions:,} open in {held.markets:,} markets, {stale}"
    oldest = "" if held.oldest is None else f"; oldest of an open position {when(held.oldest, look)}"
    yield "prices", f"last read {when(status.looked_at, look)}{oldest}"
    for read in status.catalogues:
        left = left_out_words(read.left_out) or "none left out"
        yield "catalogue", f"{read.markets:,} of {read.venue}, {when(read.at, at)}; {left}"
    rejected = ", ".join(f"{x.records:,} {x.venue} {x.kind} {x.code}" for x in status.quarantined)
    yield "quarantine", f"{rejected or 'nothing'} in the last day"
    yield "heads", _heads(status)
    yield "backup", when(backup_at, at) if backup_at else "none yet"


def _coming(coming: datetime | None, calendar: RoundCalendar, at: datetime) -> str:
    """Return when something comes next.

    A made-up world has a time of its own, and a first cohort starts at once.
    """
    if coming is None:
        return "–"
    if not calendar.live:
        return f"{minute(coming)} UTC, simulated: arena run --round plays it now"
    if not calendar.cohorts and coming <= at:
        return "now: arena run or arena run --round starts it"
    return when(coming, at)


def _heads(status: Status) -> str:
    """Return how much of the chain has left the machine, and how long ago."""
    heads = status.heads
    if heads.at is None and heads.failing_since is None:
        return f"{heads.newest:,}, none published (set heads.file or heads.command)"
    count = f"{heads.published:,} of {heads.newest:,} published, the last {when(heads.at, status.at)}"
    since = "" if heads.failing_since is None else f"; failing since {when(heads.failing_since, status.at)}"
    return f"{count}{since}{f': {plain(heads.error)}' if heads.error else ''}"


def _leader(status: Status) -> str:
    leader = status.leader
    if leader is None:
        return "no; start it with arena run"
    who = f"process {leader.process} on {leader.host}"
    return who if leader.alive else f"no; {who} ran it until {minute(leader.until)} UTC"


def _last(rounds: Sequence[RoundState]) -> str:
    if not rounds:
        return "none"
    turns = sum((Counter(one.turns) for one in rounds), Counter[str]())
    missing = sum(one.missing for one in rounds)
    turns.update({"missing": missing} if missing else {})
    of = ", ".join(f"{one.number} of cohort {one.cohort}" for one in rounds)
    return f"{minute(rounds[0].at)} UTC, {of}: {_counted(turns)}"


def print_jobs(status: Status) -> None:
    """Print when each job was last done, and how that went."""
    at, coming = status.at, status.next_jobs
    rows = [
        (
            x.name,
            when(x.ended_at, at),
            x.failures or None,
            when(coming.get(x.name), at),
            plain(x.note) or None,
        )
        for x in status.jobs
    ]
    if rows:
        print_table(("job", "last done", "failed", "next", "note"), rows)


def incident_line(told: RecordedIncident) -> str:
    """Return something that happened, as a line."""
    incident = told.incident
    state = "" if told.ended_at else ", ongoing"
    return f"{minute(incident.at)} UTC  {incident.text} ({incident.kind}, {told.delivery}{state})"


def when(at: datetime | None, now: datetime | None) -> str:
    """Return an instant, and how far away it is; alone, where it is of another time than now.

    >>> from datetime import UTC
    >>> when(datetime(2026, 1, 4, tzinfo=UTC), datetime(2026, 1, 3, 21, 30, tzinfo=UTC))
    '2026-01-04 00:00 UTC (in 2.5 h)'
    """
    if at is None or now is None:
        return "–" if at is None else f"{minute(at)} UTC"
    return f"{minute(at)} UTC ({far_text(at, now)})"


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())


def _dollars(amount: int) -> str:
    return f"${amount / ONE:,.2f}"


@command()
def status(
    chosen: Options,
    clock: Path | None = option("For a rehearsal: use the time of its clock.", "FILE"),
    incidents: bool = flag("List incidents, newest first, and whether each was sent."),
    limit: int = option("List at most N incidents.", default=20, min=1),
    test_webhook: bool = flag("Test the config's webhook."),
) -> None:
    """Show what to do today, and how the arena stands: what is due, what it cost, what is old or broken.

    Health is ok; waiting, for something that needs no action; late, with a round overdue; or trouble, which
    needs you. The exit status is 0.

    Incidents are failed rounds, spent budgets, outages and finished cohorts. `arena run` posts each to
    `watch.webhook` once; one that has not ended, such as an outage, is marked ongoing.

    --test-webhook sends a message whose event is `test`; the exit status is 1 if it did not arrive. The full
    address is never shown.

    Example: arena status --json

    Next: arena status --incidents
    """
    if incidents and test_webhook:
        words = "--incidents and --test-webhook can't be combined"
        raise ArenaError("two_questions", words, "leave out one", status=64)
    if test_webhook:
        send_test(chosen)
        return
    if incidents:
        list_incidents(chosen, limit)
        return
    config, at = chosen.known(), (PretendedClock.read(clock) if clock else SystemClock()).now()
    address = chosen.record() if config is None else config.database
    with open_read_only(address) as engine, reading(engine) as connection:
        if config is not None and chosen.config is None and chosen.database is not None:
            config = config_of_record(connection, config)
        found = read_status_by_config(connection, at, config, pretended=clock is not None)
        tasks = read_tasks(connection, found, config)
        backup_at = last_backup(connection, found, config)
    data = {"today": tasks} | status_data(found) | {"backup": backup_at}
    chosen.answer(data, print_status, found, tasks, backup_at)


def config_of_record(connection: Connection, config: Config) -> Config | None:
    """Return the folder's config if the record is of its arena; None if it only lies in the same folder.

    The newest cohort has the settings that it was started with: its venue, and who plays.
    """
    cohorts = read_cohorts(connection)
    if not cohorts:
        return config

    newest = cohorts[-1].cohort
    names = {entrant.name for entrant in newest.entrants}
    same = newest.venue == config.markets.venue and any(agent.name in names for agent in config.agents)
    return config if same else None


def list_incidents(chosen: Options, limit: int) -> None:
    """List incidents, newest first, and whether the webhook has been told of each."""
    with chosen.reading() as connection:
        found = read_recent_incidents(connection, limit)
    lines = [incident_line(told) for told in found]
    if not found:
        lines = [f"No incidents. Next: {typed('status')}"]
    elif len(found) == limit:
        lines.append(f"The newest {limit:,}; --limit shows more.")
    chosen.answer({"incidents": [incident_data(told) for told in found]}, print, "\n".join(lines))


def send_test(chosen: Options) -> None:
    """Send a test message to the config's webhook, and say whether it arrived."""
    import asyncio

    from arena.clock import now
    from arena.operations.webhook import send, test_message, webhook_of

    settings = chosen.load()
    webhook = webhook_of(settings.watch, environment(settings.folder, os.environ))
    if webhook is None:
        hint = "set watch.webhook, or watch.webhook_env to the variable that holds its address"
        raise ArenaError("no_webhook", f"{settings.file} has no webhook", hint)
    reply = asyncio.run(send(webhook, test_message(now())))
    if not reply.ok:
        words = f"the message was not delivered: {webhook.name} {reply.words}"
        raise ArenaError(f"webhook_{reply.code}", words, "check the address and the service behind it")
    words = f"{webhook.name} accepted the message (status {reply.status}). Next: {typed('run')}"
    chosen.answer({"ok": True, "webhook": webhook.name, "status": reply.status}, print, words)
