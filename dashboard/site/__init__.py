"""A season as files for others: a whole site, or a report, the one page of it in one file."""
