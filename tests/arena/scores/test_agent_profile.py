"""One agent in depth: it says what the other pages say, and null where nothing can be said."""

import json
from collections.abc import Iterator

import pytest
from sqlalchemy import Connection

from arena.cli.agents import profile_blocks, profile_data
from arena.cli.page import page_lines
from arena.errors import ArenaError
from arena.scores.leaderboard import LeaderboardRow, compute_leaderboard, read_scores
from arena.scores.profiles.agent_profile import compute_agent_profile
from tests.records.full_record import build
from tests.rows import read_only


@pytest.fixture(scope="module", params=[1, 5], ids=["a week", "all weeks"])
def record(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """Yield the small record that has everything in it, early and late."""
    path = tmp_path_factory.mktemp("portrait") / "record.db"
    build(path, request.param).close()
    with read_only(path) as connection:
        yield connection


def players(record: Connection) -> list[LeaderboardRow]:
    return [line for line in read_scores(record) if line.turns]


def test_its_figures_are_those_of_the_leaderboard(record: Connection) -> None:
    assert players(record)
    for line in players(record):
        found = profile_data(compute_agent_profile(record, line.agent))
        if found["money"] is not None:
            assert found["money"]["split"]["pnl"] == pytest.approx(line.pnl, abs=1e-6)
            assert found["money"]["luck"]["pnl"] == pytest.approx(line.pnl, abs=1e-6)
        if found["gain"]:
            assert found["gain"]["skill"] == pytest.approx(line.skill, abs=1e-12)
        if line.coverage == 1:
            assert found["calibration"]["parts"]["brier"] == pytest.approx(line.brier_stated, abs=1e-12)


def test_the_interval_is_that_of_the_leaderboard(record: Connection) -> None:
    rows = {row.agent: row for row in compute_leaderboard(record).rows}
    for line in players(record):
        gain = compute_agent_profile(record, line.agent).gain
        assert (gain is not None) == (rows[line.agent].ranked or line.kind == "market")
        if gain is None:
            continue
        assert (gain.low, gain.high, gain.reason) == (
            rows[line.agent].skill_low,
            rows[line.agent].skill_high,
            rows[line.agent].reason,
        )


def test_what_cannot_be_said_is_null_in_json_and_no_word_fails(record: Connection) -> None:
    lines: list[str] = []
    for line in players(record):
        profile = compute_agent_profile(record, line.agent)
        found = profile_data(profile)
        assert json.loads(json.dumps(found, allow_nan=False)) == found
        lines += page_lines(profile_blocks(profile), None)
    assert any(line.startswith("P/L") for line in lines)


def test_an_agent_that_is_not_there_is_said(record: Connection) -> None:
    with pytest.raises(ArenaError, match="no agent 'nobody'"):
        compute_agent_profile(record, "nobody")
