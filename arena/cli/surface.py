"""The commands of `arena`: their names, in which file each is, and what those that are no more are called."""

from collections.abc import Mapping

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

COMMANDS: Places = {name: place for places in PANELS.values() for name, place in places.items()}

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
"""What the help of each family says."""

FORMER = {
    "agents": "show agents",
    "agents add": "add MODEL",
    "agents list": "show agents",
    "agents show": "show agent NAME",
    "agents try": "show turn NAME --play",
    "cohorts": "show cohorts",
    "cohorts diff": "show cohort N N",
    "cohorts end": "admin cohort end N",
    "cohorts list": "show cohorts",
    "cohorts pause": "admin cohort pause N",
    "cohorts resume": "admin cohort resume N",
    "cohorts seal": "show cohort N --head",
    "cohorts show": "show cohort N",
    "cohorts start": "admin cohort start",
    "config": "show config",
    "db": "admin",
    "db backup": "admin backup",
    "db copy": "admin backup URL",
    "db prune": "admin prune",
    "db restore": "admin restore FILE",
    "db upgrade": "admin backup --upgrade",
    "desk": "outside desk",
    "duel": "board A B",
    "export": "share export DIR",
    "forecastbench": "study forecastbench",
    "forecastbench board": "study forecastbench board",
    "forecastbench check": "study forecastbench file --check",
    "forecastbench fetch": "study forecastbench run",
    "forecastbench file": "study forecastbench file",
    "forecastbench resolve": "study forecastbench board --fetch",
    "forecastbench run": "study forecastbench run",
    "history": "study bundle DIR VENUE",
    "import": "admin restore DIR",
    "leaderboard": "board",
    "markets": "show markets",
    "markets check": "check DIR",
    "markets list": "show markets",
    "markets record": "study bundle DIR",
    "markets rejected": "show markets --rejected",
    "markets settle": "admin settle ID",
    "markets show": "show market ID",
    "markets sync": "run --sync",
    "mcp": "outside mcp",
    "positions": "show positions",
    "prompts": "show prompts",
    "publish": "share site DIR",
    "replay": "study replay DIR",
    "report": "share report",
    "round": "run --round",
    "schema": "outside desk --schema DOCUMENT",
    "tournament": "score FILE.yaml",
    "verify": "admin verify",
    "watch": "status --incidents",
    "whatif": "study whatif",
    "worker": "run --worker",
}
"""What commands that are no more are called now."""
