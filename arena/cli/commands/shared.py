"""Types and options that several commands share."""

from pathlib import Path

from arena.cli.options import option

Names = list[str]
Files = list[Path]
ONE_COHORT = option("Only this cohort, by number.", min=1)
QUESTIONS = option("ForecastBench's question set; once for each round.", "FILE", default=[])
RESOLUTIONS = option("ForecastBench's resolution set; once for each round.", "FILE", default=[])
