"""From a config to what is to come: a season's plan, what a cohort freezes, what the arena is to do."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, time
from importlib.metadata import PackageNotFoundError, version

from agents.guard import Guard
from agents.registry import prompt_names
from arena.cohorts.cohort import seed_for
from arena.cohorts.replacements import entrants_of
from arena.cohorts.schedule import Expected, Plan, configured_jobs, first_starts, scheduled_start
from arena.config import Config, environment
from arena.config.code import UnloadedAdapter
from arena.config.environment import missing_keys
from arena.errors import ArenaError
from arena.record.model.cohort import NO_EVIDENCE, Cohort
from markets.hashes import digest
from markets.registry import load


def check_keys(config: Config, environ: Mapping[str, str]) -> None:
    """Refuse a line-up in which no model has a key: such a cohort starts only if it is asked for."""
    missing = missing_keys(config.agents, environ)
    models = [agent.name for agent in config.agents if agent.model is not None]
    if models and all(name in missing for name in models):
        keys = " or ".join(dict.fromkeys(missing.values()))
        hint = f"set {keys}, here or in .env; or add --baselines: each model then joins once its key is set"
        raise ArenaError("no_keys", f"no model has its key: {', '.join(models)}", hint)


def plan_of(
    config: Config, at: datetime, begun: Sequence[Cohort] = (), keys: Mapping[str, str] | None = None
) -> Plan:
    """When the config's cohorts start, now that some have `begun`, and who plays in them.

    With an environment, a cohort starts only where some model has its key in it or in `.env`.
    """
    cohorts, live = config.cohorts, stamp_of(config) == "live"
    first_day = None if cohorts.first is None else datetime.combine(cohorts.first, time(), UTC)
    starts = first_starts(cohorts.start, first_day, begun, at) if live else None

    def freeze(number: int, starts_at: datetime) -> tuple[Cohort, dict[str, str]]:
        if keys is not None:
            check_keys(config, environment(config.folder, keys))
        return freeze_cohort(config, number, starts_at)

    return Plan(
        first=starts.scheduled if starts else scheduled_start(begun) or config.first_start(at),
        decide=cohorts.decide,
        rounds=cohorts.rounds,
        count=cohorts.count - starts.outside if starts and cohorts.count else cohorts.count,
        keep_deciding=cohorts.keep_deciding,
        freeze=freeze,
        begun=tuple(begun),
        at_once=starts.at_once if starts else None,
    )


def expected_of(config: Config, at: datetime, begun: Sequence[Cohort], me: str = "") -> Expected:
    """What a config expects of a record whose first cohort `began` then."""
    plan, live = plan_of(config, at, begun), stamp_of(config) == "live"
    return Expected(plan, live, config.budget.limits, configured_jobs(config.run, config.watch), me)


def freeze_cohort(config: Config, number: int, starts_at: datetime) -> tuple[Cohort, dict[str, str]]:
    """The cohort that the config starts at a time, and the texts of its prompts by hash."""
    names = sorted({name for agent in config.agents for name in prompt_names(agent.settings)})
    prompts = {name: digest(config.prompts[name]) for name in names}
    stamp, universe = stamp_of(config), config.markets.universe
    if stamp == "live":  # what is recorded or simulated is drawn by its own events, as ever
        universe = universe.model_copy(update={"per_story": universe.per_event})
    cohort = Cohort(
        number=number,
        starts_at=starts_at,
        rounds=config.cohorts.rounds,
        every=config.cohorts.decide.every,
        bankroll=config.cohorts.bankroll,
        rules=config.cohorts.rules,
        universe=universe,
        seed=seed_for(config.seed, "cohort", number),
        venue=config.markets.venue,
        venue_settings=config.venue_settings.model_dump(mode="json"),
        stamp=stamp,
        prompts=prompts,
        entrants=entrants_of(config.agents),
        evidence=config.evidence.source,
        evidence_settings=config.evidence_settings.model_dump(mode="json"),
        guard=frozen_guard(config),
        config_hash=config.hash,
        offset=config.cohorts.decide.offset,
        min_coverage=config.scores.min_coverage,
    )
    return cohort, {prompts[name]: config.prompts[name] for name in names}


def frozen_guard(config: Config) -> Guard:
    """What may be shown: suspect texts are withheld, but for live markets whose prices every agent sees."""
    guard = config.evidence.guard
    reads = config.evidence.source != NO_EVIDENCE or any(
        getattr(agent.settings, "tools", ()) for agent in config.agents
    )
    if not reads:
        return guard.model_copy(update={"suspects": None})
    if guard.suspects is not None:
        return guard
    blind = any(getattr(agent.settings, "prices", "shown") != "shown" for agent in config.agents)
    suspects = "withheld" if blind or stamp_of(config) != "live" else "flagged"
    return guard.model_copy(update={"suspects": suspects})


def stamp_of(config: Config) -> str:
    """Return where the config's markets come from: `live`, `simulated` or `replay`."""
    if isinstance(config.venue_settings, UnloadedAdapter):
        return config.venue_settings.stamp
    return str(load("markets.venues", config.markets.venue, config.extensions("venues")).stamp)


def code_version() -> str:
    """The version of the package that is running, stamped on every turn."""
    try:
        return version("paper-arena")
    except PackageNotFoundError:
        return "unreleased"
