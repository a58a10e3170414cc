"""The config of a simulated season, which the seed draws from the keys that the documents list.

Config 0 has the defaults of every section, the jobs of `run:` among them: only its sizes are small, so that
a season is quick. Each other config has some keys with other values, and other agents or another venue.
"""

import tempfile
from collections.abc import Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path
from random import Random
from shutil import copytree
from typing import Any

from arena.config import Config, load
from arena.config.errors import ConfigErrors
from arena.config.listing import yaml_text

Block = dict[str, Any]

CONFIGS = 40
"""How many configs there are: the season of each is played once by itself, for comparison."""
SET_ASIDE: Mapping[int, str] = {
    13: "its last question ends a day after the last round: a day of heartbeats takes minutes to play",
}
"""Configs that no seed plays, and why."""
DEFAULT_SHARE = 0.25
"""The share of seeds that play config 0."""
PLAIN_SHARE = 0.4
"""The share of other configs whose venue has no faults of its own."""
MOST_KEYS = 14
OFTEN_DRAWN = (
    "calls.at_once",
    "calls.per_provider",
    "ask.batch",
    "ask.prices",
    "ask.samples",
    "cohorts.hidden",
)
"""Keys that decide on how many calls there are and which wait for each other: each config has two of them."""
MOST_DRAWS = 40
EXAMPLES = Path(__file__).parents[2] / "examples"
PRICE = {"input": 1.0, "output": 4.0}

SIZES: Mapping[str, Mapping[str, Any]] = {
    "simulator": {"start": "2026-01-04", "weeks": 4, "markets": 14, "events": 5},
    "questions": {"folder": "questions"},
    "series": {"folder": "series", "start": "2026-02-01", "horizons": [4, 7], "wait_days": 21},
}
"""The venues that are played, each with what keeps its season short."""
COHORTS: Mapping[str, Any] = {"rounds": 2, "count": 2}
FIRST: Mapping[str, str] = {"questions": "2026-01-04"}
"""When the first cohort starts, at venues that don't say it by themselves."""
SHOW = 4
MODELS: tuple[Block, ...] = (
    {"name": "sharp", "model": "demo/sharp", "price": PRICE},
    {"name": "blind", "model": "demo/blind", "price": PRICE},
)
DEFAULT_AGENTS: tuple[Block, ...] = (*MODELS, {"kind": "kelly", "of": "sharp"})

AGENTS: tuple[Block, ...] = (
    {"kind": "market"},
    {"kind": "constant", "p": 0.3},
    {"kind": "random", "bets": 2},
    {"kind": "favourite", "bets": 2},
    {"kind": "naive"},
    {"kind": "trend"},
    {"kind": "oracle", "noise": 0.5},
    {"kind": "kelly", "of": "blind"},
    {"kind": "crowd", "of": ["sharp", "blind"], "method": "mean"},
    {"name": "hasty", "model": "demo/hasty", "price": PRICE},
    {"name": "clumsy", "model": "demo/clumsy", "price": PRICE, "prices": "after"},
    {"name": "sampled", "model": "demo/sharp", "price": PRICE, "samples": 2},
    {"name": "in-parts", "model": "demo/sharp", "price": PRICE, "batch": 2},
    {"name": "with-tools", "model": "demo/sharp", "price": PRICE, "tools": ["notes", "price_history"]},
)
"""Who may play beside the two models; `oracle` only in a world whose truth is known."""

