"""`arena show turn`: a turn as it was played, and with --play one that leaves no trace in the record."""

import json
import signal
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from time import sleep
from typing import Any

import pytest

from agents.prompts.answer_schema import answer_schema
from arena.clock import now
from tests.program.in_process import run, said
from tests.program.running import loaded, simulated_config
from tests.provider.replies import GOOD, says
from tests.provider.server import FaultyProvider, faulty
from tests.rows import rows_in
from tests.venue_server.polymarket import CLOB, GAMMA, PolymarketWire, a_book, a_market
from tests.venue_server.server import HTML, venue_server

PRICE = "price: {input: 1, output: 4}"
SHARP = f"{{name: sharp, model: demo/sharp, {PRICE}}}"
PLAYERS = (SHARP, "{kind: random}", "{kind: kelly, of: sharp}")


@pytest.fixture
def server() -> Iterator[FaultyProvider]:
    with faulty() as started:
        yield started


def write(folder: Path, *agents: str, cohorts: str = "", budget: str = "{}") -> Path:
    """Write a config of these agents."""
    more = f"budget: {budget}\n"
    simulated_config(folder, *agents, show=6, cohorts=f"rounds: 4, count: 2{cohorts}", more=more)
    return folder


def asks(model: str, server: FaultyProvider, more: str = "") -> str:
    """Return an agent called eve that asks the faulty provider."""
    return f'{{name: eve, model: openai/{model}, base_url: "{server.url}", {PRICE}, timeout: 20s{more}}}'


def tried(folder: Path, *words: str, status: int = 0) -> Any:
    """Return the output of a try, after checking that the folder is as it was before."""
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    found = said(folder, "show", "turn", "--play", *words, status=status)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    return found


def copy(folder: Path, other: Path) -> None:
    """Copy the record of a folder into another one."""
    (other / "arena.db").write_bytes((folder / "arena.db").read_bytes())


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return three decision times, in which sharp, random and kelly played all."""
    folder = write(tmp_path_factory.mktemp("played"), *PLAYERS)
    for _ in range(3):
        said(folder, "run", "--round")
    return folder


TURN = """
SELECT turn.id, turn.cash FROM turn JOIN round ON round.id = turn.round_id
JOIN entrant ON entrant.id = turn.entrant_id JOIN cohort ON cohort.id = round.cohort_id
WHERE entrant.name = ? AND cohort.number = ? AND round.number = ?
"""
NEWEST_CALL = """
SELECT messages, seed, reply, cost FROM call JOIN round ON round.id = call.round_id
WHERE round.cohort_id = 2 AND round.number = 2
"""
FILL = "market_id, side, action, shares, amount, fee"


def turn_of(folder: Path, name: str, cohort: int, number: int) -> dict[str, Any]:
    """Return a recorded turn in the form of a try's output."""
    ((turn, cash),) = rows_in(folder / "arena.db", TURN, name, cohort, number)
    stated = rows_in(
        folder / "arena.db", "SELECT market_id, stage, probability FROM forecast WHERE turn_id = ?", turn
    )
    fills = rows_in(folder / "arena.db", f"SELECT {FILL} FROM fill WHERE turn_id = ?", turn)
    return {
        "cash": cash / 1e6,
        "forecasts": sorted((market, stage, p / 1e6) for market, stage, p in stated),
        "fills": sorted((*row[:3], *(amount / 1e6 for amount in row[3:])) for row in fills),
    }


def outcome(found: Any) -> dict[str, Any]:
    """Return what a try says about a turn, in the same form."""
    forecasts = [(x["market"], x["stage"], x["probability"]) for x in found["decision"]["forecasts"]]
    keys = ("market", "side", "action", "shares", "amount", "fee")
    fills = [tuple(fill[key] for key in keys) for fill in found["fills"]]
    return {"cash": found["cash"], "forecasts": sorted(forecasts), "fills": sorted(fills)}


