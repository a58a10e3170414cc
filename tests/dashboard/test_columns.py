"""What the columns of tables say in assets/columns.toml: that it is what is computed, and well formed."""

import pytest

from arena.scores.rules.comparisons.events import ENOUGH_EVENTS
from arena.scores.verdict import MIN_COVERAGE
from dashboard.html import KINDS, all_columns, columns_of_table
from dashboard.views.turn import EXCERPT
from dashboard.words import written


def test_figures_in_what_columns_say_are_those_that_are_computed() -> None:
    leaderboard = columns_of_table("leaderboard")
    assert f"ranked from {MIN_COVERAGE:.0%} on" in leaderboard["coverage"].help
    assert f"answers {MIN_COVERAGE:.0%} of what resolves" in leaderboard["why_not"].help
    assert f"an interval takes {ENOUGH_EVENTS:.0f}" in leaderboard["events_effective"].help
    assert f"first {EXCERPT:,} characters" in columns_of_table("evidence")["text"].help


@pytest.mark.parametrize("table", all_columns())
def test_every_column_has_a_label_and_a_format_that_is_known(table: str) -> None:
    for key, column in columns_of_table(table).items():
        assert column.label, key
        assert column.format in KINDS or written(1.5, column.format), key
        assert not column.help or column.help.endswith("."), key
