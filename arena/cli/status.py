"""`arena status`: what to do today, the health and state of the arena, and its incidents."""

import asyncio
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import typer

from arena.cli.check_next import read_joining_text
from arena.cli.options import DEFAULT, Options, clock_opener, clock_option
from arena.cli.output import (
    RECORD_OPTIONS,
    command_line,
    counts_text,
    left_out_words,
    minute_text,
    plain,
    rehearsal_command,
)
from arena.cli.page import Fields, Page
from arena.cli.table import Table
from arena.clock import now
from arena.config import Config, environment
from arena.errors import ArenaError, count_text, length_text
from arena.operations.health import (
    GOOD_WORDS,
    RoundCalendar,
    Status,
    awaited_text,
    coming_text,
    past_text,
    second_step,
)
from arena.operations.status import (
    incident_data,
    read_status_by_config,
    status_data,
)
from arena.operations.today import Task, read_tasks
from arena.operations.webhook import send, test_message, webhook_of
from arena.record.files.integrity import find_damage
from arena.record.model.incident import RecordedIncident
from arena.record.model.status import RoundState
from arena.record.queries.cohorts import read_cohorts
from arena.record.schema.database import Connection, open_read_only, reading
from arena.record.write.operations import read_recent_incidents
from arena.verify.reader import VerifiedHead
from arena.verify.verified import read_verified
from markets.millionths import ONE

CLOCKS = {
    "pretended": "the rehearsal's: it is {:%Y-%m-%d %H:%M} UTC there",
    "mixed": "this machine's, but the record is from a rehearsal: use --clock FILE",
}
"""What the page says of a clock other than the system's."""


POOR_HEALTH = 2
"""The exit status if a round is late, or something needs the operator."""


def show_status(chosen: Options, clock: Path | None) -> None:
    """Print the tasks of today and the state of the arena; exit with status 2 if health is poor."""
    with status_now(chosen, clock) as (connection, config, status):
        joining = "" if config is None else read_joining_text(connection, config, status.at)
        tasks = read_tasks(connection, status)
        verified = read_verified(connection, chosen.config or DEFAULT)

    today = [replace(task, command=command_with_options(task.command, clock)) for task in tasks]
    data = {"today": today} | status_data(status)
    data |= {"verified": verified_data(verified), "joins": joining or None}
    data["reasons"] = [reason_with_options(reason, clock) for reason in data["reasons"]]
    chosen.print_answer(data, status_page, status, tasks, verified, clock, joining)
    if status.word not in GOOD_WORDS:
        raise typer.Exit(POOR_HEALTH)


@contextmanager
def status_now(chosen: Options, clock: Path | None) -> Iterator[tuple[Connection, Config | None, Status]]:
    """Yield a connection that reads the record as of one instant, the config if known, and the status."""
    config = chosen.known_config()
    address = chosen.record_address() if config is None else config.database
    at = clock_opener(clock)().now()
    with open_read_only(address) as engine, reading(engine) as connection:
        # With --database alone, the config of the folder may be that of another arena.
        if config is not None and chosen.config is None and chosen.database is not None:
            config = config_of_record(connection, config)

        damage = find_damage(connection)
        clock_file = "" if clock is None else str(clock)
        status = read_status_by_config(connection, at, config, clock_file=clock_file, damage=damage)
        yield connection, config, status


def config_of_record(connection: Connection, config: Config) -> Config | None:
    """Return the folder's config if the record is of its arena, else None.

    The newest cohort must have the config's venue, and at least one of its agents.
    """
    cohorts = read_cohorts(connection)
    if not cohorts:
        return config

    newest = cohorts[-1].cohort
    entrant_names = {entrant.name for entrant in newest.entrants}
    shares_an_agent = any(agent.name in entrant_names for agent in config.agents)
    is_same_arena = newest.venue == config.markets.venue and shares_an_agent
    return config if is_same_arena else None


