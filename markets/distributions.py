"""What a question asks that isn't of yes or no, and the answer: chances of its options, or quantiles."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, Protocol, cast

from markets.millionths import ONE, decimal, decimal_of
from markets.registry import load

YES_NO = "yes_no"
MOST_OPTIONS = 200
FEWEST_QUANTILES = 3
ASKED_PERCENTS = (5, 10, 25, 50, 75, 90, 95)
"""The percents at which a question of a number or a date asks for quantiles."""
PERCENT = ONE // 100
ASKED_SHARES = [percent * PERCENT for percent in ASKED_PERCENTS]
ASKED_NAMES = [f"p{percent}" for percent in ASKED_PERCENTS]
"""The keys of the quantiles in an answer, such as `p5`."""
ASKED_WORDS = ", ".join(f"{percent}%" for percent in ASKED_PERCENTS)
LONGEST_UNIT = 40
MOST_DIGITS = 40
LARGEST_EXPONENT = 30
SMALLEST_EXPONENT = -60
"""Between these powers of ten lies every number that is read: others would take long to compute with."""
_PERCENT_KEY = re.compile(
    r"(?:p|q|percentile|quantile)?[\s_-]*([0-9]{1,2})\s*(?:%|th)?[\s_-]*(?:percentile|quantile)?"
)
_SHARE_KEY = re.compile(r"0?\.[0-9]{1,6}")
_GROUPED_NUMBER = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]+)?")
_SHARE_KEYS = ("percent", "percentile", "quantile", "level", "p", "q")
"""Keys under which an item of a list of quantiles may name its percent."""


class BadForm(ValueError):
    """A question makes no sense: which field is wrong, and how to correct it."""

    def __init__(self, field: str, message: str, hint: str):
        super().__init__(message)
        self.field = field
        self.message = message
        self.hint = hint


class BadDistribution(ValueError):
    """An answer is no distribution over what a question can come to; the text says why."""


@dataclass(frozen=True, slots=True)
class QuestionForm:
    """What kind of question is asked, and between which answers.

    `odds` is the market's chance of each option in millionths, empty where there is no market. `low` and
    `high` bound a number, as decimal text, or a date, as ISO text; the outcome may lie beyond an open bound.
    """

    kind: str = YES_NO
    options: tuple[str, ...] = ()
    odds: tuple[int, ...] = ()
    low: str = ""
    high: str = ""
    open_low: bool = False
    open_high: bool = False
    unit: str = ""

    @property
    def text(self) -> str:
        """Return the form as `Market.form` holds it: canonical JSON of what it says; empty for yes or no.

        >>> QuestionForm("multiple_choice", ("red", "blue")).text, QuestionForm().text
        ('{"kind":"multiple_choice","options":["red","blue"]}', '')
        """
        if self.kind == YES_NO:
            return ""
        fields = {name: value for name, value in asdict(self).items() if value}
        return _canonical(fields)


@lru_cache(maxsize=4096)
def form_of(text: str) -> QuestionForm:
    """Return the form behind the text of `Market.form`; that of yes or no behind an empty one."""
    if not text:
        return QuestionForm()

    values: dict[str, Any] = json.loads(text)
    for name in ("options", "odds"):
        values[name] = tuple(values.get(name, ()))
    return QuestionForm(**values)


@dataclass(frozen=True, slots=True)
class Distribution:
    """An answer to a question: the chance of each of its options, or quantiles of a number or a date.

    `chances` are in millionths, in the order of the options, and add up to 1. `quantiles` are pairs,
    ascending: a share in millionths, and the value below which the outcome lies with that chance, as text.
    """

    chances: tuple[int, ...] = ()
    quantiles: tuple[tuple[int, str], ...] = ()

    @property
    def text(self) -> str:
        """Return the distribution as `Forecast.distribution` holds it.

        >>> Distribution((250_000, 750_000)).text, Distribution(quantiles=((500_000, "12"),)).text
        ('{"chances":[250000,750000]}', '{"quantiles":[[500000,"12"]]}')
        """
        if self.chances:
            return _canonical({"chances": self.chances})
        return _canonical({"quantiles": self.quantiles})


@lru_cache(maxsize=16_384)
def distribution_of(text: str) -> Distribution:
    """Return the distribution behind the text of `Forecast.distribution`."""
    values = json.loads(text)
    quantiles = tuple((int(share), str(value)) for share, value in values.get("quantiles", ()))
    return Distribution(tuple(values.get("chances", ())), quantiles)


class QuestionKind(Protocol):
    """A module of `markets/questions/`: how a kind of question is checked, asked, answered and shown.

    `TITLE` names the kind, `KEY` is the key of the answer in an item of a model's answer, and `SCHEMA` the
    JSON schema of its value.
    """

    TITLE: str
    KEY: str
    SCHEMA: Mapping[str, Any]

    def check(self, form: QuestionForm) -> None:
        """Raise `BadForm` if the question makes no sense."""

    def instruction(self, form: QuestionForm) -> str:
        """Say to whoever answers what the answers are and how to state them."""

    def read(self, form: QuestionForm, value: object) -> Distribution:
        """Return the distribution that the value of an answer states; raise `BadDistribution`."""

    def read_outcome(self, form: QuestionForm, text: str) -> str:
        """Return an outcome in the form of `Resolution.answer`; raise `ValueError` for an invalid one."""

    def stated(self, form: QuestionForm, answer: Distribution) -> object:
        """Return an answer as `SCHEMA` has it, which `read` reads."""

    def uniform(self, form: QuestionForm) -> Distribution:
        """Return the answer of someone who knows nothing."""

    def combined(self, form: QuestionForm, answers: Sequence[Distribution]) -> Distribution:
        """Return the median of several answers, part by part."""

    def words(self, form: QuestionForm, answer: Distribution) -> str:
        """Return an answer in a few words."""


@lru_cache(maxsize=64)  # a folder of 10,000 questions is read in a second, and not in three
def question_kind(name: str) -> QuestionKind:
    """Return the kind of question of that name; raise `LookupError` if there is none."""
    return cast(QuestionKind, load("markets.questions", name))


def check_form_text(text: str) -> QuestionForm:
    """Return the form behind a text; raise `ValueError` if the text is not that of a sensible question.

    >>> check_form_text('{"kind":"numeric","high":"9","low":"1"}')
    Traceback (most recent call last):
        ...
    ValueError: the text of a form has its keys in order, without spaces
    """
    try:
        form = form_of(text)
        question_kind(form.kind).check(form)
    except (AttributeError, LookupError, TypeError, RecursionError) as error:
        raise ValueError(f"this is no form of a question: {error}") from error

    # Python takes 1 for true and 0.5 for a number of odds; the text of a form has one way to say each.
    are_whole = set(map(type, form.odds)) <= {int}
    are_flags = {type(form.open_low), type(form.open_high)} == {bool}
    if not are_whole or not are_flags:
        raise ValueError("odds are whole millionths, and open_low and open_high are true or false")
    if form.text != text:
        raise ValueError("the text of a form has its keys in order, without spaces")
    return form


def check_distribution_text(form: QuestionForm, text: str) -> Distribution:
    """Return the distribution behind a text; raise `ValueError` if it is no answer to the question.

    >>> check_distribution_text(QuestionForm("multiple_choice", ("a", "b")), '{"chances":[1000000]}')
    Traceback (most recent call last):
        ...
    markets.distributions.BadDistribution: there are 1 chances for 2 options
    """
    try:
        parsed = distribution_of(text)
        stated: dict[str, str] = {}
        if form.options:
            if len(parsed.chances) != len(form.options):
                raise BadDistribution(
                    f"there are {len(parsed.chances)} chances for {len(form.options)} options"
                )
            for option, chance in zip(form.options, parsed.chances, strict=True):
                stated[option] = str(decimal(chance))

        for share, value in parsed.quantiles:
            stated[str(Fraction(share, PERCENT))] = value

        canonical = question_kind(form.kind).read(form, stated)
    except (ArithmeticError, AttributeError, LookupError, TypeError, RecursionError) as error:
        raise BadDistribution(f"this is no distribution: {error}") from error

    if canonical.text != text:
        raise BadDistribution("it is not written as it would be read")
    return canonical


# ── options ──────────────────────────────────────────────────────────────────────────────────────────────


def normalized(weights: Sequence[Fraction | int]) -> tuple[int, ...]:
    """Return weights as millionths that add up to exactly 1, the rest given to those that lost most by it.

    >>> normalized([1, 1, 1]), normalized([0, 5])
    ((333334, 333333, 333333), (0, 1000000))
    """
    total = sum(weights, Fraction(0))
    if total <= 0:
        raise BadDistribution("the probabilities of the options add up to 0")

    exact_shares = [Fraction(weight) * ONE / total for weight in weights]
    shares = list(map(int, exact_shares))

    # Each share was rounded down: the missing millionths go to those that lost most, the first before others.
    changes = [
        (share - exact, index) for index, (share, exact) in enumerate(zip(shares, exact_shares, strict=True))
    ]
    missing = ONE - sum(shares)
    for _, index in sorted(changes)[:missing]:
        shares[index] += 1
    return tuple(shares)


# ── quantiles ────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class QuantileScale:
    """How the values of quantiles are read: `number` of a text, and `text` of a number, both exact."""

    number: Callable[[str], Fraction]
    text: Callable[[Fraction], str]
    noun: str


def read_quantiles(form: QuestionForm, value: object, scale: QuantileScale) -> Distribution:
    """Return quantiles by their percents; raise `BadDistribution` if the question can't have them.

    They come as an object by percent, or as a list of percents with values.
    """
    pairs = [(number_or_text(key), text) for key, text in _quantile_pairs(value) if text is not None]
    are_shares_of_one = all(_SHARE_KEY.fullmatch(key) for key, _ in pairs)

    value_of_percent = dict[int, Fraction]()
    for key, text in pairs:
        percent = _percent_of_key(key, are_shares_of_one)
        if percent in value_of_percent:
            raise BadDistribution(f"the quantile of {percent}% is stated twice")
        value_of_percent[percent] = _stated_number(form, text, scale)

    if len(value_of_percent) < FEWEST_QUANTILES:
        raise BadDistribution(
            f"{len(value_of_percent)} quantiles are stated, and {FEWEST_QUANTILES} are needed"
        )

    ordered = sorted(value_of_percent.items())
    for (lower_percent, lower_value), (upper_percent, upper_value) in pairwise(ordered):
        if upper_value < lower_value:
            raise BadDistribution(f"the quantile of {upper_percent}% is below that of {lower_percent}%")
    _check_bounds(form, [number for _, number in ordered], scale)
    return Distribution(
        quantiles=tuple((percent * PERCENT, scale.text(number)) for percent, number in ordered)
    )


def _quantile_pairs(value: object) -> list[tuple[object, object]]:
    """Return the percents that an answer names, each with its value."""
    if isinstance(value, Mapping):
        return list(value.items())

    pairs = list[tuple[object, object]]()
    for item in value if isinstance(value, list | tuple) else ():
        if isinstance(item, Mapping) and "value" in item:
            keys = [item[key] for key in _SHARE_KEYS if key in item]
            pairs += [(key, item["value"]) for key in keys]
        elif isinstance(item, list | tuple) and len(item) == 2:
            pairs.append((item[0], item[1]))
    if not pairs:
        raise BadDistribution('expected quantiles by percent, such as {"5": …, "50": …, "95": …}')
    return pairs


def _percent_of_key(key: str, is_share_of_one: bool) -> int:
    """Return the percent that a key names: "5", "5%", "p5", "5th percentile" or "median".

    If `is_share_of_one`, the key is a share, such as 0.05. Raise `BadDistribution` for any other key.
    """
    text = key[:40].lower()
    if is_share_of_one:
        percent = Fraction(text) * 100
    else:
        match = _PERCENT_KEY.fullmatch("50" if text == "median" else text)
        percent = Fraction(match[1] if match else 0)

    if percent.denominator != 1 or not 1 <= percent <= 99:
        raise BadDistribution(f"{text[:20]!r} is not a percent from 1 to 99")
    return int(percent)


def _stated_number(form: QuestionForm, value: object, scale: QuantileScale) -> Fraction:
    """Return the number or date that an answer states, with or without the unit of its question."""
    text = number_or_text(value)
    for number_text in (text, _bare_number(text, form.unit)):
        try:
            return scale.number(number_text)
        except ValueError:
            continue
    raise BadDistribution(f"{text[:40]!r} is not {scale.noun}")


def number_or_text(value: object) -> str:
    """Return a number or a text as it is written; raise `BadDistribution` for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        raise BadDistribution(f"a {type(value).__name__} stands where a number is expected")
    try:
        return str(value).strip()
    except ValueError:  # Python writes no number of thousands of digits
        raise BadDistribution("a number has too many digits") from None


