"""One agent in depth: it says what the other pages say, and null where nothing can be said."""

import json
from collections.abc import Iterator

import pytest

from arena.cli.portrait_words import as_data, say
from arena.errors import ArenaError
from arena.leaderboard import Row, leaderboard
from arena.portrait import portrait
from arena.scores import ranking
from arena.store.database import connect, reading
from arena.store.frame import Connection
from tests.arena.store.build import build


@pytest.fixture(scope="module", params=[1, 5], ids=["a week", "all weeks"])
def record(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """The small record that has everything in it, early and late."""
    path = tmp_path_factory.mktemp("portrait") / "record.db"
    build(path, request.param).close()
    engine = connect(f"sqlite:///{path}", read_only=True)
    with reading(engine) as connection:
        yield connection
    engine.dispose()


def players(record: Connection) -> list[Row]:
    return [line for line in leaderboard(record) if line.turns]


def test_its_figures_are_those_of_the_leaderboard(record: Connection) -> None:
    assert players(record)
    for line in players(record):
        found = as_data(portrait(record, line.agent))
        if found["money"] is not None:
            assert found["money"]["split"]["pnl"] == pytest.approx(line.pnl, abs=1e-6)
            assert found["money"]["luck"]["pnl"] == pytest.approx(line.pnl, abs=1e-6)
        assert (found["gain"]["skill"] if found["gain"] else None) == pytest.approx(line.skill, abs=1e-12)
        if line.brier_stated is not None:
            assert found["calibration"]["parts"]["brier"] == pytest.approx(line.brier_stated, abs=1e-12)


def test_the_interval_is_that_of_the_leaderboard(record: Connection) -> None:
    rows = {row.agent: row for row in ranking(record).rows}
    for line in players(record):
        gain = portrait(record, line.agent).gain
        assert gain is not None
        assert (gain.low, gain.high, gain.reason) == (
            rows[line.agent].skill_low,
            rows[line.agent].skill_high,
            rows[line.agent].reason,
        )


def test_what_cannot_be_said_is_null_in_json_and_no_word_fails(
    record: Connection, capsys: pytest.CaptureFixture[str]
) -> None:
    for line in players(record):
        found = as_data(portrait(record, line.agent))
        assert json.loads(json.dumps(found, allow_nan=False)) == found
        say(found)
    assert "P/L" in capsys.readouterr().out


def test_an_agent_that_is_not_there_is_said(record: Connection) -> None:
    with pytest.raises(ArenaError, match="no agent 'nobody'"):
        portrait(record, "nobody")