def verified_data(verified: VerifiedHead) -> dict[str, Any]:
    """Return when rows of the record were last verified, for JSON; nulls if that isn't known."""
    parts_at = list(map(datetime.fromisoformat, verified.parts_at))
    return {
        "new_rows_at": datetime.fromisoformat(verified.new_at) if parts_at else None,
        "older_rows_since": min(parts_at, default=None),
        "parts_at": parts_at,
    }


def status_page(
    status: Status,
    tasks: Sequence[Task],
    verified: VerifiedHead,
    clock: Path | None = None,
    joining: str = "",
) -> Page:
    """Yield the tasks of today, then the health and state of the arena.

    `clock` is that of a rehearsal; `joining` says instant_and_age new agents join.
    """
    to_do = [task for task in tasks if not task.is_look]
    to_look_at = [task for task in tasks if task.is_look]
    today = "nothing to do"
    if to_do:
        today = f"{count_text(len(to_do), 'thing')} to do"
    elif not status.playing and status.calendar.cohorts and status.calendar.next_cohort is None:
        waits = awaited_text(status.awaited) if status.awaited else "the season is finished"
        today = f"nothing to do, {waits}"
    yield f"Today: {today}"
    yield from task_lines(to_do, clock)

    if to_look_at:
        yield "Worth a look:"
        yield from task_lines(to_look_at, clock)

    yield f"\nHealth: {status.word}"
    yield from reason_lines(status, clock)
    yield ""

    fields = dict(status_fields(status, clock))
    if joining:
        fields["new agents"] = joining
    yield Fields(fields | {"record": verified_text(verified, status.at, clock)})
    if status.jobs:
        yield jobs_table(status)
    for incident in status.incidents:
        yield incident_line(incident)


def suggested_command_line(command: str, clock: Path | None) -> str:
    """Return a command line to suggest; in a rehearsal it names the clock."""
    return command_line(rehearsal_command(command, clock_option(clock)))


def command_with_options(command: str, clock: Path | None) -> str:
    """Return a command as it is typed after `arena` for the same record, config and clock."""
    return rehearsal_command(command, clock_option(clock)) + RECORD_OPTIONS.get()


def reason_with_options(reason: dict[str, Any], clock: Path | None) -> dict[str, Any]:
    """Return a reason for JSON whose command names the same record, config and clock."""
    command = reason["command"]
    if command is not None:
        command = f"arena {command_with_options(command.removeprefix('arena '), clock)}"
    return reason | {"command": command}


def task_lines(tasks: Sequence[Task], clock: Path | None) -> Page:
    """Yield each task with its command below it."""
    for task in tasks:
        yield f"  {task.text}\n    {suggested_command_line(task.command, clock)}"
        yield from second_step_line(task.code, clock)


def reason_lines(status: Status, clock: Path | None) -> Page:
    """Yield each reason for the health, with its details and its command below it."""
    for reason in status.reasons:
        yield f"  {reason.text}"
        details = ", ".join(map(plain, reason.details(status.at)))
        if details:
            yield f"    {details}"
        if reason.command:
            yield f"    {suggested_command_line(reason.command, clock)}"
            yield from second_step_line(reason.code, clock)


def second_step_line(code: str, clock: Path | None) -> Page:
    """Yield the second step against a trouble, if there is one: asking a model alone does not end it."""
    command = second_step(code)
    if command:
        yield (
            "    once the model answers, the next round clears this: "
            f"{suggested_command_line(command, clock)}"
        )


