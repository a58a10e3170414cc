"""What explains a file's scores: calibration by tenths, copies, worst forecasts, and figures of a board."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from arena.forms.model import PublishedFigure
from arena.scores.files.calibration import calibration_data
from arena.scores.files.forecasts import ForecastTable, read_forecasts
from arena.scores.files.published import PublishedComparison, published_comparisons
from arena.scores.files.report import FileReport, report_data, report_file
from arena.scores.files.sources import SourceChoices, read_table
from arena.scores.rules import calibration
from tests.arena.forms.sources import arena_board, json_file, prophet_answer, prophet_events

HEAD = "question,forecaster,probability,outcome,market_probability"


def table_of(lines: Sequence[str], head: str = HEAD) -> ForecastTable:
    return read_forecasts("f", "\n".join([head, *lines]))


def season() -> list[str]:
    """Return forty questions, half true: ann is sharp, bob repeats ann, and eve repeats the price."""
    lines = []
    for number in range(40):
        outcome = number % 2
        price = 0.35 + 0.01 * (number % 30)
        ann = (0.12, 0.88)[outcome]
        if number in (3, 8, 20):
            ann = 1 - ann
        for name, said in (("ann", ann), ("bob", ann + 0.002), ("eve", price)):
            lines.append(f"q{number:02},{name},{said:.3f},{outcome},{price:.2f}")
    return lines


@pytest.fixture(scope="module")
def report() -> FileReport:
    return report_file(table_of(season()))


def test_calibration_counts_what_came_true_by_tenths(report: FileReport) -> None:
    """Of who copies nothing is told: it is that of who is copied."""
    assert [one.forecaster for one in report.calibration] == ["ann", "the price"]
    told = calibration_data(report.calibration[0])
    assert told["forecasts"] == 40
    assert [(x["from"], x["to"], x["forecasts"], x["came"]) for x in told["tenths"]] == [
        (0.1, 0.2, 19, pytest.approx(1 / 19)),
        (0.8, 0.9, 21, pytest.approx(19 / 21)),
    ]
    assert told["sentence"].startswith(
        "ann: where it is 70% sure or more of either side: says 88%, happens 92%, no more off"
    )
    price = calibration_data(report.calibration[1])
    table = table_of(season())
    assert table.market is not None
    own = table.forecaster == table.forecasters.index("eve")
    expected = calibration.bins(table.market[own], table.outcome[own])
    assert [x["forecasts"] for x in price["tenths"]] == [x.count for x in expected]
    assert [x["came"] for x in price["tenths"]] == pytest.approx([x.observed for x in expected])


def test_of_few_forecasts_no_calibration_is_told() -> None:
    lines = [f"q{number},ann,0.9,1,0.5" for number in range(19)]
    assert report_file(table_of(lines)).calibration == ()
    assert len(report_file(table_of([*lines, "r,ann,0.1,1,0.5"])).calibration) == 2


def test_of_many_forecasters_the_first_ten_are_told() -> None:
    lines = []
    for number in range(40):
        for who in range(12):
            said = 0.5 + (number % 2 - 0.5) * (0.9 - who / 20)
            lines.append(f"q{number},f{who:02},{said:.3f},{number % 2}")
    told = report_file(table_of(lines, "question,forecaster,probability,outcome")).calibration
    assert [one.forecaster for one in told] == [f"f{who:02}" for who in range(10)]


def test_copies_are_counted(report: FileReport) -> None:
    assert {copy.sentence for copy in report.copies} == {
        "bob copies ann: within 0.005 on 40 of 40 common forecasts.",
        "eve copies the price: within half a cent of it on 40 of 40 forecasts.",
    }


def test_the_worst_forecasts_are_those_of_who_may_be_first(report: FileReport) -> None:
    told = [(one.forecaster, one.question, one.said, one.outcome, round(one.loss, 4)) for one in report.worst]
    assert told == [
        ("ann", "q03", 0.12, 1, 0.7744),
        ("ann", "q08", 0.88, 0, 0.7744),
        ("ann", "q20", 0.88, 0, 0.7744),
    ]
    assert report.worst[0].price == 0.38


def test_of_a_question_the_worst_forecast_is_told_once_and_none_that_was_right() -> None:
    head = "question,forecaster,probability,outcome,time"
    lines = [
        "a,ann,0.4,1,1",
        "a,ann,0.1,1,2",
        "a,ann,0.3,1,3",
        "b,ann,0.6,1,1",
        "c,ann,0.5,1,1",
        "d,ann,1,,1",
    ]
    told = report_file(table_of(lines, head)).worst
    assert [(one.question, one.said, one.price) for one in told] == [("a", 0.1, None)]


OPTION_HEAD = "question,forecaster,option,probability,outcome,market_probability,title,reason"
ODDS = (("home", 0.65, 0.5), ("draw", 0.23, 0.3), ("away", 0.12, 0.2))
MATCHES = [
    f"m{number},ann,{option},{said},{happened},{price},Who wins m{number}?,form"
    for number, happened in enumerate(("home", "home", "home", "home", "draw", "draw", "away"))
    for option, said, price in ODDS
]
"""Seven matches with three outcomes, of which ann says the same each time, beside the same odds."""


def test_of_several_options_each_counts_in_calibration_and_the_worst_name_the_one_that_came_true() -> None:
    report = report_file(table_of(MATCHES, OPTION_HEAD))
    ann, price = report.calibration
    assert (ann.forecaster, ann.forecasts, ann.with_options) == ("ann", 21, True)
    assert [(x.place, x.rows) for x in ann.diagram.deciles] == [(1, 7), (2, 7), (6, 7)]
    assert [x.observed for x in ann.diagram.deciles] == pytest.approx([1 / 7, 2 / 7, 4 / 7])
    assert [(x.place, x.rows) for x in price.diagram.deciles] == [(2, 7), (3, 7), (5, 7)]
    told = [(one.question, one.came_to, one.said, one.price, round(one.loss, 4)) for one in report.worst]
    assert told == [
        ("m6", "away", 0.12, 0.2, 0.6249),
        ("m4", "draw", 0.23, 0.3, 0.5149),
        ("m5", "draw", 0.23, 0.3, 0.5149),
    ]
    assert (report.worst[0].title, report.worst[0].reason) == ("Who wins m6?", "form")
    assert report_data(report)["worst"][0]["option"] == "away"


def test_yes_no_questions_and_those_of_options_are_explained_together() -> None:
    """Even odds on three options lose a third: that is not on the wrong side. What is open counts nowhere."""
    lines = ["y,ann,,0.1,1,0.2,,", "z,ann,,0.75,0,0.5,,", *MATCHES]
    lines += [f"even,ann,{option},{1 / 3},a,,,{option}" for option in "abc"]
    lines += [f"open,ann,{option},0.5,,,,{option}" for option in "ab"]
    report = report_file(table_of(lines, OPTION_HEAD))
    assert [calibrated.forecasts for calibrated in report.calibration] == [26, 23]
    assert [(one.question, one.came_to, round(one.loss, 4)) for one in report.worst] == [
        ("y", "YES", 0.81),
        ("m6", "away", 0.6249),
        ("z", "NO", 0.5625),
    ]
    assert (report.worst[0].option, report.worst[0].said, report.worst[0].price) == ("", 0.1, 0.2)
    alone = report_file(table_of(lines[-5:], OPTION_HEAD))
    assert (alone.worst, alone.calibration) == ((), ())


def test_two_options_are_as_calibrated_as_the_yes_no_question_that_they_are(report: FileReport) -> None:
    """Each forecast counts twice, on both sides of the scale."""
    lines = []
    for line in season():
        name, who, said, outcome, price = line.split(",")
        happened = ("no", "yes")[int(outcome)]
        lines.append(f"{name},{who},yes,{said},{happened},{price},,")
        lines.append(f"{name},{who},no,{1 - float(said):.3f},{happened},{1 - float(price):.2f},,")
    found = report_file(table_of(lines, OPTION_HEAD))
    assert found.copies == report.copies
    assert [one.question for one in found.worst] == [one.question for one in report.worst]
    assert [one.loss for one in found.worst] == pytest.approx([one.loss for one in report.worst])
    assert [one.came_to for one in found.worst] == ["yes", "no", "no"]
    assert [one.price for one in found.worst] == pytest.approx([0.38, 0.57, 0.45])

    twice = found.calibration[0].diagram
    once = report.calibration[0].diagram
    low, high = once.deciles
    wrong = (low.rows * low.observed + high.rows * (1 - high.observed)) / 40
    assert [(x.place, x.rows) for x in twice.deciles] == [(1, 40), (8, 40)]
    assert [x.observed for x in twice.deciles] == pytest.approx([wrong, 1 - wrong])
    assert twice.sure is not None
    assert once.sure is not None
    assert twice.sure == replace(once.sure, forecasts=80)


ANSWERS = [
    "a,ann,0.8,1",
    "b,ann,0.6,0",
    "c,ann,0.9,1",
    "a,bob,0.5,1",
    "b,bob,0.5,0",
    "c,bob,0.5,1",
    "d,bob,0.5,0",
]
ANN = (0.2**2 + 0.6**2 + 0.1**2) / 3
"""Ann's Brier score over the three of four questions that she answered."""


