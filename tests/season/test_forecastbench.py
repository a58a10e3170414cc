"""A round of ForecastBench, there and back: fetched, answered though killed, filed, resolved and ranked."""

import json
import re
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import fmean, geometric_mean, median
from typing import Any
from unittest.mock import ANY

import pytest

from arena.verify import verify
from tests.arena.scores.files.test_forecastbench import QUESTIONS
from tests.program.forked import Forked
from tests.program.running import arena, loaded
from tests.program.running import arena_json as answer
from tests.provider.replies import NAMED, Asked, says
from tests.provider.server import FaultyProvider, faulty
from tests.rows import read_only
from tests.serving import Reply, Request

AGENTS, QUESTION_COUNT, ROWS, AT_ONCE = 8, 15, 20, 4
DUE = "2026-03-01"
TOKENS_IN, TOKENS_OUT = 1_000, 100
CENTS = (TOKENS_IN * 1 + TOKENS_OUT * 4) / 1_000_000
"""What a question costs, in dollars."""
MOST = 0.01
"""What a question costs at most: a thousand tokens out, and not that many in."""


ASKED = re.compile(r"^### (m[0-9]+)$[^#]*Is ([0-9]+) odd", re.MULTILINE)
"""A market of the prompt, and the number that it is about."""


def chance(model: str, number: int) -> float:
    """Return a model's forecast for a number: right, and surer the higher its own number is."""
    edge = int(model.rpartition("-")[2]) * 0.05
    return round(0.5 + (edge if number % 2 else -edge), 2)


def answered(call: Asked) -> Reply:
    """Return a forecast for every market that the question names."""
    text = "".join(str(message["content"]) for message in call.body["messages"] if message["role"] == "user")
    forecasts = [
        {"market": name, "reason": "so it is", "probability": chance(call.model, int(number))}
        for name, number in ASKED.findall(text)
    ]
    usage = {"prompt_tokens": TOKENS_IN, "completion_tokens": TOKENS_OUT}
    return says(json.dumps({"forecasts": forecasts}), usage=usage)


@pytest.fixture
def provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyProvider]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    with faulty(0.02) as server:
        for number in range(1, AGENTS + 1):
            server.script(f"fake-{number}", answered)
        yield server


def world(folder: Path, provider: FaultyProvider, budget: str = "{arena: 10}") -> None:
    """Write a config with eight agents, a clock, and the published files of a round."""
    lines = [
        "database: arena.db",
        "markets: {venue: polymarket, show: 10}",
        f"budget: {budget}",
        f"calls: {{per_provider: {AT_ONCE}}}",
        "agents:",
        *(
            f"  - {{name: a{number}, model: openai/fake-{number}, base_url: '{provider.url}', "
            "max_tokens: 1000, price: {input: 1, output: 4}}"
            for number in range(1, AGENTS + 1)
        ),
        "  - {kind: crowd, name: together, of: [a1, a2, a3]}",
        "  - kind: market",
    ]
    (folder / "config.yaml").write_text("\n".join(lines))
    (folder / "clock").write_text("2026-02-28T12:00Z\n")
    questions = json.loads(json.dumps(QUESTIONS))
    questions["questions"] = questions["questions"][:10] + questions["questions"][20:25]
    for one in questions["questions"]:
        one["question"] = f"Is {str(one['id'])[1:]} odd?"
        one["freeze_datetime"] = "2026-02-19T00:00:00+00:00"
    publish(folder, "question_sets", f"{DUE}-llm.json", questions)


def publish(folder: Path, kind: str, name: str, data: Any) -> None:
    """Put a file where it is published."""
    place = folder / "published" / kind
    place.mkdir(parents=True, exist_ok=True)
    (place / name).write_text(json.dumps(data))


