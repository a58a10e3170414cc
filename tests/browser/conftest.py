"""One browser, one page and one port for all tests: what the browser has loaded is half of a visit."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, Playwright, sync_playwright

from tests.browser.watching import FLAGS, PATIENCE, Watched, apart
from tests.dashboard.records import shared
from tests.dashboard.serving import Served, quickly_serving
from tests.records.seasons import shared_season

SCREENS: dict[str, dict[str, Any]] = {
    "desk": {"viewport": {"width": 1440, "height": 1000}},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
}
HELD = ExitStack()
DRIVERS: list[Playwright] = []
"""The one that runs, if one does."""
OPEN: dict[str, BrowserContext] = {}
"""Its windows by screen, which keep what they have compiled from one test to the next."""
PAGES: dict[str, Page] = {}
"""The page of each that shows dashboards, which keeps what it has loaded."""
DASHBOARDS: dict[Path, Served] = {}
"""The one that runs, if one does, by its record."""
SERVING = ExitStack()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> Iterator[None]:
    """Close the browser after the last of its tests: beside it no other test could have an event loop.

    So does the dashboard, which looks at its record again and again.
    """
    yield
    if nextitem is None or nextitem.path.parent != Path(__file__).parent:
        SERVING.close()
        HELD.close()
        for held in (DRIVERS, OPEN, PAGES, DASHBOARDS):
            held.clear()


def window(screen: str, chromium: str, profile: Path) -> BrowserContext:
    """Return a window of the browser, which is started on first use."""
    if not DRIVERS:
        DRIVERS.append(HELD.enter_context(sync_playwright()))
    if screen not in OPEN:
        found = DRIVERS[0].chromium.launch_persistent_context(
            profile / screen, executable_path=chromium, args=FLAGS, **SCREENS[screen]
        )
        HELD.callback(found.close)
        found.set_default_timeout(PATIENCE)
        OPEN[screen] = found
    return OPEN[screen]


def page_in(screen: str, chromium: str, profile: Path) -> Page:
    """Return the page of a window that shows dashboards, as if nothing had been done on it."""
    if screen not in PAGES or PAGES[screen].is_closed():
        PAGES[screen] = window(screen, chromium, profile).new_page()
    page = PAGES[screen]
    page.set_viewport_size(SCREENS[screen]["viewport"])
    page.emulate_media(color_scheme="light")
    page.mouse.move(0, 0)
    return page


@pytest.fixture(scope="session")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return apart(shared_season, tmp_path_factory)


def dashboard_of(record: Path) -> Served:
    """Return the dashboard of a record, which is started unless it runs already.

    The one before it ends, so that it has the same address: a start costs less than what the browser would
    load again from another one.
    """
    if record not in DASHBOARDS:
        SERVING.close()
        DASHBOARDS.clear()
        DASHBOARDS[record] = SERVING.enter_context(quickly_serving(record))
    return DASHBOARDS[record]


@pytest.fixture
def serve_record() -> Callable[[Path], Served]:
    """Return a function that serves a record."""
    return dashboard_of


@pytest.fixture
def served(record: Path) -> Served:
    return dashboard_of(record)


@pytest.fixture
def serve(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Served]:
    """Return a function that serves a record of some sort."""
    return lambda name: dashboard_of(apart(shared, name, tmp_path_factory))


@pytest.fixture(scope="session")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder where the browser keeps what it has compiled."""
    return tmp_path_factory.mktemp("profile")


@pytest.fixture
def context(chromium: str, profile: Path) -> BrowserContext:
    """Return the browser of a desktop computer."""
    return window("desk", chromium, profile)


@pytest.fixture
def tab(chromium: str, profile: Path) -> Iterator[Watched]:
    """Yield the watched page of a desktop computer, on which anything may go wrong."""
    found = Watched(page_in("desk", chromium, profile)).watch()
    yield found
    found.leave()


@pytest.fixture
def phone(chromium: str, profile: Path) -> Iterator[Watched]:
    """Yield the watched page of a phone."""
    found = Watched(page_in("phone", chromium, profile)).watch()
    yield found
    found.leave()


@pytest.fixture
def watched(tab: Watched) -> Iterator[Watched]:
    """Yield a watched page, and check that it ended without an error or a request to another host."""
    yield tab
    tab.page.wait_for_load_state("networkidle")
    tab.leave()
    assert tab.errors == []
    assert tab.requests
    assert tab.strangers() == []


@pytest.fixture
def untouched(context: BrowserContext) -> Iterator[Watched]:
    """Yield a page of a test's own, since what it does to the page can't be undone; check the same."""
    found = Watched(context.new_page()).watch()
    yield found
    found.page.wait_for_load_state("networkidle")
    found.page.close()
    assert found.errors == []
    assert found.requests
    assert found.strangers() == []
