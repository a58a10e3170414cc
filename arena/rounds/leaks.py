"""Does a replay look ahead? It is played again with other futures, and nothing before them may change."""

import sys
import sysconfig
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import cache
from inspect import currentframe
from itertools import pairwise, zip_longest
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
from arena.record.schema.database import Connection, reading
from arena.rounds.open_world import open_world
from arena.rounds.replay import Replay, arrange_replay, play_replay, replay_agents
from arena.scores.leaderboard import compute_leaderboard
from markets.bundle import Bundle
from markets.bundle.alter import alter
from markets.bundle.files import NAMES

LISTED = 20
"""How many differences are named of each kind and instant."""


@dataclass(frozen=True, slots=True)
class Leak:
    """Something that came out otherwise although only what came after `at` was changed."""

    at: datetime
    kind: str
    known: FactLine | None
    changed: FactLine | None


@dataclass(frozen=True, slots=True)
class LeakProbe:
    """What came of it: how much was compared up to each instant, and what changed.

    `opened` are files of the recording that something else than its venue opened while it was played, with
    who did; `left_out` the agents that were not played.
    """

    compared: Mapping[datetime, Mapping[str, int]]
    counts: Mapping[datetime, Mapping[str, int]]
    differences: tuple[Leak, ...]
    opened: tuple[str, ...]
    left_out: tuple[str, ...]

    @property
    def clean(self) -> bool:
        """Whether nothing looked ahead."""
        return not self.opened and not any(any(counts.values()) for counts in self.counts.values())


@dataclass(frozen=True, slots=True)
class ProbedReplay:
    """A replay as it is asked for: what `arrange_replay` makes a season of, with agents without models."""

    folder: Path
    base: Config | None
    agents: tuple[str, ...]
    left_out: tuple[str, ...]
    days: tuple[date | None, date | None]

    def season(self, folder: Path, bundle: Bundle) -> Replay:
        """The season over this recording, or over one in its place. No news is asked for."""
        season = arrange_replay(folder, bundle, self.base, self.agents, *self.days)
        quiet = replace(season.config, evidence=EvidenceSection(), evidence_settings=NothingToSet())
        return replace(season, config=quiet)


def probed_replay(
    folder: Path, base: Config | None, names: Sequence[str], days: tuple[date | None, date | None]
) -> ProbedReplay:
    """What can be played twice. Models answer as they like, so they are left out, with all who need them."""
    agents = {agent.name: agent for agent in replay_agents(names, base)}
    kept = {name: agent for name, agent in agents.items() if model_settings(agent.settings) is None}
    while lost := [name for name, agent in kept.items() if not all(x in kept for x in agent.of)]:
        kept = {name: agent for name, agent in kept.items() if name not in lost}
    if not kept:
        message = "every agent asks a model, whose answers differ anyway"
        raise ArenaError("no_agent", message, "name others: --agents market,constant,random")
    return ProbedReplay(folder, base, tuple(kept), tuple(n for n in agents if n not in kept), days)


async def probe_leaks(
    probed: ProbedReplay,
    bundle: Bundle,
    count: int,
    scratch: Path,
    open_bundle: Callable[[Path], Bundle],
    played: Callable[[int, int], None],
) -> LeakProbe:
    """Play on to each of `count` instants, and each time again from the start with another future."""
    season = probed.season(probed.folder, bundle)
    seed, times = season.config.seed, season.times()[0]
    chosen = instants(times, count, Random(f"{seed}/leaks"))
    steps = sum(2 * times.index(at) + 2 for at in chosen)
    done = Counter[str]()

    def moved(_done: int, _of: int) -> None:
        done["times"] += 1
        played(min(done["times"], steps), steps)

    compared, counts, found = dict[datetime, Counter[str]](), dict[datetime, Counter[str]](), []
    with closing(Record.open(str(scratch / "as-recorded.db"))) as record, watched(probed.folder) as opened:
        for number, at in enumerate(chosen):
            other = scratch / f"future-{number}"
            await play_until(at, season, record, moved)
            alter(probed.folder, bundle, at, seed + number, other)
            future = open_bundle(other)  # held while it is played, so that it is read once
            with closing(Record.open(str(scratch / f"future-{number}.db"))) as again:
                await play_until(at, probed.season(other, future), again, moved)
                compared[at], counts[at] = Counter(), Counter()
                for kind, known, changed in _pairs(record, again):
                    compared[at][kind] += 1
                    if known != changed:
                        counts[at][kind] += 1
                        if counts[at][kind] <= LISTED:
                            found.append(Leak(at, kind, known, changed))
    return LeakProbe(compared, counts, tuple(found), tuple(sorted(opened)), probed.left_out)


def instants(times: Sequence[datetime], count: int, random: Random) -> list[datetime]:
    """So many of these times, one from each equal part of them."""
    count = min(count, len(times))
    ends = [len(times) * part // count for part in range(count + 1)]
    return [times[random.randrange(*span)] for span in pairwise(ends)]


async def play_until(
    at: datetime, season: Replay, record: Record, played: Callable[[int, int], None]
) -> None:
    """Play a season on to one of its decision times, which is the last."""
    part = replace(season, decides_until=at, ends_at=at, learnt=())
    async with open_world(part.config, record) as world:
        await play_replay(part, world, record, played)


def _pairs(record: Record, again: Record) -> Iterator[tuple[str, FactLine | None, FactLine | None]]:
    """The facts of two records side by side, and their leaderboards."""
    with reading(record.engine) as left, reading(again.engine) as right:
        known, changed = (fact_lines(each) | {"score": _scores(each)} for each in (left, right))
        for kind, facts in known.items():
            yield from ((kind, a, b) for a, b in zip_longest(facts, changed[kind]))


def _scores(connection: Connection) -> Iterator[FactLine]:
    yield from ([row.agent, repr(row)] for row in compute_leaderboard(connection).rows)


_WATCHED: list[tuple[Path, set[str]]] = []
"""The folders that are being watched, with what was opened in them and by whom."""
_VENUE = ("markets/venues/recorded.py", "markets/bundle/alter.py")
"""Who may open the files of a recording while it is played."""
_LIBRARY = tuple(sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib"))


@contextmanager
def watched(folder: Path) -> Iterator[set[str]]:
    """Hears who opens a file of a recording. An agent that reads it would see no other future in it."""
    _listen()
    watch = folder.resolve(), set[str]()
    _WATCHED.append(watch)
    try:
        yield watch[1]
    finally:
        _WATCHED.remove(watch)


@cache
def _listen() -> None:
    sys.addaudithook(_hear)  # for good: there is no taking it off


def _hear(event: str, given: tuple[Any, ...]) -> None:
    if event != "open" or not _WATCHED or not isinstance(given[0], str):
        return
    for folder, opened in _WATCHED:
        path = Path(given[0])
        if path.name.removesuffix(".gz") not in NAMES or path.resolve().parent != folder:
            continue
        frame, files = currentframe(), list[str]()
        while frame is not None:
            files.append(frame.f_code.co_filename)
            frame = frame.f_back
        if not any(Path(file).as_posix().endswith(_VENUE) for file in files):
            ours = (__file__, "<", *_LIBRARY, str(Path(alter.__code__.co_filename).parent))
            own = next((file for file in files if not file.startswith(ours)), "somebody")
            opened.add(f"{path.name} by {own}")
