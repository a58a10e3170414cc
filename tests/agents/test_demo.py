"""The demo's models and their provider: skill from what the prompt says, and from nothing else."""

import asyncio
import http.client
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from agents.answers.parse import UnusableAnswer, parse_answer
from agents.demo.models import MODELS, answer, read_prompt
from agents.demo.provider import running
from agents.model import Decision, Message, View
from agents.prompts.prompt import render
from agents.registry import HOME, prompt_text
from markets.venues.simulator import Settings, Simulator, venue
from tests.agents.minds import a_lot, a_view
from tests.builders import a_listing, listed, usd

BET = prompt_text("bet", HOME)
BLIND = prompt_text("blind", HOME)
START = datetime(2026, 1, 4, tzinfo=UTC)
EVIDENCE = """YES if it rains.
- 2025-12-01: a careful panel puts the chance at 80%.
- 2026-01-02: a rumour puts the chance at 5%."""


def view_of(season: Simulator, at: datetime, seed: int) -> View:
    listings = asyncio.run(listed(season, at))[:30]
    view = a_view(*listings, seed=seed)
    return replace(view, snapshot=replace(view.snapshot, at=at))


def said_by(model: str, view: View) -> Decision | UnusableAnswer:
    prompt = render(BET, view)
    return parse_answer(answer(model, prompt.messages, prompt.seed), view)


def test_a_prompt_is_read_as_it_was_written() -> None:
    view = a_view(
        a_listing("0.40", "0.43", "0.41", market="sim:a", question="Rain?", rules=EVIDENCE),
        a_listing(None, "0.43", "0.41", market="sim:b"),
        held=(a_listing(market="sim:old", rules=EVIDENCE),),
        lots={("sim:a", "NO"): a_lot(), ("sim:old", "YES"): a_lot()},
        cash="7123.45",
    )
    reading = read_prompt(render(BET, view).messages)
    assert (reading.cash, reading.min_bet, reading.max_bet) == (usd("7123.45"), usd(50), usd("1780.86"))
    assert reading.held == (("m1", "NO"), ("m3", "YES"))
    first, second = reading.topics
    assert (first.question, first.bid, first.mid, first.ask) == ("Rain?", 400_000, 410_000, 430_000)
    assert [(piece.age, piece.percent) for piece in first.evidence] == [(34, 80), (2, 5)]
    assert (second.bid, second.ask, second.evidence) == (None, 430_000, ())


def test_without_prices_there_is_no_account_and_no_bet() -> None:
    view = a_view(a_listing(market="sim:a", rules=EVIDENCE))
    prompt = render(BLIND, view, prices=False, stage="blind")
    reading = read_prompt(prompt.messages)
    assert (reading.cash, [topic.mid for topic in reading.topics]) == (0, [None])
    decision = parse_answer(answer("sharp", prompt.messages, 1), view, "blind")
    assert isinstance(decision, Decision)
    assert (len(decision.forecasts), decision.rejections) == (1, ())


def test_reliability_counts_for_the_sharp_and_loudness_for_the_hasty() -> None:
    view = a_view(a_listing("0.49", "0.51", market="sim:a", rules=EVIDENCE))
    sharp = said_by("sharp", view)
    hasty = said_by("hasty", view)
    assert isinstance(sharp, Decision)
    assert isinstance(hasty, Decision)
    assert sharp.forecasts[0].millionths > 550_000 > 300_000 > hasty.forecasts[0].millionths


def test_an_answer_depends_on_model_messages_and_seed_alone() -> None:
    view = view_of(venue(Settings(seed=1)), START, seed=3)
    messages = render(BET, view).messages
    code = (
        "import json, sys; from agents.demo.models import answer; from agents.model import Message; "
        "messages = [Message(*m) for m in json.load(sys.stdin)]; "
        "print(json.dumps([answer(model, messages, 3) for model in sys.argv[1:]]))"
    )
    told = json.dumps([[message.role, message.content] for message in messages])
    elsewhere = subprocess.run(
        [sys.executable, "-c", code, *MODELS],
        input=told,
        capture_output=True,
        text=True,
        env={"PYTHONHASHSEED": "99", "PYTHONPATH": str(Path(__file__).parents[2]), "TZ": "Asia/Tokyo"},
    )
    assert json.loads(elsewhere.stdout) == [answer(model, messages, 3) for model in MODELS]


@pytest.mark.parametrize("model", MODELS)
def test_what_a_model_wishes_is_in_its_prompts_terms(model: str) -> None:
    season = venue(Settings(seed=2))
    for week in (2, 9):
        view = view_of(season, START + timedelta(weeks=week), seed=week)
        messages = render(BET, view).messages
        again = [*messages, Message("assistant", "?"), Message("user", "again")]
        decision = parse_answer(answer(model, again, view.seed), view)
        assert isinstance(decision, Decision)
        assert decision.rejections == ()
        assert [forecast.market_id for forecast in decision.forecasts] == [
            listing.market.id for listing in view.snapshot.shown
        ]
        assert all(usd(50) <= bet.amount <= usd(2500) for bet in decision.bets)
        assert sum(bet.amount for bet in decision.bets) <= usd(10_000)


