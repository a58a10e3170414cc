"""Pictures of the dashboard for the docs: python -m scripts.screenshots --database demo.db

Works out what pages show of a demo, starts the dashboard on it, and takes each page from the top. With
`--real` the record is that of `arena demo --real`, whose first page is the README's picture. `--into FOLDER`
takes every page instead, whole, on a screen and on a phone, in light and in dark, to be looked at.
"""

import argparse
import io
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Literal
from urllib.parse import urlencode

from PIL import Image
from playwright.sync_api import Browser, FloatRect, Page, sync_playwright

from arena.clock import now
from arena.record.queries.markets import read_last_shown
from arena.record.record import Record
from arena.scores.refresh import refresh_cache
from dashboard.record import read_market_interest
from tests.browser.watching import FLAGS
from tests.conftest import find_chromium
from tests.dashboard.serving import serving

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
SCREEN, PHONE = 1440, 390
HIGHEST = 7_000
"""Pixels of a whole page at most."""


@dataclass(frozen=True, slots=True)
class Shot:
    """A page at an address; the docs show its picture down to a height."""

    name: str
    address: str
    height: int = 1_400
    width: int = SCREEN
    theme: Literal["light", "dark"] = "light"


def shots(market: str) -> list[Shot]:
    """Return every page once, with `market` as the market to show."""
    return [
        Shot("arena", "", 1_700),
        Shot("cohort", "cohort?cohort=2"),
        Shot("agent", "agent?agent=sharp"),
        Shot("agent-forecasts", "agent?agent=sharp&part=forecasts"),
        Shot("agent-money", "agent?agent=sharp&part=money"),
        Shot("agent-setup", "agent?agent=sharp&part=setup"),
        Shot("duel", "duel?a=sharp&b=blind"),
        Shot("markets", "markets", 1_000),
        Shot("market", f"market?{urlencode({'market': market})}"),
        Shot("turn", "turn?cohort=2&round=3&agent=sharp"),
        Shot("operations", "operations"),
    ]


DARK = Shot("arena-dark", "", 1_700, theme="dark")
NARROW = [
    Shot("arena-390", "", 1_700, PHONE),
    Shot("agent-390", "agent?agent=sharp", 1_700, PHONE),
]


REAL = Shot("real", "", 1_700)


def every(taken: list[Shot]) -> Iterator[Shot]:
    """Yield each of these pages whole, at both widths and in both themes."""
    for shot in taken:
        for width in (SCREEN, PHONE):
            yield Shot(f"{shot.name}-{width}", shot.address, HIGHEST, width)
            yield Shot(f"{shot.name}-{width}-dark", shot.address, HIGHEST, width, "dark")


def settle(page: Page) -> None:
    """Wait until everything is drawn."""
    page.get_by_test_id("stHeading").first.wait_for()
    page.wait_for_load_state("networkidle")
    page.wait_for_function("document.querySelectorAll('[data-testid=stSkeleton]').length === 0")
    page.wait_for_function("!document.querySelector('[data-testid=stApp][data-test-script-state=running]')")
    page.wait_for_timeout(1_500)


def take(browser: Browser, address: str, shot: Shot) -> bytes:
    """Take a picture of a page down to its height, or to where it ends."""
    context = browser.new_context(
        viewport={"width": shot.width, "height": 900}, color_scheme=shot.theme, bypass_csp=True
    )
    page = context.new_page()
    page.goto(f"{address}/{shot.address}")
    settle(page)
    height = page.get_by_test_id("stMain").evaluate("main => main.scrollHeight")
    page.set_viewport_size({"width": shot.width, "height": min(height, HIGHEST)})
    settle(page)
    clip: FloatRect = {"x": 0, "y": 0, "width": shot.width, "height": min(height, shot.height)}
    picture = page.screenshot(clip=clip)
    context.close()
    return picture


def keep(picture: bytes, path: Path) -> None:
    """Write a picture with no more colours than such pages need, which makes it a third as large."""
    few = Image.open(io.BytesIO(picture)).convert("RGB").quantize(256, dither=Image.Dither.NONE)
    few.save(path, optimize=True)
    print(f"{path} {path.stat().st_size // 1_000} kB", flush=True)


MOVING = ("arena", "agent", "duel", "market", "turn")
"""The pictures of which the README's moving one is made."""


def keep_moving(folder: Path) -> None:
    """Write a small picture that shows the tops of some pages, one after the other."""
    frames = []
    for name in MOVING:
        page = Image.open(folder / f"{name}.png").convert("RGB").crop((0, 0, SCREEN, 1_000))
        frames.append(page.resize((SCREEN * 2 // 3, 667)).quantize(64, dither=Image.Dither.NONE))

    path = folder / "tour.gif"
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=2_500, loop=0, optimize=True)
    print(f"{path} {path.stat().st_size // 1_000} kB", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database", type=Path, required=True)
    parser.add_argument("--into", type=Path, help="a folder for every page whole, in every look")
    parser.add_argument("--real", action="store_true", help="the first page of a season over real markets")
    parser.add_argument("--only", default="", help="only pictures whose name begins so")
    asked = parser.parse_args()
    record = Record.open(str(asked.database))
    refresh_cache(record, now())
    with record.engine.connect() as connection:
        markets = list(chain.from_iterable(read_last_shown(connection)))
        interest = read_market_interest(connection, markets)
    market = max(sorted(interest), key=lambda market: interest[market].trades, default="")
    record.close()
    wanted = [*shots(market), DARK, *NARROW] if asked.into is None else [*every(shots(market))]
    if asked.real:
        wanted = [REAL]
    folder = asked.into or IMAGES
    folder.mkdir(parents=True, exist_ok=True)
    with serving(asked.database) as dashboard, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        for shot in wanted:
            if shot.name.startswith(asked.only):
                keep(take(browser, dashboard.address, shot), folder / f"{shot.name}.png")
        browser.close()
    if asked.into is None:
        keep_moving(folder)


if __name__ == "__main__":
    main()
