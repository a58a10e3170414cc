"""How a season was played and judged, from its record: what a reader of a paper needs to believe it."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import func

from agents.model import USABLE_STATUSES
from arena.cohorts.diff import value_in_words
from arena.errors import count_text
from arena.record.hashes import state_hash
from arena.record.model.benchmark import BenchmarkFile
from arena.record.model.cohort import Cohort, later_models_words
from arena.record.model.columns import NO_SCORE, OPEN, ForecastColumns
from arena.record.queries.audits import AuditCounts, read_audit_counts
from arena.record.queries.benchmark import newest_files, read_answer_usage
from arena.record.queries.cohorts import read_cohorts, read_min_coverage, select_cohorts
from arena.record.queries.forecasts import read_forecast_columns
from arena.record.schema.cohort import CohortRow, EntrantRow, RoundRow
from arena.record.schema.database import Connection
from arena.record.schema.turn import CallRow, TurnRow
from arena.record.schema.typed import col, count, joined, select, total
from arena.rounds.forecasting import benchmark_cohorts, method_of
from arena.scores.leaderboard import Leaderboard, LeaderboardRow, read_leaderboard
from arena.scores.rules.comparisons.events import ENOUGH_EFFECTIVE, ENOUGH_EVENTS
from arena.scores.rules.comparisons.wild_bootstrap import DRAWS
from arena.scores.verdict import Verdict, rank_text
from markets.millionths import ONE


@dataclass(frozen=True, slots=True)
class AgentMethod:
    """An agent as it was asked, and how that went; costs in dollars, None where one of them isn't known.

    `settings` are all that were frozen, by cohort where they differ; `reported` are the models that answers
    say they are of.
    """

    agent: str
    kind: str
    model: str | None
    released: str | None
    reported: tuple[str, ...]
    settings: tuple[str, ...]
    prompts: dict[str, str]
    statuses: dict[str, int]
    calls: int
    tokens_in: int
    tokens_out: int
    cost: float | None


@dataclass(frozen=True, slots=True)
class MarketCounts:
    """The markets that were shown, and how they ended."""

    shown: int
    events: int
    stories: int
    yes: int
    no: int
    unscored: int
    open: int
    early_forecasts: int


@dataclass(frozen=True, slots=True)
class BenchmarkMethod:
    """How agents answered a question set of a benchmark; `forecasts` is how many each of them made.

    `called_from` and `called_until` are when models were really asked.
    """

    cohort: int
    question_set: str
    due: str
    version: int
    sha256: str
    asked_by: str
    called_from: datetime | None
    called_until: datetime | None
    agents: tuple[AgentMethod, ...]
    forecasts: dict[str, int]


@dataclass(frozen=True, slots=True)
class Method:
    """All of it; `resolutions` are the newest files that say what a benchmark's questions came to."""

    state_hash: str | None
    cohorts: tuple[Cohort, ...]
    code_versions: tuple[str, ...]
    markets: MarketCounts
    audit: AuditCounts | None
    agents: tuple[AgentMethod, ...]
    board: Leaderboard
    verdict: Verdict
    min_coverage: float
    benchmark: tuple[BenchmarkMethod, ...]
    resolutions: tuple[BenchmarkFile, ...]


def read_method(connection: Connection, cohort: int | None = None) -> Method:
    """The method of a record, or of one of its cohorts."""
    stored = select_cohorts(read_cohorts(connection), cohort)
    cohorts = tuple(one.cohort for one in stored)
    numbers = [one.number for one in cohorts]
    versions = select(TurnRow.code_version).select_from(TURNS).where(col(CohortRow.number).in_(numbers))

    board = read_leaderboard(connection, cohort)
    whole = board if cohort is None else read_leaderboard(connection)
    return Method(
        state_hash=state_hash(connection) if cohort is None else None,
        cohorts=cohorts,
        code_versions=tuple(sorted(set(connection.scalars(versions)))),
        markets=_market_counts(read_forecast_columns(connection, cohort)),
        audit=read_audit_counts(connection, numbers),
        agents=tuple(_agents(connection, cohorts)),
        board=board,
        verdict=whole.verdict or Verdict(),
        min_coverage=read_min_coverage(connection, cohort),
        benchmark=tuple(_benchmark(connection)) if cohort is None else (),
        resolutions=tuple(newest_files(connection, "resolutions")) if cohort is None else (),
    )


def _benchmark(connection: Connection) -> Iterator[BenchmarkMethod]:
    for stored in benchmark_cohorts(read_cohorts(connection, trading=False)):
        place = stored.cohort.venue_settings
        [(first, last)] = connection.execute(CALLED.where(CohortRow.number == stored.cohort.number))
        yield BenchmarkMethod(
            cohort=stored.cohort.number,
            question_set=place["set"],
            due=place["due"],
            version=place["version"],
            sha256=place["sha256"],
            asked_by=method_of(stored.cohort).words,
            called_from=first,
            called_until=last,
            agents=tuple(_agents(connection, [stored.cohort])),
            forecasts={one.agent: one.forecasts for one in read_answer_usage(connection, stored.id)},
        )


