"""Reads and writes Parquet: whole numbers of 64 bits, and instants in UTC to the microsecond."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.exports.forms.cells import bad_file, bad_row, bad_text, columns_in, with_missing_columns
from arena.exports.table import ExportColumn, Kind, Row, column_names

if TYPE_CHECKING:
    import pyarrow as pa

GROUP_ROWS = 10_000
GROUP_TEXT = 4_000_000
"""A group of rows is written once it reaches GROUP_ROWS rows, or this many characters."""
READ_ROWS = 200
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


def write(path: Path, columns: Sequence[ExportColumn], rows: Iterable[Row]) -> int:
    """Write rows into a new file, and return how many there were."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    schema = schema_of(columns, column_names(columns))
    count = 0
    with ParquetWriter(path, schema, compression="zstd") as out:
        for group in _groups(rows):
            try:
                arrays = list(map(pa.array, zip(*group, strict=True), schema.types))
            except UnicodeEncodeError as error:
                raise bad_text(path.name, count + 1) from error
            out.write_table(pa.Table.from_arrays(arrays, schema=schema))
            count += len(group)

    return count


def _groups(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Yield rows in groups that fit into memory."""
    group: list[Row] = []
    size = 0

    for row in rows:
        group.append(row)
        size += sum(len(value) for value in row if isinstance(value, str))
        if len(group) >= GROUP_ROWS or size >= GROUP_TEXT:
            yield group
            group = []
            size = 0

    if group:
        yield group


def schema_of(columns: Sequence[ExportColumn], names: Iterable[str]) -> "pa.Schema":
    """Return the schema of columns under these names."""
    import pyarrow as pa

    kinds: dict[Kind, Any] = {
        "text": pa.string(),
        "whole": pa.int64(),
        "number": pa.float64(),
        "time": pa.timestamp("us", tz="UTC"),
    }
    fields = zip(names, columns, strict=True)
    return pa.schema([pa.field(name, kinds[column.kind], bool(column.empty)) for name, column in fields])


def read(path: Path, columns: Sequence[ExportColumn]) -> Iterator[Row]:
    """Yield the rows of a file, read in batches."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path) as file:
            stored = file.schema_arrow
            present = columns_in(stored.names, columns)
            if present is None or not stored.equals(schema_of(present, stored.names)):
                expected = ", ".join(column_names(columns))
                raise bad_file(path.name, f"its columns must be {expected}")

            start = 1
            for batch in file.iter_batches(batch_size=READ_ROWS):
                rows = zip(*_values(path.name, start, present, batch), strict=True)
                yield from with_missing_columns(rows, present, columns)
                start += batch.num_rows
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise bad_file(path.name, f"it is not Parquet: {error}") from error


def _values(file: str, start: int, columns: Sequence[ExportColumn], batch: Any) -> Iterator[list[Any]]:
    """Yield the values of each column of a batch, whose first row has the number `start`."""
    import pyarrow as pa

    for column, array in zip(columns, batch.columns, strict=True):
        stored = array
        if column.kind == "time":
            stored = array.cast(pa.int64())
        values = stored.to_pylist()
        if None in values and not column.empty:
            row = start + values.index(None)
            raise bad_row(file, row, column.name, None, "is empty, and must not be")
        if column.kind == "time":
            values = list(_instants(file, start, column.name, values))
        yield values


def _instants(file: str, start: int, column: str, values: Sequence[int | None]) -> Iterator[datetime | None]:
    """Yield instants, given as microseconds since 1970."""
    for row, micros in enumerate(values, start):
        try:
            yield None if micros is None else EPOCH + micros * MICROSECOND
        except OverflowError as error:
            raise bad_row(file, row, column, micros, "is not a time of the calendar") from error
