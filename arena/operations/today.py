"""The tasks of today: the few things that an operator can fix, each with a command.

Once a week they are sent to the webhook too, with the leaderboard.
"""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from agents.model import DECIDED_STATUSES
from arena.errors import count_text
from arena.operations.health import Status, Surroundings
from arena.record.model.calendar import WEEK
from arena.record.model.incident import Incident
from arena.record.model.status import AgentAnswers
from arena.record.schema.cohort import EntrantRow, RoundRow
from arena.record.schema.turn import TurnRow
from arena.record.schema.typed import case, col, func, joined, read_objects, select_as, total
from arena.scores.leaderboard import Leaderboard, LeaderboardRow, percent_of_price
from arena.scores.verdict import Verdict
from markets.hashes import timestamp_text

if TYPE_CHECKING:
    from arena.record.schema.database import Connection

MALFORMED_SHARE = 0.1
"""More than this share of an agent's answers is worth a look."""
MALFORMED_LEAST = 2
"""Fewer malformed answers than these are not worth a look."""
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
    "clock_stepped",
    "lead_taken",
)
"""Reasons for which nothing is to be done; missing keys are found by the config."""
LOOKS = (
    "all_agents_failed",
    "agent_failing",
    "cost_unknown",
    "no_good_turn",
    "malformed",
    "rate_limited",
    "server_failing",
)
"""Reasons that end with the next good turns of an agent: their command only shows why."""


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


def tasks_for(status: Status, answers: Sequence[AgentAnswers]) -> list[Task]:
    """Return the tasks, the worst first, without what passes by itself.

    >>> from datetime import UTC
    >>> calm = Status(datetime(2026, 1, 4, tzinfo=UTC))
    >>> tasks_for(calm, [AgentAnswers("claude", 40, 12)])[0].text
    'claude: 12 of 40 answers malformed'
    """
    tasks = [
        Task(reason.code, reason.text, reason.command)
        for reason in status.reasons
        if reason.code not in PASSING
    ]
    # After the last round no key is needed any more.
    calendar = status.calendar
    if calendar.next_round or calendar.next_cohort or not calendar.cohorts:
        tasks += _missing_key_tasks(status.around)
    tasks += _malformed_answer_tasks(answers)
    return tasks[:MOST_TASKS]


def _missing_key_tasks(around: Surroundings) -> Iterator[Task]:
    """Yield a task for each key that is not set, which names the agents that need it."""
    for variable in dict.fromkeys(around.missing_keys.values()):
        agents = [name for name, missing in around.missing_keys.items() if missing == variable]
        text = f"{variable} is not set: {', '.join(agents)} will not play; set it in .env"
        yield Task("missing_key", text, "check")


def _malformed_answer_tasks(answers: Sequence[AgentAnswers]) -> Iterator[Task]:
    """Yield a task for each agent with many malformed answers, most of them first."""
    for counts in sorted(answers, key=lambda counts: -counts.malformed):
        many = counts.malformed > MALFORMED_SHARE * counts.answers
        if many and counts.malformed >= MALFORMED_LEAST:
            of_answers = count_text(counts.answers, "answer")
            reason = f"{counts.agent}: {counts.malformed:,} of {of_answers} malformed"
            yield Task("malformed", reason, f"show agent {counts.agent}")


def read_tasks(connection: "Connection", status: Status) -> list[Task]:
    """Return the tasks, by the status and the answers of the last week."""
    newest = max((state.at for state in status.rounds), default=status.at)
    answers = _read_agent_answers(connection, newest - WEEK)
    return tasks_for(status, answers)


def _read_agent_answers(connection: "Connection", since: datetime) -> list[AgentAnswers]:
    """Return how many answers of each agent were malformed, in the rounds since an instant."""
    malformed = total(case((TurnRow.status == "malformed", 1), else_=0))
    query = (
        select_as(agent=EntrantRow.name, answers=func.count(), malformed=malformed)
        .select_from(joined(RoundRow, TurnRow, EntrantRow))
        .where(RoundRow.at >= since, col(TurnRow.status).in_(DECIDED_STATUSES))
        .group_by(EntrantRow.name)
        .order_by(EntrantRow.name)
    )
    return read_objects(AgentAnswers, connection.execute(query))


BOARD_WIDTH = 80
LONGEST_NAME = 22


def weekly_digest(at: datetime, tasks: Sequence[Task], board: Leaderboard) -> Incident:
    """Return the weekly message to the operator: the tasks and the leaderboard."""
    count = count_text(len(tasks), "thing") if tasks else "Nothing"
    verdict = board.verdict or Verdict()
    reason = f"{count} to do. {verdict.sentence}"
    today = [f"{task.text}; arena {task.command}" for task in tasks]
    data = {"today": today, "board": board_lines(board)}
    return Incident("weekly_digest", timestamp_text(at), at, reason, data)


def board_lines(board: Leaderboard) -> list[str]:
    """Return the leaderboard as text of 80 columns: the verdict, a line for each agent, then references."""
    verdict = board.verdict or Verdict()
    lines = textwrap.wrap(verdict.sentence, BOARD_WIDTH) + textwrap.wrap(verdict.guarantee, BOARD_WIDTH)
    lines.append(_columns("ranks", "agent", "closer %", "95% interval", "better than", "P/L"))

    lines += [_board_line(row, verdict) for row in board.rows if not row.is_reference]
    references = [_board_line(row, verdict) for row in board.rows if row.is_reference]
    if references:
        lines += ["References, not ranked", *references]
    return [*lines, "Closer: how far (in %) the Brier score is below the price's."]


def _board_line(row: LeaderboardRow, verdict: Verdict) -> str:
    """Return the line of an agent, with dashes for unknown values."""
    name = row.agent
    if len(name) > LONGEST_NAME:
        name = f"{name[: LONGEST_NAME - 1]}…"

    own_verdict = verdict.of(row.agent)
    closer = percent_of_price(row.skill, row.brier_market)
    low = percent_of_price(row.skill_low, row.brier_market)
    high = percent_of_price(row.skill_high, row.brier_market)

    money = "–"
    if row.pnl is not None:
        sign = "−" if row.pnl < 0 else "+"
        money = f"{sign}${abs(row.pnl):,.0f}"

    return _columns(
        (own_verdict.rank_text if own_verdict else "") or "–",
        name,
        "–" if closer is None else f"{closer:+.1f}",
        "–" if low is None or high is None else f"{low:+.1f} to {high:+.1f}",
        (own_verdict.better_text if own_verdict else "") or "–",
        money,
    )


def _columns(ranks: str, agent: str, closer: str, interval: str, better: str, money: str) -> str:
    """Return the cells of a line, side by side."""
    name = f"{agent:<{LONGEST_NAME + 1}}"
    return f"{ranks:<7}{name}{closer:>8}  {interval:<15}{better:<12}{money:>11}".rstrip()
