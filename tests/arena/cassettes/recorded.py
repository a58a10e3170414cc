"""Recordings from servers on this machine, and their replays with every way out closed."""

import asyncio
import json
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn
from unittest.mock import patch

from arena.cassettes.cassette import Cassette, VenueReading
from arena.cassettes.recording import CassetteRecording, replayed, write_cassette
from arena.config import load
from markets.venues.wire import http
from tests.venue_server.visit import at_once

AT = datetime(2026, 1, 4, 12, tzinfo=UTC)


def record(folder: Path, venue: str, urls: Mapping[str, str], timeout: float = 20.0) -> Path:
    """Record a venue at these addresses into a file, with a client that doesn't wait between attempts."""
    settings = json.dumps({**urls, "per_second": 1000})
    text = f"markets: {{venue: {venue}, {venue}: {settings}}}\nagents: [{{kind: market}}]\n"
    (folder / "config.yaml").write_text(text, "utf-8")
    recording = CassetteRecording(load(folder / "config.yaml"), AT)

    async def recorded() -> None:
        await recording.visit(venue)
        await recording.finish()

    with hurried(timeout):
        asyncio.run(recorded())
    assert recording.cassette is not None
    return write_cassette(folder, recording.cassette)


@contextmanager
def hurried(timeout: float) -> Iterator[None]:
    """Allow two attempts of this many seconds each, with no pause between them."""
    inner = http.HttpClient.__init__

    def init(self: http.HttpClient, *args: Any, **options: Any) -> None:
        inner(self, *args, **(options | {"sleep": at_once, "timeout": timeout, "attempts": 2}))

    with patch.object(http.HttpClient, "__init__", init):
        yield


@contextmanager
def offline() -> Iterator[None]:
    """Let no socket connect to anything, not even on this machine."""

    def refuse(*_: object) -> NoReturn:
        raise AssertionError("a replay reached for a network")

    with patch.object(socket.socket, "connect", refuse), patch.object(socket.socket, "connect_ex", refuse):
        yield


def reread(cassette: Cassette) -> list[VenueReading]:
    """Return what the adapters read of a cassette without a network."""

    async def read() -> list[VenueReading]:
        return [(await replayed(tape, cassette.taken)).reading for tape in cassette.venues]

    with offline():
        return asyncio.run(read())
