"""Describes, from a record, how a season was played and scored: the method section of a paper."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime
from typing import Any

import numpy as np
from sqlalchemy import func

from agents.model import USABLE_STATUSES
from arena.cohorts.diff import value_in_words
from arena.errors import count_text
from arena.record.hashes import state_hash
from arena.record.model.benchmark import BenchmarkFile
from arena.record.model.cohort import Cohort, Entrant, later_models_words
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
from arena.scores.all_kinds import read_season_verdict
from arena.scores.leaderboard import Leaderboard, LeaderboardRow, read_leaderboard
from arena.scores.rules.comparisons.events import ENOUGH_EFFECTIVE, ENOUGH_EVENTS
from arena.scores.rules.comparisons.wild_bootstrap import DRAWS
from arena.scores.verdict import Verdict, rank_text
from markets.millionths import ONE


@dataclass(frozen=True, slots=True)
class AgentMethod:
    """An agent's setup and how its turns went. The cost is in dollars, None if that of a call is unknown.

    `settings` are all frozen settings, which may differ by cohort. `reported` are the models that answers
    name.
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
    """The markets that were shown, and their outcomes."""

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
    """How agents answered a question set of a benchmark; `forecasts` counts those of each agent.

    `called_from` and `called_until` are the times of the first and the last call to a model.
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
    """The method of a season. `resolutions` are the newest resolution files of a benchmark."""

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


def method_data(method: Method) -> dict[str, Any]:
    """Return a method as JSON."""
    agents = {agent.agent for agent in method.agents}
    for benchmark in method.benchmark:
        agents |= {agent.agent for agent in benchmark.agents}
    return {
        "agents": len(agents),
        "cohorts": len(method.cohorts) + len(method.benchmark),
        "state_hash": method.state_hash,
        "code_versions": list(method.code_versions),
        "markets": asdict(method.markets),
        "method": [asdict(agent) for agent in method.agents],
        "benchmark": [asdict(benchmark) for benchmark in method.benchmark],
    }


TURNS = joined(TurnRow, EntrantRow, RoundRow, CohortRow)
CALLS = joined(CallRow, EntrantRow, CohortRow)


def read_method(connection: Connection, cohort: int | None = None) -> Method:
    """Return the method of a record, or of one of its cohorts."""
    cohorts = tuple(stored.cohort for stored in select_cohorts(read_cohorts(connection), cohort))
    numbers = [cohort.number for cohort in cohorts]
    versions = select(TurnRow.code_version).select_from(TURNS).where(col(CohortRow.number).in_(numbers))

    record_hash = None
    benchmark: tuple[BenchmarkMethod, ...] = ()
    resolutions: tuple[BenchmarkFile, ...] = ()
    if cohort is None:
        record_hash = state_hash(connection)
        benchmark = tuple(_benchmark_methods(connection))
        resolutions = tuple(newest_files(connection, "resolutions"))

    return Method(
        state_hash=record_hash,
        cohorts=cohorts,
        code_versions=tuple(sorted(set(connection.scalars(versions)))),
        markets=_market_counts(read_forecast_columns(connection, cohort)),
        audit=read_audit_counts(connection, numbers),
        agents=tuple(_agent_methods(connection, cohorts)),
        board=read_leaderboard(connection, cohort),
        verdict=read_season_verdict(connection) or Verdict(),
        min_coverage=read_min_coverage(connection, cohort),
        benchmark=benchmark,
        resolutions=resolutions,
    )


def _benchmark_methods(connection: Connection) -> Iterator[BenchmarkMethod]:
    """Yield how each question set of a benchmark was answered."""
    called = select(func.min(CallRow.made_at), func.max(CallRow.made_at)).select_from(CALLS)

    for stored in benchmark_cohorts(read_cohorts(connection, trading=False)):
        cohort = stored.cohort
        question_set = cohort.venue_settings
        first, last = connection.execute(called.where(CohortRow.number == cohort.number)).one()
        forecasts = {}
        for usage in read_answer_usage(connection, stored.id):
            forecasts[usage.agent] = usage.forecasts
        yield BenchmarkMethod(
            cohort=cohort.number,
            question_set=question_set["set"],
            due=question_set["due"],
            version=question_set["version"],
            sha256=question_set["sha256"],
            asked_by=method_of(cohort).words,
            called_from=first,
            called_until=last,
            agents=tuple(_agent_methods(connection, [cohort])),
            forecasts=forecasts,
        )


def _market_counts(rows: ForecastColumns) -> MarketCounts:
    """Return the counts of markets with forecasts, and of their outcomes."""
    # A market has several forecasts, all with its outcome: count it at the first.
    _, first_rows = np.unique(rows.market, return_index=True)
    outcomes = Counter(rows.outcome[first_rows].tolist())
    return MarketCounts(
        shown=first_rows.size,
        events=np.unique(rows.event).size,
        stories=np.unique(rows.story).size,
        yes=outcomes[1],
        no=outcomes[0],
        unscored=outcomes[NO_SCORE],
        open=outcomes[OPEN],
        early_forecasts=int(np.count_nonzero(rows.early & rows.stated)),
    )


def _agent_methods(connection: Connection, cohorts: Sequence[Cohort]) -> Iterator[AgentMethod]:
    """Yield the method of each agent in some cohorts, in the order of the line-ups."""
    in_cohorts = col(CohortRow.number).in_([cohort.number for cohort in cohorts])
    agent_name = EntrantRow.name
    statuses = defaultdict[str, dict[str, int]](dict)
    turns = select(agent_name, TurnRow.status, count(TurnRow.id)).select_from(TURNS).where(in_cohorts)
    turns = turns.group_by(agent_name, TurnRow.status)
    for name, status, turn_count in connection.execute(turns):
        statuses[name][status] = int(str(turn_count))

    tokens = (total(CallRow.tokens_in), total(CallRow.tokens_out))
    costs = (total(CallRow.cost), count(CallRow.cost))
    calls = select(agent_name, count(CallRow.id), *tokens, *costs).select_from(CALLS).where(in_cohorts)
    call_sums = {}
    for name, *figures in connection.execute(calls.group_by(agent_name)):
        call_sums[name] = [int(figure or 0) for figure in figures]

    reported = defaultdict[str, set[str]](set)
    models = select(agent_name, CallRow.model).distinct().select_from(CALLS).where(in_cohorts)
    for name, model in connection.execute(models):
        reported[name].add(model)

    entries = defaultdict[str, list[tuple[Cohort, Entrant]]](list)
    for cohort in cohorts:
        for entrant in cohort.entrants:
            entries[entrant.name].append((cohort, entrant))

    for name, own_entries in entries.items():
        cohort, entrant = own_entries[-1]
        settings = entrant.settings
        all_settings = dict.fromkeys(_settings_text(past.settings) for _, past in own_entries)
        hashes = {**cohort.prompts, **entrant.prompts}
        prompts = {prompt: text_hash for prompt, text_hash in hashes.items() if prompt in settings.values()}
        call_count, tokens_in, tokens_out, cost, calls_with_cost = call_sums.get(name, [0] * 5)
        yield AgentMethod(
            agent=name,
            kind=entrant.kind,
            model=settings.get("model"),
            released=settings.get("released"),
            reported=tuple(sorted(reported[name] - {""})),
            settings=tuple(all_settings),
            prompts=prompts,
            statuses=statuses[name],
            calls=call_count,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            cost=cost / ONE if calls_with_cost == call_count else None,
        )


def _settings_text(settings: Mapping[str, Any]) -> str:
    """Return frozen settings in words, without those that have columns: the model and its release date."""
    parts = []
    for key, value in settings.items():
        if value in (None, {}) or key in ("model", "released"):
            continue

        text = value_in_words(key, value)
        if isinstance(value, Mapping):
            text = f"({text})"
        parts.append(f"{key} {text}")
    return ", ".join(parts)


def method_text(method: Method) -> str:
    """Return the method as Markdown."""
    parts: dict[str, Callable[[Method], Iterator[str]]] = {}
    if method.cohorts or not method.benchmark:
        parts |= PARTS
    if method.benchmark:
        parts["ForecastBench"] = _benchmark_section

    sections = ["# Method"]
    for heading, write in parts.items():
        sections.append("\n".join([f"## {heading}", "", *write(method)]))
    return "\n\n".join(sections) + "\n"


def _table_lines(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Yield the lines of a table."""
    yield _table_row(head)
    yield _table_row(["---"] * len(head))
    yield from map(_table_row, rows)


