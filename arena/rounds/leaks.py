"""A search for leaks: replays with altered futures, before which nothing may change."""

import sys
import sysconfig
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import cache
from inspect import currentframe
from itertools import zip_longest
from pathlib import Path
from random import Random
from typing import Any

from agents.model import model_settings
from agents.research.none import Settings as NothingToSet
from arena.config import Config
from arena.config.sections import EvidenceSection
from arena.errors import ArenaError
from arena.record.hashes import FactLine, fact_lines
from arena.record.record import Record
from arena.record.schema.database import Connection
from arena.rounds.open_world import open_world
from arena.rounds.replay import Replay, arrange_replay, play_replay, replay_agents
from arena.scores.leaderboard import compute_leaderboard
from markets.bundle import Bundle
from markets.bundle.alter import alter
from markets.bundle.files import NAMES

LISTED = 20
"""How many differences are listed of each kind and instant."""


@dataclass(frozen=True, slots=True)
class Leak:
    """A fact that changed although only what came after `at` was altered: as it was, and as it is now."""

    at: datetime
    kind: str
    known: FactLine | None
    changed: FactLine | None


@dataclass(frozen=True, slots=True)
class LeakProbe:
    """The result of a search for leaks: by instant and kind, how many facts were compared, how many changed.

    `opened` are files of the recording that something other than its venue opened during play, with who
    did; `left_out` are the agents that were not played.
    """

    compared: Mapping[datetime, Mapping[str, int]]
    counts: Mapping[datetime, Mapping[str, int]]
    differences: tuple[Leak, ...]
    opened: tuple[str, ...]
    left_out: tuple[str, ...]

    @property
    def clean(self) -> bool:
        """Tell whether no fact changed and nobody opened the recording."""
        return not self.opened and not self.differences


@dataclass(frozen=True, slots=True)
class ProbedReplay:
    """A replay that can be played repeatedly: no agent of it has a model. `days` are its start and end."""

    folder: Path
    base: Config | None
    agents: tuple[str, ...]
    left_out: tuple[str, ...]
    days: tuple[date | None, date | None]

    def season(self, folder: Path, bundle: Bundle) -> Replay:
        """Return the season over the recording, or over an altered one. It asks for no evidence."""
        season = arrange_replay(folder, bundle, self.base, self.agents, *self.days)
        config = replace(season.config, evidence=EvidenceSection(), evidence_settings=NothingToSet())
        return replace(season, config=config)


def probed_replay(
    folder: Path, base: Config | None, names: Sequence[str], days: tuple[date | None, date | None]
) -> ProbedReplay:
    """Return the replay with the agents that can be played repeatedly; raise `ArenaError` if there are none.

    Models answer differently each time: agents with a model are left out, with all that are made from them.
    """
    agents = replay_agents(names, base)
    kept = {agent.name: agent for agent in agents if model_settings(agent.settings) is None}

    # Leaving out an agent may take away what another one is made from.
    while True:
        without_source = [agent.name for agent in kept.values() if not kept.keys() >= set(agent.of)]
        if not without_source:
            break
        for name in without_source:
            del kept[name]

    if not kept:
        message = "every agent asks a model, whose answers differ anyway"
        raise ArenaError("no_agent", message, "name others: --agents market,constant,random")
    left_out = tuple(agent.name for agent in agents if agent.name not in kept)
    return ProbedReplay(folder, base, tuple(kept), left_out, days)


