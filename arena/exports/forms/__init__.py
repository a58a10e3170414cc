"""The forms of an export's tables: CSV, Parquet, JSON by the line. Each writes rows and reads them back."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.errors import ArenaError
from arena.exports.forms import csv_files, json_lines, parquet_files
from arena.exports.table import ExportColumn, Row

__all__ = ["FORMS", "FileForm", "form_of"]


@dataclass(frozen=True, slots=True)
class FileForm:
    """How tables are written: `write` says how many rows it were, `read` gives them one by one."""

    name: str
    ending: str
    write: Callable[[Path, Sequence[ExportColumn], Iterable[Row]], int]
    read: Callable[[Path, Sequence[ExportColumn]], Iterator[Row]]


FORMS = {
    form.name: form
    for form in (
        FileForm("csv", ".csv", csv_files.write, csv_files.read),
        FileForm("parquet", ".parquet", parquet_files.write, parquet_files.read),
        FileForm("json", ".jsonl", json_lines.write, json_lines.read),
    )
}


def form_of(name: str) -> FileForm:
    """The form of that name."""
    if name not in FORMS:
        known = ", ".join(FORMS)
        raise ArenaError("bad_form", f"{name!r} is not an export format", f"forms: {known}")
    return FORMS[name]
