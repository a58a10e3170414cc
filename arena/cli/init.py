"""A folder to work in, from three answers: where markets come from, which models play, for how much money."""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
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
from arena.cli.check_cost import cost_of
from arena.cli.model_choice import (
    Block,
    ModelOptions,
    is_free,
    model_blocks,
    price_words,
    servers_at,
    with_stops,
)
from arena.cli.output import Data
from arena.cli.page import print_page
from arena.config import Config
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

    question = "Venue: polymarket, kalshi, manifold (real markets, play money), or simulator (offline)"
    typed = str(typer.prompt(question, VENUES[0]))
    while typed not in VENUES:
        print_page([f"there is no venue {typed!r}", f"→ {suggestion(typed, VENUES)[1]}"])
        typed = str(typer.prompt(question, VENUES[0]))

    return typed


def _asked_models(venue: str, environ: Mapping[str, str], options: ModelOptions) -> list[Block]:
    """Return the models that the person at the terminal names, asked for again while one can't play.

    The first question offers what is there at once: models whose keys are set, else one of this machine.
    """
    keys = [names[0] for names in KEYS.values() if any(environ.get(name) for name in names)]
    print_page([f"Keys found: {', '.join(keys) or 'none; add them to .env later'}"])
    servers = servers_at()
    print_page(f"{server.name} at {server.base_url}: {', '.join(server.models)}" for server in servers)

    usual = " ".join(DEMO_MODELS if venue == "simulator" else keyed_models(environ))
    if not usual and servers:
        usual = servers[0].models[0]

    question = "Models, as PROVIDER/MODEL, or a name on this machine"
    offered = usual or None
    while True:
        typed = str(typer.prompt(question, offered))
        try:
            return _models(tuple(typed.split()), venue, options)
        except ArenaError as error:
            print_page([error.message, f"→ {error.hint}"])
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
    # A systemd unit takes a % for a specifier.
    place = str(folder.resolve()).replace("%", "%%")
    program = str(PROGRAM).replace("%", "%%")
    files = {
        "config.yaml": card(wanted, at.date()),
        ".env.example": ENV_EXAMPLE,
        ".gitignore": GITIGNORE,
        "arena.service": UNIT.format(user=getuser(), folder=place, program=program),
    }
    made = []
    kept = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            if (folder / name).exists():
                kept.append(name)
                continue
            with (folder / name).open("x", encoding="utf-8") as file:
                file.write(text)
            made.append(name)
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
        comment = f"${wanted.budget:g} a month, on {DECISIONS:.1f} days of decisions; a hard stop"
        head = re.sub(r"(?m)^  day: .*$", f"  day: {_day_limit(wanted.budget):<20.2f}# {comment}", head)

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


def init_data(settings: Config, wanted: Wanted, environ: Mapping[str, str]) -> dict[str, Any]:
    """Return what a new arena is, which keys its models lack, and what they may cost a month."""
    total = cost_of(settings, 1, {})["total"]
    sentences = map(price_words, wanted.models)
    return {
        "venue": wanted.venue,
        "models": [block["model"] for block in wanted.models],
        "missing": list(dict.fromkeys(missing_keys(settings.agents, environ).values())),
        "day_usd": settings.budget.day and settings.budget.day / ONE,
        "month_usd": total and [total["month"]["low"]["usd"], total["month"]["high"]["usd"]],
        "unpriced": [sentence for sentence in sentences if sentence],
    }


def made_page(data: Data) -> Iterator[str]:
    """Yield what there is now, and what it may cost."""
    yield f"Made in {data['folder']}: {', '.join(data['made'])}."
    for name in data["kept"]:
        yield f"{name} already existed and was not changed."
    yield f"Plays on {data['venue']}: {', '.join(data['models'])}."
    if data["month_usd"]:
        yield f"Cost: {cost_sentence(data)}."
    for sentence in data["unpriced"]:
        yield f"{sentence}."


def cost_sentence(data: Data) -> str:
    """Return what the models may cost a month, and what stops them."""
    low, high = data["month_usd"]
    if not high and high is not None:
        return "nothing: all models are free"

    most = "no known limit" if high is None else f"${high:,.2f}"
    sentence = f"at most {most} a month" if low is None else f"${low:,.2f} to {most} a month"
    if data["day_usd"]:
        sentence += f"; a hard stop at ${data['day_usd']:,.2f} a day"
    if set(data["models"]) <= set(DEMO_MODELS):
        sentence += ", fictitious: demo models are free"
    return sentence


def next_steps(data: Data) -> Iterator[str]:
    """Yield what to type next."""
    arena = "arena" if which("arena") else quote(str(PROGRAM))
    yield "Next:"
    if data["folder"] != ".":
        yield f"  cd {quote(data['folder'])}"
    if data["missing"]:
        yield f"  cp .env.example .env   # and fill in {', '.join(data['missing'])}"
    yield f"  {arena} check            # who plays, at what cost"
    if data["venue"] == "simulator":
        yield f"  {arena} run --round      # the next round"
    else:
        yield f"  {arena} run              # plays on schedule"
