"""Every duel of every agent, with the markets that decided it."""

from dataclasses import dataclass

from pydantic import TypeAdapter

from arena.prepared.kept import Kept, kept
from arena.scoring.comparing.duel import Duel
from arena.store.frame import Connection
from arena.store.rollups import basis_of

METHOD = "duels 1"


@dataclass(frozen=True, slots=True)
class Decider:
    """A market of a duel: the mean of what each said of it, its mean price, and how far it moved the gap.

    The shares of all markets add up to the gap; above 0 it spoke for `a`.
    """

    market_id: str
    question: str
    outcome: int
    a: float
    b: float
    price: float
    share: float


@dataclass(frozen=True, slots=True)
class Fought:
    """A duel, the events still needed to tell the two apart, its events by their difference, and its deciders.

    `differences` counts common events by their mean difference, between the neighbours of `edges`.
    `for_a` and `for_b` are the markets that spoke loudest for each.
    """

    duel: Duel
    needed: int | None
    edges: tuple[float, ...]
    differences: tuple[int, ...]
    for_a: tuple[Decider, ...]
    for_b: tuple[Decider, ...]


FORM = TypeAdapter(tuple[Fought, ...])


def kept_duels(connection: Connection, agent: str) -> Kept[tuple[Fought, ...]] | None:
    """All duels of an agent, as `a`, as they were worked out last."""
    return kept(connection, name_of(agent), basis_of(connection, METHOD), FORM)


def name_of(agent: str) -> str:
    """Under which name an agent's duels are kept."""
    return f"duels/{agent}"
