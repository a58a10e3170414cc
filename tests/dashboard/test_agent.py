"""The page of an agent: its figures are those of the ledger, the leaderboard and the portrait."""

import math
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from sqlalchemy import Connection
from streamlit.testing.v1 import AppTest

from arena.scores.comparisons import COMPARISONS
from arena.scores.leaderboard import read_leaderboard, read_scores
from arena.scores.profiles.detailed_profile import PROFILE, read_notable_forecasts
from arena.scores.rules.money.luck import Luck
from dashboard.cohorts import read_cohort_positions, read_equity_curves, read_holdings
from dashboard.record import SeasonOverview, read_cached, read_summed_curves, source
from dashboard.views.agent import (
    OPEN,
    PARTS,
    EvidenceCurve,
    evidence_chart,
    luck_words,
    ranks_and_description,
    read_agent_evidence,
)
from dashboard.words import JOINER, gained, plain, unbroken, written
from markets.millionths import ONE
from tests.dashboard.opening import (
    Show,
    healthy,
    in_address,
    markup,
    tables,
    tiles,
    with_reasons,
    words,
)
from tests.dashboard.records import shared
from tests.dashboard.test_publish import a_line, told_of
from tests.records.full_record import build
from tests.records.seasons import HOSTILE, play
from tests.rows import cohorts_seen, read_only

NAMES = ["random", "oracle", HOSTILE]


@pytest.fixture
def connection(season: Path) -> Iterator[Connection]:
    with read_only(season) as found:
        yield found


def headings(page: AppTest) -> list[str]:
    """Return the headings of the page's boxes."""
    return [each.text or "" for html in markup(page) for each in ET.fromstring(html).iter("h2")]


@pytest.mark.parametrize("name", NAMES)
def test_each_cohort_has_the_figures_of_its_leaderboard(
    season: Path, connection: Connection, show: Show, name: str
) -> None:
    page = show("agent", season, agent=name)
    table = tables(page)[0]
    assert list(table["Cohort"]) == [2, 1]
    for place, number in enumerate(table["Cohort"]):
        (row,) = [row for row in read_scores(connection, [int(number)]) if row.agent == name]
        line = table.iloc[place]
        assert math.isclose(line["P/L"], row.pnl or 0.0)
        assert math.isclose(line["Return %"], row.return_pct or 0.0)
        assert math.isclose(line["Brier"], row.brier_stated or 0.0)
        assert math.isclose(line["Skill"], row.skill or 0.0, abs_tol=1e-12)
        assert (line["Bets"], line["Sales"], line["Turns"]) == (row.bets, row.sold, row.turns)


def test_an_agent_has_its_evidence_drawn_without_a_word_on_what_follows(
    season: Path, connection: Connection, show: Show
) -> None:
    page = show("agent", season, agent="random")
    found = read_cached(source(str(season)), read_agent_evidence, "random")
    cached = COMPARISONS.read(connection)
    assert cached is not None
    assert found.points == cached.value.evidence["random"] != ()
    assert found.bar is None, "a reference is never told apart"
    assert "Evidence" in headings(page)
    assert "What a bet on its skill has made of 1, as outcomes came in." in words(page)
    assert not evidence_chart(EvidenceCurve(), "c1")
    once = evidence_chart(EvidenceCurve(((0.0, 2.9),), 222.2), "c1")
    assert "<svg" not in once
    assert "×2.9" in once


def test_the_evidence_says_how_much_a_verdict_against_the_price_needs(
    tmp_path_factory: pytest.TempPathFactory, show: Show
) -> None:
    demo = shared("demo", tmp_path_factory)
    found = read_cached(source(str(demo)), read_agent_evidence, "sharp")
    share = 0.05 * 0.9 * 0.9 / 4 / 2
    assert found.bar == pytest.approx(1 / share), "four that begin together, and both ways"
    assert "A verdict against the price needs ×198, and a mean gain three standard errors above 0." in words(
        show("agent", demo, agent="sharp")
    )


def test_it_says_what_is_told_of_it_and_the_ranks_that_it_may_have(
    tmp_path_factory: pytest.TempPathFactory, show: Show
) -> None:
    demo = shared("demo", tmp_path_factory)
    with read_only(demo) as connection:
        verdict = read_leaderboard(connection).verdict
    assert verdict is not None
    entry = next(one for one in verdict.agents if one.rank_low is not None)
    reference = next(one for one in verdict.agents if one.rank_low is None)
    for told in (entry, reference):
        said = words(show("agent", demo, agent=told.agent))
        assert plain(told.sentence, 2_000).replace(JOINER, "") in said
        assert plain(told.price_sentence, 2_000).replace(JOINER, "") in said
        has_ranks = f"{told.rank_text} of {told.entries}" in said
        assert has_ranks == (told is entry)


def test_luck_is_no_second_verdict() -> None:
    said = luck_words(Luck(0, 0, 1.0, -53_000_000_000, 37_000_000_000, 25, 9))
    assert said.endswith("from −$53k to +$37k. The verdict goes by forecasts.")
    assert "below" not in said


