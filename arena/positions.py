"""What agents hold and what it made, lot by lot; and the same by market, by agent, and in all."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from arena.errors import ArenaError
from arena.store.positions import Marked
from markets.model import MarketId
from portfolio.ledger import LedgerError, fold
from portfolio.model import Holdings, Side
from portfolio.profit import LotProfit, Profit, by_lot
from portfolio.value import Stale, valued


@dataclass(frozen=True, slots=True)
class Position:
    """A lot of an agent, held or closed. `price`, `age` (in seconds) and `stale` are of what is held.

    Without any price a lot that is held is valued at its cost, and `price` is None.
    """

    agent: str
    market_id: MarketId
    question: str
    side: Side
    lot: LotProfit
    price: int | None = None
    age: int | None = None
    stale: Stale = ""

    @property
    def money(self) -> Profit:
        """What went in, came out, and is still there."""
        return self.lot.money


@dataclass(frozen=True, slots=True)
class Group:
    """Positions of an agent or a market taken together: how many they are, and their profit."""

    name: str
    question: str
    agents: int
    lots: int
    held: int
    stale: int
    money: Profit


def positions(marked: Marked, max_age: timedelta) -> list[Position]:
    """Every lot of every agent: agents in line-up order, what is held first, the largest first."""
    return [found for name in marked.ledgers for found in sorted(_of(name, marked, max_age), key=_order)]


def _of(agent: str, marked: Marked, max_age: timedelta) -> Iterator[Position]:
    seen = {(lot.market_id, lot.side): lot for lot in valued(_held(agent, marked), marked.snapshot, max_age)}
    lots = by_lot(marked.ledgers[agent], {key: lot.value for key, lot in seen.items()})
    for key, lot in lots.items():
        question, now = marked.questions.get(key[0], key[0]), seen.get(key)
        if now is None:
            yield Position(agent, key[0], question, key[1], lot)
        else:
            yield Position(agent, key[0], question, key[1], lot, now.price, now.age, now.stale)


def _held(agent: str, marked: Marked) -> Holdings:
    try:
        return fold(marked.ledgers[agent])
    except LedgerError as error:
        message = f"{agent}'s ledger doesn't add up: {error}"
        raise ArenaError("broken_ledger", message, "arena verify tells all that is wrong") from error


def _order(position: Position) -> tuple[bool, int, str, str]:
    lot = position.lot
    size = lot.money.value if lot.shares else lot.money.realised
    return not lot.shares, -size, position.market_id, position.side


def by_market(found: Iterable[Position]) -> list[Group]:
    """Market by market, both sides and all agents together, the most profitable first."""
    markets: dict[MarketId, list[Position]] = {}
    for position in found:
        markets.setdefault(position.market_id, []).append(position)
    groups = [together(name, rows, rows[0].question) for name, rows in markets.items()]
    return sorted(groups, key=lambda group: (-group.money.total, group.name))


def by_agent(found: Iterable[Position], names: Sequence[str]) -> list[Group]:
    """Agent by agent, those without a position too, the most profitable first."""
    agents: dict[str, list[Position]] = {name: [] for name in names}
    for position in found:
        agents[position.agent].append(position)
    groups = [together(name, rows) for name, rows in agents.items()]
    return sorted(groups, key=lambda group: (-group.money.total, group.name))


def together(name: str, found: Sequence[Position], question: str = "") -> Group:
    """All of these positions as one."""
    return Group(
        name=name,
        question=question,
        agents=len({position.agent for position in found}),
        lots=len(found),
        held=sum(position.lot.shares > 0 for position in found),
        stale=sum(position.stale != "" for position in found),
        money=sum((position.money for position in found), Profit()),
    )
