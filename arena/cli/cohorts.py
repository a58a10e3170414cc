"""The cohorts: when each started, its state, and what it froze."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict

from arena.cli.cohort_diff import by_rounds, versions_data
from arena.cli.options import Options
from arena.cli.output import (
    Data,
    attributes,
    command_line,
    from_millionths,
    minute_text,
    plain,
    signed_dollars,
)
from arena.cli.page import Fields, Page
from arena.cli.table import Table, TableChoice, TableColumn
from arena.clock import now
from arena.cohorts.diff import setting_text, value_in_words
from arena.config import Config
from arena.config.sections import CohortsSection
from arena.errors import count_text
from arena.record.queries.answers import count_kinds
from arena.record.queries.cohorts import numbered_cohort
from arena.record.schema.database import Connection
from arena.rounds.cohort_report import CohortReport, RoundStatuses, read_cohort_report
from arena.rounds.season import CohortOverview, cohort_overviews
from markets.distributions import question_kind

STATUSES = ("played", "partly", "malformed", "declined", "failed", "late", "out", "waiting")


def _profit(pick: Callable[[Iterable[int]], int]) -> Callable[[CohortOverview], float | None]:
    """Return a function that picks one agent's profit of a cohort, in dollars."""

    def picked_profit(overview: CohortOverview) -> float | None:
        """Return the profit; None before the first mark."""
        if not overview.profits:
            return None
        return from_millionths(pick(overview.profits.values()))

    return picked_profit


def _event_time_column(event: str) -> TableColumn:
    """Return the column with the time of an event of a cohort."""
    return TableColumn(f"{event}_at", f"{event} (UTC)", minute_text, 9, f"stored.{event}_at")


START = (
    TableColumn("cohort", value="cohort.number"),
    TableColumn("starts_at", "start (UTC)", minute_text, 0, "cohort.starts_at"),
    TableColumn("state"),
)
REST = (
    TableColumn("next_at", "next (UTC)", minute_text, 1),
    TableColumn("agents", None, ",d", 4, lambda overview: len(overview.cohort.entrants)),
    TableColumn("open_positions", "open", ",d", 3, "open"),
    TableColumn("pnl_low", "P/L from", signed_dollars, 1, _profit(min)),
    TableColumn("pnl_high", "to", signed_dollars, 1, _profit(max)),
    TableColumn("venue", gives_way=7, value="cohort.venue"),
    TableColumn("stamp", gives_way=8, value="cohort.stamp"),
    TableColumn("by_hand", "off schedule", lambda by_hand: "yes" if by_hand else "", 6, "cohort.by_hand"),
    *map(_event_time_column, ("paused", "stopped", "ended", "corrected")),
)
ROUNDS_OVER = TableColumn("rounds_over", "over", ",d", 2, "done")
ROUNDS = TableColumn("rounds", "rounds", ",d", 2, "cohort.rounds")
COLUMNS = (*START, ROUNDS_OVER, ROUNDS, *REST)
DONE = TableColumn("rounds", value=lambda cohort: f"{cohort.done} of {cohort.cohort.rounds}", gives_way=2)
LISTED = (*START, DONE, *REST)
"""The columns of the list in a terminal."""
STATES = (
    "playing: decides as its rounds come due; paused: until resumed; stopped: ended by hand; tracked: has no "
    "rounds left, or newer cohorts decide; ended: nothing is open."
)


def _settings_text(entrant: Data) -> str:
    """Return the settings of an entrant that have a value."""
    settings = entrant["settings"]
    set_values = {key: value for key, value in settings.items() if value not in (None, {}, [], "")}
    return plain(setting_text(set_values))


ENTRANTS = (
    TableColumn("name", "agent", narrow="wrap"),
    TableColumn("kind"),
    TableColumn("settings", value=_settings_text, narrow="wrap"),
)


def list_cohorts(chosen: Options) -> None:
    """Print every cohort and its state."""
    with chosen.config_and_record() as (config, connection):
        cohorts = overviews(connection, config)
    chosen.print_answer({"cohorts": Table(COLUMNS, cohorts).data()}, list_page, cohorts, chosen.table_choice)


def overviews(connection: Connection, config: Config | None) -> list[CohortOverview]:
    """Return an overview of every cohort as of now, by the settings of the config or their defaults."""
    rules = CohortsSection() if config is None else config.cohorts
    return cohort_overviews(connection, rules.keep_deciding, now())


def list_page(cohorts: Sequence[CohortOverview], choice: TableChoice) -> Page:
    """Yield the table of cohorts, and the meaning of their states."""
    if not cohorts:
        start = command_line("admin cohort start")
        yield f"No cohort has started yet. Next: {command_line('run --round')}, or {start}"
        return
    yield Table(LISTED, cohorts, choice=choice)
    yield STATES
    yield f"Next: {command_line(f'show cohort {cohorts[-1].cohort.number}')}"


