"""What entrants decided, turn by turn, in a form that can be played again."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, and_, select

from arena.record.schema.codec import wishes_of
from arena.record.schema.tables import ENTRANT, FORECAST, REJECTION, ROUND, TURN
from markets.model import MarketId
from portfolio.model import Bet, Sale

TURNS = TURN.join(ROUND, TURN.c.round_id == ROUND.c.id).join(ENTRANT, TURN.c.entrant_id == ENTRANT.c.id)


@dataclass(frozen=True, slots=True)
class Decided:
    """A turn's wishes and final probabilities, less the wishes for markets that had closed meanwhile.

    `late` are those markets, and `shut` counts the wishes that came too late.
    """

    number: int
    bets: tuple[Bet, ...]
    sales: tuple[Sale, ...]
    beliefs: Mapping[MarketId, int]
    late: frozenset[MarketId]
    shut: int


def read_decided(connection: Connection, cohort_id: int, too_late: str) -> dict[str, dict[datetime, Decided]]:
    """Every turn of a cohort, by entrant and time; `too_late` is the code that late wishes were given."""
    shut, beliefs = _shut(connection, cohort_id, too_late), _beliefs(connection, cohort_id)
    keys = (TURN.c.id, ENTRANT.c.name, ROUND.c.number, ROUND.c.at, TURN.c.wishes)
    rows = connection.execute(select(*keys).select_from(TURNS).where(ROUND.c.cohort_id == cohort_id))
    found: dict[str, dict[datetime, Decided]] = defaultdict(dict)
    for row in rows:
        bets, sales = wishes_of(row.wishes)
        late = frozenset(shut[row.id])
        in_time = tuple(bet for bet in bets if bet.market_id not in late)
        kept = tuple(sale for sale in sales if sale.market_id not in late)
        missed = len(bets) + len(sales) - len(in_time) - len(kept)
        found[row.name][row.at] = Decided(row.number, in_time, kept, beliefs[row.id], late, missed)
    return found


def _shut(connection: Connection, cohort_id: int, too_late: str) -> dict[int, set[MarketId]]:
    """The markets, by turn, that had closed when the decision came."""
    rows = connection.execute(
        select(REJECTION.c.turn_id, REJECTION.c.market_id)
        .select_from(TURNS.join(REJECTION, REJECTION.c.turn_id == TURN.c.id))
        .where(ROUND.c.cohort_id == cohort_id, REJECTION.c.code == too_late)
    )
    found: dict[int, set[MarketId]] = defaultdict(set)
    for row in rows:
        found[row.turn_id].add(MarketId(row.market_id))
    return found


def _beliefs(connection: Connection, cohort_id: int) -> dict[int, dict[MarketId, int]]:
    """The final probabilities of the turns that were played."""
    said = and_(FORECAST.c.turn_id == TURN.c.id, FORECAST.c.stage == "final", TURN.c.verdict == "played")
    rows = connection.execute(
        select(FORECAST.c.turn_id, FORECAST.c.market_id, FORECAST.c.probability)
        .select_from(TURNS.join(FORECAST, said))
        .where(ROUND.c.cohort_id == cohort_id)
        .order_by(FORECAST.c.turn_id, FORECAST.c.market_id)
    )
    found: dict[int, dict[MarketId, int]] = defaultdict(dict)
    for row in rows:
        found[row.turn_id][MarketId(row.market_id)] = row.probability
    return found
