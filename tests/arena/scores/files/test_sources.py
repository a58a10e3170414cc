"""Sources of forecasts: their form, outcomes and prices of other files, what is unanswered or skipped."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import ArenaError, FileFaults
from arena.forms.model import SourceFile
from arena.forms.sources.choose import choose_form, form_names
from arena.scores.files.forecasts import ForecastTable
from arena.scores.files.scores import FileScores, ForecasterScores, score_file
from arena.scores.files.sources import SourceChoices, read_table

HEAD = "question,forecaster,probability"
SEEN = """question,market_probability,time
rain,0.9,2026-01-05T00:00:01
rain,0.6,2026-01-03
rain,0.5,2026-01-02
snow,0.2,2026-01-01
"""
TWO = f"{HEAD}\nrain,ann,0.8\nsnow,ann,0.1\n"
NO_ROW = "no row is without a fault:\n"
DATED = f"{HEAD},time\nrain,ann,0.8,2026-01-02\nrain,ann,0.9,2026-01-05\nsnow,ann,0.1,2026-01-02\n"


def source(name: str, text: str | bytes) -> SourceFile:
    return SourceFile(name, text if isinstance(text, bytes) else text.encode())


def read(text: str, *, outcomes: str = "", prices: str = "", **choices: Any) -> ForecastTable:
    """Return what is read of a file f.csv beside others."""
    if outcomes:
        choices["outcomes"] = (source("o.csv", outcomes),)
    if prices:
        choices["prices"] = (source("p.csv", prices),)
    return read_table([source("f.csv", text)], SourceChoices(**choices))


def refused(text: str, **choices: Any) -> ArenaError:
    with pytest.raises(ArenaError) as caught:
        read(text, **choices)
    assert caught.value.hint
    return caught.value


def row_of(scores: FileScores, name: str) -> ForecasterScores:
    return next(row for row in scores.rows if row.forecaster == name)


@pytest.mark.parametrize(
    "outcomes",
    [
        "question,outcome\nrain,1\nsnow,no\n",
        "question,outcome\nsnow,0\nrain,yes\nhail,1\n",
        '{"rain": 1, "snow": 0}',
        '{"rain": true, "snow": false, "hail": null}',
        '{"rain": {"outcome": 1, "by": "uma"}, "snow": {"outcome": 0}}',
        '[{"question": "rain", "outcome": 1}, {"question": "snow", "outcome": 0}]',
        '{"question": "rain", "outcome": 1}\n{"question": "snow", "outcome": 0}',
    ],
)
def test_outcomes_of_another_file_are_joined_by_question(outcomes: str) -> None:
    table = read(TWO, outcomes=outcomes)
    assert (table.questions, table.outcome.tolist()) == (("rain", "snow"), [1.0, 0.0])
    assert "o.csv: outcomes of 2 of 2 questions" in table.notes


def test_a_question_that_is_spelled_otherwise_is_a_hint_and_not_a_guess() -> None:
    table = read(TWO, outcomes='{"rain": 1, " Snow": 0}')
    assert np.isnan(table.outcome[table.question == 1]).all()
    assert table.notes == (
        "o.csv: outcomes of 1 of 2 questions; none of 1, such as 'snow'",
        "o.csv: not joined, because spelled otherwise: 'snow' here, 'Snow' there",
    )
    error = refused(TWO, outcomes='{"Rain": 1}')
    assert (error.code, "questions are called 'rain', 'snow'" in error.hint) == ("nothing_joined", True)


@pytest.mark.parametrize(
    ("text", "outcomes", "said"),
    [
        (
            TWO,
            "question,outcome\nrain,perhaps\n",
            "o.csv:2: column outcome: 'perhaps' is not an outcome of 'rain', whose forecasts have no option",
        ),
        (TWO, "question,outcome\nrain,1\nrain,0\n", "o.csv:3: column outcome: '0', but the same question"),
        (TWO, "question,result\nrain,1\n", "o.csv:1: there is no column outcome"),
        (TWO, "question,outcome\n,1\n", "o.csv:2: column question: it is empty"),
        (
            f"{HEAD},outcome\nrain,ann,0.8,0\n",
            '{"rain": 1}',
            "f.csv:2: column outcome: '0', but '1' in o.csv",
        ),
    ],
)
def test_what_is_wrong_with_outcomes_is_said_of_their_own_file(text: str, outcomes: str, said: str) -> None:
    assert refused(text, outcomes=outcomes).message.startswith(said)


def test_files_of_a_form_without_forecasts_say_which_form_it_is() -> None:
    task = {"task_id": "q", "title": "Rain?", "outcomes": ["Yes", "No"]}
    files = [source("answers.jsonl", '{"task_id": "q", "said": 1}'), source("t.jsonl", json.dumps(task))]
    with pytest.raises(ArenaError) as caught:
        read_table(files, SourceChoices())
    assert caught.value.message == (
        "there are no forecasts: the files are read as Prophet Arena (tasks with task_id, title and outcomes)"
    )


def test_many_outcomes_that_are_none_are_told_once() -> None:
    forecasts = "".join(f"q{number},ann,0.5\n" for number in range(50))
    error = refused(f"{HEAD}\n{forecasts}", outcomes=json.dumps({f"q{number}": "A" for number in range(50)}))
    assert "(50 such rows" in error.message
    assert error.message.count("is not an outcome") == 1


def test_an_outcome_that_is_in_both_files_has_to_be_the_same_and_fills_what_is_open() -> None:
    text = f"{HEAD},outcome\nrain,ann,0.8,yes\nsnow,ann,0.1,\n"
    assert read(text, outcomes='{"rain": 1, "snow": 0}').outcome.tolist() == [1.0, 0.0]


def test_options_are_joined_by_the_one_that_happened() -> None:
    text = f"{HEAD},option\ncup,ann,0.7,home\ncup,ann,0.3,away\n"
    by_name = read(text, outcomes="question,outcome\ncup,home\n")
    by_option = read(text, outcomes="question,option,outcome\ncup,home,1\ncup,away,0\n")
    for table in (by_name, by_option):
        assert [(form.name, form.ended, form.brier.tolist()) for form in table.forms] == [
            ("cup", True, [pytest.approx(0.09)])
        ]


@pytest.mark.parametrize(
    ("prices", "expected"),
    [
        ("question,market_probability\nrain,0.6\nsnow,20%\n", [0.6, 0.6, 0.2]),
        ('{"rain": 0.6}', [0.6, 0.6, None]),
        ('{"rain": {"market_probability": 0.6, "time": "2026-01-03"}}', [None, 0.6, None]),
        (
            SEEN,
            [0.5, 0.6, 0.2],
        ),
    ],
)
def test_the_newest_price_counts_that_could_be_seen(prices: str, expected: list[float | None]) -> None:
    table = read(DATED, outcomes='{"rain": 1, "snow": 0}', prices=prices)
    assert table.market is not None
    assert [None if np.isnan(price) else price for price in table.market.tolist()] == expected


def test_prices_fill_what_is_empty_and_say_what_is_wrong_with_them() -> None:
    text = f"{HEAD},market_probability\nrain,ann,0.8,0.3\nsnow,ann,0.1,\n"
    table = read(text, outcomes='{"rain": 1}', prices='{"rain": 0.9, "snow": 0.4}')
    assert table.market is not None
    assert table.market.tolist() == [0.3, 0.4]

    for prices, said in (
        ("question,market_probability\nrain,1.2\n", "p.csv:2: column market_probability: '1.2' is not from"),
        (
            "question,market_probability\nrain,0.1\nrain,0.2\n",
            "p.csv:3: column market_probability: there are 2",
        ),
        ('{"rain": 7}', "p.csv: object, row 1, market_probability: '7' is not from 0 to 1"),
        (
            '{"rain": {"market_probability": 0.5, "time": "soon"}}',
            "p.csv: object, row 1, time: 'soon' is not a time",
        ),
    ):
        assert said in refused(TWO, outcomes='{"rain": 1}', prices=prices).message


def test_prices_of_options_are_joined_by_option() -> None:
    text = f"{HEAD},option,outcome\ncup,ann,0.7,home,home\ncup,ann,0.3,away,home\n"
    prices = "question,option,market_probability\ncup,home,0.6\ncup,away,0.4\n"
    assert "p.csv: prices of 1 of 1 question" in read(text, prices=prices).notes


def test_an_empty_probability_is_unanswered_and_counts_as_missing() -> None:
    text = f"{HEAD},outcome\nrain,ann,0.8,1\nrain,bob,,1\nsnow,ann,,0\nsnow,bob,,0\nhail,bob,0.5,1\n"
    table = read(text)
    scores = score_file(table)
    ann = row_of(scores, "ann")
    bob = row_of(scores, "bob")
    assert (ann.questions, ann.missing, bob.questions, bob.missing) == (1, 2, 1, 2)
    assert ann.filled["brier"] == pytest.approx((0.04 + 1 + 1) / 3)
    assert "unanswered: 3 forecasts without a probability (bob 2, ann 1)" in scores.notes
    priced = text.replace("outcome\n", "outcome,market_probability\n").replace("1\n", "1,0.5\n")
    priced = priced.replace("0\n", "0,0.5\n")
    assert "not in skill: 1 question that nobody answered" in read(priced).notes


def test_options_of_which_one_is_empty_are_unanswered_and_missing() -> None:
    head = f"{HEAD},option,outcome"
    rows = ["cup,ann,0.7,home,home", "cup,ann,0.3,away,home"]
    for home in ("", "1"):
        table = read("\n".join([head, *rows, f"cup,bob,{home},home,home", "cup,bob,,away,home"]))
        scores = score_file(table)
        assert [row.missing for row in scores.rows] == [0, 1]
        assert "unanswered: 1 forecast without a probability (bob 1)" in scores.notes


def repeated() -> str:
    """Return rows whose key names two questions each, which a day or a running number tells apart."""
    lines = ["ticker,forecaster,probability,outcome,day,latency"]
    for place, name in enumerate(("ann", "bob")):
        rest = f"{name},0.5"
        lines += [f"T{n // 2},{rest},{n % 2},day {n % 2},{place * 100 + n}" for n in range(12)]
    return "\n".join(lines)


def test_a_key_that_is_too_coarse_is_told_once_with_columns_that_would_do() -> None:
    named = {"question": "ticker"}
    with pytest.raises(FileFaults) as caught:
        read(repeated(), columns=named)
    (fault,) = caught.value.faults
    assert (fault.line, fault.field, fault.count, fault.lines) == (2, "ticker", 24, (2, 3, 4, 5, 6))
    assert "12 forecasts of the file are of one that their forecaster has forecast already" in fault.message
    assert "--columns question=ticker+day;" in fault.hint

    table = read(repeated(), columns={"question": "ticker+day"})
    assert table.questions[:2] == ("T0 day 0", "T0 day 1")
    lost = refused(repeated().replace("day 1", "day 0"), columns=named)
    assert "no column of the file tells them apart" in lost.hint


def test_faults_of_several_files_name_their_own() -> None:
    head = f"{HEAD},outcome"
    files = [
        source("a.csv", f"{head}\nrain,ann,0.8,1\n"),
        source("b.csv", f"{head}\nsnow,ann,2,1\nrain,bob,1,0\n"),
    ]
    with pytest.raises(FileFaults) as caught:
        read_table(files, SourceChoices())
    assert [(fault.place, fault.message) for fault in caught.value.faults] == [
        ("b.csv:2: column probability", "'2' is not from 0 to 1"),
        ("b.csv:3: column outcome", "'0', but the same question has '1' in line 2 of a.csv"),
    ]


@pytest.mark.parametrize(
    ("choice", "text", "place", "message"),
    [
        (
            "outcomes",
            '{"rain": 1,\n\n"snow": "maybe"}',
            "object, row 2, outcome",
            "'maybe' is not",
        ),
        ("outcomes", '{"rain": 1, "snow": 0, " snow": 1}', "object, row 3, outcome", "'0' in row 2"),
        ("prices", '{"rain": 7}', "object, row 1, market_probability", "'7' is not from 0 to 1"),
        (
            "outcomes",
            '[{"question": "snow", "outcome": 1}, {"question": "snow", "outcome": 0}]',
            "list, row 2, outcome",
            "'1' in row 1",
        ),
    ],
)
def test_faults_of_what_is_joined_from_json_name_the_row(
    choice: str, text: str, place: str, message: str
) -> None:
    error = refused(f"{HEAD},outcome\nrain,ann,0.8,\nsnow,ann,0.1,\n", **{choice: text})
    assert isinstance(error, FileFaults)
    [fault] = error.faults
    assert fault.place.endswith(f": {place}")
    assert message in fault.message


def test_faulty_rows_are_skipped_and_count_as_unanswered() -> None:
    lines = [
        f"{HEAD},outcome",
        "rain,ann,0.8,1",
        "rain,bob,7,1",
        "snow,ann,0.1,0",
        "snow,bob,0.2",
        "hail,ann,x,1",
    ]
    table = read("\n".join(lines), skip_faulty=True)
    scores = score_file(table)
    assert (scores.skipped, [fault.place for fault in scores.faults]) == (
        3,
        ["f.csv:3: column probability", "f.csv:5", "f.csv:6: column probability"],
    )
    assert [(row.forecaster, row.questions, row.missing) for row in scores.rows] == [("ann", 2, 1)]
    assert refused("\n".join([lines[0], lines[2]]), skip_faulty=True).message.startswith("no row is without")
    assert "no column outcome" in refused(TWO, skip_faulty=True).message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            f"{HEAD},outcome\nrain,ann,7,1\nsnow,ann,,0\n",
            f"{NO_ROW}f.csv:2: column probability: '7' is not from 0 to 1",
        ),
        (
            json.dumps({"slug": "rain", "entrant": "owl", "market_prob": 0.5, "prob": "high"}),
            f"{NO_ROW}f.csv: rows, row 1, prob: 'high' is not a number",
        ),
        (
            json.dumps({"slug": "", "entrant": "owl", "market_prob": 0.5, "prob": 0.5}),
            "f.csv: rows, row 1, slug: it is empty",
        ),
    ],
)
def test_where_nothing_is_left_the_faults_of_the_skipped_rows_are_told(text: str, said: str) -> None:
    assert refused(text, skip_faulty=True).message.startswith(said)


def test_a_missing_file_of_outcomes_is_told_unless_they_are_joined() -> None:
    row = json.dumps({"slug": "rain", "entrant": "owl", "market_prob": 0.5, "prob": 0.8})
    missing = "no resolutions.json is among the files"
    assert missing in read(row).notes
    assert missing not in read(row, outcomes='{"rain": 1}').notes


def test_a_faulty_option_takes_its_forecast_with_it() -> None:
    head = f"{HEAD},option,outcome"
    rows = ["cup,ann,0.7,home,home", "cup,ann,0.3,away,home", "cup,bob,0.9,home,home", "cup,bob,x,away,home"]
    table = read("\n".join([head, *rows]), skip_faulty=True)
    assert (table.skipped, table.forms[0].who) == (2, ("ann",))


def test_titles_and_reasons_are_kept() -> None:
    text = f"{HEAD},outcome,title,reason\nr,bob,0.4,1,Rain?,\nr,ann,0.8,1,Rain?,clouds\n"
    table = read(text)
    assert table.titles == {"r": "Rain?"}
    assert table.reason is not None
    assert [table.reasons[place] for place in table.reason.tolist()] == ["clouds", ""]


def test_a_form_is_named_or_the_columns_are() -> None:
    assert {"forecastbench", "table"} <= set(form_names())
    assert choose_form([source("f.csv", TWO)]) is None
    for choices, said in (
        ({"form": "nothing"}, "there is no form 'nothing'"),
        ({"form": "forecastbench", "columns": {"question": "q"}}, "is for plain tables"),
    ):
        error = refused(TWO, **choices)
        assert (said in error.message, error.status) == (True, 64)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.floats()
    | st.integers(-2, 2)
    | st.sampled_from(["a", "", "yes", "2026-01-01"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["question", "forecaster", "probability", "outcome", "option", "forecasts", "a"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(JSON, st.booleans(), st.sampled_from(["forecasts", "outcomes", "prices"]))
def test_whatever_json_is_named_it_is_read_or_refused(value: Any, skip: bool, what: str) -> None:
    text = json.dumps(value)
    given_files = {
        "forecasts": {"text": text},
        "outcomes": {"text": f"{HEAD}\na,ann,0.5\n", "outcomes": text},
        "prices": {"text": f"{HEAD},outcome\na,ann,0.5,1\n", "prices": text},
    }
    hint = "scored"
    try:
        score_file(read(**given_files[what], skip_faulty=skip))
    except ArenaError as error:
        hint = error.hint
    assert hint
