"""Reads strictly what venues send: what looks otherwise is refused with a reason, never guessed at."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from math import inf
from operator import attrgetter
from typing import Annotated, Any, Concatenate, Literal, ParamSpec, TypeVar

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

LONGEST_TEXT = 100_000
SHOWN_OF_A_RECORD = 2_000
LARGEST_NUMBER = 10**12
"""More than any figure of a venue; in millionths it still fits in the record."""
RecordKind = Literal["market", "quote", "resolution", "page", "article"]
T = TypeVar("T")
D = TypeVar("D")
P = ParamSpec("P")
_NUMBER = re.compile(r"[0-9]{1,12}(\.[0-9]{1,12})?")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


class RejectedRecord(Exception):
    """A record of which nothing can be made, or not yet: it is quarantined."""

    def __init__(self, kind: RecordKind, code: str, reason: str):
        super().__init__(reason)
        self.kind = kind
        self.code = code
        self.reason = reason


def waiting(code: str, reason: str) -> RejectedRecord:
    """Return the fault of a resolution that can't be used yet."""
    return RejectedRecord("resolution", code, f"{reason}: it waits")


def shown_value(value: object) -> str:
    """Return a value in a few plain characters; of lists and objects only that they are such."""
    if isinstance(value, list):
        return "a list"
    if isinstance(value, dict):
        return "an object"

    text = ascii(value)
    if len(text) > 40:
        return f"{text[:39]}…"
    return text


def raw_json(raw: object) -> str:
    """Return a record as JSON, or "" if it is nested too deeply to be written."""
    try:
        return json.dumps(raw)
    except RecursionError:
        return ""


def amount(value: object) -> int:
    """Return a number sent as text, in millionths. Signs, exponents and words are no amounts."""
    if not isinstance(value, str):
        raise ValueError(f"{shown_value(value)} is not an amount")
    return _amount(value)


