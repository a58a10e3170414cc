"""What a chart says under a pointer and the arrow keys: the ledger's own figures, to the cent."""

import csv
import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from playwright.sync_api import Locator, Page, expect

from dashboard.charts import MARKET_PRICE
from dashboard.words import gained
from tests.browser.watching import PATIENCE, Watched, apart, open_at, settled
from tests.dashboard.records import shared
from tests.dashboard.serving import Served
from tests.rows import rows_in

pytestmark = pytest.mark.browser

INSTANTS = 5
WHEN = "%d %b %Y %H:%M UTC"
GAINS = """SELECT entrant.name, mark.at, mark.cash + mark.value - 10000000000 FROM mark
JOIN entrant ON entrant.id = mark.entrant_id JOIN cohort ON cohort.id = entrant.cohort_id
WHERE cohort.number = 2 ORDER BY mark.at"""
Told = list[tuple[str, dict[str, str]]]
"""Instants, and what each account had gained by then."""


def ledger(record: Path) -> Told:
    """Return what the accounts of a cohort had gained at each of its marks, in the wording of the pages."""
    told: dict[str, dict[str, str]] = {}
    for name, at, gain in rows_in(record, GAINS):
        when = datetime.fromisoformat(at).strftime(WHEN)
        told.setdefault(when, {})[name] = gained(gain)
    return list(told.items())


def tip(plot: Locator) -> tuple[str, dict[str, str]]:
    """Return the tooltip of a plot at the place under the pointer."""
    shown = plot.get_by_role("status")
    expect(shown).to_be_visible()
    when, values = shown.evaluate(
        "tip => [tip.querySelector('b').textContent,"
        "Object.fromEntries([...tip.querySelectorAll('div')].map(({ children: [a, b] }) => "
        "[a.textContent, b.textContent]))]"
    )
    return when, values


def by_pointer(page: Page, plot: Locator, told: Told) -> Told:
    """Return the tooltips of the last few marks under the pointer."""
    times = [datetime.strptime(f"{when} +0000", f"{WHEN} %z").timestamp() for when, _ in told]
    found: Told = []
    for time in times[-INSTANTS:]:
        box = plot.bounding_box()
        assert box is not None
        share = (time - times[0]) / (times[-1] - times[0])
        page.mouse.move(box["x"] + box["width"] * share, box["y"] + 20)
        when, values = tip(plot)
        found.append((when, values))
    return found


def by_keys(page: Page, plot: Locator) -> Told:
    """Return the tooltips of the last few marks when they are reached by keys."""
    page.mouse.move(2, 2)
    plot.focus()
    found: Told = []
    for key in ("End", *["ArrowLeft"] * (INSTANTS - 1)):
        page.keyboard.press(key)
        when, values = tip(plot)
        found.insert(0, (when, values))
    return found


def test_every_mark_of_the_profit_says_what_the_ledger_has_and_leads_to_its_turn(
    watched: Watched, serve: Callable[[str], Served], tmp_path_factory: pytest.TempPathFactory
) -> None:
    record: Path = apart(shared, "demo", tmp_path_factory)
    told = ledger(record)
    assert len(told[0][1]) == 10
    page = watched.page
    address = serve("demo").address
    open_at(page, f"{address}/cohort?cohort=2", "Cohorts")
    figure = page.locator("figure.chart").first
    plot = figure.locator(".plot")
    assert by_pointer(page, plot, told) == told[-INSTANTS:]
    assert by_keys(page, plot) == told[-INSTANTS:]

    lit = figure.locator("polyline.lit")
    page.locator(".table tbody tr", has_text="sharp").first.hover()
    expect(lit).to_have_count(1)
    page.mouse.move(2, 2)
    expect(lit).to_have_count(0)
    page.locator(".table tbody tr", has_text="sharp").first.get_by_role("link").focus()
    expect(lit).to_have_count(1)

    figure.get_by_role("button", name="oracle-noisy").click()
    assert set(told[0][1]) - set(by_keys(page, plot)[0][1]) == {"oracle-noisy"}
    what_is_taken_of_it_is_what_it_shows(page, figure, told)
    calibration_is_one_line_at_a_time(page.locator("figure.chart").nth(1), page)

    plot.click(position={"x": 60, "y": 10})
    page.mouse.move(2, 2)
    plot.get_by_role("link", name="sharp").click()
    expect(page).to_have_url(re.compile(r"/turn\?cohort=2&agent=sharp&round=\d+$"), timeout=PATIENCE)
    settled(page)

    page.goto(f"{address}/agent?agent=sharp#evidence-over-time")
    expect(page.locator("#evidence-over-time")).to_be_in_viewport()
    settled(page)


def what_is_taken_of_it_is_what_it_shows(page: Page, figure: Locator, told: Told) -> None:
    with page.expect_download() as download:
        figure.get_by_role("button", name="CSV").click()
    rows = list(csv.DictReader(Path(download.value.path()).read_text("utf-8").splitlines()))
    assert len(rows) == len(told)
    for row, (_, values) in zip(rows, told, strict=True):
        assert {name: gained(round(float(row[name]) * 1e6)) for name in values} == values
    with page.expect_download() as download:
        figure.get_by_role("button", name="SVG").click()
    picture = ET.fromstring(Path(download.value.path()).read_text("utf-8"))
    assert len(list(picture.iter("{http://www.w3.org/2000/svg}polyline"))) == len(told[0][1])
    figure.get_by_role("button", name="Link").click()
    expect(figure.get_by_role("button", name="Copied")).to_be_visible()


def calibration_is_one_line_at_a_time(figure: Locator, page: Page) -> None:
    figure.get_by_role("button", name=MARKET_PRICE).click()
    expect(figure.locator(".plot polyline.line:visible")).to_have_count(1)
    expect(figure.get_by_role("button", name=MARKET_PRICE)).to_have_attribute("aria-pressed", "true")
    figure.locator(".plot").focus()
    page.keyboard.press("End")
    when, values = tip(figure.locator(".plot"))
    assert re.fullmatch(rf"{MARKET_PRICE}: \d+–\d+%", when)
    assert list(values) == ["stated", "happened", "by chance", "forecasts"]
