"""The agents: how each is set up, what it scored and what it cost."""

import json
from collections import ChainMap, Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from pydantic_core import to_json

from agents.model import model_settings
from agents.model_table.cost import price_for
from arena.cli.cohort_diff import PLANNED, by_rounds, kinds_of, versions_data
from arena.cli.options import Options
from arena.cli.output import (
    Data,
    attributes,
    command_line,
    counts_text,
    from_millionths,
    minute_text,
    plain,
    program,
    ranges_text,
    signed_dollars,
    small_dollars,
    without_password,
)
from arena.cli.page import Fields, Page
from arena.cli.question_answers import answers_data, kinds_blocks
from arena.cli.table import Table, TableChoice, TableColumn, between, value_in
from arena.clock import now
from arena.cohorts.diff import (
    AgentSetup,
    agent_setup,
    changed_values_data,
    setting_in_words,
    setting_text,
    setup_differences,
)
from arena.cohorts.freeze import freeze_cohort
from arena.config import AgentConfig, Config
from arena.errors import ArenaError, did_you_mean
from arena.record.model.model_version import change_flag, change_sentence
from arena.record.queries.answers import read_recorded_answers
from arena.record.queries.cohorts import read_cohorts
from arena.record.queries.progress import read_waiting_agents
from arena.record.schema.database import Connection
from arena.scores.agent_summary import AgentDetails, AgentSummary, agent_details, agent_summaries
from arena.scores.all_kinds import all_kinds_of
from arena.scores.leaderboard import LEADERBOARD
from arena.scores.profiles.agent_profile import AgentProfile, ProfitOrigin
from arena.scores.profiles.detailed_profile import (
    ExplainedForecast,
    agent_slices,
    read_agent_profile,
    read_notable_forecasts,
)
from arena.scores.rules.comparisons.events import ENOUGH_EVENTS
from arena.scores.rules.comparisons.gain import Gain
from arena.scores.rules.reliability.diagram import ReliabilityDiagram
from arena.scores.rules.reliability.reading import reading_sentence
from arena.scores.verdict import Verdict
from markets.millionths import ONE

SHOWN_FORECASTS = 3
"""The number of worst and of best forecasts on an agent's page; JSON lists all that stand out."""
SET_UP = ("model", "of", "prompt", "prices", "samples", "released")
"""The settings in a row of the list, for the kinds that have them."""


def model_or_sources(agent: Data) -> str | None:
    """Return an agent's model, or the names of the agents that it combines."""
    if agent["model"]:
        return str(agent["model"])

    source_agents = agent["of"]
    if isinstance(source_agents, str | None):
        return source_agents
    return ", ".join(source_agents)


def reported_models(agent: Data) -> str | None:
    """Return the names under which an agent's model reported itself."""
    models = value_in(agent, "record.models") or ()
    return ", ".join(models) or None


COLUMNS = (
    TableColumn("name", "agent", narrow="cut middle"),
    TableColumn("kind"),
    TableColumn("model", "model or of", plain, value=model_or_sources, narrow="cut middle"),
    TableColumn("cohorts", show=ranges_text, gives_way=3, value="record.cohorts"),
    TableColumn("turns", show=",d", gives_way=1, value="record.turns"),
    TableColumn("malformed", show=",d", gives_way=1, value="record.malformed"),
    TableColumn("failed", show=",d", gives_way=1, value="record.failed"),
    TableColumn("late", show=",d", gives_way=1, value="record.late"),
    TableColumn("cost_usd", "cost $", ",.4f", 2, "record.cost_usd"),
    TableColumn("flag", "", str.upper, 0, "record.flag"),
    TableColumn("prompt", gives_way=4),
    TableColumn("prices", gives_way=5),
    TableColumn("samples", gives_way=7),
    TableColumn("released", gives_way=6),
    TableColumn("input", "$/M in", "g", 6, "price.input"),
    TableColumn("output", "$/M out", "g", 6, "price.output"),
    TableColumn("models", "reports itself as", plain, 5, reported_models, "cut middle"),
)


def list_agents(chosen: Options) -> None:
    """Print every agent of the config and the record."""
    data = read_agents(chosen)
    chosen.print_answer(data, list_page, data, chosen.table_choice)


