"""One turn of an agent on every wire in every important mode: what it cost as booked, and as charged.

    python -m tests.oracles.wires

All agents play one `arena run --round` over HTTP against the server of `tests/provider/wire_server.py`.
What that
charges is summed here, from what it answered and from prices by hand. A row passes where the status and the
number of asks are as expected, the record has every ask, none was charged more than was reserved for it, and
booked and charged differ by at most 1%. Then two processes play under a budget. Prints the table and
`N passed, N failed`, and fails on a failure. With † a wire's form was read in documents only.
"""

import json
import re
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from time import sleep
from typing import Any

from tests.program.running import arena, loaded
from tests.provider.model_answer import ModelAnswer, Refused
from tests.provider.wire_server import Given, Manner, Script, WireRequest, WireServer, wires

HEAD = """\
markets: {venue: simulator, show: 5, simulator: {start: 2026-01-04, weeks: 8, markets: 60, events: 20}}
cohorts: {rounds: 2, count: 2}
"""
BUDGET = 0.9
"""Dollars for two cohorts under a budget: for some of the agents and not for all."""


@dataclass(frozen=True)
class Tariff:
    """Dollars for a million tokens and for a web search; served faster, tokens cost `tier` times as much."""

    input: float
    output: float
    cached: float
    written: float = 0.0
    search: float = 0.0
    tier: float = 1.0

    def charge(self, answer: ModelAnswer) -> float:
        """Return dollars for an answer."""
        tokens = (answer.sent - answer.cached - answer.written) * self.input + answer.cached * self.cached
        tokens += answer.written * self.written + (answer.said + answer.thought) * self.output
        faster = self.tier if answer.tier in ("priority", "fast") else 1
        return tokens * faster / 1_000_000 + answer.searches * self.search


TARIFFS = {
    "openai": Tariff(4, 20, 0.4, 5, 0.01, 2),
    "responses": Tariff(30, 180, 30, search=0.01),
    "xai": Tariff(1.25, 2.5, 0.2, search=0.005),
    "anthropic": Tariff(4, 20, 0.2, 5, 0.01, 2),
    "gemini": Tariff(0.75, 3.75, 0.075, search=0.014, tier=1.8),
    "ollama": Tariff(0.1, 0.4, 0.1),
    "openrouter": Tariff(4, 20, 0.2, 5),
}
STATED = {"ollama": "price: {input: 0.1, output: 0.4}", "openrouter": "price: {input: 5, output: 20}"}
"""Prices that a config has to state: for what the table has none."""
PLAIN = ModelAnswer()
Words = Callable[[Sequence[str]], str]


def forecasts(markets: Sequence[str]) -> str:
    """Return an answer for all of these markets."""
    return json.dumps({"forecasts": [{"market": each, "probability": 0.4} for each in markets]})


def says(answer: ModelAnswer = PLAIN, words: Words = forecasts) -> Callable[[WireRequest], ModelAnswer]:
    """Return an answer about the markets of the question, at OpenRouter with its price."""

    def given(asked: WireRequest) -> ModelAnswer:
        markets = list(dict.fromkeys(re.findall(r"### (m[0-9]+)\b", json.dumps(asked.body))))
        text = answer.text if answer.finish == "refusal" else words(markets)
        charged = TARIFFS["openrouter"].charge(answer) if answer.cost is None else answer.cost
        return replace(answer, text=text, cost=charged if asked.wire == "openrouter" else None)

    return given


def _garbled(markets: Sequence[str]) -> str:
    return "Here:\n```json\n// mine\n" + forecasts(markets).replace("}]", "},]").replace('"', "'") + "\n```"


@dataclass(frozen=True)
class WireMode:
    """What the questions of one agent get, how its turn is to end, and after how many asks.

    With `silent` no wire says what was charged for the first ask; what a wire says in a `document` mode was
    only read of. The wires in `halves` have no larger answer to ask for, so they ask about half at a time.
    """

    script: tuple[Script, ...]
    wires: str = "openai responses xai anthropic gemini ollama openrouter"
    status: str = "played"
    asks: int = 1
    settings: str = ""
    silent: bool = False
    document: bool = False
    halves: str = ""

    def asks_on(self, wire: str) -> int:
        """Return this many agents on one of its wires."""
        return self.asks + (wire in self.halves.split())


