"""The dashboard in a real Chromium, served by the real command: looked at, clicked, linked to."""

import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from playwright.sync_api import BrowserContext, Route, expect

from tests.browser.watching import PATIENCE, Watched, choose, in_look, open_at, rows_of, settled, stands_still
from tests.dashboard.serving import Served
from tests.program.in_process import answered

pytestmark = pytest.mark.browser


def test_the_leaderboard_is_there_and_its_cohort_can_be_chosen_and_linked_to(
    served: Served, watched: Watched, record: Path
) -> None:
    page = watched.page
    open_at(page, f"{served.address}/leaderboard", "Full leaderboard")
    assert rows_of(page)[0] == answered("board", "--database", record)["leaderboard"][0]["agent"]
    sentence = page.get_by_text("Only references have played yet")
    expect(sentence).to_be_visible()
    expect(page.get_by_role("img", name="skill and return")).to_be_visible()
    whole = sentence.text_content() or ""
    choose(page, "Cohort 1")
    expect(page).to_have_url(re.compile("cohort=1"))
    expect(sentence).not_to_have_text(whole, timeout=PATIENCE)
    said = sentence.text_content() or ""
    page.reload()
    expect(page.get_by_role("combobox").first).to_have_value(re.compile("Cohort 1 "), timeout=PATIENCE)
    expect(sentence).to_have_text(said, timeout=PATIENCE)
    open_at(page, f"{served.address}/leaderboard?cohort=1", "Full leaderboard")  # its name, typed by hand
    expect(sentence).to_have_text(said)


def test_the_cohort_page_comes_back_by_its_link(served: Served, watched: Watched) -> None:
    page = watched.page
    open_at(page, f"{served.address}/cohort", "Cohorts")
    expect(page.locator(".chart:visible")).to_have_count(2)
    stands_still(page)
    page.locator(".strip .bars a").last.click()
    expect(page).to_have_url(re.compile("cohort=1"))
    settled(page)
    page.get_by_role("radio", name="Anchored").click()
    expect(page).to_have_url(re.compile("reading=anchored"))
    page.get_by_role("radio", name="%").click()
    expect(page).to_have_url(re.compile("unit=percent"))
    settled(page)
    open_at(page, page.url, "Cohorts")
    expect(page.locator(".strip [aria-current]")).to_have_text(re.compile("^1 "), timeout=PATIENCE)
    expect(page.get_by_text("Anchored: bets read as a move")).to_be_visible()
    expect(page.get_by_role("radio", name="%")).to_be_checked()
    expect(page.locator(".chart:visible")).to_have_count(2)


def test_the_table_can_be_taken_home(served: Served, watched: Watched) -> None:
    page = watched.page
    open_at(page, f"{served.address}/leaderboard?cohort=2", "Full leaderboard")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download all columns as CSV").click()
    assert download.value.suggested_filename == "leaderboard-2.csv"
    lines = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("agent,ranks,better,price,")
    assert len(lines) == 6


@pytest.mark.parametrize(
    ("path", "title", "said"),
    [
        ("nosuch", "No such page", "There is nothing at nosuch."),
        ("a/b", "No such page", "There is nothing at a/b."),
        ("agent?agent=zzz", "Agents", "The record has no agent zzz."),
    ],
)
def test_what_is_not_there_is_said_at_its_own_address(
    path: str, title: str, said: str, served: Served, watched: Watched
) -> None:
    page = watched.page
    open_at(page, f"{served.address}/{path}", title)
    expect(page.get_by_text(said)).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert unquote(unquote(page.url)) == f"{served.address}/{path}"
    page.locator(".bar .links").get_by_role("link", name="Cohorts").click()
    expect(page).to_have_title("Cohorts · Paper Arena")


LATE = re.compile(r"/_stcore/bidi-components/dashboard\.html/arena\.js")


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("duel", "Duel"),
        ("operations", "Operations"),
        ("agent?agent=random&part=forecasts", "Agents"),
    ],
)
def test_a_phone_s_page_stands_still_though_its_markup_is_drawn_after_its_text(
    path: str, title: str, served: Served, context: BrowserContext
) -> None:
    watched = in_look(context, 390, "dark")
    page = watched.page
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(LATE, hold)
    # Late markup is waited for three seconds only; slowed down, they don't run out on a busy machine.
    animations = context.new_cdp_session(page)
    animations.send("Animation.enable")
    animations.send("Animation.setPlaybackRate", {"playbackRate": 0.1})

    with page.expect_request(LATE):
        open_at(page, f"{served.address}/{path}", title)
    text = page.get_by_test_id("stMarkdown").last.locator("p")
    expect(text).to_be_attached()
    expect(text).to_be_hidden()
    page.route(LATE, lambda route: route.continue_())
    for route in held:
        route.continue_()
    expect(text).to_be_visible()
    stands_still(page)
    page.close()
    assert watched.errors == []


PLANT = """([tag, name, value]) => new Promise(told => {
    const once = { once: true };
    document.addEventListener("securitypolicyviolation", event => told(event.effectiveDirective), once);
    document.body.append(Object.assign(document.createElement(tag), {[name]: value}));
})"""
STRANGE = "https://203.0.113.9/x"


PLANTED = [
    ("img-src", "img", "src", STRANGE),
    ("frame-src", "iframe", "src", STRANGE),
    ("script-src-elem", "script", "src", STRANGE),
    ("script-src-elem", "script", "text", "1"),
]
"""What must not load, and the directive that refuses it."""


def test_what_would_be_planted_on_a_page_is_refused_by_the_browser(served: Served, tab: Watched) -> None:
    tab.look(1440, "light")
    open_at(tab.page, served.address, "Leaderboard")
    expect(tab.page.locator(".table").first).to_be_visible()
    stands_still(tab.page)
    assert tab.errors == []
    for directive, *element in PLANTED:
        assert tab.page.evaluate(PLANT, element) == directive
