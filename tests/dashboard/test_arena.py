"""The first page: its verdict, race, board and quotes say what the record and the leaderboard say."""

import re
import sqlite3
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from sqlalchemy.event import listen

from arena.errors import far_text
from arena.scores.leaderboard import Leaderboard, LeaderboardRow, percent_of_price, read_leaderboard
from arena.scores.profiles.detailed_profile import ProfileFigures
from arena.scores.rules.comparisons.duel_evidence import PairEvidence
from arena.scores.rules.money.luck import Luck
from arena.scores.rules.reliability.reading import CalibrationReading
from arena.scores.verdict import Candidate, SeasonState, make_verdict
from dashboard.board import (
    BoardLook,
    calibration_words,
    headline,
    is_provisional,
    season_board,
    whole_verdict,
)
from dashboard.charts import Line, line_chart, luck_band
from dashboard.cohorts import (
    CohortReturn,
    CohortReturns,
    cohort_strip,
    read_all_holdings,
    read_cohort_returns,
)
from dashboard.html import HtmlColumn, html_table
from dashboard.pictures import REST
from dashboard.record import (
    LeaderboardLine,
    SeasonOverview,
    leaderboard_lines,
    read_cached,
    read_season,
    source,
)
from dashboard.views.arena import (
    CAUSE,
    drawn_agents,
    page_of,
    positions_box,
    read_held_markets,
    read_newest_decisions,
    shortened_reason,
    what_this_is,
)
from dashboard.words import count, day, plain, written
from tests.dashboard.opening import Show, markup, tables, tables_of, words
from tests.dashboard.records import shared
from tests.records.seasons import HOSTILE
from tests.rows import cohorts_seen, read_only

DAY = 86_400.0
START = datetime(2026, 1, 4, tzinfo=UTC).timestamp()


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shared("demo", tmp_path_factory)


def board_of(record: Path) -> Leaderboard:
    with read_only(record) as connection:
        return read_leaderboard(connection)


def test_its_board_is_that_of_the_command(demo: Path, show: Show) -> None:
    page = show("arena", demo)
    board = board_of(demo)
    rows = [row for row in board.rows if row.ranked and not row.is_reference]
    table = tables(page)[0].set_index("agent")
    assert list(table.index) == [row.agent for row in rows]
    assert board.verdict is not None
    for row in rows:
        line = table.loc[row.agent]
        told = board.verdict.of(row.agent)
        assert told is not None
        assert line["closer"] == pytest.approx(percent_of_price(row.skill, row.brier_market))
        assert line["pnl"] == pytest.approx(row.pnl)
        assert line["better"] == told.better_text
        assert line["return_pct"] == pytest.approx(row.return_pct)
    assert page.title[0].value == plain(headline(board.verdict)[0])
    assert "Simulated season: play money" in words(page)


def test_references_stand_apart_and_in_no_count(demo: Path, show: Show) -> None:
    page = show("arena", demo)
    board = board_of(demo)
    assert board.verdict is not None
    references = {row.agent for row in board.rows if row.is_reference}
    ranked, apart = tables(page)[:2]
    assert references
    assert not references & set(ranked["agent"])
    assert set(apart["agent"]) == references
    drawn = "".join(markup(page))
    assert "the price itself" in drawn
    assert "knows the true odds, less the noise of its config" in drawn
    assert "References, not ranked: what the agents are measured by" in drawn
    assert not any(name in page.title[0].value for name in references)

    race = next(html for html in markup(page) if "Profit and loss" in html)
    named = {text.text for text in ET.fromstring(race).iter("text") if "name" in text.get("class", "")}
    assert named
    assert not any((name or "").split(" ")[0] in references for name in named)


def test_groups_leave_their_own(demo: Path, show: Show) -> None:
    models = tables(show("arena", demo, show="models"))[0]["agent"]
    assert len(models) > 0
    kinds = {row.agent: row.kind for row in board_of(demo).rows}
    assert {kinds[name] for name in models} == {"llm"}