GOOD = says()
THOUGHT = ModelAnswer(thinking="Rain is likely.", thought=8_000)
PROSE = says(words=lambda _: "I would rather not give numbers, it looks even.")
SEARCH = "extra: {web_search_options: {}}, max_cost: 1"
CITED = ("https://a.example/1",)
MODES = {
    "plain": WireMode((GOOD,)),
    "thinking": WireMode((says(THOUGHT),)),
    "thinking-apart": WireMode((says(replace(THOUGHT, thought_apart=True)),), "openai openrouter"),
    "cached": WireMode((says(ModelAnswer(cached=800)),), "openai xai anthropic gemini openrouter"),
    "cache-write": WireMode((says(ModelAnswer(written=800)),), "openai anthropic openrouter", document=True),
    "priority": WireMode((says(ModelAnswer(tier="priority")),), "openai gemini",
                         settings="extra: {service_tier: priority}", document=True),
    "downgraded": WireMode((says(ModelAnswer(tier="default")),), "openai gemini",
                           settings="extra: {service_tier: priority}", document=True),
    "fast": WireMode((says(ModelAnswer(tier="fast")),), "anthropic", settings="extra: {speed: fast}",
                     document=True),
    "one-search": WireMode((says(ModelAnswer(citations=CITED, searches=1)),), "openai", settings=SEARCH,
                           document=True),
    "searches": WireMode((says(ModelAnswer(citations=CITED, searches=3)),), "responses xai anthropic gemini",
                         settings=SEARCH, document=True),
    "length": WireMode((says(ModelAnswer(said=16_000, finish="length"), lambda m: forecasts(m)[:20]), GOOD),
                       asks=2, halves="ollama openrouter"),
    "prose": WireMode((PROSE, GOOD), asks=2),
    "garbled": WireMode((says(words=_garbled),)),
    "partly": WireMode((says(words=lambda markets: forecasts(markets[:2])),), status="partly", asks=2),
    "declined": WireMode((says(ModelAnswer(text="I can't help with betting.", finish="refusal")),),
                         "openai responses xai anthropic gemini openrouter", "declined"),
    "rate-limit": WireMode((Refused("Rate limit reached", 429, "rate_limit_exceeded"), GOOD), asks=2),
    "broken": WireMode((lambda asked: Manner(GOOD(asked), broken=True), GOOD), asks=2, silent=True),
    "own-cost": WireMode((says(ModelAnswer(cost=0.0123, host="Anthropic")),), "openrouter"),
}  # fmt: skip


@dataclass(frozen=True)
class WireRow:
    """How one agent's turn ended; money in dollars."""

    wire: str
    mode: str
    status: str
    asks: int
    tokens: tuple[int, ...]
    booked: float
    charged: float
    faults: tuple[str, ...]

    def __str__(self) -> str:
        silent = MODES[self.mode].silent
        mark = "†" if MODES[self.mode].document else ""
        ratio = f"{self.booked / self.charged:.3f}" if self.charged else "-"
        words = "first ask: no wire tells" if silent else "within 1%"
        counts = "".join(f"{count:7}" for count in self.tokens)
        text = f"{self.wire:11}{self.mode + mark:16}{self.status:10}{self.asks:4}{counts}"
        text += f"{self.booked:11.6f}{self.charged:11.6f}{ratio:>7}  "
        return text + (f"FAILED: {'; '.join(self.faults)}" if self.faults else words)


TITLE = f"{'wire':11}{'mode':16}{'status':10}asks     in    out reason cached     booked    charged  ratio"


def names(modes: Sequence[str] = tuple(MODES)) -> list[tuple[str, str]]:
    """Return all wires with their modes, or with some of them."""
    return [(wire, mode) for mode in modes for wire in MODES[mode].wires.split()]


def _write(folder: Path, server: WireServer, agents: Sequence[tuple[str, str]], budget: str = "") -> None:
    """Write the config of a line-up, and give each agent its script."""
    text = HEAD + budget + "agents:\n"
    for wire, mode in agents:
        server.script(f"{wire}-{mode}", *MODES[mode].script)
        settings = server.settings(wire, f"{wire}-{mode}")
        more = ", ".join(filter(None, (STATED.get(wire), MODES[mode].settings)))
        block = f'name: {wire}-{mode}, model: {settings["model"]}, base_url: "{settings["base_url"]}"'
        text += f"  - {{{block}{', ' + more if more else ''}}}\n"
    (folder / "config.yaml").write_text(text, "utf-8")


def rows(agents: Sequence[tuple[str, str]]) -> Iterator[WireRow]:
    """Yield the row of each of them, from one round."""
    with TemporaryDirectory() as name, wires() as server:
        folder = Path(name)
        _write(folder, server, agents)
        played = arena(folder, "run", "--round", "--json")  # its exit status says that some declined
        turns = json.loads(played.stdout)["rounds"][0]["turns"]
        statuses = {turn["agent"]: str(turn["status"]) for turn in turns}
        for wire, mode in agents:
            log = [asked for asked in server.log if asked.mode == f"{wire}-{mode}"]
            yield _row(wire, mode, statuses[f"{wire}-{mode}"], log, _calls(folder, f"{wire}-{mode}"))


