"""The scores of a file of forecasts: every rule that its columns allow, and notes on what is missing."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from math import inf, isfinite
from typing import Any, Literal

import numpy as np

from arena.errors import ArenaError, count_text
from arena.forms.csv_columns import Flags, Floats, Ints
from arena.scores.files.by_question import (
    MEANS,
    AutocastScores,
    Gap,
    HalfScores,
    QuestionScores,
    adjusted_scores,
    autocast_scores,
    gaps,
    half_scores,
    score_questions,
)
from arena.scores.files.forecasts import ForecastTable
from arena.scores.rules import brier
from arena.scores.rules._columns import different, is_scored, none_for_nan
from arena.scores.rules.comparisons.copies import find_copies
from arena.scores.rules.comparisons.duel_evidence import (
    SECONDS_OF_A_WEEK,
    DuelRows,
    PairEvidence,
    compare_pairs,
    compare_with_price,
    price_bars,
)
from arena.scores.rules.comparisons.evidence import Evidence, EvidenceRows, evidence
from arena.scores.rules.comparisons.gain import NOTHING, Gain, gains
from arena.scores.rules.comparisons.mean_interval import MeanIntervals
from arena.scores.rules.comparisons.season_rows import SeasonForecasts, check_season
from arena.scores.rules.metaculus.forecasts import Mode
from arena.scores.rules.reliability import corp, murphy
from arena.scores.verdict import (
    MIN_COVERAGE,
    Candidate,
    SeasonState,
    Standing,
    Verdict,
    make_verdict,
    verdict_data,
)

Rule = Literal["skill", "metaculus", "forecastbench", "autocast"]
HALF = 0.25
"""The Brier score of always 0.5."""
METACULUS = ("baseline", "peer", "relative", "spot_baseline", "spot_peer")
"""The scores of which Metaculus's own rule gives a missing answer 0."""
MANY = 5
"""From so many questions on it is told that somebody says the same on all of them."""


@dataclass(frozen=True, slots=True)
class ScoreChoices:
    """What is wanted of a file's scores beyond the plain ones.

    `outside` names those whom nobody is compared with, `against` the one whom all are; `adjusted` allows for
    how hard questions were, `provisional` scores open ones by their price, `community` adds the forecast that
    all make together, `parts` splits Brier scores up, and `rule` says what the order goes by.
    """

    outside: tuple[str, ...] = ()
    against: str | None = None
    adjusted: bool = False
    provisional: bool = False
    community: bool = False
    parts: bool = False
    rule: Rule = "skill"


@dataclass(frozen=True, slots=True)
class BrierParts:
    """A Brier score on yes/no questions, decomposed by Murphy and by CORP."""

    reliability: float | None
    resolution: float | None
    uncertainty: float | None
    miscalibration: float | None
    discrimination: float | None


def score_notes(
    table: ForecastTable, scored: QuestionScores, choices: ScoreChoices, few: bool, boundless: bool
) -> Iterator[str]:
    """Sentences about a table's scores: `few` if nobody has an interval, `boundless` if a log score is −∞."""
    ended = is_scored(table.outcome)
    yield from table.notes
    if table.ignored:
        yield f"columns that were not read: {', '.join(table.ignored)}"
    yield from _provisional_notes(table, scored) if choices.provisional else _open_notes(table, ended)
    waiting = [form for form in table.forms if not form.ended]
    if waiting:
        count = count_text(len(waiting), "question")
        yield f"not scored yet: {count} of options or a number, without an outcome"
    if not scored.asked.any():
        yield "nothing resolved: no question has an outcome of 0 or 1, so there are no scores"
        return
    yield from _answer_notes(scored, choices)
    if ended.any():
        yield from _peer_notes(table, scored)
        yield from _constant_notes(table, ended, choices)
        yield from _skill_notes(table, ended, few)
    if boundless:
        yield "a log score of −∞ (null in JSON): someone gave probability 0 to what happened"


