"""Cohorts: when each started, how it stands, and what it froze."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from agents.secrets import without_credentials
from arena.cli.cohort_diff import by_rounds, numbered, versions_data
from arena.cli.options import Options
from arena.cli.output import Data, attributes, exact, minute, plain, signed_dollars, typed
from arena.cli.page import Block, Fields
from arena.cli.table import Table, TableChoice, TableColumn
from arena.clock import now
from arena.cohorts.diff import setting_text, value_in_words
from arena.config import Config
from arena.config.sections import CohortsSection
from arena.errors import count_text
from arena.record.hashes import round_heads
from arena.record.queries.accounts import read_cohort_depths
from arena.record.queries.audits import read_audit_counts
from arena.record.queries.progress import (
    code_versions,
    read_frozen_cohort,
    read_played_turns,
    read_waiting_agents,
    status_counts,
)
from arena.record.schema.database import Connection
from arena.rounds.season import CohortOverview, cohort_overviews
from arena.scores.profiles.cohort_scores import read_cohort_scores

STATUSES = ("played", "partly", "malformed", "declined", "failed", "late", "out", "waiting")


def _profit(pick: Callable[[Iterable[int]], int]) -> Callable[[CohortOverview], float | None]:
    """Return what picks the profit of one agent of a cohort, in dollars."""
    return lambda cohort: exact(pick(cohort.profits.values())) if cohort.profits else None


COLUMNS = (
    TableColumn("cohort", value="cohort.number"),
    TableColumn("starts_at", "start (UTC)", minute, 0, "cohort.starts_at"),
    TableColumn("state"),
    TableColumn("rounds_over", "over", ",d", 2, "done"),
    TableColumn("rounds", "rounds", ",d", 2, "cohort.rounds"),
    TableColumn("next_at", "next (UTC)", minute, 1),
    TableColumn("agents", show=",d", gives_way=4, value=lambda cohort: len(cohort.cohort.entrants)),
    TableColumn("open_positions", "open", ",d", 3, "open"),
    TableColumn("pnl_low", "P/L from", signed_dollars, 1, _profit(min)),
    TableColumn("pnl_high", "to", signed_dollars, 1, _profit(max)),
    TableColumn("venue", gives_way=7, value="cohort.venue"),
    TableColumn("stamp", gives_way=8, value="cohort.stamp"),
    TableColumn("by_hand", "by hand", lambda yes: "yes" if yes else "", 6, "cohort.by_hand"),
    TableColumn("paused_at", "paused (UTC)", minute, 9, "stored.paused_at"),
    TableColumn("stopped_at", "stopped (UTC)", minute, 9, "stored.stopped_at"),
    TableColumn("ended_at", "ended (UTC)", minute, 9, "stored.ended_at"),
    TableColumn("corrected_at", "corrected (UTC)", minute, 9, "stored.corrected_at"),
)
ROUNDS = TableColumn("rounds", value=lambda cohort: f"{cohort.done} of {cohort.cohort.rounds}", gives_way=2)
LISTED = [ROUNDS if column.name == "rounds" else column for column in COLUMNS if column.name != "rounds_over"]
"""The same as people read them."""
STATES = (
    "playing: decides as its rounds come due; paused: until resumed; stopped: ended by hand; tracked: has no "
    "rounds left, or newer cohorts decide; ended: nothing is open."
)


def calibration_text(score: Data) -> str | None:
    """Return what an agent says and how often it happens, in per cent: unlikely, open, likely.

    >>> calibration_text({"calibration": [{"says": 0.2, "happens": 0.172}, {"says": 0.801, "happens": 0.78}]})
    '20→17    –    80→78'
    """
    if not score["calibration"]:
        return None
    parts = ["–"] * 3
    for band in score["calibration"]:
        place = (band["says"] >= 0.3) + (band["says"] >= 0.7)
        parts[place] = f"{100 * band['says']:.0f}→{100 * band['happens']:.0f}"
    return "  ".join(f"{part:^5}" for part in parts)


def _settings_text(entrant: Data) -> str:
    """Return the settings of an entrant that are set."""
    settings = entrant["settings"].items()
    return plain(setting_text({key: value for key, value in settings if value not in (None, {}, [], "")}))


ENTRANTS = (
    TableColumn("name", "agent", narrow="wrap"),
    TableColumn("kind"),
    TableColumn("settings", value=_settings_text, narrow="wrap"),
)
SCORES = (
    TableColumn("agent", narrow="cut middle"),
    TableColumn("pnl", "P/L", signed_dollars),
    TableColumn("return_pct", "return %", "+.1f", 2),
    TableColumn("brier_implied", "implied\nBrier*", ".4f"),
    TableColumn("calibration", "calibration,\nsays→happens %", value=calibration_text),
    TableColumn("resolved", show=",d", gives_way=1),
    TableColumn("brier_stated", "stated Brier", ".4f", 3),
    TableColumn("brier_market", "market Brier", ".4f", 4),
)
LEGEND = (
    "Calibration, 20→17: of what was called 20% likely, 17% happened (forecasts below 30%, from 30 to 70%, "
    "above). *Implied: the founding text's Brier score of its bets, with the stake alone read as confidence; "
    "lower is better."
)


def list_cohorts(chosen: Options) -> None:
    """Answer with every cohort and how it stands."""
    with chosen.planned() as (config, connection):
        cohorts = overviews(connection, config)
    chosen.answer({"cohorts": Table(COLUMNS, cohorts).data()}, list_page, cohorts, chosen.table)


def overviews(connection: Connection, config: Config | None) -> list[CohortOverview]:
    """Return every cohort at a glance, by the clock and the config; where there is none, by its defaults."""
    rules = CohortsSection() if config is None else config.cohorts
    return cohort_overviews(connection, rules.keep_deciding, now())


def list_page(cohorts: Sequence[CohortOverview], choice: TableChoice) -> Iterator[Block]:
    """Yield the cohorts, and what their states mean."""
    if not cohorts:
        start = typed("admin cohort start")
        yield f"No cohort has started yet. Next: {typed('run --round')}, or {start}"
        return
    yield Table(LISTED, cohorts, choice=choice)
    yield STATES
    yield f"Next: {typed(f'show cohort {cohorts[-1].cohort.number}')}"


def show_cohort(chosen: Options, number: str) -> None:
    """Answer with one cohort: how its agents stand, how its turns ended, and what it froze."""
    with chosen.planned() as (config, connection):
        every = overviews(connection, config)
        stored = numbered([cohort.stored for cohort in every], number)
        (cohort,) = (cohort for cohort in every if cohort.stored is stored)
        data = _cohort_data(connection, cohort)
    chosen.answer(data, cohort_page, data, chosen.table)


def _cohort_data(connection: Connection, cohort: CohortOverview) -> dict[str, Any]:
    """Return all that the record has of a cohort, for JSON."""
    number = cohort.cohort.number
    turns = read_played_turns(connection, cohort.stored.id)
    ended = status_counts(turns)
    heads = round_heads(connection, cohort.stored.id)
    frozen, digest = read_frozen_cohort(connection, cohort.stored.id)
    audit = read_audit_counts(connection, [number])

    played = []
    for begun in cohort.rounds:
        statuses = dict(sorted(ended.get(begun.number, {}).items()))
        played.append({"round": begun.number, "at": begun.at, "over": begun.done, "turns": statuses})
    replaced = []
    for entrant in cohort.cohort.entrants:
        if entrant.since:
            settings = without_credentials(entrant.settings)
            replaced.append(attributes(entrant, "name", "since", "prompts") | {"settings": settings})

    (data,) = Table(COLUMNS, [cohort]).data()
    return data | {
        "scores": read_cohort_scores(connection, number),
        "config_hash": cohort.cohort.config_hash or None,
        "frozen_hash": digest,
        "head": {"round": max(heads), "head": heads[max(heads)]},
        "waiting": read_waiting_agents(connection).get(cohort.stored.id, {}),
        "code_versions": versions_data(code_versions(turns)),
        "played": played,
        "decide": str(cohort.cohort.cadence),
        "frozen": frozen,
        "audit": audit and asdict(audit) | {"words": audit.words},
        "depth": read_cohort_depths(connection).get(number),
        "replaced": replaced,
    }


def cohort_page(data: Data, choice: TableChoice) -> Iterator[Block]:
    """Yield how a cohort stands, its rounds, then what it froze."""
    yield f"{_standing(data)}.\n"

    if data["scores"]:
        yield Table(SCORES, data["scores"], choice=choice)
        yield f"{LEGEND}\n"
    yield from _round_blocks(data["played"])
    for name, words in data["waiting"].items():
        yield f"{name} is {plain(words)}, and joins at the first round after it is set.\n"

    frozen = data["frozen"]
    yield Table(ENTRANTS, frozen["entrants"], "Frozen at the start")
    for entrant in data["replaced"]:
        since = f"used from round {entrant['since']} on"
        more = typed(f"show agent {entrant['name']}")
        yield f"{plain(entrant['name'])} took new settings before its first good turn, {since}: {more}\n"

    fields = _frozen_fields(data)
    if data["audit"]:
        fields["texts"] = data["audit"]["words"]
    if frozen["prompts"]:
        hashes = [f"{plain(name)}: {digest}" for name, digest in frozen["prompts"].items()]
        fields["prompts"] = ", ".join(hashes)
    fields["seed"] = frozen["seed"]
    if data["code_versions"]:
        fields["code"] = plain(by_rounds(data["code_versions"]))
    fields["config"] = data["config_hash"] or "unknown: started by an earlier version"
    fields["frozen"] = data["frozen_hash"]
    fields["head"] = f"{data['head']['head']} (round {data['head']['round']})"
    yield Fields(fields)
    next_one = f"show cohort {data['cohort']} next"
    yield f"Next: {typed(next_one)}"


def _standing(data: Data) -> str:
    """Return when a cohort started, how many of its rounds are over, and when it decides next."""
    words = f"Cohort {data['cohort']}, {data['state']}: started "
    if data["by_hand"]:
        words += "by hand "
    words += f"{minute(data['starts_at'])} UTC, "
    words += f"{data['rounds_over']} of {count_text(data['rounds'], 'round')} over"
    if data["next_at"]:
        words += f", next decision {minute(data['next_at'])} UTC"
    return words


def _frozen_fields(data: Data) -> dict[str, str]:
    """Return the bankroll, rules, markets, venue and evidence that a cohort froze."""
    frozen = data["frozen"]
    rules = dict(frozen["rules"])
    rules_name = rules.pop("name")
    if data["depth"]:
        rules_name += f"; {data['depth']}"
    evidence = dict(frozen["evidence_settings"])
    if frozen["evidence"] != "none":
        evidence |= frozen["guard"]

    parts: dict[str, tuple[str, Data]] = {
        "bankroll": (value_in_words("bankroll", frozen["bankroll"]), {"decide": data["decide"]}),
        "rules": (rules_name, rules),
        "markets": ("", frozen["universe"]),
        "venue": (frozen["venue"], {"from": frozen["stamp"], **frozen["venue_settings"]}),
        "evidence": (frozen["evidence"], evidence),
    }
    fields = {}
    for title, (name, settings) in parts.items():
        words = [name] if name else []
        for key, value in settings.items():
            if value is not None:
                words.append(f"{key.replace('_', ' ')} {value_in_words(key, value)}")
        fields[title] = plain("; ".join(words))
    return fields


def _round_blocks(rounds: Sequence[Data]) -> Iterator[Block]:
    """Yield the rounds that have begun, with how many turns of each ended how."""
    if not rounds:
        yield "No round has started yet.\n"
        return
    occurred = [status for status in STATUSES if any(status in begun["turns"] for begun in rounds)]
    rows = []
    for begun in rounds:
        over = "" if begun["over"] else "under way"
        counts = [begun["turns"].get(status, 0) for status in occurred]
        rows.append((begun["round"], minute(begun["at"]), over, *counts))
    yield Table(("round", "decided (UTC)", "", *occurred), rows)
