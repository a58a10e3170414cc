"""One agent in depth, for JSON and in words. What a provider says of itself is shown as text."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from arena.cli.cohort_diff import by_rounds
from arena.cli.output import minute, plain, program, signed_dollars
from arena.cli.table import TableChoice, TableColumn, between, print_table, value_in
from arena.cohorts.diff import setting_in_words, setting_text
from arena.scores.profiles.agent_profile import AgentProfile, ProfitOrigin
from arena.scores.profiles.detailed_profile import AgentSlice
from markets.millionths import ONE

COLUMNS = (
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
    "Intervals need 20 effective events. p: how often chance alone miscalibrates as much; among many parts\n"
    "some p are small by chance."
)


def parts_data(by: str, found: Sequence[AgentSlice]) -> dict[str, Any]:
    """The parts for JSON; null where nothing can be said."""
    return {"by": by, "parts": [{key: value_in(one, path) for key, path in PART.items()} for one in found]}


def say_parts(data: Mapping[str, Any], choice: TableChoice) -> None:
    """The same as a table."""
    if not data["parts"]:
        print(f"By {data['by']}: none of its markets has resolved yet.\n")
        return
    part = TableColumn("part", data["by"], plain, narrow="wrap")
    print_table((part, *COLUMNS), data["parts"], choice=choice)
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
    money = None if found.money is None else _dollars(found.money)
    return data | {"money": money, "at_stake": at_stake}


def _dollars(money: ProfitOrigin) -> dict[str, Any]:
    luck, fall = asdict(money.luck), money.drawdown
    sums = {key: luck[key] for key in ("pnl", "mean", "low", "high")}
    return {
        "split": {key: getattr(money.split, key) / ONE for key, _ in PROFILE_PARTS}
        | {"pnl": money.split.pnl / ONE},
        "luck": luck | {key: None if value is None else value / ONE for key, value in sums.items()},
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
        print(
            f"Brier {parts['brier']:.4f} = miscalibration {parts['miscalibration']:.4f} "
            f"− discrimination {parts['discrimination']:.4f} + uncertainty {parts['uncertainty']:.4f}"
        )
        print(f"  miscalibration: {null['expected']:.4f} by chance alone, p = {null['p_value']:.3f}")
    _say_statements(data)
    if data["money"] is not None:
        _say_money(data["money"])
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


def _say_money(money: Mapping[str, Any]) -> None:
    luck, split, fall = money["luck"], money["split"], money["drawdown"]
    print(f"P/L {signed_dollars(split['pnl'])}:")
    width = max(len(signed_dollars(split[key])) for key, _ in PROFILE_PARTS)
    for key, words in PROFILE_PARTS:
        print(f"  {signed_dollars(split[key]):>{width}}  {words}")
    if luck["percentile"] is not None:
        band = f"{signed_dollars(luck['low'])} to {signed_dollars(luck['high'])}"
        print(f"  chance alone gives {band} in 95% of seasons, less than it made in {luck['percentile']:.1%}")
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
        print(f"It has not played yet. Next: {program()} agents try {name}")
        return
    print()
    say_profile(told["scores"])
    if parts is not None:
        say_parts(parts, choice)
    if record["calls"]:
        _say_calls(record)
    print(f"Next: {program()} agents try {name}")


def _which(stay: Mapping[str, Any]) -> str:
    """A cohort, or the next one."""
    return f"cohort {stay['cohort']}" if stay["starts_at"] else "the next cohort"


def _say_stay(stay: Mapping[str, Any]) -> None:
    turns = ", ".join(f"{count:,} {verdict}" for verdict, count in stay["verdicts"].items())
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
