"""Evidence: capital that holds however often one looks, against the same done step by step."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.scores.rules.comparisons.evidence import MOST, STAKES, Evidence, EvidenceRows, Timeline, evidence
from tests.known_worlds.adversaries import first_reach

Row = tuple[int, int, float, float, float, float, float]
"""Story, market, made, known, forecast, price, payout."""


def of(rows: list[Row]) -> EvidenceRows:
    story, market, *floats = zip(*rows, strict=True)
    return EvidenceRows(np.array(story), np.array(market), *(np.array(x, dtype=float) for x in floats))


def by_hand(rows: list[Row], look: float) -> float:
    """Return the capital at a look, story by story, forecast by forecast."""
    capital = []
    for stake in STAKES:
        product_of_stories = 1.0
        for story in {row[0] for row in rows}:
            own = sorted(row for row in rows if row[0] == story and row[2] <= look and 0 < row[5] < 1)
            bets: list[tuple[Row, float]] = []
            for number, made in enumerate(sorted({row[2] for row in own}), 1):
                full = stake / 4 / np.sqrt(number)
                more = [(row, full / (_middle(row) * (1 - _middle(row)))) for row in own if row[2] == made]
                costs = _worst(bets) - _worst([*bets, *more])
                left = max(MOST + _worst(bets), 0.0)
                part = left / costs if costs > left else 1.0
                bets += [(row, weight * part) for row, weight in more]
            product_of_stories *= 1 + _worst(bets, look) if any(row[3] <= look for row in own) else 1.0
        capital.append(product_of_stories)
    return float(np.mean(capital))


def _worst(bets: list[tuple[Row, float]], look: float = -1.0) -> float:
    """Return the least that the bets gain, when some markets have ended at a look."""
    worst = 0.0
    for market in {row[1] for row, _ in bets}:
        own = [(row, weight) for row, weight in bets if row[1] == market]
        payout = own[0][0][6]
        ends = [0.0, 1.0] if own[0][0][3] > look else [payout]
        gains = [sum(weight * _gain(row, end) for row, weight in own) for end in ends]
        worst += 0.0 if np.isnan(gains[0]) else min(*gains, 0.0) if len(ends) == 2 else gains[0]
    return worst


def _middle(row: Row) -> float:
    return (row[4] + row[5]) / 2


def _gain(row: Row, outcome: float) -> float:
    return (row[5] - outcome) ** 2 - (row[4] - outcome) ** 2


CENTS = st.integers(1, 99).map(lambda cents: cents / 100)


@st.composite
def seasons(draw: st.DrawFn) -> list[Row]:
    """Draw markets of a few stories, each forecast once or more before its end."""
    rows: list[Row] = []
    for market in range(draw(st.integers(1, 8))):
        end = draw(st.integers(3, 9))
        known = draw(st.sampled_from([float(end), np.inf]))
        payout = draw(st.sampled_from([0.0, 1.0, 0.3, np.nan])) if known < np.inf else np.nan
        times = draw(st.sets(st.integers(0, end), min_size=1, max_size=3))
        rows += [(market % 3, market, made, known, draw(CENTS), draw(CENTS), payout) for made in times]
    return rows


@given(seasons())
def test_it_is_what_comes_out_by_hand_at_every_look(rows: list[Row]) -> None:
    found = evidence(of(rows))
    for at, capital in zip(found.at, found.capital, strict=True):
        assert capital == pytest.approx(by_hand(rows, at), rel=1e-9)
    assert found.now == pytest.approx(by_hand(rows, 99.0), rel=1e-9)

    sorted_rows = of(sorted(rows, key=lambda row: (row[0], row[2], row[1], row[3])))
    timeline = Timeline.of(sorted_rows.story, sorted_rows.made, sorted_rows.market, sorted_rows.known)
    all_rows = np.ones(len(rows), dtype=np.bool_)
    now = timeline.capital_now(sorted_rows.forecast, sorted_rows.price, sorted_rows.payout, all_rows)
    assert now == pytest.approx(found.now, rel=1e-9)


@given(seasons(), st.integers(0, 9))
def test_at_a_look_no_more_is_known_than_was_then(rows: list[Row], look: int) -> None:
    """What comes later changes nothing of the curve up to then."""
    then = [(*row[:3], row[3] if row[3] <= look else np.inf, *row[4:]) for row in rows if row[2] <= look]
    before = evidence(of(then)) if then else Evidence(np.zeros(0), np.zeros(0))
    whole = evidence(of(rows))
    upto = whole.at <= look
    assert before.at.tolist() == whole.at[upto].tolist()
    assert before.capital == pytest.approx(whole.capital[upto], rel=1e-9)


@given(st.lists(st.tuples(CENTS, CENTS), min_size=1, max_size=4))
def test_it_never_grows_on_average_where_prices_are_true(pairs: list[tuple[float, float]]) -> None:
    """Over all ways in which stories of one market can end, each as likely as its price says."""
    mean = 0.0
    for ends in product((0.0, 1.0), repeat=len(pairs)):
        rows = [(k, k, 0.0, 1.0, f, r, end) for k, ((f, r), end) in enumerate(zip(pairs, ends, strict=True))]
        chance = np.prod([r if end else 1 - r for (_, r), end in zip(pairs, ends, strict=True)])
        mean += float(chance) * evidence(of(rows)).now
    assert mean <= 1 + 1e-9


def test_what_has_nothing_to_say_does_not_count() -> None:
    row = (0, 0, 0.0, 1.0, 0.6, 0.5, 1.0)
    alone = evidence(of([row])).now
    for price in (0.0, 1.0):
        assert evidence(of([row, (1, 1, 0.0, 1.0, 0.6, price, 1.0)])).now == alone
    assert evidence(of([row, (1, 1, 2.0, 1.0, 0.9, 0.5, 1.0)])).now == alone, "asked after the end"
    assert evidence(of([row, (1, 1, 0.0, 1.0, 0.9, 0.5, np.nan)])).now == pytest.approx(alone), "a refund"
    fraction = evidence(of([(0, 0, 0.0, 1.0, 0.6, 0.5, 0.3)])).now
    assert fraction == pytest.approx(1 + float(np.mean(STAKES)) / (4 * 0.55 * 0.45) * 0.1 * (0.6 - 1.1))


def test_several_forecasts_of_one_market_at_one_time_are_averaged() -> None:
    twice = [(0, 0, 0.0, 1.0, 0.7, 0.5, 1.0), (0, 0, 0.0, 1.0, 0.5, 0.5, 1.0)]
    assert evidence(of(twice)).now == evidence(of([(0, 0, 0.0, 1.0, 0.6, 0.5, 1.0)])).now


def test_the_bar_is_reached_when_capital_first_comes_up_to_it() -> None:
    curve = Evidence(np.array([1.0, 2.0, 5.0]), np.array([3.0, 40.0, 12.0]))
    assert [first_reach(curve, bar) for bar in (20, 40, 41)] == [2.0, 2.0, None]
    assert curve.now == 12.0


FORECAST = np.array([0.6, 0.25, 0.15])
HAPPENED = np.array([1.0, 0.0, 0.0])


def on_options(odds: np.ndarray) -> float:
    """Return the evidence of one forecast of three options beside these odds."""
    zero = np.zeros(3)
    question = np.zeros(3, dtype=np.int64)
    return evidence(
        EvidenceRows(question, np.arange(3), zero, zero + 1, FORECAST, odds, HAPPENED, question)
    ).now


@pytest.mark.parametrize("odds", [(0.5, 0.25, 0.25), (0.55, 0.45, 0.0)])
def test_options_of_one_question_are_one_bet_of_half_the_sum_of_squares(odds: tuple[float, ...]) -> None:
    price = np.array(odds)
    middle = (FORECAST + price) / 2
    apart = FORECAST - price
    gain = ((price - HAPPENED) ** 2 - (FORECAST - HAPPENED) ** 2).sum() / 2
    variance = (middle * apart**2).sum() - (middle * apart).sum() ** 2
    expected = 1 + STAKES * (apart**2).sum() / 2 / variance * gain
    assert on_options(price) == pytest.approx(expected.mean())


def test_odds_that_are_sure_of_an_option_do_not_count() -> None:
    assert on_options(HAPPENED) == 1.0