def resolved(folder: Path, **changes: float) -> None:
    """Publish how questions ended: odd ones YES; with changes, by id."""
    data = [
        {"id": f"d{i}", "source": "fred", "direction": None, "resolution_date": day, "resolved": True,
         "resolved_to": changes.get(f"d{i}", float(i % 2))}
        for i in range(5)
        for day in ("2026-03-08", "2026-03-31")
    ]  # fmt: skip
    markets = [
        {"id": f"m{i}", "source": "manifold", "direction": None, "resolution_date": "2026-03-20",
         "resolved": i > 0, "resolved_to": changes.get(f"m{i}", 0.4 if i == 0 else float(i % 2))}
        for i in range(10)
    ]  # fmt: skip
    name = f"{DUE}_resolution_set.json"
    header = {"forecast_due_date": DUE, "question_set": f"{DUE}-llm.json"}
    publish(folder, "resolution_sets", name, header | {"resolutions": data + markets})


RUN = ("study", "forecastbench", "run", "--baselines", "--prices", "--yes", "--clock", "clock")
BOARD = ("study", "forecastbench", "board", "--mode", "paper")
FROM = ("--from", "published", "--clock", "clock")


def stop_after(
    folder: Path,
    provider: FaultyProvider,
    asked: int,
    words: Sequence[str] = RUN,
    by: signal.Signals = signal.SIGKILL,
) -> Forked:
    """Let the agents answer until so many questions were asked, and end them by a signal."""
    started = list[Forked]()
    ended = list[int]()
    whole = provider.respond

    def respond(request: Request) -> Reply:
        if len(provider.log) >= asked and started and not ended:
            ended.append(by)
            started[0].signal(by)
        return whole(request)

    vars(provider)["respond"] = respond
    started.append(loaded().start(folder, *words, "--json"))
    assert started[0].wait() == (130 if by == signal.SIGINT else -by)
    del vars(provider)["respond"]
    return started[0]


def arena_json(*words: str, status: int = 0) -> Any:
    """Return what `arena … --json` answers, in the folder of the test."""
    return answer(Path(), *words, status=status)


def is_clean(folder: Path) -> bool:
    """Tell whether `arena admin verify` finds nothing."""
    with read_only(folder / "arena.db") as connection:
        return verify(connection) == []


