"""A writer that errs seals its errors with right hashes: verifying finds them by the rules alone."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agents.model import Decision, Forecast
from arena.record.model.cohort import Turn
from arena.record.write.heads import add_head, last_lines
from arena.verify import Difference
from markets.model import Snapshot
from portfolio.ledger import Account
from portfolio.model import Entry, Fill, Holdings, LotKey
from portfolio.rules import REALISTIC
from tests.builders import NOW, a_bet, a_resolution, a_sale, usd
from tests.opened_record import OpenedRecord
from tests.records.full_record import (
    MARKETS,
    RAIN,
    SNOW,
    SUN,
    WIND,
    Season,
    a_cohort,
    decides,
    replace_cap,
    said,
    the_book,
    week,
)
from tests.rows import TABLES

RULES = replace_cap(REALISTIC)
YES: LotKey = (SUN, "YES")


@pytest.fixture
def season(tmp_path: Path) -> Season:
    """Return a cohort that has begun its first round: ann holds SUN, bob has yet to play."""
    season = Season.begun(tmp_path / "record.db", a_cohort(1, NOW, RULES, "ann", "bob"))
    season.turn(1, "ann", decides(a_bet(100, market=SUN)))
    return season


def found(season: Season) -> list[Difference]:
    """Return what verifying finds, after checking that no hash is among it."""
    differences = season.differences()
    assert not [d for d in differences if d.field in ("hash", "previous", "prompt_hash")]
    return differences


def fields(season: Season) -> set[tuple[str, str]]:
    return {(difference.table, difference.field) for difference in found(season)}


def bent_fill(**changes: Any) -> Callable[[Turn], Turn]:
    """Change the first fill of a turn, and leave its entries as they were."""

    def bend(turn: Turn) -> Turn:
        fill: Fill = replace(turn.fills[0], **changes)
        return replace(turn, fills=(fill, *turn.fills[1:]))

    return bend


def write(season: Season, *, name: str = "ann", **entry: Any) -> Entry:
    """Write one more entry into a ledger, whatever it says, with the right hash and balance."""
    stored = season.record.cohorts()[0]
    account = LaxAccount(season.record.holdings(1)[name])
    line = account.write(**entry)
    row = {"entrant_id": stored.entrant_ids[name]} | {each: getattr(line, each) for each in Entry.__slots__}
    with season.record.engine.begin() as connection:
        connection.execute(TABLES["entry"].insert(), row)
        add_head(connection, line.at, {"entry": last_lines(connection, [row["entrant_id"]])})
    return line


class LaxAccount(Account):
    """An account that takes everything."""

    def apply(self, entry: Entry) -> None:
        """Apply an entry without a check."""


def test_what_is_right_passes(season: Season) -> None:
    season.turn(1, "bob", decides(a_bet(100, market=SUN)))
    season.value(1, NOW)
    assert found(season) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"max_bet": usd("0.9")}, ("fill", "wanted")),
        ({"min_bet": usd(1)}, ("fill", "wanted")),
        ({"fill": "mid"}, ("fill_level", "price")),
        ({"fill": "quote"}, ("fill_level", "shares")),
        ({"fee": "none"}, ("fill", "fee_rate")),
        ({"base": "running"}, ("fill", "base")),
        ({"merge": False}, ("fill", "wanted")),
    ],
    ids=str,
)
def test_a_turn_by_other_rules_than_the_frozen_ones(
    changes: dict[str, Any], expected: tuple[str, str], season: Season
) -> None:
    odd = a_bet(2_600, market=RAIN), a_bet(40, market=SNOW)
    usual = a_bet(400, market=SUN), a_bet(300, market=SUN), a_bet(60, market=WIND)
    season.turn(1, "bob", decides(*odd, *usual), rules=RULES.model_copy(update=changes))
    assert expected in fields(season)


def test_bets_that_together_exceed_the_cap(tmp_path: Path) -> None:
    season = Season.begun(
        tmp_path / "record.db", a_cohort(1, NOW, RULES.model_copy(update={"cap": "decision"}), "ann")
    )
    season.turn(1, "ann", decides(a_bet(1_500, market=SUN), a_bet(1_500, market=RAIN)), rules=RULES)
    assert ("fill", "shares") in fields(season)


@pytest.mark.parametrize("looks_again", [True, False])
def test_where_the_rules_fill_at_the_answer_every_usable_turn_has_second_quotes(
    looks_again: bool, tmp_path: Path
) -> None:
    season = Season(OpenedRecord.at(tmp_path / "record.db"))
    at_answer = RULES.model_copy(update={"fill_at": "answer"})
    season.start(replace(a_cohort(1, NOW, at_answer, "ann"), stamp="live"))
    listings = [the_book(market, NOW) for market in MARKETS]
    season.look(1, NOW, *listings)
    again = Snapshot(NOW, tuple(listings), (), NOW + timedelta(minutes=1))
    season.turn(1, "ann", decides(a_bet(100, market=SUN)), second=again if looks_again else None)
    assert (("turn", "status") in fields(season)) == (not looks_again)


CAPPED = {"max_of_volume": 20_000, "max_of_volume_cohort": 100_000}


@pytest.mark.parametrize(
    ("volume", "changes", "expected"),
    [
        (20_000, CAPPED, set()),
        (20_000, {}, {("fill", "amount")}),
        (20_000, CAPPED | {"max_of_volume": 10_000}, {("fill", "amount")}),
        (20_000, CAPPED | {"max_of_volume_cohort": 10_000}, {("fill", "amount")}),
        (90_000, CAPPED, set()),
        (90_000, {}, {("fill", "shares")}),
        (None, {}, set()),
        (None, CAPPED, set()),
        (0, {}, {("fill", "shares")}),
    ],
    ids=str,
)
def test_a_fill_of_more_or_less_than_the_depth_allows(
    volume: int | None, changes: dict[str, int], expected: set[tuple[str, str]], tmp_path: Path
) -> None:
    season = Season(OpenedRecord.at(tmp_path / "record.db"))
    bare = RULES.model_copy(update={"fill": "quote"})
    season.start(a_cohort(1, NOW, bare.model_copy(update=CAPPED), "ann"))
    shown = the_book(SUN, NOW)
    traded = None if volume is None else usd(volume)
    assert shown.quote is not None  # its thinner side has 800 shares, for $328
    season.look(1, NOW, replace(shown, quote=replace(shown.quote, volume=traded)))
    turn = season.turn(
        1, "ann", decides(a_bet(500, market=SUN)), rules=bare.model_copy(update={"max_bet": 10**6} | changes)
    )
    found_fields = fields(season)
    assert bool(found_fields) == bool(expected), turn.fills
    assert expected <= found_fields, turn.fills


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"market_id": RAIN}, ("fill", "market_id")),
        ({"side": "NO"}, ("fill", "side")),
        ({"shares": 5}, ("fill", "shares")),
        ({"amount": usd(99)}, ("fill", "amount")),
        ({"fee": 5}, ("fill", "fee")),
        ({"wanted": usd(99)}, ("fill", "wanted")),
        ({"base": usd(9_999)}, ("fill", "base")),
        ({"quote_at": NOW + timedelta(seconds=1)}, ("fill", "quote_at")),
        ({"quote_at": NOW - timedelta(hours=1)}, ("fill", "quote_at")),
        ({"quote_hash": "0"}, ("fill", "quote_hash")),
        ({"left": "something"}, ("fill", "left")),
        ({"levels": ()}, ("fill_level", "shares")),
        ({"action": "short"}, ("fill", "action")),
    ],
    ids=str,
)
def test_a_fill_that_is_not_what_happened(
    changes: dict[str, Any], expected: tuple[str, str], season: Season
) -> None:
    season.turn(1, "bob", decides(a_bet(100, market=SUN)), bent=bent_fill(**changes))
    assert expected in fields(season)


@pytest.mark.parametrize(
    ("changes", "column"), [({"fee": 1}, "fee"), ({"amount": usd(99)}, "amount"), ({"price": 0}, "price")]
)
def test_a_level_that_is_not_what_happened(changes: dict[str, Any], column: str, season: Season) -> None:
    def bend(turn: Turn) -> Turn:
        fill = turn.fills[0]
        return replace(turn, fills=(replace(fill, levels=(replace(fill.levels[0], **changes),)),))

    season.turn(1, "bob", decides(a_bet(100, market=SUN)), bent=bend)
    assert ("fill_level", column) in fields(season)


def test_a_fill_after_the_close(season: Season) -> None:
    """The page is bent once the fill is in: no writer of ours can be made to do it."""
    with season.record.engine.begin() as connection:
        connection.exec_driver_sql("DROP TRIGGER market_version_no_update")
        connection.exec_driver_sql("UPDATE market_version SET closes_at = '2026-01-04T12:00:00.000000Z'")
    assert ("fill", "shares") in {(d.table, d.field) for d in season.differences()}


def season_snapshot(season: Season) -> Any:
    found = season.record.snapshot(1, NOW)
    assert found is not None
    return found[1]


def test_a_purchase_of_what_is_only_held(season: Season) -> None:
    season.turn(1, "bob", decides())
    season.value(1, NOW)
    season.look(1, week(1), the_book(SUN, week(1)))
    season.turn(1, "ann", decides(a_bet(100, market=SUN)))
    with season.record.engine.begin() as connection:
        connection.exec_driver_sql("DROP TRIGGER snapshot_item_no_update")
        connection.exec_driver_sql("UPDATE snapshot_item SET shown = 0 WHERE snapshot_id = 2")
    assert ("fill", "shares") in {(d.table, d.field) for d in season.differences()}


def test_a_fill_that_nobody_wished_for(season: Season) -> None:
    season.turn(1, "bob", decides(a_bet(100)), bent=lambda turn: replace(turn, decision=Decision()))
    assert fields(season) == {("fill", "shares"), ("entry", "kind")}


def test_a_fill_without_an_entry_and_an_entry_without_a_fill(season: Season) -> None:
    season.turn(1, "bob", decides(a_bet(100)), bent=lambda turn: replace(turn, entries=()))
    assert fields(season) == {("entry", "kind")}
    write(season, at=NOW, kind="sell", ref="fill:1:7", key=YES, cash=usd(1), shares=0)
    assert "entry (cohort 1, ann, entry 3): kind is sell" in " ".join(d.message for d in found(season))


def test_the_wrong_cash_before_a_turn(season: Season) -> None:
    season.turn(1, "bob", decides(), bent=lambda turn: replace(turn, cash=turn.cash - 1))
    assert fields(season) == {("turn", "cash")}


@pytest.mark.parametrize("status", ["malformed", "out", "gone"])
def test_a_status_that_the_turn_belies(status: Any, season: Season) -> None:
    bet = decides(a_bet(100), rain="0.4")
    season.turn(1, "bob", bet, bent=lambda turn: replace(turn, decision=replace(bet, status=status)))
    assert ("turn", "status") in fields(season)


def test_a_forecast_of_a_market_that_was_not_there(season: Season) -> None:
    season.turn(1, "bob", decides())
    season.value(1, NOW)
    season.look(1, week(1), the_book(SUN, week(1)))
    season.turn(1, "bob", Decision((Forecast(RAIN, 0.4),)))
    assert fields(season) == {("forecast", "market_id")}


def test_a_turn_and_a_call_of_another_cohort(season: Season) -> None:
    season.start(a_cohort(2, NOW, RULES, "zoe"))
    token = season.record.claim(1, [3], "me")[3]
    assert season.record.decide_nothing(3, token, "zoe", usd(10_000))
    assert fields(season) == {("turn", "entrant_id")}
    with pytest.raises(LookupError, match="no entrant 3 plays in round 1"):
        season.record.add_call(1, 3, 1, said("x"), NOW)


def test_a_round_at_another_time_or_of_another_number(season: Season) -> None:
    season.record.keep_snapshot(1, 1, replace(season_snapshot(season), at=week(1) + timedelta(1)), 2)
    season.record.keep_snapshot(1, 1, replace(season_snapshot(season), at=week(3)), 4)
    assert fields(season) == {("round", "at"), ("round", "number")}


def test_a_round_that_is_done_too_soon(season: Season) -> None:
    season.value(1, NOW)
    assert fields(season) == {("round", "done")}


def test_an_end_before_the_end(season: Season) -> None:
    season.record.end(1, week(9))
    assert fields(season) == {("cohort", "ended_at"), ("entry", "held")}


def ended(season: Season, payout: str | None = "1", version: int = 1) -> None:
    """End SUN."""
    season.record.resolve([a_resolution(payout, SUN, version, NOW)], NOW)


def close(season: Season, kind: str, cash: int | None, *, version: int = 1) -> None:
    """Close ann's lot of SUN by hand."""
    lot = season.record.holdings(1)["ann"].lots[YES]
    paid = lot.cost if cash is None else cash
    ref = f"resolution:{version}"
    write(season, at=week(1), kind=kind, ref=ref, key=YES, cash=paid, shares=-lot.shares, cost=-lot.cost)


