"""Play new users: from a clone, from the wheel, with a local or hosted model, with a file of forecasts.

python -m scripts.newcomer [--json] [WAY …]

Another user where this one is root, a path with spaces, no terminal, no HOME, the dashboard's port taken. The
venue and the models are served on this machine: a config is pointed at the venue between two commands, which
is not counted. It prints each command, its seconds and how it ended, and after how many of them there was a
first sentence on a model and a first turn. It fails where a command does.
"""

import argparse
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from pathlib import Path

from arena.clock import now, timer
from arena.operations.listen_addresses import DASHBOARD_PORT as PORT
from tests.provider.local_model import local_model
from tests.provider.replies import GOOD, says
from tests.provider.server import faulty
from tests.venue_server.polymarket import CLOB, GAMMA, PolymarketWire, a_book, a_market
from tests.venue_server.server import venue_server

ROOT = Path(__file__).resolve().parent.parent
UV = ROOT / ".venv" / "bin" / "uv"
PATIENCE = 900.0
"""Seconds after which a step is given up."""
STRANGER = "nobody"
OLLAMA_PORT = 11434
MODEL = "qwen3:8b"
HOSTED = "meta-llama/llama-3.3-70b-instruct"
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")
SENTENCE = re.compile(r"answered \d+ of \d+ questions|is better than|Too early|Brier")
NEXT = re.compile(r"^Next:\s+(.+)$", re.MULTILINE)
VENUE = '  polymarket: {{url: "{url}{gamma}", book_url: "{url}{clob}"}}\n'
AGENT = '  - {{name: mine, model: openai/mine, base_url: "{url}", price: {{input: 1, output: 4}}}}\n'


@dataclass(frozen=True)
class Step:
    """A thing typed: how long it took, its exit status, the end of what it printed."""

    typed: str
    seconds: float
    status: int
    printed: str


class DeadEnd(Exception):
    """A command failed, so that a stranger would not know how to go on."""


