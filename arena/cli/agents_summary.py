"""One agent in depth, for JSON and in words. What a provider says of itself is shown as text."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from arena.cli.markets_show import plain
from arena.cli.output import print_table, program
from markets.millionths import ONE

if TYPE_CHECKING:
    from arena.scores.profiles.agent_profile import AgentProfile, ProfitOrigin
    from arena.scores.profiles.detailed_profile import AgentSlice
    from arena.scores.rules.reliability.calibration_slices import CalibrationSlice

COLUMNS = (
    ("forecasts", "forecasts", ",d"),
    ("markets", "markets", ",d"),
    ("events", "events", ",d"),
    ("skill", "skill", "+.4f"),
    ("from", "skill_low", "+.4f"),
    ("to", "skill_high", "+.4f"),
    ("Brier", "brier", ".4f"),
    ("miscalibration", "miscalibration", ".4f"),
    ("by chance", "miscalibration_by_chance", ".4f"),
    ("p", "miscalibration_p", ".3f"),
    ("discrimination", "discrimination", ".4f"),
)
CHANCE = ("miscalibration_by_chance", "miscalibration_p")
"""What chance alone makes of the miscalibration, in JSON."""
LEGEND = (
    "Skill is what it gains on the price; its interval needs 20 effective events. p says how often chance "
    "alone miscalibrates as much: of many parts, some are small."
)


def parts_data(by: str, found: "Sequence[AgentSlice]") -> dict[str, Any]:
    """The parts for JSON; null where nothing can be said."""
    return {"by": by, "parts": [_part(one) for one in found]}


def _part(one: "AgentSlice") -> dict[str, Any]:
    gain = one.gain
    skill = {"skill": gain.skill, "skill_low": gain.low, "skill_high": gain.high, "skill_p": gain.p}
    counts = {"forecasts": gain.rows, "markets": gain.markets, "events": gain.events}
    return {"part": one.name} | counts | skill | {"reason": gain.reason} | _calibration(one.calibration)


def _calibration(found: "CalibrationSlice | None") -> dict[str, Any]:
    keys = ("brier", "miscalibration", "discrimination", "uncertainty")
    if found is None:
        return dict.fromkeys((*keys, *CHANCE))
    known = {key: getattr(found.parts, key) for key in keys}
    return known | dict(zip(CHANCE, (found.null.expected, found.null.p_value), strict=True))


def say_parts(data: Mapping[str, Any]) -> None:
    """The same as a table."""
    if not data["parts"]:
        print(f"By {data['by']}: nothing that it was shown is resolved yet.\n")
        return
    rows = [
        [row["part"], *(None if row[key] is None else format(row[key], form) for _, key, form in COLUMNS)]
        for row in data["parts"]
    ]
    print_table([data["by"], *(title for title, _, _ in COLUMNS)], rows)
    print(f"{LEGEND}\n")


MOST = 3
"""So many events are named that may still cost or bring money."""
PROFILE_PARTS = (
    ("edge", "edge at mid, for as much of what it claimed as came true elsewhere"),
    ("spread", "spread and depth of the book"),
    ("fee", "fees"),
    ("sizing", "stakes beside a quarter of Kelly's"),
    ("exit", "selling early"),
    ("luck", "luck: what is left"),
)


def profile_data(found: "AgentProfile") -> dict[str, Any]:
    """All of it for JSON; money in dollars, and null where nothing can be said."""
    data: dict[str, Any] = _known(asdict(found))
    data.pop("agent")
    sums = ("value", "worst", "best")
    at_stake = [each | {key: each[key] / ONE for key in sums} for each in data["at_stake"]]
    money = None if found.money is None else _dollars(found.money)
    return data | {"money": money, "at_stake": at_stake}


def _dollars(money: "ProfitOrigin") -> dict[str, Any]:
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
        print("Scores: nothing that it was shown is resolved yet.\n")
    else:
        span = f", 95% from {gain['low']:+.4f} to {gain['high']:+.4f}" if gain["low"] is not None else ""
        why = f" ({gain['reason']})" if gain["reason"] else ""
        print(f"Skill over the market: {gain['skill']:+.4f}{span}, {gain['events']:,} events{why}")
        _say_calibration(data["calibration"])
    _say_statements(data)
    if data["money"] is not None:
        _say_money(data["money"])
    for event in data["at_stake"][:MOST]:
        span = f"{_dollar(event['worst'])} to {_dollar(event['best'])}"
        print(f"  still at stake: {span} in {plain(event['event'])}, {event['share']:.1%} of all")
    print()


def _say_calibration(found: Mapping[str, Any]) -> None:
    parts, null = found["parts"], found["null"]
    print(
        f"Brier {parts['brier']:.4f} = miscalibration {parts['miscalibration']:.4f} "
        f"− discrimination {parts['discrimination']:.4f} + uncertainty {parts['uncertainty']:.4f}"
    )
    chance = f"chance alone makes {null['expected']:.4f} of it, p = {null['p_value']:.3f}"
    print(f"  miscalibration: {chance}")


def _say_statements(data: Mapping[str, Any]) -> None:
    coherence, blind = data["coherence"], data["blind"]
    if coherence["loss"] is not None:
        sure = f"{_cents(coherence['loss'])} per $1 against it, {_cents(coherence['market'])} against prices"
        print(f"Coherence: a sure {sure}; {coherence['events']:,} events")
        if coherence["worst_event"]:
            print(f"  the worst {_cents(coherence['worst'])}: {plain(coherence['worst_event'])}")
        for deal in data["bargains"]:
            print(f"    {'buy' if deal['buy'] else 'sell'} {plain(deal['market_id'])} at {deal['price']:.3f}")
    if blind["rows"] and blind["pull"] is not None:
        print(f"Shown the price, it moved {blind['pull']:.0%} of the way, {blind['rows']:,} answers")
        if blind["blind_skill"] is not None:
            print(f"  skill before {blind['blind_skill']:+.4f}, after {blind['final_skill']:+.4f}")


def _say_money(money: Mapping[str, Any]) -> None:
    luck, split, fall = money["luck"], money["split"], money["drawdown"]
    print(f"P/L {_dollar(split['pnl'])}:")
    width = max(len(_dollar(split[key])) for key, _ in PROFILE_PARTS)
    for key, words in PROFILE_PARTS:
        print(f"  {_dollar(split[key]):>{width}}  {words}")
    if luck["percentile"] is not None:
        band = f"{_dollar(luck['low'])} and {_dollar(luck['high'])}"
        print(f"  by luck alone it is between {band} in 95% of seasons; {luck['percentile']:.1%} do worse")
    if fall is not None and fall["amount"]:
        print(f"  deepest fall {_dollar(-fall['amount'])}, {fall['share']:.1%} of the peak")


def _dollar(value: float) -> str:
    """Dollars with their sign before them.

    >>> _dollar(-1234.5), _dollar(2)
    ('-$1,234.50', '+$2.00')
    """
    return f"{'-' if value < 0 else '+'}${abs(value):,.2f}"


def _cents(value: float | None) -> str:
    return "–" if value is None else f"${value:.4f}"


SHORT = 16
"""How much of a time is shown: to the minute."""


def say_summary(told: Mapping[str, Any]) -> None:
    """Its settings and what was changed in them, its turns and calls, and as what it reports itself."""
    name, cohorts, record = told["name"], told["cohorts"], told["record"]
    newest = cohorts[-1]
    print(f"{name}, {newest['kind']}, as of {_which(newest)}")
    for key, value in newest["settings"].items():
        if value not in (None, {}, []):
            print(f"  {key}: {plain(str(value))}")
    print()
    for stay in cohorts:
        _say_stay(stay)
    if record is None:
        print(f"It has not played yet. Next: {program()} agents try {name}")
        return
    print()
    say_profile(told["scores"])
    if told.get("parts") is not None:
        say_parts(told["parts"])
    if record["calls"]:
        _say_calls(record)
        _say_reported(record)
    print(f"Next: {program()} agents try {name}")


def _which(stay: Mapping[str, Any]) -> str:
    """A cohort, or the next one."""
    return f"cohort {stay['cohort']}" if stay["starts_at"] else "the next cohort"


def _say_stay(stay: Mapping[str, Any]) -> None:
    from arena.cohorts.diff import setting_in_words

    turns = ", ".join(f"{count:,} {verdict}" for verdict, count in stay["verdicts"].items())
    start = f", from {_minute(stay['starts_at'])}" if stay["starts_at"] else ""
    print(f"{_which(stay)}{start}: " + (f"turns: {turns}" if turns else "no turns yet"))
    if stay["code_versions"]:
        print(f"  code: {plain(by_rounds(stay['code_versions']))}")
    for key, each in stay["changed"].items():
        print(f"  changed: {plain(setting_in_words(key, each['was'], each['is']))}")


def by_rounds(versions: Sequence[Mapping[str, Any]]) -> str:
    """Versions of the code in words, with the round from which each of them played.

    >>> by_rounds([{"from_round": 1, "versions": ["1.0"]}, {"from_round": 3, "versions": ["1.0", "1.1"]}])
    'version 1.0 from round 1, then 1.0 and 1.1 from round 3'
    """
    said = [f"{' and '.join(each['versions'])} from round {each['from_round']}" for each in versions]
    return f"version {', then '.join(said)}"


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
        print(f"latency   {record['median_ms'] / 1000:.1f} s in the median, "
              f"{record['p95_ms'] / 1000:.1f} s for 95% of the answers at most")  # fmt: skip
    errors = ", ".join(f"{count:,} {code}" for code, count in record["errors"].items())
    print(f"errors    {errors or 'none'}\n")


def _say_reported(record: Mapping[str, Any]) -> None:
    rows = [
        (
            plain(each["model"]),
            plain(each["fingerprint"]) or None,
            each["answers"],
            _minute(each["first_at"]),
            _minute(each["last_at"]),
        )
        for each in record["reported"]
    ]
    if rows:
        print_table(("reports itself as", "fingerprint", "answers", "first (UTC)", "last (UTC)"), rows)
    for sentence in record["notes"]:
        print(plain(sentence))


def _minute(at: str) -> str:
    return at[:SHORT].replace("T", " ")
