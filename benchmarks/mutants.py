"""Takes every guard out, one at a time, and looks who notices: `python -m benchmarks.mutants`.

The guards are those that `tests/guards/` finds in the tree: fences, tokens, leases, constraints, triggers,
retries. Each is taken out in a copy of the tree. First the tests that its entry names are run there; then, if
these noticed nothing or the simulator must notice by itself, seeds of `benchmarks.chaos` until one fails.

python -m benchmarks.mutants --kind token --seeds 0     # the named tests alone
python -m benchmarks.mutants --finding --jobs 2         # those that the simulator must miss
python -m benchmarks.mutants --resume mutants.jsonl     # what is not in the file yet
"""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from queue import Queue

from markets.hashes import sha256
from tests.guards.registry import Mutant, all_mutants
from tests.guards.removal import TextChange

ROOT = Path(__file__).resolve().parent.parent
FAILED_TEST = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
FAILED_SEED = re.compile(r"^seed (\d+)")
LONGEST_TESTS = 400.0
LONGEST_SEED = 300.0
"""Seconds after which tests, or a simulator that prints nothing, count as hanging."""


@dataclass(frozen=True)
class Outcome:
    """Who noticed that a guard was gone: a test, a seed of the simulator, or nobody."""

    name: str
    kind: str
    change: str
    tests: str = ""
    seed: int | None = None
    seeds: int = 0
    equivalent: str = ""
    finding: int = 0

    @property
    def verdict(self) -> str:
        """Return the outcome in a word or two."""
        if self.equivalent:
            return "equivalent"
        by = []
        if self.tests:
            by.append("a test")
        if self.seed is not None:
            by.append(f"seed {self.seed}")
        elif self.seeds:
            by.append(f"no seed of {self.seeds}")
        return ", ".join(by) or "nobody"

    @property
    def killed(self) -> bool:
        """Return whether somebody noticed."""
        return bool(self.tests) or self.seed is not None


@dataclass
class Copies:
    """Copies of the tree, one for each job, which are gone at the end."""

    base: Path
    free: "Queue[Path]" = field(default_factory=Queue)
    written: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, number: int) -> None:
        """Make one more copy of the tree as it is now, with what is not committed."""
        tree = self.base / str(number) / "tree"
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        for name in listed.stdout.split("\0"):
            if name and (ROOT / name).is_file():
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, tree / name)

        (tree / ".venv").symlink_to(ROOT / ".venv")
        shared = ROOT.parent / "shared"
        if shared.exists():
            (tree.parent / "shared").symlink_to(shared.resolve())
        self.free.put(tree)

    @contextlib.contextmanager
    def one(self) -> Iterator[Path]:
        """Lend a copy that nobody uses."""
        tree = self.free.get()
        try:
            yield tree
        finally:
            self.free.put(tree)

    @contextlib.contextmanager
    def changed(self, tree: Path, change: TextChange) -> Iterator[None]:
        """Have a copy changed for as long as the block lasts."""
        file = tree / change.path
        source = file.read_text("utf-8")
        self._write(file, change.apply(source))
        try:
            yield
        finally:
            self._write(file, source)

    def _write(self, file: Path, source: str) -> None:
        """Write a file with a time that it never had, or Python would take what it compiled before."""
        file.write_text(source, "utf-8")
        with self.lock:
            self.written += 1
            at = int(time.time()) + self.written
        os.utime(file, (at, at))


