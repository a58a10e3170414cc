"""`arena cohorts end`, `pause` and `resume`: who decides no more, for good or for now."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.cohorts_list import Number
from arena.cli.options import ConfigFile, Database, Json, options
from arena.cli.output import print_json, program
from arena.errors import ArenaError

if TYPE_CHECKING:
    from arena.record.queries.cohorts import StoredCohort
    from arena.record.record import Record


def end(
    context: typer.Context,
    number: Number,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask first.")] = False,
    config: ConfigFile = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """End a cohort: it decides no more, for good, and is tracked until its last position settles.

    Nothing is sold and nothing is taken back: markets pay what they pay, and scores stay on the leaderboard.
    Turns of a round that has begun and that are missing count as failed. For a while: arena cohorts pause.

    Example: arena cohorts end 3 --yes

    Next: arena cohorts list
    """
    from arena.clock import now
    from arena.record.write.cohorts import stop_cohort

    with chosen_cohort(options(context, config, database).record(), number) as (record, stored):
        fresh = stored.stopped_at is None
        if fresh:
            _ask(f"Cohort {number} will decide no more, for good. End it?", yes, as_json)
            record.write_unfenced(stop_cohort, stored.id, now())
    _tell(number, "stopped", fresh, f"Cohort {number} decides no more", f"{program()} cohorts list", as_json)


def pause(
    context: typer.Context,
    number: Number,
    config: ConfigFile = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Pause a cohort: it decides nothing until it is resumed. Its positions are settled and valued as ever.

    Rounds whose time passes meanwhile are missed, and so are the turns that a round under way still lacks.

    Example: arena cohorts pause 3

    Next: arena cohorts resume 3
    """
    from arena.clock import now
    from arena.record.write.cohorts import pause_cohort

    with chosen_cohort(options(context, config, database).record(), number) as (record, stored):
        _must_not_be_stopped(stored)
        fresh = stored.paused_at is None
        if fresh:
            record.write_unfenced(pause_cohort, stored.id, now())
    words = f"Cohort {number} decides nothing for now"
    _tell(number, "paused", fresh, words, f"{program()} cohorts resume {number}", as_json)


def resume(
    context: typer.Context,
    number: Number,
    config: ConfigFile = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Let a paused cohort decide again, from its next round on.

    Example: arena cohorts resume 3

    Next: arena cohorts list
    """
    from arena.record.write.cohorts import pause_cohort

    with chosen_cohort(options(context, config, database).record(), number) as (record, stored):
        _must_not_be_stopped(stored)
        fresh = stored.paused_at is not None
        if fresh:
            record.write_unfenced(pause_cohort, stored.id, None)
    words = f"Cohort {number} decides again"
    _tell(number, "resumed", fresh, words, f"{program()} cohorts list", as_json)


@contextmanager
def chosen_cohort(address: str, number: int) -> "Iterator[tuple[Record, StoredCohort]]":
    """A cohort that has not ended, in a record that is there."""
    from arena.record.queries.cohorts import select_cohorts
    from arena.record.record import Record
    from arena.record.schema.database import OlderRecord, connect

    with suppress(OlderRecord):  # it is there, and brought up to date as it is opened
        connect(address, read_only=True).dispose()
    record = Record.open(address)
    try:
        (stored,) = select_cohorts(record.cohorts(), number)
        if stored.ended_at is not None:
            message = f"cohort {number} has ended on {stored.ended_at:%Y-%m-%d %H:%M} UTC"
            raise ArenaError("ended", message, "arena cohorts list shows which have not")
        yield record, stored
    finally:
        record.close()


def _must_not_be_stopped(stored: "StoredCohort") -> None:
    if stored.stopped_at is not None:
        message = f"cohort {stored.cohort.number} was ended by hand: it decides no more, for good"
        raise ArenaError("stopped", message, "arena cohorts start begins another one")


def _ask(question: str, yes: bool, as_json: bool) -> None:
    if yes:
        return
    if as_json:
        raise ArenaError("not_asked", "with --json nobody is asked whether that is meant", "add --yes")
    if not typer.confirm(question, err=True):
        raise ArenaError("not_done", "nothing was changed", "")


def _tell(number: int, done: str, fresh: bool, words: str, following: str, as_json: bool) -> None:
    if as_json:
        print_json({"cohort": number, done: True, "changed": fresh})
        return
    print(words if fresh else f"{words} already; nothing was changed")
    print(f"Next: {following}")
