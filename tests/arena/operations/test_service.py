"""What a service manager hears, and a start that waits for its record."""

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.errors import ArenaError
from arena.operations import service
from arena.operations.service import service_notices, wait_to_open


def test_a_manager_hears_that_it_began_lives_and_ends(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as wire:
        wire.bind(str(tmp_path / "notify"))
        wire.settimeout(5)

        async def work() -> list[bytes]:
            environ = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "30000"}
            async with service_notices(environ):
                return [await asyncio.to_thread(wire.recv, 99) for _ in range(4)]

        assert asyncio.run(work()) == [b"READY=1", *[b"WATCHDOG=1"] * 3]
        wire.setblocking(False)
        rest = b""
        while rest != b"STOPPING=1":
            rest = wire.recv(99)


@pytest.mark.parametrize("environ", [{}, {"NOTIFY_SOCKET": "/nowhere/at/all", "WATCHDOG_USEC": "1000"}])
def test_without_a_manager_nothing_is_said(environ: dict[str, str]) -> None:
    async def work() -> str:
        async with service_notices(environ):
            await asyncio.sleep(0.01)
            return "done"

    assert asyncio.run(work()) == "done"


def test_a_record_that_is_away_is_waited_for_and_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "PAUSE", 0.0)
    answers: list[Callable[[], str]] = [failing("unreachable")] * 3 + [failing("no_record"), lambda: "open"]
    said: list[str] = []

    def look() -> str:
        return answers.pop(0)()

    assert wait_to_open(look, said.append, "unreachable", "no_record") == "open"
    assert said == [f"it is {code}; looking again every 0 seconds" for code in ("unreachable", "no_record")]
    with pytest.raises(ArenaError, match="no_record"):
        wait_to_open(failing("no_record"), said.append, "unreachable")
    with pytest.raises(ArenaError, match="authentication failed"):
        wait_to_open(failing("authentication failed", "unreachable"), said.append, "unreachable")


def failing(words: str, code: str = "") -> Callable[[], str]:
    def fail() -> str:
        raise ArenaError(code or words, f"it is {words}")

    return fail
