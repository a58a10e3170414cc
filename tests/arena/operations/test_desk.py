"""The desk: what agents from outside are shown, what they may send, and by which price they are judged."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012
from sqlalchemy import BindParameter, Connection, bindparam, select, update

from agents.kinds import outside
from agents.model import Given
from arena.calls.desk_turns import DeskTurns
from arena.operations.desk import Desk, new_key, serve_desk
from arena.operations.desk_queries import read_desk_turns, read_last_turns
from arena.operations.http import MOST_WAITING, HttpRequest, HttpServer, serve_http
from arena.record.model.cohort import Cohort, Entrant, Turn
from arena.record.schema.dialects import FromNow, SecondsUntil
from arena.rounds.round import close_round, play_round
from arena.rounds.world import Player, World
from arena.scores.leaderboard import read_scores
from arena.verify import verify
from tests.arena.operations.held_threads import begun_at_once
from tests.builders import NOW, RAIN, a_resolution, usd
from tests.opened_record import OpenedRecord
from tests.records.little_world import (
    WEEK,
    LittleModel,
    LittleVenue,
    a_cohort,
    a_world,
    asks,
    begun,
    live,
    says,
)
from tests.rows import TABLES

SNOW = "sim:snow"
Answer = tuple[int, Any]
Guest = Callable[["Visitor"], Awaitable[None]]


@dataclass
class Visitor:
    """An agent's way to the desk, over HTTP."""

    http: httpx.AsyncClient
    key: str

    async def ask(self, path: str, method: str = "GET", **more: Any) -> Answer:
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        answer = await self.http.request(method, path, headers=headers, **more)
        return answer.status_code, answer.json()

    async def send(self, decision: Any, turn: str = "1-1", preview: bool = False) -> Answer:
        words = {"turn": turn, "preview": str(preview)}
        text = decision if isinstance(decision, str | bytes) else json.dumps(decision)
        return await self.ask("/v1/turn", "POST", params=words, content=text)

    async def turn(self, wanted: bool = True) -> Any:
        """Return the open turn once there is one, or nothing once there is none."""
        for _ in range(2_000):
            found = (await self.ask("/v1/turn"))[1]
            if (found["turn"] is not None) == wanted:
                return found
            await asyncio.sleep(0.01)
        raise TimeoutError


def from_outside(cohort: Cohort, *names: str, wait: float = 60.0) -> Cohort:
    """Return a cohort in which these agents come from outside."""
    settings = outside.Settings(wait=wait).model_dump(mode="json")
    entrants = (
        Entrant(x.position, x.name, "outside", settings) if x.name in names else x for x in cohort.entrants
    )
    return replace(cohort, entrants=tuple(entrants))


def open_to_all(world: World) -> World:
    """Return a world with a desk."""
    given = Given()
    players = world.player

    def player(cohort: Cohort, entrant: Entrant) -> Player:
        if entrant.kind != "outside":
            return players(cohort, entrant)
        settings = outside.Settings.model_validate(entrant.settings)
        agent = outside.agent(settings, given)
        ask = outside.ask(settings, given)
        return Player(agent, ask, lambda _: 0, looks_outside=True, wait=settings.wait)

    return replace(world, player=player, desk=DeskTurns())


def played(
    record: OpenedRecord, world: World, guests: Mapping[str, Guest], number: int = 1
) -> dict[str, Turn]:
    """Return the turns of a round at which these guests come to a desk that is open meanwhile."""

    async def together() -> dict[str, Turn]:
        stop = asyncio.Event()
        ports = asyncio.Queue[int]()
        serving = asyncio.create_task(
            serve_desk(record, "127.0.0.1", 0, lambda: NOW, stop, ports.put_nowait, wrong_key_delay=0.01)
        )
        async with AsyncExitStack() as stack:
            url = f"http://127.0.0.1:{await ports.get()}"
            http = await stack.enter_async_context(httpx.AsyncClient(base_url=url, trust_env=False))
            visits = [come(Visitor(http, new_key(record, name, NOW))) for name, come in guests.items()]
            playing = asyncio.create_task(play_round(record.cohorts()[-1], number, world, record))
            await asyncio.gather(playing, *visits)
        stop.set()
        await serving
        return {turn.entrant: turn for turn in playing.result().turns}

    return asyncio.run(together())


