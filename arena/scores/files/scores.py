"""The scores of a file of forecasts by every rule that its columns allow, with notes on what is missing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import Any

import numpy as np

from arena.errors import ArenaError, FileFault
from arena.forms.csv_columns import Floats
from arena.forms.model import ChosenForm, PublishedFigure
from arena.scores.files.by_question import (
    KNOWS_NOTHING,
    MEANS,
    AutocastScores,
    Gap,
    HalfScores,
    QuestionScores,
    adjusted_scores,
    autocast_scores,
    gaps_to_rival,
    half_scores,
    score_questions,
)
from arena.scores.files.compared import (
    FileComparisons,
    compare_file,
    compared_pairs,
    compared_rows,
    time_in_file_form,
)
from arena.scores.files.forecasts import ForecastTable
from arena.scores.files.score_choices import PLAIN, Rule, ScoreChoices
from arena.scores.files.score_notes import score_notes
from arena.scores.rules import brier
from arena.scores.rules._columns import different, is_scored, negative_or_none, none_for_nan
from arena.scores.rules.comparisons.copies import PRICE
from arena.scores.rules.comparisons.gain import NOTHING
from arena.scores.rules.comparisons.mean_interval import MeanIntervals
from arena.scores.rules.metaculus.forecasts import Mode
from arena.scores.rules.metaculus.table import COMMUNITY
from arena.scores.rules.reliability import corp, murphy
from arena.scores.verdict import (
    MIN_COVERAGE,
    Candidate,
    SeasonState,
    Standing,
    Verdict,
    make_verdict,
)

METACULUS = ("baseline", "peer", "relative", "spot_baseline", "spot_peer")
"""The scores that count a missing answer as 0 by Metaculus's own rule."""
NO_FORECAST = "no forecast that is scored"
NO_BRIER = "numbers have no Brier score"


@dataclass(frozen=True, slots=True)
class BrierParts:
    """A Brier score on yes/no questions, decomposed by Murphy and by CORP."""

    reliability: float | None
    resolution: float | None
    uncertainty: float | None
    miscalibration: float | None
    discrimination: float | None


@dataclass(frozen=True, slots=True)
class ForecasterScores:
    """A forecaster's scores; None where there is none, and `reason` says why there is no interval.

    `brier` and `log` are means over questions of each question's mean. `baseline`, `peer`, `relative` and the
    two spot scores are Metaculus's, and `coverage` is the share of the questions' lifetime that they cover.
    `intervals` has the 95% interval of each of these means, by event.

    `missing` counts unanswered questions, and `filled` has scores over all questions: Brier counts a missing
    answer as wrong, and Metaculus's rule counts it as 0 in its own scores. Other scores have no `filled`
    value if answers are missing, because a log score has no worst value. Only `filled` and the fields after
    it are comparable between forecasters who answered different questions.

    `adjusted` is the Brier score adjusted for the difficulty of the questions, and `gap` how much smaller it
    is than another forecaster's on common questions. `brier_skill` is 1 − Brier / 0.25 over all questions,
    and `band` the word for that Brier score. `ranked` tells whether the forecaster answered enough of the
    ended questions, and `why_not` why it is not ranked. `skill` is the market's Brier score minus the
    forecaster's where a price is known; a missing answer agrees with the price, and the true skill lies
    between `skill_low` and `skill_high` in 95% of cases. `evidence` is the capital of a bet on it, and
    `copies` the forecaster that it copies. The ranks, `better_than`, `worse_than`, `price` and the two
    sentences are the verdict, as in `AgentVerdict`.
    """

    forecaster: str
    category: str | None
    forecasts: int
    questions: int
    events: int
    missing: int
    brier: float | None
    log: float | None
    baseline: float | None
    peer: float | None
    relative: float | None
    spot_baseline: float | None
    spot_peer: float | None
    coverage: float | None
    intervals: dict[str, tuple[float, float] | None]
    filled: dict[str, float | None]
    brier_skill: float | None
    band: str | None
    ranked: bool
    why_not: str | None
    adjusted: float | None = None
    gap: Gap | None = None
    autocast: AutocastScores | None = None
    halves: HalfScores | None = None
    parts: BrierParts | None = None
    skill: float | None = None
    skill_low: float | None = None
    skill_high: float | None = None
    skill_p: float | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    better_than: tuple[str, ...] = ()
    worse_than: tuple[str, ...] = ()
    price: Standing = "none"
    verdict: str = ""
    price_verdict: str = ""
    evidence: float | None = None
    copies: str | None = None
    events_effective: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class FileScores:
    """Everyone's rows, best first, with the mode they were scored in, and notes.

    `verdict` says who is better than whom; there is none if every category is scored by itself. `form`,
    `published`, `skipped` and `faults` are those of the table.
    """

    mode: Mode
    verdict: Verdict | None
    rows: tuple[ForecasterScores, ...]
    notes: tuple[str, ...]
    form: ChosenForm | None = None
    published: tuple[PublishedFigure, ...] = ()
    skipped: int = 0
    faults: tuple[FileFault, ...] = ()

    @property
    def by_category(self) -> dict[str | None, list[ForecasterScores]]:
        """Return the rows of each category, or all under None if the file is scored as a whole."""
        categories: dict[str | None, list[ForecasterScores]] = {}
        for row in self.rows:
            own = categories.setdefault(row.category, [])
            own.append(row)
        return categories


