"""Files of forecasts are read strictly: what is wrong is named by line and column, with a hint."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import ArenaError
from arena.scores.files import tournament
from arena.scores.files.forecasts import COLUMNS, read_forecasts
from arena.scores.files.scores import score_file

HEAD = "question,forecaster,probability,outcome"
TIMED = f"{HEAD},time,open,close,scheduled_close"


def csv(*lines: str) -> str:
    return "\n".join(lines) + "\n"


def refused(text: str) -> str:
    """Return the error of a file that can't be scored, with its hint."""
    with pytest.raises(ArenaError) as caught:
        read_forecasts("f.csv", text)
    assert caught.value.hint
    return str(caught.value)


def test_a_good_file() -> None:
    table = read_forecasts(
        "f.csv",
        csv(f"{HEAD},market_probability", "snow,bob,0.25,0,", "rain, ann ,1,,0.5", "odd,ann,0.1,0.5,1"),
    )
    assert table.questions == ("odd", "rain", "snow")
    assert table.forecasters == ("ann", "bob")
    assert table.question.tolist() == [0, 1, 2]
    assert table.probability.tolist() == [0.1, 1.0, 0.25]
    assert np.array_equal(table.outcome, [0.5, np.nan, 0.0], equal_nan=True)
    assert table.market is not None
    assert np.array_equal(table.market, [1.0, 0.5, np.nan], equal_nan=True)
    assert (table.time, table.category, table.event_column) == (None, None, False)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_as_they_like_and_blank_ones_are_skipped(end: str) -> None:
    table = read_forecasts("f.csv", end.join([HEAD, '"rain, hard",ann,0.5,1', "", "snow,ann,0.5,1"]))
    assert table.questions == ("rain, hard", "snow")


BAD = [
    ("", "f.csv: the file is empty"),
    (" \n", "f.csv: the file is empty"),
    (HEAD, "f.csv: it has no forecasts"),
    ("question,forecaster,probability\na,b,0.1", "f.csv:1: there is no column outcome"),
    (
        f"{HEAD},markt_probability\na,b,0.1,1,0.5",
        "f.csv:1: column markt_probability: it is unknown; did you mean",
    ),
    (HEAD.replace(",", "/"), "f.csv:1: there is no column question"),
    (f"{HEAD},outcome\na,b,0.1,1,1", "f.csv:1: column outcome: it appears twice"),
    (f"{HEAD}\na,b,0.1", "f.csv:2: it has 3 cells, the first line 4"),
    (f'{HEAD}\na,b,0.1,1\n"a,c,0.1,1', "f.csv:3: invalid CSV"),
    (f'{HEAD}\n"two\nlines",b,0.1,1\na,b,2,1', "f.csv:4: column probability: '2' is not from 0 to 1"),
    (
        f"{HEAD}\na,b,1.01,1\nc,b,-0.1,1\nd,b,0.1,1",
        "f.csv:2: column probability: '1.01' is not from 0 to 1",
    ),
    (f"{HEAD}\na,b,1e999,1", "f.csv:2: column probability: '1e999' is not a number"),
    (f"{HEAD}\na,b,0.5,NaN", "f.csv:2: column outcome: 'NaN' is not a number"),
    (
        f"{HEAD}\na,b,0.5,1\nc,b,0.5,1\na,b,0.6,1",
        "f.csv:4: column forecaster: 'b' has forecast the same question in line 2",
    ),
    (
        f"{HEAD},market_probability\na,b,0.5,1,1.5",
        "f.csv:2: column market_probability: '1.5' is not from 0 to 1",
    ),
    (f"{HEAD},time\na,b,0.5,1,", "f.csv:2: column time: it is empty"),
    (f"{TIMED}\na,b,0.5,1,1,2,3,3", "f.csv:2: column time: '1' is before its open, '2'"),
    (f"{TIMED}\na,b,0.5,1,2,2,1,5", "f.csv:2: column close: '1' is before its open, '2'"),
    (f"{TIMED}\na,b,0.5,1,2,2,2,2", "f.csv:2: column scheduled_close: '2' is before the question opens"),
    (f"{TIMED}\na,b,0.5,1,2,2,3,1", "f.csv:2: column scheduled_close: '1' is before its open, '2'"),
    (f"{TIMED}\na,b,0.5,1,2,2,,3", "f.csv:2: column close: it is empty, and the question has an outcome"),
    (
        f"{HEAD},time,close\na,b,0.5,1,2,2",
        "f.csv:2: column close: '2' is before the question opens, with its first",
    ),
]


@pytest.mark.parametrize(("text", "said"), BAD, ids=[said for _, said in BAD])
def test_a_bad_file_is_refused(text: str, said: str) -> None:
    assert refused(text).startswith(said)


