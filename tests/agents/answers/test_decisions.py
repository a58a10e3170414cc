"""Whatever an agent's code hands over, what is kept of it can be stored, and the rest is named."""

from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.answers.decisions import LARGEST_INTEGER, STATUSES, sound_decision
from agents.model import Decision, DecisionStatus, Forecast, Stage
from markets.hashes import canonical
from markets.model import MarketId
from portfolio.model import Bet, Rejection, Sale
from tests.agents.minds import THREE, a_view, stated
from tests.builders import usd

VIEW = a_view()
A, B = MarketId(THREE[0]), MarketId(THREE[1])
FORECAST, BET, SALE = stated(B, "0.4"), Bet(B, "YES", usd("60")), Sale(B, "NO", fraction=usd("0.5"))
GOOD = Decision((FORECAST,), (BET,), (SALE,), (Rejection("odd", "an odd wish"),), note="so it is")
HUGE = 10**5000


def slip(kind: Any, *values: Any, **named: Any) -> Any:
    """An item whose values are not of their declared types."""
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