@pytest.mark.parametrize(
    ("name", "at", "cohort", "number"),
    [
        ("sharp", (), 2, 2),
        ("kelly", (), 2, 2),
        ("random", ("--at", "2026-01-11"), 2, 1),
        ("kelly", ("--at", "2026-01-04"), 1, 1),
    ],
)
def test_an_agent_that_plays_does_again_what_it_did(
    name: str, at: tuple[str, ...], cohort: int, number: int, played: Path
) -> None:
    found = tried(played, name, *at)
    assert (found["cohort"], found["round"], found["fresh"]) == (cohort, number, False)
    assert (found["changed"], found["missing"]) == ({}, [])
    assert outcome(found) == turn_of(played, name, cohort, number)
    assert outcome(found)["forecasts"]


@pytest.mark.parametrize(
    ("words", "cohort", "number"),
    [
        (("sharp",), 2, 2),
        (("kelly",), 2, 2),
        (("sharp", "--cohort", "1"), 1, 3),
        (("random", "--at", "2026-01-11"), 2, 1),
        (("random", "--at", "2026-01-11", "--cohort", "1"), 1, 2),
    ],
)
def test_a_recorded_turn_is_shown_as_it_was_played(
    words: tuple[str, ...], cohort: int, number: int, played: Path
) -> None:
    shown = said(played, "show", "turn", *words)
    assert (shown["cohort"], shown["round"], shown["recorded"], shown["dry"]) == (cohort, number, True, False)
    assert outcome(shown) == turn_of(played, words[0], cohort, number)
    assert outcome(shown)["forecasts"]


def test_a_turn_has_one_form_whether_it_is_recorded_or_played_now(played: Path) -> None:
    shown = said(played, "show", "turn", "sharp")
    now_played = tried(played, "sharp")
    assert shown | {"recorded": False} == now_played | {"questions": shown["questions"]}
    for before, after in zip(shown["questions"], now_played["questions"], strict=True):
        timed = ("latency_ms",)
        for answers in (before["answers"], after["answers"]):
            assert [answers[0].pop(name) >= 0 for name in timed] == [True]
        assert before == after
    page = run(played, "show", "turn", "sharp").stdout
    for words in (
        "== Question 1 of 1: final",
        "-- system",
        "== The turn is played",
        "Forecasts",
        "1 call, $",
    ):
        assert words in page


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        (("nobody",), 1, "no_agent"),
        (("sharp", "--cohort", "9"), 1, "no_cohort"),
        (("sharp", "--at", "2026-01-05"), 1, "no_turn"),
        (("sharp", "--dry"), 64, "not_together"),
        (("sharp", "--play", "--cohort", "1"), 64, "not_together"),
    ],
)
def test_a_turn_that_is_not_there_is_told(
    words: tuple[str, ...], status: int, code: str, played: Path
) -> None:
    error = said(played, "show", "turn", *words, status=status)["error"]
    assert error["code"] == code
    if code == "not_together":
        assert "--play" in error["message"]


def test_the_prompt_is_the_very_one_that_the_record_holds_and_so_is_the_cost(played: Path) -> None:
    ((messages, seed, reply, cost),) = rows_in(played / "arena.db", NEWEST_CALL)
    for words in ((), ("--dry",)):
        (question,) = tried(played, "sharp", *words)["questions"]
        assert question["messages"] == json.loads(messages)
        assert question["seed"] == seed
        if not words:
            (answer,) = question["answers"]
            assert (answer["reply"], answer["cost_usd"]) == (reply, cost / 1e6)
            assert answer["cost_usd"] < question["worst_usd"]


def test_when_dry_no_call_is_made_and_every_question_is_shown(tmp_path: Path, server: FaultyProvider) -> None:
    write(tmp_path, asks("plays", server, ", prices: after, max_tokens: 1000"))
    found = tried(tmp_path, "eve", "--dry")
    assert server.requests.total() == 0
    assert [question["stage"] for question in found["questions"]] == ["blind", "final"]
    assert (found["decision"], found["dry"]) == (None, True)
    for question in found["questions"]:
        sent = sum(len(message["content"].encode()) + 32 for message in question["messages"])
        sent += len(json.dumps(answer_schema(question["stage"] == "final")).encode())
        assert question["worst_usd"] == pytest.approx((sent * 1 + 1_000 * 4) / 1e6)
        assert 0 < question["tokens"] < sent
    total = sum(question["worst_usd"] for question in found["questions"])
    assert found["worst_usd"] == pytest.approx(total)
    told = run(tmp_path, "show", "turn", "--play", "eve", "--dry").stdout
    assert "Question 2 of 2: final" in told
    assert f"No call was made. These questions would cost at most ${total:,.4f}." in told
    assert '{"forecasts": [], ' not in told


