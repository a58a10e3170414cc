"""What goes wrong in a simulated season by itself: processes die and stand still, clocks step, disks fail."""

from functools import partial

from tests.chaos.database_faults import (
    COMMIT_CODES,
    FAULT_CODES,
    LOST_COMMIT_CODES,
    PASSING_CODES,
    ArmedFault,
    ArmedPause,
)
from tests.chaos.hold_history import BEAT, LEASE
from tests.chaos.simulation import Mishap, Simulation

LONGEST_PAUSE = 10 * LEASE
LONGEST_FAULT = 12.0
LONGEST_FULL = 45.0
LONGEST_READ_ONLY = 20.0
LONGEST_ABSENCE = 60.0
"""Seconds for which a process stands still, for which it has no database, nobody has room in it or may write
there, and the queue is away."""
DAY = 86_400.0
MOST_STATEMENTS = 40
MOST_COMMITS = 4
"""After so many statements or commits a fault comes at the latest."""
CHANGES = ("claim_turns", "reserve", "add_call", "add_turns", "renew_claims", "take_lease", "put_marks")
"""Changes whose commits meet faults of their own."""
POINTS = (
    ("committed", "claim_turns"),
    ("begin", "claim_turns"),
    ("begin", "reserve"),
    ("committed", "reserve"),
    ("begin", "add_call"),
    ("begin", "add_call"),
    ("committed", "add_call"),
    ("begin", "add_turns"),
    ("begin", "add_turns"),
    ("begin", "add_snapshot"),
    ("begin", "open_round"),
    ("begin", "put_marks"),
    ("begin", "put_job"),
    ("begin", "add_settlements"),
    ("begin", "end_cohort"),
)
"""Where a process is suspended: after a claim, before an answer is kept, before a write under a fence."""


def pause_length(season: Simulation) -> float:
    """Draw for how long a process stands still: mostly less than half a lease, or up to ten of them."""
    if season.chance.random() < 0.6:
        return season.chance.uniform(1, 0.45 * LEASE)
    return season.chance.uniform(LEASE, LONGEST_PAUSE)


def kill(season: Simulation) -> None:
    """Kill a process."""
    name = season.victim()
    under_way = season.kill(name)
    season.note(f"{name} is killed, {under_way} calls under way")


def suspend(season: Simulation) -> None:
    """Let a process stand still for a while, and its clocks go on."""
    name = season.victim()
    seconds = pause_length(season)
    season.loop.suspend(name, seconds)
    season.lives.trouble(name, seconds, "suspended")
    season.note(f"{name} is suspended for {seconds:.1f} s")


def sleep(season: Simulation) -> None:
    """Let the machine of a process sleep for a while: its timer stands still too."""
    name = season.victim()
    seconds = pause_length(season)
    season.loop.sleep_machine(name, seconds)
    season.lives.trouble(name, seconds, "suspended")
    season.note(f"the machine of {name} sleeps for {seconds:.1f} s")


def suspend_at(season: Simulation) -> None:
    """Let whoever comes first to a certain point stand still there, for a lease or several."""
    at, change = season.chance.choice(POINTS)
    seconds = season.chance.uniform(1.1 * LEASE, LONGEST_PAUSE)
    season.database.pauses.append(ArmedPause(at, change, seconds))


def race_for_turn(season: Simulation) -> None:
    """Let a process write a turn just before another, which saw it silent for a lease, takes it over."""
    interval = BEAT
    season.database.pauses.append(
        ArmedPause("begin", "add_turns", 2 * LEASE, then=partial(_expect_successor, season, interval))
    )


def _expect_successor(season: Simulation, interval: float, writer: str) -> None:
    """Suspend whoever is about to take over, and let the writer go on meanwhile."""

    def wake(_successor: str) -> None:
        season.loop.suspended[writer] = season.loop.moment + season.chance.uniform(0, interval / 2)

    season.database.pauses.append(
        ArmedPause("begin", "claim_turns", interval, silent=LEASE - interval, then=wake)
    )


def cut_off(season: Simulation) -> None:
    """Leave a process without a database, or without room in it."""
    name = season.victim()
    code = season.chance.choice(FAULT_CODES)
    season.database.cut_off(name, code, season.chance.uniform(0.5, LONGEST_FAULT))
    season.note(f"{name} meets {code}")


def fail_statement(season: Simulation) -> None:
    """Let one of the next statements of a process fail."""
    code = season.chance.choice(PASSING_CODES)
    left = season.chance.randint(1, MOST_STATEMENTS)
    season.database.armed.append(ArmedFault("statement", code, left, season.victim()))


def fail_commit(season: Simulation) -> None:
    """Let one of the next commits fail: one that does not take effect, or one that does."""
    at = season.chance.choice(("commit", "committed", "committed"))
    code = season.chance.choice(COMMIT_CODES if at == "commit" else LOST_COMMIT_CODES)
    left = season.chance.randint(1, MOST_COMMITS)
    change = season.chance.choice(CHANGES)
    season.database.armed.append(ArmedFault(at, code, left, change=change))


def fill_disk(season: Simulation) -> None:
    """Leave nobody room to write for a while."""
    season.database.fill(season.chance.uniform(0.5, LONGEST_FULL))
    season.note(f"the disk is full until {season.database.full_until:.1f}")


def protect_disk(season: Simulation) -> None:
    """Let nobody write for a while."""
    season.database.make_read_only(season.chance.uniform(0.5, LONGEST_READ_ONLY))
    season.note(f"the disk can only be read until {season.database.read_only_until:.1f}")


def cut_power(season: Simulation) -> None:
    """Cut the power of all machines."""
    season.note("the power is cut")
    season.cut_power()


def lose_queue(season: Simulation) -> None:
    """Let the queue's server be away for a while."""
    season.queue.away = True
    season.loop.call_later(season.chance.uniform(1, LONGEST_ABSENCE), setattr, season.queue, "away", False)
    season.note("the queue is away")


def step_clock(season: Simulation) -> None:
    """Put the wall clock of a process's machine forward or back, by up to a day."""
    name = season.victim()
    seconds = season.chance.choice((-DAY, -3_600.0, 3_600.0, DAY, season.chance.uniform(-DAY, DAY)))
    season.clocks.step(name, seconds)
    season.note(f"the clock of {name} is put {seconds:+.0f} s")


MISHAPS: tuple[Mishap, ...] = (
    kill,
    kill,
    suspend,
    suspend,
    sleep,
    suspend_at,
    suspend_at,
    suspend_at,
    race_for_turn,
    cut_off,
    fail_statement,
    fail_commit,
    fail_commit,
    fill_disk,
    protect_disk,
    cut_power,
    lose_queue,
    step_clock,
)
