"""Files of Metaculus become questions of each kind, outcomes, the community's prices and forecasts."""

from datetime import UTC, datetime
from math import log2

import pytest

from arena.forms.model import SourceFile
from arena.forms.public import metaculus
from tests.arena.forms.sources import (
    aggregation,
    api_post,
    api_question,
    json_file,
    lines_file,
    metaculus_posts,
    metaculus_tables,
    percentiles,
    tools_question,
    tools_report,
)


def january(day: int) -> datetime:
    """Return the beginning of a day of January."""
    return datetime(2026, 1, day, tzinfo=UTC)


def test_posts_of_the_api_are_questions_of_each_kind() -> None:
    data = metaculus.read([json_file("posts.json", {"count": 8, "results": metaculus_posts()})])

    questions = {question.key: question for question in data.questions}
    assert list(questions) == ["11", "21", "31", "41", "51", "71", "72"]
    rain = questions["11"]
    assert (rain.title, rain.event, rain.category) == ("Question 11?", "post 1", "Weather")
    assert (rain.opened, rain.spot) == (january(1), january(3))
    assert (rain.closes, rain.scheduled_close) == (january(21), january(31))
    assert questions["21"].options == ("Rain", "Snow")
    assert (questions["31"].low, questions["31"].high, questions["31"].open_high) == (0, 1, True)
    assert (questions["41"].low, questions["41"].high) == (-0.5, 3.5)
    assert questions["51"].low == "2026-01-01T00:00:00+00:00"
    assert questions["71"].event == questions["72"].event == "post 7"

    outcomes = {outcome.question: outcome.value for outcome in data.outcomes}
    assert outcomes == {
        "11": 1,
        "21": "Snow",
        "31": pytest.approx(0.5),  # 10 is half-way from 1 to 100 where 0 is the zero point
        "41": pytest.approx(3.5 + 4 * 0.005),
        "51": "2026-01-11T00:00:00+00:00",
        "71": None,
        "72": 0,
    }
    assert data.outcomes[0].resolved == january(22)
    assert data.faults == ()
    assert [note.rpartition(": ")[2] for note in data.notes] == ["1", "1", "1"]


def test_the_community_is_the_price_at_each_instant() -> None:
    options = aggregation(("2026-01-02T00:00:00Z", [0.25, 0.75]))
    odds = api_question(
        21,
        "multiple_choice",
        options=["Rain", "Snow"],
        aggregations=options,
        my_forecasts={"history": [{"start_time": "2026-01-04T00:00:00Z", "forecast_values": [0.5, 0.5]}]},
    )

    data = metaculus.read([json_file("posts.json", [*metaculus_posts()[:1], api_post(2, odds)])])

    assert [(x.question, x.option, x.price, x.seen) for x in data.prices] == [
        ("11", "", 0.3, january(2)),
        ("11", "", 0.6, january(10)),
        ("21", "Rain", 0.25, january(2)),
        ("21", "Snow", 0.75, january(2)),
    ]
    first, second, third = data.forecasts
    assert (first.forecaster, first.probability, first.price) == ("me", 0.8, 0.3)
    assert (first.made, first.ends) == (january(5), january(15))
    assert (second.probability, second.price, second.ends) == (0.9, 0.6, None)
    assert (third.options, third.odds) == ({"Rain": 0.5, "Snow": 0.5}, {"Rain": 0.25, "Snow": 0.75})


def test_tables_of_the_site_are_joined_by_question() -> None:
    data = metaculus.read(metaculus_tables())

    questions = {question.key: question for question in data.questions}
    assert questions["21"].options == ("Rain", "Snow", "None")
    assert (questions["31"].low, questions["31"].high) == (0, 1)  # its middle is 10: a logarithmic scale
    assert (questions["41"].low, questions["41"].high) == (0, 10)
    assert questions["11"].closes == january(21)

    outcomes = {outcome.question: outcome.value for outcome in data.outcomes}
    assert outcomes["11"] == 1
    assert outcomes["21"] == "Snow"
    assert outcomes["31"] == pytest.approx(log2(55.5) / log2(100))
    assert outcomes["41"] == pytest.approx(-0.05)
    assert outcomes["51"] == "2026-01-11T00:00:00+00:00"

    made = [(x.forecaster, x.question, x.probability, x.price, x.ends) for x in data.forecasts[:4]]
    assert made == [
        ("ann", "11", 0.8, None, january(12)),  # before the community said anything
        ("ann", "11", 0.7, 0.6, None),
        ("recency_weighted", "11", 0.6, 0.6, None),
        ("unweighted", "11", 0.55, 0.6, None),
    ]
    assert data.forecasts[4].options == {"Rain": 0.25, "Snow": 0.75}
    assert data.forecasts[5].cdf == (0, 0.25, 0.5)
    assert data.forecasts[6].question == "77"
    assert data.outside == ("recency_weighted", "unweighted")
    assert [(x.forecaster, x.name, x.value) for x in data.published] == [
        ("ann", "peer", 5),
        ("ann", "baseline", 60),
    ]
    assert len(data.notes) == 5
    assert data.faults == ()


