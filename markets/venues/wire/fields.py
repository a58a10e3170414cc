"""What a venue sends, read strictly: what looks otherwise is refused with a reason, never guessed at."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from math import inf
from typing import Annotated, Any, Literal, ParamSpec, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PlainValidator,
    ValidationError,
)

from markets.millionths import ONE, millionths
from markets.model import NEVER, Level, MarketId, Quote
from markets.venue import QuarantinedRecord, Report

LONGEST_TEXT, SHOWN_OF_A_RECORD = 100_000, 2_000
LARGEST_NUMBER = 10**12
"""More of anything than a venue has; in millionths it still fits into the record."""
RecordKind = Literal["market", "quote", "resolution", "page", "article"]
T = TypeVar("T")
D = TypeVar("D")
P = ParamSpec("P")
_NUMBER = re.compile(r"[0-9]{1,12}(\.[0-9]{1,12})?")
_EPOCH, _MILLISECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(milliseconds=1)


class RejectedRecord(Exception):
    """A record of which nothing is made, or not yet: it has to be set aside."""

    def __init__(self, kind: RecordKind, code: str, reason: str):
        super().__init__(reason)
        self.kind, self.code, self.reason = kind, code, reason


def shown_value(value: object) -> str:
    """A value in a few plain characters; of lists and objects only that they are such."""
    if isinstance(value, dict | list):
        return "a list" if isinstance(value, list) else "an object"
    text = ascii(value)
    return text if len(text) <= 40 else f"{text[:39]}…"


def raw_json(raw: object) -> str:
    """A record as JSON; nothing if it is nested too deeply to be written down again."""
    try:
        return json.dumps(raw)
    except RecursionError:
        return ""


def amount(value: object) -> int:
    """A number sent as text, in millionths. Signs, exponents and words are no amounts."""
    if not isinstance(value, str):
        raise ValueError(f"{shown_value(value)} is not an amount")
    return _amount(value)


@lru_cache(maxsize=4_096)  # prices have few values
def _amount(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{shown_value(text)} is not an amount")
    return millionths(text)


def number(value: object) -> int:
    """A number sent as such, not below 0, in millionths."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < LARGEST_NUMBER:
        raise ValueError(f"{shown_value(value)} is not a number of at least 0")
    return millionths(value)


def with_figures(
    price: Quote, raw: object, reader: Callable[[object], int], names: Mapping[str, tuple[str, ...]]
) -> Quote:
    """A quote with the page's other figures, by our names and theirs; None where one makes no sense."""
    told = raw if isinstance(raw, dict) else {}
    figures: dict[str, Any] = {}
    for ours, theirs in names.items():
        value = next((told[name] for name in theirs if name in told), None)
        try:
            figures[ours] = None if value is None else reader(value)
        except ValueError:
            figures[ours] = None
    return replace(price, **figures)


def or_else(reader: Callable[[object], T], otherwise: D) -> Callable[[object], T | D]:
    """Return a reader that gives `otherwise` for a value that `reader` refuses.

    It is for what no price depends on: a bad volume must not take a market's prices with it.
    """

    def read_value(value: object) -> T | D:
        try:
            return reader(value)
        except ValueError:
            return otherwise

    return read_value


def check_volume(raw: object, reader: Callable[[object], int], *names: str) -> None:
    """Raise `RejectedRecord` for the first of these volumes that is sent and makes no sense."""
    sent = raw if isinstance(raw, dict) else {}
    for name in names:
        value = sent.get(name)
        if value is None or value == "":
            continue
        try:
            reader(value)
        except ValueError as error:
            reason = f"{name}: {error}: its volume is unknown, its prices count"
            raise RejectedRecord("quote", "bad_volume", reason) from None


def chance(value: object) -> int:
    """A probability sent as a number, in millionths; what is over 1 by a hair is 1."""
    probability = number(value)
    if probability > ONE:
        raise ValueError(f"{shown_value(value)} is not a probability")
    return probability


def instant(value: object) -> datetime:
    """A time with its zone, in UTC."""
    try:
        at = datetime.fromisoformat(value if isinstance(value, str) else "")
        if at.tzinfo is not None:
            return at if at.tzinfo is UTC else at.astimezone(UTC)
    except (ValueError, OverflowError):
        pass  # said below, as for a time without a zone
    raise ValueError(f"{shown_value(value)} is not a time with a time zone")


def moment(value: object) -> datetime:
    """A time in milliseconds since 1970."""
    if isinstance(value, float) and 2**63 <= value < inf:  # a whole number too long for our reader of JSON
        return NEVER
    if type(value) is not int or value < 0:
        raise ValueError(f"{shown_value(value)} is not a time in milliseconds")
    return NEVER if value >= (NEVER - _EPOCH) // _MILLISECOND else _EPOCH + value * _MILLISECOND


def second(value: object) -> datetime:
    """A time in seconds since 1970."""
    if type(value) is not int:
        raise ValueError(f"{shown_value(value)} is not a time in seconds")
    return moment(value * 1_000)


def _storable(text: str) -> str:
    """Text that every database and every file can hold."""
    if "\0" in text or len(text) > LONGEST_TEXT:
        raise ValueError(f"{shown_value(text)} is not storable text")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{shown_value(text)} is not storable text") from None
    return text


Text = Annotated[str, AfterValidator(_storable)]
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")


def is_name(text: str) -> bool:
    """Whether a venue may call a record so."""
    return _NAME.fullmatch(text) is not None


def _name(text: str) -> str:
    if not is_name(text):
        raise ValueError(f"{shown_value(text)} is not a valid record id")
    return text