def _bare_number(text: str, unit: str) -> str:
    """Return a number without the unit before or behind it, and without commas between its thousands."""
    unit_length = len(unit)
    if unit_length and text[:unit_length].casefold() == unit.casefold():
        text = text[unit_length:].strip()
    if unit_length and text[-unit_length:].casefold() == unit.casefold():
        text = text[:-unit_length].strip()

    if _GROUPED_NUMBER.fullmatch(text):
        return text.replace(",", "")
    return text


def _check_bounds(form: QuestionForm, numbers: Sequence[Fraction], scale: QuantileScale) -> None:
    """Raise `BadDistribution` if a value lies beyond a closed bound."""
    if not form.open_low and numbers[0] < scale.number(form.low):
        raise BadDistribution(f"{scale.text(numbers[0])} is below {form.low}, the least it can be")
    if not form.open_high and numbers[-1] > scale.number(form.high):
        raise BadDistribution(f"{scale.text(numbers[-1])} is above {form.high}, the most it can be")


def read_outcome(form: QuestionForm, text: str) -> str:
    """Return an outcome in the form of `Resolution.answer`.

    Raise `ValueError` for an invalid outcome: not one of the options, or beyond a closed bound.
    """
    kind = question_kind(form.kind)
    answer = kind.read_outcome(form, text)
    scale: QuantileScale | None = getattr(kind, "SCALE", None)
    if scale is not None:
        _check_bounds(form, [scale.number(answer)], scale)
    return answer


