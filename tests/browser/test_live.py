"""A page that is left open while an arena plays: it follows, and nobody is disturbed in what they look at."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.watching import PATIENCE, Watched, apart, open_at, settled
from tests.dashboard.records import shared
from tests.dashboard.serving import Served
from tests.program.running import arena

pytestmark = pytest.mark.browser

WATCH_TITLE = """() => {
    const title = document.querySelector("h1");
    window.gone = 0;
    new MutationObserver(() => { if (!title.isConnected) window.gone += 1; })
        .observe(document.body, { childList: true, subtree: true });
}"""
"""Count the changes of the page at which its title was not there."""


TICKING = """bar => {
    for (const [said, seconds] of [["updated", -90], ["next round", 51.5 * 3600]]) {
        const time = document.createElement("time");
        time.dateTime = new Date(Date.now() + 1000 * seconds).toISOString();
        time.dataset.said = said;
        bar.append(time);
    }
}"""
"""Give the bar what that of a live season has: instants that are told as the time since and until then."""


@pytest.fixture(scope="module")
def growing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a season with two rounds played, so that there is something to draw."""
    known = apart(shared, "one_round", tmp_path_factory)
    record = tmp_path_factory.mktemp("growing") / known.name
    shutil.copy(known, record)
    config = (known.parent / "config.yaml").read_text("utf-8")
    (record.parent / "config.yaml").write_text(config.replace(str(known), str(record)), "utf-8")
    assert arena(record.parent, "run", "--round").returncode == 0
    return record


def test_an_open_page_follows_the_record_and_keeps_what_was_chosen(
    growing: Path, serve_record: Callable[[Path], Served], watched: Watched
) -> None:
    """And what was opened, where the focus is, and how far it was scrolled."""
    page = watched.page
    dashboard = serve_record(growing)
    open_at(page, f"{dashboard.address}/cohort?cohort=1", "Cohorts")
    expect(page.get_by_text("2 of 4 rounds decided")).to_be_visible()
    page.get_by_role("radio", name="%").click()
    expect(page).to_have_url(re.compile("unit=percent"), timeout=PATIENCE)
    page.get_by_role("radio", name="Anchored").click()
    expect(page).to_have_url(re.compile("reading=anchored"), timeout=PATIENCE)
    settled(page)
    expect(page.get_by_role("radio", name="1M")).to_have_count(0)
    chip = page.locator(".chips").get_by_role("button", name="constant").first
    chip.click()
    expect(chip).to_have_attribute("aria-pressed", "false")
    meanings = page.locator(".table > details > summary").first
    meanings.click()
    plot = page.locator(".plot").first
    plot.dispatch_event("click")  # which leaves the focus where it is
    expect(page.locator(".plot.held")).to_have_count(1)
    scrolled = page.get_by_test_id("stMain")
    before = scrolled.evaluate("main => main.scrollTop")
    page.evaluate(WATCH_TITLE)
    asked = len(watched.requests)
    said = arena(growing.parent, "run", "--round")
    assert said.returncode == 0, said.stderr
    expect(page.get_by_text("3 of 4 rounds decided")).to_be_visible(timeout=PATIENCE)
    settled(page)
    expect(page.get_by_role("radio", name="%")).to_be_checked()
    expect(page.get_by_role("radio", name="Anchored")).to_be_checked()
    expect(chip).to_have_attribute("aria-pressed", "false")
    expect(page).to_have_url(re.compile("unit=percent"))
    assert page.evaluate("window.gone") == 0
    expect(page.get_by_text("being computed")).to_have_count(0)
    expect(page.locator(".bar .fresh")).to_have_text(re.compile("^as of "))
    page.locator(".bar").evaluate(TICKING)
    expect(page.locator(".bar time")).to_have_text(["updated 1 min ago", "next round in 2 d 3 h"])
    expect(page.locator(".table details[open]")).to_have_count(1)
    expect(meanings).to_be_focused()
    assert before > 0
    assert scrolled.evaluate("main => main.scrollTop") == before
    plot.hover()
    expect(plot.get_by_role("status")).to_be_visible(timeout=5_000)
    assert not [url for url in watched.requests[asked:] if url.split("?")[0].endswith("/cohort")]


def test_a_page_opened_before_the_first_round_wakes_up(
    growing: Path, tmp_path: Path, serve_record: Callable[[Path], Served], watched: Watched
) -> None:
    page = watched.page
    (tmp_path / "arena.db").touch()
    dashboard = serve_record(tmp_path / "arena.db")
    open_at(page, dashboard.address, "Leaderboard")
    expect(page.get_by_text("The record can't be shown")).to_be_visible()
    copy = tmp_path / "copy.db"
    shutil.copy(growing, copy)
    copy.rename(tmp_path / "arena.db")
    expect(page.locator(".table").first).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_text("The record can't be shown")).to_have_count(0)
