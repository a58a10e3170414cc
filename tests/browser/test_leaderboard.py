"""The leaderboard and a cohort in a real browser: sorted, searched, taken apart, and left for an agent."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import WebSocketRoute, expect

from arena.scores.leaderboard import compute_leaderboard
from tests.browser.watching import PATIENCE, Watched, follow, names_of, open_at, rows_of, settled
from tests.dashboard.serving import Served
from tests.rows import read_only

pytestmark = pytest.mark.browser


def test_it_is_searched_and_read_in_another_way_and_comes_back_by_its_link(
    served: Served, watched: Watched, record: Path
) -> None:
    page = watched.page
    open_at(page, f"{served.address}/leaderboard", "Full leaderboard")
    with read_only(record) as connection:
        assert rows_of(page) == [row.agent for row in compute_leaderboard(connection).rows]
    page.get_by_text("Implied", exact=True).click()
    expect(page).to_have_url(re.compile("reading=implied"))
    page.get_by_placeholder("Search names").fill("ORA")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("search=ORA"))
    settled(page)
    expect(names_of(page)).to_have_text(["oracle"], timeout=PATIENCE)
    open_at(page, page.url, "Full leaderboard")
    assert rows_of(page) == ["oracle"]
    expect(page.get_by_text("Score against return")).to_be_visible()


def test_a_click_that_the_server_never_hears_of_leads_on_all_the_same(
    served: Served, untouched: Watched
) -> None:
    """What the first page says to the server from then on is lost; the next page has a line of its own."""
    page = untouched.page
    lost = list[str | bytes]()

    def line(browser: WebSocketRoute) -> None:
        is_first = not lines
        server = browser.connect_to_server()
        lines.append(browser)
        browser.on_message(lambda said: lost.append(said) if is_first and deaf else server.send(said))

    lines = list[WebSocketRoute]()
    deaf = list[bool]()
    page.route_web_socket("**/_stcore/stream*", line)
    open_at(page, f"{served.address}/leaderboard", "Full leaderboard")
    deaf.append(True)
    follow(page, 0, leads=rf"/agent\?agent={rows_of(page)[0]}$")
    expect(page).to_have_title("Agents · Paper Arena")
    settled(page)
    assert (len(lines), bool(lost)) == (2, True)
