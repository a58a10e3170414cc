"""Every kind of agent, by being in the folder: minimal settings do, and a seed decides everything."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from agents import registry
from agents.model import Ask, Call, Decision, Forecast, Given, KindSettings, Prompt, View, model_settings
from markets.millionths import ONE
from markets.model import MarketId
from portfolio.execute import execute
from portfolio.rules import REALISTIC, SEED, Rules
from tests.agents.minds import THREE, a_view, an_answer, nobody, stated
from tests.builders import a_book, a_listing, a_price, result_of, usd

KINDS = registry.kinds()
NEEDED = {
    "model": "openai/any",
    "of": "other",
    "file": "said.csv",
    "function": "mine:decide",
    "command": ("mine",),
}
"""A value for every field that some kind can't do without."""
LISTS = {"crowd": {"of": ("other",)}}
"""Where another value is needed for it."""
SAID = "at,market,probability\n" + "".join(
    f"2026-01-01,{market},0.{n}\n" for n, market in enumerate(THREE, 4)
)


A_DECISION = json.dumps(
    {
        "forecasts": [{"market": market, "options": {"yes": 0.3}} for market in THREE],
        "bets": [{"market": THREE[0], "option": "no", "amount": 60}],
    }
)
"""What a program answers that is asked in place of a model."""


def mine(view: View, ask: Ask) -> Decision:
    return Decision(tuple(Forecast(listing.market.id, 0.25) for listing in view.snapshot.shown))


GIVEN = Given(
    truth=lambda market, at: usd("0.7") if market == THREE[0] else usd("0.2"),
    prompts={name: registry.prompt_text(name, registry.HOME) for name in ("bet", "blind")},
    read={"said.csv": SAID}.__getitem__,
    load={"mine": SimpleNamespace(decide=mine)}.__getitem__,
)


def settings_of(kind: registry.AgentKind) -> KindSettings:
    required = [name for name, field in kind.settings.model_fields.items() if field.is_required()]
    return kind.settings.model_validate(
        {name: (NEEDED | LISTS.get(kind.name, {}))[name] for name in required}
    )


def view(seed: int = 7, rules: Rules = REALISTIC) -> View:
    deep = [("0.40", "100000")], [("0.42", "100000")]
    shown = [a_book(*deep, market=market) for market in THREE]
    said = tuple(stated(market, p) for market, p in zip(THREE, ("0.6", "0.41", "0.1"), strict=True))
    return a_view(*shown, seed=seed, rules=rules, stated={"other": said})


def decide(name: str, seen: View) -> Decision:
    kind = registry.kind(name)
    settings = settings_of(kind)

    async def ask(prompt: Prompt) -> Call:
        if kind.ask is not None:
            return Call(prompt, A_DECISION, finish="stop")
        assert model_settings(settings) is not None, f"{name} is given no model, and asks one"
        return Call(prompt, an_answer(), finish="stop")

    return result_of(kind.agent(settings, GIVEN)(seen, ask))


def follows_a_rule(name: str) -> bool:
    """Tell whether a kind decides by itself, without asking a model."""
    kind = registry.kind(name)
    return kind.ask is None and model_settings(settings_of(kind)) is None


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_has_a_page(name: str) -> None:
    assert registry.kind(name).page.endswith(".")


@pytest.mark.parametrize("name", KINDS)
def test_settings_refuse_what_they_do_not_know(name: str) -> None:
    kind = registry.kind(name)
    with pytest.raises(ValueError, match="no_such_field"):
        kind.settings.model_validate(settings_of(kind).model_dump() | {"no_such_field": 1})


@pytest.mark.parametrize("name", KINDS)
def test_settings_survive_being_frozen(name: str) -> None:
    kind = registry.kind(name)
    settings = settings_of(kind)
    assert kind.settings.model_validate(settings.model_dump(mode="json")) == settings


@pytest.mark.parametrize("name", KINDS)
def test_a_seed_decides_everything(name: str) -> None:
    assert decide(name, view()) == decide(name, view())