def _open_notes(table: ForecastTable, ended: Flags) -> Iterator[str]:
    """What has no outcome that is scored."""
    still_open = np.isnan(table.outcome)
    if still_open.any():
        yield f"not scored yet: {_count_text(table, still_open)} without an outcome"
    parts = ~ended & ~still_open
    if parts.any():
        yield f"not scored: {_count_text(table, parts)} that ended in a fraction or a refund"


def _provisional_notes(table: ForecastTable, scored: QuestionScores) -> Iterator[str]:
    """Which questions are scored by a price, and which still are not at all."""
    by_price = np.flatnonzero(scored.asked[: len(table.questions)])
    ended = np.unique(table.question[is_scored(table.outcome)])
    count = np.setdiff1d(by_price, ended).size
    if count:
        yield (
            f"provisional: {count_text(count, 'question')} scored by a price that stands in for an outcome; "
            "skill and Metaculus's scores leave them out"
        )
    left = np.unique(table.question[np.isnan(table.outcome)]).size
    left -= np.intersect1d(np.unique(table.question[np.isnan(table.outcome)]), by_price).size
    if left:
        yield (
            f"not scored yet: {count_text(left, 'question')} without an outcome; a price counts that is "
            "later than the forecasts, in the columns time and market_probability"
        )


def _answer_notes(scored: QuestionScores, choices: ScoreChoices) -> Iterator[str]:
    """Whether everyone answered the same questions."""
    counts, asked = scored.counts(), int(scored.asked.sum())
    answered = counts[counts > 0]
    if answered.size and answered.min() < asked:
        fewest = scored.forecasters[int(np.flatnonzero(counts == answered.min())[0])]
        words = "" if choices.adjusted else "; --adjusted allows for how hard each one's questions were"
        counts_as = "0, in Brier as wrong" if choices.rule == "metaculus" else "wrong"
        yield (
            f"forecasters answered different questions: from {answered.min():,} ({fewest}) to "
            f"{answered.max():,} of {asked:,}{words}, --against NAME compares on common ones"
        )
        yield (
            "scores marked * are over the questions that each one answered and can't be compared; under all "
            f"and in the order a missing answer counts as {counts_as}, in skill as the market's price"
        )


def _constant_notes(table: ForecastTable, ended: Flags, choices: ScoreChoices) -> Iterator[str]:
    """Who always says the same, and so moves the peer scores of all others."""
    who, said = table.forecaster[ended], table.probability[ended]
    least, most = np.full(len(table.forecasters), inf), np.full(len(table.forecasters), -inf)
    np.minimum.at(least, who, said)
    np.maximum.at(most, who, said)
    counts = np.bincount(who, minlength=least.size)
    same = [table.forecasters[k] for k in np.flatnonzero((least == most) & (counts >= MANY))]
    named = [name for name in same if name not in choices.outside]
    if named and len(table.forecasters) > 2:
        options = " ".join(f"--outside {name}" for name in named[:5])
        yield f"always the same answer, and counted in everybody's peer score: {', '.join(named)} ({options})"


def _peer_notes(table: ForecastTable, scored: QuestionScores) -> Iterator[str]:
    if np.bincount(scored.question).max() < 2:
        yield "no peer and relative scores: no question has two forecasters"
    if table.close is None and table.time is not None:
        yield (
            "no column close: baseline, peer and relative use everyone's latest forecast of a question, "
            "not a mean over time"
        )


def _skill_notes(table: ForecastTable, ended: Flags, few: bool) -> Iterator[str]:
    if table.market is None:
        yield "no skill against the market: it needs a column market_probability"
        return
    without = ended & np.isnan(table.market)
    if without.any():
        yield f"not in skill: {_count_text(table, without)} without a market_probability"
    if not table.event_column:
        yield (
            "no column event: every question counts as its own event, so intervals are too narrow "
            "where questions move together"
        )
    if table.time is None or (table.resolved is None and table.close is None):
        yield (
            "no columns time and resolved: every outcome counts only after the last forecast, so who is "
            "better is looked at once, and nothing says since when"
        )
    if few:
        yield "not enough events for an interval of skill: with --json, reason says how many more it takes"


