"""Something that was worked out from the record and kept: what it is, when it was made, whether it still holds."""

from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from pydantic import TypeAdapter

from arena.store.frame import Connection
from arena.store.rollups import Rollup, basis_of, read_rollup

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Kept(Generic[Value]):
    """A value as it was worked out last. It is fresh while nothing that it was made of is another."""

    value: Value
    made_at: datetime
    fresh: bool


def kept(connection: Connection, name: str, basis: str, form: TypeAdapter[Value]) -> Kept[Value] | None:
    """What was worked out last under a name; None where that was never done, or in another form."""
    found = read_rollup(connection, name)
    if found is None or _method(found.basis) != _method(basis):
        return None
    return Kept(form.validate_python(found.body), found.made_at, found.basis == basis)


def rolled(name: str, basis: str, at: datetime, form: TypeAdapter[Value], value: Value) -> Rollup:
    """A value in the form in which it is kept."""
    return Rollup(name, basis, at, form.dump_python(value, mode="json"))


def ends(connection: Connection, method: str) -> str:
    """The basis of what changes when a market ends, and only then."""
    return basis_of(connection, method)


def _method(basis: str) -> str:
    return basis.partition(":")[0]
