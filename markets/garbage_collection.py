"""Python's garbage collector, and when it had better wait."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM_THRESHOLD = 50_000
"""After so many new objects: a round makes tens of thousands, and hardly any of them in a cycle."""


@contextmanager
def gc_paused() -> Iterator[None]:
    """The collector waits while thousands of records are made that stay.

    It looks through all that is there, again and again, for things that hold each other; records hold no one.

    >>> with gc_paused():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:  # where two overlap, the first to end lets it go on: slower, but never off for good
            gc.enable()


@contextmanager
def gc_frozen() -> Iterator[None]:
    """What is made within, and all that was there before, stays: it is not looked through any more.

    A big library makes hundreds of thousands of objects, and each full search takes as long as some calls.

    >>> before = gc.get_freeze_count()
    >>> with gc_frozen():
    ...     library = [[] for _ in range(1_000)]
    >>> gc.get_freeze_count() > before + 1_000
    True
    """
    with gc_paused():
        yield
    freeze_gc()


def freeze_gc() -> None:
    """All that is there now stays, as after `gc_frozen`."""
    gc.collect()
    gc.freeze()


@contextmanager
def gc_seldom() -> Iterator[None]:
    """Within, cycles are looked for seldom: a season would spend a tenth of its time on it."""
    before = gc.get_threshold()
    gc.set_threshold(SELDOM_THRESHOLD, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
