"""Copies: agents that say what the price says, or what another agent says, and so are no entry of their own.

- Formula: an agent copies the price, or another agent, if their forecasts lie within 0.005 on at least 95%
  of their common rows. Twins (the same settings) always count as copies. Groups are chains of such pairs.
- Direction: none.
- Range: one group for each agent.
- Edge cases: agents without a common row are no copies of each other. A group is named by the agent whose
  forecasts the others are told, where the record says so, else by the first of them in the order given.
- Source: ours; rounding to cents hides half a cent.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from arena.scores.rules._columns import Floats
from arena.scores.rules.comparisons.events import NEAR, Ints
from arena.scores.rules.comparisons.season_rows import SeasonForecasts

SHARE = 0.95
PRICE = "the price"


@dataclass(frozen=True, slots=True)
class Copies:
    """Whom each agent copies: another agent, or the price; who copies nobody is not in it."""

    of: Mapping[str, str]


def find_copies(
    season: SeasonForecasts,
    agents: Sequence[str],
    families: Iterable[Collection[str]] = (),
    sources: Mapping[str, str] | None = None,
) -> Copies:
    """Who copies whom among some agents.

    `families` hold twins, and `sources` whose forecasts an agent is told.
    """
    of_price = []
    for agent in agents:
        own = season.of(agent)
        if _is_near(season, own.cell, own.forecast - own.price):
            of_price.append(agent)

    group = {agent: agent for agent in agents if agent not in of_price}
    twins = [[name for name in agents if name in family and name in group] for family in families]
    for one, other in [
        *((family[0], twin) for family in twins for twin in family[1:]),
        *_pairs(season, group),
    ]:
        kept, gone = group[one], group[other]
        if kept != gone:
            group = {name: kept if head == gone else head for name, head in group.items()}
    return Copies(dict.fromkeys(of_price, PRICE) | _named(group, sources or {}))


def _pairs(season: SeasonForecasts, agents: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The pairs of these agents whose forecasts lie next to each other."""
    names, said = list(agents), np.full(season.cells, np.nan)
    for place, one in enumerate(names):
        own = season.of(one)
        said[own.cell] = own.forecast
        for other in names[place + 1 :]:
            its = season.of(other)
            apart = said[its.cell] - its.forecast
            common = ~np.isnan(apart)
            if _is_near(season, its.cell[common], apart[common]):
                yield one, other
        said[own.cell] = np.nan


def _is_near(season: SeasonForecasts, cell: Ints, apart: Floats) -> bool:
    """Return whether forecasts lie next to others: those of several options on each of them."""
    apart = apart[season.furthest(cell, apart)]
    near = int(np.count_nonzero(np.abs(apart) <= NEAR))
    return near > 0 and near >= SHARE * apart.size


def _named(group: Mapping[str, str], sources: Mapping[str, str]) -> dict[str, str]:
    """Each copy with the head of its group: one that is told nobody's forecasts, where there is one."""
    heads: dict[str, str] = {}
    for name, head in group.items():
        if head not in heads or (heads[head] in sources and name not in sources):
            heads[head] = name
    return {name: heads[head] for name, head in group.items() if heads[head] != name}
