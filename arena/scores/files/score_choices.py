"""The choices for scoring a file of forecasts."""

from dataclasses import dataclass
from typing import Literal

Rule = Literal["skill", "metaculus", "forecastbench", "autocast"]


@dataclass(frozen=True, slots=True)
class ScoreChoices:
    """The choices for scoring a file, beyond the plain scores.

    `outside` are forecasters that nobody is compared with, `against` is the one that everyone is. If
    `references` are named, these have no rank, and only peer scores leave out the forecasters `outside`.
    `adjusted` corrects for the difficulty of questions, `provisional` scores open ones by their price,
    `community` adds the forecast of all together, `parts` decomposes Brier scores, and `rule` sets the order.
    """

    outside: tuple[str, ...] = ()
    against: str | None = None
    adjusted: bool = False
    provisional: bool = False
    community: bool = False
    parts: bool = False
    rule: Rule = "skill"
    references: tuple[str, ...] | None = None

    @property
    def without_rank(self) -> tuple[str, ...]:
        """Return the forecasters that are in no pair and have no rank."""
        if self.references is None:
            return self.outside
        return self.references


PLAIN = ScoreChoices()
"""The plain scores, with nothing chosen beyond them."""
