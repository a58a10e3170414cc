"""What a form of files holds: questions, what they came to, prices, and forecasts of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from arena.errors import FileFault


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file by the name that a user knows it by, and what it holds."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class ChosenForm:
    """The form that files were read by: its file's name, what people call it, and why it was taken."""

    name: str
    title: str
    why: str


@dataclass(frozen=True, slots=True)
class SourceLine:
    """Where a row stands: in a line of a file that has lines, else in the object of that number.

    `part` names the list that its objects are numbered in.
    """

    file: str
    line: int
    part: str = ""

    @property
    def words(self) -> str:
        """Return where it stands in the file, in words.

        >>> SourceLine("f.csv", 2).words, SourceLine("f.json", 2, "list").words
        ('line 2', 'row 2')
        """
        return f"row {self.line}" if self.part else f"line {self.line}"

    def fault(self, field: str, message: str, hint: str) -> FileFault:
        """Return what is wrong with a field or column of it.

        >>> SourceLine("f.json", 2, "list").fault("id", "there is none", "add it").place
        'f.json: list, row 2, id'
        """
        if self.part:
            return FileFault(self.file, field, message, hint, part=self.part, row=self.line)
        return FileFault(self.file, field, message, hint, line=self.line)


@dataclass(frozen=True, slots=True)
class SourceQuestion:
    """A question: of yes or no, of several options, or of a number between two bounds.

    `event` is what several questions are about. Bounds are numbers, or dates as ISO text. `closes` is when it
    closed, or is to; `scheduled_close` is when it was to, and `spot` is when spot scores are taken.

    Where steps grow by a `ratio` from end to end, bounds and outcome are positions from 0 to 1, and
    `real_low` and `real_high` are the bounds themselves. `background` and `source` tell more of it.
    """

    key: str
    title: str = ""
    options: tuple[str, ...] = ()
    low: float | str | None = None
    high: float | str | None = None
    open_low: bool = False
    open_high: bool = False
    event: str = ""
    category: str = ""
    opened: datetime | None = None
    closes: datetime | None = None
    scheduled_close: datetime | None = None
    spot: datetime | None = None
    ratio: float = 1.0
    real_low: float | str | None = None
    real_high: float | str | None = None
    background: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class SourceOutcome:
    """What a question came to: 0, 1 or a fraction, the name of an option, a number or a date as ISO text.

    `value` is None where the question was called off. It is not `final` while the question is open, and
    something stands in for its outcome.
    """

    question: str
    value: float | str | None
    resolved: datetime | None = None
    place: SourceLine | None = None
    final: bool = True


@dataclass(frozen=True, slots=True)
class SourcePrice:
    """The market's probability of a question, or of one of its options, and when it was seen."""

    question: str
    price: float
    option: str = ""
    seen: datetime | None = None
    place: SourceLine | None = None


@dataclass(frozen=True, slots=True)
class SourceForecast:
    """What a forecaster said of a question, once; all empty where it was asked and didn't answer.

    A probability of yes, the probabilities of options, the quantiles of a number by their percent, or its
    cumulative probabilities at equal steps. `price` is what the market said at that instant, and `odds` what
    it said of each option. It stands from when it was `made` until it `ends` or another follows.
    """

    question: str
    forecaster: str
    place: SourceLine
    made: datetime | None = None
    probability: float | None = None
    options: Mapping[str, float] = field(default_factory=dict)
    quantiles: Mapping[int, float | str] = field(default_factory=dict)
    cdf: tuple[float, ...] = ()
    price: float | None = None
    odds: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""
    ends: datetime | None = None


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """A figure that a board prints of a forecaster, such as its Brier score, and how it comes about."""

    forecaster: str
    name: str
    value: float
    how: str


@dataclass(frozen=True, slots=True)
class SourceData:
    """All that files of a form hold, with what is wrong with them; of outcomes and prices the newest counts.

    `outside` are references of the board with which nobody is compared, and `notes` what was left out.
    `no_outcomes` says which file with outcomes is missing, unless they come from elsewhere.
    """

    questions: tuple[SourceQuestion, ...] = ()
    outcomes: tuple[SourceOutcome, ...] = ()
    prices: tuple[SourcePrice, ...] = ()
    forecasts: tuple[SourceForecast, ...] = ()
    published: tuple[PublishedFigure, ...] = ()
    outside: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    no_outcomes: str = ""
    faults: tuple[FileFault, ...] = ()
