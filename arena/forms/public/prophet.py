"""Files of Prophet Arena: tasks and events with their outcomes, agents' answers, and its tools' reports.

An answer gives each outcome of a task its own probability. A task is one question of several options if every
such set of probabilities adds up to 1; otherwise each of its outcomes is a yes/no question.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import PurePosixPath
from statistics import fmean
from typing import Any

from arena.errors import FileFault
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
    first_object,
    objects_in_list,
    quoted_value,
    read_objects,
    read_whole,
)

TITLE = "Prophet Arena"
YES = "Yes"
NO = "No"
SLACK = 0.005
"""How far from 1 the sum of an answer's probabilities may be."""

TASKS = "tasks with task_id, title and outcomes"
EVENTS = "events with slug, outcomes and windows"
MARKETS = "markets with market_ticker and event_ticker"
ANSWERS = "answers with agent, event, window and probabilities"
SUBMISSION = "predictions with market_ticker and p_yes"
SUMMARY = "runs with task_id, status and submission"
REPORT = "a report with agent, dataset and digest"
KEYS = {
    TASKS: {"task_id", "title", "outcomes"},
    EVENTS: {"slug", "outcomes", "windows"},
    MARKETS: {"market_ticker", "event_ticker"},
    ANSWERS: {"agent", "event", "window", "probabilities"},
    REPORT: {"agent", "dataset", "digest", "slices"},
}
LISTS = {
    SUBMISSION: ("predictions", {"market_ticker", "p_yes"}),
    SUMMARY: ("runs", {"task_id", "submission"}),
}
ALONE = (TASKS, EVENTS, ANSWERS, SUBMISSION, SUMMARY)
"""The kinds of files that identify the form by themselves."""


@dataclass(frozen=True, slots=True)
class ProphetTask:
    """A task: its outcomes, those known to be true (1) or false (0), and prices by window."""

    key: str
    title: str
    outcomes: tuple[str, ...]
    place: SourceLine
    event: str = ""
    category: str = ""
    closes: datetime | None = None
    graded: Mapping[str, float] = field(default_factory=dict)
    voided: frozenset[str] = frozenset()
    resolved: datetime | None = None
    prices: Mapping[int, Mapping[str, float]] = field(default_factory=dict)

    @property
    def is_yes_no(self) -> bool:
        """Tell whether the outcomes are Yes and No."""
        return sorted(self.outcomes) == [NO, YES]


@dataclass(frozen=True, slots=True)
class ProphetAnswer:
    """The probabilities that an agent gave to a task's outcomes; none if it gave no answer."""

    task: str
    agent: str
    place: SourceLine
    shares: Mapping[str, float]
    made: datetime | None = None
    window: int = 0
    reason: str = ""


@dataclass(slots=True)
class ProphetFiles:
    """The content of the files read so far."""

    tasks: dict[str, ProphetTask] = field(default_factory=dict)
    answers: list[ProphetAnswer] = field(default_factory=list)
    published: list[PublishedFigure] = field(default_factory=list)
    faults: list[FileFault] = field(default_factory=list)


def recognise(files: Sequence[SourceFile]) -> str | None:
    """Return what identifies the form in these files; None if nothing does."""
    for file in files:
        kind = kind_of(file)

        if kind in ALONE:
            return kind

    return None


def kind_of(file: SourceFile) -> str | None:
    """Return the kind of a Prophet Arena file; None if it is not one."""
    first = first_object(file)

    for kind, keys in KEYS.items():
        if first.keys() >= keys:
            return kind

    for kind, (name, keys) in LISTS.items():
        inner = first.get(name)
        if not isinstance(inner, list) or not inner:
            continue
        if isinstance(inner[0], dict) and inner[0].keys() >= keys:
            return kind

    return None


