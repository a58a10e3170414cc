"""Questions of Metaculus from any of its files: their range, outcome and community predictions."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import inf
from typing import Any

from arena.errors import FileFault
from arena.forms.model import (
    PublishedFigure,
    SourceData,
    SourceForecast,
    SourceOutcome,
    SourcePrice,
    SourceQuestion,
)
from arena.forms.objects import SourceObject, as_number, quoted_value
from arena.forms.rules.number_scales import NumberScale, number_or_date, with_range

BINARY = "binary"
CHOICE = "multiple_choice"
DATE = "date"
NUMBERS = ("numeric", "discrete", DATE)
KINDS = (BINARY, CHOICE, *NUMBERS)
CALLED_OFF = ("annulled", "ambiguous", "-1", "-1.0", "-2", "-2.0")
YES_NO = {"yes": 1.0, "no": 0.0, "1": 1.0, "1.0": 1.0, "0": 0.0, "0.0": 0.0}
ABOVE = "above_upper_bound"
BELOW = "below_lower_bound"
COMMUNITY = "recency_weighted"
"""The aggregation that the site shows as the community prediction."""


@dataclass(frozen=True, slots=True)
class QuestionFacts:
    """The facts of a question in a file; `resolution` is the site's word for its outcome."""

    key: str
    kind: str
    title: str = ""
    post: str = ""
    category: str = ""
    options: tuple[str, ...] = ()
    scale: NumberScale | None = None
    open_low: bool = False
    open_high: bool = False
    opened: datetime | None = None
    closes: datetime | None = None
    scheduled_close: datetime | None = None
    spot: datetime | None = None
    resolution: str = ""
    resolved: datetime | None = None
    background: str = ""
    source: str = ""

    def question(self) -> SourceQuestion:
        """Return the question as a `SourceQuestion`."""
        question = SourceQuestion(
            self.key,
            title=self.title,
            options=self.options,
            open_low=self.open_low,
            open_high=self.open_high,
            event=self.post and f"post {self.post}",
            category=self.category,
            opened=self.opened,
            closes=self.closes,
            scheduled_close=self.scheduled_close,
            spot=self.spot,
            background=self.background,
            source=self.source,
        )

        return question if self.scale is None else with_range(question, self.scale)


@dataclass(frozen=True, slots=True)
class SiteForecast:
    """A forecast of a question: of YES, of each option, or of a number."""

    probability: float | None = None
    options: Mapping[str, float] = field(default_factory=dict)
    quantiles: Mapping[int, float | str] = field(default_factory=dict)
    cdf: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class CommunityPrediction:
    """A community prediction and the time from which it held."""

    start: datetime
    stated: SiteForecast


@dataclass(slots=True)
class MetaculusFiles:
    """The content of the files read so far; `left_out` counts what can't be used, by the reason."""

    questions: dict[str, QuestionFacts] = field(default_factory=dict)
    outcomes: dict[str, SourceOutcome] = field(default_factory=dict)
    community: dict[str, list[CommunityPrediction]] = field(default_factory=lambda: defaultdict(list))
    forecasts: list[SourceForecast] = field(default_factory=list)
    published: list[PublishedFigure] = field(default_factory=list)
    outside: set[str] = field(default_factory=set)
    left_out: Counter[str] = field(default_factory=Counter)
    faults: list[FileFault] = field(default_factory=list)

    def add_question(self, facts: QuestionFacts, row: SourceObject, field_name: str) -> QuestionFacts:
        """Add a question, and its outcome if it has one; return the facts that were added first."""
        first_facts = self.questions.setdefault(facts.key, facts)
        outcome = read_outcome(facts, row, field_name, self)

        if outcome is not None:
            self.outcomes[facts.key] = outcome

        return first_facts

    def data(self) -> SourceData:
        """Return everything that was read."""
        for predictions in self.community.values():
            predictions.sort(key=lambda prediction: prediction.start)

        forecasts = [self.priced(forecast) for forecast in self.forecasts]
        prices: list[SourcePrice] = []

        for key, predictions in self.community.items():
            for prediction in predictions:
                prices += prices_in_prediction(key, prediction)

        return SourceData(
            questions=tuple(facts.question() for facts in self.questions.values()),
            outcomes=tuple(self.outcomes.values()),
            prices=tuple(prices),
            forecasts=tuple(forecasts),
            published=tuple(self.published),
            outside=tuple(sorted(self.outside)),
            notes=tuple(f"{reason}: {count}" for reason, count in self.left_out.items()),
            faults=tuple(self.faults),
        )

    def priced(self, forecast: SourceForecast) -> SourceForecast:
        """Return a forecast with the community prediction at the time it was made."""
        predictions = self.community.get(forecast.question)

        if not predictions or forecast.made is None or forecast.price is not None:
            return forecast

        predictions_before = bisect_right(predictions, forecast.made, key=lambda prediction: prediction.start)

        if predictions_before == 0:
            return forecast

        community = predictions[predictions_before - 1].stated
        return replace(forecast, price=community.probability, odds=community.options)


