"""Traces of a reference arena, every step of them, played through this engine.

    python -m tests.oracles.golden FILE

Money and shares must agree within 1e-4, confidence and Brier scores within 1e-6, all else exactly. The
engine counts in millionths and the reference in floats, which know 1 − 0.9999 to 1e-12 of itself: so
figures above a hundred million need not agree any better. The words of a refusal are each arena's own,
and are not compared. The scores at the end of a trace count as one more step.
"""

import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from portfolio.ledger import LedgerError
from tests.oracles.replay import Found, opened, play, scores
from tests.oracles.traces import NotTraces, Trace, read

MONEY, BELIEF, FLOATS = 1e-4, 1e-6, 1e-12
TOLERANCE = {"c": BELIEF, "brier": BELIEF, "mean_brier": BELIEF}


@dataclass(frozen=True, slots=True)
class Checked:
    """One step of one trace, and what of it came out otherwise than in the file."""

    trace: int | str
    step: int | str
    op: str
    wrong: tuple[str, ...]

    def __str__(self) -> str:
        return f"trace {self.trace}, step {self.step} ({self.op}): {'; '.join(self.wrong)}"


def check(trace: Trace) -> Iterator[Checked]:
    """Play a trace, and yield each step beside what the file says of it."""
    table = opened(trace)
    for number, step in enumerate(trace.steps):
        try:
            found = play(step, table, f"fill:{number}")
        except LedgerError as error:
            yield Checked(trace.trace, number, step.op, (f"the ledger refuses it: {error}",))
        else:
            yield Checked(trace.trace, number, step.op, tuple(differences(step.model_dump(), found)))
    told = trace.model_dump(include={"brier", "mean_brier"})
    yield Checked(trace.trace, "last", "scores", tuple(differences(told, scores(table))))


def differences(told: Found, found: Found, where: str = "") -> Iterator[str]:
    """Yield what differs from `told`; only what was found is compared, and `told` may say more."""
    for name, value in found.items():
        yield from _differs(told[name], value, name, f"{where}{name}")


def _differs(told: Any, found: Any, name: str, where: str) -> Iterator[str]:
    if isinstance(found, dict):
        yield from differences(told, found, f"{where}.")
    elif isinstance(found, list):
        yield from _rows_differ(told, found, where)
    elif not _agree(told, found, TOLERANCE.get(name, MONEY)):
        yield f"{where}: expected {told}, found {found}"


def _rows_differ(told: list[Found], found: list[Found], where: str) -> Iterator[str]:
    if where.endswith("positions"):
        told = sorted(told, key=_place)
        found = sorted(found, key=_place)
    if len(told) != len(found):
        yield f"{where}: expected {len(told)} {_names(told)}, found {len(found)} {_names(found)}"
    for number, (one, other) in enumerate(zip(told, found, strict=False)):
        yield from differences(one, other, f"{where}[{number}].")


def _place(row: Found) -> tuple[str, str]:
    return row["market"], row["side"]


def _names(rows: list[Found]) -> str:
    return f"({', '.join(' '.join(_place(row)) for row in rows)})"


def _agree(told: Any, found: Any, tolerance: float) -> bool:
    """Tell whether fractions agree within the tolerance, and all other values exactly."""
    if isinstance(found, float) and isinstance(told, float):
        return abs(told - found) <= max(tolerance, FLOATS * abs(told))
    return type(told) is type(found) and told == found


def main(arguments: list[str] | None = None) -> int:
    """Check a file; 0 if all agrees, 1 if not, 2 if it is no file of traces."""
    parser = ArgumentParser(prog="python -m tests.oracles.golden", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("file", type=Path, metavar="FILE", help="a JSON file of traces")
    parser.add_argument("--show", type=int, default=20, metavar="N", help="failures to print (default: 20)")
    given = parser.parse_args(arguments)
    try:
        traces = read(given.file)
    except NotTraces as error:
        sys.stderr.write(f"{error}\n")
        return 2
    checked = [step for trace in traces for step in check(trace)]
    failed = [step for step in checked if step.wrong]
    for step in failed[: given.show]:
        sys.stdout.write(f"{step}\n")
    if len(failed) > given.show:
        sys.stdout.write(f"... and {len(failed) - given.show} more\n")
    sys.stdout.write(f"{len(checked) - len(failed)} passed, {len(failed)} failed\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
