"""`arena init`: a folder to work in, from three answers: where, who, and for how much money.

The configs that come with the package.
"""

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from getpass import getuser
from pathlib import Path
from shlex import quote
from shutil import which
from typing import Any

import typer

from agents.model import ModelSettings
from agents.model_table.cost import price_of
from agents.providers import DEMO, near_model, no_provider, provider_of
from arena.cli.check import cost_of
from arena.cli.options import Options, argument, command, flag, option
from arena.cli.output import print_json
from arena.clock import now
from arena.config import Config, environment, load
from arena.config.environment import KEYS, missing_key, missing_keys
from arena.config.errors import suggestion
from arena.config.lineup import NAME, NAME_MEANT
from arena.errors import ArenaError

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
    """A config that comes with the package: `config.yaml` or `demo.yaml`, also in a checkout."""
    packaged = PACKAGED / name
    return packaged if packaged.is_file() else CHECKOUT / IN_CHECKOUT[name]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a new arena shall be: its venue, its models, and dollars a month for all of them, if limited."""

    venue: str
    models: tuple[str, ...]
    budget: float | None


@command(record=False)
def init(
    chosen: Options,
    folder: Path = argument("[DIR]", "The folder; created if needed.", default=Path()),
    venue: str | None = option(f"Where markets come from: {', '.join(VENUES)}.", "NAME"),
    model: list[str] | None = option("A model that plays, as PROVIDER/MODEL; repeatable.", "NAME"),
    budget: float | None = option("Dollars a month for all models together.", min=0.01),
    live: bool = flag("Ask each model one tiny question."),
    yes: bool = flag("Take the defaults.", "--yes", "-y"),
) -> None:
    """Make a working folder: a short config.yaml, .env.example, .gitignore and a systemd unit.

    In a terminal it asks for whatever the options leave open. Otherwise, or with --yes, it takes the
    defaults: Polymarket, the models whose keys are in the environment or DIR/.env, and $20 a month. Nothing
    is overwritten.

    Example: arena init my-arena --model anthropic/claude-sonnet-5 --budget 20 --yes

    Next: cd my-arena, then arena check
    """
    config = folder / "config.yaml"
    if config.exists():
        raise ArenaError("exists", f"{config} already exists", "choose another folder, or move it away")
    environ = environment(folder, os.environ)
    asking = not yes and not chosen.json and sys.stdin.isatty()
    wanted = choose(environ, venue, tuple(model or ()), budget, asking)
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
    environ: Mapping[str, str], venue: str | None, models: tuple[str, ...], budget: float | None, asking: bool
) -> Wanted:
    """What the options say; for the rest what the person at the terminal answers, or else what is usual."""

    def venue_fault(name: str) -> tuple[str, str] | None:
        return None if name in VENUES else (f"there is no venue {name!r}", suggestion(name, VENUES)[1])

    if venue is None:
        words = "Venue: polymarket, kalshi, manifold (real markets, play money), or simulator (offline)"
        venue = answered(words, VENUES[0], venue_fault) if asking else VENUES[0]
    if found := venue_fault(venue):
        raise ArenaError("unknown_venue", *found)
    usual = DEMO_MODELS if venue == "simulator" else usual_models(environ)
    if not models and asking:
        keys = [names[0] for names in KEYS.values() if any(environ.get(name) for name in names)]
        print(f"Keys found: {', '.join(keys) or 'none; add them to .env later'}")
        words, place = "Models, as PROVIDER/MODEL", venue
        typed = answered(words, " ".join(usual), lambda names: models_fault(names.split(), place))
        models = tuple(typed.split())
    if budget is None and not set(models or usual) <= set(DEMO_MODELS):
        budget = typer.prompt("Dollars a month for all of them", 20.0, type=float) if asking else 20.0
    models = tuple(dict.fromkeys(models or usual))
    if found := models_fault(models, venue):
        raise ArenaError("unknown_model", *found)
    return Wanted(venue, models, budget)


def answered(words: str, usual: str, fault_of: Callable[[str], tuple[str, str] | None]) -> str:
    """What is typed, asked for again for as long as it won't do."""
    while found := fault_of(answer := str(typer.prompt(words, usual))):
        print(*found, sep="\n→ ")
    return answer


def models_fault(models: Iterable[str], venue: str) -> tuple[str, str] | None:
    """Why one of the models can't play on a venue, with a hint; None where all can."""
    return next(filter(None, (fault(name, venue) for name in models)), None)


