"""All that is known of one agent, in words. What a provider says of itself is shown as text."""

from collections.abc import Mapping, Sequence
from typing import Any

from arena.cli import part_words, portrait_words
from arena.cli.markets_show import plain
from arena.cli.output import print_table, program

SHORT = 16
"""How much of a time is shown: to the minute."""


def say(told: Mapping[str, Any]) -> None:
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
    portrait_words.say(told["scores"])
    if told.get("parts") is not None:
        part_words.say(told["parts"])
    if record["calls"]:
        _say_calls(record)
        _say_reported(record)
    print(f"Next: {program()} agents try {name}")


def _which(stay: Mapping[str, Any]) -> str:
    """A cohort, or the next one."""
    return f"cohort {stay['cohort']}" if stay["starts_at"] else "the next cohort"


def _say_stay(stay: Mapping[str, Any]) -> None:
    from arena.setup import in_words

    turns = ", ".join(f"{count:,} {verdict}" for verdict, count in stay["verdicts"].items())
    start = f", from {_minute(stay['starts_at'])}" if stay["starts_at"] else ""
    print(f"{_which(stay)}{start}: " + (f"turns: {turns}" if turns else "no turns yet"))
    if stay["code_versions"]:
        print(f"  code: {plain(by_rounds(stay['code_versions']))}")
    for key, each in stay["changed"].items():
        print(f"  changed: {plain(in_words(key, each['was'], each['is']))}")


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
