"""Money that doesn't add up is found though every hash is right: lots, marks, payouts, and books."""

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.record.model.cohort import Turn
from arena.verify import find
from arena.verify.checks.seals import seal_of
from arena.verify.reader import NOTHING_VERIFIED
from markets.model import Snapshot
from portfolio.execute import execute
from portfolio.ledger import post
from portfolio.model import Bet, Entry, Fill, Sale
from portfolio.rules import REALISTIC
from tests.arena.verify.test_verify import differences
from tests.builders import NOW, a_bet, a_market, a_resolution, a_sale, usd
from tests.records.full_record import (
    MARKETS,
    RAIN,
    SUN,
    Season,
    a_cohort,
    decides,
    replace_cap,
    the_book,
    week,
)
from tests.records.tampering import tamper
from tests.rows import read_only

Row = dict[str, Any]
COLUMNS = [name for name in Entry.__slots__ if name != "hash"]
RULES = replace_cap(REALISTIC).model_copy(update={"merge": False})


def forge(path: Path, entrant: int, **changes: dict[int, int]) -> None:
    """Change figures of a ledger, column by column and entry by entry; add up and seal it all anew."""
    database = sqlite3.connect(path)
    rows = database.execute(
        f"SELECT {', '.join(COLUMNS)} FROM entry WHERE entrant_id = ? ORDER BY number", (entrant,)
    ).fetchall()
    database.close()
    balance = 0
    previous = ""
    held = dict[tuple[str, str], int]()
    for row in (dict(zip(COLUMNS, values, strict=True)) for values in rows):
        row |= {column: more[row["number"]] for column, more in changes.items() if row["number"] in more}
        lot = row["market_id"], row["side"]
        balance, held[lot] = balance + row["cash"], held.get(lot, 0) + row["shares"]
        row |= {"balance": balance, "held": held[lot], "previous": previous}
        previous = seal_of(row)
        columns = ", ".join(f"{column} = ?" for column in (*COLUMNS, "hash"))
        where = "entrant_id = ? AND number = ?"
        tamper(
            path,
            f"UPDATE entry SET {columns} WHERE {where}",
            values=(*row.values(), previous, entrant, row["number"]),
        )


def test_a_forged_ledger_that_changes_nothing_is_no_difference(copy: Path) -> None:
    forge(copy, 1)
    assert differences(copy) == []


FORGED: dict[str, tuple[int, dict[str, dict[int, int]], str]] = {
    "a sale that releases too little cost, which later entries hide": (
        1,
        {"cost": {4: -140_000_000, 7: -160_000_000, 9: 160_000_000, 10: -160_000_000}},
        "ann, entry 4): cost is -140000000 and should be -150000000",
    ),
    "a bet that cost less than its fill says": (
        2,
        {"cash": {2: 900_000_000}, "cost": {2: -900_000_000}},
        "bob, entry 2): cash is 900000000 and should be -100000000",
    ),
    "a profit out of nothing": (
        2,
        {"realised": {3: 5}},
        "bob, entry 3): realised is 5 and should be 0",
    ),
    "a correction that gives back another cost": (
        1,
        {
            "cost": {9: 150_000_001, 10: -150_000_001},
            "realised": {9: -207_770_810, 10: -150_000_001},
        },
        "ann, entry 9): cost is 150000001 and should be 150000000",
    ),
    "a lot that cost less than nothing": (
        2,
        {"cash": {3: 7}, "cost": {3: -7}},
        "bob, entry 3): cash is 7 and should be -100000000",
    ),
    "a sale that is paid for": (
        2,
        {"cash": {4: -9}, "realised": {4: -100_000_009}},
        "bob, entry 4): cash is -9 and should be 100001939",
    ),
    "a settlement that is paid for": (
        2,
        {"cash": {5: -9}, "realised": {5: -100_000_009}},
        "bob, entry 5): cash is -9 and should be 44253426",
    ),
}


@pytest.mark.parametrize(("entrant", "changes", "words"), FORGED.values(), ids=FORGED)
def test_a_ledger_that_is_forged_and_sealed_anew_is_found(
    entrant: int, changes: dict[str, dict[int, int]], words: str, copy: Path
) -> None:
    forge(copy, entrant, **changes)
    found = differences(copy)
    assert any(words in difference.message for difference in found), found


