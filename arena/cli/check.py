"""`arena check`: is the config valid, who would play, what would it cost, and what is wrong?"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from fractions import Fraction
from shlex import quote
from typing import TYPE_CHECKING, Any

import typer

from agents.evidence import ResearchError
from agents.model import DeskSettings, KindSettings, model_settings
from agents.model_table.capabilities import model_faults, thinking_text
from agents.providers import DEMO, near_model
from arena.calls.budget_warnings import LineUpWarning, budget_warnings, most_spent, round_counts
from arena.calls.estimate import Estimate, Usage, estimate_lineup, total_usage
from arena.cli.check_next import (
    changes_since,
    expected_ends,
    next_cohort,
    read_begun,
    replacements_data,
    say_changes,
    say_ends,
    say_next,
)
from arena.cli.options import Options, command, flag, option
from arena.cli.output import (
    attributes,
    exact,
    print_json,
    prints_aside,
    run_async,
    thinking_words,
    typed,
    without_password,
)
from arena.cli.page import print_table, print_text
from arena.cli.table import TableChoice, TableColumn
from arena.clock import now
from arena.cohorts.replacements import unproven_hint
from arena.cohorts.schedule import PLAY_WINDOW
from arena.config import Config
from arena.config.environment import environment, missing_keys, readable_env
from arena.errors import ArenaError, count_text
from arena.record.model.calendar import WEEK
from arena.rounds.adapters import kind_inputs, unfrozen_settings
from markets.millionths import decimal
from markets.registry import load
from portfolio.quotes import duration_text
from portfolio.rules import UNLIMITED

if TYPE_CHECKING:
    from arena.record.queries.calls import RecentUsage

ENDS = ("low", "expected", "high")
NEAR = 0.75
"""The part of the time between rounds, or of that in which one may be played, that agents may take."""
FORM = "give each file the form in docs/news.md"
LABEL = 10
"""The characters in front of what a line says."""
PER = {
    "call": "a call",
    "round": "a round",
    "agent": "an agent and cohort",
    "day": "a day",
    "arena": "in all",
}
"""What each limit of the budget is for, in words."""


def _cost(key: str, span: str) -> Callable[[Mapping[str, Any]], str | None]:
    """What writes the low and the high figure of a line, where it has any; before money, what is expected."""

    def write(line: Mapping[str, Any]) -> str | None:
        if span not in (line["cost"] or {}):
            return None
        low, expected, high = (line["cost"][span][end][key] for end in ENDS)
        return _around(low, expected, high) if key == "usd" else _between(key, low, high)

    return write


LINE_UP = (
    TableColumn("name", "agent", narrow="cut middle"),
    TableColumn("kind"),
    TableColumn("plays", "model or of", narrow="cut middle"),
    TableColumn("month", "$ a month", value=_cost("usd", "month")),
    TableColumn("round", "$ a round", value=_cost("usd", "round"), gives_way=1),
    TableColumn("cohort", "$ a cohort", value=_cost("usd", "cohort"), gives_way=4),
    TableColumn("calls", value=_cost("calls", "round"), gives_way=2),
    TableColumn("tokens_in", "tokens in", value=_cost("tokens_in", "round"), gives_way=3),
    TableColumn("tokens_out", "out", value=_cost("tokens_out", "round"), gives_way=3),
)
"""Who plays, and what that may cost: expected (low–high)."""


def cost_of(config: Config, number: int, usage: "Mapping[str, RecentUsage]") -> dict[str, Any]:
    """What cohort `number` would use, agent by agent and in all, and where the budget would stop it."""
    with prints_aside():
        fresh = run_async(estimate_lineup(config, kind_inputs(config, config.prompts)))
    found = [one.as_played(usage.get(one.agent)) for one in fresh]
    times = round_counts(config.cohorts, number)
    lengths = {"round": Fraction(1), "cohort": Fraction(times.cohort), "month": times.month}
    stops = most_spent(times, config.budget)

    def spans(uses: Sequence[Usage]) -> dict[str, Any]:
        return {
            span: {end: _use(use.times(rounds), stops[span]) for end, use in zip(ENDS, uses, strict=True)}
            for span, rounds in lengths.items()
        }

    agents = [
        {"agent": one.agent}
        | ({} if one.trouble else spans((one.low, one.expected, one.high)))
        | {"call_usd": exact(one.first.cost), "from_turns": one.turns, "trouble": one.trouble or None}
        for one in found
    ]
    total = [total_usage(getattr(one, end) for one in found) for end in ENDS]
    warnings = (
        *_model_faults(config, found),
        *_unknown_models(config),
        *_long_waits(config),
        *budget_warnings(found, times, config.budget),
    )
    return {
        "rounds": {"cohort": times.cohort, "month": round(float(times.month), 2), "day": times.day},
        "agents": agents,
        "total": None if any(one.trouble for one in found) else spans(total),
        "warnings": [
            attributes(one, "code", "scope", "message") | {"agent": one.agent or None, "mend": one.hint}
            for one in warnings
        ],
    }


def _use(use: Usage, stop: int | None) -> dict[str, Any]:
    """Return a usage as data; it costs no more than the budget allows, which stops the calls past that."""
    cost = use.cost
    if cost is not None and stop is not None:
        cost = min(cost, stop)
    return attributes(use, "calls", "tokens_in", "tokens_out") | {"usd": exact(cost)}


def _model_faults(config: Config, estimates: Sequence[Estimate]) -> Iterator[LineUpWarning]:
    """What an agent's model can't do with its settings and such questions, the certain faults first."""
    sized = {one.agent: one.faults for one in estimates}
    models = [(agent.name, model_settings(agent.settings)) for agent in config.agents]
    faults = [
        (name, fault)
        for name, model in models
        if model is not None
        for fault in (*model_faults(model, now().date()), *sized.get(name, ()))
    ]
    for name, fault in sorted(faults, key=lambda each: not each[1].certain):
        code = "cannot_answer" if fault.certain else "may_not_answer"
        yield LineUpWarning(code, "model", name, f"{name}: {fault.message}", fault.hint)


def _unknown_models(config: Config) -> Iterator[LineUpWarning]:
    """Models that may be misspelt: litellm doesn't know them, but one of nearly that name."""
    for agent in config.agents:
        model = model_settings(agent.settings)
        if model is None or model.base_url is not None or model.price is not None:
            continue
        if near := near_model(model.model):
            words = f"the model of {agent.name} is unknown to litellm: {model.model}"
            hint = f"Did you mean {near}? If it is new, `price` says what it costs"
            yield LineUpWarning("unknown_model", "model", agent.name, words, hint)