def read(files: Sequence[SourceFile]) -> SourceData:
    """Return the content of these files: tasks, their outcomes, and agents' answers."""
    found = ProphetFiles()
    files_of_unknown_kind = []

    for file in files:
        kind = kind_of(file)

        if kind is None:
            files_of_unknown_kind.append(file)
        else:
            read_file(file, kind, found)

    for file in files_of_unknown_kind:
        read_actuals(file, found)

    add_missing_tasks(found)
    figures_in_files = {(figure.forecaster, figure.name) for figure in found.published}

    for figure in board_figures(found):
        if (figure.forecaster, figure.name) not in figures_in_files:
            found.published.append(figure)

    return as_source_data(found)


def read_file(file: SourceFile, kind: str, found: ProphetFiles) -> None:
    """Add the content of a file of a known kind."""
    add_item = {TASKS: add_task, EVENTS: add_task, MARKETS: add_market, ANSWERS: add_answer}.get(kind)
    add_document = {SUBMISSION: add_submission, SUMMARY: add_summary, REPORT: add_report}.get(kind)

    if add_item is not None:
        for row in read_objects(file, "list", found.faults):
            add_item(row, found)

    if add_document is not None:
        value = read_whole(file, found.faults)

        if isinstance(value, dict):
            add_document(value, file, found)


def add_task(row: SourceObject, found: ProphetFiles) -> None:
    """Add a row of a data set: a task, or an event with its windows."""
    name = "slug" if "windows" in row.fields else "task_id"
    key = row.needed(name, "name the task")
    task = read_event(row, key) if name == "slug" else read_task(row, key)

    if not key or not task.outcomes:
        return
    if key in found.tasks:
        row.note_fault(name, f"{quoted_value(key)} appears twice", "remove one of them")
        return

    found.tasks[key] = task


def read_task(line: SourceObject, key: str) -> ProphetTask:
    """Return a task of a released data set."""
    outcomes = read_names(line, "outcomes")
    resolution = line.inner("resolved_outcome")
    winners = read_names(resolution, "value") if resolution.fields else ()
    unknown = [name for name in winners if name not in outcomes]

    if unknown:
        resolution.note_fault(
            "value", f"{quoted_value(unknown[0])} is none of the outcomes", "write it as among them"
        )

    graded = {}

    if winners and not unknown:
        graded = {name: float(name in winners) for name in outcomes}

    return ProphetTask(
        key,
        title=line.text("title"),
        outcomes=outcomes,
        place=line.place,
        event=line.inner_or_empty("metadata").inner_or_empty("source").text("event_ticker"),
        category=line.inner_or_empty("metadata").text("category"),
        closes=line.time("predict_by"),
        graded=graded,
        resolved=resolution.time("resolved_at"),
    )


def read_names(line: SourceObject, name: str) -> tuple[str, ...]:
    """Return the distinct texts of a list; note entries that are no text, empty, or repeated."""
    names: list[str] = []

    for value in line.values(name):
        if not isinstance(value, str) or not value.strip():
            line.note_fault(name, f"{quoted_value(value)} is not a name", "write texts alone")
        elif value.strip() in names:
            line.note_fault(name, f"{quoted_value(value)} appears twice", "remove one of them")
        else:
            names.append(value.strip())

    if not names:
        line.note_fault(name, "it names nothing", "name one at least")

    return tuple(names)


def read_event(line: SourceObject, key: str) -> ProphetTask:
    """Return an event of a data set with windows, each with the crowd's probabilities."""
    names = []
    graded = {}
    voided = set()

    for outcome in line.objects("outcomes"):
        name = outcome.needed("name", "name the outcome")
        resolution = outcome.text("resolution").lower()
        names.append(name)

        if resolution in ("yes", "no"):
            graded[name] = float(resolution == "yes")
        elif resolution == "void":
            voided.add(name)
        elif resolution not in ("", "pending"):
            outcome.note_fault(
                "resolution", f"{quoted_value(resolution)} is unknown", "write yes, no, void or pending"
            )

    prices = {}

    for window in line.objects("windows"):
        prices[int(window.number("round") or 0)] = window.inner("crowd").probabilities()

    return ProphetTask(
        key,
        title=line.text("title"),
        outcomes=tuple(names),
        place=line.place,
        event=key,
        category=line.text("category"),
        closes=line.time("close_at"),
        graded=graded,
        voided=frozenset(voided),
        prices=prices,
    )


