"""Which cohorts and which agent a command is about; where there are none such, which there are."""

from collections.abc import Sequence

from arena.errors import ArenaError
from arena.record.queries.read import StoredCohort


def numbered(stored: Sequence[StoredCohort], number: int | None) -> list[StoredCohort]:
    """The cohort of that number; all of them without one."""
    if number is None:
        return list(stored)
    found = [each for each in stored if each.cohort.number == number]
    if not found:
        known = ", ".join(str(each.cohort.number) for each in stored) or "none yet"
        raise ArenaError("no_cohort", f"there is no cohort {number} here", f"cohorts: {known}")
    return found


def of_agent(stored: Sequence[StoredCohort], agent: str | None) -> list[StoredCohort]:
    """Those cohorts that an agent plays in; all of them without one."""
    found = [each for each in stored if agent is None or agent in each.entrant_ids]
    if agent is not None and not found:
        where = f"in cohort {stored[0].cohort.number}" if len(stored) == 1 else "here"
        known = ", ".join(dict.fromkeys(name for each in stored for name in each.entrant_ids)) or "none yet"
        raise ArenaError("no_agent", f"there is no agent {agent!r} {where}", f"agents: {known}")
    return found