@lru_cache(maxsize=4_096)  # prices have few values
def _amount(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{shown_value(text)} is not an amount")
    return millionths(text)


def number(value: object) -> int:
    """Return a number sent as such, not below 0, in millionths."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < LARGEST_NUMBER:
        raise ValueError(f"{shown_value(value)} is not a number of at least 0")
    return millionths(value)


def with_figures(
    price: Quote,
    raw: object,
    read_figure: Callable[[object], int],
    venue_names: Mapping[str, tuple[str, ...]],
) -> Quote:
    """Return a quote with the page's other figures, by our names and the venue's.

    A figure that is missing or makes no sense is None.
    """
    page = raw if isinstance(raw, dict) else {}
    figures: dict[str, Any] = {}
    for ours, theirs in venue_names.items():
        value = next((page[name] for name in theirs if name in page), None)
        figures[ours] = None if value is None else reader_with_default(read_figure, None)(value)
    return replace(price, **figures)


def reader_with_default(reader: Callable[[object], T], otherwise: D) -> Callable[[object], T | D]:
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
    for name in names:
        value = member(raw, name)
        if value in (None, ""):
            continue

        try:
            reader(value)
        except ValueError as error:
            reason = f"{name}: {error}: its volume is unknown, its prices count"
            raise RejectedRecord("quote", "bad_volume", reason) from None


def chance(value: object) -> int:
    """Return a probability sent as a number, rounded to millionths; raise `ValueError` for one above 1."""
    probability = number(value)
    if probability > ONE:
        raise ValueError(f"{shown_value(value)} is not a probability")
    return probability


def instant(value: object) -> datetime:
    """Return a time that has a time zone, in UTC."""
    try:
        at = datetime.fromisoformat(value if isinstance(value, str) else "")
        if at.tzinfo is UTC:
            return at
        if at.tzinfo is not None:
            return at.astimezone(UTC)
    except (ValueError, OverflowError):
        pass  # it is refused below, like a time without a zone

    raise ValueError(f"{shown_value(value)} is not a time with a time zone")


def moment(value: object) -> datetime:
    """Return a time sent as milliseconds since 1970."""
    if isinstance(value, float) and 2**63 <= value < inf:  # a whole number too long for our reader of JSON
        return NEVER
    if type(value) is not int or value < 0:
        raise ValueError(f"{shown_value(value)} is not a time in milliseconds")
    if value >= (NEVER - _EPOCH) // _MILLISECOND:
        return NEVER
    return _EPOCH + value * _MILLISECOND


def second(value: object) -> datetime:
    """Return a time sent as seconds since 1970."""
    if type(value) is not int:
        raise ValueError(f"{shown_value(value)} is not a time in seconds")
    return moment(value * 1_000)


def _storable(text: str) -> str:
    """Return text that every database and every file can hold. Raise `ValueError` for other text."""
    is_storable = "\0" not in text and len(text) <= LONGEST_TEXT
    try:
        text.encode()
    except UnicodeEncodeError:
        is_storable = False

    if not is_storable:
        raise ValueError(f"{shown_value(text)} is not storable text")
    return text


Text = Annotated[str, AfterValidator(_storable)]
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")


def is_name(text: str) -> bool:
    """Tell whether a text may be a venue's name of a record."""
    return _NAME.fullmatch(text) is not None


def _name(text: str) -> str:
    """Return a venue's name of a record. Raise `ValueError` for other text."""
    if not is_name(text):
        raise ValueError(f"{shown_value(text)} is not a valid record id")
    return text


Name = Annotated[str, AfterValidator(_name)]
"""A venue's id of a record, without slash or comma, since it goes into paths and lists."""
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


DescriptiveText = Annotated[str, PlainValidator(reader_with_default(_text, ""))]
"""Text on which no price depends; empty where it is missing or makes no sense."""
AnyAmount = Annotated[int | None, PlainValidator(reader_with_default(amount, None))]
"""An amount on which no price depends; unknown where it is missing or makes no sense."""
AnyNumber = Annotated[int | None, PlainValidator(reader_with_default(number, None))]
"""A number on which no price depends; unknown where it is missing or makes no sense."""
Chance = Annotated[int, BeforeValidator(chance)]
Instant = Annotated[datetime, BeforeValidator(instant)]
Moment = Annotated[datetime, BeforeValidator(moment)]
Second = Annotated[datetime, BeforeValidator(second)]


class WireRecord(BaseModel):
    """A record as it is sent. Fields that are not read may be anything; those that are must be right."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


W = TypeVar("W", bound=WireRecord)


def read_record(model: type[W], raw: object, kind: RecordKind) -> W:
    """Return a record as its model. Raise `RejectedRecord` with the first thing that is wrong with it."""
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        first_fault = error.errors()[0]

        field_path = ".".join(map(str, first_fault["loc"]))
        reason = first_fault["msg"]
        if field_path:
            reason = f"{field_path}: {reason}"
        raise RejectedRecord(kind, "malformed", reason) from None


def member(raw: object, key: str) -> Any:
    """Return a member of what should be an object, or None if it is no object or lacks that member."""
    if not isinstance(raw, dict):
        return None
    return raw.get(key)


def label(raw: object, *keys: str) -> str:
    """Return a record's name under the first of some keys that has one; nothing without any."""
    if not isinstance(raw, dict):
        return ""

    for key in keys:
        name = raw.get(key)
        if name and isinstance(name, str):
            return ascii(name)[1:-1][:200]
    return ""


def own_names(prefix: str, markets: Iterable[MarketId]) -> list[str]:
    """Return a venue's own names of markets, each once, without those that can't be its names."""
    names = (market.removeprefix(prefix) for market in markets if market.startswith(prefix))
    return list(dict.fromkeys(filter(is_name, names)))


class RecordSorter:
    """Quarantines records that can't be used, one by one, and reports them."""

    def __init__(self, venue: str, keys: tuple[str, ...], report: Report):
        self._venue = venue
        self._keys = keys
        self._report = report

    def make_or_report(
        self, raw: object, make: Callable[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> T | None:
        """Return what is made of a record; None if it was quarantined."""
        try:
            return make(*args, **kwargs)
        except RejectedRecord as fault:
            self.report_fault(fault, label(raw, *self._keys) or "(no name)", raw)
            return None

    def make_all(
        self,
        raws: Iterable[object],
        make: Callable[Concatenate[object, P], T | None],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> list[T]:
        """Return what is made of each record, without those that were quarantined."""
        made = list[T]()
        for raw in raws:
            item = self.make_or_report(raw, make, raw, *args, **kwargs)
            if item is not None:
                made.append(item)
        return made

    def report_fault(self, fault: RejectedRecord, record: str, raw: object = None) -> None:
        """Report a record that is quarantined."""
        text = ""
        if raw is not None:
            text = raw_json(raw)[:SHOWN_OF_A_RECORD]
        self._report(QuarantinedRecord(self._venue, record, fault.kind, fault.code, fault.reason, text))

    def in_order(self, raws: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
        """Return the records of names in their order. Those that the venue no longer lists are reported."""
        ordered = {}
        for name in names:
            if name in raws:
                ordered[name] = raws[name]
            else:
                self.report_fault(RejectedRecord("market", "missing", "the venue no longer lists it"), name)
        return ordered


LARGEST_GAP = 50_000
"""The largest gap between the mids of a page and its book before they count as contradictory."""


def with_levels(quote: Quote, bids: Iterable[Level], asks: Iterable[Level]) -> Quote:
    """Return a quote with the levels of a book, best first. Levels without shares are left out."""
    bid_levels = _sorted_levels(bids)[::-1]
    ask_levels = _sorted_levels(asks)
    bid = bid_levels[0].price if bid_levels else None
    ask = ask_levels[0].price if ask_levels else None
    mid = mid_price(bid, ask, "its book's")
    return replace(quote, bid=bid, ask=ask, mid=mid, bids=tuple(bid_levels), asks=tuple(ask_levels))


def _sorted_levels(levels: Iterable[Level]) -> list[Level]:
    """Return one side of a book by its prices. Raise `RejectedRecord` for a price that can't be."""
    side = sorted((level for level in levels if level.shares), key=attrgetter("price"))
    price_before = 0
    for level in side:
        if not 0 < level.price < ONE:
            reason = f"its book has a level at {level.price / ONE:g} dollars"
            raise RejectedRecord("quote", "bad_book", reason)
        if level.price == price_before:
            raise RejectedRecord("quote", "bad_book", "its book has a price twice on one side")
        price_before = level.price

    return side


def mid_price(bid: int | None, ask: int | None, whose: str = "its") -> int | None:
    """Return the mid of two sides; None without both. Raise `RejectedRecord` if they cross."""
    if bid is None or ask is None:
        return None

    if bid > ask:
        raise RejectedRecord("quote", "crossed", f"{whose} bid {bid / ONE:g} is over its ask {ask / ONE:g}")
    return (bid + ask) // 2


def offered_price(price: int | None) -> int | None:
    """Return a price that somebody offers; None at 0 and at a dollar, where nobody does."""
    if price is not None and price > ONE:
        raise RejectedRecord("quote", "bad_price", f"a price of {price / ONE:g} dollars is over a dollar")
    if price in (0, ONE):
        return None
    return price


def book_gap(page: Quote, book: Quote) -> RejectedRecord | None:
    """Return what to report if a page and its book, read a moment later, are far apart; else None."""
    if page.mid is None or book.mid is None or abs(page.mid - book.mid) <= LARGEST_GAP:
        return None

    reason = f"its page says {page.mid / ONE:g}, its book {book.mid / ONE:g}: no orders are filled"
    return RejectedRecord("quote", "gap", reason)
