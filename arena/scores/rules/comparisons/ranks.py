"""Places on a board: sorted by what is sure, with the places that an agent may really hold, and ties.

- Formula: agents are sorted by the lower end of the 95% interval of their gain. An agent's place lies between
  1 + the number of agents that beat it and n − the number that it beats, where a duel counts if its Holm-
  adjusted p is at most 0.05; all these ranges hold together in 95% of seasons. A tie group is a run of agents
  next to each other in the order of which no two are told apart, as long as it can be.
- Direction: lower is better: place 1 is the best.
- Range: 1 to the number of agents.
- Edge cases: agents without an interval come last, by gain, then those without a gain, then by name; a pair
  without a p-value counts as not told apart. An agent may be in several groups; two agents that are not told
  apart share none if someone between them is told apart from one of them.
- Source: Mogstad, Romano, Shaikh and Wilhelm (2024) for confidence sets of ranks from corrected comparisons;
  the underlined groups of multiple comparison tables, as in Duncan (1955).
"""

from collections.abc import Iterable, Sequence
from math import inf

from arena.scores.rules.comparisons.duel import Duel
from arena.scores.rules.comparisons.gain import Gain

Places = dict[str, tuple[int, int]]


def order(gains: Iterable[Gain]) -> list[Gain]:
    """The board: the surest gain first."""
    return sorted(gains, key=lambda gain: (_down(gain.low), _down(gain.skill), gain.agent))


def places(agents: Sequence[str], duels: Iterable[Duel]) -> Places:
    """The best and the worst place that each agent may hold."""
    best, worst = dict.fromkeys(agents, 1), dict.fromkeys(agents, len(agents))
    for one in duels:
        winner = one.winner()
        if winner is not None:
            best[one.b if winner == one.a else one.a] += 1
            worst[winner] -= 1
    return {agent: (best[agent], worst[agent]) for agent in agents}


def groups(agents: Sequence[str], duels: Iterable[Duel]) -> list[tuple[str, ...]]:
    """Runs of agents, given in order, of which no two are told apart; the longest ones."""
    apart = {frozenset((one.a, one.b)) for one in duels if one.winner() is not None}
    ends: dict[int, int] = {}
    start = 0
    for stop, agent in enumerate(agents, start=1):
        while any(frozenset((agent, other)) in apart for other in agents[start : stop - 1]):
            start += 1
        ends[start] = stop
    return [tuple(agents[low:high]) for low, high in ends.items()]


def _down(value: float | None) -> float:
    return inf if value is None else -value
