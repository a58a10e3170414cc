"""Records of every sort at every width in both themes: the whole with THOROUGH=1, a sample of it always."""

import re
from collections.abc import Callable, Sequence

import pytest
from playwright.sync_api import expect

from markets.registry import load
from tests.browser.watching import LOOKS, PATIENCE, Watched, apart, open_at, settled, sticks_out
from tests.dashboard.addresses import FIGURES, VIEWS, Address, addresses, path_of
from tests.dashboard.records import RECORDS, shared
from tests.dashboard.serving import Served, serving

pytestmark = pytest.mark.browser

SAMPLED = ("all_failed",)
"""Records of which some pages each are opened in any case, each record's in another look."""


def sample(place: int) -> list[tuple[Sequence[Address], tuple[int, str]]]:
    """Return the next few pages of figures for each next record, in the next of the looks that axe skips."""
    return [([(view, {}) for view in FIGURES[place::3]], LOOKS[1 + place])]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in SAMPLED else pytest.mark.thorough) for name in RECORDS]
)
def test_nothing_sticks_out_or_goes_wrong(
    name: str,
    serve: Callable[[str], Served],
    watched: Watched,
    tmp_path_factory: pytest.TempPathFactory,
    thorough: bool,
) -> None:
    every = addresses(apart(shared, name, tmp_path_factory))
    dashboard = serve(name)
    played = [(every, look) for look in LOOKS] if thorough else sample(SAMPLED.index(name))
    for chosen, (width, theme) in played:
        watched.look(width, theme)
        for view, shown in chosen:
            title = load("dashboard.views", view).TITLE
            here = path_of((view, shown))
            open_at(watched.page, f"{dashboard.address}/{here}", title)
            if not shown:
                path = watched.page.url.removeprefix(dashboard.address).strip("/")
                assert path.partition("?")[0] == here, "its link stays"
            assert sticks_out(watched.page) == 0, (view, shown, width)
            app = watched.page.get_by_test_id("stApp")
            ground = app.evaluate("app => getComputedStyle(app).backgroundColor")
            light = sum(map(int, re.findall(r"\d+", ground)[:3]))
            assert light > 600 if theme == "light" else light < 150, (view, theme)
        watched.page.goto("about:blank")
        assert (watched.errors, watched.strangers()) == ([], []), (width, theme)


def test_every_page_is_reached_from_the_bar(
    watched: Watched, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Of a dashboard as its users start it: others are forked from what has loaded it."""
    page = watched.page
    with serving(apart(shared, "all_failed", tmp_path_factory)) as dashboard:
        open_at(page, dashboard.address, "Leaderboard")
        named = [view for view in VIEWS if load("dashboard.views", view).ORDER is not None]
        for view in (*named[1:], named[0]):
            title = load("dashboard.views", view).TITLE
            page.locator(".bar .links").get_by_role("link", name=title, exact=True).click()
            expect(page).to_have_title(f"{title} · Paper Arena", timeout=PATIENCE)
            settled(page)
            here = page.url.removeprefix(dashboard.address).strip("/").partition("?")[0]
            assert here == path_of((view, {}))
        assert "pandas" not in dashboard.libraries()  # it takes as long to load as half of a first page
        page.goto("about:blank")