def add_market(market: SourceObject, found: ProphetFiles) -> None:
    """Add a yes/no market."""
    ticker = market.needed("market_ticker", "name the market")

    found.tasks[ticker] = ProphetTask(
        ticker,
        title=market.text("title"),
        outcomes=(YES, NO),
        place=market.place,
        event=market.text("event_ticker"),
        category=market.text("category"),
        closes=market.time("close_time"),
    )


def add_answer(answer: SourceObject, found: ProphetFiles) -> None:
    """Add an answer of an agent in a window."""
    event = answer.needed("event", "name the event")
    agent = answer.needed("agent", "name the agent")
    shares = answer.inner("probabilities").probabilities()
    window = int(answer.number("window") or 0)
    made = answer.time("received_at")
    reason = answer.text("rationale")

    if event and agent:
        found.answers.append(ProphetAnswer(event, agent, answer.place, shares, made, window, reason))


def add_submission(value: Mapping[str, Any], file: SourceFile, found: ProphetFiles) -> None:
    """Add the predictions of a submission."""
    whole = SourceObject(value, SourceLine(file.name, 1), found.faults)
    made = whole.time("timestamp")
    team = whole.text("team_name") or PurePosixPath(file.name).stem

    for prediction in objects_in_list(value["predictions"], file, "predictions", found.faults):
        ticker = prediction.needed("market_ticker", "name the market")
        probability = prediction.probability("p_yes")
        shares = {} if probability is None else {YES: probability}
        reason = prediction.text("rationale")

        if ticker:
            found.answers.append(ProphetAnswer(ticker, team, prediction.place, shares, made, reason=reason))


def add_summary(value: Mapping[str, Any], file: SourceFile, found: ProphetFiles) -> None:
    """Add the runs of an evaluation over tasks, and the mean of the Brier scores it prints."""
    whole = SourceObject(value, SourceLine(file.name, 1), found.faults)
    agent = whole.inner_or_empty("eval_config").inner_or_empty("model").text("model_name")
    agent = agent or PurePosixPath(file.name).parent.name or "agent"
    scores = []

    for run in objects_in_list(value["runs"], file, "runs", found.faults):
        task = run.needed("task_id", "name the task")
        shares = run.inner("submission").probabilities()
        score = run.inner("evaluation").number("brier_score")

        if score is not None:
            scores.append(score)
        if task:
            found.answers.append(ProphetAnswer(task, agent, run.place, shares))

    if scores:
        how = f"mean of brier_score in {file.name}, over the {len(scores)} runs that have one"
        found.published.append(PublishedFigure(agent, "Brier", fmean(scores), how))


def add_report(value: Mapping[str, Any], file: SourceFile, found: ProphetFiles) -> None:
    """Add the figures of a local report."""
    report = SourceObject(value, SourceLine(file.name, 1), found.faults)
    agent = report.needed("agent", "name the agent")

    for name, title in (("brier", "Brier"), ("skill", "skill")):
        figure = report.number(name)

        if agent and figure is not None:
            found.published.append(PublishedFigure(agent, title, figure, f"{name} in {file.name}"))


def read_actuals(file: SourceFile, found: ProphetFiles) -> None:
    """Add the outcomes of markets, if the file is an object of 1 and 0 by ticker."""
    tickers = {answer.task for answer in found.answers} | set(found.tasks)

    if not file.name.endswith(".json"):
        return

    first = first_object(file)

    if not first.keys() & tickers:
        return

    actuals = SourceObject(first, SourceLine(file.name, 1), found.faults)
    add_missing_tasks(found)
    briers: dict[str, list[float]] = defaultdict(list)
    values = {ticker: actuals.probability(ticker) for ticker in actuals.fields}

    for ticker, value in values.items():
        if value is not None and ticker in found.tasks and found.tasks[ticker].is_yes_no:
            found.tasks[ticker] = replace(found.tasks[ticker], graded={YES: value, NO: 1 - value})

    for answer in found.answers:
        value = values.get(answer.task)

        if value is not None and YES in answer.shares:
            briers[answer.agent].append((answer.shares[YES] - value) ** 2)

    for agent, errors in briers.items():
        how = f"mean of (p_yes − actual)² over the {len(errors)} predictions in {file.name}, to 6 digits"
        found.published.append(PublishedFigure(agent, "Brier", round(fmean(errors), 6), how))


