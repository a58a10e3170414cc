"""What a what-if changes: the rules, single values of them, and the stakes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from markets.millionths import ONE
from portfolio.money import dollars, percent
from portfolio.rules import Rules
from portfolio.whatif import Sizing, as_bet, flat, kelly

Stakes = Literal["as-bet", "flat", "quarter-kelly"]


@dataclass(frozen=True, slots=True)
class Change:
    """The rules to start from (None: each cohort's own), values changed in them, and how much is bet."""

    start_from: Rules | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    stakes: Stakes = "as-bet"
    stake: int = 100 * ONE

    def rules(self, own: Rules) -> Rules:
        """The rules in place of a cohort's own."""
        return (self.start_from or own).model_copy(update=dict(self.values))

    @property
    def sizing(self) -> Sizing:
        """How the stakes are found."""
        return {"as-bet": as_bet, "flat": flat(self.stake), "quarter-kelly": kelly}[self.stakes]


def in_words(change: Change, own: Sequence[Rules]) -> str:
    """What is other than it was in cohorts with these rules, in one sentence.

    >>> from portfolio.rules import REALISTIC
    >>> in_words(Change(values={"fill": "mid", "max_bet": 100_000}, stakes="flat"), [REALISTIC])
    'Changed: fill mid instead of book; max bet 10% instead of 25%; every bet $100.00.'
    """
    parts = [_difference(name, change, own) for name in Rules.model_fields if name != "name"]
    parts.append(_stakes(change))
    said = [part for part in parts if part]
    return f"Changed: {'; '.join(said)}." if said else "Nothing was changed."


def _difference(name: str, change: Change, own: Sequence[Rules]) -> str:
    pairs = [(getattr(change.rules(rules), name), getattr(rules, name)) for rules in own]
    changed = [(new, old) for new, old in pairs if new != old]
    if not changed:
        return ""
    before = " or ".join(dict.fromkeys(_value(name, old) for _, old in changed))
    return f"{name.replace('_', ' ')} {_value(name, changed[0][0])} instead of {before}"


def _value(name: str, value: Any) -> str:
    if name == "max_bet":
        return percent(value)
    if name == "max_quote_age":
        return f"{value:,} s"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return dollars(value) if isinstance(value, int) else str(value)


def _stakes(change: Change) -> str:
    match change.stakes:
        case "as-bet":
            return ""
        case "flat":
            return f"every bet {dollars(change.stake)}"
        case "quarter-kelly":
            return "bets placed anew, a quarter of the Kelly stake on what was stated, and no sales"
