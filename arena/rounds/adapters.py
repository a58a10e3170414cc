"""Opens models and venues, and makes the inputs of a kind of agent, without a record."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import BaseModel

from agents import registry
from agents.demo.provider import running
from agents.llm import close, make_ask
from agents.model import Ask, Given, ModelSettings
from agents.programs import run_program
from agents.providers import DEMO
from arena.clock import timer
from arena.config import Config, environment
from arena.config.code import venue_stamp
from arena.errors import ArenaError
from arena.forms.asked_questions import read_public_folder
from arena.rounds.extension_venues import checked_report, open_extension, open_extension_past
from markets.history import Open
from markets.registry import UnknownExtension, is_extension, load
from markets.venue import Report, Truth, Venue, VenueError, ignore_report

DEMO_URL = "ARENA_DEMO_PROVIDER"
"""Names a demo provider that runs already; without it one is started when a demo model is first asked for."""


@asynccontextmanager
async def open_models(config: Config) -> AsyncIterator[Callable[[ModelSettings], Ask]]:
    """Yield the models to ask outside a round, and close them at the end."""
    os.environ.update(environment(config.folder, os.environ))

    async with AsyncExitStack() as stack:
        stack.push_async_callback(close)
        yield OpenModels(stack).ask


def provider_of(settings: ModelSettings) -> str:
    """Return the provider whose limits a model's calls count towards."""
    return settings.base_url or settings.model.partition("/")[0]


def kind_inputs(config: Config, prompts: Mapping[str, str], truth: Truth | None = None) -> Given:
    """Return the inputs of a kind: the prompts, the world's truth, and the files beside the config."""
    sources = {} if config.code is None else config.code.sources

    return Given(
        truth=truth,
        prompts=prompts,
        read=partial(registry.read_file, config.folder),
        load=partial(registry.load_module, config.folder, sources),
        run=partial(run_program, config.folder, os.environ),
    )


def open_venue(config: Config, name: str = "", report: Report = ignore_report, timed: bool = True) -> Venue:
    """Open a venue outside a round: that of the config unless another one is named.

    Another one has the settings that are its own defaults. On a pretended clock it is not `timed`.
    """
    module = load("markets.venues", name or config.markets.venue, config.extensions("venues"))

    settings = {}
    if name in ("", config.markets.venue):
        settings = config.venue_settings.model_dump()
        settings |= unfrozen_settings(config.venue_settings, config.folder)

    return connect(module, module.Settings.model_validate(settings), report, timed)


def open_past(config: Config | None, name: str, report: Report, only: Collection[str] | None = None) -> Open:
    """Return a function that opens a venue's past, with the config's settings if it names this venue.

    Of these settings `only` those are used that are named, if any are. Raise `ArenaError` if there is no
    such venue, or if it tells nothing of its past.
    """
    try:
        module = load("markets.venues", name, config.extensions("venues") if config else ())
    except UnknownExtension as error:
        hint = "polymarket, kalshi and manifold have one"
        raise ArenaError("no_venue", f"there is no venue {name!r}", hint) from error

    # Only a venue that can be asked about its past takes the answers that were recorded of it.
    if "answers" not in signature(module.venue).parameters:
        hint = "polymarket, kalshi and manifold do"
        raise ArenaError("no_history", f"{name} has no readable history", hint)

    values = {}
    if config and config.markets.venue == name:
        values = unfrozen_settings(config.venue_settings, config.folder)
    if only is not None:
        values = {key: value for key, value in values.items() if key in only}
    settings = module.Settings.model_validate(values)

    if not is_extension(module):
        return lambda answers: module.venue(settings, report, answers=answers)

    path = Path(str(module.__file__))
    report = checked_report(path, report)
    return lambda answers: open_extension_past(path, partial(module.venue, settings, report, answers=answers))


def connect(module: ModuleType, settings: BaseModel, report: Report, timed: bool = True) -> Venue:
    """Open a venue's client. If it is not `timed`, its waits take no time, where the venue lets them.

    One that reads files is given what reads the public forms of others. Raise `ArenaError` if what the venue
    is to be read from is wrong, or if its code fails.
    """
    path = Path(str(module.__file__))
    if is_extension(module):
        report = checked_report(path, report)

    # A venue names in its parameters what it wants to be given.
    parameters = signature(module.venue).parameters
    options: dict[str, Any] = {}
    if not timed and "sleep" in parameters:
        options["sleep"] = sleep_without_time
    if "read_form" in parameters:
        options["read_form"] = read_public_folder
    open_client: Callable[[], Venue] = partial(module.venue, settings, report, **options)

    try:
        if not is_extension(module):
            return open_client()
        is_live = venue_stamp(module, settings) == "live"
        return open_extension(path, open_client, is_live)
    except VenueError as error:
        raise ArenaError(error.code, error.message, error.hint) from error


async def sleep_without_time(_seconds: float) -> None:
    """Pause on a rehearsal clock: other tasks run, and no time passes."""
    await asyncio.sleep(0)


def unfrozen_settings(settings: BaseModel, folder: Path) -> dict[str, Any]:
    """Return the settings that no cohort freezes, such as an address; paths count from this folder."""
    unfrozen = {}
    for name, field in type(settings).model_fields.items():
        if field.exclude:  # a cohort freezes what a model dumps
            value = getattr(settings, name)
            unfrozen[name] = folder / value if isinstance(value, Path) else value

    return unfrozen


@dataclass
class OpenModels:
    """Models as they are asked. The demo's provider is started when one of its models is first used."""

    stack: AsyncExitStack
    demo_url: str | None = None

    def ask(self, settings: ModelSettings) -> Ask:
        """Return the function that asks the model of these settings."""
        if settings.model.startswith(DEMO):
            if self.demo_url is None:
                self.demo_url = os.environ.get(DEMO_URL) or self.stack.enter_context(running())
            model = "openai/" + settings.model.removeprefix(DEMO)
            settings = settings.model_copy(update={"model": model, "base_url": self.demo_url})

        return make_ask(settings, timer, os.environ)
