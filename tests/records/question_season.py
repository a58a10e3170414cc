"""Seasons of questions of every kind, of yes or no and others, written by the arena's own functions."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from random import Random

from agents.model import Decision, Forecast
from arena.record.model.cohort import Entrant
from markets.distributions import ASKED_PERCENTS, PERCENT, Distribution, QuestionForm, form_of, normalized
from markets.millionths import ONE
from markets.model import Listing, Market, MarketId, Resolution
from portfolio.rules import REALISTIC, Rules
from tests.builders import NOW, a_market, a_price
from tests.opened_record import OpenedRecord
from tests.records.full_record import Season, a_cohort, week

OTHER_KINDS = ("multiple_choice", "numeric", "date")
LINE_UP = {"ann": "llm", "bob": "llm", "cid": "llm", "flat": "constant"}
SKILLS = {"ann": 0.7, "bob": 0.4, "cid": 0.1, "flat": 0.0}
"""How much of the way to what happens an agent's answers go."""
OPTIONS = ("red", "blue", "green", "Other")
FIRST_DAY = date(2026, 2, 1)


def play(
    path: Path,
    *,
    kinds: Collection[str] = OTHER_KINDS,
    size: int = 12,
    rounds: int = 3,
    ended: float = 0.8,
    silent: Collection[str] = (),
    settings: Mapping[str, Mapping[str, str]] | None = None,
    rules: Rules = REALISTIC,
    hidden: int = 0,
    asked_once: Collection[str] = (),
    unpriced: Collection[str] = (),
) -> OpenedRecord:
    """Play a cohort of four agents on `size` yes-or-no questions, and this many of each other kind.

    Each round asks a third of them, and the first third again. A share of them has ended; those who are
    `silent` answer no other kind but in the first round. `settings` are those of agents. Kinds that are
    `asked_once` are shown in the first round alone, and the markets of `unpriced` have no quote.
    """
    names = list(LINE_UP)
    frozen = settings or {}
    cohort = a_cohort(1, NOW, rules, *names, rounds=rounds)
    entrants = tuple(
        Entrant(place, name, LINE_UP[name], frozen.get(name, {})) for place, name in enumerate(names)
    )
    season = Season(OpenedRecord.at(path))
    season.start(replace(cohort, entrants=entrants, evidence="none", hidden=hidden))

    yes_no = [a_page("yes_no", number) for number in range(size)]
    others = [a_page(kind, number) for number in range(size) for kind in kinds]
    ends = {page.id: _end(page) for page in (*yes_no, *others)}

    for number in range(rounds):
        at = week(number)
        shown = [page for page in (*yes_no, *others) if _is_shown(page, number)]
        if number:
            shown = [page for page in shown if form_of(page.form).kind not in asked_once]
        season.look(1, at, *(_listing(page, number, unpriced) for page in shown))
        for name in names:
            season.turn(1, name, _decision(shown, name, number, ends, is_silent=name in silent))
        season.value(1, at)

    last = [end for page, end in ends.items() if Random(f"ends {page}").random() < ended]
    season.record.resolve(last, week(6))
    season.look(1, week(6))
    season.value(1, week(6))
    return season.record


def a_page(kind: str, number: int) -> Market:
    """Return a question of a kind; every third numeric one shares the event of an option question."""
    name = MarketId(f"q:{kind}-{number}")
    event = f"event {kind} {number}"
    if kind == "numeric" and number % 3 == 0:
        event = f"event multiple_choice {number}"
    form = _form(kind, number).text
    page = {"event_id": event, "category": f"field {number % 2}", "closes_at": week(5), "form": form}
    return a_market(name, **page)


def _form(kind: str, number: int) -> QuestionForm:
    """Return a question's form; half of those of options have odds, half of the ranges are open above."""
    chance = Random(f"form {kind} {number}")
    if kind == "multiple_choice":
        odds = normalized([chance.randint(1, 9) for _ in OPTIONS]) if number % 2 else ()
        return QuestionForm(kind, OPTIONS, odds)
    if kind == "numeric":
        return QuestionForm(kind, low="-10", high="190", open_high=bool(number % 2), unit="mm")
    if kind == "date":
        last = FIRST_DAY + timedelta(days=90)
        return QuestionForm(kind, low=FIRST_DAY.isoformat(), high=last.isoformat(), open_low=bool(number % 2))
    return QuestionForm()


def _is_shown(page: Market, number: int) -> bool:
    place = int(page.id.rpartition("-")[2])
    return place % 3 in (0, number)


def _listing(page: Market, number: int, unpriced: Collection[str]) -> Listing:
    if page.form or page.id in unpriced:
        return Listing(page, None)
    price = Random(f"price {page.id} {number}").randint(10, 90)
    fields = {name: getattr(page, name) for name in ("event_id", "category", "closes_at")}
    return a_price(f"0.{price}", page.id, at=week(number), **fields)


def _end(page: Market) -> Resolution:
    chance = Random(f"end {page.id}")
    form = form_of(page.form)
    known = week(2) + timedelta(hours=chance.randint(1, 300))
    if not page.form:
        return Resolution(page.id, 1, known, chance.choice((0, ONE)), "the test")
    if form.kind == "multiple_choice":
        answer = chance.choice(OPTIONS)
    elif form.kind == "numeric":
        answer = str(chance.randint(-5, 185))
    else:
        answer = (FIRST_DAY + timedelta(days=chance.randint(1, 89))).isoformat()
    return Resolution(page.id, 1, known, None, "the test", answer)


def _decision(
    shown: Sequence[Market], name: str, number: int, ends: dict[MarketId, Resolution], *, is_silent: bool
) -> Decision:
    stated = []
    for page in shown:
        chance = Random(f"{name} {page.id} {number}")
        skill = SKILLS[name] * chance.random()
        if not page.form:
            happened = (ends[page.id].payout or 0) / ONE
            share = 0.5 + skill * (happened - 0.5) + 0.1 * (chance.random() - 0.5)
            stated.append(Forecast(page.id, f"{share:.4f}", reason="so"))
        elif not is_silent or number == 0:
            answer = _answer(form_of(page.form), ends[page.id].answer, skill, chance)
            stated.append(Forecast(page.id, distribution=answer.text, reason=f"{name} thinks so"))
    return Decision(forecasts=tuple(stated))


def _answer(form: QuestionForm, happened: str, skill: float, chance: Random) -> Distribution:
    if form.kind == "multiple_choice":
        weights = [chance.randint(1, 100) for _ in OPTIONS]
        weights[OPTIONS.index(happened)] += int(400 * skill)
        return Distribution(normalized(weights))

    low, high, truth = (_day_or_number(text) for text in (form.low, form.high, happened))
    middle = truth + (1 - skill) * (chance.random() - 0.5) * (high - low) * 0.8
    half = (high - low) * (0.3 - 0.2 * skill)
    quantiles = []
    for percent in ASKED_PERCENTS:
        value = middle + half * (percent - 50) / 50
        value = round(min(max(value, low + percent / 100), high - (100 - percent) / 100))
        text = str(value)
        if form.kind == "date":
            text = date.fromordinal(value).isoformat()
        quantiles.append((percent * PERCENT, text))
    return Distribution(quantiles=tuple(quantiles))


def _day_or_number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        return date.fromisoformat(text).toordinal()