def _table_row(cells: Iterable[object]) -> str:
    """Return a table row as one line, with a dash for empty cells."""
    cell_texts = []
    for cell in cells:
        text = " ".join(str(cell).split()).replace("|", "\\|")
        if cell in (None, ""):
            text = "–"
        cell_texts.append(text)
    return f"| {' | '.join(cell_texts)} |"


def _data_section(method: Method) -> Iterator[str]:
    """Yield the section on cohorts and markets."""
    rows = []
    for cohort in method.cohorts:
        start = f"{cohort.starts_at:%Y-%m-%d %H:%M} UTC"
        bankroll = f"${cohort.bankroll / ONE:,.0f}"
        agents = len(cohort.entrants)
        config = None
        if cohort.config_hash:
            config = f"`{cohort.config_hash[:12]}`"
        identity = (cohort.number, cohort.venue, cohort.stamp)
        rows.append((*identity, start, cohort.rounds, bankroll, agents, config))

    head = ("cohort", "venue", "markets are", "first decision", "rounds", "bankroll", "agents", "config")
    yield from _table_lines(head, rows)
    yield ""

    markets = method.markets
    yield (
        f"{count_text(markets.shown, 'market')} of {count_text(markets.events, 'event')} were shown, which "
        f"make {markets.stories:,} stories: {markets.yes:,} ended YES, {markets.no:,} NO, "
        f"{markets.unscored:,} in a fraction or a refund, which is not scored, and {markets.open:,} are open."
    )
    versions = ", ".join(f"`{version}`" for version in method.code_versions) or "unknown"
    yield f"Played by the code {versions}."
    if method.state_hash is not None:
        yield f"State hash: `{method.state_hash}`; `arena admin verify` recomputes it and all figures."


