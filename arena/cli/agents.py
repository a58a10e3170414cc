"""Who plays, how each agent is set up, and how it went."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from agents.model import model_settings
from agents.model_table.cost import price_for
from arena.cli.cohort_diff import PLANNED, by_rounds, kinds_of, moved_data, versions_data
from arena.cli.options import Options
from arena.cli.output import (
    Data,
    attributes,
    exact,
    minute,
    plain,
    program,
    ranges,
    signed_dollars,
    typed,
    without_password,
)
from arena.cli.page import Block, Fields
from arena.cli.table import Table, TableChoice, TableColumn, between, value_in
from arena.clock import now
from arena.cohorts.diff import AgentSetup, agent_setup, setting_in_words, setting_text, setup_differences
from arena.cohorts.freeze import freeze_cohort
from arena.config import AgentConfig, Config
from arena.errors import ArenaError
from arena.record.model.model_version import change_flag, change_sentence
from arena.record.queries.progress import read_waiting_agents
from arena.scores.agent_summary import AgentDetails, AgentSummary, agent_details, agent_summaries
from arena.scores.leaderboard import LEADERBOARD, Leaderboard
from arena.scores.profiles.agent_profile import AgentProfile, ProfitOrigin
from arena.scores.profiles.detailed_profile import agent_slices, read_agent_profile
from arena.scores.rules.comparisons.events import ENOUGH_EVENTS
from arena.scores.rules.reliability.reading import CalibrationReading, reading_sentence
from markets.millionths import ONE

SET_UP = ("model", "of", "prompt", "prices", "samples", "released")
"""The settings that a line shows, where a kind has them."""


def of_what(agent: Data) -> str | None:
    """Return the model that is asked, or the agents that this one is made from."""
    if agent["model"]:
        return str(agent["model"])
    of = agent["of"]
    return of if isinstance(of, str | None) else ", ".join(of)


def _models(agent: Data) -> str | None:
    """Return the names by which its model has reported itself."""
    return ", ".join(value_in(agent, "record.models") or ()) or None


COLUMNS = (
    TableColumn("name", "agent", narrow="cut middle"),
    TableColumn("kind"),
    TableColumn("model", "model or of", plain, value=of_what, narrow="cut middle"),
    TableColumn("cohorts", show=ranges, gives_way=3, value="record.cohorts"),
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
    TableColumn("models", "reports itself as", plain, 5, _models, "cut middle"),
)


def list_agents(chosen: Options) -> None:
    """Answer with every agent of the config and of the record."""
    data = read_agents(chosen)
    chosen.answer(data, list_page, data, chosen.table)


def read_agents(chosen: Options) -> dict[str, Any]:
    """Return every agent of the config and of the record, for JSON."""
    with chosen.planned() as (config, connection):
        played = agent_summaries(connection, kinds_of(config))
        waits = read_waiting_agents(connection)
    waiting: dict[str, str] = {}
    for words in waits.values():
        waiting |= words

    planned: list[dict[str, Any]] = []
    for agent in _planned_agents(config):
        model = model_settings(agent.settings)
        price = price_for(model) if model else None
        settings = agent.settings.model_dump(mode="json")
        data = _agent_data(agent.name, agent.kind, settings, played.pop(agent.name, None))
        data |= {"model": agent.model, "price": price and attributes(price, "input", "output")}
        planned.append(data | {"waiting": waiting.get(agent.name)})

    gone = [
        _agent_data(name, summary.setup.kind, summary.setup.settings, summary)
        for name, summary in played.items()
    ]
    return {"agents": planned, "gone": gone}


def _planned_agents(config: Config | None) -> Sequence[AgentConfig]:
    """Return the agents of the config; none without one."""
    return config.agents if config else ()


def _agent_data(name: str, kind: str, settings: Data, played: AgentSummary | None) -> dict[str, Any]:
    """Return how an agent is set up, and what the record says of it."""
    record = None
    if played is not None:
        record = attributes(played, "cohorts", "turns", "malformed", "failed", "late", "models", "changes")
        record |= {"cost_usd": exact(played.cost), "flag": change_flag(played.changes) or None}
    set_up = {key: settings.get(key) for key in SET_UP}
    return {"name": name, "kind": kind, **set_up, "price": None, "record": record}


def list_page(data: Data, choice: TableChoice) -> Iterator[Block]:
    """Yield the agents of the config, those that are only in the record, and who waits for its key."""
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
        yield f"Next: {typed('show agent NAME')}"
    else:
        yield f"No agent has played yet. Next: {typed('show turn NAME --play')}, or {typed('run --round')}"


def show_agent(chosen: Options, name: str, by: str | None) -> None:
    """Answer with one agent: its settings and what changed, its scores, and its turns and calls.

    `by` splits skill and calibration. Raises `ArenaError` where neither config nor record has the agent.
    """
    with chosen.planned() as (config, connection):
        details = agent_details(connection, name, kinds_of(config))
        cohorts = cohorts_data(details, config, name)
        if not cohorts:
            known = [agent.name for agent in _planned_agents(config)]
            names = dict.fromkeys([*known, *agent_summaries(connection)])
            hint = f"agents: {', '.join(names) or 'none'}"
            raise ArenaError("no_agent", f"there is no agent {name!r}", hint)

        data: dict[str, Any] = {"name": name, "cohorts": cohorts, "record": None, "scores": None}
        data |= {"verdict": None, "price_verdict": None}
        slices: Sequence[Any] = ()
        if details is not None:
            data["record"] = details_data(details)
            data["scores"] = profile_data(read_agent_profile(connection, name))
            data |= verdict_sentences(LEADERBOARD.read_current(connection), name)
            slices = agent_slices(connection, name, by) if by else ()

    if by is not None:
        rows = [{key: value_in(part, path) for key, path in PART.items()} for part in slices]
        data["parts"] = {"by": by, "parts": rows} if details is not None else None
    chosen.answer(data, agent_page, data, _server_now(config, name), chosen.table)


def _server_now(config: Config | None, name: str) -> str:
    """Return the address of the server that an agent's model is asked at; nothing for a known provider."""
    for agent in _planned_agents(config):
        model = model_settings(agent.settings)
        if agent.name == name and model and model.base_url:
            return without_password(model.base_url)
    return ""