def read_agents(chosen: Options) -> dict[str, Any]:
    """Return every agent of the config and the record, for JSON."""
    with chosen.config_and_record() as (config, connection):
        summaries = agent_summaries(connection, kinds_of(config))
        waiting = ChainMap(*read_waiting_agents(connection).values())

    planned: list[dict[str, Any]] = []
    for agent in planned_agents(config):
        model = model_settings(agent.settings)
        price = price_for(model) if model else None
        settings = agent.settings.model_dump(mode="json")
        summary = summaries.pop(agent.name, None)

        planned.append(
            agent_data(agent.name, agent.kind, settings, summary)
            | {
                "model": agent.model,
                "price": price and attributes(price, "input", "output"),
                "waiting": waiting.get(agent.name),
            }
        )

    # The summaries left are those of agents that the config no longer has.
    gone = [
        agent_data(name, summary.setup.kind, summary.setup.settings, summary)
        for name, summary in summaries.items()
    ]
    return {"agents": planned, "gone": gone}


def planned_agents(config: Config | None) -> Sequence[AgentConfig]:
    """Return the agents of the config, or an empty sequence without a config."""
    return config.agents if config else ()


def agent_data(name: str, kind: str, settings: Data, summary: AgentSummary | None) -> dict[str, Any]:
    """Return an agent's settings and a summary of its recorded turns, for JSON."""
    record = None
    if summary is not None:
        record = attributes(summary, "cohorts", "turns", "malformed", "failed", "late", "models", "changes")
        record |= {"cost_usd": from_millionths(summary.cost), "flag": change_flag(summary.changes) or None}
    set_up = {key: settings.get(key) for key in SET_UP}
    return {"name": name, "kind": kind, **set_up, "price": None, "record": record}


def list_page(data: Data, choice: TableChoice) -> Page:
    """Yield tables of the agents in the config and of those only in the record, then the missing keys."""
    agents = data["agents"]
    gone = data["gone"]
    if not agents and not gone:
        yield f"There are no agents. Next: {program()} init"
        return

    if agents:
        yield Table(COLUMNS, agents, choice=choice)
    if gone:
        yield Table(COLUMNS, gone, "No longer in the config" if agents else "", choice)
    for agent in agents:
        if agent["waiting"]:
            yield f"{agent['name']} is {plain(agent['waiting'])}"

    if gone or any(agent["record"] for agent in agents):
        yield f"Next: {command_line('show agent NAME')}"
    else:
        yield (
            f"No agent has played yet. Next: {command_line('show turn NAME --play')}, "
            f"or {command_line('run --round')}"
        )


def show_agent(chosen: Options, name: str, by: str | None) -> None:
    """Print one agent: its settings and their changes, its scores, turns and calls.

    `by` splits skill and calibration. Raise `ArenaError` if neither config nor record has the agent.
    """
    with chosen.config_and_record() as (config, connection):
        details = agent_details(connection, name, kinds_of(config))
        cohorts = cohorts_data(details, config, name)
        if not cohorts:
            planned = [agent.name for agent in planned_agents(config)]
            names = dict.fromkeys([*planned, *agent_summaries(connection)])
            hint = f"{did_you_mean(name, names)}agents: {', '.join(names) or 'none'}"
            raise ArenaError("no_agent", f"there is no agent {name!r}", hint)

        # These keys are null until the agent has played.
        unknown = ("record", "scores", "verdict", "price_verdict", "worst", "best")
        data: dict[str, Any] = {"name": name, "cohorts": cohorts, **dict.fromkeys(unknown)}
        if by is not None:
            data["parts"] = None

        profile = None
        if details is not None:
            profile = read_agent_profile(connection, name)
            played_cohorts = [stored for stored in read_cohorts(connection) if name in stored.entrant_ids]
            has_money = any(stored.cohort.rules.money for stored in played_cohorts)
            if played_cohorts and not has_money:
                profile = replace(profile, money=None, at_stake=())

            data["record"] = details_data(details)
            data["scores"] = profile_data(profile)
            board = LEADERBOARD.read_current(connection)
            if board is not None:
                data |= verdict_sentences(board.verdict, name)
            notable = read_notable_forecasts(connection, name)
            data |= {
                "worst": list(map(notable_data, notable.worst)),
                "best": list(map(notable_data, notable.best)),
            }

            # A season with other questions than yes or no has a verdict over all kinds, which counts instead.
            all_kinds = all_kinds_of(connection)
            if all_kinds is not None:
                data["kinds"] = [asdict(row) for row in all_kinds.kinds if row.agent == name]
                data["answers"] = answers_data(connection, read_recorded_answers(connection, agent=name))
                data |= verdict_sentences(all_kinds.report.verdict, name)
            if by is not None:
                data["parts"] = parts_data(connection, name, by)

    server = model_server_address(config, name)
    chosen.print_answer(data, agent_page, data, profile, server, chosen.table_choice)


