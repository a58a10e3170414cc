"""The sections of config.yaml: each key with what it takes, what it means, and its default."""

from collections.abc import Mapping
from datetime import date, time, timedelta
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from agents.guard import Guard, Suspects
from arena.config.errors import quoted_value
from arena.config.field_types import (
    Count,
    Decisions,
    Dollars,
    Endpoint,
    Heads,
    Kept,
    Listen,
    Name,
    Part,
    PriceGap,
    Seconds,
    Seed,
    Share,
    Stake,
    Start,
    Wait,
    WebhookAddress,
    Weekly,
    When,
    cadence,
    error_expecting,
    seconds,
    short_cadence,
)
from arena.record.model.calendar import UNITS, WEEK, Cadence
from arena.record.model.cohort import MIN_COVERAGE
from markets.millionths import ONE, decimal
from markets.registry import names
from markets.universe import Order, Stratum, Universe
from portfolio.fills import __path__ as fill_folders
from portfolio.rules import NAMED, Rules, changed_rules

CENTURY = timedelta(days=36_525)


class ConfigSection(BaseModel):
    """A block of the config: no key but its own, and no change once read."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, defer_build=True)


class MarketsSection(ConfigSection):
    """Where the markets come from and which of them are played."""

    venue: str
    """Where markets, prices and resolutions come from: a venue below, or your own."""
    show: Count = 40
    """How many markets a round shows, the same to every agent."""
    per_event: Count = 2
    """At most this many of one event, or of one story at a live venue."""
    closes_within: Seconds = int(timedelta(days=60).total_seconds())
    """Only those that close within this time."""
    min_volume: Dollars = 10_000 * ONE
    """Only those with at least this volume."""
    max_spread: PriceGap = 50_000
    """Only those with at most this gap between bid and ask."""
    closes_after: Wait = 0
    """Only those open for at least this long."""
    min_depth: Dollars = 0
    """Only those with this much on either side of the book, where there is one."""
    min_price: PriceGap = 0
    """The lowest mid."""
    max_price: PriceGap = ONE
    """The highest mid."""
    categories: tuple[Name, ...] = ()
    """Only these categories, by the venue's names, ignoring case. Empty: all."""
    not_categories: tuple[Name, ...] = ()
    """None of these categories."""
    price_only: bool = False
    """Whether to include those without bid and ask."""
    strata: tuple[Stratum, ...] = ()
    """Stratify the draw by bands of the mid, of the time to the close, by category."""
    order: Order = "lot"
    """Which come first: by lot, or those that close `soonest`, with ties broken by lot."""
    slugs: tuple[Name, ...] = ()
    """Only these, by id or the end of their address."""
    events: tuple[Name, ...] = ()
    """Only these events, by id or address; with `slugs` or `tags`, what any of the three names."""
    tags: tuple[Name, ...] = ()
    """Only these tags, series or topics of the venue."""
    not_slugs: tuple[Name, ...] = ()
    """None of these markets."""
    not_events: tuple[Name, ...] = ()
    """None of these events."""
    not_tags: tuple[Name, ...] = ()
    """None of these tags."""
    min_volume_24h: Dollars = 0
    """Only those with this much traded in the last 24 hours."""
    min_liquidity: Dollars = 0
    """Only those whose book or pool holds this much, by the venue's count."""
    min_open_interest: Dollars = 0
    """Only those of which this many shares are held."""
    unknown_figures: bool = False
    """Whether to include those for which the venue omits one of these three."""
    holdout: Part | None = None
    """A part played and not scored until `arena board --holdout` opens it, once: 0.3 of the stories, say."""

    @model_validator(mode="after")
    def _check_that_some_market_fits(self) -> Self:
        if self.min_price > self.max_price:
            low = decimal(self.min_price)
            high = decimal(self.max_price)
            words = f"no price is at least {low} and at most {high}. Lower min_price or raise max_price"
            raise error_expecting(f"at most max_price, which is {high}", words=words, at="min_price")

        if self.closes_after > self.closes_within:
            soonest = f"{self.closes_after / UNITS['d']:g}d"
            latest = f"{self.closes_within / UNITS['d']:g}d"
            words = f"no market closes after {soonest} and within {latest}. Make closes_after the shorter"
            raise error_expecting(f"at most closes_within, which is {latest}", words=words, at="closes_after")

        for key in ("categories", "slugs", "events", "tags"):
            excluded = set(map(str.casefold, getattr(self, f"not_{key}")))
            for name in getattr(self, key):
                if name.casefold() in excluded:
                    words = f"{quoted_value(name)} is also under not_{key}. Remove it from one of them"
                    raise error_expecting(f"{key} that are not excluded", words=words, at=key)

        return self

    @property
    def universe(self) -> Universe:
        """Return the rule by which a round's markets are drawn."""
        rule = self.model_dump(exclude={"venue", "holdout"})
        return Universe(**rule, holdout=self.holdout or 0)


