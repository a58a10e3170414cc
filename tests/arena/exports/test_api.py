"""The record from Python: what the page shows works, and rows are those of an export."""

import re
import subprocess
import sys
from contextlib import closing
from dataclasses import fields
from pathlib import Path

import pytest
from sqlmodel import col, select

import arena
from arena.errors import ArenaError
from arena.exports.api import RecordedFill, RecordedForecast, RecordedTurn
from arena.exports.fact_tables import FACT
from arena.record.schema.cohort import PromptRow
from arena.record.schema.turn import TurnRow
from tests.records.full_record import build
from tests.rows import rows_in

ROOT = Path(__file__).parents[3]
EXAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text("utf-8"), re.DOTALL)


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("api") / "arena.db"
    with closing(build(path)):
        return path


TOLD = (
    "1 1 ann sim:sun 0.6\n",
    "True\n",
    "ann stated 7 probabilities\n",
    "No agent is told apart from another yet",
)


@pytest.mark.parametrize(
    ("example", "told"), list(zip(EXAMPLES, TOLD, strict=True)), ids=("rows", "figures", "session", "columns")
)
def test_the_examples_of_the_page_work(
    record: Path, example: str, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(record.parent)
    exec(compile(example, "docs/python.md", "exec"), {})
    out = capsys.readouterr().out
    assert told in out
    assert "False" not in out


def test_rows_have_the_columns_of_an_export() -> None:
    for row, each in (
        (RecordedForecast, FACT["forecasts"]),
        (RecordedTurn, FACT["turns"]),
        (RecordedFill, FACT["fills"]),
    ):
        names = [column.name for column in each.sheet.columns]
        assert [field.name for field in fields(row)] == names


def test_rows_are_of_all_cohorts_or_of_one(record: Path) -> None:
    with arena.open_record(record) as opened:
        assert next(opened.forecasts()) == RecordedForecast(1, 1, "ann", "sim:sun", "blind", 500_000, "")
        assert {turn.cohort for turn in opened.turns()} == {1, 2}
        assert [fill.agent for fill in opened.fills(cohort=2) if fill.action == "sell"] == ["ann"]
        assert {line.agent for line in opened.score(2).rows} == {"ann", "zoe", "market"}
        with pytest.raises(ArenaError, match="there is no cohort 3 here"):
            opened.turns(cohort=3)


def test_a_replay_gives_every_ledger_again(record: Path) -> None:
    with arena.open_record(record) as opened:
        assert all(row.exact for row in opened.replay().rows)


def test_a_session_finds_the_rows_that_sqlite_has(record: Path) -> None:
    expected = rows_in(record, 'SELECT status, cash, orders FROM "turn" ORDER BY id')
    with arena.open_record(record) as opened, opened.session() as session:
        turns = session.exec(select(TurnRow).order_by(col(TurnRow.id))).all()
        assert [(turn.status, turn.cash, turn.orders) for turn in turns] == expected
        assert isinstance(turns[0], TurnRow)


def test_a_session_writes_nothing(record: Path) -> None:
    before = record.read_bytes()
    with arena.open_record(record) as opened, opened.session() as session:
        session.add(PromptRow(hash="h", text="forged"))
        with pytest.raises(ArenaError, match="can only be read"):
            session.commit()
    assert record.read_bytes() == before


def test_nothing_is_loaded_before_it_is_asked_for() -> None:
    code = "import sys, arena; print(sorted({'sqlalchemy', 'numpy', 'arena.exports.api'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]", done.stderr
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        arena.nothing  # noqa: B018 - to ask is what is tested


def test_it_says_where_there_is_no_record(tmp_path: Path) -> None:
    with pytest.raises(ArenaError, match="there is no record at"), arena.open_record(tmp_path / "none.db"):
        pass
