"""The rules that a cohort plays by, by name or changed value by value."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, model_serializer

from markets.millionths import ONE

BOOK = "book"
"""The fill rule by which the quote's own book limits sizes."""
MAX_OF_VOLUME = ONE // 50
"""The part of a market's volume that one decision may trade there, under rules without a book."""
COHORT_DECISIONS = 5
"""How many decisions at that cap a cohort may make in one market."""
UNLIMITED = "fills are unlimited"
"""The note beside money that was made where orders of any size are filled."""
DEPTH_UNKNOWN = "depth unknown"
"""The note beside money that was made where no volume was known."""


class Rules(BaseModel):
    """How orders become fills. Amounts, prices and fractions in millionths, ages in seconds.

    `max_of_volume` and `max_of_volume_cohort` are the most that an agent trades in a market, by a decision
    and over a cohort, as parts of what had been traded there by the round's snapshot; None is no limit.
    `fill_at` is whose prices count: the snapshot's, or those of when an agent's answer is in. What is left
    out of a frozen cohort is as by default. Without `money` there is no market, and nobody bets.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    fill: str
    fee: Literal["venue", "none"] = "venue"
    min_bet: int = 50 * ONE
    max_bet: int = ONE // 4
    cap: Literal["bet", "decision"] = "bet"
    base: Literal["start", "running"] = "start"
    merge: bool = True
    extremes: bool = False
    worst_price: int = 30_000
    max_spread: int = 100_000
    max_gap: int = 50_000
    max_quote_age: int = int(timedelta(minutes=15).total_seconds())
    max_of_volume: int | None = None
    max_of_volume_cohort: int | None = None
    fill_at: Literal["snapshot", "answer"] = "snapshot"
    money: bool = True

    @model_serializer(mode="wrap")
    def _without_what_is_off(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out rules that are off: rules frozen before there were such then have the same text."""
        values: dict[str, Any] = handler(self)
        if values.get("fill_at") == "snapshot":
            del values["fill_at"]
        if values.get("money") is True:
            del values["money"]
        return {name: value for name, value in values.items() if value is not None}

    @property
    def unlimited(self) -> bool:
        """Tell whether orders of any size are filled."""
        return self.fill != BOOK and self.max_of_volume is None

    @property
    def quote_age(self) -> timedelta:
        """Return how old a quote may be before what it values counts as stale."""
        return timedelta(seconds=self.max_quote_age)


REALISTIC = Rules(name="realistic", fill="book")
REPLAY = Rules(
    name="replay",
    fill="spread",
    max_quote_age=int(timedelta(days=7).total_seconds()),
    max_of_volume=MAX_OF_VOLUME,
    max_of_volume_cohort=COHORT_DECISIONS * MAX_OF_VOLUME,
)
SEED = Rules(name="seed", fill="mid", fee="none", base="running", merge=False)
REFERENCE = Rules(
    name="reference", fill="mid", fee="none", cap="decision", base="running", merge=False, extremes=True
)

NAMED: Mapping[str, Rules] = {rules.name: rules for rules in (REALISTIC, REPLAY, SEED, REFERENCE)}


def changed_rules(rules: Rules, changes: Mapping[str, Any]) -> Rules:
    """Return rules with values changed.

    Where a book is given up, a part of the volume limits sizes in its place.
    """
    values = dict(changes)
    if rules.fill == BOOK and values.get("fill", BOOK) != BOOK:
        values.setdefault("max_of_volume", MAX_OF_VOLUME)
    if "max_of_volume" in values:
        values["max_of_volume_cohort"] = COHORT_DECISIONS * values["max_of_volume"]

    return rules.model_copy(update=values)