class RulesBlock(ConfigSection):
    """Rules by name (`rules: realistic`), or a block that changes some of them.

        rules:
          from: realistic
          max_bet: 0.1

    [Money](money.md) has them all.
    """

    start_from: Literal["realistic", "replay", "seed", "reference"] = Field(default="realistic", alias="from")
    """The rules to start from."""
    name: str = Field(default="", max_length=64)
    """A name for the changed rules."""
    fill: str | None = None
    """Where prices come from: `mid`, `quote`, `book` or `spread`."""
    fee: Literal["venue", "none"] | None = None
    """Whether the venue's fee is paid."""
    min_bet: Stake | None = None
    """The smallest bet."""
    max_bet: Share | None = None
    """The largest bet, as a share of the cash."""
    cap: Literal["bet", "decision"] | None = None
    """What `max_bet` limits: each bet, or all of a decision."""
    worst_price: PriceGap | None = None
    """How far above the best price a bet may walk the book."""
    max_spread: PriceGap | None = None
    """No fill where bid and ask are further apart."""
    max_gap: PriceGap | None = None
    """No fill where book and mid are further apart."""
    max_quote_age: Seconds | None = None
    """No fill on an older quote."""
    max_of_volume: Share | None = None
    """The most a decision trades in a market, as a share of its volume; a cohort five times that."""
    fill_at: Literal["snapshot", "answer"] | None = None
    """Which prices count: the round's `snapshot`, or at live venues those once the `answer` is in."""

    @field_validator("fill")
    @classmethod
    def _check_fill_is_known(cls, fill: str | None) -> str | None:
        known = names(Path(fill_folders[0]))
        if fill is not None and fill not in known:
            raise error_expecting(f"one of {', '.join(known)}")
        return fill

    @property
    def rules(self) -> Rules:
        """Return all rules. If some are changed, their name says so, unless the block has a name."""
        changes = self.model_dump(exclude_none=True, exclude={"start_from", "name"})
        name = self.name or self.start_from
        if changes and not self.name:
            name += ", changed"
        return changed_rules(NAMED[self.start_from], changes | {"name": name})


