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
from arena.scores.rules._columns import different, is_scored, none_for_nan
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
    scored = _questions_of(table, mode, choices)
    rows: list[ForecasterScores] = []
    verdict: Verdict | None = None
    if by_category and table.category is not None:
        places = {name: place for place, name in enumerate(table.categories)}
        names = {form.category or "" for form in table.forms}
        names.update(places)
        for name in sorted(names):
            place = places.get(name, -1)
            is_own = table.category == place
            part = table.take(np.flatnonzero(is_own), name)
            own = _questions_of(part, mode, choices)
            compared = compared_rows(part)
            own_rows = _forecaster_rows(part, compared, own, name, choices)
            own_rows.sort(key=lambda row: rank_key(row, choices))
            rows.extend(own_rows)
    else:
        compared = compared_rows(table)
        own_rows = _forecaster_rows(table, compared, scored, None, choices)
        verdict = _verdict(own_rows, compared, scored, choices)
        verdicts = {own.agent: own for own in verdict.agents}
        for row in own_rows:
            own_verdict = verdicts[row.forecaster]
            rows.append(replace(row, **own_verdict.row_fields))
        rows.sort(key=lambda row: rank_key(row, choices))

    has_skill = any(row.skill is not None for row in rows)
    few = has_skill and all(row.skill_low is None for row in rows)
    boundless = any(row.log == -inf for row in rows)
    notes = tuple(score_notes(table, scored, choices, few, boundless))
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

    named = [("--outside", name) for name in choices.outside]
    if choices.against is not None:
        named.append(("--against", choices.against))
    for option, name in named:
        if name not in table.forecasters:
            known = ", ".join(table.forecasters[:20])
            what = f"{option} names {name!r}, which has no forecast in {table.name}"
            raise ArenaError("unknown_name", what, f"forecasters: {known}", status=64)


def _questions_of(part: ForecastTable, mode: Mode, choices: ScoreChoices) -> QuestionScores:
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
    resolved = events.size
    order = None
    if not resolved and scored.kinds("number"):
        order = _order_text(rows, choices.rule)
    if not resolved and not choices.provisional:
        resolved = int(scored.asked.sum())  # these have ended, though nobody answered them

    unranked = choices.without_rank
    entries = [name for name in compared.forecasters if name not in unranked]
    has_skills = all(row.skill is not None for row in rows if row.ranked and row.forecaster in entries)
    candidates = []
    for row in rows:
        why_not = row.why_not
        if order is not None:
            why_not = NO_BRIER
        skill = row.skill
        if not has_skills:  # someone saw no prices, so only Brier scores compare all
            skill = _negative(row.filled["brier"])

        name = row.forecaster
        candidate = Candidate(
            agent=name,
            is_reference=name in unranked or name not in compared.forecasters,
            why_not=why_not,
            copies=row.copies,
            skill=skill,
            skill_low=row.skill_low,
        )
        candidates.append(candidate)

    state = SeasonState(resolved_events=resolved, order=order)
    pairs, against_price = compared_pairs(compared, unranked)
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
    counts = scored.counts()
    events = scored.counts(event=True)
    asked = int(scored.asked.sum())
    is_unranked = np.isin(scored.forecasters, list(table.unranked))
    is_ranked = (counts > 0) & (counts >= MIN_COVERAGE * asked) & ~is_unranked
    community = len(table.forecasters)
    comparisons = compare_file(compared, np.flatnonzero(is_ranked[:community]), choices.without_rank)

    means = {name: scored.means(name) for name in MEANS}
    if choices.adjusted and asked:
        means["adjusted"] = adjusted_scores(scored, choices.outside)
    coverage = scored.means("coverage").mean
    at_worst = _brier_at_worst(scored)
    versus = gaps_to_rival(scored, choices.against) if choices.against is not None else {}
    halves: Mapping[int, HalfScores] = {}
    if choices.rule == "forecastbench":
        halves = dict(enumerate(half_scores(scored, table, choices.outside)))

    rows = []
    for place in _places_of(table, category, choices):
        answered = int(counts[place])
        own: dict[str, Any] = {}
        intervals = {}
        for name, mean in means.items():
            own[name] = none_for_nan(float(mean.mean[place]))
            intervals[name] = _span_at(mean, place)

        filled = _filled_scores(own, float(at_worst[place]), answered, asked, choices.rule)
        full = filled["brier"]
        row = ForecasterScores(
            forecaster=scored.forecasters[place],
            category=category,
            forecasts=int(scored.rows[place]),
            questions=answered,
            events=int(events[place]),
            missing=asked - answered,
            **own,
            coverage=none_for_nan(float(coverage[place])),
            intervals=intervals,
            filled=filled,
            brier_skill=None if full is None else 1 - full / KNOWS_NOTHING,
            band=None if full is None else brier.band(full),
            ranked=bool(is_ranked[place]) or (place == community and answered > 0),
            why_not=None,
            gap=versus.get(place),
            halves=halves.get(place),
        )
        if choices.rule == "autocast":
            row = replace(row, autocast=autocast_scores(scored, place))
        if choices.parts:
            row = replace(row, parts=_brier_parts(table, place))
        rows.append(_judged(row, comparisons, asked, table.unranked.get(row.forecaster)))
    return rows