def score_file(
    table: ForecastTable,
    mode: Mode = "exact",
    by_category: bool = False,
    choices: ScoreChoices = PLAIN,
) -> FileScores:
    """Return everyone's scores, by category if wanted. Raise `ArenaError` for unknown names.

    The order goes by ranks, then by the lower end of the skill's interval if there is one, else by the
    adjusted Brier score, else by peer score, else by Brier score. Unranked forecasters come last.
    """
    _check_names(table, choices)
    scored = _score_questions_by(table, mode, choices)
    rows: list[ForecasterScores] = []
    verdict: Verdict | None = None
    if by_category and table.category is not None:
        category_numbers = {name: number for number, name in enumerate(table.categories)}
        names = {form.category or "" for form in table.forms}
        names.update(category_numbers)
        for name in sorted(names):
            # Only questions of other kinds may be in a category that no row has: −1 selects none.
            category_number = category_numbers.get(name, -1)
            is_in_category = table.category == category_number
            category_table = table.take(np.flatnonzero(is_in_category), name)
            category_scored = _score_questions_by(category_table, mode, choices)
            rows_compared = compared_rows(category_table)
            own_rows = _forecaster_rows(category_table, rows_compared, category_scored, name, choices)
            own_rows.sort(key=lambda row: rank_key(row, choices))
            rows.extend(own_rows)
    else:
        rows_compared = compared_rows(table)
        own_rows = _forecaster_rows(table, rows_compared, scored, None, choices)
        verdict = _verdict(own_rows, rows_compared, scored, choices)
        verdicts = {own.agent: own for own in verdict.agents}
        for row in own_rows:
            own_verdict = verdicts[row.forecaster]
            rows.append(replace(row, **own_verdict.row_fields))
        rows.sort(key=lambda row: rank_key(row, choices))

    has_skill = any(row.skill is not None for row in rows)
    no_interval = has_skill and all(row.skill_low is None for row in rows)
    has_infinite_log = any(row.log == -inf for row in rows)
    notes = tuple(score_notes(table, scored, choices, no_interval, has_infinite_log))
    return FileScores(
        mode, verdict, tuple(rows), notes, table.form, table.published, table.skipped, table.faults
    )


