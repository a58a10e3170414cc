"""Files of a Forecast Arena become questions, outcomes and forecasts, beside the board's own figures."""

from datetime import UTC, datetime

import pytest

from arena.forms.model import SourceFile, SourceLine
from arena.forms.public import forecast_arena
from tests.arena.forms.sources import arena_board, arena_row, json_file, lines_file


def test_a_board_is_read() -> None:
    data = forecast_arena.read(arena_board())

    questions = {question.key: question for question in data.questions}
    assert {key: question.event for key, question in questions.items()} == {
        "rain": "7",
        "snow": "9",  # the first line of this market lacks the event
        "hail": "8",
    }
    assert questions["rain"].title == "Will rain happen?"
    assert questions["rain"].closes == datetime(2026, 3, 9, tzinfo=UTC)

    first = data.forecasts[0]
    assert (first.forecaster, first.probability, first.price, first.reason) == ("owl", 0.8, 0.6, "clouds")
    assert first.made == datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert first.place == SourceLine("board/forecasts/2026-03-01.jsonl", 1)

    skipped = [forecast for forecast in data.forecasts if forecast.probability is None]
    assert [(forecast.forecaster, forecast.question) for forecast in skipped] == [("hare", "snow")]

    assert [(outcome.question, outcome.value) for outcome in data.outcomes] == [("rain", 1), ("snow", 0)]
    assert data.outcomes[0].resolved == datetime(2026, 3, 9, 1, tzinfo=UTC)
    assert data.outside == ("crowd", "coin")
    assert data.no_outcomes == ""
    assert data.notes == ("markets that closed without an outcome so far, and count as open: 1",)
    assert data.faults == ()


def test_the_figures_of_the_board_are_over_each_entrants_own_rows() -> None:
    figures = {(x.forecaster, x.name): x.value for x in forecast_arena.read(arena_board()).published}

    assert figures == pytest.approx(
        {
            ("owl", "Brier"): (0.2**2 + 0.1**2) / 2,
            ("owl", "alpha"): ((0.4**2 - 0.2**2) + (0.3**2 - 0.1**2)) / 2,
            ("hare", "Brier"): 0.1**2,
            ("hare", "alpha"): 0.4**2 - 0.1**2,
            ("crowd", "Brier"): (0.4**2 + 0.3**2) / 2,
            ("coin", "Brier"): 0.5**2,
            ("coin", "alpha"): 0.4**2 - 0.5**2,
        }
    )


def test_a_crowd_is_scored_where_a_model_is() -> None:
    rows = [arena_row("owl", "rain"), *(arena_row("crowd", x, model=None, prob=0.6) for x in ("rain", "fog"))]
    outcomes = {"rain": {"outcome": 1}, "fog": {"outcome": 0}}
    files = [lines_file("forecasts/2026-03-01.jsonl", *rows), json_file("resolutions.json", outcomes)]

    (crowd,) = [x for x in forecast_arena.read(files).published if x.forecaster == "crowd"]

    assert crowd.value == pytest.approx(0.4**2)


def test_each_fault_is_told_by_line_and_field() -> None:
    rows = SourceFile(
        "forecasts/2026-03-01.jsonl",
        b"\n".join(
            [
                b'{"slug": "rain", "entrant": "owl", "market_prob": 1.5, "prob": "high", "ts": "soon"}',
                b'{"slug": "", "market_prob": null, "end_date": 1e99, "question": ["x"]}',
                b"[1]",
                b'{"slug": "rain"',
                b'{"slug": "rain", "slug": "snow"}',
                b'{"slug": "\\ud800", "entrant": "owl", "prob": NaN}',
            ]
        ),
    )
    outcomes = json_file("resolutions.json", {"rain": {"outcome": 7}, "snow": 1})

    data = forecast_arena.read([rows, outcomes])

    assert [fault.place for fault in data.faults] == [
        "forecasts/2026-03-01.jsonl:1: column market_prob",
        "forecasts/2026-03-01.jsonl:1: column prob",
        "forecasts/2026-03-01.jsonl:1: column ts",
        "forecasts/2026-03-01.jsonl:2: column slug",
        "forecasts/2026-03-01.jsonl:2: column entrant",
        "forecasts/2026-03-01.jsonl:2: column question",
        "forecasts/2026-03-01.jsonl:2: column end_date",
        "forecasts/2026-03-01.jsonl:3",
        "forecasts/2026-03-01.jsonl:4",
        "forecasts/2026-03-01.jsonl:5",
        "forecasts/2026-03-01.jsonl:6: column prob",
        "resolutions.json: markets, row 1, rain.outcome",
        "resolutions.json: markets, row 2, snow",
    ]
    assert all(fault.hint for fault in data.faults)
    assert data.forecasts[-1].question == "?"


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"[" * 100_000, b"[1, 2]", b"", b'{"rain": '])
def test_odd_outcomes_are_faults_without_a_crash(content: bytes) -> None:
    files = [
        lines_file("forecasts/2026-03-01.jsonl", arena_row("owl", "rain")),
        SourceFile("resolutions.json", content),
    ]

    data = forecast_arena.read(files)

    assert data.outcomes == ()
    assert [fault.line for fault in data.faults] == [1] * bool(content)
    assert len(data.forecasts) == 1


def test_a_torn_first_line_of_a_day_is_a_fault_of_that_day() -> None:
    day = SourceFile("x/forecasts/2026-03-02.jsonl", b'{"slug": "ra')

    data = forecast_arena.read([*arena_board()[:1], day])

    assert [fault.place for fault in data.faults] == ["x/forecasts/2026-03-02.jsonl:1"]
    assert data.no_outcomes == "no resolutions.json is among the files"
