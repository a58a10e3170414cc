"""Spot scores: the same rules at one instant, with no averaging over time.

- Formula: that of `baseline` or `peer` among the forecasts that stand at the spot, or at the close if
  that comes first.
- Direction: higher is better.
- Range: that of the rule.
- Edge cases: a forecast stands from its start until before its end. Who has none standing has no score,
  and coverage 0. In mode `exact` a forecast that starts at the close came too late; in `metaculus` it
  counts, and others are compared with what stood strictly before the spot.
- Source: the site's code; seed 000 names no spot.
"""

from arena.scores.rules._columns import Flags
from arena.scores.rules.metaculus.forecasts import Forecasts, MetaculusQuestion, Mode


def standing_at(question: MetaculusQuestion, forecasts: Forecasts, mode: Mode) -> Flags:
    """Return which forecasts stood at the spot."""
    at = question.instant()
    standing: Flags = (forecasts.start <= at) & (at < forecasts.end)
    if mode == "exact":
        standing = standing & (forecasts.start < question.closes)
    return standing