PAID: dict[str, tuple[str | None, tuple[Any, ...], int, set[str]]] = {
    "another amount than 1": ("1", ("settle", usd("123.45")), 1, {"cash"}),
    "another amount than 0": ("0", ("settle", usd("123.45")), 1, {"cash"}),
    "another amount than a half": ("0.5", ("settle", usd("123.45")), 1, {"cash"}),
    "without a resolution": ("1", ("settle", 0), 2, {"kind"}),
    "a refund where the market paid": ("1", ("refund", None), 1, {"cash", "kind"}),
    "a payout where the market refunded": (None, ("settle", None), 1, {"kind"}),
}


@pytest.mark.parametrize(("payout", "paid", "version", "columns"), PAID.values(), ids=PAID)
def test_a_payment_that_is_not_what_the_market_paid(
    payout: str | None, paid: tuple[Any, ...], version: int, columns: set[str], season: Season
) -> None:
    ended(season, payout)
    close(season, *paid, version=version)
    assert {("entry", column) for column in columns} <= fields(season)


def test_a_payment_before_anyone_knew(season: Season) -> None:
    season.record.resolve([a_resolution("0", SUN, 1, week(2))], week(2))
    close(season, "settle", 0)
    assert fields(season) == {("entry", "kind")}


def test_a_lot_that_is_settled_twice(season: Season) -> None:
    ended(season, "0")
    close(season, "settle", 0)
    write(season, at=week(1), kind="settle", ref="resolution:1", key=YES, cash=0, shares=0)
    assert ("entry", "kind") in fields(season)


