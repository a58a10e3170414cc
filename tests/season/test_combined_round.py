"""A round with combinations, there and back: made, answered though killed, filed, resolved and ranked."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.arena.scores.files.test_forecastbench import question
from tests.provider.replies import Asked, says
from tests.provider.server import FaultyProvider, faulty
from tests.season.test_forecastbench import arena_json, is_clean, publish, stop_after
from tests.serving import Reply

DUE = "2026-03-01"
DAYS = ["2026-03-08", "2026-03-31"]
SIZE, SINGLE, PAIRS = 20, 5, 5
"""Of two sources: each has five single questions and five about two of these."""
AT_ONCE = 4
WAYS = ((1, 1), (1, -1), (-1, 1), (-1, -1))
RUN = ("study", "forecastbench", "run", "--combinations", "--baselines", "--clock", "clock")
BOARD = ("study", "forecastbench", "board", "--mode", "paper", "--combinations", "--clock", "clock")
BLOCK = re.compile(r"^### (m[0-9]+)$(.*?)(?=^### |^## )", re.MULTILINE | re.DOTALL)
PART = re.compile(r"Question ([12]): Is ([0-9]+) odd")
TOGETHER = re.compile(r"Will question 1 resolve (YES|NO) and question 2 (YES|NO)")


def stated(numbers: list[int], ways: tuple[int, ...]) -> float:
    """Return the model's answer: sure of odd and even, and surer of pairs that are near each other."""
    right = all((number % 2 == 1) == (way == 1) for number, way in zip(numbers, ways, strict=True))
    near = 0.01 * abs(numbers[0] - numbers[-1])
    return round(0.75 - near if right else 0.1 + near, 2)


def replied(call: Asked) -> Reply:
    """Return a forecast for each market of the question, which is about one number or two."""
    text = "".join(str(message["content"]) for message in call.body["messages"] if message["role"] == "user")
    parts = {part: int(number) for part, number in PART.findall(text)}
    forecasts = []
    for name, block in BLOCK.findall(text):
        together = TOGETHER.search(block)
        if together is None:
            (number,) = re.findall(r"Is ([0-9]+) odd", block)
            chance = stated([int(number)], (1,))
        else:
            ways = tuple(1 if end == "YES" else -1 for end in together.groups())
            chance = stated([parts["1"], parts["2"]], ways)
        forecasts.append({"market": name, "reason": "so it is", "probability": chance})
    usage = {"prompt_tokens": 1_000, "completion_tokens": 100}
    return says(json.dumps({"forecasts": forecasts}), usage=usage)


@pytest.fixture
def provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyProvider]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    with faulty(0.02) as server:
        server.script("fake-1", replied)
        yield server


def world(folder: Path, provider: FaultyProvider) -> None:
    """Write a config with one model, a clock, and a published set without combinations."""
    agent = f"{{name: sharp, model: openai/fake-1, base_url: '{provider.url}', max_tokens: 4000, "
    lines = [
        "database: arena.db",
        "markets: {venue: polymarket, show: 10}",
        "budget: {arena: 10}",
        f"calls: {{per_provider: {AT_ONCE}}}",
        "agents:",
        f"  - {agent}price: {{input: 1, output: 4}}}}",
    ]
    (folder / "config.yaml").write_text("\n".join(lines))
    (folder / "clock").write_text("2026-02-28T12:00Z\n")
    closes = "2026-12-01T00:00:00+00:00"
    questions = [
        *(question("manifold", f"m{i}", question=f"Is {i} odd?", freeze_datetime_value="0.25",
                   market_info_close_datetime=closes) for i in range(12)),
        *(question("fred", f"d{i}", question=f"Is {i} odd?", freeze_datetime_value="3") for i in range(12)),
    ]  # fmt: skip
    for one in questions:
        one["freeze_datetime"] = "2026-02-19T00:00:00+00:00"
    header = {"forecast_due_date": DUE, "question_set": f"{DUE}-llm.json"}
    publish(folder, "question_sets", f"{DUE}-llm.json", header | {"questions": questions})


def came_to(source: str, name: str) -> tuple[float, bool]:
    """Return a single question's value, and whether it has ended: one market is still open, at 0.4."""
    number = int(name[1:])
    if source == "manifold" and number % 4 == 0:
        return 0.4, False
    return float(number % 2), True


def resolved(folder: Path) -> None:
    """Publish how single questions ended, and nothing about combinations."""
    rows = []
    for source, letter, days in (("manifold", "m", ["2026-03-20"]), ("fred", "d", DAYS)):
        for number in range(12):
            value, is_over = came_to(source, f"{letter}{number}")
            for day in days:
                row = {"id": f"{letter}{number}", "source": source, "direction": None}
                rows.append(row | {"resolution_date": day, "resolved_to": value, "resolved": is_over})
    header = {"forecast_due_date": DUE, "question_set": f"{DUE}-llm.json"}
    publish(folder, "resolution_sets", f"{DUE}_resolution_set.json", header | {"resolutions": rows})


