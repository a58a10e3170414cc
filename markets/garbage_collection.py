"""When Python's garbage collector looks for cycles."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM_THRESHOLD = 50_000
"""After so many new objects: a round makes tens of thousands, and hardly any of them in a cycle."""


@contextmanager
def gc_frozen() -> Iterator[None]:
    """Keep what is made within, and all that was there before, out of every later search for cycles.

    A big library makes hundreds of thousands of objects, all of which stay.

    >>> before = gc.get_freeze_count()
    >>> with gc_frozen():
    ...     library = [[] for _ in range(1_000)]
    >>> gc.get_freeze_count() > before + 1_000
    True
    """
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
    freeze_gc()


def freeze_gc() -> None:
    """Keep all that is there now out of every later search for cycles."""
    gc.collect()
    gc.freeze()


@contextmanager
def gc_seldom() -> Iterator[None]:
    """Look for cycles seldom within: a sixth off the CPU of a replayed year (`benchmarks/replay.py`)."""
    before = gc.get_threshold()
    gc.set_threshold(SELDOM_THRESHOLD, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
