"""A small record with questions of every kind, beside one of yes or no, written by the arena's functions.

Two agents answer in two rounds. One question is answered and corrected, one is called off, one is open.
"""

from dataclasses import replace
from pathlib import Path

from agents.model import Decision, Forecast
from markets.distributions import Distribution, QuestionForm, normalized
from markets.model import Listing, MarketId, Resolution
from portfolio.rules import REALISTIC
from tests.builders import a_bet, a_market, a_resolution
from tests.opened_record import OpenedRecord
from tests.records.full_record import SUN, Season, a_cohort, replace_cap, the_book, week

CUP, SALES, LAUNCH = (MarketId(f"sim:{name}") for name in ("cup", "sales", "launch"))
FORMS = {
    CUP: QuestionForm("multiple_choice", ("Ärger", "Blau", 'Rot; "x"'), odds=(500_000, 300_000, 200_000)),
    SALES: QuestionForm("numeric", low="0", high="40.5", open_high=True, unit="M€"),
    LAUNCH: QuestionForm("date", low="2026-01-01", high="2026-12-31", open_low=True),
}
QUANTILES = {
    SALES: ((100_000, "1"), (500_000, "12.25"), (900_000, "44")),
    LAUNCH: ((100_000, "2025-12-01"), (500_000, "2026-03-01"), (900_000, "2026-03-01T12:00:00Z")),
}


def a_question(market: MarketId) -> Listing:
    """Return a question of another kind than yes or no, without a price."""
    return Listing(a_market(market, form=FORMS[market].text, closes_at=week(9)), None)


def stated(weights: tuple[int, int, int], *markets: MarketId) -> list[Forecast]:
    """Return an agent's answers to these questions; the weights are those of the options."""
    forecasts = []
    for market in markets:
        if market == SUN:
            forecasts.append(Forecast(SUN, "0.6"))
            continue
        answer = Distribution(normalized(weights))
        if market in QUANTILES:
            answer = Distribution(quantiles=QUANTILES[market])
        forecasts.append(Forecast(market, reason="so", distribution=answer.text))
    return forecasts


def play_mixed(record: OpenedRecord) -> Season:
    """Play two rounds of questions of every kind in a new record."""
    season = Season(record, looks_again=False)
    cohort = a_cohort(1, week(0), replace_cap(REALISTIC), "ann", "bob")
    season.start(replace(cohort, evidence="none"))

    season.look(1, week(0), the_book(SUN, week(0)), *map(a_question, FORMS))
    even = Distribution(normalized([1, 1, 1]))
    blind = Forecast(CUP, stage="blind", distribution=even.text)
    bets = (a_bet(100, market=SUN),)
    season.turn(1, "ann", Decision((blind, *stated((5, 3, 2), SUN, *FORMS)), bets))
    season.turn(1, "bob", Decision(tuple(stated((0, 1, 6), SUN, *FORMS))))
    season.value(1, week(0))

    ends = [Resolution(CUP, 1, week(1), None, "the cup", "Blau"), Resolution(LAUNCH, 1, week(1), None, "off")]
    record.resolve([*ends, a_resolution("1", SUN, at=week(1))], week(1))
    season.look(1, week(1), a_question(SALES))
    for name in ("ann", "bob"):
        season.turn(1, name, Decision(tuple(stated((1, 1, 1), SALES))))
    season.value(1, week(1))

    corrected = Resolution(CUP, 2, week(2), None, "the cup, corrected", 'Rot; "x"')
    sold = Resolution(SALES, 1, week(2), None, "the report", "41.75")
    record.resolve([corrected, sold], week(2))
    return season


def build_mixed(path: Path | str) -> OpenedRecord:
    """Return the record of that season, in a new database."""
    record = OpenedRecord.at(path)
    play_mixed(record)
    return record
