"""Every agent against the market in parts of the season: by category, horizon, price, cohort, release."""

from pydantic import TypeAdapter

from arena.prepared.kept import Kept, kept
from arena.slices import Slice
from arena.store.frame import Connection
from arena.store.rollups import basis_of

METHOD = "slices 1"
FORM = TypeAdapter(tuple[Slice, ...])


def kept_slices(connection: Connection, by: str) -> Kept[tuple[Slice, ...]] | None:
    """All slices by one of `arena.slices.BY`, as they were worked out last."""
    return kept(connection, name_of(by), basis_of(connection, METHOD), FORM)


def name_of(by: str) -> str:
    """Under which name slices are kept."""
    return f"slices/{by}"