def _check_names(table: ForecastTable, choices: ScoreChoices) -> None:
    """Raise `ArenaError` if an option names an unknown forecaster, or a forecaster has a reserved name."""
    reserved = [PRICE, COMMUNITY] if choices.community else [PRICE]
    for name in reserved:
        if name in table.forecasters:
            what = f"{table.name} has a forecaster named {name!r}, a name that is reserved"
            raise ArenaError("reserved_name", what, "give the forecaster another name")

    named_by_option = [("--outside", name) for name in choices.outside]
    if choices.against is not None:
        named_by_option.append(("--against", choices.against))
    for option, name in named_by_option:
        if name not in table.forecasters:
            some_names = ", ".join(table.forecasters[:20])
            what = f"{option} names {name!r}, which has no forecast in {table.name}"
            raise ArenaError("unknown_name", what, f"forecasters: {some_names}", status=64)


def _score_questions_by(part: ForecastTable, mode: Mode, choices: ScoreChoices) -> QuestionScores:
    """Return everyone's scores by question."""
    return score_questions(
        part,
        mode,
        choices.outside,
        provisional=choices.provisional,
        community=choices.community,
    )


def _verdict(
    rows: Sequence[ForecasterScores], compared: ForecastTable, scored: QuestionScores, choices: ScoreChoices
) -> Verdict:
    """Return the verdict on the forecasters of these rows; the community is not one of them."""
    is_ended = is_scored(compared.outcome)
    events = np.unique(compared.event[is_ended])
    resolved_events = events.size
    order_text = None
    if not resolved_events and scored.kinds("number"):
        order_text = _order_text(rows, choices.rule)
    if not resolved_events and not choices.provisional:
        resolved_events = int(scored.asked.sum())  # these have ended, though nobody answered them

    without_rank = choices.without_rank
    entries = [name for name in compared.forecasters if name not in without_rank]
    has_skills = all(row.skill is not None for row in rows if row.ranked and row.forecaster in entries)
    candidates = []
    for row in rows:
        why_not = row.why_not
        if order_text is not None:
            why_not = NO_BRIER
        skill = row.skill
        if not has_skills:  # someone saw no prices, so only Brier scores compare all
            skill = negative_or_none(row.filled["brier"])

        name = row.forecaster
        candidate = Candidate(
            agent=name,
            is_reference=name in without_rank or name not in compared.forecasters,
            why_not=why_not,
            copies=row.copies,
            skill=skill,
            skill_low=row.skill_low,
        )
        candidates.append(candidate)

    state = SeasonState(resolved_events=resolved_events, order=order_text)
    pairs, against_price = compared_pairs(compared, without_rank)
    return make_verdict(
        candidates, pairs, against_price, state, lambda time: time_in_file_form(time, compared)
    )


def _order_text(rows: Sequence[ForecasterScores], rule: Rule) -> str | None:
    """Return what the order goes by if nobody has a Brier score; None if nobody answered."""
    has_answer = any(row.questions for row in rows)
    has_peer = any(row.filled["peer"] is not None for row in rows)
    if not has_answer:
        return None
    if rule == "autocast":
        return "Autocast's errors"
    if has_peer:
        return "the peer score"
    if rule == "metaculus":
        return "the baseline score"
    return "names alone"


