"""The arena, simulated whole: schedulers, workers, commands, provider and database on one seeded loop.

The seed says who runs at every step, what goes wrong, and which commands are given. Whatever it says, the
season ends in the state of an unbroken one, and nothing is bought twice but what was under way in a process
as it was killed.
"""

import tempfile
from functools import cache
from pathlib import Path

from tests.chaos.drawn_commands import COMMANDS
from tests.chaos.mishaps import MISHAPS
from tests.chaos.record_reads import Broken, state_of
from tests.chaos.season_config import config_number
from tests.chaos.simulation import Simulation


@cache
def unbroken(number: int = 0) -> str:
    """Return the state in which the season of a config ends where nothing goes wrong."""
    with tempfile.TemporaryDirectory() as folder:
        quiet = Simulation(Path(folder), 0, number)
        quiet.play_season()
        return state_of(quiet.file)


def simulate(seed: int) -> list[str]:
    """Play the season of a seed, and return what happened in it; raise what must never be."""
    number = config_number(seed)
    wanted = unbroken(number)
    with tempfile.TemporaryDirectory() as folder:
        played = Simulation(Path(folder), seed, number, (*MISHAPS, *COMMANDS))
        try:
            played.play_season()
            if state_of(played.file) != wanted and not played.paused:
                raise Broken("the state is not that of an unbroken season")
        except BaseException as error:
            error.add_note("\n".join([f"seed {seed}", *played.log]))
            raise
        return played.log
