"""An extension that fails with a key in its words: what is kept and told names it, and not the key."""

from pathlib import Path

import pytest

from tests.program.rehearsal import clock_at, rehearse, rows

CANARY = "canary-of-the-extension"
CONFIG = """\
markets:
  venue: leaky
  show: 6
  closes_within: 20d
  leaky: {start: 2026-01-04, weeks: 2, markets: 20, events: 8}
cohorts: {rounds: 1, count: 1, corrected_within: 8d}
run: {quotes: 1d, resolutions: 1d, marks: 1w, scores: off, catalogue: off, backup: off}
agents: [{kind: oracle}, {kind: leaks}]
"""
VENUE = """\
from markets.venue import QuarantinedRecord, VenueError
from markets.venues import simulator

Settings, stamp = simulator.Settings, simulator.stamp


class Leaky(simulator.Simulator):
    async def listings(self, at, markets):
        if at.weekday() == 0 and at.hour < 2:
            raise ConnectionError("no answer to ?key=canary-of-the-extension")
        kept = "sent for ?key=canary-of-the-extension"
        self.report(QuarantinedRecord("leaky", "1", "page", "odd", kept, kept))
        return await super().listings(at, markets)

    async def resolutions(self, at, markets):
        if at.weekday() == 0 and at.hour < 2:
            raise VenueError("unreachable", "no answer to canary-of-the-extension")
        return await super().resolutions(at, markets)


def venue(settings, report):
    leaky = Leaky(settings, simulator.venue(settings)._chance)
    leaky.report = report
    return leaky
"""
KIND = """\
from agents.model import KindSettings as Settings


def agent(settings, given):
    async def decide(view, ask):
        raise ValueError("refused: canary-of-the-extension")

    return decide
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LEAKY_KEY", CANARY)
    for place, text in (("venues/leaky.py", VENUE), ("kinds/leaks.py", KIND)):
        file = tmp_path / "extensions" / place
        file.parent.mkdir(parents=True)
        file.write_text(text, "utf-8")
    (tmp_path / "config.yaml").write_text(CONFIG, "utf-8")
    clock_at(tmp_path)
    return tmp_path


def test_the_key_is_in_no_note_and_the_venue_that_failed_is_named(folder: Path) -> None:
    _, events = rehearse(folder)
    failed = [event.words for event in events if event.kind == "failed"]
    for words in ("leaky.py:10: ConnectionError: no answer to ?key=[hidden]", "leaky: no answer to [hidden]"):
        assert any(told.endswith(words) for told in failed)
    notes = rows(folder, "SELECT note FROM turn WHERE status = 'failed'")
    assert notes == [("leaks.py:6: ValueError: refused: [hidden]",)]
    outages = rows(folder, "SELECT subject FROM incident WHERE kind = 'venue_down'")
    assert outages == [(f"leaky@2026-01-{monday}T00:00:00.000000Z",) for monday in ("05", "12", "19")]
    reported = rows(folder, "SELECT DISTINCT reason, raw FROM set_aside")
    assert reported == [("sent for ?key=[hidden]", "sent for ?key=[hidden]")]
    kept = b"".join(file.read_bytes() for file in folder.glob("arena.db*"))
    assert CANARY.encode() not in kept
