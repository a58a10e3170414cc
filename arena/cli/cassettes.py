"""Cassettes: what `arena check --live --record` wrote, and what `arena check FILE` reads of one."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from arena.cassettes.cassette import Cassette, VenueReading, read_cassette
from arena.cassettes.model_tapes import reading_fault, replay_model
from arena.cassettes.recording import replayed
from arena.cli.options import Options
from arena.cli.output import Data, counts_text, plain, run_async
from arena.cli.page import Fields, Page
from arena.errors import count_text


def check_cassette(chosen: Options, path: Path) -> None:
    """Replay a cassette offline and print what is read; exit with status 1 if some part yields nothing."""
    cassette = read_cassette(path)
    data = run_async(_replay_data(cassette)) | {"cassette": path}
    chosen.print_answer(data, replay_page, data)
    if not data["ok"]:
        raise typer.Exit(1)


async def _replay_data(cassette: Cassette) -> dict[str, Any]:
    """Return what today's adapters read from a cassette, for JSON."""
    venues = []
    for tape in cassette.venues:
        read = await replayed(tape, cassette.taken)
        venues.append(venue_data(tape.venue, len(tape.exchanges), read.reading))
    models = []
    for model in cassette.models:
        fault = reading_fault(await replay_model(model))
        models.append({"model": model.model, "ok": not fault, "fault": fault or None})

    parts = [*venues, *models]
    return {
        "taken": cassette.taken,
        "source": cassette.source or None,
        "ok": bool(parts) and all(part["ok"] for part in parts),
        "venues": venues,
        "models": models,
        "stripped": cassette.stripped,
        "trimmed": cassette.trimmed,
    }


def venue_data(venue: str, requests: int, reading: VenueReading) -> dict[str, Any]:
    """Return what was read from a venue's recording, for JSON."""
    head = {"venue": venue, "requests": requests, "ok": bool(reading.parts)}
    return head | reading.model_dump(mode="json")


def recorded_data(cassette: Cassette, path: Path, faults: list[str]) -> dict[str, Any]:
    """Return the contents of a new cassette, for JSON."""
    venues = [venue_data(tape.venue, len(tape.exchanges), tape.reading) for tape in cassette.venues]
    return {
        "file": path,
        "bytes": path.stat().st_size,
        "venues": venues,
        "models": [model.model for model in cassette.models],
        "faults": faults,
        "stripped": cassette.stripped,
        "trimmed": cassette.trimmed,
    }


def recorded_page(data: Data) -> Page:
    """Yield the place of a new cassette, what a replay reads from it, and what was removed."""
    yield ""
    yield f"Recorded in {data['file']} ({data['bytes'] / 1_000:.0f} KB), and replayed without a network:"
    fields = {row["venue"]: venue_text(row) for row in data["venues"]}
    fields |= dict.fromkeys(data["models"], "its answer")
    yield Fields(fields | dict(_removal_counts(data)))
    for fault in data["faults"]:
        yield f"Not recorded: {fault}"
    yield "Look through it before you send it: rules find what looks like a secret, not what only you know."


def replay_page(data: Data) -> Page:
    """Yield what a replay reads from a cassette, and what was removed."""
    yield f"{data['cassette']}, taken on {data['taken']:%Y-%m-%d}, replayed without a network:"
    fields = {row["venue"]: venue_text(row) for row in data["venues"]}
    fields |= {row["model"]: row["fault"] or "its answer" for row in data["models"]}
    yield Fields(fields | dict(_removal_counts(data)))
    if data["source"]:
        yield plain(data["source"])


def _removal_counts(data: Data) -> Iterator[tuple[str, str]]:
    """Yield the counts of what was stripped and trimmed, by kind."""
    for name in ("stripped", "trimmed"):
        yield name, counts_text(data[name]) or "nothing"


def venue_text(row: Data) -> str:
    """Return a sentence on what was read from a venue."""
    text = (
        f"{count_text(row['requests'], 'request')}; {count_text(row['markets'], 'market')}, "
        f"{row['prices']} with prices, {row['books']} with a book, {row['histories']} with past prices; "
        f"{count_text(row['ends'], 'end')}"
    )
    if row["set_aside"]:
        text += f"; rejected: {counts_text(row['set_aside'])}"
    if row["faults"]:
        text += f"; failed: {', '.join(row['faults'])}"
    return text
