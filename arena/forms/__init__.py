"""Files of forecasts that people already have: the public forms they come in, and plain tables.

`public` has a file for each form, and `sources` finds files on the disk and chooses theirs. `csv_columns`
reads plain tables as columns, `objects` reads JSON field by field, and `rules` has formulas of boards.
"""
