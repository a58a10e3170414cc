"""What config.yaml may say, section by section, and what the arena makes of it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from agents.model import Settings, asked
from agents.registry import sources
from arena.config.units import (
    Count,
    Dollars,
    Every,
    Name,
    PriceGap,
    Seconds,
    Seed,
    Share,
    Stake,
    Start,
    Wait,
    Weekly,
)
from markets.millionths import ONE
from markets.universe import Stratum, Universe
from portfolio.rules import NAMED, Rules


class Section(BaseModel):
    """A block of the config: no key but its own, and no change once read."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Markets(Section):
    """Where the markets come from and which of them are played."""

    venue: str
    show: Count = 40
    per_event: Count = 2
    closes_within: Seconds = int(timedelta(days=60).total_seconds())
    min_volume: Dollars = 10_000 * ONE
    max_spread: PriceGap = 50_000
    closes_after: Wait = 0
    min_depth: Dollars = 0
    min_price: PriceGap = 0
    max_price: PriceGap = ONE
    categories: tuple[Name, ...] = ()
    not_categories: tuple[Name, ...] = ()
    price_only: bool = False
    strata: tuple[Stratum, ...] = ()

    @property
    def universe(self) -> Universe:
        """The rule by which a round's markets are drawn."""
        return Universe(**self.model_dump(exclude={"venue"}))


class RulesBlock(Section):
    """Rules by name, with single values changed."""

    start_from: Literal["realistic", "replay", "seed", "reference"] = Field(default="realistic", alias="from")
    name: str = Field(default="", max_length=64)
    fill: str | None = None
    fee: Literal["venue", "none"] | None = None
    min_bet: Stake | None = None
    max_bet: Share | None = None
    cap: Literal["bet", "decision"] | None = None
    base: Literal["start", "running"] | None = None
    merge: bool | None = None
    extremes: bool | None = None
    worst_price: PriceGap | None = None
    max_spread: PriceGap | None = None
    max_gap: PriceGap | None = None
    max_quote_age: Seconds | None = None

    @property
    def rules(self) -> Rules:
        """The rules whole. Changed ones are called so unless the block names them."""
        changes = self.model_dump(exclude_none=True, exclude={"start_from", "name"})
        name = self.name or (f"{self.start_from}, changed" if changes else self.start_from)
        return NAMED[self.start_from].model_copy(update=changes | {"name": name})


class Cohorts(Section):
    """When cohorts start, how often they decide, and by which rules they play."""

    start: Weekly = Start(6, time())
    first: date | None = None
    decide: Every = timedelta(days=7)
    rounds: Count = 5
    count: Count | None = None
    keep_deciding: Count = 5
    bankroll: Stake = 10_000 * ONE
    rules_block: RulesBlock = Field(default_factory=RulesBlock, alias="rules")

    @field_validator("rules_block", mode="before")
    @classmethod
    def _by_name(cls, value: object) -> object:
        return {"from": value} if isinstance(value, str) else value

    @property
    def rules(self) -> Rules:
        """The rules that a cohort started by this config plays by."""
        return self.rules_block.rules


class Budget(Section):
    """Hard stops, in millionths of a dollar; None where there is none."""

    call: Dollars | None = None
    round: Dollars | None = None
    agent: Dollars | None = None
    day: Dollars | None = None
    arena: Dollars | None = None

    @property
    def limits(self) -> dict[str, int]:
        """The limits that are set, by what they are for."""
        return {scope: limit for scope, limit in self.model_dump().items() if limit is not None}


class Calls(Section):
    """How many calls to models are under way at once: in all, and at one provider."""

    at_once: Count = 50
    per_provider: Count = 20


class Frame(Section):
    """The sections whose keys are always the same."""

    database: str = Field(default="arena.db", min_length=1)
    seed: Seed = 1
    markets: Markets
    cohorts: Cohorts = Field(default_factory=Cohorts)
    budget: Budget = Budget()
    calls: Calls = Calls()


@dataclass(frozen=True, slots=True)
class AgentConfig:
    """An agent of the line-up: its settings, whole, and the line it stands on."""

    name: str
    kind: str
    settings: Settings
    line: int

    @property
    def model(self) -> str | None:
        """The model that is asked, for kinds that ask one."""
        model = asked(self.settings)
        return None if model is None else model.model

    @property
    def of(self) -> tuple[str, ...]:
        """The agents whose stated forecasts this one is given."""
        return sources(self.settings)


@dataclass(frozen=True, slots=True)
class Config:
    """A config that holds together. `prompts` are the texts in use, by name."""

    file: Path
    database: str
    seed: int
    markets: Markets
    venue_settings: BaseModel
    cohorts: Cohorts
    budget: Budget
    agents: tuple[AgentConfig, ...]
    prompts: Mapping[str, str]
    calls: Calls

    @property
    def folder(self) -> Path:
        """Where the config lies; paths in it start from here."""
        return self.file.parent

    def extensions(self, group: str) -> tuple[Path, ...]:
        """The folders beside the config in which kinds, venues or prompts are looked for."""
        return extension_folders(self.folder, group)

    def with_seed(self, seed: int) -> "Config":
        """The same arena with another seed; a simulated world is another one then too."""
        world = self.venue_settings
        if "seed" in type(world).model_fields:
            world = world.model_copy(update={"seed": seed})
        return replace(self, seed=seed, venue_settings=world)

    def first_start(self, at: datetime) -> datetime:
        """When the first cohort starts: as configured, else as the simulation does, else this week."""
        start: Start = self.cohorts.start
        begin = self.cohorts.first or getattr(self.venue_settings, "start", None)
        if begin is None:
            following = start.on_or_after(at)
            return following if following == at else following - timedelta(weeks=1)
        if not isinstance(begin, datetime):
            begin = datetime.combine(begin, time(), UTC)
        return start.on_or_after(begin if begin.tzinfo else begin.replace(tzinfo=UTC))


def extension_folders(folder: Path, group: str) -> tuple[Path, ...]:
    """`extensions/<group>` and `extensions` itself, beside the config."""
    return folder / "extensions" / group, folder / "extensions"
