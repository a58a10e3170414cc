"""Heads leave the machine in order, each again until it has, and what fails for long is told."""

import asyncio
import json
import sys
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from arena.config import Config, load
from arena.errors import ArenaError
from arena.operations import publisher
from arena.operations.publisher import FIRST_PAUSE, PATIENCE, keep_publishing, publish_due
from arena.record.model.lease import LEASE_LENGTH
from tests.arena.config_files import SMALL, write
from tests.builders import NOW
from tests.opened_record import OpenedRecord

ME = "me.invalid/1/x"
APPEND = "import sys; open('heads', 'a').write(sys.stdin.read())"
FAIL = "import pathlib, sys; sys.exit('no net') if pathlib.Path('down').exists() else None; "


def command(program: str) -> str:
    """Return a program of Python, as a config has it."""
    return json.dumps([sys.executable, "-c", program])


def the_config(folder: Path, block: str) -> Config:
    return load(write(folder, f"{SMALL}heads: {block}\n"))


def go_on(record: OpenedRecord, number: int) -> None:
    """Write one more head."""
    record.add_head(NOW, {"tool": [[number, "0" * 64]]})


def lines(folder: Path) -> list[int]:
    return [json.loads(line)["number"] for line in (folder / "heads").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("block", ["heads", command(APPEND)])
def test_each_head_leaves_once_and_in_order(block: str, record: OpenedRecord, tmp_path: Path) -> None:
    config = the_config(tmp_path, block)
    for number in range(1, 4):
        go_on(record, number)
        for _ in range(2):
            assert asyncio.run(publish_due(config, record, NOW, ME)) == ""
    published = record.published()
    assert lines(tmp_path) == [1, 2, 3] == [published.newest - 2, 2, published.published]
    assert published.at == NOW
    kept = [json.loads(line) for line in (tmp_path / "heads").read_text("utf-8").splitlines()]
    assert kept == record.heads()


def test_what_fails_is_tried_again_and_told_when_it_lasts(record: OpenedRecord, tmp_path: Path) -> None:
    config = the_config(tmp_path, command(FAIL + APPEND))
    (tmp_path / "down").touch()
    go_on(record, 1)
    told = asyncio.run(publish_due(config, record, NOW, ME))
    assert told == f"1 head not published: {sys.executable} ended with 1: no net; retrying in 0:00:15"
    assert asyncio.run(publish_due(config, record, NOW + FIRST_PAUSE / 2, ME)) == ""
    assert not record.incidents(9)
    go_on(record, 2)
    assert "2 heads" in asyncio.run(publish_due(config, record, NOW + PATIENCE, ME))
    [incident] = record.incidents(9)
    assert (incident.incident.kind, incident.ended_at) == ("heads_unpublished", None)
    assert record.published().failing_since == NOW
    (tmp_path / "down").unlink()
    assert asyncio.run(publish_due(config, record, NOW + PATIENCE + timedelta(hours=1), ME)) == ""
    assert lines(tmp_path) == [1, 2]
    [incident] = record.incidents(9)
    assert incident.ended_at is not None


def test_a_file_that_moves_gets_all_heads_and_a_line_that_broke_off_is_ended(
    record: OpenedRecord, tmp_path: Path
) -> None:
    go_on(record, 1)
    asyncio.run(publish_due(the_config(tmp_path, "old"), record, NOW, ME))
    (tmp_path / "heads").write_text('{"num', "utf-8")
    go_on(record, 2)
    asyncio.run(publish_due(the_config(tmp_path, "heads"), record, NOW, ME))
    first, *others = (tmp_path / "heads").read_text("utf-8").splitlines()
    assert (first, [json.loads(line)["number"] for line in others]) == ('{"num', [1, 2])


def test_the_last_heads_leave_although_a_process_elsewhere_died_as_it_published(
    record: OpenedRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is known of it, so it is given a lease to show that it lives."""
    monkeypatch.setattr(publisher, "EVERY", timedelta())
    moments = count(0, 20)
    patient = record.timed_by(lambda: float(next(moments)))
    go_on(record, 1)
    assert record.take_lease(publisher.DUTY, "elsewhere.invalid/1/x") == 1

    async def publish() -> None:
        stop = asyncio.Event()
        stop.set()
        await keep_publishing(the_config(tmp_path, "heads"), patient, lambda: NOW, stop, print)

    asyncio.run(publish())
    assert lines(tmp_path) == [1]
    assert next(moments) >= LEASE_LENGTH.total_seconds()


def test_who_has_published_leaves_the_next_heads_to_whoever_comes_first(
    record: OpenedRecord, tmp_path: Path
) -> None:
    config = the_config(tmp_path, "heads")
    for number, holder in enumerate((ME, "elsewhere.invalid/1/x", ME), 1):
        go_on(record, number)
        asyncio.run(publish_due(config, record, NOW, holder))
        assert lines(tmp_path)[-1] == number


def test_a_record_that_is_away_for_a_moment_ends_no_publishing(
    record: OpenedRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on(record, 1)
    faults = [ArenaError("unreachable", "it is away")]
    said: list[str] = []
    stop = asyncio.Event()

    async def publishes(*words: Any) -> str:
        if faults:
            raise faults.pop()
        stop.set()
        return await publish_due(*words)

    monkeypatch.setattr(publisher, "EVERY", timedelta(milliseconds=1))
    monkeypatch.setattr(publisher, "publish_due", publishes)
    asyncio.run(keep_publishing(the_config(tmp_path, "heads"), record, lambda: NOW, stop, said.append))
    assert said == ["heads could not be published: it is away"]
    assert lines(tmp_path) == [1]
