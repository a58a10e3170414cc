"""Plays a newcomer: from a clone, or from the wheel alone, to an own agent's first turn and the dashboard.

python -m scripts.newcomer [--json]

Another user where this one is root, a path with spaces, no terminal, no HOME, the dashboard's port taken. The
venue and the model are served on this machine; the config's one edit says where they are. It prints each
command, its seconds and how it ended, and fails where one does.
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
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from pathlib import Path

from arena.clock import now, timer
from arena.operations.addresses import DASHBOARD_PORT as PORT
from tests.provider.replies import GOOD, says
from tests.provider.server import faulty
from tests.venue_server.polymarket import CLOB, GAMMA, PolymarketWire, a_book, a_market
from tests.venue_server.server import venue_server

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 600.0
"""Seconds after which a step is given up."""
STRANGER = "nobody"
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")
VENUE = '  polymarket: {{url: "{url}{gamma}", book_url: "{url}{clob}"}}\n'
MODEL = '  - {{name: mine, model: openai/mine, base_url: "{url}", price: {{input: 1, output: 4}}}}\n'


@dataclass(frozen=True)
class Step:
    """A thing typed: how long it took, its exit status, the end of what it printed."""

    typed: str
    seconds: float
    status: int
    printed: str


@dataclass
class Newcomer:
    """Somebody at a shell without a terminal, in a folder of their own."""

    folder: Path
    steps: list[Step] = field(default_factory=list)
    first_turn: str = ""

    @property
    def environment(self) -> dict[str, str]:
        kept = ("PATH", "PIP_CERT", "PIP_INDEX_URL", "PIP_FIND_LINKS", "SSL_CERT_FILE")
        return {name: os.environ[name] for name in kept if name in os.environ} | {"TMPDIR": str(self.folder)}

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
        """Run a line to its end: what it printed."""
        since, process = timer(), self.start(line)
        try:
            printed, _ = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            printed, _ = process.communicate()
        return self._note(line, since, process.returncode, printed)

    def open(self, line: str) -> str:
        """Run a line that serves until Ctrl-C, look at the page whose address it prints, and end it."""
        since, process = timer(), self.start(line)
        printed, page = "", 0
        assert process.stdout is not None
        for text in process.stdout:
            printed += text
            if address := ADDRESS.search(text):
                with urllib.request.urlopen(address[0], timeout=30) as answer:
                    page = answer.status
                break
        os.killpg(process.pid, signal.SIGINT)
        rest, _ = process.communicate(timeout=60)
        return self._note(f"{line}  # until Ctrl-C", since, 0 if page == 200 else 1, printed + rest)

    def _note(self, line: str, since: float, status: int, printed: str) -> str:
        step = Step(line, round(timer() - since, 1), status, printed[-3000:])
        self.steps.append(step)
        if status:
            raise SystemExit(f"{line}: exit {status}\n{step.printed}")
        return printed


@contextmanager
def newcomer() -> Iterator[Newcomer]:
    """One in a new folder with spaces in its path, which goes with them."""
    home = Path(tempfile.mkdtemp(prefix="a new comer "))
    try:
        if os.geteuid() == 0:
            shutil.chown(home, STRANGER)
        yield Newcomer(home)
    finally:
        shutil.rmtree(home)


@contextmanager
def world() -> Iterator[tuple[str, str]]:
    """A venue with forty markets and a model, both local: the lines of config that say where they are."""
    with venue_server() as venue, faulty() as provider:
        ends = f"{now() + timedelta(days=30):%Y-%m-%dT%H:%M:%SZ}"
        names = [str(1001 + number) for number in range(40)]
        markets = [
            a_market(name, endDate=ends, volume="50000", question=f"Will it rain at {name}?")
            for name in names
        ]
        books = [a_book(name, [("0.40", "900")], [("0.42", "900")]) for name in names]
        PolymarketWire(markets, books).serve(venue)
        provider.script("mine", says(GOOD))
        yield VENUE.format(url=venue.url, gamma=GAMMA, clob=CLOB), MODEL.format(url=provider.url)


def edit(config: Path, venue: str, model: str) -> None:
    """Add what a newcomer adds, one line for an agent of their own, and one that says where the venue is."""
    text = config.read_text("utf-8")
    text = text.replace("  venue: polymarket", f"{venue}  venue: polymarket", 1)
    config.write_text(text.replace("\nagents:", f"\nagents:\n{model}#", 1), "utf-8")


def from_a_clone(guest: Newcomer, venue: str, model: str) -> None:
    """The README's way."""
    published = guest.folder / "paper-arena.bundle"
    subprocess.run(["git", "-C", ROOT, "bundle", "create", "--quiet", published, "HEAD"], check=True)
    guest.type(f"git clone --quiet {published.name} 'paper arena'")
    here = "cd 'paper arena' && "
    guest.type(f"{here}make setup")
    edit(guest.folder / "paper arena" / "config.yaml", venue, model)
    guest.steps.append(Step("(edit config.yaml: one line for a model)", 0, 0, ""))
    played(guest, guest.type(f"{here}.venv/bin/arena run --round --json"))
    guest.open(f"{here}.venv/bin/arena dashboard")
    guest.type(f"{here}make demo")


def from_the_wheel(guest: Newcomer, venue: str, model: str) -> None:
    """Without a clone: the package, and a folder that `arena init` fills."""
    build: list[str | Path] = [
        ROOT / ".venv/bin/uv",
        "build",
        "--quiet",
        "--wheel",
        "--out-dir",
        guest.folder,
        ROOT,
    ]
    subprocess.run(build, check=True)
    wheel = next(guest.folder.glob("*.whl"))
    guest.type(f"python3 -m venv env && env/bin/pip install --quiet '{wheel}'")
    guest.type("env/bin/arena init mine --yes --venue polymarket --model openai/gpt-4o")
    edit(guest.folder / "mine" / "config.yaml", venue, model)
    guest.steps.append(Step("(edit config.yaml: one line for a model)", 0, 0, ""))
    played(guest, guest.type("cd mine && ../env/bin/arena run --round --json"))
    guest.open("cd mine && ../env/bin/arena dashboard")
    guest.type("env/bin/arena demo --headless --json")


def played(guest: Newcomer, printed: str) -> None:
    """Hold that their own agent's turn was played, and say after how much."""
    round_1 = json.loads(printed[printed.index("{") :])["rounds"][0]
    turns = {turn["agent"]: turn for turn in round_1["turns"]}
    if turns["mine"]["status"] != "played":
        raise SystemExit(f"the turn of mine: {turns['mine']}\n{printed}")
    seconds = sum(step.seconds for step in guest.steps)
    guest.first_turn = f"{len(guest.steps)} commands and {seconds:.0f} s to the first turn of an own agent"


def main(arguments: Sequence[str]) -> None:
    """Play both ways, and print what it took."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="as JSON")
    as_json = parser.parse_args(arguments).json
    told = {}
    with ExitStack() as stack:
        venue, model = stack.enter_context(world())
        taken = stack.enter_context(socket.socket())
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", PORT))
        taken.listen()
        for way in (from_a_clone, from_the_wheel):
            guest = stack.enter_context(newcomer())
            way(guest, venue, model)
            told[way.__name__.replace("_", " ")] = guest
    if as_json:
        print(json.dumps({way: [asdict(step) for step in guest.steps] for way, guest in told.items()}))
        return
    for name, guest in told.items():
        print(f"\n{name}: {guest.first_turn}")
        for step in guest.steps:
            print(f"  {step.seconds:6.1f} s  {step.typed}")


if __name__ == "__main__":
    main(sys.argv[1:])
