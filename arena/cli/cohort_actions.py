"""Starting, ending, pausing and resuming cohorts by hand."""

import os
from contextlib import closing, suppress

import typer

from arena.cli.check_next import next_round_command
from arena.cli.cohorts import overviews
from arena.cli.options import Options, parse_instant
from arena.cli.output import attributes, command_line, minute_text, prints_to_stderr
from arena.cli.page import Page
from arena.clock import now
from arena.errors import ArenaError, count_text
from arena.record.model.cohort import Cohort
from arena.record.queries.cohorts import StoredCohort, numbered_cohort
from arena.record.record import Record
from arena.record.schema.database import OlderRecord, connect, record_file
from arena.record.write.cohorts import pause_cohort, stop_cohort
from arena.rounds.season import start_by_hand

CHANGES = {
    "end": ("stopped", "makes no more decisions", "show cohorts"),
    "pause": ("paused", "is paused", "admin cohort resume {}"),
    "resume": ("resumed", "decides again", "show cohorts"),
}
"""For each action: its key in JSON, the sentence that reports it, and the next command."""


def start(chosen: Options, at: str | None, baselines: bool) -> None:
    """Start a cohort from the config, at a time or as soon as possible, and print its settings."""
    start_at = parse_instant(at)
    with prints_to_stderr():
        config = chosen.load_to_play(os.environ, beside=True)
        file = record_file(config.database)
        makes_record = file is not None and not file.exists()
        with closing(Record.open(config.database)) as record:
            # Without an environment no model's key is asked for.
            environ = None if baselines else os.environ
            cohort = start_by_hand(config, record, start_at, environ, now())

    names = [entrant.name for entrant in cohort.entrants]
    data = {"cohort": cohort.number, "agents": names}
    data |= attributes(cohort, "starts_at", "by_hand", "rounds", "config_hash")
    new_record = str(file) if makes_record else ""
    next_command = next_round_command(config)
    chosen.print_answer(data, start_page, cohort, ", ".join(names), next_command, new_record)


def start_page(cohort: Cohort, names: str, next_command: str, new_record: str) -> Page:
    """Yield the start of a cohort, its agents, and the next command.

    `new_record` is the file of the record, if that was made for it: its name may have been mistyped.
    """
    if new_record:
        yield f"{new_record} is a new record"
    start = f"Cohort {cohort.number} starts on {minute_text(cohort.starts_at)} UTC"
    if not cohort.by_hand:
        start += " (as scheduled)"
    yield f"{start}: {count_text(cohort.rounds, 'round')}; agents {names}"
    yield f"Next: {next_command}"


def change(chosen: Options, action: str, number: str, yes: bool) -> None:
    """End, pause or resume a cohort, and print whether that changed anything.

    Ending is final: the user is asked to confirm it, unless `yes` is set.
    """
    with suppress(OlderRecord):  # it exists, and will be upgraded when it is opened
        connect(chosen.record_address(), read_only=True).dispose()

    with chosen.writing() as record:
        stored = numbered_cohort(record.cohorts(), number)
        _check_open(stored, number, action)
        if action == "end":
            has_effect = stored.stopped_at is None
            if has_effect:
                _confirm_end(chosen, number, yes)
                record.write_unfenced(stop_cohort, stored.id, now())
        elif action == "pause":
            has_effect = stored.paused_at is None
            if has_effect:
                _check_deciding(chosen, number, stored)
                record.write_unfenced(pause_cohort, stored.id, now())
        else:
            has_effect = stored.paused_at is not None
            if has_effect:
                record.write_unfenced(pause_cohort, stored.id, None)

    key, state, next_command = CHANGES[action]
    end = "." if has_effect else " already; nothing was changed."
    lines = [f"Cohort {number} {state}{end}", f"Next: {command_line(next_command.format(number))}"]
    chosen.print_answer({"cohort": int(number), key: True, "changed": has_effect}, iter, lines)


def _check_open(stored: StoredCohort, number: str, action: str) -> None:
    """Raise `ArenaError` if a cohort has ended, or was ended by hand and the action is another."""
    if stored.ended_at is not None:
        message = f"cohort {number} ended on {minute_text(stored.ended_at)} UTC"
        raise ArenaError("ended", message, "arena show cohorts shows the others")
    if stored.stopped_at is not None and action != "end":
        message = f"cohort {number} was ended by hand and makes no more decisions"
        raise ArenaError("stopped", message, "arena admin cohort start starts another")


def _confirm_end(chosen: Options, number: str, yes: bool) -> None:
    """Ask the user to confirm the end of a cohort; raise `ArenaError` unless they do."""
    if yes:
        return
    if chosen.json:
        raise ArenaError("not_asked", "--json can't ask for confirmation", "add --yes")
    question = f"Cohort {number} will make no more decisions, ever. End it?"
    if not typer.confirm(question, err=True):
        raise ArenaError("not_done", "nothing was changed", "")


def _check_deciding(chosen: Options, number: str, stored: StoredCohort) -> None:
    """Raise `ArenaError` if a cohort has no rounds left, or newer ones decide in its place."""
    with chosen.config_and_record() as (config, connection):
        all_overviews = overviews(connection, config)
    for overview in all_overviews:
        if overview.stored.id == stored.id and overview.state == "tracked":
            message = f"cohort {number} makes no more decisions: no rounds are left, or newer ones decide"
            raise ArenaError("tracked", message, "its positions are settled and valued either way")
