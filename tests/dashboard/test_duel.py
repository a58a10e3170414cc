"""The page of a duel: what it says is what the command says, and its figures are those worked out."""

import math
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from arena.cli.main import app
from arena.record.schema.database import open_read_only, reading
from arena.scores.comparisons import p_value_text
from arena.scores.profiles.duels import DUELS, DuelDetails
from arena.scores.rules.comparisons.duel import Duel
from dashboard.views.duel import figures, heading, winner_words
from dashboard.words import with_true_minus
from tests.dashboard.opening import Show, healthy, in_address, tables, tiles, words
from tests.dashboard.records import shared
from tests.records.seasons import HOSTILE


def fought(season: Path, a: str) -> tuple[DuelDetails, ...]:
    with open_read_only(str(season)) as engine, reading(engine) as connection:
        kept = DUELS.read(connection, a)
    assert kept is not None
    return kept.value


def of(season: Path, a: str, b: str) -> DuelDetails:
    return next(one for one in fought(season, a) if one.duel.b == b)


def bare(text: str) -> str:
    """Words as they are read: without what Markdown hides."""
    return text.replace("\\", "").replace("\u2060", "").replace("*", "")


@pytest.mark.parametrize(("a", "b"), [("oracle", "random"), ("constant", "oracle"), ("market", HOSTILE)])
def test_it_says_what_the_command_says(season: Path, show: Show, a: str, b: str) -> None:
    page = show("duel", season, a=a, b=b)
    told = CliRunner().invoke(app, ["duel", a, b, "--database", str(season)])
    assert told.exit_code == 0, told.output
    found = of(season, a, b)
    about, gap, *rest = told.output.splitlines()
    shown = dict(tiles(page))
    for label, noun in (("Common forecasts", "common forecast"), ("Markets", "market"), ("Events", "event")):
        assert re.search(rf"\b{shown[label]} {noun}s?\b", about)
    assert re.findall(r"([\d.]+) effective", about) == re.findall(r"(\d+\.\d) effective events", words(page))
    if found.duel.reason:
        assert all(line in bare(words(page)) for line in (gap, *rest))
    else:
        assert gap.split(" (")[0] in bare(words(page))


def test_the_command_says_the_chance_that_the_page_goes_by(
    show: Show, tmp_path_factory: pytest.TempPathFactory
) -> None:
    demo = shared("demo", tmp_path_factory)
    page = show("duel", demo, a="oracle", b="hasty")
    told = CliRunner().invoke(app, ["duel", "oracle", "hasty", "--database", str(demo)])
    assert "is better than" in words(page)
    assert "“Proven” on the leaderboard asks for more" in words(page)
    figures = dict(tiles(page))
    assert tables(page)[-1][["p", "adjusted"]].dtypes.eq("float64").all(), "figures, to the right"
    after = figures["p (Holm-adjusted)"]
    assert f"by Holm: p {after if after.startswith('<') else f'= {after}'}, " in told.output
    duel = of(demo, "oracle", "hasty").duel
    assert duel.p is not None
    assert figures["p"] == p_value_text(duel.p).removeprefix("p ").removeprefix("= ")
    assert figures["p"] != after, "a season in which they can be told apart"


def test_what_each_cost_stands_on_the_page_as_the_command_has_it(
    show: Show, tmp_path_factory: pytest.TempPathFactory
) -> None:
    demo = shared("demo", tmp_path_factory)
    page = show("duel", demo, a="sharp", b="hasty")
    told = CliRunner().invoke(app, ["duel", "sharp", "hasty", "--database", str(demo)])
    cost, skill = told.output.splitlines()[-2:]
    assert cost.startswith("Cost: sharp $")
    assert skill.startswith("Skill per dollar: sharp ")
    assert cost in bare(words(page))
    assert "These costs are simulated: no money was paid." in bare(words(page))
    assert with_true_minus(skill) in bare(words(page))


def test_its_figures_are_those_that_were_worked_out(season: Path, show: Show) -> None:
    page = show("duel", season, a="oracle", b="random")
    found = of(season, "oracle", "random")
    assert dict(tiles(page)) == {label: value for label, value, _ in figures(found.duel, found.needed)}
    for_a, for_b, all_duels = (table for table in tables(page))
    assert list(for_a["Market"]) == [one.question for one in found.for_a]
    assert list(for_b["Share"]) == [one.share for one in found.for_b]
    assert (for_a["Share"] > 0).all()
    assert (for_b["Share"] < 0).all()
    known = {one.duel.b: one.duel for one in fought(season, "oracle")}
    assert set(all_duels["Against"]) == set(known)
    for name, gap in zip(all_duels["Against"], all_duels["Gap"], strict=True):
        assert math.isclose(gap, known[name].gap or 0.0, abs_tol=1e-12)


def test_two_that_are_chosen_stand_in_the_address(season: Path, show: Show) -> None:
    page = show("duel", season, a="oracle", b="random")
    assert [box.value for box in page.selectbox] == ["oracle", "random"]
    page.selectbox[1].select("constant")
    page = healthy(page.run())
    assert (in_address(page, "a"), in_address(page, "b")) == ("oracle", "constant")
    assert "oracle against constant" in bare(words(page))
    assert "Simulated season" in words(page)


def test_an_agent_is_never_held_against_itself(season: Path, show: Show) -> None:
    page = show("duel", season, a="oracle", b="oracle")
    assert page.selectbox[0].value == "oracle"
    assert page.selectbox[1].value != "oracle"


ENDS = [
    (0.0, None, "identical"),
    (None, None, "too early to tell"),
    (0.01, None, "too early to tell"),
    (0.01, -0.03, "too close to call"),
]


@pytest.mark.parametrize(("gap", "low", "said"), ENDS)
def test_the_heading_says_why_nobody_has_won(gap: float | None, low: float | None, said: str) -> None:
    found = DuelDetails(Duel("ann", "bob", 9, 3, 3, 2.5, gap, gap, None, None, low=low), None, (), (), (), ())
    assert heading("ann", "bob", found) == f"ann against bob: {said}."


@pytest.mark.parametrize(
    ("p", "adjusted", "says"),
    [(0.01, 0.02, "ann"), (0.04, 0.3, "undecided once adjusted"), (0.2, 0.3, "undecided")],
)
def test_who_would_have_won_one_duel_alone_is_undecided_among_many(
    p: float, adjusted: float, says: str
) -> None:
    one = Duel("ann", "bob", 90, 90, 40, 40.0, 0.02, 0.01, p, None, "rows", adjusted)
    assert winner_words(one) == says
