"""`arena show cohort N --head`: prints or checks the hash of all that a cohort froze, saw and decided."""

from arena.cli.options import Options
from arena.cli.output import command_line
from arena.cli.page import Page
from arena.record.cohort_heads import CohortHead, read_head
from arena.record.queries.cohorts import numbered_cohort, read_cohorts


def show_head(chosen: Options, number: str, round_number: int | None, check: str | None) -> None:
    """Print a cohort's head up to a round, or the round whose head is `check`."""
    with chosen.reading() as connection:
        stored = numbered_cohort(read_cohorts(connection), number)
        head = read_head(connection, stored, round_number, check)
    chosen.print_answer(head, head_page, head, check is not None)


def head_page(head: CohortHead, is_check: bool) -> Page:
    """Yield the head, or the round in which the checked head was found."""
    covered = f"round {head.round} of cohort {head.cohort}"
    if not head.round:
        covered = f"what cohort {head.cohort} froze, before its first round"
    if is_check:
        yield f"This is the head of {covered}: nothing before it has been changed."
        return
    yield head.head
    yield f"This is the head of {covered}: publish it, and check it later."
    yield f"Next: {command_line(f'show cohort {head.cohort} --head --check {head.head}')}"
