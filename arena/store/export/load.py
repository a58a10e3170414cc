"""The rows of an export put back where they were: the same tables, the same checks and the same triggers."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from sqlalchemy import Connection, tuple_
from sqlalchemy.exc import DBAPIError

from arena.errors import ArenaError
from arena.store.export.forms import Form
from arena.store.export.forms.faults import bad_file
from arena.store.export.manifest import Manifest
from arena.store.export.sheet import Facts, Parent, Row
from arena.store.export.tables import FACTS, PUT_BACK
from arena.store.rows import insert_lines

BATCH = 500
Named = dict[str, object]
"""A row by its columns' names."""


def load(
    connection: Connection, folder: Path, form: Form, manifest: Manifest, moved: Callable[[int], None]
) -> None:
    """All facts of an export into an empty record, in the caller's transaction; `moved` hears how many."""
    for each in PUT_BACK:
        name = f"{each.sheet.name}{form.ending}"
        table, start = _Into(connection, each, name), 1
        for batch in _batches(_rows(folder, form, each)):
            table.put(batch, start)
            start += len(batch)
            moved(len(batch))
        if start - 1 != manifest.files[name].rows:
            raise bad_file(name, f"it has {start - 1:,} rows, and the manifest says otherwise")


def _rows(folder: Path, form: Form, each: Facts) -> Iterator[Named]:
    """The rows of a table, with those of the table beside it that has the rest of them."""
    rows = _read(folder, form, each)
    if not each.rest:
        yield from rows
        return
    (rest,) = (other for other in FACTS if other.sheet.name == each.rest)
    others, name = _read(folder, form, rest), f"{rest.sheet.name}{form.ending}"
    for number, row in enumerate(rows, 1):
        other = next(others, None)
        if other is None or any(other[key] != row[key] for key in each.sheet.key):
            raise bad_file(name, f"row {number} is not that of {_key(each, row)}")
        yield row | other
    if next(others, None) is not None:
        raise bad_file(name, f"it has more rows than {each.sheet.name}{form.ending}")


def _read(folder: Path, form: Form, each: Facts) -> Iterator[Named]:
    names = [column.name for column in each.sheet.columns]
    for row in form.read(folder / f"{each.sheet.name}{form.ending}", each.sheet.columns):
        yield dict(zip(names, row, strict=True))


def _batches(rows: Iterator[Named]) -> Iterator[list[Named]]:
    while batch := list(islice(rows, BATCH)):
        yield batch


def _key(each: Facts, row: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {row[name]}" for name in each.sheet.key)


class _Into:
    """A table that rows are put into, found by the names of what they belong to."""

    def __init__(self, connection: Connection, each: Facts, file: str):
        self.connection, self.each, self.file = connection, each, file
        fields = [*each.fields]
        if each.rest:
            fields += [f for other in FACTS if other.sheet.name == each.rest for f in other.fields]
        own = {f.column.name: f.source.name for f in fields if f.source.table is each.table}
        self.own = list(own)
        self.names = (*own.values(), *(parent.column for parent in each.parents))

    def put(self, rows: Sequence[Named], start: int) -> None:
        """These rows, the first of which has this number in its file."""
        ids = [self._ids(parent, rows, start) for parent in self.each.parents]
        own = ([row[name] for name in self.own] for row in rows)
        lines = [(*values, *found) for values, *found in zip(own, *ids, strict=True)]
        refused = self._insert(lines)
        if refused is None:
            return
        for place, line in enumerate(lines):
            if why := self._insert([line]):
                key = _key(self.each, rows[place])
                raise bad_file(self.file, f"row {start + place} ({key}) can't be in a record: {why}")
        raise bad_file(self.file, f"rows from {start} on can't be in a record: {refused}")

    def _insert(self, lines: Iterable[Row]) -> str | None:
        """Lines in the table, all or none; what the database has against them."""
        try:
            with self.connection.begin_nested():
                insert_lines(self.connection, self.each.table, self.names, lines)
        except (DBAPIError, ArenaError) as error:
            if isinstance(error, ArenaError) and error.code != "raced":
                raise
            cause = error.__cause__ or error
            return str(cause).partition("\n")[0]
        return None

    def _ids(self, parent: Parent, rows: Sequence[Named], start: int) -> list[int | None]:
        """The id of what each row belongs to; None where it belongs to nothing."""
        wanted = [tuple(row[key] for key in parent.keys) for row in rows]
        names = list(dict.fromkeys(name for name in wanted if None not in name))
        found = dict(self._found(parent, names)) if names else {}
        for number, name in enumerate(wanted, start):
            if None not in name and name not in found:
                said = ", ".join(f"{key} {value}" for key, value in zip(parent.keys, name, strict=True))
                what = parent.column.removesuffix("_id")
                raise bad_file(self.file, f"row {number} belongs to a {what} that is not there: {said}")
        return [found.get(name) for name in wanted]

    def _found(self, parent: Parent, names: Sequence[Row]) -> Iterator[tuple[Row, int]]:
        query = parent.ids.where(tuple_(*parent.named).in_(names))
        for id, *name in self.connection.execute(query):
            yield tuple(name), id
