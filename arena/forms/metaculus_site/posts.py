"""Questions from Metaculus's API: posts, with the community prediction and the account's own forecasts."""

from collections.abc import Sequence
from dataclasses import replace

from arena.forms.metaculus_site.site_questions import (
    BINARY,
    CHOICE,
    COMMUNITY,
    KINDS,
    CommunityPrediction,
    MetaculusFiles,
    QuestionFacts,
    SiteForecast,
    read_scale,
    stated_forecast,
    stated_values,
)
from arena.forms.objects import SourceObject

OWN = "me"
"""The name for an account's own forecasts, because the API doesn't give one."""
BOUNDS = ("range_min", "range_max")


def add_post(post: SourceObject, found: MetaculusFiles) -> None:
    """Add the question of a post, or those of its group."""
    group = post.inner_or_empty("group_of_questions")

    if group.fields:
        for question in group.objects("questions"):
            add_api_question(post, question, found)
    elif isinstance(post.fields.get("question"), dict):
        add_api_question(post, post.inner("question"), found)
    else:
        found.left_out[
            "left out: posts without a question that is scored by itself, such as conditional ones"
        ] += 1


def add_api_question(post: SourceObject, question: SourceObject, found: MetaculusFiles) -> None:
    """Add a question, its community predictions, and the account's own forecasts."""
    facts = api_facts(post, question, found)

    if facts is None:
        return

    facts = found.add_question(facts, question, "resolution")
    add_community(facts, question, found)

    for own in question.inner_or_empty("my_forecasts").objects("history"):
        stated = stated_values(facts, own.values("forecast_values"), own, "forecast_values")
        forecast = stated_forecast(facts, OWN, own, stated)
        found.forecasts.append(replace(forecast, made=own.time("start_time"), ends=own.time("end_time")))


def api_facts(post: SourceObject, question: SourceObject, found: MetaculusFiles) -> QuestionFacts | None:
    """Return the facts of a post's question; None if its kind can't be scored."""
    kind = question.text("type")
    key = question.needed("id", "give the question's number")

    if kind not in KINDS:
        found.left_out["left out: questions of other kinds"] += 1
        return None
    if not key:
        return None

    return QuestionFacts(
        key,
        kind,
        title=question.text("title") or post.text("title"),
        post=post.text("id"),
        category=category_of(post),
        options=options_of(question, kind),
        scale=read_scale(question.inner_or_empty("scaling"), BOUNDS, kind),
        open_low=question.flag("open_lower_bound"),
        open_high=question.flag("open_upper_bound"),
        opened=question.time("open_time"),
        closes=question.time("actual_close_time") or question.time("scheduled_close_time"),
        scheduled_close=question.time("scheduled_close_time"),
        spot=question.time("spot_scoring_time") or question.time("cp_reveal_time"),
        resolution=question.text("resolution"),
        resolved=question.time("actual_resolve_time"),
        background=joined_words(question, ("description", "fine_print")),
        source=question.text("resolution_criteria"),
    )


def joined_words(question: SourceObject, fields: Sequence[str]) -> str:
    """Return the texts of several fields as paragraphs."""
    return "\n\n".join(filter(None, map(question.text, fields)))


def category_of(post: SourceObject) -> str:
    """Return the first category of a post."""
    categories = post.inner_or_empty("projects").fields.get("category")

    if isinstance(categories, list) and categories and isinstance(categories[0], dict):
        return str(categories[0].get("name") or "")

    return ""


def options_of(question: SourceObject, kind: str) -> tuple[str, ...]:
    """Return the options of a multiple choice question; none for other kinds."""
    if kind != CHOICE:
        return ()

    return tuple(str(option).strip() for option in question.values("options"))


def add_community(facts: QuestionFacts, question: SourceObject, found: MetaculusFiles) -> None:
    """Add the community predictions of YES or of each option, with the time each began."""
    aggregation = question.inner_or_empty("aggregations").inner_or_empty(COMMUNITY)
    predictions = aggregation.objects("history")
    latest = aggregation.inner_or_empty("latest")

    if latest.fields:
        predictions.append(latest)

    for prediction in predictions:
        start = prediction.time("start_time")
        stated = community_values(facts, prediction)

        if start is not None and (stated.probability is not None or stated.options):
            found.community[facts.key].append(CommunityPrediction(start, stated))


def community_values(facts: QuestionFacts, prediction: SourceObject) -> SiteForecast:
    """Return an aggregation's forecast, from its values or the centres of its intervals."""
    for name in ("forecast_values", "centers"):
        values = prediction.values(name)

        if values and facts.kind in (BINARY, CHOICE):
            return stated_values(facts, values, prediction, name)

    return SiteForecast()
