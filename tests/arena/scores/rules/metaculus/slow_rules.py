"""The rules once more, one instant and one forecaster at a time, straight from their texts.

Times are whole numbers, so every rule is a sum over units of time. Nothing here is shared with ours.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import fmean, median

import numpy as np
from hypothesis import strategies as st

from arena.scores.rules.metaculus.forecasts import Forecasts, MetaculusQuestion
from arena.scores.rules.metaculus.question_types import binary


@dataclass(frozen=True)
class Said:
    """A forecast of yes/no in thousandths; without an end it stands."""

    who: str
    start: int
    end: int | None
    yes: int

    @property
    def chance(self) -> float:
        return self.yes / 1000

    def stands(self, at: float) -> bool:
        return self.start <= at and (self.end is None or at < self.end)


@dataclass(frozen=True)
class Told:
    """A question that ended YES, and all that was said."""

    opens: int
    closes: int
    scheduled: int
    spot: int
    said: tuple[Said, ...]
    base: frozenset[str] = field(default_factory=frozenset)

    @property
    def question(self) -> MetaculusQuestion:
        return MetaculusQuestion(self.opens, self.closes, self.scheduled, self.spot)

    @property
    def forecasts(self) -> Forecasts:
        columns = ([getattr(s, name) for s in self.said] for name in ("who", "start", "chance", "end"))
        who, start, chance, end = columns
        base = [name in self.base for name in who]
        return binary(who, start, chance, True, np.array(end, dtype=float), base)

    def instants(self) -> range:
        return range(self.opens, min(self.closes, self.scheduled))

    def others(self, one: Said, at: float) -> list[Said]:
        return [s for s in self.said if s.who in self.base and s.who != one.who and s.stands(at)]

    def peer_at(self, one: Said, at: float) -> float:
        others = self.others(one, at)
        return 100 * fmean(math.log(one.chance / s.chance) for s in others) if others else 0.0

    def relative_at(self, one: Said, at: float) -> float:
        others = self.others(one, at)
        return math.log2(one.chance / median(s.chance for s in others)) if others else 0.0

    def averaged(self, one: Said, rule: Callable[[Said, float], float]) -> float:
        return sum(rule(one, at) for at in self.instants() if one.stands(at)) / (self.scheduled - self.opens)


def lives(name: str) -> st.SearchStrategy[list[Said]]:
    """Draw up to three consecutive forecasts of one forecaster, sometimes withdrawn in between."""

    def build(cuts: list[int], values: list[int], kept: list[bool]) -> list[Said]:
        ends: list[int | None] = [*cuts[1:], None]
        rows = zip(cuts, ends, values, kept, strict=False)
        return [Said(name, start, end, yes) for start, end, yes, keep in rows if keep]

    cuts = st.lists(st.integers(0, 14), min_size=2, max_size=4, unique=True).map(sorted)
    values = st.lists(st.integers(1, 999), min_size=4, max_size=4)
    return st.builds(build, cuts, values, st.lists(st.booleans(), min_size=4, max_size=4))


def told(names: str = "abcd", outside: str = "xy") -> st.SearchStrategy[Told]:
    """Draw questions that may close early or late, with forecasters inside and outside the base."""

    def build(times: tuple[int, int, int, int], rows: tuple[list[Said], ...]) -> Told:
        opens, first, second, spot = times
        said = tuple(s for own in rows for s in own)
        return Told(opens, opens + first, opens + second, opens + spot, said, frozenset(names))

    times = st.tuples(st.integers(0, 4), st.integers(0, 12), st.integers(1, 12), st.integers(0, 12))
    return st.builds(build, times, st.tuples(*(lives(name) for name in names + outside)))
