"""`arena leaderboard` and `arena duel`: who forecasts well, and whether that means anything yet."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal

from arena.cli.options import Options, argument, command, flag, option
from arena.cli.output import plain, signed_dollars, thinking_words
from arena.cli.table import VERDICT, TableChoice, TableColumn, between, print_table, print_text
from arena.errors import ArenaError, tie_letters, times_text
from arena.record.model.cohort import Cohort, later_models_words
from arena.record.queries.cohorts import read_cohorts, select_cohorts
from arena.record.schema.database import Connection
from arena.scores import slices
from arena.scores.comparisons import compute_duel, duel_sentences, holm_sentence
from arena.scores.leaderboard import PROVISIONAL_NOTICE, compute_provisional
from arena.scores.profiles.duels import events_needed, read_current_duel
from arena.scores.spending import read_spending, spending_sentences

MARKET = "market"


def rank(row: Mapping[str, Any]) -> str | None:
    """Return the places that an agent may really hold; `none` where it is ranked, but has no interval yet.

    >>> rank({"place_best": 1, "place_worst": 3}), rank({"place_best": None, "ranked": True})
    ('1-3', 'none')
    """
    best = row["place_best"]
    if best is None:
        return "none" if row["ranked"] else None
    worst = row["place_worst"]
    return str(best) if best == worst else f"{best}-{worst}"


def small_dollars(usd: float) -> str:
    """Dollars and cents; an amount below a cent with all that it has.

    >>> small_dollars(1.1016), small_dollars(0.0042), small_dollars(0)
    ('$1.10', '$0.0042', '$0.00')
    """
    return f"${usd:.4f}" if 0 < usd < 0.01 else f"${usd:,.2f}"


BAR_CELLS = 21


def interval_bar(row: Mapping[str, Any]) -> str | None:
    """The interval as a bar, from −0.05 to 0.05; what lies beyond is an arrow.

    >>> interval_bar({"skill": 0.02, "skill_low": -0.01, "skill_high": 0.07})
    '········├─┼───●─────▶'
    """
    if row["skill_low"] is None:
        return None
    low, middle, high = (
        round((row[key] + 0.05) * 10 * (BAR_CELLS - 1)) for key in ("skill_low", "skill", "skill_high")
    )
    cells = ["─" if low <= place <= high else "·" for place in range(BAR_CELLS)]
    cells[BAR_CELLS // 2] = "┼" if low <= BAR_CELLS // 2 <= high else "│"
    last = BAR_CELLS - 1
    cells[min(max(low, 0), last)] = "├" if 0 <= low <= last else "◀" if low < 0 else "▶"
    cells[min(max(high, 0), last)] = "┤" if 0 <= high <= last else "▶" if high > last else "◀"
    cells[min(max(middle, 0), last)] = "●" if 0 <= middle <= last else cells[min(max(middle, 0), last)]
    return "".join(cells)


AGENT = TableColumn("agent", narrow="cut middle")
TOOLS = TableColumn("tools", value=lambda row: "tools" if row["tools"] else None, gives_way=3)
SKILL = TableColumn("skill", show="+.4f")
COLUMNS = (
    TableColumn("rank", value=rank),
    AGENT,
    TOOLS,
    SKILL,
    TableColumn("interval", "95% interval", value=between("skill_low", "skill_high")),
    VERDICT,
    TableColumn("evidence", show=times_text, gives_way=2),
    TableColumn("ties", show=tie_letters, gives_way=4),
    TableColumn("interval_bar", "-0.05 … 0.05", value=interval_bar, gives_way=7),
    TableColumn("skill_low", "bound", "+.4f", 5),
    TableColumn("skill_low_by_week", "by week", "+.4f", 6),
    TableColumn("brier_stated", "stated", ".4f", 2),
    TableColumn("brier_market", "market", ".4f", 3),
    TableColumn("brier_anchored", "anchored", ".4f", 5),
    TableColumn("brier_implied", "implied*", ".4f", 1),
    TableColumn("pnl", "P/L", lambda usd: signed_dollars(usd, 0), 1),
    TableColumn("return_pct", "return %", "+.2f", 4),
    TableColumn("cost_usd", "cost", small_dollars, 1),
    TableColumn("skill_per_dollar", "skill per $", "+.4f", 6),
    TableColumn("cost_per_forecast", "$ per forecast", ".6f", 6),
    TableColumn("coverage", "coverage", ".0%", 2),
    TableColumn("events", show=",d", gives_way=3),
    TableColumn("resolved", show=",d", gives_way=4),
    TableColumn("answered", show=",d", gives_way=6),
    TableColumn("shown", show=",d", gives_way=6),
    TableColumn("bets", show=",d", gives_way=5),
    TableColumn("win_rate", "win rate", ".0%", 6),
    TableColumn("peer", show="+.2f", gives_way=8, value="metaculus.peer"),
    TableColumn("baseline", show="+.2f", gives_way=8, value="metaculus.baseline"),
    TableColumn("spot_peer", "spot peer", "+.2f", 8, "metaculus.spot_peer"),
    TableColumn("relative", show="+.3f", gives_way=8, value="metaculus.relative"),
    TableColumn("coverage_in_time", "coverage in time", ".0%", 8, "metaculus.coverage"),
)
UNRANKED = (
    AGENT,
    TOOLS,
    TableColumn("why_not", "why not", narrow="wrap"),
    TableColumn("brier_implied", "implied*", ".4f", 1),
    TableColumn("pnl", "P/L", lambda usd: signed_dollars(usd, 0), 1),
    TableColumn("cost_usd", "cost", small_dollars, 1),
    TableColumn("win_rate", "win rate", ".0%", 2),
)
LEGEND = (
    "Skill: Brier points better than the market on the same forecasts. Rank: the range of places the data "
    "allow. Evidence: what $1 bet on its skill would be worth; {bar} is the bar. *Implied: the Brier score "
    "of its bets, with the stake alone read as confidence."
)
TURNS_AMISS = {"failed": "Failed turns", "late": "Late turns", "retried": "Turns retried after a failure"}
SLICES = (
    AGENT,
    SKILL,
    TableColumn("interval", "95% interval", value=between("low", "high")),
    TableColumn("markets", show=",d", gives_way=2),
    TableColumn("events", show=",d"),
    TableColumn("effective", "effective events", ".1f", 3),
    TableColumn("reason", "note", lambda text: text or "", 1, narrow="wrap"),
)
METACULUS = (
    AGENT,
    TableColumn("peer", show="+.2f"),
    TableColumn("peer_interval", "95% interval", value=between("peer_low", "peer_high", ".2f")),
    TableColumn("baseline", show="+.2f"),
    TableColumn(
        "baseline_interval",
        "95% interval",
        value=between("baseline_low", "baseline_high", ".2f"),
        gives_way=4,
    ),
    TableColumn("spot_peer", "spot peer", "+.2f", 2),
    TableColumn("spot_baseline", "spot baseline", "+.2f", 5),
    TableColumn("relative", show="+.3f", gives_way=3),
    TableColumn("coverage", show=".0%", gives_way=1),
    TableColumn(
        "answered", "questions", value=lambda row: f"{row['questions']:,} of {row['asked']:,}", gives_way=1
    ),
    TableColumn("outside", "", lambda yes: "outside" if yes else ""),
)
METACULUS_LEGEND = (
    "Metaculus's scores, averaged over each market's life in its cohort; spot: as it closed. Above 0 is "
    "better than the other agents (peer), or than 50% (baseline). Agents marked outside are not compared. "
    "Community: the recency-weighted median of all others."
)
PROVISIONAL = (
    AGENT,
    SKILL,
    TableColumn("brier_stated", "stated", ".4f"),
    TableColumn("brier_market", "market", ".4f"),
    TableColumn("forecasts", show=",d"),
    TableColumn("open", "still open", ",d"),
)


SliceBy = Literal["category", "horizon", "price", "cohort", "release"]


@command(table=True)
def leaderboard(
    chosen: Options,
    cohort: int | None = option("Only this cohort, by number.", min=1),
    by: SliceBy | None = option(
        "Split skill: horizon is the time to close, release the time since the model's release."
    ),
    provisional: bool = flag("Score open markets at their latest price."),
    metaculus: bool = flag("Show Metaculus's scores: peer, baseline, spot, relative."),
) -> None:
    """Show who forecasts well, and whether that means anything yet.

    Skill is the market's Brier score minus the agent's on the same forecasts: above 0 beats the price. Agents
    are sorted by the lower bound of its 95% interval. A lead is proven when that bound is above 0, by week of
    resolution too, and the evidence has reached the bar. Agents that answer less than 80% are not ranked. A
    dash means there is too little data.

    Example: arena leaderboard --by category

    Next: arena duel A B compares two agents; arena dashboard shows the curves.
    """
    if (by is not None) + provisional + metaculus > 1:
        what = "--by, --provisional and --metaculus can't be combined"
        raise ArenaError("two_views", what, "use one at a time", status=64)
    found = read(chosen.record(), cohort, by, provisional)
    if not chosen.json and not found.get("leaderboard", True):
        from arena.cli.check_next import next_step

        print(f"No agent has played yet. Next: {next_step(chosen.known())}")
    else:
        chosen.answer(found, _say_metaculus if metaculus else _say, found, chosen.table)


def _say_metaculus(found: Mapping[str, Any], choice: TableChoice) -> None:
    if not found["metaculus"]:
        print("No market of a cohort has ended YES or NO yet.")
        return
    print_table(METACULUS, found["metaculus"], choice=choice)
    print_text(METACULUS_LEGEND)


def read(
    address: str, cohort: int | None, by: SliceBy | None = None, provisional: bool = False
) -> dict[str, Any]:
    """What is asked for, for JSON."""
    with Options(database=address).reading() as connection:
        about = {"cohort": cohort}
        if by is not None:
            found = slices.read_slices(connection, by, cohort)
            return about | {"by": by, "slices": [{"slice": x.slice} | asdict(x.gain) for x in found]}
        if provisional:
            rows = [asdict(x) | {"skill": x.skill} for x in compute_provisional(connection, cohort)]
            return about | {"provisional": PROVISIONAL_NOTICE, "leaderboard": rows}
        return about | read_leaderboard(connection, cohort)


def read_leaderboard(connection: Connection, cohort: int | None = None) -> dict[str, Any]:
    """The leaderboard of a record: the sentence that leads it, and its rows."""

    from arena.scores import leaderboard

    found = asdict(leaderboard.read_leaderboard(connection, cohort))
    cohorts = [stored.cohort for stored in select_cohorts(read_cohorts(connection), cohort)]
    rows = found.pop("rows")
    simulated = {one.stamp for one in cohorts} == {"simulated"}
    later = {model: day for one in cohorts for model, day in one.later_models.items()}
    about = {"simulated": simulated, "thinking": _thinking(cohorts), "later_models": later}
    return found | about | {"leaderboard": rows}


def _thinking(cohorts: Sequence[Cohort]) -> list[dict[str, str]]:
    """How much each model was last asked to think; the demo's think not at all."""
    asked = {
        entrant.name: entrant.settings.get("reasoning") or "provider's default"
        for one in cohorts
        for entrant in one.entrants
        if (model := entrant.settings.get("model")) and not str(model).startswith("demo/")
    }
    return [{"agent": name, "reasoning": str(effort)} for name, effort in asked.items()]


