"""While a dashboard is open, what it shows is worked out again whenever it has become stale."""

import subprocess
import sys

from arena.cli.output import progress
from arena.errors import ArenaError

FIRST, EVERY = 10.0, 30.0
"""Seconds until it is looked whether anything is stale, for the first page goes first, and then again."""


def wait_for(server: "subprocess.Popen[bytes]", address: str) -> int:
    """Wait until a server ends, and keep up meanwhile; its exit status.

    Where that can't be done it is said once, and the pages go on showing what was worked out last.
    """
    able, pause = True, FIRST
    while True:
        try:
            return server.wait(timeout=pause)
        except subprocess.TimeoutExpired:
            able, pause = able and _tried(address), EVERY


def _tried(address: str) -> bool:
    """Work out what is stale; False where there is no use in trying again."""
    try:
        keep_up(address)
    except ArenaError as error:
        if error.code in ("no_record", "locked"):  # it may be made, or let go of, at any time
            return True
        words = "scores are not worked out here, only shown as they were last"
        print(f"{words}: {error.message}; {error.mend}", file=sys.stderr)
        return False
    return True


def keep_up(address: str) -> None:
    """Work out what is stale, if anything is; a record that nobody has played in is left alone."""
    from arena.clock import now
    from arena.prepared.prepare import is_stale, prepare
    from arena.store.database import looking, reading
    from arena.store.record import Record

    with looking(address) as engine, reading(engine) as connection:
        if not is_stale(connection):
            return
    record = Record.join(address)
    try:
        with progress("Working out scores") as moved:
            prepare(record, now(), moved)
    finally:
        record.close()
