"""One browser and one dashboard a record for all tests, and a fresh watched page for each."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Playwright, sync_playwright

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
DASHBOARDS: dict[Path, Served] = {}
"""Those that run, by record."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> Iterator[None]:
    """Close the browser after the last of its tests: beside it no other test could have an event loop.

    So do the dashboards, each of which looks at its record again and again.
    """
    yield
    if nextitem is None or nextitem.path.parent != Path(__file__).parent:
        HELD.close()
        for held in (DRIVERS, OPEN, DASHBOARDS):
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


@pytest.fixture(scope="session")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return apart(shared_season, tmp_path_factory)


def dashboard_of(record: Path) -> Served:
    """Return the dashboard of a record, which is started on first use."""
    if record not in DASHBOARDS:
        DASHBOARDS[record] = HELD.enter_context(quickly_serving(record))
    return DASHBOARDS[record]


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
def phone(chromium: str, profile: Path) -> BrowserContext:
    """Return the browser of a phone."""
    return window("phone", chromium, profile)


@pytest.fixture
def watched(context: BrowserContext) -> Iterator[Watched]:
    """Yield a fresh page, and check that it ended without an error or a request to another host."""
    found = Watched(context.new_page()).watch()
    yield found
    found.page.wait_for_load_state("networkidle")
    found.page.close()
    assert found.errors == []
    assert found.requests
    assert found.strangers() == []
