"""The desk: agents from outside read their views, try decisions and send them, each with a key of its own.

    GET  /v1/turn                        the turn that is open, with its view and its deadline
    POST /v1/turn?turn=NAME&preview=true what a decision would be filled at, by the prices of the view
    POST /v1/turn?turn=NAME              the decision: a document as `arena schema decision` has it
    GET  /v1/results                     its turns that are over, and its forecasts that have ended
    GET  /openapi.json                   all of this for programs; needs no key

The desk plays nothing. It and the round meet in the record, so they may be two processes, on two machines.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from secrets import token_urlsafe
from typing import Any

from agents.answers.decision_document import MOST_BYTES, UnreadableDecision, read_decision, read_sent_decision
from agents.answers.decisions import sound_decision
from agents.episode import result_document
from agents.model import Decision, View
from arena.errors import ArenaError
from arena.operations.http import JSON, HttpRequest, HttpResponse, HttpServer, serve_http
from arena.operations.openapi import OPENAPI_PATH, openapi_text
from arena.record.model.cohort import Turn
from arena.record.model.incident import wrong_keys
from arena.record.queries.decisions import read_turns
from arena.record.queries.desk import (
    DeskTurn,
    read_agent_of_key,
    read_desk_turns,
    read_ended_forecasts,
    read_last_turns,
)
from arena.record.record import Record
from arena.record.write.desk import answer_desk_turn, put_desk_key
from arena.record.write.operations import add_incidents
from markets.hashes import sha256
from markets.millionths import decimal
from portfolio.execute import execute_at
from portfolio.matching import SnapshotOffers
from portfolio.model import Fill, Rejection
from portfolio.value import mark

logger = logging.getLogger(__name__)

VERSION = 1
MOST_FAULTS = 10
"""So many faults of a decision are in the message; all of them are in the list beside it."""
WRONG_KEY_DELAY = 1.0
"""Seconds until a request with a wrong key is answered."""
MANY_WRONG_KEYS = 20
"""So many requests with a wrong key are an incident: a forgotten agent sends a few."""
KEY_HINT = "send it as 'Authorization: Bearer KEY'; a new one is made by: arena desk --key NAME"
DECISION_HINT = "send a document as `arena schema decision` has it; the turn is still open"
QUERY_HINT = "the parameters are turn=NAME and preview=true or false; nothing was sent"
PREVIEW_VALUES = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
TURN_HINT = "GET /v1/turn says which turn is open, and until when"
COMPLAINTS = {
    400: ("bad_request", "send HTTP/1.1, and with a body its Content-Length"),
    405: ("bad_method", "read by GET, send a decision by POST"),
    408: ("slow_request", "send the whole request at once"),
    413: ("too_long", "shorten it: a reason has at most 500 characters"),
    421: (
        "wrong_host",
        "ask by the address that arena desk prints; behind a proxy start it with --behind-proxy",
    ),
    431: ("too_long", "send fewer headers, and a decision in the body"),
}


class DeskRefusal(ArenaError):
    """Why a request is refused, and the status that HTTP has for that."""

    def __init__(self, http: int, code: str, message: str, hint: str, refused: Sequence[Rejection] = ()):
        super().__init__(code, message, hint)
        self.http = http
        self.refused = tuple(refused)


def new_key(record: Record, agent: str, now: datetime) -> str:
    """A new key for an agent, of which the record has only the hash; one that it had is good no more."""
    key = f"arena_{token_urlsafe(32)}"
    record.write(put_desk_key, agent, sha256(key), now)
    return key


@dataclass
class Desk:
    """What answers requests: one at a time, in a thread, since the record is read and written meanwhile."""

    record: Record
    now: Callable[[], datetime]
    wrong_key_delay: float = WRONG_KEY_DELAY
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    key_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    wrong_keys: int = 0

    async def admit(self, request: HttpRequest) -> str | HttpResponse:
        """Return the agent whose key a request has, or what is answered to one without a right key."""
        if request.path == OPENAPI_PATH:
            return HttpResponse(200, openapi_text(), JSON)
        try:
            key = _key_of(request)
            # Not behind the lock of the answers: who has no key holds up nobody who has one.
            async with self.key_lock:
                agent = await asyncio.to_thread(self.record.read, read_agent_of_key, sha256(key))
            if agent is None:
                await self._note_wrong_key(request.address)
                await asyncio.sleep(self.wrong_key_delay)
                raise DeskRefusal(401, "wrong_key", "the key is unknown, or was replaced", KEY_HINT)
        except Exception as error:  # noqa: BLE001 - whatever it is, who asks must hear of it
            return _failure_response(error, request)
        return agent

    async def respond(self, request: HttpRequest) -> HttpResponse:
        """Answer a request of the agent who was admitted with it, whatever happens."""
        try:
            async with self.lock:
                return HttpResponse(200, await asyncio.to_thread(self._answer, request), JSON)
        except Exception as error:  # noqa: BLE001 - whatever it is, who asks must hear of it
            return _failure_response(error, request)

    async def _note_wrong_key(self, address: str) -> None:
        """Count a wrong key; log each time the count has doubled, and note an incident an hour at most."""
        self.wrong_keys += 1
        count = self.wrong_keys
        if count.bit_count() == 1:
            logger.warning("wrong keys sent to the desk so far: %d, the last from %s", count, address)
        if count % MANY_WRONG_KEYS == 0:
            incident = wrong_keys(self.now(), count, address)
            await asyncio.to_thread(add_incidents, self.record.engine, [incident])

    def _answer(self, request: HttpRequest) -> bytes:
        agent = request.caller
        match request.method, request.path:
            case "POST", "/v1/turn":
                return _json(self._take(agent, request))
            case "GET" | "HEAD", "/v1/turn":
                turns = self.record.read(read_desk_turns, agent)
                turn = next((turn for turn in turns if turn.answer is None and not turn.over), None)
                if turn is None:
                    return _json({"turn": None, "deadline": None, "view": None})
                head = _json({"turn": turn.name, "deadline": turn.expires_at.isoformat()})
                return head.rstrip(b"}\n") + b', "view": ' + turn.view.encode() + b"}\n"
            case "GET" | "HEAD", "/v1/results":
                return _json(self._results(agent))
        words = f"there is no {request.method} {request.path[:80]} here"
        raise DeskRefusal(404, "no_page", words, "there are GET and POST /v1/turn, and GET /v1/results")

    def _take(self, agent: str, request: HttpRequest) -> dict[str, Any]:
        """Take a decision, or only try it. The same one again has the same answer, and changes nothing."""
        preview = _is_preview(request.query)
        turn = self._turn(agent, request.query.get("turn"))
        text = _text(request.body)
        if turn.answer != text or preview:
            _check_open(turn)

        view = self._view(agent, turn)
        try:
            decision = read_sent_decision(text, view)
        except UnreadableDecision as error:
            if turn.answer != text:
                raise _not_a_decision(error) from error
            decision = read_decision(text, view)  # an earlier version of the arena took it
        decision = sound_decision(decision, view)

        if preview:
            offers = SnapshotOffers(view.snapshot, view.rules)
            fills, refused = execute_at(offers, decision.bets, decision.sales, view.holdings)
            fields = _reading(decision, (*decision.rejections, *refused))
            return {"turn": turn.name, "accepted": False, "fills": [*map(_fill, fills)], **fields}

        if turn.answer is None:
            taken = self.record.write_answer(answer_desk_turn, turn.entrant_id, turn.round_id, text)
            turn = self._turn(agent, turn.name)
            if not taken and turn.answer != text:  # another one was quicker, or time has run out
                _check_open(turn)
        at = None if turn.answered_at is None else turn.answered_at.isoformat()
        return {"turn": turn.name, "accepted": True, "at": at} | _reading(decision, decision.rejections)

    def _turn(self, agent: str, name: str | None) -> DeskTurn:
        if not name:
            raise DeskRefusal(400, "no_turn", "the request names no turn: POST /v1/turn?turn=NAME", TURN_HINT)
        turns = self.record.read(read_desk_turns, agent)
        turn = next((turn for turn in turns if turn.name == name), None)
        if turn is None:
            words = f"there is no turn {name[:40]!r} here, or another has come since"
            raise DeskRefusal(404, "unknown_turn", words, TURN_HINT)
        return turn

    def _view(self, agent: str, turn: DeskTurn) -> View:
        """What a decision is read and filled by."""
        stored = next(each for each in self.record.cohorts() if each.id == turn.cohort_id)
        taken = self.record.snapshot(turn.cohort_id, turn.at)
        if taken is None:
            raise LookupError(f"turn {turn.name} has no snapshot: run `arena verify`")
        held = self.record.holdings(turn.cohort_id)[agent]
        return View(taken[1], held, mark(held, taken[1]), stored.cohort.rules, 0)

    def _results(self, agent: str) -> dict[str, Any]:
        turns = self.record.read(read_last_turns, agent)
        over = [
            _over(f"{each.cohort}-{each.round}", each.at, turn)
            for each in turns
            for turn in self.record.read(read_turns, each.round_id, [each.entrant_id])
        ]
        ended = self.record.read(read_ended_forecasts, agent, self.now())
        results = [result_document(past).model_dump(mode="json") for past in ended]
        return {"agent": agent, "turns": over, "results": results}


def _is_preview(query: Mapping[str, str]) -> bool:
    """Return whether a decision is only to be tried.

    Raises `DeskRefusal` where that can't be told: a decision that was meant as a preview can't be taken back.
    """
    unknown = sorted(query.keys() - {"turn", "preview"})
    if unknown:
        words = f"there is no parameter {unknown[0][:40]!r}"
        raise DeskRefusal(400, "bad_query", words, QUERY_HINT)
    preview = query.get("preview", "false").lower()
    if preview not in PREVIEW_VALUES:
        words = f"preview is true or false, and not {preview[:40]!r}"
        raise DeskRefusal(400, "bad_query", words, QUERY_HINT)
    return PREVIEW_VALUES[preview]


def _check_open(turn: DeskTurn) -> None:
    if turn.answer is not None:
        words = f"turn {turn.name} already has a different answer"
        raise DeskRefusal(409, "answered", words, "the first one counts; the next turn opens with its round")
    if turn.over:
        words = f"turn {turn.name} is over: it accepted answers until {turn.expires_at.isoformat()}"
        raise DeskRefusal(410, "late", words, TURN_HINT)


def _key_of(request: HttpRequest) -> str:
    kind, _, key = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer" or not key.strip():
        raise DeskRefusal(401, "no_key", "the request has no key", KEY_HINT)
    return key.strip()


def _not_a_decision(error: UnreadableDecision) -> DeskRefusal:
    """Return the refusal of what is no decision, or in which nothing can be used, with all its faults."""
    message = f"this is not a decision: {error}"
    if error.refused:
        faults = [f"{x.market_id}: {x.message}" if x.market_id else x.message for x in error.refused]
        message += ": " + " | ".join(faults[:MOST_FAULTS])
    if len(error.refused) > MOST_FAULTS:
        message += f" | and {len(error.refused) - MOST_FAULTS:,} more"
    return DeskRefusal(422, "no_decision", message, DECISION_HINT, error.refused)


def _text(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise DeskRefusal(422, "no_decision", "the body is not UTF-8 text", "send JSON as UTF-8") from error


def _reading(decision: Decision, refused: Sequence[Rejection]) -> dict[str, Any]:
    """How a decision was read."""
    counts = {"forecasts": len(decision.forecasts), "bets": len(decision.bets), "sales": len(decision.sales)}
    return {**counts, "refused": [*map(_refusal, refused)]}


def _over(name: str, at: datetime, turn: Turn) -> dict[str, Any]:
    status = {"turn": name, "at": at.isoformat(), "status": turn.decision.status, "note": turn.decision.note}
    return {**status, "fills": [*map(_fill, turn.fills)], "refused": [*map(_refusal, turn.rejections)]}


def _fill(fill: Fill) -> dict[str, Any]:
    figures = {name: float(decimal(getattr(fill, name))) for name in ("shares", "amount", "fee")}
    words = {"market": fill.market_id, "action": fill.action, "option": fill.side.lower()}
    return {**words, **figures, "left": fill.left}


def _refusal(rejection: Rejection) -> dict[str, Any]:
    return {"code": rejection.code, "message": rejection.message, "market": rejection.market_id}


def _json(data: Mapping[str, Any]) -> bytes:
    return json.dumps({"version": VERSION, **data}, ensure_ascii=False).encode() + b"\n"


def error_response(status: int, error: ArenaError) -> HttpResponse:
    """Return an error in the form that `--json` has for it; with the items of a decision it was about."""
    document: dict[str, Any] = {"error": error.as_dict()}
    if isinstance(error, DeskRefusal) and error.refused:
        document["refused"] = [*map(_refusal, error.refused)]
    return HttpResponse(status, json.dumps(document).encode() + b"\n", JSON)


def _failure_response(error: Exception, request: HttpRequest) -> HttpResponse:
    """Return what is answered after an error: its own words if it is ours, else only that there was one."""
    if isinstance(error, DeskRefusal):
        return error_response(error.http, error)
    if isinstance(error, ArenaError):
        return error_response(503, error)
    logger.error("the desk could not answer %s", request.path, exc_info=error)
    hint = "try again; the desk's output says why"
    return error_response(500, ArenaError("broken", "the desk failed on this request", hint))


def complain(status: int, words: str) -> HttpResponse:
    """What is wrong with a request that could not be read."""
    code, hint = COMPLAINTS[status]
    return error_response(status, ArenaError(code, words, hint))


async def serve_desk(
    record: Record,
    host: str,
    port: int,
    now: Callable[[], datetime],
    stop: asyncio.Event,
    on_open: Callable[[int], None],
    behind_proxy: bool = False,
    wrong_key_delay: float = WRONG_KEY_DELAY,
) -> None:
    """Answer at an address until told to stop; `on_open` is told the port.

    Behind a proxy any Host is served: only the proxy knows by which name it is asked.
    """
    desk = Desk(record, now, wrong_key_delay)
    server = HttpServer(
        desk.respond,
        methods=("GET", "HEAD", "POST"),
        most_body=MOST_BYTES,
        complain=complain,
        admit=desk.admit,
        hosts=None if behind_proxy else (host.lower(),),
    )
    async with serve_http(server, host, port) as there:
        on_open(there)
        await stop.wait()
