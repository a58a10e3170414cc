"""Forecasts that come as a file, of anyone and without an arena: read strictly, and scored.

`sources` reads files of any form, with outcomes and prices that `joined` finds elsewhere. `forecasts` makes a
table of them, whose rows `forecast_checks` checks against each other. `scores` scores it, `report` adds what
explains the scores, and `tournament` plays a tournament.
"""