def test_a_correction_that_takes_back_something_else(season: Season) -> None:
    ended(season, "0")
    ended(season, "1", 2)
    close(season, "settle", 0)
    write(
        season, at=week(1), kind="reverse", ref="resolution:2", key=YES, cash=-usd(5), shares=7, cost=usd(5)
    )
    assert {("entry", "kind"), ("entry", "cash")} <= fields(season)


def test_a_correction_without_a_newer_version(season: Season) -> None:
    ended(season, "0")
    lot = season.record.holdings(1)["ann"].lots[YES]
    close(season, "settle", 0)
    ref = "resolution:1"
    write(season, at=week(1), kind="reverse", ref=ref, key=YES, cash=0, shares=lot.shares, cost=lot.cost)
    assert fields(season) == {("entry", "kind")}


@pytest.mark.parametrize(
    "entry",
    [
        {"kind": "deposit", "ref": "bankroll", "cash": usd(1)},
        {"kind": "gift", "ref": "bankroll", "cash": usd(1)},
        {"kind": "buy", "ref": "fill:1:0", "key": YES, "cash": -usd(1), "shares": 1, "cost": 2},
        {"kind": "buy", "ref": "fill:1:0", "key": YES, "cash": -usd(99_999), "shares": 1},
        {"kind": "sell", "ref": "fill:1:0", "key": YES, "cash": usd(1), "shares": -1, "cost": 0},
        {"kind": "sell", "ref": "fill:1:0", "key": YES, "cash": usd(1), "shares": 5, "cost": 0},
        {"kind": "buy", "ref": "fill:1:0", "key": (SUN, "MAYBE"), "cash": 0, "shares": 1},
        {"kind": "buy", "ref": "fill:1:0", "key": ("sim:x", "YES"), "cash": 0, "shares": 1},
        {"kind": "buy", "ref": "fill:1:0", "key": YES, "cash": 0, "shares": 1, "at": week(-1)},
    ],
    ids=str,
)
def test_an_entry_that_no_ledger_may_hold(entry: dict[str, Any], season: Season) -> None:
    with season.record.engine.connect() as connection:  # the pool has one connection: it stays so
        connection.exec_driver_sql("PRAGMA ignore_check_constraints = ON")
    write(season, **({"at": NOW} | entry))
    assert ("entry", "kind") in {(difference.table, difference.field) for difference in season.differences()}


