"""The commands that an operator gives while a simulated season is played, each in a process of its own.

Those here change nothing of how the season ends; what does is in `operator_script.py`.
"""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from io import StringIO
from typing import Any

from typer.main import get_command

from arena.cli.main import app
from tests.chaos.database_faults import FAULT_CODES
from tests.chaos.played_season import PlayedSeason
from tests.chaos.record_reads import Broken

LONGEST_REST = 60.0
"""Seconds between two commands of an operator at most."""
USAGE = 64

DRAWN: Mapping[str, tuple[str, ...]] = {
    "add": ("add demo/careful --no-probe --yes --config {other}",),
    "check": ("check",),
    "run": ("run --list", "run --list"),  # `run --sync` reads prices that later prompts then show
    "status": ("status", "status --incidents"),
    "board": ("board", "board sharp blind", "board --by cohort", "board --provisional"),
    "show agent": ("show agents", "show agent sharp"),
    "show cohort": ("show cohorts", "show cohort 1", "show cohort 1 next", "show cohort 1 --head"),
    "show market": ("show markets --status all", "show markets --rejected"),
    "show positions": ("show positions --by agent",),
    "show turn": ("show turn sharp", "show turn blind --play --dry"),
    "show prompt": ("show prompts",),
    "show config": ("show config",),
    "share report": ("share report --output {new}.html",),
    "share export": ("share export {new}", "share export {new}.zip --format json"),
    "admin verify": ("admin verify", "admin verify --all", "admin verify --all"),
    "admin backup": ("admin backup", "admin backup {new}.db", "admin backup {new}.db"),
    "admin prune": ("admin prune --older-than 1d --dry-run", "admin prune --older-than 1d --yes"),
    "study whatif": ("study whatif --fill mid --fee none",),
}
"""Command lines by the command: {new} is a name in the season's folder that is not there yet, {other} the
config of another arena in that folder. A line that is to be likelier stands there twice."""
SCRIPTED = ("admin cohort",)
"""Commands that change how a season ends: a config's script has them, so that every run of it meets them."""
LEFT_OUT: Mapping[str, str] = {
    "demo": "plays a season of its own in a folder of its own, then opens a dashboard",
    "try": "asks real models; no record",
    "init": "writes a new folder, and nothing where there is a config",
    "dashboard": "serves until Ctrl-C; it only reads, as `show` does",
    "score": "reads files of forecasts; no record",
    "share site": "a process of its own draws the pages, which takes seconds, and only reads",
    "admin settle": "settles markets of live venues only, whose season takes real days",
    "admin restore": "refuses a record that a process has open, and all simulated ones are one process",
    "study replay": "plays a season of its own over a recording",
    "study bundle": "writes a recording; of a simulated world there is none",
    "study forecastbench run": "plays files of its own; no season",
    "study forecastbench file": "reads files; no record",
    "study forecastbench board": "reads files; no record",
    "outside desk": "serves until Ctrl-C",
    "outside mcp": "serves until its input is closed",
}
"""Commands that no season draws, and why."""


async def operate(season: PlayedSeason) -> None:
    """Rest for a while, then give a command as a person does; raise `Broken` for a forbidden result."""
    await asyncio.sleep(season.chance.uniform(1, LONGEST_REST))
    if not season.file.exists():
        return

    line = season.chance.choice(DRAWN[season.chance.choice(sorted(DRAWN))])
    words = command_words(line, season)
    season.note(f"arena {line}")
    status, answer = await asyncio.to_thread(give, words, season.printed)
    check_answer(line, status, answer)


def command_words(line: str, season: PlayedSeason) -> list[str]:
    """Return a command line as the words of it, for the config of a season."""
    new = str(season.folder / f"made {next(season.numbers)}")
    other = str(season.other_config()) if "{other}" in line else ""
    words = [word.format(new=new, other=other) for word in line.split()]
    if "--config" not in words:
        words += ["--config", str(season.config.file)]
    return [*words, "--json"]


def give(words: Sequence[str], printed: StringIO) -> tuple[int, Any]:
    """Run a command, and return its exit status and what it answered, which is printed as JSON."""
    begin = printed.tell()
    try:
        get_command(app).main(args=list(words), prog_name="arena")
        status = 0
    except SystemExit as ended:
        status = int(ended.code or 0)

    return status, value_in(printed.getvalue()[begin:])


def value_in(text: str) -> Any:
    """Return the first JSON that a text has at the beginning of a line; the text itself if it has none.

    Others print too while a command is suspended.
    """
    decoder = json.JSONDecoder()
    for line in re.finditer(r"^[{\[]", text, re.MULTILINE):
        try:
            return decoder.raw_decode(text, line.start())[0]
        except ValueError:
            continue
    return text


def error_code(answer: Any) -> str:
    """Return the code of the error that a command answered with; empty if it answered with something else."""
    error = answer.get("error") if isinstance(answer, dict) else None
    return str(error.get("code")) if isinstance(error, dict) else ""


def check_answer(line: str, status: int, answer: Any) -> None:
    """Raise `Broken` for a wrong command line, or where verifying finds that something is wrong."""
    code = error_code(answer)
    if status == USAGE and code not in FAULT_CODES:
        raise Broken(f"arena {line}: {answer}")
    if line.startswith("admin verify") and status == 1 and not code:
        raise Broken(f"arena {line}: {answer}")
