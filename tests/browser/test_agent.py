"""The pages of an agent and of a duel in a real Chromium: chosen, linked to, opened from, gone back to."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.watching import PATIENCE, Watched, back, follow, open_at, settled
from tests.dashboard.serving import Served

pytestmark = pytest.mark.browser


def test_an_agent_s_cohort_opens_from_its_row_and_the_way_back_shows_the_agent(
    served: Served, watched: Watched
) -> None:
    page = watched.page
    open_at(page, f"{served.address}/agent?agent=random", "Agents")
    follow(page, 1, leads=r"/cohort\?cohort=1$")
    expect(page).to_have_title("Cohorts · Paper Arena", timeout=PATIENCE)
    back(page)
    expect(page).to_have_title("Agents · Paper Arena", timeout=PATIENCE)
    expect(page).to_have_url(re.compile(r"/agent\?agent=random$"), timeout=PATIENCE)
    expect(page.get_by_role("combobox")).to_have_value("random", timeout=PATIENCE)
    settled(page)


def test_a_duel_is_swapped_and_another_is_picked_from_the_table(served: Served, watched: Watched) -> None:
    page = watched.page
    first = page.get_by_role("combobox").nth(0)
    second = page.get_by_role("combobox").nth(1)
    open_at(page, f"{served.address}/duel?a=oracle&b=random", "Duel")
    page.get_by_role("link", name="Swap").click()
    expect(page).to_have_url(re.compile(r"\?a=random&b=oracle$"), timeout=PATIENCE)
    expect(first).to_have_value("random", timeout=PATIENCE)
    expect(second).to_have_value("oracle")
    back(page)
    expect(first).to_have_value("oracle", timeout=PATIENCE)
    expect(second).to_have_value("random")
    settled(page)
