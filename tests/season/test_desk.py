"""Agents from outside: each in a process of its own, at a desk of its own, in one season with all others."""

import asyncio
import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from arena.cohorts.freeze import code_version
from tests.opened_record import new_record
from tests.program.command_line import ROOT, command, environment
from tests.program.forked import Forked, quick_command
from tests.program.rehearsal import rows
from tests.program.running import AGREES, arena_json, demo_config, loaded

PROGRAM = "import json, sys; json.load(sys.stdin); json.dump({'version': 1}, sys.stdout)"
LINE_UP = f"""\
  - kind: market
  - {{name: sharp, model: demo/sharp, price: {{input: 1.0, output: 4.0}}}}
  - {{kind: command, name: prog, command: [{sys.executable}, -S, prog.py]}}
  - {{kind: outside, name: ann, wait: 2m}}
  - {{kind: outside, name: bob, wait: 2m}}
"""
LATE = "  - {kind: outside, name: cat, wait: 1s}\n"
A_WHILE = 400
"""So many looks, a twentieth of a second apart, until something must have happened."""


@dataclass(frozen=True)
class Guest:
    """Whoever comes to a desk with a key."""

    url: str
    key: str

    def ask(self, path: str, body: bytes | None = None) -> tuple[int, Any]:
        """Return the status and the body of an answer."""
        try:
            with urlopen(Request(self.url + path, body, {"Authorization": f"Bearer {self.key}"})) as found:
                return found.status, json.load(found)
        except HTTPError as error:
            return error.code, json.load(error)

    def send(self, decision: Any, turn: str = "1-1", preview: bool = False) -> tuple[int, Any]:
        """Send a decision, or try it."""
        words = f"/v1/turn?turn={turn}{'&preview=true' * preview}"
        return self.ask(words, decision if isinstance(decision, bytes) else json.dumps(decision).encode())

    def turn(self) -> Any:
        """Return the open turn, once there is one."""
        return until(lambda: found if (found := self.ask("/v1/turn")[1])["turn"] else None)


def until(happens: Callable[[], Any]) -> Any:
    for _ in range(A_WHILE):
        if found := happens():
            return found
        sleep(0.05)
    raise AssertionError("it never came to that")


def forecasts(view: Mapping[str, Any], share: float) -> dict[str, Any]:
    said = [{"market": x["market"], "options": {"yes": share}} for x in view["markets"] if x["offered"]]
    return {"version": 1, "forecasts": said}


def bets(view: Mapping[str, Any], share: float) -> dict[str, Any]:
    first = view["markets"][0]["market"]
    return forecasts(view, share) | {"bets": [{"market": first, "option": "no", "amount": 60}]}


def desk(folder: Path, *words: str) -> tuple[Forked, str]:
    """Start a desk as a process, and return it with its address."""
    process = loaded().start(folder, "outside", "desk", "--port", "8650", *words)
    found = until(lambda: re.search(r"http://\S+", process.said()) or not process.runs)
    assert process.runs, process.said()
    return process, found[0]


def of_agent(folder: Path, name: str, what: str, record: str = "demo.db") -> list[tuple[Any, ...]]:
    """Return a column of an agent's calls or turns."""
    table = "call" if what in ("messages", "reply", "error_code") else "turn"
    query = f"SELECT {what} FROM {table} t JOIN entrant e ON e.id = t.entrant_id WHERE e.name = '{name}'"
    return rows(folder, f"{query} ORDER BY t.id", record)


def registered_words(url: str) -> list[str]:
    """Return the words after the program's name in `server.json`, for a desk at an address."""
    [package] = json.loads((ROOT / "server.json").read_text("utf-8"))["packages"]
    words = []
    for argument in package["packageArguments"]:
        if argument["type"] == "named":
            words.append(argument["name"])
        words.append(argument["value"].format(desk=url))
    return words


async def by_protocol(url: str, key: str, share: float) -> dict[str, Any]:
    """Play a turn with the Model Context Protocol's own client, and return its tools and their answers."""
    from mcp import Client, StdioServerParameters, stdio_client
    from mcp.types import TextContent

    program, *words = quick_command(*registered_words(url))
    server = StdioServerParameters(command=program, args=words, env=environment(ARENA_KEY=key))
    async with Client(stdio_client(server, sys.stderr)) as client:

        async def call(name: str, **given: Any) -> Any:
            answer = await client.call_tool(name, given)
            [part] = answer.content
            assert isinstance(part, TextContent)
            return part.text if answer.is_error else json.loads(part.text)

        seen = await call("view")
        sent = {"turn": seen["turn"], "decision": bets(seen["view"], share)}
        return {
            "tools": [tool.name for tool in (await client.list_tools()).tools],
            "view": seen,
            "preview": await call("preview", **sent),
            "submit": await call("submit", **sent),
            "again": await call("submit", **sent),
            "none": await call("submit", turn="9-9", decision={}),
            "results": await call("results"),
        }


