"""Opens the venues, models and sources that a round needs, as frozen by its cohort, and closes them."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

from agents.evidence import Research
from agents.llm import close
from agents.model import Call, CallError, DeskSettings, Prompt, model_settings
from agents.model_table.cost import worst_case
from agents.registry import kind, prompt_text
from agents.toolbox import tool
from arena.calls.desk_turns import DeskTurns
from arena.calls.rate_limit import RateLimiter
from arena.calls.reservations import CallReservations
from arena.calls.wait_reports import WaitReports, report_nothing
from arena.clock import Clock, PretendedClock, SystemClock
from arena.cohorts.cohort import ADDRESS_KEY
from arena.cohorts.freeze import code_version
from arena.cohorts.replacements import changed_agents
from arena.config import Config, environment
from arena.config import load as load_config
from arena.config.code import TrustedCode
from arena.config.document import Document, file_hash
from arena.config.environment import missing_key
from arena.config.errors import ConfigErrors
from arena.config.field_types import is_address
from arena.errors import ArenaError
from arena.record.model.cohort import Cohort, Entrant, Replacement
from arena.record.model.lease import holder_name
from arena.record.model.reservation import SCOPE_WORDS, Budget, Scope
from arena.record.queries.cohorts import read_prompts
from arena.record.record import Record
from arena.record.schema.cohort import CohortRow, EntrantRow
from arena.record.schema.database import Connection
from arena.record.schema.typed import joined, select
from arena.rounds.adapters import (
    OpenModels,
    connect,
    kind_inputs,
    provider_of,
    sleep_without_time,
    unfrozen_settings,
)
from arena.rounds.settlement import VenueUnavailable
from arena.rounds.world import Dispatch, Player, World
from markets.hashes import canonical
from markets.registry import UnknownExtension, load
from markets.venue import QuarantinedRecord, Venue


@asynccontextmanager
async def open_world(
    config: Config,
    record: Record,
    clock: Clock | None = None,
    report_wait: Callable[[str], None] = report_nothing,
) -> AsyncIterator[World]:
    """Yield all that a round needs from outside the record, and close it at the end. The time is a clock's.

    `report_wait` is called with a line on the model or provider that calls wait for, and until when.
    """
    now = (clock or SystemClock()).now
    timed = not isinstance(clock, PretendedClock)
    os.environ.update(environment(config.folder, os.environ))
    async with AsyncExitStack() as stack:
        stack.push_async_callback(close)
        holder = holder_name()
        adapters = OpenAdapters(config, record, stack, OpenModels(stack), timed)

        all_limits = config.budget.limits
        limits: dict[Scope, int] = {scope: all_limits[scope] for scope in SCOPE_WORDS if scope in all_limits}
        budget = Budget(config.budget.call, limits)
        waits = Random(f"{holder}/waits")
        limiter = RateLimiter(config.calls.at_once, config.calls.per_provider, waits, timed)
        reports = WaitReports(now, report_wait if timed else report_nothing)
        reservations = CallReservations(budget, limiter, record, waits=reports)
        stack.callback(reservations.close)

        yield World(
            venue=adapters.venue,
            player=adapters.player,
            now=now,
            holder=holder,
            code_version=code_version(),
            reservations=reservations,
            research=adapters.research,
            quarantined=adapters.quarantined,
            tool=partial(tool, extra=config.extensions("tools")),
            missing_key=adapters.missing_key,
            changed=adapters.changed,
            desk=DeskTurns(),
            sleep=asyncio.sleep if timed else sleep_without_time,
            pretended=not timed,
            corrected_within=timedelta(seconds=config.cohorts.corrected_within),
        )


@asynccontextmanager
async def open_dispatch(config: Config, on_change: Callable[[bool], None]) -> AsyncIterator[Dispatch]:
    """Yield a function that has workers play turns; raise `ArenaError` if its library is not installed.

    `on_change` is called with True when turns are played without workers, for none is there, and with False
    when workers play again.
    """
    try:
        from arena.rounds.dispatch import dispatch_to_workers
    except ModuleNotFoundError as error:
        hint = 'pip install "paper-arena[postgres]", or set run.workers to false'
        raise ArenaError("no_driver", f"{error.name} is not installed", hint) from error

    async with dispatch_to_workers(config.database, code_version(), on_change) as dispatch:
        yield dispatch


OpenDispatch = Callable[[Config, Callable[[bool], None]], AbstractAsyncContextManager[Dispatch]]


class KindIsGone(LookupError):
    """A cohort has frozen a kind of agent whose file no longer exists."""


class ServerUnknown(LookupError):
    """An agent's model is on a private server whose address is in neither the config nor the record."""


