"""A turn of an agent played now on recorded or current markets, without saving anything."""

from collections.abc import Mapping
from datetime import datetime

from arena.cohorts.freeze import stamp_of
from arena.config import Config
from arena.config.environment import environment, missing_keys
from arena.errors import ArenaError
from arena.record.dry_run import DryRunRecord, Engine
from arena.record.schema.database import reading
from arena.rounds.open_world import open_world
from arena.rounds.trial import Trial, fresh_setting, newcomer_agent, play_trial, recorded_setting


async def dry_run(
    engine: Engine,
    config: Config,
    name: str,
    at: datetime | None,
    dry: bool,
    environ: Mapping[str, str],
    now: datetime,
) -> Trial:
    """Try an agent on recorded or current markets; if `dry`, ask no model.

    Raise `ArenaError` if a model's key is missing.
    """
    with reading(engine) as connection:
        setting = recorded_setting(connection, config, name, at)

    if setting is not None:
        tried_at = setting.round.at
        agent = setting.agent
    else:
        # Nothing was played yet: the agent is tried on what the venue offers.
        tried_at = _time_to_look(config, at, now)
        agent = newcomer_agent(config, name, tried_at)

    missing_key = missing_keys(config.agents, environment(config.folder, environ)).get(name)
    if missing_key and not dry:
        hint = "set it, or write it into .env; --dry needs no key"
        raise ArenaError("no_key", f"{missing_key} is not set, and {name} needs it", hint)

    record = DryRunRecord(engine, owned={name: agent.account}, texts=agent.texts)
    async with open_world(config, record) as world:
        if setting is None:
            setting = await fresh_setting(agent, tried_at, world, record)
        return await play_trial(setting, world, record, dry)


def _time_to_look(config: Config, at: datetime | None, now: datetime) -> datetime:
    """Return the time to read a venue before any round: now for a live one, else its start."""
    if stamp_of(config) != "live":
        return at or config.first_start(now)
    if at is not None:
        raise ArenaError("live_venue", f"{config.markets.venue} is live and has no past", "leave --at out")
    return now
