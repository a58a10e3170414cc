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
    "a text that no file can hold": (
        '"YES if heads."',
        '"YES\\ud800"',
        "coins.py: rules 'YES\\ud800' of coins:4 is not a text without NUL and lone surrogates",
    ),
    "a form that is none": (
        '"coins", FIRST, end)',
        '"coins", FIRST, end, form="numeric")',
        "coins.py: form 'numeric' of coins:4 is not the form of a question (",
    ),
    "a fee below 0": (
        '"coins", FIRST, end)',
        '"coins", FIRST, end, fee_rate=-1)',
        "coins.py: fee_rate -1 of coins:4 is not 0 or more",
    ),
    "a price that is true": (PRICES, "True, 510_000", "coins.py: bid True of coins:4 is not a whole number"),
    "a report of no kind": (
        "    return Coins()",
        """    from arena.extend import QuarantinedRecord

    report(QuarantinedRecord("coins", "4", "toss", "lost", "it rolled away"))
    return Coins()""",
        "coins.py: kind 'toss' of a QuarantinedRecord is not one of market, quote, resolution, page, article",
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


ENDS = {
    "a payout as a fraction": ("heads = {market: 1_000_000 *", "heads = {market: 1.0 *", "coins.py: payout"),
    "a version that is true": ("(market, 1, end", "(market, True, end", "coins.py: version True of coins:"),
    "a version without end": ("(market, 1, end", "(market, 2**70, end", "coins.py: version 118059162071741"),
    "an end of tomorrow": (
        "(market, 1, end",
        "(market, 1, at + timedelta(1)",
        "coins.py: known_at '2026-01-12T00:00:00+00:00' of coins:",
    ),
}


@pytest.mark.parametrize("fault", ENDS)
def test_an_end_that_makes_no_sense_is_an_error_too(venue: Path, fault: str) -> None:
    old, new, message = ENDS[fault]
    right = venue.read_text("utf-8")
    folder = venue.parents[2]
    assert arena(folder, *RUN).returncode == 0
    venue.write_text(right.replace(old, new), "utf-8")

    done = arena(folder, *RUN)

    assert done.returncode in (1, 2)
    assert message in done.stderr + done.stdout
    assert "Traceback" not in done.stderr


def test_a_past_that_is_none_names_the_file(venue: Path) -> None:
    folder = venue.parents[2]
    text = venue.read_text("utf-8")
    old = "def venue(settings: Settings, report: Report)"
    venue.write_text(
        text.replace(old, "def venue(settings: Settings, report: Report, answers=None)"), "utf-8"
    )
    arena(folder, "check", "--config", "coins.yaml", "--trust-extensions")

    done = arena(
        folder, "study", "bundle", "past", "coins", "--config", "coins.yaml", "--since", "2026-01-01"
    )

    assert done.returncode != 0
    assert "'Coins' object has no attribute 'past_markets'" in done.stderr
    assert "correct extensions/venues/coins.py" in done.stderr
    assert "Traceback" not in done.stderr