def test_an_agent_has_its_figures_and_positions_in_a_cohort(
    season: Path, connection: Connection, show: Show
) -> None:
    page = show("agent", season, agent="oracle", cohort="2")
    (row,) = [row for row in read_scores(connection, [2]) if row.agent == "oracle"]
    figures = dict(tiles(page))
    made = figures[f"profit or loss, {written(row.return_pct or 0.0, '%+.1f%')}"]
    assert made == unbroken(written(row.pnl or 0.0, "gain")).replace(JOINER, "")
    assert figures["by profit, references too"].endswith(" of 5")
    held = read_cohort_positions(connection, 2, "oracle")
    table = tables(page)[0]
    assert list(table["Market"]) == [one.position.question for one in held]
    assert list(table["P/L"]) == pytest.approx([one.position.money.total / ONE for one in held])
    assert sum(table["P/L"]) == pytest.approx(row.pnl or 0.0, abs=0.01)
    assert "A reference to compare agents with; it is not ranked." in words(page)
    assert "Over all cohorts:" not in words(page)
    strip = next(html for html in markup(page) if 'class="strip' in html)
    assert 'aria-current="true" title="Cohort 2' in strip


def test_of_a_cohort_without_it_an_agent_is_shown_over_all_its_own(tmp_path: Path, show: Show) -> None:
    play(tmp_path, agents=["{kind: constant}"], times=1)
    record = play(tmp_path, agents=["{kind: constant}", "{kind: random}"])
    with read_only(record) as connection:
        line_ups = [set(stored.entrant_ids) for stored in cohorts_seen(connection)]
    assert line_ups == [{"constant"}, {"constant", "random"}]
    page = show("agent", record, agent="random", cohort="1")
    assert page.title[0].value == "random"
    assert "The record has no cohort" not in words(page)
    assert "in 1 cohort" in words(page)


def test_open_positions_stand_before_the_charts(first_round: Path, show: Show) -> None:
    page = show("agent", first_round, agent="oracle")
    with read_only(first_round) as connection:
        held = read_holdings(connection, "oracle")
    assert len(held) > OPEN
    shown = markup(page)
    [table] = [place for place, html in enumerate(shown) if "Open positions" in html and "<table" in html]
    [charts] = [place for place, html in enumerate(shown) if "Profit and loss" in html]
    assert table < charts
    assert f"{len(held)} open positions worth" in shown[table]
    gain = sum(holding.position.money.unrealised for holding in held)
    assert f"at mid, {gained(gain)} since they were bought." in shown[table]
    [more] = [fold for fold in page.expander if fold.label == f"{len(held) - OPEN} more positions"]
    assert more.get("bidi_component")


def test_more_positions_are_sent_to_who_opens_them(first_round: Path, show: Show) -> None:
    page = show("agent", first_round, agent="oracle")
    [largest, others] = [rows for rows in tables(page) if "Side" in rows]
    assert largest["Value $"].min() >= others["Value $"].max()
    page.session_state["part more open positions"] = False
    [shown] = [rows for rows in tables(healthy(page.run())) if "Side" in rows]
    assert shown.equals(largest)


@pytest.mark.parametrize("part", ["record", "forecasts"])
def test_who_is_not_ranked_has_the_reason_in_place_of_its_skill(
    tmp_path_factory: pytest.TempPathFactory, show: Show, part: str
) -> None:
    page = show("agent", shared("all_failed", tmp_path_factory), agent="ann", part=part)
    assert "Not ranked: 5 of 5 turns failed." in words(page).replace(JOINER, "")
    assert dict(tiles(page))["closer than the price"] == "–"
    assert "Evidence" not in headings(page)
    assert "It has stated no probability yet." in "".join(markup(page))
    assert part == "record" or "It has no resolved bet yet." in words(page)
    duel = show("duel", shared("all_failed", tmp_path_factory), a="ann", b="bob")
    assert "Nothing to compare: no answer from `ann` or `bob` yet." in words(duel)


def test_who_has_bet_nothing_has_a_sentence_in_place_of_the_calibration_of_its_bets(
    no_bets: Path, show: Show
) -> None:
    page = show("agent", no_bets, agent="quiet", part="forecasts")
    assert "Calibration of its bets" in words(page)
    assert "It has no resolved bet yet." in words(page)


def test_before_anything_has_resolved_calibration_is_said_to_wait(first_round: Path, show: Show) -> None:
    page = show("agent", first_round, agent="oracle")
    assert "No market that it forecast has resolved yet." in "".join(markup(page))


def test_an_event_at_stake_is_named_by_a_market_that_is_held(first_round: Path, show: Show) -> None:
    page = show("agent", first_round, agent="oracle", part="money")
    [stakes] = [rows for rows in tables(page) if "Worst $" in rows]
    with read_only(first_round) as connection:
        held = {holding.position.question for holding in read_holdings(connection, "oracle")}
    assert len(stakes)
    assert set(stakes["Event"]) <= held


