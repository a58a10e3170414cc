"""Duels with capital: that of `evidence`, shares of one error that add up, and seasons of known truth."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.scores.rules.comparisons import duel_evidence
from arena.scores.rules.comparisons.copies import PRICE
from arena.scores.rules.comparisons.duel_evidence import (
    ERROR,
    DuelRows,
    PairEvidence,
    compare_pairs,
    compare_with_price,
    error_shares,
    price_bars,
)
from arena.scores.rules.comparisons.evidence import EvidenceRows, evidence
from tests.known_worlds.adversaries import first_reach
from tests.known_worlds.duels import (
    LINE_UPS,
    WORLDS,
    Table,
    duel_rows,
    equal_lines,
    foreseen,
    seasons_told,
    table,
    told_pairs,
    wrongly_told,
)

Starts = dict[str, float]


def a_table(seed: int = 1) -> Table:
    """Return ten weeks of ten stories."""
    return table(10, 10, np.random.default_rng(seed))


def two(of: Table, better: float = 0.1, worse: float = 1.5) -> DuelRows:
    """Return two agents, of which one sees much more than the other."""
    return duel_rows(of, np.stack([of.seen(better), of.seen(worse)]))


def since(pair: PairEvidence) -> float:
    """Return the time of the look at which a pair was told."""
    assert pair.since is not None
    return float(pair.since)


def test_a_pair_is_told_when_its_capital_reaches_one_over_its_share() -> None:
    """With two entries each way has half of nine tenths of nine tenths of 5%."""
    rows = two(a_table())
    own, rival = (rows.forecast[rows.agent == place] for place in (0, 1))
    cells = rows.agent == 0
    capital = evidence(
        EvidenceRows(
            rows.story[cells],
            rows.market[cells],
            rows.made[cells],
            rows.known[cells],
            own,
            rival,
            rows.payout[cells],
        )
    )
    [told] = told_pairs(rows)
    gain = (rival - rows.payout[cells]) ** 2 - (own - rows.payout[cells]) ** 2
    by_story = [gain[rows.story[cells] == story].mean() for story in np.unique(rows.story[cells])]

    assert (told.better, told.worse, told.coverage, told.note) == ("entry 0", "entry 1", 1.0, None)
    assert told.since == first_reach(capital, 2 / (0.9 * 0.9 * 0.05))
    assert told.by == pytest.approx(np.mean(by_story))


def test_a_rival_that_says_0_or_1_is_a_rival_all_the_same() -> None:
    of = a_table()
    told = told_pairs(duel_rows(of, np.stack([of.seen(0.1), of.seen(1.5).round()])))
    assert [(pair.better, pair.worse) for pair in told] == [("entry 0", "entry 1")]


def test_what_is_told_stays_told_whatever_is_forecast_and_entered_later() -> None:
    """Outcomes of the second half are turned against the better one, and ten more entries come."""
    of = a_table()
    forecasts = np.stack([of.seen(0.1), of.seen(1.5)])
    [alone] = told_pairs(duel_rows(of, forecasts))
    later = of.made > since(alone)
    rng = np.random.default_rng(3)
    crowd = np.where(later, rng.uniform(0.05, 0.95, (10, later.size)), np.nan)
    swapped = np.where(later, forecasts[::-1], forecasts)
    crowded = told_pairs(duel_rows(of, np.concatenate([swapped, crowd])))
    assert [(pair.better, pair.worse, pair.since) for pair in crowded][:1] == [
        ("entry 0", "entry 1", alone.since)
    ]


def test_a_correction_withdraws_a_pair() -> None:
    rows = two(a_table())
    assert told_pairs(rows)
    corrected = replace(rows, payout=1 - rows.payout)
    assert not [pair for pair in told_pairs(corrected) if pair.better == "entry 0"]


def test_a_pair_that_is_told_both_ways_is_not_told() -> None:
    """After half of the time the better one becomes the worse one, for long enough to be told too."""
    of = table(40, 10, np.random.default_rng(1))
    is_late = of.made >= 70
    good = of.seen(0.1)
    bad = of.seen(3.0)
    rows = duel_rows(of, np.stack([np.where(is_late, bad, good), np.where(is_late, good, bad)]))
    first = replace(rows, known=np.where(rows.known <= 70, rows.known, np.inf))
    assert [pair.better for pair in told_pairs(first)] == ["entry 0"]
    assert told_pairs(rows) == []


def test_what_ends_later_changes_no_earlier_look() -> None:
    rows = two(a_table())
    [told] = told_pairs(rows)
    for look, count in ((since(told), 1), (since(told) - 1, 0)):
        seen = replace(rows, known=np.where(rows.known <= look, rows.known, np.inf))
        assert len(told_pairs(seen)) == count


def test_what_is_forecast_after_its_end_does_not_count() -> None:
    rows = two(a_table())
    assert told_pairs(replace(rows, made=rows.known + 1)) == []
    [told] = told_pairs(rows)
    again = replace(
        rows,
        agent=np.tile(rows.agent, 2),
        instant=np.concatenate([rows.instant, rows.instant + 1000]),
        market=np.tile(rows.market, 2),
        story=np.tile(rows.story, 2),
        made=np.concatenate([rows.made, rows.known + 1]),
        known=np.tile(rows.known, 2),
        forecast=np.concatenate([rows.forecast, 1 - rows.payout]),
        price=np.tile(rows.price, 2),
        payout=np.tile(rows.payout, 2),
    )
    assert told_pairs(again) == [told]


def test_what_only_others_forecast_changes_nothing_of_a_pair() -> None:
    """A third entry forecasts the same stories every day, the two once a week."""
    of = table(10, 10, np.random.default_rng(1), every=1.0)
    weekly = of.made % 7 == 0
    pair = np.where(weekly, [of.seen(0.2), of.seen(0.6)], np.nan)
    alone = compare_pairs(duel_rows(of, pair), {"entry 0": "x", "entry 1": "x"})
    crowded = compare_pairs(
        duel_rows(of, np.stack([*pair, np.where(of.made >= 7, of.seen(0.4), np.nan)])),
        {"entry 0": "x", "entry 1": "x", "entry 2": "y"},
    )
    assert [pair for pair in crowded if "entry 2" not in (pair.better, pair.worse)] == alone


def test_low_coverage_in_common_is_said() -> None:
    of = table(20, 20, np.random.default_rng(1))
    lines = np.stack([of.seen(0.1), of.seen(1.5)])
    lines[1, of.story % 2 == 0] = np.nan
    [told] = told_pairs(duel_rows(of, lines))
    assert told.coverage == pytest.approx(0.5, abs=0.05)
    assert told.note == f"on {told.coverage:.0%} of what either forecast"


def test_every_pair_with_resolved_rows_in_common_is_compared_told_or_not() -> None:
    """The third never meets the first two, and the fourth forecasts nothing that ends."""
    of = a_table()
    lines = equal_lines(of, 4)
    lines[:2, of.story % 2 == 0] = np.nan
    lines[2, of.story % 2 == 1] = np.nan
    lines[3, of.made < of.made.max()] = np.nan
    rows = duel_rows(of, lines)
    open_rows = rows.made == of.made.max()
    rows = replace(rows, known=np.where(open_rows, np.inf, rows.known))

    [pair] = compare_pairs(rows)
    own, rival = (np.where(of.made < of.made.max(), lines[place], np.nan) for place in (0, 1))
    gain = (rival - of.outcome) ** 2 - (own - of.outcome) ** 2
    ended = ~np.isnan(gain)
    stories = np.unique(of.story[ended])
    mean = np.mean([gain[ended & (of.story == story)].mean() for story in stories])

    assert (pair.better, pair.worse) == (("entry 0", "entry 1") if mean > 0 else ("entry 1", "entry 0"))
    assert pair.by == pytest.approx(abs(mean))
    assert (pair.since, pair.stories, pair.coverage) == (None, stories.size, 1.0)


def test_an_entry_is_compared_with_the_price_like_a_rival_on_quoted_rows() -> None:
    """Told when the evidence reaches the bar; without quotes there is nothing to compare."""
    of = table(20, 13, np.random.default_rng(1))
    rows = replace(duel_rows(of, of.seen(0.1)[None]), price=of.seen(1.5))
    capital = evidence(
        EvidenceRows(rows.story, rows.market, rows.made, rows.known, rows.forecast, rows.price, rows.payout)
    )
    bars = price_bars(rows)
    assert bars["entry 0"].start == 0.0
    assert bars["entry 0"].capital == pytest.approx(2 / (0.05 * 0.9 * 0.9))

    [closer] = compare_with_price(rows, bars)
    assert (closer.better, closer.worse, closer.coverage) == ("entry 0", PRICE, 1.0)
    reached = first_reach(capital, bars["entry 0"].capital)
    assert reached is not None
    assert reached <= since(closer) <= reached + 7, "the mean gain has to be clear too"
    assert capital.capital_at(np.array([since(closer)])) >= bars["entry 0"].capital

    [behind] = compare_with_price(replace(rows, forecast=rows.price, price=rows.forecast), bars)
    assert (behind.better, behind.worse, behind.since) == (PRICE, "entry 0", closer.since)
    assert compare_with_price(replace(rows, price=np.zeros(rows.price.size)), bars) == []


def test_bars_against_the_price_add_up_to_five_percent_and_never_move() -> None:
    of = a_table()
    lines = np.stack([of.seen(0.4) for _ in range(5)])
    lines[3:, of.made < 28] = np.nan
    bars = price_bars(duel_rows(of, lines))
    before = price_bars(duel_rows(of, lines[:3]))

    assert 2 * sum(1 / bar.capital for bar in bars.values()) <= ERROR, "both ways together"
    assert before == {name: bars[name] for name in before}
    assert [bar.start for bar in bars.values()] == [0.0, 0.0, 0.0, 28.0, 28.0]


def test_of_very_many_entries_the_first_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duel_evidence, "MOST_ENTRIES", 3)
    of = a_table()
    lines = equal_lines(of, 5)
    lines[0, of.made < 28] = np.nan
    pairs = compare_pairs(duel_rows(of, lines))
    assert {name for pair in pairs for name in (pair.better, pair.worse)} == {
        "entry 1",
        "entry 2",
        "entry 3",
    }


def test_how_long_telling_would_take_is_said_from_some_stories_and_weeks_on() -> None:
    of = table(12, 13, np.random.default_rng(4))
    rows = duel_rows(of, np.stack([of.seen(0.3), of.seen(0.6)]))
    [pair] = compare_pairs(rows)
    [early] = compare_pairs(replace(rows, known=np.where(rows.known <= 21, rows.known, np.inf)))
    [few] = compare_pairs(duel_rows(of, np.where(of.story % 10 == 0, [of.seen(0.3), of.seen(0.6)], np.nan)))
    assert pair.since is None
    assert pair.weeks_more is not None
    assert 0 < pair.weeks_more < 104
    assert early.weeks_more is None
    assert few.weeks_more is None
    [told] = told_pairs(two(of))
    assert told.weeks_more is None


def test_weeks_more_are_as_many_as_it_takes_half_of_the_time() -> None:
    """Of what is foreseen for ten entries after 16 weeks, and what was never to be told."""
    foresights = foreseen(5, 16)
    ratios = [sight.took / sight.foretold for sight in foresights if 0 < sight.foretold < np.inf]
    soon = [sight for sight in foresights if sight.took <= 52]
    never = [sight for sight in soon if sight.foretold == np.inf]
    assert 0.5 <= np.median(ratios) <= 2
    assert len(never) <= 0.1 * len(soon)


def test_copies_are_no_entries_and_one_who_stops_copying_begins_then() -> None:
    of = a_table()
    good = of.seen(0.1)
    bad = of.seen(1.5)
    told = told_pairs(duel_rows(of, np.stack([good, bad, good, bad + 0.004])))
    assert [(pair.better, pair.worse) for pair in told] == [("entry 0", "entry 1")]

    leaves = np.where(of.made < 56, bad, of.seen(1.5))
    again = told_pairs(duel_rows(of, np.stack([good, bad, leaves])))
    assert again == told, "no pair can be told from what was said as a copy"


@pytest.mark.parametrize("lines", [0, 1])
def test_without_a_rival_nothing_is_told(lines: int) -> None:
    of = a_table()
    assert told_pairs(duel_rows(of, equal_lines(of, 2)[:lines])) == []


@st.composite
def line_ups(draw: st.DrawFn) -> tuple[Starts, dict[str, str]]:
    """Draw when up to twelve entries begin, and whose they are."""
    names = [f"entry {number}" for number in range(draw(st.integers(0, 12)))]
    starts = {name: float(draw(st.integers(0, 4))) for name in names}
    return starts, {name: draw(st.sampled_from("abc")) for name in names}


@given(line_ups())
def test_shares_add_up_to_at_most_five_percent_and_later_entries_change_none(
    line_up: tuple[Starts, dict[str, str]],
) -> None:
    starts, owners = line_up
    shares = error_shares(starts, owners)
    assert sum(shares.values()) <= ERROR + 1e-12
    assert len(shares) == len(starts) * (len(starts) - 1)
    assert all(share > 0 and share == shares[worse, better] for (better, worse), share in shares.items())

    for look in range(5):
        then = {name: start for name, start in starts.items() if start <= look}
        before = error_shares(then, owners)
        assert before == {pair: shares[pair] for pair in before}


@given(st.integers(1, 40), st.integers(0, 3), st.integers(1, 3))
def test_variants_of_one_owner_raise_a_rivals_bar_at_most_twofold(more: int, day: int, rivals: int) -> None:
    """Against the owner's first entry; against all others not at all."""
    starts = {"ann": 0.0, **{f"rival {number}": 0.0 for number in range(rivals)}}
    owners = {name: name for name in starts}
    variants = {f"variant {number}": float(day) for number in range(more)}
    before = error_shares(starts, owners)
    after = error_shares(starts | variants, owners | dict.fromkeys(variants, "ann"))

    for pair, share in before.items():
        least = share / 2 if "ann" in pair else share
        assert least <= after[pair] <= share


