"""`arena run --list`: the jobs of `arena run`, and the next times at which cohorts start or decide."""

from pathlib import Path

from arena.cli.options import Options, clock_opener, clock_option
from arena.cli.output import command_line, minute_text, plain
from arena.cli.page import Page
from arena.cli.table import Table
from arena.errors import count_text
from arena.operations.agenda import Agenda, read_agenda


def list_work(chosen: Options, clock: Path | None) -> None:
    """Show the jobs and the next decisions. Nothing is written, and a record need not be there."""
    config = chosen.load_config()
    agenda = read_agenda(config, clock_opener(clock)().now())
    chosen.print_answer(agenda, schedule_page, agenda, f"run{clock_option(clock)}")


def schedule_page(agenda: Agenda, run_command: str) -> Page:
    """Yield the jobs, then the decisions to come, then the command that runs them."""
    rows = []
    for job in agenda.jobs:
        result = plain(job.note)
        if job.failures:
            result = f"failed {count_text(job.failures, 'time')}: {result}"
        last_time = job.last and minute_text(job.last)
        next_time = job.next and minute_text(job.next)
        if job.next is not None and job.next <= agenda.now:
            next_time = "now"
        rows.append((job.job, job.cadence, last_time, result, next_time))
    yield Table(("job", "how often", "last (UTC)", "result", "next (UTC)"), rows)

    if agenda.decisions:
        decisions = [(minute_text(decision.at), decision.what) for decision in agenda.decisions]
        yield Table(("decision (UTC)", "what"), decisions)
    yield f"Next: {command_line(run_command)}"
