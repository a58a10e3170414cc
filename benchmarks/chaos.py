"""Plays the arena under seeds that say what goes wrong: `python -m benchmarks.chaos --seeds N`.

A seed that fails is printed with what happened, and does the same again: `--first SEED --seeds 1`. With
`--without MEND` a defect that was mended is back, and the first seed that finds it ends the search.
"""

import argparse
import logging
import os
import sys
import traceback
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from multiprocessing import get_context

from tests.chaos.mends import MENDS
from tests.chaos.simulator import simulate, unbroken


def play(seed: int) -> tuple[int, list[str], str]:
    """A seed, what happened, and what must not have been."""
    sys.unraisablehook = lambda _: None  # of processes that were killed, blocks are never left
    logging.disable()
    try:
        return seed, simulate(seed), ""
    except BaseException as error:  # noqa: BLE001 - whatever it is, that seed has found it
        return seed, [], "".join(traceback.format_exception(error))


def main() -> None:
    """All seeds; the exit status is 1 when one of them failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chaos", description=__doc__)
    parser.add_argument("--seeds", type=int, default=100, help="how many")
    parser.add_argument("--first", type=int, default=1, help="the first of them")
    parser.add_argument("--without", choices=sorted(MENDS), help="a mend that is taken out")
    parser.add_argument("--log", action="store_true", help="tell what happened in every seed")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    unbroken()
    failed, happened = list[int](), 0
    seeds = range(options.first, options.first + options.seeds)
    defect = MENDS[options.without]() if options.without else nullcontext()
    workers = ProcessPoolExecutor(options.processes, get_context("fork"), max_tasks_per_child=None)
    with defect, workers as pool:
        for seed, log, fault in pool.map(play, seeds):
            happened += len(log)
            if options.log or fault:
                print(f"seed {seed}", *log, fault, sep="\n")
            failed += [seed] * bool(fault)
            if options.without and failed:
                pool.shutdown(cancel_futures=True)
                break
    print(f"{len(seeds)} seeds, {happened:,} things went wrong, {len(failed)} failed: {failed}")
    raise SystemExit(bool(failed))


if __name__ == "__main__":
    main()