def compared(name: str, value: float, who: str = "ann") -> PublishedComparison:
    table = table_of(ANSWERS, "question,forecaster,probability,outcome")
    rows = report_file(table).rows
    figure = PublishedFigure(who, name, value, "the mean of its scores")
    [found] = published_comparisons(replace(table, published=(figure,)), rows)
    return found


ANSWERED = "it is over the 3 that it answered; ours is over all 4 asked, a missing answer as wrong"


UNEXPLAINED = "no way known here gives it of these forecasts, the nearest 0.33: the mean of its scores"


@pytest.mark.parametrize(
    ("name", "value", "ours", "cause"),
    [
        ("Brier score", (3 * ANN + 1) / 4, (3 * ANN + 1) / 4, "the same"),
        ("Brier score", 0.353, (3 * ANN + 1) / 4, "the same, rounded to 3 decimals"),
        ("Brier", round(ANN, 4), (3 * ANN + 1) / 4, ANSWERED),
        ("Brier", round(2 * ANN, 4), (3 * ANN + 1) / 4, f"it adds up both outcomes, twice ours; {ANSWERED}"),
        (
            "Brier",
            (3 * ANN + 0.25) / 4,
            (3 * ANN + 1) / 4,
            "a missing answer is even odds in it; in ours it is wrong",
        ),
        ("Accuracy", 0.5, 0.5, "the same"),
        ("accuracy", 66.67, 0.5, f"it is in percent; {ANSWERED}"),
        ("Brier index", round(100 * (1 - ANN**0.5), 1), 40.6282, ANSWERED),
        ("P/L", 12.5, None, "there is none of ours to compare it with"),
        (
            "Brier",
            0.3111,
            (3 * ANN + 1) / 4,
            UNEXPLAINED,
        ),
    ],
)
def test_the_cause_of_a_difference_is_found_by_computing(
    name: str, value: float, ours: float | None, cause: str
) -> None:
    found = compared(name, value)
    assert found.cause == cause
    assert found.ours == (ours if ours is None else pytest.approx(ours, abs=1e-4))


