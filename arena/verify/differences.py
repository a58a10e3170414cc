"""What verifying finds: facts that other facts contradict. The first are listed, the rest are counted."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from arena.errors import ArenaError
from arena.record.schema.database_errors import CODES

LONGEST = 80


@dataclass(frozen=True, slots=True)
class Difference:
    """A field of a row that is not what the rest of the record says it must be.

    `key` names the row as people would: cohort, round, agent. `why` is the rule that it breaks.
    """

    table: str
    key: str
    field: str
    found: Any
    expected: Any
    why: str

    @property
    def message(self) -> str:
        """Return all of it as one sentence.

        >>> Difference("entry", "cohort 1, ann, entry 2", "balance", 5, 7, "it is the sum of cash").message
        'entry (cohort 1, ann, entry 2): balance is 5 and should be 7: it is the sum of cash'
        """
        found = _short(self.found)
        expected = _short(self.expected)
        return f"{self.table} ({self.key}): {self.field} is {found} and should be {expected}: {self.why}"

    def as_dict(self) -> dict[str, Any]:
        """Return the fields and the sentence, for JSON."""
        return asdict(self) | {"message": self.message}


def fault_text(error: Exception) -> str:
    """Return what went wrong with a damaged row, in a line.

    Raises the error again if it was no fault of the record: the database or the memory failed.
    """
    if isinstance(error, MemoryError) or (isinstance(error, ArenaError) and error.code in CODES):
        raise error
    return f"{type(error).__name__}: {error}"[:200]


def _short(value: Any) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


Found = Iterator[Difference]
"""What a check yields."""


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
        """Add a difference, unless it is listed already or is the same as the one before."""
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
        """Return those that are not only counted."""
        return list(self._listed)

    @property
    def count(self) -> int:
        """Return how many there are, listed or not."""
        return len(self._listed) + self.left_out.total()
