"""The page of markets: its list and each market whole, against plain SQL and what the command line reads."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from statistics import median
from xml.etree import ElementTree as ET

import pytest

from dashboard.board import market_table
from dashboard.charts import MEDIAN, MOST, YES_PRICE
from dashboard.html import venue_link
from dashboard.record import NULLS, MarketFilter, read_cached, read_market_list, source
from dashboard.record import season as season_overview
from dashboard.views import market as market_view
from dashboard.views.market import (
    PRICES,
    MarketForecast,
    MarketPosition,
    about_positions,
    about_resolution,
    price_chart,
    read_market_history,
    read_market_page,
)
from dashboard.words import cents
from markets.model import MarketId, Resolution
from markets.venue import venue_page
from portfolio.value import LotProfit, Profit
from tests.builders import NOW, usd
from tests.dashboard.addresses import PLACED
from tests.dashboard.opening import Show, healthy, in_address, markup, tables, with_reasons, words
from tests.dashboard.records import shared
from tests.dashboard.spoiled import TEXT, spoiled
from tests.rows import read_only, rows_in

MILLION = 1_000_000


def traded(record: Path, where: str = "1") -> str:
    """Return the market with most trades among some."""
    query = f"SELECT market_id FROM fill WHERE {where} GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1"
    return str(rows_in(record, query)[0][0])


def questions(record: Path) -> dict[str, str]:
    rows = rows_in(record, "SELECT market_id, question FROM market_version ORDER BY market_id, version")
    return dict(rows)


def test_the_list_has_every_market_that_was_shown_with_its_figures(season: Path, show: Show) -> None:
    page = show("markets", season)
    table = tables(page)[0]
    shown = rows_in(season, "SELECT DISTINCT market_id FROM snapshot_item")
    asks = questions(season)
    assert sorted(table["question"]) == sorted(asks[market] for (market,) in shown)
    assert all(picture is not None for picture in table["trend"])
    trades = dict(rows_in(season, "SELECT market_id, count(*) FROM fill GROUP BY 1"))
    paid = dict(rows_in(season, "SELECT market_id, payout FROM resolution ORDER BY version"))
    closes = dict(rows_in(season, "SELECT market_id, closes_at FROM market_version ORDER BY version"))
    by_question = {row["question"]: row for _, row in table.iterrows()}
    for (market,) in shown:
        row = by_question[asks[market]]
        assert row["trades"] == trades.get(market, 0)
        ended = {MILLION: "YES", 0: "NO", 500_000: "50¢", None: "refund"}
        assert row["status"] == (ended[paid[market]] if market in paid else "open")
        assert row["closes"].strftime("%Y-%m-%d") == closes[market][:10]


@pytest.mark.parametrize("record", ["season", "first_round"])
def test_the_list_says_how_far_agents_are_apart_and_how_many_lots_are_held(
    record: str, request: pytest.FixtureRequest, show: Show
) -> None:
    database = request.getfixturevalue(record)
    table = tables(show("markets", database))[0]
    by_question = {row["question"]: row for _, row in table.iterrows()}
    said = rows_in(
        database,
        "SELECT forecast.market_id, round.at, round.id, probability, entrant.kind "
        f"FROM {PLACED} JOIN forecast ON turn.id = turn_id "
        "WHERE stage = 'final' ORDER BY round.at, round.id",
    )
    held = dict(
        rows_in(
            database,
            "SELECT market_id, count(*) FROM (SELECT market_id FROM entry WHERE market_id <> '' "
            "GROUP BY market_id, entrant_id, side HAVING sum(shares) > 0) GROUP BY 1",
        )
    )
    for market, question in questions(database).items():
        if question not in by_question:
            continue
        mine = [row for row in said if row[0] == market]
        last = [row[3] for row in mine if row[2] == mine[-1][2] and row[4] not in NULLS]
        assert by_question[question]["spread"] == pytest.approx((max(last) - min(last)) / 10_000)
        assert by_question[question]["held"] == held.get(market, 0)
    assert bool(held) == (record == "first_round")


def test_words_narrow_the_list_and_live_in_the_address(season: Path, show: Show) -> None:
    page = show("markets", season)
    word = str(tables(page)[0]["question"][0]).split()[2].upper()
    page.text_input[0].set_value(word)
    found = tables(healthy(page.run()))[0]
    wanted = [
        question for question in set(questions(season).values()) if word.casefold() in question.casefold()
    ]
    assert sorted(found["question"]) == sorted(wanted)
    assert in_address(page, "search") == word
    again = show("markets", season, search=word)
    assert again.text_input[0].value == word
    assert list(tables(again)[0]["question"]) == list(found["question"])
    page.text_input[0].set_value("")
    assert "search" not in healthy(page.run()).query_params


def test_what_is_closed_says_what_it_made(season: Path, show: Show) -> None:
    market = traded(season, "market_id IN (SELECT market_id FROM resolution)")
    table = tables(show("market", season, market=market))[0]
    made = rows_in(season, "SELECT sum(realised) FROM entry WHERE market_id = ?", market)[0][0]
    assert sum(table["profit"]) == pytest.approx(made / MILLION)
    assert not {"held", "cost", "average", "price", "value"} & set(table)
    bought = rows_in(season, "SELECT sum(shares) FROM entry WHERE market_id = ? AND kind = 'buy'", market)[0][
        0
    ]
    assert sum(table["bought"]) == pytest.approx(bought / MILLION)
    assert list(table["entry"]) == pytest.approx(list(100 * table["paid"] / table["bought"]), abs=1e-4)
    assert sum(table["received"]) - sum(table["paid"]) == pytest.approx(made / MILLION)


def test_trades_are_the_fills_of_the_market(season: Path, show: Show) -> None:
    market = traded(season)
    page = show("market", season, market=market)
    table = tables(page)[1]
    fills = rows_in(
        season,
        f"SELECT entrant.name, cohort.number, round.number, action, side, amount, shares FROM {PLACED} "
        "JOIN fill ON turn.id = turn_id WHERE market_id = ?",
        market,
    )
    kinds = {"buy": "bought", "sell": "sold"}
    wanted = [
        (who, cohort, number, f"{kinds[did]} {side}", cash / MILLION, shares / MILLION)
        for who, cohort, number, did, side, cash, shares in fills
    ]
    keys = ["agent", "cohort", "round", "did", "amount", "shares"]
    assert sorted(map(tuple, table[keys].values.tolist())) == sorted(wanted)


def test_the_strip_and_the_reasons_have_every_agents_last_word(
    season: Path, tmp_path: Path, show: Show
) -> None:
    season = with_reasons(season, tmp_path)
    market = traded(season)
    page = show("market", season, market=market)
    head = ET.fromstring(markup(page)[2])
    said = rows_in(
        season,
        f"SELECT entrant.name, probability, reason, cohort.number FROM {PLACED} "
        "JOIN forecast ON turn.id = turn_id WHERE market_id = ? AND stage = 'final' ORDER BY round.number",
        market,
    )
    newest = max(cohort for *_, cohort in said)
    last = {name: (chance, reason) for name, chance, reason, cohort in said if cohort == newest}
    strip = next(svg for svg in head.iter("svg") if "last probabilities" in svg.get("aria-label", ""))
    assert [title.text for title in strip.iter("title")] == [
        f"{name} says {chance / MILLION:.0%}"
        for name, (chance, _) in sorted(last.items(), key=lambda one: (-one[1][0], one[0]))
    ]
    large = head.find(".//p[@class='price']/b")
    assert large is not None
    assert f"price {large.text}" in {label.text for label in strip.iter("text")}
    reasons = [(quote.text or "").strip("“”") for quote in head.iter("p") if quote.get("class") == "why"]
    assert reasons
    assert sorted(reasons) == sorted(reason for _, reason in last.values())


def test_the_cohort_that_saw_it_last_is_shown_and_not_the_one_that_started_last(season: Path) -> None:
    page = read_cached(source(str(season)), read_market_page, MarketId(traded(season)))
    assert page is not None
    first = next(place for place in page.rounds if place.shown)
    places = [
        replace(first, cohort=n, at=first.at + days * timedelta(days=1)) for n, days in ((1, 7), (2, 0))
    ]
    unseen = replace(first, cohort=3, at=first.at + timedelta(days=9), shown=False)
    assert replace(page, rounds=(*places, unseen)).last_showing_cohort == 1
    assert replace(page, rounds=(unseen,)).last_showing_cohort == 0


def test_the_price_is_a_step_line_with_median_and_range_of_one_cohort(season: Path) -> None:
    market = MarketId(traded(season))
    record = source(str(season))
    page = read_cached(record, read_market_page, market)
    known = season_overview(record)
    assert page is not None
    found = read_cached(record, read_market_history, market, 1, page.rounds)
    stored = rows_in(season, "SELECT mid FROM quote WHERE market_id = ? ORDER BY at", market)
    assert [price.price for price in found.prices.points] == [mid for (mid,) in stored]
    said = rows_in(
        season,
        f"SELECT round_id, name, probability FROM {PLACED} JOIN forecast ON turn.id = turn_id "
        "WHERE market_id = ? AND stage = 'final' AND round.cohort_id = 1",
        market,
    )
    assert sorted(found.forecasts, key=str) == sorted((MarketForecast(*row) for row in said), key=str)
    last = max(round_id for round_id, *_ in said)
    opinions = [
        chance for number, name, chance in said if number == last and dict(known.agents)[name] not in NULLS
    ]
    titles = ends_of(price_chart(page, found, known, "oracle"))
    # as the large price has it, not rounded to a percent
    assert f"{YES_PRICE} {cents(stored[-1][0])}" in titles
    assert f"{MEDIAN} {median(opinions) / 10_000:.0f}%" in titles
    assert any(title.startswith("oracle ") for title in titles)
    assert "polygon" in price_chart(page, found, known)
    assert "oracle" not in price_chart(page, found, known)


def test_prices_and_rounds_of_a_market_are_no_more_than_a_chart_draws_as_steps(
    season: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert 2 * PRICES < MOST
    monkeypatch.setattr(market_view, "PRICES", 2)
    with read_only(season) as connection:
        page = read_market_page(connection, MarketId(traded(season)))
        assert page is not None
        found = read_market_history(connection, page.market.id, 1, page.rounds)
    assert len({forecast.round_id for forecast in found.forecasts}) == 2
    assert found.thinned


def ends_of(chart: str) -> list[str]:
    """Return the labels of a chart's lines, with their ends."""
    return [title.text or "" for title in next(ET.fromstring(f"<a>{chart}</a>").iter("svg")).iter("title")]


