"""The desk: agents from outside read their views, preview decisions and send them, each by its own key.

    GET  /v1/turn                        the turn that is open, with its view and its deadline
    POST /v1/turn?turn=NAME&preview=true what a decision would be filled at, by the prices of the view
    POST /v1/turn?turn=NAME              the decision: a document as `arena outside desk --schema decision`
    has it
    GET  /v1/results                     its turns that are over, and its forecasts that have ended
    GET  /openapi.json                   all of this for programs; needs no key

The desk plays no round. It writes answers into the record, where the round finds them, so the two may be
processes on two machines.
"""

import asyncio
import json
import logging
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from secrets import token_urlsafe
from typing import Any

from agents.answers.decision_document import MOST_BYTES, UnreadableDecision, read_decision, read_sent_decision
from agents.answers.decisions import sound_decision
from agents.episode import result_document
from agents.model import Decision, DeskSettings, View
from arena.cohorts.hidden_rounds import refused_orders, view_of_round
from arena.config import Config
from arena.errors import ArenaError, natural_key
from arena.operations.desk_queries import (
    DeskTurn,
    read_agent_of_key,
    read_desk_turns,
    read_ended_forecasts,
    read_last_turns,
)
from arena.operations.http import JSON, HttpRequest, HttpResponse, HttpServer, serve_http
from arena.operations.listen_addresses import ListenAddress
from arena.operations.openapi import OPENAPI_PATH, openapi_text
from arena.record.model.cohort import Turn
from arena.record.model.incident import wrong_keys
from arena.record.queries.decisions import read_turns
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
"""Faults of a decision that its error message names; the list beside the message has all of them."""
WRONG_KEY_DELAY = 1.0
"""Seconds until a request with a wrong key is answered."""
MANY_WRONG_KEYS = 20
"""Requests with a wrong key that make an incident: an agent that was forgotten sends a few."""
KEY_HINT = "send it as 'Authorization: Bearer KEY'; a new one is made by: arena outside desk --key NAME"
DECISION_HINT = "send a document as `arena outside desk --schema decision` has it; the turn is still open"
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
        "ask by the address that arena outside desk prints; behind a proxy start it with --behind-proxy",
    ),
    431: ("too_long", "send fewer headers, and a decision in the body"),
}


class DeskRefusal(ArenaError):
    """The refusal of a request: its HTTP status, and the items of the decision that it is about."""

    def __init__(
        self, http_status: int, code: str, message: str, hint: str, refused: Sequence[Rejection] = ()
    ):
        super().__init__(code, message, hint)
        self.http_status = http_status
        self.refused = tuple(refused)


def new_key(record: Record, agent: str, now: datetime) -> str:
    """Make and return a new key for an agent, in place of its old one. The record keeps only the hash."""
    key = f"arena_{token_urlsafe(32)}"
    record.write(put_desk_key, agent, sha256(key), now)
    return key


def new_agent_key(record: Record, config: Config | None, agent: str, now: datetime) -> str:
    """Return a new key of an agent from outside; raise `ArenaError` where there is no such agent."""
    known = outside_agents(config, record)
    if agent not in known:
        hint = f"agents from outside: {', '.join(known)}"
        if not known:
            hint = "the config has none yet: add one of kind outside"
        message = f"there is no agent {agent!r} of kind outside"
        raise ArenaError("no_agent", message, hint)
    return new_key(record, agent, now)


def outside_agents(config: Config | None, record: Record) -> list[str]:
    """Return the agents of kind `outside` that the config has, or that play already."""
    planned = config.agents if config else ()
    names = {agent.name for agent in planned if isinstance(agent.settings, DeskSettings)}
    for stored in record.cohorts():
        names |= {entrant.name for entrant in stored.cohort.entrants if entrant.kind == "outside"}
    return sorted(names, key=natural_key)


