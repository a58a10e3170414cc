"""Columns as an Arrow table, in which Streamlit sends tables and charts to the browser.

Streamlit makes one of any columns, and pyarrow of any lists, but both load pandas for it, which takes as long
as half of a first page.
"""

from array import array
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import Any

import pyarrow as pa

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


def arrow(columns: Mapping[str, Sequence[Any]]) -> pa.Table:
    """Columns of one kind of value each: texts, numbers, instants or yes and no; None where there is none.

    >>> arrow({"agent": ["ann", "ben"], "skill": [0.25, None]}).to_pylist()
    [{'agent': 'ann', 'skill': 0.25}, {'agent': 'ben', 'skill': None}]
    """
    return pa.Table.from_arrays([_column(values) for values in columns.values()], names=list(columns))


def of_rows(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """The same of rows, each of which may leave columns out."""
    names = dict.fromkeys(name for row in rows for name in row)
    return arrow({name: [row.get(name) for row in rows] for name in names})


def _column(values: Sequence[Any]) -> pa.Array:
    known = [value for value in values if value is not None]
    if not known:
        return pa.nulls(len(values))
    gaps = None if len(known) == len(values) else _bits([value is not None for value in values])
    kind, *buffers = _kept(values, known)
    return pa.Array.from_buffers(kind, len(values), [gaps, *buffers])


def _kept(values: Sequence[Any], known: Sequence[Any]) -> Sequence[Any]:
    """The kind of a column and its values as Arrow keeps them."""
    if all(isinstance(value, str) for value in known):
        texts = [(value or "").encode(errors="replace") for value in values]
        ends = array("q", accumulate(map(len, texts), initial=0))
        return pa.large_string(), pa.py_buffer(ends), pa.py_buffer(b"".join(texts))
    if all(isinstance(value, bool) for value in known):
        return pa.bool_(), _bits([bool(value) for value in values])
    if all(isinstance(value, int) for value in known):
        return pa.int64(), _numbers("q", values)
    if all(isinstance(value, datetime) for value in known):
        instants = [value and (value - EPOCH) // MICROSECOND for value in values]
        return pa.timestamp("us", tz="UTC"), _numbers("q", instants)
    return pa.float64(), _numbers("d", values)


def _numbers(code: str, values: Sequence[float | None]) -> pa.Buffer:
    return pa.py_buffer(array(code, [value or 0 for value in values]))


def _bits(flags: Sequence[bool]) -> pa.Buffer:
    """Eight flags a byte, the first in its lowest bit."""
    packed = int("".join("01"[flag] for flag in reversed(flags)) or "0", 2)
    return pa.py_buffer(packed.to_bytes((len(flags) + 7) // 8, "little"))
