"""`arena cohorts`: who started when, how each stands, what was frozen, and who decides."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict
from datetime import datetime
from typing import Any

import typer

from agents.secrets import without_credentials
from arena.cli.check_next import next_step
from arena.cli.cohort_diff import NUMBER, by_rounds, numbered, versions_data
from arena.cli.options import BASELINES, Options, command, flag, instant, option
from arena.cli.output import attributes, exact, minute, plain, prints_aside, signed_dollars, typed
from arena.cli.page import json_rows, print_table, print_text
from arena.cli.table import TableChoice, TableColumn
from arena.clock import now
from arena.cohorts.diff import setting_text, value_in_words
from arena.cohorts.freeze import plan_of, stamp_of
from arena.config import Config
from arena.config.sections import CohortsSection
from arena.errors import ArenaError, count_text
from arena.record.hashes import round_heads
from arena.record.model.cohort import Cohort
from arena.record.queries.accounts import read_cohort_depths
from arena.record.queries.audits import read_audit_counts
from arena.record.queries.cohorts import StoredCohort, read_newest_time
from arena.record.queries.progress import (
    code_versions,
    read_frozen_cohort,
    read_played_turns,
    read_waiting_agents,
    status_counts,
)
from arena.record.record import Record
from arena.record.schema.database import Connection, OlderRecord, connect
from arena.record.write.cohorts import pause_cohort, stop_cohort
from arena.rounds.season import CohortOverview, check_manual_start, cohort_overviews, manual_start_time
from arena.rounds.season import begin_cohort as start_cohort
from arena.scores.profiles.cohort_scores import read_cohort_scores

STATUSES = ("played", "partly", "malformed", "declined", "failed", "late", "out", "waiting")


def _profit(which: Any) -> Any:
    return lambda found: exact(which(found.profits.values())) if found.profits else None


COLUMNS = (
    TableColumn("cohort", value="cohort.number"),
    TableColumn("starts_at", "start (UTC)", minute, 0, "cohort.starts_at"),
    TableColumn("state"),
    TableColumn("rounds_over", "over", ",d", 2, "done"),
    TableColumn("rounds", "rounds", ",d", 2, "cohort.rounds"),
    TableColumn("next_at", "next (UTC)", minute, 1),
    TableColumn("agents", show=",d", gives_way=4, value=lambda found: len(found.cohort.entrants)),
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
ROUNDS = TableColumn("rounds", value=lambda found: f"{found.done} of {found.cohort.rounds}", gives_way=2)
LISTED = [ROUNDS if column.name == "rounds" else column for column in COLUMNS if column.name != "rounds_over"]
"""The same as people read them."""
STATES = (
    "playing: decides as its rounds come due; paused: until resumed; stopped: ended by hand; tracked: has no "
    "rounds left, or newer cohorts decide; ended: nothing is open."
)


def calibration_text(score: Mapping[str, Any]) -> str | None:
    """What an agent says and how often it happens, in per cent: unlikely, open, likely.

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


def _settings_text(entrant: Mapping[str, Any]) -> str:
    return plain(
        setting_text({key: x for key, x in entrant["settings"].items() if x not in (None, {}, [], "")})
    )


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


@command(table=True)
def list_cohorts(chosen: Options) -> None:
    """List the cohorts: start, state, rounds, next decision, agents, open positions, profit and loss.

    A cohort is playing, paused, stopped (by `arena admin cohort end`), tracked (it has no rounds left, or
    newer ones decide in its place) or ended.

    Example: arena show cohorts

    Next: arena show cohort N
    """
    with chosen.planned() as (config, connection):
        found = overviews(connection, config)
    chosen.answer({"cohorts": json_rows(COLUMNS, found)}, _say_list, found, chosen.table)


def overviews(connection: Connection, config: Config | None) -> list[CohortOverview]:
    """Every cohort at a glance, by the clock and the config; where there is none, by its defaults."""
    rules = CohortsSection() if config is None else config.cohorts
    return cohort_overviews(connection, rules.keep_deciding, now())


def _say_list(found: Sequence[CohortOverview], choice: TableChoice) -> None:
    if not found:
        print(f"No cohort has started yet. Next: {typed('run --round')}, or {typed('admin cohort start')}")
        return
    print_table(LISTED, found, choice=choice)
    print_text(STATES)
    print(f"Next: {typed(f'cohorts show {found[-1].cohort.number}')}")


@command(table=True)
def show(chosen: Options, number: str = NUMBER) -> None:
    """Show one cohort: how its agents stand, how its turns ended, and what it froze when it started.

    `config` is the SHA-256 of the config file that it started from; the head is a hash of all that was
    frozen, seen and decided up to the last finished round. With --json, frozen amounts and prices are in
    millionths.

    Example: arena show cohort 1

    Next: arena show cohort N next
    """
    with chosen.planned() as (config, connection):
        every = overviews(connection, config)
        stored = numbered([each.stored for each in every], number)
        found = _read_all(connection, next(each for each in every if each.stored is stored))
    chosen.answer(found, say, found, chosen.table)


