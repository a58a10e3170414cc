"""Long runs and Python's search for unreachable cycles."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = 50_000
"""After so many new objects: a round makes tens of thousands, and hardly any of them in a cycle."""


@contextmanager
def searched_seldom() -> Iterator[None]:
    """Within, cycles are looked for seldom: a season would spend a tenth of its time on it."""
    before = gc.get_threshold()
    gc.set_threshold(SELDOM, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