def forecasts(view: Mapping[str, Any], chances: Mapping[str, float]) -> dict[str, Any]:
    said = [{"market": x["market"], "options": {"yes": chances[x["market"]]}} for x in view["markets"]]
    return {"version": 1, "forecasts": said}


@pytest.fixture(params=["sqlite", "postgresql"])
def either(request: pytest.FixtureRequest, empty: Path, tmp_path: Path) -> Iterator[OpenedRecord]:
    """Yield a record of either kind."""
    if request.param == "sqlite":
        address = str(tmp_path / "arena.db")
    else:
        address = request.getfixturevalue("new_server_record")()
    opened = OpenedRecord.at(address)
    yield opened
    assert opened.read(verify) == []
    opened.close()


def test_who_copies_the_live_price_at_the_deadline_has_no_skill(either: OpenedRecord) -> None:
    """It states what the venue says once all others have decided, and is filled by that too."""
    venue = LittleVenue()
    begun(either, live(from_outside(a_cohort(["bob", "copy"]), "copy")))
    world = open_to_all(a_world(venue, {"bob": says("0.5", ("100", RAIN))}))

    async def copies(guest: Visitor) -> None:
        view = (await guest.turn())["view"]
        assert {x["market"]: x["price"] for x in view["markets"]} == {RAIN: 0.4, SNOW: 0.6}
        venue.mids |= {RAIN: 45, SNOW: 70}
        now = forecasts(view, {market: mid / 100 for market, mid in venue.mids.items()})
        bet = {"market": RAIN, "option": "yes", "amount": 100}
        preview = (await guest.send(now | {"bets": [bet]}, preview=True))[1]
        assert preview["fills"][0]["shares"] == pytest.approx(100 / 0.41, abs=1e-5)
        assert (await guest.send(now | {"bets": [bet]}))[1]["accepted"]

    turns = played(either, world, {"copy": copies})
    assert [level.price for fill in turns["copy"].fills for level in fill.levels] == [usd("0.46")]
    assert [level.price for fill in turns["bob"].fills for level in fill.levels] == [usd("0.41")]
    venue.endings += [a_resolution("1", market, at=NOW + WEEK / 2) for market in (RAIN, SNOW)]
    later = replace(world, now=lambda: NOW + WEEK)

    async def reads(guest: Visitor) -> None:
        open_turn = await guest.turn()
        assert {x["market"] for x in open_turn["view"]["ended"]} == {RAIN, SNOW}
        [turn] = (await guest.ask("/v1/results"))[1]["turns"]
        assert (turn["turn"], turn["status"], len(turn["fills"])) == ("1-1", "played", 1)
        assert (await guest.send({"version": 1, "forecasts": []}, "1-2"))[0] == 200

    played(either, later, {"copy": reads}, 2)
    skills = {row.agent: row.skill for row in either.read(read_scores)}
    assert skills["copy"] == 0
    assert skills["bob"] != 0


def test_a_decision_counts_once_and_in_time(either: OpenedRecord) -> None:
    cohort = a_cohort(["ann", "bob"])
    apart = from_outside(from_outside(cohort, "ann"), "bob", wait=0.3)
    begun(either, apart)
    saw = dict[str, Any]()

    async def ann(guest: Visitor) -> None:
        turn = await guest.turn()
        good = forecasts(turn["view"], {RAIN: 0.3, SNOW: 0.3})
        assert (await guest.send("no", "1-1"))[0] == 422
        assert (await guest.send(b"\xff"))[0] == 422
        odd = good | {"bets": [{"market": "sim:hail", "option": "yes", "amount": 60}]}
        first = await guest.send(odd)
        assert [x["code"] for x in first[1]["refused"]] == ["unknown_market"]
        assert [*await asyncio.gather(guest.send(odd), guest.send(odd))] == [first, first]
        assert (await guest.send(good))[1]["error"]["code"] == "answered"
        assert (await guest.send(odd, preview=True))[0] == 409
        assert (await guest.ask("/v1/turn"))[1]["turn"] is None
        saw["ann"] = turn["view"]

    async def bob(guest: Visitor) -> None:
        turn = await guest.turn()
        saw["bob"] = turn["view"]
        await guest.turn(wanted=False)
        assert (await guest.send(forecasts(turn["view"], {RAIN: 0.3, SNOW: 0.3})))[0] == 410

    turns = played(either, open_to_all(a_world(LittleVenue(), {})), {"ann": ann, "bob": bob})
    assert (turns["bob"].decision.status, turns["bob"].decision.note) == ("late", "no answer within 0.3 s")
    assert [x.millionths for x in turns["ann"].decision.forecasts] == [300_000, 300_000]
    assert saw["ann"]["seed"] != saw["bob"]["seed"]