def _read_all(connection: Connection, found: CohortOverview) -> dict[str, Any]:
    turns, sealed = read_played_turns(connection, found.stored.id), round_heads(connection, found.stored.id)
    frozen, digest = read_frozen_cohort(connection, found.stored.id)
    ended, last = status_counts(turns), max(sealed)
    audit = read_audit_counts(connection, [found.cohort.number])
    (data,) = json_rows(COLUMNS, [found])
    return data | {
        "scores": read_cohort_scores(connection, found.cohort.number),
        "config_hash": found.cohort.config_hash or None,
        "frozen_hash": digest,
        "head": {"round": last, "head": sealed[last]},
        "waiting": read_waiting_agents(connection).get(found.stored.id, {}),
        "code_versions": versions_data(code_versions(turns)),
        "played": [
            {
                "round": begun_round.number,
                "at": begun_round.at,
                "over": begun_round.done,
                "turns": dict(sorted(ended.get(begun_round.number, {}).items())),
            }
            for begun_round in found.rounds
        ],
        "decide": str(found.cohort.cadence),
        "frozen": frozen,
        "audit": audit and asdict(audit) | {"words": audit.words},
        "depth": read_cohort_depths(connection).get(found.cohort.number),
        "replaced": [
            attributes(x, "name", "since", "prompts") | {"settings": without_credentials(x.settings)}
            for x in found.cohort.entrants
            if x.since
        ],
    }


def say(found: Mapping[str, Any], choice: TableChoice) -> None:
    """One cohort in words: how it stands, its rounds, then what it froze."""
    frozen = found["frozen"]
    coming = f", next decision {minute(found['next_at'])} UTC" if found["next_at"] else ""
    hand = " by hand" if found["by_hand"] else ""
    begun = f"Cohort {found['cohort']}, {found['state']}: started{hand} {minute(found['starts_at'])} UTC, "
    print_text(f"{begun}{found['rounds_over']} of {count_text(found['rounds'], 'round')} over{coming}.")
    print()
    if found["scores"]:
        print_table(SCORES, found["scores"], choice=choice)
        print_text(LEGEND)
        print()
    _say_rounds(found)
    for name, words in found["waiting"].items():
        print_text(f"{name} is {plain(words)}, and joins at the first round after it is set.\n")
    print_table(ENTRANTS, frozen["entrants"], "Frozen at the start")
    for one in found["replaced"]:
        name = plain(one["name"])
        words = f"{name} took new settings before its first good turn, used from round {one['since']} on: "
        print_text(f"{words}{typed(f'agents show {name}')}\n")
    _say_parts(found)
    lines = {"texts": found["audit"]["words"]} if found["audit"] else {}
    lines |= {f"prompt    {plain(name)}:": digest for name, digest in frozen["prompts"].items()}
    lines["seed"] = frozen["seed"]
    if found["code_versions"]:
        lines["code"] = plain(by_rounds(found["code_versions"]))
    lines["config"] = found["config_hash"] or "unknown: started by an earlier version"
    lines["frozen"] = found["frozen_hash"]
    lines["head"] = f"{found['head']['head']}, round {found['head']['round']}"
    for name, words in lines.items():
        print_text(f"{name:9} {words}", 10)
    print("Next:", typed(f"cohorts diff {found['cohort']} next"))


def _say_parts(found: Mapping[str, Any]) -> None:
    """Bankroll, rules, markets, venue and evidence, a line each."""
    frozen = found["frozen"]
    venue = {"from": frozen["stamp"], **frozen["venue_settings"]}
    evidence = frozen["evidence_settings"] | (frozen["guard"] if frozen["evidence"] != "none" else {})
    rules = {key: value for key, value in frozen["rules"].items() if key != "name"}
    parts = {
        "bankroll": (value_in_words("bankroll", frozen["bankroll"]), {"decide": found["decide"]}),
        "rules": (frozen["rules"]["name"] + f"; {found['depth']}" * bool(found["depth"]), rules),
        "markets": ("", frozen["universe"]),
        "venue": (frozen["venue"], venue),
        "evidence": (frozen["evidence"], evidence),
    }
    for title, (name, values) in parts.items():
        known = {key.replace("_", " "): value_in_words(key, x) for key, x in values.items() if x is not None}
        said = [name, *(f"{key} {value}" for key, value in known.items())]
        print_text(f"{title:9} {plain('; '.join(part for part in said if part))}", 10)


def _say_rounds(found: Mapping[str, Any]) -> None:
    occurred = [one for one in STATUSES if any(one in each["turns"] for each in found["played"])]
    rows = [
        (
            each["round"],
            minute(each["at"]),
            "" if each["over"] else "under way",
            *(each["turns"].get(one, 0) for one in occurred),
        )
        for each in found["played"]
    ]
    if rows:
        print_table(("round", "decided (UTC)", "", *occurred), rows)
    else:
        print("No round has started yet.\n")