def _calls(folder: Path, agent: str) -> list[Any]:
    query = """SELECT tokens_in, tokens_out, tokens_reasoning, tokens_cached, cost, worst FROM call
               JOIN entrant ON entrant.id = entrant_id WHERE name = ? ORDER BY call.id"""
    with closing(sqlite3.connect(folder / "arena.db")) as reader:
        return list(reader.execute(query, (agent,)))


def dollars(asked: WireRequest) -> float:
    """Return what the server charges for a question: OpenRouter as it says, others by their tariff."""
    if asked.answer is None:
        return 0.0
    wire = asked.mode.partition("-")[0]  # two of them speak the same form
    return TARIFFS[wire].charge(asked.answer) if asked.answer.cost is None else asked.answer.cost


def _row(wire: str, mode: str, status: str, log: Sequence[WireRequest], calls: Sequence[Any]) -> WireRow:
    want = MODES[mode]
    charges = [dollars(asked) for asked in log]
    booked = sum(call[4] or 0 for call in calls) / 1e6
    charged = sum(charges)
    faults = [f"{status}, not {want.status}"] if status != want.status else []
    if not len(log) == len(calls) == want.asks_on(wire):
        faults.append(f"{len(log)} asks and {len(calls)} in the record, not {want.asks_on(wire)}")
    reserved = [call[5] for call in calls]
    if any(worst is None or charge > worst / 1e6 for charge, worst in zip(charges, reserved, strict=False)):
        faults.append("charged more than was reserved")
    known = charged - (charges[0] if want.silent and charges else 0)
    if abs(booked - known) > 0.01 * known or (want.silent and calls[0][4] is not None):
        faults.append("off by more than 1%")
    tokens = tuple(sum(call[place] for call in calls) for place in range(4))
    return WireRow(wire, mode, status, len(log), tokens, booked, charged, tuple(faults))


def _held(script: Script, begun: Event, both: Event) -> Script:
    """Return the same once two processes are at work, and note that one is."""

    def given(asked: WireRequest) -> Given:
        begun.set()
        both.wait(60)
        return script(asked) if callable(script) else script

    return given


def _holders(folder: Path) -> set[str]:
    """Return who has played, or is playing, a turn."""
    with closing(sqlite3.connect(folder / "arena.db")) as reader:
        return {holder for (holder,) in reader.execute("SELECT holder FROM claim")}


def under_budget(agents: Sequence[tuple[str, str]], budget: float = BUDGET) -> tuple[float, bool]:
    """Return the dollars charged by two processes under this budget, and whether they worked at once.

    A provider's own search is refused with a budget, so nobody searches.
    """
    agents = [(wire, mode) for wire, mode in agents if MODES[mode].settings != SEARCH]
    with TemporaryDirectory() as name, wires() as server:
        folder = Path(name)
        begun = Event()
        both = Event()
        _write(folder, server, agents, "budget: {arena: 0.000001}\n")
        arena(
            folder, "run", "--round"
        )  # a first round, in which nobody can be asked; then a second cohort is due
        _write(folder, server, agents, f"budget: {{arena: {budget}}}\n")
        for wire, mode in agents:
            server.script(f"{wire}-{mode}", *(_held(each, begun, both) for each in MODES[mode].script))
        earlier = _holders(folder)
        processes = []
        for _ in range(2):
            processes.append(loaded().start(folder, "run", "--round", "--at", "2026-01-11T00:00Z"))
            while processes[0].runs and not begun.wait(0.01):
                pass
        while processes[1].runs and len(_holders(folder) - earlier) < 2:
            sleep(0.05)
        at_once = processes[0].runs
        both.set()
        ended = {each.wait() for each in processes}
        return sum(map(dollars, server.log)), at_once and ended <= {0, 2}


def main() -> None:
    """Play all of them."""
    found = list(rows(names()))
    charged, at_once = under_budget(names())
    kept = 0 < charged <= BUDGET and at_once
    words = f"A budget of ${BUDGET:.2f}, two processes at once: ${charged:.6f} charged"
    print(TITLE, *found, words if kept else f"{words}: FAILED", sep="\n")  # noqa: T201 - what it is for
    failed = sum(bool(row.faults) for row in found) + (not kept)
    print(f"{len(found) + 1 - failed} passed, {failed} failed")  # noqa: T201
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
