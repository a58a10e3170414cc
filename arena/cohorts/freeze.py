"""Derives from a config a season's plan, what a cohort freezes, and what is expected of the record."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, time
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from agents.guard import Guard
from agents.registry import prompt_names
from arena.cohorts.cohort import seed_for
from arena.cohorts.replacements import entrants_of, hash_prompts
from arena.cohorts.schedule import Expected, Plan, configured_jobs, first_starts, scheduled_start
from arena.config import Config, environment
from arena.config.code import UnloadedAdapter, venue_stamp
from arena.config.environment import missing_keys
from arena.errors import ArenaError
from arena.record.model.cohort import NO_EVIDENCE, Cohort
from markets.registry import load


def check_keys(config: Config, environ: Mapping[str, str]) -> None:
    """Raise `ArenaError` for a line-up with models of which none has its key."""
    missing_by_agent = missing_keys(config.agents, environ)
    agents_with_model = [agent.name for agent in config.agents if agent.model is not None]

    if agents_with_model and missing_by_agent.keys() >= set(agents_with_model):
        keys = " or ".join(dict.fromkeys(missing_by_agent.values()))
        hint = (
            f"set {keys}, in the environment or .env; or add --baselines: each model then joins once its key "
            "is set"
        )
        raise ArenaError("no_keys", f"no model has its key: {', '.join(agents_with_model)}", hint)


def plan_of(
    config: Config, at: datetime, begun: Sequence[Cohort] = (), key_environ: Mapping[str, str] | None = None
) -> Plan:
    """Return the plan of the config's cohorts, given those that have `begun`.

    With an environment in `key_environ`, a cohort starts only if some model has its key there or in `.env`.
    """
    cohorts = config.cohorts
    scheduled_count = cohorts.count
    at_once = None

    if stamp_of(config) == "live":
        first_day = None
        if cohorts.first is not None:
            first_day = datetime.combine(cohorts.first, time(), UTC)

        starts = first_starts(cohorts.start, first_day, begun, at)
        first = starts.scheduled
        at_once = starts.at_once
        if scheduled_count:
            # A first cohort outside the weekly schedule is one of those that the config asks for.
            scheduled_count -= starts.outside
    else:
        first = scheduled_start(begun) or config.first_start(at)

    def freeze(number: int, starts_at: datetime) -> tuple[Cohort, dict[str, str]]:
        if key_environ is not None:
            check_keys(config, environment(config.folder, key_environ))
        return freeze_cohort(config, number, starts_at)

    return Plan(
        first=first,
        decide=cohorts.decide,
        rounds=cohorts.rounds,
        count=scheduled_count,
        keep_deciding=cohorts.keep_deciding,
        freeze=freeze,
        begun=tuple(begun),
        at_once=at_once,
    )


def expected_of(config: Config, at: datetime, begun: Sequence[Cohort], me: str) -> Expected:
    """Return what a config expects of a record whose cohorts have `begun`; `me` names the process."""
    plan = plan_of(config, at, begun)
    is_live = stamp_of(config) == "live"
    jobs = configured_jobs(config.run, config.watch)

    return Expected(plan, is_live, config.budget.limits, jobs, me)


def freeze_cohort(config: Config, number: int, starts_at: datetime) -> tuple[Cohort, dict[str, str]]:
    """Return the cohort that the config starts at a time, and the texts of its prompts by hash."""
    names = set[str]()
    for agent in config.agents:
        names.update(prompt_names(agent.settings))
    hash_by_name, text_by_hash = hash_prompts(config, sorted(names))

    stamp = stamp_of(config)
    universe = config.universe
    if stamp == "live":
        # Draws at recorded and simulated venues stay by event, so that they can be repeated.
        universe = universe.model_copy(update={"per_story": universe.per_event})

    if universe.holdout:
        # The same in all cohorts: what one holds out, no other may tell.
        universe = universe.model_copy(update={"holdout_seed": seed_for(config.seed, "holdout")})

    cohort = Cohort(
        number=number,
        starts_at=starts_at,
        rounds=config.cohorts.rounds,
        every=config.cohorts.decide.every,
        bankroll=config.cohorts.bankroll,
        rules=config.rules,
        universe=universe,
        seed=seed_for(config.seed, "cohort", number),
        venue=config.markets.venue,
        venue_settings=config.venue_settings.model_dump(mode="json"),
        stamp=stamp,
        prompts=hash_by_name,
        entrants=entrants_of(config.agents),
        evidence=config.evidence.source,
        evidence_settings=config.evidence_settings.model_dump(mode="json"),
        guard=frozen_guard(config),
        config_hash=config.hash,
        offset=config.cohorts.decide.offset,
        min_coverage=config.scores.min_coverage,
        hidden=config.cohorts.hidden,
    )
    return cohort, text_by_hash


def frozen_guard(config: Config) -> Guard:
    """Return the guard that a cohort freezes, with its rule for suspect texts if agents read any.

    They are withheld, except at live markets whose prices every agent sees: there they are only flagged.
    """
    guard = config.evidence.guard
    has_tools = any(getattr(agent.settings, "tools", ()) for agent in config.agents)

    # Without evidence and tools agents read no texts, so no rule is needed.
    if config.evidence.source == NO_EVIDENCE and not has_tools:
        return guard.model_copy(update={"suspects": None})

    # The config's own rule wins.
    if guard.suspects is not None:
        return guard

    suspects = "flagged"
    some_agent_sees_no_price = any(
        getattr(agent.settings, "prices", "shown") != "shown" for agent in config.agents
    )
    if some_agent_sees_no_price or config.cohorts.hidden or stamp_of(config) != "live":
        suspects = "withheld"

    return guard.model_copy(update={"suspects": suspects})


def stamp_of(config: Config) -> str:
    """Return where the config's markets come from: `live`, `simulated` or `replay`."""
    if isinstance(config.venue_settings, UnloadedAdapter):
        return config.venue_settings.stamp
    module = load("markets.venues", config.markets.venue, config.extensions("venues"))
    return venue_stamp(module, config.venue_settings)


@cache
def code_version() -> str:
    """Return the version of the package that is running; every turn is stamped with it.

    It is looked up once: it doesn't change while a process runs, and a worker asks for it with each turn.
    """
    try:
        return version("paper-arena")
    except PackageNotFoundError:
        return "unreleased"
