"""Inspect (inspect_ai) logs, as `.eval` or as `.json`: a sample is a question, a model a forecaster.

The probability is taken from the sample's scores: an entry `probability` in a score's value or metadata, or
its answer if that is a number from 0 to 1 or a percentage; or the value of a scorer named after it. Several
options are an entry `probabilities`. The sample's target is the outcome, and its metadata may have
`market_probability`, `event`, `category`, `resolved` and `as_of`.

A sample with several questions has them in its scorer's metadata, as a list `forecasts` of objects with
`question`, `probability`, `outcome` and so on. If a log's metadata name a `forecaster`, the log is that
forecaster's, and so may others be.
"""

import re
import zipfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from io import BytesIO
from math import isnan
from statistics import fmean
from typing import Any

from arena.errors import FileFault, natural_key
from arena.forms.csv_columns import MOST_BYTES, parse_outcome, parse_share
from arena.forms.model import (
    PublishedFigure,
    SourceData,
    SourceFile,
    SourceForecast,
    SourceLine,
    SourceOutcome,
    SourceQuestion,
)
from arena.forms.objects import (
    SourceObject,
    as_number,
    as_time,
    objects_in_list,
    parse_json,
    quoted_value,
    read_whole,
    suffix_of,
)
from arena.forms.zip_members import read_member

TITLE = "Inspect log"
BEGINNING = re.compile(rb'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:\s*"')
"""The beginning of a log in JSON."""
HEAD = 1 << 16
ZIP_START = b"PK\x03\x04"
HEADERS = ("header.json", "_journal/start.json")
"""The members of a packed log that describe the run; the second one while it still runs."""

PROBABILITY = ("probability", "prob", "p_yes", "forecast", "prediction")
PROBABILITIES = "probabilities"
PRICE = ("market_probability", "market_prob", "market_price", "price")
EVENT = ("event", "event_id")
CATEGORY = ("category", "topic")
RESOLVED = ("resolved", "resolved_at", "resolution_date")
MADE = ("as_of", "made", "forecast_date")
FORECASTS = "forecasts"
FORECASTER = "forecaster"
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
NO_PROBABILITY = "no sample has a probability"


@dataclass(frozen=True, slots=True)
class Reading:
    """A sample's question, its outcome, and the answer in one epoch.

    If it `names_question`, the question is the same in every task, and several samples may ask it.
    """

    key: str
    sample: str
    names_question: bool
    question: SourceQuestion
    outcome: SourceOutcome | None
    place: SourceLine
    forecast: SourceForecast


@dataclass(frozen=True, slots=True)
class InspectLog:
    """A log: the task, the model, its samples and its own metrics.

    `forecaster` is the one that the log names; empty if it is the model's.
    """

    name: str
    task: str
    model: str
    forecaster: str
    readings: tuple[Reading, ...]
    metrics: tuple[PublishedFigure, ...]


@dataclass(slots=True)
class InspectFiles:
    """The content of the logs read so far."""

    logs: list[InspectLog] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    faults: list[FileFault] = field(default_factory=list)


def recognise(files: Sequence[SourceFile]) -> str | None:
    """Return what identifies the form in these files; None if nothing does."""
    if any(map(is_log, files)):
        return "a log with version, status and eval"

    return None


def is_log(file: SourceFile) -> bool:
    """Tell whether a file is a log, packed or not."""
    if file.data.startswith(ZIP_START):
        return suffix_of(file) == ".eval"

    head = file.data[:HEAD]
    return BEGINNING.match(head) is not None and b'"eval"' in head


def read(files: Sequence[SourceFile]) -> SourceData:
    """Return the content of logs: questions, outcomes, and each model's probabilities."""
    found = InspectFiles()

    for file in files:
        if not is_log(file):
            continue
        if file.data.startswith(ZIP_START):
            read_packed(file, found)
        else:
            read_log(file, read_whole(file, found.faults), found)

    return join_logs(found)


def read_packed(file: SourceFile, found: InspectFiles) -> None:
    """Add a packed log."""
    try:
        with zipfile.ZipFile(BytesIO(file.data)) as packed:
            value = unpacked_log(file, packed, found)
    except (zipfile.BadZipFile, zlib.error, RuntimeError, OSError, EOFError, ValueError) as error:
        hint = "fetch it again, or write it anew: inspect log convert FILE --to json --output-dir FOLDER"
        found.faults.append(FileFault(file.name, "file", f"it can't be unpacked: {error}", hint))
        return

    read_log(file, value, found)