def status_fields(status: Status, clock: Path | None) -> Iterator[tuple[str, str]]:
    """Yield the label and text of each line of the state."""
    at = status.at
    calendar = status.calendar
    held = status.held
    # In a world with its own time, the age of prices means nothing.
    age_from = at if calendar.live else None
    if status.clock != "real":
        yield "clock", CLOCKS[status.clock].format(at)
    yield "running", leader_text(status, clock)
    yield "next round", next_text(calendar.next_round, calendar, at, clock)
    yield "next cohort", next_text(calendar.next_cohort, calendar, at, clock)
    yield "last round", last_round_text(status.last)
    rounds = f"{calendar.done:,} finished of {calendar.due:,} due"
    if status.lag:
        rounds += f", {length_text(status.lag)} late"
    yield "rounds", rounds
    yield "turns", counts_text(status.turns) or "none"

    yield from spending_fields(status)
    stale = count_text(held.stale, "stale price")
    yield "positions", f"{held.positions:,} open in {held.markets:,} markets, {stale}"
    prices = f"last read {instant_and_age(status.looked_at, age_from)}"
    if held.oldest is not None:
        prices += f"; oldest of an open position {instant_and_age(held.oldest, age_from)}"
    yield "prices", prices

    for catalogue in status.catalogues:
        left_out = left_out_words(catalogue.left_out) or "none left out"
        read_at = instant_and_age(catalogue.at, at)
        yield "catalogue", f"{catalogue.markets:,} of {catalogue.venue}, {read_at}; {left_out}"
    rejected = ", ".join(f"{row.records:,} {row.venue} {row.kind} {row.code}" for row in status.quarantined)
    yield "quarantine", f"{rejected or 'nothing'} in the last day"
    yield "heads", heads_text(status)
    backup = instant_and_age(status.backup_at, at) if status.backup_at else "none yet"
    yield "backup", f"{backup}; its file is not here" if status.backup_is_away else backup


def verified_text(verified: VerifiedHead, at: datetime, clock: Path | None) -> str:
    """Return when the rows of the record were last verified."""
    if not verified.number:
        return f"not verified yet: {suggested_command_line('run', clock)} does that daily"

    new_rows_at = instant_and_age(datetime.fromisoformat(verified.new_at), at)
    all_rows_since = instant_and_age(datetime.fromisoformat(verified.all_since), at)
    if new_rows_at == all_rows_since:
        return f"all rows verified {new_rows_at}"
    return f"new rows last verified {new_rows_at}; every older row at least once since {all_rows_since}"


def spending_fields(status: Status) -> Iterator[tuple[str, str]]:
    """Yield the money spent, the use of each limit, and the calls in progress."""
    calendar = status.calendar
    spend = status.spend
    spent = f"{dollars(spend.today)} today, {dollars(spend.month)} this month"
    if calendar.cohorts and not calendar.live:
        spent += " (simulated)"
    yield "spent", spent
    for limit in spend.limits:
        used_of_limit = f"{dollars(limit.spent)} of {dollars(limit.limit)}"
        if limit.whose:
            used_of_limit += f" ({limit.whose})"
        yield f"per {limit.scope}", used_of_limit

    calls = status.under_way
    in_progress = f"{calls.calls:,} in progress"
    if calls.lost:
        worst = dollars(calls.lost_worst)
        in_progress += f"; {calls.lost:,} were lost with their worker and may cost {worst}"
    yield "calls", in_progress


def leader_text(status: Status, clock: Path | None) -> str:
    """Return which process runs the arena."""
    leader = status.leader
    if leader is None:
        return f"no; start it with {suggested_command_line('run', clock)}"
    process = f"process {leader.process} on {leader.host}"
    return process if leader.alive else f"no; {process} ran it until {minute_text(leader.until)} UTC"


def next_text(coming: datetime | None, calendar: RoundCalendar, at: datetime, clock: Path | None) -> str:
    """Return the time of the next event in words.

    A simulated world has a time of its own, and a first cohort starts at once.
    """
    if coming is None:
        return "–"
    if not calendar.live:
        text = f"{minute_text(coming)} UTC, simulated:"
        command = suggested_command_line("run --round", clock)
        if clock is not None and coming > at:
            return f"{text} with that time in the clock's file, {command} plays it"
        return f"{text} {command} plays it now"
    if not calendar.cohorts and coming <= at:
        return f"now: {suggested_command_line('run --round', clock)} starts it"
    return coming_text(coming, at)


def last_round_text(rounds: Sequence[RoundState]) -> str:
    """Return the outcome of the last rounds, over all cohorts."""
    if not rounds:
        return "none"
    turns = Counter[str]()
    for state in rounds:
        turns.update(state.turns)
    missing = sum(state.missing for state in rounds)
    if missing:
        turns["missing"] = missing
    numbers = ", ".join(f"round {state.number} of cohort {state.cohort}" for state in rounds)
    return f"{minute_text(rounds[0].at)} UTC, {numbers}: {counts_text(turns)}"


