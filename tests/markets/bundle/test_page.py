"""The page on bundles shows a bundle, and says of it what is so."""

import re
from datetime import UTC, datetime
from pathlib import Path

from markets.bundle import check, read
from markets.bundle.files import NAMES
from markets.bundle.rows import COLUMNS
from markets.model import MarketId
from tests.builders import usd

PAGE = Path(__file__).resolve().parents[3] / "docs" / "bundles.md"
EXAMPLE = re.compile(r"`([\w.]+)`:\n\n```\w+\n(.*?)```", re.DOTALL)
RAIN = MarketId("polymarket:0xa1")
SNOW = MarketId("polymarket:0xa2")


def example(folder: Path) -> Path:
    """Write the files of the page into a folder."""
    for name, text in EXAMPLE.findall(PAGE.read_text("utf-8")):
        (folder / name).write_text(text, "utf-8")
    return folder


def test_the_example_is_a_whole_bundle(tmp_path: Path) -> None:
    report = check(example(tmp_path))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(NAMES)
    assert (report.mistakes, report.markets, report.events) == ((), 2, 1)
    assert (report.prices, report.books, report.resolutions) == (4, 1, 3)


def test_what_the_page_says_of_times_is_so(tmp_path: Path) -> None:
    markets = read(example(tmp_path)).markets
    assert [quote.at for quote in markets[RAIN].quotes] == [
        datetime(2026, 1, 4, tzinfo=UTC),
        datetime(2026, 1, 7, tzinfo=UTC),
    ]
    assert [end.known_at for end in markets[RAIN].ends] == [
        datetime(2026, 1, 10, tzinfo=UTC),
        datetime(2026, 1, 11, 8, tzinfo=UTC),
    ]
    last = markets[SNOW].quotes[-1]
    assert (last.at, last.bid, last.ask) == (
        datetime(2026, 1, 6, 9, 30, tzinfo=UTC), usd("0.14"), usd("0.16")
    )  # fmt: skip
    assert markets[SNOW].ends[0].payout is None


def test_the_page_names_every_column() -> None:
    text = PAGE.read_text("utf-8")
    assert [name for _, more in COLUMNS.values() for name in more if f"`{name}`" not in text] == []