TURNS = joined(TurnRow, EntrantRow, RoundRow, CohortRow)
CALLS = joined(CallRow, EntrantRow, CohortRow)
CALLED = select(func.min(CallRow.made_at), func.max(CallRow.made_at)).select_from(CALLS)


def _market_counts(rows: ForecastColumns) -> MarketCounts:
    _, first = np.unique(rows.market, return_index=True)
    ends = Counter(rows.outcome[first].tolist())
    return MarketCounts(
        shown=first.size,
        events=np.unique(rows.event).size,
        stories=np.unique(rows.story).size,
        yes=ends[1],
        no=ends[0],
        unscored=ends[NO_SCORE],
        open=ends[OPEN],
        early_forecasts=int(np.count_nonzero(rows.early & rows.stated)),
    )


def _agents(connection: Connection, cohorts: Sequence[Cohort]) -> Iterator[AgentMethod]:
    numbers = [one.number for one in cohorts]
    chosen = col(CohortRow.number).in_(numbers)
    statuses = defaultdict[str, Counter[str]](Counter)
    counted = select(EntrantRow.name, TurnRow.status, count(TurnRow.id)).select_from(TURNS).where(chosen)
    for name, status, turns in connection.execute(counted.group_by(EntrantRow.name, TurnRow.status)):
        statuses[name][status] += int(str(turns))
    sums = (count(CallRow.id), total(CallRow.tokens_in), total(CallRow.tokens_out), total(CallRow.cost))
    priced = select(EntrantRow.name, *sums, count(CallRow.cost)).select_from(CALLS).where(chosen)
    priced = priced.group_by(EntrantRow.name)
    calls = {name: tuple(int(x or 0) for x in row) for name, *row in connection.execute(priced)}
    reported = defaultdict[str, set[str]](set)
    models = select(EntrantRow.name, CallRow.model).distinct().select_from(CALLS).where(chosen)
    for name, model in connection.execute(models):
        reported[name].add(model)
    for name in dict.fromkeys(entrant.name for one in cohorts for entrant in one.entrants):
        stays = [(one, entrant) for one in cohorts for entrant in one.entrants if entrant.name == name]
        cohort, entrant = stays[-1]
        made, tokens_in, tokens_out, cost, known = calls.get(name, (0, 0, 0, 0, 0))
        named = {str(value) for value in entrant.settings.values() if isinstance(value, str)}
        prompts = {key: text for key, text in {**cohort.prompts, **entrant.prompts}.items() if key in named}
        yield AgentMethod(
            agent=name,
            kind=entrant.kind,
            model=entrant.settings.get("model"),
            released=entrant.settings.get("released"),
            reported=tuple(sorted(reported[name] - {""})),
            settings=tuple(dict.fromkeys(_settings_words(each.settings) for _, each in stays)),
            prompts=prompts,
            statuses=dict(statuses[name]),
            calls=made,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            cost=cost / ONE if known == made else None,
        )


def _settings_words(settings: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{key} ({value_in_words(key, value)})"
        if isinstance(value, Mapping)
        else f"{key} {value_in_words(key, value)}"
        for key, value in settings.items()
        if value not in (None, {}) and key not in ("model", "released")
    )


def method_text(method: Method) -> str:
    """The same as Markdown."""
    parts = PARTS if method.cohorts or not method.benchmark else {}
    parts = parts | ({"ForecastBench": _rounds_of_benchmark} if method.benchmark else {})
    written = ("\n".join([f"## {heading}", "", *part(method)]) for heading, part in parts.items())
    return "\n\n".join(["# Method", *written]) + "\n"


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"| {' | '.join('---' for _ in head)} |"
    for row in rows:
        cells = ("–" if cell is None or cell == "" else str(cell).replace("|", "\\|") for cell in row)
        yield f"| {' | '.join(' '.join(cell.split()) for cell in cells)} |"


def _data(method: Method) -> Iterator[str]:
    rows = [
        (
            one.number,
            one.venue,
            one.stamp,
            f"{one.starts_at:%Y-%m-%d %H:%M} UTC",
            one.rounds,
            f"${one.bankroll / ONE:,.0f}",
            len(one.entrants),
            f"`{one.config_hash[:12]}`" if one.config_hash else None,
        )
        for one in method.cohorts
    ]
    head = ("cohort", "venue", "markets are", "first decision", "rounds", "bankroll", "agents", "config")
    yield from _table(head, rows)
    yield ""
    found = method.markets
    yield (
        f"{count_text(found.shown, 'market')} of {count_text(found.events, 'event')} were shown, which make "
        f"{found.stories:,} stories: {found.yes:,} ended YES, {found.no:,} NO, {found.unscored:,} in a "
        f"fraction or a refund, which is not scored, and {found.open:,} are open."
    )
    versions = ", ".join(f"`{version}`" for version in method.code_versions) or "unknown"
    yield f"Played by the code {versions}."
    if method.state_hash is not None:
        yield f"State hash: `{method.state_hash}`; `arena admin verify` recomputes it and all figures."


