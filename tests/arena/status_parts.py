"""What a status is made of, without a record: a job, an incident, a round, and the process that leads."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from arena.record.model.cohort import JobState, UnansweredTurn
from arena.record.model.incident import Incident, RecordedIncident
from arena.record.model.status import AgentAnswers, LeaderStatus, RoundState
from tests.builders import NOW


def a_job_state(
    name: str = "marks", at: datetime = NOW, failures: int = 0, note: str = "", **changes: Any
) -> JobState:
    """Return how a job went that was due at a time, and began and ended then if no change is given."""
    return replace(JobState(name, at, at, at, failures, note), **changes)


def an_incident(
    kind: Any, subject: str = "sky@1", text: str = "", number: int = 1, **data: Any
) -> RecordedIncident:
    """Return an incident that nobody was told of yet, and that lasts."""
    return RecordedIncident(number, Incident(kind, subject, NOW, text, data), None, None, 0, None)


def a_round(
    done: bool = False, number: int = 1, cohort: int = 1, at: datetime = NOW, **turns: int
) -> RoundState:
    """Return a round of three, with its turns by status: `a_round(played=2, failed=1)`."""
    return RoundState(7, cohort, number, at, at + timedelta(seconds=9), done, 3, turns or {"played": 1})


def a_leader(until: datetime = NOW + timedelta(weeks=1), alive: bool = True) -> LeaderStatus:
    """Return the process that leads, or has led."""
    return LeaderStatus("host", "1", alive, until)


def answers(agent: str, asked: int, malformed: int) -> AgentAnswers:
    """Return how many answers of an agent could not be used."""
    return AgentAnswers(agent, asked, malformed)


def no_answer(agent: str) -> UnansweredTurn:
    """Return a turn without an answer, whose server refuses the key."""
    return UnansweredTurn(agent, "auth", "no such key", False, NOW, "api.sky")