def add_missing_tasks(found: ProphetFiles) -> None:
    """Add tasks that no file describes, derived from the answers to them."""
    for answer in found.answers:
        if answer.task in found.tasks or not answer.shares:
            continue

        outcomes = tuple(answer.shares)

        if set(outcomes) <= {YES, NO}:
            outcomes = (YES, NO)

        found.tasks[answer.task] = ProphetTask(answer.task, "", outcomes, answer.place)


def board_figures(found: ProphetFiles) -> list[PublishedFigure]:
    """Return the Brier score and the skill of each agent, as the board's engine computes them.

    Both are means over an event's graded outcomes, then over its windows, then over events.
    """
    errors: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    edges: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))

    for answer in newest_in_windows(found):
        task = found.tasks[answer.task]
        graded_outcomes = [name for name in answer.shares if name in task.graded]
        prices = task.prices[answer.window]
        outcomes_with_price = [name for name in graded_outcomes if name in prices]

        if graded_outcomes:
            errors[answer.agent][answer.task].append(mean_error(answer.shares, task.graded, graded_outcomes))
        if outcomes_with_price:
            edge = mean_error(prices, task.graded, outcomes_with_price) - mean_error(
                answer.shares, task.graded, outcomes_with_price
            )
            edges[answer.agent][answer.task].append(edge)

    figures = []
    averaging_text = "over the outcomes of an event, then over its windows, then over events"

    for name, values, formula in (("Brier", errors, "(p − outcome)²"), ("skill", edges, "crowd's less own")):
        for agent, events in values.items():
            how = f"mean of {formula} {averaging_text} ({len(events)})"
            figures.append(PublishedFigure(agent, name, fmean(map(fmean, events.values())), how))

    return figures


def newest_in_windows(found: ProphetFiles) -> list[ProphetAnswer]:
    """Return the answers that count if events have windows: each agent's last in each window."""
    newest = {}

    for answer in found.answers:
        task = found.tasks.get(answer.task)

        if task is not None and answer.window in task.prices:
            newest[answer.agent, answer.task, answer.window] = answer

    return list(newest.values())


def mean_error(shares: Mapping[str, float], graded: Mapping[str, float], names: Sequence[str]) -> float:
    """Return the mean squared error of probabilities over some outcomes."""
    return fmean((shares[name] - graded[name]) ** 2 for name in names)


@dataclass(slots=True)
class ConvertedTasks:
    """Tasks as questions, outcomes and forecasts; `parted` counts tasks split into several."""

    questions: list[SourceQuestion] = field(default_factory=list)
    outcomes: list[SourceOutcome] = field(default_factory=list)
    forecasts: list[SourceForecast] = field(default_factory=list)
    parted: int = 0

    def add_yes_no(
        self, task: ProphetTask, name: str, question: SourceQuestion, answers: Sequence[ProphetAnswer]
    ) -> None:
        """Add a yes/no question about one outcome."""
        self.questions.append(question)
        self.outcomes += outcomes_of(task, question.key, name)
        self.forecasts += [yes_no_forecast(task, question.key, name, answer) for answer in answers]

    def add_options(
        self, task: ProphetTask, question: SourceQuestion, answers: Sequence[ProphetAnswer]
    ) -> None:
        """Add a question about which of the outcomes is true."""
        self.questions.append(replace(question, options=task.outcomes))
        self.outcomes += option_outcomes(task)
        self.forecasts += [options_forecast(task, answer) for answer in answers]

    def add_parts(
        self, task: ProphetTask, question: SourceQuestion, answers: Sequence[ProphetAnswer]
    ) -> None:
        """Add a yes/no question for each outcome, all within one event."""
        self.parted += 1
        event = task.event or task.key

        for name in task.outcomes:
            title = f"{task.title} {name}".strip()
            part = replace(question, key=f"{task.key}: {name}", title=title, event=event)
            self.add_yes_no(task, name, part, answers)