def test_decisions_are_quoted_with_the_agents_own_reason(demo: Path, show: Show) -> None:
    found = read_cached(source(str(demo)), read_newest_decisions)
    said = words(show("arena", demo))
    assert found.trades
    with sqlite3.connect(demo) as base:
        reasons = {reason for (reason,) in base.execute("SELECT reason FROM forecast WHERE reason != ''")}
    for trade in found.trades:
        assert trade.reason in reasons
        assert shortened_reason(trade.reason) in said
        assert f" · {day(trade.at)}" in said
    with sqlite3.connect(demo) as base:
        ended = dict(base.execute("SELECT market_id, payout FROM resolution ORDER BY version"))
    words_of: dict[int | None, str] = {0: "NO", 1_000_000: "YES"}
    assert list(found.outcomes) == [words_of.get(ended.get(trade.market_id)) for trade in found.trades]
    assert len({trade.agent for trade in found.trades}) == len(found.trades)
    made = {(trade.market_id, trade.action, trade.side) for trade in found.trades}
    assert len(made) == len(found.trades)
    first = found.trades[0].agent
    others = read_cached(source(str(demo)), read_newest_decisions, (first,))
    assert first not in {one.agent for one in others.trades} | {one.forecast.agent for one in others.disputes}
    apart = [abs(one.forecast.probability - one.price) for one in found.disputes]
    assert apart


def test_money_that_a_simulation_invents_says_so(demo: Path, show: Show) -> None:
    page = show("arena", demo)
    assert "Cost (simulated)" in "".join(markup(page))
    assert re.search(
        r"cohorts? \((finished|(\d+ )?playing)\).*, calls cost \$\d+\.\d\d \(simulated\)\.", words(page)
    )


def test_a_cohort_is_chosen_in_the_strip_and_has_its_own_board(demo: Path, show: Show) -> None:
    page = show("arena", demo, cohort="2")
    whole = show("arena", demo)
    assert page.title[0].value == whole.title[0].value, "there is one verdict"
    with read_only(demo) as connection:
        rows = {row.agent: row for row in read_leaderboard(connection, 2).rows}
        offered = read_cohort_returns(connection)
    board = tables(page)[0].set_index("agent")
    for name, shown in board.iterrows():
        assert shown["pnl"] == pytest.approx(rows[str(name)].pnl)
    assert not {"rank", "better"} & set(board.columns)
    assert "The verdict is over all cohorts. Cohort 2, started" in words(page)

    strip = next(ET.fromstring(html) for html in markup(page) if 'class="strip' in html)
    ways = {link.get("href"): link for link in strip.iter("a")}
    bars = [page_of(cohort.number).href for cohort in reversed(offered.cohorts)]
    assert list(ways) == [page_of(None).href, *bars]
    assert ways[page_of(2).href].get("aria-current") == "true"
    agents = [row for name, row in rows.items() if not row.is_reference]
    together = 100 * sum(row.pnl or 0.0 for row in agents) / (10_000 * len(agents))
    assert 0 < len(agents) < len(rows)
    assert offered.cohorts[1].percent == pytest.approx(together), "what references made is not the agents'"
    for cohort in offered.cohorts:
        said = ways[page_of(cohort.number).href].get("title", "")
        assert said.startswith(f"Cohort {cohort.number} · {day(cohort.starts_at)}")
        assert cohort.percent is None or written(cohort.percent, "%+.0f%") in said
        assert said.endswith(" · playing") == cohort.is_playing


