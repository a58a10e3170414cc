"""How the leading sentence puts names and numbers."""

from collections.abc import Sequence
from math import ceil, log10

from arena.scoring.comparing.gain import Gain

_NAMED = 3


def names(of: Sequence[str]) -> str:
    """Some of the names, and how many more.

    >>> names(["ann", "bob"]), names(["ann", "bob", "cho", "dan", "eve"])
    ('ann and bob', 'ann, bob, cho and 2 others')
    """
    shown = list(of if len(of) <= _NAMED + 1 else of[:_NAMED])
    parts = shown if len(shown) == len(of) else [*shown, f"{len(of) - len(shown)} others"]
    return " and ".join([*([", ".join(parts[:-1])] if len(parts) > 1 else []), parts[-1]])


def span(gain: Gain) -> str:
    """A gain with its interval."""
    return f"{gain.skill:.4f} ({gain.low:.4f} to {gain.high:.4f})"


def rough(number: int) -> str:
    """Up to two digits that count.

    >>> rough(7), rough(321), rough(12345)
    ('7', '330', '13,000')
    """
    unit: int = 10 ** max(int(log10(max(number, 1))) - 1, 0)
    return f"{ceil(number / unit) * unit:,}"


def left_out(agents: int) -> str:
    """That so many can't be judged."""
    if not agents:
        return ""
    who = "One agent has" if agents == 1 else f"{agents} agents have"
    return f" {who} too few events to be judged."