def own_program(folder: Path, **there: str) -> "subprocess.Popen[str]":
    """Run the whole agent of the page on agents from outside, with only the standard library."""
    page = (ROOT / "docs" / "outside.md").read_text("utf-8")
    text = page.partition("```python\n")[2].partition("```")[0]
    assert sum(1 for line in text.splitlines() if line.strip()) <= 24
    (folder / "ann.py").write_text(text, "utf-8")
    words = [sys.executable, "-S", "ann.py"]
    return subprocess.Popen(words, cwd=folder, env=environment(**there), stdout=subprocess.PIPE, text=True)


def test_all_are_killed_in_mid_turn_and_one_record_stands(tmp_path: Path) -> None:
    demo_config(tmp_path, LINE_UP + LATE, count=1, show=5)
    (tmp_path / "prog.py").write_text(PROGRAM, "utf-8")
    keys = {
        name: arena_json(tmp_path, "outside", "desk", "--key", name)["key"] for name in ("ann", "bob", "cat")
    }

    first, url = desk(tmp_path)
    ann = Guest(url, keys["ann"])
    cat = Guest(url, keys["cat"])
    playing = loaded().start(tmp_path, "run", "--round")
    before = ann.turn()
    missed = cat.turn()
    until(lambda: of_agent(tmp_path, "sharp", "reply") and of_agent(tmp_path, "prog", "reply"))
    fills = ann.send(bets(before["view"], 0.5), preview=True)[1]["fills"]
    assert [(fill["action"], fill["option"]) for fill in fills] == [("buy", "no")]
    started = own_program(tmp_path, ARENA_KEY="arena_nobody", ARENA_DESK=url)
    for process in (playing, first, started):
        process.kill()
    started.communicate()

    asked = len(of_agent(tmp_path, "sharp", "reply"))
    second, url = desk(tmp_path)
    ann, bob, cat = (Guest(url, keys[name]) for name in ("ann", "bob", "cat"))
    assert ann.turn() == before, "the turn stays open while the arena is down, and shows the same"
    until(lambda: cat.ask("/v1/turn")[1]["turn"] is None)
    status, late = cat.send(forecasts(missed["view"], 0.5))
    assert (status, late["error"]["code"]) == (410, "late")
    assert Guest(url, "arena_nobody").ask("/v1/turn")[0] == 401

    told = asyncio.run(by_protocol(url, keys["bob"], 0.4))
    assert sorted(told["tools"]) == ["preview", "results", "submit", "view"]
    assert told["submit"] == told["again"]
    assert told["submit"].items() >= {"accepted": True, "turn": "1-1", "bets": 1, "refused": []}.items()
    assert len(told["preview"]["fills"]) == 1
    assert "there is no turn '9-9' here" in told["none"]
    assert told["view"]["view"]["seed"] != before["view"]["seed"]

    playing = loaded().start(tmp_path, "run", "--round")
    agent = own_program(tmp_path, ARENA_KEY=keys["ann"], ARENA_DESK=url)
    playing.wait()
    agent.kill()
    said, _ = agent.communicate()
    assert "'accepted': True" in said
    assert playing.status == 2, "one turn was late"

    statuses = [
        of_agent(tmp_path, name, "status") for name in ("market", "sharp", "prog", "ann", "bob", "cat")
    ]
    assert statuses == [[("played",)]] * 5 + [[("late",)]]
    assert len(of_agent(tmp_path, "sharp", "reply")) == asked, "nobody is asked anew"
    for name, view in (("ann", before), ("bob", told["view"]), ("cat", missed)):
        [(messages,)] = of_agent(tmp_path, name, "messages")
        assert [json.loads(one["content"]) for one in json.loads(messages)] == [view["view"]]
    assert of_agent(tmp_path, "cat", "error_code") == [("timeout",)]

    answer = of_agent(tmp_path, "ann", "reply")[0][0].encode()
    assert ann.send(answer)[1]["accepted"], "the same again has the same answer"
    assert ann.send(forecasts(before["view"], 0.1))[1]["error"]["code"] == "answered"
    assert bob.ask("/v1/results")[1]["turns"][0].items() >= {"turn": "1-1", "status": "played"}.items()
    assert len(bob.ask("/v1/results")[1]["turns"][0]["fills"]) == 1
    assert ann.ask("/v1/results")[1]["turns"][0]["fills"] == []
    second.signal(signal.SIGTERM)
    second.wait()
    assert "Desk ended." in second.said()

    found = arena_json(tmp_path, "admin", "verify")
    assert found.items() >= AGREES.items()
    assert not any("outside" in words for words in found["unproved"])
    assert all(key not in (tmp_path / "demo.db").read_bytes().decode("latin-1") for key in keys.values())