def verdict_sentences(board: Leaderboard | None, name: str) -> dict[str, str | None]:
    """Return what is told of an agent and its rivals, and of it and the price; None where nothing is."""
    own = board.verdict.of(name) if board and board.verdict else None
    if own is None:
        return {"verdict": None, "price_verdict": None}
    return {"verdict": own.sentence or None, "price_verdict": own.price_sentence or None}


def cohorts_data(details: AgentDetails | None, config: Config | None, name: str) -> list[dict[str, Any]]:
    """Return each cohort that the agent is in, the next one too, with what was changed before it."""
    stays: list[tuple[dict[str, Any], AgentSetup]] = []
    for stay in details.cohorts if details else ():
        about = attributes(stay, "cohort", "starts_at", "statuses")
        stays.append((about | {"code_versions": versions_data(stay.versions)}, stay.setup))

    if config is not None:
        cohort, _ = freeze_cohort(config, 1, now())
        about = {"cohort": PLANNED, "starts_at": None, "statuses": {}, "code_versions": []}
        planned = [entrant for entrant in cohort.entrants if entrant.name == name]
        stays += [(about, agent_setup(cohort, entrant, kinds_of(config))) for entrant in planned]

    cohorts: list[dict[str, Any]] = []
    before: AgentSetup | None = None
    for about, setup in stays:
        changed = setup_differences(before, setup) if before else {}
        frozen = attributes(setup, "kind", "settings", "prompts")
        cohorts.append(about | frozen | {"changed": moved_data(changed)})
        before = setup
    return cohorts


