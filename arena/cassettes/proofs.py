"""Proofs that adapters still read venues and providers: the newest cassette of each."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

from agents.llm.addresses import provider_prefix
from agents.model import model_settings
from agents.providers import DEMO
from arena.cassettes.cassette import FOLDER, Cassette, read_cassette
from arena.cohorts.freeze import stamp_of
from arena.config import Config
from arena.errors import ArenaError

SHIPPED = Path(__file__).with_name("shipped")
OWN_SERVER = "your own server"


@dataclass(frozen=True, slots=True)
class Proof:
    """The newest day on which a venue or a provider was recorded, and by what file; None if it never was.

    `shows` names what could be read. `source` says who recorded it, if that was not done by this program.
    """

    name: str
    on: date | None = None
    days: int | None = None
    shows: tuple[str, ...] = ()
    file: Path | None = None
    source: str = ""


@dataclass(frozen=True, slots=True)
class Proofs:
    """The proofs of a config's venue and providers, and the faults of unreadable cassettes."""

    proofs: tuple[Proof, ...]
    cassette_faults: tuple[str, ...] = ()


def shipped_files() -> list[Path]:
    """Return the cassettes of the package, the oldest first."""
    return sorted(SHIPPED.glob("*.json"))


def config_proofs(config: Config, at: datetime) -> Proofs:
    """Return the newest proofs of a config's venue and of its providers, as of an instant.

    Cassettes beside the config count like those of the package.
    """
    newest: dict[str, Proof] = {}
    faults = []
    for path in [*shipped_files(), *sorted((config.folder / FOLDER).glob("*.json"))]:
        try:
            cassette = read_cassette(path)
        except ArenaError as error:
            faults.append(error.message)
            continue
        add_newer(newest, proofs_in(cassette, path, at))

    names = dict.fromkeys(_names_of(config))
    return Proofs(tuple(newest.get(name, Proof(name)) for name in names), tuple(faults))


def add_newer(newest: dict[str, Proof], proofs: Iterable[Proof]) -> None:
    """Add proofs that are newer than those of the same name."""
    for proof in proofs:
        known = newest.get(proof.name)
        if known is None or (proof.on or date.min) >= (known.on or date.min):
            newest[proof.name] = proof


def proofs_in(cassette: Cassette, path: Path, at: datetime) -> Iterator[Proof]:
    """Yield the proofs of a cassette, unless it was recorded in the future."""
    recorded_on = cassette.taken.date()
    days = (at.date() - recorded_on).days
    if days < 0:
        return

    for tape in cassette.venues:
        if tape.reading.prices:
            yield Proof(tape.venue, recorded_on, days, tape.reading.parts, path, cassette.source)
    for model in cassette.models:
        name = OWN_SERVER if model.own_server else model.provider
        yield Proof(name, recorded_on, days, ("an answer",), path, cassette.source)


def _names_of(config: Config) -> Iterator[str]:
    """Yield the config's venue, if it is a live one, and the providers of its models."""
    if stamp_of(config) == "live":
        yield config.markets.venue
    for agent in config.agents:
        settings = model_settings(agent.settings)
        if settings is None or settings.model.startswith(DEMO):
            continue
        yield OWN_SERVER if settings.base_url else provider_prefix(settings)
