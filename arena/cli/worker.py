"""`arena run --worker`: plays turns that `arena run` hands out, and prints a line for each."""

import json
import os

from arena.cli.options import Options
from arena.cli.output import plain
from arena.operations.turn_worker import run_worker
from arena.rounds.worker import JobOutcome


def work(chosen: Options, at_once: int | None) -> None:
    """Play turns until stopped; the record must be on PostgreSQL, and the config set `run.workers: true`."""
    config = chosen.load_to_play(os.environ)

    def report(outcome: JobOutcome | str) -> None:
        data: dict[str, object]
        if isinstance(outcome, str):
            data = {"told": outcome}
            line = outcome
        else:
            job = outcome.job
            data = {
                "cohort": job.cohort,
                "round": job.round,
                "agent": outcome.agent,
                "version": job.version,
                "again": job.again,
                "outcome": outcome.outcome,
            }
            line = f"cohort {job.cohort}, round {job.round}, {outcome.agent}: {outcome.outcome}"
        text = json.dumps(data, ensure_ascii=False) if chosen.json else plain(line)
        print(text, flush=True)

    run_worker(config, at_once or config.calls.at_once, report)
