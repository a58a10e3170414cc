"""Answers to questions that are not of yes or no as columns, and how the markets of a season ended."""

from dataclasses import dataclass, replace
from datetime import datetime
from math import nan

from arena.record.model.columns import UNKNOWN, Flags, Ints
from markets.millionths import ONE


@dataclass(frozen=True, slots=True)
class AnswerColumns:
    """One row per turn and question shown in it that isn't of yes or no.

    `agent`, `market`, `form`, `answer` and `reason` are places in the tuples of names and texts. `form` is
    how the question then read, with the odds of that time, and `answer` what the agent stated: -1 where it
    said nothing, or nothing that could be used. `blind` says that it was shown no odds, `released` the day of
    its model's release, and `at` when the round was, in seconds since 1970.
    """

    agents: tuple[str, ...]
    markets: tuple[str, ...]
    forms: tuple[str, ...]
    answers: tuple[str, ...]
    reasons: tuple[str, ...]
    agent: Ints
    cohort: Ints
    round: Ints
    at: Ints
    market: Ints
    form: Ints
    answer: Ints
    reason: Ints
    blind: Flags
    released: Ints

    @property
    def stated(self) -> Flags:
        """Return a mask of the rows in which the agent itself gave an answer."""
        stated: Flags = self.answer >= 0
        return stated

    @property
    def early(self) -> Flags:
        """Return a mask of the rows decided before the model's release, which are no evidence."""
        early: Flags = (self.released != UNKNOWN) & (self.at < self.released)
        return early


@dataclass(frozen=True, slots=True)
class SeasonMarket:
    """A market by its newest page, and how it ended by the newest version of its resolution.

    `known_at` is since when the first version could be known, None while it is open.
    """

    event: str
    category: str
    title: str
    closes_at: datetime
    form: str = ""
    known_at: datetime | None = None
    payout: int | None = None
    answer: str = ""

    def ended(self, known_at: datetime, payout: int | None, answer: str) -> "SeasonMarket":
        """Return the market with another version of its resolution, keeping when that was first known."""
        first = self.known_at or known_at
        return replace(self, known_at=first, payout=payout, answer=answer)

    @property
    def outcome(self) -> float:
        """Return what YES came to, from 0 to 1; NaN while that is open, after a refund, or of other kinds."""
        return nan if self.payout is None else self.payout / ONE
