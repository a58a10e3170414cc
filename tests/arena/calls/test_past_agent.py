"""What is wrong with the record stops a turn, even where the agent hides every error."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from sqlalchemy import Connection, event

from agents.model import Call, Message, Prompt
from arena.calls.desk_turns import DeskTurns
from arena.calls.faults import NotKept
from arena.calls.rate_limit import ProviderLimit, RateLimiter
from arena.calls.reservations import CallReservations
from arena.errors import ArenaError
from arena.record.model.reservation import (
    Payer,
    ProviderBusy,
    Reservation,
    ReservationRequest,
)
from arena.rounds.turns import ask_of_player
from arena.rounds.world import Player
from tests.builders import NOW
from tests.opened_record import OpenedRecord
from tests.records.little_world import LittleVenue, a_world, asks

QUESTION = Prompt((Message("user", "Will it rain?"),))
ELSEWHERE = ReservationRequest(Payer(1, 1), "x", 1, "elsewhere.invalid/1/x", NOW)


def breaks(record: OpenedRecord) -> None:
    """Have every transaction fail from now on."""

    @event.listens_for(record.engine, "begin")
    def fail(_connection: Connection) -> None:
        raise ArenaError("disk_error", "it is broken")


async def shrugs(ask: Callable[[], Awaitable[Call]]) -> str:
    """Do as a careless agent does."""
    try:
        await ask()
    except Exception:  # noqa: BLE001 - just what a careless agent does
        return "never mind"
    return "fine"


def test_a_call_that_cannot_be_reserved_stops_the_turn(record: OpenedRecord) -> None:
    world = replace(a_world(LittleVenue(), {}), reservations=CallReservations(record=record))

    async def answers(prompt: Prompt) -> Call:
        raise AssertionError("it was asked without a reservation")

    mind = Player(asks, answers, lambda prompt: 1, "x")
    ask = ask_of_player(mind, Payer(1, 1), "ann", [], world, record)
    breaks(record)
    with pytest.raises(NotKept, match="it is broken"):
        asyncio.run(shrugs(lambda: ask(QUESTION)))


def test_a_turn_that_cannot_be_opened_at_the_desk_stops(record: OpenedRecord) -> None:
    breaks(record)
    with pytest.raises(NotKept, match="it is broken"):
        asyncio.run(shrugs(lambda: DeskTurns().ask(QUESTION, Payer(1, 1), 5.0, record)))


async def asked_at_the_desk(record: OpenedRecord, fault: ArenaError) -> Call:
    """Return the answer to a turn that is answered while it is waited for; the first look for it fails."""
    payer = Payer(1, 1)
    faults = [fault]
    asking = asyncio.create_task(DeskTurns().ask(QUESTION, payer, 30.0, record))
    await asyncio.sleep(0)  # the turn is opened
    assert record.answer_at_desk(payer.entrant_id, payer.round_id, "Yes.")

    @event.listens_for(record.engine, "begin")
    def fail(_connection: Connection) -> None:
        if faults:
            raise faults.pop()

    call = await asyncio.wait_for(asking, 10.0)
    assert not faults
    return call


def test_a_turn_at_the_desk_learns_of_a_look_that_failed(record: OpenedRecord) -> None:
    with pytest.raises(NotKept, match="it is broken"):
        asyncio.run(asked_at_the_desk(record, ArenaError("damaged", "it is broken")))


def test_a_turn_at_the_desk_outlasts_a_record_that_was_away(record: OpenedRecord) -> None:
    call = asyncio.run(asked_at_the_desk(record, ArenaError("unreachable", "it is away")))
    assert (call.reply, call.error) == ("Yes.", None)


def test_room_that_a_process_elsewhere_has_is_not_taken(record: OpenedRecord) -> None:
    """It has just been seen, so it may live."""
    assert record.reserve(ELSEWHERE.holder, most=1) is not None
    reservations = CallReservations(limiter=RateLimiter(per_provider=1), record=record)
    here = replace(ELSEWHERE, holder="here.invalid/1/x")

    async def asks_for_room() -> object:
        return await reservations.reserve(here, ProviderLimit(1, 1))

    assert isinstance(asyncio.run(asks_for_room()), ProviderBusy)


def test_a_reservation_is_asked_for_once_more_where_the_record_was_away(record: OpenedRecord) -> None:
    faults = [ArenaError("unreachable", "it is away")]

    @event.listens_for(record.engine, "begin")
    def fail(_connection: Connection) -> None:
        if faults:
            raise faults.pop()

    reservations = CallReservations(record=record)

    async def asks_for_room() -> object:
        return await reservations.reserve(ELSEWHERE, ProviderLimit(1, 1))

    assert isinstance(asyncio.run(asks_for_room()), Reservation)
