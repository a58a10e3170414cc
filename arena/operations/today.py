"""The tasks of today: the few things that an operator can mend, each with the command that helps.

Once a week the webhook gets them too, with the leaderboard.
"""

import os
import shutil
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from arena.errors import count_text
from arena.operations.status import Status
from arena.record.model.incident import Incident
from arena.record.model.status import AgentAnswers
from arena.record.queries.calls import record_size
from arena.record.queries.operations import read_agent_answers
from arena.record.schema.database_errors import sqlite_path
from arena.scores.leaderboard import Leaderboard, LeaderboardRow
from markets.hashes import timestamp_text

if TYPE_CHECKING:
    from arena.config import Config
    from arena.record.schema.database import Connection

WEEK = timedelta(days=7)
MALFORMED_SHARE = 0.1
"""An agent's malformed answers are a task if they are more than this share of its answers."""
MALFORMED_LEAST = 2
"""The least number of malformed answers that is a task."""
LEAST_FREE = 1_000_000_000
"""The bytes that should be free beside the record, if not twice its size: backups and the log need room."""
CLOCK_TOLERANCE = timedelta(minutes=2)
BACKUP_AGE = timedelta(days=2)
MOST_TASKS = 7
PASSING = ("due", "playing", "failed_turns", "missed", "paused", "agent_waiting", "rate_limit")
"""Codes of reasons that pass by themselves, or that are found another way: missing keys, by the config."""
COMMANDS: Mapping[str, str] = {
    "late": "run",
    "not_running": "run",
    "nothing_begun": "run",
    "unfinished": "round",
    "budget_spent": "check",
    "all_agents_failed": "check --live",
    "agent_failing": "agents show {}",
    "cost_unknown": "agents show {}",
    "no_good_turn": "agents try {}",
    "venue_down": "check --live",
    "catalogue_incomplete": "markets sync",
    "records_rejected": "markets rejected",
    "market_unsettled": "markets settle {} --payout … --because …",
    "verify_failed": "verify --all",
    "heads_unpublished": "config",
    "site_unpublished": "publish",
    "ping_failed": "status --incidents",
    "job_failing": "status --incidents",
}
"""The command that mends a reason, or shows more of it, by its code; `{}` is whom it is about."""


