"""`arena init`: a folder to work in, from three answers: where, who, and for how much money.

The configs that come with the package.
"""

import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from getpass import getuser
from pathlib import Path
from shlex import quote
from shutil import which
from typing import Any

import typer

from agents.model import ModelSettings
from agents.providers import DEMO
from arena.cli.check import cost_of
from arena.cli.model_choice import (
    Block,
    ModelOptions,
    is_free,
    model_blocks,
    price_words,
    servers_here,
    with_stops,
)
from arena.cli.options import Options, argument, command, flag, option
from arena.cli.output import print_json
from arena.cli.page import print_text
from arena.clock import now
from arena.config import Config, environment, load
from arena.config.editing import block_lines
from arena.config.environment import KEYS, missing_key, missing_keys
from arena.config.errors import suggestion
from arena.config.lineup import NAME, NAME_MEANT
from arena.errors import ArenaError
from markets.millionths import ONE

PACKAGED = Path(__file__).resolve().parents[1] / "templates"
CHECKOUT = Path(__file__).resolve().parents[2]
IN_CHECKOUT = {"config.yaml": "config.yaml", "demo.yaml": "examples/demo.yaml"}
PROGRAM = Path(sys.executable).with_name("arena")
VENUES = ("polymarket", "kalshi", "manifold", "simulator")
DEMO_MODELS = ("demo/sharp", "demo/hasty")
DECISIONS = timedelta(days=30.4) / timedelta(days=7)
"""Days of a month on which decisions are made, and models are paid."""
GITIGNORE = """\
.env
*.db
*.db-wal
*.db-shm
"""
ENV_EXAMPLE = """\
# API keys of the providers whose models play. Copy this file to .env and fill in what you use.
# Variables set in the environment take precedence over this file.
# ANTHROPIC_API_KEY=
# OPENAI_API_KEY=
# GEMINI_API_KEY=
# OPENROUTER_API_KEY=
"""
UNIT = """\
# sudo cp arena.service /etc/systemd/system/ && sudo systemctl enable --now arena
[Unit]
Description=Paper Arena
Wants=network-online.target
After=network-online.target
StartLimitIntervalSec=0

[Service]
Type=notify
TimeoutStartSec=infinity
WatchdogSec=10min
User={user}
WorkingDirectory={folder}
ExecStart="{program}" run
Restart=on-failure
RestartSec=15s
TimeoutStopSec=3min
NoNewPrivileges=yes
ProtectSystem=strict
ReadWritePaths="{folder}"
PrivateTmp=yes
UMask=0077

[Install]
WantedBy=multi-user.target
"""