def _cutoffs(method: Method) -> Iterator[str]:
    yield (
        "An agent sees the prices of its round's snapshot and articles dated before it. An outcome counts "
        "once it could be known, and not before the market was due to close."
    )
    for guard in dict.fromkeys((one.evidence, one.guard) for one in method.cohorts):
        source, rule = guard
        if source == "none":
            yield "No articles were shown."
            continue
        yield (
            f"Articles from {source}: at most {rule.per_market} a market, {rule.characters:,} characters "
            f"each, odds {rule.odds}{f', suspects {rule.suspects}' * bool(rule.suspects)}; restricted beside "
            f"the known ones: {', '.join(rule.restricted) or 'none'}."
        )
    if method.audit is not None:
        yield method.audit.words
    early = count_text(method.markets.early_forecasts, "forecast")
    yield f"Decided before the model's release, so not scored: {early}."
    later = {model: day for one in method.cohorts for model, day in one.later_models.items()}
    if words := later_models_words(later):
        yield f"Of replays, {words}: these may know how it ended."


IDENTITY = ("agent", "kind", "model", "released", "reported by answers")


def _identity(one: AgentMethod) -> tuple[str | None, ...]:
    released = one.released or ("not known" if one.model else None)
    return one.agent, one.kind, one.model, released, ", ".join(one.reported)


def _models(method: Method) -> Iterator[str]:
    rows = [
        (
            *_identity(one),
            "; then ".join(one.settings),
        )
        for one in method.agents
    ]
    yield from _table((*IDENTITY, "settings"), rows)


def _prompts(method: Method) -> Iterator[str]:
    used = {(name, text) for one in method.agents for name, text in one.prompts.items()}
    frozen = {pair for one in method.cohorts for pair in one.prompts.items()}
    rows = [
        (name, f"`{text}`", ", ".join(one.agent for one in method.agents if one.prompts.get(name) == text))
        for name, text in sorted(used | frozen)
    ]
    if not rows:
        yield "No model was asked."
        return
    yield from _table(("prompt", "SHA-256 of its text", "agents"), rows)
    yield ""
    yield "`arena show prompts` shows the texts; every question and answer is in the record, word for word."


COSTS = ("calls", "tokens in", "tokens out", "cost")


def _costs(one: AgentMethod) -> tuple[str | None, ...]:
    cost = None if one.cost is None else f"${one.cost:,.4f}"
    return f"{one.calls:,}", f"{one.tokens_in:,}", f"{one.tokens_out:,}", cost


def _answers(method: Method) -> Iterator[str]:
    every = sorted({status for one in method.agents for status in one.statuses})
    order: list[str] = [status for status in USABLE_STATUSES if status in every]
    order += [status for status in every if status not in order]
    rows = [
        (
            one.agent,
            *(one.statuses.get(status, 0) for status in order),
            *_costs(one),
        )
        for one in method.agents
    ]
    yield from _table(("agent", *order, *COSTS), rows)
    yield ""
    yield (
        "Turns by how they ended. A malformed, declined, failed or late turn counts as agreement with the "
        "price; calls include repeats and failures, and a dash is an unknown cost."
    )


def _rules(method: Method) -> Iterator[str]:
    groups = defaultdict[tuple[tuple[str, str], ...], list[int]](list)
    for one in method.cohorts:
        values = {f"rules.{key}": value for key, value in one.rules.model_dump().items()}
        values |= {f"markets.{key}": value for key, value in one.universe.model_dump().items()}
        values |= {"every": one.every, "seed": one.seed if len(method.cohorts) == 1 else "own"}
        pairs = tuple((key, value_in_words(key.rpartition(".")[2], value)) for key, value in values.items())
        groups[pairs].append(one.number)
    for pairs, numbers in groups.items():
        yield f"Cohorts {', '.join(map(str, numbers))}:"
        yield ""
        yield from _table(("rule", "value"), pairs)
        yield ""