def _say(found: Mapping[str, Any], choice: TableChoice) -> None:
    if "slices" in found:
        for name in dict.fromkeys(row["slice"] for row in found["slices"]):
            rows = [row for row in found["slices"] if row["slice"] == name]
            print_table(SLICES, rows, plain(name), choice)
    elif "provisional" in found:
        print_table(PROVISIONAL, found["leaderboard"], choice=choice)
        print(f"{found['provisional'].capitalize()}.")
    else:
        print_leaderboard(found, choice)


def print_leaderboard(found: Mapping[str, Any], choice: TableChoice) -> None:
    """Who leads, and the leaderboard as a table."""
    print_text(found["sentence"])
    print()
    metaculus = {row["agent"]: row for row in found["metaculus"]}
    rows = [row | {"metaculus": metaculus.get(row["agent"])} for row in found["leaderboard"]]
    ranked = [row for row in rows if row["ranked"] or row["kind"] == MARKET]
    others = [row for row in rows if row not in ranked]
    print_table(COLUMNS, ranked, choice=choice)
    if others:
        print_table(UNRANKED, others, "Not ranked")
    print_text(LEGEND.format(bar=times_text(found["bar"])))
    if found["simulated"]:
        print("Simulated markets, play money: these figures say nothing about real ones.")
    if found["noise"] is not None:
        print(f"Agents with the same settings differ by {found['noise']:.4f}: smaller gaps are noise.")
    for key, what in TURNS_AMISS.items():
        if named := [f"{row['agent']} {row[key]:,}" for row in found["leaderboard"] if row[key]]:
            print_text(f"{what}: {', '.join(named)}.")
    if words := thinking_words({each["agent"]: each["reasoning"] for each in found["thinking"]}):
        print_text(f"Thinking: {words}.")
    agents = [row for row in found["leaderboard"] if row["turns"]]
    if words := later_models_words(found["later_models"]):
        print_text(f"{words.capitalize()}.")
    said = {row["agent"]: row["stamps"] for row in found["leaderboard"]}
    _say_of(said, str.capitalize)
    tools = {row["agent"]: [", ".join(row["tools"])] if row["tools"] else [] for row in agents}
    _say_of(tools, "Tools: {}".format)
    _say_of({row["agent"]: [row["depth"]] if row["depth"] else [] for row in agents}, "P/L: {}".format)


