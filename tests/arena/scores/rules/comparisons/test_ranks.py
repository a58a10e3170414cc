"""The order of the board, the places that agents may hold, and ties."""

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.scores.rules.comparisons.duel import Duel
from arena.scores.rules.comparisons.gain import Gain
from arena.scores.rules.comparisons.power import missing_events, required_events
from arena.scores.rules.comparisons.ranks import groups, order, places

AGENTS = ("ann", "bob", "cho", "dan", "eve")


def gain(agent: str, skill: float | None, low: float | None) -> Gain:
    high = None if low is None or skill is None else 2 * skill - low
    return Gain(agent, 99, 90, 30, 30.0, skill, 0.01, low, high, None if low is None else 0.5, None)


def won(winner: str, loser: str, p: float = 0.01) -> Duel:
    return Duel(winner, loser, 99, 90, 30, 30.0, 0.02, 0.01, p, None, adjusted=p)


def test_the_surest_gain_comes_first_and_not_the_largest() -> None:
    board = [
        gain("wide", 0.05, -0.02),
        gain("even", 0.02, 0.01),
        gain("sure", 0.02, 0.01),
        gain("few", 0.2, None),
        gain("none", None, None),
    ]
    assert [row.agent for row in order(reversed(board))] == ["even", "sure", "wide", "few", "none"]


def test_each_duel_won_moves_one_up_and_the_other_down() -> None:
    found = places(AGENTS[:3], [won("ann", "bob"), won("ann", "cho"), won("bob", "cho", p=0.2)])
    assert found == {"ann": (1, 1), "bob": (2, 3), "cho": (2, 3)}


def test_without_duels_anyone_may_hold_any_place() -> None:
    assert places(AGENTS, []) == dict.fromkeys(AGENTS, (1, 5))
    assert groups(AGENTS, []) == [AGENTS]


pairs = st.sets(st.sampled_from(list(combinations(AGENTS, 2))))


@given(pairs)
def test_groups_hold_everyone_and_no_two_that_are_told_apart(apart: set[tuple[str, str]]) -> None:
    found = groups(AGENTS, [won(*pair) for pair in sorted(apart)])
    assert {agent for group in found for agent in group} == set(AGENTS)
    assert not any(set(pair) <= set(group) for pair in apart for group in found)
    assert not any(set(one) <= set(other) or set(other) <= set(one) for one, other in pairwise(found))


@given(pairs)
def test_a_group_could_not_be_longer(apart: set[tuple[str, str]]) -> None:
    for group in groups(AGENTS, [won(*pair) for pair in sorted(apart)]):
        first, last = AGENTS.index(group[0]), AGENTS.index(group[-1])
        for longer in (AGENTS[max(first - 1, 0) : last + 1], AGENTS[first : last + 2]):
            assert longer == group or any(set(pair) <= set(longer) for pair in apart)


@given(pairs)
def test_places_are_possible(apart: set[tuple[str, str]]) -> None:
    for best, worst in places(AGENTS, [won(*pair) for pair in sorted(apart)]).values():
        assert 1 <= best <= worst <= 5


@pytest.mark.parametrize(("gap", "pairs_needed"), [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_needed_events_are_the_pairs_that_tables_of_the_paired_t_test_give(
    gap: float, pairs_needed: int
) -> None:
    """For small, middling and large effects, at 5% on both sides and a power of 80%."""
    count = required_events(gap, 1 / 100**0.5, 100.0)
    assert count is not None
    assert -(-count // 1) == pairs_needed


def test_events_that_there_are_already_are_taken_off() -> None:
    assert missing_events(0.5, 0.1, 100.0, 100) == 0
    assert missing_events(0.2, 0.1, 100.0, 100) == 99


@pytest.mark.parametrize("known", [(0.0, 0.1, 30.0), (0.1, 0.0, 30.0), (0.1, float("nan"), 30.0)])
def test_of_no_gap_and_of_no_spread_nothing_is_said(known: tuple[float, float, float]) -> None:
    assert required_events(*known) is None
