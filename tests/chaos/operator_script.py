"""What an operator changes in a simulated season: a script of commands, each given at a time of the season.

The config has it, so an unbroken season meets the same changes. A command is given before anybody begins what
the season has due at its time or later, by whoever would begin that, and once it has taken effect everybody
goes on.
"""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from unittest.mock import patch

from arena.cohorts.freeze import plan_of
from arena.operations import run as running
from arena.operations.due import DueSituation, DueWork
from arena.operations.run import SEASON_JOBS, DueTask, Leader
from arena.record.model.cohort import JobState
from tests.chaos.database_faults import FAULT_CODES
from tests.chaos.drawn_commands import command_words, error_code, give
from tests.chaos.loop import PROCESS
from tests.chaos.machine_clocks import BEGINNING
from tests.chaos.played_season import PlayedSeason

DO = running._do
READ_SITUATION = running._read_situation
SCRIPTED_SHARE = 0.4
"""The share of configs, but for 0, with a script."""
REST = 1.0
"""Seconds after which a command is given again that met a fault."""
PASSING = {*FAULT_CODES, "busy", "raced", "database"}
"""Codes of errors after which a command is given again."""


@dataclass(frozen=True)
class ScriptedCommand:
    """A command that changes the season, and at which of the season's decision times it is given."""

    line: str
    place: int


SCRIPTS: tuple[tuple[ScriptedCommand, ...], ...] = (
    (ScriptedCommand("admin cohort pause 1", 1), ScriptedCommand("admin cohort resume 1", 2)),
    (ScriptedCommand("admin cohort end 1 --yes", 1),),
    (ScriptedCommand("admin cohort pause 2", 2), ScriptedCommand("admin cohort resume 2", 3)),
    (ScriptedCommand("admin cohort end 2 --yes", 2),),
    (ScriptedCommand("admin cohort pause 1", 1), ScriptedCommand("admin cohort end 1 --yes", 2)),
)
"""What an operator may change in the course of a season, each change later than the one before."""


def script_of(number: int) -> tuple[ScriptedCommand, ...]:
    """Return the script of a config; most have none."""
    chance = Random(f"script {number}")
    if number == 0 or chance.random() >= SCRIPTED_SHARE:
        return ()
    return chance.choice(SCRIPTS)


@dataclass
class Operator:
    """Gives the commands of a season's script, each at its time; `given` is how many were.

    Those that were `refused`, such as an end of a cohort that has not started, changed nothing.
    `outdated` are the processes that looked at what is due before the newest command: they look again before
    they do any more of it.
    """

    season: PlayedSeason
    script: tuple[ScriptedCommand, ...]
    given: int = 0
    refused: set[ScriptedCommand] = field(default_factory=set)
    outdated: set[str] = field(default_factory=set)

    def time(self, change: ScriptedCommand) -> datetime:
        """Return when a command is given: at a decision time, or so many weeks after the last."""
        times = plan_of(self.season.config, BEGINNING).decision_times()
        after = max(change.place - len(times) + 1, 0)
        return times[min(change.place, len(times) - 1)] + timedelta(weeks=after)

    def begin_anew(self) -> None:
        """Give all commands again that changed something, which may be lost; twice they change no more."""
        self.given = 0
        self._skip_refused()

    def _skip_refused(self) -> None:
        """Count refused commands that come next as given."""
        while self.given < len(self.script) and self.script[self.given] in self.refused:
            self.given += 1

    async def changes_before(self, at: datetime) -> bool:
        """Give the next command if it is to be given before what is due at a time; return whether it was.

        A command that met a fault is given again a little later.
        """
        if self.given == len(self.script) or self.time(self.script[self.given]) > at:
            return False

        change = self.script[self.given]
        words = command_words(change.line, self.season)
        status, answer = await asyncio.to_thread(give, words, self.season.printed)
        if status and error_code(answer) in PASSING:
            await asyncio.sleep(REST)
            return True

        if status:
            self.refused.add(change)
        self.given = max(self.given, self.script.index(change) + 1)
        self._skip_refused()
        self.outdated = set(self.season.tasks)
        outcome = error_code(answer) or status
        self.season.note(f"arena {change.line}, before {at} in {PROCESS.get()}: {outcome}")
        return True

    def is_too_early(self, task: DueTask, work: DueWork) -> bool:
        """Tell whether the next command comes before a task, and something older is still left."""
        if self.given == len(self.script) or task.at < self.time(self.script[self.given]):
            return False
        return any(step.at < self.time(self.script[self.given]) for step in work.due)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Have every scheduler wait for the operator before it begins something."""

        async def do(task: DueTask, work: DueWork, states: Mapping[str, JobState], leader: Leader) -> None:
            is_of_season = task.due is not None or task.name in SEASON_JOBS
            if is_of_season and self.is_too_early(task, work):
                await asyncio.sleep(REST)
                return
            if is_of_season and (PROCESS.get() in self.outdated or await self.changes_before(task.at)):
                return
            await DO(task, work, states, leader)

        def read_situation(leader: Leader, states: Mapping[str, JobState], now: datetime) -> DueSituation:
            self.outdated.discard(PROCESS.get())
            return READ_SITUATION(leader, states, now)

        with (
            patch("arena.operations.run._do", do),
            patch("arena.operations.run._read_situation", read_situation),
        ):
            yield
