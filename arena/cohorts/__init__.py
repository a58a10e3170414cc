"""A cohort: what it freezes, when it starts and decides, and what changed since the one before."""
