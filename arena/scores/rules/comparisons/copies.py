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
    head_of = {}
    for agent in agents:
        own_rows = season.of(agent)
        if _is_near(season, own_rows.cell, own_rows.forecast - own_rows.price):
            copies[agent] = PRICE
        else:
            # At first every agent is the head of a group of its own.
            head_of[agent] = agent

    same_pairs: list[Pair] = []
    for family in families:
        twins = [name for name in head_of if name in family]
        same_pairs += ((twins[0], twin) for twin in twins[1:])
    same_pairs += _near_pairs(season, list(head_of))

    for first, second in same_pairs:
        _merge_groups(head_of, head_of[first], head_of[second])
    return Copies(copies | _copied_heads(head_of, sources or {}))


def _merge_groups(head_of: dict[str, str], kept_head: str, merged_head: str) -> None:
    """Join two groups, each given by its head."""
    for name, head in head_of.items():
        if head == merged_head:
            head_of[name] = kept_head


def _near_pairs(season: SeasonForecasts, agents: Sequence[str]) -> Iterator[Pair]:
    """Yield the pairs of agents whose forecasts are nearly equal."""
    forecast_of_cell = np.full(season.cells, np.nan)

    for place, agent in enumerate(agents):
        own_rows = season.of(agent)
        forecast_of_cell[own_rows.cell] = own_rows.forecast

        for other in agents[place + 1 :]:
            rival_rows = season.of(other)
            difference = forecast_of_cell[rival_rows.cell] - rival_rows.forecast
            is_common = ~np.isnan(difference)
            if _is_near(season, rival_rows.cell[is_common], difference[is_common]):
                yield agent, other

        # The table is used again for the next agent.
        forecast_of_cell[own_rows.cell] = np.nan


def _is_near(season: SeasonForecasts, cell: Ints, difference: Floats) -> bool:
    """Tell whether forecasts are so close, on every option, that one copies the other."""
    # Of the options of a question only the one furthest apart counts.
    difference = difference[season.furthest(cell, difference)]
    near_rows = int(np.count_nonzero(np.abs(difference) <= NEAR))
    return near_rows > 0 and near_rows >= SHARE * difference.size


def _copied_heads(head_of: Mapping[str, str], sources: Mapping[str, str]) -> dict[str, str]:
    """Return each copy with the head of its group: one that isn't told another's forecasts, if possible."""
    new_head_of: dict[str, str] = {}
    for name, head in head_of.items():
        # An agent that is told another's forecasts is the copy, even if it comes first.
        if head not in new_head_of or (new_head_of[head] in sources and name not in sources):
            new_head_of[head] = name

    copies = {}
    for name, head in head_of.items():
        if new_head_of[head] != name:
            copies[name] = new_head_of[head]
    return copies
