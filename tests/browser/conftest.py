"""One browser and one served record for all tests, and a fresh watched page for each."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Playwright, sync_playwright

from tests.browser.watching import FLAGS, PATIENCE, Watched
from tests.dashboard.serving import Served, serving
from tests.records.seasons import shared_season


@pytest.fixture(scope="session")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shared_season(tmp_path_factory)


@pytest.fixture(scope="session")
def served(record: Path) -> Iterator[Served]:
    with serving(record) as dashboard:
        yield dashboard


@pytest.fixture(scope="session")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the browser keeps what it has compiled of Streamlit's scripts, for the next file of tests too."""
    return tmp_path_factory.mktemp("profile")


@pytest.fixture(scope="module")
def driver() -> Iterator[Playwright]:
    """For a file of tests: as long as it runs, nothing else in this process can have an event loop."""
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="module")
def context(driver: Playwright, chromium: str, profile: Path) -> Iterator[BrowserContext]:
    """A desk's browser, for a file of tests."""
    kept = driver.chromium.launch_persistent_context(
        profile / "desk", executable_path=chromium, args=FLAGS, viewport={"width": 1440, "height": 1000}
    )
    kept.set_default_timeout(PATIENCE)
    yield kept
    kept.close()


@pytest.fixture(scope="module")
def phone(driver: Playwright, chromium: str, profile: Path) -> Iterator[BrowserContext]:
    """A phone's browser, for a file of tests."""
    kept = driver.chromium.launch_persistent_context(
        profile / "phone",
        executable_path=chromium,
        args=FLAGS,
        viewport={"width": 390, "height": 844},
        has_touch=True,
        is_mobile=True,
    )
    kept.set_default_timeout(PATIENCE)
    yield kept
    kept.close()


@pytest.fixture
def watched(context: BrowserContext) -> Iterator[Watched]:
    """A fresh page that must come to its end without an error and without a call to a stranger."""
    found = Watched(context.new_page()).watch()
    yield found
    found.page.wait_for_load_state("networkidle")
    found.page.close()
    assert found.errors == []
    assert found.requests
    assert found.strangers() == []