CELL = st.sampled_from(["a", "b", "0", "1", "1", "0.5", "", "nan", "2", '"', "2026-01-04", "\x00", "é"])
MORE = st.lists(st.sampled_from([*COLUMNS[4:], "colour"]), max_size=4, unique=True)
ROWS = st.lists(st.lists(CELL, min_size=8, max_size=8), min_size=1, max_size=3)


@given(MORE, ROWS, st.sampled_from([0, 0, 0, 1]))
def test_whatever_is_in_a_file_it_is_scored_or_refused(
    more: list[str], rows: list[list[str]], torn: int
) -> None:
    width = 4 + len(more) - torn
    check_scored_or_refused("\n".join([",".join([HEAD, *more]), *(",".join(row[:width]) for row in rows)]))


TIME = st.sampled_from(["0", "1", "2", "3", ""])


@given(
    st.lists(
        st.tuples(
            *(st.sampled_from(x) for x in ("ab", "xyz", ["0", "0.3", "1"], ["0", "1", ""])), *[TIME] * 4
        ),
        min_size=1,
        max_size=5,
    )
)
def test_whatever_the_times_a_file_is_scored_or_refused(rows: list[tuple[str, ...]]) -> None:
    check_scored_or_refused("\n".join([TIMED, *(",".join(row) for row in rows)]))


def check_scored_or_refused(text: str) -> None:
    """Check that a file gets a board in both modes, or an error that says what is wrong with it."""
    try:
        table = read_forecasts("f.csv", text)
    except ArenaError as error:
        said = str(error)
        hint = error.hint
    else:
        said, hint = "f.csv is scored", "nothing"
        assert score_file(table).rows
        assert score_file(table, "metaculus").rows
    assert said.startswith("f.csv")
    assert hint


def test_an_open_question_has_no_close_yet() -> None:
    table = read_forecasts("f.csv", csv(TIMED, "a,b,0.5,,2,1,,9", "a,b,0.6,,3,1,,9"))
    assert table.close is not None
    assert np.isnan(table.close).all()


ENTRIES = [
    ("question,forecaster,probability\na,b,0.1", "f.csv:1: it lacks what was forecast"),
    (f"{HEAD},chance\na,b,0.1,1,0.1", "f.csv:1: it lacks what was forecast"),
    ("question,forecaster,chance\na,b,0", "f.csv:2: column chance: '0' is not above 0"),
    ("question,forecaster,chance,time\na,b,1,0", "f.csv:1: there is a column time and none named close"),
    (
        "question,forecaster,chance,time,close,end\na,b,1,3,9,2",
        "f.csv:2: column end: '2' is before its time, '3'",
    ),
    (f"{HEAD}\na,b,0.5,1\na,b,0.6,1", "f.csv:3: column forecaster: 'b' has forecast the same question"),
    (f"{HEAD}\na,b,0.5,1\na,c,0.6,0", "f.csv:3: column outcome: '0', but the same question has '1'"),
]


@pytest.mark.parametrize(("text", "said"), ENTRIES, ids=[said for _, said in ENTRIES])
def test_a_bad_file_of_a_tournament_is_refused(text: str, said: str) -> None:
    with pytest.raises(ArenaError) as caught:
        tournament.read_entries("f.csv", text)
    assert str(caught.value).startswith(said)
    assert caught.value.hint


def test_a_forecast_stands_until_the_next_or_until_it_is_withdrawn() -> None:
    head = "question,forecaster,chance,time,close,end"
    found = tournament.read_entries(
        "f.csv", csv(head, "a,b,1,0,9,", "a,b,2,3,9,8", "a,c,1,0,9,", "a,b,3,1,9,2")
    )
    assert found.end.tolist() == [1, 8, np.inf, 2]


def test_a_large_plain_file_is_read_as_one_with_quotes() -> None:
    """Large files have a faster reader; a single quote in the header leads to the other."""
    lines = [f"q{row // 9}, f{row % 9} ,0.{row % 97:02}0,{row // 9 % 2},{'x' * 60}" for row in range(18_000)]
    lines[5] = ""
    plain = "\r\n".join([f"{HEAD},note", *lines, ""])
    fast = read_forecasts("f", plain)
    slow = read_forecasts("f", plain.replace("question", '"question"', 1))
    assert (fast.questions, fast.forecasters, fast.ignored) == (slow.questions, slow.forecasters, ("note",))
    for column in ("question", "forecaster", "probability", "outcome"):
        assert np.array_equal(getattr(fast, column), getattr(slow, column))
    assert refused(f"{plain}q,f,0.5") == "f.csv:18002: it has 3 cells, the first line 5"
    assert refused(f"{plain}q,f,1.5,1,") == "f.csv:18002: column probability: '1.5' is not from 0 to 1"