def show_cohort(chosen: Options, number: str) -> None:
    """Print one cohort: how its turns ended, and what it froze."""
    with chosen.config_and_record() as (config, connection):
        all_overviews = overviews(connection, config)
        stored = numbered_cohort([cohort.stored for cohort in all_overviews], number)
        (overview,) = (cohort for cohort in all_overviews if cohort.stored is stored)
        report = read_cohort_report(connection, overview)
        kinds = count_kinds(connection, overview.cohort.number)

    (data,) = Table(COLUMNS, [overview]).data()
    data |= asdict(report)
    if report.audit:
        data["audit"]["words"] = report.audit.words
    data["head"] = attributes(report.head, "round", "head")
    data["code_versions"] = versions_data(report.code_versions)
    if kinds:
        data["kinds"] = kinds
    chosen.print_answer(data, cohort_page, overview, report, kinds)


def cohort_page(overview: CohortOverview, report: CohortReport, kinds: Mapping[str, int]) -> Page:
    """Yield the state of a cohort, the kinds of its questions, its rounds, then what it froze."""
    yield f"{_standing(overview)}.\n"
    if kinds:
        counts = [f"{count:,} {question_kind(kind).TITLE}" for kind, count in kinds.items()]
        yield f"Questions shown: {', '.join(counts)}.\n"

    yield from _round_blocks(report.played)
    for name, words in report.waiting.items():
        yield f"{name} is {plain(words)}, and joins at the first round after it is set.\n"

    frozen = report.frozen
    yield Table(ENTRANTS, frozen["entrants"], "Frozen at the start")
    for entrant in report.replaced:
        name = plain(entrant.name)
        show_agent = command_line(f"show agent {entrant.name}")
        since = f"used from round {entrant.since} on"
        yield f"{name} took new settings before its first good turn, {since}: {show_agent}\n"

    fields = _frozen_fields(report)
    if report.audit:
        fields["texts"] = report.audit.words
    if frozen["prompts"]:
        hashes = [f"{plain(name)}: {digest}" for name, digest in frozen["prompts"].items()]
        fields["prompts"] = ", ".join(hashes)
    fields["seed"] = frozen["seed"]
    if report.code_versions:
        fields["code"] = plain(by_rounds(versions_data(report.code_versions)))
    fields |= {
        "config": report.config_hash or "unknown: started by an earlier version",
        "frozen": report.frozen_hash,
        "head": f"{report.head.head} (round {report.head.round})",
    }
    yield Fields(fields)
    number = overview.cohort.number
    yield f"Next: {command_line(f'board --cohort {number}')}, or {command_line(f'show cohort {number} next')}"


def _standing(overview: CohortOverview) -> str:
    """Return a cohort's start, the number of its rounds that are over, and its next decision."""
    cohort = overview.cohort
    sentence = f"Cohort {cohort.number}, {overview.state}: started "
    if cohort.by_hand:
        sentence += "off schedule "
    sentence += f"{minute_text(cohort.starts_at)} UTC, "
    sentence += f"{overview.done} of {count_text(cohort.rounds, 'round')} over"
    if overview.next_at:
        sentence += f", next decision {minute_text(overview.next_at)} UTC"
    return sentence


def _frozen_fields(report: CohortReport) -> dict[str, str]:
    """Return the bankroll, rules, markets, venue and evidence that a cohort froze, by label."""
    frozen = report.frozen
    rules = dict(frozen["rules"])
    has_money = rules.pop("money", True)
    rules_name = rules.pop("name")
    if report.depth:
        rules_name += f"; {report.depth}"

    venue = {"from": frozen["stamp"]} | frozen["venue_settings"]
    evidence = dict(frozen["evidence_settings"])
    if frozen["evidence"] != "none":
        evidence |= frozen["guard"]

    fields = {}
    bankroll = value_in_words("bankroll", frozen["bankroll"])
    pace = {"decide": report.decide, "hidden_rounds": frozen.get("hidden")}
    if has_money:
        fields["bankroll"] = _settings_line(bankroll, pace)
    else:
        fields["forecasts alone"] = _settings_line("", pace)
    return fields | {
        "rules": _settings_line(rules_name, rules),
        "markets": _settings_line("", frozen["universe"]),
        "venue": _settings_line(frozen["venue"], venue),
        "evidence": _settings_line(frozen["evidence"], evidence),
    }


def _settings_line(name: str, settings: Data) -> str:
    """Return a name, if there is one, and the settings that have a value."""
    parts = [name] if name else []
    for key, value in settings.items():
        if value is not None:
            label = key.replace("_", " ")
            parts.append(f"{label} {value_in_words(key, value)}")
    return plain("; ".join(parts))


def _round_blocks(rounds: Sequence[RoundStatuses]) -> Page:
    """Yield the rounds that have begun, with the counts of their turns by status."""
    if not rounds:
        yield "No round has started yet.\n"
        return

    used = set[str]().union(*(started.turns for started in rounds))
    used_statuses = [status for status in STATUSES if status in used]
    rows = []
    for started in rounds:
        state = "" if started.over else "under way"
        counts = [started.turns.get(status, 0) for status in used_statuses]
        rows.append((started.round, minute_text(started.at), state, *counts))
    yield Table(("round", "decided (UTC)", "", *used_statuses), rows)