def test_a_profit_forged_in_an_entry_that_was_verified_is_found_once_its_cohort_goes_on(copy: Path) -> None:
    forge(copy, 2, realised={3: 5})
    with read_only(copy) as connection:
        last = connection.exec_driver_sql("SELECT max(id) FROM entry").scalar_one()
        found = find(
            connection, None, verified=replace(NOTHING_VERIFIED, number=1, ids={"entry": last})
        ).listed
    assert ("entry", "realised") in [(d.table, d.field) for d in found]


@pytest.fixture
def season(tmp_path: Path) -> Season:
    """Return a cohort that trades the book and doesn't merge bets, in its first round."""
    return Season.begun(tmp_path / "record.db", a_cohort(1, NOW, RULES, "ann"))


@pytest.mark.parametrize(("column", "value"), [("payout", 1_500_000), ("payout", -100_000), ("version", 0)])
def test_a_payout_that_no_share_can_have_and_a_version_that_nobody_counts(
    column: str, value: int, copy: Path
) -> None:
    tamper(copy, f"UPDATE resolution SET {column} = {value} WHERE market_id = 'sim:wind'")
    assert ("resolution", column) in [(d.table, d.field) for d in differences(copy)]


def test_an_impossible_ending_is_not_kept(season: Season) -> None:
    impossible = a_resolution("1.5", SUN), a_resolution("-0.1", RAIN), a_resolution("1", SUN, version=0)
    assert season.record.resolve(impossible, NOW) == 0
    assert season.record.resolutions(MARKETS, NOW) == []


LOOSE = {
    "a limit of the agent's own": (a_bet(300, market=SUN, limit="0.41"), {}),
    "a price further than the rules go": (a_bet(300, market=SUN), {"worst_price": usd("0.005")}),
    "a spread that is too wide": (a_bet(100, market=SUN), {"max_spread": usd("0.01")}),
}


@pytest.mark.parametrize(("bet", "frozen"), LOOSE.values(), ids=LOOSE)
def test_a_fill_that_its_rules_forbid(bet: Bet, frozen: dict[str, int], tmp_path: Path) -> None:
    """The turn was played by looser rules, or as if no limit had been said, than the record says."""
    season = Season.begun(tmp_path / "strict.db", a_cohort(1, NOW, RULES.model_copy(update=frozen), "ann"))
    loose = each_alone(season, replace(bet, limit=None))
    season.turn(1, "ann", decides(bet), bent=loose)
    assert ("fill", "shares") in {(d.table, d.field) for d in season.differences()}


def test_a_fill_on_a_mid_that_is_elsewhere(season: Season) -> None:
    listing = the_book(SUN, week(1))
    assert listing.quote is not None
    far = replace(listing, quote=replace(listing.quote, mid=usd("0.46")))
    season.turn(1, "ann", decides())
    season.value(1, NOW)
    season.look(1, week(1), far)
    gapless = RULES.model_copy(update={"max_gap": usd("0.10")})
    season.turn(1, "ann", decides(a_bet(100, market=SUN)), rules=gapless)
    assert [(d.table, d.field, d.expected) for d in season.differences()] == [
        ("fill", "shares", None),
        ("entry", "kind", None),
    ]


def test_a_fill_that_left_out_the_best_price(season: Season) -> None:
    """200 dollars at 0.42, though 400 shares were to be had at 0.41."""

    def worse(turn: Turn) -> Turn:
        (fill,) = turn.fills
        _, second = fill.levels
        part = replace(fill, levels=(second,), shares=second.shares, amount=second.amount, fee=second.fee)
        part = replace(part, left="nothing more")
        held = season.record.holdings(1)["ann"]
        return replace(turn, fills=(part,), entries=tuple(post([part], held, NOW, "fill:1")))

    season.turn(1, "ann", decides(a_bet(300, market=SUN)), bent=worse)
    [level] = [d for d in season.differences() if (d.table, d.field) == ("fill_level", "price")]
    assert (level.found, level.expected) == (420_000, 410_000)


def test_levels_that_are_not_in_order(season: Season) -> None:
    def turned(turn: Turn) -> Turn:
        return replace(turn, fills=tuple(replace(fill, levels=fill.levels[::-1]) for fill in turn.fills))

    season.turn(1, "ann", decides(a_bet(300, market=SUN)), bent=turned)
    assert {difference.table for difference in season.differences()} == {"fill_level"}