def _count_text(table: ForecastTable, rows: Flags) -> str:
    questions = np.unique(table.question[rows]).size
    return f"{count_text(int(rows.sum()), 'forecast')} on {count_text(questions, 'question')}"


@dataclass(frozen=True, slots=True)
class ForecasterScores:
    """A forecaster's scores; None where nothing can be said, and `reason` says why there is no interval.

    `brier` and `log` are means over questions of each question's mean; `baseline`, `peer`, `relative` and the
    two of the spot are Metaculus's, `coverage` the share of the questions' lives that they rest on.
    `intervals` has the 95% interval of each of these means, by event. `missing` counts questions without an
    answer, and `filled` has scores over all questions: in Brier those count as wrong, by the rule metaculus
    in its scores as 0; else it has none where some are missing, for a log score has no worst value. Only
    `filled` and what follows can be compared if forecasters answered different questions. `adjusted` is the
    Brier score less how hard the questions were, `gap` how much smaller it is than that of another on common
    questions. `brier_skill` is 1 − Brier / 0.25 over all questions and `band` the word for that Brier score.
    `ranked` says whether enough of the questions that ended were forecast for the forecaster to be ranked,
    and `why_not` why not. `skill` is the market's Brier score less the forecaster's where a price is known,
    with which a missing answer agrees, and the true one lies between `skill_low` and `skill_high` in 95% of
    cases. `evidence` is the capital of a bet on it, and `copies` is whose forecasts these are. The ranks,
    `better_than`, `worse_than`, `price` and the two sentences are the verdict, as in `AgentVerdict`.
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
    """Everyone's rows, best first, in which mode they were scored, and what there is to know about them.

    `verdict` says who is better than whom; where every category is scored by itself there is none over all
    of them.
    """

    mode: Mode
    verdict: Verdict | None
    rows: tuple[ForecasterScores, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileComparisons:
    """The forecasters of a file beside the price, where there is one.

    `evidence` is everyone's capital of a bet on its skill, and `copies` names whom one repeats.
    """

    gains: Mapping[str, Gain]
    evidence: Mapping[str, float]
    copies: Mapping[str, str]


def score_file(
    table: ForecastTable,
    mode: Mode = "exact",
    by_category: bool = False,
    choices: ScoreChoices = ScoreChoices(),
) -> FileScores:
    """Everyone's scores; with categories, within each of them.

    The best is first: by the ranks that are told, then by the lower end of the skill's interval, where there
    is one, else by the Brier score adjusted, else by peer score, else by Brier score. Who is not ranked comes
    last.
    """
    against = [] if choices.against is None else [choices.against]
    for option, named in (("--outside", choices.outside), ("--against", against)):
        for who in named:
            if who not in table.forecasters:
                known = ", ".join(table.forecasters[:20])
                what = f"{option} names {who!r}, which has no forecast in {table.name}"
                raise ArenaError("unknown_name", what, f"forecasters: {known}", status=64)
    parts: list[tuple[str | None, ForecastTable]] = [(None, table)]
    if by_category and table.category is not None:
        names = sorted({*table.categories, *(form.category or "" for form in table.forms)})
        places = {name: number for number, name in enumerate(table.categories)}
        parts = [
            (name, table.take(np.flatnonzero(table.category == places.get(name, -1)), name)) for name in names
        ]

    def scored_of(part: ForecastTable) -> QuestionScores:
        wanted = {"provisional": choices.provisional, "community": choices.community}
        return score_questions(part, mode, choices.outside, **wanted)

    rows = list[ForecasterScores]()
    scored = scored_of(table)
    verdict: Verdict | None = None
    for name, part in parts:
        own = scored if name is None else scored_of(part)
        asked, counts = int(own.asked.sum()), own.counts()[: len(part.forecasters)]
        ranked = np.flatnonzero((counts > 0) & (counts >= MIN_COVERAGE * asked))
        found = _comparisons(part, ranked)
        scores = _forecaster_rows(part, own, name, found, ranked.tolist(), choices)
        if name is None:
            verdict = _verdict(scores, part, choices.outside)
            told = {one.agent: one for one in verdict.agents}
            scores = [replace(row, **told[row.forecaster].row_fields) for row in scores]
        rows += sorted(scores, key=lambda row: _rank_key(row, choices))

    few = all(row.skill_low is None for row in rows)
    boundless = any(row.log == -inf for row in rows)
    notes = tuple(score_notes(table, scored, choices, few, boundless))
    return FileScores(mode, verdict, tuple(rows), notes)


def _verdict(rows: Sequence[ForecasterScores], table: ForecastTable, outside: Collection[str]) -> Verdict:
    """Return the verdict on the forecasters of these rows; the median of all is none of them."""
    candidates = []
    for row in rows:
        brier_score = row.filled["brier"]
        candidates.append(
            Candidate(
                agent=row.forecaster,
                is_reference=row.forecaster in outside or row.forecaster not in table.forecasters,
                why_not=None if row.ranked else row.why_not,
                copies=row.copies,
                # without prices the order goes by the Brier score
                skill=row.skill if row.skill is not None or brier_score is None else -brier_score,
                skill_low=row.skill_low,
            )
        )

    state = SeasonState(resolved_events=np.unique(table.event[is_scored(table.outcome)]).size)
    pairs, against_price = _compared_pairs(table, outside)
    return make_verdict(candidates, pairs, against_price, state, lambda time: _own_time(time, table))


def scores_data(scores: FileScores) -> dict[str, Any]:
    """Return everyone's scores, the verdict and what there is to know, for JSON."""
    data = {"mode": scores.mode, "notes": scores.notes, "rows": [row_data(row) for row in scores.rows]}
    return data | verdict_data(scores.verdict)


