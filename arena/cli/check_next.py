"""The next cohort in words: when it starts, and what changes with it."""

import os
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from arena.cli.output import Data, command_line, minute_text, plain
from arena.clock import now
from arena.cohorts.diff import changes_in_words, diff_data
from arena.config import Config
from arena.errors import count_text
from arena.operations.coming_cohort import (
    RecordSoFar,
    changes_since,
    coming_cohort,
    joining_agents,
    read_begun,
)
from arena.record.model.cohort import Cohort
from arena.record.schema.database import Connection
from arena.scores.verdict import list_names

MOST = 5
"""The number of changes listed; `arena show cohort` has the rest."""


def ends_text(data: Data) -> str:
    """Return in words how many markets are expected to end."""
    ends = f"{data['ends_a_month']:,}"
    if data["ends_from"] == "rule":
        return f"about {ends} markets a month or more if rounds are full (a guess: no catalogue was read)"
    return f"about {ends} markets a month (by the catalogue of {minute_text(data['ends_at'])} UTC)"


def start_text(data: Data) -> str:
    """Return the next start in words."""
    if data["record_trouble"]:
        return f"unknown, as the record can't be read: {data['record_trouble']}"

    planned = data["cohorts"]
    by_hand = data["cohorts_by_hand"]
    if data["next_start"] is None:
        begun_on_schedule = data["cohorts_begun"] - by_hand
        text = f"none: {begun_on_schedule} of {count_text(planned, 'cohort')}"
        if by_hand:
            text += f" and {by_hand} off schedule"
        return f"{text} started, and none is scheduled"

    when = f"{minute_text(data['next_start'])} UTC"
    if data["next_start_at_once"]:
        when = "now, with arena run or arena run --round"
    elif data["next_start_missed"]:
        when = f"as soon as you start arena run (its scheduled start, {when}, has passed)"
    text = f"{when}: cohort {data['next_cohort']}"
    if planned and not by_hand:
        text += f" of {planned}"

    # Cohorts started by hand don't count toward those planned.
    is_last = planned and data["next_cohort"] - by_hand >= planned
    if is_last:
        return text
    return f"{text}; then one a week"


def joining_text(
    config: Config, begun: RecordSoFar, open_cohorts: Sequence[Cohort], at: datetime | None = None
) -> str:
    """Return in words when new agents join, and how to start that cohort now; empty if none is new.

    `at` is the time, if it is not that of this machine.
    """
    names = joining_agents(config, begun, open_cohorts)
    if not names:
        return ""

    coming = coming_cohort(config, begun, at or now(), os.environ)
    joins = f"{list_names(names)} {'joins' if len(names) == 1 else 'join'} with"
    start_now = command_line("admin cohort start")
    if coming.next_start is None:
        return f"{joins} the next cohort, and none is scheduled; {start_now} begins one now"

    when = f"on {coming.next_start:%A, %Y-%m-%d}"
    if coming.next_start_missed:
        when = "as soon as arena run is started"
    return f"{joins} cohort {coming.next_cohort} {when}; {start_now} begins it now"


def read_joining_text(connection: Connection, config: Config, at: datetime | None = None) -> str:
    """Return what `joining_text` says by the record of now."""
    # It takes long to load, and without a record nobody needs it.
    from arena.record.queries.cohorts import read_cohorts, read_newest_time

    cohorts = read_cohorts(connection)
    begun = RecordSoFar(tuple(stored.cohort for stored in cohorts), read_newest_time(connection))
    playing = [stored.cohort for stored in cohorts if stored.ended_at is None]
    return joining_text(config, begun, playing, at)


def next_round_command(config: Config | None) -> str:
    """Return the command that plays the next round."""
    if config is None:
        return command_line("run --round")
    coming = coming_cohort(config, read_begun(config.database, {}), now(), os.environ)
    return command_line(coming.next_command)


def changes_data(config: Config, last: Cohort | None, at: datetime) -> dict[str, Any]:
    """Return how the next cohort differs from the one that started last, as data and in words."""
    if last is None:
        return {"differs_from": None, "differences": None, "difference_lines": []}

    changes = changes_since(config, last, at)
    return {
        "differs_from": last.number,
        "differences": diff_data(changes),
        "difference_lines": changes_in_words(changes),
    }


def changes_text(data: Data) -> str:
    """Return the changes of the next cohort in one paragraph."""
    number = data["differs_from"]
    lines = [plain(line) for line in data["difference_lines"]]
    if not lines:
        return f"none since cohort {number}"

    listed = lines[:MOST]
    if len(lines) > MOST:
        listed.append(f"and {len(lines) - MOST} more: arena show cohort {number} next")
    return f"since cohort {number}: {'; '.join(listed)}"
