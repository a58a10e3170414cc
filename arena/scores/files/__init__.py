"""Forecasts that come as a file, of anyone and without an arena: read strictly, and scored.

`forecasts` checks the rows of a file against each other,
`scores` scores them, and `tournament` plays a tournament with them.
"""
