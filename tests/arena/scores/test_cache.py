"""What is worked out ahead is what would be worked out now, holds until something changes, and adds up."""

import json
import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from math import isclose, isnan
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import Connection
from typer.testing import CliRunner, Result

from arena.cli.main import app
from arena.record.queries.cohorts import read_newest_time
from arena.scores.comparisons import compute_duel
from arena.scores.leaderboard import LEADERBOARD, compute_leaderboard
from arena.scores.profiles.agent_profile import compute_agent_profile
from arena.scores.profiles.detailed_profile import (
    FIGURES,
    PROFILE,
    PROFILE_SLICES,
    agent_slices,
    read_agent_profile,
)
from arena.scores.profiles.duels import DUELS
from arena.scores.profiles.inputs import read_inputs
from arena.scores.refresh import is_stale, refresh_cache, refresh_leaderboards
from arena.scores.slices import BY, CATEGORIES, SLICES, compute_slices
from markets.millionths import ONE
from markets.model import MarketId, Resolution
from tests.arena.stated_rows import only
from tests.builders import NOW
from tests.opened_record import OpenedRecord
from tests.records.seasons import play, shared_season


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenedRecord]:
    """Yield a season of two cohorts with its cache computed."""
    whole = shared_season(tmp_path_factory)
    found = OpenedRecord.at(shutil.copy(whole, tmp_path_factory.mktemp("season") / "season.db"))
    yield found
    found.close()


@pytest.fixture
def connection(record: OpenedRecord) -> Iterator[Connection]:
    with record.reading() as found:
        yield found


def agents(connection: Connection) -> tuple[str, ...]:
    return read_inputs(connection).agents


@pytest.mark.parametrize("cohort", [None, 1, 2])
def test_a_board_is_the_leaderboard(connection: Connection, cohort: int | None) -> None:
    kept = LEADERBOARD.read(connection, cohort)
    assert kept is not None
    assert (kept.value, kept.made_at, kept.is_current) == (compute_leaderboard(connection, cohort), NOW, True)


def test_a_profile_is_the_one_that_would_be_computed_now(connection: Connection) -> None:
    names = agents(connection)
    for name in names:
        kept = PROFILE.read(connection, name)
        assert kept is not None
        now = compute_agent_profile(connection, name)
        assert str(kept.value.profile) == str(now)  # as text: NaN is no other NaN
    briefs = FIGURES.read(connection)
    assert briefs is not None
    assert tuple(brief.agent for brief in briefs.value) == names


def test_slices_are_those_of_the_leaderboard_and_of_each_profile(connection: Connection) -> None:
    profile = PROFILE.read(connection, "random")
    assert profile is not None
    for by in BY:
        kept = SLICES.read(connection, by)
        assert kept is not None
        assert list(kept.value) == compute_slices(connection, by)
        if by in PROFILE_SLICES:
            assert profile.value.slices[by] == tuple(x for x in kept.value if x.gain.agent == "random")


def test_the_histogram_counts_every_stated_probability(connection: Connection) -> None:
    rows = read_inputs(connection).stated
    profile = PROFILE.read(connection, "random")
    assert profile is not None
    said = rows.forecast[rows.stated & (rows.agent == rows.agents.index("random"))]
    assert sum(profile.value.histogram) == said.size
    assert profile.value.histogram[3] == np.count_nonzero((said >= 0.15 * ONE) & (said < 0.2 * ONE))


def test_remarks_are_true(connection: Connection) -> None:
    material = read_inputs(connection)
    profile = PROFILE.read(connection, "random")
    assert profile is not None
    rows = only(material.stated, material.stated.agent == material.stated.agents.index("random"))
    gain = ((rows.mid - ONE * rows.outcome) ** 2 - (rows.forecast - ONE * rows.outcome) ** 2) / ONE**2
    counts = rows.stated & (rows.outcome >= 0)
    assert profile.value.best[0].gain == pytest.approx(gain[counts].max())
    assert profile.value.worst[0].gain == pytest.approx(gain[counts].min())
    bets = material.bets
    for remark in (*profile.value.best, *profile.value.worst):
        here = (bets.cohort == remark.cohort) & (bets.round == remark.round)
        here &= bets.agent == bets.agents.index("random")
        staked = bets.amount[here & (bets.market == bets.markets.index(remark.market_id))]
        assert staked.sum() == remark.staked
        assert (remark.side == "") == (remark.staked == 0)
        price = remark.price
        said = remark.forecast
        outcome = remark.outcome
        assert isclose(remark.gain, (price - outcome) ** 2 - (said - outcome) ** 2, abs_tol=1e-12)


