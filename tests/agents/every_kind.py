"""A view with a question of each kind, and a view of a cohort without money."""

from dataclasses import replace

from agents.model import View
from markets.distributions import QuestionForm
from markets.model import Listing, MarketId
from portfolio.rules import REALISTIC, Rules
from tests.agents.minds import a_view
from tests.builders import a_listing

NO_MONEY = REALISTIC.model_copy(update={"money": False})
COLOURS = QuestionForm("multiple_choice", ("Red", "Blue", "Green"), (500_000, 300_000, 200_000))
PRICE = QuestionForm("numeric", low="0", high="5000", open_high=True, unit="USD")
DAY = QuestionForm("date", low="2026-01-01", high="2026-12-31")
RAIN, COLOUR, COST, OPENING = (MarketId(f"sim:{name}") for name in ("rain", "colour", "cost", "opening"))
FORMS = {COLOUR: COLOURS, COST: PRICE, OPENING: DAY}
"""What each market asks but the first, m1, which is of yes or no."""


def a_question(market: MarketId, form: QuestionForm) -> Listing:
    """Return a question without a price."""
    return replace(a_listing(market=market, form=form.text), quote=None)


def of_every_kind(rules: Rules = REALISTIC) -> View:
    """Return a yes-or-no market with a price, then questions of options, a number and a date: m1 to m4."""
    questions = [a_question(market, form) for market, form in FORMS.items()]
    return a_view(a_listing(market=RAIN), *questions, rules=rules)