def template(name: str) -> Path:
    """Return a config that comes with the package: `config.yaml` or `demo.yaml`, also in a checkout."""
    packaged = PACKAGED / name
    return packaged if packaged.is_file() else CHECKOUT / IN_CHECKOUT[name]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a new arena shall be: its venue, its models, and dollars a month for all of them, if limited.

    Each model has the keys of its agent, without a name.
    """

    venue: str
    models: tuple[Block, ...]
    budget: float | None


@command(record=False)
def init(
    chosen: Options,
    folder: Path = argument("[DIR]", "The folder; created if needed.", default=Path()),
    venue: str | None = option(f"Where markets come from: {', '.join(VENUES)}.", "NAME"),
    model: list[str] | None = option("A model that plays, as PROVIDER/MODEL; repeatable.", "NAME"),
    base_url: str | None = option("The server of models without a provider.", "URL"),
    key_env: str | None = option("The variable that holds its key.", "VARIABLE"),
    price: tuple[float, float] | None = option(
        "Dollars per million tokens in and out, if unknown.", "IN OUT"
    ),
    budget: float | None = option("Dollars a month for all models together.", min=0.01),
    live: bool = flag("Ask each model one tiny question."),
    yes: bool = flag("Take the defaults.", "--yes", "-y"),
) -> None:
    """Make a working folder: a short config.yaml, .env.example, .gitignore and a systemd unit.

    In a terminal it asks for whatever the options leave open. Otherwise, or with --yes, it takes the
    defaults: Polymarket, the models whose keys are in the environment or DIR/.env, and $20 a month. A model
    that Ollama, LM Studio, vLLM or llama.cpp serves on this machine is found by its bare name and costs
    nothing. Nothing is overwritten.

    Example: arena init my-arena --model anthropic/claude-sonnet-5 --budget 20 --yes

    Next: cd my-arena, then arena check
    """
    config = folder / "config.yaml"
    if config.exists():
        raise ArenaError("exists", f"{config} already exists", "choose another folder, or move it away")

    environ = environment(folder, os.environ)
    asking = not yes and not chosen.json and sys.stdin.isatty()
    options = ModelOptions(base_url, key_env, price=price, asking=asking)
    wanted = choose(environ, venue, tuple(model or ()), budget, options)
    made, kept = make_folder(folder, now(), wanted)

    settings = load(config)
    found = summary(settings, wanted, environ) | {"folder": str(folder), "made": made, "kept": kept}
    if not chosen.json:
        print_made(found)
    if live or (asking and not found["missing"] and typer.confirm("Ask each model one tiny question?", True)):
        from arena.cli.check_live import check_live

        names = [agent.name for agent in settings.agents if agent.model is not None]
        found |= check_live(load(config, os.environ), [], names, quiet=chosen.json)
    print_json(found) if chosen.json else print_next(found)


def choose(
    environ: Mapping[str, str],
    venue: str | None,
    models: tuple[str, ...],
    budget: float | None,
    options: ModelOptions,
) -> Wanted:
    """Return what the options say; for the rest what the person at the terminal answers, or the default."""
    place = _venue(venue, options.asking)
    if models or not options.asking:
        blocks = _models(models or _usual_models(place, environ), place, options)
    else:
        blocks = _asked_models(place, environ, options)

    if budget is None and not all(map(is_free, blocks)):
        budget = 20.0
        if options.asking:
            budget = typer.prompt("Dollars a month for all of them", budget, type=float)

    limits = {} if budget is None else {"day": round(_day_limit(budget) * ONE)}
    return Wanted(place, tuple(with_stops(blocks, limits)), budget)


def _venue(venue: str | None, asking: bool) -> str:
    """Return the venue that is named, asked for again while there is none of that name."""
    if venue is not None or not asking:
        venue = venue or VENUES[0]
        if venue not in VENUES:
            raise ArenaError("unknown_venue", f"there is no venue {venue!r}", suggestion(venue, VENUES)[1])
        return venue

    words = "Venue: polymarket, kalshi, manifold (real markets, play money), or simulator (offline)"
    typed = str(typer.prompt(words, VENUES[0]))
    while typed not in VENUES:
        print(f"there is no venue {typed!r}", suggestion(typed, VENUES)[1], sep="\n→ ")
        typed = str(typer.prompt(words, VENUES[0]))

    return typed


def _asked_models(venue: str, environ: Mapping[str, str], options: ModelOptions) -> list[Block]:
    """Return the models that the person at the terminal names, asked for again while one can't play.

    The first question offers what is there at once: models whose keys are set, else one of this machine.
    """
    keys = [names[0] for names in KEYS.values() if any(environ.get(name) for name in names)]
    print(f"Keys found: {', '.join(keys) or 'none; add them to .env later'}")
    servers = servers_here()
    for server in servers:
        print(f"{server.name} at {server.base_url}: {', '.join(server.models)}")

    usual = " ".join(DEMO_MODELS if venue == "simulator" else keyed_models(environ))
    if not usual and servers:
        usual = servers[0].models[0]

    words = "Models, as PROVIDER/MODEL, or a name on this machine"
    offered = usual or None
    while True:
        typed = str(typer.prompt(words, offered))
        try:
            return _models(tuple(typed.split()), venue, options)
        except ArenaError as error:
            print(error.message, error.hint, sep="\n→ ")
        # After an answer that won't do, Enter takes nothing.
        offered = None


def _usual_models(venue: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the models of an arena for which nobody has named one. Raise if there are none."""
    models = DEMO_MODELS if venue == "simulator" else keyed_models(environ)
    if not models:
        hint = "--model PROVIDER/MODEL; its key may come later. --venue simulator needs neither"
        raise ArenaError("no_model", "no model is named, and no provider's key is set", hint)
    return models


def _models(models: tuple[str, ...], venue: str, options: ModelOptions) -> list[Block]:
    """Return the keys of an agent for each of these models. Raise if one can't play on the venue."""
    for model in models:
        if not re.fullmatch(NAME, model):
            raise ArenaError("unknown_model", f"{model!r} is not a model", f"it needs {NAME_MEANT}")
        if model.startswith(DEMO) and venue != "simulator":
            hint = "name others with --model, or play on the simulator"
            raise ArenaError("unknown_model", f"{model} can't forecast real markets", hint)

    return model_blocks(tuple(dict.fromkeys(models)), options)


