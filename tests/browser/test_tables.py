"""Tables under the keyboard, the finger and the eye: only a click or Enter on a link leads on."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.watching import Watched, follow, names_of, open_at, rows_of
from tests.dashboard.serving import Served

pytestmark = pytest.mark.browser

PAGES = {
    "arena": "Arena",
    "leaderboard": "Leaderboard",
    "cohort?cohort=1": "Cohorts",
    "agent?agent=random": "Agents",
    "duel?a=oracle&b=random": "Duel",
    "markets": "Markets",
    "turn": "Turn",
    "turn?cohort=1&round=1&agent=oracle": "Turn",
    "operations": "Operations",
}
SCREENS = ("phone", "context")
EACH = [
    pytest.param(path, screen, marks=() if (at + of) % 2 == 0 else pytest.mark.thorough)
    for at, path in enumerate(PAGES)
    for of, screen in enumerate(SCREENS)
]
"""Each page on one of the screens, in turn; on both with THOROUGH=1."""
MOST_TABS = 600
WHERE_FOCUS_IS = """() => {
    let here = document.activeElement;
    while (here?.shadowRoot?.activeElement) here = here.shadowRoot.activeElement;
    return here.closest(".table") ? here.tagName : null;
}"""


@pytest.fixture
def screen(request: pytest.FixtureRequest) -> Iterator[Watched]:
    """A fresh watched page of the browser that a test names."""
    context: BrowserContext = request.getfixturevalue(request.param)
    watched = Watched(context.new_page()).watch()
    yield watched
    watched.page.goto("about:blank")
    watched.page.close()
    assert (watched.errors, watched.strangers()) == ([], [])


@pytest.mark.parametrize(("path", "screen"), EACH, indirect=["screen"])
def test_a_table_is_passed_by_tab_and_sorted_by_its_headers(
    path: str, served: Served, screen: Watched
) -> None:
    page = screen.page
    open_at(page, f"{served.address}/{path}", PAGES[path])
    expect(page.locator(".table").first).to_be_visible()
    here = page.url
    page.locator(".table thead button").first.evaluate("button => button.closest('.scroll').focus()")
    passed: list[str | None] = []
    while None not in passed and len(passed) < MOST_TABS:
        page.keyboard.press("Tab")
        passed.append(page.evaluate(WHERE_FOCUS_IS))
    assert {"BUTTON", None} <= set(passed)
    assert page.url == here
    for header in page.locator(".table").first.locator("thead th:not(.picture) button").all():
        tapped(page, header_of=header)
        order = header.evaluate("button => button.parentElement.ariaSort")
        assert order in ("ascending", "descending")
    page.wait_for_timeout(300)
    assert page.url == here


def tapped(page: Page, header_of: Locator) -> None:
    header_of.scroll_into_view_if_needed()
    if page.evaluate("navigator.maxTouchPoints"):
        header_of.tap()
    else:
        header_of.click()


@pytest.mark.parametrize("screen", SCREENS, indirect=True)
def test_rows_are_put_in_order_and_put_back(served: Served, screen: Watched) -> None:
    page = screen.page
    open_at(page, f"{served.address}/leaderboard", "Leaderboard")
    before = rows_of(page)
    name = page.locator(".table").first.get_by_role("button", name="Agent")
    name.click()
    assert rows_of(page) == sorted(before)
    name.click()
    assert rows_of(page) == sorted(before, reverse=True)
    name.click()
    assert rows_of(page) == before
    skill = page.locator(".table").first.get_by_role("button", name="Skill", exact=True)
    skill.click()
    values = page.locator(".table").first.locator("td[data-label=Skill]").all()
    known = [float(value) for cell in values if (value := cell.get_attribute("data-value"))]
    assert known == sorted(known, reverse=True)


@pytest.mark.parametrize("screen", SCREENS, indirect=True)
def test_enter_on_a_link_opens_it_and_a_reader_finds_the_figures(served: Served, screen: Watched) -> None:
    page = screen.page
    open_at(page, f"{served.address}/leaderboard", "Leaderboard")
    link = names_of(page).get_by_role("link").first
    assert (link.get_attribute("href") or "").startswith("agent?agent=")
    row = page.locator(".table").first.get_by_role("row").nth(1)
    row.scroll_into_view_if_needed()
    skill = row.locator("td[data-label=Skill]").bounding_box()
    assert skill is not None
    assert 0 <= skill["x"] < page.evaluate("window.innerWidth")
    link.focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/agent\?agent="))
    open_at(page, f"{served.address}/markets", "Markets")
    follow(page, 0, leads=r"/market\?market=")