def _long_waits(config: Config) -> Iterator[LineUpWarning]:
    """Agents from outside that are waited for so long that rounds after theirs may be late, or missed.

    Cohorts that decide at one time play one after the other.
    """
    cohorts = config.cohorts
    many = min(cohorts.keep_deciding, cohorts.count or cohorts.keep_deciding)
    most = min(PLAY_WINDOW, cohorts.decide.every) * NEAR
    for agent in config.agents:
        if not isinstance(agent.settings, DeskSettings):
            continue
        wait = timedelta(seconds=agent.settings.wait)
        if wait * many > most:
            times = f" for each of {many} cohorts" if many > 1 else ""
            often = f"rounds come every {duration_text(cohorts.decide.every)}"
            words = f"{agent.name} may take {duration_text(wait)}{times}, and {often}: later turns are "
            words += f"played late, or skipped {duration_text(PLAY_WINDOW)} after the round's time"
            hint = f"set its `wait` to at most {duration_text(most / many)}, or decide less often"
            yield LineUpWarning("long_wait", "model", agent.name, words, hint)


def _between(key: str, low: float | None, high: float | None) -> str | None:
    """Two figures as one: `0.013–0.27`, or a single one where they are identical."""
    if low is None or high is None:
        return None
    write = {"usd": _money, "calls": "{:,}".format}.get(key, _thousands)
    return write(low) if write(low) == write(high) else f"{write(low)}–{write(high)}"


def _around(low: float | None, expected: float | None, high: float | None) -> str | None:
    """An amount of money between two others: `0.21 (0.013–0.27)`, or a single one where they are identical.

    >>> _around(0.013, 0.21, 0.27), _around(0.0, 0.0, 0.0), _around(0.013, 0.21, None)
    ('0.21 (0.013–0.27)', '0', '0.21 (0.013–?)')
    """
    if high is None and low is not None and expected is not None:
        return f"{_money(expected)} ({_money(low)}–?)"  # an option has no known bound
    between = _between("usd", low, high)
    if between is None or expected is None or "–" not in between:
        return between
    return f"{_money(expected)} ({between})"


def _thousands(count: float) -> str:
    """A number of tokens as it is easily read.

    >>> _thousands(898), _thousands(9_385), _thousands(134_383), _thousands(2_500_000)
    ('898', '9.4k', '134k', '2.5M')
    """
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if count >= size:
            return f"{count / size:.1f}{unit}" if count < 10 * size else f"{count / size:,.0f}{unit}"
    return f"{count:.0f}"