def test_reports_of_the_tools_are_forecasts() -> None:
    number = {"lower_bound": 0, "upper_bound": 10, "open_lower_bound": False, "open_upper_bound": True}
    logarithmic = {"lower_bound": 1, "upper_bound": 100, "zero_point": 0}
    days = {"lower_bound": "2026-01-01T00:00:00", "upper_bound": "2026-01-11T00:00:00"}
    steps = [{"value": 5 * place, "percentile": share} for place, share in enumerate((0.0, 0.25, 0.875))]
    priced = tools_question(11, community_prediction_at_access_time=0.6, resolution_string="yes")
    reports = [
        tools_report(priced, 0.8),
        tools_report(
            tools_question(21, options=["Rain", "Snow"]),
            {"predicted_options": [{"option_name": name, "probability": 0.5} for name in ("Rain", "Snow")]},
        ),
        tools_report(tools_question(31, **number), percentiles(p10=2, p50=4, p90=12)),
        tools_report(tools_question(41, **number), {"declared_percentiles": steps}),
        tools_report(tools_question(51, **logarithmic), percentiles(p25=1, p50=10)),
        tools_report(tools_question(61, **days), percentiles(p25=1767312000, p75=1767398400)),
        tools_report(tools_question(0, id_of_post=0), None, prediction_in_decimal=0.4),
    ]

    data = metaculus.read([json_file("out/owl_bot.json", reports)])

    assert {forecast.forecaster for forecast in data.forecasts} == {"owl_bot"}
    first = data.forecasts[0]
    assert (first.question, first.probability, first.price) == ("11", 0.8, 0.6)
    assert (first.made, first.reason) == (january(5), "# Why")
    assert data.forecasts[1].options == {"Rain": 0.5, "Snow": 0.5}
    assert data.forecasts[2].quantiles == {10: 2, 50: 4, 90: 12}
    assert data.forecasts[3].cdf == (0.0, 0.25, 0.875)
    assert data.forecasts[4].quantiles == pytest.approx({25: 0, 50: 0.5})
    assert data.forecasts[5].quantiles == {25: "2026-01-02T00:00:00+00:00", 75: "2026-01-03T00:00:00+00:00"}
    assert (data.forecasts[6].question, data.forecasts[6].probability) == ("Question 0?", None)
    assert [(x.question, x.value) for x in data.outcomes] == [("11", 1)]
    assert data.faults == ()


def test_a_benchmark_is_a_bot_with_its_expected_score() -> None:
    def bench(name: str | None, *shares: float) -> dict[str, object]:
        questions = [
            tools_question(11, community_prediction_at_access_time=0.25),
            tools_question(21, api_json=api_post(2, api_question(21, "binary", "no"))),
        ]
        return {
            "explicit_name": name,
            "forecast_bot_class_name": "OwlBot",
            "forecast_bot_config": {"llms": {"default": {"original_model": "owl-1"}}},
            "failed_report_errors": ["no answer"] if name else [],
            "forecast_reports": list(map(tools_report, questions, shares)),
        }

    data = metaculus.read([lines_file("bench.jsonl", bench("Owl", 0.5, 0.2), bench(None, 0.125))])

    assert [(x.forecaster, x.question, x.probability, x.price) for x in data.forecasts] == [
        ("Owl", "11", 0.5, 0.25),
        ("Owl", "21", 0.2, None),
        ("OwlBot | owl-1", "11", 0.125, 0.25),
    ]
    assert [(x.question, x.value) for x in data.outcomes] == [("21", 0)]
    (figure,) = data.published  # the other one has a report without the community's prediction
    assert (figure.forecaster, figure.name) == ("OwlBot | owl-1", "expected baseline")
    assert figure.value == pytest.approx(100 * (0.25 * (-3 + 1) + 0.75 * (log2(7 / 8) + 1)))
    assert data.notes == ("left out: questions that failed in a benchmark, which doesn't say which: 1",)


