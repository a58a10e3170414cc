"""Still needed: how many more weeks it takes until a pair is told.

- Formula: a pair is told by its capital and by t, its mean gain by story in standard errors. The gain of a
  story in standard deviations is taken to be δ = t·√n·τ² / (1 + n·τ²) after n stories, τ = 0.15 being how far
  apart entries usually are. In m more stories t comes to (t·√n + δ·m) / √(n + m), and the logarithm of the
  capital grows by 0.9·δ² in each. m stories take m / n of the weeks so far.
- Direction: lower is sooner.
- Range: 0 upward.
- Edge cases: infinite where it would take more than 104 weeks even if δ were larger by one standard
  deviation, τ / √(1 + n·τ²), and None where only then it would take less.
- Source: ours; `docs/evidence.md` has how often it is right.
"""

from dataclasses import dataclass
from math import inf, log, sqrt

FORESEEN = 104.0
"""The weeks beyond which no decision is predicted."""
USUAL = 0.15
"""The usual distance of entries: the standard deviation of a story's mean gain, in units of its own."""
GROWTH = 0.9
"""The log growth of capital by a story, for each square of its gain in standard deviations.

Bets on the mean gain alone would reach at most half; these bets weight stories by their odds.
"""


@dataclass(frozen=True, slots=True)
class Pace:
    """The progress of a pair: its common stories so far, over how many weeks, and its capital.

    `t` is the mean gain by story in standard errors, and `least_t` the lower of it with and without lean.
    """

    stories: int
    weeks: float
    t: float
    least_t: float
    capital: float


def weeks_until_told(pace: Pace, bar: float, least_t: float) -> float | None:
    """Return how many more weeks it takes until a pair's capital and t decide it.

    >>> round(weeks_until_told(Pace(200, 20.0, 2.9, 2.8, 60.0), 494.0, 3.0) or 0.0, 1)
    8.3
    """
    prior = 1 + pace.stories * USUAL**2
    # The mean gain in standard deviations, shrunk towards 0 by how far apart entries usually are.
    effect = pace.t * sqrt(pace.stories) * USUAL**2 / prior

    weeks = _weeks_at_effect(effect, pace, bar, least_t)
    if weeks <= FORESEEN:
        return weeks
    hopeful_weeks = _weeks_at_effect(effect + USUAL / sqrt(prior), pace, bar, least_t)
    return inf if hopeful_weeks > FORESEEN else None


def _weeks_at_effect(effect: float, pace: Pace, bar: float, least_t: float) -> float:
    """Return the weeks it takes if a story gains this many of its standard deviations."""
    if effect <= 0:
        return inf
    stories_for_capital = log(bar / pace.capital) / (GROWTH * effect**2)

    # t reaches its bound where effect·x² − bound·x + rest = 0, with x the root of the number of stories.
    so_far = min(pace.least_t, least_t) * sqrt(pace.stories)
    rest = so_far - effect * pace.stories
    square = max(least_t**2 - 4 * effect * rest, 0.0)
    root = (least_t + sqrt(square)) / (2 * effect)
    stories_for_t = root**2 - pace.stories

    more_stories = max(stories_for_capital, stories_for_t, 0.0)
    return more_stories * pace.weeks / pace.stories