def _money(usd: float) -> str:
    """Dollars: two figures below ten cents, cents up to a hundred dollars, whole ones above.

    >>> _money(0.0131), _money(0.263), _money(12.3), _money(1234.5), _money(0)
    ('0.013', '0.26', '12.30', '1,234', '0')
    """
    if usd == 0:
        return "0"
    if usd < 0.1:
        places = next(places for places in range(2, 7) if usd * 10**places >= 9.95 or places == 6)
        return f"{usd:.{places}f}"
    return f"{usd:,.2f}" if usd < 100 else f"{usd:,.0f}"


@command(table=True, plays=True)
def check(
    chosen: Options,
    live: bool = flag("Also read one page of the venue and ask each model one tiny question."),
    venue: list[str] | None = option("With --live: only this venue; repeatable.", "NAME"),
    model: list[str] | None = option("With --live: only this agent's model; repeatable.", "AGENT"),
) -> None:
    """Check the config; show who would play in the next cohort, what it would cost, and what is wrong.

    All mistakes are listed at once, with file, line and key. The exit status is 1 if there are any, or if a
    model can't answer with these settings. Costs are estimates: expected (low–high). Nothing is played.

    Only --live spends money, a fraction of a cent. Its exit status is 1 if nothing could be reached, 2 if
    only part could.

    Example: arena check --config my-arena/config.yaml

    Next: arena run --round plays the next round, arena demo a whole season.
    """
    if (venue or model) and not live:
        raise ArenaError(
            "not_live", "--venue and --model need --live", "arena check --live --model AGENT", status=64
        )
    settings = chosen.load_to_play(os.environ, beside=True)
    with prints_aside():
        found = everything(settings)
    chosen.table.of(LINE_UP)
    if not chosen.json:
        say(found, chosen.table)
    tried, status = None, 0
    if live:
        from arena.cli.check_live import check_live, live_status

        tried = check_live(settings, venue or [], model or [], quiet=chosen.json)
        status = live_status(tried)
    if any(one["code"] == "cannot_answer" for one in found["cost"]["warnings"]):
        status = 1
    if chosen.json:
        print_json({"ok": not status} | found | (tried or {}))
    else:
        print(f"\nNext: {typed(found['next_command'])}")
    if status:
        raise typer.Exit(status)


def everything(config: Config) -> dict[str, Any]:
    """What a cohort would contain, when the next one starts, and what it would cost."""
    models = {agent.name: agent.model for agent in config.agents if agent.model is not None}
    at, begun = now(), read_begun(config.database, models, config.markets.venue)
    coming = next_cohort(config, begun, at) | changes_since(config, begun.last, at)
    cost = cost_of(config, coming["next_cohort"] or coming["cohorts_begun"] + 1, begun.usage)
    waiting = {"missing_keys": missing_keys(config.agents, environment(config.folder, os.environ))}
    others = {"unproven": replacements_data(config, begun), "readable_env": readable_env(config.folder)}
    ends = expected_ends(config, begun.offered)
    added = {"cost": cost, "untold": untold(config), "articles": article_count(config)}
    return summary(config, at) | coming | waiting | others | ends | added


def untold(config: Config) -> list[str]:
    """The keys of the rule of whose figures the venue tells nothing, or that leave out all that it tells."""
    module = load("markets.venues", config.markets.venue, config.extensions("venues"))
    rule = config.markets.universe
    empty = ["price_only"] if getattr(module, "WITHOUT_SIDES", False) and not rule.price_only else []
    return empty + sorted(key for key in getattr(module, "UNTOLD", ()) if getattr(rule, key))


def article_count(config: Config) -> dict[str, Any] | None:
    """Return how many files and articles the source of evidence has on disk; None where it has no files."""
    module = load("agents.research", config.evidence.source, config.extensions("research"))
    if not hasattr(module, "count_articles"):
        return None

    paths = unfrozen_settings(config.evidence_settings, config.folder)
    try:
        count = module.count_articles(config.evidence_settings.model_copy(update=paths))
    except ResearchError as error:
        return {"files": 0, "articles": 0, "fault": error.message}
    return attributes(count, "files", "articles", "fault")


