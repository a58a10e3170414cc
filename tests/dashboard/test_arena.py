"""The first page: its verdict, race, board and quotes say what the record and the leaderboard say."""

import re
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from arena.record.schema.database import open_read_only, reading
from arena.scores.leaderboard import Leaderboard, LeaderboardRow, percent_of_price, read_leaderboard
from arena.scores.profiles.detailed_profile import ProfileFigures
from arena.scores.rules.comparisons.duel_evidence import PairEvidence
from arena.scores.rules.money.luck import Luck
from arena.scores.rules.reliability.reading import CalibrationReading
from arena.scores.verdict import Candidate, SeasonState, make_verdict
from dashboard.board import calibration_words, headline
from dashboard.charts import Line, line_chart, luck_band
from dashboard.pictures import REST
from dashboard.record import kept, source
from dashboard.views.arena import figures, read_newest_decisions, shortened_reason
from dashboard.words import day, plain
from tests.dashboard.opening import Show, markup, tables, tiles, words
from tests.dashboard.records import shared
from tests.records.seasons import HOSTILE

DAY = 86_400.0
START = datetime(2026, 1, 4, tzinfo=UTC).timestamp()


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shared("demo", tmp_path_factory)


def board_of(record: Path) -> Leaderboard:
    with open_read_only(str(record)) as engine, reading(engine) as connection:
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
    assert "the price itself" in set(apart["what"])
    assert "knows the true odds of the simulator, up to noise" in set(apart["what"])
    assert "References, not ranked" in [heading.value for heading in page.subheader]
    assert not any(name in page.title[0].value for name in references)

    entries = len(ranked)
    pairs, count, *_ = tiles(page)
    assert pairs == ("pairs told", f"{len(board.verdict.told)} of {entries * (entries - 1) // 2}")
    assert count == ("entries", str(entries))
    race = next(html for html in markup(page) if "Equity, all cohorts" in html)
    named = {text.text for text in ET.fromstring(race).iter("text") if "name" in text.get("class", "")}
    assert named
    assert not any((name or "").split(" ")[0] in references for name in named)


def test_groups_leave_their_own(demo: Path, show: Show) -> None:
    models = tables(show("arena", demo, show="models"))[0]["agent"]
    assert len(models) > 0
    kinds = {row.agent: row.kind for row in board_of(demo).rows}
    assert {kinds[name] for name in models} == {"llm"}


def test_decisions_are_quoted_with_the_agents_own_reason(demo: Path, show: Show) -> None:
    found = kept(source(str(demo)), read_newest_decisions)
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
    apart = [abs(one.forecast.probability - one.price) for one in found.disputes]
    assert apart


def test_money_that_a_simulation_invents_says_so(demo: Path, show: Show) -> None:
    page = show("arena", demo)
    assert "Cost (simulated)" in "".join(markup(page))
    assert re.search(
        r"cohorts? \((finished|\d+(–\d+)? playing)\).*, calls cost \\\$\d+\.\d\d \(simulated\)\.", words(page)
    )


def row_of(agent: str, **known: Any) -> LeaderboardRow:
    plain: dict[str, Any] = dict.fromkeys(LeaderboardRow.__dataclass_fields__)
    plain |= {"kind": "llm", "agent": agent, "events": 64, "is_reference": False}
    return LeaderboardRow(**plain | known)


def a_board(*told: tuple[str, str], entries: str = "abc") -> Leaderboard:
    """A board of entries with these pairs (better, worse) told, one a day from 4 January 2026 on."""
    pairs = [
        PairEvidence(better, worse, 0.01, START + place * DAY, 1.0, None, 40, None)
        for place, (better, worse) in enumerate(told)
    ]
    candidates = [Candidate(name, skill=0.0, skill_low=-0.1) for name in entries]
    verdict = make_verdict(
        [*candidates, Candidate("oracle", is_reference=True)], pairs, [], SeasonState(9, 0, 64)
    )
    rows = [row_of(name) for name in entries] + [row_of("oracle", kind="oracle", is_reference=True)]
    return Leaderboard(verdict, None, tuple(rows))


def test_tiles_count_told_pairs_among_entries() -> None:
    shown = [(tile.value, tile.label) for tile in figures(a_board(("a", "b"), ("a", "c")))]
    assert shown == [
        ("2 of 3", "pairs told"),
        ("3", "entries"),
        ("5 January 2026", "newest pair told"),
        ("64", "events resolved"),
    ]
    nothing = [tile.label for tile in figures(a_board())]
    assert nothing == ["pairs told", "entries", "events resolved"]
    assert figures(a_board(entries="a")) == []


def test_the_heading_and_what_follows_it_are_the_verdict() -> None:
    verdict = a_board(("a", "b")).verdict
    assert verdict is not None
    first, rest = headline(verdict)
    assert first.endswith(".")
    assert f"{first} {rest}" == f"{verdict.sentence} {verdict.guarantee}"


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
    assert (note.attrib["class"], note.text) == ("quiet note", "shaded: luck")


def test_a_long_reason_is_cut_at_a_word() -> None:
    assert shortened_reason("word " * 80).endswith("word …")
    assert shortened_reason("two\nlines") == "two lines"
    assert len(shortened_reason("x" * 900)) < 230
