"""Answers to questions other than yes or no, in words and with their scores, for `arena show`."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from arena.cli.output import Data, attributes, minute_text, plain
from arena.cli.page import Page
from arena.cli.table import Table, TableChoice, TableColumn, answered
from arena.record.queries.answers import RecordedAnswer, read_season_markets
from arena.record.schema.database import Connection
from arena.scores.answer_scores import answer_score
from markets.distributions import Distribution, QuestionForm, distribution_of, form_of, question_kind

SHOWN = 10
"""The number of answers shown; JSON has all."""
SCORES = (
    TableColumn("said", show=plain, narrow="wrap"),
    TableColumn("came_to", "came to", plain, 1, narrow="cut"),
    TableColumn("brier", "Brier", ".4f", 2),
    TableColumn("distance", show=".1%", gives_way=2),
    TableColumn("baseline", show="+.1f", gives_way=3),
)
OF_MARKET = (TableColumn("agent", narrow="cut middle"), *SCORES)
OF_AGENT = (
    TableColumn("question", show=plain, narrow="wrap"),
    TableColumn("round", value=lambda row: f"{row['cohort']}.{row['round']}", gives_way=4),
    TableColumn("at", "decided (UTC)", value=lambda row: minute_text(row["at"]), gives_way=5),
    *SCORES,
)
"""A round is named by its cohort's number and its own."""
KINDS = (
    TableColumn("kind", value=lambda row: question_kind(row["kind"]).TITLE),
    TableColumn("brier", "Brier", ".4f"),
    TableColumn("distance", show=".1%"),
    TableColumn("baseline", show="+.2f"),
    TableColumn("peer", show="+.2f"),
    answered(2),
)


def form_words(form: QuestionForm) -> str:
    """Return the kind of a question and its possible answers in words.

    >>> form_words(QuestionForm("numeric", low="0", high="9", open_high=True, unit="mm"))
    'a number between 0 and 9 mm or more'
    """
    kind = question_kind(form.kind)
    if form.options:
        return f"{kind.TITLE}: {'; '.join(form.options)}"

    low = form.low
    if form.open_low:
        low = f"{low} or less"
    high = f"{form.high} {form.unit}".strip()
    if form.open_high:
        high = f"{high} or more"
    return f"{kind.TITLE} between {low} and {high}"


def odds_words(form: QuestionForm) -> str | None:
    """Return the market's odds of the options in words, if it has any."""
    if not form.odds:
        return None
    return question_kind(form.kind).words(form, Distribution(form.odds))


def form_data(form: QuestionForm) -> dict[str, Any]:
    """Return a form for JSON."""
    data: dict[str, Any] = json.loads(form.text)
    return data | {"words": form_words(form)}


def answers_data(
    connection: Connection, recorded_answers: Sequence[RecordedAnswer], at: datetime | None = None
) -> list[dict[str, Any]]:
    """Return answers with their scores, for JSON; no score while a question is open or if it was called off.

    With `at`, only outcomes known by then count.
    """
    if not recorded_answers:
        return []

    markets = read_season_markets(connection, at)
    names = ("cohort", "round", "at", "agent", "market_id", "question", "reason")
    rows = []
    for recorded in recorded_answers:
        form = form_of(recorded.form)
        answer = distribution_of(recorded.distribution)
        outcome = markets[recorded.market_id].answer
        score = answer_score(form, answer, outcome) if outcome else None

        row = attributes(recorded, *names)
        row |= {
            "kind": form.kind,
            "said": question_kind(form.kind).words(form, answer),
            "distribution": json.loads(recorded.distribution),
            "came_to": outcome or None,
        }
        for name in ("brier", "distance", "baseline"):
            row[name] = score and getattr(score, name)
        rows.append(row)
    return rows


def newest_of_agents(newest_first: Sequence[RecordedAnswer]) -> list[RecordedAnswer]:
    """Return the newest answer of each agent."""
    newest: dict[str, RecordedAnswer] = {}
    for answer in newest_first:
        newest.setdefault(answer.agent, answer)
    return list(newest.values())


def kinds_blocks(kinds: Sequence[Data], answers: Sequence[Data], choice: TableChoice) -> Page:
    """Yield an agent's scores on each kind of question, and its newest answers."""
    if kinds:
        yield Table(KINDS, kinds, "Questions of all kinds")
    if answers:
        title = f"Newest answers, of {len(answers):,}" if len(answers) > SHOWN else "Answers"
        yield Table(OF_AGENT, answers[:SHOWN], title, choice)


def market_answers_blocks(answers: Sequence[Data], choice: TableChoice) -> Page:
    """Yield each agent's newest answer to a question."""
    if answers:
        yield Table(OF_MARKET, answers, "What the agents said last", choice)