def test_a_position_that_sells_above_its_worth_is_sold() -> None:
    view = a_view(a_listing("0.94", "0.96", market="sim:a", rules=EVIDENCE), lots={("sim:a", "YES"): a_lot()})
    decision = said_by("sharp", view)
    assert isinstance(decision, Decision)
    assert [(sale.market_id, sale.fraction) for sale in decision.sales] == [("sim:a", None)]
    assert decision.bets == (), "what is held is not bet on"


def parsed(text: str, view: View) -> Decision:
    """Return what is read from an answer."""
    found = parse_answer(text, view)
    assert isinstance(found, Decision)
    return found


def test_the_clumsy_break_their_json_now_and_then_and_mend_it_when_told() -> None:
    view = a_view()
    messages = render(BET, view).messages
    broken = [seed for seed in range(200) if not parsed(answer("clumsy", messages, seed), view).forecasts]
    assert 25 <= len(broken) <= 75, "a quarter, more or less"
    told = [*messages, Message("assistant", "{"), Message("user", "that could not be used")]
    assert all(parsed(answer("clumsy", told, seed), view).forecasts for seed in broken)
    for model in ("sharp", "hasty", "blind"):
        assert all(parsed(answer(model, messages, seed), view).forecasts for seed in range(20))


def briers(season_seed: int) -> dict[str, float]:
    """Return the mean Brier score of every model over a season, asked every other week."""
    season = venue(Settings(seed=season_seed))
    scores: dict[str, list[float]] = {"sharp": [], "hasty": [], "blind": []}
    for week in range(1, 20, 3):
        view = view_of(season, START + timedelta(weeks=week), seed=100 * season_seed + week)
        shown = [listing.market.id for listing in view.snapshot.shown]
        ends = asyncio.run(season.resolutions(START + timedelta(weeks=60), shown))
        outcomes = {end.market_id: end.outcome for end in ends if end.outcome is not None}
        for model, found in scores.items():
            decision = said_by(model, view)
            assert isinstance(decision, Decision)
            found += [
                (forecast.millionths / 1e6 - outcomes[forecast.market_id]) ** 2
                for forecast in decision.forecasts
                if forecast.market_id in outcomes
            ]
    return {model: sum(found) / len(found) for model, found in scores.items()}


@pytest.mark.parametrize("season_seed", [1, 2, 3])
def test_who_weighs_the_evidence_beats_who_ignores_it_or_weighs_it_badly(season_seed: int) -> None:
    score = briers(season_seed)
    assert score["sharp"] < score["blind"] - 0.01
    assert score["sharp"] < score["hasty"]


def talk(url: str, requests: Sequence[tuple[str, str, Any]]) -> list[tuple[int, Any]]:
    """Return the answers to this many requests over one connection."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=10)
    answers = []
    for method, path, body in requests:
        data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        connection.request(method, f"/v1{path}", data)
        response = connection.getresponse()
        answers.append((response.status, json.loads(response.read())))
    connection.close()
    return answers


CHAT = {"model": "sharp", "messages": [{"role": "user", "content": "### m1\n| Rain?"}], "seed": 5}


def test_the_provider_speaks_the_usual_dialect(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    with running(log=log) as url:
        (_, first), (_, second), (_, models) = talk(
            url,
            [
                ("POST", "/chat/completions", CHAT),
                ("POST", "/chat/completions", CHAT),
                ("GET", "/models", None),
            ],
        )
        lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert first == second
    assert first["choices"][0]["message"]["content"] == answer(
        "sharp", [Message("user", "### m1\n| Rain?")], 5
    )
    assert first["usage"] == {"prompt_tokens": 4, "completion_tokens": 32, "total_tokens": 36}
    assert (first["model"], first["system_fingerprint"]) == ("sharp", "demo-sharp-1")
    assert [model["id"] for model in models["data"]] == list(MODELS)
    assert [line["model"] for line in lines] == ["sharp", "sharp"]
    assert len({line["hash"] for line in lines}) == 1


def test_the_provider_refuses_what_it_does_not_understand() -> None:
    with running() as url:
        answers = talk(
            url,
            [
                ("POST", "/chat/completions", CHAT | {"model": "genius"}),
                ("POST", "/chat/completions", b"{"),
                ("POST", "/chat/completions", {"model": "sharp"}),
                ("POST", "/elsewhere", CHAT),
                ("GET", "/elsewhere", None),
            ],
        )
    assert [status for status, _ in answers] == [404, 400, 400, 404, 404]
    assert "there is no model genius" in answers[0][1]["error"]["message"]
