"""A new working folder: a short config, and the files beside it."""

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from getpass import getuser
from pathlib import Path

from agents.model import ModelSettings
from agents.providers import DEMO
from arena.config.editing import block_lines
from arena.config.environment import missing_key
from arena.config.lineup import NAME, NAME_MEANT
from arena.config.model_blocks import Block, named_blocks, with_fixed_call_costs
from arena.errors import ArenaError
from markets.millionths import ONE

PACKAGED = Path(__file__).resolve().parents[1] / "templates"
CHECKOUT = Path(__file__).resolve().parents[2]
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
    """Return a config of the package, such as `config.yaml` or `demo.yaml`, also in a checkout."""
    places = (PACKAGED / name, CHECKOUT / name, CHECKOUT / "examples" / name)
    return next(place for place in places if place.is_file())


@dataclass(frozen=True, slots=True)
class NewArena:
    """The choices for a new arena: its venue, its models, and their monthly budget, if limited.

    Each model has the keys of its agent, without a name.
    """

    venue: str
    models: tuple[Block, ...]
    budget: float | None


def new_arena(venue: str, blocks: Sequence[Block], budget: float | None) -> NewArena:
    """Return a new arena, in which calls of unknown price count toward the budget."""
    limits = {}
    if budget is not None:
        limits["day"] = round(day_limit(budget) * ONE)
    return NewArena(venue, tuple(with_fixed_call_costs(blocks, limits)), budget)


def check_playable(models: Sequence[str], venue: str) -> None:
    """Raise `ArenaError` if one of these models can't play on the venue, or is not a model's name."""
    for model in models:
        if not re.fullmatch(NAME, model):
            raise ArenaError("unknown_model", f"{model!r} is not a model", f"it needs {NAME_MEANT}")
        if model.startswith(DEMO) and venue != "simulator":
            hint = "name another model, or play on the simulator"
            raise ArenaError("unknown_model", f"{model} can't forecast real markets", hint)


def usual_models(venue: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the default models of an arena, which may be none."""
    return DEMO_MODELS if venue == "simulator" else keyed_models(environ)


def keyed_models(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the models of the packaged config whose keys are set."""
    names = packaged_models()
    return tuple(name for name in names if not missing_key(ModelSettings(model=name), environ))


def packaged_models() -> tuple[str, ...]:
    """Return the models of the packaged config."""
    return tuple(re.findall(r"model: ([\w./-]+)", template("config.yaml").read_text("utf-8")))


def make_folder(folder: Path, at: datetime, new: NewArena) -> tuple[list[str], list[str]]:
    """Write the files of a working folder; return the names made, and those left as they are."""
    # A systemd unit takes a % for a specifier.
    place = str(folder.resolve()).replace("%", "%%")
    program = str(PROGRAM).replace("%", "%%")
    files = {
        "config.yaml": config_text(new, at.date()),
        ".env.example": env_example(new.models),
        ".gitignore": GITIGNORE,
        "arena.service": UNIT.format(user=getuser(), folder=place, program=program),
    }
    return write_files(folder, files)


def env_example(models: Sequence[Block]) -> str:
    """Return the template of `.env`, with a line for each key that these models name themselves."""
    named = dict.fromkeys(str(block["api_key_env"]) for block in models if block.get("api_key_env"))
    return ENV_EXAMPLE + "".join(f"# {name}=\n" for name in named if f"# {name}=" not in ENV_EXAMPLE)


def write_files(folder: Path, files: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Write the files that are not there yet; return the names made, and those left as they are."""
    made = []
    kept = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            path = folder / name
            if path.exists():
                kept.append(name)
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, "utf-8")
                if name == ".env.example":
                    path.chmod(0o600)  # a copy of it has keys, and the same mode
                made.append(name)
    except OSError as error:
        hint = "choose a writable folder"
        raise ArenaError("not_writable", f"{error.filename}: {error.strerror}", hint) from error
    return made, kept


def day_limit(month: float) -> float:
    """Return the daily limit that keeps spending within a monthly one."""
    return max(int(100 * month / DECISIONS), 1) / 100


def config_text(new: NewArena, day: date) -> str:
    """Return the packaged config, changed to another venue, other models and another budget."""
    packaged = template("config.yaml").read_text("utf-8")
    settings, agents_line, packaged_agents = re.split(r"(?m)^(agents:.*\n)", packaged)
    settings = re.sub(r"(?m)^(  venue: )\w+", rf"\g<1>{new.venue}", settings)
    if new.venue == "simulator":
        sunday = day - timedelta(days=day.isoweekday() % 7)
        settings = re.sub(r"(?m)^(  show: .*\n)", rf"\g<1>  simulator: {{start: {sunday}}}\n", settings)

    if new.budget is None:
        settings = re.sub(r"(?m)^budget:.*\n(?: .*\n)+\n", "", settings)
    else:
        comment = f"${new.budget:g} a month, on {DECISIONS:.1f} days of decisions; a hard stop"
        day_line = f"  day: {day_limit(new.budget):<20.2f}# {comment}"
        settings = re.sub(r"(?m)^  day: .*$", day_line, settings)

    agents = []
    blocks = named_blocks(new.models, {})
    for block in blocks:
        agents += _agent_lines(block, new.venue)
    if len(blocks) > 1:
        names = ", ".join(block["name"] for block in blocks)
        agents.append(f"- {{kind: crowd, of: [{names}]}}")

    # The packaged agents without a model stay; its crowd is of models that aren't here.
    lines = [settings + agents_line.rstrip("\n")]
    lines += [f"  {agent}" for agent in agents]
    lines += [line for line in packaged_agents.splitlines() if re.search(r"kind: (?!crowd)", line)]
    return "\n".join(lines) + "\n"


def _agent_lines(block: Block, venue: str) -> list[str]:
    """Return the lines of an agent: a single one if it has no more than a name and a model."""
    if venue == "simulator" and block["model"].startswith(DEMO):
        block = block | {"price": {"input": 1, "output": 4}}

    lines = block_lines(block)
    if block.keys() <= {"name", "model", "price"}:
        return [f"- {{{', '.join(line[2:] for line in lines)}}}"]
    return lines