def test_a_round_there_and_back(tmp_path: Path, provider: FaultyProvider) -> None:
    """Killed at three calls, nothing is paid twice; what was filed is scored as what is in the record."""
    world(tmp_path, provider)
    told = arena_json(*RUN[:-3], "--dry", *FROM)
    fetched = told["set"]
    assert (fetched["new"], fetched["rows"]) == (True, {"market": 10, "dataset": 10})
    assert (told["estimate"]["calls"]["low"], told["asked"], provider.log) == (
        AGENTS * QUESTION_COUNT,
        False,
        [],
    )
    kills = (20, 45, 75)
    for count in kills:
        stop_after(tmp_path, provider, count)
    found = arena_json(*RUN)
    questions = AGENTS * QUESTION_COUNT
    assert questions <= len(provider.log) <= questions + len(kills) * AT_ONCE
    agents = {one["agent"]: one for one in found["agents"]}
    assert agents.pop("market")["forecasts"] == 10  # data questions have no price
    assert {one["forecasts"] for one in agents.values()} == {ROWS}
    assert {one["status"] for one in agents.values()} == {"played"}
    for number in range(1, AGENTS + 1):
        one = agents[f"a{number}"]
        assert (one["calls"], one["usd_known"]) == (QUESTION_COUNT, round(QUESTION_COUNT * CENTS, 6))
        assert (one["usd"] is None) == (one["usd_more_at_most"] > 0)
    total = found["total"]
    assert total["usd_known"] == pytest.approx(questions * CENTS, abs=1e-9)
    lost = len(provider.log) - questions  # asked when the process was killed, and may be charged for
    assert lost * CENTS <= total["usd_more_at_most"] <= len(kills) * AT_ONCE * MOST
    assert found["late"] is False
    asked = len(provider.log)
    assert arena_json(*RUN)["agents"] == found["agents"]
    assert len(provider.log) == asked

    arena_json("study", "forecastbench", "file", "--as", "us", "--model", "a8", "-o", "filed")
    filed = f"filed/{DUE}.us.1.json"
    assert arena_json("study", "forecastbench", "file", "--check", filed)["faults"] == []
    submitted = json.loads((tmp_path / filed).read_text())
    row = next(
        one for one in submitted["forecasts"] if (one["id"], one["resolution_date"]) == ("d3", "2026-03-31")
    )
    assert (row["forecast"], row["reasoning"]) == (0.9, "so it is")

    (tmp_path / "clock").write_text("2026-03-12T00:00Z\n")
    for version, changes in enumerate(({}, {"m0": 0.6}, {"d3": 0.0}), 1):
        resolved(tmp_path, **changes)
        (one,) = arena_json(*BOARD, "--fetch", *FROM)["fetched"]["rounds"]
        assert (one["version"], one["is_new"], len(one["corrected"])) == (version, True, 2 * (version == 3))
    rows = {one["forecaster"]: one for one in arena_json(*BOARD, filed, "--agents")["rows"]}
    here = {"Naive Forecaster", "Imputed Forecaster", "Random Uniform"}
    assert {"a8", "a8 (scratchpad with freeze values)", *here} <= set(rows)
    kept = rows["a8 (scratchpad with freeze values)"]
    file = rows["a8"]
    assert [kept[name] for name in ("dataset", "market")] == [file[name] for name in ("dataset", "market")]
    assert file["dataset"] == pytest.approx((8 * 0.1**2 + 2 * 0.9**2) / 10)
    assert file["market"] == pytest.approx((9 * 0.1**2 + 0.3**2) / 10)
    assert rows["Always 0.5"]["dataset"] == pytest.approx(0.25)
    assert rows["Imputed Forecaster"]["market"] == pytest.approx((5 * 0.75**2 + 4 * 0.25**2 + 0.15**2) / 10)

    assert is_clean(tmp_path)
    (answers,) = arena_json("share", "report", "--method", "-o", "method.md")["benchmark"]
    costs = {one["agent"]: one["cost"] for one in answers["agents"]}
    assert costs["a1"] == pytest.approx(QUESTION_COUNT * CENTS)
    assert answers["sha256"] == fetched["sha256"]
    assert set(answers["forecasts"].values()) == {ROWS, 10}
    text = (tmp_path / "method.md").read_text()
    assert all(words in text for words in (fetched["sha256"], "scratchpad with freeze values", "version 3"))
    assert "## Statistics" not in text
    arena_json("share", "export", "exported")
    arena_json("admin", "restore", "exported", "--database", "again.db")
    again = arena_json(*BOARD, filed, "--agents", "--database", "again.db")["rows"]
    assert {one["forecaster"]: one for one in again} == rows
    assert arena_json("show", "cohorts")["cohorts"] == []


