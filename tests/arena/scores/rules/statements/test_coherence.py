"""Coherence: the closed forms against the linear program that they solve, and trades that really pay."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from arena.scores.rules.statements.coherence import Shape, coherence, dutch_book

SHAPES = ["exhaustive", "exclusive", "nested"]
tenths = st.lists(st.integers(0, 20).map(lambda n: n / 20), min_size=2, max_size=6)


def states(shape: str, size: int) -> np.ndarray:
    """Return what each market pays in every way that the event can end."""
    if shape == "nested":
        return np.tri(size + 1, size, -1)
    return np.eye(size) if shape == "exhaustive" else np.vstack([np.eye(size), np.zeros(size)])


def by_program(p: list[float], shape: str) -> float:
    """Return the largest sure gain per claim, bought or sold, by linear programming over the states."""
    pays = states(shape, len(p))
    size = len(p)
    best = 0.0
    for sign in (1, -1):
        sure = np.hstack([-sign * (pays - np.array(p)), np.ones((len(pays), 1))])
        claim = np.hstack([np.vstack([pays, -pays]), np.zeros((2 * len(pays), 1))])
        found = linprog(
            [0.0] * size + [-1.0],
            A_ub=np.vstack([sure, claim]),
            b_ub=[0.0] * len(pays) + [1.0] * len(pays) + [0.0] * len(pays),
            bounds=[(None, None)] * (size + 1),
        )
        best = max(best, -found.fun)
    return best


@pytest.mark.parametrize("shape", SHAPES)
@given(p=tenths)
def test_the_closed_form_is_the_solution_of_the_linear_program(shape: Shape, p: list[float]) -> None:
    assert dutch_book(p, shape).profit == pytest.approx(by_program(p, shape), abs=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
@given(p=tenths)
def test_the_trades_make_that_profit_whatever_happens(shape: Shape, p: list[float]) -> None:
    found = dutch_book(p, shape)
    held = np.zeros(len(p))
    for deal in found.deals:
        held[deal.row] += 1 if deal.buy else -1
        assert deal.price == p[deal.row]
    profits = states(shape, len(p)) @ held - held @ np.array(p)
    assert profits.min() == pytest.approx(found.profit, abs=1e-9)
    assert bool(found.deals) == (found.profit > 0)


columns = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 10)), min_size=1, max_size=25)
shapes = st.lists(st.sampled_from([*SHAPES, "alone"]), min_size=6, max_size=6)


@given(columns, shapes, st.randoms(use_true_random=False))
def test_a_column_is_its_events_one_by_one_in_any_order(
    rows: list[tuple[int, int]], shapes: list[str], chance: Any
) -> None:
    table = [(event, n / 10, shapes[event], float(rung)) for rung, (event, n) in enumerate(rows)]
    event, p, shape, rung = zip(*chance.sample(table, len(table)), strict=True)
    found = coherence(p, event, shape, rung=rung)
    losses = []
    for number in sorted(set(event)):
        own = [row[1] for row in table if row[0] == number]
        kind = shapes[number]
        if kind != "alone" and (len(own) > 1 or kind == "exhaustive"):
            losses.append(dutch_book(own, kind).profit)
    assert found.events == len(losses)
    if losses:
        assert found.loss == pytest.approx(np.mean(losses), abs=1e-9)
        assert found.worst == pytest.approx(max(losses), abs=1e-9)
        assert found.incoherent == sum(loss > 0 for loss in losses)
    else:
        assert (found.loss, found.worst) == (None, None)
        assert found.reason


def test_the_market_is_scored_beside_the_agent_on_the_same_events() -> None:
    found = coherence([0.9, 0.6, 0.2], ["a", "a", "b"], "exclusive", mid=[0.5, 0.51, 0.9])
    assert (found.loss, found.market) == pytest.approx((0.5, 0.01))
    assert (found.events, found.worst_event) == (1, "a")


def test_dust_of_floats_is_coherent() -> None:
    assert sum([0.1] * 10) != 1.0
    assert dutch_book([0.1] * 10, "exhaustive").profit == 0


def test_no_event_with_several_markets_is_none_with_a_reason() -> None:
    for found in (coherence([], [], "nested"), coherence([0.5, 0.6], ["a", "b"], "exclusive")):
        assert (found.loss, found.worst, found.events) == (None, None, 0)
        assert "declared relation" in found.reason