def _cutoffs_section(method: Method) -> Iterator[str]:
    """Yield the section on what agents and scores may know, and from when on."""
    yield (
        "An agent sees the prices of its round's snapshot and articles dated before it. An outcome counts "
        "once it could be known, and not before the market was due to close."
    )
    for source, rule in dict.fromkeys((cohort.evidence, cohort.guard) for cohort in method.cohorts):
        if source == "none":
            yield "No articles were shown."
            continue

        suspects = ""
        if rule.suspects:
            suspects = f", suspects {rule.suspects}"
        restricted = ", ".join(rule.restricted) or "none"
        yield (
            f"Articles from {source}: at most {rule.per_market} a market, {rule.characters:,} characters "
            f"each, odds {rule.odds}{suspects}; restricted beside the known ones: {restricted}."
        )

    if method.audit is not None:
        yield method.audit.words
    early = count_text(method.markets.early_forecasts, "forecast")
    yield f"Decided before the model's release, so not scored: {early}."

    release_days: dict[str, date | None] = {}
    for cohort in method.cohorts:
        release_days |= cohort.later_models
    models_text = later_models_words(release_days)
    if models_text:
        yield f"Of replays, {models_text}: these may know how it ended."


IDENTITY = ("agent", "kind", "model", "released", "reported by answers")


def _identity_cells(agent: AgentMethod) -> tuple[str | None, ...]:
    """Return the cells that identify an agent."""
    released = agent.released or ("not known" if agent.model else None)
    return agent.agent, agent.kind, agent.model, released, ", ".join(agent.reported)


def _models_section(method: Method) -> Iterator[str]:
    """Yield the agents with their settings."""
    rows = []
    for agent in method.agents:
        settings = "; then ".join(agent.settings)
        rows.append((*_identity_cells(agent), settings))
    yield from _table_lines((*IDENTITY, "settings"), rows)


