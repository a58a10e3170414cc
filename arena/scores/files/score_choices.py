"""What is wanted of the scores of a file of forecasts."""

from dataclasses import dataclass
from typing import Literal

Rule = Literal["skill", "metaculus", "forecastbench", "autocast"]


@dataclass(frozen=True, slots=True)
class ScoreChoices:
    """What is wanted of a file's scores beyond the plain ones.

    `outside` names those whom nobody is compared with, `against` the one whom all are. Where `references` are
    named, these have no rank, and only peer scores leave out who is `outside`. `adjusted` allows for how hard
    questions were, `provisional` scores open ones by their price, `community` adds the forecast that
    all make together, `parts` splits Brier scores up, and `rule` says what the order goes by.
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
        """Return who is in no pair and has no rank."""
        if self.references is None:
            return self.outside
        return self.references


PLAIN = ScoreChoices()
"""The plain scores, with nothing chosen beyond them."""