WRONG = [
    {"version": 1},
    {"version": True, "forecasts": []},
    {"version": 1, "forecasts": [{"market": "nope", "probability": 0.5}]},
    {"version": 1, "forecasts": [{"market": RAIN, "probability": 0.5}, {"market": SNOW, "options": {}}]},
    {"version": 1, "bets": [{"market": "rain", "option": "yes", "amount": 60}]},
]


def test_a_decision_without_a_usable_item_leaves_the_turn_open(either: OpenedRecord) -> None:
    begun(either, from_outside(a_cohort(["ann"]), "ann"))

    async def sends(guest: Visitor) -> None:
        turn = await guest.turn()
        for wrong in WRONG:
            for preview in (True, False):
                status, answer = await guest.send(wrong, preview=preview)
                assert (status, answer["error"]["code"]) == (422, "no_decision")
        faults = (await guest.send(WRONG[3]))[1]
        assert [refused["code"] for refused in faults["refused"]] == ["bad_item", "bad_item"]
        assert 'forecast 1: "options" is missing; unknown key "probability"' in faults["error"]["message"]
        assert "forecast 2: options: " in faults["error"]["message"]
        right = forecasts(turn["view"], {RAIN: 0.3, SNOW: 0.3})
        right["forecasts"].append({"market": RAIN, "p": 0.5})
        status, answer = await guest.send(right)
        assert (status, answer["accepted"], answer["forecasts"]) == (200, True, 2)
        assert 'unknown key "p"' in answer["refused"][0]["message"]
        assert await guest.send(right) == (status, answer)

    turns = played(either, open_to_all(a_world(LittleVenue(), {})), {"ann": sends})
    assert (turns["ann"].decision.status, len(turns["ann"].decision.forecasts)) == ("played", 2)


def test_who_asks_otherwise_is_told_what_to_do(record: OpenedRecord) -> None:
    begun(record, from_outside(a_cohort(["ann"]), "ann"))

    async def asks(guest: Visitor) -> None:
        turn = await guest.turn()
        stranger = Visitor(guest.http, f"{guest.key}x")
        good = forecasts(turn["view"], {RAIN: 0.3, SNOW: 0.3})
        answers = {
            "wrong_key": await stranger.ask("/v1/turn"),
            "no_key": await Visitor(guest.http, "").ask("/v1/results"),
            "no_page": await guest.ask("/v1/view"),
            "bad_method": await guest.ask("/v1/turn", "DELETE"),
            "no_turn": await guest.ask("/v1/turn", "POST", content=b"{}"),
            "unknown_turn": await guest.send(good, "1-2"),
            "too_long": await guest.send(" " * 1_000_001),
            "bad_request": await guest.ask("/v1/turn?turn=1-1", "POST", content=_in_parts()),
        }
        assert {code: body["error"]["code"] for code, (_, body) in answers.items()} == {
            code: code for code in answers
        }
        assert [status for status, _ in answers.values()] == [401, 401, 404, 405, 400, 404, 413, 400]
        assert all(body["error"]["mend"] for _, body in answers.values())
        assert (await guest.send(good))[0] == 200

    turns = played(record, open_to_all(a_world(LittleVenue(), {})), {"ann": asks})
    assert turns["ann"].decision.status == "played"


def step_clock(connection: Connection, seconds: float) -> None:
    """Do to turns at the desk what a database's clock does that is put forward, or back, by so much."""
    rows = TABLES["desk_turn"]
    left: BindParameter[float] = bindparam("left")
    for entrant, until in connection.execute(
        select(rows.c.entrant_id, SecondsUntil(rows.c.expires_at))
    ).all():
        moved = update(rows).where(rows.c.entrant_id == entrant).values(expires_at=FromNow(left))
        connection.execute(moved, {"left": until - seconds})


