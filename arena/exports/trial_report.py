"""What a quick trial of a model shows, as figures, sentences and a page of its own.

Nothing is claimed against the price unless enough questions were asked after the model's release: of the
others it may remember how they ended.
"""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from pathlib import Path

from arena.errors import count_text
from arena.rounds.past_questions import PastQuestion
from arena.scores.rules import brier, calibration
from arena.scores.rules.calibration import Bin
from markets.millionths import ONE

LEAST_COMPARED = 20
"""With fewer questions asked after the release nothing is said of the price."""
LEAST_IN_TENTH = 10
"""With fewer questions a tenth is too much a matter of chance to be named."""
DISTANCES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0)
"""Where the steps of the distance from the price begin and end."""
NORMAL_95 = 1.96
WIDTH = 41
"""Characters of the line from 0% to 100%."""
LONGEST_BAR = 30
TEMPLATE = Path(__file__).with_name("trial_page.html")


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A question and the probability of YES that the model gave."""

    asked: PastQuestion
    forecast: float
    counts: bool

    @property
    def distance(self) -> float:
        """Return how far the probability is from the price."""
        return abs(self.forecast - self.asked.price)


@dataclass(frozen=True, slots=True)
class DistanceStep:
    """How many probabilities were so far from the price: at least `low`, less than `high`."""

    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class PriceComparison:
    """Brier scores on the questions asked after the release, and their mean difference with its interval."""

    questions: int
    brier: float
    price_brier: float
    difference: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class TrialReport:
    """What came of a trial. Costs are in millionths of a dollar; `most` is what was agreed to.

    A cost of None is unknown. `ended` says why it ended before its time, `next_steps` what to type next.
    """

    model: str
    released: date | None
    answers: tuple[AnsweredQuestion, ...]
    asked: int
    unusable: int
    example: str
    seconds: float
    cost: int | None
    most: int | None
    ended: str
    next_steps: tuple[str, ...]

    @property
    def forecasts(self) -> list[float]:
        """Return the model's probabilities."""
        return [answer.forecast for answer in self.answers]

    @property
    def outcomes(self) -> list[int]:
        """Return how the questions ended."""
        return [answer.asked.outcome for answer in self.answers]

    @property
    def brier(self) -> float:
        """Return the model's Brier score."""
        return brier.score(self.forecasts, self.outcomes)

    @property
    def price_brier(self) -> float:
        """Return the Brier score of the prices of the same questions."""
        return brier.score([answer.asked.price for answer in self.answers], self.outcomes)

    @property
    def bins(self) -> list[Bin]:
        """Return what it says, and how often that happened, by tenths."""
        return calibration.bins(self.forecasts, self.outcomes)

    @property
    def distance(self) -> float:
        """Return the mean distance from the price."""
        return math.fsum(answer.distance for answer in self.answers) / len(self.answers)

    @property
    def distances(self) -> list[DistanceStep]:
        """Return how many probabilities were how far from the price."""
        counts = [0] * (len(DISTANCES) - 1)
        for answer in self.answers:
            # 0.35 − 0.3 is a hair under 0.05 in floats.
            place = bisect_right(DISTANCES, round(answer.distance, 9)) - 1
            counts[min(place, len(counts) - 1)] += 1
        steps = zip(pairwise(DISTANCES), counts, strict=True)
        return [DistanceStep(low, high, count) for (low, high), count in steps]

    @property
    def comparison(self) -> PriceComparison | None:
        """Return how it compares with the price where it can't remember; None with too few such questions."""
        counted = [answer for answer in self.answers if answer.counts]
        if len(counted) < LEAST_COMPARED:
            return None

        outcomes = [answer.asked.outcome for answer in counted]
        own = brier.each([answer.forecast for answer in counted], outcomes)
        prices = brier.each([answer.asked.price for answer in counted], outcomes)
        differences = [float(one) for one in own - prices]
        mean = math.fsum(differences) / len(counted)
        squares = math.fsum((one - mean) ** 2 for one in differences)
        reach = NORMAL_95 * math.sqrt(squares / (len(counted) - 1) / len(counted))
        return PriceComparison(
            len(counted), float(own.mean()), float(prices.mean()), mean, mean - reach, mean + reach
        )

    @property
    def standing(self) -> str:
        """Return what the trial can show of the model, and what it can't: the first thing to be read."""
        days = [answer.asked.closed for answer in self.answers]
        closed = f"they closed from {min(days)} to {max(days)}"
        remembers = f"{self.model} may remember how these questions ended:"
        if self.released is None:
            return f"{remembers} its release is not known, and {closed}. {NOTHING_CLAIMED}"

        counted = sum(answer.counts for answer in self.answers)
        if counted < LEAST_COMPARED:
            few = f"only {counted} of them were" if counted else "none of them was"
            after = f"{few} asked after its release on {self.released}"
            return f"{remembers} {after}, and {closed}. {NOTHING_CLAIMED}"
        return (
            f"{self.model} was released on {self.released}. {counted} of {count_text(len(days), 'question')} "
            "were asked after that: only these are compared with the price."
        )

    @property
    def sentence(self) -> str:
        """Return how much was answered, and why no more."""
        words = f"{self.model} answered {len(self.answers)} of {count_text(self.asked, 'question')}"
        words += f" in {self.seconds:.0f} s."
        if self.unusable:
            words += f" {self.unusable} could not be read, for example: {self.example}"
        if self.ended:
            words += f" It ended early: {self.ended}."
        return words

    @property
    def calibration_sentence(self) -> str:
        """Return where what it says and what happened are furthest apart, of the larger tenths."""
        large = [tenth for tenth in self.bins if tenth.count >= LEAST_IN_TENTH]
        if not large:
            return "Too few questions to say more of its calibration."
        tenth = max(large, key=lambda tenth: abs(tenth.forecast - tenth.observed))
        return (
            f"Furthest apart: of {tenth.count} questions from {tenth.low:.0%} to {tenth.high:.0%} it says "
            f"{tenth.forecast:.0%} on average, and {tenth.observed:.0%} happened."
        )

    @property
    def score_sentence(self) -> str:
        """Return its Brier score beside that of the price; on which questions, if they can be compared."""
        compared = self.comparison
        whole = (
            f"Brier score, 0 is perfect and 0.25 is always 50%: {self.brier:.3f}, "
            f"the price on the day of the question {self.price_brier:.3f}."
        )
        if compared is None:
            return whole
        return (
            f"{whole} On the {compared.questions} asked after its release: {compared.brier:.3f}, the price "
            f"{compared.price_brier:.3f}; difference {compared.difference:+.3f}, 95% interval "
            f"{compared.low:+.3f} to {compared.high:+.3f}."
        )

    @property
    def cost_text(self) -> str:
        """Return what it cost."""
        if self.cost is None:
            return "unknown, because its price is unknown"
        if not self.most:
            return f"${self.cost / ONE:,.2f}"
        return f"${self.cost / ONE:,.4f} of at most ${self.most / ONE:,.4f}"


