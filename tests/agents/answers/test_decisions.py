"""Several answers become one, and whatever an agent hands over, what is kept of it can be stored."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Context, Decimal
from fractions import Fraction
from math import floor
from statistics import median
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.answers import decisions
from agents.answers.decisions import LARGEST_INTEGER, STATUSES, combine_samples, sound_decision
from agents.model import Decision, DecisionStatus, Forecast, Stage
from markets.hashes import canonical
from markets.millionths import ONE
from markets.model import MarketId
from portfolio.model import Bet, Rejection, Sale
from tests.agents.minds import THREE, a_view, stated
from tests.builders import usd

PRECISE = Context(prec=100)
HALF = Fraction(1, 2)
PROBABILITIES = st.lists(st.integers(0, ONE), min_size=1, max_size=30)
POOLS: dict[str, Callable[[Sequence[int]], int]] = {
    "mean": decisions.mean,
    "median": decisions.median,
    "trimmed_mean": lambda ps: decisions.trimmed_mean(ps, ONE // 10),
    "geometric_mean": decisions.geometric_mean,
    "geometric_mean_of_odds": decisions.geometric_mean_of_odds,
}


def nearest(value: Fraction) -> int:
    """Return the nearest whole number, with halves rounded up."""
    return floor(value + HALF)


def average_log(values: Sequence[Decimal]) -> Decimal:
    total = Decimal(0)
    for value in values:
        total = PRECISE.add(total, PRECISE.ln(value))
    return PRECISE.divide(total, Decimal(len(values)))


def is_nearest(found: int, exact: Decimal) -> bool:
    """Tell whether it is the nearest millionth, as a hundred digits decide it."""
    return abs(PRECISE.subtract(exact, Decimal(found))) <= Decimal("0.5") + Decimal(10) ** -80


@given(PROBABILITIES)
def test_mean_and_median_are_those_of_exact_fractions(ps: list[int]) -> None:
    assert decisions.mean(ps) == nearest(Fraction(sum(ps), len(ps)))
    assert decisions.median(ps) == nearest(median([Fraction(p) for p in ps]))


@given(PROBABILITIES, st.integers(0, ONE // 2 - 1))
def test_a_trimmed_mean_leaves_out_as_many_at_each_end(ps: list[int], trim: int) -> None:
    left = sorted(ps)
    out = floor(Fraction(trim, ONE) * len(ps))
    for _ in range(out):
        left.remove(min(left))
        left.remove(max(left))
    assert decisions.trimmed_mean(ps, trim) == nearest(Fraction(sum(left), len(left)))


@given(st.lists(st.integers(1, ONE), min_size=1, max_size=30))
def test_a_geometric_mean_is_that_of_logarithms(ps: list[int]) -> None:
    exact = PRECISE.exp(average_log([Decimal(p) for p in ps]))
    assert is_nearest(decisions.geometric_mean(ps), exact)


@given(PROBABILITIES)
def test_a_geometric_mean_of_odds_is_that_of_log_odds(ps: list[int]) -> None:
    inside = [min(max(p, 1), ONE - 1) for p in ps]
    odds = PRECISE.exp(average_log([PRECISE.divide(Decimal(p), Decimal(ONE - p)) for p in inside]))
    exact = PRECISE.divide(PRECISE.multiply(odds, Decimal(ONE)), PRECISE.add(odds, Decimal(1)))
    assert is_nearest(decisions.geometric_mean_of_odds(ps), exact)


@pytest.mark.parametrize("name", POOLS)
@given(ps=PROBABILITIES)
def test_no_pool_leaves_the_range_of_what_it_is_made_from_or_minds_its_order(
    name: str, ps: list[int]
) -> None:
    pooled = POOLS[name](ps)
    inside = [min(max(p, 1), ONE - 1) for p in ps] if name.endswith("odds") else ps
    assert min(inside) <= pooled <= max(inside)
    assert POOLS[name](sorted(ps)) == POOLS[name](ps[::-1]) == pooled


@pytest.mark.parametrize(
    ("name", "ps", "pooled"),
    [
        ("geometric_mean", [0, 900_000], 0),
        ("geometric_mean_of_odds", [0], 1),
        ("geometric_mean_of_odds", [ONE], ONE - 1),
        ("geometric_mean_of_odds", [200_000, 500_000], 333_333),  # odds 1/4 and 1: 1/2
    ],
)
def test_pools_by_hand(name: str, ps: list[int], pooled: int) -> None:
    assert POOLS[name](ps) == pooled


A = MarketId("sim:a")
B = MarketId("sim:b")


def said(*probabilities: int, amount: int = 0, note: str = "") -> Decision:
    """Return a sample that states these for the markets a and b, and bets on a."""
    forecasts = tuple(
        Forecast(m, millionths=p, reason=f"{p}") for m, p in zip((A, B), probabilities, strict=False)
    )
    return Decision(forecasts, (Bet(A, "YES", amount),) if amount else (), note=note)


FAILED = Decision(status="failed", note="timeout: no answer")
MALFORMED = Decision(status="malformed", note="no JSON")


def test_one_sample_is_the_decision_itself() -> None:
    for sample in (said(1, 2, amount=5), FAILED, MALFORMED):
        assert combine_samples([sample]) is sample


def test_forecasts_are_medians_with_the_reason_of_the_nearest_sample() -> None:
    whole = combine_samples([said(100, 900), said(300, 500), said(700, 100)])
    assert [(f.market_id, f.millionths, f.reason) for f in whole.forecasts] == [
        (A, 300, "300"),
        (B, 500, "500"),
    ]
    even = combine_samples([said(100), said(201)])
    assert [(f.millionths, f.reason) for f in even.forecasts] == [(151, "201")]


def test_it_bets_as_the_sample_closest_to_the_medians_does_and_as_no_mix() -> None:
    whole = combine_samples([said(100, 900, amount=1), said(300, 500, amount=2), said(310, 100, amount=3)])
    assert [bet.amount for bet in whole.bets] == [2]
    partial = combine_samples([said(300, amount=1), said(200, 400, amount=2), said(400, 600, amount=3)])
    assert [bet.amount for bet in partial.bets] == [2], "one that states less is not preferred for it"


def test_samples_without_an_answer_leave_a_note_and_no_mark() -> None:
    whole = combine_samples([FAILED, said(300, 500, amount=2), MALFORMED])
    assert (whole.status, [f.millionths for f in whole.forecasts], len(whole.bets)) == (
        "played",
        [300, 500],
        1,
    )
    assert whole.note == "sample 1: failed: timeout: no answer; sample 3: malformed: no JSON"


def test_without_any_answer_it_is_malformed_if_there_was_one_to_read() -> None:
    assert combine_samples([FAILED, MALFORMED]).status == "malformed"
    assert combine_samples([FAILED, FAILED]).status == "failed"
    declined = Decision(status="declined")
    assert combine_samples([FAILED, declined]).status == "declined"
    assert combine_samples([Decision(status="partly"), declined]).status == "partly"


def test_rejections_say_from_which_sample_they_are() -> None:
    bad = Decision((), rejections=(Rejection("amount", "bet 1: no number", A),))
    whole = combine_samples([said(300), bad])
    assert [rejection.message for rejection in whole.rejections] == ["sample 2: bet 1: no number"]


VIEW = a_view()
FORECAST = stated(B, "0.4")
BET = Bet(B, "YES", usd("60"))
SALE = Sale(B, "NO", fraction=usd("0.5"))
GOOD = Decision((FORECAST,), (BET,), (SALE,), (Rejection("odd", "an odd wish"),), note="so it is")
HUGE = 10**5000


def slip(kind: Any, *values: Any, **named: Any) -> Any:
    """Return an item whose values are not of their declared types."""
    return kind(*values, **named)


ITEMS = {
    "forecasts": (
        "bad_forecast",
        [
            slip(Forecast, A, millionths=usd("0.5"), reason=None),
            slip(Forecast, A, millionths=usd("0.5"), reason=7),
            slip(Forecast, A, millionths=0.5),
            slip(Forecast, A, millionths=True),
            slip(Forecast, A, millionths=HUGE),
            slip(Forecast, A, millionths=-1),
            slip(Forecast, A, millionths=usd("0.5"), stage="first"),
            slip(Forecast, A, millionths=usd("0.5"), stage=None),
            slip(Forecast, [A], millionths=usd("0.5")),
            slip(Forecast, "sim:nowhere", millionths=usd("0.5")),
            FORECAST,  # for the second time
            BET,
            None,
        ],
    ),
    "bets": (
        "bad_order",
        [
            slip(Bet, A, "YES", usd("60"), reason=None),
            slip(Bet, A, "YES", usd("60"), reason=7),
            slip(Bet, A, "YES", HUGE),
            slip(Bet, A, "YES", LARGEST_INTEGER + 1),
            slip(Bet, A, "YES", float("nan")),
            slip(Bet, A, "YES", None),
            slip(Bet, A, "YES", usd("60"), limit="0.5"),
            slip(Bet, A, "YES", usd("60"), limit=HUGE),
            slip(Bet, A, None, usd("60")),
            slip(Bet, [A], "YES", usd("60")),
            SALE,
            {"market_id": A},
        ],
    ),
    "sales": (
        "bad_order",
        [
            slip(Sale, A, "YES", shares="all"),
            slip(Sale, A, "YES", shares=-HUGE),
            slip(Sale, A, "YES", fraction=0.5),
            slip(Sale, A, "YES", reason=None),
            slip(Sale, {}, "YES"),
            BET,
        ],
    ),
    "rejections": (
        "bad_rejection",
        [
            slip(Rejection, None, "why"),
            slip(Rejection, "code", 7),
            slip(Rejection, "code", "why", None),
            "no",
        ],
    ),
}
SLIPS = [(name, code, item) for name, (code, items) in ITEMS.items() for item in items]


@pytest.mark.parametrize(("name", "code", "item"), SLIPS, ids=[f"{s[0]}-{n}" for n, s in enumerate(SLIPS)])
def test_an_item_with_a_slip_is_refused_and_the_rest_stands(name: str, code: str, item: Any) -> None:
    faulty: dict[str, Any] = {name: [*getattr(GOOD, name), item]}
    kept = sound_decision(replace(GOOD, **faulty), VIEW)
    assert replace(kept, rejections=GOOD.rejections) == GOOD
    assert kept.rejections[0] == GOOD.rejections[0]
    (refused,) = kept.rejections[1:]
    assert (refused.code, bool(refused.message)) == (code, True)


@pytest.mark.parametrize("name", ITEMS)
@pytest.mark.parametrize("several", [None, 7, "text", {}, iter(()), FORECAST])
def test_items_come_in_a_tuple_or_a_list(name: str, several: Any) -> None:
    kept = sound_decision(replace(GOOD, **{name: several}), VIEW)
    assert getattr(kept, name)[: len(getattr(kept, name)) - (name == "rejections")] == ()
    assert kept.rejections[-1].code == ITEMS[name][0]


@pytest.mark.parametrize("status", ["hold", "out", "", None, 7, [], {"played": 1}])
def test_a_turn_with_an_unknown_status_is_taken_as_played(status: Any) -> None:
    kept = sound_decision(replace(GOOD, status=status), VIEW)
    assert replace(kept, rejections=GOOD.rejections) == GOOD
    assert [refused.code for refused in kept.rejections] == ["odd", "bad_status"]


@pytest.mark.parametrize("status", ["malformed", "failed"])
def test_a_turn_that_was_not_played_has_no_bets_and_no_sales(status: DecisionStatus) -> None:
    kept = sound_decision(replace(GOOD, status=status), VIEW)
    assert (kept.status, kept.bets, kept.sales) == (status, (), ())
    assert [(refused.code, refused.market_id) for refused in kept.rejections[1:]] == [("bad_order", B)] * 2


@pytest.mark.parametrize("note", [None, 7, ["so"], b"so"])
def test_a_note_is_a_text(note: Any) -> None:
    kept = sound_decision(replace(GOOD, note=note), VIEW)
    assert (kept.note, kept.rejections[-1].code) == ("", "bad_note")


@pytest.mark.parametrize("thing", [None, "played", {}, Decision])
def test_what_is_no_decision_is_told_apart(thing: object) -> None:
    with pytest.raises(TypeError, match="expected a Decision"):
        sound_decision(thing, VIEW)


def test_a_good_decision_is_kept_as_it_is() -> None:
    assert sound_decision(GOOD, VIEW) == GOOD


WILD = st.one_of(
    st.none(), st.booleans(), st.integers(), st.just(HUGE), st.floats(), st.text(max_size=5), st.just([]),
    st.sampled_from([*THREE, "YES", "NO", "final", "blind", *STATUSES]), st.integers(0, 10**6),
)  # fmt: skip
ITEM = st.one_of(
    WILD,
    st.builds(
        slip,
        st.just(Forecast),
        WILD,
        millionths=WILD.filter(lambda x: x is not None),
        stage=WILD,
        reason=WILD,
    ),
    st.builds(slip, st.just(Bet), WILD, WILD, WILD, WILD, WILD),
    st.builds(slip, st.just(Sale), WILD, WILD, WILD, WILD, WILD, WILD),
    st.builds(slip, st.just(Rejection), WILD, WILD, WILD),
)
ITEM_LISTS = st.one_of(WILD, st.lists(ITEM, max_size=4))


@given(st.builds(slip, st.just(Decision), ITEM_LISTS, ITEM_LISTS, ITEM_LISTS, ITEM_LISTS, WILD, WILD))
def test_whatever_is_decided_can_be_stored(decision: Decision) -> None:
    kept = sound_decision(decision, VIEW)
    canonical(kept).encode()
    assert kept.status in STATUSES
    assert kept.status == "played" or not (kept.bets or kept.sales)
    for forecast in kept.forecasts:
        assert forecast.market_id in THREE
        assert 0 <= forecast.millionths <= usd("1")
        assert forecast.stage in get_args(Stage)
    assert all(type(text) is str for said in kept.rejections for text in (said.code, said.message))
    assert all(type(bet.amount) is int and abs(bet.amount) <= LARGEST_INTEGER for bet in kept.bets)
    assert sound_decision(kept, VIEW) == kept