def test_a_clock_put_forward_ends_no_turn_at_the_desk(either: OpenedRecord) -> None:
    begun(either, from_outside(a_cohort(["ann"]), "ann"))

    async def sends(guest: Visitor) -> None:
        first = await guest.turn()
        either.write(step_clock, 3_600.0)
        turn = await guest.turn()
        assert turn["turn"] == first["turn"]
        good = forecasts(turn["view"], {RAIN: 0.3, SNOW: 0.3})
        assert (await guest.send(good))[0] == 200

    turns = played(either, open_to_all(a_world(LittleVenue(), {})), {"ann": sends})
    assert turns["ann"].decision.status == "played"


def test_a_clock_put_back_keeps_no_turn_at_the_desk_open(either: OpenedRecord) -> None:
    begun(either, from_outside(a_cohort(["ann"]), "ann", wait=0.5))

    async def waits(guest: Visitor) -> None:
        turn = await guest.turn()
        either.write(step_clock, -86_400.0)
        await guest.turn(wanted=False)
        good = forecasts(turn["view"], {RAIN: 0.3, SNOW: 0.3})
        assert (await guest.send(good))[0] == 410

    turns = played(either, open_to_all(a_world(LittleVenue(), {})), {"ann": waits})
    assert turns["ann"].decision.status == "late"


DEEP = 100_000
ODD_BODIES = [
    b"",
    b"null",
    b"[]",
    b"\xff\xfe",
    b"[" * DEEP,
    b'{"a":' * DEEP,
    b'{"version": 1, "forecasts": ' + b"[" * 900 + b"]" * 900 + b"}",
    b'{"version": 1, "more": ' + b'{"a":' * 900 + b"1" + b"}" * 900 + b"}",
    b'{"version": 1' + b"0" * 9_000 + b', "forecasts": []}',
    b'{"version": 1, "version": 1, "forecasts": [1]}',
    b'{"version": NaN, "forecasts": []}',
    b'{"version": 1, "forecasts": [{"market": "sim:rain", "options": {"yes": 1e999999}}]}',
    b'{"version": 1, "forecasts": [{"market": "\\ud800", "options": {"yes": 0.5}}]}',
    b'{"version": 1, "forecasts": [{"market": "sim:rain\x00", "options": {"yes": 0.5}}]}',
    b'{"version": 1, "bets": [{"market": "sim:rain", "option": "yes", "amount": -5}]}',
    b'{"version": 1, "bets": {}}',
]


def test_a_body_that_is_no_decision_is_named_and_leaves_the_turn_open(either: OpenedRecord) -> None:
    begun(either, from_outside(a_cohort(["ann"]), "ann"))

    async def sends(guest: Visitor) -> None:
        turn = await guest.turn()
        for body in ODD_BODIES:
            for preview in (True, False):
                status, answer = await guest.send(body, preview=preview)
                assert (status, answer["error"]["code"]) == (422, "no_decision"), body[:60]
                assert len(json.dumps(answer)) < 3_000, body[:60]
        good = forecasts(turn["view"], {RAIN: 0.3, SNOW: 0.3})
        good["forecasts"][0]["reason"] = "a\x00b \ud800 \x9b31m"
        assert (await guest.send(json.dumps(good), preview=True))[0] == 200
        raw = json.dumps(good).replace("\\u0000", "\x00").encode()
        assert (await guest.send(raw))[0] in (200, 422)
        assert (await guest.send(json.dumps(good)))[0] in (200, 409)

    turns = played(either, open_to_all(a_world(LittleVenue(), {})), {"ann": sends})
    assert (turns["ann"].decision.status, len(turns["ann"].decision.forecasts)) == ("played", 2)


@pytest.mark.parametrize(
    "query",
    [
        "turn=1-1&preview",
        "turn=1-1&preview=on",
        "turn=1-1&preview=",
        "turn=1-1&Preview=true",
        "turn=1-1&dry_run=true",
    ],
)
def test_a_query_that_is_not_understood_sends_nothing(record: OpenedRecord, query: str) -> None:
    """A preview that is misspelt is no decision."""
    begun(record, from_outside(a_cohort(["ann"]), "ann"))

    async def sends(guest: Visitor) -> None:
        turn = await guest.turn()
        good = json.dumps(forecasts(turn["view"], {RAIN: 0.3, SNOW: 0.3}))
        status, answer = await guest.ask(f"/v1/turn?{query}", "POST", content=good)
        assert (status, answer["error"]["code"]) == (400, "bad_query")
        assert (await guest.send(json.dumps(forecasts(turn["view"], {RAIN: 0.4, SNOW: 0.4}))))[0] == 200

    turns = played(record, open_to_all(a_world(LittleVenue(), {})), {"ann": sends})
    assert {forecast.millionths for forecast in turns["ann"].decision.forecasts} == {usd("0.4")}


