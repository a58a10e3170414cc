"""Places on a board: sorted by what is sure, with the places that an agent may hold, and ties.

- Formula: agents are sorted by the lower end of the 95% interval of their gain. An agent's place lies
  between 1 + the number of agents that beat it and n − the number that it beats, by duels with a
  Holm-adjusted p of at most 0.05; all ranges hold together in 95% of seasons. A tie group is a longest run
  of neighbours of which no two are told apart.
- Direction: lower is better.
- Range: 1 to the number of agents.
- Edge cases: agents without an interval come last, by gain, then those without a gain, then by name; a pair
  without a p-value counts as not told apart. An agent may be in several groups; two agents that are not told
  apart share none if someone between them is told apart from one of them.
- Source: Mogstad, Romano, Shaikh and Wilhelm (2024) for ranks; Duncan (1955) for groups.
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
