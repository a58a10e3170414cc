"""Reports of Metaculus's forecasting-tools: a bot's prediction of a question, alone or in a benchmark."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from statistics import fmean

from arena.forms.metaculus_site.posts import add_community, api_facts, joined_words, options_of
from arena.forms.metaculus_site.site_questions import (
    BINARY,
    CHOICE,
    DATE,
    KINDS,
    NUMBERS,
    MetaculusFiles,
    QuestionFacts,
    SiteForecast,
    read_scale,
    stated_forecast,
)
from arena.forms.model import PublishedFigure, SourceForecast
from arena.forms.objects import SourceObject, quoted_value
from arena.forms.rules.expected_scores import expected_baseline
from arena.forms.rules.number_scales import NumberScale, number_or_date

BOUNDS = ("lower_bound", "upper_bound")
NEAR = 1e-6
"""The tolerance for equal steps of a cumulative distribution's values."""
FEWEST_STEPS = 3


def add_benchmark(benchmark: SourceObject, found: MetaculusFiles) -> None:
    """Add the reports of a bot's benchmark, and the mean of their expected baseline scores."""
    bot = benchmark_name(benchmark)
    failed = len(benchmark.values("failed_report_errors"))
    forecasts = []

    for report in benchmark.objects("forecast_reports"):
        forecast = add_report(report, bot, found)

        if forecast is not None:
            forecasts.append(forecast)

    if failed:
        found.left_out["left out: questions that failed in a benchmark, which doesn't say which"] += failed

    expected_scores = [expected_baseline(forecast.probability, forecast.price) for forecast in forecasts]
    known_scores = [score for score in expected_scores if score is not None]

    if known_scores and len(known_scores) == len(expected_scores):
        how = f"mean over its {len(known_scores)} reports, as if the community's prediction were the truth"
        found.published.append(PublishedFigure(bot, "expected baseline", fmean(known_scores), how))


def benchmark_name(benchmark: SourceObject) -> str:
    """Return the name of a benchmark's bot: its own, or its class and default model."""
    name = benchmark.text("explicit_name") or benchmark.text("name")
    models = benchmark.inner_or_empty("forecast_bot_config").inner_or_empty("llms")
    model = models.inner_or_empty("default").text("original_model")

    if isinstance(models.fields.get("default"), str):
        model = models.text("default")

    parts = filter(None, (benchmark.text("forecast_bot_class_name"), model))
    return name or " | ".join(parts) or "bot"


def file_bot(name: str) -> str:
    """Return the forecaster of reports that name none: the name of their file."""
    return PurePosixPath(name).stem


def add_report(report: SourceObject, bot: str, found: MetaculusFiles) -> SourceForecast | None:
    """Add the question of a report and the bot's prediction; return the forecast."""
    question = report.inner("question")
    facts = add_tools_question(question, found)

    if facts is None:
        return None

    name = "prediction_in_decimal"

    if "prediction" in report.fields:
        name = "prediction"

    stated = read_prediction(facts, report, name)
    forecast = replace(
        stated_forecast(facts, bot, report, stated),
        made=question.time("date_accessed"),
        price=question.probability("community_prediction_at_access_time"),
        reason=report.text("explanation"),
    )

    found.forecasts.append(forecast)
    return forecast


def add_tools_question(question: SourceObject, found: MetaculusFiles) -> QuestionFacts | None:
    """Add a question in the tools' form; return None if its kind can't be scored."""
    post = question.inner_or_empty("api_json")
    kind = tools_kind(question, post)

    if kind not in KINDS:
        found.left_out["left out: questions of other kinds"] += 1
        return None

    inner = post.inner_or_empty("question")

    if inner.fields.get("id") and inner.fields.get("type"):
        facts = api_facts(post, inner, found)

        if facts is not None:
            facts = with_tools_words(facts, question)
            add_community(facts, inner, found)
            return found.add_question(facts, question, "resolution_string")

    key = first_nonzero_text(
        question, ("id_of_question", "id_of_post", "question_id", "page_url", "question_text")
    )

    if not key:
        question.note_fault("id_of_question", "it is empty", "give the question's number or text")
        return None

    facts = QuestionFacts(
        key,
        kind,
        title=question.text("question_text"),
        post=first_nonzero_text(question, ("id_of_post", "question_id")),
        options=options_of(question, kind),
        scale=read_scale(question, BOUNDS, kind),
        open_low=question.flag("open_lower_bound"),
        open_high=question.flag("open_upper_bound"),
        opened=question.time("open_time"),
        closes=question.time("close_time"),
        spot=question.time("cp_reveal_time"),
        resolution=question.text("resolution_string") or old_resolution(post),
        resolved=question.time("actual_resolution_time"),
        background=joined_words(question, ("background_info", "fine_print")),
        source=question.text("resolution_criteria"),
    )
    return found.add_question(facts, question, "resolution_string")


