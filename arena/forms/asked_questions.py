"""Questions of public forms turned into a folder of questions, with real bounds and odds over time."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from arena.errors import ArenaError, FileFault
from arena.forms.model import SourceData, SourceOutcome, SourcePrice, SourceQuestion
from arena.forms.objects import as_number, as_time
from arena.forms.rules.number_scales import NumberScale
from arena.forms.sources.choose import choose_form, load_form
from arena.forms.sources.disk import read_source
from markets.distributions import BadForm, QuestionForm, normalized, question_kind
from markets.millionths import ONE
from markets.model import Market, MarketId, Resolution
from markets.question_files.asked import (
    VENUE,
    AskedOdds,
    AskedQuestion,
    FaultKind,
    QuestionFault,
    QuestionFolder,
    resolution_of,
)
from markets.question_files.folder_reader import UNSORTED, rules_text
from markets.venue import UNWRITABLE, VenueError

STRANGE = re.compile(r"[^A-Za-z0-9._-]+")
"""Characters that a market's id can't have: they become a dash."""
TICK = timedelta(microseconds=1)
DIGITS = 10
"""The significant digits of a number computed from its position on a logarithmic scale."""
SLACK = Fraction(1, 20)
"""How far from 1 the sum of all options' odds may be."""


def read_public_folder(folder: Path) -> QuestionFolder:
    """Return the questions of a folder in a public form. Raise `VenueError` if it is in none."""
    try:
        files = read_source(folder)
        chosen = choose_form(files)
    except ArenaError as error:
        raise VenueError(error.code, error.message, error.hint, stops=True) from error
    if chosen is None:
        message = f"{folder} holds neither questions.csv nor files of a form that is known"
        raise VenueError("no_questions", message, "write questions.csv, as in docs/questions.md", stops=True)

    data = load_form(chosen.name).read(files)
    return asked_folder(chosen.title, data)


@dataclass(frozen=True, slots=True)
class UnaskableQuestion(Exception):
    """A question that can't be asked: the field at fault, what is wrong, and how to correct it."""

    field: str
    message: str
    hint: str


def asked_folder(title: str, data: SourceData) -> QuestionFolder:
    """Return the questions of a form's files; those that can't be asked are listed as faults."""
    faults = [_as_question_fault(fault) for fault in data.faults]
    outcomes: dict[str, list[SourceOutcome]] = defaultdict(list)
    for outcome in data.outcomes:
        if outcome.final:
            outcomes[outcome.question].append(outcome)
    prices: dict[str, list[SourcePrice]] = defaultdict(list)
    for price in data.prices:
        prices[price.question].append(price)

    asked_by_id: dict[MarketId, AskedQuestion] = {}
    uses_of_id = Counter[str]()
    for question in data.questions:
        own_id = STRANGE.sub("-", question.key).strip("-.") or "question"
        uses_of_id[own_id] += 1
        if uses_of_id[own_id] > 1:
            own_id = f"{own_id}-{uses_of_id[own_id]}"
        try:
            market = market_of(question, own_id)
        except UnaskableQuestion as fault:
            faults.append(_fault(question.key, "market", fault))
            continue

        odds = tuple(odds_over_time(question, market, prices[question.key]))
        resolutions = tuple(_resolutions_of(question, market, outcomes[question.key], faults))
        asked_by_id[market.id] = AskedQuestion(market, odds, resolutions)
    return QuestionFolder(title, asked_by_id, tuple(faults))


def _as_question_fault(fault: FileFault) -> QuestionFault:
    """Return a fault of a form's reader as one of the whole file, as it names no question."""
    return QuestionFault(fault.file, fault.number, fault.field, fault.told, fault.hint)


def _fault(key: str, kind: FaultKind, fault: UnaskableQuestion) -> QuestionFault:
    """Return the fault of a question."""
    return QuestionFault(f"question {key}", 0, fault.field, fault.message, fault.hint, key, kind)


def market_of(question: SourceQuestion, own_id: str) -> Market:
    """Return the market of a question; raise `UnaskableQuestion` if something needed is missing."""
    if not question.title:
        raise UnaskableQuestion("title", "there is no text of the question", "add the file that has it")
    if question.opened is None:
        raise UnaskableQuestion("opened", "it is not known when it opened", "add the file that says so")
    if question.closes is None or question.closes <= question.opened:
        raise UnaskableQuestion("closes", "it is not known when it closes", "correct its times")

    for field in ("title", "options", "background", "source", "event", "category"):
        if UNWRITABLE.search("".join(getattr(question, field))):
            raise UnaskableQuestion(field, "it has characters that can't be stored", "remove them")

    return Market(
        id=MarketId(f"{VENUE}:{own_id}"),
        event_id=f"{VENUE}:{question.event or own_id}",
        question=question.title,
        rules=rules_text(question.background, question.source),
        category=question.category or UNSORTED,
        opens_at=question.opened,
        closes_at=question.closes,
        form=form_of_source(question).text,
    )


