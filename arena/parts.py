"""One agent in parts of the season: its skill and its calibration in each, side by side."""

from collections.abc import Sequence
from dataclasses import dataclass

from arena.frame import evidence, of_agent
from arena.prepared.profiles import calibrated, kept_profile
from arena.scoring.calibrating.slices import Slice as Calibrated
from arena.scoring.comparing.gain import Gain
from arena.slices import Slice, sliced
from arena.store.frame import Connection
from arena.store.stated import read_stated


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the season by its name. `calibration` is None where nothing of it is resolved."""

    name: str
    gain: Gain
    calibration: Calibrated | None


def in_parts(connection: Connection, agent: str, by: str) -> list[Part]:
    """The parts that hold something of the agent, as they were worked out last, or now where that is old.

    `by` is one of `arena.prepared.profiles.SLICES`.
    """
    kept = kept_profile(connection, agent)
    if kept is not None and kept.fresh:
        return _together(kept.value.slices[by], kept.value.calibrated[by])
    stated = read_stated(connection)
    rows = of_agent(stated, agent)
    skills = [one for one in sliced(stated, by) if one.gain.agent == agent]
    return _together(skills, calibrated(evidence(rows), by))


def _together(skills: Sequence[Slice], found: Sequence[Calibrated]) -> list[Part]:
    by_name = {one.label: one for one in found}
    return [Part(one.slice, one.gain, by_name.get(one.slice)) for one in skills]