def prices_in_prediction(key: str, prediction: CommunityPrediction) -> list[SourcePrice]:
    """Return a community prediction as prices."""
    start = prediction.start
    stated = prediction.stated
    prices = [SourcePrice(key, price, option, start) for option, price in stated.options.items()]

    if stated.probability is not None:
        prices.append(SourcePrice(key, stated.probability, seen=start))

    return prices


def read_outcome(
    facts: QuestionFacts, row: SourceObject, field_name: str, found: MetaculusFiles
) -> SourceOutcome | None:
    """Return the outcome of a question; None while it is open, with a fault if it is invalid."""
    text = facts.resolution
    word = text.lower()
    value: float | str | None = None

    if not word:
        return None

    if word not in CALLED_OFF:
        value = outcome_value(facts, text, found)

        if value is None:
            hint = "write yes or no, an option, a number or date, or how it was called off"
            row.note_fault(field_name, f"{quoted_value(text)} is no outcome of a {facts.kind} question", hint)
            return None

    return SourceOutcome(facts.key, value, facts.resolved, row.place)


def outcome_value(facts: QuestionFacts, text: str, found: MetaculusFiles) -> float | str | None:
    """Return an outcome's value; None if it is invalid for the question's kind."""
    word = text.lower()

    if facts.kind == BINARY:
        return YES_NO.get(word)
    if facts.kind == CHOICE and text in facts.options:
        return text
    if facts.scale is None:
        return None

    if word in (ABOVE, BELOW):
        found.left_out[
            "outcomes that are only known to lie beyond their range, and are read as just beyond it"
        ] += 1
        return facts.scale.beyond(word == ABOVE)

    number = number_or_date(text, facts.scale.is_date)

    if number is None:
        return None

    return facts.scale.given(number)


def read_scale(
    row: SourceObject, fields: tuple[str, str], kind: str, ratio: float | None = None
) -> NumberScale | None:
    """Return the range between two fields of an object; None, with a fault, if a number has none."""
    if kind not in NUMBERS:
        return None

    low, high = (read_bound(row, name, kind) for name in fields)

    if low is None or high is None:
        row.note_fault(fields[0], "the range of the number is not known", "give both of its ends")
        return None
    if low >= high:
        row.note_fault(fields[0], f"the range from {low:g} to {high:g} is empty", "correct one of its ends")
        return None

    if ratio is None:
        ratio = zero_ratio(row, low, high)

    if not 0 < ratio < inf:
        row.note_fault("zero_point", "it lies within the range", "give one beyond it, or none")
        ratio = 1.0

    return NumberScale(low, high, ratio, is_date=kind == DATE)


def read_bound(row: SourceObject, name: str, kind: str) -> float | None:
    """Return an end of a range; a date in seconds since 1970."""
    if kind != DATE:
        return row.number(name)

    instant = row.time(name)

    if instant is None:
        return None

    return instant.timestamp()


def zero_ratio(row: SourceObject, low: float, high: float) -> float:
    """Return the ratio of steps from end to end, from the zero point of a logarithmic scale."""
    zero_point = row.number("zero_point")

    if zero_point is None:
        return 1.0
    if zero_point == low:
        return 0.0

    return (high - zero_point) / (low - zero_point)


def stated_values(facts: QuestionFacts, values: Sequence[Any], row: SourceObject, name: str) -> SiteForecast:
    """Return the forecast in the site's list of values: for no and yes, for options, or cumulative."""
    numbers = [as_number(value) for value in values]
    known = [number for number in numbers if number is not None]
    hint = "write probabilities from 0 to 1"

    if len(known) < len([value for value in values if value is not None]):
        row.note_fault(name, "it holds something that is not a number", hint)
        return SiteForecast()
    if known and (min(known) < 0 or max(known) > 1):
        row.note_fault(name, "it holds a number that is not from 0 to 1", hint)
        return SiteForecast()

    if facts.kind == CHOICE:
        return stated_options(facts, numbers, row, name)
    if facts.kind == BINARY and known:
        return SiteForecast(probability=known[-1])

    return SiteForecast(cdf=tuple(known))


def stated_options(
    facts: QuestionFacts, numbers: Sequence[float | None], row: SourceObject, name: str
) -> SiteForecast:
    """Return the probability of each option; one without a number did not exist yet."""
    if numbers and len(numbers) != len(facts.options):
        what = f"it has {len(numbers)} probabilities, the question {len(facts.options)} options"
        row.note_fault(name, what, "give each option one")
        return SiteForecast()

    pairs = zip(facts.options, numbers, strict=False)
    return SiteForecast(options={option: share for option, share in pairs if share is not None})


def stated_forecast(
    facts: QuestionFacts, forecaster: str, row: SourceObject, stated: SiteForecast
) -> SourceForecast:
    """Return a forecaster's forecast of a question."""
    return SourceForecast(
        facts.key,
        forecaster,
        row.place,
        probability=stated.probability,
        options=stated.options,
        quantiles=stated.quantiles,
        cdf=stated.cdf,
    )
