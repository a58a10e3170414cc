"""The form of a file of traces: what a reference arena was told step by step, and what it then had.

Money, shares and prices are floats in whole dollars here, as the reference writes them. Keys that
nothing is compared with (`error`, `status`, `type`) may be there or not.
"""

import json
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, FiniteFloat, ValidationError

Prices = FiniteFloat | dict[str, FiniteFloat] | None
"""The price of YES; or of each outcome of a market with several."""

Amount = Annotated[FiniteFloat, BeforeValidator(lambda given: 0 if given is None else given)]


class NotTraces(ValueError):
    """A file that is no file of traces."""


class Leg(BaseModel):
    """A bet of a batch; `market` and `side` may be anything that an agent wrote."""

    market: str
    side: str
    amount: Amount


class Filled(BaseModel):
    """A bet that was placed: at which price, and the confidence that its size implies."""

    market: str
    side: str
    shares: FiniteFloat
    price: FiniteFloat
    amount: FiniteFloat
    c: FiniteFloat


class Position(BaseModel):
    """Shares held of one side, at cost and at the current price."""

    market: str
    side: str
    shares: FiniteFloat
    cost: FiniteFloat
    avg: FiniteFloat
    value: FiniteFloat


class After(BaseModel):
    """The account after a step."""

    cash: FiniteFloat
    invested: FiniteFloat
    positions: list[Position]
    total_value: FiniteFloat


class Step(BaseModel):
    """What every step has."""

    after: After


class Bets(Step):
    """A batch of bets: all of them are placed, or none."""

    op: Literal["bets"]
    bets: list[Leg]
    ok: bool
    fills: list[Filled]


class Sell(Step):
    """A sale of so many percent of a position."""

    op: Literal["sell"]
    market: str
    side: str
    percentage: Amount
    ok: bool
    proceeds: FiniteFloat | None
    price: FiniteFloat | None
    cost_basis: FiniteFloat | None
    realized: FiniteFloat | None


class Price(Step):
    """A market has a new price."""

    op: Literal["price"]
    market: str
    price: Prices


class Close(Step):
    """A market takes no more trades."""

    op: Literal["close"]
    market: str


class Resolve(Step):
    """A market has ended; `settled` positions were paid."""

    op: Literal["resolve"]
    market: str
    winner: str
    settled: int


class Cancel(Step):
    """A market was cancelled; `refunded` positions got their cost back."""

    op: Literal["cancel_refund_cost"]
    market: str
    refunded: int


AnyStep = Annotated[Bets | Sell | Price | Close | Resolve | Cancel, Field(discriminator="op")]


class Start(BaseModel):
    """A market and its price before the first step."""

    market: str
    price: Prices


class Score(BaseModel):
    """The Brier score of a bet whose market was resolved."""

    market: str
    side: str
    amount: FiniteFloat
    c: FiniteFloat
    won: int
    brier: FiniteFloat


class Trace(BaseModel):
    """One account from its bankroll to the scores of its bets."""

    trace: int | str
    initial_cash: FiniteFloat
    markets: list[Start]
    steps: list[AnyStep]
    brier: list[Score]
    mean_brier: FiniteFloat | None


class Traces(BaseModel):
    """A whole file."""

    traces: list[Trace] = Field(min_length=1)


def read(path: Path) -> list[Trace]:
    """Read the traces of a file; raise `NotTraces`, which names the file and what is wrong with it."""
    try:
        content: Any = json.loads(path.read_text(encoding="utf-8"))
        return Traces.model_validate(content).traces
    except OSError as error:
        raise NotTraces(f"{path}: can't be read: {error.strerror}") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the whole file"
        raise NotTraces(f"{path}: not a file of traces: {place}: {first['msg']}") from error
    except ValueError as error:
        raise NotTraces(f"{path}: not JSON: {error}") from error
