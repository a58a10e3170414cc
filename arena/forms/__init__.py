"""Existing files of forecasts: the public forms they come in, and plain tables.

`public` has a file for each form; `sources` finds files on the disk and chooses their form. `csv_columns`
reads plain tables as columns, `objects` reads JSON field by field, and `rules` has the boards' formulas.
"""
