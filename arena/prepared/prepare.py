"""Everything that is worked out ahead, worked out: what has become stale, and nothing else."""

from collections.abc import Callable, Iterator
from datetime import datetime

from arena.prepared import briefs, duels, moves, profiles, slices
from arena.prepared.boards import boards, stale_boards
from arena.prepared.categories import categories, stale_categories
from arena.prepared.cohorts import calibrations, stale_calibrations
from arena.prepared.kept import rolled
from arena.prepared.material import Material, gathered
from arena.scores import stale, worked_out
from arena.slices import BY, sliced
from arena.statements import blind_of
from arena.store.database import reading
from arena.store.frame import Connection
from arena.store.read import cohorts, newest_time
from arena.store.record import Record
from arena.store.rollups import Rollup, basis_of, read_basis

Told = Callable[[int, int | None], None]
"""Hears how many things are worked out, and of how many."""


def prepare_boards(record: Record, at: datetime, told: Told | None = None) -> int:
    """The leaderboards, which change with every look at a cohort; how many there were to do.

    With them goes what takes no time: the categories of markets.
    """
    with reading(record.engine) as connection:
        found = worked_out(connection, at) if stale(connection) else []
        found += [categories(connection, at)] if stale_categories(connection) else []
    record.keep_rollups(found)
    with reading(record.engine) as connection:
        old = stale_boards(connection)
        return _kept(record, boards(connection, old, at), len(old), told)


def prepare_cohorts(record: Record, at: datetime, told: Told | None = None) -> int:
    """How calibrated everyone was in each cohort of which a market has ended; how many there were to do."""
    with reading(record.engine) as connection:
        old = stale_calibrations(connection)
        return _kept(record, calibrations(connection, old, at), len(old), told)


def prepare(record: Record, at: datetime, told: Told | None = None) -> int:
    """All that is stale; how many things there were to do."""
    done = prepare_boards(record, at, told) + prepare_cohorts(record, at, told)
    with reading(record.engine) as connection:
        if not _is_behind(connection):
            return done
        material = gathered(connection)
        # The moves come last: once they are kept, nothing else is behind.
        count = 2 * len(material.agents) + len(BY) + 2
        return done + _kept(record, _in_depth(connection, material, at), count, told)


def is_stale(connection: Connection) -> bool:
    """Whether there is anything to be worked out, in a record that holds a cohort."""
    parts = (stale_boards, stale_categories, stale_calibrations, _is_behind)
    return bool(cohorts(connection)) and any(part(connection) for part in parts)


def _is_behind(connection: Connection) -> bool:
    """Whether a market has ended since an agent was last looked at in depth."""
    return read_basis(connection, moves.NAME) != basis_of(connection, moves.METHOD)


def _kept(record: Record, found: Iterator[Rollup], count: int, told: Told | None) -> int:
    """Keep each thing as soon as it is worked out."""
    for done, rollup in enumerate(found, start=1):
        record.keep_rollups([rollup])
        if told is not None:
            told(done, count)
    return count


def _in_depth(connection: Connection, material: Material, at: datetime) -> Iterator[Rollup]:
    basis = basis_of(connection, slices.METHOD)
    parts = {by: sliced(material.stated, by) for by in BY}
    for by, found in parts.items():
        yield rolled(slices.name_of(by), basis, at, slices.FORM, tuple(found))
    basis, short = basis_of(connection, briefs.METHOD), list[briefs.Brief]()
    for agent in material.agents:
        one = profiles.profile(material, agent, parts, blind_of(connection, agent))
        short.append(profiles.brief(one))
        yield rolled(profiles.name_of(agent), basis, at, profiles.FORM, one)
    yield rolled(briefs.NAME, basis, at, briefs.FORM, tuple(short))
    basis, fought = basis_of(connection, duels.METHOD), duels.fought(material)
    for agent in material.agents:
        yield rolled(duels.name_of(agent), basis, at, duels.FORM, fought.get(agent, ()))
    basis, moved = (
        basis_of(connection, moves.METHOD),
        moves.moves(material, newest_time(connection, None) or at),
    )
    yield rolled(moves.NAME, basis, at, moves.FORM, moved)