def test_every_duel_is_the_one_that_would_be_fought_now_from_either_side(connection: Connection) -> None:
    names = agents(connection)
    for a in names:
        kept = DUELS.read(connection, a)
        assert kept is not None
        found = {one.duel.b: one for one in kept.value}
        assert set(found) == set(names) - {a}
        for b, one in found.items():
            now = compute_duel(connection, a, b)
            assert (one.duel.a, one.duel.rows, one.duel.events) == (a, now.rows, now.events)
            for mine, theirs in ((one.duel.gap, now.gap), (one.duel.low, now.low), (one.duel.p, now.p)):
                assert (mine is None) == (theirs is None)
                assert mine is None or mine == pytest.approx(theirs, abs=1e-9)
            assert sum(one.differences) == one.duel.events
            assert [x.share for x in one.for_a] == sorted((x.share for x in one.for_a), reverse=True)
            assert all(x.share > 0 for x in one.for_a)
            assert all(x.share < 0 for x in one.for_b)


def test_what_holds_is_not_worked_out_again_and_no_fact_is_touched(record: OpenedRecord) -> None:
    before = record.state_hash()
    assert refresh_cache(record, NOW) == 0
    assert not record.read(is_stale)
    assert record.state_hash() == before


def test_what_was_computed_in_another_way_is_computed_anew() -> None:
    """Whether anything of agents is stale is told by their figures alone."""
    for kind in (PROFILE, DUELS, SLICES):
        assert kind.method in FIGURES.method


@pytest.fixture
def copy(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenedRecord]:
    """Yield the same, to be changed."""
    found = OpenedRecord.at(shutil.copy(shared_season(tmp_path_factory), tmp_path / "season.db"))
    yield found
    found.close()


def change(record: OpenedRecord, script: str) -> None:
    with sqlite3.connect(str(record.engine.url.database)) as plain:
        plain.executescript(script)
    plain.close()


def test_a_record_from_before_there_were_categories_gets_them_with_the_boards(copy: OpenedRecord) -> None:
    before = copy.read(CATEGORIES.read)
    change(copy, "DELETE FROM rollup WHERE name = 'categories'")
    assert copy.read(CATEGORIES.read) is None
    assert copy.read(is_stale)
    assert refresh_leaderboards(copy, NOW) == 0
    assert copy.read(CATEGORIES.read) == before
    assert before is not None
    assert before.value
    assert not copy.read(is_stale)


def test_a_corrected_end_makes_all_of_it_stale_and_it_is_still_shown(copy: OpenedRecord) -> None:
    rows = copy.read(read_inputs).stated
    market = MarketId(rows.markets[rows.market[rows.outcome == 1][0]])
    copy.resolve([Resolution(market, 2, NOW, 0, "corrected")], NOW)
    for kept in (
        copy.read(LEADERBOARD.read),
        copy.read(PROFILE.read, "random"),
        copy.read(DUELS.read, "random"),
    ):
        assert kept is not None
        assert not kept.is_current
    assert copy.read(is_stale)
    assert refresh_leaderboards(copy, NOW) == 3
    assert copy.read(LEADERBOARD.is_current)
    assert not copy.read(PROFILE.is_current, "random")
    assert copy.read(is_stale)


