"""Noise within a day, the same at an instant whichever other instants are asked for."""

from hashlib import blake2b
from struct import Struct

_LEVELS = 7
_DRAWS = Struct("<8I")
_UNIT = 1 << 32
_ROOT_HALF, _ROOT_3 = 0.5**0.5, 3**0.5


def bridges(noise: int, share: float) -> tuple[float, float]:
    """Two Brownian bridges over a day, when that share of it is over; `noise` names them.

    Each is a sum of tents, on every level half as wide as on the one before, down to eleven minutes. How high
    a tent is comes from a hash.

    >>> bridges(1, 0.0), bridges(1, 0.3) == bridges(1, 0.3) != bridges(2, 0.3)
    ((0.0, 0.0), True)
    """
    first = second = 0.0
    height, position = 1.0, share
    for level in range(_LEVELS if share else 0):
        tent = int(position)
        inside = position - tent
        rise = height * min(inside, 1 - inside)
        drawn = _DRAWS.unpack(blake2b(b"%d/%d/%d" % (noise, level, tent), digest_size=_DRAWS.size).digest())
        first += rise * _normal(*drawn[:4])
        second += rise * _normal(*drawn[4:])
        height, position = height * _ROOT_HALF, position * 2
    return first, second


def _normal(a: int, b: int, c: int, d: int) -> float:
    """Much like a standard normal one, from four draws."""
    return (a + b + c + d - 2 * _UNIT) / _UNIT * _ROOT_3
