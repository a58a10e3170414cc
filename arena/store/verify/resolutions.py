"""How markets ended, as far as that can be right or wrong by itself."""

from collections.abc import Iterator

from arena.store.tables import RESOLUTION
from arena.store.verify.difference import Difference
from arena.store.verify.facts import Facts
from arena.store.verify.frozen import ONE
from arena.store.verify.naming import differs
from arena.store.verify.query import rows_of

RESOLUTIONS = rows_of(RESOLUTION)


def check_resolutions(facts: Facts) -> Iterator[Difference]:
    """Payouts that no share can have, and versions that nobody counts."""
    for row in facts.rows(RESOLUTIONS):
        if row["payout"] is not None and not 0 <= row["payout"] <= ONE:
            why = "a share pays 0 to 1"
            yield differs(facts, RESOLUTION, row, "payout", f"0 to {ONE}, or nothing", why)
        if row["version"] < 1:
            yield differs(facts, RESOLUTION, row, "version", "1 or more", "versions are counted from 1")
