"""Lines as records: an object on each line, or the rows of a table."""

import csv
import json
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

from markets.bundle.files import Numbered, Told
from markets.bundle.mistakes import Unmeant


def json_records(numbered: Numbered, tell: Told) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file with one on each line. Numbers are kept exactly as they are written."""
    for number, text in numbered:
        try:
            record = json.loads(
                text, parse_float=Decimal, parse_constant=_no_number, object_pairs_hook=_each_once
            )
        except Unmeant as error:
            tell(number, error.wrong, error.meant)
        except (ValueError, ArithmeticError, RecursionError):
            tell(number, "no JSON", "one JSON object on the line")
        else:
            if isinstance(record, dict):
                yield number, record
            else:
                tell(number, "JSON that is no object", "one JSON object on the line")


def _no_number(word: str) -> None:
    raise Unmeant(word, "a number")


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise Unmeant("a key that stands twice", "every key once")
    return record


def csv_records(
    numbered: Numbered, needed: Sequence[str], more: Sequence[str], tell: Told
) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a table by the columns that its first row names."""
    rows = _rows(numbered, tell)
    line, columns = next(rows, (0, []))
    if not _are_columns(columns, needed, more, line, tell):
        return
    for number, row in rows:
        if len(row) == len(columns):
            yield number, dict(zip(columns, row, strict=True))
        else:
            tell(number, f"{len(row)} values", f"{len(columns)}, one for each column")


def _rows(numbered: Numbered, tell: Told) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table with the number of the line on which each ends."""
    number = 0

    def texts() -> Iterator[str]:
        nonlocal number
        for line, text in numbered:
            number = line
            yield text

    reader = csv.reader(texts(), strict=True)
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            tell(number, f"no row ({error})", "values with commas between them")
        else:
            yield number, row


def _are_columns(
    columns: Sequence[str], needed: Sequence[str], more: Sequence[str], line: int, tell: Told
) -> bool:
    """Whether a table has all its columns, each once, and no other."""
    missing = [name for name in needed if name not in columns]
    odd = [name for name in columns if name not in (*needed, *more) or columns.count(name) > 1]
    if not missing and not odd:
        return True
    wrong = f"no column {missing[0]}" if missing else f'the column "{odd[0][:40]}"'
    tell(line, wrong, f"{','.join(needed)} and, where known, {','.join(more)}")
    return False