def test_a_new_agent_has_a_fresh_bankroll_the_configs_rules_and_the_newest_snapshot(
    played: Path, tmp_path: Path
) -> None:
    copy(played, tmp_path)
    poor = ", bankroll: 700, rules: {from: seed, min_bet: 7, fill: mid}"
    write(tmp_path, *PLAYERS, "{kind: random, name: new}", cohorts=poor)
    found = tried(tmp_path, "new")
    assert (found["cohort"], found["at"][:10], found["fresh"]) == (2, "2026-01-18", True)
    assert (found["cash"], found["total"]) == (700, 700)
    assert {bet["amount"] for bet in found["decision"]["bets"]} == {7}
    assert {fill["fee"] for fill in found["fills"]} == {0}
    assert found["markets"] == tried(played, "random")["markets"]


def test_what_was_changed_in_the_config_since_is_tried_and_told(played: Path, tmp_path: Path) -> None:
    copy(played, tmp_path)
    write(tmp_path, SHARP[:-1] + ", max_tokens: 900}", "{kind: random, bets: 1}")
    assert tried(tmp_path, "random")["changed"] == {"bets": {"was": 3, "is": 1}}
    assert len(tried(tmp_path, "random")["decision"]["bets"]) == 1
    assert tried(tmp_path, "sharp", "--dry")["changed"] == {"max_tokens": {"was": 16_000, "is": 900}}
    assert tried(tmp_path, "kelly")["changed"] == {}  # only in the record
    told = run(tmp_path, "show", "turn", "--play", "random").stdout
    assert "changed since cohort 2: bets: 1, was 3" in told
    assert "goes into the config's agents" in tried(tmp_path, "contrary", status=1)["error"]["mend"]


def test_where_nothing_was_played_the_venue_is_looked_at_and_nothing_is_made(tmp_path: Path) -> None:
    write(tmp_path, *PLAYERS)
    found = tried(tmp_path, "random")
    assert (found["cohort"], found["at"][:10], found["markets"]) == (None, "2026-01-04", 6)
    assert len(found["fills"]) == 3
    assert tried(tmp_path, "random", "--at", "2026-01-18")["at"][:10] == "2026-01-18"
    error = tried(tmp_path, "random", "--at", "2031-01-01", status=1)["error"]
    assert error["code"] == "nothing_shown"


def test_one_made_from_others_needs_what_they_said(played: Path, tmp_path: Path) -> None:
    write(tmp_path, *PLAYERS)
    error = tried(tmp_path, "kelly", status=1)["error"]
    assert (error["code"], "sharp" in error["message"]) == ("nothing_stated", True)
    copy(played, tmp_path)
    write(tmp_path, *PLAYERS, "{kind: kelly, name: new, of: random}", "{kind: kelly, name: newer, of: new}")
    assert [x["probability"] for x in tried(tmp_path, "new")["decision"]["forecasts"]] == [
        p for _, _, p in turn_of(tmp_path, "random", 2, 2)["forecasts"]
    ]
    assert tried(tmp_path, "newer", status=1)["error"]["code"] == "nothing_stated"


def test_one_made_from_several_plays_without_those_that_are_missing_and_says_so(
    played: Path, tmp_path: Path
) -> None:
    copy(played, tmp_path)
    write(tmp_path, *PLAYERS, "{kind: constant, name: new}", "{kind: crowd, of: [new, sharp]}")
    found = tried(tmp_path, "crowd")
    assert found["missing"] == ["new"]
    assert outcome(found)["forecasts"] == turn_of(tmp_path, "sharp", 2, 2)["forecasts"]
    assert "new made no forecast in this round" in run(tmp_path, "show", "turn", "--play", "crowd").stdout


NEWS = """\
from agents.evidence import FoundArticle
from agents.research.none import Settings


class Paper:
    async def articles(self, market, at):
        return [FoundArticle("Paper", "", "News", "Something.", "2026-01-10")]

    async def close(self):
        pass


def research(settings, report):
    return Paper()
"""
READER = """\
from agents.model import Decision, Forecast


def decide(view, ask):
    counts = {x.market.id: len(view.evidence.get(x.market.id, ())) for x in view.snapshot.shown}
    return Decision(tuple(Forecast(m, millionths=500_000 + n) for m, n in counts.items()))
"""


