"""A season played again: figures worked by hand, and what holds for any season."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markets.model import Listing, MarketId, Resolution
from portfolio.ledger import fold, open_account
from portfolio.model import Bet, Holdings, Lot, LotKey, Sale
from portfolio.rules import REALISTIC, REFERENCE, REPLAY, SEED, Rules
from portfolio.sizing import quarter_kelly
from portfolio.whatif import Sizing, WhatIfOutcome, WhatIfStep, as_recorded, flat_stake, kelly_stake, replay
from tests.builders import NOW, RAIN, a_bet, a_listing, a_resolution, a_sale, a_snapshot, quote_of, usd

SNOW = MarketId("sim:snow")
QUOTE = REALISTIC.model_copy(update={"name": "quote", "fill": "quote", "fee": "none"})
MID = QUOTE.model_copy(update={"fill": "mid"})
MERGED_SEED = SEED.model_copy(update={"merge": True})
BANKROLL = usd(10_000)


def week(number: int) -> datetime:
    return NOW + timedelta(weeks=number)


def step(
    number: int,
    *listings: Listing,
    bets: Sequence[Bet] = (),
    sales: Sequence[Sale] = (),
    ended: Sequence[Resolution] = (),
    held: str | None = None,
    **beliefs: str,
) -> WhatIfStep:
    """Return week `number`; `held` are the YES shares of rain that the record says were there."""
    fresh = (replace(x, quote=x.quote and replace(x.quote, at=week(number))) for x in listings)
    return WhatIfStep(
        a_snapshot(*fresh, at=week(number)) if listings else replace(a_snapshot(), at=week(number), shown=()),
        tuple(bets),
        tuple(sales),
        ended,
        {MarketId(f"sim:{name}"): usd(p) for name, p in beliefs.items()},
        {(RAIN, "YES"): usd(held)} if held else {},
        f"fill:{number}",
    )


def play(steps: Sequence[WhatIfStep], rules: Rules = QUOTE, sizing: Sizing = as_recorded) -> WhatIfOutcome:
    return replay(BANKROLL, NOW, steps, rules, sizing)


def refusals(outcome: WhatIfOutcome) -> list[str]:
    return [rejection.code for step in outcome.rejections for rejection in step]


RAINY = a_listing("0.40", "0.50")
SNOWY = a_listing("0.40", "0.50", market=SNOW)
# $450 on YES at a mid of 0.45, $600 on NO at a mid of 0.55, with half a spread of 0.05
TWO_BETS = step(0, RAINY, SNOWY, bets=[a_bet(450), a_bet(600, "NO", SNOW)])


def test_at_the_quote_each_open_share_costs_half_the_spread_more_than_at_the_mid() -> None:
    at_mid = play([TWO_BETS], MID)
    at_quote = play([TWO_BETS], QUOTE)
    assert at_quote.holdings.lots == {
        (RAIN, "YES"): Lot(usd(900), usd(450)),  # 450 / 0.50
        (SNOW, "NO"): Lot(usd(1000), usd(600)),  # 600 / (1 − 0.40)
    }
    # rounding down to a millionth of a share: 600 / 0.55 is 1,090.909090…, worth $599.9999995
    assert at_mid.profit == -1
    assert at_quote.profit == -usd("0.05") * (900 + 1000)


def test_an_order_is_filled_at_the_second_quote_of_its_step_and_marked_at_the_first() -> None:
    seen_at = week(0) + timedelta(minutes=2)
    second = {RAIN: quote_of(a_listing("0.50", "0.60", at=seen_at))}
    both = [a_bet(450), a_bet(600, "NO", SNOW)]
    once = step(0, RAINY, SNOWY, bets=both)
    outcome = play([replace(once, again_at=seen_at, second=second)])
    assert outcome.holdings.lots == {
        (RAIN, "YES"): Lot(usd(750), usd(450)),  # 450 / 0.60
        (SNOW, "NO"): Lot(usd(1000), usd(600)),  # it has no second quote
    }
    assert outcome.marks[0].value == usd("0.45") * 750 + usd("0.55") * 1000


def test_when_it_is_over_the_fewer_shares_bought_at_the_quote_pay_less() -> None:
    ends = step(1, ended=[a_resolution("1", at=week(1)), a_resolution("1", SNOW, at=week(1))])
    assert play([TWO_BETS, ends], MID).profit == usd(1000 - 450) - usd(600)
    assert play([TWO_BETS, ends], QUOTE).profit == usd(900 - 450) - usd(600)


def test_what_the_new_rules_refuse_is_not_bought_and_the_reason_is_given() -> None:
    assert refusals(play([TWO_BETS], REALISTIC)) == ["no_book", "no_book"]
    low = QUOTE.model_copy(update={"max_bet": usd("0.05")})
    outcome = play([TWO_BETS], low)
    assert [len(fills) for fills in outcome.fills] == [1]
    assert outcome.rejections[0][0].message == "bet $600.00 is over the cap of $500.00: 5% of $10,000.00 cash"


def test_what_ended_is_paid_before_the_next_bet_and_marks_come_last() -> None:
    first = step(0, RAINY, bets=[a_bet(2500)])
    ends = step(
        1, SNOWY, bets=[a_bet(3100, market=SNOW)],
        ended=[a_resolution("1", at=week(1))],
    )  # fmt: skip
    outcome = play([first, ends])
    assert [entry.kind for entry in outcome.entries] == ["deposit", "buy", "settle", "buy"]
    assert [entry.ref for entry in outcome.entries[1:]] == ["fill:0:0", "resolution:1", "fill:1:0"]
    assert outcome.marks[-1].cash == BANKROLL - usd(2500) + usd(5000) - usd(3100)


def test_what_is_held_only_here_keeps_its_last_quote_and_is_paid_when_it_ends() -> None:
    steps = [step(0, RAINY, bets=[a_bet(450)]), step(1), step(2, ended=[a_resolution("1", at=week(2))])]
    bought = play(steps)
    assert [(mark.total, mark.stale) for mark in bought.marks] == [
        (BANKROLL - usd(45), 0),  # 900 shares at 0.45
        (BANKROLL - usd(45), 1),
        (BANKROLL + usd(450), 0),
    ]


def test_the_last_known_quote_is_the_last_that_was_one_and_others_that_are_held_keep_theirs() -> None:
    first = step(0, RAINY, SNOWY, bets=[a_bet(450), a_bet(600, "NO", SNOW)])
    unquoted = step(1, replace(RAINY, quote=None), SNOWY)
    moved = a_listing("0.20", "0.30", market=SNOW, at=week(2))
    third = replace(step(2), snapshot=a_snapshot(held=[moved], at=week(2)))
    last = play([first, unquoted, third]).marks[-1]
    assert (last.value, last.stale) == (usd("0.45") * 900 + usd("0.75") * 1000, 1)


def test_what_is_held_only_here_cannot_be_sold_on_a_price_that_is_history() -> None:
    steps = [step(0, RAINY, bets=[a_bet(450)]), step(1, sales=[a_sale()])]
    assert refusals(play(steps)) == ["stale_quote"]


@pytest.mark.parametrize(("shares", "left"), [("300", "1200"), ("900", "0")])
def test_a_sale_of_shares_sells_the_same_part_of_a_larger_lot(shares: str, left: str) -> None:
    # as bet: $450 at 0.50 are 900 shares; flat $900 are 1,800
    steps = [step(0, RAINY, bets=[a_bet(450)]), step(1, RAINY, sales=[a_sale(shares)], held="900")]
    outcome = play(steps, sizing=flat_stake(usd(900)))
    assert outcome.entries[-1].held == usd(left)


def test_a_sale_of_too_many_shares_is_refused_whatever_the_lot() -> None:
    steps = [step(0, RAINY, bets=[a_bet(450)]), step(1, RAINY, sales=[a_sale("900.000001")], held="900")]
    for stake in ("60", "450", "900"):
        assert refusals(play(steps, sizing=flat_stake(usd(stake)))) == ["over_held"]


NOW_HELD = Holdings(usd(1), lots={(RAIN, "YES"): Lot(usd(7), usd(3))})
TINY = Holdings(usd(1), lots={(RAIN, "YES"): Lot(7, 3)})


@pytest.mark.parametrize(
    ("sale", "held", "account", "same_part"),
    [
        (a_sale("100"), "900", TINY, Sale(RAIN, "YES", 1)),  # something of the smallest lot
        (Sale(RAIN, "YES", 1), "0.000001", TINY, Sale(RAIN, "YES", 7)),  # all that was a millionth
        (a_sale("5"), None, NOW_HELD, a_sale("5")),
        (a_sale("5"), "900", Holdings(usd(1)), a_sale("5")),
        *(
            (sale, "900", NOW_HELD, sale)
            for sale in (
                a_sale(fraction="0.5"),
                a_sale(),
                a_sale("0"),
                a_sale("-5"),
                a_sale("5", fraction="1"),
            )
        ),
    ],
)
def test_a_sale_as_recorded_is_the_same_part_or_what_it_was(
    sale: Sale, held: str | None, account: Holdings, same_part: Sale
) -> None:
    assert as_recorded(step(0, RAINY, sales=[sale], held=held), account, QUOTE)[1] == [same_part]


def test_a_flat_stake_is_that_of_every_bet_and_legs_that_are_merged_share_it() -> None:
    legs = [a_bet(100, limit="0.55"), a_bet(300), a_bet(200, "NO", SNOW), a_bet(2600)]
    listings = RAINY, SNOWY
    merged = play([step(0, *listings, bets=legs)], sizing=flat_stake(usd(100)))
    assert [(fill.side, fill.amount) for fill in merged.fills[0]] == [("YES", usd(100)), ("NO", usd(100))]
    each = QUOTE.model_copy(update={"merge": False})
    assert [
        fill.amount for fill in play([step(0, *listings, bets=legs)], each, flat_stake(usd(100))).fills[0]
    ] == [usd(100)] * 4


def test_a_leg_with_an_impossible_limit_takes_no_part_of_a_flat_stake() -> None:
    legs = a_bet(500), replace(a_bet(500), limit=usd(2)), replace(a_bet(500), limit=0)
    outcome = play([step(0, RAINY, bets=legs)], QUOTE, flat_stake(usd(100)))
    assert [fill.wanted for fill in outcome.fills[0]] == [usd(100)]
    assert refusals(outcome) == ["bad_limit", "bad_limit"]


@pytest.mark.parametrize("limit", [1, usd(1)])
def test_a_leg_whose_limit_is_a_price_takes_its_part_of_a_flat_stake(limit: int) -> None:
    legs = a_bet(500), replace(a_bet(500), limit=limit)
    bets, _ = flat_stake(usd(100))(step(0, RAINY, bets=legs), Holdings(), QUOTE)
    assert [bet.amount for bet in bets] == [usd(50), usd(50)]


def test_a_quote_without_a_price_is_as_none_to_buy_on_and_to_hold() -> None:
    priceless = replace(RAINY, quote=replace(quote_of(RAINY), bid=None, ask=None, mid=None, last=None))
    loose = MID.model_copy(update={"max_quote_age": 10**8})
    assert refusals(play([step(0, RAINY), step(1, priceless, bets=[a_bet(500)])], loose)) == ["no_price"]
    held = play([step(0, RAINY, bets=[a_bet(500)]), step(1, priceless)], MID)
    assert [mark.value for mark in held.marks] == [held.marks[0].value] * 2
    assert held.marks[1].stale == 1


def test_a_flat_stake_is_shared_out_to_the_last_millionth() -> None:
    legs = [a_bet(100), Bet(RAIN, "YES", 1), a_bet(0), a_bet(300)]
    bets, _ = flat_stake(10)(step(0, RAINY, bets=legs), Holdings(), QUOTE)
    assert [bet.amount for bet in bets] == [0, 3, 3, 4]


def test_a_bet_that_was_no_amount_stays_none() -> None:
    odd = [a_bet(0), a_bet("-5"), a_bet(70)]
    outcome = play([step(0, RAINY, bets=odd)], sizing=flat_stake(usd(100)))
    assert (refusals(outcome), [fill.amount for fill in outcome.fills[0]]) == (["bad_amount"] * 2, [usd(100)])


def test_quarter_kelly_bets_anew_on_what_was_stated_and_sells_nothing() -> None:
    steps = [
        step(0, RAINY, bets=[a_bet(60, "NO")], rain="0.60"),
        step(1, RAINY, sales=[a_sale(side="NO")], rain="0.30"),
    ]
    outcome = play(steps, sizing=kelly_stake)
    # ¼ · 10,000 · (0.60 − 0.50) / (1 − 0.50) = 500; then it is held, and left alone
    assert [entry.cash for entry in outcome.entries[1:]] == [-usd(500)]
    bets, sales = kelly_stake(steps[0], Holdings(BANKROLL), QUOTE)
    assert (bets, sales) == (
        quarter_kelly({RAIN: usd("0.60")}, Holdings(BANKROLL), steps[0].snapshot, QUOTE),
        (),
    )


def test_a_correction_may_leave_a_debt_and_then_nothing_is_bought() -> None:
    steps = [
        step(0, RAINY, bets=[a_bet(2500)]),
        step(1, SNOWY, bets=[a_bet(10_000, market=SNOW)],
             ended=[a_resolution("1", at=week(1))]),
        step(2, SNOWY, bets=[a_bet(50, market=SNOW)],
             ended=[a_resolution("1", at=week(1)), a_resolution("0", version=2, at=week(2))]),
    ]  # fmt: skip
    outcome = play(steps, QUOTE.model_copy(update={"max_bet": usd(1)}))
    assert outcome.marks[1].cash == usd(2500)
    assert outcome.holdings.cash == -usd(2500)
    assert refusals(outcome) == ["in_debt"]


def test_before_the_first_step_there_is_the_bankroll_alone() -> None:
    outcome = play([])
    assert (outcome.profit, outcome.holdings) == (0, fold(outcome.entries))
    assert outcome.entries == (open_account(BANKROLL, NOW),)


MARKETS = tuple(MarketId(f"sim:{n}") for n in range(4))
SIDES = st.sampled_from(["YES", "NO"])
BETS = st.builds(
    Bet, st.sampled_from(MARKETS), SIDES, st.integers(usd(10), usd(4000)), st.none() | st.integers(1, 10**6)
)
SALES = st.builds(
    Sale, st.sampled_from(MARKETS), SIDES, st.none() | st.integers(1, usd(3000)), fraction=st.none()
) | st.builds(Sale, st.sampled_from(MARKETS), SIDES, fraction=st.integers(1, 10**6))
SEASON = st.lists(
    st.tuples(
        st.lists(st.integers(5, 90), min_size=4, max_size=4),
        st.lists(BETS, max_size=4),
        st.lists(SALES, max_size=2),
        st.none() | st.tuples(st.sampled_from(MARKETS), st.sampled_from(["0", "0.5", "1", None])),
    ),
    max_size=6,
)
RULES = st.sampled_from([QUOTE, MID, REPLAY, SEED, REFERENCE, MERGED_SEED])
SIZINGS = st.sampled_from([as_recorded, flat_stake(usd(100)), flat_stake(usd(1234)), kelly_stake])


def season(
    drawn: Sequence[tuple[list[int], list[Bet], list[Sale], tuple[MarketId, str | None] | None]],
) -> list[WhatIfStep]:
    """Draw steps in which each market ends once, and is offered no more after that."""
    steps = list[WhatIfStep]()
    ended = dict[MarketId, Resolution]()
    for number, (bids, bets, sales, ending) in enumerate(drawn):
        if ending is not None and ending[0] not in ended:
            ended[ending[0]] = a_resolution(ending[1], ending[0], at=week(number))
        shown = [
            a_listing(f"0.{bid:02}", f"0.{bid + 6:02}", market=market)
            for market, bid in zip(MARKETS, bids, strict=True)
            if market not in ended
        ]
        beliefs = {
            market.removeprefix("sim:"): f"0.{100 - bid:02}"
            for market, bid in zip(MARKETS, bids, strict=True)
        }
        steps.append(step(number, *shown, bets=bets, sales=sales, ended=list(ended.values()), **beliefs))
    return steps


@given(SEASON.map(season), RULES, SIZINGS)
def test_cash_is_never_negative_and_the_sums_hold(
    steps: list[WhatIfStep], rules: Rules, sizing: Sizing
) -> None:
    outcome = play(steps, rules, sizing)
    assert min(entry.balance for entry in outcome.entries) >= 0
    assert fold(outcome.entries) == outcome.holdings
    assert outcome.holdings.cash == sum(entry.cash for entry in outcome.entries)
    for mark in outcome.marks:
        assert mark.total - BANKROLL == mark.realised + mark.value - mark.cost


@given(SEASON.map(season), RULES)
def test_what_came_of_other_rules_played_again_by_the_same_rules_is_the_same_ledger(
    steps: list[WhatIfStep], rules: Rules
) -> None:
    before = play(steps, rules)
    recorded = [replace(x, held=_held(before, x.snapshot.at)) for x in steps]
    assert play(recorded, rules) == before


def _held(outcome: WhatIfOutcome, at: datetime) -> dict[LotKey, int]:
    """Return the shares in each lot before the fills of a time."""
    entries = [x for x in outcome.entries if x.at < at or (x.at == at and not x.ref.startswith("fill:"))]
    return {key: lot.shares for key, lot in fold(entries).lots.items()}
