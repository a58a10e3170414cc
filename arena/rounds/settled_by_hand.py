"""A person's decision on how a market ended, where its venue never says, and withdrawing one.

A decision is a version of the market's end, like any that a venue tells: sealed with the others, paid by the
next settlement, and corrected by the next version. The venue's own later word is such a version.
"""

from dataclasses import dataclass
from datetime import datetime

from arena.errors import ArenaError
from arena.record.model.benchmark import FORECASTBENCH
from arena.record.queries.cohorts import read_resolutions
from arena.record.queries.markets import read_closed_since, read_market_stamps
from arena.record.schema.database import Connection
from arena.record.write.resolutions import insert_resolutions
from arena.rounds.settlement import LATEST, pay_ended_cohorts
from markets.model import DECIDED, WITHDRAWN, MarketId, Resolution


@dataclass(frozen=True, slots=True)
class HandSettlement:
    """What a person decides: what a YES share pays, None for a refund; or that a decision is `withdrawn`."""

    market_id: MarketId
    payout: int | None
    because: str
    withdrawn: bool = False


def settle_by_hand(connection: Connection, decision: HandSettlement, at: datetime) -> Resolution:
    """Write a decision, and pay it to the cohorts that have ended; those that go on are paid when settled.

    Raise `ArenaError` where a person can't decide: in a world that is not live, on a market that is open, or
    on one whose venue has said how it ended.
    """
    market = decision.market_id
    _check_world(connection, market)

    ends = [end for end in read_resolutions(connection, [market], LATEST) if end.possible]
    newest = max(ends, key=lambda end: end.version, default=None)
    _check_newest(decision, newest)
    if newest is None and market not in read_closed_since(connection, [market], at):
        hint = "arena run --sync reads the venue again; a market can be settled once it has closed"
        raise ArenaError("not_closed", f"{market} is open", hint)

    version = 1
    known_at = at
    if newest is not None:
        version = newest.version + 1
        known_at = max(newest.known_at, at)

    payout = decision.payout
    source = f"{DECIDED}{decision.because}"
    if decision.withdrawn:
        payout = None
        source = f"{WITHDRAWN}{decision.because}"

    resolution = Resolution(market, version, known_at, payout, source)
    insert_resolutions(connection, [resolution], at)
    pay_ended_cohorts(connection, at)
    return resolution


def _check_world(connection: Connection, market: MarketId) -> None:
    """Raise `ArenaError` for a market whose world alone says how it ends."""
    if market.startswith(f"{FORECASTBENCH}:"):
        message = f"{market} is a question of a benchmark, whose files resolve it"
        raise ArenaError("not_live", message, "arena study forecastbench board --fetch reads them")

    stamps = read_market_stamps(connection, market)
    if stamps != {"live"}:
        world = "recorded" if "replay" in stamps else "simulated"
        message = f"{market} is from a {world} season, whose world alone says how its markets end"
        raise ArenaError("not_live", message, "only markets of a live venue are settled by hand")


def _check_newest(decision: HandSettlement, newest: Resolution | None) -> None:
    """Raise `ArenaError` if the newest version of the market's end leaves no room for a decision."""
    market = decision.market_id
    if newest is not None and not newest.by_hand:
        message = f"{market} was settled by its venue ({newest.source or 'without a source'})"
        raise ArenaError("settled", message, "a venue's word is corrected by the venue alone")

    undecided = newest is None or newest.withdrawn
    if decision.withdrawn and undecided:
        raise ArenaError("no_decision", f"{market} has no decision to withdraw", "arena show market ID")

    if newest is None or undecided or decision.withdrawn:
        return
    if newest.payout == decision.payout:
        message = f"{market} is settled so already, since {newest.known_at:%Y-%m-%d %H:%M} UTC"
        raise ArenaError("unchanged", message, "nothing was changed")
