"""Entries: everyone who ever stated a forecast counts once, copies don't, and the number never falls."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.scores.rules.comparisons.entries import StatedRows, entry_starts

ROUNDS = 6
MARKETS = 25
PRICES = np.random.default_rng(1).uniform(0.2, 0.8, (ROUNDS, MARKETS))


def season(*forecasts: np.ndarray) -> StatedRows:
    """Return rows of agents by round and market, with NaN where one states nothing."""
    table = np.stack(forecasts)
    agent, instant, market = np.nonzero(~np.isnan(table))
    return StatedRows(agent, instant, market, table[agent, instant, market], PRICES[instant, market])


def opinion(seed: int) -> np.ndarray:
    """Return independent forecasts."""
    return np.random.default_rng(seed).uniform(0.05, 0.95, (ROUNDS, MARKETS))


def during(forecasts: np.ndarray, first: int, last: int) -> np.ndarray:
    """Keep only the rounds from the first up to the last one, which is left out."""
    kept = np.full_like(forecasts, np.nan)
    kept[first:last] = forecasts[first:last]
    return kept


def after(forecasts: np.ndarray, later: np.ndarray, change: int) -> np.ndarray:
    """Change an agent's forecasts from one round on."""
    return np.concatenate([forecasts[:change], later[change:]])


ANN = opinion(10)
BOB = opinion(11)


@pytest.mark.parametrize(
    ("forecasts", "entries"),
    [
        ([], 0),
        ([ANN], 1),
        ([ANN, BOB], 2),
        ([ANN, ANN], 1),
        ([ANN, ANN + 0.004, ANN - 0.004], 1),
        ([ANN, ANN + 0.02], 2),
        ([ANN + 0.012, ANN + 0.008, ANN + 0.004, ANN], 2),
        ([PRICES, PRICES + 0.003], 1),
        ([ANN, PRICES, PRICES], 2),
        ([ANN, during(BOB, 0, 1)], 2),
        ([during(ANN, 0, 2), during(BOB, 3, 5)], 2),
        ([during(ANN, 0, 2), during(ANN, 3, 5)], 2),
        ([ANN, after(BOB, ANN, 1)], 2),
        ([ANN, after(ANN, BOB, 5)], 2),
        ([ANN, after(BOB, PRICES, 1)], 2),
    ],
    ids=[
        "nobody",
        "one",
        "two",
        "a copy",
        "two copies that round",
        "near, but no copy",
        "a chain of neighbours is not one entry",
        "two copies of the price",
        "copies of the price are one entry",
        "somebody who stops after the first round",
        "two who never met",
        "a name that went and came back under another",
        "a copy from the second round on",
        "a copy until the last round",
        "somebody who hides behind the price",
    ],
)
def test_an_entry_is_whoever_stated_forecasts_of_their_own(forecasts: list[np.ndarray], entries: int) -> None:
    rows = season(*forecasts) if forecasts else season(np.full_like(PRICES, np.nan))
    assert len(entry_starts(rows)) == entries


@st.composite
def histories(draw: st.DrawFn) -> np.ndarray:
    """Draw agents that join, stop, copy one another or the price, and change their behaviour."""
    minds = [PRICES, *(opinion(seed) for seed in range(3))]
    agents = []
    for _ in range(draw(st.integers(1, 6))):
        shift = draw(st.sampled_from([0.0, 0.004, 0.008]))
        rounds = draw(st.lists(st.sampled_from([None, *range(len(minds))]), min_size=ROUNDS, max_size=ROUNDS))
        said = np.full_like(PRICES, np.nan)
        for number, mind in enumerate(rounds):
            if mind is not None:
                said[number] = minds[mind][number] + shift
        agents.append(said)
    return np.stack(agents)


@given(histories())
def test_the_number_of_entries_never_falls(history: np.ndarray) -> None:
    """As rounds are played, whatever agents do, and for no other order of the rows."""
    counts = [
        len(entry_starts(season(*(during(agent, 0, end) for agent in history)))) for end in range(ROUNDS + 1)
    ]
    assert counts == sorted(counts)

    rows = season(*history)
    order = np.random.default_rng(2).permutation(rows.agent.size)
    whole = (rows.agent[order], rows.instant[order], rows.market[order])
    shuffled = StatedRows(*whole, rows.forecast[order], rows.price[order])
    assert len(entry_starts(shuffled)) == counts[-1]
