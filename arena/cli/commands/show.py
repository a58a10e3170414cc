"""`arena show`: what the record and the config hold, as lists or one at a time."""

from typing import Literal

from arena.cli.options import Options, argument, command, flag, option
from arena.errors import ArenaError

LISTED = 40
"""The number of markets or rejected records listed by default."""
CHANGES = 12
"""The number of price changes shown by default."""


@command(table=True)
def agent(
    chosen: Options,
    name: str | None = argument("NAME", "One agent, by its name in the config or the record.", default=None),
    by: Literal["category", "horizon", "price", "cohort"] | None = option(
        "Split its skill and calibration; horizon is the time to close."
    ),
) -> None:
    """List the agents, or show one: its settings, scores and calls.

    The list has what each agent is, what it cost and how its turns failed; prices are dollars per million
    tokens. A note says where a provider has changed the model behind a name: its scores then mix two models.
    With NAME come its settings cohort by cohort (`next` is the one that the config would start), skill,
    miscalibration, incoherence, where its profit comes from, its worst and best forecasts with their
    reasons, and its calls.

    Example: arena show agent sharp

        Skill over the market: +0.0033, 95% from -0.0008 to +0.0074, 219 events
        …
           -$1,685.40  spread and depth of the book
             -$337.03  fees
        …
        tokens     886,966 in, 68,626 out

    Next: arena show turn NAME
    """
    from arena.cli.agents import list_agents, show_agent

    if name is None:
        chosen.refuse_if_given("--by", because="needs the NAME of an agent")
        list_agents(chosen)
    else:
        show_agent(chosen, name, by)


@command(table=True)
def cohort(
    chosen: Options,
    number: str | None = argument("N", "One cohort.", default=None),
    other: str | None = argument("OTHER", "A cohort to compare it with, or `next`.", default=None),
    texts: bool = flag("Compare also how prompts changed, line by line."),
    head: bool = flag("Its head: a hash of all it froze, saw and decided."),
    round_number: int | None = option(
        "The head up to this round (0: the frozen settings); default: the last.", "", "--round", min=0
    ),
    check: str | None = option("Find the round that has this head.", "HASH"),
) -> None:
    """List the cohorts, show one, or compare two.

    A cohort is playing, paused, stopped (ended by hand), tracked (no rounds are left, or newer ones decide)
    or ended. `next` is the one that the config would start now. With --json, frozen amounts and prices are
    in millionths.

    Publish a head before the markets resolve: --check proves later that nothing before it was changed.

    Example: arena show cohort 1

        Cohort 1, ended: started 2026-01-04 00:00 UTC, 5 of 5 rounds over.
        …
            1  2026-01-04 00:00      10
        …
        bankroll  $10,000.00; decide 28d
        …

    Next: arena board --cohort N
    """
    if not head:
        chosen.refuse_if_given("--round", "--check", because="needs --head")
    if other is None:
        chosen.refuse_if_given("--texts", because="needs two cohorts, N and OTHER")
    if number is None:
        chosen.refuse_if_given("--head", because="needs the number N of a cohort")

        from arena.cli.cohorts import list_cohorts

        list_cohorts(chosen)
    elif head:
        chosen.refuse_if_given("OTHER", because="can't be combined with --head, which is of one cohort")
        if check is not None:
            chosen.refuse_if_given("--round", because="can't be combined with --check")

        from arena.cli.cohort_heads import show_head

        show_head(chosen, number, round_number, check)
    elif other is not None:
        from arena.cli.cohort_diff import compare

        compare(chosen, number, other, texts)
    else:
        from arena.cli.cohorts import show_cohort

        show_cohort(chosen, number)


@command(table=True)
def market(
    chosen: Options,
    market_id: str | None = argument("ID", "One market; its venue may be left out.", default=None),
    search: str = option("Only with these words in question, rules or id.", "WORDS", default=""),
    category: str = option("Only this category.", "NAME", default=""),
    status: Literal["open", "waiting", "ended", "all"] | None = option("Only these. [default: open]"),
    limit: int | None = option(
        f"At most so many, or price changes of one. [default: {LISTED}, {CHANGES}]", min=1
    ),
    at: str | None = option("As known at this time, in UTC.", "TIME"),
    rejected: bool = flag("List what the venues sent that could not be used."),
    venue: str | None = option("Rejected records of this venue only.", "NAME"),
    kind: Literal["market", "quote", "resolution", "page", "article"] | None = option(
        "Rejected records of this kind only."
    ),
) -> None:
    """List the markets that the record has seen, or show one.

    The most traded come first. A market is waiting when it has closed, or is no longer quoted, and no
    resolution is known. One market is shown with its rules, price, book, price history and end.

    Rejected records come with the reason and how often they came, newest first; some are only pending. With
    --json each is as it was sent, truncated.

    Example: arena show markets --status ended --limit 3

        market           question                      price ¢  volume $  closes
        simulat…4:112-1  Will Celia Feskingway's mal…       68   651,106  2026-04-08
        simulat…4:121-2  Will Nils Nystek have signe…     72.5   643,503  2026-04-07
        …

    Next: arena show market ID
    """
    from arena.cli import markets

    of_list = ("--search", "--category", "--status")
    if rejected:
        chosen.refuse_if_given("ID", *of_list, "--at", because="can't be combined with --rejected")
        markets.list_rejected(chosen, venue, kind, limit or LISTED)
        return

    chosen.refuse_if_given("--venue", "--kind", because="needs --rejected")
    if market_id is None:
        markets.list_markets(chosen, search, category, status or "open", limit or LISTED, at)
    else:
        chosen.refuse_if_given(*of_list, because="can't be combined with ID: it is for the list")
        markets.show_market(chosen, market_id, limit or CHANGES, at)