def with_tools_words(facts: QuestionFacts, question: SourceObject) -> QuestionFacts:
    """Return the API's facts of a question, with the tools' outcome if the API has none."""
    if facts.resolution:
        return facts

    resolved = question.time("actual_resolution_time")
    return replace(facts, resolution=question.text("resolution_string"), resolved=resolved)


def tools_kind(question: SourceObject, post: SourceObject) -> str:
    """Return the kind of a question, from its type or from the fields it has."""
    named = (
        question.text("question_type"),
        post.inner_or_empty("question").text("type"),
        post.inner_or_empty("possibilities").text("type"),
    )

    for kind in named:
        if kind:
            return kind

    if "options" in question.fields:
        return CHOICE
    if isinstance(question.fields.get("upper_bound"), str):
        return DATE
    if "upper_bound" in question.fields:
        return NUMBERS[0]

    return BINARY


def first_nonzero_text(question: SourceObject, names: tuple[str, ...]) -> str:
    """Return the first of some fields that is neither empty nor 0, which is no id."""
    for name in names:
        text = question.text(name)

        if text not in ("", "0"):
            return text

    return ""


def old_resolution(post: SourceObject) -> str:
    """Return the outcome in a post of the API's older version."""
    value = post.fields.get("resolution")

    if isinstance(value, str | int | float):
        return str(value)

    return ""


def read_prediction(facts: QuestionFacts, report: SourceObject, name: str) -> SiteForecast:
    """Return a bot's prediction; an empty one if it gave no answer."""
    if report.fields.get(name) is None:
        return SiteForecast()
    if facts.kind == BINARY:
        return SiteForecast(probability=report.probability(name))

    prediction = report.inner(name)

    if facts.kind == CHOICE:
        return SiteForecast(options=predicted_options(prediction))
    if facts.scale is None:
        return SiteForecast()

    return predicted_number(facts.scale, prediction)


def predicted_options(prediction: SourceObject) -> Mapping[str, float]:
    """Return the probability of each option."""
    options = {}

    for option in prediction.objects("predicted_options"):
        name = option.needed("option_name", "name the option")
        share = option.probability("probability")

        if name and share is not None:
            options[name] = share

    return options


def predicted_number(scale: NumberScale, prediction: SourceObject) -> SiteForecast:
    """Return a distribution: cumulative probabilities at equal steps, or else quantiles."""
    points = []

    for percentile in prediction.objects("declared_percentiles"):
        share = percentile.probability("percentile")
        value = number_or_date(percentile.fields.get("value"), scale.is_date)

        if value is None:
            percentile.note_fault(
                "value", f"{quoted_value(percentile.fields.get('value'))} is none", "write a number or date"
            )
        elif share is not None:
            points.append((value, share))

    if are_equal_steps(scale, [value for value, _ in points]):
        return SiteForecast(cdf=tuple(share for _, share in points))

    quantiles: dict[int, float | str] = {}

    for value, share in points:
        percent = round(100 * share)

        if abs(100 * share - percent) < NEAR and 0 < percent < 100:
            quantiles[percent] = scale.given(value)

    if points and len(quantiles) < 2:
        what = "it has less than two quantiles of whole percent"
        prediction.note_fault("declared_percentiles", what, "give two at least, such as 0.1 and 0.9")
        return SiteForecast()

    return SiteForecast(quantiles=quantiles)


def are_equal_steps(scale: NumberScale, values: Sequence[float]) -> bool:
    """Tell whether values run through a whole range in equal steps.

    >>> are_equal_steps(NumberScale(0, 10), [0, 5, 10]), are_equal_steps(NumberScale(0, 10), [1, 5, 9])
    (True, False)
    """
    if len(values) < FEWEST_STEPS:
        return False

    last = len(values) - 1
    return all(abs(scale.position(value) - step / last) < NEAR for step, value in enumerate(values))
