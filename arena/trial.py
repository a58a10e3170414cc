"""One agent's turn as it would be, asked and executed like any other, and written nowhere."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from agents.model import Call, Prompt
from arena.answers import NoAnswer, as_error
from arena.cohort import leaders
from arena.errors import ArenaError
from arena.evidence import gather
from arena.model import Cohort, Entrant, Turn
from arena.round import look
from arena.scene import Part, Scene
from arena.store.read import StoredRound
from arena.store.rehearsal import Rehearsal
from arena.turns import take_seats, take_turn
from arena.world import Mind, World
from markets.venue import VenueError
from portfolio.model import Mark

NOTHING = '{"forecasts": [], "bets": [], "sales": []}'
"""What stands for an answer where no call is made: it can be read, so that the next question comes."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a model was asked, what that can cost at most, and every attempt to get an answer."""

    prompt: Prompt
    worst: int | None
    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Trial:
    """A scene, and what came of it. `turn` is None where a model would decide and was not asked.

    `mark` is what the account was worth; `missing` are agents that this one is made from, and that
    have stated nothing in this round.
    """

    scene: Scene
    mark: Mark
    missing: tuple[str, ...]
    questions: tuple[Question, ...]
    turn: Turn | None


async def play(scene: Scene, world: World, record: Rehearsal, dry: bool = False) -> Trial:
    """Let an agent decide on a scene, and execute what it wants. When `dry`, its model is not asked."""
    part, entrant = scene.part, scene.part.entrant
    missing = _missing(entrant, record.stated(scene.round.id, leaders(entrant.settings)))
    doors = replace(world, mind=_unasked(world.mind)) if dry else world
    (seat,) = take_seats([entrant], part.stored, scene.round, scene.snapshot, doors, record)
    turn = await take_turn(seat, scene.round.number)
    questions = tuple(_questions(record.made, seat.mind))
    return Trial(scene, seat.view.mark, missing, questions, None if dry and questions else turn)


async def fresh(part: Part, at: datetime, world: World, record: Rehearsal) -> Scene:
    """A look at the venue, and at what the source of evidence says of it; of neither anything is kept."""
    try:
        snapshot = await look(part.stored, at, world, record, 1)
    except NoAnswer as error:
        cause = error.__cause__
        raise as_error(cause) if isinstance(cause, VenueError) else error from error
    if not snapshot.shown:
        venue = part.stored.cohort.venue
        mend = "try another time with --at, or see which markets play: docs/universe.md"
        raise ArenaError("nothing_shown", f"{venue} has no market to show at {at:%Y-%m-%d %H:%M} UTC", mend)
    round = StoredRound(0, 1, at, 0, False)
    record.keep_snapshot(part.stored.id, part.stored.cohort.number, snapshot, round.number)
    return Scene(part, round, snapshot, trouble=await gather(part.stored, round, world, record))


def _missing(entrant: Entrant, stated: Mapping[str, object]) -> tuple[str, ...]:
    """Those that an agent is made from and that stated nothing; where that is all of them, it can't play."""
    of = leaders(entrant.settings)
    missing = tuple(name for name in of if name not in stated)
    if missing and missing == of:
        words = f"{entrant.name} is made from {', '.join(of)}, which stated nothing in this round"
        raise ArenaError("nothing_stated", words, "play a round with it first: arena round")
    return missing


def _unasked(mind: Callable[[Cohort, Entrant], Mind]) -> Callable[[Cohort, Entrant], Mind]:
    """The same minds, with models that are not called and say nothing."""

    async def ask(prompt: Prompt) -> Call:
        return Call(prompt, NOTHING, finish="stop", cost=0)

    return lambda cohort, entrant: replace(mind(cohort, entrant), ask=ask)


def _questions(made: Sequence[Call], mind: Mind) -> Iterator[Question]:
    """The calls by what was asked: sample by sample, in the order in which they were made."""
    asked: dict[Prompt, list[Call]] = {}
    for call in sorted(made, key=lambda call: call.prompt.sample):
        asked.setdefault(call.prompt, []).append(call)
    for prompt, calls in asked.items():
        yield Question(prompt, mind.worst_case(prompt), tuple(calls))
