"""What changed between two cohorts, agent by agent and rule by rule."""

from collections.abc import Mapping, Sequence
from typing import Any

from arena.cli.options import Options
from arena.cli.output import Data, plain, prints_to_stderr
from arena.cli.page import Page
from arena.clock import now
from arena.cohorts.diff import CohortChanges, changes_in_words, cohort_changes, diff_data, text_diff
from arena.cohorts.freeze import freeze_cohort
from arena.config import Config
from arena.errors import ArenaError
from arena.record.model.cohort import Cohort
from arena.record.queries.cohorts import numbered_cohort, read_cohorts, read_prompts
from arena.record.schema.database import Connection
from markets.registry import ExtensionFolder

PLANNED = "next"
"""The name of the cohort that the config would start."""


def compare(chosen: Options, before: str, after: str, texts: bool) -> None:
    """Print what changed from one cohort to another; with `texts` also the changes in prompts."""
    needs_config_code = PLANNED in (before, after)
    with prints_to_stderr(), chosen.config_and_record(extensions=needs_config_code) as (config, connection):
        first, first_texts = cohort_and_prompts(connection, config, before)
        second, second_texts = cohort_and_prompts(connection, config, after)
        changes = cohort_changes(first, second, kinds_of(config))

    data = {"before": before, "after": after} | diff_data(changes)
    prompt_diffs: dict[str, Sequence[str]] = {}
    if texts:
        data["texts"] = prompt_diffs
        for name in changes.edited:
            old_text = first_texts.get(first.prompts[name], "")
            prompt_diffs[name] = text_diff(name, old_text, second_texts.get(second.prompts[name], ""))
    chosen.print_answer(data, diff_page, changes, prompt_diffs, before, after)


def kinds_of(config: Config | None) -> Sequence[ExtensionFolder]:
    """Return the folders of the config's own kinds of agents; none without a config."""
    return config.extensions("kinds") if config else ()


def cohort_and_prompts(
    connection: Connection, config: Config | None, number_or_next: str
) -> tuple[Cohort, Mapping[str, str]]:
    """Return a cohort of the record, or the one that the config would start now, and its prompts by hash."""
    if number_or_next != PLANNED:
        stored = numbered_cohort(read_cohorts(connection), number_or_next)
        return stored.cohort, read_prompts(connection, list(stored.cohort.prompts.values()))
    if config is None:
        raise ArenaError("no_config", "the next cohort needs a config", "give one with --config PATH")
    return freeze_cohort(config, 1, now())


def versions_data(versions: Mapping[int, Sequence[str]]) -> list[dict[str, Any]]:
    """Return the code versions that played, each with its first round, for JSON."""
    return [{"from_round": number, "versions": list(names)} for number, names in versions.items()]


def by_rounds(versions: Sequence[Data]) -> str:
    """Return code versions in words, each with its first round.

    >>> by_rounds([{"from_round": 1, "versions": ["1.0"]}, {"from_round": 3, "versions": ["1.0", "1.1"]}])
    'version 1.0 from round 1, then 1.0 and 1.1 from round 3'
    """
    parts = [f"{' and '.join(part['versions'])} from round {part['from_round']}" for part in versions]
    return f"version {', then '.join(parts)}"


def diff_page(
    changes: CohortChanges, prompt_diffs: Mapping[str, Sequence[str]], before: str, after: str
) -> Page:
    """Yield the changes, a line each, then the diffs of prompts."""
    yield f"From {_cohort_in_words(before)} to {_cohort_in_words(after)}:"
    for line in changes_in_words(changes) or ["nothing has changed"]:
        yield f"  {plain(line)}"
    for lines in prompt_diffs.values():
        yield ""
        yield from map(plain, lines)


def _cohort_in_words(which: str) -> str:
    """Return the name of a cohort in a sentence."""
    return "the next cohort" if which == PLANNED else f"cohort {which}"