def summary(config: Config, at: datetime) -> dict[str, Any]:
    """What a cohort that this config starts would contain, as of an instant."""
    cohorts = config.cohorts
    return {
        "config": str(config.file),
        "database": without_password(config.database),
        "venue": config.markets.venue,
        "venue_settings": config.venue_settings.model_dump(mode="json"),
        "evidence": config.evidence.source,
        "evidence_settings": config.evidence_settings.model_dump(mode="json"),
        "guard": config.evidence.guard.model_dump(),
        "universe": config.markets.universe.model_dump(),
        "first_start": config.first_start(at),
        "decide": str(cohorts.decide),
        "decide_every_seconds": int(cohorts.decide.every.total_seconds()),
        "rounds": cohorts.rounds,
        "cohorts": cohorts.count,
        "keep_deciding": cohorts.keep_deciding,
        "bankroll": cohorts.bankroll,
        "rules": cohorts.rules.model_dump(),
        "depth": UNLIMITED if cohorts.rules.unlimited else None,
        "budget": config.budget.model_dump(),
        "heads": config.heads,
        "agents": [
            attributes(agent, "name", "kind", "model", "of")
            | {"settings": agent.settings.model_dump(mode="json"), "thinking": _thinking(agent.settings)}
            for agent in config.agents
        ],
    }


def _thinking(settings: KindSettings) -> str | None:
    """How much an agent's model thinks, as far as that is said anywhere; None without a model of somebody."""
    model = model_settings(settings)
    return None if model is None or model.model.startswith(DEMO) else thinking_text(model)


def say(found: Mapping[str, Any], choice: TableChoice) -> None:
    """What matters first: valid, when, who, for how much; then what is wrong, then the rules."""
    universe, rules, cost, days = found["universe"], found["rules"], found["cost"], 86_400
    fails = any(one["code"] == "cannot_answer" for one in found["cost"]["warnings"])
    print_text(f"{found['config']} is {'read, but a model in it cannot answer' if fails else 'valid'}.")
    _say("Starts", say_next(found))
    free = cost["agents"] and all((agent["model"] or DEMO).startswith(DEMO) for agent in found["agents"])
    _say("Costs", _costs(cost, found["budget"]) + " (fictitious: demo models are free)" * bool(free))
    for label, words in _warnings(found):
        _say(label, words)
    for words in _replacements(found):
        _say("Note", words)
    print()
    _say_line_up(found, choice)
    often = f"{found['rounds']} a cohort, {found['decide']}"
    every = timedelta(seconds=found["decide_every_seconds"])
    if found["cohorts"] != 1 and found["rounds"] < WEEK // every:
        week = duration_text(every * found["rounds"])
        often += f": {week} of each week (`rounds: 1 week` plays all of it)"
    _say("rounds", f"{often}; the newest {found['keep_deciding']} cohorts decide")
    _say("bankroll", f"${decimal(found['bankroll']):,} each")
    _say("rules", f"{rules['name']}: fill {rules['fill']}, bets from ${decimal(rules['min_bet']):,} "
         f"to {decimal(rules['max_bet']):.0%} of the cash"
         + f"; {found['depth']}" * bool(found["depth"]))  # fmt: skip
    _say("markets", f"{universe['show']} of {found['venue']} a round, {universe['per_event']} an event, "
         f"closing within {universe['closes_within'] / days:g} days")  # fmt: skip
    _say("ends", say_ends(found))
    articles = found["articles"]
    counted = f": {articles['articles']:,} of {articles['files']:,} files are articles" if articles else ""
    _say("evidence", f"{found['evidence']}{counted}")
    if words := thinking_words({agent["name"]: agent["thinking"] for agent in found["agents"]}):
        unequal = len({agent["thinking"] for agent in found["agents"]} - {None}) > 1
        _say("thinking", words + ("; not alike: `reasoning` under `ask` sets it for all" if unequal else ""))
    _say("budget", _limits(found["budget"]))
    _say("heads", _heads(found["heads"]))
    if found["differs_from"] is not None:
        _say("changes", say_changes(found))
    _say("record", found["database"])
    if found["record_trouble"]:
        _say("", f"it can't be read: {found['record_trouble']}")


def _heads(heads: str | list[str] | None) -> str:
    """Where the heads of the record go; what it means when they go nowhere."""
    if heads is not None:
        return f"appended to {heads}" if isinstance(heads, str) else f"published by {heads[0]}"
    return "not published: whoever runs this machine could rewrite the record unseen (config: heads)"


def _say(name: str, words: str) -> None:
    """Print what a line of a name says, within the width of the terminal."""
    print_text(f"{name:{LABEL}}{words}", LABEL)


