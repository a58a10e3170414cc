"""As what a model reports itself: each change is told once, that of the model above that of a fingerprint."""

from datetime import timedelta

from arena.record.model.model_version import (
    ModelChange,
    ReportedModel,
    change_flag,
    change_sentence,
    model_changes,
)
from tests.builders import NOW


def answers(*marks: str, name: str = "ann") -> list[ReportedModel]:
    """Return answers an hour apart, each as `model` or `model/fingerprint`."""
    return [
        ReportedModel(name, mark.partition("/")[0], mark.partition("/")[2], NOW + timedelta(hours=hour))
        for hour, mark in enumerate(marks)
    ]


def told(rows: list[ReportedModel]) -> list[tuple[str, str, str, int]]:
    return [(change.what, change.before, change.after, change.times) for change in model_changes(rows)]


def test_what_stays_as_it_is_has_not_changed() -> None:
    assert model_changes([]) == []
    assert model_changes(answers("m1/a", "m1/a", "m1/a")) == []


def test_another_model_is_told_with_its_time() -> None:
    (change,) = model_changes(answers("m1/a", "m1/a", "m2/b", "m2/b"))
    at = NOW + timedelta(hours=2)
    assert change == ModelChange("ann", "model", "m1", "m2", "m2", at, at)
    assert change_sentence(change) == (
        "ann now reports another model: m2, before m1 (since 2026-01-04 14:00 UTC)"
    )


def test_there_and_back_are_two_changes() -> None:
    assert told(answers("m1", "m2", "m1")) == [("model", "m1", "m2", 1), ("model", "m2", "m1", 1)]


def test_servers_that_take_turns_are_one_change_a_day_that_came_often() -> None:
    rows = answers("m1/a", "m1/b", "m1/a", "m1/c", *["m1/c"] * 20, "m1/d")
    assert told(rows) == [("fingerprint", "a", "c", 3), ("fingerprint", "c", "d", 1)]
    first = model_changes(rows)[0]
    assert (first.first_at, first.last_at) == (NOW + timedelta(hours=1), NOW + timedelta(hours=3))
    assert "3 times until 2026-01-04 15:00" in change_sentence(first)
    assert "possibly just another server" in change_sentence(first)


def test_what_a_provider_does_not_say_is_no_change() -> None:
    assert model_changes(answers("m1/a", "m1", "", "m1/a")) == []
    assert told(answers("m1/a", "m1", "", "m1/b")) == [("fingerprint", "a", "b", 1)]


def test_another_models_fingerprint_is_not_held_against_it() -> None:
    assert told(answers("m1/a", "m2/b")) == [("model", "m1", "m2", 1)]


def test_names_are_apart_and_rows_may_come_in_any_order() -> None:
    rows = [*answers("m1", "m1"), *answers("m2", "m3", name="bob")]
    assert [(change.name, change.after) for change in model_changes(reversed(rows))] == [("bob", "m3")]


def test_the_gravest_change_is_the_flag() -> None:
    assert change_flag(model_changes(answers("m1/a", "m1/b"))) == "fingerprint changed"
    assert change_flag(model_changes(answers("m1/a", "m1/b", "m2/c"))) == "model changed"