@dataclass
class Commands:
    """Runs commands in copies of the tree, and ends them when the run ends."""

    running: set[int] = field(default_factory=set)
    ended: bool = False

    def start(self, tree: Path, *words: str) -> "subprocess.Popen[str]":
        """Start Python in a copy, whose packages it imports whatever is installed."""
        if self.ended:
            raise KeyboardInterrupt
        scratch = tree.parent / "tmp"
        scratch.mkdir(exist_ok=True)
        environment = {
            **os.environ,
            "PYTHONPATH": str(tree),
            "PYTHONPYCACHEPREFIX": str(tree.parent / "compiled"),
            "PYTHONUNBUFFERED": "1",
            "TMPDIR": str(scratch),
        }
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # to compile it all again takes longer than a test
        process = subprocess.Popen(
            [sys.executable, *words],
            cwd=tree,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.running.add(process.pid)
        return process

    def end(self, process: "subprocess.Popen[str]") -> None:
        """End a command and all that it has started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self.running.discard(process.pid)

    def end_all(self) -> None:
        """End whatever runs, and let nothing begin."""
        self.ended = True
        for pid in [*self.running]:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)

    def failing_test(self, tree: Path, tests: Sequence[str], longest: float) -> str:
        """Return the first of the tests that fails in a copy; nothing if they are green."""
        process = self.start(tree, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-rfE", *tests)
        try:
            output, _ = process.communicate(timeout=longest)
        except subprocess.TimeoutExpired:
            return "hangs"
        finally:
            self.end(process)

        if self.ended:
            raise KeyboardInterrupt
        if process.returncode == 0:
            return ""
        failed = FAILED_TEST.search(output)
        return failed[1] if failed else f"pytest ended with {process.returncode}: {output[-300:]}"

    def failing_seed(self, tree: Path, seeds: int) -> int | None:
        """Return the first seed of the simulator that fails in a copy, 0 if it does not even begin."""
        words = ("--first", "1", "--seeds", str(seeds), "--processes", "1")
        process = self.start(tree, "-m", "benchmarks.chaos", *words)
        timer = threading.Timer(LONGEST_SEED * max(1, seeds / 4), self.end, [process])
        timer.start()
        assert process.stdout is not None
        try:
            for line in process.stdout:
                failed = FAILED_SEED.match(line)
                if failed:
                    return int(failed[1])
            process.wait()
        finally:
            timer.cancel()
            self.end(process)

        if self.ended:
            raise KeyboardInterrupt
        return None if process.returncode == 0 else 0


@dataclass
class Trial:
    """A run over mutants: what is wanted, and what came of each."""

    copies: Copies
    commands: Commands
    seeds: int
    tests: bool
    kept: dict[str, Outcome]
    file: Path | None
    green: dict[tuple[str, ...], float] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    done: int = 0

    def play(self, mutant: Mutant, most: int) -> Outcome:
        """Return what came of a mutant, and keep it."""
        before = self.kept.get(mutant.name)
        outcome = Outcome(
            mutant.name, mutant.kind, digest_of(mutant), equivalent=mutant.equivalent, finding=mutant.finding
        )
        if before is not None and before.change == outcome.change:
            outcome = Outcome(**{**asdict(outcome), "tests": before.tests, "seed": before.seed, "seeds": before.seeds})

        if mutant.change is not None and not mutant.equivalent:
            with self.copies.one() as tree:
                outcome = self._tried(mutant, mutant.change, outcome, tree)

        with self.lock:
            self.done += 1
            print(f"{self.done}/{most} {outcome.verdict}: {mutant.name}", file=sys.stderr, flush=True)
            self.kept[mutant.name] = outcome
            if self.file is not None and outcome != before:
                with self.file.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(outcome)) + "\n")
        return outcome

    def _tried(self, mutant: Mutant, change: TextChange, outcome: Outcome, tree: Path) -> Outcome:
        """Return what came of the tests, and then of the simulator."""
        tests = outcome.tests
        if self.tests and mutant.tests and not tests:
            longest = self._green(mutant.tests, tree)
            with self.copies.changed(tree, change):
                tests = self.commands.failing_test(tree, mutant.tests, longest)

        seed = outcome.seed
        seeds = outcome.seeds
        wanted = mutant.finding > 0 or not tests
        if wanted and seed is None and self.seeds > seeds:
            seeds = self.seeds
            with self.copies.changed(tree, change):
                seed = self.commands.failing_seed(tree, seeds)
        return Outcome(**{**asdict(outcome), "tests": tests, "seed": seed, "seeds": seeds})

    def _green(self, tests: tuple[str, ...], tree: Path) -> float:
        """Check that tests are green as long as nothing is taken out; return for how long they may run."""
        if tests not in self.green:
            began = time.perf_counter()
            failed = self.commands.failing_test(tree, tests, LONGEST_TESTS)
            if failed:
                raise SystemExit(f"{failed} fails though nothing was taken out")
            self.green[tests] = max(60.0, 10 * (time.perf_counter() - began))
        return self.green[tests]


def digest_of(mutant: Mutant) -> str:
    """Return what tells a mutant from what it was before: an outcome of an earlier one counts no more."""
    change = mutant.change
    text = "" if change is None else f"{change.path}\n{change.old}\n{change.new}"
    return sha256(f"{text}\n{mutant.tests}\n{mutant.equivalent}")[:12]


def kept_in(file: Path | None) -> dict[str, Outcome]:
    """Return the last outcome of each mutant in a file of an earlier run."""
    if file is None or not file.exists():
        return {}
    outcomes = [Outcome(**json.loads(line)) for line in file.read_text("utf-8").splitlines()]
    return {outcome.name: outcome for outcome in outcomes}


def chosen_mutants(options: Namespace) -> list[Mutant]:
    """Return the mutants that are wanted."""
    mutants = list(all_mutants())
    if options.only:
        mutants = [mutant for mutant in mutants if any(name in mutant.name for name in options.only)]
    if options.kind:
        mutants = [mutant for mutant in mutants if mutant.kind in options.kind]
    if options.finding:
        mutants = [mutant for mutant in mutants if mutant.finding]
    return mutants


def table(outcomes: Sequence[Outcome]) -> str:
    """Return the outcomes by kind as Markdown."""
    lines = ["|guards |taken out |by a test |by a seed |equivalent |survived|", "|---|---:|---:|---:|---:|---:|"]
    kinds = Counter(outcome.kind for outcome in outcomes)
    for kind in sorted(kinds):
        of_kind = [outcome for outcome in outcomes if outcome.kind == kind]
        by_test = sum(bool(outcome.tests) for outcome in of_kind)
        by_seed = sum(outcome.seed is not None for outcome in of_kind)
        equivalent = sum(bool(outcome.equivalent) for outcome in of_kind)
        survived = sum(not outcome.killed and not outcome.equivalent for outcome in of_kind)
        taken_out = len(of_kind) - equivalent
        lines.append(f"|{kind} |{taken_out} |{by_test} |{by_seed} |{equivalent} |{survived}|")
    return "\n".join(lines)


def play_all(options: Namespace, mutants: Sequence[Mutant]) -> list[Outcome]:
    """Play the mutants in so many copies at once; Ctrl-C ends it, and what came until then is kept."""
    kept = kept_in(options.resume)
    commands = Commands()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copies = Copies(Path(folder))
        for number in range(options.jobs):
            copies.add(number)
        trial = Trial(copies, commands, options.seeds, not options.no_tests, kept, options.resume)
        play: Callable[[Mutant], Outcome] = lambda mutant: trial.play(mutant, len(mutants))
        pool = ThreadPoolExecutor(options.jobs)
        try:
            return list(pool.map(play, mutants))
        except KeyboardInterrupt:
            return [kept[mutant.name] for mutant in mutants if mutant.name in kept]
        finally:
            commands.end_all()
            pool.shutdown(cancel_futures=True)


def main() -> None:
    """Play what is wanted, and print the table; the exit status is 1 when a mutant survived."""
    parser = ArgumentParser(
        prog="python -m benchmarks.mutants", description=__doc__, formatter_class=RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", metavar="NAME", help="guards whose name has this in it")
    parser.add_argument("--kind", nargs="+", help="guards of these kinds")
    parser.add_argument("--finding", action="store_true", help="guards that the simulator must miss by itself")
    parser.add_argument("--seeds", type=int, default=100, help="of the simulator; 0 for none")
    parser.add_argument("--no-tests", action="store_true", help="the simulator alone")
    parser.add_argument("--jobs", type=int, default=1, help="so many at once")
    parser.add_argument("--resume", type=Path, metavar="FILE", help="where outcomes are kept as they come")
    parser.add_argument("--json", action="store_true", help="every mutant, instead of the table")
    options = parser.parse_args()

    # Ended by another program, or begun in the background, it tidies up as it does at Ctrl-C.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)

    outcomes = play_all(options, chosen_mutants(options))
    if options.json:
        print(json.dumps([asdict(outcome) for outcome in outcomes], indent=1))
    else:
        print(table(outcomes))
        for outcome in outcomes:
            if not outcome.killed and not outcome.equivalent:
                print(f"survived: {outcome.name}")
    raise SystemExit(any(not outcome.killed and not outcome.equivalent for outcome in outcomes))


if __name__ == "__main__":
    main()
