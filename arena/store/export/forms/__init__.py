"""The forms of an export's tables: CSV, Parquet, JSON by the line. Each writes rows and reads them back."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.errors import ArenaError
from arena.store.export.forms import by_csv, by_json, by_parquet
from arena.store.export.sheet import Column, Row

__all__ = ["FORMS", "Form", "form_of"]


@dataclass(frozen=True, slots=True)
class Form:
    """How tables are written: `write` says how many rows it were, `read` gives them one by one."""

    name: str
    ending: str
    write: Callable[[Path, Sequence[Column], Iterable[Row]], int]
    read: Callable[[Path, Sequence[Column]], Iterator[Row]]


FORMS = {
    form.name: form
    for form in (
        Form("csv", ".csv", by_csv.write, by_csv.read),
        Form("parquet", ".parquet", by_parquet.write, by_parquet.read),
        Form("json", ".jsonl", by_json.write, by_json.read),
    )
}


def form_of(name: str) -> Form:
    """The form of that name."""
    if name not in FORMS:
        known = ", ".join(FORMS)
        raise ArenaError("bad_form", f"{name!r} is no form of an export", f"forms: {known}")
    return FORMS[name]
