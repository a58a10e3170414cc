"""The leaderboard: its figures are those of `arena board`, in the order and the words asked for."""

import csv
import io
import math
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from xml.etree import ElementTree as ET

import pytest
from sqlalchemy import Connection

from arena.scores.leaderboard import Leaderboard, LeaderboardRow, compute_leaderboard
from arena.scores.profiles.detailed_profile import FIGURES
from arena.scores.slices import compute_slices
from dashboard.board import COLUMNS, as_csv
from dashboard.pictures import before_band, cell_scale, interval
from dashboard.record import LeaderboardLine
from dashboard.views.leaderboard import BY_SEED, SORTS, ordered
from dashboard.words import JOINER
from markets.millionths import ONE
from tests.builders import NOW
from tests.dashboard.opening import Show, healthy, in_address, markup, tables, words
from tests.dashboard.records import shared
from tests.records.full_record import build
from tests.rows import read_only

Answer = TypeVar("Answer")
MONEY = ("pnl", "return_pct", "win_rate", "cost_per_forecast")


def asked(record: Path, question: Callable[[Connection], Answer]) -> Answer:
    with read_only(record) as connection:
        return question(connection)


def ranked(record: Path, cohort: int | None = None) -> Leaderboard:
    return asked(record, lambda connection: compute_leaderboard(connection, cohort))


def same(shown: Any, figure: Any, times: int = 1) -> bool:
    if isinstance(figure, str):
        return bool(shown == figure)
    if figure is None:
        return shown is None or math.isnan(shown)
    return shown is not None and math.isclose(shown, figure * times, rel_tol=1e-12)


@pytest.mark.parametrize("cohort", [None, 1, 2])
def test_it_shows_every_score_of_every_row(season: Path, show: Show, cohort: int | None) -> None:
    page = show("leaderboard", season, cohort=str(cohort or "all"), columns="all")
    rows = [row for row in ranked(season, cohort).rows if row.is_reference]
    table = tables(page)[-1]
    assert list(table["agent"]) == [row.agent for row in rows]
    own = [
        column for column in COLUMNS if hasattr(rows[0], column.key) and column.key not in ("price", "tools")
    ]
    assert len(own) == 34
    for column in own:
        for shown, row in zip(table.get(column.key, [None] * len(rows)), rows, strict=True):
            assert same(shown, getattr(row, column.key), column.times), (row.agent, column.key)


def test_it_has_the_ranks_told_and_the_price(tmp_path_factory: pytest.TempPathFactory, show: Show) -> None:
    demo = shared("demo", tmp_path_factory)
    board = ranked(demo)
    assert board.verdict is not None
    entries = [one for one in board.verdict.agents if one.rank_low is not None]
    table = tables(show("leaderboard", demo, columns="verdict"))[0]
    assert len(entries) > 1
    assert list(table["agent"]) == [one.agent for one in entries]
    assert list(table["ranks"]) == [one.rank_text for one in entries]
    assert list(table["better"]) == [one.better_text for one in entries]
    assert list(table["price"]) == [None if one.price == "none" else one.price for one in entries]


@pytest.mark.parametrize(("group", "has_note"), [("verdict", False), ("scores", True)])
def test_a_note_on_the_implied_score_stands_where_its_column_does(
    season: Path, show: Show, group: str, has_note: bool
) -> None:
    page = show("leaderboard", season, columns=group)
    has_column = "brier_implied" in tables(page)[0].columns
    assert (has_column, "Stakes read as confidence" in words(page)) == (has_note, has_note)


@pytest.mark.parametrize("cohort", [None, 1])
def test_metaculus_scores_are_columns_too(season: Path, show: Show, cohort: int | None) -> None:
    page = show("leaderboard", season, cohort=str(cohort or "all"), columns="all")
    table = tables(page)[0].set_index("agent")
    known = {one.agent: one for one in ranked(season, cohort).metaculus}
    assert known
    for agent, row in table.iterrows():
        own = known.get(str(agent))
        for name in ("peer", "baseline", "spot_peer", "relative"):
            assert same(row[name], own and getattr(own, name)), (agent, name)
        assert same(row["coverage_in_time"], own and own.coverage, 100)


def test_a_cohort_says_with_whom_nobody_is_compared(season: Path, show: Show) -> None:
    """In its table of Metaculus's scores; names lead on to agents, the community nowhere."""
    html = next(x for x in markup(show("cohort", season, cohort="1")) if "Spot peer" in x)
    rows = [row for row in ET.fromstring(html).iter("tr") if row.find("td") is not None]
    scores = ranked(season, 1).metaculus
    assert [("outside" in "".join(row.itertext()), row.find(".//a") is not None) for row in rows] == [
        (one.outside, one.agent != "community") for one in scores
    ]
    assert {one.outside for one in scores} == {True, False}


