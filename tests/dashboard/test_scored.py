"""The page of a file of forecasts: the figures of the command, and text that stays text."""

import json
import re
from dataclasses import replace

import pytest

import arena
from arena.exports.api import FileReport
from arena.forms.model import PublishedFigure
from arena.scores.files.published import PublishedComparison
from arena.scores.files.report import read_report, report_text
from dashboard.site.scored import scored_page
from tests.builders import NOW
from tests.dashboard.opening import tables_of
from tests.dashboard.sites import PageParts
from tests.dashboard.test_report import MARKUP

TURNING = "\u202e\x1b[7m"
"""Characters that turn around what comes after them, on a page or in a terminal."""


def hostile_report() -> FileReport:
    """Return a report of forty questions and three forecasters, one of them a copy; every text is markup."""
    rows = []
    for number in range(40):
        outcome = number % 2
        price = 0.3 + 0.01 * number
        ann = 0.9 if outcome or not number % 8 else 0.1
        for name, said in ((MARKUP, ann), ("bob", 0.5), (f"eve{TURNING}", price)):
            row = {"question": f"q{number}{MARKUP}", "forecaster": name, "probability": said}
            row |= {"outcome": outcome, "market_probability": price, "title": f"T{number}{MARKUP}"}
            rows.append(row | {"reason": MARKUP, "category": MARKUP})
    report = arena.score(rows)
    figure = PublishedFigure(MARKUP, MARKUP, 0.1, MARKUP)
    values = {name: getattr(report, name) for name in report.__dataclass_fields__}
    values |= {"name": MARKUP, "notes": (f"{MARKUP}{TURNING}",)}
    return FileReport(**values | {"comparisons": (PublishedComparison(figure, 0.2, MARKUP),)})


@pytest.fixture(scope="module")
def report() -> FileReport:
    return hostile_report()


def test_a_report_is_the_same_when_it_is_read_again(report: FileReport) -> None:
    assert read_report(report_text(report)) == report


def test_nothing_in_the_page_acts_or_is_loaded_whatever_texts_say(report: FileReport) -> None:
    page = scored_page(report, NOW)
    found = PageParts(page)
    assert found.tags.count("script") == 1
    assert not {"iframe", "link", "object", "embed", "form", "base", "img"} & set(found.tags)
    assert not [name for name, _ in found.attributes if name.startswith("on")]
    assert not found.leads
    policy = next(value for name, value in found.attributes if value.startswith("default-src"))
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x1b]", page)


def test_its_figures_are_those_of_the_report(report: FileReport) -> None:
    page = scored_page(report, NOW)
    htmls = re.findall("<table.*?</table>", page, re.DOTALL)
    scores, worst, published = (table for html in htmls for table in tables_of(f"<div>{html}</div>"))
    assert scores["forecaster"].tolist() == [MARKUP, "bob", "eve[7m"]
    assert scores["skill"].tolist() == pytest.approx([row.skill for row in report.rows])
    assert worst["loss"].tolist() == pytest.approx([one.loss for one in report.worst])
    assert worst["question"][0].startswith("T")
    assert published["ours"].tolist() == [0.2]
    marks = json.loads(next(value for name, value in PageParts(page).attributes if name == "data-marks"))
    assert [line["name"] for line in marks["lines"]] == [MARKUP, "bob", "the price"]


def test_of_a_plain_small_file_there_are_scores_alone() -> None:
    small = [{"question": "a", "forecaster": "ann", "probability": 0.8, "outcome": 1}]
    page = scored_page(arena.score(small), NOW)
    assert page.count("<h2>") == 2
    assert "Calibration" not in page


def test_the_page_is_called_after_the_file_and_not_after_its_folder(report: FileReport) -> None:
    page = scored_page(replace(report, name="secret/mine.csv"), NOW)
    assert "<h1>Paper Arena · mine.csv</h1>" in page
    assert "secret" not in page