def test_a_market_may_be_moved_to_another_event_after_it_was_shown(copy: OpenedRecord) -> None:
    """It stays one of the event under which it was bet on: the figures are the same as before."""
    names = copy.read(agents)
    before = [copy.read(DUELS.read, name) for name in names]
    page = "event_id, question, rules, category, opens_at, closes_at, tick, fee_rate, min_shares, story"
    change(
        copy,
        f"INSERT INTO market_version (market_id, version, at, hash, {page}) "
        f"SELECT market_id, max(version) + 1, '2026-06-01T00:00:00.000000Z', 'h', 'moved ' || {page} "
        "FROM market_version WHERE market_id IN (SELECT market_id FROM resolution) GROUP BY 1;"
        "DELETE FROM rollup",
    )
    assert refresh_cache(copy, NOW) > 0
    assert not copy.read(is_stale)
    after = [copy.read(DUELS.read, name) for name in names]
    assert str(after) == str(before)  # as text: NaN is no other NaN


def test_parts_of_an_agent_are_the_same_computed_and_have_all_that_is_resolved(
    connection: Connection, copy: OpenedRecord
) -> None:
    change(copy, "DELETE FROM rollup")
    whole = PROFILE.read(connection, "random")
    assert whole is not None
    assert whole.value.profile.gain is not None
    for by in ("category", "price"):
        parts = agent_slices(connection, "random", by)
        assert copy.read(agent_slices, "random", by) == parts
        known = [one.calibration for one in parts if one.calibration is not None]
        rows = sum(one.gain.rows for one in parts), sum(one.forecasts for one in known)
        assert rows == (whole.value.profile.gain.rows,) * 2


def test_a_profile_is_read_from_the_cache_until_something_is_marked_after_it(copy: OpenedRecord) -> None:
    newest = copy.read(read_newest_time)
    row = copy.cached(PROFILE.name_of("oracle"))
    assert newest is not None
    assert row is not None
    fresh = copy.read(compute_agent_profile, "oracle").gain
    bare = replace(row, body=row.body | {"profile": row.body["profile"] | {"gain": None}})
    for made_at, basis, gain in (
        (newest - timedelta(hours=1), row.basis, fresh),
        (newest, row.basis, None),
        (newest, "stale", fresh),
    ):
        copy.put_cached(replace(bare, made_at=made_at, basis=basis))
        assert copy.read(read_agent_profile, "oracle").gain == gain


def test_the_command_says_parts_as_a_table_and_as_json(record: OpenedRecord) -> None:
    def said(*more: str) -> Result:
        database = str(record.engine.url.database)
        return CliRunner().invoke(app, ["show", "agent", "oracle", "--database", database, *more])

    table = said("--by", "horizon")
    found = json.loads(said("--by", "horizon", "--json").output)["parts"]
    expected = record.read(agent_slices, "oracle", "horizon")
    assert (found["by"], [row["part"] for row in found["parts"]]) == ("horizon", [x.name for x in expected])
    assert [row["skill"] for row in found["parts"]] == [one.gain.skill for one in expected]
    for row in found["parts"]:
        assert row["part"] in table.output
        assert row["brier"] is None or f"{row['brier']:.4f}" in table.output
    assert "parts" not in json.loads(said("--json").output)
    assert said("--by", "colour").exit_code == 64


def test_before_anything_has_ended_it_says_so(tmp_path: Path) -> None:
    record = OpenedRecord.at(play(tmp_path, times=1))
    refresh_cache(record, NOW)
    with record.reading() as connection:
        profile = PROFILE.read(connection, "random")
        duels = DUELS.read(connection, "random")
    record.close()
    assert profile is not None
    assert isnan(profile.value.profile.calibration.parts.brier)
    assert (profile.value.best, profile.value.worst) == ((), ())
    assert duels is not None
    assert [(one.duel.gap, one.for_a) for one in duels.value] == [(None, ())] * 4


def test_an_empty_record_has_nothing_to_work_out(tmp_path: Path) -> None:
    record = OpenedRecord.at(tmp_path / "empty.db")
    refresh_cache(record, NOW)
    with record.reading() as connection:
        board = LEADERBOARD.read(connection)
    record.close()
    assert board is not None
    assert board.value.rows == ()