def unpacked_log(file: SourceFile, packed: zipfile.ZipFile, found: InspectFiles) -> Any:
    """Return a packed log as a single JSON value; None, with a fault, if its header is invalid."""
    names = packed.namelist()
    size = sum(member.file_size for member in packed.infolist())
    headers = [name for name in HEADERS if name in names]

    if size > MOST_BYTES:
        raise ValueError(f"it has more than {MOST_BYTES:,} bytes")
    if not headers:
        raise ValueError("it has no header.json")

    header = member_value(file, packed, headers[0], found)
    samples = [name for name in names if name.startswith("samples/") and name.endswith(".json")]

    if not isinstance(header, dict):
        return header

    values = [member_value(file, packed, name, found) for name in sorted(samples, key=natural_key)]
    return header | {"samples": [value for value in values if value is not None]}


def member_value(file: SourceFile, packed: zipfile.ZipFile, name: str, found: InspectFiles) -> Any:
    """Return the value of a member of a packed log; None, with a fault, if it is not JSON."""
    text = read_member(file.data, packed, packed.getinfo(name)).decode(errors="replace")
    return parse_json(f"{file.name}/{name}", text, 1, found.faults)


def read_log(file: SourceFile, value: Any, found: InspectFiles) -> None:
    """Add a log: its samples, and its metrics."""
    if value is None:
        return

    for log in objects_in_list([value], file, "log", found.faults):
        run = log.inner("eval")
        task = run.needed("task", "name the task")
        model = run.needed("model", "name the model")
        forecaster = run.inner_or_empty("metadata").text(FORECASTER)
        samples = log.values("samples")
        readings: list[Reading] = []

        for sample in objects_in_list(samples, file, "samples", found.faults):
            readings += read_sample(sample, model)

        if not samples:
            found.notes.append(f"{file.name} has no samples")
        elif not any(is_answered(reading.forecast) for reading in readings):
            hint = "let its scorer give the probability as answer, or as probability in metadata"
            log.note_fault("samples", NO_PROBABILITY, hint)

        figures = tuple(read_metrics(log, file.name, model))
        found.logs.append(InspectLog(file.name, task, model, forecaster, tuple(readings), figures))


def is_answered(forecast: SourceForecast) -> bool:
    """Tell whether a forecast states anything."""
    return forecast.probability is not None or bool(forecast.options)


def read_metrics(log: SourceObject, name: str, model: str) -> Iterator[PublishedFigure]:
    """Yield the metrics that a log computes from its scores."""
    for score in log.inner_or_empty("results").objects("scores"):
        metrics = score.inner_or_empty("metrics")
        scorer = score.text("name")

        for metric in metrics.fields:
            value = as_number(metrics.inner_or_empty(metric).fields.get("value"))

            if value is not None:
                how = f"metric {metric} of scorer {scorer} in {name}"
                yield PublishedFigure(model, f"{scorer} {metric}", value, how)


def read_sample(sample: SourceObject, model: str) -> Iterator[Reading]:
    """Yield a reading for each question of a sample; none, with a fault, if it has no id."""
    key = sample.needed("id", "number the samples")

    if not key:
        return

    scores = sample.inner_or_empty("scores")
    parts = [scores.inner_or_empty(name).inner_or_empty("metadata") for name in scores.fields]
    parts_with_questions = [part for part in parts if has_questions(part.fields.get(FORECASTS))]

    if parts_with_questions:
        for stated in parts_with_questions[0].objects(FORECASTS):
            yield from read_stated_forecast(stated, key, sample, model)
        return

    yield read_answer(sample, key, model)


def has_questions(forecasts: object) -> bool:
    """Tell whether a list holds forecasts of questions; other scorers may use the same name.

    >>> has_questions([{"question": "rain"}]), has_questions([0.2, 0.3])
    (True, False)
    """
    if not isinstance(forecasts, list):
        return False

    return any(isinstance(forecast, dict) and "question" in forecast for forecast in forecasts)


def read_stated_forecast(
    stated: SourceObject, key: str, sample: SourceObject, model: str
) -> Iterator[Reading]:
    """Yield the reading of one of a sample's forecasts; none, with a fault, if it names no question."""
    question = stated.needed("question", "name the question")

    if not question:
        return

    forecast = SourceForecast(
        question,
        model,
        sample.place,
        made=as_time(first_value(sample.inner_or_empty("metadata"), MADE)),
        probability=stated.probability("probability"),
        price=stated.probability("market_probability"),
    )
    question_facts = SourceQuestion(
        question,
        title=stated.text("title"),
        event=first_text(stated, EVENT),
        category=first_text(stated, CATEGORY),
    )
    outcome_field = stated.fields.get("outcome")
    outcome = None

    if outcome_field is not None and outcome_field != "":
        resolved = as_time(first_value(stated, RESOLVED))
        outcome = outcome_of(stated, "outcome", outcome_field, forecast, resolved)

    yield Reading(question, key, True, question_facts, outcome, sample.place, forecast)


