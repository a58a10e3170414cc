"""Which markets are played, as the config says it: each key with its default, each mistake with its mend."""

import re
from datetime import timedelta
from pathlib import Path

import pytest

from arena.config import Config, load
from tests.arena.config_files import SMALL, told, write


def test_the_rule_is_read_in_millionths_and_seconds(tmp_path: Path) -> None:
    text = SMALL.replace("simulator", "simulator\n  show: 12\n  closes_after: 12h\n  min_depth: 250.50")
    rule = load(write(tmp_path, text)).markets.universe
    assert (rule.show, rule.closes_after, rule.min_depth) == (12, 12 * 3_600, 250_500_000)


MISTAKES = {
    "markets.min_price: no price is at least 0.9 and at most 0.1. Lower min_price or raise max_price":
        "min_price: 0.9\n  max_price: 0.1",
    "markets.closes_after: no market closes after 90d and within 60d. Make closes_after the shorter":
        "closes_after: 90d",
    'markets.categories: "Sport" is also under not_categories. Remove it from one of them':
        "categories: [Sport, art]\n  not_categories: [sport]",
    'markets.closes_after: found "9999d", expected a duration of at most 3650d': "closes_after: 9999d",
    'markets.strata[1]: found "prize", expected one of price, horizon, category. Did you mean "price"?':
        "strata: [horizon, prize]",
    'markets.categories: found "sport", expected a list of text of 1 to 200 characters':
        "categories: sport",
    'markets.categories[0]: found "", expected text of 1 to 200 characters':
        'categories: [""]',
    'markets.price_only: found "no", expected true or false': "price_only: no",
    'markets.min_dept: unknown key. Did you mean "min_depth"?': "min_dept: 5",
    "markets.simulator: exclusive_share and ladder_share are parts of all events: together at most 1":
        "simulator: {exclusive_share: 0.6, ladder_share: 0.6}",
    "markets.simulator.price_shrink: unknown key. Did you mean \"price_noise\"?":
        "simulator: {price_shrink: 0.8}",
    "markets.simulator: start is 9999-01-01: it lies between 1900-01-01 and 2900-01-01":
        "simulator: {start: 9999-01-01}",
}  # fmt: skip


@pytest.mark.parametrize(("said", "block"), MISTAKES.items(), ids=list(MISTAKES.values()))
def test_a_mistake_in_the_rule_is_told_with_its_key_and_its_mend(
    tmp_path: Path, said: str, block: str
) -> None:
    found = told(tmp_path, SMALL.replace("simulator", f"simulator\n  {block}"))
    assert [re.sub(r"^config\.yaml:\d+: ", "", line) for line in found] == [said]


def test_a_fast_season_stands_for_keys_and_each_that_is_set_counts_instead(tmp_path: Path) -> None:
    def loaded(text: str) -> Config:
        (tmp_path / "config.yaml").write_text(text)
        return load(tmp_path / "config.yaml")

    agents = "\nagents: [{kind: market}]\n"
    fast = loaded("season: fast\nmarkets: {venue: simulator}" + agents)
    rule = fast.markets.universe
    assert (rule.closes_within, rule.order, rule.per_event) == (14 * 86_400, "soonest", 2)
    assert (fast.cohorts.decide.every, fast.cohorts.rounds) == (timedelta(days=1), 14)
    own = loaded("season: fast\nmarkets: {venue: simulator, order: lot}\ncohorts: {rounds: 3}" + agents)
    assert (own.markets.order, own.markets.closes_within, own.cohorts.rounds) == ("lot", 14 * 86_400, 3)
    usual = loaded("markets: {venue: simulator}" + agents)
    assert "order" not in usual.markets.universe.model_dump()
