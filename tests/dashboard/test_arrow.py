"""Tables and charts as they are sent: what pyarrow's and Streamlit's own ways would send, without pandas."""

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import altair as alt
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as some
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.testing.v1 import AppTest

from dashboard.arrow import arrow, of_rows
from dashboard.charts.operations import daily_cost
from dashboard.model import PnlPoint
from dashboard.palette import looks

START = datetime(2026, 1, 4, tzinfo=UTC)
LOOKS = looks([("market", "market"), ("ann", "llm"), ("ben", "llm")])
TEXT = some.text(some.characters(codec="utf-8"), max_size=5)
KINDS = (
    TEXT,
    some.booleans(),
    some.integers(-(2**63), 2**63 - 1),
    some.floats(allow_nan=False),
    some.datetimes(timezones=some.just(UTC)),
)
COLUMN = some.one_of(*(some.lists(some.none() | kind, max_size=20) for kind in KINDS))


@given(COLUMN)
def test_a_column_says_what_pyarrow_would_have_it_say(values: list[Any]) -> None:
    ours = arrow({"a": values})
    ours.validate(full=True)
    assert ours.to_pydict() == pa.table({"a": values}).to_pydict()


def test_whole_numbers_among_others_are_numbers_as_they_are() -> None:
    found = arrow({"a": [1, 2.5, None]})
    assert (str(found.schema.field("a").type), found.to_pydict()) == ("double", {"a": [1.0, 2.5, None]})


def test_an_instant_is_the_same_in_whatever_zone_it_is_told() -> None:
    told = START.astimezone(tz=None) + timedelta(microseconds=1)
    assert arrow({"at": [told]}).to_pydict() == {"at": [START + timedelta(microseconds=1)]}


def test_a_table_without_rows_or_columns_is_one() -> None:
    assert arrow({}).shape == (0, 0)
    assert arrow({"a": [], "b": []}).shape == (0, 2)


def test_text_that_no_encoding_knows_spoils_nothing() -> None:
    assert arrow({"a": ["half \ud800 a pair"]}).to_pydict() == {"a": ["half ? a pair"]}


def test_what_a_row_leaves_out_it_does_not_have() -> None:
    assert of_rows([{"x": 1}, {"y": "b"}]).to_pylist() == [{"x": 1, "y": None}, {"x": None, "y": "b"}]


def test_values_of_two_kinds_are_no_column() -> None:
    with pytest.raises(TypeError):
        arrow({"a": [1, "two"]})


def sides(chart: "Any") -> None:  # run as a script of its own: it imports what it needs
    import streamlit as st

    from dashboard.chart import draw

    st.altair_chart(chart, alt="theirs")
    draw(chart, says="ours")


POINTS = [PnlPoint("ann", START, -500.0, -5.0), PnlPoint("ben", START + timedelta(days=7), 1250.0, 12.5)]
CHARTS = (daily_cost([(START, 1_500_000)]),)


@pytest.mark.parametrize("chart", CHARTS)
def test_a_chart_is_sent_as_streamlit_would_send_it(chart: alt.Chart) -> None:
    page = AppTest.from_function(sides, args=(chart,)).run()
    assert not page.exception
    theirs, ours = (element.proto for element in page.get("vega_lite_chart"))
    assert json.loads(ours.spec) == json.loads(theirs.spec)
    assert rows(ours) == rows(theirs)
    assert rows(ours)


def rows(sent: Any) -> dict[str, list[list[Any]]]:
    """Each set of data of a chart: its columns and rows, with None for whatever pandas has for it."""
    tables = {data.name: convert_arrow_bytes_to_pandas_df(data.data.data) for data in sent.datasets}
    return {name: [list(table), *_filled(table)] for name, table in tables.items()}


def _filled(table: Any) -> list[list[Any]]:
    filled: list[list[Any]] = table.astype(object).where(table.notna(), None).to_numpy().tolist()
    return filled


FIRST = """
import sys
from streamlit.testing.v1 import AppTest
from dashboard.serve import know_components
know_components()
page = AppTest.from_string("from dashboard.app import main; main()", default_timeout=60).run()
drawn = len(page.get("bidi_component"))
print(len(page.exception), drawn, len(page.get("vega_lite_chart")), "pandas" in sys.modules)
"""


def test_the_first_page_is_drawn_without_pandas(season: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_DATABASE", str(season))
    said = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["0", "3", "0", "False"]
