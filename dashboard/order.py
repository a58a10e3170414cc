"""In which order a board stands, and who is on it."""

import math
from collections.abc import Callable, Sequence
from typing import Literal, TypeVar

from dashboard.model import LeaderboardLine

Reading = Literal["stated", "anchored", "implied"]
READINGS: dict[str, str] = {"stated": "Stated", "anchored": "Anchored", "implied": "Implied"}
MEANT = {
    "stated": "Stated: the probabilities that the agents gave, for every market shown.",
    "anchored": "Anchored: bets read as a move away from the price paid; a full stake is certainty.",
    "implied": "Implied: bets read as confidence by stake alone, whatever the price.",
}
"""What each reading takes for the probability that an agent had in mind."""
SORTS = {
    "best": "Best first",
    "evidence": "By evidence",
    "implied": "By implied Brier",
    "profit": "By profit",
    "return": "By return",
    "wins": "By bets won",
    "events": "By events",
    "cost": "By cost per forecast",
    "name": "By name",
}
Row = TypeVar("Row")


def ordered(lines: Sequence[LeaderboardLine], sort: str, reading: str) -> list[LeaderboardLine]:
    """The lines of a board: what is best first, and last what nothing is known of.

    Best is the surest skill, as the board stands; in another reading than the stated one, for which there is
    no price to compare with, it is the lowest Brier score.
    """
    if sort == "name":
        return sorted(lines, key=lambda line: line.row.agent)
    if sort == "best" and reading == "stated":
        return list(lines)
    return sorted(lines, key=_key(sort, reading))


def _key(sort: str, reading: str) -> Callable[[LeaderboardLine], float]:
    """What is sorted by: the smallest first."""
    name, sign = {
        "best": (f"brier_{reading}", 1),
        "evidence": ("evidence", -1),
        "implied": ("brier_implied", 1),
        "profit": ("pnl", -1),
        "return": ("return_pct", -1),
        "wins": ("win_rate", -1),
        "events": ("events", -1),
        "cost": ("cost_per_forecast", 1),
    }[sort]

    def key(line: LeaderboardLine) -> float:
        value = getattr(line.row, name)
        return math.inf if value is None else sign * value

    return key


def matching(rows: Sequence[Row], words: str, name: Callable[[Row], str]) -> list[Row]:
    """Those whose name has all of these words in it, whatever their case.

    >>> matching(["Ann", "bob", "annabel"], "AN n", str)
    ['Ann', 'annabel']
    """
    wanted = words.casefold().split()
    return [row for row in rows if all(word in name(row).casefold() for word in wanted)]