def test_of_many_cohorts_the_months_are_named_and_there_is_a_list_to_choose_from() -> None:
    start = datetime(2026, 1, 4, tzinfo=UTC)
    cohorts = [
        CohortReturn(number, start + timedelta(days=7 * number), -float(number), number > 50)
        for number in range(1, 62)
    ]
    offered = CohortReturns(tuple(cohorts), 61)
    drawn = ET.fromstring(cohort_strip(offered, 7, page_of))
    labels = [small.text for small in drawn.iter("small") if small.text]
    assert labels[::-1][:3] == ["2026", "Feb", "Mar"]
    assert labels[::-1][12:14] == ["2027", "Feb"]
    assert len([link for link in drawn.iter("a") if link.get("class") == "live"]) == 11
    assert drawn.findtext("details/summary") == "Cohort 7 · 22 Feb 2026 · −7%"
    listed = drawn.findall("details/span/a")
    assert [link.get("href") for link in listed] == [page_of(number).href for number in range(61, 0, -1)]
    assert listed[0].text == "Cohort 61 · 7 Mar 2027 · −61% · playing"
    assert [link.text for link in listed if link.get("aria-current")] == ["Cohort 7 · 22 Feb 2026 · −7%"]


@pytest.mark.parametrize(("many", "has_list"), [(10, False), (11, True)])
def test_where_bars_are_not_named_there_is_a_list(many: int, has_list: bool) -> None:
    start = datetime(2026, 1, 4, tzinfo=UTC)
    cohorts = tuple(CohortReturn(number, start, 1.0, False) for number in range(1, many + 1))
    drawn = ET.fromstring(cohort_strip(CohortReturns(cohorts, many), None, page_of))
    assert (drawn.get("class") == "strip many") == has_list
    assert drawn.findtext("details/summary") == ("All cohorts" if has_list else None)


def test_a_return_that_is_written_as_nothing_is_no_loss() -> None:
    start = datetime(2026, 1, 4, tzinfo=UTC)
    drawn = cohort_strip(CohortReturns((CohortReturn(1, start, -0.003, False),), 1), None, page_of)
    assert "0%" in drawn
    assert 'class="loss' not in drawn
    assert 'height="1.5"' in drawn


def test_an_amount_that_is_written_as_nothing_is_no_loss() -> None:
    columns = {"agent": HtmlColumn("Agent"), "pnl": HtmlColumn("P/L", format="earned")}
    rows = [{"agent": "ann", "pnl": -0.28}, {"agent": "bob", "pnl": -12.0}]
    drawn = html_table(rows, columns, "Amounts")
    assert drawn.count(" loss") == 1
    assert "$0<" in drawn


def row_of(agent: str, **known: Any) -> LeaderboardRow:
    plain: dict[str, Any] = dict.fromkeys(LeaderboardRow.__dataclass_fields__)
    plain |= {"kind": "llm", "agent": agent, "events": 64, "is_reference": False, "tools": ()}
    return LeaderboardRow(**plain | known)


def test_copies_fold_into_one_line() -> None:
    names = ["head", *(f"copy-v{number}" for number in range(1, 12))]
    overview = SeasonOverview((), tuple((name, "llm") for name in names), {})
    copies = [row_of(name, ranked=True, copies="head", pnl=1.0) for name in names[1:]]
    lines = [LeaderboardLine(row) for row in (row_of("head", ranked=True, pnl=1.0), *copies)]
    drawn = season_board(lines, BoardLook(overview, {}, {}), provisional=False)
    [board] = list(tables_of(f"<div>{drawn}</div>"))
    assert list(board["agent"]) == ["head"]
    assert "11 agents with the forecasts of another, one entry with it" in drawn
    assert drawn.count("agent?agent=copy-v") == 11


@pytest.mark.parametrize(
    ("events", "order"), [(19, ["bob", "ann", "cho", "market"]), (20, ["ann", "bob", "cho", "market"])]
)
def test_before_there_are_ranks_those_come_first_that_made_most(events: int, order: list[str]) -> None:
    """As in the terminal, agents are ranked from twenty events on, though none may have an interval yet."""
    made = {"ann": -3.0, "bob": 2.0, "cho": None, "market": 9.0}
    kinds = [(name, "kelly" if name == "market" else "llm") for name in made]
    overview = SeasonOverview((), tuple(kinds), {})
    rows = []
    for name, pnl in made.items():
        rows.append(row_of(name, pnl=pnl, events=events, is_reference=name == "market"))
    lines = leaderboard_lines(Leaderboard(None, None, tuple(rows)))
    assert is_provisional(lines) == (events < 20)
    assert [line.row.agent for line in lines] == order
    assert drawn_agents(overview, lines) == order