CANDIDATES: Mapping[str, tuple[Any, ...]] = {
    "season": ("fast",),
    "seed": (2, 7),
    "heads": ("heads.jsonl",),
    "markets.venue": ("simulator", "simulator", "questions", "series"),
    "markets.show": (1, 2, 6),
    "markets.per_event": (1, 40),
    "markets.closes_within": ("14d", "200d"),
    "markets.min_volume": (0, 100_000),
    "markets.max_spread": (0.02, 0.2),
    "markets.closes_after": ("2d",),
    "markets.min_depth": (5,),
    "markets.min_price": (0.1,),
    "markets.max_price": (0.9,),
    "markets.not_categories": (["sports"],),
    "markets.price_only": (True,),
    "markets.strata": (["price"], ["horizon", "category"]),
    "markets.order": ("soonest",),
    "markets.min_volume_24h": (1,),
    "markets.unknown_figures": (True,),
    "markets.holdout": (0.3,),
    "markets.series.asks": (["rise", "fall-0.1"],),
    "markets.series.lag_days": (1,),
    "markets.simulator.price_noise": (0, 1.5),
    "markets.simulator.fee_rate": (0, 50_000),
    "markets.simulator.refund_share": (0.3,),
    "markets.simulator.half_share": (0.3,),
    "markets.simulator.exclusive_share": (0.5,),
    "markets.simulator.ladder_share": (0.5,),
    "markets.simulator.jump_rate": (0.2,),
    "markets.simulator.fraction_share": (0.3,),
    "markets.simulator.delay_share": (0.5,),
    "markets.simulator.corrected_share": (0.5,),
    "markets.simulator.corrected_days": (3, 30),
    "markets.simulator.unquoted_rate": (0.2,),
    "markets.simulator.outage_rate": (0.2,),
    "cohorts.first": ("2026-01-11",),
    "cohorts.decide": ("3d", "weekly"),
    "cohorts.hidden": (1, 2),
    "cohorts.keep_deciding": (1, 2),
    "cohorts.catch_up": ("all", "none"),
    "cohorts.bankroll": (200, 1_000_000),
    "cohorts.corrected_within": ("0s", "7d"),
    "cohorts.rules.from": ("replay", "seed", "reference"),
    "cohorts.rules.name": ("house rules",),
    "cohorts.rules.fill": ("mid", "quote", "book", "spread"),
    "cohorts.rules.fee": ("none", "venue"),
    "cohorts.rules.min_bet": (0.5, 50),
    "cohorts.rules.max_bet": (0.02, 1),
    "cohorts.rules.cap": ("bet", "decision"),
    "cohorts.rules.worst_price": (0.01,),
    "cohorts.rules.max_spread": (0.02,),
    "cohorts.rules.max_gap": (0.02,),
    "cohorts.rules.max_quote_age": ("6h",),
    "cohorts.rules.max_of_volume": (0.001,),
    "cohorts.rules.fill_at": ("snapshot",),
    "budget.call": (0.001, 5),
    "budget.round": (20,),
    "budget.agent": (20,),
    "budget.day": (100,),
    "budget.arena": (100,),
    "calls.at_once": (1, 2),
    "calls.per_provider": (1, 2, 3),
    "evidence.from": ("folder",),
    "evidence.per_market": (1,),
    "evidence.characters": (40,),
    "evidence.restricted": (["news.test"],),
    "evidence.odds": ("shown",),
    "evidence.suspects": ("flagged", "withheld"),
    "evidence.folder.path": ("news",),
    "scores.min_coverage": (0.1,),
    "backup.folder": ("copies",),
    "backup.keep": (1,),
    "run.catalogue": ("off", "15m"),
    "run.quotes": ("off", "15m"),
    "run.resolutions": ("off", "15m"),
    "run.marks": ("every 6 hours",),
    "run.scores": ("off", "15m"),
    "run.backup": ("off", "every 6 hours"),
    "run.digest": ("off",),
    "run.keep_quotes": ("1d",),
    "run.grace": ("0s", "2m"),
    "ask.temperature": (0.2,),
    "ask.max_tokens": (900,),
    "ask.max_tokens_key": ("max_completion_tokens",),
    "ask.form": ("schema", "json", "prompt"),
    "ask.seed": (False,),
    "ask.prompt_tokens": (2_000,),
    "ask.reasoning": ("low",),
    "ask.timeout": ("20s", "10m"),
    "ask.max_cost": (0.5,),
    "ask.released": ("2025-06-01",),
    "ask.extra": ({"top_p": 0.9},),
    "ask.prompt": ("forecast", "blind", "superforecaster_odds", "zero_shot", "scratchpad"),
    "ask.system": ("house.md",),
    "ask.prices": ("hidden", "after"),
    "ask.samples": (2, 3),
    "ask.min_answered": (0.5, 1),
    "ask.batch": (1, 2),
    "ask.context": ({"history": False}, {"siblings": False, "past": False}),
    "ask.tools": (["notes", "book"],),
    "ask.steps": (2,),
    "ask.tool_dollars": (0.5,),
}
"""Values that a key may have in a season, by its place in the config."""
NOT_DRAWN: Mapping[str, str] = {
    "public": "its record is kept on a branch of git: tests/season/test_public_season.py breaks its runs off",
    "evidence.judge": "the demo's models give no verdict: tests/season/test_judge.py has a server that does",
    "database": "the simulator names the file of the record, whose statements it watches",
    "markets.categories": "names that only a venue with a network has; `not_categories` is drawn",
    "markets.slugs": "names single markets, of which a season of four has too few",
    "markets.events": "as `markets.slugs`",
    "markets.tags": "as `markets.slugs`",
    "markets.not_slugs": "as `markets.slugs`",
    "markets.not_events": "as `markets.slugs`",
    "markets.not_tags": "as `markets.slugs`",
    "markets.min_liquidity": "the venues that are simulated don't say it",
    "markets.min_open_interest": "the venues that are simulated don't say it",
    "markets.kalshi.url": "a live venue: its season takes real days",
    "markets.kalshi.per_second": "a live venue: its season takes real days",
    "markets.manifold.url": "a live venue: its season takes real days",
    "markets.manifold.per_second": "a live venue: its season takes real days",
    "markets.manifold.newest": "a live venue: its season takes real days",
    "markets.polymarket.url": "a live venue: its season takes real days",
    "markets.polymarket.book_url": "a live venue: its season takes real days",
    "markets.polymarket.per_second": "a live venue: its season takes real days",
    "markets.questions.folder": "in every config that plays questions",
    "markets.questions.live": "its season takes real days",
    "markets.recorded.path": "a recording has to be made first; it is read as a folder of series is",
    "markets.recorded.content": "as `markets.recorded.path`",
    "markets.recorded.price_days": "as `markets.recorded.path`",
    "markets.series.folder": "in every config that plays series",
    "markets.series.fred": "needs a network",
    "markets.series.dbnomics": "needs a network",
    "markets.series.url": "needs a network",
    "markets.series.horizons": "in every config that plays series: it keeps the season short",
    "markets.series.wait_days": "in every config that plays series: it keeps the season short",
    "markets.series.start": "in every config that plays series: without it the present is asked about",
    "markets.simulator.start": "the clock of a season stands long after it",
    "markets.simulator.weeks": "the size of a season, small in all",
    "markets.simulator.markets": "the size of a season, small in all",
    "markets.simulator.events": "the size of a season, small in all",
    "cohorts.start": "cohorts of a made-up world start with its first day",
    "cohorts.rounds": "the size of a season, small in all",
    "cohorts.count": "the size of a season, small in all",
    "evidence.brave.url": "needs a network",
    "evidence.brave.per_second": "needs a network",
    "evidence.brave.days": "needs a network",
    "evidence.gdelt.url": "needs a network",
    "evidence.gdelt.days": "needs a network",
    "evidence.gdelt.language": "needs a network",
    "publish.directory": "a process of its own draws the pages, which takes seconds, and only reads",
    "publish.prompts": "as `publish.directory`",
    "run.publish": "as `publish.directory`; without it the job has nothing to do",
    "run.workers": "the roster of a season draws it",
    "watch.webhook": "needs a network; tests/arena/operations has its own server",
    "watch.health": "opens a port, which two seasons at once can't share",
    "ask.base_url": "the simulated provider has one address",
    "ask.api_key_env": "the simulated provider takes no key",
}
"""Keys that no season draws, and why."""


