"""What is to be done today: the few things that an operator can put right, each with the command that helps.

Once a week they are sent to the webhook too, with the leaderboard.
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
from arena.record.files.backup import newest_backup_file
from arena.record.model.calendar import WEEK
from arena.record.model.incident import Incident
from arena.record.model.status import AgentAnswers
from arena.record.queries.calls import record_size
from arena.record.queries.operations import read_agent_answers
from arena.record.schema.database_errors import sqlite_path
from arena.scores.leaderboard import Leaderboard, LeaderboardRow, percent_of_price
from arena.scores.verdict import Verdict
from markets.hashes import timestamp_text

if TYPE_CHECKING:
    from arena.config import Config
    from arena.record.schema.database import Connection

MALFORMED_SHARE = 0.1
"""More than this share of an agent's answers is worth a look."""
MALFORMED_LEAST = 2
"""Fewer malformed answers than these are not worth a look."""
LEAST_FREE = 1_000_000_000
"""This many bytes should be free beside the record, or twice its size: backups and the log need room."""
CLOCK_TOLERANCE = timedelta(minutes=2)
BACKUP_AGE = timedelta(days=2)
MOST_TASKS = 7
PASSING = (
    "due",
    "playing",
    "failed_turns",
    "missed",
    "paused",
    "agent_waiting",
    "rate_limit",
    "budget_spent_today",
)
"""Reasons for which nothing is to be done; missing keys are found by the config."""
LOOKS = ("all_agents_failed", "agent_failing", "cost_unknown", "no_good_turn", "malformed")
"""Reasons that end with the next good turns of an agent: their command only shows why."""
COMMANDS: Mapping[str, str] = {
    "late": "run",
    "not_running": "run",
    "nothing_begun": "run",
    "unfinished": "run --round",
    "budget_spent": "check",
    "all_agents_failed": "check --live",
    "agent_failing": "show turn {} --play",
    "cost_unknown": "show agent {}",
    "no_good_turn": "show turn {} --play",
    "venue_down": "run --sync",
    "catalogue_incomplete": "run --sync",
    "records_rejected": "run --sync",
    "market_unsettled": "admin settle {} --payout … --because …",
    "verify_failed": "admin backup",
    "heads_unpublished": "run --once",
    "site_unpublished": "share site",
    "ping_failed": "run",
    "job_failing": "run",
}
"""The command that helps against a reason, or shows more of it, by its code; `{}` is what it is about."""


@dataclass(frozen=True, slots=True)
class Task:
    """Something to do: a code for programs, why in words, and the command, as it is typed after `arena`.

    What is only to be looked into goes away with an agent's next good turns, not by the command.
    """

    code: str
    text: str
    command: str

    @property
    def is_look(self) -> bool:
        """Tell whether the command only shows why."""
        return self.code in LOOKS


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is not in the record: its size and the room on its disk in bytes, and the config's part.

    `missing_keys` has, by agent, the environment variable that is not set. With `expects_backups` the config
    has the backup turned on, and `backup_at` is when the newest file in its folder was made.
    """

    missing_keys: Mapping[str, str] = field(default_factory=dict)
    size: int = 0
    free: int | None = None
    expects_backups: bool = False
    backup_at: datetime | None = None


def tasks_for(status: Status, answers: Sequence[AgentAnswers], around: Surroundings) -> list[Task]:
    """Return what is to be done, the worst first, without what passes by itself.

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
    tasks += [*_missing_keys(around), *_malformed(answers), *_machine(status, around)]
    return tasks[:MOST_TASKS]


def _missing_keys(around: Surroundings) -> Iterator[Task]:
    """Yield a task for each key that is not set, which names the agents that need it."""
    for variable in dict.fromkeys(around.missing_keys.values()):
        agents = [name for name, missing in around.missing_keys.items() if missing == variable]
        text = f"{variable} is not set: {', '.join(agents)} will not play; set it in .env"
        yield Task("missing_key", text, "check")


def _malformed(answers: Sequence[AgentAnswers]) -> Iterator[Task]:
    """Yield a task for each agent with many malformed answers, most of them first."""
    for counts in sorted(answers, key=lambda counts: -counts.malformed):
        many = counts.malformed > MALFORMED_SHARE * counts.answers
        if many and counts.malformed >= MALFORMED_LEAST:
            of_answers = count_text(counts.answers, "answer")
            reason = f"{counts.agent}: {counts.malformed:,} of {of_answers} malformed"
            yield Task("malformed", reason, f"show agent {counts.agent}")