@dataclass
class Desk:
    """Answers requests one at a time, each in a thread, because it reads and writes the record meanwhile."""

    record: Record
    now: Callable[[], datetime]
    wrong_key_delay: float = WRONG_KEY_DELAY
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    key_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    wrong_keys: int = 0

    async def admit(self, request: HttpRequest) -> str | HttpResponse:
        """Return the agent whose key a request has, or the refusal of a request without a valid key."""
        if request.path == OPENAPI_PATH:
            return HttpResponse(200, openapi_text(), JSON)

        try:
            key = _key_of(request)

            # Keys have a lock of their own, so that requests without a right key delay no answer.
            async with self.key_lock:
                agent = await asyncio.to_thread(self.record.read, read_agent_of_key, sha256(key))

            if agent is None:
                await self._note_wrong_key(request.address)
                await asyncio.sleep(self.wrong_key_delay)
                raise DeskRefusal(401, "wrong_key", "the key is unknown, or was replaced", KEY_HINT)
        except Exception as error:  # noqa: BLE001 - the client must get an answer to any failure
            return _failure_response(error, request)
        return agent

    async def respond(self, request: HttpRequest) -> HttpResponse:
        """Return the answer to a request of an admitted agent, or the error."""
        try:
            async with self.lock:
                return HttpResponse(200, await asyncio.to_thread(self._answer, request), JSON)
        except Exception as error:  # noqa: BLE001 - the client must get an answer to any failure
            return _failure_response(error, request)

    async def _note_wrong_key(self, address: str) -> None:
        """Count a wrong key; log it when the count has doubled, and add an incident after every so many."""
        self.wrong_keys += 1
        count = self.wrong_keys

        is_power_of_two = count.bit_count() == 1
        if is_power_of_two:
            logger.warning("wrong keys sent to the desk so far: %d, the last from %s", count, address)

        if count % MANY_WRONG_KEYS == 0:
            incident = wrong_keys(self.now(), count, address)
            await asyncio.to_thread(add_incidents, self.record.engine, [incident])

    def _answer(self, request: HttpRequest) -> bytes:
        """Return the body of the answer to a request. Raise `DeskRefusal` if it is refused."""
        agent = request.caller
        match request.method, request.path:
            case "POST", "/v1/turn":
                return _json(self._take_decision(agent, request))
            case "GET" | "HEAD", "/v1/turn":
                return self._open_turn(agent)
            case "GET" | "HEAD", "/v1/results":
                return _json(self._results(agent))

        message = f"there is no {request.method} {request.path[:80]} here"
        raise DeskRefusal(404, "no_page", message, "there are GET and POST /v1/turn, and GET /v1/results")

    def _open_turn(self, agent: str) -> bytes:
        """Return an agent's open turn with its view, as JSON; nulls if none is open."""
        turns = self.record.read(read_desk_turns, agent)
        turn = next((turn for turn in turns if turn.answer is None and not turn.over), None)
        if turn is None:
            return _json({"turn": None, "deadline": None, "view": None})

        # The view is JSON already: it is put in as it is stored, without being parsed.
        head = _json({"turn": turn.name, "deadline": turn.expires_at.isoformat()})
        return head.rstrip(b"}\n") + b', "view": ' + turn.view.encode() + b"}\n"

    def _take_decision(self, agent: str, request: HttpRequest) -> dict[str, Any]:
        """Store a decision, or preview it, and return how it was read.

        The decision that was taken gets the same answer when it is sent again, and changes nothing.
        """
        preview = _is_preview(request.query)
        turn = self._turn(agent, request.query.get("turn"))
        text = _text(request.body)
        is_sent_again = turn.answer == text and not preview
        if not is_sent_again:
            _check_open(turn)

        view = self._view(agent, turn)
        try:
            decision = read_sent_decision(text, view)
        except UnreadableDecision as error:
            if turn.answer != text:
                raise _unreadable_decision_refusal(error) from error
            # An earlier version of the arena took this text, by rules that were less strict.
            decision = read_decision(text, view)
        decision = sound_decision(decision, view)

        if preview:
            return _preview(turn, decision, view)
        if turn.answer is None:
            turn = self._write_answer(agent, turn, text)

        taken_at = None if turn.answered_at is None else turn.answered_at.isoformat()
        return {"turn": turn.name, "accepted": True, "at": taken_at} | _counts_and_refusals(
            decision, decision.rejections
        )

    def _write_answer(self, agent: str, turn: DeskTurn, text: str) -> DeskTurn:
        """Write the answer of a turn, and return the updated turn.

        Raise `DeskRefusal` if another answer came first, or the time has run out.
        """
        taken = self.record.write_answer(answer_desk_turn, turn.entrant_id, turn.round_id, text)
        written = self._turn(agent, turn.name)
        if not taken and written.answer != text:
            _check_open(written)
        return written

    def _turn(self, agent: str, name: str | None) -> DeskTurn:
        """Return the turn of an agent by its name; raise `DeskRefusal` if there is none."""
        if not name:
            raise DeskRefusal(400, "no_turn", "the request names no turn: POST /v1/turn?turn=NAME", TURN_HINT)

        turns = self.record.read(read_desk_turns, agent)
        turn = next((turn for turn in turns if turn.name == name), None)
        if turn is None:
            message = f"there is no turn {name[:40]!r} here, or another has come since"
            raise DeskRefusal(404, "unknown_turn", message, TURN_HINT)
        return turn

    def _view(self, agent: str, turn: DeskTurn) -> View:
        """Return the snapshot, holdings and rules by which a decision of a turn is read and filled."""
        cohorts = self.record.cohorts()
        cohort = next(stored.cohort for stored in cohorts if stored.id == turn.cohort_id)
        taken = self.record.snapshot(turn.cohort_id, turn.at)
        if taken is None:
            raise LookupError(f"turn {turn.name} has no snapshot: run `arena admin verify`")

        snapshot = taken[1]
        holdings = self.record.holdings(turn.cohort_id)[agent]
        view = View(snapshot, holdings, mark(holdings, snapshot), cohort.rules, 0, round=turn.round)
        return view_of_round(cohort, view)

    def _results(self, agent: str) -> dict[str, Any]:
        """Return the last turns of an agent that are over, and its forecasts whose markets have ended."""
        turns = list[dict[str, Any]]()
        for last in self.record.read(read_last_turns, agent):
            name = f"{last.cohort}-{last.round}"
            for turn in self.record.read(read_turns, last.round_id, [last.entrant_id]):
                turns.append(_past_turn_data(name, last.at, turn))

        ended = self.record.read(read_ended_forecasts, agent, self.now())
        results = [result_document(past).model_dump(mode="json") for past in ended]
        return {"agent": agent, "turns": turns, "results": results}