def test_a_bankroll_that_is_not_the_frozen_one(tmp_path: Path) -> None:
    season = Season(OpenedRecord.at(tmp_path / "record.db"))
    cohort = a_cohort(1, NOW, RULES, "ann")
    season.record.start(
        cohort,
        {cohort.prompts["bet"]: "Which of these will happen?"},
        ann=LaxAccount(Holdings()).write(week(1), "deposit", "bankroll", cash=usd(10_001)),
    )
    assert fields(season) == {("entry", "cash"), ("entry", "balance"), ("entry", "at")}


def test_a_lot_that_was_left_open(season: Season) -> None:
    season.turn(1, "bob", decides())
    season.value(1, NOW)
    ended(season)
    for number in (1, 2):
        season.record.keep_snapshot(1, 1, replace(season_snapshot(season), at=week(number)), None)
        season.value(1, week(number))
        assert fields(season) == {("entry", "kind")}
    said_so = {difference.message.partition(":")[0] for difference in found(season)}
    assert said_so == {"entry (cohort 1, ann, entry 3)"}


def test_a_sale_of_what_is_not_held_is_named(season: Season) -> None:
    season.turn(1, "bob", decides(a_sale(market=SUN)))
    assert found(season) == []
    write(season, name="bob", at=NOW, kind="sell", ref="fill:1:0", key=(SUN, "NO"), cash=usd(1), shares=0)
    assert ("entry", "kind") in fields(season)


