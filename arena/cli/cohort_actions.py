"""Starting, ending, pausing and resuming cohorts by hand."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

import typer

from arena.cli.check_next import next_step
from arena.cli.cohorts import overviews
from arena.cli.options import Options, given_instant
from arena.cli.output import attributes, minute, prints_aside, typed
from arena.clock import now
from arena.errors import ArenaError, count_text
from arena.record.model.cohort import Cohort
from arena.record.queries.cohorts import StoredCohort, numbered_cohort
from arena.record.record import Record
from arena.record.schema.database import OlderRecord, connect
from arena.record.write.cohorts import pause_cohort, stop_cohort
from arena.rounds.season import start_by_hand


def start(chosen: Options, at: str | None, baselines: bool) -> None:
    """Start a cohort from the config, at a time or as soon as can be, and answer with its settings."""
    wanted = given_instant(at)
    with prints_aside():
        config = chosen.load_to_play(os.environ, beside=True)
        with closing(Record.open(config.database)) as record:
            environ = None if baselines else os.environ
            cohort = start_by_hand(config, record, wanted, environ, now())

    names = [entrant.name for entrant in cohort.entrants]
    data = {"cohort": cohort.number, "agents": names}
    data |= attributes(cohort, "starts_at", "by_hand", "rounds", "config_hash")
    chosen.answer(data, start_page, cohort, next_step(config))


def start_page(cohort: Cohort, following: str) -> Iterator[str]:
    """Yield when a cohort starts, who plays in it, and what comes next."""
    names = ", ".join(entrant.name for entrant in cohort.entrants)
    words = f"Cohort {cohort.number} starts on {minute(cohort.starts_at)} UTC"
    if not cohort.by_hand:
        words += " (as scheduled)"
    yield f"{words}: {count_text(cohort.rounds, 'round')}; agents {names}"
    yield f"Next: {following}"


def end(chosen: Options, number: str, yes: bool) -> None:
    """End a cohort for good, once it was asked whether that is meant, unless `yes` says so."""
    with chosen_cohort(chosen.record(), number, stopped_too=True) as (record, stored):
        is_new = stored.stopped_at is None
        if is_new and not yes:
            if chosen.json:
                raise ArenaError("not_asked", "--json can't ask for confirmation", "add --yes")
            question = f"Cohort {number} will make no more decisions, ever. End it?"
            if not typer.confirm(question, err=True):
                raise ArenaError("not_done", "nothing was changed", "")
        if is_new:
            record.write_unfenced(stop_cohort, stored.id, now())
    _answer(chosen, number, "stopped", is_new, "makes no more decisions", "show cohorts")


def pause(chosen: Options, number: str) -> None:
    """Pause a cohort; raise `ArenaError` where it makes no more decisions anyway."""
    with chosen_cohort(chosen.record(), number) as (record, stored):
        is_new = stored.paused_at is None
        if is_new:
            _check_deciding(chosen, number, stored)
            record.write_unfenced(pause_cohort, stored.id, now())
    _answer(chosen, number, "paused", is_new, "is paused", f"admin cohort resume {number}")


def _check_deciding(chosen: Options, number: str, stored: StoredCohort) -> None:
    """Raise `ArenaError` where a cohort has no rounds left, or newer ones decide in its place."""
    with chosen.planned() as (config, connection):
        every = overviews(connection, config)
    states = [cohort.state for cohort in every if cohort.stored.id == stored.id]
    if states == ["tracked"]:
        message = f"cohort {number} makes no more decisions: no rounds are left, or newer ones decide"
        raise ArenaError("tracked", message, "its positions are settled and valued either way")


def resume(chosen: Options, number: str) -> None:
    """Let a paused cohort decide again."""
    with chosen_cohort(chosen.record(), number) as (record, stored):
        is_new = stored.paused_at is not None
        if is_new:
            record.write_unfenced(pause_cohort, stored.id, None)
    _answer(chosen, number, "resumed", is_new, "decides again", "show cohorts")


@contextmanager
def chosen_cohort(
    address: str, number: str, stopped_too: bool = False
) -> Iterator[tuple[Record, StoredCohort]]:
    """Yield a cohort that has not ended, in a record that is there."""
    with suppress(OlderRecord):  # it is there, and brought up to date as it is opened
        connect(address, read_only=True).dispose()
    with closing(Record.open(address)) as record:
        stored = numbered_cohort(record.cohorts(), number)
        if stored.ended_at is not None:
            message = f"cohort {number} ended on {minute(stored.ended_at)} UTC"
            raise ArenaError("ended", message, "arena show cohorts shows the others")
        if stored.stopped_at is not None and not stopped_too:
            message = f"cohort {number} was ended by hand and makes no more decisions"
            raise ArenaError("stopped", message, "arena admin cohort start starts another")
        yield record, stored


def _answer(chosen: Options, number: str, done: str, is_new: bool, words: str, following: str) -> None:
    """Answer with what was done to a cohort, or that it was so already."""
    end = "." if is_new else " already; nothing was changed."
    lines = [f"Cohort {number} {words}{end}", f"Next: {typed(following)}"]
    chosen.answer({"cohort": int(number), done: True, "changed": is_new}, iter, lines)