def row_data(row: ForecasterScores) -> dict[str, Any]:
    """A row for JSON, which has no infinity; what lies deeper by names of its own."""
    found: dict[str, Any] = {}
    for name in ForecasterScores.__dataclass_fields__:
        value = getattr(row, name)
        if name == "intervals":
            for mean, span in value.items():
                found[f"{mean}_low"], found[f"{mean}_high"] = span or (None, None)
        elif name == "filled":
            found |= {f"{mean}_filled": each for mean, each in value.items()}
        elif name == "gap":
            for part in ("gap", "low", "high", "p", "questions"):
                key = part if part == "gap" else f"gap_{part}"
                found[key] = None if value is None else getattr(value, part)
        elif name in ("autocast", "halves", "parts"):
            found |= {} if value is None else asdict(value)
        else:
            found[name] = None if isinstance(value, float) and not isfinite(value) else value
    return found


def _forecaster_rows(
    table: ForecastTable,
    scored: QuestionScores,
    category: str | None,
    found: FileComparisons,
    ranked: list[int],
    choices: ScoreChoices,
) -> list[ForecasterScores]:
    """Return the row of each forecaster, in the order of the file."""
    means = {name: scored.means(name) for name in MEANS}
    coverage, counts, events = scored.means("coverage").mean, scored.counts(), scored.counts(event=True)
    asked = int(scored.asked.sum())
    adjusted = adjusted_scores(scored, choices.outside) if choices.adjusted and asked else None
    versus = gaps(scored, choices.against) if choices.against is not None else {}
    here = {*different(table.forecaster)[0].tolist()} | {
        table.forecasters.index(name) for form in table.forms for name in form.who
    }
    here |= {len(table.forecasters)} if choices.community else set()
    halves = half_scores(scored, table, choices.outside) if choices.rule == "forecastbench" else None
    wrong = _brier_at_worst(scored)
    rows = []
    for place in sorted(here):
        name = scored.forecasters[place]
        own: dict[str, Any] = {each: _at(mean, place) for each, mean in means.items()}
        full = none_for_nan(float(wrong[place])) if own["brier"] is not None else None
        share = int(counts[place]) / asked if asked else 0.0
        by_zero = choices.rule == "metaculus"
        row = ForecasterScores(
            forecaster=name,
            category=category,
            forecasts=int(scored.rows[place]),
            questions=int(counts[place]),
            events=int(events[place]),
            missing=asked - int(counts[place]),
            **own,
            coverage=none_for_nan(float(coverage[place])),
            intervals={each: _span(x, place) for each, x in means.items()}
            | ({} if adjusted is None else {"adjusted": _span(adjusted, place)}),
            filled={"brier": full} | {each: _over_all(own[each], share, by_zero) for each in METACULUS},
            brier_skill=None if full is None else 1 - full / HALF,
            band=None if full is None else brier.band(full),
            ranked=place in ranked or bool(place == len(table.forecasters) and counts[place] > 0),
            why_not=None,
            adjusted=None if adjusted is None else _at(adjusted, place),
            gap=versus.get(place),
            autocast=autocast_scores(scored, place) if choices.rule == "autocast" else None,
            halves=None if halves is None else halves[place],
            parts=_brier_parts(table, place) if choices.parts else None,
        )
        rows.append(_judged(row, found, asked))
    return rows


