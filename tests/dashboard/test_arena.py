"""The first page: its verdict, race, board and quotes say what the record and the leaderboard say."""

import re
import sqlite3
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from arena.cli.table import VERDICT
from arena.record.schema.database import open_read_only, reading
from arena.scores.leaderboard import Leaderboard, LeaderboardRow, read_leaderboard
from arena.scores.profiles.detailed_profile import ProfileFigures
from arena.scores.rules.money.luck import Luck
from arena.scores.rules.reliability.reading import CalibrationReading
from dashboard.board import calibration_words, cells, columns_of, headline
from dashboard.html import REST, Line, line_chart, luck_band
from dashboard.record import LeaderboardLine, kept, source
from dashboard.views.arena import figures, read_newest_decisions, shortened_reason
from dashboard.words import day
from tests.dashboard.opening import Show, markup, tables, words
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
    page, rows = show("arena", demo), [row for row in board_of(demo).rows if row.ranked]
    table = tables(page)[0].set_index("agent")
    assert [name for name in table.index if name != "market"] == [row.agent for row in rows]
    for row in rows:
        line = table.loc[row.agent]
        assert line["skill"] == pytest.approx(row.skill)
        assert line["pnl"] == pytest.approx(row.pnl)
    assert page.title[0].value == headline(board_of(demo))
    assert "Simulated season: play money" in words(page)


def test_groups_leave_their_own(demo: Path, show: Show) -> None:
    models = tables(show("arena", demo, show="models"))[0]["agent"]
    everyone = tables(show("arena", demo))[0]["agent"]
    assert 0 < len(models) < len(everyone)
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
    assert "Skill per $ (simulated)" in "".join(markup(page))
    assert re.search(
        r"cohorts? \((finished|\d+(–\d+)? playing)\).*, calls cost \\\$\d+\.\d\d \(simulated\)\.", words(page)
    )


def a_board(*verdicts: str, **more: Any) -> Leaderboard:
    plain: dict[str, Any] = dict.fromkeys(LeaderboardRow.__dataclass_fields__)
    plain |= {
        "kind": "llm",
        "ties": (),
        "stamps": (),
        "tools": (),
        "ranked": True,
        "skill": 0.01,
        "skill_low": 0.001,
    }
    rows = [LeaderboardRow(**plain | {"agent": f"a{n}", "verdict": v}) for n, v in enumerate(verdicts)]
    return replace(Leaderboard("", None, None, 160.0, None, tuple(rows)), **more)


@pytest.mark.parametrize(
    ("verdicts", "said"),
    [
        (("proven", "ahead", "close"), "a0 beats the market, proven. One more is ahead, not yet proven."),
        (("proven", "proven"), "Two agents beat the market, proven."),
        (("ahead", "close"), "a0 is ahead of the market, not yet proven."),
        (("ahead", "ahead", "behind"), "Two agents are ahead of the market, none proven yet."),
        (("close", "behind"), "Nobody is ahead of the market yet."),
        (("behind",), "No agent beats the market."),
        ((), "Too early to say who beats the market."),
    ],
)
def test_the_heading_is_the_verdict(verdicts: tuple[str, ...], said: str) -> None:
    assert headline(a_board(*verdicts)) == said


def test_where_nobody_answered_enough_the_heading_does_not_call_it_early() -> None:
    board = a_board("none")
    rows = tuple(replace(row, ranked=False, skill_low=None, resolved=5) for row in board.rows)
    assert headline(replace(board, rows=rows)) == "No agent has answered enough to be ranked."


def test_tiles_count_who_is_ahead_and_what_is_missing() -> None:
    first, surest, needed = figures(a_board("proven", "ahead", "close", events_needed=134))
    assert (first.value, first.label) == ("2 of 3", "ahead of the market, 1 proven")
    assert (surest.value, surest.label) == ("+0.0100", "skill of a0, ranked first")
    assert needed.value == "≈ 140 events"
    assert figures(a_board("proven", leader="a0"))[-1].value == "Lead decided"


def test_a_copy_is_no_more_in_the_tile_than_in_the_heading() -> None:
    board = a_board("ahead", "ahead", "close", "ahead")
    rows = tuple(replace(row, copies="a1" if row.agent == "a3" else None) for row in board.rows)
    board = replace(board, rows=rows)
    assert headline(board).startswith("Two agents are ahead")
    assert figures(board)[0].value == "2 of 3"
    assert figures(board)[0].label == "ahead of the market, none proven; copies not counted"


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
    wide, narrow = ET.fromstring(f"<div>{line_chart(lines, HOSTILE, '%+.0f%')}</div>")
    for chart in (wide, narrow):
        named = [text for text in chart.iter("text") if "name" in text.attrib["class"]]
        assert len(named) == 2
        assert abs(float(named[0].attrib["y"]) - float(named[1].attrib["y"])) >= 14
        ticks = [text.text for text in chart.iter("text") if text.get("text-anchor") == "end" and text.text]
        assert len([text for text in ticks if text.endswith("%")]) == 3
    assert wide.attrib["aria-label"] == HOSTILE


def test_what_is_shaded_is_said_on_a_phone_too_where_the_chart_has_no_room_for_it() -> None:
    line = Line("ann", [(START, 0.0), (START + DAY, 1.0)], "c1")
    band = [(START, 0.0, 0.0), (START + DAY, -1.0, 1.0)]
    wide, narrow, note = ET.fromstring(f"<div>{line_chart([line], 'x', '%.0f', band, 'shaded: luck')}</div>")
    assert "shaded: luck" in wide.itertext()
    assert "shaded: luck" not in narrow.itertext()
    assert (note.attrib["class"], note.text) == ("quiet note", "shaded: luck")


def test_a_long_reason_is_cut_at_a_word() -> None:
    assert shortened_reason("word " * 80).endswith("word …")
    assert shortened_reason("two\nlines") == "two lines"
    assert len(shortened_reason("x" * 900)) < 230


def test_a_verdict_has_the_same_word_wherever_it_stands() -> None:
    words = ("proven", "ahead", "too close", "behind", "")
    rows = a_board("proven", "ahead", "close", "behind", "none").rows
    for row, says in zip(rows, words, strict=True):
        [[on_page]] = cells([LeaderboardLine(row)], columns_of("verdict")).values()
        assert VERDICT.cell(row) == on_page == says
