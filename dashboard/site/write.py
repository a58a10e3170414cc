"""What `arena share site` and `arena share report` start; progress and errors go out as lines."""

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from arena.clock import now
from arena.errors import ArenaError
from arena.record.queries.progress import season_version
from arena.record.schema.database import Connection, open_read_only, reading
from arena.scores.files.report import read_report
from dashboard.site.contents import site_files
from dashboard.site.folder import FORMAT, SiteList, Told, published_address, write_site
from dashboard.site.pages import SeasonSite
from dashboard.site.scored import scored_page
from dashboard.site.standings import gather, report_page


def tell(**what: object) -> None:
    """Print a line for the process that started this."""
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def report() -> int:
    """Write the standings as one file."""

    def write(connection: Connection, place: Path, chosen: Namespace) -> dict[str, Any]:
        facts = gather(connection, chosen.cohort)
        place.write_text(report_page(facts, now()), encoding="utf-8")
        return {"agents": len(facts.ranking.rows), "cohorts": len(facts.lines)}

    return _with_record(write)


def scored() -> int:
    """Write the page of a file of forecasts as one file."""
    given, place = map(Path, sys.argv[1:])
    try:
        place.write_text(scored_page(read_report(given.read_text("utf-8")), now()), encoding="utf-8")
    except OSError as error:
        return _tell_unwritten(error, place)
    tell(bytes=place.stat().st_size)
    return 0


def publish_site(
    connection: Connection, place: Path, with_prompts: bool, report_progress: Told, address: str = ""
) -> dict[str, Any]:
    """Bring the folder of a site up to the record, and say what changed and how large it is.

    Without an address it stays the one that it was published for before.
    """
    site = SeasonSite(connection, with_prompts, address or published_address(place))
    files = site_files(site)
    new = SiteList(FORMAT, season_version(connection), {}, site.address)
    changes = write_site(place, new, files, report_progress)
    return asdict(changes) | {"agents": len(site.overview.agents), "cohorts": len(site.overview.cohorts)}


def publish() -> int:
    """Bring the folder of a site up to the record."""

    def write(connection: Connection, place: Path, chosen: Namespace) -> dict[str, Any]:
        def report_progress(done: int, of: int) -> None:
            tell(done=done, whole=of)

        return publish_site(connection, place, chosen.prompts, report_progress, chosen.address)

    return _with_record(write)


def _with_record(write: Callable[[Connection, Path, Namespace], dict[str, Any]]) -> int:
    """Run `write` with the arguments of the command, in one snapshot of the record."""
    arguments = ArgumentParser(prog="dashboard.site")
    arguments.add_argument("record")
    arguments.add_argument("place", type=Path)
    arguments.add_argument("--cohort", type=int)
    arguments.add_argument("--prompts", action="store_true")
    arguments.add_argument("--address", default="")
    wanted = arguments.parse_args()
    try:
        with open_read_only(wanted.record) as engine, reading(engine) as connection:
            result = write(connection, wanted.place, wanted)
    except ArenaError as error:
        tell(error=error.as_dict(), status=error.status)
        return 1
    except OSError as error:
        return _tell_unwritten(error, wanted.place)
    tell(**result)
    return 0


def _tell_unwritten(error: OSError, folder: Path) -> int:
    """Tell why a file can't be written, and return the exit status."""
    hint = "check permissions and free space; what was published before is as it was"
    message = f"{error.filename or folder}: {error.strerror}"  # a full disk names no file
    tell(error=ArenaError("cannot_write", message, hint).as_dict(), status=1)
    return 1
