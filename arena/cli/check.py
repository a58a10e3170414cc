"""The page of `arena check`: whether the config is valid, who would play, the cost, and the problems."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from agents.model import KindSettings, model_settings
from agents.model_table.capabilities import thinking_text
from agents.providers import DEMO
from arena.cassettes.proofs import config_proofs
from arena.cli.check_cost import cost_data, cost_of, costs_text, dollars_text, limits_text, month_data
from arena.cli.check_next import changes_data, changes_text, ends_text, joining_text, start_text
from arena.cli.output import Data, attributes, thinking_words, without_password
from arena.cli.page import Fields, Page
from arena.cli.table import Table, TableChoice, TableColumn
from arena.clock import now
from arena.cohorts.replacements import code_of, unproven_hint
from arena.config import Config
from arena.errors import count_text
from arena.operations.coming_cohort import coming_cohort, expected_ends, read_begun, unproven_agents
from arena.operations.config_check import check_config, config_warnings
from arena.record.model.calendar import WEEK
from markets.millionths import decimal
from portfolio.quotes import duration_text
from portfolio.rules import UNLIMITED

PUBLIC_HEADS = "published by `arena run --publish`, on the branch of the season"


def check_data(config: Config, environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the next cohort's contents, its start and cost, and the config's problems, for JSON."""
    at = now()
    models = {agent.name: agent.model for agent in config.agents if agent.model is not None}
    begun = read_begun(config.database, models, config.markets.venue)
    coming = coming_cohort(config, begun, at, environ)
    cost = cost_of(config, coming.next_cohort or coming.cohorts_begun + 1, begun.usage)
    findings = check_config(config, environ)

    data = config_data(config, at) | asdict(coming) | changes_data(config, begun.last, at)
    data |= asdict(expected_ends(config, begun.offered)) | asdict(findings)
    data |= asdict(config_proofs(config, at))
    return data | {
        "cost": cost_data(cost),
        "month_usd": month_data(cost.total),
        "joins": joining_text(config, begun, begun.playing, at) or None,
        "unproven": list(map(asdict, unproven_agents(config, begun))),
        "warnings": list(map(asdict, config_warnings(config, cost, findings))),
    }


def config_data(config: Config, at: datetime) -> dict[str, Any]:
    """Return what a cohort started from this config at an instant would contain, for JSON."""
    cohorts = config.cohorts
    agents = []
    for agent in config.agents:
        data = attributes(agent, "name", "kind", "model", "of")
        settings = agent.settings.model_dump(mode="json")
        agents.append(data | {"settings": settings, "thinking": thinking_level(agent.settings)})

    return attributes(cohorts, "rounds", "keep_deciding", "bankroll") | {
        "config": str(config.file),
        "database": without_password(config.database),
        "venue": config.markets.venue,
        "venue_settings": config.venue_settings.model_dump(mode="json"),
        "evidence": config.evidence.source,
        "evidence_settings": config.evidence_settings.model_dump(mode="json"),
        "guard": config.evidence.guard.model_dump(),
        "universe": config.universe.model_dump(),
        "first_start": config.first_start(at),
        "decide": str(cohorts.decide),
        "decide_every_seconds": int(cohorts.decide.every.total_seconds()),
        "cohorts": cohorts.count,
        "rules": config.rules.model_dump(),
        "depth": UNLIMITED if config.rules.unlimited else None,
        "budget": config.budget.model_dump(),
        "heads": config.heads,
        "public": config.public,
        "agents": agents,
    }


def thinking_level(settings: KindSettings) -> str | None:
    """Return how much thinking is asked of an agent's model; None without a model or with a demo model."""
    model = model_settings(settings)
    if model is None or model.model.startswith(DEMO):
        return None
    return thinking_text(model)


def cannot_answer(data: Data) -> bool:
    """Tell whether some model can't answer with its settings."""
    return any(warning["code"] == "cannot_answer" for warning in data["cost"]["warnings"])


def is_faulty(data: Data) -> bool:
    """Tell whether a model can't answer, files or the record can't be read, or a public mock turn failed."""
    questions = data["questions"] or {}
    has_file_faults = bool(data["file_faults"] or questions.get("faults"))

    # A public season plays a mock turn of each agent: one without a forecast has failed.
    mock_turn_failed = data["public"] and not all(agent["forecasts"] for agent in data["cost"]["agents"])
    return cannot_answer(data) or has_file_faults or mock_turn_failed or bool(data["record_trouble"])