def config_number(seed: int) -> int:
    """Return which of the configs the season of a seed has; seasons of one config end in one state."""
    chance = Random(f"config of seed {seed}")
    if chance.random() < DEFAULT_SHARE:
        return 0
    return chance.choice([number for number in range(1, CONFIGS) if number not in SET_ASIDE])


def is_plain(number: int) -> bool:
    """Return whether the venue of a config's season has no faults that are true of a time in it."""
    return number == 0 or Random(f"venue {number}").random() < PLAIN_SHARE


def write_config(folder: Path, number: int) -> Config:
    """Write a config into a folder with the files that it names, and load it."""
    write_files(folder)
    file = folder / "config.yaml"
    file.write_text(draw_config(number), "utf-8")
    return load(file)


def write_files(folder: Path) -> None:
    """Write the questions, series, articles and prompts that a config may name."""
    for name in ("questions", "series"):
        copytree(EXAMPLES / name, folder / name, dirs_exist_ok=True)

    news = folder / "news"
    news.mkdir(exist_ok=True)
    for number in range(3):
        head = f"---\ndate: 2026-01-0{number + 2}\nurl: https://news.test/{number}\n---\n"
        text = f"{head}# A story\n\nIt is told.\n"
        (news / f"{number}.md").write_text(text, "utf-8")
    (folder / "house.md").write_text("You are careful.\n", "utf-8")