def read_answer(sample: SourceObject, key: str, model: str) -> Reading:
    """Return the reading of a sample that asks one question."""
    metadata = sample.inner_or_empty("metadata")
    answered = sample.fields.get("error") is None and sample.fields.get("limit") is None
    forecast = SourceForecast(key, model, sample.place)

    if answered:
        forecast = stated_answer(sample, forecast)

    forecast = replace(
        forecast,
        made=as_time(first_value(metadata, MADE)),
        price=market_price(metadata),
        reason=reason_of(sample),
    )
    question = SourceQuestion(
        key,
        title=title_of(sample),
        options=tuple(forecast.options),
        event=first_text(metadata, EVENT),
        category=first_text(metadata, CATEGORY),
    )
    outcome = read_outcome(sample, forecast)
    return Reading(key, key, False, question, outcome, sample.place, forecast)


def stated_answer(sample: SourceObject, forecast: SourceForecast) -> SourceForecast:
    """Return a forecast with the first probability, or set of them, in a sample's scores."""
    scores = sample.inner_or_empty("scores")

    for name in scores.fields:
        score = scores.inner_or_empty(name)
        value = score.fields.get("value")

        if isinstance(value, float) and isnan(value):
            continue

        for part in (score.inner_or_empty("value"), score.inner_or_empty("metadata")):
            options = part.inner_or_empty(PROBABILITIES)
            probability = as_share(first_value(part, PROBABILITY))

            if options.fields:
                return replace(forecast, options=options.probabilities())
            if probability is not None:
                return replace(forecast, probability=probability)

        probability = as_share(score.fields.get("answer"))

        if probability is not None:
            return replace(forecast, probability=probability)
        if is_probability(name) and as_share(value) is not None:
            return replace(forecast, probability=as_share(value))

    return forecast


def is_probability(name: str) -> bool:
    """Tell whether a scorer is named after the probability; others may have values from 0 to 1 too.

    >>> is_probability("probability_of_yes"), is_probability("brier")
    (True, False)
    """
    return name in PROBABILITY or "prob" in name.lower()


def as_share(value: object) -> float | None:
    """Return a number from 0 to 1, or a percentage, as a probability; None for anything else.

    >>> as_share("70%"), as_share(0.7), as_share("Yes"), as_share(70)
    (0.7, 0.7, None, None)
    """
    if not isinstance(value, str | int | float):
        return None

    try:
        return parse_share(str(value).strip())
    except ValueError:
        return None


def first_value(fields: SourceObject, names: Sequence[str]) -> Any:
    """Return the first of some fields that is not null; None if all are."""
    for name in names:
        if fields.fields.get(name) is not None:
            return fields.fields[name]

    return None


def first_text(fields: SourceObject, names: Sequence[str]) -> str:
    """Return the first of some fields as text, if it is a text or a number; else an empty text."""
    value = first_value(fields, names)

    if isinstance(value, str | int | float):
        return str(value).strip()

    return ""


def market_price(metadata: SourceObject) -> float | None:
    """Return the market's probability; note an invalid one of the market, and ignore other prices."""
    for name in PRICE:
        share = as_share(metadata.fields.get(name))

        if share is not None:
            return share
        if name.startswith("market") and metadata.fields.get(name) is not None:
            metadata.probability(name)

    return None


def title_of(sample: SourceObject) -> str:
    """Return the text that the model was asked: of messages, the user's last."""
    asked = sample.fields.get("input")

    if isinstance(asked, str):
        return asked

    if not isinstance(asked, list):
        return ""

    for message in reversed(asked):
        content = message.get("content") if isinstance(message, dict) else None

        if isinstance(content, str) and message.get("role") == "user":
            return content

    return ""


def reason_of(sample: SourceObject) -> str:
    """Return the first explanation of a score."""
    scores = sample.inner_or_empty("scores")

    for name in scores.fields:
        explanation = scores.inner_or_empty(name).fields.get("explanation")

        if isinstance(explanation, str):
            return explanation

    return ""


def read_outcome(sample: SourceObject, forecast: SourceForecast) -> SourceOutcome | None:
    """Return the outcome in a sample's target; None if it has none, with a fault if it is invalid."""
    target = sample.fields.get("target")

    if isinstance(target, list) and len(target) == 1:
        target = target[0]
    if target is None or target == "" or target == []:
        return None

    resolved = as_time(first_value(sample.inner_or_empty("metadata"), RESOLVED))
    return outcome_of(sample, "target", target, forecast, resolved)


