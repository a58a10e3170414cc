"""Copies: who says what the price or another agent says."""

from arena.scores.rules.comparisons.copies import PRICE, find_copies
from tests.arena.scores.rules.comparisons.few_rows import Row, drawn, season_of


def also(rows: list[Row], name: str, of: str, shift: float = 0.0, every: int = 1) -> list[Row]:
    """Add an agent that repeats one of the others, with every few rows shifted."""
    own = [row for row in rows if row[0] == of]
    return [
        (name, *row[1:3], min(row[3] + (shift if place % every == 0 else 0.0), 1.0), *row[4:])
        for place, row in enumerate(own)
    ]


ROWS = drawn(1, 20, {"ann": 0.1, "bob": 0.2})


def test_agents_with_forecasts_of_their_own_copy_nobody() -> None:
    season = season_of(ROWS)
    found = find_copies(season, season.agents)
    assert found.of == {}


def test_half_a_cent_is_no_difference_and_a_twentieth_of_all_rows_neither() -> None:
    season = season_of([*ROWS, *also(ROWS, "cho", "ann", 0.005), *also(ROWS, "dan", "bob", 0.3, every=21)])
    found = find_copies(season, season.agents)
    assert found.of == {"cho": "ann", "dan": "bob"}
    assert [found.of.get(name, name) for name in ("ann", "cho", "dan")] == ["ann", "ann", "bob"]
    more = season_of([*ROWS, *also(ROWS, "cho", "ann", 0.03), *also(ROWS, "dan", "bob", 0.3, every=15)])
    assert find_copies(more, more.agents).of == {}


def test_who_copies_the_price_is_said_to() -> None:
    priced: list[Row] = [("cho", market, at, r, r, o) for name, market, at, _, r, o in ROWS if name == "ann"]
    season = season_of([*ROWS, *priced])
    found = find_copies(season, season.agents)
    assert found.of == {"cho": PRICE}


def test_twins_are_copies_whatever_they_say() -> None:
    season = season_of(ROWS)
    assert find_copies(season, season.agents, [("bob", "ann", "zoe")]).of == {"bob": "ann"}


def test_a_copy_is_named_after_whom_it_is_told() -> None:
    season = season_of([*ROWS, *also(ROWS, "kelly", "bob")])
    agents = ("kelly", "ann", "bob")
    assert find_copies(season, agents).of == {"bob": "kelly"}
    assert find_copies(season, agents, sources={"kelly": "bob"}).of == {"kelly": "bob"}


def test_agents_without_a_common_row_are_no_copies() -> None:
    later: list[Row] = [
        ("cho", market, at + 9, f, r, o) for name, market, at, f, r, o in ROWS if name == "ann"
    ]
    season = season_of([*ROWS, *later])
    assert find_copies(season, season.agents).of == {}
