"""`arena admin cohort` and `settle`: decisions by hand, beside the schedule and the venue."""

from typing import Literal

from arena.cli.options import BASELINES, Options, argument, command, flag, option
from arena.errors import ArenaError


@command(plays=True)
def cohort(
    chosen: Options,
    action: Literal["start", "end", "pause", "resume"] = argument("ACTION", "start, end, pause or resume."),
    number: str | None = argument("N", "The number of a cohort; not to start one.", default=None),
    at: str | None = option("Start at this time, such as 2026-01-07T12:00Z.", "TIME"),
    baselines: bool = BASELINES,
    yes: bool = flag("End without asking for confirmation."),
) -> None:
    """Start a cohort by hand; end, pause or resume one.

    start: from the current config, beside the scheduled ones: now on a live venue, otherwise at the next
    decision time, or --at a time. It counts among the newest cohorts, so an older one may stop deciding.

    end: for good. It makes no more decisions, and is tracked until its last position settles; nothing is
    sold. Missing turns of a round in progress count as late.

    pause: no decisions until resumed; rounds that come due meanwhile are missed. Positions are still settled
    and valued.

    Example: arena admin cohort start --config examples/demo.yaml

        Cohort 1 starts on 2026-01-04 00:00 UTC (as scheduled): 5 rounds; agents
        market, constant, random, oracle, oracle-noisy, sharp, hasty, blind, clumsy,
        kelly

    Next: arena show cohorts
    """
    from arena.cli import cohort_actions

    if action == "start":
        chosen.refuse_if_given("N", "--yes", because="can't be combined with start")
        cohort_actions.start(chosen, at, baselines)
        return

    reason = f"can't be combined with {action}"
    chosen.refuse_if_given("--at", "--baselines", because=reason)
    if number is None:
        hint = f"arena admin cohort {action} N; arena show cohorts lists them"
        raise ArenaError("no_number", f"{action} needs the number N of a cohort", hint, status=64)
    if action != "end":
        chosen.refuse_if_given("--yes", because=reason)
    cohort_actions.change(chosen, action, number, yes)


@command()
def settle(
    chosen: Options,
    market: str = argument("ID", "Its id, as arena show markets shows it."),
    payout: str | None = option("What a YES share pays: 0 to 1, 50-50, or refund.", "P"),
    outcome: str | None = option("What a question came to that is not of yes or no.", "ANSWER"),
    because: str = option("Why; shown with the market wherever it is shown.", "REASON", default=""),
    withdraw: bool = flag("Withdraw the decision that was made."),
) -> None:
    """Settle a closed market of a live venue by hand.

    For one of which the venue never says how it ended. The decision goes into the record, sealed like any
    result, and is paid when its cohorts are settled next. Nothing is ever deleted: a later decision, or the
    venue's own later word, reverses the payment and pays anew. --withdraw refunds what shares cost, and the
    market is not scored, until one of these comes. A question that is not of yes or no comes to an option, a
    number or a date, or is "called off".

    Example: arena admin settle polymarket:501234 --payout 1 --because "both services paid YES"

        polymarket:501234 is settled by hand: a YES share pays $1, a NO share $0.
        Version 1, known from 2026-03-01 12:00 UTC: both services paid YES
        …

    Next: arena show market ID
    """
    from arena.cli.market_settle import settle_market

    settle_market(chosen, market, payout, outcome, because, withdraw)