def check_page(data: Data, choice: TableChoice) -> Page:
    """Yield validity, start and cost, then the warnings, the line-up and the rules."""
    state = "valid"
    if cannot_answer(data):
        state = "read, but a model in it cannot answer"
    yield f"{data['config']} is {state}."
    models = [agent["model"] for agent in data["agents"] if agent["model"]]
    costs = costs_text(data["month_usd"], data["budget"], models)
    yield Fields({"Starts": start_text(data), "Costs": costs})
    yield from warning_lines(data)
    yield from replacement_notes(data)
    if data["joins"]:
        yield f"Note: {data['joins']}."
    yield ""
    yield from line_up(data, choice)
    if data["public"]:
        turns = [f"{agent['agent']} {agent['forecasts']}" for agent in data["cost"]["agents"]]
        yield f"Mock turns, answered by a stand-in, with so many forecasts: {', '.join(turns) or 'none'}."
        yield ""
    yield Fields(dict(rule_fields(data)))


def warning_lines(data: Data) -> Page:
    """Yield the errors and warnings, each with its remedy."""
    for warning in data["cost"]["warnings"]:
        label = "Warning"
        if warning["code"] == "cannot_answer":
            label = "Error"
        message = warning["message"]
        if warning["scope"] != "model":
            message = message[:1].upper() + message[1:]
        yield f"{label}: {message}.\n  → {warning['mend']}"

    for fault in data["cassette_faults"]:
        yield f"Warning: {fault}"

    for warning in data["warnings"]:
        text = f"Warning: {warning['message']}"
        if warning["mend"]:
            text += f".\n  → {warning['mend']}"
        yield text


def replacement_notes(data: Data) -> Page:
    """Yield a note on agents without a good turn so far in a playing cohort, and on their changed blocks."""
    codes = {agent["name"]: code_of(agent["kind"], agent["settings"]) for agent in data["agents"]}
    for cohort in data["unproven"]:
        number = cohort["cohort"]
        if cohort["changed"]:
            names = ", ".join(cohort["changed"])
            yield f"Note: In cohort {number} {names} uses the changed block from the next round on."

        # An agent without its key hasn't failed: it waits.
        unproven = [name for name in cohort["unchanged"] if name not in data["missing_keys"]]
        if unproven:
            yield f"Note: {unproven_hint(unproven, codes)} (cohort {number})."


def line_up(data: Data, choice: TableChoice) -> Page:
    """Yield a table of who plays and at what cost, and its legend."""
    cost = data["cost"]
    cost_by_agent = {agent["agent"]: agent for agent in cost["agents"] if not agent["trouble"]}
    rows = []
    for agent in data["agents"]:
        model_or_sources = agent["model"] or ", ".join(agent["of"]) or None
        rows.append(agent | {"plays": model_or_sources, "cost": cost_by_agent.get(agent["name"])})
    if len(cost_by_agent) > 1:
        rows.append({"name": "all", "kind": "", "plays": "", "cost": cost["total"]})
    yield Table(LINE_UP, rows, choice=choice)

    if cost_by_agent:
        measured = ""
        for agent in cost["agents"]:
            if agent["from_turns"]:
                turns = count_text(agent["from_turns"], "turn")
                measured += f"{agent['agent']}: from its newest {turns}. "
        rounds = "A cohort has {cohort} rounds; a month has about {month:.3g} over all cohorts."
        rounds = rounds.format_map(cost["rounds"])
        yield (
            "Low: every question asked once and answered briefly, or less if the agent has used less. "
            "Expected: with typical thinking, a guess until the agent has played. "
            f"High: the most that budgets reserve. {measured}{rounds}"
        )
        yield ""


