"""An agent that fails on purpose until the news is out gains nothing, and its failures stay in the record."""

import shutil
import sqlite3
from pathlib import Path

from tests.oracles.settled import rows
from tests.program.running import agents_of, arena, arena_json

CONFIG = """\
markets: {venue: simulator, show: 8, simulator: {start: 2026-01-04, weeks: 3, markets: 20, events: 8}}
cohorts: {rounds: 1, count: 1, corrected_within: 8d}
agents: [{kind: python, name: waits, function: "mine:decide"}, {kind: python, function: "mine:at_once"}]
"""
MINE = """\
from pathlib import Path
from agents.model import Decision, Forecast
from portfolio.model import Bet

def at_once(view, ask):
    shown = [listing.market.id for listing in view.snapshot.shown]
    return Decision(tuple(Forecast(one, 0.9) for one in shown), (Bet(shown[0], "YES", 100_000_000),))

def decide(view, ask):
    if not (Path(__file__).parent / "news_is_out").exists():
        raise RuntimeError("not yet")
    return at_once(view, ask)
"""


def test_failing_until_the_news_is_out_is_seen_and_gains_nothing(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(CONFIG, "utf-8")
    (tmp_path / "mine.py").write_text(MINE, "utf-8")
    for _ in range(2):
        assert arena(tmp_path, "run", "--round", "--at", "2026-01-04T00:00Z").returncode == 2
    before = agents_of(arena_json(tmp_path, "board")["leaderboard"])["waits"]
    assert (before["failed"], before["retried"]) == (1, 1)
    (tmp_path / "news_is_out").touch()
    assert arena(tmp_path, "run", "--round", "--at", "2026-01-04T00:00Z").returncode == 0
    board = arena(tmp_path, "board").stdout
    assert "Turns retried after a failure: waits 1." in board
    while arena(tmp_path, "run", "--round").returncode == 0:
        pass  # until all has ended
    arena_json(tmp_path, "share", "export", "x")
    assert [
        (row["agent"], row["attempt"], "not yet" in row["note"]) for row in rows(tmp_path / "x", "attempts")
    ] == [
        ("waits", "1", True),
        ("waits", "2", True),
    ]
    late, prompt = (
        [f for f in rows(tmp_path / "x", "fills") if f["agent"] == name] for name in ("waits", "python")
    )
    assert [int(fill["shares"]) for fill in late] <= [int(fill["shares"]) for fill in prompt]
    assert arena_json(tmp_path, "admin", "verify")["ok"]
    arena_json(tmp_path, "admin", "restore", "x", "--database", "copy.db")
    assert arena_json(tmp_path, "admin", "verify", "--database", "copy.db")["ok"]
    shutil.copy(tmp_path / "copy.db", tmp_path / "forged.db")
    for number in (1, 2):
        with sqlite3.connect(tmp_path / "forged.db") as record:
            record.execute("DROP TRIGGER IF EXISTS attempt_no_delete")
            record.execute("DELETE FROM attempt WHERE number = ?", (number,))
        assert not arena_json(tmp_path, "admin", "verify", "--database", "forged.db", status=1)["ok"]