def _forecaster_rows(
    table: ForecastTable,
    compared: ForecastTable,
    scored: QuestionScores,
    category: str | None,
    choices: ScoreChoices,
) -> list[ForecasterScores]:
    """Return the row of each forecaster, in the order of the file; in a category, of those who are in it."""
    answered_counts = scored.counts()
    event_counts = scored.counts(event=True)
    asked = int(scored.asked.sum())
    is_unranked = np.isin(scored.forecasters, list(table.unranked))
    is_ranked = (answered_counts > 0) & (answered_counts >= MIN_COVERAGE * asked) & ~is_unranked
    # The community, if it is scored, comes after all forecasters.
    community_number = len(table.forecasters)
    comparisons = compare_file(compared, np.flatnonzero(is_ranked[:community_number]), choices.without_rank)

    means = {name: scored.means(name) for name in MEANS}
    if choices.adjusted and asked:
        means["adjusted"] = adjusted_scores(scored, choices.outside)
    coverage = scored.means("coverage").mean
    briers_at_worst = _brier_with_missing_as_wrong(scored)
    gap_of = gaps_to_rival(scored, choices.against) if choices.against is not None else {}
    half_scores_of: Mapping[int, HalfScores] = {}
    if choices.rule == "forecastbench":
        half_scores_of = dict(enumerate(half_scores(scored, table, choices.outside)))

    rows = []
    for forecaster in _forecasters_with_row(table, category, choices):
        answered = int(answered_counts[forecaster])
        own_means: dict[str, Any] = {}
        intervals = {}
        for name, mean in means.items():
            own_means[name] = none_for_nan(float(mean.mean[forecaster]))
            intervals[name] = _span_at(mean, forecaster)

        filled = _filled_scores(own_means, float(briers_at_worst[forecaster]), answered, asked, choices.rule)
        brier_over_all = filled["brier"]
        row = ForecasterScores(
            forecaster=scored.forecasters[forecaster],
            category=category,
            forecasts=int(scored.rows[forecaster]),
            questions=answered,
            events=int(event_counts[forecaster]),
            missing=asked - answered,
            **own_means,
            coverage=none_for_nan(float(coverage[forecaster])),
            intervals=intervals,
            filled=filled,
            brier_skill=None if brier_over_all is None else 1 - brier_over_all / KNOWS_NOTHING,
            band=None if brier_over_all is None else brier.band(brier_over_all),
            ranked=bool(is_ranked[forecaster]) or (forecaster == community_number and answered > 0),
            why_not=None,
            gap=gap_of.get(forecaster),
            halves=half_scores_of.get(forecaster),
        )
        if choices.rule == "autocast":
            row = replace(row, autocast=autocast_scores(scored, forecaster))
        if choices.parts:
            row = replace(row, parts=_brier_parts(table, forecaster))
        rows.append(_with_skill_or_reason(row, comparisons, asked, table.unranked.get(row.forecaster)))
    return rows


def _forecasters_with_row(table: ForecastTable, category: str | None, choices: ScoreChoices) -> list[int]:
    """Return the forecasters that get a row: those of a category, or all, and the community if wanted."""
    forecasters = len(table.forecasters)
    with_row = set(range(forecasters))
    if category is not None:
        answering, _ = different(table.forecaster)
        with_row = set(answering.tolist())
        for form in table.forms:
            for name in form.forecasters:
                forecaster = table.forecasters.index(name)
                with_row.add(forecaster)
    if choices.community:
        with_row.add(forecasters)
    return sorted(with_row)


def _brier_with_missing_as_wrong(scored: QuestionScores) -> Floats:
    """Return everyone's Brier score with missing answers counted as 1; numbers have none."""
    forecasters = len(scored.forecasters)
    question_count = int(scored.asked.sum()) - scored.kinds("number")
    if not question_count:
        return np.full(forecasters, np.nan)

    brier_scores = scored.values["brier"]
    is_known = ~np.isnan(brier_scores)
    forecaster = scored.who[is_known]
    total = np.bincount(forecaster, brier_scores[is_known], minlength=forecasters)
    answered = np.bincount(forecaster, minlength=forecasters)
    missing = question_count - answered
    return (total + missing) / question_count


def _filled_scores(
    means: Mapping[str, float | None], brier_at_worst: float, answered: int, asked: int, rule: Rule
) -> dict[str, float | None]:
    """Return a forecaster's scores over all questions, including those that it didn't answer."""
    filled = {"brier": None if means["brier"] is None else none_for_nan(brier_at_worst)}
    for name in METACULUS:
        filled[name] = _mean_over_all(means[name], answered, asked, rule)
    return filled


