"""How many frames lie between a question and its stored answer, and which files call each other both ways."""

import asyncio
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from types import CodeType, FrameType

import pytest

from arena.cohorts.freeze import plan_of
from arena.config import load
from arena.record.write.calls import add_call
from arena.rounds.open_world import open_world
from arena.rounds.season import play_season
from tests.opened_record import OpenedRecord, beat_every
from tests.program.running import simulated_config

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGES = tuple(f"{ROOT / package}/" for package in ("markets", "portfolio", "agents", "arena", "dashboard"))
PRICE = "price: {input: 1, output: 4}"
AGENTS = (
    "{kind: market}",
    f"{{name: three, model: demo/sharp, samples: 3, {PRICE}}}",
    f"{{name: parts, model: demo/hasty, batch: 3, {PRICE}}}",
    f"{{name: blind, model: demo/clumsy, prices: after, {PRICE}}}",
    "{kind: kelly, of: three}",
    "{kind: crowd, of: [three, parts, blind]}",
)
MOST_FRAMES = 3
"""From the `ask` that an agent calls down to the function that writes the call."""
MOST_PAIRS = 3

Stack = tuple[str, ...]
"""Functions of the product, each as its file and name, the innermost first."""


@dataclass
class Tracer:
    """Notes which files of the product call which, and where calls are written from.

    Frames of libraries are looked through: what a context manager or a database driver calls back was
    called by the product. The event loop is where every stack begins.
    """

    calls: dict[tuple[str, str], set[tuple[str, str]]] = field(default_factory=lambda: defaultdict(set))
    stacks: set[Stack] = field(default_factory=set)
    seen: set[tuple[CodeType, CodeType]] = field(default_factory=set)

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        """Note one call; this is what `sys.setprofile` takes."""
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(PACKAGES):
            return

        if code is add_call.__code__:
            self.stacks.add(tuple(f"{file_of(x.f_code)}:{x.f_code.co_qualname}" for x in own_frames(frame)))

        caller = next(own_frames(frame.f_back), None)
        if caller is None or (caller.f_code, code) in self.seen:
            return
        self.seen.add((caller.f_code, code))
        if caller.f_code.co_filename != code.co_filename and not in_import(frame):
            files = file_of(caller.f_code), file_of(code)
            self.calls[files].add((caller.f_code.co_qualname, code.co_qualname))

    def mutual_pairs(self) -> dict[tuple[str, str], str]:
        """Return the pairs of files that call each other, with an example of each way."""
        pairs = dict[tuple[str, str], str]()
        for caller, callee in sorted(self.calls):
            if caller < callee and (callee, caller) in self.calls:
                down = min(self.calls[caller, callee])
                up = min(self.calls[callee, caller])
                pairs[caller, callee] = f"{' > '.join(down)}, {' > '.join(up)}"
        return pairs


def own_frames(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield the frames of the product from the innermost up to the event loop."""
    while frame is not None and not frame.f_code.co_filename.endswith("asyncio/events.py"):
        if frame.f_code.co_filename.startswith(PACKAGES):
            yield frame
        frame = frame.f_back


def in_import(frame: FrameType | None) -> bool:
    """Tell whether a frame runs while a module is imported."""
    while frame is not None:
        if "importlib" in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False


def file_of(code: CodeType) -> str:
    """Return the file of a function of the product, from the root of the repository."""
    return Path(code.co_filename).relative_to(ROOT).as_posix()


@contextmanager
def traced() -> Iterator[Tracer]:
    """Trace this thread for as long as the block lasts."""
    tracer = Tracer()
    before = sys.getprofile()
    sys.setprofile(tracer)
    try:
        yield tracer
    finally:
        sys.setprofile(before)


@pytest.fixture(scope="module")
def tracer(tmp_path_factory: pytest.TempPathFactory) -> Tracer:
    """Trace a short season in which agents with models ask, others follow them, and markets are settled."""
    folder = tmp_path_factory.mktemp("traced")
    world = "weeks: 4, markets: 30, events: 10"
    simulated_config(
        folder, *AGENTS, show=6, world=world, cohorts="rounds: 2, count: 1", more="budget: {day: 20}\n"
    )
    config = load(folder / "config.yaml", {})
    record = OpenedRecord.at(folder / "arena.db")

    async def play() -> Tracer:
        async with open_world(config, record) as doors:
            plan = plan_of(config, doors.now())
            with traced() as tracer, pytest.MonkeyPatch.context() as patch:
                # Claims are renewed while turns are played, however quick the machine is.
                beat_every(timedelta(milliseconds=1), patch)
                await play_season(plan, doors, record, None, lambda _done, _of: None)
        return tracer

    try:
        return asyncio.run(play())
    finally:
        record.close()


def test_few_frames_lie_between_the_question_of_an_agent_and_its_stored_answer(tracer: Tracer) -> None:
    assert tracer.stacks, "no call was stored"
    for stack in tracer.stacks:
        depth = next(number for number, name in enumerate(stack) if name.startswith("agents/")) - 1
        assert depth <= MOST_FRAMES, "\n".join(stack)


def test_files_that_call_each_other_both_ways_in_a_round_are_few_and_listed(tracer: Tracer) -> None:
    listed = listed_pairs()
    unlisted = {pair: why for pair, why in tracer.mutual_pairs().items() if pair not in listed}
    assert unlisted == {}
    assert len(listed) <= MOST_PAIRS


def listed_pairs() -> set[tuple[str, str]]:
    """Return the pairs that the documentation lists, each in alphabetical order."""
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    section = text.partition("## Files that call each other")[2].partition("\n## ")[0]
    rows = re.findall(r"(?m)^- `(\S+\.py)`, `(\S+\.py)`", section)
    return {(min(row), max(row)) for row in rows}