def _brier_at_worst(scored: QuestionScores) -> Floats:
    """Everyone's Brier score with missing answers as wrong, which is 1; questions of a number have none."""
    size = len(scored.forecasters)
    count = int((scored.asked & (np.array(scored.kind, dtype=object) != "number")).sum())
    known = ~np.isnan(scored.values["brier"])
    who = scored.who[known]
    total = np.bincount(who, scored.values["brier"][known], minlength=size)
    missing = count - np.bincount(who, minlength=size)
    return (total + missing) / count if count else np.full(size, np.nan)


def _over_all(mean: float | None, share: float, by_zero: bool) -> float | None:
    """A mean over the share of questions that were answered as one over all; None where that isn't known.

    If a missing answer has 0, it is here without improving a mean below 0.
    """
    if mean is None or share == 1:
        return mean
    return min(mean, mean * share) if by_zero else None


def _at(means: MeanIntervals, place: int) -> float | None:
    return none_for_nan(float(means.mean[place]))


def _span(means: MeanIntervals, place: int) -> tuple[float, float] | None:
    low, high = float(means.low[place]), float(means.high[place])
    return (low, high) if isfinite(low) and isfinite(high) else None


def _brier_parts(table: ForecastTable, place: int) -> BrierParts | None:
    own = np.flatnonzero((table.forecaster == place) & is_scored(table.outcome))
    if not own.size:
        return None
    columns = table.probability[own], table.outcome[own], table.question[own]
    one, other = murphy.decompose(*columns), corp.decompose(*columns)
    parts = (one.reliability, one.resolution, one.uncertainty, other.miscalibration, other.discrimination)
    return BrierParts(*map(none_for_nan, parts))


def _rank_key(row: ForecasterScores, choices: ScoreChoices) -> tuple[float | str, ...]:
    """What the order goes by; who left questions out has no peer score, and comes after those who have."""
    peer, full = row.filled["peer"], row.filled["brier"]
    filled = None if full is None else -full
    adjusted = None if row.adjusted is None else -row.adjusted
    ranks = None if row.rank_low is None or row.rank_high is None else -(row.rank_low + row.rank_high)
    ups: tuple[float | None, ...] = (ranks, row.skill_low, row.skill, adjusted, peer, filled)
    if choices.rule == "metaculus":
        ups = (peer, row.filled["baseline"])
    elif choices.rule == "forecastbench" and row.halves is not None:
        ups = (row.halves.index, None if row.halves.overall is None else -row.halves.overall)
    elif choices.rule == "autocast" and row.autocast is not None:
        ups = tuple(None if x is None else -x for x in (row.autocast.combined, row.autocast.true_false))
        ups = (*ups, row.autocast.multiple_choice and -row.autocast.multiple_choice)
    return (not row.ranked, *(inf if value is None else -value for value in ups), row.forecaster)