def form_of_source(question: SourceQuestion) -> QuestionForm:
    """Return the form of a question; raise `UnaskableQuestion` if it is invalid for its kind."""
    form = QuestionForm()
    if question.options:
        form = QuestionForm("multiple_choice", question.options)
    elif question.low is not None or question.real_low is not None:
        low, high = real_bounds(question)
        kind = "date" if isinstance(low, str) else "numeric"
        form = QuestionForm(
            kind,
            low=_bound_text(kind, low),
            high=_bound_text(kind, high),
            open_low=question.open_low,
            open_high=question.open_high,
        )
    try:
        question_kind(form.kind).check(form)
    except BadForm as bad:
        raise UnaskableQuestion(bad.field, bad.message, bad.hint) from bad
    return form


def real_bounds(question: SourceQuestion) -> tuple[float | str, float | str]:
    """Return the bounds of a number or date; raise `UnaskableQuestion` if only positions are known."""
    low, high = question.real_low, question.real_high
    if low is None and question.ratio == 1:
        low, high = question.low, question.high
    if low is None or high is None:
        message = "the bounds are positions from 0 to 1 on a scale whose ends are not known"
        raise UnaskableQuestion("low", message, "give the bounds themselves")
    return low, high


def _bound_text(kind: str, bound: float | str) -> str:
    """Return a bound in the notation of its kind of question; unchanged if it can't be parsed."""
    text = _number_text(bound) if isinstance(bound, float | int) else bound
    try:
        return question_kind(kind).read_outcome(QuestionForm(kind), text)
    except ValueError:
        return text


def _number_text(number: float) -> str:
    """Return a number without an exponent."""
    return f"{Decimal(repr(number)):f}"


def odds_over_time(
    question: SourceQuestion, market: Market, prices: Sequence[SourcePrice]
) -> Iterator[AskedOdds]:
    """Yield the observed odds, the oldest first; odds without a time count from the opening."""
    by_time: dict[datetime, dict[str, float]] = defaultdict(dict)
    for price in prices:
        by_time[price.seen or market.opens_at][price.option] = price.price

    for at, shares in sorted(by_time.items()):
        chances = _odds_in_millionths(question, shares)
        if chances:
            yield AskedOdds(at, chances)


def _odds_in_millionths(question: SourceQuestion, shares: Mapping[str, float]) -> tuple[int, ...]:
    """Return odds in millionths; an empty tuple if some options have none."""
    if not question.options:
        return (round(shares[""] * ONE),) if "" in shares else ()

    known = [Fraction(repr(shares[option])) for option in question.options if option in shares]
    if len(known) < len(question.options) or abs(sum(known, Fraction(0)) - 1) > SLACK:
        return ()
    return normalized(known)


def _resolutions_of(
    question: SourceQuestion, market: Market, outcomes: Sequence[SourceOutcome], faults: list[QuestionFault]
) -> Iterator[Resolution]:
    """Yield the versions of a question's outcome; one without a time counts from the close."""
    previous_or_own_time = market.opens_at
    for version, outcome in enumerate(outcomes, 1):
        previous_or_own_time = max(outcome.resolved or market.closes_at, previous_or_own_time + TICK)
        try:
            yield resolution_of(market, version, previous_or_own_time, outcome_text(question, outcome.value))
        except ValueError as error:
            fault = UnaskableQuestion("outcome", str(error), "correct it in the file")
            faults.append(_fault(question.key, "resolution", fault))
            return


def outcome_text(question: SourceQuestion, value: float | str | None) -> str:
    """Return a question's outcome in the notation of its kind.

    >>> outcome_text(SourceQuestion("q", low=0, high=1, ratio=100.0, real_low=1, real_high=100), 0.5)
    '10.0'
    """
    if value is None:
        return "annulled"
    if isinstance(value, str):
        return value
    if question.low is None:
        return f"{value:g}"
    if question.ratio == 1 or question.real_low is None or question.real_high is None:
        return _number_text(value)

    is_date = isinstance(question.real_low, str)
    bounds = [_seconds_or_number(end) for end in (question.real_low, question.real_high)]
    scale = NumberScale(bounds[0], bounds[1], question.ratio, is_date)
    if is_date:
        return str(scale.real(round(scale.value_at(value))))
    return _number_text(float(f"{scale.value_at(value):.{DIGITS}g}"))


def _seconds_or_number(value: float | str) -> float:
    """Return a bound as a number; a date in seconds since 1970."""
    instant = as_time(value) if isinstance(value, str) else None
    if instant is not None:
        return instant.timestamp()
    return as_number(value) or 0.0
