"""Pictures of the dashboard for the docs: python scripts/screenshots.py --database demo.db

Starts the dashboard on a record that is there, and takes each page from top to bottom.
"""

import argparse
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
PAGES = {"leaderboard": "", "cohort": "cohort"}
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@contextlib.contextmanager
def dashboard(database: Path) -> Iterator[str]:
    """The address of a dashboard on this record, for as long as it is needed."""
    command = [sys.executable, "-m", "arena.cli.main", "dashboard", "--database", str(database)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = next(line for line in process.stdout if "http://" in line)
        try:
            yield re.findall(r"http://\S+", said)[0]
        finally:
            process.send_signal(signal.SIGINT)


def settle(page: Page) -> None:
    """Wait until everything is drawn."""
    page.get_by_test_id("stHeading").first.wait_for()
    page.wait_for_load_state("networkidle")
    page.wait_for_function("document.querySelectorAll('[data-testid=stSkeleton]').length === 0")
    page.wait_for_function("!document.querySelector('[data-testid=stApp][data-test-script-state=running]')")
    page.wait_for_timeout(1_500)


def stretch(page: Page, width: int) -> None:
    """Make the window as high as the page, so that one picture holds all of it."""
    height = page.get_by_test_id("stMain").evaluate("main => main.scrollHeight")
    page.set_viewport_size({"width": width, "height": min(height, 6_000)})
    settle(page)


def take(browser: Browser, address: str, folder: Path, width: int, theme: str) -> None:
    """A picture of every page at this width, in this theme."""
    dark = theme == "dark"
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light"
    )
    for name, path in PAGES.items():
        page = context.new_page()
        page.goto(f"{address}/{path}")
        settle(page)
        stretch(page, width)
        suffix = ("" if width == 1440 else f"-{width}") + ("-dark" if dark else "")
        page.screenshot(path=folder / f"{name}{suffix}.png")
        page.close()
    context.close()


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--database", type=Path, required=True)
    words.add_argument("--into", type=Path, default=IMAGES, help="another folder than docs/images")
    words.add_argument("--width", type=int, default=1440)
    words.add_argument("--theme", choices=("light", "dark"), default="light")
    asked = words.parse_args()
    asked.into.mkdir(parents=True, exist_ok=True)
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with dashboard(asked.database) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        take(browser, address, asked.into, asked.width, asked.theme)
        browser.close()


if __name__ == "__main__":
    main()