def test_fewer_shares_than_the_market_deals_in(season: Season) -> None:
    season.turn(1, "ann", decides())
    season.value(1, NOW)
    many = replace(the_book(SUN, week(1)), market=a_market(SUN, min_shares=usd(1_000), fee_rate=usd("0.02")))
    season.look(1, week(1), many)
    held = season.record.holdings(1)["ann"]
    few = replace(many, market=replace(many.market, min_shares=0))
    fills, _ = execute([a_bet(100, market=SUN)], [], held, Snapshot(week(1), (few,)), RULES)
    entries = post(fills, held, week(1), "fill:2")
    bent = replace  # the turn as it would be without the market's least
    season.turn(
        1,
        "ann",
        decides(a_bet(100, market=SUN)),
        bent=lambda turn: bent(turn, fills=tuple(fills), entries=tuple(entries), rejections=()),
    )
    assert [(d.table, d.field, d.expected) for d in season.differences()] == [
        ("fill", "shares", None),
        ("entry", "kind", None),
    ]


@pytest.mark.parametrize("sold", ["100", "300"])
def test_a_sale_of_other_shares_than_were_wished_for(sold: str, season: Season) -> None:
    season.turn(1, "ann", decides(a_bet(100, market=SUN)))
    season.value(1, NOW)
    season.look(1, week(1), the_book(SUN, week(1)))
    bent = each_alone(season, a_sale(sold, market=SUN)) if sold == "100" else None
    wish = a_sale(fraction="0.4", market=SUN)
    season.turn(1, "ann", decides(wish), bent=bent or (lambda turn: turn))
    assert {d.field for d in season.differences() if d.table == "fill"} >= ({"wanted"} if bent else set())
    assert bool(season.differences()) == bool(bent)


def test_a_merged_bet_is_the_sum_of_its_sound_legs_alone(tmp_path: Path) -> None:
    """A leg with an impossible limit or amount was refused by itself."""
    season = Season.begun(tmp_path / "merged.db", a_cohort(1, NOW, REALISTIC, "ann"))
    legs = a_bet(100, market=SUN), replace(a_bet(70, market=SUN), limit=usd(2)), a_bet("-5", market=SUN)
    turn = season.turn(1, "ann", decides(*legs, a_bet(60, market=SUN)))
    assert [fill.wanted for fill in turn.fills] == [usd(160)]
    assert season.differences() == []


def each_alone(season: Season, *wishes: Bet | Sale) -> Callable[[Turn], Turn]:
    """Return a turn whose orders were each filled on the whole book, as if there were no others."""
    held = season.record.holdings(1)["ann"]
    at = season.record.rounds(1)[-1].at
    looked = season.record.snapshot(1, at)
    assert looked is not None
    fills = list[Fill]()
    for wish in wishes:
        bets, sales = ([wish], []) if isinstance(wish, Bet) else ([], [wish])
        fills += execute(bets, sales, held, looked[1], RULES)[0]
    entries = post(fills, held, at, f"fill:{season.record.rounds(1)[-1].number}")
    return lambda turn: replace(turn, fills=tuple(fills), entries=tuple(entries))


def test_two_bets_that_each_took_the_whole_of_a_level(season: Season) -> None:
    bets = a_bet(150, market=SUN), a_bet(150, market=SUN)
    season.turn(1, "ann", decides(*bets), bent=each_alone(season, *bets))
    first = 361_586_931  # 150 / (0.41 + 0.02 · 0.41 · 0.59), of 400 shares in all
    levels = [d for d in season.differences() if (d.table, d.field) == ("fill_level", "shares")]
    assert (levels[0].key, levels[0].found) == ("cohort 1, round 1, ann, fill 1, level 0", first)
    assert levels[0].expected == 400_000_000 - first


def test_bets_on_both_sides_take_from_both_ends_of_the_book(season: Season) -> None:
    bets = a_bet(150, market=SUN), a_bet(200, "NO", market=SUN)
    season.turn(1, "ann", decides(*bets), bent=each_alone(season, *bets))
    assert season.differences() == []


def test_a_sale_of_no_and_a_bet_on_yes_take_the_same_asks(season: Season) -> None:
    season.turn(1, "ann", decides(a_bet(200, "NO", market=SUN)))
    season.value(1, NOW)
    assert season.differences() == []
    season.look(1, week(1), the_book(SUN, week(1)))
    wishes = a_sale(side="NO", market=SUN), a_bet(150, market=SUN)
    season.turn(1, "ann", decides(*wishes), bent=each_alone(season, *wishes))
    assert ("fill_level", "shares") in {(d.table, d.field) for d in season.differences()}


def test_the_bets_of_an_honest_turn_share_the_book(season: Season) -> None:
    season.turn(1, "ann", decides(*[a_bet(100, market=SUN)] * 3))
    assert len(season.record.holdings(1)["ann"].lots) == 1
    assert season.differences() == []