def check_unused(form: QuestionForm, *fields: str) -> None:
    """Raise `BadForm` where a question has one of the fields that its kind doesn't have."""
    for field in fields:
        if getattr(form, field):
            message = f"a question of kind {form.kind} has no {field}"
            raise BadForm(field, message, "leave it empty, or correct the kind")


def check_range(form: QuestionForm, scale: QuantileScale) -> None:
    """Raise `BadForm` where a bound is missing or can't be read, or low is not below high."""
    check_unused(form, "options", "odds")
    for name in ("low", "high"):
        text = getattr(form, name)
        hint = "give the range in which the outcome lies, as low and high"
        try:
            number = scale.number(text)
            number_as_answered = scale.number(scale.text(number))
        except ValueError:
            fault = f"{text[:40]!r} is not {scale.noun}" if text else "it is empty"
            raise BadForm(name, fault, hint) from None
        if number_as_answered != number:
            raise BadForm(name, f"{text[:40]!r} is finer than an answer can be", "round it")

    if len(form.unit) > LONGEST_UNIT:
        raise BadForm("unit", f"it has {len(form.unit)} characters", f"write at most {LONGEST_UNIT}")
    if scale.number(form.low) >= scale.number(form.high):
        raise BadForm("high", f"{form.high} is not above low, {form.low}", "correct one of them")


