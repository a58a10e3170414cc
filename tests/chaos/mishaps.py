"""What goes wrong in a simulated season by itself: processes die and stand still, clocks step, disks fill."""

from tests.chaos.database_faults import FAULT_CODES
from tests.chaos.simulation import Mishap, Simulation

LONGEST_PAUSE = 40.0
LONGEST_FAULT = 12.0
LONGEST_FULL = 45.0
LONGEST_ABSENCE = 60.0
"""Seconds for which a process stands still, for which it has no database, nobody has room in it, and the
queue is away."""
CLOCK_STEPS = (3_600, -3_600, 86_400, -86_400)
"""Seconds by which a wall clock is put forward or back."""


def kill(season: Simulation) -> None:
    """Kill a process."""
    name = season.victim()
    under_way = season.kill(name)
    season.note(f"{name} is killed, {under_way} calls under way")


def suspend(season: Simulation) -> None:
    """Let a process stand still for a while."""
    name = season.victim()
    seconds = season.chance.uniform(1, LONGEST_PAUSE)
    season.loop.suspended[name] = season.loop.time() + seconds
    season.note(f"{name} is suspended for {seconds:.1f} s")


def cut_off(season: Simulation) -> None:
    """Leave a process without a database, or without room in it."""
    name = season.victim()
    code = season.chance.choice(FAULT_CODES)
    season.database.cut_off(name, code, season.chance.uniform(0.5, LONGEST_FAULT))
    season.note(f"{name} meets {code}")


def fill_disk(season: Simulation) -> None:
    """Leave nobody room to write for a while."""
    season.database.fill(season.chance.uniform(0.5, LONGEST_FULL))
    season.note(f"the disk is full until {season.database.full_until:.1f}")


def lose_queue(season: Simulation) -> None:
    """Let the queue's server be away for a while."""
    season.queue.away = True
    season.loop.call_later(season.chance.uniform(1, LONGEST_ABSENCE), setattr, season.queue, "away", False)
    season.note("the queue is away")


def step_clock(season: Simulation) -> None:
    """Put the wall clock of a process's machine forward or back, by up to a day."""
    name = season.victim()
    seconds = season.chance.choice(CLOCK_STEPS)
    season.clocks.step(name, seconds)
    season.note(f"the clock of {name} is put {seconds:+} s")


MISHAPS: tuple[Mishap, ...] = (kill, suspend, kill, suspend, cut_off, fill_disk, lose_queue, step_clock)
