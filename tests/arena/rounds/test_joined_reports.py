"""What is reported of one decision time that was played in several passes, since it waited for a process."""

from arena.record.model.cohort import RoundReport
from arena.rounds.season import joined_reports
from tests.builders import NOW


def test_a_cohort_that_ended_in_the_first_pass_is_still_reported() -> None:
    over = RoundReport(1, 3, NOW, (), trouble=("the venue gave no answer",))
    waiting = RoundReport(2, 1, NOW, (), waiting=("ann",))
    done = RoundReport(2, 1, NOW, (), failed=("bob",))
    assert joined_reports([over, waiting], [done]) == [over, done]


def test_of_one_round_what_was_noticed_earlier_is_kept_and_what_is_left_is_the_newest() -> None:
    first = RoundReport(1, 1, NOW, (), failed=("ann",), waiting=("bob",), trouble=("no prices",))
    second = RoundReport(1, 1, NOW, (), trouble=("no news",))
    [joined] = joined_reports([first], [second])
    assert (joined.failed, joined.waiting, joined.trouble) == ((), (), ("no prices", "no news"))
