"""The file formats of an export's tables, one file each: CSV, Parquet, and JSON with one row a line.

A file defines `write(path, columns, rows)`, which writes a new file and returns the number of rows, and
`read(path, columns)`, which yields the rows again. Each row is a tuple in the order of the columns. A format
gets its name and its files' ending in `FORMS` below; `cells.py` has what the formats share.

    def write(path: Path, columns: Sequence[ExportColumn], rows: Iterable[Row]) -> int: ...
    def read(path: Path, columns: Sequence[ExportColumn]) -> Iterator[Row]: ...
    FileForm("csv", ".csv", csv_files.write, csv_files.read)
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.errors import ArenaError
from arena.exports.forms import csv_files, json_lines, parquet_files
from arena.exports.table import ExportColumn, Row

__all__ = ["FORMS", "FileForm", "form_of"]


@dataclass(frozen=True, slots=True)
class FileForm:
    """A file format: its name, the ending of its files, and the functions that write and read them.

    With `has_cards` an export describes itself to catalogues of data sets; with `has_logs` its turns are also
    there as logs of Inspect.
    """

    name: str
    ending: str
    write: Callable[[Path, Sequence[ExportColumn], Iterable[Row]], int]
    read: Callable[[Path, Sequence[ExportColumn]], Iterator[Row]]
    has_cards: bool = False
    has_logs: bool = False


FORMS = {
    "csv": FileForm("csv", ".csv", csv_files.write, csv_files.read),
    "parquet": FileForm("parquet", ".parquet", parquet_files.write, parquet_files.read),
    "json": FileForm("json", ".jsonl", json_lines.write, json_lines.read),
    "dataset": FileForm("dataset", ".parquet", parquet_files.write, parquet_files.read, has_cards=True),
    "inspect": FileForm("inspect", ".parquet", parquet_files.write, parquet_files.read, has_logs=True),
}


def form_of(name: str) -> FileForm:
    """Return the format of that name. Raise `ArenaError` if there is none."""
    if name not in FORMS:
        names = ", ".join(FORMS)
        raise ArenaError("bad_form", f"{name!r} is not an export format", f"forms: {names}")

    return FORMS[name]
