"""`arena cohorts start`: one more cohort, beside the schedule."""

import os
import sys
from contextlib import redirect_stdout
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.options import Baselines, ConfigFile, Database, Json, options
from arena.cli.output import print_json
from arena.errors import count_text

if TYPE_CHECKING:
    from arena.config import Config
    from arena.record.model.cohort import Cohort


def start(
    context: typer.Context,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="TIME", help="When it starts, such as 2026-01-07T12:00Z."),
    ] = None,
    baselines: Baselines = False,
    config: ConfigFile = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Start a cohort from the config as it is now, beside those of the schedule.

    Without --at it starts now, to the minute, where the venue is live; in a simulated or recorded world at
    the next decision time. All that it plays by is frozen at once, and its first round is at its start. It
    counts among the newest, so the oldest of those that decide may be only tracked from then on. The schedule
    goes on as it was; where it starts a cohort at that very time, this is that one.

    Example: arena cohorts start --at 2026-01-07T00:00Z

    Next: arena round
    """
    from arena.cli.check_next import next_step
    from arena.cli.options import instant

    chosen = options(context, config, database)
    wanted = None if at is None else instant(at)
    with redirect_stdout(sys.stderr):  # an extension may print, and the answer may be JSON
        settings = chosen.load(os.environ, beside=True)
        cohort = begin(settings, wanted, baselines)
    names = [entrant.name for entrant in cohort.entrants]
    told = {
        "cohort": cohort.number,
        "starts_at": cohort.starts_at.isoformat(),
        "by_hand": cohort.by_hand,
        "rounds": cohort.rounds,
        "agents": names,
        "config_hash": cohort.config_hash,
    }
    if as_json:
        print_json(told)
        return
    whose = "" if cohort.by_hand else "; it is the one that the schedule starts then"
    print(f"Cohort {cohort.number} starts on {cohort.starts_at:%Y-%m-%d %H:%M} UTC{whose}: "
          f"{count_text(cohort.rounds, 'round')}, agents {', '.join(names)}")  # fmt: skip
    print(f"Next: {next_step(settings)}")


def begin(config: "Config", wanted: datetime | None, baselines: bool) -> "Cohort":
    """Start it in the record, at the wanted time or as soon as can be."""
    from arena.clock import now
    from arena.cohorts.freeze import plan_of, stamp_of
    from arena.record.queries.cohorts import read_newest_time
    from arena.record.record import Record
    from arena.rounds.season import begin_cohort as start_cohort
    from arena.rounds.season import check_manual_start, manual_start_time

    live, clock = stamp_of(config) == "live", now()
    record = Record.open(config.database)
    try:
        plan = plan_of(config, clock, record.begun(), None if baselines else os.environ)
        known, looked = record.cohorts(), record.read(read_newest_time)
        at = wanted or manual_start_time(plan, known, looked, live, clock)
        check_manual_start(at, known, looked, live, clock)
        return start_cohort(at, plan, record)
    finally:
        record.close()
