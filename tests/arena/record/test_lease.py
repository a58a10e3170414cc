"""Who holds a claim, whether they still live, and how they stay alive."""

import asyncio
import os
import socket
import subprocess
import sys
from datetime import timedelta

import pytest

from arena.errors import ArenaError
from arena.record.model import lease
from arena.record.model.lease import heartbeat, holder_name, is_gone, machine_name


def named(pid: int, place: str = machine_name()) -> str:
    return f"{socket.gethostname()}/{pid}/{place}.x"


def test_every_holder_has_a_name_of_its_own() -> None:
    assert holder_name() != holder_name()


def test_a_process_that_ended_is_gone_and_so_is_an_earlier_one_with_our_number() -> None:
    """Of another machine nothing is known, nor of a container, which may have its host's name."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert is_gone(named(ended.pid))
    assert is_gone(named(os.getpid()))
    assert not is_gone(named(os.getppid()))
    for elsewhere in ("elsewhere.invalid/1/x", named(ended.pid, "another"), named(os.getpid(), "another")):
        assert not is_gone(elsewhere)


def test_a_heart_beats_while_the_block_lasts_and_outlives_a_database_that_is_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lease, "HEARTBEAT_INTERVAL", timedelta(milliseconds=1))

    async def go() -> tuple[int, int]:
        beats, enough = 0, asyncio.Event()

        def renew() -> None:
            nonlocal beats
            beats += 1
            if beats == 2:
                raise ArenaError("locked", "in use by another process")
            if beats == 3:
                raise RuntimeError("two servers' transactions waited for each other")
            if beats == 4:
                enough.set()

        async with heartbeat(renew):
            await asyncio.wait_for(enough.wait(), 10)
        seen = beats
        await asyncio.sleep(0.02)
        return seen, beats

    seen, later = asyncio.run(go())
    assert seen >= 4
    assert later == seen