def test_a_resolved_market_says_its_last_price_and_how_it_ended(season: Path, show: Show) -> None:
    market = traded(season, "market_id IN (SELECT market_id FROM resolution WHERE payout = 0)")
    head = markup(show("market", season, market=market))[2]
    mid = rows_in(season, "SELECT mid FROM quote WHERE market_id = ? ORDER BY at DESC LIMIT 1", market)[0][0]
    assert f"{mid / 10_000:.4g}¢" in head
    assert "Resolved NO" in head
    assert "last price of YES" in head


def test_a_resolved_market_that_nobody_forecast_waits_for_no_round(
    tmp_path_factory: pytest.TempPathFactory, show: Show
) -> None:
    failed = shared("all_failed", tmp_path_factory)
    [[ended]] = rows_in(failed, "SELECT market_id FROM resolution")
    said = words(show("market", failed, market=ended))
    assert "No agent stated a probability before it ended." in said
    assert "next round" not in said


def test_a_list_leads_to_the_venues_that_have_an_address(season: Path) -> None:
    [line, *_] = read_cached(source(str(season)), read_market_list, MarketFilter()).lines
    assert "Venue" not in market_table([line])
    real = replace(line, market=replace(line.market, id=MarketId("polymarket:512")))
    listed = market_table([real, line])
    assert listed.count("https://gamma-api.polymarket.com/markets/512") == 1
    assert listed.count('data-label="Venue"') == 2


