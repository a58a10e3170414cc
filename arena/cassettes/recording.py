"""Records a cassette: adapters visit a config's venues, and its models are asked a tiny question."""

import os
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import cast

from agents.secrets import secrets_in
from arena.cassettes.cassette import (
    FOLDER,
    MOST_BYTES,
    Cassette,
    VenueExchange,
    VenueReading,
    VenueTape,
)
from arena.cassettes.cleaning import Cleaner
from arena.cassettes.model_tapes import ModelTapes
from arena.cassettes.trimming import Trimmer
from arena.cassettes.venue_tapes import VenuePlayer, VenueRecorder
from arena.cassettes.venue_visit import RecordableVenue, visit_venue
from arena.config import Config, environment
from arena.errors import ArenaError
from arena.rounds.adapters import open_past
from markets.venue import QuarantinedRecord
from markets.venues.wire.http import KeptAnswers

REACHED_BY = ("url", "book_url", "per_second")
"""The settings of a config's venue that a recording uses; with the others a replay could not do."""
FRAME = 30_000
"""Bytes of a cassette for all that is no answer."""
NOT_KEPT = "not_kept"
"""The error of an answer that was too long for the cassette."""


@dataclass
class CassetteRecording:
    """A cassette while it is recorded, as of an instant."""

    config: Config
    at: datetime
    cleaner: Cleaner = field(init=False)
    trimmer: Trimmer = field(default_factory=Trimmer)
    models: ModelTapes = field(init=False)
    venues: list[VenueTape] = field(default_factory=list)
    cassette: Cassette | None = None

    def __post_init__(self) -> None:
        """Prepare the cleaner with the keys of the environment and of `.env`."""
        named = [getattr(agent.settings, "api_key_env", None) or "" for agent in self.config.agents]
        environ = environment(self.config.folder, os.environ)
        self.cleaner = Cleaner(secrets_in(environ, *named))
        self.models = ModelTapes(self.cleaner)

    async def visit(self, venue: str) -> None:
        """Visit a venue and record its answers; raise `ArenaError` if it can't be recorded."""
        recorder = VenueRecorder(self.cleaner, self.trimmer)
        try:
            await _read_venue(self.config, venue, recorder, self.at)
        except ArenaError as error:
            hint = "polymarket, kalshi and manifold can"
            raise ArenaError(error.code, f"{venue} can't be recorded", hint) from error

        self.venues.append(VenueTape(venue=venue, exchanges=tuple(recorder.exchanges.values())))

    async def finish(self, source: str = "") -> None:
        """Make the cassette, with the results of its replay; raise `ArenaError` if a key is left in it."""
        bytes_for_venues = MOST_BYTES - FRAME
        for model in self.models.tapes:
            bytes_for_venues -= len(model.model_dump_json().encode())

        venues = []
        for tape in self.venues:
            fitted = self._fitted(tape, bytes_for_venues // len(self.venues))
            venues.append(await replayed(fitted, self.at))

        self.cassette = Cassette(
            taken=self.at,
            source=source,
            stripped=dict(sorted((+self.cleaner.counts).items())),
            trimmed=dict(sorted((+self.trimmer.counts).items())),
            venues=tuple(venues),
            models=tuple(self.models.tapes),
        )
        if not self.cleaner.is_free_of_secrets(self.cassette.text()):
            message = "a key of the environment is in what was recorded, so nothing was written"
            raise ArenaError("secret_left", message, "report this: the rules that strip keys have a gap")

    def _fitted(self, tape: VenueTape, most_bytes: int) -> VenueTape:
        """Return a tape cut to its allowed length from the end, since a visit begins with what shows most."""
        exchanges = []
        kept_bytes = 0
        for exchange in tape.exchanges:
            exchange_bytes = len(exchange.model_dump_json().encode())
            if kept_bytes + exchange_bytes > most_bytes:
                self.trimmer.counts["answers for which there was no room"] += 1
                exchanges.append(VenueExchange(question=exchange.question, error=NOT_KEPT))
            else:
                kept_bytes += exchange_bytes
                exchanges.append(exchange)
        return tape.model_copy(update={"exchanges": tuple(exchanges)})


async def _read_venue(config: Config | None, venue: str, answers: KeptAnswers, at: datetime) -> VenueReading:
    """Return what a visit to a venue reads, with these answers in place of its network or before it."""
    rejected: Counter[str] = Counter()

    def report(record: QuarantinedRecord) -> None:
        rejected[record.code] += 1

    # Each venue that shows its past shows its present too.
    source = cast(RecordableVenue, open_past(config, venue, report, only=REACHED_BY)(answers))
    try:
        return await visit_venue(source, at, rejected)
    finally:
        await source.close()


async def replayed(tape: VenueTape, at: datetime) -> VenueTape:
    """Return a tape with what the venue's adapter reads from it now, without a network."""
    reading = await _read_venue(None, tape.venue, VenuePlayer(tape.exchanges), at)
    return tape.model_copy(update={"reading": reading})


def write_cassette(folder: Path, cassette: Cassette) -> Path:
    """Write a cassette beside the config, named by its date and time, and return its path."""
    path = folder / FOLDER / f"{cassette.taken:%Y-%m-%d-%H%M%S}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(cassette.text(), "utf-8")
    return path
