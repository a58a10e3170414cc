"""Possible problems of a valid config on this machine: missing keys, idle rules, unread articles."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from shlex import quote

from agents.evidence import ResearchError
from agents.research.folder import ArticleCount
from arena.cohorts.freeze import stamp_of
from arena.config import Config
from arena.config.environment import environment, missing_keys, readable_env
from arena.config.sections import SEASONS, FixedSections
from arena.forms.asked_questions import read_public_folder
from arena.rounds.adapters import unfrozen_settings
from arena.rounds.line_up_cost import LineUpCost
from markets.registry import load
from markets.venue import VenueError

MOST_NAMED = 10
"""So many faults of a folder of questions are named one by one."""
SPELLING = 0.85
"""How alike two names of variables are if one may be the other, misspelt."""


@dataclass(frozen=True, slots=True)
class ConfigWarning:
    """A possible problem, and its remedy if one is known."""

    message: str
    mend: str = ""


@dataclass(frozen=True, slots=True)
class QuestionCount:
    """The number of questions in a folder, and its faults."""

    questions: int
    faults: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConfigCheck:
    """What was found: missing keys by agent, keys of the rule of no use, articles, and a readable `.env`.

    The keys in `untold` leave out all markets, or none, because of what the venue reports. `articles` is None
    where the evidence comes from no files, and `questions` where the venue is no folder of them; what is
    wrong in other files of the venue is in `file_faults`.
    """

    missing_keys: Mapping[str, str]
    untold: list[str]
    articles: ArticleCount | None
    readable_env: str | None
    questions: QuestionCount | None = None
    file_faults: tuple[str, ...] = ()


def check_config(config: Config, environ: Mapping[str, str]) -> ConfigCheck:
    """Check what a config needs on this machine, at its venue and from its source of evidence."""
    variables = environment(config.folder, environ)
    return ConfigCheck(
        missing_keys=missing_keys(config.agents, variables),
        untold=_unreported_keys(config),
        articles=_article_count(config),
        readable_env=readable_env(config.folder),
        questions=_question_count(config),
        file_faults=_file_faults(config),
    )


def _unreported_keys(config: Config) -> list[str]:
    """Return the keys of the rule that use figures which the venue doesn't report."""
    module = load("markets.venues", config.markets.venue, config.extensions("venues"))
    rule = config.universe
    keys = sorted(key for key in getattr(module, "UNTOLD", ()) if getattr(rule, key))
    if getattr(module, "WITHOUT_SIDES", False) and not rule.price_only:
        keys.insert(0, "price_only")
    return keys


def _article_count(config: Config) -> ArticleCount | None:
    """Return how many files and articles the source of evidence has on disk; None if it has no files."""
    module = load("agents.research", config.evidence.source, config.extensions("research"))
    if not hasattr(module, "count_articles"):
        return None

    paths = unfrozen_settings(config.evidence_settings, config.folder)
    try:
        count: ArticleCount = module.count_articles(config.evidence_settings.model_copy(update=paths))
    except ResearchError as error:
        return ArticleCount(0, 0, error.message)
    return count


def _question_count(config: Config) -> QuestionCount | None:
    """Return the counts of the venue's folder of questions; None if the venue is no such folder."""
    module = load("markets.venues", config.markets.venue, config.extensions("venues"))
    if not hasattr(module, "read_questions"):
        return None

    folder = unfrozen_settings(config.venue_settings, config.folder)["folder"]
    try:
        asked = module.read_questions(folder, read_public_folder)
    except VenueError as error:
        return QuestionCount(0, (f"{error.message} → {error.hint}",))
    return QuestionCount(len(asked.questions), tuple(fault.text for fault in asked.faults))


def _file_faults(config: Config) -> tuple[str, ...]:
    """Return the faults in the files that a venue is read from, if it is read from files."""
    module = load("markets.venues", config.markets.venue, config.extensions("venues"))
    if not hasattr(module, "file_faults"):
        return ()

    paths = unfrozen_settings(config.venue_settings, config.folder)
    return tuple(module.file_faults(config.venue_settings.model_copy(update=paths)))


