"""Processes that are there at once: what they run is loaded when the first of them is started."""

import multiprocessing
from multiprocessing.context import ForkServerContext


def forking() -> ForkServerContext:
    """What makes them. All tests of a run share the process that they are forked from."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.faults.hammer", "tests.faults.ticking"])
    return context
