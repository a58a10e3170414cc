"""The ledger: posting, settling, correcting, and a chain that shows any tampering."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from markets.model import MarketId, Resolution
from portfolio.execute import execute
from portfolio.ledger import LedgerError, entry_hash, fold, open_account, post, settle
from portfolio.model import Bet, Entry, Fill, Holdings, Lot, LotKey, Sale
from portfolio.rules import SEED
from tests.builders import NOW, RAIN, a_bet, a_resolution, a_sale, an_account, both_at, usd

SUN = MarketId("sim:sun")


def then(account: Holdings, *wishes: Bet | Sale, price: str = "0.40") -> tuple[Holdings, list[Entry]]:
    """Return the account and its new entries after orders that are all filled, markets at one price."""
    bets = [wish for wish in wishes if isinstance(wish, Bet)]
    sales = [wish for wish in wishes if isinstance(wish, Sale)]
    fills, refused = execute(bets, sales, account, both_at(price), SEED)
    assert refused == []
    entries = post(fills, account, NOW, "fill:1")
    return fold(entries, account), entries


def settled(account: Holdings, *resolutions: Resolution) -> Holdings:
    """Return the account after these resolutions."""
    return fold(settle(account, resolutions, NOW), account)


def test_an_account_opens_with_its_bankroll() -> None:
    entry = open_account(usd(10_000), NOW)
    assert (entry.number, entry.kind, entry.ref, entry.previous) == (1, "deposit", "bankroll", "")
    assert fold([entry]) == Holdings(cash=usd(10_000), number=1, head=entry.hash)


def test_a_sale_rounds_the_released_cost_up() -> None:
    account, _ = then(an_account(), a_bet(100), price="0.30")
    account, (entry,) = then(account, a_sale("1"), price="0.30")
    # 100 / 333.333333 is 0.3000000003 a share.
    assert (entry.cash, entry.cost, entry.realised) == (300_000, -300_001, -1)


def test_a_correction_takes_back_what_the_older_version_did_and_pays_anew() -> None:
    account, _ = then(an_account(), a_bet(500))
    once = settled(account, a_resolution("1"))
    back, anew = settle(once, [a_resolution("0", version=2)], NOW)
    assert (back.kind, back.cash, back.shares, back.cost, back.realised) == (
        "reverse",
        -usd(1_250),
        usd(1_250),
        usd(500),
        -usd(750),
    )
    assert (anew.kind, anew.cash, anew.ref) == ("settle", 0, "resolution:2")
    after = fold([back, anew], once)
    assert (after.cash, after.realised, after.lots) == (usd(9_500), -usd(500), {})
    assert settle(after, [a_resolution("1"), a_resolution("0", version=2)], NOW) == []


def test_only_the_newest_version_that_is_known_by_then_counts() -> None:
    account, _ = then(an_account(), a_bet(500))
    tomorrow = a_resolution("0", version=3, at=NOW + timedelta(days=1))
    (entry,) = settle(account, [a_resolution("1", version=2), a_resolution("0"), tomorrow], NOW)
    assert (entry.cash, entry.ref) == (usd(1_250), "resolution:2")


def test_only_a_correction_may_take_cash_below_zero() -> None:
    account, _ = then(an_account(), a_bet(2_500))
    account = settled(account, a_resolution("1"))
    for price in ("0.40",) * 40:
        account, _ = then(account, a_bet(str(account.cash // 4_000_000), market=SUN), price=price)
        if account.cash < usd(600):
            break
    account = settled(account, a_resolution("0", version=2))
    assert account.cash < 0
    fills, refused = execute([a_bet(50, market=SUN)], [], account, both_at("0.40"), SEED)
    assert fills == []
    assert [rejection.code for rejection in refused] == ["in_debt"]


@pytest.mark.parametrize(
    ("payout", "version"), [("1.5", 1), ("-0.1", 2), ("1.000001", 1), ("1", 0), ("1", -3)]
)
def test_an_impossible_resolution_pays_nobody_and_keeps_no_other_from_being_paid(
    payout: str, version: int
) -> None:
    account, _ = then(an_account(), a_bet(500), a_bet(400, market=SUN))
    impossible = a_resolution(payout, version=version)
    assert settle(account, [impossible], NOW) == []
    (paid,) = settle(account, [impossible, a_resolution("1", SUN)], NOW)
    assert (paid.market_id, paid.cash) == (SUN, usd(1_000))
    before = settle(account, [a_resolution("0"), impossible], NOW)
    assert [(entry.market_id, entry.cash) for entry in before] == [(RAIN, 0)]


def test_a_lot_that_was_settled_is_not_bought_again() -> None:
    account, (bought,) = then(an_account(), a_bet(500))
    ended = settled(account, a_resolution("1"))
    with pytest.raises(LedgerError, match="is not a buy"):
        fold([forged(ended, bought)], ended)
    fills, _ = execute([a_bet(500)], [], account, both_at("0.40"), SEED)
    with pytest.raises(LedgerError, match="is not a buy"):
        post(fills, ended, NOW, "fill:2")


def test_what_is_held_can_not_be_changed_by_who_is_shown_it() -> None:
    account, _ = then(an_account(), a_bet(500))
    lots: Any = account.lots
    settled: Any = account.settled
    with pytest.raises(TypeError):
        lots[RAIN, "NO"] = Lot(usd(10**6), 0)
    with pytest.raises(TypeError):
        del settled[RAIN, "YES"]


def test_lots_are_settled_in_an_order_that_no_insertion_changes() -> None:
    one, _ = then(an_account(), a_bet(100, "YES"), a_bet(100, "NO", SUN))
    other, _ = then(an_account(), a_bet(100, "NO", SUN), a_bet(100, "YES"))
    ends = [a_resolution("1"), a_resolution("1", SUN)]
    order = [(entry.market_id, entry.side) for entry in settle(one, ends, NOW)]
    assert order == [(entry.market_id, entry.side) for entry in settle(other, ends[::-1], NOW)]


def a_history() -> list[Entry]:
    """Return a ledger with an entry of each kind."""
    first = open_account(usd(10_000), NOW)
    account, bought = then(fold([first]), a_bet(500), a_bet(400, "NO"), a_bet(300, market=SUN))
    account, sold = then(account, a_sale(fraction="0.5"), price="0.50")
    ended = settle(account, [a_resolution("1"), a_resolution(None, SUN)], NOW)
    account = fold(ended, account)
    corrected = settle(account, [a_resolution("0", version=2)], NOW)
    return [first, *bought, *sold, *ended, *corrected]


def test_a_ledger_folds_in_one_go_or_in_parts() -> None:
    entries = a_history()
    assert {entry.kind for entry in entries} == {"deposit", "buy", "sell", "settle", "refund", "reverse"}
    for cut in range(len(entries)):
        assert fold(entries[cut:], fold(entries[:cut])) == fold(entries)


FIELDS: dict[str, Any] = {
    "number": 99,
    "at": NOW + timedelta(seconds=1),
    "kind": "deposit",
    "market_id": "sim:snow",
    "side": "MAYBE",
    "cash": 7,
    "shares": 7,
    "cost": 7,
    "realised": 7,
    "balance": 7,
    "held": 7,
    "ref": "resolution:9",
    "previous": "0" * 64,
    "hash": "0" * 64,
}


def test_a_tampered_entry_is_found_whichever_field_it_is() -> None:
    entries = a_history()
    for field, value in FIELDS.items():
        for place in range(1, len(entries)):
            forged = replace(entries[place], **{field: value})
            with pytest.raises(LedgerError, match=r"\) has the wrong hash$"):
                fold([*entries[:place], forged, *entries[place + 1 :]])


AMOUNTS = {
    "cash": "has a balance that is not the sum of its cash",
    "shares": "has a holding that is not the sum of the shares",
    "cost": "creates or destroys money",
    "realised": "creates or destroys money",
    "balance": "has a balance that is not the sum of its cash",
    "held": "has a holding that is not the sum of the shares",
}


def test_a_tampered_amount_is_found_even_with_a_fresh_hash() -> None:
    entries = a_history()
    for field, why in AMOUNTS.items():
        for place in range(1, len(entries)):
            forged = replace(entries[place], **{field: getattr(entries[place], field) + 1})
            with pytest.raises(LedgerError, match=rf"\) {why}$"):
                fold([*entries[:place], replace(forged, hash=entry_hash(forged))])


def test_a_missing_or_repeated_or_swapped_entry_is_found() -> None:
    entries = a_history()
    for place in range(1, len(entries) - 1):
        with pytest.raises(LedgerError, match="follows number"):
            fold(entries[:place] + entries[place + 1 :])
        with pytest.raises(LedgerError, match="follows number"):
            fold(entries[: place + 1] + entries[place:])


def forged(account: Holdings, like: Entry, **changes: Any) -> Entry:
    """Forge an entry that carries on the chain: its sums, links and hash are right."""
    links: dict[str, Any] = {"number": account.number + 1, "previous": account.head}
    entry = replace(like, **(links | changes))
    key: LotKey = (MarketId(entry.market_id), "YES" if entry.side == "YES" else "NO")
    held = account.lots[key].shares if key in account.lots else 0
    entry = replace(entry, balance=account.cash + entry.cash, held=held + entry.shares)
    return replace(entry, hash=entry_hash(entry))


def moves(kind: str, cash: int, shares: int, cost: int, realised: int, **more: Any) -> dict[str, Any]:
    """Return what an entry of a kind moves, in dollars and shares."""
    figures = {"cash": cash, "shares": shares, "cost": cost, "realised": realised}
    return {"kind": kind, **{name: usd(figure) for name, figure in figures.items()}, **more}


FORGERIES: dict[str, tuple[str, dict[str, Any]]] = {
    "a link to another entry": ("does not have the hash of the previous entry", {"previous": "0" * 64}),
    "a sale of more than is held": ("gives up shares that are not held", moves("sell", 500, -2_000, -500, 0)),
    "a sale of too much cost": ("gives up shares that are not held", moves("sell", 500, -1, -501, -1)),
    "a sale that leaves its cost": ("leaves a cost without shares", moves("sell", 500, -1_250, -400, 100)),
    "a purchase with a profit": ("is not a buy", moves("buy", -5, 10, 6, 1)),
    "a purchase of nothing": ("is not a buy", moves("buy", -5, 0, 5, 0)),
    "a sale of nothing": ("is not a sell", moves("sell", 5, 0, 0, 5)),
    "a sale that costs": ("is not a sell", moves("sell", -5, -1, 0, -5)),
    "a settlement of a part": ("is not a settle", moves("settle", 5, -5, 0, 5)),
    "a refund with a profit": ("is not a refund", moves("refund", 600, -1_250, -500, 100)),
    "a settlement of nothing": (
        "is not a settle",
        moves("settle", 5, 0, 0, 5, ref="resolution:1", side="NO"),
    ),
    "a settlement by no resolution": (
        "does not name the resolution behind it",
        moves("settle", 0, -1_250, -500, -500),
    ),
    "a reversal of nothing": ("is not a reverse", moves("reverse", -5, 5, 5, 0)),
    "a deposit that is a withdrawal": ("is not a deposit", moves("deposit", -5, 0, 0, 0)),
}


@pytest.mark.parametrize(("why", "changes"), FORGERIES.values(), ids=FORGERIES)
def test_an_entry_that_can_not_be_is_found_though_its_sums_and_hash_are_right(
    why: str, changes: dict[str, Any]
) -> None:
    account, (bought,) = then(an_account(), a_bet(500))
    with pytest.raises(LedgerError, match=rf"\) {why}$"):
        fold([forged(account, bought, **changes)], account)


@pytest.mark.parametrize("paid", [0, 1])
def test_the_smallest_purchase_is_an_entry(paid: int) -> None:
    account, (bought,) = then(an_account(), a_bet(500))
    smallest = forged(account, bought, market_id=SUN, cash=-paid, shares=1, cost=paid)
    assert fold([smallest], account).lots[SUN, "YES"] == Lot(1, paid)


def test_a_second_settlement_of_a_version_is_no_entry() -> None:
    account, _ = then(an_account(), a_bet(500))
    (entry,) = settle(account, [a_resolution("1")], NOW)
    account = replace(fold([entry], account), lots=account.lots)
    with pytest.raises(LedgerError, match="is not a settle"):
        fold([forged(account, entry)], account)
    back = {"kind": "refund", "cash": usd(500), "realised": 0}
    with pytest.raises(LedgerError, match="is not a refund"):
        fold([forged(account, entry, **back)], account)


def test_more_than_is_held_or_owned_can_not_be_posted() -> None:
    account, _ = then(an_account(), a_bet(500))
    fills, _ = execute([], [a_sale()], account, both_at("0.40"), SEED)
    sold: Fill = fills[0]
    with pytest.raises(LedgerError, match="not held"):
        post([sold, sold], account, NOW, "fill:2")
    fills, _ = execute([a_bet(500)], [], account, both_at("0.40"), SEED)
    with pytest.raises(LedgerError, match=r"\) spends more cash than there is$"):
        post(fills, replace(account, cash=usd(499)), NOW, "fill:2")
    (spent,) = post(fills, replace(account, cash=usd(500)), NOW, "fill:2")
    assert (spent.cash, spent.balance) == (-usd(500), 0)


def test_entries_of_an_end_carry_its_time_and_the_version_behind_them() -> None:
    account, _ = then(an_account(), a_bet(500), a_bet(400, market=SUN))
    later = NOW + timedelta(days=3)
    ends = settle(account, [a_resolution("1"), a_resolution(None, SUN)], later)
    assert [(x.at, x.ref) for x in ends] == [(later, "resolution:1")] * 2
    after = fold(ends, account)
    latest = later + timedelta(days=1)
    corrected = settle(after, [a_resolution("0", version=2)], latest)
    assert [(x.kind, x.at, x.ref) for x in corrected] == [
        ("reverse", latest, "resolution:2"),
        ("settle", latest, "resolution:2"),
    ]


def test_of_two_resolutions_of_one_version_the_first_counts() -> None:
    account, _ = then(an_account(), a_bet(500))
    (entry,) = settle(account, [a_resolution("1"), a_resolution("0")], NOW)
    assert entry.cash == usd(1_250)