def _prompts_section(method: Method) -> Iterator[str]:
    """Yield the prompts with the agents that use each."""
    agents = defaultdict[tuple[str, str], list[str]](list)
    for cohort in method.cohorts:
        for prompt in cohort.prompts.items():
            agents[prompt] = []
    for agent in method.agents:
        for prompt in agent.prompts.items():
            agents[prompt].append(agent.agent)
    if not agents:
        yield "No model was asked."
        return

    rows = []
    for (name, text_hash), users in sorted(agents.items()):
        rows.append((name, f"`{text_hash}`", ", ".join(users)))
    yield from _table_lines(("prompt", "SHA-256 of its text", "agents"), rows)
    yield ""
    yield "`arena show prompts` shows the texts; every question and answer is in the record, word for word."


COSTS = ("calls", "tokens in", "tokens out", "cost")


def _cost_cells(agent: AgentMethod) -> tuple[str | None, ...]:
    """Return the cells with an agent's calls, tokens and cost."""
    cost = None
    if agent.cost is not None:
        cost = f"${agent.cost:,.4f}"
    return f"{agent.calls:,}", f"{agent.tokens_in:,}", f"{agent.tokens_out:,}", cost


def _answers_section(method: Method) -> Iterator[str]:
    """Yield the section on how turns ended and what calls cost."""
    statuses = set[str]()
    for agent in method.agents:
        statuses |= agent.statuses.keys()
    usable = [status for status in USABLE_STATUSES if status in statuses]
    ordered_statuses = [*usable, *sorted(statuses.difference(usable))]

    rows = []
    for agent in method.agents:
        turns = [agent.statuses.get(status, 0) for status in ordered_statuses]
        rows.append((agent.agent, *turns, *_cost_cells(agent)))
    yield from _table_lines(("agent", *ordered_statuses, *COSTS), rows)
    yield ""
    yield (
        "Turns by how they ended. A malformed, declined, failed or late turn counts as agreement with the "
        "price; calls include repeats and failures, and a dash is an unknown cost."
    )


def _rules_section(method: Method) -> Iterator[str]:
    """Yield the rules, each distinct set once with its cohorts."""
    cohorts_by_rules = defaultdict[tuple[tuple[str, str], ...], list[str]](list)
    for cohort in method.cohorts:
        seed = cohort.seed if len(method.cohorts) == 1 else "own"
        values = {
            "rules.": cohort.rules.model_dump(),
            "markets.": cohort.universe.model_dump(),
            "": {"every": cohort.every, "seed": seed},
        }
        rows = []
        for prefix, rules in values.items():
            for key, value in rules.items():
                rows.append((f"{prefix}{key}", value_in_words(key, value)))
        cohorts_by_rules[tuple(rows)].append(str(cohort.number))

    for rule_rows, numbers in cohorts_by_rules.items():
        yield f"Cohorts {', '.join(numbers)}:"
        yield ""
        yield from _table_lines(("rule", "value"), rule_rows)
        yield ""


def _statistics_section(method: Method) -> Iterator[str]:
    """Yield the verdict, how figures are computed, and each agent's figures."""
    verdict = method.verdict
    headline = verdict.sentence
    if method.board.verdict is None:
        headline = f"Over all cohorts: {headline}"
    if verdict.guarantee:
        headline = f"{headline} {verdict.guarantee}"
    yield f"> {headline}"
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
    rows = [_statistics_row(row, verdict) for row in method.board.rows]
    yield from _table_lines(STATISTICS, rows)


STATISTICS = (
    "ranks", "agent", "skill", "95% interval", "stories", "effective", "coverage", "verdict or why not",
)  # fmt: skip


