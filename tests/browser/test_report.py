"""A report in a real browser, opened from disk: it asks for nothing, says nothing wrong, and fits."""

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext

from dashboard.site.scored import scored_page
from dashboard.site.standings import gather, report_page
from dashboard.words import JOINER
from tests.browser.watching import SAMPLED_LOOKS, in_look
from tests.builders import NOW
from tests.dashboard.test_report import MARKUP, renamed
from tests.dashboard.test_scored import hostile_report
from tests.records.seasons import HOSTILE
from tests.rows import read_only

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module", params=["season", "forecasts"])
def file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the report of a season with an agent whose name is markup, and the page of such forecasts."""
    page = scored_page(hostile_report(), NOW)
    if request.param == "season":
        record = request.getfixturevalue("record")
        with read_only(record) as connection:
            page = report_page(renamed(gather(connection, None), HOSTILE, MARKUP), NOW)
    found = tmp_path_factory.mktemp("report") / "report.html"
    found.write_text(page, "utf-8")
    return found


@pytest.mark.parametrize(("width", "theme"), SAMPLED_LOOKS)
def test_it_opens_from_disk_and_asks_for_nothing(
    file: Path, context: BrowserContext, width: int, theme: str
) -> None:
    watched = in_look(context, width, theme)
    watched.page.goto(file.as_uri())
    charts = watched.page.locator(".plot > svg")
    sizes = charts.evaluate_all("all => all.map(one => one.getBoundingClientRect().height)")
    watched.page.locator(".plot").nth(min(1, len(sizes) - 1)).hover()
    told = watched.page.locator(".tip:visible").text_content() or ""
    made = watched.page.locator(".tip :not(b, div, span, a)").count()
    ground = watched.page.evaluate("getComputedStyle(document.body).backgroundColor")
    wide = watched.page.evaluate("document.documentElement.scrollWidth")
    watched.page.close()
    assert sizes
    assert min(sizes) > 0
    assert MARKUP in told.replace(JOINER, "")
    assert made == 0, "a name in a chart is text"
    assert wide <= width
    assert (ground == "rgb(250, 251, 252)") == (theme == "light")
    assert watched.errors == []
    assert [url for url in watched.requests if not url.startswith("data:")] == [file.as_uri()]