def details_data(details: AgentDetails) -> dict[str, Any]:
    """Return what the record says of an agent, for JSON; money in dollars."""
    calls = sum(part.calls for part in details.calls)
    per_forecast = None
    if calls and not details.unknown and details.forecasts:
        per_forecast = details.cost / details.forecasts / ONE
    statuses: Counter[str] = Counter()
    for stay in details.cohorts:
        statuses.update(stay.statuses)

    reported = ("model", "fingerprint", "answers", "first_at", "last_at")
    return attributes(details, "rungs", "errors", "forecasts", "median_ms", "changes") | {
        "statuses": dict(statuses),
        "calls": calls,
        "tokens_in": sum(part.tokens_in for part in details.calls),
        "tokens_out": sum(part.tokens_out for part in details.calls),
        "cost_usd": None if details.unknown else exact(details.cost),
        "known_cost_usd": exact(details.cost),
        "unknown_costs": details.unknown,
        "cost_per_forecast_usd": per_forecast,
        "p95_ms": details.late_ms,
        "reported": [attributes(model, *reported) for model in details.models],
        "notes": [change_sentence(change) for change in details.changes],
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
"""The keys of a part in JSON, and where it has their values."""
LEGEND = (
    "Intervals need 20 events or more. p: how often chance alone miscalibrates as much; among many parts "
    "some p are small by chance."
)


REPORTED = (
    TableColumn("model", "reports itself as", plain, narrow="wrap"),
    TableColumn("fingerprint", show=plain, value=lambda each: each["fingerprint"] or None, narrow="wrap"),
    TableColumn("answers"),
    TableColumn("first_at", "first (UTC)", minute),
    TableColumn("last_at", "last (UTC)", minute),
)
MOST = 3
"""So many events are named that may still cost or bring money."""
PROFILE_PARTS = (
    ("edge", "edge at mid, scaled by how much of its claimed edge has materialised"),
    ("spread", "spread and depth of the book"),
    ("fee", "fees"),
    ("sizing", "stakes that differ from quarter Kelly"),
    ("exit", "selling early"),
    ("luck", "luck (residual)"),
)


def profile_data(profile: AgentProfile) -> dict[str, Any]:
    """Return an agent's scores for JSON; money in dollars, and null where nothing can be said."""
    data: dict[str, Any] = _known(asdict(profile))
    data.pop("agent")
    for event in data["at_stake"]:
        for key in ("value", "worst", "best"):
            event[key] /= ONE
    return data | {"money": None if profile.money is None else _money_data(profile.money)}


def _money_data(money: ProfitOrigin) -> dict[str, Any]:
    """Return where a profit comes from as data, with amounts in dollars."""
    luck = asdict(money.luck)
    for key in ("pnl", "mean", "low", "high"):
        luck[key] = exact(luck[key])

    fall = money.drawdown
    return {
        "split": {key: getattr(money.split, key) / ONE for key in (*asdict(money.split), "pnl")},
        "luck": luck,
        "proven": _known(asdict(money.proven)),
        "drawdown": None if fall is None else {"share": fall.share, "amount": fall.amount / ONE},
    }


def _known(value: Any) -> Any:
    """Return the value without NaN, which JSON does not have."""
    if isinstance(value, dict):
        return {key: _known(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_known(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def profile_blocks(data: Data) -> Iterator[Block]:
    """Yield an agent's skill, calibration, coherence, blind answers and money, in some lines."""
    gain = data["gain"]
    if gain is None or gain["skill"] is None:
        yield "Scores: none of its markets has resolved yet.\n"
    else:
        words = f"Skill over the market: {gain['skill']:+.4f}"
        if gain["low"] is not None:
            words += f", 95% from {gain['low']:+.4f} to {gain['high']:+.4f}"
        words += f", {gain['events']:,} events"
        if gain["reason"]:
            words += f" ({gain['reason']})"
        yield words

        parts = data["calibration"]["parts"]
        chance = data["calibration"]["null"]
        yield (
            f"Brier {parts['brier']:.4f} = miscalibration {parts['miscalibration']:.4f} "
            f"− discrimination {parts['discrimination']:.4f} + uncertainty {parts['uncertainty']:.4f}"
        )
        yield f"  miscalibration: {chance['expected']:.4f} by chance alone, p = {chance['p_value']:.3f}"
        sure = data["calibration"]["sure"]
        yield f"  {reading_sentence(sure and CalibrationReading(**sure), chance['p_value'])}"

    yield from _statement_lines(data)
    if data["money"] is not None:
        yield from _money_lines(data["money"], enough=gain is not None and gain["events"] >= ENOUGH_EVENTS)
    for event in data["at_stake"][:MOST]:
        span = f"{signed_dollars(event['worst'])} to {signed_dollars(event['best'])}"
        yield f"  at stake: {span} in {plain(event['event'])}, {event['share']:.1%} of all"
    yield ""


def _statement_lines(data: Data) -> Iterator[str]:
    """Yield how coherent its forecasts are, and how it answers without and with the price."""
    coherence = data["coherence"]
    if coherence["loss"] is not None:
        sure = f"{_dollars(coherence['loss'])} per $1 (market prices: {_dollars(coherence['market'])})"
        yield f"Coherence: a sure loss of {sure}, {coherence['events']:,} events"
        if coherence["worst_event"]:
            yield f"  worst: {_dollars(coherence['worst'])} in {plain(coherence['worst_event'])}"
        for deal in data["bargains"]:
            action = "buy" if deal["buy"] else "sell"
            yield f"    {action} {plain(deal['market_id'])} at {deal['price']:.3f}"

    blind = data["blind"]
    if blind["rows"] and blind["pull"] is not None:
        yield f"Shown the price, it moved {blind['pull']:.0%} of the way ({blind['rows']:,} answers)"
        if blind["blind_skill"] is not None:
            yield f"  skill before {blind['blind_skill']:+.4f}, after {blind['final_skill']:+.4f}"


def _money_lines(money: Data, *, enough: bool) -> Iterator[Block]:
    """Yield where the profit comes from, and beside chance where `enough` events have resolved."""
    split = money["split"]
    yield f"P/L {signed_dollars(split['pnl'])}:"
    amounts = {key: signed_dollars(split[key]) for key, _ in PROFILE_PARTS}
    width = max(map(len, amounts.values()))
    for key, words in PROFILE_PARTS:
        yield f"  {amounts[key]:>{width}}  {words}"

    luck = money["luck"]
    if luck["percentile"] is not None and enough:
        band = f"{signed_dollars(luck['low'])} to {signed_dollars(luck['high'])}"
        made = f"{luck['percentile']:.1%}"
        yield f"  chance alone gives {band} in 95% of seasons, less than it made in {made}"
    fall = money["drawdown"]
    if fall is not None and fall["amount"]:
        yield f"  max drawdown {signed_dollars(-fall['amount'])}, {fall['share']:.1%} of the peak"


def _dollars(value: float | None) -> str:
    """Return dollars to the hundredth of a cent; a dash where nothing is known."""
    return "–" if value is None else f"${value:.4f}"


def agent_page(data: Data, server: str, choice: TableChoice) -> Iterator[Block]:
    """Yield an agent's settings and their changes, its scores, turns and calls, and its model's names."""
    yield from _settings_lines(data["name"], data["cohorts"][-1], server)
    for stay in data["cohorts"]:
        yield from _stay_lines(stay)
    play = typed(f"show turn {data['name']} --play")
    record = data["record"]
    if record is None:
        yield f"It has not played yet. Next: {play}"
        return

    yield ""
    verdicts = [words for words in (data["verdict"], data["price_verdict"]) if words]
    if verdicts:
        yield plain(" ".join(verdicts))
    yield from profile_blocks(data["scores"])
    if data.get("parts"):
        yield from _part_blocks(data["parts"], choice)
    if record["calls"]:
        yield from _call_blocks(record)
    yield f"Next: {play}"


def _settings_lines(name: str, newest: Data, server: str) -> Iterator[str]:
    """Yield how an agent is set up in its newest cohort, a setting a line."""
    yield f"{name}, {newest['kind']}, as of {_cohort_name(newest)}"
    for key, value in newest["settings"].items():
        if value not in (None, {}, []):
            words = setting_text(value)
            if key == "base_url" and server:
                words += f" ({server})"
            yield f"  {key}: {plain(words)}"
    yield ""


def _cohort_name(stay: Data) -> str:
    """Return what a cohort is called, or the next one."""
    return f"cohort {stay['cohort']}" if stay["starts_at"] else "the next cohort"


def _stay_lines(stay: Data) -> Iterator[str]:
    """Yield how an agent's turns in a cohort ended, by which code, and what was changed before it."""
    words = _cohort_name(stay)
    if stay["starts_at"]:
        words += f", from {minute(stay['starts_at'])}"
    yield f"{words}: turns: {_counts_text(stay['statuses'], ' ') or 'none yet'}"
    if stay["code_versions"]:
        yield f"  code: {plain(by_rounds(stay['code_versions']))}"
    for key, change in stay["changed"].items():
        yield f"  changed: {plain(setting_in_words(key, change['was'], change['is']))}"


def _part_blocks(data: Data, choice: TableChoice) -> Iterator[Block]:
    """Yield skill and calibration part by part, and what the figures are."""
    if not data["parts"]:
        yield f"By {data['by']}: none of its markets has resolved yet.\n"
        return
    part = TableColumn("part", data["by"], plain, narrow="wrap")
    yield Table((part, *PART_COLUMNS), data["parts"], choice=choice)
    yield f"{LEGEND}\n"


def _call_blocks(record: Data) -> Iterator[Block]:
    """Yield an agent's calls: how many, their tokens, cost, speed and errors, and who answered."""
    cost = f"${record['known_cost_usd']:,.6f}"
    if record["unknown_costs"]:
        cost += f" and {record['unknown_costs']:,} calls of unknown cost"
    forecasts = f"{record['forecasts']:,}"
    if record["cost_per_forecast_usd"] is not None:
        forecasts += f", ${record['cost_per_forecast_usd']:,.6f} each"

    fields = {
        "calls": f"{record['calls']:,}: {_counts_text(record['rungs'], ' by ')}",
        "tokens": f"{record['tokens_in']:,} in, {record['tokens_out']:,} out",
        "cost": cost,
        "forecasts": forecasts,
    }
    if record["median_ms"] is not None:
        late = f"p95 {record['p95_ms'] / 1000:.1f} s"
        fields["latency"] = f"median {record['median_ms'] / 1000:.1f} s, {late}"
    fields["errors"] = _counts_text(record["errors"], " ") or "none"
    yield Fields(fields)
    yield ""

    if record["reported"]:
        yield Table(REPORTED, record["reported"])
    for sentence in record["notes"]:
        yield plain(sentence)


def _counts_text(counts: Mapping[str, int], joint: str) -> str:
    """Return how many there are of each kind."""
    return ", ".join(f"{count:,}{joint}{kind}" for kind, count in counts.items())