LEARNT: dict[str, tuple[int, int, set[tuple[str, str]]]] = {
    "when it was known": (1, 1, set()),
    "at the first round after it was known": (0, 1, set()),
    "before it was known": (2, 1, {("resolution", "learnt_at")}),
    "later than at the first round after it was known": (1, 3, {("resolution", "learnt_at")}),
    "where no round was in between": (2, 9, set()),
}


@pytest.mark.parametrize(("known", "learnt", "differs"), LEARNT.values(), ids=LEARNT)
@pytest.mark.parametrize("stamp", ["simulated", "replay", "live"])
def test_in_a_season_without_a_clock_an_end_is_learnt_as_soon_as_a_round_can_know_it(
    known: int, learnt: int, differs: set[tuple[str, str]], stamp: str, tmp_path: Path
) -> None:
    season = Season.begun(tmp_path / "record.db", replace(a_cohort(1, NOW, RULES, "ann"), stamp=stamp))
    season.turn(1, "ann", decides())
    season.value(1, NOW)
    season.look(1, week(1), the_book(SUN, week(1)))
    season.record.resolve([a_resolution("1", SUN, 1, week(known))], week(learnt))
    learnt_at = {difference for difference in fields(season) if difference[1] == "learnt_at"}
    assert learnt_at == (set() if stamp == "live" else differs)
