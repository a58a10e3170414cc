"""The page of markets: its list and each market whole, against plain SQL and what the command line reads."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.testing.v1 import AppTest

from dashboard.queries.markets import NULLS
from tests.dashboard.opening import healthy, in_address, opened, tables, words
from tests.dashboard.spoiled import TEXT, spoiled

MILLION = 1_000_000


def ask(record: Path, query: str, *values: Any) -> list[Any]:
    with sqlite3.connect(f"file:{record}?mode=ro", uri=True) as plain:
        return plain.execute(query, values).fetchall()


def traded(record: Path, where: str = "1") -> str:
    """The market with most trades among some."""
    query = f"SELECT market_id FROM fill WHERE {where} GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1"
    return str(ask(record, query)[0][0])


def drawn(page: AppTest, column: str) -> list[dict[str, Any]]:
    """The rows of the chart's data that have a column."""
    (chart,) = page.get("vega_lite_chart")
    tables = [convert_arrow_bytes_to_pandas_df(data.data.data) for data in chart.proto.datasets]
    return [row for table in tables if column in table for row in table.to_dict("records")]


def questions(record: Path) -> dict[str, str]:
    rows = ask(record, "SELECT market_id, question FROM market_version ORDER BY market_id, version")
    return dict(rows)


def test_the_list_has_every_market_that_was_shown_with_its_figures(
    season: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = opened("market", season, monkeypatch)
    table = tables(page)[0]
    shown = ask(season, "SELECT DISTINCT market_id FROM snapshot_item")
    asks = questions(season)
    assert sorted(table["question"]) == sorted(asks[market] for (market,) in shown)
    trades = dict(ask(season, "SELECT market_id, count(*) FROM fill GROUP BY 1"))
    paid = dict(ask(season, "SELECT market_id, payout FROM resolution ORDER BY version"))
    closes = dict(ask(season, "SELECT market_id, closes_at FROM market_version ORDER BY version"))
    by_question = {row["question"]: row for _, row in table.iterrows()}
    for (market,) in shown:
        row = by_question[asks[market]]
        assert row["trades"] == trades.get(market, 0)
        assert row["outcome"] == (
            {MILLION: "YES", 0: "NO", 500_000: "50¢", None: "refund"}[paid[market]]
            if market in paid
            else None
        )
        assert row["closes"].strftime("%Y-%m-%d") == closes[market][:10]


@pytest.mark.parametrize("record", ["season", "first_round"])
def test_the_list_says_how_far_agents_are_apart_and_how_many_lots_are_held(
    record: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = request.getfixturevalue(record)
    table = tables(opened("market", database, monkeypatch))[0]
    by_question = {row["question"]: row for _, row in table.iterrows()}
    said = ask(
        database,
        "SELECT forecast.market_id, round.at, round.id, probability, kind FROM forecast JOIN turn "
        "ON turn.id = turn_id JOIN round ON round.id = round_id JOIN entrant ON entrant.id = entrant_id "
        "WHERE stage = 'final' ORDER BY round.at, round.id",
    )
    held = dict(
        ask(
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


def test_words_narrow_the_list_and_live_in_the_address(season: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = opened("market", season, monkeypatch)
    word = str(tables(page)[0]["question"][0]).split()[2].upper()
    page.text_input[0].set_value(word)
    found = tables(healthy(page.run()))[0]
    wanted = [
        question for question in set(questions(season).values()) if word.casefold() in question.casefold()
    ]
    assert sorted(found["question"]) == sorted(wanted)
    assert in_address(page, "search") == word
    again = opened("market", season, monkeypatch, search=word)
    assert again.text_input[0].value == word
    assert list(tables(again)[0]["question"]) == list(found["question"])
    page.text_input[0].set_value("")
    assert "search" not in healthy(page.run()).query_params


def test_what_nobody_asked_is_said_to_be_nowhere(season: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = opened("market", season, monkeypatch, search="zzzz nowhere")
    assert not tables(page)
    assert "Search for fewer words" in words(page)


def test_what_is_closed_says_what_it_made(season: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    market = traded(season, "market_id IN (SELECT market_id FROM resolution)")
    table = tables(opened("market", season, monkeypatch, market=market))[0]
    made = ask(season, "SELECT sum(realised) FROM entry WHERE market_id = ?", market)[0][0]
    assert sum(table["profit"]) == pytest.approx(made / MILLION)
    assert not {"held", "cost", "average", "price", "value"} & set(table)
    assert sum(table["received"]) - sum(table["paid"]) == pytest.approx(made / MILLION)


def test_trades_are_the_fills_of_the_market(season: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    market = traded(season)
    page = opened("market", season, monkeypatch, market=market)
    table = tables(page)[1]
    fills = ask(
        season,
        "SELECT entrant.name, cohort.number, round.number, action, side, amount, shares FROM fill JOIN turn "
        "ON turn.id = turn_id JOIN round ON round.id = round_id JOIN cohort ON cohort.id = round.cohort_id "
        "JOIN entrant ON entrant.id = entrant_id WHERE market_id = ?",
        market,
    )
    kinds = {"buy": "bought", "sell": "sold"}
    wanted = [
        (who, cohort, number, f"{kinds[did]} {side}", cash / MILLION, shares / MILLION)
        for who, cohort, number, did, side, cash, shares in fills
    ]
    keys = ["agent", "cohort", "round", "did", "amount", "shares"]
    assert sorted(map(tuple, table[keys].values.tolist())) == sorted(wanted)
    assert len(drawn(page, "paid")) == len(fills)


def test_the_chart_has_every_price_and_every_opinion(season: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    market = traded(season)
    page = opened("market", season, monkeypatch, market=market)
    stored = ask(season, "SELECT mid FROM quote WHERE market_id = ? ORDER BY at", market)
    prices = {row["at"]: row["price"] for row in drawn(page, "bid")}
    assert set(prices.values()) == {mid / MILLION for (mid,) in stored if mid is not None}
    said = ask(
        season,
        "SELECT name, probability FROM forecast JOIN turn ON turn.id = turn_id JOIN entrant ON entrant.id = "
        "entrant_id WHERE market_id = ? AND stage = 'final' AND kind <> 'market'",
        market,
    )
    points = [(row["agent"], row["chance"]) for row in drawn(page, "course")]
    assert sorted(points) == sorted((name, chance / MILLION) for name, chance in said)


def test_one_agent_can_be_singled_out(season: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = opened("market", season, monkeypatch, market=traded(season), agent="oracle")
    assert {row["agent"] for row in [*drawn(page, "course"), *drawn(page, "paid")]} == {"oracle"}


def test_a_market_that_nobody_knows_is_said_to_be_none(season: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = opened("market", season, monkeypatch, market="no:such`*thing*")
    assert "knows no market" in words(page)
    assert not tables(page)


def test_foreign_words_are_shown_as_they_are(
    season: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record, market = spoiled(season, tmp_path)
    page = opened("market", record, monkeypatch, market=market)
    assert any(code.value.startswith(f"R {TEXT}") for code in page.code)
    assert all(len(code.value) <= 20_000 for code in page.code)
    assert "<script>" not in page.subheader[0].value
    assert all(not part.allow_html for part in page.markdown)
    listed = tables(opened("market", record, monkeypatch))[0]
    assert f"Q {TEXT}" in list(listed["question"])


def test_a_correction_and_a_changed_page_are_told(
    season: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record, market = spoiled(season, tmp_path)
    page = opened("market", record, monkeypatch, market=market)
    found = tables(page)
    (ends,) = [table for table in found if "Known since" in table]
    assert list(ends["Version"]) == [1, 2]
    assert list(ends["Outcome"])[1] == "25¢"
    assert list(ends["Source"])[1] == f"S {TEXT}"
    assert "has corrected itself" in words(page)
    (changes,) = [table for table in found if "Before" in table]
    last = {row["What"]: (row["Before"], row["After"]) for _, row in changes.iterrows()}
    assert last["question"][1] == f"Q {TEXT}"
    assert last["tick"] == ("1¢", "0.1¢")
