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

Pair = tuple[str, str]

SHARE = 0.95
PRICE = "the price"


@dataclass(frozen=True, slots=True)
class Copies:
    """The agent, or the price, that each agent copies; agents that copy nobody are not in it."""

    of: Mapping[str, str]


def find_copies(
    season: SeasonForecasts,
    agents: Sequence[str],
    families: Iterable[Collection[str]] = (),
    sources: Mapping[str, str] | None = None,
) -> Copies:
    """Return who copies whom among some agents.

    `families` hold twins, and `sources` maps agents to the one whose forecasts they are told.
    """
    copies = {}
    group = {}
    for agent in agents:
        own = season.of(agent)
        if _is_near(season, own.cell, own.forecast - own.price):
            copies[agent] = PRICE
        else:
            group[agent] = agent

    alike: list[Pair] = []
    for family in families:
        twins = [name for name in group if name in family]
        alike += ((twins[0], twin) for twin in twins[1:])
    alike += _pairs(season, list(group))

    for first, second in alike:
        _join(group, group[first], group[second])
    return Copies(copies | _named(group, sources or {}))


def _join(group: dict[str, str], kept: str, gone: str) -> None:
    """Join two groups, each given by its head."""
    for name, head in group.items():
        if head == gone:
            group[name] = kept


def _pairs(season: SeasonForecasts, agents: Sequence[str]) -> Iterator[Pair]:
    """Yield the pairs of agents whose forecasts are nearly equal."""
    forecasts = np.full(season.cells, np.nan)

    for place, agent in enumerate(agents):
        own = season.of(agent)
        forecasts[own.cell] = own.forecast

        for other in agents[place + 1 :]:
            rival = season.of(other)
            apart = forecasts[rival.cell] - rival.forecast
            common = ~np.isnan(apart)
            if _is_near(season, rival.cell[common], apart[common]):
                yield agent, other

        forecasts[own.cell] = np.nan


def _is_near(season: SeasonForecasts, cell: Ints, apart: Floats) -> bool:
    """Tell whether forecasts are so close, on every option, that one copies the other."""
    apart = apart[season.furthest(cell, apart)]
    near = int(np.count_nonzero(np.abs(apart) <= NEAR))
    return near > 0 and near >= SHARE * apart.size


def _named(group: Mapping[str, str], sources: Mapping[str, str]) -> dict[str, str]:
    """Return each copy with the head of its group: one that isn't told another's forecasts, if possible."""
    heads: dict[str, str] = {}
    for name, head in group.items():
        if head not in heads or (heads[head] in sources and name not in sources):
            heads[head] = name

    copies = {}
    for name, head in group.items():
        if heads[head] != name:
            copies[name] = heads[head]
    return copies
