"""Files of series: the forms that are read, and each mistake with its file, its line and its field."""

import json
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from markets.observations import known_values
from markets.venues.wire.series_files import MOST_FAULTS, BadSeries, read_pages, read_series

LATER = datetime(2027, 1, 1, tzinfo=UTC)


def values(file: str, text: str, lag: int | None = None) -> dict[str, list[tuple[str, str]]]:
    """Return a text's dates and values by series, as they were known in the end."""
    found = {}
    for series in read_series(file, text, lag):
        known = known_values(series, LATER)
        found[series.name] = [(str(d), str(v)) for d, v in zip(known.dates, known.values, strict=True)]
    return found


ROWS = [("2026-01-01", "3.91"), ("2026-01-02", "4")]


VINTAGES = """\
realtime_start,realtime_end,date,value
2026-01-02,9999-12-31,2026-01-01,3.91
2026-01-03,2026-01-04,2026-01-02,3
2026-01-05,9999-12-31,2026-01-02,4
"""
OWN_FORM = """\
{"values": [{"date": "2026-01-01", "value": 3.91},
            {"date": "2026-01-02", "value": 4}]}
"""


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("DGS10.csv", "date,value\n2026-01-01,3.91\n2026-01-02,4\n"),
        ("any.csv", "DATE,DGS10\n2026-01-01,3.91\n2026-01-02,4.00\n"),
        ("any.csv", "\ufeffobservation_date,DGS10\r\n2026-01-01,3.91\r\n2026-01-02,4.00\r\n\r\n"),
        ("DGS10.csv", VINTAGES),
        ("DGS10.json", OWN_FORM),
        ("DGS10.json", json.dumps({
            "realtime_start": "2026-03-01", "realtime_end": "2026-03-01", "count": 3,
            "observations": [
                {"realtime_start": "2026-03-01", "date": "2026-01-01", "value": "3.91"},
                {"realtime_start": "2026-03-01", "date": "2026-01-02", "value": "4.00"},
                {"realtime_start": "2026-03-01", "date": "2026-01-03", "value": "."},
            ]})),
    ],
)  # fmt: skip
def test_forms_of_one_series(file: str, text: str) -> None:
    assert values(file, text) == {"DGS10": ROWS}


def test_a_table_may_have_a_column_for_each_series() -> None:
    text = "observation_date,A,B\n2026-01-01,1,.\n2026-01-02,2,5\n"
    assert values("any.csv", text) == {
        "A": [("2026-01-01", "1"), ("2026-01-02", "2")],
        "B": [("2026-01-02", "5")],
    }


def test_dbnomics_has_periods_and_values_side_by_side() -> None:
    doc = {
        "provider_code": "AMECO",
        "dataset_code": "ZUTN",
        "series_code": "EA19.1",
        "series_name": "Unemployment",
        "period": ["2025", "2026"],
        "period_start_day": ["2025-01-01", "2026-01-01"],
        "value": ["NA", 6.25],
    }
    text = json.dumps({"series": {"docs": [doc], "num_found": 1}})
    assert values("any.json", text) == {"AMECO_ZUTN_EA19.1": [("2026-01-01", "6.25")]}
    [series] = read_series("any.json", text, None)
    assert series.page.title == "Unemployment"


@pytest.mark.parametrize(
    ("written", "known_at"),
    [
        ("2026-01-05", "2026-01-06T00:00Z"),
        ("2026-01-05T14:30:00+02:00", "2026-01-05T12:30Z"),
        ("2025-12-01", "2026-01-04T00:00Z"),  # never before its own date begins
    ],
)
def test_a_value_is_known_from_the_end_of_the_day_it_was_published_on(written: str, known_at: str) -> None:
    [series] = read_series("a.csv", f"date,value,published\n2026-01-04,1,{written}\n", None)
    assert series.observations[0].published == datetime.fromisoformat(known_at)
    assert series.has_vintages


def test_a_lag_stands_in_for_a_column() -> None:
    [series] = read_series("a.csv", "date,value\n2026-01-04,1\n", 2)
    assert series.observations[0].published == datetime(2026, 1, 7, tzinfo=UTC)
    assert series.has_vintages
    [series] = read_series("a.csv", "date,value\n2026-01-04,1\n", None)
    assert (series.observations[0].published, series.has_vintages) == (
        datetime(2026, 1, 4, tzinfo=UTC),
        False,
    )


