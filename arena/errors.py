"""What can go wrong in ways that a user can put right, and counts in words."""

from typing import Any


class ArenaError(Exception):
    """An expected failure: a stable code, what happened, and a hint how to put it right.

    The command line prints it in a line or two, without a traceback, and exits with `status`:
    1 when nothing was done, 2 when part of it was.
    """

    def __init__(self, code: str, message: str, hint: str = "", status: int = 1):
        super().__init__(message)
        self.code, self.message, self.hint, self.status = code, message, hint, status

    def as_dict(self) -> dict[str, Any]:
        """What `--json` prints under "error".

        >>> ArenaError("no_record", "there is no record yet", "run `arena demo`").as_dict()
        {'code': 'no_record', 'message': 'there is no record yet', 'mend': 'run `arena demo`'}
        """
        return {"code": self.code, "message": self.message, "mend": self.hint}


def count_text(number: int, name: str) -> str:
    """So many of something.

    >>> count_text(1, "cohort"), count_text(2_000, "row"), count_text(0, "turn")
    ('1 cohort', '2,000 rows', '0 turns')
    """
    return f"{number:,} {name}{'' if number == 1 else 's'}"
