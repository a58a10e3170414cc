"""ForecastBench's tables of forecasts beside their resolutions, and answers in CSV."""

import pytest

from arena.errors import ArenaError
from arena.forms.bench.answers import Submitter, submission
from arena.forms.bench.model import QuestionSet
from arena.forms.model import SourceFile
from arena.forms.public import forecastbench


def test_names_may_have_blanks_around_them_and_last_cells_be_missing() -> None:
    table = SourceFile("a.csv", b'source, id,"forecast",resolved_to,user_id\r\nmanifold,a,0.5,1\r\n')

    data = forecastbench.read([table])

    assert [(x.question, x.probability) for x in data.forecasts] == [("manifold a", 0.5)]
    assert data.faults == ()


@pytest.mark.parametrize("row", [b'manifold,"a,0.5,1', b"manifold,%b,0.5,1" % (b"a" * 200_000)])
def test_a_row_that_is_no_csv_is_a_fault(row: bytes) -> None:
    table = SourceFile("a.csv", b"source,id,forecast,resolved_to\nmanifold,a,0.5,1\n" + row)

    data = forecastbench.read([table])

    assert [fault.place for fault in data.faults] == ["a.csv:3"]


def test_an_answer_that_is_too_long_for_csv_is_refused() -> None:
    text = "source,id,resolution_date,forecast,reasoning\nmanifold,a,,0.5," + "x" * 200_000
    by = Submitter("team", "model", "lab")

    with pytest.raises(ArenaError, match=r"^a\.csv:2: invalid CSV"):
        submission("a.csv", text, by, QuestionSet("set.json", "2026-01-01", ()))
