"""Of every agent in depth the few figures that a board shows beside its scores."""

from dataclasses import dataclass

from pydantic import TypeAdapter

from arena.prepared.kept import Kept, kept
from arena.scoring.money.luck import Luck
from arena.store.frame import Connection
from arena.store.rollups import basis_of

METHOD = "profiles 1"
"""The way in which profiles are worked out, and so what is taken from them."""
NAME = "briefs"


@dataclass(frozen=True, slots=True)
class Brief:
    """What a board shows of an agent beside its scores; None where nothing can be said yet."""

    agent: str
    luck: Luck | None
    miscalibration: float | None
    miscalibration_p: float | None


FORM = TypeAdapter(tuple[Brief, ...])


def kept_briefs(connection: Connection) -> Kept[tuple[Brief, ...]] | None:
    """The brief of every agent, in line-up order, as they were worked out last."""
    return kept(connection, NAME, basis_of(connection, METHOD), FORM)