def test_names_are_sorted_as_people_count() -> None:
    names = [f"v{number}" for number in (10, 2, 1, 11)]
    verdict = make_verdict([Candidate(name) for name in names], [], [], SeasonState(9, 0, 64))
    assert [told.agent for told in verdict.agents] == ["v1", "v2", "v10", "v11"]
    assert verdict.agents[0].untold == ("v2", "v10", "v11")


def test_the_first_page_says_what_agents_hold_and_when_it_goes_on(first_round: Path, show: Show) -> None:
    with read_only(first_round) as connection:
        positions = read_held_markets(connection)
    assert positions.markets
    box = ET.fromstring(f"<div>{positions_box(positions)}</div>")
    said = "".join(box.itertext())
    lots = sum(market.yes + market.no for market in positions.markets)
    assert f"{count(lots, 'position')} in {count(len(positions.markets), 'market')}" in said
    soonest = min(market.closes_at for market in positions.markets)
    assert f"The first market closes {far_text(soonest, positions.at)}." in said


def test_where_all_failed_it_says_who_why_and_where_to_look(
    tmp_path_factory: pytest.TempPathFactory, show: Show
) -> None:
    failed = shared("all_failed", tmp_path_factory)
    page = show("arena", failed)
    said = words(page)
    with sqlite3.connect(failed) as base:
        notes = {note for (note,) in base.execute("SELECT note FROM turn WHERE status = 'failed'")}
    assert notes
    for name in ("ann", "bob"):
        assert f"{name} gave no usable answer in 5 turns: no answer came" in said
    assert any(shortened_reason(note, CAUSE) in said for note in notes)
    assert "“arena status” says what to do next." in said
    links = [link.get("href", "") for html in markup(page) for link in ET.fromstring(html).iter("a")]
    assert "operations" in links
    assert any(href.startswith("turn?") for href in links)
    assert not any("Profit and loss" in html for html in markup(page)), "a flat line says nothing"


def test_a_cohort_in_which_all_failed_quotes_its_own_turns(
    tmp_path_factory: pytest.TempPathFactory, show: Show
) -> None:
    said = words(show("arena", shared("all_failed", tmp_path_factory), cohort="1"))
    assert "ann gave no usable answer in 3 turns: no answer came" in said
    assert "failed in cohort 1, round 3" in said
    assert "cohort 2, round" not in said


def test_what_is_held_reads_the_cohorts_once_however_many_play(demo: Path) -> None:
    statements: list[str] = []
    with read_only(demo) as connection:
        still_open = [stored for stored in cohorts_seen(connection) if stored.ended_at is None]
        listen(connection, "before_cursor_execute", lambda *sent: statements.append(sent[2]))
        assert read_all_holdings(connection)
    assert len(still_open) > 1
    assert statements.count(statements[0]) == 1


def test_what_this_is_counts_who_is_there_and_who_plays(demo: Path) -> None:
    lines = read_cached(source(str(demo)), read_season).cohorts
    half = SeasonOverview((lines[0], replace(lines[1], ended_at=lines[1].starts_at)), (("a", "random"),), {})
    assert what_this_is(half, None) == "1 reference, play money, 2 cohorts (1 playing)."


def test_the_heading_and_what_follows_it_are_the_verdict() -> None:
    pair = PairEvidence("a", "b", 0.01, START, 1.0, None, 40, None)
    names = [Candidate(name, skill=0.0, skill_low=-0.1) for name in "abc"]
    verdict = make_verdict(names, [pair], [], SeasonState(9, 0, 64))
    first, rest = headline(verdict)
    assert first.endswith(".")
    assert f"{first} {rest}" == verdict.sentence
    assert whole_verdict(verdict) == f"{verdict.sentence} {verdict.guarantee}"


