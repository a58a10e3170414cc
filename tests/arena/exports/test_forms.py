"""Any value that a record can hold comes back from each form as it was."""

import csv
import tempfile
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import ArenaError
from arena.exports.forms import FORMS
from arena.exports.forms.cells import FORMULAS, from_text_cell, text_cell
from arena.exports.table import ExportColumn, Row

COLUMNS = (
    ExportColumn("word", "text", "a text"),
    ExportColumn("maybe", "text", "a text or none", empty="none"),
    ExportColumn("count", "whole", "a number"),
    ExportColumn("some", "whole", "a number or none", empty="none"),
    ExportColumn("at", "time", "an instant"),
    ExportColumn("until", "time", "an instant or none", empty="none"),
    ExportColumn("share", "number", "a float or none", empty="none"),
)
ODD = (
    *("", "'", "''", '"', '""', "=1+1", "+1", "-1", "@x", "\t", "\r", "\n", "\r\n", "a,b", " x ", "\0", "é"),
    *("🎲", "None", "null", "NaN", "\u2028", "\ufeff", "\x1a", "\\", "\\N", "'=1", "＝1", "a\nb", "=A1()"),
)
texts = st.lists(st.text(max_size=8) | st.sampled_from(ODD), max_size=4).map("".join)
numbers = st.integers(-(2**63), 2**63 - 1)
times = st.datetimes(timezones=st.just(UTC))
floats = st.floats(allow_nan=False, allow_infinity=False)
rows = st.tuples(
    texts, st.none() | texts, numbers, st.none() | numbers, times, st.none() | times, st.none() | floats
)


def there_and_back(form: str, values: list[Row]) -> list[Row]:
    """Return rows that were written to a file and read again."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows"
        assert FORMS[form].write(path, COLUMNS, values) == len(values)
        return list(FORMS[form].read(path, COLUMNS))


@pytest.mark.parametrize("form", FORMS)
@given(values=st.lists(rows, max_size=4))
def test_every_row_comes_back_as_it_was(form: str, values: list[Row]) -> None:
    assert there_and_back(form, values) == values


@given(texts)
def test_no_spreadsheet_takes_a_text_for_a_formula_and_the_text_can_be_had_again(text: str) -> None:
    cell = text_cell(text)
    assert not cell.startswith(tuple(set(FORMULAS) - {"'"}))
    assert from_text_cell(cell) == text
    assert cell in (text, f"'{text}")


def test_the_cells_of_a_file_are_those_that_a_reader_of_csv_sees(tmp_path: Path) -> None:
    at = datetime(2026, 1, 4, tzinfo=UTC)
    FORMS["csv"].write(
        tmp_path / "x", COLUMNS, [('=1+"1"', "", -5, None, at, None, 0.1), ("a", None, 0, 0, at, at, -1.5)]
    )
    with (tmp_path / "x").open(newline="", encoding="utf-8") as file:
        found = list(csv.reader(file))
    assert found[1] == ['\'=1+"1"', "'", "-5", "", "2026-01-04T00:00:00.000000Z", "", "0.1"]
    assert found[2][:4] == ["a", "", "0", "0"]


def test_a_cell_as_long_as_a_prompt_is_read() -> None:
    row = ("x" * 3_000_000, "=" * 200_000, 1, None, datetime(2026, 1, 4, tzinfo=UTC), None, None)
    for form in FORMS:
        assert there_and_back(form, [row]) == [row]
    assert csv.field_size_limit() < 200_000  # which is as it was before


def test_two_files_are_read_by_turns_with_long_cells(tmp_path: Path) -> None:
    long = ("x" * 200_000, "", 1, None, datetime(2026, 1, 4, tzinfo=UTC), None, None)
    for name, count in (("a", 1), ("b", 3)):
        FORMS["csv"].write(tmp_path / name, COLUMNS, [long] * count)
    both = [FORMS["csv"].read(tmp_path / name, COLUMNS) for name in ("a", "b")]
    assert len(list(zip_longest(*both))) == 3
    assert csv.field_size_limit() < 200_000


@pytest.mark.parametrize("form", FORMS)
def test_a_text_that_is_none_is_told_by_its_row(form: str) -> None:
    good = ("a", None, 1, None, datetime(2026, 1, 4, tzinfo=UTC), None, None)
    with pytest.raises(ArenaError, match=r"row \d: a text is not valid UTF-8"):
        there_and_back(form, [good, ("\ud800", *good[1:])])
