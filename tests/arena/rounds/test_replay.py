"""What a replay plays: from when to when, and by what of a config."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from arena.config import load
from arena.errors import ArenaError
from arena.rounds.replay import Replay, arrange_replay, market_brier, open_recording
from tests.bundles import a_bundle, ended, page

WEEK = timedelta(weeks=1)
JANUARY = [f"2026-01-{day:02}" for day in range(2, 30)]
CONFIG = "markets: {{venue: simulator}}\ncohorts: {{rules: {rules}}}\nagents: [{{kind: market}}]\n"


def on(day: int, month: int = 1) -> datetime:
    return datetime(2026, month, day, tzinfo=UTC)


def replay(folder: Path, *ends: str, start: date | None = None, end: date | None = None) -> Replay:
    """Return a replay of January, in which a market for each of these ends is priced."""
    names = [chr(ord("a") + place) for place in range(len(ends) or 1)]
    pages = [page(name, **(ended(ends[place], 1) if ends else {})) for place, name in enumerate(names)]
    rows = [f"v,{name},{day},0.4" for name in names for day in JANUARY]
    bundle = open_recording(a_bundle(folder, pages, rows))
    return arrange_replay(folder, bundle, start=start, end=end)


def test_cohorts_decide_on_every_sunday_with_prices(tmp_path: Path) -> None:
    decisions, later = replay(tmp_path).times()
    assert decisions == [on(4), on(11), on(18), on(25)]
    assert later == [on(30)], "the last price is that of the 29th, known on the 30th"


def test_afterwards_it_looks_only_where_something_was_learnt_and_at_the_end(tmp_path: Path) -> None:
    decisions, later = replay(tmp_path, "2026-01-29", "2026-02-20", "2026-03-30", "2026-03-31").times()
    assert decisions[-1] == on(25)
    assert later == [on(1, 2), on(22, 2), on(1, 4)]


def test_days_bound_it(tmp_path: Path) -> None:
    decisions, later = replay(tmp_path, "2026-01-29", start=date(2026, 1, 6), end=date(2026, 1, 20)).times()
    assert (decisions, later) == ([on(11), on(18)], [on(20)])
    decisions, later = replay(tmp_path, "2026-01-29", end=date(2026, 1, 18)).times()
    assert (decisions, later) == ([on(4), on(11), on(18)], [])
    with pytest.raises(ArenaError, match="no cohort starts") as caught:
        replay(tmp_path, start=date(2026, 3, 1)).times()
    assert caught.value.code == "nothing_to_replay"


@pytest.mark.parametrize(
    ("rules", "fill", "min_bet"),
    [
        ("realistic", "spread", 50),
        ("{from: realistic, min_bet: 20}", "spread", 20),
        ("{from: realistic, fill: quote}", "quote", 50),
        ("seed", "mid", 50),
        ("replay", "spread", 50),
    ],
)
def test_rules_for_books_give_way_and_others_stay(
    tmp_path: Path, rules: str, fill: str, min_bet: int
) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(CONFIG.format(rules=rules), "utf-8")
    folder = a_bundle(tmp_path / "bundle", prices=[f"v,a,{day},0.4" for day in JANUARY])
    found = arrange_replay(folder, open_recording(folder), load(config, {})).config.cohorts.rules
    assert (found.fill, found.min_bet) == (fill, min_bet * 10**6)


def test_a_cohort_freezes_what_is_played_and_not_where_it_lies(tmp_path: Path) -> None:
    cohorts = [replay(tmp_path / name).plan.freeze(1, on(4))[0] for name in ("here", "there")]
    assert cohorts[0] == cohorts[1]
    assert (cohorts[0].stamp, cohorts[0].venue) == ("replay", "recorded")
    assert cohorts[0].universe.price_only
    assert cohorts[0].universe.min_volume == 0


def test_the_markets_brier_is_that_of_the_last_price_eight_days_ahead(tmp_path: Path) -> None:
    pages = [
        page("a", **ended("2026-01-20", 1)),
        page("b", **ended("2026-01-20", 0)),
        page("c", **ended("2026-01-20", 0.5)),
        page("d", **ended("2026-01-20", "refund")),
        page("e", **ended("2026-01-05", 1)),
        page("f"),
        page("g", **ended("2026-01-20", 1)),
    ]
    prices = [f"v,{name},2026-01-{day:02},0.{day:02}" for name in "abcdef" for day in (3, 12, 13, 19)]
    ends = ["v:g,2,2026-01-30,0,", "v:a,2,2026-01-30,refund,"]
    bundle = open_recording(a_bundle(tmp_path, pages, [*prices, "v,g,2026-01-02,0.3"], ends=ends))
    found = market_brier(bundle)
    assert found["brier_market_markets"] == 2, "b, and g as it ended at last"
    assert found["brier_market"] == pytest.approx((0.12**2 + 0.3**2) / 2)


def test_without_any_that_ended_there_is_no_brier(tmp_path: Path) -> None:
    nothing = {"brier_market": None, "brier_market_markets": 0}
    assert market_brier(open_recording(a_bundle(tmp_path))) == nothing
