"""Metaculus's scores of a season's agents on questions other than yes/no, by kind.

As with yes/no markets, a question in a cohort opens when it is first shown and ends when it closed or its
resolution was known, a forecast stands until the agent's next, and nobody is compared with baselines.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from arena.record.model.answer_columns import AnswerColumns, SeasonMarket
from arena.record.model.columns import Floats
from arena.record.queries.accounts import read_accounts
from arena.record.queries.answers import has_other_kinds, read_answer_columns, read_season_markets
from arena.record.queries.cohorts import read_cohorts, select_cohorts
from arena.record.schema.database import Connection
from arena.scores.files.question_forms import FormQuestion
from arena.scores.files.season_forms import season_forms, shown_answers
from arena.scores.metaculus_scores import BASELINES, MetaculusScores, peer_order
from arena.scores.rules._columns import none_for_nan
from arena.scores.rules.comparisons.mean_interval import mean_intervals
from arena.scores.rules.metaculus.table import COMMUNITY, SCORES, question_scores
from markets.distributions import form_of

MEANS = tuple(name for name in SCORES if name != "coverage")


@dataclass(slots=True)
class KindRows:
    """The scores on questions of a kind: a row for each question and each of its forecasters."""

    asked: int = 0
    names: list[str] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    values: list[Floats] = field(default_factory=list)


def read_metaculus_kinds(
    connection: Connection, cohort: int | None = None
) -> dict[str, tuple[MetaculusScores, ...]]:
    """Return the scores of agents and of the community on each kind of question but yes/no."""
    if not has_other_kinds(connection, cohort):
        return {}

    accounts = read_accounts(connection, cohort)
    baselines = {account.agent for account in accounts if account.kind in BASELINES}
    others = {account.agent for account in accounts} - baselines
    if len(others) <= 1:
        baselines = set()  # nobody would be left to compare with

    markets = read_season_markets(connection)
    rows_of_kind = defaultdict[str, KindRows](KindRows)
    for stored in select_cohorts(read_cohorts(connection), cohort):
        answers = read_answer_columns(connection, stored.cohort.number)
        lives = question_lives(answers, markets)
        for question in stated_questions(answers, markets, lives):
            if question.ended:
                kind = form_of(markets[question.name].form).kind
                _append_scores(rows_of_kind[kind], question, baselines)

    scores = {}
    for kind, rows in rows_of_kind.items():
        scores[kind] = tuple(sorted(_mean_scores(rows, baselines), key=peer_order))
    return scores


def stated_questions(
    answers: AnswerColumns, markets: Mapping[str, SeasonMarket], lives: Mapping[str, Floats]
) -> Sequence[FormQuestion]:
    """Return the questions with stated answers only: none skipped or from before a model's release."""
    rows = np.flatnonzero(answers.stated & ~answers.early)
    time = answers.at.astype(np.float64)
    return season_forms(shown_answers(answers, rows, time, markets, lives))


def question_lives(answers: AnswerColumns, markets: Mapping[str, SeasonMarket]) -> dict[str, Floats]:
    """Return when questions were first shown, ended and were to close, as for yes/no questions."""
    opens = np.full(len(answers.markets), np.inf)
    np.minimum.at(opens, answers.market, answers.at)

    closing_times = []
    known_times = []
    for name in answers.markets:
        page = markets[name]
        closing_times.append(page.closes_at.timestamp())
        known_times.append(np.inf if page.known_at is None else page.known_at.timestamp())

    # A question was to be open for at least a second, so that its lifetime is never 0.
    scheduled = np.maximum(np.floor(closing_times), opens + 1)
    ends = np.clip(known_times, opens, scheduled)
    return {"open": opens, "close": ends, "scheduled_close": scheduled, "resolved": ends}


def _append_scores(rows: KindRows, question: FormQuestion, baselines: set[str]) -> None:
    """Add everyone's scores on a question, with spot scores at its end, and the community's."""
    forecasts = question.forecasts
    lifetime = question.lived
    if forecasts is None or lifetime is None:
        return

    is_base = ~np.isin(forecasts.forecaster, sorted(baselines))
    has_community = bool(is_base.any())
    with_spot = replace(lifetime, spot=lifetime.closes)
    with_base = replace(forecasts, base=is_base)
    values = question_scores(with_spot, with_base, "exact", community=has_community)

    # The columns of the scores are in order of names, with the community last.
    names = np.unique(forecasts.forecaster).tolist()
    if has_community:
        names.append(COMMUNITY)
    rows.asked += 1
    rows.names += names
    rows.events += [question.event] * len(names)
    rows.values.append(values)


def _mean_scores(rows: KindRows, baselines: set[str]) -> Iterator[MetaculusScores]:
    """Yield each forecaster's means over the questions of a kind."""
    names, who = np.unique(rows.names, return_inverse=True)
    _, event = np.unique(rows.events, return_inverse=True)
    values = dict(zip(SCORES, np.concatenate(rows.values, axis=1), strict=True))
    means = {name: mean_intervals(who, event, values[name], names.size) for name in MEANS}
    # A question that a forecaster left out has a coverage of 0.
    coverage = np.bincount(who, np.nan_to_num(values["coverage"]), minlength=names.size) / rows.asked
    answered = np.bincount(who, minlength=names.size)

    for place, name in enumerate(names.tolist()):
        own_means: dict[str, Any] = {}
        for score, mean in means.items():
            own_means[score] = none_for_nan(mean.mean[place])
        for score in ("baseline", "peer"):
            own_means[f"{score}_low"] = none_for_nan(means[score].low[place])
            own_means[f"{score}_high"] = none_for_nan(means[score].high[place])

        yield MetaculusScores(
            agent=name,
            questions=int(answered[place]),
            asked=rows.asked,
            coverage=float(coverage[place]),
            outside=name in baselines or name == COMMUNITY,
            brier=None,
            **own_means,
        )
