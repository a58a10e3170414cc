"""Notes on what was called off: it is not scored, and no note says that it will be."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.scores.all_kinds import compute_all_kinds, read_all_kinds
from arena.scores.files.forecasts import ForecastTable, read_forecasts
from arena.scores.files.report import FileReport, report_file
from markets.millionths import ONE
from markets.model import MarketId, Resolution
from tests.records.full_record import week
from tests.records.question_season import play

ANNULLED = ("q:yes_no-0", "q:multiple_choice-0", "q:numeric-0")


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForecastTable]:
    """Yield a season of three kinds of question, three each: one annulled, the others open."""
    path = tmp_path_factory.mktemp("season") / "season.db"
    record = play(path, kinds=("multiple_choice", "numeric"), size=3, ended=0)
    ends = [Resolution(MarketId(name), 1, week(3), None, "the test") for name in ANNULLED]
    record.resolve(ends, week(6))
    with record.reading() as connection:
        yield read_all_kinds(connection)
    record.close()


def not_scored(report: FileReport) -> list[str]:
    return [note for note in report.notes if note.startswith("not scored")]


def test_what_was_annulled_in_a_season_is_not_said_to_wait(season: ForecastTable) -> None:
    assert not_scored(report_file(season)) == [
        "not scored yet: 8 forecasts on 2 questions without an outcome",
        "not scored: 12 forecasts on 1 question that ended in a fraction or a refund",
        "not scored yet: 4 questions of options or a number, without an outcome",
        "not scored: 2 questions of options or a number, called off",
    ]


def test_a_season_tells_of_one_question_in_words_that_fit(tmp_path: Path) -> None:
    record = play(tmp_path / "season.db", kinds=("numeric",), size=2, ended=0)
    ends = [Resolution(MarketId(f"q:yes_no-{number}"), 1, week(3), ONE, "the test") for number in range(2)]
    ends.append(Resolution(MarketId("q:numeric-0"), 1, week(3), None, "the test", "50"))
    record.resolve(ends, week(6))
    report = record.read(compute_all_kinds).report
    record.close()
    assert not_scored(report) == ["not scored: 1 question (open, held out, refunded, or settled in part)"]


def test_what_a_file_calls_off_is_not_said_to_wait() -> None:
    head = "question,forecaster,option,low,high,q10,q90,probability,outcome,resolved"
    lines = (
        "off,ann,red,,,,,0.3,,2026-01-09",
        "off,ann,blue,,,,,0.7,,2026-01-09",
        "void,ann,,0,10,2,8,,,2026-01-09",
        "open,ann,,0,10,2,8,,,",
        "rain,ann,,,,,,0.3,,2026-01-09",
        "snow,ann,,,,,,0.3,,",
    )
    table = read_forecasts("f.csv", "\n".join((head, *lines)))
    assert not_scored(report_file(table)) == [
        "not scored yet: 1 forecast on 1 question without an outcome",
        "not scored: 1 forecast on 1 question that ended in a fraction or a refund",
        "not scored yet: 1 question of options or a number, without an outcome",
        "not scored: 2 questions of options or a number, called off",
    ]
