"""Play seasons on PostgreSQL behind a proxy that cuts and stalls, and compare each with an unbroken one.

A seed says who plays (schedulers and workers), which commands run beside them, and what goes wrong: with
connections (`tests/faults/postgresql_proxy.py`), kills, suspensions, restarts of the server, steps of its
clock. Whatever it says, the season ends in the state of an unbroken one, and a question is asked again only
where the process that had asked it was killed, or was silent for a whole lease, before its answer was kept.

python -m benchmarks.postgresql --seed 1 --minutes 20
"""

import argparse
import tempfile
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from sqlalchemy import make_url

from arena.clock import timer
from tests.faults.postgresql_proxy import proxied
from tests.faults.proxied_season import MISHAPS, Bench
from tests.postgres import a_server
from tests.program.forked import forks
from tests.provider.server import faulty

LATENCY = 0.05
"""Seconds before an answer in the unbroken season."""


def main() -> None:
    """Play seasons, one a seed, for some minutes; the exit status is 1 where one was not as it must be."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.postgresql", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of the first season; the next one has the next")
    parser.add_argument("--minutes", type=float, default=20.0, help="no season begins later")
    parser.add_argument("--mishaps", type=int, default=MISHAPS, help="in a season")
    options = parser.parse_args()

    began = timer()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        provider = stack.enter_context(faulty(LATENCY))
        bench = Bench(folder, provider, stack.enter_context(forks()), partial(print, flush=True))
        bench.play_unbroken()
        server = stack.enter_context(a_server())
        directory = make_url(server.get_uri()).query["host"]
        proxy = stack.enter_context(proxied(Path(str(directory)) / ".s.PGSQL.5432"))
        seed = options.seed
        while bench.seasons == 0 or timer() < began + 60 * options.minutes:
            bench.play_season(seed, options.mishaps, server, proxy)
            seed += 1

    print(", ".join(f"{count} {kind}" for kind, count in sorted(bench.mishaps.items())))
    print(f"{bench.seasons} seasons, {len(bench.failed)} failed: {bench.failed}; {bench.tally()}")
    raise SystemExit(bool(bench.failed))


if __name__ == "__main__":
    main()
