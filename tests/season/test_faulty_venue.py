"""A venue beside the config whose code fails or answers in a wrong unit: an error names its file."""

from pathlib import Path

import pytest

from tests.program.command_line import ROOT
from tests.program.running import arena

PRICES = "490_000, 510_000"
RUN = ("run", "--config", "coins.yaml", "--trust-extensions", "--round")


def block(page: str, language: str) -> str:
    """Return the first block of a language in a page."""
    return page.partition(f"```{language}\n")[2].partition("```")[0]


@pytest.fixture
def venue(tmp_path: Path) -> Path:
    recipe = (ROOT / "docs" / "recipes.md").read_text("utf-8").partition("## Write a venue")[2]
    file = tmp_path / "extensions" / "venues" / "coins.py"
    file.parent.mkdir(parents=True)
    file.write_text(block(recipe, "python"), "utf-8")
    (tmp_path / "coins.yaml").write_text(block(recipe, "yaml"), "utf-8")
    return file


FAULTS = {
    "a price as a fraction": (
        PRICES,
        "0.49, 0.51",
        "coins.py: bid 0.49 of coins:4 is not a whole number of millionths (490000 is 49¢)",
    ),
    "a price in no range": (
        PRICES,
        "490_000, 51_000_000",
        "coins.py: ask 51000000 of coins:4 is not from 0 to 1000000 millionths (490000 is 49¢)",
    ),
    "a number without end": (PRICES, "490_000, 10**5000", "coins.py: ValueError: Exceeds the limit"),
    "a volume as a fraction": (
        "volume=100_000_000_000",
        "volume=0.5",
        "coins.py: volume 0.5 of coins:4 is not a whole number of millionths",
    ),
    "a time without a zone": (
        "end = FIRST + timedelta(day)\n    page",
        "end = datetime(2026, 2, 1)\n    page",
        "coins.py: closes_at datetime.datetime(2026, 2, 1, 0, 0) of coins:4 is not a datetime",
    ),
    "no catalogue": ("return Catalogue([", "return ([", "coins.py: the answer [Listing("),
    "a name that isn't there": (
        PRICES,
        "BID, 510_000",
        "coins.py:41: NameError: name 'BID' is not defined",
    ),
    "a client that can't be opened": (
        "return Coins()",
        "return Coin()",
        "coins.py:45: NameError: name 'Coin'",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_an_error_names_the_file_the_market_and_the_field(venue: Path, fault: str) -> None:
    old, new, message = FAULTS[fault]
    venue.write_text(venue.read_text("utf-8").replace(old, new), "utf-8")

    done = arena(venue.parents[2], *RUN)

    assert done.returncode == 1
    assert message in done.stderr
    assert "correct extensions/venues/coins.py" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_end_in_a_wrong_unit_is_an_error_too(venue: Path) -> None:
    right = venue.read_text("utf-8")
    folder = venue.parents[2]
    assert arena(folder, *RUN).returncode == 0
    venue.write_text(right.replace("heads = {market: 1_000_000 *", "heads = {market: 1.0 *"), "utf-8")

    done = arena(folder, *RUN)

    assert done.returncode in (1, 2)
    assert "coins.py: payout" in done.stderr + done.stdout
    assert "Traceback" not in done.stderr
