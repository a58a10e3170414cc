"""Everything that is worked out ahead, worked out: what has become stale, and nothing else."""

from collections.abc import Callable, Iterator
from datetime import datetime

from arena.record.queries.cohorts import read_cohorts, read_newest_time
from arena.record.queries.forecasts import Connection
from arena.record.record import Record
from arena.record.schema.database import reading
from arena.record.write.rollups import Rollup, put_rollups, read_basis, scores_basis
from arena.scores.cache import duels, leaderboards, profiles, rank_moves
from arena.scores.cache.calibrations import compute_calibrations, stale_calibrations
from arena.scores.cache.categories import compute_categories, stale_categories
from arena.scores.cache.entry import to_rollup
from arena.scores.cache.inputs import CacheInputs, read_inputs
from arena.scores.cache.leaderboards import (
    comparisons_are_stale,
    compute_comparisons,
    compute_leaderboards,
    stale_leaderboards,
)
from arena.scores.coherence import blind_of
from arena.scores.slices import BY, slice_gains

Progress = Callable[[int, int | None], None]
"""Hears how many things are worked out, and of how many."""


def refresh_leaderboards(record: Record, at: datetime, told: Progress | None = None) -> int:
    """The leaderboards, which change with every look at a cohort; how many there were to do.

    With them goes what takes no time: the categories of markets.
    """
    with reading(record.engine) as connection:
        found = compute_comparisons(connection, at) if comparisons_are_stale(connection) else []
        found += [compute_categories(connection, at)] if stale_categories(connection) else []
    if found:
        record.write(put_rollups, found)
    with reading(record.engine) as connection:
        old = stale_leaderboards(connection)
        return _write_entries(record, compute_leaderboards(connection, old, at), len(old), told)


def refresh_calibrations(record: Record, at: datetime, told: Progress | None = None) -> int:
    """How calibrated everyone was in each cohort of which a market has ended; how many there were to do."""
    with reading(record.engine) as connection:
        old = stale_calibrations(connection)
        return _write_entries(record, compute_calibrations(connection, old, at), len(old), told)


def refresh_cache(record: Record, at: datetime, told: Progress | None = None) -> int:
    """All that is stale; how many things there were to do."""
    done = refresh_leaderboards(record, at, told) + refresh_calibrations(record, at, told)
    with reading(record.engine) as connection:
        if not _profiles_are_stale(connection):
            return done
        material = read_inputs(connection)
        # The moves come last: once they are kept, nothing else is behind.
        count = 2 * len(material.agents) + len(BY) + 2
        return done + _write_entries(record, _compute_profiles(connection, material, at), count, told)


def is_stale(connection: Connection) -> bool:
    """Whether there is anything to be worked out, in a record that holds a cohort."""
    parts = (stale_leaderboards, stale_categories, stale_calibrations, _profiles_are_stale)
    return bool(read_cohorts(connection)) and any(part(connection) for part in parts)


def _profiles_are_stale(connection: Connection) -> bool:
    """Whether a market has ended since an agent was last looked at in depth."""
    return read_basis(connection, rank_moves.NAME) != scores_basis(connection, rank_moves.METHOD)


def _write_entries(record: Record, found: Iterator[Rollup], count: int, told: Progress | None) -> int:
    """Keep each thing as soon as it is worked out."""
    for done, rollup in enumerate(found, start=1):
        record.write(put_rollups, [rollup])
        if told is not None:
            told(done, count)
    return count


def _compute_profiles(connection: Connection, material: CacheInputs, at: datetime) -> Iterator[Rollup]:
    basis = scores_basis(connection, leaderboards.SLICES_METHOD)
    parts = {by: slice_gains(material.stated, by) for by in BY}
    for by, found in parts.items():
        yield to_rollup(leaderboards.slices_name(by), basis, at, leaderboards.SLICES_FORM, tuple(found))
    basis, short = scores_basis(connection, profiles.PROFILES_METHOD), list[profiles.ProfileFigures]()
    for agent in material.agents:
        one = profiles.compute_profile(material, agent, parts, blind_of(connection, agent))
        short.append(profiles.profile_figures(one))
        yield to_rollup(profiles.profile_name(agent), basis, at, profiles.PROFILE_FORM, one)
    yield to_rollup(profiles.FIGURES_NAME, basis, at, profiles.FIGURES_FORM, tuple(short))
    basis, fought = scores_basis(connection, duels.METHOD), duels.compute_duels(material)
    for agent in material.agents:
        yield to_rollup(duels.duels_name(agent), basis, at, duels.FORM, fought.get(agent, ()))
    basis, moved = (
        scores_basis(connection, rank_moves.METHOD),
        rank_moves.compute_moves(material, read_newest_time(connection, None) or at),
    )
    yield to_rollup(rank_moves.NAME, basis, at, rank_moves.FORM, moved)
