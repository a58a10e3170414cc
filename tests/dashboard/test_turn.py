"""The page of turns: the newest in a list, and each one whole, against plain SQL."""

import re
import sqlite3
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from dashboard.words import dollars
from tests.dashboard.addresses import PLACED
from tests.dashboard.opening import Show, healthy, in_address, markup, tables, tiles, with_reasons, words
from tests.dashboard.spoiled import SECRETLY_LONG, TEXT, spoiled
from tests.opened_record import new_record
from tests.rows import rows_in

MILLION = 1_000_000
TURN = f"SELECT turn.id FROM {PLACED} WHERE cohort.number = ? AND round.number = ? AND name = ?"
PLACE = ("1", "2", "oracle")


def id_of(record: Path, place: tuple[str, str, str]) -> int:
    return int(rows_in(record, TURN, *place)[0][0])


def address(place: tuple[str, str, str]) -> dict[str, str]:
    return dict(zip(("cohort", "round", "agent"), place, strict=True))


def test_the_newest_turns_come_first_with_what_they_did(season: Path, show: Show) -> None:
    table = tables(show("turn", season))[0]
    times = list(table["at"])
    assert times == sorted(times, reverse=True)
    assert len(table) == rows_in(season, "SELECT count(*) FROM turn")[0][0]
    for _, row in table.iterrows():
        turn = id_of(season, (row["cohort"], row["round"], row["agent"]))
        count = "SELECT count(*), coalesce(sum(amount), 0) FROM fill WHERE turn_id = ? AND action = ?"
        assert (row["bought"], round(row["spent"] * MILLION)) == rows_in(season, count, turn, "buy")[0]
        assert row["sold"] == rows_in(season, count, turn, "sell")[0][0]
        refused = rows_in(season, "SELECT count(*) FROM rejection WHERE turn_id = ?", turn)[0][0]
        assert row["rejected"] == refused


def test_on_a_phone_the_list_of_turns_keeps_how_each_ended(season: Path, show: Show) -> None:
    page = "".join(markup(show("turn", season)))
    heads = re.findall(r'<th scope="col"[^>]*class="([^"]*)" data-key="(\w+)"', page)
    assert {key for look, key in heads if "kept" in look.split()} == {"agent", "status", "spent"}


def test_turns_of_one_agent_can_be_looked_for(season: Path, show: Show) -> None:
    page = show("turn", season)
    page.selectbox[0].select("oracle")
    assert set(tables(healthy(page.run()))[0]["agent"]) == {"oracle"}
    assert in_address(page, "agent") == "oracle"
    again = show("turn", season, agent="oracle", status="played")
    assert len(tables(again)[0]) == len(tables(page)[0])


def test_an_order_that_was_filled_in_part_says_of_how_much(season: Path, show: Show) -> None:
    cut = rows_in(
        season,
        f"SELECT cohort.number, round.number, name, question, wanted FROM {PLACED} "
        "JOIN fill ON turn.id = turn_id JOIN market_version USING (market_id) "
        "WHERE \"left\" != '' AND action = 'buy' ORDER BY fill.id, version DESC LIMIT 1",
    )
    *place, question, wanted = cut[0]
    page = show("turn", season, **address((str(place[0]), str(place[1]), place[2])))
    (orders,) = [found for found in tables(page) if "came" in found]
    (came,) = orders[orders["question"] == question]["came"]
    assert came.endswith(f", in part: {dollars(wanted)} asked.")


def test_a_turn_shows_every_forecast_with_its_price_and_its_gain(season: Path, show: Show) -> None:
    turn = id_of(season, PLACE)
    page = show("turn", season, **address(PLACE))
    (table,) = [found for found in tables(page) if "final" in found]
    rows = rows_in(
        season,
        "SELECT v.question, f.probability, q.mid, (SELECT payout FROM resolution r WHERE r.market_id = "
        "i.market_id ORDER BY version DESC LIMIT 1) FROM turn t JOIN round d ON d.id = t.round_id "
        "JOIN snapshot_item i ON i.snapshot_id = d.snapshot_id AND i.shown = 1 "
        "JOIN market_version v ON v.id = i.version_id LEFT JOIN quote q ON q.id = i.quote_id "
        "LEFT JOIN forecast f ON f.turn_id = t.id AND f.market_id = i.market_id AND f.stage = 'final' "
        "WHERE t.id = ? ORDER BY i.position",
        turn,
    )
    assert list(table["question"]) == [question for question, *_ in rows]
    for (_, said, mid, payout), (_, row) in zip(rows, table.iterrows(), strict=True):
        assert row["final"] == pytest.approx(said / 10_000)
        assert row["price"] == pytest.approx(mid / 10_000)
        if payout in (0, MILLION):
            gain = (mid / MILLION - payout / MILLION) ** 2 - (said / MILLION - payout / MILLION) ** 2
            assert row["gain"] == pytest.approx(gain)