def test_who_is_not_ranked_stands_apart_with_the_reason_and_the_money(
    tmp_path_factory: pytest.TempPathFactory, show: Show
) -> None:
    failed = shared("all_failed", tmp_path_factory)
    table = tables(show("leaderboard", failed, columns="all"))[-1].set_index("agent")
    rows = [row for row in ranked(failed).rows if not row.is_reference]
    assert len(rows) == 2
    assert list(table.index) == [row.agent for row in rows]
    assert not {"ranks", "skill", "brier_stated"} & set(table.columns)
    for row in rows:
        assert table.loc[row.agent]["why_not"] == row.why_not
        assert same(table.loc[row.agent]["pnl"], row.pnl)


def test_luck_and_calibration_stand_beside_the_scores(season: Path, show: Show) -> None:
    table = tables(show("leaderboard", season, columns="all"))[-1].set_index("agent")
    kept = asked(season, FIGURES.read)
    assert kept is not None
    lucky = [brief for brief in kept.value if brief.luck and brief.luck.low is not None]
    assert len(lucky) >= 3
    for brief in lucky:
        luck = brief.luck
        row = table.loc[brief.agent]
        assert luck is not None
        assert same(row.get("luck_percentile"), None if luck.percentile is None else 100 * luck.percentile)
        assert row["luck_low"] == pytest.approx((luck.low or 0) / ONE)
        assert same(row["miscalibration"], brief.miscalibration)


def test_its_first_words_are_the_verdict(season: Path, show: Show) -> None:
    verdict = ranked(season).verdict
    assert verdict is not None
    for cohort, said in (("all", verdict.sentence), ("1", f"Over all cohorts: {verdict.sentence}")):
        page = show("leaderboard", season, cohort=cohort)
        assert page.markdown[0].value.replace("\\", "").replace(JOINER, "").startswith(said)
        assert "Simulated season" in words(page)


def test_under_the_founding_texts_rules_it_says_what_decides(
    season: Path, tmp_path: Path, show: Show
) -> None:
    build(tmp_path / "record.db").close()
    assert BY_SEED in words(show("leaderboard", tmp_path / "record.db", cohort="2"))
    assert BY_SEED not in words(show("leaderboard", season))


@pytest.mark.parametrize(
    ("sort", "reading_"), [*((sort, "stated") for sort in SORTS), ("best", "anchored"), ("best", "implied")]
)
def test_it_stands_in_the_order_asked_for(season: Path, show: Show, sort: str, reading_: str) -> None:
    page = show("leaderboard", season, sort=sort, reading=reading_, columns="all")
    shown = tables(page)[0]["agent"]
    rows = {row.agent: row for row in ranked(season).rows}
    key, sign = {
        "best": ("skill_low", -1) if reading_ == "stated" else (f"brier_{reading_}", 1),
        "evidence": ("evidence", -1),
        "implied": ("brier_implied", 1),
        "profit": ("pnl", -1),
        "return": ("return_pct", -1),
        "wins": ("win_rate", -1),
        "events": ("events", -1),
        "cost": ("cost_per_forecast", 1),
        "name": ("agent", 1),
    }[sort]
    figures = [getattr(rows[name], key) for name in shown]
    values = [value for value in figures if value is not None]
    assert values == sorted(values, reverse=sign < 0)
    assert figures[: len(values)] == values


def test_a_search_leaves_those_with_such_a_name_and_is_in_the_address(season: Path, show: Show) -> None:
    page = show("leaderboard", season)
    page.text_input[0].set_value("ORAC")
    assert list(tables(healthy(page.run()))[0]["agent"]) == ["oracle"]
    assert in_address(page, "search") == "ORAC"
    page.text_input[0].set_value("nobody at all")
    assert "No agent has a matching name" in words(healthy(page.run()))


def test_where_no_name_fits_no_empty_board_is_shown(
    tmp_path_factory: pytest.TempPathFactory, show: Show
) -> None:
    provisional = shared("all_failed", tmp_path_factory)
    assert "Provisional" in "".join(markup(show("leaderboard", provisional)))
    page = show("leaderboard", provisional, search="nobody")
    assert "No agent has a matching name" in words(page)
    assert not [html for html in markup(page) if "<table" in html]


@pytest.mark.parametrize("by", ["horizon", "category", "price", "release"])
def test_a_part_of_the_season_shows_the_skill_in_it(season: Path, show: Show, by: str) -> None:
    parts = asked(season, lambda connection: compute_slices(connection, by))
    name = parts[-1].slice
    page = show("leaderboard", season, slice=by, part=name)
    assert "of this part, return of the whole season" in words(page)
    table = tables(page)[0].set_index("agent")
    mine = [part.gain for part in parts if part.slice == name]
    assert set(table.index) == {gain.agent for gain in mine}
    for gain in mine:
        for key in ("skill", "rows", "markets", "events"):
            assert same(table.loc[gain.agent][key], getattr(gain, key))
        assert table.loc[gain.agent]["reason"] == (gain.reason or "")