def test_calibration_is_told_in_words_and_called_off_only_where_chance_does_not_do_it() -> None:
    sure = CalibrationReading(212, 40, 0.8, 0.71)
    assert calibration_words(ProfileFigures("a", None, 0.01, 0.01, sure)) == (
        "says 80%, happens 71%",
        "too sure, n = 212",
    )
    by_chance = calibration_words(ProfileFigures("a", None, 0.01, 0.4, sure))[1]
    assert by_chance == "no more off than chance, n = 212"
    few = ProfileFigures("a", None, 0.01, 0.4, None)
    assert calibration_words(few) == ("–", "70% sure of a side in fewer than 20 events")
    assert calibration_words(None) == ("being computed", "")


def test_luck_grows_with_what_was_at_risk_and_ends_where_the_bets_say() -> None:
    points = [(START, 0.0), (START + DAY, 3.0), (START + 2 * DAY, 3.0), (START + 3 * DAY, -1.0)]
    widths = [high - low for _, low, high in luck_band(points)]
    assert widths[0] == 0
    assert widths[1] == widths[2] < widths[3] == pytest.approx(2 * 1.96 * 5)
    known = Luck(0, -2_000_000, 0.5, -12_000_000, 8_000_000, 3, 10_000)
    *_, last = luck_band(points, known, 0.5)
    assert last[1:] == pytest.approx((-6.0, 4.0))
    assert luck_band([(START, 0.0)]) == ()


def test_names_at_the_ends_of_lines_are_text_and_do_not_lie_on_each_other() -> None:
    lines = [Line(name, [(START, 0.0), (START + DAY, 1.0)], "c1", "+1%") for name in ("ann", HOSTILE)]
    lines.append(Line("grey", [(START, 0.0), (START + DAY, 5.0)], REST))
    [chart] = ET.fromstring(f"<div>{line_chart(lines, HOSTILE, '%+.0f%')}</div>")
    named = [text for text in chart.iter("text") if "name" in text.attrib["class"]]
    assert len(named) == 2
    assert abs(float(named[0].attrib["y"]) - float(named[1].attrib["y"])) >= 14
    ticks = [text.text for text in chart.iter("text") if text.get("text-anchor") == "end" and text.text]
    assert ticks == ["0%", "+1%", "+2%", "+3%", "+4%", "+5%"]
    assert next(chart.iter("svg")).attrib["aria-label"] == HOSTILE


def test_what_is_shaded_is_said_below_the_chart() -> None:
    line = Line("ann", [(START, 0.0), (START + DAY, 1.0)], "c1")
    band = [(START, 0.0, 0.0), (START + DAY, -1.0, 1.0)]
    chart, note = ET.fromstring(f"<div>{line_chart([line], 'x', '%.0f', band, 'shaded: luck')}</div>")
    assert len(list(chart.iter("polygon"))) == 1
    assert (note.attrib["class"], note.text) == ("quiet", "shaded: luck")


def test_a_long_reason_is_cut_at_a_word() -> None:
    assert shortened_reason("word " * 80).endswith("word …")
    assert shortened_reason("two\nlines") == "two lines"
    assert len(shortened_reason("x" * 900)) < 120


def test_one_valuation_is_told_in_figures_and_not_drawn(first_round: Path, show: Show) -> None:
    [html] = [html for html in markup(show("cohort", first_round)) if "Profit and loss" in html]
    boxes = ET.fromstring(f"<div>{html}</div>").iter("section")
    [box] = [box for box in boxes if box.findtext("h2") == "Profit and loss"]
    assert box.find(".//svg") is None
    assert "Valued once, on 4 Jan 2026: a chart needs two valuations." in "".join(box.itertext())
    figures = box.findall("dl[@class='facts']/dd")
    assert figures
    assert all("$" in (figure.text or "") for figure in figures)

    first_page = "".join(markup(show("arena", first_round)))
    assert "P/L" in first_page, "the board has the figures"
    assert "Profit and loss" not in first_page