def outcome_of(
    sample: SourceObject, name: str, target: object, forecast: SourceForecast, resolved: datetime | None
) -> SourceOutcome | None:
    """Return the outcome in a field; None if it is invalid, with a fault if the question was answered."""
    value = target_value(sample, target, forecast.options)

    if value is None and is_answered(forecast):
        sample.note_fault(
            name, f"{quoted_value(target)} is no outcome of this question", "write yes or no, or an option"
        )
    if value is None:
        return None

    return SourceOutcome(forecast.question, value, resolved, sample.place)


def target_value(sample: SourceObject, target: object, options: Mapping[str, float]) -> float | str | None:
    """Return the value of a target: a number for yes/no, or an option's name; None for anything else."""
    text = str(target).strip()

    if options:
        return option_named(text, sample.fields.get("choices"), options)

    try:
        return parse_outcome(text)
    except ValueError:
        return None


def option_named(text: str, choices: object, options: Mapping[str, float]) -> str | None:
    """Return the option with a name, or with the letter of a choice; None if there is none."""
    if isinstance(choices, list) and len(text) == 1 and text not in options:
        place = LETTERS.find(text)

        if 0 <= place < len(choices):
            text = str(choices[place]).strip()

    if text in options:
        return text

    return None


def join_logs(found: InspectFiles) -> SourceData:
    """Return the samples of all logs; logs of the same task share their questions."""
    tasks = {log.task for log in found.logs}
    questions: dict[str, SourceQuestion] = {}
    outcomes: dict[str, SourceOutcome] = {}
    forecasts: list[SourceForecast] = []
    published: list[PublishedFigure] = []
    notes = list(found.notes)
    forecasters = forecasters_of(found.logs, notes)

    for log, forecaster in zip(found.logs, forecasters, strict=True):
        epochs_of_sample: dict[tuple[str, str], list[SourceForecast]] = defaultdict(list)

        for reading in log.readings:
            is_key_unique = len(tasks) == 1 or reading.names_question
            key = reading.key if is_key_unique else f"{log.task}: {reading.key}"
            epochs_of_sample[key, reading.sample].append(reading.forecast)
            known_question = questions.setdefault(key, replace(reading.question, key=key))

            if not known_question.options and reading.question.options:
                questions[key] = replace(reading.question, key=key)
            if reading.outcome is not None:
                outcomes[key] = replace(reading.outcome, question=key)

        forecasts += [mean_forecast(key, forecaster, epochs) for (key, _), epochs in epochs_of_sample.items()]

        # If a forecaster has several logs, the figures of one are not the forecaster's.
        if forecasters.count(forecaster) == 1:
            published += [replace(figure, forecaster=forecaster) for figure in log.metrics]

        if any(len(epochs) > 1 for epochs in epochs_of_sample.values()):
            notes.append(f"{log.name} has several epochs: their mean is the forecast")

    return SourceData(
        questions=tuple(questions.values()),
        outcomes=tuple(outcomes.values()),
        forecasts=tuple(forecasts),
        published=tuple(published),
        notes=tuple(notes),
        faults=tuple(found.faults),
    )


def forecasters_of(logs: Sequence[InspectLog], notes: list[str]) -> list[str]:
    """Return the forecaster of each log; repeated runs of a model in a task are numbered, and noted."""
    runs: Counter[tuple[str, str]] = Counter()
    names = []

    for log in logs:
        if log.forecaster:
            names.append(log.forecaster)
            continue

        runs[log.task, log.model] += 1
        run = runs[log.task, log.model]
        name = log.model if run == 1 else f"{log.model} ({run})"
        names.append(name)

        if run > 1:
            notes.append(f"{name} is {log.name}")

    return names


def mean_forecast(key: str, forecaster: str, epochs: Sequence[SourceForecast]) -> SourceForecast:
    """Return the mean of the answers in a sample's epochs."""
    answered = [forecast for forecast in epochs if is_answered(forecast)] or list(epochs)
    first_answered = replace(answered[0], question=key, forecaster=forecaster)
    shares = [forecast.probability for forecast in answered if forecast.probability is not None]
    options: dict[str, list[float]] = defaultdict(list)

    if shares:
        return replace(first_answered, probability=fmean(shares))

    for forecast in answered:
        for name, share in forecast.options.items():
            options[name].append(share)

    return replace(first_answered, options={name: fmean(values) for name, values in options.items()})
