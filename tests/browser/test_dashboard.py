"""The dashboard in a real Chromium, served by the real command: looked at, clicked, linked to."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect, sync_playwright

from arena.cli.leaderboard import read
from tests.dashboard.seasons import HOSTILE, play
from tests.dashboard.serving import Served, serving

pytestmark = pytest.mark.browser

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 30_000
LOOKS = [(width, theme) for width in (1440, 390) for theme in ("light", "dark")]
PROBE = re.compile(r"http://127\.0\.0\.1:\d+/cohort/_stcore/(health|host-config)")
"""Opened below the root, Streamlit first asks whether the server's own root is there, and is told 404."""

PAGES = {"": "Leaderboard", "cohort": "Cohort"}


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return play(tmp_path_factory.mktemp("season"))


@pytest.fixture(scope="module")
def served(record: Path) -> Iterator[Served]:
    with serving(record) as dashboard:
        yield dashboard


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield started
        started.close()


@dataclass
class Watched:
    """A page, all that it has asked for, and all that went wrong on it."""

    page: Page
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def watch(self) -> "Watched":
        self.page.on("request", self._asked)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._said)
        return self

    def _asked(self, request: Request) -> None:
        self.requests.append(request.url)

    def _said(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not PROBE.fullmatch(message.location["url"]):
            self.errors.append(f"{message.text} ({message.location['url']})")

    def strangers(self) -> list[str]:
        """Requests for anything but this machine's own."""
        own = ("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:http://127.0.0.1:")
        return [url for url in self.requests if not url.startswith(own)]


@pytest.fixture
def watched(browser: Browser) -> Iterator[Watched]:
    """A fresh page that must come to its end without an error and without a call to a stranger."""
    context = browser.new_context(viewport={"width": 1440, "height": 1000})
    context.set_default_timeout(PATIENCE)
    found = Watched(context.new_page()).watch()
    yield found
    found.page.wait_for_load_state("networkidle")
    context.close()
    assert found.errors == []
    assert found.requests
    assert found.strangers() == []


def open_at(page: Page, address: str, title: str) -> None:
    """The page behind an address, all drawn."""
    page.goto(address)
    expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible(timeout=PATIENCE)
    settled(page)


def settled(page: Page) -> None:
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    expect(page.get_by_test_id("stException")).to_have_count(0)


def rows_of(page: Page, place: int = 0) -> list[str]:
    """The agents of a table in their order, as a screen reader has them."""
    cells = page.get_by_test_id("stDataFrame").nth(place).locator("td[aria-colindex='2']")
    expect(cells.first).to_be_attached()
    return cells.all_text_contents()


def choose(page: Page, option: str) -> None:
    page.get_by_test_id("stSelectbox").locator("input").click()
    page.get_by_role("option", name=option).click()
    settled(page)


def test_the_leaderboard_is_there_and_its_cohort_can_be_chosen_and_linked_to(
    served: Served, watched: Watched, record: Path
) -> None:
    page = watched.page
    open_at(page, served.address, "Leaderboard")
    assert rows_of(page)[0] == read(str(record), None)["leaderboard"][0]["agent"]
    expect(page.get_by_text("have resolved so far")).to_be_visible()
    expect(page.get_by_test_id("stVegaLiteChart").locator("svg, canvas").first).to_be_visible()
    sentence = page.get_by_text("have resolved so far")
    whole = sentence.text_content() or ""
    choose(page, "Cohort 1")
    expect(page).to_have_url(re.compile("cohort=1"))
    expect(sentence).not_to_have_text(whole, timeout=PATIENCE)
    said = sentence.text_content() or ""
    page.reload()
    expect(page.get_by_role("combobox")).to_have_value(re.compile("Cohort 1 "), timeout=PATIENCE)
    expect(sentence).to_have_text(said, timeout=PATIENCE)


def test_the_cohort_page_comes_back_by_its_link(served: Served, watched: Watched, browser: Browser) -> None:
    page = watched.page
    open_at(page, f"{served.address}/cohort", "Cohort")
    choose(page, "Cohort 1")
    page.get_by_role("radio", name="Anchored").click()
    expect(page).to_have_url(re.compile("reading=anchored"))
    page.get_by_role("radio", name="%").click()
    expect(page).to_have_url(re.compile("unit=percent"))
    settled(page)
    open_at(page, page.url, "Cohort")
    expect(page.get_by_role("combobox")).to_have_value(re.compile("Cohort 1 "), timeout=PATIENCE)
    expect(page.get_by_text("Anchored: bets read as a move")).to_be_visible()
    expect(page.get_by_text("% of bankroll").first).to_be_visible()
    expect(page.get_by_test_id("stVegaLiteChart")).to_have_count(5)


def test_pages_lead_to_one_another(served: Served, watched: Watched) -> None:
    page = watched.page
    open_at(page, served.address, "Leaderboard")
    page.get_by_role("link", name="Cohort").click()
    expect(page.get_by_role("heading", name="Cohort", exact=True)).to_be_visible(timeout=PATIENCE)
    choose(page, "Cohort 1")
    page.get_by_role("link", name="Leaderboard").click()
    expect(page.get_by_role("heading", name="Leaderboard", exact=True)).to_be_visible(timeout=PATIENCE)
    page.go_back()
    expect(page.get_by_role("combobox")).to_have_value(re.compile("Cohort 1 "), timeout=PATIENCE)
    page.go_back()
    expect(page.get_by_role("combobox")).to_have_value(re.compile("Cohort 2 "), timeout=PATIENCE)
    page.go_back()
    expect(page.get_by_role("heading", name="Leaderboard", exact=True)).to_be_visible(timeout=PATIENCE)
    settled(page)


def test_the_table_can_be_taken_home(served: Served, watched: Watched) -> None:
    page = watched.page
    open_at(page, f"{served.address}/?cohort=2", "Leaderboard")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").click()
    assert download.value.suggested_filename == "leaderboard-2.csv"
    lines = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("agent,kind,skill,")
    assert len(lines) == 6


def test_a_name_from_elsewhere_is_text_and_nothing_else(served: Served, watched: Watched) -> None:
    page = watched.page
    open_at(page, served.address, "Leaderboard")
    assert HOSTILE in rows_of(page)
    assert page.locator("a[href*='203.0.113.9'], img[src*='203.0.113.9']").count() == 0


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_nothing_sticks_out_at_any_width_in_either_theme(
    served: Served, browser: Browser, width: int, theme: str
) -> None:
    scheme = "dark" if theme == "dark" else "light"
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    watched = Watched(context.new_page()).watch()
    for path, title in PAGES.items():
        open_at(watched.page, f"{served.address}/{path}", title)
        wide = watched.page.evaluate("document.documentElement.scrollWidth")
        ground = watched.page.get_by_test_id("stApp").evaluate("app => getComputedStyle(app).backgroundColor")
        assert wide <= width
        assert sum(map(int, re.findall(r"\d+", ground)[:3])) > 600 or scheme == "dark"
        assert sum(map(int, re.findall(r"\d+", ground)[:3])) < 150 or scheme == "light"
    context.close()
    assert (watched.errors, watched.strangers()) == ([], [])
