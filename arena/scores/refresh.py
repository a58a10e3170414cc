"""The only job that recomputes stale values of the cache and writes them there."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from arena.record.queries.answers import plays_questions
from arena.record.queries.cohorts import read_cohorts
from arena.record.record import Record
from arena.record.schema.database import Connection
from arena.record.write.rollups import Rollup, put_rollups
from arena.scores.all_kinds import ALL_KINDS, compute_all_kinds
from arena.scores.comparisons import COMPARISONS, compute_comparisons
from arena.scores.leaderboard import LEADERBOARD, compute_leaderboard
from arena.scores.profiles.calibrations import CALIBRATIONS, compute_calibrations
from arena.scores.profiles.coherence import blind_of
from arena.scores.profiles.detailed_profile import (
    FIGURES,
    PROFILE,
    compute_profile,
    profile_figures,
)
from arena.scores.profiles.duels import DUELS, compute_duels
from arena.scores.profiles.inputs import read_inputs
from arena.scores.slices import BY, CATEGORIES, SLICES, read_categories, slice_gains

Progress = Callable[[int, int | None], None]
"""Receives the number of values computed so far, and the number of all."""


def refresh_leaderboards(record: Record, at: datetime, progress: Progress | None = None) -> int:
    """Recompute the leaderboards, which change with every mark of a cohort; return how many were stale.

    The categories of markets, which take no time, are recomputed with them.
    """
    with record.reading() as connection:
        keys = _leaderboard_keys(connection)
        stale_rows = _stale_all_kinds(connection, keys, at)
        if not COMPARISONS.is_current(connection):
            for key in keys:
                comparisons = compute_comparisons(connection, key)
                stale_rows.append(COMPARISONS.row(connection, at, comparisons, key))
        if not CATEGORIES.is_current(connection):
            stale_rows.append(CATEGORIES.row(connection, at, tuple(read_categories(connection))))
    if stale_rows:
        record.write(put_rollups, stale_rows)

    with record.reading() as connection:
        stale = [key for key in keys if not LEADERBOARD.is_current(connection, key)]

        def boards() -> Iterator[Rollup]:
            for key in stale:
                board = compute_leaderboard(connection, key, COMPARISONS.read_current(connection, key))
                yield LEADERBOARD.row(connection, at, board, key)

        return _write_one_by_one(record, boards(), len(stale), progress)


def _stale_all_kinds(connection: Connection, keys: Sequence[int | None], at: datetime) -> list[Rollup]:
    """Return the stale scores of all kinds of questions, recomputed, if there are such questions."""
    rows = []
    for key in keys:
        if plays_questions(connection, key) and not ALL_KINDS.is_current(connection, key):
            found = compute_all_kinds(connection, key)
            rows.append(ALL_KINDS.row(connection, at, found, key))
    return rows


def refresh_cache(record: Record, at: datetime, progress: Progress | None = None) -> int:
    """Recompute everything that is stale; return the number of values."""
    count = refresh_leaderboards(record, at, progress)

    with record.reading() as connection:
        stale = _stale_calibrations(connection)
        rows = (CALIBRATIONS.row(connection, at, compute_calibrations(connection, n), n) for n in stale)
        count += _write_one_by_one(record, rows, len(stale), progress)

    with record.reading() as connection:
        if not FIGURES.is_current(connection):  # the figures are written after all else of agents
            count += _refresh_agents(record, connection, at, progress)
    return count


def is_stale(connection: Connection) -> bool:
    """Tell whether anything needs computing, in a record that has a cohort."""
    keys = _leaderboard_keys(connection)
    # Only the key of all cohorts together: the record has no cohort.
    if len(keys) == 1:
        return False

    if not all(LEADERBOARD.is_current(connection, key) for key in keys):
        return True
    if not CATEGORIES.is_current(connection) or _stale_calibrations(connection):
        return True
    return not FIGURES.is_current(connection)


def _leaderboard_keys(connection: Connection) -> list[int | None]:
    """Return the keys of all leaderboards: first all cohorts together, then each."""
    return [None, *(stored.cohort.number for stored in read_cohorts(connection))]


def _stale_calibrations(connection: Connection) -> list[int]:
    """Return the cohorts whose calibrations are stale."""
    numbers = [stored.cohort.number for stored in read_cohorts(connection)]
    return [number for number in numbers if not CALIBRATIONS.is_current(connection, number)]


def _refresh_agents(record: Record, connection: Connection, at: datetime, progress: Progress | None) -> int:
    """Recompute slices, profiles, duels and the figures of all agents."""
    inputs = read_inputs(connection)

    def rows() -> Iterator[Rollup]:
        slices = {by: slice_gains(inputs.stated, by) for by in BY}
        for by, parts in slices.items():
            yield SLICES.row(connection, at, tuple(parts), by)

        figures = []
        for agent in inputs.agents:
            profile = compute_profile(inputs, agent, slices, blind_of(connection, agent))
            figures.append(profile_figures(profile))
            yield PROFILE.row(connection, at, profile, agent)

        duels = compute_duels(inputs)
        for agent in inputs.agents:
            yield DUELS.row(connection, at, duels.get(agent, ()), agent)

        # The figures come last, because they mark all other values as current.
        yield FIGURES.row(connection, at, tuple(figures))

    return _write_one_by_one(record, rows(), 2 * len(inputs.agents) + len(BY) + 1, progress)


def _write_one_by_one(record: Record, rows: Iterator[Rollup], count: int, progress: Progress | None) -> int:
    """Write each value as soon as it is computed."""
    for done, row in enumerate(rows, start=1):
        record.write(put_rollups, [row])
        if progress is not None:
            progress(done, count)
    return count
