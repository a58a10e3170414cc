"""The content of ForecastBench's published files: question sets, resolution sets, and filed forecasts."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from itertools import product
from math import isnan
from typing import Any

MARKET_SOURCES = frozenset({"infer", "kalshi", "manifold", "metaculus", "polymarket", "rfi"})
"""Sources whose questions resolve once. All others are data series, asked at several horizons."""
HALVES = ("dataset", "market")
"""The names of the two halves: data questions and market questions."""
NOTHING = "N/A"
"""The files' text for a missing value."""

Asked = tuple[str, str, str | None]
"""The subject of a forecast: source, id, and the resolution date of a data question."""
WAYS = ((1, 1), (1, -1), (-1, 1), (-1, -1))
"""The directions in which a combination's questions may resolve: 1 is YES, -1 is NO."""
AND = " & "
"""The separator of the two ids in the name of a combination."""


@dataclass(frozen=True, slots=True)
class BenchQuestion:
    """A question of a set. `dates` are the resolution dates of a data question; a market has none.

    `texts` are the fields as the file has them.
    """

    source: str
    id: str
    dates: tuple[str, ...]
    combined: bool
    texts: Mapping[str, Any] = field(hash=False)

    @property
    def is_market(self) -> bool:
        """Tell whether it resolves once rather than at given dates."""
        return not self.dates

    @property
    def asked(self) -> list[Asked]:
        """Return the forecasts that it asks for."""
        days = self.dates or (None,)
        return list(product([self.source], self.ids, days))

    @property
    def ids(self) -> list[str]:
        """Return its id; for a combination, one id for each pair of directions."""
        if not self.combined:
            return [self.id]
        both = self.texts["id"]
        return [combination_id(both, ways) for ways in WAYS]

    @property
    def parts(self) -> Sequence[Mapping[str, Any]]:
        """Return the two questions of a combination, as the file has them; otherwise the question itself."""
        if not self.combined:
            return [self.texts]
        return list(self.texts["combination_of"])

    @property
    def ways(self) -> dict[str, tuple[int, ...]]:
        """Return the directions of its questions for each of its ids: 1 is YES, -1 is NO."""
        if not self.combined:
            return {self.id: (1,)}
        return dict(zip(self.ids, WAYS, strict=True))

    def freeze_probability(self, name: str) -> float | None:
        """Return the crowd's probability of one of its ids when the set was frozen; None for data questions.

        For a combination it is the product of the crowds' probabilities of both questions, as if independent.
        """
        if self.dates:
            return None

        shares = [probability_or_none(part["freeze_datetime_value"]) for part in self.parts]
        return joint_probability(shares, self.ways[name])


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """The questions of a round, in the file's order; `combinations` were left out."""

    name: str
    due: str
    questions: tuple[BenchQuestion, ...]
    combinations: int = 0


@dataclass(frozen=True, slots=True)
class BenchResolution:
    """The resolution of a question at a date; for a market still open, the crowd's probability."""

    source: str
    id: str
    date: str
    value: float
    resolved: bool


@dataclass(frozen=True, slots=True)
class ResolutionSet:
    """The resolutions of a round, as of some day; `combinations` were left out, and `empty` lack a value."""

    name: str
    due: str
    rows: tuple[BenchResolution, ...]
    combinations: int = 0
    empty: int = 0


@dataclass(frozen=True, slots=True)
class BenchForecast:
    """One forecast; `row` is its place in the file. Fields that only processed files have are None elsewhere.

    A `forecast` that is no probability is NaN: the file then has a fault, and is not scored. `noted` is the
    day on which a processed file recorded a market.
    """

    row: int
    source: str
    id: str
    date: str | None
    forecast: float
    user: str | None = None
    value: float | None = None
    resolved: bool | None = None
    imputed: bool = False
    crowd: float | None = None
    noted: str | None = None
    reason: str = ""

    @property
    def asked(self) -> Asked:
        """Return the subject of the forecast."""
        return self.source, self.id, self.date

    @property
    def is_stated(self) -> bool:
        """Tell whether it is a probability."""
        return not isnan(self.forecast)


@dataclass(frozen=True, slots=True)
class ForecastFile:
    """The forecasts of one forecaster, or of many individuals, for a round; `combinations` were left out."""

    file: str
    organization: str
    model: str
    lab: str
    question_set: str
    due: str
    rows: tuple[BenchForecast, ...]
    combinations: int = 0
    unanswered: int = 0


def forecaster_names(files: Iterable[ForecastFile]) -> dict[tuple[str, str], str]:
    """Return names by model and organization: the model, with its organization if two share it."""
    models = {(filed.model, filed.organization) for filed in files}
    counts = Counter(model for model, _ in models)
    names = {}
    for model, organization in models:
        is_alone = counts[model] == 1
        names[model, organization] = model if is_alone else f"{model} ({organization})"
    return names


def combination_id(ids: Sequence[str], direction: object) -> str:
    """Return the name of a combination with its directions.

    >>> combination_id(["a", "b"], [1, -1]), combination_id(["a", "b"], None)
    ('a & not b', 'a & b')
    """
    ways: Sequence[int] = WAYS[0]
    if isinstance(direction, list | tuple) and len(direction) == 2:
        ways = direction
    parts = [f"not {name}" if way == -1 else name for name, way in zip(ids, ways, strict=True)]
    return AND.join(parts)


def is_combination(name: str) -> bool:
    """Tell whether a name is that of a combination.

    >>> is_combination("a & not b"), is_combination("a")
    (True, False)
    """
    return AND in name


def without_directions(name: str) -> str:
    """Return the name of a combination without its directions; other names unchanged.

    >>> without_directions("not a & not b"), without_directions("a")
    ('a & b', 'a')
    """
    if not is_combination(name):
        return name
    return AND.join(part.removeprefix("not ") for part in name.split(AND))


def joint_probability(probabilities: Sequence[float | None], directions: Sequence[int]) -> float | None:
    """Return the joint probability of independent questions in these directions; None if one is unknown.

    >>> joint_probability([0.5, 0.25], [1, -1]), joint_probability([0.5, None], [1, 1])
    (0.375, None)
    """
    product = 1.0
    for probability, direction in zip(probabilities, directions, strict=True):
        if probability is None:
            return None
        product *= probability if direction == 1 else 1 - probability
    return product


def probability_or_none(value: object) -> float | None:
    """Return a number, possibly given as text, if it is a probability; None otherwise.

    >>> [probability_or_none(value) for value in ("0.051", "910776.0", "No", None, 0.5)]
    [0.051, None, None, None, 0.5]
    """
    if not isinstance(value, int | float | str) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if 0 <= number <= 1 else None


@lru_cache(maxsize=4096)
def is_day(text: object) -> bool:
    """Tell whether a text is a day in ISO notation.

    >>> is_day("2026-03-08"), is_day("2026-3-8"), is_day("2026-02-30")
    (True, False, False)
    """
    if not isinstance(text, str) or len(text) != 10:
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