@pytest.mark.parametrize("name", NAMES)
def test_the_curve_is_the_sum_of_the_newest_marks_of_all_accounts(connection: Connection, name: str) -> None:
    marks = {
        one.cohort.number: [
            mark for mark in read_equity_curves(connection, one.cohort.number) if mark.agent == name
        ]
        for one in cohorts_seen(connection)
    }
    curve = read_summed_curves(connection, [name], 200)[name]
    for point in curve:
        known = [[mark.total for mark in own if mark.at <= point.at] for own in marks.values()]
        gain = sum(totals[-1] - 10_000 * ONE for totals in known if totals)
        assert math.isclose(point.dollars, gain / ONE, abs_tol=1e-6)
    every = {mark.at for own in marks.values() for mark in own}
    assert [point.at for point in curve] == sorted(every)


def test_the_parts_of_the_profit_add_up_to_it(season: Path, connection: Connection, show: Show) -> None:
    page = show("agent", season, agent="oracle", part="money")
    table = tables(page)[0]
    assert list(table["Part"]) == [*(label for _, label, _ in PARTS), "P/L"]
    assert math.isclose(sum(table["Amount"][:-1]), table["Amount"].iloc[-1], abs_tol=1e-3)
    (row,) = [row for row in read_scores(connection) if row.agent == "oracle"]
    assert math.isclose(table["Amount"].iloc[-1], row.pnl or 0.0, abs_tol=0.01)


def test_the_forecasts_show_their_parts_a_histogram_and_cards(
    season: Path, connection: Connection, show: Show
) -> None:
    page = show("agent", season, agent="random", part="forecasts", by="price")
    shown = ["Skill in parts", "Calibration of its bets", "What it states"]
    assert [each.value for each in page.subheader][:3] == shown
    assert {"Anchored", "Implied"} <= set(headings(page))
    cached = PROFILE.read(connection, "random")
    assert cached is not None
    skills, parts = tables(page)[:2]
    assert list(parts["Price"]) == [one.label for one in cached.value.calibrated["price"]]
    assert list(parts["Brier"]) == [one.parts.brier for one in cached.value.calibrated["price"]]
    known = {one.slice: one.gain.skill for one in cached.value.slices["price"]}
    for part, skill in zip(skills["Part"], skills["Skill"], strict=True):
        assert math.isclose(skill, known[part] or 0.0)
    said = words(page)
    assert f"{sum(cached.value.histogram):,} forecasts stated; it calls no model" in said
    for remark in (*cached.value.best, *cached.value.worst):
        assert f"said {remark.forecast:.0%}, price {remark.price:.0%}, ended" in said
    page.segmented_control[1].select("horizon")
    assert in_address(healthy(page.run()), "by") == "horizon"


def test_notable_forecasts_have_the_reasons_that_were_given(season: Path, show: Show, tmp_path: Path) -> None:
    record = with_reasons(season, tmp_path)
    with read_only(record) as connection:
        cached = PROFILE.read(connection, "random")
        assert cached is not None
        found = read_notable_forecasts(connection, "random")
        rows = connection.exec_driver_sql(
            "SELECT cohort.number, round.number, market_id, reason FROM forecast"
            " JOIN turn ON turn.id = turn_id JOIN round ON round.id = round_id"
            " JOIN cohort ON cohort.id = round.cohort_id JOIN entrant ON entrant.id = turn.entrant_id"
            " WHERE stage = 'final' AND entrant.name = 'random'"
        )
        reasons = {tuple(place): reason for *place, reason in rows}
    assert [one.forecast for one in found.best] == list(cached.value.best)
    assert [one.forecast for one in found.worst] == list(cached.value.worst)
    said = words(show("agent", record, agent="random", part="forecasts"))
    for one in (*found.best, *found.worst):
        assert one.reason == reasons[one.forecast.cohort, one.forecast.round, one.forecast.market_id]
        assert one.reason in said


def test_costs_failures_and_settings_are_told(tmp_path: Path, show: Show) -> None:
    file = tmp_path / "record.db"
    build(file).close()
    page = show("agent", file, agent="eve", part="setup")
    failures = tables(page)[0]
    assert {"malformed", "failed"} <= set(failures["Kind"])
    assert "Settings and reported model" in words(page)


def test_a_model_of_ones_own_server_is_not_said_to_be_a_providers() -> None:
    models = {
        "house": "openai/house",
        "ann": "openai/gpt-5.6",
        "gpt-5.6": "openai/gpt-5.6",
        "bob": "openai/house",
    }
    agents = tuple((name, "llm") for name in models)
    overview = SeasonOverview((), agents, models, frozenset({"house", "bob"}))
    said = {name: overview.about(name) for name in models}
    assert said == {
        "house": "own server",
        "bob": "house · own server",
        "ann": "openai/gpt-5.6",
        "gpt-5.6": "openai",
    }


def test_ranks_are_said_once_they_tell_something() -> None:
    """Until then the board is provisional, and nothing on it is ranked."""
    overview = SeasonOverview((), (("ann", "llm"),), {"ann": "openai/m"})
    open_to_all = ranks_and_description("ann", (), a_line(told_of(0, 0, 5)), overview)
    assert "rank" not in open_to_all
    assert "ranks 1–4 of 5" in ranks_and_description("ann", (), a_line(told_of(1, 0, 5)), overview)