def test_wrong_keys_are_slowed_counted_and_told(
    record: OpenedRecord, caplog: pytest.LogCaptureFixture
) -> None:
    """None of them gets a place of those whose key is right, and an operator hears of many."""
    begun(record, from_outside(a_cohort(["ann"]), "ann"))

    async def asks(guest: Visitor) -> None:
        turn = await guest.turn()
        guesses = (Visitor(guest.http, f"guess-{number}").ask("/v1/turn") for number in range(40))
        assert {status for status, _ in await asyncio.gather(*guesses)} == {401}
        good = forecasts(turn["view"], {RAIN: 0.3, SNOW: 0.3})
        assert (await guest.send(good))[0] == 200

    played(record, open_to_all(a_world(LittleVenue(), {})), {"ann": asks})
    counts = re.findall(r"wrong keys sent to the desk so far: (\d+)", caplog.text)
    assert counts == ["1", "2", "4", "8", "16", "32"]
    [told] = record.incidents(10)
    assert (told.incident.kind, told.ended_at) == ("wrong_keys", NOW)
    assert "20 requests with a wrong key" in told.incident.text


def test_a_wrong_key_is_answered_later_than_a_right_one(record: OpenedRecord) -> None:
    """The slow answer is still out when the right key's is in."""

    async def play() -> tuple[bool, int]:
        desk = Desk(record, lambda: NOW, wrong_key_delay=60)
        key = new_key(record, "ann", NOW)
        server = HttpServer(desk.respond, admit=desk.admit)
        async with (
            serve_http(server, "127.0.0.1", 0) as port,
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as http,
        ):
            guess = asyncio.create_task(Visitor(http, "guess").ask("/v1/turn"))
            for _ in range(2_000):
                await asyncio.sleep(0.01)
                if desk.wrong_keys:
                    break
            status, _ = await Visitor(http, key).ask("/v1/turn")
            answered = guess.done()
            guess.cancel()
            return answered, status

    assert asyncio.run(play()) == (False, 200)


@pytest.mark.parametrize(
    "head", [b"GET /v1/turn HTTP/1.1\r\n", b"POST /v1/turn HTTP/1.1\r\nContent-Length: 9\r\n\r\n"]
)
def test_silent_connections_do_not_shut_the_desk(record: OpenedRecord, head: bytes) -> None:
    """As many as there are places, each with a line or with a request without a key and its body."""
    begun(record, from_outside(a_cohort(["ann"]), "ann"))

    async def asks(guest: Visitor) -> None:
        turn = await guest.turn()
        url = guest.http.base_url
        silent = [await asyncio.open_connection(url.host, url.port or 0) for _ in range(MOST_WAITING + 6)]
        for _, writer in silent:
            writer.write(head)
        await asyncio.sleep(0.05)
        good = forecasts(turn["view"], {RAIN: 0.3, SNOW: 0.3})
        answers = await asyncio.gather(*(guest.send(good) for _ in range(5)))
        assert {status for status, _ in answers} == {200}
        for _, writer in silent:
            writer.close()

    turns = played(record, open_to_all(a_world(LittleVenue(), {})), {"ann": asks})
    assert turns["ann"].decision.status == "played"


SCHEMAS = Path(__file__).with_name("openapi-3.1.schema.json")
"""The schema of OpenAPI 3.1 documents, https://spec.openapis.org/oas/3.1/schema/2022-10-07."""


def _forms(document: Any) -> dict[str, Draft202012Validator]:
    """Return a validator for each of the document's schemas."""
    registry = Registry().with_resource(
        "desk", Resource.from_contents(document, default_specification=DRAFT202012)
    )
    return {
        name: Draft202012Validator({"$ref": f"desk#/components/schemas/{name}"}, registry=registry)
        for name in document["components"]["schemas"]
    }


