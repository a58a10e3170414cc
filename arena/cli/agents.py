"""`arena agents`: who plays, how that went, and what a new one would do."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Literal

from agents.model import model_settings
from agents.model_table.cost import price_for
from arena.cli.cohort_diff import PLANNED, by_rounds, moved_data, versions_data
from arena.cli.options import Options, argument, command, option
from arena.cli.output import (
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
from arena.cli.page import print_table, print_text
from arena.cli.table import TableChoice, TableColumn, between, value_in
from arena.clock import now
from arena.cohorts.diff import agent_setup, setting_in_words, setting_text, setup_differences
from arena.cohorts.freeze import freeze_cohort
from arena.config import Config
from arena.errors import ArenaError
from arena.record.model.model_version import change_flag, change_sentence
from arena.record.queries.progress import read_waiting_agents
from arena.scores.agent_summary import AgentDetails, AgentSummary, agent_details, agent_summaries
from arena.scores.leaderboard import LEADERBOARD, Leaderboard
from arena.scores.profiles.agent_profile import AgentProfile, ProfitOrigin
from arena.scores.profiles.detailed_profile import agent_slices, read_agent_profile
from arena.scores.rules.comparisons.events import ENOUGH_EVENTS
from markets.millionths import ONE

SET_UP = ("model", "of", "prompt", "prices", "samples", "released")
"""The settings that a line shows, where a kind has them."""


def of_what(agent: Mapping[str, Any]) -> str | None:
    """The model that is asked, or the agents that this one is made from."""
    of = agent["of"]
    return agent["model"] or (of if isinstance(of, str | None) else ", ".join(of))


def _models(agent: Mapping[str, Any]) -> str | None:
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


@command(table=True)
def list_agents(chosen: Options) -> None:
    """List the agents: their settings in the config and their turns, cost and errors so far.

    Prices are dollars per million tokens. A note says where a provider has changed the model behind a name;
    its scores then mix two models.

    Example: arena show agents

    Next: arena show agent NAME
    """
    found = read_agents(chosen)
    chosen.answer(found, _say, found, chosen.table)


def read_agents(chosen: Options) -> dict[str, Any]:
    """Every agent of the config and of the record, as JSON has it."""
    with chosen.planned() as (config, connection):
        played = agent_summaries(connection, config.extensions("kinds") if config else ())
        waits = read_waiting_agents(connection)
    waiting = {name: words for each in waits.values() for name, words in each.items()}
    planned = list[dict[str, Any]]()
    for agent in config.agents if config else ():
        model = model_settings(agent.settings)
        price = price_for(model) if model else None
        found = _agent(agent.name, agent.kind, agent.settings.model_dump(mode="json"), played.get(agent.name))
        found |= {"model": agent.model, "price": price and attributes(price, "input", "output")}
        planned.append(found | {"waiting": waiting.get(agent.name)})
    names = {agent["name"] for agent in planned}
    gone = [
        _agent(name, each.setup.kind, each.setup.settings, each)
        for name, each in played.items()
        if name not in names
    ]
    return {"agents": planned, "gone": gone}


def _agent(name: str, kind: str, settings: Mapping[str, Any], played: AgentSummary | None) -> dict[str, Any]:
    """How an agent is set up, and what the record says of it."""
    record = None
    if played is not None:
        record = attributes(played, "cohorts", "turns", "malformed", "failed", "late", "models", "changes")
        record |= {"cost_usd": exact(played.cost), "flag": change_flag(played.changes) or None}
    set_up = {key: settings.get(key) for key in SET_UP}
    return {"name": name, "kind": kind, **set_up, "price": None, "record": record}


def _say(found: Mapping[str, Any], choice: TableChoice) -> None:
    if not found["agents"] and not found["gone"]:
        print(f"There are no agents. Next: {program()} init")
        return
    if found["agents"]:
        print_table(COLUMNS, found["agents"], choice=choice)
    if found["gone"]:
        print_table(COLUMNS, found["gone"], "No longer in the config" * bool(found["agents"]), choice)
    for agent in found["agents"]:
        if agent["waiting"]:
            print(f"{agent['name']} is {plain(agent['waiting'])}")
    if any(agent["record"] for agent in found["agents"]) or found["gone"]:
        print(f"Next: {typed('show agent NAME')}")
    else:
        print(f"No agent has played yet. Next: {typed('show turn --play NAME')}, or {typed('run --round')}")


@command(table=True)
def show(
    chosen: Options,
    name: str = argument("NAME", "Its name in the config or in the record."),
    by: Literal["category", "horizon", "price", "cohort"] | None = option(
        "Split skill and calibration; horizon is the time to close."
    ),
) -> None:
    """Show one agent: its settings cohort by cohort and what changed, its scores, turns and calls.

    The cohort `next` is the one that the config would start. Scores include miscalibration, incoherence, how
    far the agent moves towards a price it is shown, and where its profit comes from.

    Example: arena show agent sharp --by horizon

    Next: arena show turn --play NAME
    """
    with chosen.planned() as (config, connection):
        found = agent_details(connection, name, config.extensions("kinds") if config else ())
        scores = profile_data(read_agent_profile(connection, name)) if found else None
        board = LEADERBOARD.read_current(connection) if found else None
        slices = agent_slices(connection, name, by) if by and found else ()
        rows = [{key: value_in(one, path) for key, path in PART.items()} for one in slices]
        parts = {"by": by, "parts": rows} if by and found else None
        cohorts = cohorts_data(found, config, name)
        if not cohorts:
            known = [agent.name for agent in config.agents] if config is not None else []
            names = dict.fromkeys([*known, *agent_summaries(connection)])
            hint = f"agents: {', '.join(names) or 'none'}"
            raise ArenaError("no_agent", f"there is no agent {name!r}", hint)
    told = {"name": name, "cohorts": cohorts, "record": found and details_data(found), "scores": scores}
    told |= verdict_sentences(board, name)
    models = (model_settings(x.settings) for x in (config.agents if config else ()) if x.name == name)
    server = next((without_password(model.base_url) for model in models if model and model.base_url), "")
    chosen.answer(told | ({"parts": parts} if by else {}), say_agent, told, server, parts, chosen.table)


def verdict_sentences(board: Leaderboard | None, name: str) -> dict[str, str | None]:
    """Return what is told of an agent and its rivals, and of it and the price; None where nothing is."""
    own = board.verdict.of(name) if board and board.verdict else None
    if own is None:
        return {"verdict": None, "price_verdict": None}
    return {"verdict": own.sentence or None, "price_verdict": own.price_sentence or None}


def cohorts_data(found: AgentDetails | None, config: Config | None, name: str) -> list[dict[str, Any]]:
    """Each cohort that the agent is in, the next one too, with what was changed since the one before."""
    every = [
        (
            attributes(stay, "cohort", "starts_at")
            | {"statuses": stay.statuses, "code_versions": versions_data(stay.versions)},
            stay.setup,
        )
        for stay in (found.cohorts if found else ())
    ]
    if config is not None:
        cohort, _ = freeze_cohort(config, 1, now())
        known: dict[str, Any] = {"cohort": PLANNED, "starts_at": None, "statuses": {}, "code_versions": []}
        kinds = config.extensions("kinds")
        every += [(known, agent_setup(cohort, x, kinds)) for x in cohort.entrants if x.name == name]
    told = list[dict[str, Any]]()
    for place, (known, setup) in enumerate(every):
        changed = setup_differences(every[place - 1][1], setup) if place else {}
        told.append(
            known | attributes(setup, "kind", "settings", "prompts") | {"changed": moved_data(changed)}
        )
    return told


def details_data(found: AgentDetails) -> dict[str, Any]:
    """What the record says of an agent for JSON; money in dollars."""
    calls = sum(each.calls for each in found.calls)
    whole = calls > 0 and found.unknown == 0 and found.forecasts > 0
    statuses = sum((Counter(stay.statuses) for stay in found.cohorts), Counter[str]())
    return attributes(found, "rungs", "errors", "forecasts", "median_ms", "changes") | {
        "statuses": {name: statuses[name] for stay in found.cohorts for name in stay.statuses},
        "calls": calls,
        "tokens_in": sum(each.tokens_in for each in found.calls),
        "tokens_out": sum(each.tokens_out for each in found.calls),
        "cost_usd": None if found.unknown else exact(found.cost),
        "known_cost_usd": exact(found.cost),
        "unknown_costs": found.unknown,
        "cost_per_forecast_usd": found.cost / found.forecasts / ONE if whole else None,
        "p95_ms": found.late_ms,
        "reported": [
            attributes(each, "model", "fingerprint", "answers", "first_at", "last_at")
            for each in found.models
        ],
        "notes": [change_sentence(change) for change in found.changes],
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
    "Intervals need 20 events or more. p: how often chance alone miscalibrates as much; among many parts\n"
    "some p are small by chance."
)


def _say_parts(data: Mapping[str, Any], choice: TableChoice) -> None:
    if not data["parts"]:
        print(f"By {data['by']}: none of its markets has resolved yet.\n")
        return
    part = TableColumn("part", data["by"], plain, narrow="wrap")
    print_table((part, *PART_COLUMNS), data["parts"], choice=choice)
    print(f"{LEGEND}\n")


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


def profile_data(found: AgentProfile) -> dict[str, Any]:
    """All of it for JSON; money in dollars, and null where nothing can be said."""
    data: dict[str, Any] = _known(asdict(found))
    data.pop("agent")
    sums = ("value", "worst", "best")
    at_stake = [each | {key: each[key] / ONE for key in sums} for each in data["at_stake"]]
    money = None if found.money is None else _money_data(found.money)
    return data | {"money": money, "at_stake": at_stake}


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
    """The value without NaN, which JSON does not have."""
    if isinstance(value, dict):
        return {key: _known(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_known(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def say_profile(data: Mapping[str, Any]) -> None:
    """The same in some lines: skill, calibration, coherence, blind answers, money."""
    gain = data["gain"]
    if gain is None or gain["skill"] is None:
        print("Scores: none of its markets has resolved yet.\n")
    else:
        span = f", 95% from {gain['low']:+.4f} to {gain['high']:+.4f}" if gain["low"] is not None else ""
        why = f" ({gain['reason']})" if gain["reason"] else ""
        print(f"Skill over the market: {gain['skill']:+.4f}{span}, {gain['events']:,} events{why}")
        parts, null = data["calibration"]["parts"], data["calibration"]["null"]
        print_text(
            f"Brier {parts['brier']:.4f} = miscalibration {parts['miscalibration']:.4f} "
            f"− discrimination {parts['discrimination']:.4f} + uncertainty {parts['uncertainty']:.4f}"
        )
        print(f"  miscalibration: {null['expected']:.4f} by chance alone, p = {null['p_value']:.3f}")
    _say_statements(data)
    if data["money"] is not None:
        _say_money(data["money"], enough=gain is not None and gain["events"] >= ENOUGH_EVENTS)
    for event in data["at_stake"][:MOST]:
        span = f"{signed_dollars(event['worst'])} to {signed_dollars(event['best'])}"
        print(f"  at stake: {span} in {plain(event['event'])}, {event['share']:.1%} of all")
    print()


def _say_statements(data: Mapping[str, Any]) -> None:
    coherence, blind = data["coherence"], data["blind"]
    if coherence["loss"] is not None:
        sure = f"{_cents(coherence['loss'])} per $1 (market prices: {_cents(coherence['market'])})"
        print(f"Coherence: a sure loss of {sure}, {coherence['events']:,} events")
        if coherence["worst_event"]:
            print(f"  worst: {_cents(coherence['worst'])} in {plain(coherence['worst_event'])}")
        for deal in data["bargains"]:
            print(f"    {'buy' if deal['buy'] else 'sell'} {plain(deal['market_id'])} at {deal['price']:.3f}")
    if blind["rows"] and blind["pull"] is not None:
        print(f"Shown the price, it moved {blind['pull']:.0%} of the way ({blind['rows']:,} answers)")
        if blind["blind_skill"] is not None:
            print(f"  skill before {blind['blind_skill']:+.4f}, after {blind['final_skill']:+.4f}")


def _say_money(money: Mapping[str, Any], *, enough: bool) -> None:
    """Print where the profit comes from, and beside chance where `enough` events have resolved."""
    luck, split, fall = money["luck"], money["split"], money["drawdown"]
    print(f"P/L {signed_dollars(split['pnl'])}:")
    width = max(len(signed_dollars(split[key])) for key, _ in PROFILE_PARTS)
    for key, words in PROFILE_PARTS:
        print_text(f"  {signed_dollars(split[key]):>{width}}  {words}", width + 4)
    if luck["percentile"] is not None and enough:
        band = f"{signed_dollars(luck['low'])} to {signed_dollars(luck['high'])}"
        words = f"chance alone gives {band} in 95% of seasons, less than it made in {luck['percentile']:.1%}"
        print_text(f"  {words}", 4)
    if fall is not None and fall["amount"]:
        print(f"  max drawdown {signed_dollars(-fall['amount'])}, {fall['share']:.1%} of the peak")


def _cents(value: float | None) -> str:
    return "–" if value is None else f"${value:.4f}"


def say_agent(
    told: Mapping[str, Any], server: str, parts: Mapping[str, Any] | None, choice: TableChoice
) -> None:
    """Its settings and their changes, its server now, its turns and calls, and how its model names itself."""
    name, cohorts, record = told["name"], told["cohorts"], told["record"]
    newest = cohorts[-1]
    print(f"{name}, {newest['kind']}, as of {_which(newest)}")
    for key, value in newest["settings"].items():
        if value not in (None, {}, []):
            where = f" ({server})" if key == "base_url" and server else ""
            print(f"  {key}: {plain(setting_text(value) + where)}")
    print()
    for stay in cohorts:
        _say_stay(stay)
    if record is None:
        print(f"It has not played yet. Next: {typed(f'agents try {name}')}")
        return
    print()
    if words := " ".join(filter(None, (told["verdict"], told["price_verdict"]))):
        print_text(plain(words))
    say_profile(told["scores"])
    if parts is not None:
        _say_parts(parts, choice)
    if record["calls"]:
        _say_calls(record)
    print(f"Next: {typed(f'agents try {name}')}")


def _which(stay: Mapping[str, Any]) -> str:
    """A cohort, or the next one."""
    return f"cohort {stay['cohort']}" if stay["starts_at"] else "the next cohort"


def _say_stay(stay: Mapping[str, Any]) -> None:
    turns = ", ".join(f"{count:,} {status}" for status, count in stay["statuses"].items())
    start = f", from {minute(stay['starts_at'])}" if stay["starts_at"] else ""
    print(f"{_which(stay)}{start}: " + (f"turns: {turns}" if turns else "no turns yet"))
    if stay["code_versions"]:
        print(f"  code: {plain(by_rounds(stay['code_versions']))}")
    for key, each in stay["changed"].items():
        print(f"  changed: {plain(setting_in_words(key, each['was'], each['is']))}")


def _say_calls(record: Mapping[str, Any]) -> None:
    unknown, each = record["unknown_costs"], record["cost_per_forecast_usd"]
    cost = f"${record['known_cost_usd']:,.6f}" + (
        f" and {unknown:,} calls of unknown cost" if unknown else ""
    )
    rungs = ", ".join(f"{count:,} by {rung}" for rung, count in record["rungs"].items())
    print(f"calls     {record['calls']:,}: {rungs}")
    print(f"tokens    {record['tokens_in']:,} in, {record['tokens_out']:,} out")
    print(f"cost      {cost}")
    print(f"forecasts {record['forecasts']:,}" + ("" if each is None else f", ${each:,.6f} each"))
    if record["median_ms"] is not None:
        late = record["p95_ms"] / 1000
        print(f"latency   median {record['median_ms'] / 1000:.1f} s, p95 {late:.1f} s")
    errors = ", ".join(f"{count:,} {code}" for code, count in record["errors"].items())
    print(f"errors    {errors or 'none'}\n")
    if record["reported"]:
        print_table(REPORTED, record["reported"])
    for sentence in record["notes"]:
        print(plain(sentence))
