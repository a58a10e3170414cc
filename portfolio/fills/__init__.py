"""The prices at which an order is filled: one rule a file, found by its file name.

Limits, fees, minimum sizes and rounding are the same for all rules: `portfolio/matching.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol, cast

from markets.model import Level, Market, Quote
from markets.registry import load
from portfolio.model import Action, Rejection
from portfolio.rules import Rules

BOTTOMLESS = 10**30
"""The depth of a price that is good for any size."""


@dataclass(frozen=True, slots=True)
class FillRequest:
    """An order as a fill rule sees it. The quote was checked, and has the prices of the side's own share."""

    action: Action
    quote: Quote
    market: Market
    rules: Rules


class FillRule(Protocol):
    """A module of this folder: the prices at which it fills orders."""

    def levels(self, order: FillRequest) -> Sequence[Level] | Rejection:
        """Return the levels that are offered to an order, sorted or not, or why none is."""


@cache
def fill_rule(name: str) -> FillRule:
    """Return the fill rule of that name."""
    return cast(FillRule, load(__name__, name))