def model_server_address(config: Config | None, agent_name: str) -> str:
    """Return the address of the server of an agent's model, or an empty text for a known provider."""
    for agent in planned_agents(config):
        model = model_settings(agent.settings)
        if agent.name == agent_name and model and model.base_url:
            return without_password(model.base_url)
    return ""


def parts_data(connection: Connection, name: str, by: str) -> dict[str, Any]:
    """Return an agent's skill and calibration split by `by`, for JSON."""
    parts = []
    for part in agent_slices(connection, name, by):
        row = {key: value_in(part, path) for key, path in PART.items()}
        parts.append(row)
    return {"by": by, "parts": parts}


def notable_data(explained: ExplainedForecast) -> dict[str, Any]:
    """Return a notable forecast with its price, outcome and reason, for JSON."""
    forecast = explained.forecast
    names = ("cohort", "round", "market_id", "question", "forecast", "price", "outcome", "gain")
    return attributes(forecast, *names) | {"reason": explained.reason or None}


def verdict_sentences(verdict: Verdict | None, name: str) -> dict[str, str | None]:
    """Return a verdict's sentences that compare an agent with its rivals and with the price.

    The dict is empty without a verdict, or if the agent is not in it.
    """
    if verdict is None:
        return {}

    agent_verdict = verdict.of(name)
    if agent_verdict is None:
        return {}
    return {"verdict": agent_verdict.sentence or None, "price_verdict": agent_verdict.price_sentence or None}


def cohorts_data(details: AgentDetails | None, config: Config | None, name: str) -> list[Data]:
    """Return the agent's settings in each of its cohorts and in the next one, and what changed each time."""
    rows = list[Data]()
    previous: AgentSetup | None = None
    if details is not None:
        for stay in details.cohorts:
            row = attributes(stay, "cohort", "starts_at", "statuses")
            row["code_versions"] = versions_data(stay.versions)
            rows.append(row | setup_data(stay.setup, previous))
            previous = stay.setup

    if config is not None:
        # The last row is the agent in the cohort that this config would start.
        cohort, _prompts = freeze_cohort(config, 1, now())
        row = {"cohort": PLANNED, "starts_at": None, "statuses": {}, "code_versions": []}
        for entrant in cohort.entrants:
            if entrant.name == name:
                setup = agent_setup(cohort, entrant, kinds_of(config))
                rows.append(row | setup_data(setup, previous))
    return rows


def setup_data(setup: AgentSetup, previous: AgentSetup | None) -> dict[str, Any]:
    """Return an agent's settings and how they differ from those before, for JSON."""
    changes = setup_differences(previous, setup) if previous else {}
    return attributes(setup, "kind", "settings", "prompts") | {"changed": changed_values_data(changes)}