def test_faults_of_json_are_told_by_number_and_field() -> None:
    upside_down = {"range_min": 5, "range_max": 1, "zero_point": None}
    inside = {"range_min": 0, "range_max": 10, "zero_point": 5}
    own = [
        {"start_time": "soon", "forecast_values": [0.5, "x"]},
        {"start_time": None, "forecast_values": [2, 3]},
    ]
    posts = json_file(
        "posts.json",
        [
            api_post(1, api_question(11, "binary", "maybe", my_forecasts={"history": own})),
            api_post(2, api_question(21, "multiple_choice", "Sun", options=["Rain", "Snow"])),
            api_post(3, api_question(31, "numeric", "many", scaling=upside_down)),
            api_post(4, api_question(41, "numeric", "many", scaling=inside, open_lower_bound="perhaps")),
            7,
        ],
    )
    options = {"predicted_options": [{"option_name": "Rain", "probability": 2}, "Snow"]}
    reports = json_file(
        "bot.json",
        [
            tools_report(tools_question(11), "high"),
            tools_report(tools_question(21, options=["Rain"]), options),
            tools_report(tools_question(31, lower_bound=0, upper_bound=9), percentiles(p10="much", p90=4)),
            tools_report(tools_question(41, lower_bound=0, upper_bound=None), percentiles(p10=1)),
            tools_report({"question_text": "", "api_json": {}}, 0.5),
        ],
    )

    data = metaculus.read([reports, posts])

    assert [fault.place for fault in data.faults] == [
        "bot.json: reports, row 1, prediction",
        "bot.json: reports, row 2, prediction.predicted_options[2]",
        "bot.json: reports, row 2, prediction.predicted_options[1].probability",
        "bot.json: reports, row 3, prediction.declared_percentiles[1].value",
        "bot.json: reports, row 3, prediction.declared_percentiles",
        "bot.json: reports, row 4, question.lower_bound",
        "bot.json: reports, row 5, question.id_of_question",
        "posts.json: posts, row 1, question.resolution",
        "posts.json: posts, row 1, question.my_forecasts.history[1].forecast_values",
        "posts.json: posts, row 1, question.my_forecasts.history[1].start_time",
        "posts.json: posts, row 1, question.my_forecasts.history[2].forecast_values",
        "posts.json: posts, row 2, question.resolution",
        "posts.json: posts, row 3, question.scaling.range_min",
        "posts.json: posts, row 3, question.resolution",
        "posts.json: posts, row 4, question.scaling.zero_point",
        "posts.json: posts, row 4, question.open_lower_bound",
        "posts.json: posts, row 4, question.resolution",
        "posts.json: posts, row 5, object",
    ]
    assert all(fault.hint for fault in data.faults)


def test_faults_of_tables_are_told_by_line_and_column() -> None:
    questions = """\
Question ID,Question Type,MC Options,Lower Bound,Upper Bound,Continuous Range,Resolution,Open Lower Bound,\
Open Upper Bound,Question Weight
1,multiple_choice,__import__('os'),,,,,,,
2,numeric,,ten,20,,,,,
,binary,,,,,,,,heavy
3,multiple_choice,"['A',
'B']",,,,C,,,
4,binary
"""
    forecasts = """\
Question ID,Forecaster Username,Start Time,End Time,Probability Yes,\
Probability Yes Per Category,Continuous CDF
3,ann,yesterday,,,"[0.5]",
3,,,,,,
2,ann,,,,,"[0.1, [[["
9,ann,,,1.5,,
,ann,,,0.5,,
"""
    scores = "Question ID,User Username,Score Type,Score\n1,,peer,2\n1,ann,peer,high\n"

    data = metaculus.read(
        [
            SourceFile("q.csv", questions.encode()),
            SourceFile("f.csv", forecasts.encode()),
            SourceFile("s.csv", scores.encode()),
        ]
    )

    assert [fault.place for fault in data.faults] == [
        "q.csv:2: column MC Options",
        "q.csv:2: column MC Options",
        "q.csv:3: column Lower Bound",
        "q.csv:3: column Lower Bound",
        "q.csv:4: column Question ID",
        "q.csv:5: column Resolution",
        "q.csv:7",
        "f.csv:2: column Start Time",
        "f.csv:2: column Probability Yes Per Category",
        "f.csv:3: column Forecaster Username",
        "f.csv:4: column Continuous CDF",
        "f.csv:5: column Probability Yes",
        "f.csv:6: column Question ID",
        "s.csv:2: column Score Type",
        "s.csv:3: column Score",
    ]


def test_options_of_which_one_was_taken_away_stay_in_the_order_of_all() -> None:
    questions = """\
Question ID,Question Type,MC Options (Current),MC Options (All),Resolution
1,multiple_choice,"['A', 'Other']","['A', 'B', 'Other']",A
2,multiple_choice,"['C', 'D']",,D
"""
    forecasts = """\
Question ID,Forecaster Username,Start Time,Probability Yes,Probability Yes Per Category
1,ann,2026-01-01 00:00:00+00:00,,"[0.5, 0.25, 0.25]"
1,ann,2026-01-02 00:00:00+00:00,,"[0.75, None, 0.25]"
2,ann,2026-01-01 00:00:00+00:00,,"[0.5, 0.5]"
"""

    data = metaculus.read([SourceFile("q.csv", questions.encode()), SourceFile("f.csv", forecasts.encode())])

    assert data.faults == ()
    assert [question.options for question in data.questions] == [("A", "B", "Other"), ("C", "D")]
    assert [dict(forecast.options) for forecast in data.forecasts] == [
        {"A": 0.5, "B": 0.25, "Other": 0.25},
        {"A": 0.75, "Other": 0.25},
        {"C": 0.5, "D": 0.5},
    ]


@pytest.mark.parametrize(
    "content",
    [
        b'Question ID,Question Type\n1,"binary',
        b"Question ID,Question Type\n\xff,binary",
        b"Question ID,Question Type,MC Options\n1,multiple_choice," + b"[" * 5000,
    ],
)
def test_odd_tables_are_faults_without_a_crash(content: bytes) -> None:
    assert metaculus.read([SourceFile("question_data.csv", content)]).faults
