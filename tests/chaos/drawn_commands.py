"""The commands that an operator gives while a simulated season is played."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

from arena.record.files.backup import backup_to
from arena.record.record import Record
from arena.record.schema.database import open_read_only
from arena.record.write.cohorts import pause_cohort
from arena.verify.content import verified_content
from tests.chaos.record_reads import stored_questions
from tests.chaos.simulation import Mishap, Simulation

LONGEST_BREAK = 20.0
"""Seconds for which a cohort is paused at most."""


def back_up(season: Simulation) -> None:
    """Give `arena admin backup`."""
    if not stored_questions(season.file):
        return

    path = season.folder / f"backup {next(season.numbers)}.db"
    with open_read_only(str(season.file)) as engine, ThreadPoolExecutor(1) as command:
        command.submit(backup_to, engine, path, verified_content).result()  # it has a loop of its own
    season.note("a backup is made")


def pause(season: Simulation) -> None:
    """Give `arena admin cohort pause`, and `resume` some seconds later."""
    with closing(Record.open(str(season.file))) as record:
        running = [stored for stored in record.cohorts() if stored.ended_at is None]
        if not running:
            return

        cohort = season.chance.choice(running).id
        record.write_unfenced(pause_cohort, cohort, season.clocks.now())

    season.paused = True
    season.loop.call_later(season.chance.uniform(1, LONGEST_BREAK), resume, season, cohort)
    season.note("a cohort is paused")


def resume(season: Simulation, cohort: int) -> None:
    """Give `arena admin cohort resume`."""
    with closing(Record.open(str(season.file))) as record:
        running = {stored.id for stored in record.cohorts() if stored.ended_at is None}
        if cohort in running:
            record.write_unfenced(pause_cohort, cohort, None)


COMMANDS: tuple[Mishap, ...] = (back_up, pause)
