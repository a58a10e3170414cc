"""Questions that are not of yes or no, beside those that are: these are scored as if alone."""

from pathlib import Path

from arena.scores.cache import as_json
from arena.scores.comparisons import COMPARISONS, compute_comparisons
from arena.scores.leaderboard import LEADERBOARD, compute_leaderboard, compute_provisional
from arena.scores.profiles.calibrations import CALIBRATIONS, compute_calibrations
from arena.scores.profiles.coherence import blind_of
from arena.scores.profiles.detailed_profile import PROFILE, compute_profile
from arena.scores.profiles.inputs import read_inputs
from arena.scores.slices import BY, read_slices, slice_gains
from tests.opened_record import OpenedRecord
from tests.records.question_season import LINE_UP, play
from tests.rows import forecasts_seen


def figures_of(record: OpenedRecord) -> dict[str, object]:
    """Return all figures of yes/no questions, as they are cached."""
    with record.reading() as connection:
        inputs = read_inputs(connection)
        slices = {by: slice_gains(inputs.stated, by) for by in BY}
        figures: dict[str, object] = {"columns": repr(forecasts_seen(connection))}
        for cohort in (None, 1):
            figures[f"board {cohort}"] = as_json(LEADERBOARD, compute_leaderboard(connection, cohort))
            figures[f"comparisons {cohort}"] = as_json(COMPARISONS, compute_comparisons(connection, cohort))
        for agent in LINE_UP:
            profile = compute_profile(inputs, agent, slices, blind_of(connection, agent))
            figures[f"profile {agent}"] = as_json(PROFILE, profile)
        for by in BY:
            figures[f"slices {by}"] = read_slices(connection, by, None)
        figures["calibrations"] = as_json(CALIBRATIONS, compute_calibrations(connection, 1))
        figures["provisional"] = compute_provisional(connection)
        return figures


def test_the_board_of_yes_and_no_is_the_same_to_the_last_bit(tmp_path: Path) -> None:
    mixed = figures_of(play(tmp_path / "mixed.db"))
    plain = figures_of(play(tmp_path / "plain.db", kinds=()))
    assert mixed.keys() == plain.keys()
    for name, figure in plain.items():
        assert mixed[name] == figure, name
