"""The way back: each choice is a step of the history, and Back shows what was seen before it."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.watching import Watched, apart, back, names_of, open_at, rows_of, settled
from tests.dashboard.serving import Served
from tests.year.record import start_cohorts

pytestmark = pytest.mark.browser


def radio(page: Page, name: str) -> Locator:
    return page.get_by_role("radio", name=name, exact=True)


def check_chosen(page: Page, where: str, *names: str) -> None:
    """Check the end of the address, and which of the switches are chosen."""
    expect(page).to_have_url(re.compile(rf"{where}$"))
    for name in names:
        expect(radio(page, name)).to_be_checked()
    settled(page)


def test_two_switches_and_back_and_forward_again(served: Served, watched: Watched) -> None:
    page = watched.page
    open_at(page, f"{served.address}/cohort", "Cohorts")
    radio(page, "1M").click()
    check_chosen(page, r"/cohort\?range=1m", "1M", "$")
    radio(page, "%").click()
    check_chosen(page, r"/cohort\?range=1m&unit=percent", "1M", "%")
    back(page)
    check_chosen(page, r"/cohort\?range=1m", "1M", "$")
    back(page)
    check_chosen(page, "/cohort", "All", "$")
    page.go_forward()
    check_chosen(page, r"/cohort\?range=1m", "1M", "$")
    radio(page, "Anchored").click()
    check_chosen(page, r"/cohort\?range=1m&reading=anchored", "1M", "$", "Anchored")
    back(page)
    check_chosen(page, r"/cohort\?range=1m", "1M", "$", "Stated")


def test_another_cohort_keeps_the_unit_and_back_shows_the_first(served: Served, watched: Watched) -> None:
    page = watched.page
    open_at(page, f"{served.address}/cohort?unit=percent", "Cohorts")
    heading = page.get_by_role("heading", level=1)
    first = heading.text_content()
    assert first is not None
    page.locator(".strip .bars a").last.click()
    check_chosen(page, r"/cohort\?unit=percent&cohort=1", "%")
    expect(heading).to_have_text(re.compile("^Cohort 1"))
    back(page)
    check_chosen(page, r"/cohort\?unit=percent", "%")
    expect(heading).to_have_text(first)


def test_of_many_cohorts_one_is_chosen_from_a_list_that_escape_shuts(
    serve_record: Callable[[Path], Served], watched: Watched, tmp_path: Path
) -> None:
    page = watched.page
    database = tmp_path / "arena.db"
    apart(start_cohorts, database, 2)
    open_at(page, serve_record(database).address, "Leaderboard")
    listed = page.locator(".strip details.list")
    listed.locator("summary").click()
    expect(listed).to_have_attribute("open", "")
    page.keyboard.press("Escape")
    expect(listed).not_to_have_attribute("open", "")
    listed.locator("summary").click()
    page.get_by_role("heading", level=1).click()
    expect(listed).not_to_have_attribute("open", "")
    listed.locator("summary").click()
    listed.get_by_role("link", name="Cohort 30 ").click()
    check_chosen(page, r"\?cohort=30")
    expect(listed.locator("summary")).to_have_text(re.compile("^Cohort 30 "))
    expect(listed).not_to_have_attribute("open", "")
    back(page)
    expect(listed.locator("summary")).to_have_text("All cohorts")


def test_the_order_of_a_table_is_in_the_address_and_back_undoes_it(served: Served, watched: Watched) -> None:
    page = watched.page
    open_at(page, f"{served.address}/leaderboard", "Full leaderboard")
    before = rows_of(page)
    header = page.locator(".table").first.get_by_role("button", name="Agent")
    header.click()
    expect(names_of(page)).to_have_text(sorted(before))
    header.click()
    expect(names_of(page)).to_have_text(sorted(before, reverse=True))
    open_at(page, page.url, "Full leaderboard")
    expect(names_of(page)).to_have_text(sorted(before, reverse=True))
    back(page)
    expect(names_of(page)).to_have_text(sorted(before))
    back(page)
    expect(names_of(page)).to_have_text(before)
    expect(page).to_have_url(re.compile("/leaderboard$"))


def test_a_choice_keeps_the_order_and_back_keeps_both(served: Served, watched: Watched) -> None:
    page = watched.page
    open_at(page, f"{served.address}/leaderboard", "Full leaderboard")
    page.locator(".table").first.get_by_role("button", name="Agent").click()
    rows = sorted(rows_of(page))
    settled(page)
    radio(page, "Implied").click()
    expect(page).to_have_url(re.compile("order=.*&reading=implied"))
    expect(names_of(page)).to_have_text(rows)
    page.get_by_placeholder("Search names").fill("ORA")
    page.keyboard.press("Enter")
    expect(names_of(page)).to_have_text(["oracle"])
    back(page)
    expect(page.get_by_placeholder("Search names")).to_have_value("")
    expect(names_of(page)).to_have_text(rows)
    expect(radio(page, "Implied")).to_be_checked()


def test_from_a_part_of_an_agent_to_a_duel_and_all_the_way_back(served: Served, watched: Watched) -> None:
    page = watched.page
    open_at(page, served.address, "Leaderboard")
    page.locator(".bar .links").get_by_role("link", name="Agents").click()
    expect(page).to_have_title("Agents · Paper Arena")
    settled(page)
    radio(page, "Money").click()
    check_chosen(page, r"/agent\?part=money", "Money")
    page.locator(".bar .links").get_by_role("link", name="Duel").click()
    expect(page).to_have_title("Duel · Paper Arena")
    leads_back(page, [("Agents", r"/agent\?part=money"), ("Agents", "/agent"), ("Leaderboard", "/")])


def test_from_a_market_back_to_the_list_as_it_was_narrowed(served: Served, watched: Watched) -> None:
    page = watched.page
    open_at(page, f"{served.address}/markets", "Markets")
    radio(page, "Resolved").click()
    check_chosen(page, r"/markets\?show=resolved", "Resolved")
    names_of(page).first.get_by_role("link").click()
    expect(page).to_have_title("Market · Paper Arena")
    settled(page)
    page.get_by_role("link", name="← All markets").click()
    expect(page).to_have_title("Markets · Paper Arena")
    steps = [
        ("Market", r"/market\?market=.*"),
        ("Markets", r"/markets\?show=resolved"),
        ("Markets", "/markets"),
    ]
    leads_back(page, steps)
    expect(radio(page, "All")).to_be_checked()


def leads_back(page: Page, steps: Sequence[tuple[str, str]]) -> None:
    """Check that each step back leads to the next of these pages and addresses."""
    for title, where in steps:
        back(page)
        expect(page).to_have_title(f"{title} · Paper Arena")
        expect(page).to_have_url(re.compile(rf"{where}$"))
