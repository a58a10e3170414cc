"""Take every guard out, one at a time, and see which test notices: `python -m benchmarks.mutants`.

The guards are those that `tests/guards/` finds in the tree: fences, tokens, leases, constraints, triggers,
retries. Each is taken out in a copy of the tree. First the tests that its entry names are run there; then, if
these noticed nothing or the simulator must notice by itself, seeds of `benchmarks.chaos` until one fails.

python -m benchmarks.mutants --kind token --seeds 0     # the named tests alone
python -m benchmarks.mutants --finding --jobs 2         # those that the simulator must miss
python -m benchmarks.mutants --resume mutants.jsonl     # what is not in the file yet
"""

import json
import re
import signal
import sys
import tempfile
import threading
import time
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path

from benchmarks.tree_copies import ROOT, Commands, Copies, changed
from markets.hashes import sha256
from tests.guards.registry import Mutant, all_mutants

PAGE = ROOT / "docs" / "performance.md"
HEADING = "## Guards taken out"
SECTION = re.compile(rf"\n{HEADING}\n.*", re.DOTALL)
INTRO = """\
`python -m benchmarks.mutants --page` writes this table. Each guard in the code is taken out by itself,
in a copy, as [the list](../tests/guards/guards.toml) says. {who}"""
BY_TESTS = "A test in the list must notice; no seed of the simulator was played for it."
BY_SEEDS = """\
A test in the list must notice, or one of the simulator's first {seeds} seeds; for {findings} guards it
must be a seed."""
LONGEST_TESTS = 900.0
"""Seconds that tests may take as long as nothing is taken out."""


@dataclass(frozen=True)
class Outcome:
    """Who noticed that a guard was gone: a test, a seed of the simulator after `seeds` at most, or nobody."""

    name: str
    kind: str
    change: str
    tests: str = ""
    seed: int | None = None
    seeds: int = 0
    equivalent: str = ""
    finding: int = 0

    @property
    def noticed(self) -> bool:
        """Return whether somebody did, of those that must; where it changes nothing nobody can."""
        if self.equivalent:
            return True
        if self.finding and self.seeds:
            return self.seed is not None
        return bool(self.tests) or self.seed is not None

    @property
    def words(self) -> str:
        """Return who noticed."""
        if self.equivalent:
            return "changes nothing"
        by = [self.tests] if self.tests else []
        if self.seed is not None:
            by.append(f"seed {self.seed}")
        elif self.seeds:
            by.append(f"no seed of {self.seeds}")
        return ", ".join(by) or "nobody"


@dataclass
class Trial:
    """A run over mutants. What is `kept` of an earlier one is not tried again."""

    copies: Copies
    commands: Commands
    options: Namespace
    kept: dict[str, Outcome]
    green: dict[tuple[str, ...], float] = field(default_factory=dict)
    green_seeds: dict[int, bool] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    done: int = 0

    def play(self, mutant: Mutant, most: int) -> Outcome:
        """Try a mutant, keep what came of it, and return that."""
        outcome = Outcome(
            mutant.name,
            mutant.kind,
            digest_of(mutant),
            equivalent=mutant.equivalent,
            finding=mutant.finding,
        )
        before = self.kept.get(mutant.name)
        if before is not None and before.change == outcome.change:
            outcome = replace(before, equivalent=mutant.equivalent, finding=mutant.finding)
        if mutant.change is not None and not mutant.equivalent:
            with self.copies.lent() as tree:
                outcome = self._noticed_by_simulator(
                    mutant, self._noticed_by_tests(mutant, outcome, tree), tree
                )

        with self.lock:
            self.done += 1
            print(f"{self.done}/{most} {mutant.name}: {outcome.words}", file=sys.stderr, flush=True)
            self.kept[mutant.name] = outcome
            if self.options.resume is not None and outcome != before:
                with self.options.resume.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(outcome)) + "\n")
        return outcome

    def _noticed_by_tests(self, mutant: Mutant, outcome: Outcome, tree: Path) -> Outcome:
        """Run the named tests, unless one of them has noticed before."""
        if outcome.tests or self.options.no_tests or mutant.change is None:
            return outcome

        longest = self._time_for(mutant.tests, tree)
        with changed(tree, mutant.change):
            return replace(outcome, tests=self.commands.failing_test(tree, mutant.tests, longest))

    def _noticed_by_simulator(self, mutant: Mutant, outcome: Outcome, tree: Path) -> Outcome:
        """Play seeds until one fails, where no test has noticed or the simulator must."""
        is_wanted = mutant.finding > 0 or not outcome.tests
        if not is_wanted or outcome.seed is not None or self.options.seeds <= outcome.seeds:
            return outcome

        assert mutant.change is not None
        first = 1
        seed: int | None = None
        while first <= self.options.seeds:
            with changed(tree, mutant.change):
                seed = self.commands.failing_seed(tree, first, self.options.seeds + 1 - first)
            if not seed or self._is_green(seed, tree):
                break
            first = seed + 1
            seed = None
        return replace(outcome, seed=seed, seeds=self.options.seeds)

    def _is_green(self, seed: int, tree: Path) -> bool:
        """Return whether a seed passes as long as nothing is taken out: else it tells nothing of a mutant."""
        if seed not in self.green_seeds:
            self.green_seeds[seed] = self.commands.failing_seed(tree, seed, 1) is None
        return self.green_seeds[seed]

    def _time_for(self, tests: tuple[str, ...], tree: Path) -> float:
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
    """Return the last outcome of each mutant in the file of an earlier run."""
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