def _machine(status: Status, around: Surroundings) -> Iterator[Task]:
    """Yield what is to be done about the disk, the clock and backups."""
    if around.free is not None and around.free < max(LEAST_FREE, 2 * around.size):
        reason = f"{_megabytes(around.free)} are free for a record of {_megabytes(around.size)}"
        yield Task("disk", reason, "db prune")

    by_clock = status.clock == "real" and status.calendar.live
    if by_clock and status.looked_at and status.looked_at > status.at + CLOCK_TOLERANCE:
        reason = f"this machine's clock is behind: prices were read at {status.looked_at:%Y-%m-%d %H:%M} UTC"
        yield Task("clock", reason, "check --live")

    if around.expects_backups and status.calendar.cohorts and status.calendar.live:
        last = newest_backup(status, around.backup_at)
        if last is None:
            yield Task("backup", "there is no backup yet", "admin backup")
        elif status.at - last > BACKUP_AGE:
            days = (status.at - last).days
            yield Task("backup", f"the last backup is {days} days old", "admin backup")


def newest_backup(status: Status, file_at: datetime | None) -> datetime | None:
    """Return when the record was last backed up: by `arena run`, or into a file by hand."""
    job_at = None if status.backup is None else status.backup.ended_at
    return max(filter(None, (job_at, file_at)), default=None)


def _megabytes(size: int) -> str:
    """Return a number of bytes as text, in MB or GB."""
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.0f} MB"


def read_tasks(connection: "Connection", status: Status, config: "Config | None") -> list[Task]:
    """Return what is to be done, by the record, the config, the keys that are set and the disk."""
    newest = max((state.at for state in status.rounds), default=status.at)
    answers = read_agent_answers(connection, newest - WEEK)
    return tasks_for(status, answers, _surroundings(connection, config))


def last_backup(connection: "Connection", status: Status, config: "Config | None") -> datetime | None:
    """Return when the record was last backed up, by whom and wherever the config says."""
    file_at = None if config is None else newest_backup_file(connection.engine.url, config.backups)
    return newest_backup(status, file_at)


def _surroundings(connection: "Connection", config: "Config | None") -> Surroundings:
    """Return the size of the record, the room on its disk (SQLite only), and what the config adds."""
    path = sqlite_path(connection.engine.url)
    free = shutil.disk_usage(Path(path).parent).free if path else None
    size = record_size(connection)
    if config is None:
        return Surroundings(size=size, free=free)

    from arena.config.environment import environment, missing_keys

    missing = missing_keys(config.agents, environment(config.folder, os.environ))
    backup_at = newest_backup_file(connection.engine.url, config.backups)
    return Surroundings(missing, size, free, bool(config.run.backup), backup_at)


BOARD_WIDTH = 80
LONGEST_NAME = 22


def weekly_digest(at: datetime, tasks: Sequence[Task], board: Leaderboard) -> Incident:
    """Return the weekly message to the operator: what is to be done, and who forecasts better than whom."""
    count = count_text(len(tasks), "thing") if tasks else "Nothing"
    verdict = board.verdict or Verdict()
    reason = f"{count} to do. {verdict.sentence}"
    today = [f"{task.text}; arena {task.command}" for task in tasks]
    data = {"today": today, "board": board_lines(board)}
    return Incident("weekly_digest", timestamp_text(at), at, reason, data)


def board_lines(board: Leaderboard) -> list[str]:
    """Return the leaderboard as text of 80 columns: the verdict, a line for each agent, then references."""
    verdict = board.verdict or Verdict()
    lines = [
        line for text in (verdict.sentence, verdict.guarantee) for line in textwrap.wrap(text, BOARD_WIDTH)
    ]
    lines.append(_columns("ranks", "agent", "closer %", "95% interval", "better than", "P/L"))

    lines += [_board_line(row, verdict) for row in board.rows if not row.is_reference]
    references = [_board_line(row, verdict) for row in board.rows if row.is_reference]
    if references:
        lines += ["References, not ranked", *references]
    return [*lines, "Closer: by so many per cent than the price, by the Brier score."]


def _board_line(row: LeaderboardRow, verdict: Verdict) -> str:
    """Return the line of an agent, with a dash for what is not known yet."""
    name = row.agent
    if len(name) > LONGEST_NAME:
        name = f"{name[: LONGEST_NAME - 1]}…"

    told = verdict.of(row.agent)
    closer, low, high = (
        percent_of_price(points, row.brier_market) for points in (row.skill, row.skill_low, row.skill_high)
    )
    money = "–"
    if row.pnl is not None:
        sign = "−" if row.pnl < 0 else "+"
        money = f"{sign}${abs(row.pnl):,.0f}"

    return _columns(
        (told.rank_text if told else "") or "–",
        name,
        "–" if closer is None else f"{closer:+.1f}",
        "–" if low is None or high is None else f"{low:+.1f} to {high:+.1f}",
        (told.better_text if told else "") or "–",
        money,
    )


def _columns(ranks: str, agent: str, closer: str, interval: str, better: str, money: str) -> str:
    """Return the cells of a line, side by side."""
    name = f"{agent:<{LONGEST_NAME + 1}}"
    return f"{ranks:<7}{name}{closer:>8}  {interval:<15}{better:<12}{money:>11}".rstrip()
