"""The list of markets holds what plain SQL finds, however it is narrowed, sorted and cut off."""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest
import streamlit as st

from arena.record.queries import markets as directory
from dashboard import record as reads
from dashboard.record import NULLS, MarketFilter, read_cached, read_market_list, read_menu, source
from dashboard.views import markets as view
from tests.dashboard.opening import Show, healthy, tables, words
from tests.records.seasons import play, worked_out


@dataclass(frozen=True)
class Known:
    """A market as plain SQL knows it, with the place at which the list has it."""

    id: str
    event: str
    question: str
    category: str
    status: str
    price: int | None
    volume: int
    apart: int | None
    closes: str


PLAIN = f"""
    WITH shown AS (
        SELECT market_id, round.at, round.id AS round_id, position FROM snapshot_item
        JOIN round USING (snapshot_id) WHERE shown = 1
    ), price AS (
        SELECT market_id, coalesce(mid, last) AS price, volume, max(quote.at) FROM quote GROUP BY market_id
    )
    SELECT shown.market_id, event_id, question, category, closes_at,
        (SELECT count(*) FROM resolution WHERE market_id = shown.market_id), price, volume,
        (SELECT CASE WHEN count(*) > 1 THEN max(probability) - min(probability) END
         FROM forecast JOIN turn ON turn.id = turn_id JOIN entrant ON entrant.id = entrant_id
         WHERE forecast.market_id = shown.market_id AND turn.round_id = shown.round_id AND stage = 'final'
         AND status = 'played' AND kind NOT IN {NULLS})
    FROM shown LEFT JOIN price USING (market_id)
    JOIN market_version AS page ON page.market_id = shown.market_id
    WHERE version = (SELECT max(version) FROM market_version WHERE market_id = shown.market_id)
    ORDER BY shown.at DESC, round_id DESC, position
"""
PAGE = """
    INSERT INTO market_version (market_id, version, at, event_id, question, rules, category, opens_at,
        closes_at, tick, fee_rate, min_shares, story, hash)
    SELECT market_id, version + 1, ?, 'event ' || ?, ? || ' ' || question, rules, ?, opens_at,
        coalesce(?, closes_at), tick, fee_rate, min_shares, story, 'h' FROM market_version
    WHERE market_id = ? ORDER BY version DESC LIMIT 1
"""
LATER = "2026-03-15T00:00:00.000000Z"
CLOSED = ("2026-01-02T00:00:00.000000Z", None)
LATEST = "SELECT max(at) FROM (SELECT at FROM snapshot UNION ALL SELECT at FROM sync)"


def known(record: Path) -> list[Known]:
    """Return all markets that agents were shown, newest first, each as in its newest round."""
    with sqlite3.connect(f"file:{record}?mode=ro", uri=True) as plain:
        ((now,),) = plain.execute(LATEST)
        rows = plain.execute(PLAIN).fetchall()
    seen = dict[str, Known]()
    for market_id, event, question, category, closes, ends, price, volume, apart in rows:
        status = "resolved" if ends else "waiting" if closes <= now else "open"
        seen.setdefault(
            market_id, Known(market_id, event, question, category, status, price, volume or 0, apart, closes)
        )
    return list(seen.values())


def is_wanted(one: Known, asked: MarketFilter) -> bool:
    is_so = asked.status in ("", one.status)
    words = asked.search.lower().split()
    about = asked.category in ("", one.category) and asked.event in ("", one.event)
    return is_so and about and all(word in one.question.lower().replace("ß", "ss") for word in words)


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Play three decision times, after which some markets close, lose their price, or change their text."""
    record = play(tmp_path_factory.mktemp("mixed"), times=3)
    with sqlite3.connect(record) as plain:
        markets_ = [market_id for (market_id,) in plain.execute("SELECT id FROM market ORDER BY id")]
        for place, market in enumerate(markets_):
            if place % 3 == 0:
                plain.execute(
                    PAGE, (LATER, place % 2, "ÄÖÜ Straße", f"topic {place % 4}", CLOSED[place % 2], market)
                )
            if place % 4 == 0:
                plain.execute(
                    "INSERT INTO quote (market_id, at, volume, book, hash) VALUES (?, ?, ?, '{}', 'h')",
                    (market, LATER, 1_000_000 * place),
                )
        plain.commit()
    return worked_out(record)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Cut the list off early, so that a small record has more than it holds."""
    for name, most in (("PAGE_ROWS", 4), ("WEIGHED", 12), ("COMPARED", 8)):
        monkeypatch.setattr(reads, name, most)
    monkeypatch.setattr(view, "PAGE_ROWS", 4)
    monkeypatch.setattr(reads, "ENOUGH", {"closes": 12, "volume": 12, "apart": 8})
    monkeypatch.setattr(directory, "FIRST_ROUNDS", 1)
    st.cache_data.clear()
    yield
    st.cache_data.clear()


def everything_asked(known: list[Known], thorough: bool) -> list[MarketFilter]:
    """Return a seventh of all ways to narrow a list, in every order, spread evenly."""
    searches = ["", known[0].question.split()[1].upper(), "straSSE", "nowhere to be found"]
    categories = ["", known[0].category, "topic 2"]
    events = ["", known[-1].event]
    statuses = ["", "open", "waiting", "resolved"]
    orders: tuple[reads.MarketOrder, ...] = ("shown", "closes", "volume", "apart")
    ways = product(product(searches, statuses, categories, events), orders)
    return [MarketFilter(*narrowed, order) for narrowed, order in ways][:: 1 if thorough else 7]