async def probe_leaks(
    probed: ProbedReplay,
    bundle: Bundle,
    count: int,
    scratch: Path,
    open_bundle: Callable[[Path], Bundle],
    played: Callable[[int, int], None],
) -> LeakProbe:
    """Play until each of `count` instants, and again from the start with another future; compare the facts.

    `played` is called after each decision time with how many are done and how many there are.
    """
    season = probed.season(probed.folder, bundle)
    seed = season.config.seed
    times, _ = season.times()
    chosen = instants(times, count, Random(f"{seed}/leaks"))

    # Each instant is played up to twice: as recorded, and with another future.
    step_count = sum(2 * (times.index(at) + 1) for at in chosen)
    steps_done = 0

    def count_step(_done: int, _of: int) -> None:
        nonlocal steps_done
        steps_done += 1
        played(min(steps_done, step_count), step_count)

    compared = dict[datetime, Counter[str]]()
    counts = dict[datetime, Counter[str]]()
    differences = []
    with closing(Record.open(str(scratch / "as-recorded.db"))) as record, watched(probed.folder) as opened:
        for number, at in enumerate(chosen):
            await play_until(at, season, record, count_step)

            altered = scratch / f"future-{number}"
            alter(probed.folder, bundle, at, seed + number, altered)
            future = open_bundle(altered)  # held while it is played, so that it is read once
            with closing(Record.open(str(scratch / f"future-{number}.db"))) as again:
                await play_until(at, probed.season(altered, future), again, count_step)

                compared[at] = Counter()
                counts[at] = Counter()
                for kind, fact, other_fact in _facts_side_by_side(record, again):
                    compared[at][kind] += 1
                    if fact != other_fact:
                        counts[at][kind] += 1
                        if counts[at][kind] <= LISTED:
                            differences.append(Leak(at, kind, known=fact, changed=other_fact))

    return LeakProbe(compared, counts, tuple(differences), tuple(sorted(opened)), probed.left_out)


def instants(times: Sequence[datetime], count: int, random: Random) -> list[datetime]:
    """Return at most `count` of these times, one drawn from each equal part of them."""
    count = min(count, len(times))
    chosen = []

    for part in range(count):
        start = len(times) * part // count
        end = len(times) * (part + 1) // count
        chosen.append(times[random.randrange(start, end)])

    return chosen


async def play_until(
    at: datetime, season: Replay, record: Record, played: Callable[[int, int], None]
) -> None:
    """Play a season up to and including one of its decision times."""
    part = replace(season, decides_until=at, ends_at=at, learnt=())
    async with open_world(part.config, record) as world:
        await play_replay(part, world, record, played)


def _facts_side_by_side(
    record: Record, again: Record
) -> Iterator[tuple[str, FactLine | None, FactLine | None]]:
    """Yield the kinds and facts of two records in pairs, with None for a missing fact."""
    with record.reading() as connection, again.reading() as other_connection:
        facts = _facts(connection)
        other_facts = _facts(other_connection)
        for kind in facts:
            for fact, other_fact in zip_longest(facts[kind], other_facts[kind]):
                yield kind, fact, other_fact


def _facts(connection: Connection) -> dict[str, Iterator[FactLine]]:
    """Return the facts of a record by kind, with the lines of its leaderboard among them."""
    scores = [[row.agent, repr(row)] for row in compute_leaderboard(connection).rows]
    return fact_lines(connection) | {"score": iter(scores)}


_WATCHED: list[tuple[Path, set[str]]] = []
"""The folders that are being watched, with what was opened in them and by whom."""
_VENUE = ("markets/venues/recorded.py", "markets/bundle/alter.py")
"""Who may open the files of a recording while it is played."""
_LIBRARY = (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"))


@contextmanager
def watched(folder: Path) -> Iterator[set[str]]:
    """Collect who opens a file of a recording: an agent that reads it would not see the altered future."""
    _listen()
    opened = set[str]()
    watch = folder.resolve(), opened
    _WATCHED.append(watch)
    try:
        yield opened
    finally:
        _WATCHED.remove(watch)


@cache
def _listen() -> None:
    """Add the audit hook, once: Python has no way to remove one."""
    sys.addaudithook(_note_opened)


def _note_opened(event: str, arguments: tuple[Any, ...]) -> None:
    """Note the opening of a file of a watched recording and its caller, unless that is the venue."""
    if event != "open" or not _WATCHED or not isinstance(arguments[0], str):
        return
    path = Path(arguments[0])
    if path.name.removesuffix(".gz") not in NAMES:
        return

    for folder, opened in _WATCHED:
        if path.resolve().parent != folder:
            continue

        callers = _calling_files()
        if any(Path(file).as_posix().endswith(_VENUE) for file in callers):
            continue

        # This module, the standard library and the reader of bundles open files only for their caller.
        intermediaries = (__file__, "<", *_LIBRARY, str(Path(alter.__code__.co_filename).parent))
        opener = next((file for file in callers if not file.startswith(intermediaries)), "somebody")
        opened.add(f"{path.name} by {opener}")


def _calling_files() -> list[str]:
    """Return the source files of the functions that are running, innermost first."""
    files = []
    frame = currentframe()
    while frame is not None:
        files.append(frame.f_code.co_filename)
        frame = frame.f_back
    return files
