"""The heads of the record are published as they come: to a file, or by a program of the operator's.

They go in order, each as a line of JSON, and are tried again until they have gone; the record keeps how far.
A line may come twice, when the arena was killed between publishing and recording that. Nothing of this delays
a round.
"""

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from agents.text import one_line
from arena.clock import sleep_unless_stopped
from arena.config import Config
from arena.errors import ArenaError, count_text
from arena.record.model.incident import heads_unpublished
from arena.record.model.lease import LEASE_LENGTH, Watch, holder_name
from arena.record.record import Record
from arena.record.write.heads import (
    Publication,
    put_publication,
    read_heads_after,
    read_newest_head,
    read_publication,
)
from arena.record.write.operations import add_incidents, end_incidents, release_lease, take_lease
from arena.rounds.error_text import redact_keys
from markets.hashes import canonical_bytes, digest

EVERY = timedelta(seconds=5)
"""How often to look for heads that are to be published."""
AT_ONCE = 1_000
"""How many heads are published at a time."""
TIMEOUT = LEASE_LENGTH.total_seconds() / 2
"""Seconds that the file or the program may take."""
FIRST_PAUSE = timedelta(seconds=15)
LONGEST_PAUSE = timedelta(minutes=30)
PATIENCE = timedelta(hours=1)
"""After so long without success the operator hears of it."""
DUTY = "heads"
LONGEST_ERROR = 300


class PublishError(Exception):
    """Why heads could not be published, in words."""


async def keep_publishing(
    config: Config,
    record: Record,
    now: Callable[[], datetime],
    stop: asyncio.Event,
    say: Callable[[str], None],
) -> None:
    """Publish heads as they come until told to stop, then the rest; do nothing without a target."""
    if config.heads is None:
        return

    me = holder_name()
    record = replace(record, watch=Watch(record.watch.timer))

    while True:
        is_last = stop.is_set()
        try:
            trouble = await publish_due(config, record, now(), me)
            if trouble:
                say(trouble)
        except ArenaError as error:
            say(f"heads could not be published: {error.message}")

        if is_last and not record.watch.is_in_doubt():
            return

        # The last look is repeated for a lease where a process elsewhere may have died as it published.
        await sleep_unless_stopped(EVERY, asyncio.Event() if is_last else stop)


async def publish_due(config: Config, record: Record, now: datetime, holder: str) -> str:
    """Publish what is due, unless another process is doing so; return the error in words."""
    if not _is_due(config, record, now):
        return ""

    token = record.write_unfenced(take_lease, DUTY, holder, record.watch.is_over)
    if token is None:
        return ""

    try:
        # Another process may have published them meanwhile.
        if not _is_due(config, record, now):
            return ""
        return await _publish(config, record, now)
    finally:
        record.write_unfenced(release_lease, DUTY, token)


def _read_own_publication(config: Config, record: Record) -> Publication:
    """Return how far heads have been published to the config's target."""
    if isinstance(config.heads, str):
        target = digest([str(config.folder / config.heads), None])
    else:
        target = digest([None, config.heads])

    state = record.read(read_publication)
    if state is None or state.target != target:
        return Publication(target)
    return state


def _is_due(config: Config, record: Record, now: datetime) -> bool:
    """Tell whether there are new heads, and no pause after a failure."""
    state = _read_own_publication(config, record)
    return record.read(read_newest_head) > state.number and (state.next_try_at or now) <= now


async def _publish(config: Config, record: Record, now: datetime) -> str:
    """Publish all new heads in batches; return the error in words."""
    state = _read_own_publication(config, record)

    while True:
        heads = record.read(read_heads_after, state.number, AT_ONCE)
        if not heads:
            break

        lines = "".join(f"{canonical_bytes(head)}\n" for head in heads)
        try:
            async with asyncio.timeout(TIMEOUT):
                if isinstance(config.heads, str):
                    await asyncio.to_thread(_append, config.folder / config.heads, lines.encode())
                else:
                    await _run_program(config.heads or [], config.folder, lines)
        except (PublishError, OSError, TimeoutError) as error:
            return _record_failed_try(record, state, error, now)

        state = Publication(state.target, heads[-1]["number"], now)
        record.write_unfenced(put_publication, state)

    end_incidents(record.engine, "heads_unpublished", now)
    return ""


def _append(path: Path, data: bytes) -> None:
    """Append lines to a file and flush it to the disk."""
    with path.open("ab+") as file:
        # An attempt that was broken off may have left an incomplete line, which is ended first.
        if file.tell():
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                data = b"\n" + data

        file.write(data)
        file.flush()
        os.fsync(file.fileno())


async def _run_program(command: Sequence[str], folder: Path, lines: str) -> None:
    """Run the operator's program with the lines on its standard input; raise `PublishError` if it fails."""
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=folder,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )

    try:
        _, errors = await process.communicate(lines.encode())
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise

    if process.returncode:
        message = f"{command[0]} ended with {process.returncode}"
        last_line = errors.decode(errors="replace").strip().rpartition("\n")[2]
        if last_line:
            message += f": {last_line}"
        raise PublishError(message)


def _record_failed_try(record: Record, state: Publication, error: Exception, now: datetime) -> str:
    """Record that publishing failed and when it is tried again; return that in words.

    After a long time without success an incident is recorded too.
    """
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename}: {error.strerror}"
    reason = one_line(redact_keys(text), LONGEST_ERROR)
    if isinstance(error, TimeoutError):
        reason = f"not finished within {TIMEOUT:g} s"

    pause = min(FIRST_PAUSE * 2 ** min(state.tries, 16), LONGEST_PAUSE)
    since = state.failing_since or now
    failed = Publication(state.target, state.number, state.at, state.tries + 1, now + pause, since, reason)
    record.write_unfenced(put_publication, failed)

    left = record.read(read_newest_head) - state.number
    if now - since >= PATIENCE:
        add_incidents(record.engine, [heads_unpublished(now, since, left, reason)], unless="heads@")
    return f"{count_text(left, 'head')} not published: {reason}; retrying in {pause}"