def test_evidence_is_that_of_the_round_or_gathered_and_not_kept(tmp_path: Path) -> None:
    (tmp_path / "extensions" / "research").mkdir(parents=True)
    (tmp_path / "extensions" / "research" / "paper.py").write_text(NEWS, "utf-8")
    (tmp_path / "extensions" / "reader.py").write_text(READER, "utf-8")
    write(tmp_path, "{kind: python, name: reader, function: reader:decide}")
    config = tmp_path / "config.yaml"
    config.write_text(config.read_text("utf-8") + "evidence: {from: paper}\n", "utf-8")

    def read(*words: str) -> set[float]:
        found = said(tmp_path, "show", "turn", "--play", "reader", *words)
        return {x["probability"] for x in found["decision"]["forecasts"]}

    assert (read(), read("--at", "2026-01-18")) == ({0.5}, {0.500001})
    assert not (tmp_path / "arena.db").exists()
    for _ in range(3):
        said(tmp_path, "run", "--round")
    record = (tmp_path / "arena.db").read_bytes()
    other = NEWS.replace("[FoundArticle(", "[] and [FoundArticle(")  # nothing new: the kept one is shown
    (tmp_path / "extensions" / "research" / "paper.py").write_text(other, "utf-8")
    assert (read(), read("--at", "2026-01-04")) == ({0.500001}, {0.5})
    assert (tmp_path / "arena.db").read_bytes() == record


def test_samples_and_batches_are_all_shown_and_made(tmp_path: Path, server: FaultyProvider) -> None:
    write(tmp_path, asks("plays", server, ", samples: 2, batch: 4"))
    places = [(1, 1), (1, 2), (2, 1), (2, 2)]  # six markets, four a question
    for words in (("--dry",), ()):
        found = tried(tmp_path, "eve", *words)
        texts = [question["messages"][-1]["content"] for question in found["questions"]]
        assert [
            (x["sample"], 1 + ("### m5" in text)) for x, text in zip(found["questions"], texts, strict=True)
        ] == places
        assert server.requests.total() == (0 if words else 4)
        assert words or found["cost_usd"] == pytest.approx(4 * (1_001 * 1 + 200 * 4) / 1e6)
    assert (
        "The same prompt as question 1, with another seed."
        in run(tmp_path, "show", "turn", "--play", "eve").stdout
    )


LIVE = """\
markets:
  venue: polymarket
  min_volume: 0
  polymarket: {{url: "{url}{gamma}", book_url: "{url}{clob}", per_second: 1000}}
agents:
  - kind: random
"""


def test_a_live_venue_is_looked_at_now_and_where_it_is_down_that_is_told(tmp_path: Path) -> None:
    with venue_server() as venue:
        ends = f"{now() + timedelta(days=30):%Y-%m-%dT%H:%M:%SZ}"
        market = a_market("1001", endDate=ends, bestBid=0.4, bestAsk=0.42, lastTradePrice=0.4)
        book = a_book("1001", [("0.40", "900")], [("0.42", "900")])
        PolymarketWire([market], books=[book]).serve(venue)
        text = LIVE.format(url=venue.url, gamma=GAMMA, clob=CLOB)
        (tmp_path / "config.yaml").write_text(text, "utf-8")
        found = tried(tmp_path, "random")
        assert (found["cohort"], found["markets"], len(found["fills"])) == (None, 1, 1)
        assert tried(tmp_path, "random", "--at", "2026-01-04", status=1)["error"]["code"] == "live_venue"
        venue.fail(f"{GAMMA}/markets/keyset", HTML, forever=True)
        error = tried(tmp_path, "random", status=1)["error"]
        assert error["code"] == "not_json"
        assert "arena run --round" not in error["mend"]


