"""axe on every page, and on a report: nothing critical, nothing serious, whoever drew it."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page

from arena.record.schema.database import open_read_only, reading
from dashboard.pages import pages
from dashboard.site.standings import gather, report_page
from tests.browser.watching import LOOKS, Watched, open_at
from tests.builders import NOW
from tests.dashboard.addresses import main_ones
from tests.dashboard.records import shared
from tests.dashboard.serving import Served, serving

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shared("demo", tmp_path_factory)


@pytest.fixture(scope="module")
def shown(demo: Path) -> Iterator[Served]:
    with serving(demo) as dashboard:
        yield dashboard


def faults(page: Page) -> list[str]:
    """What axe finds critical or serious, on a screen in light and then on a phone in dark."""
    found = list[str]()
    for width, theme in LOOKS[:1] + LOOKS[-1:]:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
        page.wait_for_timeout(200)  # colours change by and by
        for fault in Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]:
            if fault["impact"] in ("critical", "serious"):
                nodes = (node["html"][:200] for node in fault["nodes"])
                found += [f"{page.url} {width} {theme}: {fault['id']}: {node}" for node in nodes]
    return found


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.thorough)])
def test_no_page_has_a_serious_fault(demo: Path, shown: Served, watched: Watched, every: bool) -> None:
    asked = [("how", {}), ("glossary", {}), ("leaderboard", {"columns": "all"}), *main_ones(demo)]
    chosen = {name: (name, address) for name, address in asked if name not in ("how", "duel", "markets")}
    found = list[str]()
    for name, address in asked if every else chosen.values():
        open_at(watched.page, f"{shown.address}/{name}?{urlencode(address)}", pages()[name].title)
        found += faults(watched.page)
    assert found == []


def test_no_report_has_a_serious_fault(demo: Path, tmp_path: Path, context: BrowserContext) -> None:
    with open_read_only(str(demo)) as engine, reading(engine) as connection:
        facts = gather(connection, None)
    file = tmp_path / "report.html"
    file.write_text(report_page(facts, NOW), "utf-8")
    page = context.new_page()
    page.goto(file.as_uri())
    found = faults(page)
    page.close()
    assert found == []