@command(plays=True)
def start(
    chosen: Options,
    at: str | None = option("When it starts, such as 2026-01-07T12:00Z.", "TIME"),
    baselines: bool = BASELINES,
) -> None:
    """Start a cohort from the current config, in addition to the scheduled ones.

    Without --at it starts now on a live venue, otherwise at the next decision time. It counts among the
    newest cohorts, so an older one may stop deciding. The schedule is unaffected.

    Example: arena admin cohort start --at 2026-01-07T00:00Z

    Next: arena run --round
    """
    wanted = None if at is None else instant(at)
    with prints_aside():
        settings = chosen.load_to_play(os.environ, beside=True)
        cohort = begin(settings, wanted, baselines)
    names = [entrant.name for entrant in cohort.entrants]
    told = attributes(cohort, "starts_at", "by_hand", "rounds", "config_hash")
    whose = "" if cohort.by_hand else " (as scheduled)"
    words = f"Cohort {cohort.number} starts on {minute(cohort.starts_at)} UTC{whose}: "
    words += f"{count_text(cohort.rounds, 'round')}; agents {', '.join(names)}\nNext: {next_step(settings)}"
    chosen.answer({"cohort": cohort.number, "agents": names} | told, print, words)


def begin(config: Config, wanted: datetime | None, baselines: bool) -> Cohort:
    """Start it in the record, at the wanted time or as soon as can be."""
    live, clock = stamp_of(config) == "live", now()
    with closing(Record.open(config.database)) as record:
        plan = plan_of(config, clock, record.begun(), None if baselines else os.environ)
        known, looked = record.cohorts(), record.read(read_newest_time)
        at = wanted or manual_start_time(plan, known, looked, live, clock)
        check_manual_start(at, known, looked, live, clock)
        return start_cohort(at, plan, record)


@command()
def end(chosen: Options, number: str = NUMBER, yes: bool = flag("Do not ask for confirmation.")) -> None:
    """End a cohort for good: it makes no more decisions, and is tracked until its last position settles.

    Nothing is sold. Missing turns of a round in progress count as late. arena admin cohort pause stops it
    temporarily.

    Example: arena admin cohort end 3 --yes

    Next: arena show cohorts
    """
    with chosen_cohort(chosen.record(), number, stopped_too=True) as (record, stored):
        fresh = stored.stopped_at is None
        if fresh and not yes and chosen.json:
            raise ArenaError("not_asked", "--json can't ask for confirmation", "add --yes")
        if fresh:
            question = f"Cohort {number} will make no more decisions, ever. End it?"
            if not yes and not typer.confirm(question, err=True):
                raise ArenaError("not_done", "nothing was changed", "")
            record.write_unfenced(stop_cohort, stored.id, now())
    _tell(chosen, number, "stopped", fresh, "makes no more decisions", "cohorts list")


@command()
def pause(
    chosen: Options,
    number: str = NUMBER,
    resume: bool = flag("Let a paused cohort decide again, from its next round on."),
) -> None:
    """Pause a cohort: it makes no decisions until resumed. Its positions are still settled and valued.

    Rounds that come due meanwhile are missed, and so are the missing turns of a round in progress.

    Example: arena admin cohort pause 3

    Next: arena admin cohort pause 3 --resume
    """
    with chosen_cohort(chosen.record(), number) as (record, stored):
        fresh = (stored.paused_at is None) != resume
        if fresh and not resume:
            with chosen.planned() as (config, connection):
                state = next(x.state for x in overviews(connection, config) if x.stored.id == stored.id)
            if state == "tracked":
                message = f"cohort {number} makes no more decisions: no rounds are left, or newer ones decide"
                raise ArenaError("tracked", message, "its positions are settled and valued either way")
        if fresh:
            record.write_unfenced(pause_cohort, stored.id, None if resume else now())
    if resume:
        _tell(chosen, number, "resumed", fresh, "decides again", "cohorts list")
    else:
        _tell(chosen, number, "paused", fresh, "is paused", f"cohorts pause {number} --resume")


@contextmanager
def chosen_cohort(
    address: str, number: str, stopped_too: bool = False
) -> Iterator[tuple[Record, StoredCohort]]:
    """A cohort that has not ended, in a record that is there."""
    with suppress(OlderRecord):  # it is there, and brought up to date as it is opened
        connect(address, read_only=True).dispose()
    with closing(Record.open(address)) as record:
        stored = numbered(record.cohorts(), number)
        if stored.ended_at is not None:
            message = f"cohort {number} ended on {minute(stored.ended_at)} UTC"
            raise ArenaError("ended", message, "arena show cohorts shows the others")
        if stored.stopped_at is not None and not stopped_too:
            message = f"cohort {number} was ended by hand and makes no more decisions"
            raise ArenaError("stopped", message, "arena admin cohort start starts another")
        yield record, stored


def _tell(chosen: Options, number: str, done: str, fresh: bool, words: str, following: str) -> None:
    end = "." if fresh else " already; nothing was changed."
    told = f"Cohort {number} {words}{end}\nNext: {typed(following)}"
    chosen.answer({"cohort": int(number), done: True, "changed": fresh}, print, told)