def heads_text(status: Status) -> str:
    """Return how much of the chain has been published, and when."""
    heads = status.heads
    if heads.at is None and heads.failing_since is None:
        return f"{heads.newest:,}, none published (set `heads` in the config)"

    text = (
        f"{heads.published:,} of {heads.newest:,} published, the last {instant_and_age(heads.at, status.at)}"
    )
    if heads.failing_since is not None:
        text += f"; failing since {instant_and_age(heads.failing_since, status.at)}"
    if heads.error:
        text += f": {plain(heads.error)}"
    return text


def jobs_table(status: Status) -> Table:
    """Return a table of the jobs: when each was last done, its failures and its next time."""
    rows = []
    for job in status.jobs:
        next_at = status.next_jobs.get(job.name)
        last_done = instant_and_age(job.ended_at, status.at)
        next_time = coming_text(next_at, status.at) if next_at else "–"
        rows.append((job.name, last_done, job.failures or None, next_time, plain(job.note) or None))
    return Table(("job", "last done", "failed", "next", "note"), rows)


def incident_line(recorded: RecordedIncident) -> str:
    """Return an incident as a line."""
    incident = recorded.incident
    state = ", ongoing"
    if recorded.ended_at is not None:
        state = "" if recorded.ended_at == incident.at else f", until {minute_text(recorded.ended_at)} UTC"
    return f"{minute_text(incident.at)} UTC  {incident.text} ({incident.kind}, {recorded.delivery}{state})"


def instant_and_age(at: datetime | None, now: datetime | None) -> str:
    """Return a past instant with its distance from now; without the distance if `now` is None.

    >>> from datetime import UTC
    >>> instant_and_age(datetime(2026, 1, 4, tzinfo=UTC), datetime(2026, 1, 4, 2, 30, tzinfo=UTC))
    '2026-01-04 00:00 UTC (2.5 h ago)'
    """
    if at is None:
        return "–"
    if now is None:
        return f"{minute_text(at)} UTC"
    return past_text(at, now)


def dollars(amount: int) -> str:
    """Return an amount of money as text."""
    return f"${amount / ONE:,.2f}"


def list_incidents(chosen: Options, limit: int, clock: Path | None) -> None:
    """Print incidents, newest first, whether each was sent to the webhook, and that others may be to come."""
    with status_now(chosen, clock) as (connection, _, status):
        incidents = read_recent_incidents(connection, limit)
    has_unrecorded_trouble = any(
        reason.word == "trouble" and not reason.incidents for reason in status.reasons
    )
    show_status_command = command_line(f"status{clock_option(clock)}")

    lines = [incident_line(incident) for incident in incidents]
    if not incidents:
        text = "No incidents are recorded."
        if not has_unrecorded_trouble:
            text += f" Next: {show_status_command}"
        lines = [text]
    elif len(incidents) == limit:
        lines.append(f"The newest {limit:,}; --limit shows more.")
    if has_unrecorded_trouble:
        lines.append(f"There is trouble now that is no incident yet: {show_status_command} shows it.")
    chosen.print_answer({"incidents": [incident_data(incident) for incident in incidents]}, iter, lines)


def send_test(chosen: Options) -> None:
    """Send a test message to the config's webhook; raise `ArenaError` if it didn't arrive."""
    config = chosen.load_config()
    webhook = webhook_of(config.watch, environment(config.folder, os.environ))
    if webhook is None:
        hint = "set watch.webhook to its address, or to $ and the variable that holds it"
        raise ArenaError("no_webhook", f"{config.file} has no webhook", hint)

    reply = asyncio.run(send(webhook, test_message(now())))
    if not reply.ok:
        message = f"the message was not delivered: {webhook.name} {reply.words}"
        raise ArenaError(f"webhook_{reply.code}", message, "check the address and the service behind it")
    line = f"{webhook.name} accepted the message (status {reply.status}). Next: {command_line('run')}"
    chosen.print_answer({"ok": True, "webhook": webhook.name, "status": reply.status}, iter, [line])
