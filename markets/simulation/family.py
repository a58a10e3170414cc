"""How the markets of an event hang together: loosely, as exclusive outcomes, or as rungs of a ladder.

A score is what a market's probability is made of. Most scores are log-odds; those of exclusive outcomes are
the logarithms of their weights, so they say something only together.
"""

from collections.abc import Sequence
from datetime import date

from markets.odds import log_odds, probability, split
from markets.simulation.season import Event, drawn_by
from markets.simulation.settings import Chance, Family, Settings

Scores = tuple[float, ...]


def rungs(event: Event, settings: Settings, chance: Chance) -> Scores:
    """What each threshold of a ladder takes off the log-odds, as far above the middle as below."""
    rng = chance(f"{drawn_by(event.id)}/rungs", date.min)
    heights = [0.0]
    for _ in range(event.markets - 1):
        heights.append(heights[-1] + settings.own_start * (0.4 + rng.random()))
    return tuple(height - heights[-1] / 2 for height in heights)


def scores(family: Family, shared: float, own: Sequence[float], heights: Sequence[float]) -> Scores:
    """The true scores of an event's markets, from what they share and what each has of its own.

    A ladder moves as one, by its first market. What exclusive outcomes share would move none of them.
    """
    if family == "exclusive":
        return tuple(own)
    if family == "ladder":
        return tuple(shared + own[0] - height for height in heights)
    return tuple(shared + part for part in own)


def ideas(family: Family, true: Scores, shrink: float, errors: Sequence[float]) -> Scores:
    """The scores as prices take them: less far apart, and with errors. A ladder's prices err together."""
    if family == "ladder":
        errors = [errors[0]] * len(true)
    return tuple(shrink * score + error for score, error in zip(true, errors, strict=True))


def chance_of(family: Family, found: Scores, place: int) -> int:
    """The probability behind the scores for one of the markets, in millionths."""
    return split(found)[place] if family == "exclusive" else probability(found[place])


def odds_of(family: Family, found: Scores, place: int) -> float:
    """The log-odds behind the scores for one of the markets."""
    return log_odds(chance_of(family, found, place)) if family == "exclusive" else found[place]
