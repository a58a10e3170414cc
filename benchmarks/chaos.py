"""Play the arena under seeds that decide which faults happen: `python -m benchmarks.chaos --seeds N`.

A seed that fails is printed with what happened, and does the same again: `--first SEED --seeds 1`. With
`--minutes M` seeds are played until that time is over, and Ctrl-C ends it early. With `--without MEND` a
defect that was mended is back, and the first seed that finds it ends the search.
"""

import argparse
import logging
import os
import signal
import traceback
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import count
from multiprocessing import get_context
from time import perf_counter

from tests.chaos.mends import MENDS
from tests.chaos.simulator import simulate, unbroken

AHEAD = 2
"""Seeds that wait for each process, so that none is idle."""
Played = tuple[int, list[str], str]
"""A seed, what happened in it, and what must not have been."""


@dataclass
class SeedTally:
    """What was played so far."""

    played: int = 0
    happened: int = 0
    failed: list[int] = field(default_factory=list)

    def add(self, played: Played, log: bool) -> None:
        """Count a seed, and print it if it has failed or if all are to be told of."""
        seed, events, fault = played
        self.played += 1
        self.happened += len(events)
        if log or fault:
            print(f"seed {seed}", *events, fault, sep="\n", flush=True)
        if fault:
            self.failed.append(seed)

    def print(self) -> None:
        """Print what was played."""
        failed = len(self.failed)
        print(f"{self.played} seeds, {self.happened:,} things went wrong, {failed} failed: {self.failed}")


def play(seed: int) -> Played:
    """Play a seed, and return what happened and what must not have been."""
    logging.disable()
    try:
        return seed, simulate(seed), ""
    except BaseException as error:  # noqa: BLE001 - whatever it is, that seed has found it
        return seed, [], "".join(traceback.format_exception(error))


def played_in_order(options: argparse.Namespace) -> Iterator[Played]:
    """Play seeds in several processes until there are no more or the time is over; yield them in order."""
    end = None if options.minutes is None else perf_counter() + 60 * options.minutes
    seeds = iter(range(options.first, options.first + options.seeds))
    if end is not None:
        seeds = count(options.first)

    ignored: tuple[signal.Signals, signal.Handlers] = (signal.SIGINT, signal.SIG_IGN)
    pool = ProcessPoolExecutor(
        options.processes, get_context("fork"), initializer=signal.signal, initargs=ignored
    )
    waiting: list[Future[Played]] = []
    try:
        while True:
            while len(waiting) < AHEAD * options.processes and (end is None or perf_counter() < end):
                seed = next(seeds, None)
                if seed is None:
                    break
                waiting.append(pool.submit(play, seed))
            if not waiting:
                return
            yield waiting.pop(0).result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def main() -> None:
    """Play the seeds; the exit status is 1 when one of them failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chaos", description=__doc__)
    parser.add_argument("--seeds", type=int, default=100, help="how many")
    parser.add_argument("--minutes", type=float, help="play seeds for so long, instead of so many")
    parser.add_argument("--first", type=int, default=1, help="the first of them")
    parser.add_argument("--without", choices=sorted(MENDS), help="a mend that is taken out")
    parser.add_argument("--log", action="store_true", help="tell what happened in every seed")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()

    unbroken()
    tally = SeedTally()
    defect: AbstractContextManager[object] = nullcontext()
    if options.without:
        defect = MENDS[options.without]()
    with defect:
        try:
            for played in played_in_order(options):
                tally.add(played, options.log)
                if options.without and tally.failed:
                    break
        except KeyboardInterrupt:
            print("stopped")

    tally.print()
    raise SystemExit(bool(tally.failed))


if __name__ == "__main__":
    main()
