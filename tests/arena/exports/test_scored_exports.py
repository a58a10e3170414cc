"""An export is scored as its record is, to the last bit, whatever kinds of questions it holds."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arena
from arena.exports import ExportRequest, export
from arena.exports.forecast_columns import read_export
from arena.exports.forms import form_of
from arena.scores.all_kinds import read_all_kinds
from arena.scores.files.forecasts import ForecastTable
from arena.scores.files.report import report_data, report_file
from arena.scores.files.score_choices import ScoreChoices
from portfolio.rules import REALISTIC
from tests.builders import NOW
from tests.opened_record import OpenedRecord
from tests.program.in_process import answered
from tests.records.full_record import Season, a_cohort
from tests.records.question_season import play

SEASONS: dict[str, dict[str, Any]] = {
    "all kinds": {},
    "options alone": {"kinds": ("multiple_choice",), "size": 6},
    "yes or no alone": {"kinds": ()},
    "gaps": {"silent": ("bob", "cid"), "settings": {"bob": {"prices": "hidden"}}},
    "without prices": {"unpriced": ("q:yes_no-0", "q:yes_no-1", "q:yes_no-4", "q:yes_no-5")},
    "a later model": {"settings": {"ann": {"released": "2026-01-12"}}},
}


def tables(record: OpenedRecord, place: Path, form: str) -> tuple[ForecastTable, ForecastTable]:
    """Return a season's forecasts as its record has them, and as an export has."""
    export(record.engine, place, ExportRequest(form_of(form)), NOW, "1")
    return record.read(read_all_kinds), read_export(place)


def report_of(table: ForecastTable) -> dict[str, Any]:
    choices = ScoreChoices(outside=table.outside, references=table.references, rule="autocast")
    return report_data(report_file(table, choices=choices)) | {"name": "", "notes": ()}


@pytest.mark.parametrize("season", SEASONS.values(), ids=SEASONS.keys())
def test_an_export_is_scored_as_its_record(tmp_path: Path, season: dict[str, Any]) -> None:
    ours, theirs = tables(play(tmp_path / "season.db", **season), tmp_path / "export", "csv")
    for field in fields(ours):
        one = getattr(ours, field.name)
        other = getattr(theirs, field.name)
        if isinstance(one, np.ndarray):
            assert np.array_equal(one, other, equal_nan=True), field.name
        elif field.name not in ("forms", "name", "notes", "titles"):
            assert one == other, field.name
    assert [form.name for form in ours.forms] == [form.name for form in theirs.forms]
    assert report_of(ours) == report_of(theirs)


def test_a_benchmarks_coverage_is_not_that_of_the_season(tmp_path: Path) -> None:
    record = play(tmp_path / "season.db", **SEASONS["gaps"])
    later = a_cohort(2, NOW, REALISTIC, "ann")
    Season(record).start(replace(later, stamp="benchmark", min_coverage=100_000))
    ours, theirs = tables(record, tmp_path / "export", "csv")
    assert report_of(ours) == report_of(theirs)


def test_what_was_said_before_a_model_came_out_counts_nowhere(tmp_path: Path) -> None:
    whole, _ = tables(play(tmp_path / "whole.db"), tmp_path / "one", "csv")
    later = play(tmp_path / "later.db", settings={"ann": {"released": "2026-01-12"}})
    part, _ = tables(later, tmp_path / "two", "csv")
    assert "left out: 48 forecasts from before the release of the model" in part.notes
    assert whole.question.size - part.question.size == 12


def test_in_hidden_rounds_what_is_left_out_knows_no_odds(tmp_path: Path) -> None:
    hidden = play(tmp_path / "hidden.db", hidden=2, silent=("bob",))
    ours, theirs = tables(hidden, tmp_path / "export", "csv")
    assert report_of(ours) == report_of(theirs)


def test_python_has_the_scores_and_the_answers(tmp_path: Path) -> None:
    play(tmp_path / "season.db", size=6).close()
    with arena.open_record(tmp_path / "season.db") as season:
        found = season.all_kinds()
        assert found is not None
        assert season.all_kinds(1) is not None
        stated = season.frame("forecasts").to_pylist()
        forms = season.frame("market_pages").column("form").to_pylist()
    said = {row["market_id"] for row in stated if row["distribution"]}
    assert len(said) == sum(map(bool, forms)) == 18
    board = answered("board", "--database", tmp_path / "season.db")
    assert [row.brier for row in found.report.rows] == [row["brier"] for row in board["all_kinds"]["rows"]]

    play(tmp_path / "plain.db", kinds=(), size=3).close()
    with arena.open_record(tmp_path / "plain.db") as season:
        assert season.all_kinds() is None