NOTHING_CLAIMED = (
    "Nothing is claimed against the price. It reads and answers; this is its calibration on questions that "
    "it may remember."
)


def calibration_line(tenth: Bin) -> str:
    """Return a line from 0% to 100% with what the model says (○) and how often that happened (●).

    >>> calibration_line(Bin(0.2, 0.3, 4, 0.25, 0.5))
    '··········○─────────●····················'
    """
    says = round(tenth.forecast * (WIDTH - 1))
    happened = round(tenth.observed * (WIDTH - 1))
    signs = ["·"] * WIDTH
    for place in range(min(says, happened), max(says, happened)):
        signs[place] = "─"
    signs[says] = "○"
    signs[happened] = "◉" if says == happened else "●"
    return "".join(signs)


def distance_bar(step: DistanceStep, steps: Sequence[DistanceStep]) -> str:
    """Return a bar as long as the step's part of the largest one."""
    largest = max(each.count for each in steps)
    return "█" * math.ceil(LONGEST_BAR * step.count / max(largest, 1))


def trial_page(report: TrialReport) -> str:
    """Return the report as a page of its own, which loads nothing from elsewhere."""
    from jinja2 import Environment, StrictUndefined

    around = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    largest = max(step.count for step in report.distances)
    return around.from_string(TEMPLATE.read_text("utf-8")).render(report=report, largest=largest)
