"""The differences that were found: the first ones as they are, the rest counted."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from arena.store.verify.difference import Difference


@dataclass
class Found:
    """So many differences, each once and told as it is found, and by table how many more there are."""

    most: int | None
    tell: Callable[[Difference], None] | None = None
    left_out: Counter[str] = field(default_factory=Counter)
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
