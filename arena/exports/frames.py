"""Tables in memory: those of a record as Arrow tables, and forecasts from any data frame."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from arena.errors import ArenaError
from arena.exports.computed_tables import COMPUTED
from arena.exports.fact_tables import FACT
from arena.exports.forms.parquet_files import schema_of
from arena.exports.table import Row, column_names, rows_of
from arena.forms.csv_columns import plain_name
from arena.record.queries.cohorts import read_cohorts, select_cohorts
from arena.record.schema.database import Connection
from markets.millionths import ONE

if TYPE_CHECKING:
    import pyarrow as pa

Columns = dict[str, list[object]]
MILLIONTHS = "millionths"
FLOAT = "_float"
"""The suffix of the column that has a column of millionths as floats."""
HINT = "give a DataFrame, an Arrow table, a dict of lists, or a list of dicts"


def record_frame(connection: Connection, name: str, cohort: int | None) -> "pa.Table":
    """Return a table of an export, of all cohorts or of one; raise `ArenaError` for an unknown name.

    Each column of millionths is followed by one of floats: dollars, shares or probabilities.
    """
    import pyarrow as pa

    cohorts = select_cohorts(read_cohorts(connection, trading=False), cohort)
    computed = {table.sheet.name: table for table in COMPUTED}
    rows: Iterable[Row]
    if name in FACT:
        sheet = FACT[name].sheet
        rows = rows_of(connection, FACT[name], None if cohort is None else [cohort])
    elif name in computed:
        sheet = computed[name].sheet
        rows = computed[name].rows(connection, cohorts)
    else:
        names = ", ".join([*FACT, *computed])
        raise ArenaError("no_table", f"there is no table {name!r}", f"tables: {names}")

    all_rows = list(rows)
    values = [list(column) for column in zip(*all_rows, strict=True)] or [[] for _ in sheet.columns]
    schema = schema_of(sheet.columns, column_names(sheet.columns))
    frame = pa.Table.from_arrays(list(map(pa.array, values, schema.types)), schema=schema)
    for column, whole_numbers in zip(sheet.columns, values, strict=True):
        if column.unit.startswith(MILLIONTHS):
            floats = [None if number is None else number / ONE for number in whole_numbers]
            frame = frame.append_column(column.name + FLOAT, pa.array(floats, pa.float64()))
    return frame


def frame_columns(frame: object, name: str) -> Columns:
    """Return the columns of a frame as lists, with None for empty cells.

    A frame is a dict of columns, a list of dicts, a DataFrame of pandas or polars, or anything that converts
    to an Arrow table. Raise `ArenaError` for anything else.

    >>> frame_columns([{"question": "rain", "outcome": float("nan")}, {"question": "snow"}], "mine")
    {'question': ['rain', 'snow'], 'outcome': [None, None]}
    """
    columns: Columns = {}
    for column, values in _raw_columns(frame, name).items():
        columns[str(column)] = [_cell_value(value) for value in values]
    return columns


def _raw_columns(frame: Any, name: str) -> Mapping[Any, Sequence[object]]:
    """Return the columns of a frame by name, with cells as they are."""
    if isinstance(frame, Mapping):
        return {column: _cells_as_list(values, name, str(column)) for column, values in frame.items()}
    if isinstance(frame, list | tuple):
        return _columns_of_dicts(frame, name)
    if hasattr(frame, "__arrow_c_stream__") and not hasattr(frame, "iloc"):
        import pyarrow as pa

        try:
            return dict(pa.table(frame).to_pydict())
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise ArenaError("bad_frame", f"{name} is no Arrow table: {error}", HINT) from error
    if hasattr(frame, "collect"):  # a LazyFrame of polars
        return _raw_columns(frame.collect(), name)
    return _columns_of_pandas(frame, name)


def _columns_of_pandas(frame: Any, name: str) -> Mapping[Any, Sequence[object]]:
    """Return the columns of a pandas DataFrame, whose cells may be of mixed types."""
    if any(getattr(getattr(frame, "index", None), "names", ())):
        frame = frame.reset_index()  # an index with a name is a column

    labels = list(getattr(frame, "columns", ()))
    if not labels or not hasattr(frame, "__getitem__"):
        raise ArenaError("bad_frame", f"{name}, of type {type(frame).__name__}, has no columns", HINT)
    if len(set(labels)) < len(labels):
        raise ArenaError("bad_frame", f"{name} has several columns of one name", "rename them")
    return {label: _cells_as_list(frame[label], name, str(label)) for label in labels}


def _cells_as_list(values: Any, name: str, column: str) -> list[object]:
    """Return the cells of a column as a list."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise ArenaError("bad_frame", f"{name}: column {column} is no list of values", HINT)
    return list(values)


def _columns_of_dicts(rows: Sequence[object], name: str) -> Columns:
    """Return the columns of a list of dicts, some of which may lack a key."""
    dicts = []
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise ArenaError(
                "bad_frame", f"{name}: row {number} is no dict, but of type {type(row).__name__}", HINT
            )
        dicts.append(row)
    columns: Columns = {}
    for label in dict.fromkeys(chain.from_iterable(dicts)):
        columns[label] = [row.get(label) for row in dicts]
    return columns


def _cell_value(value: Any) -> object:
    """Return a cell, or None if it is empty: NaN, NaT, or the missing value of pandas."""
    if value is None or isinstance(value, str):
        return value
    if getattr(value, "ndim", 0) > 0:  # an array
        return value.tolist()
    if isinstance(value, list | tuple):
        return list(value)

    # NaN and NaT don't equal themselves.
    try:
        equals_itself = bool(value == value)
    except TypeError:  # the missing value of pandas is neither true nor false
        return None
    return value if equals_itself else None


def renamed_columns(columns: Columns, renamed: Mapping[str, str], name: str) -> Columns:
    """Return the columns under our names; raise `ArenaError` if one is missing."""
    result = dict(columns)
    for our_name, their_name in renamed.items():
        if their_name not in columns:
            known = ", ".join(columns)
            raise ArenaError("bad_columns", f"{name} has no column {their_name!r}", f"it has {known}")
        result.pop(their_name, None)
        result[our_name] = columns[their_name]
    return result


def joined_column(columns: Columns, frame: object, column: str, name: str) -> Columns:
    """Return the columns with one added from a frame or dict by question; raise `ArenaError` if none fits.

    >>> joined_column({"question": ["rain", "snow"]}, {"rain": 1}, "outcome", "outcomes")
    {'question': ['rain', 'snow'], 'outcome': [1, None]}
    """
    if "question" not in columns:
        raise ArenaError("bad_frame", f"{name} need a column question in the forecasts", "add it")

    # A dict without a list of questions maps each question to its value.
    if isinstance(frame, Mapping) and not isinstance(frame.get("question"), Iterable):
        by_question = {str(question): _cell_value(value) for question, value in frame.items()}
    else:
        given = {plain_name(label): values for label, values in frame_columns(frame, name).items()}
        missing = {"question", column} - given.keys()
        if missing:
            hint = f"it has {', '.join(given)}"
            raise ArenaError("bad_frame", f"{name} has no column {min(missing)}", hint)
        by_question = dict(zip(map(str, given["question"]), given[column], strict=True))

    questions = [str(question) for question in columns["question"]]
    if by_question.keys().isdisjoint(questions):
        message = f"{name} have none of the questions that are forecast"
        raise ArenaError("bad_frame", message, f"a question is named there like {questions[0]!r}")
    return columns | {column: [by_question.get(question) for question in questions]}