def test_a_figure_over_updates_is_told_from_one_over_questions() -> None:
    head = "question,forecaster,probability,outcome,time"
    table = table_of(["a,ann,0.8,1,1", "a,ann,0.6,1,2", "b,ann,0.9,1,1"], head)
    rows = report_file(table).rows
    every = PublishedFigure("ann", "Brier", 0.07, "")
    last = PublishedFigure("ann", "Brier", 0.085, "")
    causes = [one.cause for one in published_comparisons(replace(table, published=(every, last)), rows)]
    assert causes == [
        "it is over 3 forecasts; ours is over questions",
        "it takes the last forecast of each question; ours the mean of them",
    ]


def test_a_figure_of_somebody_else_has_none_beside_it() -> None:
    assert compared("Brier", 0.2, who="zoe").ours is None


def test_programs_read_the_same(report: FileReport) -> None:
    data = report_data(report)
    assert data["worst"][0]["question"] == "q03"
    assert data["copies"][0].keys() == {"forecaster", "of", "near", "common"}
    assert data["calibration"][0]["tenths"][0].keys() >= {"from", "to", "forecasts", "said", "came"}
    assert data["published"] == []


def test_figures_of_public_boards_are_explained() -> None:
    """Of Forecast Arena, and of Prophet, which means events."""
    table = read_table(arena_board(), SourceChoices())
    told = {(one.figure.forecaster, one.figure.name): one for one in report_file(table).comparisons}
    assert told["owl", "Brier"].cause == told["owl", "alpha"].cause == "the same"
    answered = "it is over the 1 that it answered; ours is over all 2 asked, a missing answer as "
    assert told["hare", "Brier"].cause == f"{answered}wrong"
    assert told["hare", "alpha"].cause == f"{answered}the price"
    assert told["hare", "alpha"].ours == pytest.approx(told["hare", "alpha"].figure.value / 2)

    answers = [
        prophet_answer("match", 0, {"Ann": 0.8, "Bo": 0.4, "Cy": 0.5}),
        prophet_answer("vote", 0, {"Left": 0.4, "Right": 0.6}),
    ]
    table = read_table([prophet_events(), json_file("set/forecasts.json", answers)], SourceChoices())
    [brier] = [one for one in report_file(table).comparisons if one.figure.name == "Brier"]
    assert brier.cause == "it is a mean over events; ours is over questions"


def test_skill_beside_a_published_one_is_that_of_the_board() -> None:
    table = table_of(season())
    figures = [PublishedFigure(name, "skill", 0.1, "") for name in table.forecasters]
    report = report_file(replace(table, published=tuple(figures)))
    skills = {row.forecaster: row.skill for row in report.rows}
    assert {one.figure.forecaster: one.ours for one in report.comparisons} == pytest.approx(skills)


def test_a_score_of_the_other_mode_is_found() -> None:
    head = "question,forecaster,probability,outcome,time,open,close,scheduled_close"
    table = table_of(["a,ann,0.8,1,1,0,5,10", "a,bob,0.4,1,2,0,5,10", "a,cy,0.6,1,3,0,5,10"], head)
    [site, *_] = report_file(table, "metaculus").rows
    assert site.relative is not None
    figures = (
        PublishedFigure("ann", "relative_legacy", site.relative, ""),
        PublishedFigure("bob", "log", 9.0, ""),
    )
    relative, log = report_file(replace(table, published=figures)).comparisons
    assert relative.cause == "it is made in the other mode: --mode says which"
    assert relative.ours != site.relative
    assert log.cause.startswith("no way known here gives it")
