"""An agent in parts: the same cached as computed, and the same as the leaderboard's and the profile's."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from arena.cli.main import app
from arena.record.queries.cohorts import read_newest_time
from arena.record.record import Record
from arena.record.schema.database import reading
from arena.record.write.rollups import put_rollups, read_rollup
from arena.scores.profiles.agent_profile import compute_agent_profile
from arena.scores.profiles.detailed_profile import PROFILE, PROFILE_SLICES, agent_slices, read_agent_profile
from arena.scores.refresh import refresh_cache
from arena.scores.slices import compute_slices
from tests.builders import NOW
from tests.records.seasons import play


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Record]:
    found = Record.open(str(play(tmp_path_factory.mktemp("season"))))
    yield found
    found.close()


@pytest.mark.parametrize("by", PROFILE_SLICES)
def test_skill_in_parts_is_that_of_the_leaderboard(record: Record, by: str) -> None:
    with reading(record.engine) as connection:
        found = agent_slices(connection, "random", by)
        board = [one for one in compute_slices(connection, by) if one.gain.agent == "random"]
    assert [(one.name, one.gain) for one in found] == [(one.slice, one.gain) for one in board]


def test_parts_have_all_that_is_resolved_between_them(record: Record) -> None:
    with reading(record.engine) as connection:
        whole = compute_agent_profile(connection, "random")
        bands = agent_slices(connection, "random", "price")
    assert whole.gain is not None
    assert sum(one.gain.rows for one in bands) == whole.gain.rows
    known = [one.calibration for one in bands if one.calibration is not None]
    assert sum(one.forecasts for one in known) == whole.gain.rows
    for one in known:
        parts = one.parts
        whole_brier = parts.miscalibration - parts.discrimination + parts.uncertainty
        assert parts.brier == pytest.approx(whole_brier, abs=1e-12)


def test_what_is_cached_is_what_is_computed_now(record: Record, tmp_path: Path) -> None:
    with reading(record.engine) as connection:
        now = {by: agent_slices(connection, "oracle", by) for by in PROFILE_SLICES}
    refresh_cache(record, NOW)
    with reading(record.engine) as connection:
        assert {by: agent_slices(connection, "oracle", by) for by in PROFILE_SLICES} == now


def test_a_profile_is_read_from_the_cache_until_something_is_marked_after_it(record: Record) -> None:
    newest = record.read(read_newest_time)
    assert newest is not None
    refresh_cache(record, newest - timedelta(hours=1))
    fresh = record.read(read_agent_profile, "oracle")
    row = record.read(read_rollup, PROFILE.name_of("oracle"))
    assert row is not None
    row = replace(row, made_at=newest - timedelta(hours=1))
    assert str(fresh) == str(record.read(compute_agent_profile, "oracle"))
    bare = row.body | {"profile": row.body["profile"] | {"gain": None}}
    record.write(put_rollups, [replace(row, body=bare)])
    assert record.read(read_agent_profile, "oracle").gain == fresh.gain
    record.write(put_rollups, [replace(row, body=bare, made_at=newest)])
    assert record.read(read_agent_profile, "oracle").gain is None
    record.write(put_rollups, [replace(row, body=bare, made_at=newest, basis="stale")])
    assert record.read(read_agent_profile, "oracle").gain == fresh.gain
    record.write(put_rollups, [row])


def test_the_command_says_it_as_a_table_and_as_json(record: Record) -> None:
    database = ["--database", str(record.engine.url.database)]
    table = CliRunner().invoke(app, ["agents", "show", "oracle", "--by", "horizon", *database])
    assert table.exit_code == 0, table.output
    told = CliRunner().invoke(app, ["agents", "show", "oracle", "--by", "horizon", "--json", *database])
    found = json.loads(told.output)["parts"]
    with reading(record.engine) as connection:
        expected = agent_slices(connection, "oracle", "horizon")
    assert (found["by"], [row["part"] for row in found["parts"]]) == ("horizon", [x.name for x in expected])
    assert [row["skill"] for row in found["parts"]] == [one.gain.skill for one in expected]
    for row in found["parts"]:
        assert row["part"] in table.output
        assert row["brier"] is None or f"{row['brier']:.4f}" in table.output


def test_without_it_nothing_is_parted(record: Record) -> None:
    database = ["--database", str(record.engine.url.database)]
    told = CliRunner().invoke(app, ["agents", "show", "oracle", "--json", *database])
    assert "parts" not in json.loads(told.output)
    wrong = CliRunner().invoke(app, ["agents", "show", "oracle", "--by", "colour", *database])
    assert wrong.exit_code == 64