def test_the_desk_is_described_as_openapi_and_answers_as_it_says(record: OpenedRecord) -> None:
    begun(record, from_outside(a_cohort(["ann"]), "ann"))
    seen = dict[str, Any]()

    async def asks(guest: Visitor) -> None:
        turn = await guest.turn()
        status, seen["document"] = await Visitor(guest.http, "").ask("/openapi.json")
        assert status == 200
        good = forecasts(turn["view"], {RAIN: 0.3, SNOW: 0.3})
        good["bets"] = [{"market": RAIN, "option": "yes", "amount": 100}, {"market": SNOW, "amount": 1}]
        wrong = {"version": 1, "forecasts": [{"market": RAIN}]}
        seen["DecisionDocument"] = [forecasts(turn["view"], {RAIN: 0.3, SNOW: 0.3})]
        seen["DeskError"] = [(await guest.send(wrong))[1], (await guest.ask("/v1/view"))[1]]
        seen["DecisionReceipt"] = [(await guest.send(good, preview=True))[1], (await guest.send(good))[1]]
        seen["OpenTurn"] = [turn, (await guest.ask("/v1/turn"))[1]]
        seen["AgentResults"] = []

    venue = LittleVenue()
    world = open_to_all(a_world(venue, {}))
    played(record, world, {"ann": asks})
    venue.endings += [a_resolution("1", market, at=NOW + WEEK / 2) for market in (RAIN, SNOW)]

    async def reads(guest: Visitor) -> None:
        seen["OpenTurn"].append(await guest.turn())
        seen["AgentResults"].append((await guest.ask("/v1/results"))[1])
        await guest.send({"version": 1, "forecasts": []}, "1-2")

    played(record, replace(world, now=lambda: NOW + WEEK), {"ann": reads}, 2)
    document = seen.pop("document")
    meta = json.loads(SCHEMAS.read_text("utf-8"))
    assert [error.message for error in Draft202012Validator(meta).iter_errors(document)] == []
    for schema in document["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)
    forms = _forms(document)
    for name, said in seen.items():
        for answer in said:
            assert [error.message for error in forms[name].iter_errors(answer)] == [], (name, answer)
    assert seen["AgentResults"][0]["turns"][0]["fills"]
    methods = {(path, method) for path, item in document["paths"].items() for method in item}
    assert methods == {("/v1/turn", "get"), ("/v1/turn", "post"), ("/v1/results", "get")}


def test_a_turn_that_opens_in_a_round_that_is_done_takes_no_answer(record: OpenedRecord) -> None:
    """Its round was closed by another process, while the one that opens it stood still."""
    stored = begun(record, a_cohort(["ann"]))
    world = a_world(LittleVenue(), {"ann": says("0.5")})
    asyncio.run(play_round(stored, 1, world, record))
    record.open_at_desk(1, 1, 3_600.0)

    [turn] = record.read(read_desk_turns, "ann")
    assert (turn.name, turn.answer, turn.over) == ("1-1", None, 1)
    assert not record.answer_at_desk(1, 1, "late")
    [turn] = record.read(read_desk_turns, "ann")
    assert turn.answer is None


def test_a_turn_is_told_of_once_its_round_is_over(record: OpenedRecord) -> None:
    """Until then another agent may still be asked: nobody learns before what came of it."""
    stored = begun(record, a_cohort(["ann", "eve"]))
    world = a_world(LittleVenue(), {"ann": says("0.5"), "eve": asks}, LittleModel(down=99))
    report = asyncio.run(play_round(stored, 1, world, record))
    assert [turn.decision.status for turn in report.turns] == ["played", "failed"]
    assert record.read(read_last_turns, "ann") == []

    asyncio.run(close_round(stored, 1, world, record))
    assert [turn.round for turn in record.read(read_last_turns, "ann")] == [1]


def test_requests_at_once_read_the_record_one_after_another(record: OpenedRecord) -> None:
    """Both the keys of two requests and their answers: the second is begun once the first has ended."""
    key = new_key(record, "ann", NOW)
    desk = Desk(record, lambda: NOW)
    request = HttpRequest("GET", "/v1/turn", headers={"authorization": f"Bearer {key}"}, caller="ann")
    assert asyncio.run(begun_at_once(desk.admit(request), desk.admit(request))) == [1, 1]
    assert asyncio.run(begun_at_once(desk.respond(request), desk.respond(request))) == [1, 1]


async def _in_parts() -> Any:
    yield b"{}"
