"""All comparisons of a season together."""

import numpy as np

from arena.scores.rules.comparisons.duel import duel, duels
from arena.scores.rules.comparisons.evidence import BAR, Evidence
from arena.scores.rules.comparisons.gain import gains
from arena.scores.rules.comparisons.ranks import order
from arena.scores.rules.comparisons.season_rows import SeasonForecasts
from arena.scores.rules.comparisons.standings import standings
from tests.arena.scores.rules.comparisons.few_rows import drawn, season_of


def much(season: SeasonForecasts) -> dict[str, Evidence]:
    """Evidence enough for anybody."""
    return dict.fromkeys(season.agents, Evidence(np.array([1.0]), np.array([1e6])))


def test_it_holds_what_its_parts_say() -> None:
    season = season_of(drawn(2, 120, {"ann": 0.1, "bob": 0.15, "cho": 0.3}))
    found = standings(season, much(season), BAR, seed=4)
    assert list(found.gains) == order(gains(season, 4))
    assert list(found.duels) == duels(season, seed=4)
    assert {one.p for one in found.duels} == {duel(season, one.a, one.b, 4).p for one in found.duels}


def test_agents_that_never_met_are_compared_by_way_of_the_market() -> None:
    """Over different rounds there is no common row, and yet the sharper one leads."""
    rows = [
        (agent, market, instant + (agent == "hasty"), forecast, price, outcome)
        for agent, market, instant, forecast, price, outcome in drawn(
            3, 500, {"sharp": 0.0, "hasty": 0.5}, rounds=1
        )
    ]
    season = season_of(rows)
    found = standings(season, much(season), BAR)
    assert found.duels[0].reason == "no resolved forecast in common"
    assert found.lead.leader == "sharp"
