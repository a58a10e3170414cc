"""The pages of markets and turns in a real browser: clicked through, gone back, and seen narrow."""

import re

import pytest
from playwright.sync_api import expect

from dashboard.words import JOINER
from tests.browser.watching import PATIENCE, Watched, back, follow, names_of, open_at, rows_of, settled
from tests.dashboard.serving import Served

pytestmark = pytest.mark.browser


def test_a_row_opens_its_market_and_the_way_back_stays_open(served: Served, watched: Watched) -> None:
    """And leads back to what was searched for."""
    page = watched.page
    search = watched.page.get_by_placeholder("Search questions")
    open_at(page, f"{served.address}/markets", "Markets")
    word = rows_of(page)[1].split()[2]
    search.fill(word)
    search.press("Enter")
    found = re.compile(rf"/markets\?search={word}$")
    expect(page).to_have_url(found, timeout=PATIENCE)
    # The address changes before the rows do.
    expect(names_of(page).filter(has_not_text=word)).to_have_count(0, timeout=PATIENCE)
    settled(page)
    question = rows_of(page)[0]
    follow(page, 0, leads=r"/market\?market=")
    heading = page.get_by_role("heading", level=1).first
    expect(heading).to_be_visible(timeout=PATIENCE)
    assert (heading.text_content() or "").replace(JOINER, "") == question
    expect(page.locator(".chart svg").first).to_be_visible()
    settled(page)
    instant = page.get_by_text("last price of YES").first
    instant.hover()
    expect(instant).to_have_attribute("title", re.compile(r"\d:\d\d"))  # when that was here
    back(page)
    expect(search).to_have_value(word, timeout=PATIENCE)
    expect(names_of(page).first).to_be_visible(timeout=PATIENCE)
    settled(page)
    expect(page).to_have_url(found)


def test_a_turn_leads_to_the_turn_after_and_to_all_turns(served: Served, watched: Watched) -> None:
    page = watched.page
    open_at(page, f"{served.address}/turn?cohort=1&round=1&agent=oracle", "Turn")
    page.get_by_role("link", name="Round after").click()
    expect(page).to_have_url(re.compile("round=2"), timeout=PATIENCE)
    expect(page.get_by_text("in round 2 of cohort 1")).to_be_visible(timeout=PATIENCE)
    back(page)
    expect(page.get_by_text("in round 1 of cohort 1")).to_be_visible(timeout=PATIENCE)
    settled(page)
    page.get_by_role("link", name="All turns").click()
    expect(page).to_have_url(re.compile(r"/turn$"), timeout=PATIENCE)
    settled(page)
    follow(page, 0, leads=r"/turn\?cohort=\d+&round=\d+&agent=")
    expect(page.get_by_role("heading", name="Orders")).to_be_visible(timeout=PATIENCE)
    back(page)
    expect(names_of(page).first).to_be_visible(timeout=PATIENCE)
    settled(page)