@pytest.mark.parametrize("name", KINDS)
def test_forecasts_are_probabilities_of_markets_shown_and_one_each(name: str) -> None:
    decision = decide(name, view())
    assert decision.status == "played"
    assert [forecast.market_id for forecast in decision.forecasts] == list(THREE)
    assert all(0 <= forecast.millionths <= ONE for forecast in decision.forecasts)


@pytest.mark.parametrize("rules", [REALISTIC, SEED], ids=lambda rules: rules.name)
@pytest.mark.parametrize("name", KINDS)
def test_what_a_kind_wishes_is_legal(name: str, rules: Rules) -> None:
    seen = view(rules=rules)
    decision = decide(name, seen)
    _, rejected = execute(decision.bets, decision.sales, seen.holdings, seen.snapshot, rules)
    assert list(rejected) == []


@pytest.mark.parametrize("name", KINDS)
def test_a_market_without_a_quote_takes_no_bet_and_breaks_nothing(name: str) -> None:
    seen = a_view(replace(a_listing(market="sim:a"), quote=None), stated={"other": (stated("sim:a", "0.9"),)})
    if follows_a_rule(name):
        assert decide(name, seen).bets == ()


@pytest.mark.parametrize("name", KINDS)
def test_nothing_on_offer_breaks_nothing(name: str) -> None:
    seen = replace(a_view(), snapshot=replace(a_view().snapshot, shown=()))
    assert decide(name, seen).bets == ()


@pytest.mark.parametrize("name", KINDS)
def test_an_agent_without_cash_bets_nothing_it_does_not_have(name: str) -> None:
    seen = a_view(cash="40")
    if follows_a_rule(name):
        assert decide(name, seen).bets == ()


def test_the_market_says_the_mid_exactly_and_skips_where_there_is_none() -> None:
    seen = a_view(a_listing("0.31", "0.32", market="sim:a"), a_price("0.77", "sim:b"), a_listing(None, None))
    decision = decide("market", seen)
    assert {f.market_id: f.millionths for f in decision.forecasts} == {"sim:a": 315_000, "sim:b": 770_000}
    assert decision.bets == ()


