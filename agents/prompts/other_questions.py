"""Writes what a prompt says of questions that aren't of yes or no, whatever its template.

How such a question is answered stands with its text; how the answer is written, at the end of the prompt. A
prompt about questions of yes or no alone has neither.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from agents.model import Forecast, PastForecast
from agents.text import break_role_tokens, one_line, quoted_lines
from markets.distributions import YES_NO, QuestionForm, distribution_of, form_of, question_kind
from markets.model import Listing, MarketId
from portfolio.money import number

LONGEST_OPTION = 200
EXAMPLE_OPTIONS = 2
CALLED_OFF = "it was called off"


def kinds_of(listings: Sequence[Listing]) -> tuple[str, ...]:
    """Return the kinds of question among these, sorted, if any isn't of yes or no."""
    kinds = {form_of(listing.market.form).kind for listing in listings}
    if kinds <= {YES_NO}:
        return ()
    return tuple(sorted(kinds))


@lru_cache(maxsize=2048)  # every agent of a round is shown the same questions
def how_to_answer(text: str, odds: bool) -> str:
    """Return how a question of this form is answered, its options behind bars, with their `odds` if wanted.

    >>> form = QuestionForm("multiple_choice", ("Red", "Blue"), (400_000, 600_000))
    >>> how_to_answer(form.text, True).splitlines()[-2:]
    ['| - Red: 0.4', '| - Blue: 0.6']
    """
    form = form_of(text)
    kind = question_kind(form.kind)
    said = break_role_tokens(one_line(kind.instruction(form)))
    lines = [f'Answer under "{kind.KEY}": {said}']
    if not form.options:
        return lines[0]

    told = [f"- {one_line(option, LONGEST_OPTION)}" for option in form.options]
    if odds and form.odds:
        lines.append("Options, each with its chance by the market:")
        told = [f"{line}: {number(chance)}" for line, chance in zip(told, form.odds, strict=True)]
    else:
        lines.append("Options:")
    return "\n".join([*lines, quoted_lines("\n".join(told))])


def asked_markets(listings: Sequence[Listing], ids: Mapping[MarketId, str]) -> tuple[list[str], list[str]]:
    """Return the names of the markets that ask for yes or no, and of the others."""
    plain = [ids[listing.market.id] for listing in listings if not listing.market.form]
    other = [ids[listing.market.id] for listing in listings if listing.market.form]
    return plain, other


def note_on_answers(listings: Sequence[Listing], ids: Mapping[MarketId, str], bets: bool) -> str:
    """Return how answers to questions that aren't of yes or no are written, with an example of each kind.

    `bets` is whether the answer may have bets. Nothing is returned where there are no such questions.
    """
    _, other = asked_markets(listings, ids)
    if not other:
        return ""

    examples: dict[str, str] = {}
    for listing in listings:
        form = form_of(listing.market.form)
        if form.kind != YES_NO and form.kind not in examples:
            item = {"market": ids[listing.market.id], "reason": "why, in a few words", **_example(form)}
            examples[form.kind] = json.dumps(item, ensure_ascii=False)

    words = (
        f"There is no probability of YES for {', '.join(other)}. How each is answered stands with it: "
        'its item in "forecasts" has that key in place of "probability" (the values are only examples)'
    )
    words += ", and nothing can be bet on it:" if bets else ":"
    return "\n".join(["\n\n## Questions that are not of yes or no", words, *examples.values()])


def _example(form: QuestionForm) -> dict[str, object]:
    """Return an even answer, with made-up options: names from outside stay behind bars."""
    plain = form
    if form.options:
        names = tuple(f"name of option {place}" for place in range(1, EXAMPLE_OPTIONS + 1))
        plain = replace(form, options=names, odds=())

    kind = question_kind(form.kind)
    return {kind.KEY: kind.stated(plain, kind.uniform(plain))}


def said_answer(forecast: Forecast, form_text: str) -> str:
    """Return what was forecast for a question of this form, behind a bar."""
    form = form_of(form_text)
    said = question_kind(form.kind).words(form, distribution_of(forecast.distribution))
    return quoted_lines(one_line(said))


def past_outcome(past: PastForecast) -> str:
    """Return the outcome of such a question, behind a bar."""
    if not past.answer:
        return f"| {CALLED_OFF}"
    return quoted_lines(one_line(past.answer, LONGEST_OPTION))