def details_data(details: AgentDetails) -> dict[str, Any]:
    """Return an agent's turns, calls, costs and reported models, for JSON; money in dollars."""
    statuses: Counter[str] = Counter()
    for stay in details.cohorts:
        statuses.update(stay.statuses)

    totals = {"calls": 0, "tokens_in": 0, "tokens_out": 0}
    for usage in details.calls:
        for key in totals:
            totals[key] += getattr(usage, key)

    # If the cost of any call is unknown, so is the total.
    cost = None
    cost_per_forecast = None
    if not details.unknown:
        cost = details.cost / ONE
        if totals["calls"] and details.forecasts:
            cost_per_forecast = cost / details.forecasts

    reported = ("model", "fingerprint", "answers", "first_at", "last_at")
    return attributes(details, "rungs", "errors", "forecasts", "median_ms", "changes") | {
        "statuses": dict(statuses),
        **totals,
        "cost_usd": cost,
        "known_cost_usd": from_millionths(details.cost),
        "unknown_costs": details.unknown,
        "cost_per_forecast_usd": cost_per_forecast,
        "p95_ms": details.late_ms,
        "reported": [attributes(model, *reported) for model in details.models],
        "notes": list(map(change_sentence, details.changes)),
    }


PART_COLUMNS = (
    TableColumn("skill", show="+.4f"),
    TableColumn("interval", "95% interval", value=between("skill_low", "skill_high")),
    TableColumn("brier", "Brier", ".4f"),
    TableColumn("miscalibration", show=".4f", gives_way=1),
    TableColumn("miscalibration_by_chance", "by chance", ".4f", 2),
    TableColumn("miscalibration_p", "p", ".3f", 2),
    TableColumn("discrimination", show=".4f", gives_way=3),
    TableColumn("forecasts", show=",d", gives_way=5),
    TableColumn("markets", show=",d", gives_way=4),
    TableColumn("events", show=",d", gives_way=1),
)
PART = {
    "part": "name",
    "forecasts": "gain.rows",
    "markets": "gain.markets",
    "events": "gain.events",
    "skill": "gain.skill",
    "skill_low": "gain.low",
    "skill_high": "gain.high",
    "skill_p": "gain.p",
    "reason": "gain.reason",
    "brier": "calibration.parts.brier",
    "miscalibration": "calibration.parts.miscalibration",
    "discrimination": "calibration.parts.discrimination",
    "uncertainty": "calibration.parts.uncertainty",
    "miscalibration_by_chance": "calibration.null.expected",
    "miscalibration_p": "calibration.null.p_value",
}
"""The JSON keys of a part, and the path to the value of each."""
LEGEND = (
    "Intervals need 20 events or more. p: how often chance alone miscalibrates as much; among many parts "
    "some p are small by chance."
)


REPORTED = (
    TableColumn("model", "reports itself as", plain, narrow="wrap"),
    TableColumn("fingerprint", show=plain, narrow="wrap"),
    TableColumn("answers"),
    TableColumn("first_at", "first (UTC)", minute_text),
    TableColumn("last_at", "last (UTC)", minute_text),
)
MOST = 3
"""The number of events at stake that are named."""
PROFILE_PARTS = {
    "edge": "edge over the mid price, as far as it was realised",
    "spread": "spread and depth of the book",
    "fee": "fees",
    "sizing": "stakes that differ from quarter Kelly",
    "exit": "selling early",
    "luck": "luck (residual)",
}


def profile_data(profile: AgentProfile) -> dict[str, Any]:
    """Return an agent's scores for JSON: money in dollars, unknown values as null."""
    data: dict[str, Any] = json.loads(to_json(profile, inf_nan_mode="null"))
    del data["agent"]
    for event in data["at_stake"]:
        convert_to_dollars(event, "value", "worst", "best")

    if profile.money is not None:
        money = data["money"]
        split = money["split"]
        split["pnl"] = profile.money.split.pnl  # a property, which `to_json` leaves out
        every_amount = list(split)
        convert_to_dollars(split, *every_amount)
        convert_to_dollars(money["luck"], "pnl", "mean", "low", "high")
        if money["drawdown"] is not None:
            del money["drawdown"]["peak"], money["drawdown"]["trough"]
            convert_to_dollars(money["drawdown"], "amount")
    return data


def convert_to_dollars(amounts: dict[str, Any], *keys: str) -> None:
    """Convert known amounts from millionths to dollars, in place."""
    for key in keys:
        amounts[key] = from_millionths(amounts[key])