def _places_of(table: ForecastTable, category: str | None, choices: ScoreChoices) -> list[int]:
    """Return the forecasters that get a row: those of a category, or all, and the community if wanted."""
    forecasters = len(table.forecasters)
    places = set(range(forecasters))
    if category is not None:
        own, _ = different(table.forecaster)
        places = set(own.tolist())
        for form in table.forms:
            for name in form.forecasters:
                place = table.forecasters.index(name)
                places.add(place)
    if choices.community:
        places.add(forecasters)
    return sorted(places)


def _brier_at_worst(scored: QuestionScores) -> Floats:
    """Return everyone's Brier score with missing answers counted as 1; numbers have none."""
    size = len(scored.forecasters)
    count = int(scored.asked.sum()) - scored.kinds("number")
    if not count:
        return np.full(size, np.nan)

    brier_scores = scored.values["brier"]
    is_known = ~np.isnan(brier_scores)
    who = scored.who[is_known]
    total = np.bincount(who, brier_scores[is_known], minlength=size)
    answered = np.bincount(who, minlength=size)
    missing = count - answered
    return (total + missing) / count


def _filled_scores(
    means: Mapping[str, float | None], brier_at_worst: float, answered: int, asked: int, rule: Rule
) -> dict[str, float | None]:
    """Return a forecaster's scores over all questions, including those that it didn't answer."""
    filled = {"brier": None if means["brier"] is None else none_for_nan(brier_at_worst)}
    for name in METACULUS:
        filled[name] = _over_all(means[name], answered, asked, rule)
    return filled


def _over_all(mean: float | None, answered: int, asked: int, rule: Rule) -> float | None:
    """Return a mean over answered questions as one over all; None if it is unknown.

    By Metaculus's rule a missing answer counts as 0, here without improving a negative mean.
    """
    if mean is None or answered == asked:
        return mean
    if rule != "metaculus":
        return None
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
    own = np.flatnonzero(is_own & is_ended)
    if not own.size:
        return None

    probability = table.probability[own]
    outcome = table.outcome[own]
    question = table.question[own]
    by_bins = murphy.decompose(probability, outcome, question)
    by_steps = corp.decompose(probability, outcome, question)
    return BrierParts(
        reliability=none_for_nan(by_bins.reliability),
        resolution=none_for_nan(by_bins.resolution),
        uncertainty=none_for_nan(by_bins.uncertainty),
        miscalibration=none_for_nan(by_steps.miscalibration),
        discrimination=none_for_nan(by_steps.discrimination),
    )


def rank_key(row: ForecasterScores, choices: ScoreChoices) -> tuple[float | str, ...]:
    """Return the sort key of a row; without a peer score, because of unanswered questions, it sorts later."""
    keys: Sequence[float | None]
    if choices.rule == "metaculus":
        keys = [row.filled["peer"], row.filled["baseline"]]
    elif choices.rule == "forecastbench" and row.halves is not None:
        keys = [row.halves.index, _negative(row.halves.overall)]
    elif choices.rule == "autocast" and row.autocast is not None:
        own = row.autocast
        errors = (own.combined, own.true_false, own.multiple_choice, own.numeric)
        keys = list(map(_negative, errors))
    else:
        ranks = None
        if row.rank_low is not None and row.rank_high is not None:
            ranks = -(row.rank_low + row.rank_high)
        adjusted_key = _negative(row.adjusted)
        brier_key = _negative(row.filled["brier"])
        keys = [ranks, row.skill_low, row.skill, adjusted_key, row.filled["peer"], brier_key]

    highest_first = [inf if key is None else -key for key in keys]
    return (not row.ranked, *highest_first, row.forecaster)


def _negative(value: float | None) -> float | None:
    """Return the negative of a value, None for None."""
    return None if value is None else -value


def _judged(
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
    copied = comparisons.copies.get(row.forecaster)
    if gain is None:
        return replace(row, reason="no market_probability", copies=copied)
    return replace(
        row,
        skill=gain.skill,
        skill_low=gain.low,
        skill_high=gain.high,
        skill_p=gain.p,
        evidence=comparisons.evidence[row.forecaster],
        copies=copied,
        events_effective=gain.effective,
        reason=gain.reason,
    )
