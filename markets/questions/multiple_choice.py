"""A question of several options, of which exactly one happens: a probability for each of them."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from markets.distributions import (
    MOST_OPTIONS,
    BadDistribution,
    BadForm,
    Distribution,
    QuestionForm,
    check_unused,
    decimal_fraction,
    normalized,
    number_or_text,
)
from markets.millionths import ONE

TITLE = "multiple choice"
KEY = "options"
SCHEMA: Mapping[str, Any] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"option": {"type": "string"}, "probability": {"type": "number"}},
        "required": ["option", "probability"],
        "additionalProperties": False,
    },
}
LONGEST_NAME = 200
SLACK = Fraction(1, 20)
"""So far from 1 the probabilities of an answer may add up: they are divided by their sum."""
SHOWN = 3
NAME_KEYS = ("option", "name", "label", "outcome", "answer", "choice")
"""Keys under which an item of a list of options may name its option."""


def check(form: QuestionForm) -> None:
    """Raise `BadForm` if there are too few options, two of one name, wrong odds, or a range."""
    check_unused(form, "low", "high", "open_low", "open_high", "unit")

    count = len(form.options)
    if not 2 <= count <= MOST_OPTIONS:
        message = "there is 1 option" if count == 1 else f"there are {count:,} options"
        hint = f"give the names of 2 to {MOST_OPTIONS} options, with a semicolon between them"
        raise BadForm("options", message, hint)

    names = set[str]()
    for option in form.options:
        name = _plain(option)
        if not name or len(option) > LONGEST_NAME:
            raise BadForm("options", f"{option[:40]!r} is not a name", "give each option a short name")
        if name in names:
            raise BadForm("options", f"{option[:40]!r} is named twice", "name each option once")
        names.add(name)

    if form.odds and (len(form.odds) != count or sum(form.odds) != ONE or min(form.odds) < 0):
        raise BadForm(
            "odds", "they are not a probability for each option", "give one for each, adding up to 1"
        )


def instruction(form: QuestionForm) -> str:
    """Say how the options are answered; they are listed beside it."""
    count = len(form.options)
    return f"Exactly one of the {count} options happens. Give a probability for each; they add up to 1."


def read(form: QuestionForm, value: object) -> Distribution:
    """Return the chances of the options: from an object by name, or a list of options with probabilities.

    An option that is left out has no chance. Numbers that add up to 100 are percentages.
    """
    stated = dict[str, Fraction]()
    option_by_plain_name = {_plain(option): option for option in form.options}
    for key, share in _pairs(value):
        name = number_or_text(key)
        option = option_by_plain_name.get(_plain(name))
        if option is None:
            raise BadDistribution(f"{name[:40]!r} is none of the options")
        if option in stated:
            raise BadDistribution(f"{option[:40]!r} is stated twice")
        stated[option] = _share(share)

    shares = [stated.get(option, Fraction(0)) for option in form.options]
    total = sum(shares, Fraction(0))
    if abs(total / 100 - 1) <= SLACK:
        total /= 100
    if abs(total - 1) > SLACK:
        raise BadDistribution(f"the probabilities of the options add up to {float(total):.4g}, and not to 1")
    return Distribution(normalized(shares))


def _pairs(value: object) -> list[tuple[object, object]]:
    """Return what an answer says of each option it names."""
    if isinstance(value, Mapping):
        return list(value.items())
    if not isinstance(value, list | tuple):
        raise BadDistribution('expected a probability for each option: {"first": 0.2, "second": 0.8}')

    pairs = list[tuple[object, object]]()
    for item in value:
        if isinstance(item, list | tuple) and len(item) == 2:
            pairs.append((item[0], item[1]))
            continue
        names = [item[key] for key in NAME_KEYS if key in item] if isinstance(item, Mapping) else []
        if len(names) != 1 or "probability" not in item:
            raise BadDistribution('expected a list of {"option": …, "probability": …}')
        pairs.append((names[0], item["probability"]))
    return pairs


def _share(value: object) -> Fraction:
    """Return a probability, or a percentage, as it is written."""
    if isinstance(value, Mapping) and len(value) == 1:
        value = value.get("probability")

    text = number_or_text(value)
    number = text.removesuffix("%").strip()
    try:
        share = decimal_fraction(number)
    except ValueError:
        raise BadDistribution(f"{text[:40]!r} is not a probability") from None

    if not 0 <= share <= 100:
        raise BadDistribution(f"the probability {text[:40]} is not between 0 and 1")
    if number != text:
        share /= 100
    return share


def _plain(name: str) -> str:
    return " ".join(name.split()).casefold()


def read_outcome(form: QuestionForm, text: str) -> str:
    """Return the option of that name."""
    for option in form.options:
        if _plain(option) == _plain(text):
            return option
    raise ValueError(f"{text[:40]!r} is none of the options: {'; '.join(form.options)[:200]}")


def stated(form: QuestionForm, answer: Distribution) -> list[dict[str, str | float]]:
    """Return the options, each with its probability."""
    pairs = zip(form.options, answer.chances, strict=True)
    return [{"option": option, "probability": chance / ONE} for option, chance in pairs]


def uniform(form: QuestionForm) -> Distribution:
    """Return the same chance for each option."""
    return Distribution(normalized([1] * len(form.options)))


def combined(form: QuestionForm, answers: Sequence[Distribution]) -> Distribution:
    """Return the median chance of each option, divided by the sum of all."""
    medians = []
    for index in range(len(form.options)):
        chances = sorted(answer.chances[index] for answer in answers)
        medians.append(chances[(len(chances) - 1) // 2] + chances[len(chances) // 2])

    if not any(medians):
        # Each option has more doubters than believers: then the mean is all there is.
        chances_by_option = zip(*(answer.chances for answer in answers), strict=True)
        medians = list(map(sum, chances_by_option))

    return Distribution(normalized(medians))


def words(form: QuestionForm, answer: Distribution) -> str:
    """Return the likeliest options with their chances."""
    ranked = sorted(zip(answer.chances, form.options, strict=True), key=lambda pair: -pair[0])
    parts = [f"{option} {chance / ONE:.0%}" for chance, option in ranked[:SHOWN]]
    if len(ranked) > SHOWN:
        parts.append(f"{len(ranked) - SHOWN} more")
    return ", ".join(parts)