def test_a_desk_to_which_nobody_can_come_says_so(tmp_path: Path) -> None:
    demo_config(tmp_path, "  - kind: market\n", count=1, show=5)
    new_record(tmp_path / "demo.db")
    process, _ = desk(tmp_path)
    until(lambda: "No agent plays from outside" in process.said())
    process.signal(signal.SIGTERM)
    process.wait()
    assert process.status == 0


def test_an_assistant_lists_the_tools_of_a_server_without_a_key() -> None:
    from mcp import Client, StdioServerParameters, stdio_client

    async def play() -> tuple[str, list[str], str]:
        program, *words = command("outside", "mcp")
        server = StdioServerParameters(command=program, args=words, env=environment())
        async with Client(stdio_client(server, sys.stderr)) as client:
            tools = (await client.list_tools()).tools
            answer = await client.call_tool("view", {})
            return str(client.server_info), [tool.name for tool in tools], str(answer.content[0])

    server, tools, said = asyncio.run(play())
    assert f"version='{code_version()}'" in server
    assert tools == ["view", "preview", "submit", "results"]
    assert "ARENA_KEY is not set" in said


DIES = """\
import json, os, sys
seen = json.load(sys.stdin)
if not os.path.exists("died"):
    open("died", "w").close()
    os.kill(os.getpid(), 9)
json.dump({"version": 1}, sys.stdout)
"""
CLIENT = """\
import asyncio, sys
from mcp import Client, StdioServerParameters
async def go():
    async with Client(StdioServerParameters(command=sys.argv[1], args=sys.argv[2:], env=dict(ENV))) as client:
        print((await client.call_tool("view", {})).content[0].text.replace("\\n", " "), flush=True)
        await asyncio.sleep(600)
asyncio.run(go())
"""


def test_on_postgresql_an_assistant_and_a_program_are_killed_too(
    tmp_path: Path, new_server_record: Callable[[], str]
) -> None:
    """The client of an assistant between view and decision, and the program of a command as it decides."""
    address = new_server_record()
    demo_config(tmp_path, LINE_UP, count=1, show=5)
    (tmp_path / "prog.py").write_text(DIES, "utf-8")
    here = ("--database", address)
    keys = {
        name: arena_json(tmp_path, "outside", "desk", "--key", name, *here)["key"] for name in ("ann", "bob")
    }

    first, url = desk(tmp_path, *here)
    playing = loaded().start(tmp_path, "run", "--round", *here)
    ann = Guest(url, keys["ann"])
    before = ann.turn()
    there = environment(ARENA_KEY=keys["bob"])
    (tmp_path / "client.py").write_text(CLIENT.replace("ENV", repr(there)), "utf-8")
    words = [sys.executable, "client.py", *quick_command("outside", "mcp", "--url", url)]
    client = subprocess.Popen(words, cwd=tmp_path, env=there, stdout=subprocess.PIPE, text=True)
    assert client.stdout is not None
    seen = json.loads(client.stdout.readline())
    client.kill()
    client.communicate()
    until(lambda: (tmp_path / "died").exists() and of_agent(tmp_path, "sharp", "reply", address))
    for process in (playing, first):
        process.kill()

    second, url = desk(tmp_path, *here)
    playing = loaded().start(tmp_path, "run", "--round", *here)
    ann = Guest(url, keys["ann"])
    asked = len(of_agent(tmp_path, "sharp", "reply", address))
    assert ann.turn() == before
    told = asyncio.run(by_protocol(url, keys["bob"], 0.4))
    assert told["view"] == seen, "who comes again sees the same"
    assert told["submit"] == told["again"]
    decision = forecasts(before["view"], 0.6)
    assert ann.send(decision) == ann.send(decision)
    playing.wait()
    assert (playing.status, playing.said().count("late")) == (0, 0)
    names = ("market", "sharp", "prog", "ann", "bob")
    statuses = [of_agent(tmp_path, name, "status", address) for name in names]
    assert statuses == [[("played",)]] * 5
    assert len(of_agent(tmp_path, "sharp", "reply", address)) == asked
    second.kill()
    assert arena_json(tmp_path, "admin", "verify", *here).items() >= AGREES.items()