@dataclass(frozen=True, slots=True)
class Task:
    """Something to do: a code for programs, the reason in words, and the command as typed after `arena`."""

    code: str
    text: str
    command: str


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the record does not hold: keys that are not set, by agent, and the bytes it takes and has free."""

    missing_keys: Mapping[str, str] = field(default_factory=dict)
    size: int = 0
    free: int | None = None
    expects_backups: bool = False


def tasks_for(status: Status, answers: Sequence[AgentAnswers], around: Surroundings) -> list[Task]:
    """Return what an operator should do, the most urgent first; nothing that passes by itself.

    >>> from datetime import UTC
    >>> calm = Status(datetime(2026, 1, 4, tzinfo=UTC))
    >>> tasks_for(calm, [AgentAnswers("claude", 40, 12)], Surroundings())[0].text
    'claude: 12 of 40 answers malformed'
    """
    tasks = [
        Task(reason.code, reason.text, COMMANDS[reason.code].format(reason.about))
        for reason in status.reasons
        if reason.code not in PASSING
    ]
    tasks.extend(_missing_keys(around))
    tasks.extend(_malformed(answers))
    tasks.extend(_machine(status, around))
    return tasks[:MOST_TASKS]


def _missing_keys(around: Surroundings) -> Iterator[Task]:
    """Yield a task for each key that is not set, with the agents that need it."""
    for variable in dict.fromkeys(around.missing_keys.values()):
        agents = [name for name, missing in around.missing_keys.items() if missing == variable]
        yield Task("missing_key", f"{variable} is not set: {', '.join(agents)} will not play", "check")


def _malformed(answers: Sequence[AgentAnswers]) -> Iterator[Task]:
    """Yield a task for each agent that often answers out of form, the one with most such answers first."""
    for row in sorted(answers, key=lambda row: -row.malformed):
        if row.malformed >= MALFORMED_LEAST and row.malformed > MALFORMED_SHARE * row.answers:
            text = f"{row.agent}: {row.malformed:,} of {count_text(row.answers, 'answer')} malformed"
            yield Task("malformed", text, f"agents show {row.agent}")


def _machine(status: Status, around: Surroundings) -> Iterator[Task]:
    """Yield the tasks that are about the machine: its disk, its clock, the backups."""
    if around.free is not None and around.free < max(LEAST_FREE, 2 * around.size):
        text = f"{_megabytes(around.free)} are free for a record of {_megabytes(around.size)}"
        yield Task("disk", text, "db prune")

    if not status.calendar.live:
        return
    if status.clock == "real" and status.looked_at and status.looked_at > status.at + CLOCK_TOLERANCE:
        text = f"this machine's clock is behind: prices were read at {status.looked_at:%Y-%m-%d %H:%M} UTC"
        yield Task("clock", text, "check --live")

    if around.expects_backups and status.calendar.cohorts:
        last = None if status.backup is None else status.backup.ended_at
        if last is None:
            yield Task("backup", "there is no backup yet", "db backup")
        elif status.at - last > BACKUP_AGE:
            yield Task("backup", f"the last backup is {(status.at - last).days} days old", "db backup")


def _megabytes(size: int) -> str:
    """Return a number of bytes in MB, or in GB from one on."""
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.0f} MB"


def read_tasks(connection: "Connection", status: Status, config: "Config | None") -> list[Task]:
    """Return what an operator should do, by the record, the config, the keys that are set and the disk."""
    newest = max((newest_round.at for newest_round in status.rounds), default=status.at)
    answers = read_agent_answers(connection, newest - WEEK)
    return tasks_for(status, answers, _surroundings(connection, config))


def _surroundings(connection: "Connection", config: "Config | None") -> Surroundings:
    """Return what is known of keys, disk and backups; of keys and backups only with a config."""
    path = sqlite_path(connection.engine.url)
    free = shutil.disk_usage(Path(path).parent).free if path else None
    size = record_size(connection)
    if config is None:
        return Surroundings(size=size, free=free)

    from arena.config.environment import environment, missing_keys

    missing = missing_keys(config.agents, environment(config.folder, os.environ))
    return Surroundings(missing, size, free, bool(config.run.backup))


BOARD_WIDTH = 80
LONGEST_NAME = 24


def weekly_digest(at: datetime, tasks: Sequence[Task], board: Leaderboard) -> Incident:
    """Return the incident that tells the operator once a week what is to be done, and who leads."""
    count = count_text(len(tasks), "thing") if tasks else "Nothing"
    data = {
        "today": [f"{task.text}; arena {task.command}" for task in tasks],
        "board": board_lines(board),
    }
    return Incident("weekly_digest", timestamp_text(at), at, f"{count} to do. {board.sentence}", data)


def board_lines(board: Leaderboard) -> list[str]:
    """Return the leaderboard as text of 80 columns: its sentence, then a line for each agent."""
    head = f"{'rank':<7}{'agent':<{LONGEST_NAME}}{'skill':>9}  {'95% interval':<20}{'P/L':>14}"
    return [*textwrap.wrap(board.sentence, BOARD_WIDTH), head, *map(_board_line, board.rows)]


def _board_line(row: LeaderboardRow) -> str:
    """Return the line of an agent; what is not known yet is a dash."""
    name = row.agent
    if len(name) > LONGEST_NAME:
        name = f"{name[: LONGEST_NAME - 2]}…"

    rank = "–"
    skill = "–"
    interval = "–"
    money = "–"
    if row.place_best is not None:
        rank = str(row.place_best)
        if row.place_worst != row.place_best:
            rank += f"-{row.place_worst}"
    if row.skill is not None:
        skill = f"{row.skill:+.4f}"
    if row.skill_low is not None:
        interval = f"{row.skill_low:+.4f} to {row.skill_high:+.4f}"
    if row.pnl is not None:
        sign = "−" if row.pnl < 0 else "+"
        money = f"{sign}${abs(row.pnl):,.0f}"

    return f"{rank:<7}{name:<{LONGEST_NAME}}{skill:>9}  {interval:<20}{money:>14}"