def _preview(turn: DeskTurn, decision: Decision, view: View) -> dict[str, Any]:
    """Return the fills that a decision would get at the prices of the view."""
    if view.hidden:
        fills: list[Fill] = []
        refused = refused_orders((*decision.sales, *decision.bets))
    else:
        offers = SnapshotOffers(view.snapshot, view.rules)
        fills, refused = execute_at(offers, decision.bets, decision.sales, view.holdings)
    reading = _counts_and_refusals(decision, (*decision.rejections, *refused))
    return {"turn": turn.name, "accepted": False, "fills": [*map(_fill_data, fills)], **reading}


def _is_preview(query: Mapping[str, str]) -> bool:
    """Tell whether a decision is only a preview.

    Raise `DeskRefusal` if that can't be told: a decision that was meant as a preview can't be taken back.
    """
    unknown = sorted(query.keys() - {"turn", "preview"})
    if unknown:
        message = f"there is no parameter {unknown[0][:40]!r}"
        raise DeskRefusal(400, "bad_query", message, QUERY_HINT)
    preview = query.get("preview", "false").lower()
    if preview not in PREVIEW_VALUES:
        message = f"preview is true or false, and not {preview[:40]!r}"
        raise DeskRefusal(400, "bad_query", message, QUERY_HINT)
    return PREVIEW_VALUES[preview]


def _check_open(turn: DeskTurn) -> None:
    """Raise `DeskRefusal` if a turn has an answer, or its time has run out."""
    if turn.answer is not None:
        message = f"turn {turn.name} already has a different answer"
        raise DeskRefusal(
            409, "answered", message, "the first one counts; the next turn opens with its round"
        )
    if turn.over:
        message = f"turn {turn.name} is over: it accepted answers until {turn.expires_at.isoformat()}"
        raise DeskRefusal(410, "late", message, TURN_HINT)


def _key_of(request: HttpRequest) -> str:
    """Return the key of a request; raise `DeskRefusal` if it has none."""
    scheme, _, credentials = request.headers.get("authorization", "").partition(" ")
    key = credentials.strip()
    if scheme.lower() != "bearer" or not key:
        raise DeskRefusal(401, "no_key", "the request has no key", KEY_HINT)
    return key