@command(table=True)
def positions(
    chosen: Options,
    cohort: int | None = option("The cohort; the newest by default.", min=1),
    agent: str | None = option("One agent only.", "NAME"),
    by: Literal["lot", "market", "agent"] = option("One line for each of these.", default="lot"),
    only_open: bool = flag("Only what is still held.", "--open"),
) -> None:
    """Show what every agent of a cohort holds, its cost and profit.

    As of the newest mark. A lot is all shares of one side of a market, at average cost with fees; open lots
    are valued at the mid.

    Example: arena show positions --by agent

        Cohort 4, as marked at 2026-05-31 00:00 UTC
        agent         agents  lots  held  stale    realised  unrealised       P/L $
        oracle             1    55     0      0  +13,380.17       +0.00  +13,380.17
        …
        all                9   325     0      0  +29,233.00       +0.00  +29,233.00

    Next: arena board
    """
    from arena.cli.positions import show_positions

    show_positions(chosen, cohort, agent, by, only_open)


@command(plays=True)
def turn(
    chosen: Options,
    name: str = argument("AGENT", "Its name in the config or in the record."),
    cohort: int | None = option("Its newest turn in this cohort.", min=1),
    at: str | None = option("The round of this time, in UTC.", "TIME"),
    play: bool = flag("Play a turn now, on the latest round; nothing is saved."),
    dry: bool = flag("With --play: show prompts and what they may cost; call no model."),
) -> None:
    """Show a turn of an agent: prompts, answers, decision and cost.

    It is the newest turn in the record, unless --cohort or --at names another. --play plays one: on the
    latest round of the agent's newest cohort, with its account as it was then and its current settings. A
    new agent gets the latest round of all, or else the venue's current markets, and a fresh bankroll. Its
    calls cost money, within the budget; the exit status is 2 without a usable answer.

    Example: arena show turn sharp

        sharp on the markets of cohort 4, round 5, 2026-05-17 00:00 UTC: 114
        markets, 38 stories; its account at that time: $12,959.84, $11,950.68
        of it in cash
        …
        == The turn is played
        114 forecasts, 7 bets and sales, 7 fills, 0 rejected
        …
        1 call, $0.050553 in all.

    Next: arena run --round
    """
    from arena.cli.turns import play_now, show_recorded

    if play:
        chosen.refuse_if_given("--cohort", because="can't be combined with --play")
        play_now(chosen, name, at, dry)
    else:
        chosen.refuse_if_given("--dry", because="needs --play")
        show_recorded(chosen, name, cohort, at)


@command("config", "wide", "columns", "json")
def prompt(
    chosen: Options,
    name: str | None = argument(
        "NAME", "A prompt, or the path of a .md file next to the config.", default=None
    ),
    against: str | None = option("Compare it with this prompt.", "NAME"),
    rendered: bool = flag("As sent to a model, for a sample round of two markets."),
) -> None:
    """List the prompts, your own too, or print or compare them.

    Your own are in extensions/prompts next to the config. An agent uses one with `prompt: NAME`; its
    `context` key turns off what is shown besides the markets. The purpose listed is the comment on the first
    line. NAME is printed as a cohort would freeze it, includes expanded.

    Example: arena show prompts

        prompt                              shows              about
        bet                                 prices, context,   The arena's
                                            articles           standard: base
        …

    Next: arena show turn AGENT --play --dry
    """
    from arena.cli.prompts import list_prompts, show_prompt

    if name is not None:
        show_prompt(chosen, name, against, rendered)
        return
    if against is not None or rendered:
        raise ArenaError("no_prompt", "no prompt is named", "arena show prompts lists them", status=64)
    list_prompts(chosen)


@command()
def config(chosen: Options, every: bool = flag("Every key, with its meaning.", "--all")) -> None:
    """Print the settings in effect, defaults included, as a config.

    Secrets are not shown.

    Example: arena show config --all

        # Where the markets come from and which of them are played.
        markets:
        …
          venue: polymarket
        …

    Next: arena check
    """
    from arena.cli.config import list_keys, show_settings

    if every:
        list_keys(chosen)
    else:
        show_settings(chosen)