def as_source_data(found: ProphetFiles) -> SourceData:
    """Return tasks and answers as questions, outcomes and forecasts."""
    answers: dict[str, list[ProphetAnswer]] = defaultdict(list)
    tasks = ConvertedTasks()

    for answer in found.answers:
        answers[answer.task].append(answer)
        note_unknown_outcomes(answer, found)

    for task in found.tasks.values():
        question = SourceQuestion(
            task.key, title=task.title, event=task.event, category=task.category, closes=task.closes
        )

        if task.is_yes_no:
            tasks.add_yes_no(task, YES, question, answers[task.key])
        elif is_one_question(task, answers[task.key]):
            tasks.add_options(task, question, answers[task.key])
        else:
            tasks.add_parts(task, question, answers[task.key])

    notes = []
    tasks_never_described = answers.keys() - found.tasks.keys()

    if tasks.parted:
        what = "each outcome is a question of yes or no, within one event"
        notes.append(f"tasks whose probabilities aren't of one true outcome: {tasks.parted}; {what}")
    if tasks_never_described:
        notes.append(
            f"left out: tasks without an answer that no file describes: {len(tasks_never_described)}"
        )

    return SourceData(
        questions=tuple(tasks.questions),
        outcomes=tuple(tasks.outcomes),
        forecasts=tuple(tasks.forecasts),
        published=tuple(found.published),
        notes=tuple(notes),
        faults=tuple(found.faults),
    )


def note_unknown_outcomes(answer: ProphetAnswer, found: ProphetFiles) -> None:
    """Note probabilities of outcomes that the task doesn't have."""
    task = found.tasks.get(answer.task)

    for name in answer.shares:
        if task is not None and name not in task.outcomes:
            what = f"{quoted_value(name)} is none of the outcomes of {quoted_value(answer.task)}"
            found.faults.append(answer.place.fault("probabilities", what, "write it as the task does"))


def is_one_question(task: ProphetTask, answers: Sequence[ProphetAnswer]) -> bool:
    """Tell whether exactly one outcome can be true, judged by outcomes and sets of probabilities."""
    if task.graded and sum(task.graded.values()) != 1:
        return False
    if task.voided and len(task.voided) < len(task.outcomes):
        return False

    for shares in [*(answer.shares for answer in answers), *task.prices.values()]:
        is_complete = set(shares) == set(task.outcomes)

        if shares and (not is_complete or abs(sum(shares.values()) - 1) > SLACK):
            return False

    return len(task.outcomes) > 1


def outcomes_of(task: ProphetTask, question: str, name: str) -> list[SourceOutcome]:
    """Return whether one outcome was true, as a list; empty while that is open."""
    if name in task.graded:
        return [SourceOutcome(question, task.graded[name], task.resolved, task.place)]
    if name in task.voided:
        return [SourceOutcome(question, None, task.resolved, task.place)]

    return []


def option_outcomes(task: ProphetTask) -> list[SourceOutcome]:
    """Return which outcome was true, as a list; empty while that is open."""
    if task.voided:
        return [SourceOutcome(task.key, None, task.resolved, task.place)]

    winners = [name for name, value in task.graded.items() if value == 1]
    return [SourceOutcome(task.key, name, task.resolved, task.place) for name in winners]


def yes_no_forecast(task: ProphetTask, question: str, name: str, answer: ProphetAnswer) -> SourceForecast:
    """Return the forecast of one outcome in an answer."""
    return SourceForecast(
        question,
        answer.agent,
        answer.place,
        made=answer.made,
        probability=answer.shares.get(name),
        price=task.prices.get(answer.window, {}).get(name),
        reason=answer.reason,
    )


def options_forecast(task: ProphetTask, answer: ProphetAnswer) -> SourceForecast:
    """Return the forecast of all outcomes in an answer."""
    return SourceForecast(
        task.key,
        answer.agent,
        answer.place,
        made=answer.made,
        options=answer.shares,
        odds=task.prices.get(answer.window, {}),
        reason=answer.reason,
    )