def test_a_venue_is_linked_by_its_own_address_alone() -> None:
    assert 'href="https://gamma-api.polymarket.com/markets/512"' in venue_link(
        venue_page(MarketId("polymarket:512"))
    )
    for market_id in (
        "polymarket:512/../x",
        'kalshi:"><script>',
        "http://203.0.113.9/x",
        "simulator:a:1",
        "kalshi:",
    ):
        assert not venue_link(venue_page(MarketId(market_id)))


def test_foreign_words_are_shown_as_they_are(season: Path, tmp_path: Path, show: Show) -> None:
    record, market = spoiled(season, tmp_path)
    page = show("market", record, market=market)
    assert any(code.value.startswith(f"R {TEXT}") for code in page.code)
    assert all(len(code.value) <= 20_000 for code in page.code)
    assert "<script>" not in page.title[0].value
    assert all(not part.allow_html for part in page.markdown)
    listed = tables(show("markets", record))[0]
    assert f"Q {TEXT}" in list(listed["question"])


def test_a_correction_and_a_changed_page_are_told(season: Path, tmp_path: Path, show: Show) -> None:
    record, market = spoiled(season, tmp_path)
    page = show("market", record, market=market)
    found = tables(page)
    (ends,) = [table for table in found if "Known since" in table]
    assert list(ends["Version"]) == [1, 2]
    assert list(ends["Outcome"])[1] == "25¢"
    assert list(ends["Source"])[1] == f"S {TEXT}"
    assert "has corrected the result" in words(page)
    (changes,) = [table for table in found if "Before" in table]
    last = {row["What"]: (row["Before"], row["After"]) for _, row in changes.iterrows()}
    assert last["question"][1] == f"Q {TEXT}"
    assert last["tick"] == ("1¢", "0.1¢")


def test_a_market_settled_by_hand_says_who_decided_when_and_why() -> None:
    decided = Resolution(MarketId("sky:rain"), 1, NOW, usd(1), "by hand: both <b>services</b> paid YES")
    assert about_resolution(decided) == (
        "**YES**: a share of YES paid 100¢, a share of NO 0¢. Settled by hand: "
        "both \\<b\\>services\\</b\\> paid YES (on 4 Jan 2026, 12:00 UTC, version 1)"
    )
    withdrawn = replace(decided, version=2, payout=None, source="by hand, withdrawn: too early")
    assert about_resolution(withdrawn) == (
        "Refunded: everyone got back what they had paid. The decision made by hand was withdrawn: "
        "too early (on 4 Jan 2026, 12:00 UTC, version 2)"
    )


def test_where_rounded_rows_do_not_add_up_to_the_total_it_is_said() -> None:
    def held(made: int) -> MarketPosition:
        return MarketPosition(1, "ann", "YES", LotProfit(1, 0, 1, 0, Profit(realised=made)), None, 1)

    assert about_positions([held(1_000_000)] * 2) == "2 positions; total P/L +$2.00."
    assert about_positions([held(1_004_000)] * 2) == "2 positions; total P/L +$2.01. Rows are rounded."
