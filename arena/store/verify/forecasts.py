"""Forecasts: probabilities for markets of the round."""

from collections.abc import Iterator

from arena.store.tables import FORECAST, ROUND, TURN
from arena.store.verify.difference import Difference
from arena.store.verify.facts import Facts
from arena.store.verify.frozen import ONE
from arena.store.verify.naming import differs


def check_forecasts(facts: Facts) -> Iterator[Difference]:
    """Forecasts that are no probability, or of a market that was not in the round's snapshot."""
    turns, rounds, there = facts.by_id(TURN), facts.by_id(ROUND), _markets(facts)
    for row in facts.rows(FORECAST):
        turn = turns.get(row["turn_id"])
        round = rounds.get(turn["round_id"]) if turn else None
        if not 0 <= row["probability"] <= ONE:
            yield differs(facts, FORECAST, row, "probability", f"0 to {ONE}", "it is a probability")
        if round is not None and row["market_id"] not in there.get(round["snapshot_id"], ()):
            yield differs(
                facts, FORECAST, row, "market_id", "one of the snapshot", "nobody was asked for others"
            )
        if row["stage"] not in ("blind", "final"):
            yield differs(facts, FORECAST, row, "stage", "blind or final", "there is no other")


def _markets(facts: Facts) -> dict[int, set[str]]:
    return {id: {item["market_id"] for item, _, _ in places} for id, places in facts.listed.items()}