def _statistics(method: Method) -> Iterator[str]:
    board, verdict = method.board, method.verdict
    whose = "" if board.verdict is not None else "Over all cohorts: "
    yield f"> {' '.join(filter(None, (whose + verdict.sentence, verdict.guarantee)))}"
    yield ""
    yield (
        "- Skill: the price's Brier score minus the agent's, on the same markets at the same instants; "
        "averaged within markets, then over markets."
    )
    yield (
        f"- Intervals, at this look alone: wild event bootstrap-t, {DRAWS:,} draws, whole stories at a time; "
        f"none under {ENOUGH_EVENTS:.0f} events of equal size, or where they leave less open than "
        f"{ENOUGH_EFFECTIVE:.0f} coin tosses."
    )
    yield (
        f"- Ranked are agents that answered at least {method.min_coverage:.0%} of what they were shown "
        "and has resolved. Ranks are those that the pairs told allow."
    )
    yield (
        "- “Better than” is told of a pair, or of an agent and the price, once a bet on it has paid enough "
        "for all pairs together: it holds at every look. Copies of one another count as one entry."
    )
    yield ""
    yield from _table(STATISTICS, [_statistics_row(row, verdict) for row in board.rows])


STATISTICS = (
    "ranks", "agent", "skill", "95% interval", "stories", "effective", "coverage", "verdict or why not",
)  # fmt: skip


def _statistics_row(row: LeaderboardRow, verdict: Verdict) -> tuple[str | None, ...]:
    """Return the figures of an agent, and what is told of it over all cohorts or why nothing is."""
    told = verdict.of(row.agent)
    sentences = [] if told is None else [told.sentence, told.price_sentence]
    return (
        rank_text(row.rank_low, row.rank_high),
        row.agent,
        None if row.skill is None else f"{row.skill:+.4f}",
        None if row.skill_low is None else f"{row.skill_low:+.4f} to {row.skill_high or 0:+.4f}",
        f"{row.events:,}",
        None if row.events_effective is None else f"{row.events_effective:.1f}",
        None if row.coverage is None else f"{row.coverage:.0%}",
        row.why_not or row.reason or " ".join(filter(None, sentences)),
    )


def _rounds_of_benchmark(method: Method) -> Iterator[str]:
    head = (*IDENTITY, "prompt, SHA-256", "forecasts", *COSTS)
    for one in method.benchmark:
        yield (
            f"{one.question_set}, due {one.due}, version {one.version}, SHA-256 `{one.sha256}`. Asked by "
            f"{one.asked_by}.{_called(one)}"
        )
        yield ""
        rows = [
            (
                *_identity(agent),
                ", ".join(f"{name} `{text}`" for name, text in agent.prompts.items()),
                f"{one.forecasts.get(agent.agent, 0):,}",
                *_costs(agent),
            )
            for agent in one.agents
        ]
        yield from _table(head, rows)
        yield ""
    for kept in method.resolutions:
        yield (
            f"Resolutions of {kept.due}: {kept.name}, version {kept.version} of {kept.at:%Y-%m-%d}, SHA-256 "
            f"`{kept.sha256}`."
        )
    yield "`arena study forecastbench board` ranks the answers. "
    yield "A model may know what resolved before its release."


def _called(one: BenchmarkMethod) -> str:
    if one.called_from is None or one.called_until is None:
        return ""
    late = ", after it was due: no submission" if f"{one.called_until:%Y-%m-%d}" > one.due else ""
    first, last = (f"{at:%Y-%m-%d %H:%M}" for at in (one.called_from, one.called_until))
    return f" Models were called from {first} to {last} UTC{late}."


def _limits(method: Method) -> Iterator[str]:
    stamps = {one.stamp for one in method.cohorts}
    if "simulated" in stamps:
        yield "- Simulated markets: the figures say nothing about real ones."
    if "replay" in stamps:
        yield "- Replays: a model may have been trained on what happened, so they are no evidence of skill."
    unknown = [one.agent for one in method.agents if one.model and not one.released]
    if unknown:
        yield f"- Of unknown release day, so that early forecasts can't be identified: {', '.join(unknown)}."
    hidden = [one.agent for one in method.agents if one.cost is None]
    if hidden:
        yield f"- Costs not known in full: {', '.join(hidden)}."
    odd = [one.agent for one in method.agents if len(one.settings) > 1]
    if odd:
        yield f"- Settings changed between cohorts: {', '.join(odd)}."
    if len(method.code_versions) > 1:
        yield "- More than one version of the code played."
    if method.markets.open:
        still = count_text(method.markets.open, "market")
        yield f"- {still} still open: what resolves early is not a random part."
    yield "- Markets that move together beyond their story are not detected: intervals are then too narrow."
    yield "- Play money: bets move no price, and nobody trades against them."


PARTS = {
    "Data": _data,
    "Cutoffs": _cutoffs,
    "Agents and models": _models,
    "Prompts": _prompts,
    "Answers and costs": _answers,
    "Rules, frozen at each cohort's start": _rules,
    "Statistics": _statistics,
    "Limits": _limits,
}