@cache
def draw_config(number: int) -> str:
    """Return the text of a config: 0 has the defaults, the others are drawn until one is valid."""
    if number == 0:
        return yaml_text(season_of("simulator", DEFAULT_AGENTS))

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_files(folder)
        file = folder / "config.yaml"
        for attempt in range(MOST_DRAWS):
            text = yaml_text(drawn_season(Random(f"config {number} {attempt}")))
            file.write_text(text, "utf-8")
            try:
                load(file)
            except ConfigErrors:
                continue
            return text
    raise ValueError(f"no valid config was drawn for {number}")


def season_of(venue: str, agents: tuple[Block, ...]) -> Block:
    """Return a short season with the defaults of everything else."""
    cohorts = dict(COHORTS)
    if venue in FIRST:
        cohorts["first"] = FIRST[venue]
    return {
        "database": "arena.db",
        "markets": {"venue": venue, "show": SHOW, venue: dict(SIZES[venue])},
        "cohorts": cohorts,
        "agents": [deepcopy(agent) for agent in agents],
    }


def drawn_season(chance: Random) -> Block:
    """Draw a venue, agents and some keys."""
    venue = chance.choice(CANDIDATES["markets.venue"])
    known = [agent for agent in AGENTS if venue == "simulator" or agent.get("kind") != "oracle"]
    agents = (*MODELS, *chance.sample(known, chance.randrange(1, 5)))
    season = season_of(venue, agents)

    keys = [key for key in sorted(CANDIDATES) if fits(key, venue)]
    drawn = chance.sample(keys, chance.randrange(3, MOST_KEYS))
    drawn += chance.sample(OFTEN_DRAWN, 2)
    for key in dict.fromkeys(drawn):
        put(season, key, deepcopy(chance.choice(CANDIDATES[key])))
    return season


def fits(key: str, venue: str) -> bool:
    """Return whether a key has a meaning at a venue."""
    if key == "markets.venue":
        return False
    if key == "cohorts.first":
        return venue != "series"
    for name in SIZES:
        if key.startswith(f"markets.{name}."):
            return name == venue
    return True


def put(season: Block, key: str, value: object) -> None:
    """Put a value in its place in a config."""
    *path, last = key.split(".")
    block = season
    for name in path:
        block = block.setdefault(name, {})
    block[last] = value