def _judged(row: ForecasterScores, found: FileComparisons, asked: int) -> ForecasterScores:
    """The row with how sure its skill is, or why it is not ranked."""
    if not row.ranked:
        if not row.questions:
            return replace(row, why_not="no forecast that is scored" if asked else NOTHING, reason=NOTHING)
        return replace(row, why_not=f"covers {row.questions / asked:.0%} of the questions")

    gain = found.gains.get(row.forecaster)
    copied = found.copies.get(row.forecaster)
    if gain is None:
        return replace(row, reason="no market_probability", copies=copied)
    return replace(
        row,
        skill=gain.skill,
        skill_low=gain.low,
        skill_high=gain.high,
        skill_p=gain.p,
        evidence=found.evidence[row.forecaster],
        copies=copied,
        events_effective=gain.effective,
        reason=gain.reason,
    )


def _own_time(time: float, table: ForecastTable) -> str:
    """Return a time as the file writes its own: as a date, or as a plain number."""
    if table.dated and table.time is not None:
        return datetime.fromtimestamp(time, UTC).isoformat()
    return f"{time:g}"


def _comparisons(table: ForecastTable, ranked: Ints) -> FileComparisons:
    """Return how everyone who is ranked compares with the price, on the rows that have one."""
    ended = is_scored(table.outcome)
    has_price = np.zeros_like(ended) if table.market is None else ~np.isnan(table.market)
    if table.market is None or (ended.any() and not (ended & has_price).any()):
        return FileComparisons({}, {}, _copies_without_prices(table.where(ended), ranked))

    season = _priced_season(table, ended & has_price, ranked)
    copies = find_copies(season, [name for name in table.forecasters if name in season.agents])
    capital = {name: _evidence(table, name).now for name in season.agents}
    return FileComparisons({gain.agent: gain for gain in gains(season)}, capital, copies.of)


def _copies_without_prices(ended: ForecastTable, ranked: Ints) -> Mapping[str, str]:
    """Return who copies whom of those who are ranked, where no price is known that could be copied."""
    own = ended.where(np.isin(ended.forecaster, ranked))
    far_away = np.where(own.probability < 0.5, own.probability + 0.5, own.probability - 0.5)
    season = _season(replace(own, market=far_away))
    return find_copies(season, [name for name in own.forecasters if name in season.agents]).of


def _compared_pairs(
    table: ForecastTable, outside: Collection[str]
) -> tuple[Sequence[PairEvidence], Sequence[PairEvidence] | None]:
    """Return the evidence of each pair of entries, and that of each against the price, if there is one."""
    left_out = [place for place, name in enumerate(table.forecasters) if name in outside]
    entered = table.where(~np.isin(table.forecaster, left_out))
    stated = _duel_rows(entered)
    pairs = compare_pairs(stated, table.owners)
    if entered.market is None:
        return pairs, None

    priced = _duel_rows(entered.where(~np.isnan(entered.market)))
    return pairs, compare_with_price(priced, price_bars(stated, table.owners))


def _priced_season(table: ForecastTable, some: Flags, ranked: Ints) -> SeasonForecasts:
    """Return the rows that ended and have a price, of everyone who is ranked."""
    return _season(_with_agreement(table.where(some), ranked))