HEAD = "date,value,published\n"
FRED_CUT = '{"count": 3, "observations": [{"date": "2026-01-01", "value": "1"}]}'
UNEVEN = '{"series": {"docs": [{"period_start_day": ["2026-01-01"], "value": []}]}}'
FAULTS = {
    ("a.csv", ""): "a.csv, the whole file: it is empty",
    ("a.csv", "<!DOCTYPE html>"): "a.csv, line 1: it is a web page, no table",
    ("a.csv", "day,value\n"): "a.csv, line 1, date: there is no such column among day, value",
    ("a.csv", "date,published\n"):
        "a.csv, line 1, value: there is no such column, and none named as a series",
    ("a.csv", "date,value,Value\n"): "a.csv, line 1, value: the column is there twice",
    ("a.csv", "date,value\n"): "a.csv, the whole file, value: it has no values",
    ("a.csv", "date,value\n2026-01-01\n"): "a.csv, line 2: it has 1 fields, and the head 2",
    ("a.csv", 'date,value\n"2026-01-01,1\n'): "a.csv, line 2: it is no CSV: unexpected end of data",
    ("a.csv", f"{HEAD}2026-02-30,1,\n"): "a.csv, line 2, date: '2026-02-30' is not a date like 2026-01-04",
    ("a.csv", f"{HEAD}20260201,1,\n"): "a.csv, line 2, date: '20260201' is not a date like 2026-01-04",
    ("a.csv", f"{HEAD}2026-01-01,1,\n2026-01-02,x1,\n"):
        "a.csv, line 3, value: 'x1' is not a number like 3.91, without signs for thousands",
    ("a.csv", 'date,A\n2026-01-01,"1,234"\n'):
        "a.csv, line 2, A: '1,234' is not a number like 3.91, without signs for thousands",
    ("a.csv", f"{HEAD}2026-01-01,1e30,\n"): "a.csv, line 2, value: '1e30' is too large",
    ("a.csv", f"{HEAD}2026-01-01,inf,\n"):
        "a.csv, line 2, value: 'inf' is not a number like 3.91, without signs for thousands",
    ("a.csv", f"{HEAD}2026-01-01,1,soon\n"): "a.csv, line 2, published: 'soon' is not a date like 2026-01-04",
    ("a.csv", f"{HEAD}2026-01-01,1,2026-01-01T12:00\n"):
        "a.csv, line 2, published: '2026-01-01T12:00' is not a time with a time zone",
    ("a.csv", f"{HEAD}2026-01-01,1,\n2026-01-01,2,\n"):
        "a.csv, line 3, date: 2026-01-01 is there twice with one time of publication, first at 2",
    ("a b.csv", "date,value\n2026-01-01,1\n"):
        "a b.csv, name: 'a b' is no name: letters, digits, dot, dash, underscore",
    ("a.json", '{"values": [{"date": "2026-01-01",\n "va'):
        "a.json, line 2: it is no whole JSON: Unterminated string starting at",
    ("a.json", "[1]"): "a.json, the whole file: it is a list, and not an object with observations or values",
    ("a.json", "{}"): "a.json, the whole file, values: None is not a list",
    ("a.json", '{"values": [], "titel": ""}'):
        "a.json, the whole file, titel: the form has values, and nothing beside them",
    ("a.json", '{"values": [7]}'): "a.json, values 1: 7 is not an object",
    ("a.json", '{"values": [{"date": "2026-01-01", "value": 1, "publised": ""}]}'):
        "a.json, values 1, publised: it is none of date, value, published",
    ("a.json", '{"values": [{"date": "2026-01-01"}]}'):
        "a.json, values 1, value: 'no value' is not a number like 3.91, without signs for thousands",
    ("a.json", '{"values": [{"date": "2026-01-01", "value": true}]}'):
        "a.json, values 1, value: True is not a number",
    ("a.json", FRED_CUT): "a.json, the whole file, observations: it has 1 of 3",
    ("a.json", UNEVEN): "a.json, docs 1, period_start_day, value: they are not two lists of the same length",
}  # fmt: skip


@pytest.mark.parametrize("case", FAULTS, ids=lambda case: FAULTS[case][:50])
def test_a_mistake_is_told_with_its_place(case: tuple[str, str]) -> None:
    with pytest.raises(BadSeries) as told:
        read_series(*case, None)
    assert told.value.faults[0].words == FAULTS[case]


def test_all_mistakes_of_a_file_are_told_up_to_a_number() -> None:
    with pytest.raises(BadSeries) as told:
        read_series("a.csv", HEAD + "x,y,\n" * 100, None)
    assert len(told.value.faults) == MOST_FAULTS
    assert [(fault.line, fault.field) for fault in told.value.faults[:3]] == [
        (2, "date"),
        (2, "value"),
        (3, "date"),
    ]


PAGE_FAULTS = {
    "[]": "about.json, the whole file: it is not an object of series by their names",
    '{"a": 1}': "about.json, a: 1 is not an object",
    '{"a": {"titel": "x"}}': "about.json, a, titel: it is none of title, unit, about, category, asks",
    '{"a": {"title": 1}}': "about.json, a, title: 1 is not text",
    '{"a": {"asks": "rise"}}': "about.json, a, asks: 'rise' is not a list of templates",
    '{"a": {"asks": ["up"]}}': "about.json, a, asks: 'up' is no template; "
    "take rise, fall-0.1, rise-10pct, above-4 or below-4",
}


@pytest.mark.parametrize("text", PAGE_FAULTS)
def test_a_mistake_in_what_is_said_of_series_is_told(text: str) -> None:
    with pytest.raises(BadSeries) as told:
        read_pages("about.json", text)
    assert told.value.faults[0].words == PAGE_FAULTS[text]


def test_numbers_are_exact() -> None:
    text = '{"values": [{"date": "2026-01-01", "value": 0.1}, {"date": "2026-01-02", "value": 1.5e-05}]}'
    [series] = read_series("a.json", text, None)
    assert [seen.value for seen in series.observations] == [Decimal("0.1"), Decimal("0.000015")]
