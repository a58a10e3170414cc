"""Plays forecasts and orders from a CSV or JSON Lines file, so people and other programs can take part.

`file` is its path, relative to the config's folder, and ends in .csv or .jsonl. The first line of a CSV names
the columns; each line of a JSONL is an object with the same keys. A row has `at`, a time such as
`2026-01-04T12:00` (UTC by default), and `market`, with its venue (`polymarket:123`). It also has one move: a
`probability`; a `side` (YES or NO) and an `amount` in dollars to bet; or a `side` and the `fraction` of the
position to sell (`all` for the whole). A bet or sale may have a `limit`, the worst price per share, and every
row a `reason`. Empty cells count as missing. A question that isn't of yes or no has an `answer` in place of a
probability, as JSON: `{"Red": 0.2, "Blue": 0.8}` by option, `{"5": 10, "50": 20, "95": 40}` by percent.

    at,market,probability,side,amount,reason
    2026-01-03T18:00,polymarket:123,0.62,,,two polls agree
    2026-01-03T18:05,polymarket:123,,YES,120,priced ten points too low

A probability holds from its time until the next one for that market. A move counts in the first round at or
after its time; a cohort's first round also takes those of the last `days` days, 7 by default. The file is
read again in every round and may grow while a cohort plays; a move added after its round was played is lost.

Numbers mean what they mean in a model's answer: `0.4` and `40%` are probabilities, `40` is not. An invalid
row, or a move in a market that can't be traded, is rejected with its line number in the round in which it
would have counted (in every round if its time is unreadable); the other rows stand. Probabilities for
markets not shown are ignored. Two different probabilities for one market and time are both left out, and
reported once. An unknown column or an unreadable file fails the turn and says how to fix it; `arena check`
finds it first.

    - kind: recorded
      name: ann
      file: ann.csv

Several people are several agents, each with a name and a file.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from pydantic import Field

from agents.answers import table
from agents.answers.table import PredictionLine, WrittenAnswer
from agents.asked_forms import forms_in
from agents.model import Agent, Ask, Decision, Forecast, Given, KindSettings, Unreadable, View
from markets.distributions import BadDistribution, question_kind
from markets.model import MarketId
from portfolio.model import Bet, Rejection, Sale

MOST_INVALID = 100
"""How many invalid rows of a round are rejected one by one; the others are only counted."""


class Settings(KindSettings):
    """The file with the moves."""

    file: str = Field(min_length=1)
    """The .csv or .jsonl file."""
    days: int = Field(default=7, ge=0, le=3_650)
    """How many days of moves before a cohort's first round count."""

    def faults(self, given: Given) -> Iterator[tuple[str, str]]:
        """Yield a fault if the file can't be read."""
        try:
            table.read_table(self.file, given.read(self.file))
        except Unreadable as error:
            yield "file", str(error)


def agent(settings: Settings, given: Given) -> Agent:
    """Return an agent that plays the moves in the file."""

    async def decide(view: View, _ask: Ask) -> Decision:
        try:
            rows, bad = table.read_table(settings.file, given.read(settings.file))
        except Unreadable as error:
            return Decision(status="failed", note=str(error))

        now = view.snapshot.at
        since = view.since or now - timedelta(days=settings.days)

        # a forecast holds until the next one; a bet or a sale counts in one round only
        past_rows = (row for row in rows if row.at <= now)
        past, unreadable = rows_with_answers_read(past_rows, view, settings.file, since)
        forecasts, contradictions = newest_forecasts(past, view, settings.file)

        new_rows = [row for row in past if row.at > since]
        new_rows.sort(key=lambda row: row.at)
        bets, sales, refused = tradable_orders(new_rows, view, settings.file)

        # A row whose time can't be read may belong to any round, so it is rejected in every one.
        invalid = [line.rejection for line in bad if line.at is None or since < line.at <= now]
        only_counted = len(invalid) - MOST_INVALID
        if only_counted > 0:
            invalid[MOST_INVALID:] = [Rejection("row", f"{only_counted:,} more invalid rows")]

        return Decision(forecasts, bets, sales, (*invalid, *unreadable, *contradictions, *refused))

    return decide


def newest_forecasts(
    rows: Iterable[PredictionLine], view: View, file: str
) -> tuple[tuple[Forecast, ...], list[Rejection]]:
    """Return the newest forecast of each market shown; a rejection where two of the same time differ."""
    newest: dict[MarketId, tuple[datetime, Forecast]] = {}
    contradicting_lines: dict[MarketId, int] = {}

    for row in rows:
        forecast = row.says
        if not isinstance(forecast, Forecast):
            continue

        market_id = forecast.market_id
        newest_at, earlier = newest.get(market_id, (None, forecast))
        if newest_at is None or row.at > newest_at:
            newest[market_id] = (row.at, forecast)
            contradicting_lines.pop(market_id, None)
        elif row.at == newest_at and content_without_reason(forecast) != content_without_reason(earlier):
            contradicting_lines.setdefault(market_id, row.line)

    forecasts = []
    rejections = []
    for listing in view.snapshot.shown:
        market_id = listing.market.id
        if market_id in contradicting_lines:
            line = contradicting_lines[market_id]
            reason = f"{file}:{line}: this market and time already have a different probability"
            rejections.append(Rejection("stated_twice", reason, market_id))
        elif market_id in newest:
            _, forecast = newest[market_id]
            forecasts.append(forecast)

    return tuple(forecasts), rejections


def content_without_reason(forecast: Forecast) -> tuple[int, str]:
    """Return what a forecast says, without its reason."""
    return forecast.millionths, forecast.distribution


def rows_with_answers_read(
    rows: Iterable[PredictionLine], view: View, file: str, since: datetime
) -> tuple[list[PredictionLine], list[Rejection]]:
    """Return rows with answers read by the questions shown, and rejections of those that can't be read.

    Each is rejected once, in the first round since its time. An answer to a question that is not shown, or is
    of yes or no, is left out.
    """
    forms = forms_in(view.snapshot)
    rows_read: list[PredictionLine] = []
    rejections = []
    for row in rows:
        content = row.says
        if not isinstance(content, WrittenAnswer):
            rows_read.append(row)
            continue

        market_id = content.market_id
        if market_id not in forms:
            continue
        form = forms[market_id]
        try:
            answer = question_kind(form.kind).read(form, content.value)
        except BadDistribution as error:
            if row.at > since:
                rejections.append(Rejection("answer", f"{file}:{row.line}: {error}", market_id))
            continue
        forecast = Forecast(market_id, reason=content.reason, distribution=answer.text)
        rows_read.append(replace(row, says=forecast))

    return rows_read, rejections


def tradable_orders(
    rows: Iterable[PredictionLine], view: View, file: str
) -> tuple[tuple[Bet, ...], tuple[Sale, ...], list[Rejection]]:
    """Return the bets and sales in the rows, and a rejection of each on a market that can't be traded."""
    offered = {listing.market.id for listing in view.snapshot.shown}
    tradable = {listing.market.id for listing in view.snapshot}
    bets = []
    sales = []
    rejections = []

    for row in rows:
        move = row.says
        if isinstance(move, Forecast | WrittenAnswer):
            continue

        if isinstance(move, Bet) and move.market_id in offered:
            bets.append(move)
        elif isinstance(move, Sale) and move.market_id in tradable:
            sales.append(move)
        else:
            reason = f"{file}:{row.line}: the market is not open for betting in this round"
            rejections.append(Rejection("not_on_offer", reason, move.market_id))

    return tuple(bets), tuple(sales), rejections