def test_the_constant_says_one_half() -> None:
    assert {forecast.millionths for forecast in decide("constant", view()).forecasts} == {ONE // 2}


def test_random_bets_the_minimum_a_few_times_and_differs_by_seed() -> None:
    decision = decide("random", view())
    assert [bet.amount for bet in decision.bets] == [usd(50)] * 3
    assert decision != decide("random", view(seed=8))


def test_the_oracle_says_the_truth_and_needs_one() -> None:
    decision = decide("oracle", view())
    assert [forecast.millionths for forecast in decision.forecasts] == [usd("0.7"), usd("0.2"), usd("0.2")]
    kind = registry.kind("oracle")
    with pytest.raises(ValueError, match="known true probabilities"):
        kind.agent(settings_of(kind), Given())


def test_noise_moves_the_oracle_about_the_truth_and_more_noise_more() -> None:
    kind = registry.kind("oracle")
    shown = [a_listing(market=f"sim:{n}") for n in range(400)]

    def off(noise: float) -> float:
        agent = kind.agent(kind.settings.model_validate({"noise": noise}), GIVEN)

        async def nobody(prompt: Prompt) -> Call:
            raise AssertionError("an oracle asks nobody")

        stated = result_of(agent(a_view(*shown), nobody)).forecasts
        return sum(abs(forecast.millionths - usd("0.2")) for forecast in stated) / len(stated) / ONE

    # half a unit of log-odds about 0.2 moves a probability by 0.08, and its mean distance is 0.8 of that
    assert 0.05 < off(0.5) < 0.08
    assert off(0.1) < off(0.5) < off(1.5)


def test_kelly_believes_what_the_other_stated_last() -> None:
    blind = replace(stated("sim:a", "0.99"), stage="blind")
    seen = replace(view(), stated={"other": (blind, stated("sim:a", "0.6"))})
    decision = decide("kelly", seen)
    assert [(forecast.market_id, forecast.millionths) for forecast in decision.forecasts] == [
        (MarketId("sim:a"), usd("0.6"))
    ]
    assert [bet.amount for bet in decision.bets] == [775_862_068]


def test_kelly_without_its_leader_waits() -> None:
    decision = decide("kelly", replace(view(), stated={}))
    assert (decision.forecasts, decision.bets) == ((), ())
    assert decision.note == "other stated no forecast this round"


def test_the_favourite_backs_the_dearest_sides_that_can_be_bought() -> None:
    prices = {
        "even": ("0.48", "0.52"),
        "no": ("0.09", "0.11"),
        "yes": ("0.79", "0.81"),
        "near": ("0.39", "0.41"),
    }
    shown = [
        a_book([(bid, "10000")], [(ask, "10000")], market=f"sim:{name}")
        for name, (bid, ask) in prices.items()
    ]
    certain = a_price("0.99", "sim:certain")  # the dearest of all, and nobody offers it
    decision = decide("favourite", a_view(certain, *shown))
    assert [(bet.market_id, bet.side, bet.amount) for bet in decision.bets] == [
        ("sim:no", "NO", usd(50)),
        ("sim:yes", "YES", usd(50)),
        ("sim:near", "NO", usd(50)),
    ]
    assert {forecast.market_id: forecast.millionths for forecast in decision.forecasts} == {
        "sim:certain": usd("0.99"), "sim:even": usd("0.5"), "sim:no": usd("0.1"), "sim:yes": usd("0.8"),
        "sim:near": usd("0.4"),
    }  # fmt: skip


SAYING = {
    "ann": (stated("sim:a", "0.2"), stated("sim:b", "0.9")),
    "bob": (replace(stated("sim:a", "0.99"), stage="blind"), stated("sim:a", "0.4")),
    "eve": (stated("sim:a", "0.6"), stated("sim:elsewhere", "0.6")),
    "kim": (stated("sim:a", "0.8"),),
}


@pytest.mark.parametrize(
    ("method", "pooled"),
    [
        ("mean", "0.5"),
        ("median", "0.5"),
        ("trimmed_mean", "0.5"),
        ("geometric_mean", "0.442673"),  # the fourth root of 0.0384
        ("geometric_mean_of_odds", "0.5"),
    ],
)
def test_the_crowd_makes_one_forecast_of_those_that_were_finally_stated(method: str, pooled: str) -> None:
    kind = registry.kind("crowd")
    settings = kind.settings.model_validate({"of": tuple(SAYING), "method": method, "trim": 0.25})
    seen = replace(view(), stated=SAYING)
    decision = result_of(kind.agent(settings, Given())(seen, nobody))
    assert [(x.market_id, x.millionths, x.reason) for x in decision.forecasts] == [
        ("sim:a", usd(pooled), f"{method} of 4"),
        ("sim:b", usd("0.9"), f"{method} of 1"),
    ]
    assert (decision.bets, decision.note) == ((), "")


def test_a_crowd_to_whom_nobody_spoke_says_so() -> None:
    decision = decide("crowd", replace(view(), stated={}))
    assert (decision.forecasts, decision.note) == ((), "other stated no forecast this round")


@pytest.mark.parametrize("name", ["random", "favourite"])
@pytest.mark.parametrize(
    ("rules", "cash", "bets"),
    [
        (REALISTIC, "199.99", 0),  # a quarter of it is less than the minimum
        (REALISTIC, "200", 3),
        (REALISTIC.model_copy(update={"cap": "decision"}), "400", 2),
        (SEED, "200", 1),  # the second would be over a quarter of what is left
        (SEED, "10000", 3),
    ],
)
def test_the_smallest_bets_are_as_many_as_the_rules_allow_together(
    name: str, rules: Rules, cash: str, bets: int
) -> None:
    seen = replace(view(rules=rules), holdings=replace(view().holdings, cash=usd(cash)))
    decision = decide(name, seen)
    fills, rejected = execute(decision.bets, (), seen.holdings, seen.snapshot, rules)
    assert (len(decision.bets), len(fills), rejected) == (bets, bets, [])
