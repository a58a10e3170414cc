"""How many of something, in words."""


def counted(number: int, name: str) -> str:
    """So many of something.

    >>> counted(1, "cohort"), counted(2_000, "row"), counted(0, "turn")
    ('1 cohort', '2,000 rows', '0 turns')
    """
    return f"{number:,} {name}{'' if number == 1 else 's'}"