def _folder_words(config: Config, group: str) -> str:
    """Return the existing folders in which a missing extension was looked for."""
    paths = [folder.path for folder in config.extensions(group)]
    existing = list(filter(Path.is_dir, paths))
    return " or ".join(f"{path.relative_to(config.folder)}/" for path in existing or paths)


@dataclass
class OpenAdapters:
    """Venues, players and sources of evidence as frozen by cohorts, each opened once."""

    config: Config
    record: Record
    stack: AsyncExitStack
    models: OpenModels
    timed: bool = True
    venues: dict[str, Any] = field(default_factory=dict)
    players: dict[str, Player] = field(default_factory=dict)
    sources: dict[str, Research] = field(default_factory=dict)
    players_by_entrant: dict[tuple[int, str, int, str], Player] = field(default_factory=dict)
    quarantined: list[QuarantinedRecord] = field(default_factory=list)
    newest_config: Config | None = None

    def venue(self, cohort: Cohort) -> Venue:
        """Return the venue that a cohort plays at, with the settings that it has frozen."""
        key = canonical([cohort.venue, cohort.venue_settings])
        if key not in self.venues:
            module = self._venue_module(cohort)
            settings = dict(cohort.venue_settings)
            if cohort.venue == self.config.markets.venue:
                settings |= unfrozen_settings(self.config.venue_settings, self.config.folder)

            checked = module.Settings.model_validate(settings)
            self.venues[key] = connect(module, checked, self.quarantined.append, self.timed)
            self.stack.push_async_callback(self.venues[key].close)
        venue: Venue = self.venues[key]
        return venue

    def _venue_module(self, cohort: Cohort) -> ModuleType:
        """Return the file behind a cohort's venue. Without it the other cohorts are played all the same."""
        try:
            return load("markets.venues", cohort.venue, self.config.extensions("venues"))
        except UnknownExtension as error:
            message = f"cohort {cohort.number} was not played or settled: its venue {cohort.venue} is missing"
            hint = f"put {cohort.venue}.py back into {_folder_words(self.config, 'venues')} beside the config"
            raise VenueUnavailable("no_venue", message, hint, cohort.venue) from error

    def research(self, cohort: Cohort) -> Research:
        """Return the source that a cohort's evidence comes from, with the settings that it has frozen."""
        key = canonical([cohort.evidence, cohort.evidence_settings])
        if key not in self.sources:
            module = load("agents.research", cohort.evidence, self.config.extensions("research"))
            settings = dict(cohort.evidence_settings)
            if cohort.evidence == self.config.evidence.source:
                settings |= unfrozen_settings(self.config.evidence_settings, self.config.folder)

            checked = module.Settings.model_validate(settings)
            self.sources[key] = module.research(checked, self.quarantined.append)
            self.stack.push_async_callback(self.sources[key].close)
        return self.sources[key]

    def player(self, cohort: Cohort, entrant: Entrant) -> Player:
        """Return an entrant's agent and model, with the settings and prompts that its cohort has frozen."""
        address = self._server_address(cohort, entrant)

        # Entrants that were frozen alike, in whatever cohorts, share one player.
        entrant_key = cohort.number, entrant.name, entrant.since, address
        if entrant_key not in self.players_by_entrant:
            prompts = {**cohort.prompts, **entrant.prompts}
            frozen = [entrant.kind, entrant.settings, prompts, cohort.venue, cohort.venue_settings, address]
            key = canonical(frozen)
            if key not in self.players:
                self.players[key] = self._new_player(cohort, entrant, address)
            self.players_by_entrant[entrant_key] = self.players[key]
        return self.players_by_entrant[entrant_key]

    def changed(self, cohort: Cohort) -> list[Replacement]:
        """Return the entrants of a cohort whose settings in the current config are different."""
        return changed_agents(self._current_config(), cohort)

    def _current_config(self) -> Config:
        """Return the config, reading it again if it was edited."""
        config = self.newest_config or self.config
        if config.hash and was_edited(config):
            config = load_config(config.file, allow=self._code_trusted_at_start)
            self.newest_config = config
        return config

    def _code_trusted_at_start(self, _document: Document) -> TrustedCode | None:
        """Return the code that was trusted when this process began."""
        return self.config.code

    def _server_address(self, cohort: Cohort, entrant: Entrant) -> str:
        """Return where an entrant's own server is by today's config, else where it was; empty without one.

        Raise `ServerUnknown` if nobody says where it is.
        """
        frozen = str(entrant.settings.get(ADDRESS_KEY) or "")
        if not frozen:
            return ""

        try:
            config = self._current_config()
        except ConfigErrors:  # reported where the round looks for replacements: addresses stay as they were
            config = self.newest_config or self.config
        for agent in config.agents:
            model = model_settings(agent.settings)
            if (agent.name, agent.kind) == (entrant.name, entrant.kind) and model and model.base_url:
                return model.base_url

        address = self.record.read(_read_server_address, cohort.number, entrant.name) or frozen
        if not is_address(address):
            reason = f"its server's address is unknown: put {entrant.name} back into the config"
            raise ServerUnknown(f"{entrant.name} can't play any more: {reason}, with its base_url")
        return address

    def missing_key(self, entrant: Entrant) -> str:
        """Return the variable of the key that an entrant lacks even after reading `.env` again, or ""."""
        if not entrant.settings.get("model"):
            return ""

        try:
            agent_kind = kind(entrant.kind, self.config.extensions("kinds"))
            model = model_settings(agent_kind.settings.model_validate(entrant.settings))
        except Exception:  # noqa: BLE001 - anyone's code: the turn fails, and says why
            return ""

        # The key may have been written into `.env` since it was last read.
        if missing_key(model, os.environ):
            os.environ.update(environment(self.config.folder, os.environ))
        return missing_key(model, os.environ)

    def _new_player(self, cohort: Cohort, entrant: Entrant, address: str) -> Player:
        """Open an entrant's agent and its model; raise `KindIsGone` if the file of its kind is missing."""
        try:
            agent_kind = kind(entrant.kind, self.config.extensions("kinds"))
        except UnknownExtension as error:
            remedy = (
                f"put {entrant.kind}.py back into {_folder_words(self.config, 'kinds')} beside the config"
            )
            raise KindIsGone(f"{entrant.name} can't play any more: {remedy}") from error

        frozen = dict(entrant.settings)
        if address:
            frozen[ADDRESS_KEY] = address
        settings = agent_kind.settings.model_validate(frozen)

        hashes = {**cohort.prompts, **entrant.prompts}
        texts = self.record.read(read_prompts, list(hashes.values()))
        prompts = {name: texts[key] for name, key in hashes.items()}

        # Only of a simulated world does anybody know the truth.
        simulated = cohort.stamp == "simulated"
        truth = getattr(self.venue(cohort), "truth", None) if simulated else None
        inputs = kind_inputs(self.config, prompts, truth)
        agent = agent_kind.agent(settings, inputs)

        model = model_settings(settings)
        if model is None:
            ask = agent_kind.ask(settings, inputs) if agent_kind.ask else _ask_no_model
            wait = settings.wait if isinstance(settings, DeskSettings) else None
            return Player(agent, ask, lambda _: 0, looks_outside=agent_kind.looks_outside, wait=wait)

        return Player(
            agent,
            self.models.ask(model),
            partial(worst_case, settings=model),
            provider_of(model),
            agent_kind.looks_outside,
            model=model.model,
        )


async def _ask_no_model(prompt: Prompt) -> Call:
    """Return an error, in place of the model that an agent lacks."""
    error = CallError("other", "this agent has no model: its settings name none", retry=False)
    return Call(prompt, None, cost=0, error=error)


def was_edited(config: Config) -> bool:
    """Tell whether the file of a config, or of a prompt of its agents, has changed since it was read."""
    folders = config.extensions("prompts")
    try:
        prompts = {name: prompt_text(name, config.folder, folders) for name in config.prompts}
    except (LookupError, OSError, ValueError):  # reading the config says what is wrong with it
        return True
    return file_hash(config.file) != config.hash or prompts != config.prompts


def _read_server_address(connection: Connection, cohort: int, agent: str) -> str:
    """Return the address of an agent's server when its cohort began; empty if it is unknown."""
    query = (
        select(EntrantRow.address)
        .select_from(joined(EntrantRow, CohortRow))
        .where(CohortRow.number == cohort, EntrantRow.name == agent)
    )
    return connection.scalar(query) or ""