def fault(model: str, venue: str) -> tuple[str, str] | None:
    """Why a model can't play on a venue, with a hint; None where it can."""
    if not re.fullmatch(NAME, model):
        return f"{model!r} is not a model", f"it needs {NAME_MEANT}"
    if model.startswith(DEMO):
        hint = "name others with --model, or play on the simulator"
        return None if venue == "simulator" else (f"{model} can't forecast real markets", hint)
    if provider_of(model) is None:
        return no_provider(model), "for example anthropic/claude-sonnet-5"
    if venue == "simulator" or price_of(model) is not None:
        return None
    near = near_model(model)
    hint = f"did you mean {near}?" if near else "add it to config.yaml later, with its `price`"
    return f"the price of {model} is unknown, so no budget can be enforced", hint


def usual_models(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The models of the config that comes with the package whose keys are there; all, where none is."""
    names = packaged_models()
    return tuple(name for name in names if not missing_key(ModelSettings(model=name), environ)) or names


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


def card(wanted: Wanted, day: date) -> str:
    """The config that comes with the package, for another venue, other models and another budget."""
    head, line, rest = re.split(r"(?m)^(agents:.*\n)", template("config.yaml").read_text("utf-8"))
    head = re.sub(r"(?m)^(  venue: )\w+", rf"\g<1>{wanted.venue}", head)
    price = ""
    if wanted.venue == "simulator":
        sunday, price = day - timedelta(days=day.isoweekday() % 7), ", price: {input: 1, output: 4}"
        head = re.sub(r"(?m)^(  show: .*\n)", rf"\g<1>  simulator: {{start: {sunday}}}\n", head)
    if wanted.budget is None:
        head = re.sub(r"(?m)^budget:.*\n(?: .*\n)+\n", "", head)
    else:
        limit = max(int(100 * wanted.budget / DECISIONS), 1) / 100
        words = f"${wanted.budget:g} a month, on {DECISIONS:.1f} days of decisions; a hard stop"
        head = re.sub(r"(?m)^  day: .*$", f"  day: {limit:<20.2f}# {words}", head)
    last = [model.rpartition("/")[2] for model in wanted.models]
    names = [n if last.count(n) == 1 else model for n, model in zip(last, wanted.models, strict=True)]
    agents = [f"  - {{name: {n}, model: {m}{price}}}" for n, m in zip(names, wanted.models, strict=True)]
    if len(names) > 1:
        agents.append(f"  - {{kind: crowd, of: [{', '.join(names)}]}}")
    agents += [agent for agent in rest.splitlines() if re.search(r"kind: (?!crowd)", agent)]
    return head + line + "\n".join(agents) + "\n"


def summary(settings: Config, wanted: Wanted, environ: Mapping[str, str]) -> dict[str, Any]:
    """What a new arena is, which keys its models lack, and what they may cost a month."""
    total = cost_of(settings, 1, {})["total"]
    return {
        "venue": wanted.venue,
        "models": list(wanted.models),
        "missing": list(dict.fromkeys(missing_keys(settings.agents, environ).values())),
        "day_usd": settings.budget.day and settings.budget.day / 1_000_000,
        "month_usd": total and [total["month"]["low"]["usd"], total["month"]["high"]["usd"]],
    }


def print_made(found: Mapping[str, Any]) -> None:
    """What there is now, and what it may cost."""
    print(f"Made in {found['folder']}: {', '.join(found['made'])}.")
    for name in found["kept"]:
        print(f"{name} already existed and was not changed.")
    print(f"Plays on {found['venue']}: {', '.join(found['models'])}.")
    if found["month_usd"]:
        stop = f"; a hard stop at ${found['day_usd']:,.2f} a day" if found["day_usd"] else ""
        (low, high), demo = found["month_usd"], set(found["models"]) <= set(DEMO_MODELS)
        print(
            f"Cost: ${low:,.2f} to ${high:,.2f} a month{stop}{', fictitious: demo models are free' * demo}."
        )


def print_next(found: Mapping[str, Any]) -> None:
    """What to type next."""
    arena = "arena" if which("arena") else quote(str(PROGRAM))
    steps = [] if found["folder"] == "." else [f"cd {quote(found['folder'])}"]
    if found["missing"]:
        steps.append(f"cp .env.example .env   # and fill in {', '.join(found['missing'])}")
    steps.append(f"{arena} check            # who would play, what it would cost, what is missing")
    play = "run              # plays, settles and backs up on schedule"
    steps.append(f"{arena} {'round            # the next round' if found['venue'] == 'simulator' else play}")
    print("Next:", *steps, sep="\n  ")