def _statistics_row(row: LeaderboardRow, verdict: Verdict) -> tuple[str | None, ...]:
    """Return the figures of an agent, and its verdict over all cohorts or why it has none."""
    interval = None
    if row.skill_low is not None:
        interval = f"{row.skill_low:+.4f} to {row.skill_high or 0:+.4f}"

    agent_verdict = verdict.of(row.agent)
    sentences = ""
    if agent_verdict is not None:
        sentences = f"{agent_verdict.sentence} {agent_verdict.price_sentence}"
    return (
        rank_text(row.rank_low, row.rank_high),
        row.agent,
        _formatted(row.skill, "+.4f"),
        interval,
        f"{row.events:,}",
        _formatted(row.events_effective, ".1f"),
        _formatted(row.coverage, ".0%"),
        row.why_not or row.reason or sentences,
    )


def _formatted(value: float | None, form: str) -> str | None:
    """Return a figure as text; None if it is unknown."""
    if value is None:
        return None
    return format(value, form)


def _benchmark_section(method: Method) -> Iterator[str]:
    """Yield the section on how question sets of a benchmark were answered."""
    head = (*IDENTITY, "prompt, SHA-256", "forecasts", *COSTS)

    for benchmark in method.benchmark:
        yield (
            f"{benchmark.question_set}, due {benchmark.due}, version {benchmark.version}, SHA-256 "
            f"`{benchmark.sha256}`. Asked by {benchmark.asked_by}.{_call_times_text(benchmark)}"
        )
        yield ""

        rows = []
        for agent in benchmark.agents:
            prompts = ", ".join(f"{name} `{text_hash}`" for name, text_hash in agent.prompts.items())
            forecasts = benchmark.forecasts.get(agent.agent, 0)
            rows.append((*_identity_cells(agent), prompts, f"{forecasts:,}", *_cost_cells(agent)))
        yield from _table_lines(head, rows)
        yield ""

    for file in method.resolutions:
        yield (
            f"Resolutions of {file.due}: {file.name}, version {file.version} of {file.at:%Y-%m-%d}, SHA-256 "
            f"`{file.sha256}`."
        )
    yield "`arena study forecastbench board` ranks the answers. "
    yield "A model may know what resolved before its release."


def _call_times_text(benchmark: BenchmarkMethod) -> str:
    """Return when models were called, in words; an empty text if none was."""
    first = benchmark.called_from
    last = benchmark.called_until
    if first is None or last is None:
        return ""

    late = ""
    if f"{last:%Y-%m-%d}" > benchmark.due:
        late = ", after it was due: no submission"
    return f" Models were called from {first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M} UTC{late}."


def _limits_section(method: Method) -> Iterator[str]:
    """Yield what the figures don't show."""
    stamps = {cohort.stamp for cohort in method.cohorts}
    if "simulated" in stamps:
        yield "- Simulated markets: the figures say nothing about real ones."
    if "replay" in stamps:
        yield "- Replays: a model may have been trained on what happened, so they are no evidence of skill."

    agents = method.agents
    without_release_day = ", ".join(agent.agent for agent in agents if agent.model and not agent.released)
    if without_release_day:
        yield f"- Of unknown release day, so that early forecasts can't be identified: {without_release_day}."
    with_unknown_cost = ", ".join(agent.agent for agent in agents if agent.cost is None)
    if with_unknown_cost:
        yield f"- Costs not known in full: {with_unknown_cost}."
    with_changed_settings = ", ".join(agent.agent for agent in agents if len(agent.settings) > 1)
    if with_changed_settings:
        yield f"- Settings changed between cohorts: {with_changed_settings}."

    if len(method.code_versions) > 1:
        yield "- More than one version of the code played."
    if method.markets.open:
        markets = count_text(method.markets.open, "market")
        yield f"- {markets} still open: what resolves early is not a random part."
    yield "- Markets that move together beyond their story are not detected: intervals are then too narrow."
    yield "- Play money: bets move no price, and nobody trades against them."


PARTS = {
    "Data": _data_section,
    "Cutoffs": _cutoffs_section,
    "Agents and models": _models_section,
    "Prompts": _prompts_section,
    "Answers and costs": _answers_section,
    "Rules, frozen at each cohort's start": _rules_section,
    "Statistics": _statistics_section,
    "Limits": _limits_section,
}