Name = Annotated[str, AfterValidator(_name)]
"""What a venue calls a record; it goes into paths and lists, so it holds no slash and no comma."""
Amount = Annotated[int, BeforeValidator(amount)]
MaybeAmount = Annotated[Amount | None, BeforeValidator(lambda value: None if value == "" else value)]
"""An amount that may be missing; empty text stands for nothing."""
MaybeText = Annotated[Text, BeforeValidator(lambda value: "" if value is None else value)]
"""Text that may be missing."""


def _text(value: object) -> str:
    """Return text that can be stored."""
    if not isinstance(value, str):
        raise ValueError(f"{shown_value(value)} is not text")
    return _storable(value)


DescriptiveText = Annotated[str, PlainValidator(or_else(_text, ""))]
"""Text on which no price depends; empty where it is missing or makes no sense."""
AnyAmount = Annotated[int | None, PlainValidator(or_else(amount, None))]
"""An amount on which no price depends; unknown where it is missing or makes no sense."""
AnyNumber = Annotated[int | None, PlainValidator(or_else(number, None))]
"""A number on which no price depends; unknown where it is missing or makes no sense."""
Chance = Annotated[int, BeforeValidator(chance)]
Instant = Annotated[datetime, BeforeValidator(instant)]
Moment = Annotated[datetime, BeforeValidator(moment)]
Second = Annotated[datetime, BeforeValidator(second)]


class WireRecord(BaseModel):
    """A record as it is sent. Fields that we don't know are welcome; those that we do must be right."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


W = TypeVar("W", bound=WireRecord)


def read(model: type[W], raw: object, kind: RecordKind) -> W:
    """The record, or Unfit with the first thing that is wrong with it."""
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise RejectedRecord(
            kind, "malformed", f"{place}: {first['msg']}" if place else first["msg"]
        ) from None


def label(raw: object, *keys: str) -> str:
    """What a record calls itself under the first of these keys that it has; nothing where it doesn't."""
    if isinstance(raw, dict):
        for key in keys:
            name = raw.get(key)
            if name and isinstance(name, str):
                return ascii(name)[1:-1][:200]
    return ""


def own_names(prefix: str, markets: Iterable[MarketId]) -> list[str]:
    """A venue's own names of these markets, each once; what can't be one of its names isn't asked for."""
    names = (market.removeprefix(prefix) for market in markets if market.startswith(prefix))
    return list(dict.fromkeys(name for name in names if is_name(name)))


class RecordSorter:
    """Sets aside what is unfit, record by record, and tells of it."""

    def __init__(self, venue: str, keys: tuple[str, ...], report: Report):
        self._venue, self._keys, self._report = venue, keys, report

    def made(self, raw: object, make: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
        """What is made of a record; None where it had to be set aside."""
        try:
            return make(*args, **kwargs)
        except RejectedRecord as why:
            self.tell(why, label(raw, *self._keys) or "(no name)", raw)
            return None

    def tell(self, why: RejectedRecord, record: str, raw: object = None) -> None:
        """Tell of a record that was set aside."""
        text = "" if raw is None else raw_json(raw)[:SHOWN_OF_A_RECORD]
        self._report(QuarantinedRecord(self._venue, record, why.kind, why.code, why.reason, text))

    def in_order(self, raws: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
        """The records of these names, in their order; those that the venue no longer lists are told."""
        for name in names:
            if name not in raws:
                self.tell(RejectedRecord("market", "missing", "the venue no longer lists it"), name)
        return {name: raws[name] for name in names if name in raws}


LARGEST_GAP = 50_000
"""A page and a book that are farther apart than this contradict each other."""


def with_levels(quote: Quote, bids: Iterable[Level], asks: Iterable[Level]) -> Quote:
    """The quote with these levels, best first whatever order they came in; those of no size are nobody's."""
    below = sorted((level for level in bids if level.shares), key=lambda level: -level.price)
    above = sorted((level for level in asks if level.shares), key=lambda level: level.price)
    for side in (below, above):
        for level in side:
            if not 0 < level.price < ONE:
                raise RejectedRecord(
                    "quote", "bad_book", f"its book has a level at {level.price / ONE:g} dollars"
                )
        if len({level.price for level in side}) < len(side):
            raise RejectedRecord("quote", "bad_book", "its book has a price twice on one side")
    bid, ask = (side[0].price if side else None for side in (below, above))
    mid = middle(bid, ask, "its book's")
    return replace(quote, bid=bid, ask=ask, mid=mid, bids=tuple(below), asks=tuple(above))


def middle(bid: int | None, ask: int | None, whose: str = "its") -> int | None:
    """The mid of two sides that do not cross; None without both."""
    if bid is None or ask is None:
        return None
    if bid > ask:
        raise RejectedRecord("quote", "crossed", f"{whose} bid {bid / ONE:g} is over its ask {ask / ONE:g}")
    return (bid + ask) // 2


def offered(price: int | None) -> int | None:
    """A price that somebody offers; at 0 and at a dollar nobody does."""
    if price is not None and price > ONE:
        raise RejectedRecord("quote", "bad_price", f"a price of {price / ONE:g} dollars is over a dollar")
    return None if price in (0, ONE) else price


def book_gap(page: Quote, book: Quote) -> RejectedRecord | None:
    """What to say where a page's prices and its book, read a moment later, differ by over five cents."""
    if page.mid is None or book.mid is None or abs(page.mid - book.mid) <= LARGEST_GAP:
        return None
    words = f"its page says {page.mid / ONE:g}, its book {book.mid / ONE:g}: no orders are filled"
    return RejectedRecord("quote", "gap", words)
