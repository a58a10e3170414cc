"""A season broken off at any write and resumed ends as if nothing had happened."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from arena.cohorts.freeze import plan_of
from arena.config import load
from arena.record.hashes import state_hash
from arena.record.queries.cohorts import count_facts
from arena.record.record import Record
from arena.record.schema.database import reading
from arena.rounds.open_world import open_world
from arena.rounds.season import play_season
from arena.verify import verify
from markets.simulation.settings import Settings
from markets.venues.simulator import venue

CONFIG = """\
markets:
  venue: simulator
  show: 12
  simulator: {start: 2026-01-04, weeks: 4, markets: 16, events: 6, seed: 1}
cohorts: {rounds: 3, count: 2, bankroll: 1000}
evidence: {from: folder}
agents:
  - kind: market
  - {kind: oracle, noise: 0.2}
  - {kind: kelly, of: oracle}
"""

STRIDE = 12
NEWS = "title: Will it happen?\npublished: 2026-01-02\nsource: Paper\nmarkets: {}\n\nWho knows?\n"
SETTINGS = {"start": "2026-01-04", "weeks": 4, "markets": 16, "events": 6, "seed": 1}
SUNDAY = datetime(2026, 1, 4, tzinfo=UTC)


class Killed(BaseException):
    """What no code of ours can catch."""


def play(folder: Path, name: str, before: Callable[[], None] = lambda: None) -> dict[str, Any]:
    """The whole season, with `before` called ahead of each write; what is in the record at the end."""
    config = load(folder / "config.yaml")
    record = Record.open(str(folder / name))

    async def season() -> None:
        async with open_world(config, record) as world:
            plan = plan_of(config, world.now(), record.begun())
            await play_season(plan, world, record, None, lambda done, whole: None)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Record, "write", _announced(Record.write, before))
        try:
            asyncio.run(season())
            with reading(record.engine) as connection:
                marks = connection.exec_driver_sql("SELECT count(*), sum(cash + value) FROM mark").one()
                ended = connection.exec_driver_sql(
                    "SELECT number, ended_at FROM cohort ORDER BY number"
                ).all()
                shown = connection.exec_driver_sql("SELECT count(*) FROM evidence").scalar()
                found: dict[str, Any] = {
                    "hash": state_hash(connection),
                    "marks": tuple(marks),
                    "ended": [*map(tuple, ended)],
                }
                return (
                    found | {"evidence": shown, "differences": verify(connection)} | record.read(count_facts)
                )
        finally:
            record.close()


def _announced(write: Any, before: Callable[[], None]) -> Any:
    def announced(*words: Any, **more: Any) -> Any:
        before()
        return write(*words, **more)

    return announced


def test_broken_off_before_any_write_it_ends_in_the_same_record(tmp_path: Path, thorough: bool) -> None:
    """Before every write with THOROUGH=1, otherwise before every twelfth and the last eight."""
    (tmp_path / "news").mkdir()
    (tmp_path / "config.yaml").write_text(CONFIG, "utf-8")
    made = venue(Settings.model_validate(SETTINGS))
    listed = [listing.market.id for listing in asyncio.run(made.catalogue(SUNDAY))]
    (tmp_path / "news" / "a.md").write_text(NEWS.format(", ".join(listed)), "utf-8")
    writes = 0

    def count() -> None:
        nonlocal writes
        writes += 1

    whole = play(tmp_path, "whole.db", count)
    assert whole["differences"] == []
    assert all(ended for _, ended in whole["ended"])
    assert whole["evidence"] > 0
    places = range(1, writes + 1)
    for place in places if thorough else sorted({*places[::STRIDE], *places[-8:]}):
        left = place

        def kill() -> None:
            nonlocal left
            left -= 1
            if left == 0:
                raise Killed

        with pytest.raises(Killed):
            play(tmp_path, f"{place}.db", kill)
        assert play(tmp_path, f"{place}.db") == whole, f"killed before write {place} of {writes}"
