"""The identities that a model reports under one name, and their changes.

Another model under the same name is another agent: its scores are of two. Another fingerprint of the
same model is a softer sign: a provider may change it with every server that answers.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal


@dataclass(frozen=True, slots=True)
class ReportedModel:
    """What a provider called the model and the system that gave an answer; empty where it said nothing."""

    name: str
    model: str
    fingerprint: str
    at: datetime


@dataclass(frozen=True, slots=True)
class ModelChange:
    """From one answer to the next under one name, the model or its fingerprint was another one.

    `model` is the one that answered after the change. The same change may come often: servers take turns.
    """

    name: str
    what: Literal["model", "fingerprint"]
    before: str
    after: str
    model: str
    first_at: datetime
    last_at: datetime
    times: int = 1


def model_changes(rows: Iterable[ReportedModel]) -> list[ModelChange]:
    """Return every change under one name once, in the order of first appearance.

    Where a provider says nothing, nothing is known to have changed. Fingerprints are told of once
    a day and model, from the first to the last of it: a provider may answer from many servers.
    """
    last_reports: dict[str, ReportedModel] = {}
    changes: dict[tuple[str, ...], ModelChange] = {}
    for row in sorted(rows, key=lambda row: row.at):
        if not row.model:
            continue
        change = _change_between(last_reports.get(row.name), row)
        last_reports[row.name] = _with_known_fingerprint(last_reports.get(row.name), row)
        if change is not None:
            key = (change.name, change.model, change.before, change.after)
            if change.what == "fingerprint":
                key = (change.name, change.model, f"{row.at:%Y-%m-%d}", "")
            earlier = changes.get(key, replace(change, times=0))
            changes[key] = replace(earlier, after=change.after, last_at=row.at, times=earlier.times + 1)
    return list(changes.values())


def _change_between(previous: ReportedModel | None, report: ReportedModel) -> ModelChange | None:
    if previous is None:
        return None
    if report.model != previous.model:
        return ModelChange(
            report.name, "model", previous.model, report.model, report.model, report.at, report.at
        )
    if previous.fingerprint and report.fingerprint and report.fingerprint != previous.fingerprint:
        fingerprints = previous.fingerprint, report.fingerprint
        return ModelChange(report.name, "fingerprint", *fingerprints, report.model, report.at, report.at)
    return None


def _with_known_fingerprint(previous: ReportedModel | None, report: ReportedModel) -> ReportedModel:
    """Return the row, with the fingerprint that its model had last where it has none itself."""
    if report.fingerprint or previous is None or previous.model != report.model:
        return report
    return replace(report, fingerprint=previous.fingerprint)


def change_flag(changes: Sequence[ModelChange]) -> str:
    """Return the gravest of these changes in a word or two; empty if there are none.

    >>> change_flag([])
    ''
    """
    if not changes:
        return ""
    is_model = any(change.what == "model" for change in changes)
    return "model changed" if is_model else "fingerprint changed"


def change_sentence(change: ModelChange) -> str:
    """Return a change as a sentence."""
    since = f"since {change.first_at:%Y-%m-%d %H:%M} UTC" + (
        f", {change.times:,} times until {change.last_at:%Y-%m-%d %H:%M}" if change.times > 1 else ""
    )
    if change.what == "model":
        return f"{change.name} now reports another model: {change.after}, before {change.before} ({since})"
    return (
        f"{change.name}: {change.model} has another fingerprint: {change.after}, before {change.before} "
        f"({since}); possibly just another server"
    )