def test_a_turn_shows_what_it_got_level_by_level(season: Path, show: Show) -> None:
    turn = id_of(season, PLACE)
    page = show("turn", season, **address(PLACE))
    (table,) = [found for found in tables(page) if "level" in found]
    levels = rows_in(
        season,
        "SELECT fill_level.price, fill_level.shares, fill_level.amount, fill_level.fee FROM fill JOIN "
        "fill_level ON fill_id = fill.id WHERE turn_id = ? ORDER BY fill.position, fill_level.position",
        turn,
    )
    assert levels
    shown = table[["price", "shares", "amount", "fee"]].values.tolist()
    assert shown == [[p / 10_000, s / MILLION, a / MILLION, f / MILLION] for p, s, a, f in levels]
    cash = rows_in(season, "SELECT cash FROM turn WHERE id = ?", turn)[0][0]
    assert f"bet, of {dollars(cash)} in cash" in {label for label, _ in tiles(page)}


def test_held_until_its_end_a_bet_gains_what_was_settled(season: Path, show: Show) -> None:
    page = show("turn", season, cohort="1", round="1", agent="constant")
    (table,) = [found for found in tables(page) if "level" in found]
    fills = rows_in(
        season,
        "SELECT f.side, f.shares, f.amount, r.payout FROM fill f JOIN resolution r "
        "ON r.market_id = f.market_id WHERE turn_id = ? AND action = 'buy'",
        id_of(season, ("1", "1", "constant")),
    )
    made = [
        0 if payout is None else shares * (payout if side == "YES" else MILLION - payout) // MILLION - amount
        for side, shares, amount, payout in fills
    ]
    assert sum(table["gain"].dropna()) == pytest.approx(sum(made) / MILLION)


def test_a_turn_says_what_it_did_and_why_before_all_else(season: Path, tmp_path: Path, show: Show) -> None:
    season = with_reasons(season, tmp_path)
    page = show("turn", season, **address(PLACE))
    turn = id_of(season, PLACE)
    bets = "SELECT sum(amount), count(DISTINCT market_id) FROM fill WHERE turn_id = ? AND action = 'buy'"
    ((spent, markets),) = rows_in(season, bets, turn)
    sold = rows_in(season, "SELECT count(*) FROM fill WHERE turn_id = ? AND action = 'sell'", turn)[0][0]
    said = page.title[0].value.replace("\\", "")
    assert f"bet ${round(spent / MILLION):,} on {markets} market" in said
    assert (f", sold {sold}" in said) == bool(sold)
    reasons = rows_in(season, "SELECT reason FROM forecast WHERE turn_id = ? AND stage = 'final'", turn)
    head = ET.fromstring("".join(("<p>", *markup(page)[2:4], "</p>")))
    quoted = [(quote.text or "").strip("“”") for quote in head.iter("p") if quote.get("class") == "why"]
    assert quoted
    assert sorted(quoted) == sorted(reason for (reason,) in reasons)


def test_a_turn_leads_to_those_before_and_after_it(season: Path, show: Show) -> None:
    def ways(number: str) -> set[str]:
        page = show("turn", season, cohort="1", round=number, agent="oracle")
        [row] = [html for html in markup(page) if 'aria-label="Go to"' in html]
        return set(re.findall(r'<a class="pill" href="[^"]+">([^<]+)</a>', row))

    others = {"Its agent", "Its cohort", "All turns"}
    assert ways("2") == {"← Round before", "Round after →", *others}
    assert "← Round before" not in ways("1")
    assert "Round after →" not in ways("4")


def test_every_call_is_shown_and_its_words_as_they_are(season: Path, tmp_path: Path, show: Show) -> None:
    record, _ = spoiled(season, tmp_path)
    here = {"cohort": "1", "round": "1", "agent": "constant"}
    page = show("turn", record, **here, call="final-1-2")
    (calls,) = [found for found in tables(page) if "tokens_in" in found]
    assert list(calls["ended"]) == ["rate_limit", "stop", "length"]
    assert list(calls["tokens_in"]) == [0, 1_234, 10]
    assert calls["cost"][1] == 0.0015
    assert calls["error"][0] == f"slow down {TEXT} (may be tried again)"
    assert ("cost of 3 calls, simulated", "unknown") in tiles(page)
    assert [code.value for code in page.code][:2] == [f"answer {TEXT}", f"rules {TEXT}"]
    assert all(not part.allow_html for part in page.markdown)


def test_a_long_answer_is_cut_and_can_be_had_whole(season: Path, tmp_path: Path, show: Show) -> None:
    record, _ = spoiled(season, tmp_path)
    here = {"cohort": "1", "round": "1", "agent": "constant"}
    page = show("turn", record, **here)
    assert page.selectbox[0].value == "final-1-3"
    assert SECRETLY_LONG.startswith(page.code[0].value)
    assert f"The first 20,000 of {len(SECRETLY_LONG):,} characters." in words(page)
    refused = show("turn", record, **here, call="final-1-1")
    assert "None came." in words(refused)


def test_a_record_without_a_turn_says_how_to_get_one(season: Path, tmp_path: Path, show: Show) -> None:
    database = tmp_path / "begun.db"
    new_record(database)
    with sqlite3.connect(database) as plain:
        plain.execute("ATTACH ? AS whole", (str(season),))
        plain.execute("INSERT INTO cohort SELECT * FROM whole.cohort WHERE number = 1")
        plain.execute("INSERT INTO entrant SELECT * FROM whole.entrant WHERE cohort_id = 1")
    assert "No turn is in yet" in words(show("turn", database))
    assert "No market has been shown to an agent yet" in words(show("markets", database))
