"""A config that was read and checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, time, timedelta
from pathlib import Path

from pydantic import BaseModel

from agents.model import KindSettings, model_settings
from agents.registry import agents_needed
from arena.config.code import TrustedCode, extension_folders
from arena.config.field_types import Start
from arena.config.sections import (
    BackupSection,
    BudgetSection,
    CallsSection,
    CohortsSection,
    EvidenceSection,
    MarketsSection,
    PublishSection,
    RunSection,
    ScoresSection,
    WatchSection,
)
from markets.registry import ExtensionFolder
from markets.universe import Universe
from portfolio.rules import Rules


@dataclass(frozen=True, slots=True)
class AgentConfig:
    """An agent of the line-up: all its settings, and its line in the file."""

    name: str
    kind: str
    settings: KindSettings
    line: int

    @property
    def model(self) -> str | None:
        """Return the name of the agent's model; None if it has none."""
        model = model_settings(self.settings)
        return None if model is None else model.model

    @property
    def of(self) -> tuple[str, ...]:
        """Return the agents whose forecasts this one is given."""
        return agents_needed(self.settings)


@dataclass(frozen=True, slots=True)
class Config:
    """A valid config. `prompts` has the texts in use by their names, and `hash` is that of the file."""

    file: Path
    database: str
    seed: int
    markets: MarketsSection
    venue_settings: BaseModel
    cohorts: CohortsSection
    budget: BudgetSection
    agents: tuple[AgentConfig, ...]
    prompts: Mapping[str, str]
    calls: CallsSection
    evidence: EvidenceSection
    evidence_settings: BaseModel
    backup: BackupSection
    hash: str = ""
    season: str | None = None
    scores: ScoresSection = field(default_factory=ScoresSection)
    heads: str | list[str] | None = None
    publish: PublishSection = field(default_factory=PublishSection)
    public: bool = False
    run: RunSection = field(default_factory=RunSection)
    watch: WatchSection = field(default_factory=WatchSection)
    code: TrustedCode | None = None
    """The code beside the config that may run; None if it was only read."""
    has_market: bool = True
    """Whether anything can be bought at the venue."""

    @property
    def rules(self) -> Rules:
        """Return the rules of a cohort that starts now: without money where there is no market."""
        rules = self.cohorts.rules
        if self.has_market:
            return rules
        return rules.model_copy(update={"money": False})

    @property
    def universe(self) -> Universe:
        """Return the rule by which a round's markets are drawn; without a market it asks for no price."""
        universe = self.markets.universe
        if self.has_market:
            return universe
        return universe.model_copy(update={"unpriced": True, "price_only": True, "min_volume": 0})

    @property
    def folder(self) -> Path:
        """Return the folder of the config, from which its paths start."""
        return self.file.parent

    def extensions(self, group: str) -> tuple[ExtensionFolder, ...]:
        """Return the folders beside the config in which kinds, venues, prompts or research are looked for."""
        return extension_folders(self.folder, group, self.code)

    @property
    def backups(self) -> Path:
        """Return the folder that backups go to."""
        return self.folder / self.backup.folder

    @property
    def site(self) -> Path | None:
        """Return the folder that the season is published to; None if it is not published."""
        if self.publish.directory is None:
            return None
        return self.folder / self.publish.directory

    def with_seed(self, seed: int) -> "Config":
        """Return the config with another seed, also for a simulated world."""
        venue_settings = self.venue_settings
        if "seed" in type(venue_settings).model_fields:
            venue_settings = venue_settings.model_copy(update={"seed": seed})
        return replace(self, seed=seed, venue_settings=venue_settings)

    def first_start(self, at: datetime) -> datetime:
        """Return the start of the first cohort: the config's, else the simulation's, else this week's."""
        weekly_start: Start = self.cohorts.start
        not_before = self.cohorts.first or getattr(self.venue_settings, "start", None)
        if not_before is None:
            # The start of this week is the newest one that isn't after `at`.
            next_start = weekly_start.on_or_after(at)
            return next_start if next_start == at else next_start - timedelta(weeks=1)

        if not isinstance(not_before, datetime):
            not_before = datetime.combine(not_before, time())
        if not_before.tzinfo is None:
            not_before = not_before.replace(tzinfo=UTC)
        return weekly_start.on_or_after(not_before)
