"""Tables under the keyboard, the finger and the eye: only a click or Enter on a link leads on."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from dashboard.pages import pages
from tests.browser.watching import Watched, names_of, open_at, rows_of, settled
from tests.dashboard.addresses import main_ones
from tests.dashboard.serving import Served

pytestmark = pytest.mark.browser

SCREENS = ("phone", "tab")
CLOSER = "Closer than the price %"
MOST_TABS = 600
FOCUSED = """() => {
    let here = document.activeElement;
    while (here?.shadowRoot?.activeElement) here = here.shadowRoot.activeElement;
    window.passed ??= new Set();
    const [first] = window.passed;
    const known = here === first && window.passed.size > 9;
    if (here !== document.body) window.passed.add(here);
    return [known, here.closest(".table") ? here.tagName : ""];
}"""
"""Whether the focus has come round, and of which kind it is within a table; a bar drawn anew is no round."""
TAPPED = ["leaderboard", *(pytest.param(one, marks=pytest.mark.thorough) for one in ("markets", "turn"))]


@pytest.fixture
def screen(request: pytest.FixtureRequest) -> Iterator[Watched]:
    """Yield the watched page of the screen that a test names."""
    watched: Watched = request.getfixturevalue(request.param)
    yield watched
    watched.leave()
    assert (watched.errors, watched.strangers()) == ([], [])


def test_no_page_is_left_but_by_a_click_or_enter(
    record: Path, served: Served, watched: Watched, thorough: bool
) -> None:
    """A few pages are passed by Tab from top to end, and every header of them is clicked.

    Every page, at its fullest, with THOROUGH=1.
    """
    page = watched.page
    for name, shown in [*dict(main_ones(record)).items()][0 if thorough else 1 :: 1 if thorough else 4]:
        open_at(page, f"{served.address}/{name}?{urlencode(shown)}", pages()[name].title)
        here = page.url
        kinds = set[str]()
        known = False
        for _ in range(MOST_TABS):
            page.keyboard.press("Tab")
            known, kind = page.evaluate(FOCUSED)
            kinds.add(kind)
            if known:
                break
        assert known, "the focus comes round"
        assert page.url == here
        sortable = page.locator(".table thead button").count()
        assert ("BUTTON" in kinds) == bool(sortable), name
        sorted_by_all(page)
        assert unsorted(page.url).rstrip("?") == here.rstrip("?")


@pytest.mark.parametrize("path", TAPPED)
@pytest.mark.parametrize("screen", ["phone"], indirect=True)
def test_a_tapped_header_sorts(path: str, served: Served, screen: Watched) -> None:
    page = screen.page
    open_at(page, f"{served.address}/{path}", pages()[path].title)
    expect(page.locator(".table").first).to_be_visible()
    here = page.url
    sorted_by_all(page)
    page.wait_for_timeout(300)
    assert unsorted(page.url) == here


def unsorted(url: str) -> str:
    """Return an address without the order of tables."""
    return re.sub(r"[?&]order=[^&]*", "", url)


def sorted_by_all(page: Page) -> None:
    for table in page.locator(".table:has(thead button)").all():
        for header in table.locator("thead th:not(.picture) button").all():
            if header.is_visible():
                header.scroll_into_view_if_needed()
                if page.evaluate("navigator.maxTouchPoints"):
                    header.tap()
                else:
                    header.click()
                order = header.evaluate("button => button.parentElement.ariaSort")
                assert order in ("ascending", "descending")


@pytest.mark.parametrize("screen", SCREENS, indirect=True)
def test_rows_are_put_in_order_and_put_back_and_enter_on_a_link_opens_it(
    served: Served, screen: Watched
) -> None:
    page = screen.page
    open_at(page, f"{served.address}/leaderboard", "Full leaderboard")
    before = rows_of(page)
    name = page.locator(".table").first.get_by_role("button", name="Agent")
    name.click()
    assert rows_of(page) == sorted(before)
    name.click()
    assert rows_of(page) == sorted(before, reverse=True)
    name.click()
    assert rows_of(page) == before
    skill = page.locator(".table").first.get_by_role("button", name=CLOSER, exact=True)
    skill.click()
    cells = page.locator(".table").first.locator(f'td[data-label="{CLOSER}"]')
    values = cells.evaluate_all("cells => cells.map(cell => cell.dataset.value ?? cell.textContent)")
    known = [float(value) for value in values if value]
    assert known == sorted(known, reverse=True)
    taken = lines_taken(page)
    at = taken[0].index(CLOSER)
    assert [line[0] for line in taken[1:]] == rows_of(page)
    assert [float(line[at]) for line in taken[1:] if line[at]] == known
    link = names_of(page).get_by_role("link").first
    assert (link.get_attribute("href") or "").startswith("agent?agent=")
    row = page.locator(".table").first.get_by_role("row").nth(1)
    row.scroll_into_view_if_needed()
    place = row.locator(f'td[data-label="{CLOSER}"]').bounding_box()
    assert place is not None
    assert 0 <= place["x"] < page.evaluate("window.innerWidth")
    link.focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/agent\?agent="))
    settled(page)


def lines_taken(page: Page) -> list[list[str]]:
    """Return the first table of the page as the file that its button downloads."""
    with page.expect_download() as download:
        page.locator(".table .csv").first.click()
    assert download.value.suggested_filename == "references-which-are-not-ranked.csv"
    with Path(download.value.path()).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))
