"""What a hidden round leaves of a view: nothing that tells a price, and nothing that others said."""

from dataclasses import replace

from agents.episode import view_document
from agents.model import Forecast, PastForecast, View
from arena.cohorts.hidden_rounds import view_of_round
from markets.distributions import QuestionForm
from markets.model import Listing, MarketId, Snapshot
from portfolio.model import Holdings
from portfolio.rules import REALISTIC
from portfolio.value import mark
from tests.builders import NOW, a_market, a_price
from tests.records.full_record import a_cohort

ODDS = QuestionForm("multiple_choice", ("red", "blue"), (612_345, 387_655)).text
FIGURES = ("0.612345", "0.387655", "0.4321", "0.5432", "612345", "432100", "543200")


def a_view(number: int) -> View:
    """Return a view with prices, odds, history, siblings, past forecasts and another agent's words."""
    priced = a_price("0.4321", "v:1")
    options = Listing(a_market("v:2", event_id="colours", form=ODDS), None)
    snapshot = Snapshot(NOW, (priced, options))
    market = MarketId("v:1")
    past = PastForecast(Forecast(market, "0.3"), 1, NOW, "Q?", price=543_200)
    told = PastForecast(Forecast(MarketId("v:2"), distribution='{"chances":[500000,500000]}'), 1, NOW, "Q?")
    holdings = Holdings(cash=10_000_000_000)
    return View(
        snapshot=snapshot,
        holdings=holdings,
        mark=mark(holdings, snapshot),
        rules=REALISTIC,
        seed=1,
        round=number,
        rounds=3,
        stated={"ann": (Forecast(market, "0.5432"),)},
        history={market: (a_price("0.5432", "v:1").quote,)},  # type: ignore[dict-item]
        siblings={"event": (a_price("0.5432", "v:3"),)},
        past={market: (past,), MarketId("v:2"): (replace(told, form=ODDS),)},
        ended=(past,),
    )


def test_a_hidden_round_tells_no_price_no_odds_and_no_forecast_of_others() -> None:
    cohort = replace(a_cohort(1, NOW, REALISTIC, "ann", "bob", rounds=3), hidden=2)
    view = view_of_round(cohort, a_view(2))
    assert view.hidden
    assert view_document(view).hidden
    assert (view.stated, view.history) == ({}, {})
    text = f"{view} {view_document(view).model_dump_json()}"
    assert not [figure for figure in FIGURES if figure in text]
    assert view.past[MarketId("v:1")][0].forecast.millionths == 300_000
    assert [listing.market.id for listing in view.snapshot.shown] == ["v:1", "v:2"]


def test_other_rounds_are_as_they_were() -> None:
    cohort = replace(a_cohort(1, NOW, REALISTIC, "ann", rounds=3), hidden=2)
    for played, number in ((cohort, 3), (replace(cohort, hidden=0), 1)):
        view = a_view(number)
        assert view_of_round(played, view) is view
        assert any(figure in view_document(view).model_dump_json() for figure in FIGURES)