def profile_blocks(profile: AgentProfile, *, has_other_scores: bool = False) -> Page:
    """Yield lines on an agent's skill, calibration, coherence, blind answers and money."""
    gain = profile.gain
    if gain is not None and gain.skill is not None:
        yield from gain_lines(gain, profile.calibration)
    elif not has_other_scores:
        yield "Scores: none of its markets has resolved yet.\n"

    yield from coherence_lines(profile)
    blind = profile.blind
    if blind.rows and blind.pull is not None:
        yield f"Shown the price, it moved {blind.pull:.0%} of the way ({blind.rows:,} answers)"
        if blind.blind_skill is not None:
            yield f"  skill before {blind.blind_skill:+.4f}, after {blind.final_skill:+.4f}"
    if profile.money is not None:
        yield from money_lines(profile.money, gain is not None and gain.events >= ENOUGH_EVENTS)
    for event in profile.at_stake[:MOST]:
        span = f"{signed_millionths(event.worst)} to {signed_millionths(event.best)}"
        yield f"  at stake: {span} in {plain(event.event)}, {event.share:.1%} of all"
    yield ""


def gain_lines(gain: Gain, calibration: ReliabilityDiagram) -> Page:
    """Yield an agent's skill with its interval, and the parts of its Brier score."""
    text = f"Skill over the market: {gain.skill:+.4f}"
    if gain.low is not None:
        text += f", 95% from {gain.low:+.4f} to {gain.high:+.4f}"
    text += f", {gain.events:,} events"
    if gain.reason:
        text += f" ({gain.reason})"
    yield text

    yield (
        "Brier {brier:.4f} = miscalibration {miscalibration:.4f} − discrimination {discrimination:.4f} "
        "+ uncertainty {uncertainty:.4f}"
    ).format_map(asdict(calibration.parts))
    by_chance = calibration.null
    yield f"  miscalibration: {by_chance.expected:.4f} by chance alone, p = {by_chance.p_value:.3f}"
    yield f"  {reading_sentence(calibration.sure, by_chance.p_value)}"


def coherence_lines(profile: AgentProfile) -> Page:
    """Yield the sure loss of an agent whose forecasts contradict each other, and the bets that cause it."""
    coherence = profile.coherence
    if coherence.loss is None:
        return

    text = f"Coherence: a sure loss of ${coherence.loss:.4f} per $1"
    if coherence.market is not None:
        text += f" (market prices: ${coherence.market:.4f})"
    yield f"{text}, {coherence.events:,} events"
    if coherence.worst_event:
        yield f"  worst: ${coherence.worst:.4f} in {plain(coherence.worst_event)}"
    for deal in profile.bargains:
        action = "buy" if deal.buy else "sell"
        yield f"    {action} {plain(deal.market_id)} at {deal.price:.3f}"


def money_lines(money: ProfitOrigin, has_enough_events: bool) -> Page:
    """Yield the sources of the profit and, with enough resolved events, what chance alone would give."""
    yield f"P/L {signed_millionths(money.split.pnl)}:"
    amounts = {key: signed_millionths(getattr(money.split, key)) for key in PROFILE_PARTS}
    width = max(map(len, amounts.values()))
    for key, amount in amounts.items():
        yield f"  {amount:>{width}}  {PROFILE_PARTS[key]}"

    luck = money.luck
    if luck.percentile is not None and has_enough_events:
        band = f"{signed_millionths(luck.low or 0)} to {signed_millionths(luck.high or 0)}"
        yield f"  chance alone gives {band} in 95% of seasons, less than it made in {luck.percentile:.1%}"
    fall = money.drawdown
    if fall is not None and fall.amount:
        yield f"  max drawdown {signed_millionths(-fall.amount)}, {fall.share:.1%} of the peak"


def signed_millionths(amount: float) -> str:
    """Return an amount of money with its sign."""
    return signed_dollars(amount / ONE)


