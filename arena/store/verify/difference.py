"""What verifying finds: a fact that the other facts contradict."""

from dataclasses import asdict, dataclass
from typing import Any

LONGEST = 80


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
