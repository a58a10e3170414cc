"""A published site in a real browser, opened from disk: it asks for nothing else, and fits."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.watching import SAMPLED_LOOKS, apart, in_look, names_of
from tests.dashboard.sites import PublishedSite, hostile_site

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> PublishedSite:
    return apart(hostile_site, tmp_path_factory)


@pytest.mark.parametrize(("width", "theme"), SAMPLED_LOOKS)
def test_it_opens_without_a_server_and_asks_for_nothing_else(
    site: PublishedSite, context: BrowserContext, width: int, theme: str, thorough: bool
) -> None:
    """Every third page, and every one with THOROUGH=1."""
    watched = in_look(context, width, theme)
    folder = site.folder
    some = [*folder.glob("*.html"), *sorted(folder.glob("cohorts/*")), *sorted(folder.glob("agents/*"))]
    pages = [*some, *sorted(folder.glob("markets/*"))]
    assert len(pages) > 25
    pages = pages if thorough else pages[::3]
    for file in pages:
        watched.page.goto(file.as_uri())
        assert watched.page.evaluate("document.documentElement.scrollWidth") <= width, file.name
        ground = watched.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (ground == "rgb(250, 251, 252)") == (theme == "light"), "the style is there"
        assert watched.page.locator("script:not([src]), img, iframe").count() == 0
    watched.page.close()
    assert watched.errors == []
    own = site.folder.as_uri()
    assert [url for url in watched.requests if not url.startswith(own)] == []
    shared = [Path(url).suffix for url in set(watched.requests) if not url.endswith(".html")]
    assert sorted({*shared, ".svg"}) == [".css", ".js", ".svg", ".woff2"], "the icon may be known from before"
    assert len(shared) <= 4


@pytest.mark.parametrize(("name", "width"), [("markets", 1440), ("agents", 1440), ("index", 390)])
def test_tables_fit_a_screen_in_a_wide_font(
    site: PublishedSite, context: BrowserContext, name: str, width: int
) -> None:
    page = in_look(context, width, "light").page
    page.goto((site.folder / f"{name}.html").as_uri())
    page.evaluate("document.body.style.fontFamily = 'DejaVu Sans, Verdana, sans-serif'")
    wider = page.locator(".table .scroll").evaluate_all("all => all.map(x => x.scrollWidth - x.clientWidth)")
    page.close()
    assert max(wider) <= 0


def test_the_headings_of_a_market_stand_clear_of_the_card_above(
    site: PublishedSite, context: BrowserContext
) -> None:
    page = in_look(context, 390, "light").page
    gaps = []
    for file in sorted(site.folder.glob("markets/*"))[:3]:
        page.goto(file.as_uri())
        gaps += page.locator(".parts > h2").evaluate_all(
            "all => all.map(x => x.getBoundingClientRect().top"
            " - x.previousElementSibling.getBoundingClientRect().bottom)"
        )
    page.close()
    assert gaps
    assert min(gaps) >= 16


def test_tables_sort_and_clicks_lead_from_the_arena_to_an_agent_and_back(
    site: PublishedSite, context: BrowserContext
) -> None:
    watched = in_look(context, 1440, "light")
    page = watched.page
    page.goto((site.folder / "index.html").as_uri())
    values = "all => all.map(one => one.dataset.value)"
    before = names_of(page).evaluate_all(values)
    header = page.get_by_role("button", name="Agent").first
    header.click()
    assert names_of(page).evaluate_all(values) == sorted(before)
    assert header.locator("..").get_attribute("aria-sort") == "ascending"
    names_of(page).get_by_role("link", name="constant").click()
    expect(page).to_have_url(re.compile("/agents/constant.html$"))
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    page.get_by_role("link", name="Paper Arena").first.click()
    expect(page).to_have_url((site.folder / "index.html").as_uri())
    page.close()
    assert watched.errors == []
