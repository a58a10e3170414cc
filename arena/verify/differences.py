"""What verifying finds: a fact that the other facts contradict. The first are listed, the rest counted."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

from sqlalchemy import Table

LONGEST = 80
Expected = dict[str, tuple[Any, str]]
"""What columns must hold, each with the rule that says so."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A field of a row that is not what the rest of the record says it must be.

    `key` names the row as people would: cohort, round, entrant. `why` is the rule that it breaks.
    """

    table: str
    key: str
    field: str
    found: Any
    expected: Any
    why: str

    @property
    def message(self) -> str:
        """All of it as one sentence.

        >>> Difference("entry", "cohort 1, ann, entry 2", "balance", 5, 7, "it is the sum of cash").message
        'entry (cohort 1, ann, entry 2): balance is 5 and should be 7: it is the sum of cash'
        """
        found, expected = _short(self.found), _short(self.expected)
        return f"{self.table} ({self.key}): {self.field} is {found} and should be {expected}: {self.why}"

    def as_dict(self) -> dict[str, Any]:
        """For JSON: the fields and the sentence."""
        return asdict(self) | {"message": self.message}


def _short(value: Any) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


class Row(dict[str, Any]):
    """A row of some table, as it was read."""

    table: ClassVar[Table]

    def differs(self, column: str, expected: Any, why: str) -> "RowDifference":
        """The difference that it has in a column."""
        return RowDifference(self, column, expected, why)

    def check(self, expected: Expected) -> Iterator["RowDifference"]:
        """Every column that doesn't hold what it must."""
        for column, (value, why) in expected.items():
            if self[column] != value:
                yield RowDifference(self, column, value, why)


@dataclass(frozen=True, slots=True)
class RowDifference:
    """A difference that is yet to be named by its row: see `row_names`."""

    row: Row
    field: str
    expected: Any
    why: str


AnyDifference = Difference | RowDifference
Found = Iterator[AnyDifference]
"""What a check yields."""


def check_numbers(rows: Iterable[Row], column: str, first: int) -> Found:
    """The first of some rows, in order, whose numbers leave a gap."""
    for expected, row in enumerate(rows, first):
        if row[column] != expected:
            yield row.differs(column, expected, "there is no gap")
            return


@dataclass
class Differences:
    """So many differences, each once and told as it is found, and by table how many more there are.

    `unproved` is what could not be computed again, by what it is.
    """

    most: int | None
    tell: Callable[[Difference], None] | None = None
    left_out: Counter[str] = field(default_factory=Counter)
    unproved: Counter[str] = field(default_factory=Counter)
    _listed: dict[Difference, None] = field(default_factory=dict)
    _last: Difference | None = None

    def add(self, difference: Difference) -> None:
        """One more, unless it is listed already, or the one before once again."""
        if difference == self._last or difference in self._listed:
            return
        self._last = difference
        if self.most is not None and len(self._listed) >= self.most:
            self.left_out[difference.table] += 1
            return
        self._listed[difference] = None
        if self.tell is not None:
            self.tell(difference)

    @property
    def listed(self) -> list[Difference]:
        """Those that are not only counted."""
        return list(self._listed)

    @property
    def count(self) -> int:
        """How many there are, listed or not."""
        return len(self._listed) + self.left_out.total()