def config_warnings(config: Config, cost: LineUpCost, check: ConfigCheck) -> Iterator[ConfigWarning]:
    """Yield possible problems in words, besides the warnings of the cost."""
    for estimate in cost.estimates:
        name = estimate.agent
        if estimate.trouble:
            trouble = estimate.trouble
            yield ConfigWarning(f"{name} failed on a sample round, so its cost is unknown: {trouble}")
        elif estimate.low.cost is None:
            hint = "add `price: {input: …, output: …}` to it, in dollars per million tokens"
            yield ConfigWarning(f"No price is known for {name}", hint)

    yield from _season_warnings(config)

    if check.missing_keys:
        keys = _missing_key_texts(config, check)
        hint = (
            "set it in the environment or .env; a new agent joins with the next cohort, others play the next "
            "round"
        )
        yield ConfigWarning(f"Missing keys: {', '.join(keys)}", hint)

    for key in check.untold:
        yield _untold_warning(config, key)

    if check.articles is not None and check.articles.fault:
        message = f"Not all of the evidence folder can be used: {check.articles.fault}"
        yield ConfigWarning(message, "give each file the form in docs/news.md")

    yield from _question_warnings(config, check)

    if check.readable_env:
        message = f"Others on this machine can read the keys in {check.readable_env}"
        yield ConfigWarning(message, f"chmod 600 {quote(check.readable_env)}")


def _missing_key_texts(config: Config, check: ConfigCheck) -> list[str]:
    """Return in words which agent needs which key, with a variable of `.env` that may be it, misspelt."""
    variables_of_env = environment(config.folder, {})
    texts = []
    for name, variable in check.missing_keys.items():
        text = f"{name} needs {variable}"
        for similar in get_close_matches(variable, variables_of_env, 1, SPELLING):
            text += f" (.env has {similar})"
        texts.append(text)
    return texts


def _season_warnings(config: Config) -> Iterator[ConfigWarning]:
    """Yield a warning of the keys of a preset season that the config sets otherwise, if there are any."""
    if config.season is None:
        return

    keys = SEASONS[config.season]
    markets = {"venue": config.markets.venue, **keys["markets"]}
    preset = FixedSections.model_validate({**keys, "markets": markets})

    overridden = list[str]()
    for section, names in keys.items():
        own = getattr(config, section)
        wanted = getattr(preset, section)
        differing = (name for name in names if getattr(own, name) != getattr(wanted, name))
        overridden.extend(f"{section}.{name}" for name in differing)

    if overridden:
        message = f"The config itself sets {', '.join(overridden)}, so `season: {config.season}` does not"
        yield ConfigWarning(message, "take out the keys that the season should set")


def _question_warnings(config: Config, check: ConfigCheck) -> Iterator[ConfigWarning]:
    """Yield the faults in the venue's folder of questions or of series."""
    # The past is there whole, so no round of it is played before its files are right.
    played = "Nothing" if stamp_of(config) == "replay" else "Not all"
    for fault in check.file_faults[:MOST_NAMED]:
        yield ConfigWarning(f"{played} of {config.markets.venue} is played: {fault}", "correct the file")

    faults = () if check.questions is None else check.questions.faults
    for fault in faults[:MOST_NAMED]:
        message, _, hint = fault.partition(" → ")
        yield ConfigWarning(f"Not all questions are played: {message}", hint)
    if len(faults) > MOST_NAMED:
        hint = f"arena check {unfrozen_settings(config.venue_settings, config.folder)['folder']}"
        yield ConfigWarning(f"{len(faults) - MOST_NAMED:,} more faults are not named here", hint)


def _untold_warning(config: Config, key: str) -> ConfigWarning:
    """Return the warning for a key of the rule that the venue's lists don't answer."""
    name = config.markets.venue
    venue = name[:1].upper() + name[1:]
    if key == "price_only":
        message = f"{venue} has no bid and no ask: no market is ever on offer"
        return ConfigWarning(message, "set `price_only: true`")

    message = f"{venue} does not report what markets.{key} asks for"
    if key.startswith("min_") and not config.universe.unknown_figures:
        hint = "set `unknown_figures: true`, or take the key out"
        return ConfigWarning(f"{message}: no market is ever on offer", hint)
    return ConfigWarning(f"{message}: it excludes nothing", "take the key out")