class CohortsSection(ConfigSection):
    """When cohorts start and decide, and by which rules."""

    start: Weekly = Start(6, time())
    """When cohorts start, in UTC."""
    first: date | None = None
    """No cohort starts before this day. By default: the simulated world's first day, else now."""
    decide: Decisions = Cadence(WEEK)
    """How often a cohort decides from its start on, or at which time (UTC) after its first round."""
    rounds: Count = 5
    """How many rounds a cohort plays, or for how long: 5, or 5 weeks. Then it is only settled."""
    hidden: int = Field(default=0, ge=0)
    """In so many first rounds nobody sees prices or others' forecasts, and nothing is traded."""
    count: Count | None = None
    """How many to start; unlimited by default."""
    keep_deciding: Count = 5
    """How many of the newest decide; older ones are only tracked."""
    catch_up: Literal["latest", "all", "none"] = "latest"
    """Which live starts and rounds missed by more than six hours `arena run` makes up for."""
    bankroll: Stake = 10_000 * ONE
    """Every agent's cash at the start."""
    corrected_within: Seconds = int(timedelta(days=60).total_seconds())
    """How long after a resolution or correction another one is looked for and paid."""
    rules_block: RulesBlock = Field(
        default_factory=RulesBlock, alias="rules", json_schema_extra={"meant": "a name, or a block of keys"}
    )
    """How orders become fills: rules by name, or a block."""

    @field_validator("first")
    @classmethod
    def _check_year(cls, value: date | None) -> date | None:
        if value is not None and not 1970 <= value.year < 3000:
            raise error_expecting("a date from 1970 to 2999")
        return value

    @field_validator("rounds", mode="before")
    @classmethod
    def _rounds_of_a_duration(cls, value: object, info: ValidationInfo) -> object:
        if not isinstance(value, str) or value.isdecimal() or "decide" not in info.data:
            return value

        try:
            length = timedelta(seconds=seconds(short_cadence(f"every {value}")))
            return length // info.data["decide"].every
        except PydanticCustomError as error:
            raise error_expecting('a whole number of rounds, or a duration such as "5 weeks"') from error

    @field_validator("rounds")
    @classmethod
    def _check_rounds_fit_a_century(cls, value: int, info: ValidationInfo) -> int:
        decide: Cadence = info.data.get("decide", Cadence())
        if value * decide.every.total_seconds() > CENTURY.total_seconds():
            raise error_expecting("rounds that fit into a century, see cohorts.decide")
        return value

    @field_validator("hidden")
    @classmethod
    def _check_hidden_within_rounds(cls, value: int, info: ValidationInfo) -> int:
        if value > info.data.get("rounds", value):
            raise error_expecting("at most cohorts.rounds")
        return value

    @field_validator("rules_block", mode="before")
    @classmethod
    def _block_of_name(cls, value: object) -> object:
        return {"from": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _check_that_a_bet_is_possible(self) -> Self:
        rules = self.rules
        # The bankroll of which the largest bet allowed is the smallest one, rounded up.
        least_bankroll = -(-rules.min_bet * ONE // rules.max_bet)
        if self.bankroll >= least_bankroll:
            return self

        meant = f"at least {decimal(least_bankroll)} dollars"
        words = (
            f"no bet is possible: the smallest is {decimal(rules.min_bet)} dollars, and the largest is "
            f"{decimal(rules.max_bet)} of {decimal(self.bankroll)}. Make it {meant}"
        )
        raise error_expecting(meant, words=words, at="bankroll")

    @property
    def rules(self) -> Rules:
        """Return the rules that a cohort started by this config plays by."""
        return self.rules_block.rules


class EvidenceSection(ConfigSection):
    """Where articles come from and which are shown."""

    source: Name = Field(default="none", alias="from")
    """`none`, `folder`, `gdelt`, `brave`, or a file of your own in `extensions/research/`."""
    per_market: Count = 5
    """How many articles a market shows: the best matches, newest first."""
    characters: Count = 1_000
    """How much of an article's text is shown."""
    restricted: tuple[Name, ...] = ()
    """Further sites and sources to exclude."""
    odds: Literal["withheld", "shown"] = "withheld"
    """Articles that state odds or a price."""
    suspects: Suspects | None = None
    """Texts whose wording suggests they are too late; by default withheld, flagged if live. Without prices,
    these and odds are always withheld."""
    judge: Name | None = None
    """An agent whose model also reads each text that would be shown, once, on that agent's bill. How many
    leaks it finds is not yet measured."""

    @property
    def guard(self) -> Guard:
        """Return the rule that decides which articles are shown."""
        return Guard(**self.model_dump(exclude={"source"}))


class BudgetSection(ConfigSection):
    """Hard stops, in dollars: a call that could exceed one is not made.

    With a budget, every model needs a known price.
    """

    call: Dollars | None = None
    """One call."""
    round: Dollars | None = None
    """All calls of one round of a cohort."""
    agent: Dollars | None = None
    """All calls of an agent in a cohort."""
    day: Dollars | None = None
    """All calls of a day (UTC)."""
    arena: Dollars | None = None
    """All calls in the record."""

    @property
    def limits(self) -> dict[str, int]:
        """Return the limits that are set, by what they are for."""
        return self.model_dump(exclude_none=True)


class CallsSection(ConfigSection):
    """How many calls to models run at once.

    After "too many requests", the model gets the pause it asks for; after a short one its provider gets
    fewer calls too.
    """

    at_once: Count = 50
    """In total, for one process."""
    per_provider: Count = 20
    """At one provider, or one `base_url`, across all processes on the record."""


class BackupSection(ConfigSection):
    """Backups of the record.

    `arena admin backup` and `arena run` make them.
    """

    folder: str = Field(default="backups", min_length=1)
    """The folder; preferably on a different disk from the record."""
    keep: Count = 14
    """How many of the newest are kept. Only the arena's own are ever deleted."""


class PublishSection(ConfigSection):
    """The season as a static web site, as `arena share site` writes it.

    `publish: DIR` is short for its directory alone.
    """

    directory: str | None = Field(default=None, min_length=1)
    """The site's folder: new, empty or already a site."""
    prompts: bool = False
    """Whether agents' pages show prompts, and the newest turn's questions and answers."""

    @model_validator(mode="before")
    @classmethod
    def _block_of_directory(cls, value: object) -> object:
        return {"directory": value} if isinstance(value, str) else value


class ScoresSection(ConfigSection):
    """How agents are scored.

    Frozen with each cohort: the overall board uses the newest cohort's.
    """

    min_coverage: Part = MIN_COVERAGE
    """How much of what it was shown and has resolved an agent must have forecast to be ranked."""


class RunSection(ConfigSection):
    """What `arena run` does between rounds.

    Jobs are due at fixed times in UTC: `15m` on the quarter hour, `1d` at midnight, `1w` at midnight on
    Sunday, or at a given weekday and time. `off` turns a job off.
    """

    catalogue: When = cadence("6h")
    """Read the venue's whole catalogue (`arena run --sync`)."""
    quotes: When = cadence("1h")
    """Read prices of unresolved markets that were shown or are held."""
    resolutions: When = cadence("1h")
    """Read resolutions."""
    marks: When = cadence("1d")
    """Settle resolved markets, and mark all positions."""
    scores: When = cadence("6h")
    """Update the leaderboards, and what the dashboard shows of agents in depth."""
    backup: When = cadence("1d")
    """Make a backup, and delete the oldest."""
    publish: When = cadence("1h")
    """Update the web site of `publish`."""
    digest: When = cadence("mon 08:00")
    """Send what to do and the leaderboard to the webhook."""
    keep_quotes: Kept = None
    """How long to keep quotes that nothing depends on: older ones are deleted daily (`arena admin prune`). By
    default all are kept."""
    grace: Wait = 30
    """How long running calls may take on shutdown."""
    workers: bool = False
    """Whether `arena run --worker`s play the turns; needs PostgreSQL."""

    @property
    def verify(self) -> Cadence:
        """Return when the record is verified: daily."""
        return Cadence(timedelta(days=1))

    @property
    def retention(self) -> Cadence:
        """Return when old quotes are deleted: daily, unless all are kept."""
        return Cadence() if self.keep_quotes is None else Cadence(timedelta(days=1))


class WatchSection(ConfigSection):
    """A webhook for messages, and an endpoint to poll.

    [Watching](watching.md) has both.
    """

    webhook: WebhookAddress | None = Field(default=None, repr=False)
    """The address that messages are sent to, as JSON by POST; or `$NAME`, the variable that holds it."""
    health: Listen = Endpoint()
    """Where `arena run` serves `/health` and `/metrics`; `127.0.0.1` is this machine only."""

    @property
    def webhook_variable(self) -> str | None:
        """Return the environment variable that holds the webhook's address; None without one."""
        if self.webhook is None or not self.webhook.startswith("$"):
            return None
        return self.webhook[1:]


SEASONS: Mapping[str, Mapping[str, Mapping[str, object]]] = {
    "fast": {
        "markets": {"closes_within": "14d", "order": "soonest", "per_event": 2},
        "cohorts": {"decide": "daily", "rounds": 14},
    }
}
"""What each `season` stands for."""


class FixedSections(ConfigSection):
    """The sections whose keys are always the same."""

    database: str = Field(default="arena.db", min_length=1)
    """The record: a path relative to the config's folder, or a database URL."""
    season: Literal["fast"] | None = None
    """`fast`: daily rounds for two weeks; markets that close within 14 days, soonest first, two per story.

    It stands for `cohorts.decide`, `cohorts.rounds`, `markets.closes_within`, `markets.order` and
    `markets.per_event`, any of which can be set to override it.
    """
    seed: Seed = 1
    """The source of all randomness: the draw of markets, random agents, the simulated world."""
    heads: Heads = None
    """Where the record's [heads](cohorts.md#one-chain-of-heads) go: a file, best on another machine's disk,
    or a program and its arguments as a list, which reads them on standard input."""
    markets: MarketsSection
    """Where the markets come from and which of them are played."""
    cohorts: CohortsSection = Field(default_factory=CohortsSection)
    """When cohorts start, how often they decide, and by which rules they play."""
    budget: BudgetSection = BudgetSection()
    """Hard stops in dollars."""
    calls: CallsSection = CallsSection()
    """How many calls to models run at once."""
    evidence: EvidenceSection = EvidenceSection()
    """Where articles come from and which are shown."""
    scores: ScoresSection = ScoresSection()
    """How agents are scored."""
    backup: BackupSection = BackupSection()
    """Where backups of the record go, and how many of them are kept."""
    publish: PublishSection = PublishSection()
    """The season as a web site of plain files."""
    public: bool = False
    """Whether this is a [public repository](public.md): agents are also the files of `entrants/`, and no code
    beside the config runs."""
    run: RunSection = Field(default_factory=RunSection)
    """What `arena run` does between rounds, and how often."""
    watch: WatchSection = Field(default_factory=WatchSection)
    """Monitoring."""