def test_a_bad_item_is_refused_and_the_good_ones_are_filled(tmp_path: Path, server: FaultyProvider) -> None:
    write(tmp_path, asks("plays", server))
    server.script("plays", says(GOOD.replace('"sales"', '"bets_": [], "sales"').replace("120", "9000")))
    found = tried(tmp_path, "eve")
    assert {x["probability"] for x in found["decision"]["forecasts"]} == {0.4}
    assert (len(found["decision"]["bets"]), found["fills"]) == (1, [])
    assert [item["code"] for item in found["rejections"]] == ["over_cap"]
    server.script("plays", says(GOOD))
    assert [fill["amount"] for fill in tried(tmp_path, "eve")["fills"]] == [120]


def test_a_key_that_is_refused_is_told_and_not_shown(
    tmp_path: Path, server: FaultyProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVE_KEY", "canary-key-12345")
    write(tmp_path, asks("401", server, ", api_key_env: EVE_KEY"))
    found = tried(tmp_path, "eve", status=2)
    assert found["decision"]["status"] == "failed"
    assert found["questions"][0]["answers"][0]["error"]["code"] == "auth"
    assert "canary-key-12345" not in json.dumps(found)
    assert "canary-key-12345" in server.key
    assert "no answer, $0.000000: auth" in run(tmp_path, "show", "turn", "--play", "eve").stdout


def test_without_its_key_a_model_is_not_asked_but_can_be_tried_dry(
    tmp_path: Path, server: FaultyProvider
) -> None:
    write(tmp_path, asks("plays", server, ", api_key_env: EVE_KEY"), "{model: anthropic/else, " + PRICE + "}")
    error = tried(tmp_path, "eve", status=1)["error"]
    assert (error["code"], error["message"]) == ("no_key", "EVE_KEY is not set, and eve needs it")
    assert tried(tmp_path, "eve", "--dry")["questions"]
    assert server.requests.total() == 0


def test_the_budget_holds(played: Path, tmp_path: Path, server: FaultyProvider) -> None:
    write(tmp_path, asks("plays", server), budget="{call: 0.001}")
    found = tried(tmp_path, "eve", status=2)
    assert "over the budget of $0.0010 a call" in found["decision"]["note"]
    assert (
        "over the budget of $0.0010 a call" in run(tmp_path, "show", "turn", "--play", "eve", "--dry").stdout
    )
    assert server.requests.total() == 0


def test_the_arenas_budget_knows_what_the_record_has_spent(played: Path, tmp_path: Path) -> None:
    copy(played, tmp_path)
    ((spent,),) = rows_in(tmp_path / "arena.db", "SELECT sum(cost) FROM call")
    worst = tried(played, "sharp", "--dry")["worst_usd"]
    write(tmp_path, *PLAYERS, budget=f"{{arena: {spent / 1e6 + worst:.6f}, agent: {worst}}}")
    assert tried(tmp_path, "sharp")["decision"]["status"] == "played"
    write(tmp_path, *PLAYERS, budget=f"{{arena: {spent / 1e6 + worst - 1e-6:.6f}}}")
    assert "of the arena's" in tried(tmp_path, "sharp", status=2)["decision"]["note"]


def test_what_a_model_says_is_shown_as_text(tmp_path: Path, server: FaultyProvider) -> None:
    write(tmp_path, asks("plays", server))
    shout = '{"forecasts": [{"market": "m1\x1b[2J", "probability": 2}]}'
    evil = f"[red]boo[/red] \x1b]0;owned\x07\x1b[31m \u202e \x9b31m {shout}"
    server.script("plays", says(evil, model="bad\x1b[31m[b]", system_fingerprint="\x9bfp"))
    told = run(tmp_path, "show", "turn", "--play", "eve").stdout
    assert "[red]boo[/red]" in told
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(told)


def test_stopped_while_a_model_hangs_nothing_is_written(tmp_path: Path, server: FaultyProvider) -> None:
    write(tmp_path, asks("hang", server))
    asking = loaded().start(tmp_path, "show", "turn", "--play", "eve", "--json")
    while not server.requests.total():
        assert asking.runs, asking.said()
        sleep(0.05)
    asking.signal(signal.SIGINT)
    assert asking.wait() == 130
    assert json.loads(asking.said())["error"]["code"] == "interrupted", "and nothing else is said"
    asking.log.unlink()
    assert [path.name for path in tmp_path.iterdir()] == ["config.yaml"]
