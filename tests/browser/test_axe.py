"""axe on every page, on a report and on a site: nothing critical, nothing serious, and nothing sticks out."""

from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from urllib.parse import urlencode

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, expect

from dashboard.pages import pages
from dashboard.site.standings import gather, report_page
from tests.browser.watching import LOOKS, Watched, apart, open_at, sticks_out
from tests.builders import NOW
from tests.dashboard.addresses import main_ones
from tests.dashboard.records import shared
from tests.dashboard.serving import Served
from tests.dashboard.sites import PublishedSite
from tests.rows import read_only

pytestmark = pytest.mark.browser

ENDS = (LOOKS[0], LOOKS[-1])
"""A screen in light and a phone in dark."""


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return apart(shared, "demo", tmp_path_factory)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> PublishedSite:
    """Return the site of a season with failures, which has every sort of page."""
    found = PublishedSite(tmp_path_factory.mktemp("axe") / "site")
    found.publish(apart(shared, "all_failed", tmp_path_factory))
    return found


def faults(page: Page, looks: list[tuple[int, str]]) -> list[str]:
    """Return what axe finds critical or serious in some looks, and where something overflows.

    The width of the first look is tried last, so that the page is laid out for it only once.
    """
    found = list[str]()
    for width, _ in sorted(ENDS, key=lambda look: look[0] == looks[0][0]):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(100)
        if sticks_out(page):
            found.append(f"{page.url} sticks out at {width}")
    for width, theme in looks:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
        page.wait_for_timeout(200)  # colours change by and by
        for fault in Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]:
            if fault["impact"] in ("critical", "serious"):
                nodes = (node["html"][:200] for node in fault["nodes"])
                found += [f"{page.url} {width} {theme}: {fault['id']}: {node}" for node in nodes]
    return found


def test_no_page_has_a_serious_fault(
    demo: Path, serve: Callable[[str], Served], watched: Watched, thorough: bool
) -> None:
    """Every second sort of page, by turns in both looks; all in both with THOROUGH=1."""
    found = list[str]()
    looks = cycle(ENDS)
    asked = [*main_ones(demo), ("leaderboard", {"columns": "all"})]
    for name, address in asked if thorough else [*dict(asked).items()][::2]:
        open_at(watched.page, f"{serve('demo').address}/{name}?{urlencode(address)}", pages()[name].title)
        if name == "arena":
            stays_low(watched.page)
            found += faults_in_use(watched.page)
        found += faults(watched.page, [*ENDS] if thorough else [next(looks)])
    assert found == []


def faults_in_use(page: Page) -> list[str]:
    """Return the same with a line removed by its chip, and with the figures under the crosshair."""
    found = list[str]()
    page.locator(".chips button").nth(1).click()
    for width, theme in LOOKS:
        page.set_viewport_size({"width": width, "height": 900})
        page.locator(".plot").first.focus()
        page.keyboard.press("End")
        expect(page.locator(".open > .tip")).to_be_visible()
        found += faults(page, [(width, theme)])
    return found


def stays_low(page: Page) -> None:
    """Check that the first page isn't too high, and that a row of its board is one line that unfolds."""
    rows = page.locator(".table.board").last.locator("tbody:not(.group) tr")
    for width, most in HIGHEST.items():
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(200)
        whole = page.get_by_test_id("stMainBlockContainer").evaluate("main => main.scrollHeight")
        assert whole <= most, f"{whole} pixels at {width}"

        heights = set(rows.evaluate_all("rows => rows.map(row => Math.round(row.offsetHeight))"))
        assert heights <= {34, 35}, "its line and the rule below it"

    row = rows.first  # on a phone
    cost = row.locator('td[data-label^="Cost"]')
    assert not cost.is_visible()
    row.locator("summary").click()
    assert cost.is_visible()
    row.locator("summary").click()
    assert not cost.is_visible()


HIGHEST = {1440: 1300, 390: 1900}
"""How many pixels high the first page may be, by its width."""


def test_no_report_and_no_page_of_a_site_has_a_serious_fault(
    demo: Path, site: PublishedSite, tmp_path: Path, context: BrowserContext, thorough: bool
) -> None:
    with read_only(demo) as connection:
        facts = gather(connection, None)
    file = tmp_path / "report.html"
    file.write_text(report_page(facts, NOW), "utf-8")
    folders = [sorted(site.folder.glob(f"{folder}*.html")) for folder in ("cohorts/", "agents/", "markets/")]
    chosen = [file, *sorted(site.folder.glob("*.html")), *(pages[0] for pages in folders)]
    assert len(chosen) > 7
    page = context.new_page()
    found = list[str]()
    looks = cycle(ENDS)
    for place in chosen if thorough else chosen[::2]:
        page.goto(place.as_uri())
        found += faults(page, [*ENDS] if thorough or place == file else [next(looks)])
    page.close()
    assert found == []
