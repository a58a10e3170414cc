"""Forecasts that come as a file, of anyone and without an arena: read strictly, and scored.

`csv_columns` cuts a CSV text and says what its cells mean, `forecasts` checks the rows against each other,
`scores` scores them, and `tournament` plays a tournament with them.
"""
