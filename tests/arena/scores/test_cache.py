"""What is worked out ahead is what would be worked out now, holds until something changes, and adds up."""

import shutil
import sqlite3
from collections.abc import Iterator
from math import isclose, isnan
from pathlib import Path

import numpy as np
import pytest

from arena.record.hashes import state_hash
from arena.record.model.columns import rows_of_agent
from arena.record.record import Record
from arena.record.schema.database import Connection, reading
from arena.record.write.resolutions import add_resolutions
from arena.scores.comparisons import compute_duel
from arena.scores.leaderboard import LEADERBOARD, compute_leaderboard
from arena.scores.profiles.agent_profile import compute_agent_profile
from arena.scores.profiles.detailed_profile import FIGURES, PROFILE, PROFILE_SLICES
from arena.scores.profiles.duels import DUELS
from arena.scores.profiles.inputs import read_inputs
from arena.scores.refresh import is_stale, refresh_cache, refresh_leaderboards
from arena.scores.slices import BY, CATEGORIES, SLICES, compute_slices
from markets.millionths import ONE
from markets.model import MarketId, Resolution
from tests.builders import NOW
from tests.records.seasons import play, shared_season


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Record]:
    """A season of two cohorts, and all that is worked out from it."""
    whole = shared_season(tmp_path_factory)
    found = Record.open(str(shutil.copy(whole, tmp_path_factory.mktemp("season") / "season.db")))
    yield found
    found.close()


@pytest.fixture
def connection(record: Record) -> Iterator[Connection]:
    with reading(record.engine) as found:
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
    rows = rows_of_agent(read_inputs(connection).stated, "random")
    profile = PROFILE.read(connection, "random")
    assert profile is not None
    said = rows.forecast[rows.stated]
    assert sum(profile.value.histogram) == said.size
    assert profile.value.histogram[3] == np.count_nonzero((said >= 0.15 * ONE) & (said < 0.2 * ONE))


def test_remarks_are_true(connection: Connection) -> None:
    material, profile = read_inputs(connection), PROFILE.read(connection, "random")
    assert profile is not None
    rows = rows_of_agent(material.stated, "random")
    gain = ((rows.mid - ONE * rows.outcome) ** 2 - (rows.forecast - ONE * rows.outcome) ** 2) / ONE**2
    counts = rows.stated & (rows.outcome >= 0)
    assert profile.value.best[0].gain == pytest.approx(gain[counts].max())
    assert profile.value.worst[0].gain == pytest.approx(gain[counts].min())
    bets = rows_of_agent(material.bets, "random")
    for remark in (*profile.value.best, *profile.value.worst):
        here = (bets.cohort == remark.cohort) & (bets.round == remark.round)
        staked = bets.amount[here & (bets.market == bets.markets.index(remark.market_id))]
        assert staked.sum() == remark.staked
        assert (remark.side == "") == (remark.staked == 0)
        price, said, outcome = remark.price, remark.forecast, remark.outcome
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


def test_what_holds_is_not_worked_out_again_and_no_fact_is_touched(record: Record) -> None:
    before = record.read(state_hash)
    assert refresh_cache(record, NOW) == 0
    assert not record.read(is_stale)
    assert record.read(state_hash) == before


def test_a_record_from_before_there_were_categories_gets_them_with_the_boards(tmp_path: Path) -> None:
    database = play(tmp_path, times=2)
    record = Record.open(str(database))
    refresh_cache(record, NOW)
    with reading(record.engine) as connection:
        before = CATEGORIES.read(connection)
    with sqlite3.connect(database) as plain:
        plain.execute("DELETE FROM rollup WHERE name = 'categories'")
    with reading(record.engine) as connection:
        assert CATEGORIES.read(connection) is None
    assert record.read(is_stale)
    assert refresh_leaderboards(record, NOW) == 0
    with reading(record.engine) as connection:
        assert CATEGORIES.read(connection) == before
    assert before is not None
    assert before.value
    assert not record.read(is_stale)
    record.close()


def test_an_end_makes_all_of_it_stale_and_it_is_still_shown(tmp_path: Path) -> None:
    record = Record.open(str(play(tmp_path, times=3)))
    refresh_cache(record, NOW)
    with reading(record.engine) as connection:
        rows = read_inputs(connection).stated
        known = np.unique(rows.market[rows.outcome == -1])
        market = MarketId(rows.markets[known[0]])
    record.write(add_resolutions, [Resolution(market, 1, NOW, ONE, "told")], NOW)
    with reading(record.engine) as connection:
        for kept in (
            LEADERBOARD.read(connection),
            PROFILE.read(connection, "random"),
            DUELS.read(connection, "random"),
        ):
            assert kept is not None
            assert not kept.is_current
    assert record.read(is_stale)
    assert refresh_leaderboards(record, NOW) == 3
    with reading(record.engine) as connection:
        board, profile = LEADERBOARD.read(connection), PROFILE.read(connection, "random")
    assert board is not None
    assert profile is not None
    assert (board.is_current, profile.is_current) == (True, False)
    assert refresh_cache(record, NOW) > 0
    assert not record.read(is_stale)
    record.close()


def test_a_market_may_be_moved_to_another_event_after_it_was_shown(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """It stays one of the event under which it was bet on: the figures are the same as before."""
    database = Path(shutil.copy(shared_season(tmp_path_factory), tmp_path / "season.db"))
    record = Record.open(str(database))
    page = "event_id, question, rules, category, opens_at, closes_at, tick, fee_rate, min_shares, story"
    with reading(record.engine) as connection:
        before = [DUELS.read(connection, name) for name in agents(connection)]
    with sqlite3.connect(database) as plain:
        plain.execute(
            f"INSERT INTO market_version (market_id, version, at, hash, {page}) "
            f"SELECT market_id, max(version) + 1, '2026-06-01T00:00:00.000000Z', 'h', 'moved ' || {page} "
            "FROM market_version WHERE market_id IN (SELECT market_id FROM resolution) GROUP BY 1"
        )
        plain.execute("DELETE FROM rollup")
    assert refresh_cache(record, NOW) > 0
    with reading(record.engine) as connection:
        after = [DUELS.read(connection, name) for name in agents(connection)]
    record.close()
    assert str(after) == str(before)  # as text: NaN is no other NaN


def test_before_anything_has_ended_it_says_so(tmp_path: Path) -> None:
    record = Record.open(str(play(tmp_path, times=1)))
    refresh_cache(record, NOW)
    with reading(record.engine) as connection:
        profile, duels = PROFILE.read(connection, "random"), DUELS.read(connection, "random")
    record.close()
    assert profile is not None
    assert isnan(profile.value.profile.calibration.parts.brier)
    assert (profile.value.best, profile.value.worst) == ((), ())
    assert duels is not None
    assert [(one.duel.gap, one.for_a) for one in duels.value] == [(None, ())] * 4


def test_an_empty_record_has_nothing_to_work_out(tmp_path: Path) -> None:
    record = Record.open(str(tmp_path / "empty.db"))
    refresh_cache(record, NOW)
    with reading(record.engine) as connection:
        board = LEADERBOARD.read(connection)
    record.close()
    assert board is not None
    assert board.value.rows == ()