def test_without_anything_worked_out_it_says_so_and_shows_the_money(raw: Path, show: Show) -> None:
    page = show("leaderboard", raw, columns="all")
    assert "are being computed" in words(page)
    table = tables(page)[0].set_index("agent")
    for row in ranked(raw).rows:
        if row.agent in table.index:
            assert same(table.loc[row.agent]["pnl"], row.pnl)
            assert same(table.loc[row.agent]["return_pct"], row.return_pct)


def test_old_figures_are_called_old(season: Path, show: Show, tmp_path: Path) -> None:
    record = tmp_path / "old.db"
    record.write_bytes(season.read_bytes())
    with sqlite3.connect(record) as connection:
        connection.execute(
            "UPDATE rollup SET basis = basis || ' and more' WHERE name = 'board' OR name LIKE 'profile%'"
        )
    connection.close()
    for view, address in (("leaderboard", {}), ("agent", {"agent": "oracle"})):
        said = words(show(view, record, **address))
        assert "newer results are being computed" in said
        assert NOW.strftime("%H:%M UTC") in said
    assert "being computed" not in words(show("leaderboard", season))


def a_line(agent: str, **figures: Any) -> LeaderboardLine:
    numbers: dict[str, Any] = dict.fromkeys(LeaderboardRow.__dataclass_fields__)
    numbers |= {"better_than": (), "stamps": (), "tools": (), "price": "none"}
    return LeaderboardLine(LeaderboardRow(**(numbers | {"agent": agent, "kind": "llm"} | figures)))


def test_the_file_holds_every_figure_unrounded_and_no_formula() -> None:
    lines = [a_line("=HYPERLINK(1)", skill=1 / 3, why_not="=cmd"), a_line("ann")]
    first, second = csv.DictReader(io.StringIO(as_csv([line.row.agent for line in lines], lines, COLUMNS)))
    assert set(first) == {"agent", *(column.key for column in COLUMNS)}
    assert (first["agent"], float(first["skill"]), first["ranks"]) == ("'=HYPERLINK(1)", 1 / 3, "'=cmd")
    assert second["skill"] == ""


def test_what_is_unknown_stands_last_whatever_the_order() -> None:
    lines = [a_line("ann"), a_line("bob", pnl=-5.0), a_line("eve", pnl=7.0)]
    assert [line.row.agent for line in ordered(lines, "profit", "stated")] == ["eve", "bob", "ann"]


def drawn(picture: str) -> list[ET.Element]:
    return list(ET.fromstring(picture))


def test_a_bar_reaches_from_the_low_to_the_high_end() -> None:
    scale = cell_scale([(-1.0, 1.0)])
    _, bar, point = drawn(interval(0.5, 0.0, 1.0, "c1", scale))
    left = float(bar.attrib["x"])
    width = float(bar.attrib["width"])
    assert (left, left + width) == (scale.at(0.0), scale.at(1.0))
    assert float(point.attrib["cx"]) == scale.at(0.5) == pytest.approx((scale.at(0) + scale.at(1)) / 2)


def test_without_an_interval_the_point_is_hollow() -> None:
    _, ring = drawn(interval(0.5, None, None, "c1", cell_scale([])))
    assert ring.attrib["class"] == "c1 ring"


def test_who_lies_far_off_is_an_arrow_at_the_edge_and_leaves_the_others_room() -> None:
    scale = cell_scale([(-0.01, 0.02), (-0.02, 0.01), (-9.0, -8.0)])
    assert scale.low > -0.1
    *_, arrow = drawn(interval(-8.5, -9.0, -8.0, "c1", scale))
    assert arrow.tag.endswith("path")


def test_the_band_of_luck_is_grey_and_the_profit_has_the_agents_colour() -> None:
    _, grey, point = drawn(before_band(3.0, -1.0, 1.0, cell_scale([(-4.0, 4.0)])))
    assert (grey.attrib["class"], point.attrib["class"]) == ("band", "c1 dot")


def test_scores_stand_in_their_order_beside_returns_in_every_reading(season: Path, show: Show) -> None:
    for reading_, key in (("stated", "skill"), ("anchored", "brier_anchored")):
        page = show("leaderboard", season, reading=reading_)
        plane = next(html for html in markup(page) if "against return" in html)
        places: dict[str, float] = {}
        for point in ET.fromstring(plane).iter("circle"):
            title = point.find("title")
            assert title is not None
            places.setdefault((title.text or "").rpartition(": ")[0], float(point.attrib["cx"].rstrip("%")))
        rows = [row for row in ranked(season).rows if row.agent in places]
        assert len(rows) > 2
        assert sorted(rows, key=lambda row: places[row.agent]) == sorted(
            rows, key=lambda row: (getattr(row, key), places[row.agent])
        )


def test_the_table_of_references_has_no_column_of_ranks(
    show: Show, tmp_path_factory: pytest.TempPathFactory
) -> None:
    page = show("leaderboard", shared("demo", tmp_path_factory), columns="verdict")
    entries, references = tables(page)[:2]
    assert "oracle" in set(references["agent"])
    assert "ranks" in entries
    assert "ranks" not in references
