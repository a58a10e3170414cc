"""The leaderboard with what chance can do: intervals, places, ties, and one sentence that says who leads."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from arena.compared import EARLY, Comparisons, Standing
from arena.frame import Stated
from arena.leaderboard import Row

REPLAY = "replay: not evidence of skill"


@dataclass(frozen=True, slots=True)
class Ranked(Row):
    """An agent's scores, and how sure its skill is. None where nothing can be said; `reason` says why.

    The interval of the skill holds the true one in 95% of seasons; `p` is the chance of a skill as far from
    0 if there were none. `place_best` and `place_worst` are the places that the agent may really hold, `ties`
    the groups of the board that it is in, from 1 on. `events_effective` counts events of many markets for
    less. `stamps` say what the figures are not worth.
    """

    events_effective: float | None = None
    skill_low: float | None = None
    skill_high: float | None = None
    skill_p: float | None = None
    place_best: int | None = None
    place_worst: int | None = None
    ties: tuple[int, ...] = ()
    reason: str | None = None
    stamps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ranking:
    """The rows, the surest skill first, and what they say together."""

    sentence: str
    leader: str | None
    events_needed: int | None
    noise: float | None
    rows: tuple[Ranked, ...]


def ranked(rows: Sequence[Row], found: Comparisons, stated: Stated, replay: bool) -> Ranking:
    """The leaderboard's rows in the order of what is sure of each."""
    lines = [_line(row, found, _stamps(row.agent, stated, replay)) for row in rows]
    lines.sort(key=lambda line: (_down(line.skill_low), _down(line.skill), line.agent))
    noise = None if found.noise is None else found.noise.typical
    return Ranking(found.sentence, found.leader, found.events_needed, noise, tuple(lines))


def _line(row: Row, found: Comparisons, stamps: tuple[str, ...]) -> Ranked:
    own: dict[str, Any] = {field.name: getattr(row, field.name) for field in fields(Row)}
    standing = found.of(row.agent)
    if standing is None:  # the price that nobody plays: it is what skill is measured from, exactly
        known = row.skill == 0 and any(one.gain.low is not None for one in found.standings)
        sure: dict[str, Any] = {"skill_low": 0.0, "skill_high": 0.0, "skill_p": 1.0} if known else {}
        return Ranked(**own, **sure, stamps=stamps)
    ties = tuple(number for number, group in enumerate(found.ties, start=1) if row.agent in group)
    return Ranked(**own, **_sure(standing), ties=ties, stamps=stamps)


def _sure(standing: Standing) -> dict[str, Any]:
    gain = standing.gain
    return {
        "events_effective": gain.effective,
        "skill_low": gain.low,
        "skill_high": gain.high,
        "skill_p": gain.p,
        "place_best": standing.best,
        "place_worst": standing.worst,
        "reason": gain.reason,
    }


def _stamps(agent: str, stated: Stated, replay: bool) -> tuple[str, ...]:
    mine = stated.agent == (stated.agents.index(agent) if agent in stated.agents else -1)
    early = bool(np.any(stated.early & mine))
    return (*([REPLAY] if replay else []), *([EARLY] if early else []))


def _down(value: float | None) -> float:
    return float("inf") if value is None else -value
