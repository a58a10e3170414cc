"""A clock tells the time and waits by it; a pretended one keeps it in a file, and waiting takes none."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from arena.clock import PretendedClock, sleep_unless_stopped, timer
from arena.errors import ArenaError

START = datetime(2026, 1, 4, tzinfo=UTC)
HOUR = timedelta(hours=1)


def a_clock(folder: Path, text: str = "2026-01-04T00:00Z\n") -> Path:
    path = folder / "clock"
    path.write_text(text, "utf-8")
    return path


def test_sleeping_until_then_is_being_there_and_a_start_goes_on_from_the_file(tmp_path: Path) -> None:
    file = a_clock(tmp_path)
    clock = PretendedClock.read(file)
    assert clock.now() == START
    asyncio.run(clock.sleep_until(START + HOUR, asyncio.Event()))
    assert clock.now() == PretendedClock.read(file).now() == START + HOUR
    assert [path.name for path in tmp_path.iterdir()] == ["clock"]


def test_a_pretended_clock_never_goes_back_nor_on_when_it_is_to_stop(tmp_path: Path) -> None:
    file = a_clock(tmp_path)
    clock = PretendedClock.read(file)
    stop = asyncio.Event()
    asyncio.run(clock.sleep_until(START - HOUR, stop))
    stop.set()
    asyncio.run(clock.sleep_until(START + HOUR, stop))
    assert clock.now() == PretendedClock.read(file).now() == START


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026-01-04", START),
        ("2026-01-04T01:00:00+01:00\nand a remark", START),
        ("2024-02-29T12:00Z\n", datetime(2024, 2, 29, 12, tzinfo=UTC)),
    ],
)
def test_the_first_line_starts_it_in_any_zone(tmp_path: Path, text: str, at: datetime) -> None:
    assert PretendedClock.read(a_clock(tmp_path, text)).now() == at


def test_a_file_without_a_time_is_refused_with_the_mend(tmp_path: Path) -> None:
    (tmp_path / "blob").write_bytes(b"\xff\xfe")
    for path in (tmp_path / "none", tmp_path / "blob", a_clock(tmp_path, "soon")):
        with pytest.raises(ArenaError, match="is not a clock") as refused:
            PretendedClock.read(path)
        assert (refused.value.code, "2026-01-04T00:00Z" in refused.value.hint) == ("no_clock", True)


async def seconds_waited(wait: timedelta, stops_after: float = HOUR.total_seconds()) -> float:
    """Return how long a wait takes that is told to stop after some seconds."""
    stop = asyncio.Event()
    asyncio.get_running_loop().call_later(stops_after, stop.set)
    began = timer()
    await asyncio.wait_for(sleep_unless_stopped(wait, stop), 60)
    return timer() - began


def test_who_waits_wakes_as_soon_as_told_to_stop() -> None:
    assert asyncio.run(seconds_waited(HOUR, stops_after=0.01)) < 60


def test_nobody_waits_for_what_is_past() -> None:
    assert asyncio.run(seconds_waited(-HOUR)) < 60