def test_one_owner_shares_alike_and_pairs_of_owners_too() -> None:
    alone = error_shares(dict.fromkeys("abcde", 0.0), {})
    assert list(alone.values()) == pytest.approx([0.9 * 0.9 * 0.05 / 20] * 20)

    two_owners = error_shares(dict.fromkeys("abc", 0.0), {"a": "x", "b": "x", "c": "y"})
    by_owner = [two_owners["a", "b"], two_owners["a", "c"] + two_owners["b", "c"]]
    assert by_owner == pytest.approx([0.9 * 0.9 * 0.05 / 6, 0.9 * 0.9 * 0.9 * 0.05 / 6])


@pytest.mark.parametrize("name", WORLDS)
def test_hardly_ever_is_an_entry_told_better_that_is_not(name: str) -> None:
    """In 30 seasons of 100 stories, of which one or two may be wrong at 5%."""
    assert wrongly_told(WORLDS[name], 10, 10, 3, 30) <= 1


def test_what_is_much_better_is_told_within_twenty_weeks() -> None:
    told = seasons_told(LINE_UPS[0], 12)
    pairs = [[(pair.better, pair.worse) for pair in season] for season in told]
    assert sum(("entry 0", "entry 4") in season for season in pairs) >= 11
    assert sum(map(len, pairs)) >= 2 * 12
    assert not any(better > worse for season in pairs for better, worse in season)