def _unreadable_decision_refusal(error: UnreadableDecision) -> DeskRefusal:
    """Return the refusal of an unusable decision, with all its faults."""
    message = f"this is not a decision: {error}"
    if error.refused:
        faults = list[str]()
        for item in error.refused[:MOST_FAULTS]:
            faults.append(f"{item.market_id}: {item.message}" if item.market_id else item.message)
        message += ": " + " | ".join(faults)
    if len(error.refused) > MOST_FAULTS:
        message += f" | and {len(error.refused) - MOST_FAULTS:,} more"
    return DeskRefusal(422, "no_decision", message, DECISION_HINT, error.refused)


def _text(body: bytes) -> str:
    """Return the text of a body; raise `DeskRefusal` if it is not UTF-8."""
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise DeskRefusal(422, "no_decision", "the body is not UTF-8 text", "send JSON as UTF-8") from error


def _counts_and_refusals(decision: Decision, refused: Sequence[Rejection]) -> dict[str, Any]:
    """Return how a decision was read: the number of items of each kind, and the refused ones."""
    counts = {"forecasts": len(decision.forecasts), "bets": len(decision.bets), "sales": len(decision.sales)}
    return {**counts, "refused": [*map(_refusal_data, refused)]}


def _past_turn_data(name: str, at: datetime, turn: Turn) -> dict[str, Any]:
    """Return a turn that is over, as JSON."""
    return {
        "turn": name,
        "at": at.isoformat(),
        "status": turn.decision.status,
        "note": turn.decision.note,
        "fills": [*map(_fill_data, turn.fills)],
        "refused": [*map(_refusal_data, turn.rejections)],
    }


def _fill_data(fill: Fill) -> dict[str, Any]:
    """Return a fill as JSON, in shares and dollars."""
    return {
        "market": fill.market_id,
        "action": fill.action,
        "option": fill.side.lower(),
        "shares": float(decimal(fill.shares)),
        "amount": float(decimal(fill.amount)),
        "fee": float(decimal(fill.fee)),
        "left": fill.left,
    }


def _refusal_data(rejection: Rejection) -> dict[str, Any]:
    """Return a refused item as JSON."""
    return {"code": rejection.code, "message": rejection.message, "market": rejection.market_id}


def _json(data: Mapping[str, Any]) -> bytes:
    """Return an answer as JSON, with the version of its form."""
    return json.dumps({"version": VERSION, **data}, ensure_ascii=False).encode() + b"\n"


def error_response(status: int, error: ArenaError) -> HttpResponse:
    """Return an error in the form of `--json`, with the refused items of the decision it is about."""
    document: dict[str, Any] = {"error": error.as_dict()}
    if isinstance(error, DeskRefusal) and error.refused:
        document["refused"] = [*map(_refusal_data, error.refused)]
    return HttpResponse(status, json.dumps(document).encode() + b"\n", JSON)


def _failure_response(error: Exception, request: HttpRequest) -> HttpResponse:
    """Return the response to a request that failed.

    An error that was expected is told in its own words. Of any other only that there was one: what it says
    may be of the record, and is logged.
    """
    if isinstance(error, DeskRefusal):
        return error_response(error.http_status, error)
    if isinstance(error, ArenaError):
        return error_response(503, error)

    logger.error("the desk could not answer %s", request.path, exc_info=error)
    hint = "try again; the desk's output says why"
    return error_response(500, ArenaError("broken", "the desk failed on this request", hint))


def complain(status: int, message: str) -> HttpResponse:
    """Return the response to a request that could not be read."""
    code, hint = COMPLAINTS[status]
    return error_response(status, ArenaError(code, message, hint))


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
    """Serve the desk at an address until `stop` is set, and call `on_open` with the port.

    Behind a proxy any Host is served: only the proxy knows the names by which clients reach it.
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

    async with serve_http(server, host, port) as open_port:
        on_open(open_port)
        await stop.wait()


def run_desk(
    record: Record, where: ListenAddress, now: Callable[[], datetime], on_open: Callable[[int], None]
) -> None:
    """Serve the desk until the process is told to end."""

    async def serve_until_stopped() -> None:
        """Serve until a signal comes."""
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop.set)
        await serve_desk(record, where.address, where.port, now, stop, on_open, where.behind_proxy)

    asyncio.run(serve_until_stopped())