def by_hand(asked: Any, say: Any) -> dict[str, float]:
    """Return the mean squared errors of both halves, from the set and the ends of its single questions."""
    errors: dict[str, list[float]] = {"dataset": [], "market": []}
    for one in asked["questions"]:
        ids = one["id"] if isinstance(one["id"], list) else [one["id"]]
        numbers = [int(name[1:]) for name in ids]
        half = "dataset" if one["source"] == "fred" else "market"
        for ways in WAYS if len(ids) == 2 else [(1,)]:
            value = 1.0
            for name, way in zip(ids, ways, strict=True):
                end, _ = came_to(one["source"], name)
                value *= end if way == 1 else 1 - end
            times = len(DAYS) if half == "dataset" else 1
            errors[half] += [(say(half, numbers, ways) - value) ** 2] * times
    return {half: sum(values) / len(values) for half, values in errors.items()}


def naively(half: str, numbers: list[int], ways: tuple[int, ...]) -> float:
    """Forecast both as if independent: a market at its price, a data question at even odds."""
    chance = 1.0
    for way in ways:
        share = 0.25 if half == "market" else 0.5
        chance *= share if way == 1 else 1 - share
    return chance


def test_a_round_with_combinations_there_and_back(tmp_path: Path, provider: FaultyProvider) -> None:
    """Killed twice, nothing is paid twice; the board is what a second hand makes of the same set."""
    world(tmp_path, provider)
    make = ("--make", str(SIZE), "--seed", "7", "--due", DUE, "--from", "published")
    made = arena_json(*RUN, *make, "--out", "set.json", "--dry")
    rows = {"market": SINGLE + 4 * PAIRS, "dataset": (SINGLE + 4 * PAIRS) * len(DAYS)}
    assert (made["set"]["questions"], made["set"]["rows"]) == (SIZE, rows)
    assert made["estimate"]["calls"]["low"] == SIZE, "all dates and ways of a question in one call"

    due = ("--due", DUE, "--yes")
    for count in (5, 11):
        stop_after(tmp_path, provider, count, (*RUN, *due))
    found = arena_json(*RUN, *due)
    agents = {one["agent"]: one for one in found["agents"]}
    assert {one["forecasts"] for one in agents.values()} == {sum(rows.values())}
    assert agents["sharp"]["calls"] == SIZE <= len(provider.log) <= SIZE + 2 * AT_ONCE
    log = len(provider.log)
    assert arena_json(*RUN, *due)["agents"] == found["agents"]
    assert (len(provider.log), is_clean(tmp_path)) == (log, True)

    arena_json(
        "study", "forecastbench", "file", "--as", "us", "--model", "sharp", "-o", "filed", "--combinations"
    )
    filed = f"filed/{DUE}.us.1.json"
    checked = arena_json("study", "forecastbench", "file", "--check", "--combinations", filed)
    assert checked["faults"] == []
    pairs = [row for row in json.loads((tmp_path / filed).read_text())["forecasts"] if "direction" in row]
    assert len(pairs) == 4 * PAIRS * (1 + len(DAYS))
    for row in pairs:
        assert row["forecast"] == stated([int(name[1:]) for name in row["id"]], tuple(row["direction"]))

    resolved(tmp_path)
    (tmp_path / "clock").write_text("2026-04-02T00:00Z\n")
    fetched = arena_json(*BOARD, "--fetch", "--from", "published", filed, "--agents")
    board = {row["forecaster"]: row for row in fetched["rows"]}
    asked = json.loads((tmp_path / "set.json").read_text())
    assert (board["us" if "us" in board else "sharp"]["n_dataset"], board["sharp"]["n_market"]) == (50, 25)
    expected = {
        "sharp": by_hand(asked, lambda _, numbers, ways: stated(numbers, ways)),
        "sharp (scratchpad)": by_hand(asked, lambda _, numbers, ways: stated(numbers, ways)),
        "Always 0.5": by_hand(asked, lambda *_: 0.5),
        "Always 1": by_hand(asked, lambda *_: 1.0),
        "Naive Forecaster": by_hand(asked, naively),
        "Imputed Forecaster": by_hand(
            asked, lambda half, numbers, ways: naively(half, numbers, ways) if half == "market" else 0.5
        ),
    }
    for name, halves in expected.items():
        for half, mean in halves.items():
            assert board[name][half] == pytest.approx(mean, abs=1e-9), (name, half)

    plain = arena_json(*(word for word in BOARD if word != "--combinations"), filed, "--agents")
    assert {(row["n_dataset"], row["n_market"]) for row in plain["rows"]} == {(10, 5)}
    assert any("about two questions at once" in note for note in plain["notes"])
    arena_json("share", "export", "exported")
    arena_json("admin", "restore", "exported", "--database", "again.db")
    again = arena_json(*BOARD, filed, "--agents", "--database", "again.db")
    assert {row["forecaster"]: row for row in again["rows"]} == board
    assert is_clean(tmp_path)
