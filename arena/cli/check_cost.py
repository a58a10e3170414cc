"""`arena check`: what the next cohort would cost, beside what the budget allows."""

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from arena.cli.output import print_table
from markets.millionths import decimal

if TYPE_CHECKING:
    from arena.afford import Warning
    from arena.calendar import Calendar
    from arena.config import Config
    from arena.estimate import Estimate, Use

ALL = "all"
COLUMNS = ("agent", "calls", "tokens in", "out", "$ a round", "a cohort", "a month")
LONGEST = 28
"""Characters of a name, so that the table fits in a hundred columns."""
SPANS = ("round", "cohort", "month")


def cost_of(config: "Config", number: int) -> dict[str, Any]:
    """What cohort `number` would use, agent by agent and in all, and where the budget would stop it."""
    import asyncio
    import sys
    from contextlib import redirect_stdout

    from arena.afford import warnings
    from arena.calendar import calendar
    from arena.estimate import estimates
    from arena.wiring import given

    with redirect_stdout(sys.stderr):  # an extension may print, and the answer may be JSON
        found = asyncio.run(estimates(config, given(config, config.prompts)))
    times = calendar(config.cohorts, number)
    return {
        "rounds": {"cohort": times.cohort, "month": round(float(times.month), 2), "day": times.day},
        "agents": [_agent(one, times) for one in found],
        "total": _total(found, times),
        "warnings": [_warning(warning) for warning in warnings(found, times, config.budget)],
    }


def _agent(one: "Estimate", times: "Calendar") -> dict[str, Any]:
    spans = {} if one.trouble else _spans(one.low, one.high, times)
    return {"agent": one.agent, **spans, "call_usd": _usd(one.first.cost), "trouble": one.trouble or None}


def _total(found: "Sequence[Estimate]", times: "Calendar") -> dict[str, Any] | None:
    """All of them together; unknown if one of them is."""
    from arena.estimate import total

    if any(one.trouble for one in found):
        return None
    return _spans(total(one.low for one in found), total(one.high for one in found), times)


def _spans(low: "Use", high: "Use", times: "Calendar") -> dict[str, Any]:
    lengths = dict(zip(SPANS, (Fraction(1), Fraction(times.cohort), times.month), strict=True))
    return {
        span: {"low": _use(low.times(rounds)), "high": _use(high.times(rounds))}
        for span, rounds in lengths.items()
    }


def _use(use: "Use") -> dict[str, Any]:
    counts = {"calls": use.calls, "tokens_in": use.tokens_in, "tokens_out": use.tokens_out}
    return counts | {"usd": _usd(use.cost)}


def _usd(amount: int | None) -> float | None:
    return None if amount is None else float(decimal(amount))


def _warning(warning: "Warning") -> dict[str, Any]:
    return {
        "code": warning.code,
        "scope": warning.scope,
        "agent": warning.agent or None,
        "message": warning.message,
        "mend": warning.mend,
    }


def print_cost(found: dict[str, Any]) -> None:
    """A line for each agent that asks a model, low and high, and one for all of them."""
    if not found["agents"]:
        print("\nNo agent asks a model: playing costs nothing.")
        return
    rows = [_row(one["agent"], one) for one in found["agents"]]
    if len(rows) > 1:
        rows.append(_row(ALL, found["total"] or {}))
    print()
    print_table(COLUMNS, rows, title="What models may cost, low–high", right=COLUMNS[1:])
    rounds = found["rounds"]
    print(f"Rounds: {rounds['cohort']} of this cohort, {rounds['month']:g} of all in 30.4 days. Low: every")
    print("question once, answered in few words. High: what budgets hold back. The other agents are free.")
    for one in found["agents"]:
        if one["trouble"]:
            print(f"{one['agent']}: nothing can be said, for on a made-up round it failed: {one['trouble']}")
    if any(_unpriced(one) for one in found["agents"]):
        print("A dash for dollars: no price is known. Add `price: {input: …, output: …}` to the agent, in\n"
              "dollars per million tokens.")  # fmt: skip


def print_warnings(found: dict[str, Any]) -> None:
    """Where a budget would stop the line-up, and what to change."""
    for warning in found["warnings"]:
        sure = "" if warning["code"] == "may_stop" else "! "
        print(f"\n{sure}{warning['message'][0].upper()}{warning['message'][1:]}.\n→ {warning['mend']}")


def _unpriced(one: dict[str, Any]) -> bool:
    return not one["trouble"] and one["round"]["low"]["usd"] is None


def _row(name: str, one: dict[str, Any]) -> tuple[str | None, ...]:
    name = name if len(name) <= LONGEST else f"…{name[1 - LONGEST :]}"  # models of a vendor differ in the end
    if "round" not in one:
        return (name, *[None] * (len(COLUMNS) - 1))
    counts = ((key, one["round"]) for key in ("calls", "tokens_in", "tokens_out"))
    money = (("usd", one[span]) for span in SPANS)
    return (name, *(_between(key, span["low"][key], span["high"][key]) for key, span in (*counts, *money)))


def _between(key: str, low: float | None, high: float | None) -> str | None:
    """Two figures as one: `0.013–0.27`, or a single one where they are the same."""
    if low is None or high is None:
        return None
    write = {"usd": _money, "calls": "{:,}".format}.get(key, _thousands)
    return write(low) if write(low) == write(high) else f"{write(low)}–{write(high)}"


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
