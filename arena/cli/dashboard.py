"""`arena dashboard` in a terminal: its messages, and a progress bar while scores are computed."""

from contextlib import closing
from functools import partial
from pathlib import Path

from arena.cli.output import progress
from arena.clock import now
from arena.operations.dashboard_server import serve_dashboard
from arena.operations.listen_addresses import ListenAddress
from arena.record.record import Record
from arena.record.schema.database import open_read_only, reading
from arena.scores.refresh import is_stale, refresh_cache


def serve(address: str, where: ListenAddress, config: Path | None = None) -> None:
    """Serve the dashboard of a record until it is stopped."""
    serve_dashboard(address, where, config, partial(print, flush=True), partial(refresh_scores, address))


def refresh_scores(address: str) -> None:
    """Recompute stale scores; a record without any turn is left alone."""
    with open_read_only(address) as engine, reading(engine) as connection:
        if not is_stale(connection):
            return
    with closing(Record.join(address)) as record, progress("Computing scores") as report_progress:
        refresh_cache(record, now(), report_progress)