def _costs(cost: Mapping[str, Any], budget: Mapping[str, int | None]) -> str:
    """What all models may cost, and what stops them."""
    if not cost["agents"]:
        return "nothing: no agent uses a model"
    month = None if cost["total"] is None else cost["total"]["month"]
    dollars = None if month is None else _around(*(month[end]["usd"] for end in ENDS))
    much = "an unknown amount" if dollars is None else f"about ${dollars} a month"
    limits = _limits(budget)
    return f"{much}; " + ("no budget limits it" if limits == "none" else f"stopped at {limits}")


def _warnings(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Which model can't answer, where a budget would stop calls, what has no price, whose key is missing,
    which keys of the rule the venue tells nothing of, which articles can't be read, and who can read keys.

    Each as an error or a warning, with what to do about it.
    """
    for warning in found["cost"]["warnings"]:
        label = "Error" if warning["code"] == "cannot_answer" else "Warning"
        message = warning["message"] if warning["scope"] == "model" else _capitalized(warning["message"])
        yield label, f"{message}.\n→ {warning['mend']}"
    for one in found["cost"]["agents"]:
        name = one["agent"]
        if one["trouble"]:
            yield "Warning", f"{name} failed on a sample round, so its cost is unknown: {one['trouble']}"
        elif one["round"]["low"]["usd"] is None:
            hint = "add `price: {input: …, output: …}` to it, in dollars per million tokens"
            yield "Warning", f"No price is known for {name}.\n→ {hint}"
    if missing := found["missing_keys"]:
        keys = ", ".join(f"{name} needs {variable}" for name, variable in missing.items())
        yield (
            "Warning",
            f"Missing keys: {keys}.\n→ set it here or in .env; the agent joins at the next round",
        )
    yield from _untold(found)
    if found["articles"] and found["articles"]["fault"]:
        yield (
            "Warning",
            f"Not all of the evidence folder can be used: {found['articles']['fault']}.\n→ {FORM}",
        )
    if path := found["readable_env"]:
        yield "Warning", f"Others on this machine can read the keys in {path}.\n→ chmod 600 {quote(path)}"


def _untold(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The keys of the rule that the venue's lists don't answer."""
    for key in found["untold"]:
        none = key.startswith("min_") and not found["universe"].get("unknown_figures")
        hint = "set `unknown_figures: true`, or take the key out" if none else "take the key out"
        effect = "no market is ever on offer" if none else "it excludes nothing"
        words = f"{found['venue']} does not report what markets.{key} asks for: {effect}"
        if key == "price_only":
            words = f"{found['venue']} has no bid and no ask: no market is ever on offer"
            hint = "set `price_only: true`"
        yield "Warning", f"{_capitalized(words)}.\n→ {hint}"


def _capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]


def _replacements(found: Mapping[str, Any]) -> Iterator[str]:
    """Who had no good turn yet in a cohort that plays, and whether it takes another block."""
    unproven: dict[tuple[str, ...], list[str]] = {}
    for one in found["unproven"]:
        left = tuple(name for name in one["unchanged"] if name not in found["missing_keys"])
        if one["changed"]:
            names = ", ".join(one["changed"])
            yield f"In cohort {one['cohort']} {names} uses the changed block from the next round on."
        if left:
            unproven.setdefault(left, []).append(str(one["cohort"]))
    for names_left, cohorts in unproven.items():
        yield f"{unproven_hint(names_left)} (cohort {', '.join(cohorts)})."


def _say_line_up(found: Mapping[str, Any], choice: TableChoice) -> None:
    cost = found["cost"]
    costs = {one["agent"]: one for one in cost["agents"]}
    rows = [
        {
            "name": agent["name"],
            "kind": agent["kind"],
            "plays": agent["model"] or ", ".join(agent["of"]) or None,
            "cost": costs.get(agent["name"]),
        }
        for agent in found["agents"]
    ]
    if len(costs) > 1:
        rows.append({"name": "all", "kind": "", "plays": "", "cost": cost["total"]})
    print_table(LINE_UP, rows, choice=choice)
    if costs:
        rounds, turns = cost["rounds"], {one["agent"]: one["from_turns"] for one in cost["agents"]}
        played = [f"{name}: from its newest {count_text(n, 'turn')}. " for name, n in turns.items() if n]
        print_text(
            "Low: every question once, answered briefly, or what an agent used if less. Expected: with usual "
            f"thinking, a guess until it has played. High: the most that budgets reserve. {''.join(played)}"
            f"A cohort has {rounds['cohort']} rounds; a month has {rounds['month']:g} in all cohorts."
        )
        print()


def _limits(budget: Mapping[str, int | None]) -> str:
    limits = [f"${decimal(limit):,.2f} {PER[scope]}" for scope, limit in budget.items() if limit is not None]
    return ", ".join(limits) or "none"
