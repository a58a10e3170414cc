"""What goes wrong in a season on PostgreSQL, and who plays it, as a seed draws them."""

from dataclasses import dataclass
from random import Random
from typing import Literal

from tests.faults.postgresql_proxy import Fault, drawn_fault

CLOCK_STEPS = (3_600, -3_600, 86_400, -86_400)
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("admin", "verify"),
    ("admin", "verify", "--all"),
    ("admin", "backup", "{new}.db"),
    ("share", "export", "{new}.zip"),
    ("board",),
    ("status",),
    ("run", "--once"),
    ("run", "--round"),
)
PAUSE_CHANCE = 0.1
PAUSE = ("admin", "cohort", "pause", "1")

MishapKind = Literal["fault", "kill", "suspend", "restart", "clock", "command"]
MISHAP_KINDS: tuple[MishapKind, ...] = (
    *("fault",) * 9,
    *("command",) * 4,
    "kill",
    "kill",
    "suspend",
    "restart",
    "clock",
)
"""What goes wrong, each as often as it is drawn."""


@dataclass(frozen=True, slots=True)
class Mishap:
    """Something that goes wrong, or is done beside, so many seconds after the one before."""

    after: float
    kind: MishapKind
    process: str = ""
    seconds: float = 0.0
    fault: Fault | None = None
    command: tuple[str, ...] = ()


def drawn_roster(chance: Random) -> list[str]:
    """Return who plays: one or two schedulers, and up to three workers."""
    schedulers = chance.choice((1, 1, 2))
    workers = chance.choice((0, 1, 2, 2, 3))
    return [*(f"run {n + 1}" for n in range(schedulers)), *(f"worker {n + 1}" for n in range(workers))]


def drawn_plan(chance: Random, roster: list[str], mishaps: int) -> list[Mishap]:
    """Return what goes wrong in a season."""
    return [drawn_mishap(chance, roster) for _ in range(mishaps)]


def drawn_mishap(chance: Random, roster: list[str]) -> Mishap:
    """Return something that goes wrong: most often with connections."""
    kind = chance.choice(MISHAP_KINDS)
    after = round(chance.uniform(0.2, 6.0), 2)
    process = chance.choice(roster)
    if kind == "fault":
        longest = chance.choice((3.0, 10.0, 60.0))
        return Mishap(after, kind, fault=drawn_fault(chance, [*roster, "command"], longest))
    if kind == "suspend":
        return Mishap(after, kind, process, round(chance.uniform(1.0, 40.0), 1))
    if kind == "restart":
        return Mishap(after, kind, seconds=chance.choice((0.0, 3.0, 10.0, 45.0)))
    if kind == "clock":
        return Mishap(after, kind, seconds=chance.choice(CLOCK_STEPS))
    if kind == "command":
        pauses = chance.random() < PAUSE_CHANCE
        command = chance.choice(COMMANDS)
        return Mishap(after, kind, command=PAUSE if pauses else command)
    return Mishap(after, "kill", process)
