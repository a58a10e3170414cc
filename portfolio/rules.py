"""The rules that a cohort plays by, by name or changed value by value."""

from datetime import timedelta
from typing import Literal

from pydantic import BaseModel, ConfigDict

from markets.millionths import ONE


class Rules(BaseModel):
    """How orders become fills. Amounts, prices and fractions in millionths, ages in seconds."""

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

    @property
    def quote_age(self) -> timedelta:
        """How old a quote may be before what it values counts as stale."""
        return timedelta(seconds=self.max_quote_age)


REALISTIC = Rules(name="realistic", fill="book")
REPLAY = Rules(name="replay", fill="spread", max_quote_age=int(timedelta(days=7).total_seconds()))
SEED = Rules(name="seed", fill="mid", fee="none", base="running", merge=False)
REFERENCE = Rules(
    name="reference", fill="mid", fee="none", cap="decision", base="running", merge=False, extremes=True
)

NAMED = {rules.name: rules for rules in (REALISTIC, REPLAY, SEED, REFERENCE)}
