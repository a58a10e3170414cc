"""A season over a recording, at the recording's own times: the same core with another venue."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from arena.arrange import Replay
from arena.errors import ArenaError
from arena.positions import positions, together
from arena.round import track
from arena.scoring import brier
from arena.season import end_if_over, open_cohorts, play_time, stop_if_busy
from arena.store.database import reading
from arena.store.positions import read_marked
from arena.store.record import Record
from arena.world import World
from markets.bundle import Bundle, Recording
from markets.collector import searched_seldom
from markets.millionths import ONE

NOTICE = "replay: not evidence of skill"
"""What is said with every result: how it ended was known when it was played."""
AHEAD = timedelta(days=8)
"""How long before a market's end the price was known that the market itself is scored by."""


async def play_replay(
    replay: Replay, world: World, record: Record, played: Callable[[int, int], None]
) -> None:
    """Every decision time in turn; then what is open is looked at until it has ended or all is known."""
    decisions, later = replay.times()
    newest = record.newest_time() or decisions[0]
    with searched_seldom():
        for number, at in enumerate((*decisions, *later), 1):
            if at >= newest:  # what is older is over, and must not be looked at with what is known since
                if number <= len(decisions):
                    stop_if_busy(await play_time(at, replay.plan, world, record))
                else:
                    await look_at_the_rest(at, world, record)
            played(number, len(decisions) + len(later))


async def look_at_the_rest(at: datetime, world: World, record: Record) -> None:
    """Settle and mark what is still open, at a time at which nobody decides any more."""
    for stored in open_cohorts(record):
        await track(stored, at, world, record)
        end_if_over(stored, at, False, record)


def must_be_this(record: Record, replay: Replay, address: str) -> None:
    """Refuse a record in which anything else than this replay was played."""
    for stored in record.cohorts():
        cohort = stored.cohort
        planned = replay.plan.freeze(cohort.number, cohort.starts_at)[0]
        if record.began() != replay.plan.first or cohort != replace(planned, config_hash=cohort.config_hash):
            message = f"{address} already holds another season"
            raise ArenaError("not_empty", message, "name another record with --database, or remove this one")


def still_open(record: Record) -> dict[str, int]:
    """How many positions are open at the end, and how many of them have no price that is good any more."""
    found = {"positions": 0, "stale": 0}
    with reading(record.engine) as connection:
        for stored in record.cohorts():
            marked = read_marked(connection, stored.id, None)
            lots = positions(marked, stored.cohort.rules.quote_age) if marked else []
            whole = together("all", [lot for lot in lots if lot.lot.shares])
            found = {"positions": found["positions"] + whole.held, "stale": found["stale"] + whole.stale}
    return found


def market_brier(bundle: Bundle) -> dict[str, Any]:
    """The Brier score of the recorded prices themselves, and over how many markets it is.

    Each market that ended YES or NO counts once, by the last price that was known eight days before its
    end was: for what bears dates, one dated at least eight days before.
    """
    rows = [row for record in bundle.markets.values() if (row := _price_and_outcome(record)) is not None]
    score = (
        brier.score([price / ONE for price, _ in rows], [outcome for _, outcome in rows]) if rows else None
    )
    return {"brier_market": score, "brier_market_markets": len(rows)}


def _price_and_outcome(record: Recording) -> tuple[int, int] | None:
    end = record.ends[-1] if record.ends else None
    quote = record.quote(record.ends[0].known_at - AHEAD) if end else None
    if end is None or end.outcome is None or quote is None or quote.mid is None:
        return None
    return quote.mid, end.outcome
