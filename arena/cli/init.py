"""`arena init`: makes a working folder from three answers: the venue, the models and the budget."""

from collections.abc import Mapping
from shlex import quote
from shutil import which
from typing import Any

import typer

from arena.cli.check_cost import month_data
from arena.cli.model_choice import ask_until_valid, find_or_pick_model, find_servers_with_models, named_models
from arena.cli.output import Data, from_millionths
from arena.cli.page import Page, print_page
from arena.config import Config
from arena.config.environment import KEYS, missing_keys
from arena.config.errors import suggestion
from arena.config.model_blocks import Block, ModelOptions, is_free, unpriced_sentences
from arena.config.new_folder import (
    PROGRAM,
    VENUES,
    NewArena,
    check_playable,
    new_arena,
    usual_models,
)
from arena.errors import ArenaError
from arena.rounds.line_up_cost import LineUpCost


def choose_settings(
    environ: Mapping[str, str],
    venue: str | None,
    models: tuple[str, ...],
    budget: float | None,
    options: ModelOptions,
) -> NewArena:
    """Return the settings of the options, asking the user at a terminal for the rest or taking defaults.

    Raise `ArenaError` if no model is named and none is found.
    """
    can_ask = options.user is not None
    chosen_venue = _known_venue(venue or VENUES[0])
    if can_ask and venue is None:
        question = "Venue: polymarket, kalshi, manifold (real markets, play money), or simulator (offline)"
        chosen_venue = ask_until_valid(question, chosen_venue, _known_venue)

    if can_ask and not models:
        blocks = _asked_models(chosen_venue, environ, options)
    else:
        names = models or usual_models(chosen_venue, environ) or (find_or_pick_model(options, environ),)
        blocks = _playable_models(names, chosen_venue, options)

    if budget is None and not all(map(is_free, blocks)):
        budget = 20.0
        if can_ask:
            budget = typer.prompt("Dollars a month for all of them", budget, type=float)

    return new_arena(chosen_venue, blocks, budget)


def _known_venue(name: str) -> str:
    """Return the venue of that name. Raise `ArenaError` if there is none."""
    if name not in VENUES:
        raise ArenaError("unknown_venue", f"there is no venue {name!r}", suggestion(name, VENUES)[1])
    return name


def _playable_models(names: tuple[str, ...], venue: str, options: ModelOptions) -> list[Block]:
    """Return an agent's keys for each of these models; raise `ArenaError` if one can't play on the venue."""
    check_playable(names, venue)
    return named_models(names, options)


def _asked_models(venue: str, environ: Mapping[str, str], options: ModelOptions) -> list[Block]:
    """Return the models that the user names, asking again while one can't play.

    The first question offers models whose keys are set, else one served on this machine.
    """
    set_variables = [names[0] for names in KEYS.values() if any(map(environ.get, names))]
    print_page([f"Keys found: {', '.join(set_variables) or 'none; add them to .env later'}"])
    servers = find_servers_with_models()
    print_page(f"{server.name} at {server.base_url}: {', '.join(server.models)}" for server in servers)

    default: str | None = " ".join(usual_models(venue, environ)) or None
    if default is None and servers:
        default = servers[0].models[0]

    question = "Models, such as anthropic/claude-sonnet-5, or a name on this machine"
    return ask_until_valid(
        question, default, lambda typed: _playable_models(tuple(typed.split()), venue, options)
    )


def init_data(
    settings: Config, new: NewArena, cost: LineUpCost, environ: Mapping[str, str]
) -> dict[str, Any]:
    """Return a new arena's venue, models, missing keys and monthly cost, for JSON."""
    month = month_data(cost.total)
    return {
        "venue": new.venue,
        "models": [block["model"] for block in new.models],
        "missing": list(dict.fromkeys(missing_keys(settings.agents, environ).values())),
        "day_usd": from_millionths(settings.budget.day),
        "month_usd": month and [month["low"], month["high"]],
        "unpriced": unpriced_sentences(new.models),
    }


def made_page(data: Data, costs: str) -> Page:
    """Yield the files made, the venue and models, and the cost."""
    yield f"Made in {data['folder']}: {', '.join(data['made'])}."
    for name in data["kept"]:
        yield f"{name} already existed and was not changed."
    yield f"Plays on {data['venue']}: {', '.join(data['models'])}."
    yield f"Cost: {costs}."
    for sentence in data["unpriced"]:
        yield f"{sentence}."


def next_steps(data: Data) -> Page:
    """Yield the commands to type next."""
    arena = "arena" if which("arena") else quote(str(PROGRAM))
    yield "Next:"
    if data["folder"] != ".":
        yield f"  cd {quote(data['folder'])}"
    if data["missing"]:
        yield f"  cp .env.example .env   # and fill in {', '.join(data['missing'])}"
    yield f"  {arena} check --live     # what it costs, and whether all can be reached"
    if data["venue"] == "simulator":
        yield f"  {arena} run --round      # the next round"
    else:
        yield f"  {arena} run              # plays on schedule"


def public_steps(data: Data) -> Page:
    """Yield where to read on about the repository of a public season."""
    yield f"Next: {quote(data['folder'])}/README.md says how to publish it, and how to enter"
