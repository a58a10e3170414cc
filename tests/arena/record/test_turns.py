"""A turn that is read back is the turn that was written."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.record.model.cohort import Turn
from arena.record.queries.cohorts import read_rounds
from arena.record.queries.decisions import read_turns
from arena.record.record import Record
from arena.record.schema.database import reading
from tests.records import full_record

WRITTEN = list[tuple[int, Turn]]


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Record, WRITTEN]:
    """The small record, and every turn as it went in, with the cohort it was played in."""
    kept: WRITTEN = []
    turn = full_record.Season.turn

    def keep(self: full_record.Season, number: int, name: str, *args: Any, **more: Any) -> Turn:
        kept.append((number, turn(self, number, name, *args, **more)))
        return kept[-1][1]

    monkeypatch.setattr(full_record.Season, "turn", keep)
    return full_record.build_anew(tmp_path / "record.db"), kept


def told(turn: Turn) -> Turn:
    """A turn without second look, hash of settings, and what an answer got wrong, which is a rejection."""
    forecasts = tuple(sorted(turn.decision.forecasts, key=lambda each: (each.stage, each.market_id)))
    decision = replace(turn.decision, forecasts=forecasts, rejections=())
    return replace(turn, decision=decision, second=None, settings="")


def test_every_turn_comes_back_whole(written: tuple[Record, WRITTEN]) -> None:
    record, kept = written
    found: WRITTEN = []
    with reading(record.engine) as connection:
        for stored in record.cohorts():
            for round in record.read(read_rounds, stored.id):
                turns = read_turns(connection, round.id, stored.entrant_ids.values())
                found += [(stored.cohort.number, turn) for turn in turns]
                asked = read_turns(connection, round.id, [stored.entrant_ids["ann"]])
                assert asked == [turn for turn in turns if turn.entrant == "ann"]
    record.close()
    again = [(number, told(turn)) for number, turn in kept if turn.decision.status != "failed"]
    played = [(number, turn) for number, turn in found if turn.decision.status != "failed"]
    assert sorted(again, key=repr) == sorted(played, key=repr)
    assert len(played) == 14
    assert any(turn.fills and turn.entries and turn.rejections for _, turn in played)
