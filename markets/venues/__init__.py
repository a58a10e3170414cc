"""Venues, one file each: `venue: kalshi` in the config means `markets/venues/kalshi.py`.

A file defines a class `Settings`, the keys of its block under `markets`; `stamp`, which is "live", "replay"
or "simulated", and which its settings may have instead; and a function `venue(settings, report)`, which
returns an object with the methods of `markets.venue.Venue`. It may define `UNTOLD`, the keys of a rule for
markets that it has no figures for, and set `WITHOUT_SIDES = True` if it has no bids and asks. With
`HAS_MARKET = False` nothing can be bought there: its cohorts are of forecasts alone, and its questions need
no price. The folder `wire/` reads what venues send.

    class Settings(VenueSettings): ...
    stamp = "live"
    def venue(settings: Settings, report: Report = ignore_report) -> Venue: return MyVenue(settings)
"""
