"""Which markets are played, as the config says it: each key with its default, each mistake with its mend."""

import re
from pathlib import Path

import pytest

from arena.config import load
from markets.millionths import ONE
from markets.simulation.settings import PlainSettings
from markets.universe import Universe
from markets.venues.simulator import Settings
from tests.arena.config_files import SMALL, told, write

ROOT = Path(__file__).parents[3]
SHIPPED = (ROOT / "config.yaml").read_text("utf-8")
RULE = """\
markets:
  venue: simulator
  show: 12
  per_event: 3
  closes_within: 30d
  closes_after: 12h
  min_volume: 5000
  min_depth: 250.50
  max_spread: 0.03
  min_price: 0.05
  max_price: 0.95
  categories: [Politics, economy]
  not_categories: [sport]
  price_only: true
  strata: [price, category]
agents:
  - kind: market
"""


def test_every_key_of_the_rule_can_be_set(tmp_path: Path) -> None:
    assert load(write(tmp_path, RULE)).markets.universe == Universe(
        show=12,
        per_event=3,
        closes_within=30 * 86_400,
        closes_after=12 * 3_600,
        min_volume=5_000 * ONE,
        min_depth=250_500_000,
        max_spread=30_000,
        min_price=50_000,
        max_price=950_000,
        categories=("Politics", "economy"),
        not_categories=("sport",),
        price_only=True,
        strata=("price", "category"),
    )
    assert all(f"\n  {key}: " in RULE for key in Universe.model_fields)


def uncommented(key: str) -> str:
    """The shipped config with a key that is commented out let in."""
    comment = re.compile(rf"^(  |    )# ({key}: )", re.MULTILINE)
    text, count = comment.subn(r"\1\2", SHIPPED)
    assert count == 1, key
    return text


@pytest.mark.parametrize("key", list(Universe.model_fields))
def test_the_shipped_config_has_each_key_of_the_rule_with_its_default(tmp_path: Path, key: str) -> None:
    text = SHIPPED if f"\n  {key}: " in SHIPPED else uncommented(key)
    assert f"\n  {key}: " in text
    plain = load(write(tmp_path, SMALL)).markets.universe
    assert load(write(tmp_path, text), environ={}).markets.universe == plain


@pytest.mark.parametrize(
    "key", [key for key in Settings.model_fields if key not in PlainSettings.model_fields]
)
def test_the_shipped_config_has_each_wider_setting_of_the_simulator_with_its_default(
    tmp_path: Path, key: str
) -> None:
    assert load(write(tmp_path, uncommented(key))).venue_settings == load(ROOT / "config.yaml").venue_settings


MISTAKES = {
    "markets.min_price: no price is at least 0.9 and at most 0.1. Make min_price the smaller one":
        "min_price: 0.9\n  max_price: 0.1",
    "markets.closes_after: no market closes after 90d and within 60d. Make closes_after the shorter one":
        "closes_after: 90d",
    'markets.categories: "Sport" is under not_categories too. Take it out of one of them':
        "categories: [Sport, art]\n  not_categories: [sport]",
    "markets.min_price: found 50, expected dollars a share, such as 0.05, from 0 to 1": "min_price: 50",
    "markets.min_depth: found -1, expected dollars, such as 0.50 or 20, from 0 to a billion": "min_depth: -1",
    'markets.closes_after: found "soon", expected a duration such as "120s", "15m", "2h" or "60d"':
        "closes_after: soon",
    'markets.strata[1]: found "prize", expected one of price, horizon, category. Did you mean "price"?':
        "strata: [horizon, prize]",
    'markets.categories: found "sport", expected a list of text of a length of at least 1 and a length of at '
    "most 200": "categories: sport",
    'markets.categories[0]: found "", expected text of a length of at least 1 and a length of at most 200':
        'categories: [""]',
    'markets.price_only: found "no", expected true or false': "price_only: no",
    'markets.min_dept: unknown key. Did you mean "min_depth"?': "min_dept: 5",
    "markets.simulator.jump_rate: found 2, expected a number of at least 0 and at most 1":
        "simulator: {jump_rate: 2}",
    "markets.simulator: exclusive_share and ladder_share are parts of all events: together at most 1":
        "simulator: {exclusive_share: 0.6, ladder_share: 0.6}",
    "markets.simulator: start is 9999-01-01: it lies between 1900-01-01 and 2900-01-01":
        "simulator: {start: 9999-01-01}",
}  # fmt: skip


@pytest.mark.parametrize(("said", "block"), MISTAKES.items(), ids=list(MISTAKES.values()))
def test_a_mistake_in_the_rule_is_told_with_its_key_and_its_mend(
    tmp_path: Path, said: str, block: str
) -> None:
    found = told(tmp_path, SMALL.replace("simulator", f"simulator\n  {block}"))
    assert [re.sub(r"^config\.yaml:\d+: ", "", line) for line in found] == [said]


@pytest.mark.parametrize(
    "block", ["min_price: 0.4\n  max_price: 0.4", "closes_after: 60d", "closes_after: 0s"]
)
def test_bounds_that_meet_are_allowed(tmp_path: Path, block: str) -> None:
    universe = load(write(tmp_path, SMALL.replace("simulator", f"simulator\n  {block}"))).markets.universe
    assert universe.min_price <= universe.max_price
    assert universe.closes_after <= universe.closes_within