def _say_of(said: Mapping[str, Sequence[str]], form: Callable[[str], str]) -> None:
    """What has to be said of agents, each once, and of whom."""
    for words in dict.fromkeys(each for own in said.values() for each in own):
        named = [agent for agent, own in said.items() if words in own]
        print_text(f"{form(words)} ({'all' if len(named) == len(said) else ', '.join(named)}).")


@command()
def duel(
    chosen: Options,
    one: str = argument("A", "An agent in the record."),
    other: str = argument("B", "Another one."),
    cohort: int | None = option("Only this cohort, by number.", min=1),
) -> None:
    """Compare the forecasts of two agents, on the markets and in the rounds that both were shown.

    The gap is B's Brier score minus A's: above 0, A is ahead. Markets of one event count as one; below 20
    events nothing is concluded. Agents that share no markets are compared by skill. To compare prompts,
    temperatures or tools, duel two agents that use the same model. The gap per extra dollar includes tool
    steps, but not the fees of paid sources.

    The p-value is for this pair alone. If you picked the most striking of many pairs, use the adjusted one,
    shown once `arena run` or the dashboard has compared them all.

    Example: arena duel sharp hasty

    Next: arena leaderboard
    """
    if one == other:
        raise ArenaError(
            "one_agent", f"{one} can't duel itself", "arena agents list shows the others", status=64
        )
    with chosen.reading() as connection:
        found = compute_duel(connection, one, other, cohort)
        spending = read_spending(connection, found, cohort)
        of_all = read_current_duel(connection, one, other) if cohort is None else None
    needed = events_needed(found)
    holm = "" if of_all is None else holm_sentence(of_all)
    sentences = (*duel_sentences(found, needed), holm, *spending_sentences(spending))
    data = {"cohort": cohort} | asdict(found) | {"adjusted": None if of_all is None else of_all.adjusted}
    verdict = {"winner": found.winner(), "events_needed": needed, "spending": asdict(spending)}
    chosen.answer(data | verdict, print_text, "\n".join(filter(None, sentences)))
