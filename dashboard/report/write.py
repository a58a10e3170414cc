"""What `arena report` starts: record and file are arguments; how far it is, and errors, go out as lines."""

import json
import sys
from argparse import ArgumentParser
from pathlib import Path

from arena.clock import now
from arena.errors import ArenaError
from arena.record.schema.database import open_read_only, reading
from dashboard.report.facts import gather
from dashboard.report.render import render


def tell(**what: object) -> None:
    """A line for the one who started this."""
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def main() -> int:
    """Write the file."""
    arguments = ArgumentParser(prog="dashboard.report")
    arguments.add_argument("record")
    arguments.add_argument("file", type=Path)
    arguments.add_argument("--cohort", type=int)
    wanted = arguments.parse_args()
    try:
        with open_read_only(wanted.record) as engine, reading(engine) as connection:
            facts = gather(connection, wanted.cohort)
        page = render(facts, now(), lambda done, whole: tell(done=done, whole=whole))
        wanted.file.write_text(page, encoding="utf-8")
    except ArenaError as error:
        tell(error=error.as_dict(), status=error.status)
        return 1
    tell(agents=len(facts.ranking.rows), cohorts=len(facts.lines))
    return 0
