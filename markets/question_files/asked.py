"""Questions of a folder with their odds and outcomes over time, and what is wrong with its files."""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from markets.distributions import YES_NO, form_of, read_outcome
from markets.millionths import ONE
from markets.model import Listing, Market, MarketId, Quote, Resolution
from markets.venue import QuarantinedRecord

VENUE = "questions"
FaultKind = Literal["market", "resolution"]
CALLED_OFF = ("annulled", "ambiguous", "called off", "cancelled")
"""What an outcome says of a question that is not scored."""


@dataclass(frozen=True, slots=True)
class QuestionFault:
    """What is wrong in a line of a file, in which field, and how to correct it.

    `line` is 0 for the whole file; `record` is the question's own id, where it has one.
    """

    file: str
    line: int
    field: str
    message: str
    hint: str
    record: str = ""
    kind: FaultKind = "market"

    @property
    def place(self) -> str:
        """Return the file, the line and the field.

        >>> QuestionFault("questions.csv", 3, "low", "there is none", "give it").place
        'questions.csv:3: low'
        """
        place = self.file
        if self.line:
            place = f"{place}:{self.line}"
        if self.field:
            place = f"{place}: {self.field}"
        return place

    @property
    def text(self) -> str:
        """Return the place of the fault, what is wrong, and how to correct it."""
        return f"{self.place}: {self.message} → {self.hint}"

    def set_aside(self) -> QuarantinedRecord:
        """Return the fault as the arena keeps it."""
        record = self.record or f"{self.file}:{self.line}"
        return QuarantinedRecord(VENUE, record, self.kind, "bad_row", self.text)


@dataclass(frozen=True, slots=True)
class AskedOdds:
    """What a market or a crowd said of a question at an instant, in millionths.

    One chance of a question of yes or no, else one for each option.
    """

    at: datetime
    chances: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question: its page, the odds over time, oldest first, and the versions of its resolution."""

    market: Market
    odds: tuple[AskedOdds, ...] = ()
    ends: tuple[Resolution, ...] = ()

    def listing(self, at: datetime) -> Listing:
        """Return the question as it stood at an instant, with the odds of then."""
        known_count = bisect_right(self.odds, at, key=lambda odds: odds.at)
        if not known_count:
            return Listing(self.market, None)

        newest = self.odds[known_count - 1]
        form = form_of(self.market.form)
        if form.kind == YES_NO:
            quote = Quote(self.market.id, newest.at, None, None, newest.chances[0])
            return Listing(self.market, quote)

        text = replace(form, odds=newest.chances).text
        return Listing(replace(self.market, form=text), None)

    def is_open(self, at: datetime) -> bool:
        """Tell whether it could be answered at an instant: it was open, and its outcome was not known."""
        is_known = any(end.known_at <= at for end in self.ends)
        return self.market.opens_at <= at < self.market.closes_at and not is_known


def resolution_of(
    market: Market, version: int, known_at: datetime, outcome: str, source: str = ""
) -> Resolution:
    """Return the resolution of a question with an outcome; raise `ValueError` for an invalid outcome."""
    if outcome.strip().casefold() in CALLED_OFF:
        return Resolution(market.id, version, known_at, None, source)

    form = form_of(market.form)
    answer = read_outcome(form, outcome)
    if form.kind == YES_NO:
        return Resolution(market.id, version, known_at, ONE if answer == "YES" else 0, source)
    return Resolution(market.id, version, known_at, None, source, answer)


@dataclass(frozen=True, slots=True)
class QuestionFolder:
    """The questions of a folder by the ids of their markets, and what is wrong with its files."""

    form: str
    questions: Mapping[MarketId, AskedQuestion] = field(default_factory=dict)
    faults: tuple[QuestionFault, ...] = ()

    @property
    def whole_faults(self) -> list[QuestionFault]:
        """Return the faults that no single question has, so that more than one may be missing."""
        return [fault for fault in self.faults if not fault.record]
