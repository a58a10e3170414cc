"""The record from Python: what the page shows works, and rows are those of an export."""

import re
import subprocess
import sys
from contextlib import closing
from dataclasses import fields
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sqlmodel import col, select

import arena
from arena.errors import ArenaError
from arena.exports.api import RecordedFill, RecordedForecast, RecordedTurn
from arena.exports.computed_tables import COMPUTED
from arena.exports.fact_tables import FACT, FACTS
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
    "ann and bob cannot be told apart yet",
    "ann: 70% sure of a side in fewer than 20 events.\n",
    "True\n",
)


@pytest.mark.parametrize(
    ("example", "told"),
    list(zip(EXAMPLES, TOLD, strict=True)),
    ids=("forecasts", "tables", "replay"),
)
def test_the_examples_of_the_page_work(
    record: Path, example: str, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(record.parent)
    monkeypatch.setenv("MPLBACKEND", "Agg")
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


def test_every_table_is_had_as_arrow_with_floats_beside_millionths(record: Path) -> None:
    with arena.open_record(record) as opened:
        for table in (*FACTS, *COMPUTED):
            sheet = table.sheet
            frame = opened.frame(sheet.name)
            millionths = [x.name for x in sheet.columns if x.unit.startswith("millionths")]
            expected = [column.name for column in sheet.columns]
            assert frame.column_names == expected + [f"{name}_float" for name in millionths], sheet.name
        marks = opened.frame("marks", cohort=1).to_pandas()
        assert set(marks["cohort"]) == {1}
        assert marks["cash_float"].tolist() == (marks["cash"] / 1_000_000).tolist()
        assert {opened.frame("leaderboard", cohort=2)["cohort"][-1].as_py()} == {2}
        with pytest.raises(ArenaError, match="there is no table 'mark'"):
            opened.frame("mark")
        with pytest.raises(ArenaError, match="there is no cohort 3 here"):
            opened.frame("marks", cohort=3)


def test_calibration_is_had_of_every_agent_and_of_the_price(record: Path) -> None:
    with arena.open_record(record) as opened:
        told = opened.calibration()
        assert [one.agent for one in told] == ["ann", "bob", "eve", "zoe", "market"]
        assert sum(decile.rows for decile in told[0].diagram.deciles) == told[0].scored == 3
        assert told[0].sentence == "ann: 70% sure of a side in fewer than 20 events."
        assert len(opened.calibration(cohort=2)) < len(told)
        with pytest.raises(ArenaError, match="there is no cohort 3 here"):
            opened.calibration(3)


MINE: dict[str, list[Any]] = {
    "question": ["<i>rain", "<i>rain", "snow", "snow", "vote"],
    "forecaster": ["ann", "bob", "ann", "bob", "ann"],
    "probability": [0.8, 0.4, 0.1, 0.2, 0.5],
    "outcome": [1, 1, 0, 0, None],
    "market_probability": [0.6, 0.6, float("nan"), 0.2, None],
    "time": [date(2026, 1, 4)] * 5,
}
FRAMES: dict[str, Any] = {
    "columns": MINE,
    "dicts": pd.DataFrame(MINE).to_dict("records"),
    "pandas": pd.DataFrame(MINE),
    "nullable": pd.DataFrame(MINE).convert_dtypes(),
    "indexed": pd.DataFrame(MINE).set_index("question"),
    "series": dict(pd.DataFrame(MINE)),
    "polars": pl.DataFrame(MINE),
    "lazy": pl.LazyFrame(MINE),
    "arrow": pa.table(MINE),
    "batches": pa.table(MINE).to_reader(),
    "mixed": pd.DataFrame(MINE | {"outcome": ["yes", 1, False, 0.0, None]}),
}
EXPECTED = arena.score(MINE)


@pytest.mark.parametrize("kind", FRAMES)
def test_forecasts_are_scored_whatever_holds_them(kind: str) -> None:
    found = arena.score(FRAMES[kind])
    assert found == EXPECTED
    assert [row.forecaster for row in found.rows] == ["ann", "bob"]
    assert [row.brier for row in found.rows] == pytest.approx([0.025, 0.2])
    assert "not scored yet: 1 forecast on 1 question without an outcome" in found.notes


@pytest.mark.parametrize(
    "outcomes",
    [
        {"<i>rain": 1, "snow": 0, "vote": float("nan"), "more": 1},
        pd.DataFrame({"Question": ["<i>rain", "snow"], "outcome": [1, 0]}),
        pl.DataFrame({"question": ["<i>rain", "snow"], "outcome": [1, 0]}),
    ],
    ids=["dict", "pandas", "polars"],
)
def test_outcomes_and_prices_may_stand_by_themselves(outcomes: object) -> None:
    mine = pd.DataFrame(MINE).drop(columns=["outcome", "market_probability"])
    assert arena.score(mine, outcomes=outcomes).rows[0].brier == EXPECTED.rows[0].brier
    prices = {"<i>rain": 0.6, "snow": 0.2}
    assert arena.score(mine, outcomes=outcomes, prices=prices).rows[0].skill == pytest.approx(0.075)


def test_the_choices_are_those_of_the_command() -> None:
    named = pd.DataFrame(MINE).rename(columns={"question": "title"})
    columns = {"question": "title"}
    assert arena.score(named, columns=columns).rows == EXPECTED.rows
    found = arena.score(MINE, mode="metaculus", rule="metaculus", against="bob", outside=["bob"])
    assert (found.mode, found.rows[0].forecaster, found.rows[0].gap is None) == ("metaculus", "ann", False)
    assert [row.forecaster for row in arena.score(MINE, community=True).rows][2:] == ["community"]
    assert arena.score(MINE | {"category": ["a"] * 5}, by="category").rows[0].category == "a"


BAD_FRAMES: list[Any] = [
    None, 3, "forecasts.csv", [1], [], {}, {"question": 3}, {"question": "rain"}, pd.DataFrame(),
    pd.DataFrame(MINE).to_numpy(), pd.DataFrame(MINE)["question"], object(), MINE | {"probability": [2] * 5},
    MINE | {"outcome": [1]}, pd.concat([pd.DataFrame(MINE)] * 2, axis=1), [{}], pd.DataFrame(MINE).T,
    pl.Series([1]), pl.DataFrame(), pa.table({}), pa.array([1]),
]  # fmt: skip
BAD_CHOICES: list[dict[str, Any]] = [
    {"mode": "fast"}, {"rule": 3}, {"by": "day"}, {"by": "category"}, {"against": "zoe"}, {"outside": "ann"},
    {"outside": 3}, {"outside": ["zoe"]}, {"columns": {"question": "titel"}}, {"columns": "question=title"},
    {"outcomes": 3}, {"outcomes": {}}, {"prices": [1]}, {"prices": {"question": ["rain"]}},
]  # fmt: skip


@pytest.mark.parametrize("frame", BAD_FRAMES, ids=range(len(BAD_FRAMES)))
def test_what_is_no_table_of_forecasts_is_said(frame: object) -> None:
    with pytest.raises(ArenaError) as error:
        arena.score(frame)
    assert error.value.hint


@pytest.mark.parametrize("choices", BAD_CHOICES, ids=map(str, BAD_CHOICES))
def test_a_choice_that_there_is_not_is_said(choices: dict[str, Any]) -> None:
    with pytest.raises(ArenaError) as error:
        arena.score(MINE, **choices)
    assert error.value.hint


def test_scores_are_short_where_they_are_shown(record: Path) -> None:
    hostile = MINE | {"forecaster": ["<script>", "bob", "<script>", "bob", "<script>"]}
    found = arena.score(hostile)
    with arena.open_record(record) as opened:
        board = opened.score()
    assert repr(found).startswith("<FileReport of 2 forecasters: <script> and bob cannot be told apart yet")
    assert repr(board).startswith("<Leaderboard of 5 agents: ann: ")
    shown = found._repr_html_()
    assert "<script>" not in shown
    assert shown.count("<td>&lt;script&gt;</td>") == 1
    assert board._repr_html_().count("<tr>") == 6


def test_all_that_there_is_can_be_listed() -> None:
    assert dir(arena) == ["Change", "open_record", "score"]
    assert all(getattr(arena, name) for name in dir(arena))
