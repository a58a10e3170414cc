"""Every kind of agent where questions are of any kind, and where there is no money."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from agents import registry
from agents.answers.decisions import sound_decision
from agents.asked_forms import uniform_answers
from agents.model import Ask, Call, Decision, Forecast, Given, KindSettings, Prompt, View, model_settings
from markets.distributions import Distribution, distribution_of, question_kind
from markets.millionths import ONE
from portfolio.execute import execute
from tests.agents.every_kind import COLOUR, COLOURS, FORMS, NO_MONEY, RAIN, of_every_kind
from tests.agents.minds import stated
from tests.builders import NOW, a_bet, result_of

KINDS = registry.kinds()
ANSWERS = {
    market: question_kind(form.kind).stated(form, question_kind(form.kind).uniform(form))
    for market, form in FORMS.items()
}
QUANTILES = {market: value for market, value in ANSWERS.items() if isinstance(value, dict)}
A_DECISION = json.dumps(
    {
        "forecasts": [
            {"market": RAIN, "options": {"yes": 0.3}},
            {"market": COLOUR, "options": {"Red": 0.2, "Blue": 0.5, "green": 0.3}},
            *[{"market": market, "range": values} for market, values in QUANTILES.items()],
        ]
    }
)
"""What a program answers."""
AN_ANSWER = json.dumps(
    {
        "forecasts": [
            {"market": "m1", "probability": 0.3},
            {"market": "m2", "options": ANSWERS[COLOUR]},
            *({"market": f"m{n}", "quantiles": value} for n, value in enumerate(QUANTILES.values(), 3)),
        ]
    }
)
"""What a model answers."""
ROWS: list[dict[str, object]] = [
    {"market": RAIN, "probability": 0.4},
    {"market": COLOUR, "answer": {"Red": 0.2, "Blue": 0.5, "Green": 0.3}},
    *[dict[str, object](market=market, answer=answer) for market, answer in QUANTILES.items()],
]
FILE = "\n".join(json.dumps({"at": "2026-01-01", **row}) for row in ROWS)
NEEDED: dict[str, dict[str, object]] = {
    "llm": {"model": "openai/any"},
    "crowd": {"of": ("other",)},
    "kelly": {"of": "other"},
    "recorded": {"file": "said.jsonl"},
    "python": {"function": "mine:decide"},
    "command": {"command": ("mine",)},
}


ANSWERED = {"market": {RAIN, COLOUR}, "favourite": {RAIN, COLOUR}, "trend": {RAIN}}
"""What is answered by those who state what a market says, or how a series goes on."""


def mine(view: View, ask: Ask) -> Decision:
    return Decision((Forecast(RAIN, 0.25), *uniform_answers(view.snapshot)))


GIVEN = Given(
    truth=lambda market, at: 700_000,
    prompts={name: registry.prompt_text(name, registry.HOME) for name in ("bet", "blind", "forecast")},
    read={
        "said.jsonl": f"{FILE}\n{json.dumps({'at': '2026-01-01', 'market': RAIN, 'probability': 0.4})}"
    }.__getitem__,
    load={"mine": SimpleNamespace(decide=mine)}.__getitem__,
)


def settings_of(kind: registry.AgentKind, view: View) -> KindSettings:
    values = dict(NEEDED.get(kind.name, {}))
    if kind.name == "llm" and not view.rules.money:
        values["prompt"] = "forecast"
    return kind.settings.model_validate(values)


def decide(name: str, view: View) -> tuple[Decision, int]:
    """Return what an agent decides, and how many questions it asked."""
    kind = registry.kind(name)
    settings = settings_of(kind, view)
    asked = 0

    async def ask(prompt: Prompt) -> Call:
        nonlocal asked
        asked += 1
        assert kind.ask is not None or model_settings(settings) is not None
        return Call(prompt, A_DECISION if kind.ask else AN_ANSWER, finish="stop")

    others = uniform_answers(view.snapshot)
    view = replace(view, stated={"other": (stated(RAIN, "0.6"), *others)})
    return result_of(kind.agent(settings, GIVEN)(view, ask)), asked


@pytest.mark.parametrize("money", [True, False])
@pytest.mark.parametrize("name", KINDS)
def test_each_question_has_a_sound_answer_and_a_bet_on_none(name: str, money: bool) -> None:
    view = of_every_kind() if money else of_every_kind(NO_MONEY)
    decision, asked = decide(name, view)
    assert decision.status == "played"
    assert sound_decision(decision, view) == decision
    wanted = ANSWERED.get(name, {RAIN, *FORMS})
    assert {forecast.market_id for forecast in decision.forecasts} == wanted
    assert {bet.market_id for bet in decision.bets} <= ({RAIN} if money else set())
    assert asked <= 1, "all questions are asked in one"


@pytest.mark.parametrize("name", KINDS)
def test_a_seed_decides_every_answer(name: str) -> None:
    assert decide(name, of_every_kind()) == decide(name, of_every_kind())


def answer_of(name: str) -> Distribution:
    [forecast] = [x for x in decide(name, of_every_kind())[0].forecasts if x.market_id == COLOUR]
    return distribution_of(forecast.distribution)


def test_who_knows_nothing_says_so_and_who_believes_the_market_repeats_it() -> None:
    nothing = question_kind(COLOURS.kind).uniform(COLOURS)
    assert answer_of("constant") == answer_of("oracle") == nothing
    assert answer_of("market") == answer_of("naive") == answer_of("favourite") == Distribution(COLOURS.odds)
    drawn = answer_of("random")
    assert sum(drawn.chances) == ONE
    assert drawn not in (nothing, Distribution(COLOURS.odds))


def test_a_crowd_states_the_medians() -> None:
    kind = registry.kind("crowd")
    said = {
        name: (Forecast(COLOUR, distribution=Distribution(chances).text),)
        for name, chances in {
            "a": (ONE, 0, 0),
            "b": (400_000, 600_000, 0),
            "c": (300_000, 600_000, 100_000),
        }.items()
    }
    settings = kind.settings.model_validate({"of": tuple(said)})

    async def nobody(prompt: Prompt) -> Call:
        raise AssertionError("a crowd asks nobody")

    decision = result_of(kind.agent(settings, GIVEN)(replace(of_every_kind(), stated=said), nobody))
    [forecast] = decision.forecasts
    assert distribution_of(forecast.distribution).chances == (400_000, 600_000, 0)
    assert forecast.reason == "median of 3"


def test_an_answer_in_a_file_that_can_not_be_read_is_rejected_by_its_line() -> None:
    kind = registry.kind("recorded")
    text = 'at,market,answer\n2026-01-03,sim:colour,"{""Red"": 2}"\n2026-01-03,sim:cost,many\n'
    given = replace(GIVEN, read={"said.csv": text}.__getitem__)
    agent = kind.agent(kind.settings.model_validate({"file": "said.csv"}), given)

    async def nobody(prompt: Prompt) -> Call:
        raise AssertionError("a file asks nobody")

    decision = result_of(agent(of_every_kind(), nobody))
    words = sorted(rejection.message for rejection in decision.rejections)
    assert words[0].startswith("said.csv:2: the probabilities of the options add up to 2")
    assert words[1].startswith("said.csv:3: the answer is not like")
    later = result_of(agent(replace(of_every_kind(), since=NOW), nobody))
    assert later.rejections == ()


def test_a_cohort_without_money_fills_nothing() -> None:
    view = of_every_kind(NO_MONEY)
    fills, refused = execute([a_bet(100, market=RAIN)], (), view.holdings, view.snapshot, view.rules)
    assert fills == []
    assert [(x.code, x.market_id) for x in refused] == [("no_market", RAIN)]
