"""Forecasts that come as a file, of anyone and without an arena: read strictly, and scored.

`cells` cuts a CSV text, `reading` says what its cells mean, `table` checks the rows against each other;
`board` scores them, and `cup` plays a tournament with them.
"""
