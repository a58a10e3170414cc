"""What a line-up costs before it is asked, against prompts that are rendered here and added up by hand."""

import asyncio
import json
import statistics
from fractions import Fraction
from pathlib import Path

import pytest

from agents.kinds.llm import Settings
from agents.model_table.cost import worst_case
from agents.prompts.dry_run import with_context
from agents.prompts.prompt import render
from arena.calls.estimate import (
    BYTES_A_TOKEN,
    SAMPLE_QUESTION,
    SAMPLE_RULES_LENGTH,
    SAMPLE_TIME,
    Estimate,
    Usage,
    estimate_lineup,
    first_sample_round,
    late_sample_round,
    total_usage,
)
from arena.config import Config
from arena.record.queries.calls import RecentUsage
from arena.rounds.adapters import kind_inputs
from markets.millionths import ONE
from portfolio.rules import REALISTIC
from tests.arena.config_files import write
from tests.trusted import load_trusted

PRICE = "price: {input: 3, output: 15}"
HEAD = "markets: {venue: simulator, show: 12}\ncohorts: {rounds: 5, bankroll: 10000}\nagents:\n"


def a_config(folder: Path, *blocks: str, head: str = HEAD) -> Config:
    return load_trusted(write(folder, head + "".join(f"  - {{{block}}}\n" for block in blocks)))


def estimated(folder: Path, *blocks: str, head: str = HEAD) -> list[Estimate]:
    config = a_config(folder, *blocks, head=head)
    return asyncio.run(estimate_lineup(config, kind_inputs(config, config.prompts)))


def one(folder: Path, block: str, head: str = HEAD) -> Estimate:
    (found,) = estimated(
        folder, f"name: it, model: openai/mine, max_tokens: 1000, {PRICE}, {block}", head=head
    )
    assert found.trouble == ""
    return found


