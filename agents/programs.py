"""Running another program: text goes in, text comes out, within a time limit."""

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from agents.model import ProgramResult
from agents.secrets import redact, secrets_in

MOST_OUTPUT = 4_000_000
"""The most bytes of standard output; a program that writes more is killed."""
MOST_COMPLAINT = 4_000
PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TZ", "SYSTEMROOT")
"""The environment variables that every program gets; others only if its settings name them."""


async def run_program(
    folder: Path,
    environ: Mapping[str, str],
    words: Sequence[str],
    text: str,
    seconds: float,
    names: Sequence[str] = (),
) -> ProgramResult:
    """Run a program in a folder. It is ended with all that it has started, whatever happens here.

    Of the environment it sees what every program needs, and the variables named; secrets among these are
    taken out of all that it writes.
    """
    pipe = asyncio.subprocess.PIPE
    variables = {x: environ[x] for x in (*PASSED_ON, *names) if x in environ}
    secrets = secrets_in(environ, *names)

    try:
        process = await asyncio.create_subprocess_exec(
            *words, cwd=folder, env=variables, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
        )
    except OSError as error:
        return ProgramResult("", fault=f"{words[0]} can't be started: {error.strerror}")

    try:
        async with asyncio.timeout(seconds):
            result = await _exchange(process, text.encode())
    except TimeoutError:
        return ProgramResult("", fault=f"no answer within {seconds:g} seconds", timed_out=True)
    finally:
        with suppress(ProcessLookupError):  # all of it may be over already
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()

    return replace(result, output=redact(result.output, secrets), complaint=redact(result.complaint, secrets))


async def _exchange(process: asyncio.subprocess.Process, text: bytes) -> ProgramResult:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    writing = asyncio.ensure_future(_write_input(process.stdin, text))
    complaints = asyncio.ensure_future(_read_end(process.stderr))

    try:
        output = await _read_output(process.stdout)
        if output is None:
            return ProgramResult("", fault=f"it wrote more than {MOST_OUTPUT:,} bytes")

        await writing
        while process.returncode is None:  # noqa: ASYNC110 - `wait` waits for its children's pipes too
            await asyncio.sleep(0.005)

        status = process.returncode
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

        complaint = await complaints
    finally:
        writing.cancel()
        complaints.cancel()
        await asyncio.gather(writing, complaints, return_exceptions=True)

    try:
        return ProgramResult(output.decode(), status, complaint)
    except UnicodeDecodeError:
        return ProgramResult("", status, complaint, "its output is not UTF-8 text")


async def _write_input(stream: asyncio.StreamWriter, text: bytes) -> None:
    """Write all of the text; a program that doesn't want it may close its end."""
    with suppress(BrokenPipeError, ConnectionResetError):
        stream.write(text)
        await stream.drain()
        stream.close()
        await stream.wait_closed()


async def _read_output(stream: asyncio.StreamReader) -> bytes | None:
    """Return all of the output, or None if it is too long."""
    parts = list[bytes]()
    size = 0
    while part := await stream.read(65_536):
        parts.append(part)
        size += len(part)
        if size > MOST_OUTPUT:
            return None

    return b"".join(parts)


async def _read_end(stream: asyncio.StreamReader) -> str:
    """Return the end of the output."""
    last = b""
    while part := await stream.read(65_536):
        last = (last + part)[-MOST_COMPLAINT:]
    return last.decode("utf-8", "replace")
