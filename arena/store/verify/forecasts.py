"""Forecasts: probabilities for markets of the round."""

from collections.abc import Collection, Iterator

from arena.store.tables import FORECAST
from arena.store.verify.difference import Difference
from arena.store.verify.facts import Facts
from arena.store.verify.frozen import ONE
from arena.store.verify.naming import differs
from arena.store.verify.parts import Row


def check_forecasts(facts: Facts, forecasts: list[Row], there: Collection[str]) -> Iterator[Difference]:
    """Forecasts that are no probability, or of a market that was not in the round's snapshot."""
    for row in forecasts:
        if not 0 <= row["probability"] <= ONE:
            yield differs(facts, FORECAST, row, "probability", f"0 to {ONE}", "it is a probability")
        if row["market_id"] not in there:
            why = "nobody was asked for others"
            yield differs(facts, FORECAST, row, "market_id", "one of the snapshot", why)
        if row["stage"] not in ("blind", "final"):
            yield differs(facts, FORECAST, row, "stage", "blind or final", "there is no other")