def test_low_is_the_real_prompt_once_and_a_short_forecast_for_every_market(tmp_path: Path) -> None:
    config = a_config(tmp_path, f"model: openai/mine, {PRICE}")
    low = asyncio.run(estimate_lineup(config, kind_inputs(config, config.prompts)))[0].low
    view = first_sample_round(12, REALISTIC, 10_000 * ONE, 5)
    prompt = render(config.prompts["bet"], view, tokens=100_000)
    sent = sum(-(-len(message.content.encode()) // BYTES_A_TOKEN) for message in prompt.messages)
    assert (low.calls, low.tokens_in) == (1, sent)
    assert 12 * 60 <= low.tokens_out * BYTES_A_TOKEN <= 12 * 120  # a line of JSON for each of twelve
    assert low.cost == 3 * sent + 15 * low.tokens_out


def test_high_is_what_budgets_hold_back_with_every_answer_repeated(tmp_path: Path) -> None:
    config = a_config(tmp_path, f"model: openai/mine, max_tokens: 1000, {PRICE}")
    found = asyncio.run(estimate_lineup(config, kind_inputs(config, config.prompts)))[0]
    settings = config.agents[0].settings
    assert isinstance(settings, Settings)
    view = with_context(late_sample_round(12, 6, REALISTIC, 10_000 * ONE, 5), settings.context)
    prompt = render(config.prompts["bet"], view, tokens=100_000)
    assert found.first.cost == worst_case(prompt, settings)
    assert found.high.calls == 3  # after an answer cut off it is asked in two halves
    assert found.high.tokens_out == 3 * 1_000
    # the answer that could not be used, at four bytes a token, comes on top, with two more messages
    more = found.again.tokens_in - found.first.tokens_in
    assert 4_000 + 64 < more < 4_000 + 64 + 400


@pytest.mark.parametrize(
    ("block", "questions"),
    [
        ("prices: shown", 1),
        ("prices: after", 2),
        ("samples: 3", 3),
        ("samples: 3, prices: after", 6),
        ("batch: 5", 3),  # 12 markets in parts of 5, 5 and 2
        ("batch: 12", 1),
        ("batch: 5, samples: 2, prices: after", 12),
    ],
)
def test_every_question_is_counted(tmp_path: Path, block: str, questions: int) -> None:
    found = one(tmp_path, block)
    assert (found.low.calls, found.high.calls) == (questions, 3 * questions)  # the second time in halves
    (dear,) = estimated(tmp_path, f"name: it, model: openai/gpt-4o, max_tokens: 2000, {block}")
    assert (dear.high.calls, dear.high.tokens_out) == (2 * questions, questions * (2_000 + 8_000))


def test_parts_forecast_every_market_once(tmp_path: Path) -> None:
    whole = one(tmp_path, "samples: 1").low
    parts = one(tmp_path, "batch: 5").low
    assert abs(parts.tokens_out - whole.tokens_out) <= 3 * 15  # a part has a frame of its own
    assert parts.tokens_in > whole.tokens_in  # and the rules again


def test_a_system_prompt_and_a_longer_one_cost_more(tmp_path: Path) -> None:
    plain = one(tmp_path, "samples: 1").low
    write(tmp_path, "{% block system %}" + "Think of base rates. " * 200 + "{% endblock %}", "mine.md")
    longer = one(tmp_path, "system: mine.md").low
    assert longer.tokens_in - plain.tokens_in > 200 * 21 / BYTES_A_TOKEN - 400


def test_evidence_may_cost_and_may_be_missing(tmp_path: Path) -> None:
    (tmp_path / "articles").mkdir()
    evidence = "evidence: {from: folder, folder: {path: articles}, per_market: 2, characters: 500}\n"
    prompt = "prompt: scratchpad_with_evidence"
    none = one(tmp_path, prompt)
    some = one(tmp_path, prompt, head=evidence + HEAD)
    assert some.low == none.low
    assert some.first.tokens_in - none.first.tokens_in >= 12 * 2 * 500


def test_an_unknown_price_is_an_unknown_cost_and_not_0(tmp_path: Path) -> None:
    found, free = estimated(
        tmp_path, "name: a, model: openai/mine", "name: b, model: openai/mine, price: {input: 0, output: 0}"
    )
    assert (found.low.cost, found.high.cost, found.first.cost) == (None, None, None)
    assert found.low.tokens_in > 0
    assert (free.low.cost, free.high.cost) == (0, 0)
    assert total_usage([free.low, found.low]).cost is None
    assert found.low.times(Fraction(5)).cost is None


def test_agents_without_a_model_are_not_there(tmp_path: Path) -> None:
    assert estimated(tmp_path, "kind: market", "kind: random") == []


def test_a_prompt_without_room_is_trouble_and_not_a_cheap_one(tmp_path: Path) -> None:
    (found,) = estimated(tmp_path, f"model: openai/mine, prompt_tokens: 1000, {PRICE}")
    assert "too_long" in found.trouble


OWN = """\
from agents.model import Decision, Message, ModelSettings, Prompt


class Settings(ModelSettings):
    questions: int = 3


def agent(settings, given):
    async def decide(view, ask):
        if settings.questions == 0:
            raise ZeroDivisionError("no such luck")
        for number in range(settings.questions):
            await ask(Prompt((Message("user", f"question {number % 4}"),), number % 4))
        return Decision()

    return decide
"""


def own(folder: Path, questions: int) -> Estimate:
    write(folder, OWN, "extensions/own.py")
    (found,) = estimated(folder, f"kind: own, questions: {questions}, model: openai/mine, {PRICE}")
    return found


def test_a_kind_of_ones_own_is_counted_by_what_it_asks(tmp_path: Path) -> None:
    found = own(tmp_path, 3)
    assert (found.low.calls, found.high.calls, found.trouble) == (3, 3, "")
    assert found.low.tokens_in == 3 * 3  # "question 0" is ten bytes


def test_a_kind_that_breaks_or_asks_for_ever_is_trouble_and_stops_nobody(tmp_path: Path) -> None:
    assert own(tmp_path, 0).trouble == "ZeroDivisionError: no such luck"
    assert "more than 2,000 calls" in own(tmp_path, 10**9).trouble


def test_low_is_never_above_what_an_agent_has_used(tmp_path: Path) -> None:
    fresh = one(tmp_path, "prompt: bet")
    less = fresh.as_played(RecentUsage(2, 2, 100, 20, 10))
    assert (less.low, less.expected, less.high) == (Usage(1, 50, 10, 5), Usage(1, 50, 10, 5), fresh.high)
    assert fresh.as_played(RecentUsage(1, 9, 10**6, 10**6, 10**9)).low == fresh.low


def test_made_up_texts_are_as_long_as_recorded_ones(shared_data: Path) -> None:
    found: dict[str, tuple[str, str]] = {}

    def look(value: object) -> None:
        if isinstance(value, dict):
            texts = value.get("question"), value.get("description")
            if isinstance(texts[0], str) and isinstance(texts[1], str):
                found[str(value.get("id") or texts[0])] = texts[0], texts[1]
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        for item in inner:
            look(item)

    for path in sorted((shared_data / "venues" / "polymarket").rglob("*.json")):
        look(json.loads(path.read_text("utf-8")))
    assert len(found) > 200
    assert len(SAMPLE_QUESTION.format(7)) == statistics.median(
        len(question) for question, _ in found.values()
    )
    assert statistics.median(len(rules) for _, rules in found.values()) == SAMPLE_RULES_LENGTH
    shown = first_sample_round(3, REALISTIC, ONE, 5).snapshot
    assert {len(listing.market.rules) for listing in shown} == {SAMPLE_RULES_LENGTH}
    assert shown.at == SAMPLE_TIME
