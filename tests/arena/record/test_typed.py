"""Columns are known to mypy: what is wrong with a question is found before it is asked."""

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import assert_type

import pytest
from sqlalchemy import Connection, Text, func
from sqlalchemy.dialects import sqlite

from arena.record.schema.dialects import UtcTime
from arena.record.schema.fields import TableRow, meaning_of
from arena.record.schema.ledger import MarkRow
from arena.record.schema.turn import FillRow, TurnRow
from arena.record.schema.typed import TypedSelect, clause, count, delete, select, update
from arena.record.schema.world import QuoteRow
from tests.rows import read_only

ROOT = Path(__file__).resolve().parents[3]
HEAD = """
from arena.record.schema.turn import FillRow, TurnRow
from arena.record.schema.typed import col, select
"""
FAULTS = {
    "select(TurnRow.statsu)": '"type[TurnRow]" has no attribute "statsu"',
    "select(TurnRow.note + TurnRow.cash)": 'Unsupported operand types for + ("str" and "int")',
    "select(TurnRow.id).where(TurnRow.status == 3)": "Non-overlapping equality check",
    "select(TurnRow.id).where(col(TurnRow.status) == 3)": "Non-overlapping equality check",
    "select(TurnRow.id).where(col(TurnRow.status).in_([3]))": 'incompatible type "int"; expected "str"',
    "select(FillRow.amount > FillRow.reason)": 'Unsupported operand types for > ("int" and "str")',
}


SETTINGS = """
[mypy]
strict = true
[mypy-arena.exports.*]
follow_imports = skip
"""
"""As `make check` has it, but for what `import arena` offers: that is all of it, and takes mypy long."""


def test_mypy_names_each_fault(tmp_path: Path) -> None:
    file = tmp_path / "faults.py"
    settings = tmp_path / "mypy.ini"
    file.write_text(HEAD + "\n".join(FAULTS) + "\n", "utf-8")
    settings.write_text(SETTINGS, "utf-8")
    own = ["--config-file", str(settings), "--cache-dir", os.devnull, str(file)]
    checked = subprocess.run([sys.executable, "-m", "mypy", *own], cwd=ROOT, capture_output=True, text=True)
    errors = [line for line in checked.stdout.splitlines() if ": error: " in line]
    assert len(errors) == len(FAULTS), checked.stdout + checked.stderr
    for number, (fault, said) in enumerate(FAULTS.items(), HEAD.count("\n") + 1):
        assert any(f"faults.py:{number}: " in error and said in error for error in errors), fault


@pytest.fixture
def connection(copy: Path) -> Iterator[Connection]:
    with read_only(copy) as connection:
        yield connection


def test_rows_have_the_types_of_their_columns(connection: Connection) -> None:
    """What `assert_type` says is checked by mypy, with all tests."""
    assert_type(select(TurnRow.status, TurnRow.cash), TypedSelect[str, int])
    assert_type(select(QuoteRow.at, QuoteRow.bid), TypedSelect[datetime, int | None])
    assert_type(select(func.max(TurnRow.cash), count(QuoteRow.bid)), TypedSelect[int, int])
    six = select(FillRow.id, FillRow.side, FillRow.shares, FillRow.quote_at, FillRow.fee, FillRow.left)
    assert_type(six, TypedSelect[int, str, int, datetime, int, str])
    for status, cash in connection.execute(select(TurnRow.status, TurnRow.cash)):
        assert_type(status, str)
        assert_type(cash, int)
        assert (type(status), type(cash)) == (str, int)


def test_a_comparison_of_values_is_a_condition_of_the_question() -> None:
    asked = select(TurnRow.id).where(TurnRow.status == "played", (TurnRow.cash > 3) | (TurnRow.note == ""))
    said = str(asked.compile(dialect=sqlite.dialect()))
    assert said.endswith("WHERE turn.status = ? AND (turn.cash > ? OR turn.note = ?)")
    assert str(update(TurnRow).where(TurnRow.id == 1)).endswith("WHERE turn.id = :id_1")
    assert (
        str(delete(MarkRow).where(MarkRow.entrant_id == 1))
        == "DELETE FROM mark WHERE mark.entrant_id = :entrant_id_1"
    )
    assert str(clause(TurnRow.id == FillRow.turn_id)) == "turn.id = fill.turn_id"


ROWS = TableRow.__subclasses__()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.__name__)
def test_every_column_is_of_the_type_of_its_annotation_and_says_what_it_means(row: type[TableRow]) -> None:
    for name, field in row.model_fields.items():
        column = getattr(row, name).property.columns[0]
        kind = datetime if isinstance(column.type, UtcTime) else str if isinstance(column.type, Text) else int
        meaning = meaning_of(column)
        assert field.annotation == (kind | None if column.nullable else kind), name
        assert meaning.meaning, name
        assert bool(meaning.empty) == column.nullable, name
        unit = f" [{meaning.unit}]" if meaning.unit else ""
        assert field.description == f"{meaning.meaning}{unit}"