def play_all(options: Namespace, mutants: Sequence[Mutant]) -> list[Outcome]:
    """Play the mutants, so many at once. Ctrl-C ends it: what came until then is kept, no copy is left."""
    kept = kept_in(options.resume)
    commands = Commands()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copies = Copies(Path(folder))
        for _ in range(options.jobs):
            copies.add()

        trial = Trial(copies, commands, options, kept)
        pool = ThreadPoolExecutor(options.jobs)
        try:
            return list(pool.map(partial(trial.play, most=len(mutants)), mutants))
        except KeyboardInterrupt:
            return [kept[mutant.name] for mutant in mutants if mutant.name in kept]
        finally:
            commands.end_all()
            pool.shutdown(cancel_futures=True)


def table(outcomes: Sequence[Outcome]) -> str:
    """Return the outcomes by kind as Markdown."""
    lines = [
        "|guards |taken out |noticed by a test |by a seed |not noticed, or not tried |no effect|",
        "|---|---:|---:|---:|---:|---:|",
    ]
    by_kind: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_kind.setdefault(outcome.kind, []).append(outcome)
    for kind, of_kind in sorted(by_kind.items()):
        lines.append(line_of(kind, of_kind))
    lines.append(line_of("all", outcomes))
    return "\n".join(lines)


def line_of(kind: str, outcomes: Sequence[Outcome]) -> str:
    """Return the line of some outcomes."""
    tried = [outcome for outcome in outcomes if not outcome.equivalent]
    counts = [
        len(tried),
        sum(bool(outcome.tests) for outcome in tried),
        sum(outcome.seed is not None for outcome in tried),
        sum(not outcome.noticed for outcome in tried),
        len(outcomes) - len(tried),
    ]
    return f"|{kind} |{' |'.join(map(str, counts))}|"


def section(outcomes: Sequence[Outcome]) -> str:
    """Return the part of the page on performance that has the table."""
    seeds = max((outcome.seeds for outcome in outcomes), default=0)
    findings = sum(outcome.finding > 0 for outcome in outcomes)
    who = BY_SEEDS.format(seeds=seeds, findings=findings) if seeds else BY_TESTS
    parts = [HEADING, INTRO.format(who=who), table(outcomes)]
    return "\n" + "\n\n".join(parts) + "\n"


def main() -> None:
    """Play what is wanted, and print the table; the exit status is 1 where nobody noticed."""
    parser = ArgumentParser(
        prog="python -m benchmarks.mutants",
        description=__doc__,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", nargs="+", metavar="NAME", help="guards whose name has this in it")
    parser.add_argument("--kind", nargs="+", help="guards of these kinds")
    parser.add_argument(
        "--finding", action="store_true", help="guards that the simulator must miss by itself"
    )
    parser.add_argument("--seeds", type=int, default=100, help="of the simulator; 0 for none")
    parser.add_argument("--no-tests", action="store_true", help="the simulator alone")
    parser.add_argument("--jobs", type=int, default=1, help="so many at once")
    parser.add_argument("--resume", type=Path, metavar="FILE", help="where outcomes are kept as they come")
    parser.add_argument("--json", action="store_true", help="every guard, instead of the table")
    parser.add_argument("--page", action="store_true", help="put the table into docs/performance.md too")
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
            if not outcome.noticed:
                print(f"not noticed: {outcome.name} ({outcome.words})")
    if options.page:
        text = SECTION.sub("", PAGE.read_text("utf-8"))
        PAGE.write_text(text + section(outcomes), "utf-8")
    raise SystemExit(not all(outcome.noticed for outcome in outcomes))


if __name__ == "__main__":
    main()