@dataclass
class Newcomer:
    """Somebody at a shell without a terminal, in a folder of their own.

    `sentence` and `turn` are after how many commands, and how many seconds of them, there were a first
    sentence on a model and a first turn.
    """

    folder: Path
    path: str = os.environ["PATH"]
    variables: dict[str, str] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    sentence: tuple[int, float] | None = None
    turn: tuple[int, float] | None = None
    dead_ends: int = 0

    @property
    def environment(self) -> dict[str, str]:
        kept = ("PIP_CERT", "PIP_INDEX_URL", "PIP_FIND_LINKS", "SSL_CERT_FILE", "UV_INDEX_URL")
        own = {"PATH": self.path, "TMPDIR": str(self.folder), "UV_CACHE_DIR": str(self.folder / "cache")}
        return {name: os.environ[name] for name in kept if name in os.environ} | own | self.variables

    @property
    def spent(self) -> tuple[int, float]:
        """Return how many commands there were, and how many seconds they took."""
        return len(self.steps), round(sum(step.seconds for step in self.steps), 1)

    def start(self, line: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            ["sh", "-c", line],
            cwd=self.folder,
            env=self.environment,
            user=STRANGER if os.geteuid() == 0 else None,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def type(self, line: str) -> str:
        """Run a line to its end, and return what it printed."""
        since = timer()
        process = self.start(line)
        try:
            printed, _ = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            printed, _ = process.communicate()
        return self._note(line, since, process.returncode, printed)

    def open(self, line: str) -> str:
        """Run a line that serves until Ctrl-C, look at the page whose address it prints, and end it."""
        since = timer()
        process = self.start(line)
        printed = ""
        page = 0
        assert process.stdout is not None
        for text in process.stdout:
            printed += text
            address = ADDRESS.search(text)
            if address:
                with urllib.request.urlopen(address[0], timeout=30) as answer:
                    page = answer.status
                break
        os.killpg(process.pid, signal.SIGINT)
        rest, _ = process.communicate(timeout=60)
        return self._note(f"{line}  # until Ctrl-C", since, 0 if page == 200 else 1, printed + rest)

    def _note(self, line: str, since: float, status: int, printed: str) -> str:
        self.steps.append(Step(line, round(timer() - since, 1), status, printed[-3000:]))
        if status:
            raise DeadEnd(f"{line}: exit {status}\n{printed[-3000:]}")
        if self.sentence is None and SENTENCE.search(printed):
            self.sentence = self.spent
        return printed

    def played(self, printed: str, name: str) -> None:
        """Hold that their own agent's turn was played, and note after how much."""
        data = json.loads(printed[printed.index("{") :])
        turns = {turn["agent"]: turn for turn in data["rounds"][0]["turns"]}
        if turns[name]["status"] != "played":
            raise DeadEnd(f"the turn of {name}: {turns[name]}\n{printed}")
        self.turn = self.spent


@dataclass(frozen=True)
class World:
    """What is served on this machine: the config's line of the venue, that of an agent, and the wheel."""

    venue: str
    agent: str
    wheel: Path
    installed: Path

    def serve(self, config: Path) -> None:
        """Set the URL of the local venue in a config."""
        text = config.read_text("utf-8")
        config.write_text(text.replace("  venue: polymarket", f"{self.venue}  venue: polymarket", 1), "utf-8")

    def add_agent(self, config: Path) -> None:
        """Add what a newcomer adds, one line for an agent of their own."""
        text = config.read_text("utf-8")
        config.write_text(text.replace("\nagents:", f"\nagents:\n{self.agent}#", 1), "utf-8")


@contextmanager
def newcomer() -> Iterator[Newcomer]:
    """Yield a user in a new folder with spaces in its path, which is removed afterwards."""
    home = Path(tempfile.mkdtemp(prefix="a new comer "))
    try:
        if os.geteuid() == 0:
            shutil.chown(home, STRANGER)
        yield Newcomer(home)
    finally:
        shutil.rmtree(home)


@contextmanager
def world(install: bool) -> Iterator[World]:
    """Yield a venue with forty markets and a model, both local; the wheel, and where it is installed."""
    with venue_server() as venue, faulty() as provider, tempfile.TemporaryDirectory() as folder:
        ends = f"{now() + timedelta(days=30):%Y-%m-%dT%H:%M:%SZ}"
        names = [str(1001 + number) for number in range(40)]
        markets = [
            a_market(name, endDate=ends, volume="50000", question=f"Will it rain at {name}?")
            for name in names
        ]
        books = [a_book(name, [("0.40", "900")], [("0.42", "900")]) for name in names]
        PolymarketWire(markets, books).serve(venue)
        provider.script("mine", says(GOOD))

        place = Path(folder)
        place.chmod(0o755)
        subprocess.run([UV, "build", "--quiet", "--wheel", "--out-dir", place, ROOT], check=True)
        wheel = next(place.glob("*.whl"))
        if install:
            python = place / "env" / "bin" / "python"
            subprocess.run([UV, "venv", "--quiet", "--python", "/usr/bin/python3", place / "env"], check=True)
            subprocess.run([UV, "pip", "install", "--quiet", "--python", python, wheel], check=True)
        yield World(
            VENUE.format(url=venue.url, gamma=GAMMA, clob=CLOB),
            AGENT.format(url=provider.url),
            wheel,
            place / "env/bin",
        )


def from_a_clone(guest: Newcomer, served: World) -> None:
    """Follow the README."""
    published = guest.folder / "paper-arena.bundle"
    subprocess.run(["git", "-C", ROOT, "bundle", "create", "--quiet", published, "HEAD"], check=True)
    guest.type(f"git clone --quiet {published.name} 'paper arena'")
    here = "cd 'paper arena' && "
    guest.type(f"{here}make setup")
    config = guest.folder / "paper arena" / "config.yaml"
    served.serve(config)
    served.add_agent(config)
    guest.steps.append(Step("(edit config.yaml: one line for a model)", 0, 0, ""))
    guest.played(guest.type(f"{here}.venv/bin/arena run --round --json"), "mine")
    guest.open(f"{here}.venv/bin/arena dashboard")
    guest.type(f"{here}make demo")


def from_the_wheel(guest: Newcomer, served: World) -> None:
    """Go without a clone: by the package alone, and the tool that runs packages."""
    guest.path = f"{ROOT / '.venv/bin'}:{guest.path}"
    guest.variables = {"HOME": str(guest.folder)}  # uvx keeps its tools there
    arena = f"uvx --quiet --from '{served.wheel}' paper-arena"
    with local_model(300, time.sleep, port=OLLAMA_PORT):
        guest.type(f"{arena} try")
        guest.type(f"{arena} init my-arena --model {MODEL} --yes")
        served.serve(guest.folder / "my-arena" / "config.yaml")
        guest.played(guest.type(f"cd my-arena && {arena} run --round --json"), MODEL)
        guest.open(f"cd my-arena && {arena} dashboard")


def own_model(speed: float, closed: bool = False) -> Callable[[Newcomer, World], None]:
    """Return a way with a model on this machine, of so many tokens a second; with standard input `closed`."""

    def way(guest: Newcomer, served: World) -> None:
        guest.path = f"{served.installed}:{guest.path}"
        end = " <&-" if closed else ""
        with local_model(speed, time.sleep, port=OLLAMA_PORT):
            printed = guest.type(f"arena try{end}")
            live(guest, served, printed, end, MODEL)

    return way


def live(guest: Newcomer, served: World, printed: str, end: str, agent: str) -> None:
    """Run the command that `try` suggests, then play a first live turn."""
    following = NEXT.search(printed)
    if following is None:
        raise DeadEnd(f"no next command:\n{printed}")
    guest.type(f"{following[1]}{end}")
    served.serve(guest.folder / "my-arena" / "config.yaml")
    guest.type(f"cd my-arena && arena run --once{end}")
    shown = subprocess.run(
        ["sh", "-c", f"cd my-arena && arena show turn {agent} --json"],
        cwd=guest.folder,
        env=guest.environment,
        capture_output=True,
        text=True,
        check=True,
    )
    status = json.loads(shown.stdout)["decision"]["status"]
    if status != "played":
        raise DeadEnd(f"the turn of {agent}: {status}")
    guest.turn = guest.spent


def of_a_provider(guest: Newcomer, served: World) -> None:
    """Go on with a model of OpenRouter: its key is set, and the provider is served on this machine."""
    guest.path = f"{served.installed}:{guest.path}"
    with local_model(300, time.sleep) as server:
        server.models = (HOSTED,)
        guest.variables = {"OPENROUTER_API_KEY": "a-key", "OPENROUTER_API_BASE": server.url}
        printed = guest.type(f"arena try openrouter/{HOSTED} --yes")
        live(guest, served, printed, "", HOSTED.rpartition("/")[2])


def own_file(guest: Newcomer, served: World) -> None:
    """Score forecasts of their own, in a CSV file as the docs show it."""
    guest.path = f"{served.installed}:{guest.path}"
    page = (ROOT / "docs" / "score-a-file.md").read_text("utf-8")
    texts = re.findall(r"^`forecasts.csv`:\n\n```\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (guest.folder / "forecasts.csv").write_text(texts[0], "utf-8")
    guest.type("arena score forecasts.csv")


WAYS: dict[str, Callable[[Newcomer, World], None]] = {
    "clone": from_a_clone,
    "wheel": from_the_wheel,
    "own model, 300 tokens a second": own_model(300),
    "own model, 30 tokens a second": own_model(30),
    "no terminal, standard input closed": own_model(300, closed=True),
    "a provider's model": of_a_provider,
    "own CSV": own_file,
}


def spent_text(spent: tuple[int, float] | None) -> str:
    """Return after how many commands something was there, and after how many seconds."""
    return "–" if spent is None else f"{spent[0]} in {spent[1]:.0f} s"


def main(arguments: Sequence[str]) -> None:
    """Play the ways, and print what each took."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument("ways", nargs="*", metavar="WAY", help="only those whose names begin so")
    given = parser.parse_args(arguments)
    chosen = [name for name in WAYS if not given.ways or name.startswith(tuple(given.ways))]

    guests: dict[str, Newcomer] = {}
    troubles = []
    with ExitStack() as stack:
        served = stack.enter_context(world(install=bool({*chosen} - {"clone", "wheel"})))
        taken = stack.enter_context(socket.socket())
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", PORT))
        taken.listen()
        for name in chosen:
            guests[name] = stack.enter_context(newcomer())
            try:
                WAYS[name](guests[name], served)
            except DeadEnd as trouble:
                guests[name].dead_ends += 1
                troubles.append(f"{name}: {trouble}")

    if given.json:
        print(json.dumps({name: [asdict(step) for step in guest.steps] for name, guest in guests.items()}))
    else:
        print_table(guests)
    if troubles:
        sys.exit("\n".join(troubles))


def print_table(guests: dict[str, Newcomer]) -> None:
    """Print what each way took, then its commands."""
    print(f"{'':36}{'first sentence':18}{'first turn':18}dead ends")
    for name, guest in guests.items():
        print(f"{name:36}{spent_text(guest.sentence):18}{spent_text(guest.turn):18}{guest.dead_ends}")
    for name, guest in guests.items():
        print(f"\n{name}:")
        for step in guest.steps:
            print(f"  {step.seconds:6.1f} s  {step.typed}")


if __name__ == "__main__":
    main(sys.argv[1:])
