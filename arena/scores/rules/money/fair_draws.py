"""Fair worlds for bets: outcomes drawn from prices, jointly by event.

- Formula: for each event one uniform number u decides, as its markets hang together. `exclusive`: prices
  are laid end to end and the market that u falls in ends in YES, or none where they sum to less than 1;
  prices that sum to more are divided by their sum. `nested`: a market ends in YES where u < its price, so
  that a narrow one never does without those that contain it. `alone`: each market has a u of its own.
  `unknown`: all bets of the event win together or lose together, as far as their prices allow: the widest
  that any dependence can make it.
- Direction: none.
- Range: what is won is exposure · (y − price), with y 0 or 1; its mean is 0.
- Edge cases: no seasons, or nothing exposed, gives zeros.
- Source: the efficient market's price; Fréchet's bounds for `nested` and `unknown`.
"""

import numpy as np

from arena.record.model.trades import EventTie
from arena.scores.rules._columns import Flags, Floats


def winnings(held: Floats, price: Floats, tie: EventTie, seasons: int, rng: np.random.Generator) -> Floats:
    """Return what an event's markets pay beyond their prices in each season, given the YES shares held.

    >>> winnings(np.array([10.0]), np.array([0.25]), "alone", 4, np.random.default_rng(1))
    array([-2.5, -2.5,  7.5, -2.5])
    """
    if tie == "alone":
        is_yes = rng.random((seasons, price.size)) < price
        return _paid_beyond_prices(is_yes, held, price)

    draw = rng.random((seasons, 1))
    if tie == "exclusive":
        # The prices lie end to end, scaled down if they add up to more than 1; one market contains the draw.
        upper_edge = np.cumsum(price / max(float(price.sum()), 1.0))
        chance = np.diff(upper_edge, prepend=0.0)
        is_yes = (draw < upper_edge) & (draw >= upper_edge - chance)
        return _paid_beyond_prices(is_yes, held, chance)

    if tie == "nested":
        # One draw for all: the more likely market ends YES whenever the less likely does.
        return _paid_beyond_prices(draw < price, held, price)

    # The tie is unknown: all sides held win and lose together.
    win_chance = np.where(held >= 0, price, 1 - price)
    return _paid_beyond_prices(draw < win_chance, np.abs(held), win_chance)


def _paid_beyond_prices(is_yes: Flags, held: Floats, price: Floats) -> Floats:
    """Return what is paid beyond the prices in each season."""
    paid: Floats = is_yes @ held - held @ price
    return paid