def _mean_over_all(mean: float | None, answered: int, asked: int, rule: Rule) -> float | None:
    """Return a mean over answered questions as one over all; None if it is unknown.

    By Metaculus's rule a missing answer counts as 0, here without improving a negative mean.
    """
    if mean is None or answered == asked:
        return mean
    if rule != "metaculus":
        return None
    # A missing answer counts as 0, which must not improve a negative mean.
    over_all = mean * answered / asked
    return min(mean, over_all)


def _span_at(means: MeanIntervals, place: int) -> tuple[float, float] | None:
    """Return the interval of a forecaster's mean; None if it has none."""
    low = float(means.low[place])
    high = float(means.high[place])
    if not isfinite(low) or not isfinite(high):
        return None
    return (low, high)


def _brier_parts(table: ForecastTable, place: int) -> BrierParts | None:
    """Return a forecaster's Brier score on yes/no questions, decomposed; None without any."""
    is_own = table.forecaster == place
    is_ended = is_scored(table.outcome)
    own_rows = np.flatnonzero(is_own & is_ended)
    if not own_rows.size:
        return None

    probability = table.probability[own_rows]
    outcome = table.outcome[own_rows]
    question = table.question[own_rows]
    by_murphy = murphy.decompose(probability, outcome, question)
    by_corp = corp.decompose(probability, outcome, question)
    return BrierParts(
        reliability=none_for_nan(by_murphy.reliability),
        resolution=none_for_nan(by_murphy.resolution),
        uncertainty=none_for_nan(by_murphy.uncertainty),
        miscalibration=none_for_nan(by_corp.miscalibration),
        discrimination=none_for_nan(by_corp.discrimination),
    )


def rank_key(row: ForecasterScores, choices: ScoreChoices) -> tuple[float | str, ...]:
    """Return the sort key of a row; without a peer score, because of unanswered questions, it sorts later."""
    keys: Sequence[float | None]
    if choices.rule == "metaculus":
        keys = [row.filled["peer"], row.filled["baseline"]]
    elif choices.rule == "forecastbench" and row.halves is not None:
        keys = [row.halves.index, negative_or_none(row.halves.overall)]
    elif choices.rule == "autocast" and row.autocast is not None:
        autocast = row.autocast
        errors = (autocast.combined, autocast.true_false, autocast.multiple_choice, autocast.numeric)
        keys = list(map(negative_or_none, errors))
    else:
        negative_rank_sum = None
        if row.rank_low is not None and row.rank_high is not None:
            negative_rank_sum = -(row.rank_low + row.rank_high)
        adjusted_key = negative_or_none(row.adjusted)
        brier_key = negative_or_none(row.filled["brier"])
        keys = [negative_rank_sum, row.skill_low, row.skill, adjusted_key, row.filled["peer"], brier_key]

    highest_first = [inf if key is None else -key for key in keys]
    return (not row.ranked, *highest_first, row.forecaster)


def _with_skill_or_reason(
    row: ForecasterScores, comparisons: FileComparisons, asked: int, why_not: str | None
) -> ForecasterScores:
    """Return the row with the uncertainty of its skill, or with why it is not ranked."""
    if not asked:
        return replace(row, why_not=NOTHING, reason=NOTHING)
    if not row.questions:
        return replace(row, why_not=NO_FORECAST, reason=NO_FORECAST)
    if not row.ranked:
        share = row.questions / asked
        return replace(row, why_not=why_not or f"covers {share:.0%} of the questions")

    gain = comparisons.gains.get(row.forecaster)
    copied_forecaster = comparisons.copies.get(row.forecaster)
    if gain is None:
        return replace(row, reason="no market_probability", copies=copied_forecaster)
    return replace(
        row,
        skill=gain.skill,
        skill_low=gain.low,
        skill_high=gain.high,
        skill_p=gain.p,
        evidence=comparisons.evidence[row.forecaster],
        copies=copied_forecaster,
        events_effective=gain.effective,
        reason=gain.reason,
    )
