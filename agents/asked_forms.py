"""The questions of a snapshot that aren't of yes or no: their forms, and answers that need no model."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from agents.model import Forecast
from markets.distributions import Distribution, QuestionForm, distribution_of, form_of, question_kind
from markets.model import Listing, MarketId, Snapshot


@lru_cache(maxsize=16)  # all agents of a round are asked about the same snapshot
def forms_in(snapshot: Snapshot) -> Mapping[MarketId, QuestionForm]:
    """Return the forms of the questions on offer that aren't of yes or no."""
    forms = dict[MarketId, QuestionForm]()
    for listing in snapshot.shown:
        market = listing.market
        if market.form:
            forms[market.id] = form_of(market.form)
    return forms


def yes_no_listings(snapshot: Snapshot) -> tuple[Listing, ...]:
    """Return the markets on offer whose question is of yes or no."""
    return tuple(listing for listing in snapshot.shown if not listing.market.form)


def answers_of(answers: Mapping[MarketId, Distribution]) -> tuple[Forecast, ...]:
    """Return a forecast for each question with a distribution."""
    return tuple(Forecast(market_id, distribution=answer.text) for market_id, answer in answers.items())


def uniform_answers(snapshot: Snapshot) -> tuple[Forecast, ...]:
    """Return even answers to the questions that aren't of yes or no."""
    forms = forms_in(snapshot)
    return answers_of(
        {market_id: question_kind(form.kind).uniform(form) for market_id, form in forms.items()}
    )


def odds_answers(snapshot: Snapshot, known_only: bool = True) -> tuple[Forecast, ...]:
    """Return the market's chances of the options as forecasts.

    Without `known_only`, a question that the market gives no chances for gets an even answer.
    """
    answers: dict[MarketId, Distribution] = {}
    for market_id, form in forms_in(snapshot).items():
        if form.odds:
            answers[market_id] = Distribution(form.odds)
        elif not known_only:
            answers[market_id] = question_kind(form.kind).uniform(form)
    return answers_of(answers)


def combined_answer(form: QuestionForm, forecasts: Sequence[Forecast]) -> str:
    """Return the median of the distributions that forecasts state, as `Forecast.distribution` holds it."""
    answers = [distribution_of(forecast.distribution) for forecast in forecasts]
    return question_kind(form.kind).combined(form, answers).text