def rule_fields(data: Data) -> Iterator[tuple[str, str]]:
    """Yield the labelled settings: rounds, rules, markets, evidence, budget and record."""
    universe = data["universe"]
    rules = data["rules"]
    interval = timedelta(seconds=data["decide_every_seconds"])
    rounds = f"{data['rounds']} a cohort, {data['decide']}"
    leaves_days_out = data["rounds"] < WEEK // interval
    if data["cohorts"] != 1 and leaves_days_out:
        played = duration_text(interval * data["rounds"])
        rounds += f": {played} of each week (`rounds: 1 week` plays all of it)"
    yield "rounds", f"{rounds}; the newest {data['keep_deciding']} cohorts decide"
    if rules.get("money", True):
        yield from money_fields(data)

    shown = f"up to {universe['show']} a round from {data['venue']}, {universe['per_event']} an event"
    if data["questions"]:
        shown += f", {data['questions']['questions']:,} in the folder"
    yield "markets", f"{shown}, closing within {universe['closes_within'] / 86_400:g} days"
    yield "ends", ends_text(data)
    yield "evidence", evidence_text(data)

    levels = {agent["name"]: agent["thinking"] for agent in data["agents"]}
    thinking = thinking_words(levels)
    if len({*levels.values()} - {None}) > 1:
        thinking += "; `reasoning` under `ask` sets one level for all"
    if thinking:
        yield "thinking", thinking

    yield "budget", limits_text(data["budget"])
    yield "heads", PUBLIC_HEADS if data["public"] else heads_text(data["heads"])
    if data["proofs"]:
        yield "proved", "; ".join(map(proof_text, data["proofs"]))
    if data["differs_from"] is not None:
        yield "changes", changes_text(data)
    yield "record", data["database"]


def evidence_text(data: Data) -> str:
    """Return the source of articles, and their number if they are files."""
    articles = data["articles"]
    evidence = str(data["evidence"])
    if articles:
        evidence += f": {articles['articles']:,} of {articles['files']:,} files are articles"
    return evidence


def money_fields(data: Data) -> Iterator[tuple[str, str]]:
    """Yield the bankroll and the rules for bets."""
    rules = data["rules"]
    yield "bankroll", f"${decimal(data['bankroll']):,} each"
    bets = f"bets from ${decimal(rules['min_bet']):,} to {decimal(rules['max_bet']):.0%} of the cash"
    if data["depth"]:
        bets += f"; {data['depth']}"
    yield "rules", f"{rules['name']}: fill {rules['fill']}, {bets}"


def heads_text(heads: str | list[str] | None) -> str:
    """Return where heads of the record are published, or the risk of not publishing them."""
    if isinstance(heads, str):
        return f"appended to {heads}"
    if heads is not None:
        return f"published by {heads[0]}"
    return "not published, so a rewritten record could not be detected (config: heads)"


def proof_text(proof: Data) -> str:
    """Return when a venue or a provider was last recorded, and what could be read."""
    name = proof["name"][:1].upper() + proof["name"][1:]
    if proof["on"] is None:
        return f"{name}'s answers were never recorded (arena check --live --record records them)"
    ago = "today"
    if proof["days"]:
        ago = f"{count_text(proof['days'], 'day')} ago"
    return f"{name} last proved {proof['on']}, {ago} ({', '.join(proof['shows'])})"


def range_writer(key: str) -> Callable[[Data], str]:
    """Return a function that writes the low and the high of a row's calls or tokens."""

    def write(usage: Data) -> str:
        low = thousands_text(usage["low"][key])
        high = thousands_text(usage["high"][key])
        return low if low == high else f"{low}–{high}"

    return write


def thousands_text(count: float) -> str:
    """Return a number of tokens in a short form.

    >>> thousands_text(898), thousands_text(9_385), thousands_text(134_383), thousands_text(2_500_000)
    ('898', '9.4k', '134k', '2.5M')
    """
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if count >= 10 * size:
            return f"{count / size:,.0f}{unit}"
        if count >= size:
            return f"{count / size:.1f}{unit}"
    return f"{count:.0f}"


LINE_UP = (
    TableColumn("name", "agent", narrow="cut middle"),
    TableColumn("kind"),
    TableColumn("plays", "model or of", narrow="cut middle"),
    TableColumn("month", "$ a month", dollars_text, value="cost.month"),
    TableColumn("round", "$ a round", dollars_text, value="cost.round", gives_way=1),
    TableColumn("cohort", "$ a cohort", dollars_text, value="cost.cohort", gives_way=4),
    TableColumn("calls", show=range_writer("calls"), value="cost.round", gives_way=2),
    TableColumn("tokens_in", "tokens in", range_writer("tokens_in"), value="cost.round", gives_way=3),
    TableColumn("tokens_out", "out", range_writer("tokens_out"), value="cost.round", gives_way=3),
)
"""The line-up with its cost: expected (low–high)."""