def _season(priced: ForecastTable) -> SeasonForecasts:
    """Return the rows of a table, all of which have ended and have a price."""
    used, event = different(priced.event)
    who, agent = different(priced.forecaster)
    return check_season(
        [priced.forecasters[place] for place in who.tolist()],
        [priced.events[place] for place in used.tolist()],
        agent=agent,
        instant=np.unique(_times(priced)[0], return_inverse=True)[1],
        market=priced.question,
        event=event,
        forecast=priced.probability,
        reference=_price_of(priced),
        outcome=priced.outcome,
    )


def _evidence(table: ForecastTable, name: str) -> Evidence:
    """Return the capital of a bet that a forecaster is closer than the price."""
    made, known = _times(table)
    known = np.where(known <= table.as_of, known, np.inf)
    market = np.full(made.size, np.nan) if table.market is None else table.market
    own = np.flatnonzero((table.forecaster == table.forecasters.index(name)) & ~np.isnan(market))
    return evidence(
        EvidenceRows(
            story=table.event[own],
            market=table.question[own],
            made=made[own],
            known=known[own],
            forecast=table.probability[own],
            price=market[own],
            payout=table.outcome[own],
        )
    )


def _duel_rows(table: ForecastTable) -> DuelRows:
    """Return what all forecasters stated; where there is no price it is −1."""
    made, known = _times(table)
    market = np.full(made.size, np.nan) if table.market is None else table.market
    return DuelRows(
        agents=table.forecasters,
        agent=table.forecaster,
        instant=np.unique(made, return_inverse=True)[1],
        market=table.question,
        story=table.event,
        made=made,
        known=np.where(known <= table.as_of, known, np.inf),
        forecast=table.probability,
        price=np.nan_to_num(market, nan=-1.0),
        payout=table.outcome,
        week=SECONDS_OF_A_WEEK / _seconds(table),
    )


def _with_agreement(priced: ForecastTable, ranked: Ints) -> ForecastTable:
    """The rows of those who are ranked, with one for each question left out, which agrees with the market."""
    own = np.flatnonzero(np.isin(priced.forecaster, ranked, kind="table"))
    who, agent = different(priced.forecaster[own])
    first = np.flatnonzero(np.diff(priced.question, prepend=-1))
    answered = np.zeros((who.size, len(priced.questions)), dtype=np.bool_)
    answered[agent, priced.question[own]] = True
    silent, left_out = np.nonzero(~answered[:, priced.question[first]])
    like = first[left_out]
    if own.size == priced.question.size and not like.size:
        return priced
    forecaster = np.concatenate([priced.forecaster[own], who[silent]])
    probability = np.concatenate([priced.probability[own], _price_of(priced)[like]])
    return replace(priced.take(np.concatenate([own, like])), forecaster=forecaster, probability=probability)


def _price_of(priced: ForecastTable) -> Floats:
    """The prices of a table in which every row has one."""
    return np.zeros(0) if priced.market is None else priced.market


def _times(table: ForecastTable, whole: ForecastTable | None = None) -> tuple[Floats, Floats]:
    """When each forecast was made, and from when on its outcome counts: infinite while it is open.

    That is when it was resolved, or else closed, and not before it was to close; without either, after the
    last forecast of the whole file. What was resolved without an outcome was called off, and is not open.
    """
    made = np.zeros(table.outcome.size) if table.time is None else table.time
    ends = table.close if table.resolved is None else table.resolved
    if ends is None:
        every = made if whole is None or whole.time is None else whole.time
        ends = np.full(made.size, every.max(initial=0.0))
    elif table.scheduled_close is not None:
        ends = np.maximum(ends, np.nan_to_num(table.scheduled_close, nan=-np.inf))
    is_open = np.isnan(table.outcome) if table.resolved is None else np.isnan(table.resolved)
    return made, np.where(is_open, np.inf, ends)


LARGE = 1e8
"""Plain numbers up to here are days; larger ones are seconds since 1970."""


def _seconds(table: ForecastTable) -> float:
    """How many seconds the unit of the table's times has."""
    if table.dated or table.time is None:
        return 1.0
    return 1.0 if table.time.max(initial=0.0) >= LARGE else 86_400.0