def agent_page(data: Data, profile: AgentProfile | None, server: str, choice: TableChoice) -> Page:
    """Yield an agent's settings and their changes, its scores, turns, calls and reported models."""
    yield from settings_lines(data["name"], data["cohorts"][-1], server)
    for cohort in data["cohorts"]:
        yield from cohort_lines(cohort)
    play = command_line(f"show turn {data['name']} --play")
    record = data["record"]
    if profile is None:
        yield f"It has not played yet. Next: {play}"
        return

    yield ""
    verdicts = list(filter(None, (data["verdict"], data["price_verdict"])))
    if verdicts:
        yield plain(" ".join(verdicts))
    yield from profile_blocks(profile, has_other_scores=bool(data.get("kinds")))
    if data.get("parts"):
        yield from part_blocks(data["parts"], choice)
    yield from kinds_blocks(data.get("kinds", ()), data.get("answers", ()), choice)
    yield from notable_lines("Worst", data["worst"])
    yield from notable_lines("Best", data["best"])
    if record["calls"]:
        yield from call_blocks(record)
    yield f"Next: {play}"


def settings_lines(name: str, newest_cohort: Data, server: str) -> Page:
    """Yield an agent's settings in its newest cohort, one a line."""
    yield f"{name}, {newest_cohort['kind']}, as of {cohort_in_words(newest_cohort)}"
    for key, value in newest_cohort["settings"].items():
        if value not in (None, {}, []):
            text = setting_text(value)
            if key == "base_url" and server:
                text += f" ({server})"
            yield f"  {key}: {plain(text)}"
    yield ""


def cohort_in_words(cohort: Data) -> str:
    """Return the name of a cohort in a sentence."""
    return f"cohort {cohort['cohort']}" if cohort["starts_at"] else "the next cohort"


def cohort_lines(cohort: Data) -> Page:
    """Yield an agent's turns in a cohort by status, the code versions, and the settings that changed."""
    text = cohort_in_words(cohort)
    if cohort["starts_at"]:
        text += f", from {minute_text(cohort['starts_at'])}"
    yield f"{text}: turns: {counts_text(cohort['statuses']) or 'none yet'}"
    if cohort["code_versions"]:
        yield f"  code: {plain(by_rounds(cohort['code_versions']))}"
    for key, change in cohort["changed"].items():
        yield f"  changed: {plain(setting_in_words(key, change['was'], change['is']))}"


def notable_lines(title: str, forecasts: Sequence[Data]) -> Page:
    """Yield the first few notable forecasts of an agent, each with its reason."""
    if not forecasts:
        return

    yield f"{title} forecasts against the price:"
    for forecast in forecasts[:SHOWN_FORECASTS]:
        where = f"cohort {forecast['cohort']}, round {forecast['round']}"
        outcome = "YES" if forecast["outcome"] else "NO"
        summary = f"said {forecast['forecast']:.0%}, price {forecast['price']:.0%}, was {outcome} ({where})"
        yield f"  {summary}: {plain(forecast['question'])}"
        if forecast["reason"]:
            yield f"    {plain(forecast['reason'])}"
    yield ""


def part_blocks(data: Data, choice: TableChoice) -> Page:
    """Yield a table of skill and calibration by part, and its legend."""
    if not data["parts"]:
        yield f"By {data['by']}: none of its markets has resolved yet.\n"
        return
    part = TableColumn("part", data["by"], plain, narrow="wrap")
    yield Table((part, *PART_COLUMNS), data["parts"], choice=choice)
    yield f"{LEGEND}\n"


def call_blocks(record: Data) -> Page:
    """Yield an agent's calls with tokens, cost, latency and errors, and the models that answered."""
    cost = small_dollars(record["known_cost_usd"])
    if record["unknown_costs"]:
        cost += f" and {record['unknown_costs']:,} calls of unknown cost"
    forecasts = f"{record['forecasts']:,}"
    if record["cost_per_forecast_usd"] is not None:
        forecasts += f", {small_dollars(record['cost_per_forecast_usd'])} each"

    fields = {
        "calls": f"{record['calls']:,}: {counts_text(record['rungs'], ' by ')}",
        "tokens": "{tokens_in:,} in, {tokens_out:,} out".format_map(record),
        "cost": cost,
        "forecasts": forecasts,
    }
    if record["median_ms"] is not None:
        fields["latency"] = f"median {record['median_ms'] / 1000:.1f} s, p95 {record['p95_ms'] / 1000:.1f} s"
    fields["errors"] = counts_text(record["errors"]) or "none"
    yield Fields(fields)
    yield ""

    if record["reported"]:
        yield Table(REPORTED, record["reported"])
    yield from map(plain, record["notes"])