def uniform_quantiles(form: QuestionForm, scale: QuantileScale) -> Distribution:
    """Return the quantiles of someone to whom every value of the range is equally likely."""
    low = scale.number(form.low)
    width = scale.number(form.high) - low
    values = [scale.text(low + width * percent / 100) for percent in ASKED_PERCENTS]
    return Distribution(quantiles=tuple(zip(ASKED_SHARES, values, strict=True)))


def median_quantiles(answers: Sequence[Distribution], scale: QuantileScale) -> Distribution:
    """Return the median of each quantile that all answers state; of those asked for if too few are shared."""
    shared_shares = set(dict(answers[0].quantiles))
    for answer in answers[1:]:
        shared_shares &= set(dict(answer.quantiles))
    shares = sorted(shared_shares)
    if len(shares) < FEWEST_QUANTILES:
        shares = ASKED_SHARES

    quantiles = []
    for share in shares:
        values = sorted(quantile_at(answer, share, scale) for answer in answers)
        lower_middle = values[(len(values) - 1) // 2]
        upper_middle = values[len(values) // 2]
        median_text = scale.text((lower_middle + upper_middle) / 2)
        quantiles.append((share, median_text))
    return Distribution(quantiles=tuple(quantiles))


def quantile_at(answer: Distribution, share: int, scale: QuantileScale) -> Fraction:
    """Return the value at a share, on the straight line between the quantiles around it.

    Beyond the first and the last one it is that one.
    """
    points = [(known_share, scale.number(text)) for known_share, text in answer.quantiles]
    if share <= points[0][0]:
        return points[0][1]
    for (share_before, value_before), (share_after, value_after) in pairwise(points):
        if share <= share_after:
            return value_before + (value_after - value_before) * Fraction(
                share - share_before, share_after - share_before
            )
    return points[-1][1]


def quantile_words(answer: Distribution, scale: QuantileScale, unit: str = "") -> str:
    """Return the median and the range of 80%, or three of the quantiles where these are not between them."""
    if unit:
        unit = f" {unit}"
    shares = [share for share, _ in answer.quantiles]
    if shares[0] <= 10 * PERCENT and shares[-1] >= 90 * PERCENT:
        low, middle, high = (
            scale.text(quantile_at(answer, share * PERCENT, scale)) for share in (10, 50, 90)
        )
        return f"{middle}{unit} (80%: {low} to {high})"

    parts = []
    for place in (0, len(shares) // 2, -1):
        share, text = answer.quantiles[place]
        parts.append(f"{share // PERCENT}%: {text}{unit}")
    return ", ".join(parts)


def decimal_fraction(text: str) -> Fraction:
    """Return the exact number that a decimal text writes; raise `ValueError` where it writes none.

    >>> decimal_fraction("12.50"), decimal_fraction("1e3")
    (Fraction(25, 2), Fraction(1000, 1))
    """
    number = decimal_of(text.strip())
    parts = number.as_tuple()
    exponent = int(parts.exponent)
    if len(parts.digits) > MOST_DIGITS or not SMALLEST_EXPONENT <= exponent <= LARGEST_EXPONENT:
        raise ValueError(f"{text[:40]!r} is too long a number")
    if number.copy_abs() >= 10**LARGEST_EXPONENT:
        raise ValueError(f"{text[:40]!r} is too large a number")
    return Fraction(number)


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
