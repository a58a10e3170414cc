"""Publish the heads of the record outside of it: in a file, or by a program of the operator's.

They go in order, each as a line of JSON, and are tried until they have gone; the record keeps how far that
is. A line may come twice, if the arena was killed between publishing it and writing that down. No round waits
for any of this.
"""

import asyncio
import os
from collections.abc import Callable
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
"""The time between two looks at what is to be published."""
AT_ONCE = 1_000
"""The most heads that are published at a time."""
TIMEOUT = LEASE_LENGTH.total_seconds() / 2
"""Seconds that the file or the program may take."""
FIRST_PAUSE = timedelta(seconds=15)
LONGEST_PAUSE = timedelta(minutes=30)
PATIENCE = timedelta(hours=1)
"""How long publishing fails before there is an incident of it."""
DUTY = "heads"
LONGEST_ERROR = 300


class PublishError(Exception):
    """Why heads could not be published, as a sentence."""


async def keep_publishing(
    config: Config,
    record: Record,
    now: Callable[[], datetime],
    stop: asyncio.Event,
    say: Callable[[str], None],
) -> None:
    """Publish heads as they come until `stop` is set, then those that are left.

    Do nothing if the config names neither a file nor a command.
    """
    if config.heads.file is None and config.heads.command is None:
        return

    holder = holder_name()
    record = replace(record, watch=Watch(record.watch.timer))

    while True:
        stopped = stop.is_set()
        try:
            failure = await publish_due(config, record, now(), holder)
            if failure:
                say(failure)
        except ArenaError as error:
            say(f"heads could not be published: {error.message}")

        # Even when stopped, wait for a lease that a process elsewhere may have left behind as it died: it may
        # not have published all.
        if not stopped:
            await sleep_unless_stopped(EVERY, stop)
        elif record.watch.is_in_doubt():
            await sleep_unless_stopped(EVERY, asyncio.Event())
        else:
            return


async def publish_due(config: Config, record: Record, now: datetime, holder: str) -> str:
    """Publish what is due, unless another process is publishing; return what went wrong, or ""."""
    if not _is_due(config, record, now):
        return ""

    token = record.write_unfenced(take_lease, DUTY, holder, record.watch.is_over)
    if token is None:
        return ""

    try:
        # Before this process had the lease, another one may have published the same heads.
        if not _is_due(config, record, now):
            return ""
        return await _publish(config, record, now)
    finally:
        record.write_unfenced(release_lease, DUTY, token)


def _state(config: Config, record: Record) -> Publication:
    """Return up to which head the file or the command of the config has them."""
    file = config.heads.file and str(config.folder / config.heads.file)
    target = digest([file, config.heads.command])

    state = record.read(read_publication)
    if state is None or state.target != target:
        return Publication(target)
    return state


def _is_due(config: Config, record: Record, now: datetime) -> bool:
    """Tell whether there are heads to publish, and no pause after a failure."""
    state = _state(config, record)
    has_news = record.read(read_newest_head) > state.number
    return has_news and (state.next_try_at is None or state.next_try_at <= now)


async def _publish(config: Config, record: Record, now: datetime) -> str:
    """Publish all heads that are due, some at a time; return what went wrong, or ""."""
    state = _state(config, record)

    heads = record.read(read_heads_after, state.number, AT_ONCE)
    while heads:
        lines = "".join(f"{canonical_bytes(head)}\n" for head in heads)
        try:
            async with asyncio.timeout(TIMEOUT):
                if config.heads.file:
                    await asyncio.to_thread(_append, config.folder / config.heads.file, lines.encode())
                else:
                    await _run_command(config, lines)
        except (PublishError, OSError, TimeoutError) as error:
            return _put_off(record, state, error, now)

        state = Publication(state.target, heads[-1]["number"], now)
        record.write_unfenced(put_publication, state)
        heads = record.read(read_heads_after, state.number, AT_ONCE)

    end_incidents(record.engine, "heads_unpublished", now)
    return ""


def _append(path: Path, data: bytes) -> None:
    """Append lines to a file, and wait until they are on the disk."""
    with path.open("ab+") as file:
        # An earlier attempt may have broken off within a line: end that line first.
        if file.tell():
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                data = b"\n" + data

        file.write(data)
        file.flush()
        os.fsync(file.fileno())


async def _run_command(config: Config, lines: str) -> None:
    """Run the operator's program with the lines on its standard input; raise `PublishError` if it fails."""
    command = config.heads.command or []
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=config.folder,
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
        failure = f"{command[0]} ended with {process.returncode}"
        last_line = errors.decode(errors="replace").strip().rpartition("\n")[2]
        raise PublishError(f"{failure}: {last_line}" if last_line else failure)


def _put_off(record: Record, state: Publication, error: Exception, now: datetime) -> str:
    """Record that heads were not published and when that is tried again; return this as a sentence.

    Add an incident if it has failed for long.
    """
    # A timeout is an OSError too, but says nothing.
    if isinstance(error, TimeoutError):
        reason = f"not finished within {TIMEOUT:g} s"
    else:
        reason = one_line(redact_keys(str(error)), LONGEST_ERROR)

    pause = min(FIRST_PAUSE * 2 ** min(state.tries, 16), LONGEST_PAUSE)
    failing_since = state.failing_since or now
    put_off = replace(
        state, tries=state.tries + 1, next_try_at=now + pause, failing_since=failing_since, error=reason
    )
    record.write_unfenced(put_publication, put_off)

    left = record.read(read_newest_head) - state.number
    if now - failing_since >= PATIENCE:
        incident = heads_unpublished(now, failing_since, left, reason)
        add_incidents(record.engine, [incident], unless="heads@")

    return f"{count_text(left, 'head')} not published: {reason}; retrying in {pause}"