def wanted(
    known: list[Known], asked: MarketFilter, most: int, weighed: int, compared: int
) -> tuple[list[str], int, bool]:
    """Return the ids of the list, the number of markets they are chosen from, and whether that is all."""
    matching = [one for one in known if is_wanted(one, asked)]
    enough = {"shown": most * asked.page, "closes": weighed, "volume": weighed, "apart": compared}[
        asked.order
    ]
    some = matching[:enough]
    if asked.order == "volume":
        some = sorted(some, key=lambda one: (-one.volume, one.id))
    if asked.order == "apart":
        some = sorted(
            (one for one in some if one.apart is not None), key=lambda one: (-(one.apart or 0), one.id)
        )
    if asked.order == "closes":
        some = sorted(some, key=lambda one: (one.closes, one.id))
    start = most * (asked.page - 1)
    return [one.id for one in some[start : start + most]], len(some), len(matching) <= enough


def listed(result: reads.MarketList) -> tuple[list[str], int, bool]:
    return [str(line.market.id) for line in result.lines], result.markets, result.whole


@pytest.mark.parametrize("name", ["season", "first_round", "mixed"])
def test_it_holds_what_plain_sql_finds(name: str, request: pytest.FixtureRequest, thorough: bool) -> None:
    record: Path = request.getfixturevalue(name)
    facts = known(record)
    there = source(str(record))
    limits = reads.PAGE_ROWS, reads.WEIGHED, reads.COMPARED
    for asked in everything_asked(facts, thorough):
        assert listed(read_cached(there, read_market_list, asked)) == wanted(facts, asked, *limits), asked


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("name", ["season", "mixed"])
def test_what_is_cut_off_is_said_to_be(name: str, request: pytest.FixtureRequest, thorough: bool) -> None:
    record: Path = request.getfixturevalue(name)
    facts = known(record)
    there = source(str(record))
    asked_for = everything_asked(facts, thorough)
    results = [listed(read_cached(there, read_market_list, asked)) for asked in asked_for]
    for asked, result in zip(asked_for, results, strict=True):
        assert result == wanted(facts, asked, 4, 12, 8), asked
    assert {whole for _, _, whole in results} == {True, False}


def test_every_figure_of_a_line_is_that_of_its_market(mixed: Path) -> None:
    facts = {one.id: one for one in known(mixed)}
    result = read_cached(source(str(mixed)), read_market_list, MarketFilter())
    statuses = set[str]()
    prices = set[bool]()
    for line in result.lines:
        one = facts[line.market.id]
        assert (line.market.question, line.market.category, line.status) == (
            one.question,
            one.category,
            one.status,
        )
        assert (line.price, line.volume) == (one.price, one.volume)
        statuses.add(line.status)
        prices.add(line.price is None)
    assert (statuses, prices) == ({"open", "waiting", "resolved"}, {True, False})


def test_the_menu_has_the_categories_of_what_was_shown(mixed: Path, raw: Path, empty: Path) -> None:
    facts = known(mixed)
    offered = read_cached(source(str(mixed)), read_menu, facts[-1].event)
    assert not offered.is_empty
    assert set(offered.categories) == {one.category for one in facts}
    assert offered.markets == len(facts)
    counts = [sum(one.category == category for one in facts) for category in offered.categories]
    assert counts == sorted(counts, reverse=True)
    assert offered.about in {one.question for one in facts if one.event == facts[-1].event}
    assert read_cached(source(str(raw)), read_menu, "") == reads.FilterMenu(
        is_empty=False, markets=None, categories=(), about=None
    )
    assert read_cached(source(str(empty)), read_menu, "").is_empty


def test_a_category_is_chosen_and_stays_in_the_address(mixed: Path, show: Show) -> None:
    page = show("markets", mixed, category="topic 2")
    asks = {one.question: one.category for one in known(mixed)}
    questions = list(tables(page)[0]["question"])
    assert {asks[question] for question in questions} == {"topic 2"}
    assert len(questions) == sum(category == "topic 2" for category in asks.values())
    (box,) = [box for box in page.selectbox if box.value == "topic 2"]
    box.set_value("topic 0")
    again = tables(healthy(page.run()))[0]
    assert {asks[question] for question in again["question"]} == {"topic 0"}


@pytest.mark.usefixtures("short")
def test_pages_follow_one_another_until_all_were_shown(mixed: Path, show: Show) -> None:
    facts = known(mixed)
    seen = list[str]()
    number = 1
    while True:
        page = show("markets", mixed, **({"page": str(number)} if number > 1 else {}))
        rows = list(tables(page)[0]["question"])
        seen += rows
        labels = words(page)
        assert ("← Previous page" in labels) == (number > 1)
        if "Next page →" not in labels:
            break
        assert len(rows) == 4
        number += 1
    assert sorted(seen) == sorted(one.question for one in facts)
    assert number == -(-len(facts) // 4)


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize(
    ("pill", "said"),
    [
        ("all", "Markets 1–4 of 20, those shown to agents most recently first."),
        ("open", "Markets 1–4, those shown to agents most recently first."),
        ("traded", "Markets 1–4 of 12, chosen among those that agents were shown most recently."),
        ("disputed", "Markets 1–4 of 8, chosen among those that agents were shown most recently."),
    ],
)
def test_the_page_says_which_of_how_many_it_has(mixed: Path, show: Show, pill: str, said: str) -> None:
    assert said in words(show("markets", mixed, show=pill))