def test_several_questions_at_once_and_ctrl_c(tmp_path: Path, provider: FaultyProvider) -> None:
    """Four questions a call: stopped between calls, it goes on with those that were not answered."""
    world(tmp_path, provider)
    batched = ("study", "forecastbench", "run", "--clock", "clock", "--batch", "4")
    calls = AGENTS * -(-QUESTION_COUNT // 4)
    assert arena_json(*batched, "--dry", *FROM[:2])["estimate"]["calls"]["low"] == calls
    for count in (5, 17):
        stopped = stop_after(tmp_path, provider, count, (*batched, "--yes"), signal.SIGINT)
        error = json.loads(stopped.said().partition("\n")[2])["error"]
        assert (error["code"], "what was answered is kept" in error["message"]) == ("interrupted", True)
        assert is_clean(tmp_path)
    left = arena_json(*batched, "--dry")
    before = len(provider.log)
    found = arena_json(*batched, "--yes")
    assert len(provider.log) - before == left["estimate"]["calls"]["low"] <= calls - 17 + 2 * AT_ONCE
    assert {one["forecasts"] for one in found["agents"] if one["agent"] != "market"} == {ROWS}
    assert found["total"]["usd_known"] == pytest.approx(calls * CENTS)
    assert is_clean(tmp_path)
    arena_json("study", "forecastbench", "file", "--as", "us", "--model", "a3", "-o", "filed")
    rows = json.loads((tmp_path / f"filed/{DUE}.us.1.json").read_text())["forecasts"]
    assert [row["forecast"] for row in rows] == [chance("fake-3", int(row["id"][1:])) for row in rows]


def test_a_budget_stops_it_and_more_money_goes_on(tmp_path: Path, provider: FaultyProvider) -> None:
    """Nobody goes past the limit, and what was answered before is not asked for again."""
    world(tmp_path, provider, "{arena: 0.03}")
    only = (*RUN, "--from", "published", "--agent", "a1", "--agent", "a2")
    short = arena_json(*only, status=2)
    assert 0.015 < short["total"]["usd"] <= 0.03
    a1, a2, *baselines = short["agents"]
    assert (a1["status"], a2["status"], "budget" in a1["note"]) == ("failed", "failed", True)
    assert {one["status"] for one in baselines} == {"played"}
    world(tmp_path, provider)
    found = arena_json(*only)
    assert found["total"]["usd"] == pytest.approx(2 * QUESTION_COUNT * CENTS, abs=1e-9)
    assert len(provider.log) == 2 * QUESTION_COUNT
    assert is_clean(tmp_path)


def test_an_arenas_agents_get_the_sites_adjustment(tmp_path: Path, provider: FaultyProvider) -> None:
    """Named agents play beside the baselines, and those bear the names by which the site adjusts."""
    world(tmp_path, provider)
    found = arena_json(*RUN, "--from", "published", "--agent", "a1")
    baselines = {"always-0", "always-0.5", "always-1", "random-uniform", "freeze-value", "naive"}
    assert {one["agent"] for one in found["agents"]} == {"a1", *baselines}
    later = arena_json(*RUN)
    assert later["left_out"] == {"together": ANY}
    assert "a1" not in [one["agent"] for one in later["agents"] if one["cohort"] == 2]

    resolved(tmp_path)
    (tmp_path / "clock").write_text("2026-04-19T00:00Z\n")
    board = ("study", "forecastbench", "board", "--clock", "clock")
    waiting = arena_json(*board, "--fetch", "--from", "published", status=1)["error"]["message"]
    assert "the round due 2026-03-01: due 49 days ago" in waiting
    made = arena_json(*board, "--every-round")
    rows = {row["forecaster"]: row for row in made["rows"]}
    assert rows["a1 (scratchpad with freeze values)"]["skill_overall"] is not None
    adjusted_by_price = arena_json(*board, "--every-round", "--difficulty", "market_brier")
    assert adjusted_by_price["rows"] == made["rows"]
    assert [note for note in made["notes"] if "made here" in note]
    assert not [note for note in made["notes"] if "is not there" in note or "no BSS" in note]


PROMPTS = {"base_rates": "look at how often", "odds": "think in odds", "two_passes": "make up your mind"}
"""The three prompts of the paper's crowd, and what tells them apart."""
POOLS: dict[str, Callable[[list[float]], float]] = {
    "median": median,
    "geometric_mean": geometric_mean,
    "geometric_mean_of_odds": lambda ps: 1 / (1 + 1 / geometric_mean(p / (1 - p) for p in ps)),
}


def said_by(model: int, prompt: str, number: int) -> float:
    """Return one of the nine's answer to a question, each another one."""
    edge = 0.08 * model + 0.05 * [*PROMPTS].index(prompt) + 0.01 * number
    return round(0.5 + (edge if number % 2 else -edge), 2)


def of_the_nine(call: Asked) -> Reply:
    """Return the answer of a model to one of the three prompts."""
    text = "".join(str(message["content"]) for message in call.body["messages"])
    (prompt,) = (name for name, words in PROMPTS.items() if words in text)
    number = int(re.findall(r"Is (\d+) odd", text)[0])
    chance = said_by(int(call.model[-1]), prompt, number)
    forecasts = [{"market": name, "reason": prompt, "probability": chance} for name in NAMED.findall(text)]
    return says(json.dumps({"forecasts": forecasts}))


def test_the_papers_crowd_there_and_back(tmp_path: Path, provider: FaultyProvider) -> None:
    """Three models by three prompts, combined in the paper's three ways; each is filed and ranked."""
    world(tmp_path, provider)
    for model in (1, 2, 3):
        provider.script(f"fake-{model}", of_the_nine)
    nine = [(model, prompt) for model in (1, 2, 3) for prompt in PROMPTS]
    head = (tmp_path / "config.yaml").read_text().partition("agents:")[0]
    head += "cohorts: {hidden: 1}\n"  # which is for cohorts that play markets
    of = ", ".join(f"m{model}-{prompt}" for model, prompt in nine)
    lines = [
        f"  - {{name: m{model}-{prompt}, model: openai/fake-{model}, prompt: superforecaster_{prompt}, "
        f"base_url: '{provider.url}', max_tokens: 1000, price: {{input: 1, output: 4}}}}"
        for model, prompt in nine
    ] + [f"  - {{kind: crowd, name: {method}, method: {method}, of: [{of}]}}" for method in POOLS]
    (tmp_path / "config.yaml").write_text("\n".join([f"{head}agents:", *lines]))
    asking = ("study", "forecastbench", "run", "--prompt", "own", "--yes", *FROM)
    with pytest.raises(AssertionError, match="no prompt superforecaster_base_rates shows prices"):
        arena_json(*asking, "--prices")
    found = arena_json(*asking)
    assert found["method"] == "own prompts"
    assert {one["forecasts"] for one in found["agents"]} == {ROWS}
    assert len(provider.log) == len(nine) * QUESTION_COUNT

    (tmp_path / "clock").write_text("2026-03-12T00:00Z\n")
    resolved(tmp_path)
    filed = []
    for number, (method, pool) in enumerate(POOLS.items(), 1):
        naming = ("--as", "us", "--model", method, "--n", str(number), "-o", "filed")
        filed.append(arena_json("study", "forecastbench", "file", *naming)["file"])
        rows = json.loads(Path(filed[-1]).read_text())["forecasts"]
        expected = [pool([said_by(*one, int(row["id"][1:])) for one in nine]) for row in rows]
        assert [row["forecast"] for row in rows] == pytest.approx(expected, abs=1e-6)
    assert arena_json("study", "forecastbench", "file", "--check", *filed)["faults"] == []
    board = arena_json(*BOARD, *filed, "--fetch", *FROM)
    scores = {row["forecaster"]: row["dataset"] for row in board["rows"]}
    for method, pool in POOLS.items():
        misses = [(pool([said_by(*one, i) for one in nine]) - i % 2) ** 2 for i in range(5)]
        assert scores[method] == pytest.approx(fmean(misses), abs=1e-6)
    assert is_clean(tmp_path)


CANNOT_BE_ASKED: tuple[tuple[list[str], str], ...] = (
    (["--prompt", "own"], "asks for bets"),
    (["--due", "2026-04-01"], "no question set due 2026-04-01"),
    (["--agent", "nobody"], "there is no agent 'nobody'"),
    (["--prompt", "bet"], "asks for bets"),
    (["--prompt", "nothing"], "there is no prompt nothing"),
    (["--prompt", "zero_shot", "--evidence"], "no prompt zero_shot shows articles"),
    (["--evidence"], "has no source of articles"),
    ([], "nothing was asked"),
)


def test_what_cannot_be_asked(tmp_path: Path, provider: FaultyProvider) -> None:
    world(tmp_path, provider)
    for words, said in CANNOT_BE_ASKED:
        yes = ["--yes"] if words else []
        done = arena(tmp_path, "study", "forecastbench", "run", *yes, *FROM, *words, "--json")
        assert done.returncode in (1, 64)
        assert said in json.loads(done.stdout)["error"]["message"]
    assert provider.log == []
