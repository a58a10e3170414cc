"""Reading a venue into the record: for `arena run --sync`, and before a bundle is written with --fresh."""

from collections import Counter
from dataclasses import asdict

import typer

from arena.cli.options import Options, parse_instant
from arena.cli.output import attributes, command_line, left_out_words, prints_to_stderr, progress, run_async
from arena.cli.page import Page
from arena.clock import now
from arena.config import Config
from arena.errors import count_text
from arena.operations.sync import read_venue
from arena.rounds.settlement import VenueSync


def sync_markets(chosen: Options, with_ends: bool, at: str | None) -> None:
    """Read every open market of the config's venue into its record, and print what has changed.

    With `with_ends` also read resolutions. `at` is a time of a venue that is not live, by default the
    season's. Exit with status 2 if a record was rejected, or if resolutions could not be read.
    """
    config = chosen.load_if_trusted()
    synced = sync_venue(config, with_ends, at)
    codes = Counter(rejected.code for rejected in synced.quarantined)
    data = asdict(synced.synced)
    del data["hash"]
    data |= attributes(synced, "left_out", "limit", "note", "resolutions") | {
        "venue": config.markets.venue,
        "database": config.database,
        "whole": synced.complete,
        "set_aside": dict(sorted(codes.items())),
        "trouble": synced.trouble and attributes(synced.trouble, "code", "message"),
    }

    chosen.print_answer(data, sync_page, config.markets.venue, synced)
    if not synced.complete:
        raise typer.Exit(2)


def sync_venue(config: Config, with_ends: bool = True, at: str | None = None) -> VenueSync:
    """Read the config's venue into its record, with a progress bar."""
    with prints_to_stderr(), progress(f"Reading {config.markets.venue}") as report_progress:
        return run_async(read_venue(config, now(), parse_instant(at), with_ends, report_progress))


def sync_page(venue: str, synced: VenueSync) -> Page:
    """Yield the counts of what was read, what is new, and what was rejected."""
    read = synced.synced
    yield f"{venue} at {read.at:%Y-%m-%d %H:%M:%S} UTC: {count_text(read.markets, 'market')}"
    yield (
        f"  {read.new:,} new, {read.changed:,} changed, {read.quotes:,} with a new price, "
        f"{read.unchanged:,} unchanged, {len(read.gone):,} gone"
    )

    left_out = left_out_words(synced.left_out)
    if left_out:
        yield f"  {left_out}"
    if synced.note:
        yield f"  {synced.note}"
    if synced.limit is not None:
        yield f"  only its newest {synced.limit:,} records were read: raise `newest` in the config for more"

    if synced.resolutions:
        yield f"  {count_text(synced.resolutions, 'resolution')} new or corrected"
    if synced.trouble:
        yield f"  could not read resolutions: {synced.trouble.message}"

    if synced.quarantined:
        rejected = count_text(len(synced.quarantined), "rejected record")
        yield f"  {rejected}: see {command_line('show markets --rejected')}"
    yield f"Next: {command_line('show markets')}"
