"""Plays forecasts and orders from a CSV or JSON Lines file, so people and other programs can take part.

`file` is its path, relative to the config's folder, and ends in .csv or .jsonl. The first line of a CSV names
the columns; each line of a JSONL is an object with the same keys. A row has `at`, a time such as
`2026-01-04T12:00` (UTC by default), and `market`, with its venue (`polymarket:123`). It also has one move: a
`probability`; a `side` (YES or NO) and an `amount` in dollars to bet; or a `side` and the `fraction` of the
position to sell (`all` for the whole). A bet or sale may have a `limit`, the worst price per share, and every
row a `reason`. Empty cells count as missing.

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
from datetime import datetime, timedelta

from pydantic import Field

from agents.answers import table
from agents.answers.table import PredictionLine
from agents.model import Agent, Ask, Decision, Forecast, Given, Unreadable, View
from agents.model import Settings as Common
from markets.model import MarketId
from portfolio.model import Bet, Rejection, Sale

MOST_BAD = 100
"""Rejections of one round that are told one by one."""


class Settings(Common):
    """Where the moves are written down."""

    file: str = Field(min_length=1)
    """The .csv or .jsonl file."""
    days: int = Field(default=7, ge=0, le=3_650)
    """How many days of moves before a cohort's first round count."""

    def faults(self, given: Given) -> Iterator[tuple[str, str]]:
        """Whether the file can be read."""
        try:
            table.read_table(self.file, given.read(self.file))
        except Unreadable as error:
            yield "file", str(error)


def agent(settings: Settings, given: Given) -> Agent:
    """The agent that does as the file says."""

    async def decide(view: View, _ask: Ask) -> Decision:
        try:
            rows, bad = table.read_table(settings.file, given.read(settings.file))
        except Unreadable as error:
            return Decision(status="failed", note=str(error))
        now = view.snapshot.at
        after = view.since or now - timedelta(days=settings.days)
        forecasts, unclear = believed([row for row in rows if row.at <= now], view, settings.file)
        due = sorted((row for row in rows if after < row.at <= now), key=lambda row: row.at)
        bets, sales, lost = bets_and_sales(due, view, settings.file)
        rejected = [each.rejection for each in bad if each.at is None or after < each.at <= now]
        more = len(rejected) - MOST_BAD
        rest = (Rejection("row", f"{more:,} more invalid rows"),) if more > 0 else ()
        rejections = (*rejected[:MOST_BAD], *rest, *unclear, *lost)
        return Decision(forecasts, bets, sales, rejections)

    return decide


def believed(
    rows: Iterable[PredictionLine], view: View, file: str
) -> tuple[tuple[Forecast, ...], tuple[Rejection, ...]]:
    """The newest probability of each market shown; none where two of the same time differ."""
    newest: dict[MarketId, list[tuple[datetime, int, Forecast]]] = {}
    for row in rows:
        if isinstance(row.says, Forecast):
            market_id, before = row.says.market_id, newest.get(row.says.market_id)
            if before is None or row.at > before[0][0]:
                newest[market_id] = [(row.at, row.line, row.says)]
            elif row.at == before[0][0] and row.says.millionths != before[0][2].millionths:
                before.append((row.at, row.line, row.says))
    shown = [newest[x.market.id] for x in view.snapshot.shown if x.market.id in newest]
    unclear = []
    for _, line, forecast in (stated[1] for stated in shown if len(stated) > 1):
        words = f"{file}:{line}: this market and time already have a different probability"
        unclear.append(Rejection("stated_twice", words, forecast.market_id))
    return tuple(stated[0][2] for stated in shown if len(stated) == 1), tuple(unclear)


def bets_and_sales(
    rows: Iterable[PredictionLine], view: View, file: str
) -> tuple[tuple[Bet, ...], tuple[Sale, ...], tuple[Rejection, ...]]:
    """The bets and the sales among the rows; those on markets that can't be traded are rejected."""
    offered = {listing.market.id for listing in view.snapshot.shown}
    tradable = {listing.market.id for listing in view.snapshot}
    bets, sales, lost = list[Bet](), list[Sale](), list[Rejection]()
    for row in rows:
        match row.says:
            case Bet(market_id) as bet if market_id in offered:
                bets.append(bet)
            case Sale(market_id) as sale if market_id in tradable:
                sales.append(sale)
            case Bet(market_id) | Sale(market_id):
                words = f"{file}:{row.line}: the market is not open for betting in this round"
                lost.append(Rejection("not_on_offer", words, market_id))
    return tuple(bets), tuple(sales), tuple(lost)
