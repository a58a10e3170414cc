"""What verification finds: facts that contradict others. The first are listed, the rest are counted."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from arena.errors import ArenaError
from arena.record.schema.database_errors import CODES

LONGEST = 80


@dataclass(frozen=True, slots=True)
class Difference:
    """A field of a row whose value contradicts the rest of the record.

    `key` names the row by cohort, round and agent. `why` is the rule that it breaks.
    """

    table: str
    key: str
    field: str
    found: Any
    expected: Any
    why: str

    @property
    def message(self) -> str:
        """Return the difference as one sentence.

        >>> Difference("entry", "cohort 1, ann, entry 2", "balance", 5, 7, "it is the sum of cash").message
        'entry (cohort 1, ann, entry 2): balance is 5 and should be 7: it is the sum of cash'
        """
        found = _shortened_text(self.found)
        expected = _shortened_text(self.expected)
        return f"{self.table} ({self.key}): {self.field} is {found} and should be {expected}: {self.why}"

    def as_dict(self) -> dict[str, Any]:
        """Return the fields and the sentence for JSON."""
        return asdict(self) | {"message": self.message}


def fault_text(error: Exception) -> str:
    """Return the error that a damaged row caused, on one line.

    Raise it again if the record is not to blame: the database or the memory failed.
    """
    if isinstance(error, MemoryError) or (isinstance(error, ArenaError) and error.code in CODES):
        raise error
    return f"{type(error).__name__}: {error}"[:200]


def _shortened_text(value: Any) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


Found = Iterator[Difference]
"""What a check yields."""


@dataclass
class Differences:
    """The differences found: each once, reported as found; beyond `most` they are only counted by table.

    `unproved` counts what could not be recomputed, by kind.
    """

    most: int | None
    tell: Callable[[Difference], None] | None = None
    left_out: Counter[str] = field(default_factory=Counter)
    unproved: Counter[str] = field(default_factory=Counter)
    _listed: dict[Difference, None] = field(default_factory=dict)
    _last: Difference | None = None

    def add(self, difference: Difference) -> None:
        """Add a difference, unless it is already listed or repeats the last one."""
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
        """Return the differences that are listed."""
        return list(self._listed)

    @property
    def count(self) -> int:
        """Return the number of differences, listed or only counted."""
        return len(self._listed) + self.left_out.total()