def keyed_models(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the models of the config that comes with the package whose keys are there."""
    names = packaged_models()
    return tuple(name for name in names if not missing_key(ModelSettings(model=name), environ))


def packaged_models() -> tuple[str, ...]:
    """Return the models of the config that comes with the package."""
    return tuple(re.findall(r"model: ([\w./-]+)", template("config.yaml").read_text("utf-8")))


def make_folder(folder: Path, at: datetime, wanted: Wanted) -> tuple[list[str], list[str]]:
    """Write the files of a working folder as of an instant; the names made, and those left as they are."""
    place, program = (str(path).replace("%", "%%") for path in (folder.resolve(), PROGRAM))
    files = {
        "config.yaml": card(wanted, at.date()),
        ".env.example": ENV_EXAMPLE,
        ".gitignore": GITIGNORE,
        "arena.service": UNIT.format(user=getuser(), folder=place, program=program),
    }
    made, kept = list[str](), list[str]()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            known = (folder / name).exists()
            (kept if known else made).append(name)
            if not known:
                with (folder / name).open("x", encoding="utf-8") as file:
                    file.write(text)
    except OSError as error:
        hint = "choose a writable folder"
        raise ArenaError("not_writable", f"{error.filename}: {error.strerror}", hint) from error
    return made, kept


def _day_limit(month: float) -> float:
    """Return the dollars that may be spent on each day of decisions, for so many a month."""
    return max(int(100 * month / DECISIONS), 1) / 100


def card(wanted: Wanted, day: date) -> str:
    """Return the config that comes with the package, for another venue, other models and another budget."""
    head, line, rest = re.split(r"(?m)^(agents:.*\n)", template("config.yaml").read_text("utf-8"))
    head = re.sub(r"(?m)^(  venue: )\w+", rf"\g<1>{wanted.venue}", head)
    if wanted.venue == "simulator":
        sunday = day - timedelta(days=day.isoweekday() % 7)
        head = re.sub(r"(?m)^(  show: .*\n)", rf"\g<1>  simulator: {{start: {sunday}}}\n", head)

    if wanted.budget is None:
        head = re.sub(r"(?m)^budget:.*\n(?: .*\n)+\n", "", head)
    else:
        words = f"${wanted.budget:g} a month, on {DECISIONS:.1f} days of decisions; a hard stop"
        head = re.sub(r"(?m)^  day: .*$", f"  day: {_day_limit(wanted.budget):<20.2f}# {words}", head)

    names = _agent_names(wanted.models)
    agents = []
    for name, model in zip(names, wanted.models, strict=True):
        agents += _agent_lines({"name": name} | model, wanted.venue)
    if len(names) > 1:
        agents.append(f"- {{kind: crowd, of: [{', '.join(names)}]}}")

    others = [agent for agent in rest.splitlines() if re.search(r"kind: (?!crowd)", agent)]
    return "\n".join([head + line.rstrip("\n"), *(f"  {agent}" for agent in agents), *others]) + "\n"


def _agent_names(models: Sequence[Block]) -> list[str]:
    """Return a name for each model: the last part of its own, or all of it where that is not the only one."""
    whole = [str(block["model"]) for block in models]
    last = [model.rpartition("/")[2] for model in whole]
    return [short if last.count(short) == 1 else model for short, model in zip(last, whole, strict=True)]


def _agent_lines(block: Block, venue: str) -> list[str]:
    """Return the lines of an agent: a single one if it has no more than a name and a model."""
    if venue == "simulator" and block["model"].startswith(DEMO):
        block = block | {"price": {"input": 1, "output": 4}}

    lines = block_lines(block)
    if block.keys() <= {"name", "model", "price"}:
        return [f"- {{{', '.join(line[2:] for line in lines)}}}"]
    return lines


def summary(settings: Config, wanted: Wanted, environ: Mapping[str, str]) -> dict[str, Any]:
    """Return what a new arena is, which keys its models lack, and what they may cost a month."""
    total = cost_of(settings, 1, {})["total"]
    return {
        "venue": wanted.venue,
        "models": [block["model"] for block in wanted.models],
        "missing": list(dict.fromkeys(missing_keys(settings.agents, environ).values())),
        "day_usd": settings.budget.day and settings.budget.day / ONE,
        "month_usd": total and [total["month"]["low"]["usd"], total["month"]["high"]["usd"]],
        "unpriced": [words for block in wanted.models if (words := price_words(block))],
    }


def print_made(found: Mapping[str, Any]) -> None:
    """Print what there is now, and what it may cost."""
    print_text(f"Made in {found['folder']}: {', '.join(found['made'])}.")
    for name in found["kept"]:
        print_text(f"{name} already existed and was not changed.")
    print_text(f"Plays on {found['venue']}: {', '.join(found['models'])}.")
    if found["month_usd"]:
        print_text(f"Cost: {_cost_words(found)}.")
    for words in found["unpriced"]:
        print_text(f"{words}.")


def _cost_words(found: Mapping[str, Any]) -> str:
    """Return what the models may cost a month, and what stops them."""
    low, high = found["month_usd"]
    if not high and high is not None:
        return "nothing: all models are free"

    most = "no known limit" if high is None else f"${high:,.2f}"
    words = f"at most {most} a month" if low is None else f"${low:,.2f} to {most} a month"
    if found["day_usd"]:
        words += f"; a hard stop at ${found['day_usd']:,.2f} a day"
    if set(found["models"]) <= set(DEMO_MODELS):
        words += ", fictitious: demo models are free"
    return words


def print_next(found: Mapping[str, Any]) -> None:
    """Print what to type next."""
    arena = "arena" if which("arena") else quote(str(PROGRAM))
    steps = [] if found["folder"] == "." else [f"cd {quote(found['folder'])}"]
    if found["missing"]:
        steps.append(f"cp .env.example .env   # and fill in {', '.join(found['missing'])}")
    steps.append(f"{arena} check            # who would play, what it would cost, what is missing")
    play = "run              # plays, settles and backs up on schedule"
    steps.append(f"{arena} {'round            # the next round' if found['venue'] == 'simulator' else play}")
    print("Next:", *steps, sep="\n  ")
