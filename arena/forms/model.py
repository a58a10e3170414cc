"""What the files of a form contain: questions, outcomes, prices, and forecasts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from arena.errors import FileFault


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file's name, as the user knows it, and its bytes."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class ChosenForm:
    """The form in which files were read: its name, its title, and why it was chosen."""

    name: str
    title: str
    why: str


@dataclass(frozen=True, slots=True)
class SourceLine:
    """The place of a row: its line in a file with lines, else the number of its object.

    `part` names the list in which objects are numbered.
    """

    file: str
    line: int
    part: str = ""

    @property
    def words(self) -> str:
        """Return the place within the file in words.

        >>> SourceLine("f.csv", 2).words, SourceLine("f.json", 2, "list").words
        ('line 2', 'row 2')
        """
        return f"row {self.line}" if self.part else f"line {self.line}"

    def fault(self, field: str, message: str, hint: str) -> FileFault:
        """Return the fault of a field or column at this place.

        >>> SourceLine("f.json", 2, "list").fault("id", "there is none", "add it").place
        'f.json: list, row 2, id'
        """
        if self.part:
            return FileFault(self.file, field, message, hint, part=self.part, row=self.line)
        return FileFault(self.file, field, message, hint, line=self.line)


@dataclass(frozen=True, slots=True)
class SourceQuestion:
    """A question: yes/no, multiple choice, or a number between two bounds.

    `event` is shared by several questions. Bounds are numbers, or dates as ISO text. `closes` is when it
    closed or will close, `scheduled_close` when it was scheduled to, and `spot` when spot scores are taken.

    On a scale whose steps grow by a `ratio` from end to end, bounds and outcome are positions from 0 to 1,
    and `real_low` and `real_high` are the bounds themselves. `background` and `source` are further text.
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
    """The outcome of a question: 0, 1 or a fraction, the name of an option, a number, or a date as ISO text.

    `value` is None if the question was annulled. It is not `final` while the question is open and a stand-in
    is used for its outcome.
    """

    question: str
    value: float | str | None
    resolved: datetime | None = None
    place: SourceLine | None = None
    final: bool = True


@dataclass(frozen=True, slots=True)
class SourcePrice:
    """The market's probability of a question, or of one of its options, and when it was observed."""

    question: str
    price: float
    option: str = ""
    seen: datetime | None = None
    place: SourceLine | None = None


@dataclass(frozen=True, slots=True)
class SourceForecast:
    """One forecast of a question; all empty if the forecaster was asked and didn't answer.

    It is a probability of YES, the probabilities of options, the quantiles of a number by percent, or its
    cumulative probabilities at equal steps. `price` and `odds` are what the market said at that time, of YES
    and of each option. It holds from when it was `made` until it `ends` or another follows.
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
    """A figure that a board publishes for a forecaster, such as its Brier score, and how it is computed."""

    forecaster: str
    name: str
    value: float
    how: str


@dataclass(frozen=True, slots=True)
class SourceData:
    """The content of a form's files, with their faults; the newest outcomes and prices count.

    `outside` are references of the board that nobody is compared with, and `notes` say what was left out.
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
