"""Fills with all that they stand on."""

from dataclasses import dataclass

from arena.store.verify.frozen import Frozen
from arena.store.verify.parts import Row
from arena.store.verify.played import Listed
from arena.store.verify.shown import Shown, Turn


@dataclass(frozen=True, slots=True)
class Deal:
    """A fill, its levels, and what it stands on. `listed` and `frozen` are None where they are missing.

    `seen_at` is when the snapshot was looked at.
    """

    fill: Row
    levels: tuple[Row, ...]
    turn: Row
    round: Row
    seen_at: str
    listed: Listed | None
    frozen: Frozen | None

    @property
    def buys(self) -> bool:
        """Whether it is a purchase."""
        return bool(self.fill["action"] == "buy")


def deals(shown: Shown, turn: Turn) -> list[Deal]:
    """The fills of a turn, in order."""
    frozen, seen_at = shown.cohort.frozen, shown.seen_at
    return [
        Deal(fill, levels, turn.row, shown.round, seen_at, shown.by_market.get(fill["market_id"]), frozen)
        for fill, levels in turn.fills
    ]
