"""A worker whose queue is away: it comes back by itself, and hurries nobody meanwhile."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from arena.config import load
from arena.errors import ArenaError
from arena.record.write.turn_queue import PlayTurns
from arena.rounds import worker
from arena.rounds.worker import TurnQueue, serve_turns
from tests.arena.config_files import SMALL, write
from tests.opened_record import OpenedRecord


def test_a_queue_that_is_gone_is_looked_for_less_and_less_often(
    record: OpenedRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At last every half minute; once it was there, the pauses begin anew."""
    pauses: list[float] = []
    stop = asyncio.Event()

    async def pause(length: timedelta, _stop: asyncio.Event) -> None:
        pauses.append(length.total_seconds())
        if len(pauses) == 10:
            stop.set()

    @asynccontextmanager
    async def opened(_database: str) -> AsyncIterator[None]:
        if len(pauses) != 7:
            raise ArenaError("unreachable", "the queue is away")
        yield

    async def works(_app: Any, _play: PlayTurns, _at_once: int, _grace: float) -> None:
        """Work for a moment, then return."""

    monkeypatch.setattr(worker, "sleep_unless_stopped", pause)
    config = load(write(tmp_path, SMALL))
    queue = TurnQueue(opened, works)
    asyncio.run(serve_turns(config, record, 1, 0.0, stop, lambda _: None, queue))
    assert pauses == [1.0, 2.0, 5.0, 10.0, 30.0, 30.0, 30.0, 1.0, 2.0, 5.0]
