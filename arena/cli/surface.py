"""The commands of `arena`: their names, the file of each, and the present names of former ones."""

from collections.abc import Mapping
from functools import cache
from itertools import chain
from pathlib import Path

Places = Mapping[str, "str | Places"]
"""Commands by name: the file and the function of each, or the commands of a family."""

PANELS: Mapping[str, Places] = {
    "Start": {
        "demo": "commands/start:demo",
        "try": "commands/start:try_model",
        "init": "commands/start:init",
        "add": "commands/start:add",
        "check": "commands/start:check",
    },
    "Play": {
        "run": "commands/play:run",
        "status": "commands/play:status",
    },
    "Results": {
        "board": "commands/results:board",
        "show": {
            "agent": "commands/show:agent",
            "cohort": "commands/show:cohort",
            "market": "commands/show:market",
            "positions": "commands/show:positions",
            "turn": "commands/show:turn",
            "prompt": "commands/show:prompt",
            "config": "commands/show:config",
        },
        "dashboard": "commands/dashboard:dashboard",
        "score": "commands/results:score",
        "share": {
            "report": "commands/share:report",
            "site": "commands/share:site",
            "export": "commands/share:export",
        },
    },
    "More": {
        "admin": {
            "cohort": "commands/admin_play:cohort",
            "settle": "commands/admin_play:settle",
            "verify": "commands/admin:verify",
            "backup": "commands/admin:backup",
            "restore": "commands/admin:restore",
            "prune": "commands/admin:prune",
        },
        "study": {
            "replay": "commands/study:replay",
            "whatif": "commands/study:whatif",
            "bundle": "commands/bundle:bundle",
            "forecastbench": {
                "run": "commands/forecastbench:run",
                "file": "commands/forecastbench:file",
                "board": "commands/forecastbench:board",
            },
        },
        "outside": {
            "desk": "commands/outside:desk",
            "mcp": "commands/outside:mcp",
        },
    },
}
"""The commands by the panels of help, in the order in which help lists them."""

COMMANDS: Places = dict(chain.from_iterable(places.items() for places in PANELS.values()))

FAMILIES = {
    "show": """Show an agent, cohort, market, turn, prompt, or the config.

Example: arena show agent sharp
""",
    "share": """Write results for others: a page, a web site, or plain files.

Example: arena share report -o report.html
""",
    "admin": """Take care of the record: cohorts, backups, and its check.

Example: arena admin backup
""",
    "study": """Replay recordings, try other rules, play ForecastBench.

Example: arena study replay recordings/spring
""",
    "forecastbench": """Play, check and score ForecastBench's rounds.

Question sets, resolution sets and forecasters' files come plain or packed with gzip.

Example: arena study forecastbench run --dry
""",
    "outside": """Let programs and assistants from outside take turns.

Example: arena outside desk --key ann
""",
}
"""The help of each family."""


@cache
def former_commands() -> dict[str, str]:
    """Return the present names of former commands."""
    lines = Path(__file__).with_name("former_commands.txt").read_text("utf-8").splitlines()
    return dict(line.split(" = ") for line in lines)
